"""The result of one question for people and programs: as text, as a networkx graph, as a table, as a page."""

from __future__ import annotations

import html
import tempfile
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from srtk_framework.records import record_from_retrieval
from srtk_framework.run.default_drivers import PAGE, missing_drivers
from srtk_framework.run.pipeline import NO_LINK
from srtk_framework.run.session import open_session
from srtk_framework.values import Link, Literal, PluginError, RankedPath, Retrieval, Triple, written_confidence

if TYPE_CHECKING:
    import networkx
    import pandas

PATHS = 5
"""Paths that the text of a result shows, the best first."""
TRIPLES = 10
"""Triples that it shows."""
WIDTH = 80
_NO_LINK = "no name of the graph was found in the question"
_NAMES = 3
"""Nodes that are named at one place of a path; the others are counted."""
_HEIGHT = 560
"""Pixels of the page in a notebook."""


@attrs.frozen(repr=False)
class Result:
    """The answer to one question: a subgraph with its paths, or an error.

    Attributes:
        retrieval: The question, the subgraph, the labels and the error, as drivers made them.
        near: Entities with names like words of the question, where nothing was linked; the likeliest first.
    """

    retrieval: Retrieval
    near: tuple[Link, ...] = ()

    @property
    def question(self) -> str:
        """The text of the question."""
        return self.retrieval.question.text

    @property
    def triples(self) -> tuple[Triple, ...]:
        """The triples, best first."""
        return self.retrieval.subgraph.triples

    @property
    def scores(self) -> tuple[float, ...]:
        """The score of each triple."""
        return self.retrieval.subgraph.scores

    @property
    def paths(self) -> tuple[RankedPath, ...]:
        """The paths that lead to the triples, best first."""
        return self.retrieval.subgraph.paths

    @property
    def links(self) -> tuple[Link, ...]:
        """The entities that were found in the question."""
        return self.retrieval.question.links

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels of ids, where they differ from the id."""
        return self.retrieval.labels

    @property
    def error(self) -> str | None:
        """Why there is no subgraph; None if there is one."""
        return self.retrieval.error

    def label(self, id_: str) -> str:
        """Return the name of an entity or a relation, or the text of a literal, on one line."""
        return _on_one_line(id_.lexical if isinstance(id_, Literal) else self.labels.get(id_, id_))

    def to_text(self, triples: int | None = TRIPLES, paths: int | None = PATHS, width: int = WIDTH) -> str:
        """Write a reader's answer, the paths with the names of what they lead to, and the best triples.

        Args:
            triples: Most triples to show; None for all.
            paths: Most paths to show; None for all.
            width: Characters of a line.
        """
        lines = textwrap.wrap(_on_one_line(self.question), width)
        if self.error is not None:
            names = list(dict.fromkeys(_on_one_line(link.name or link.entity) for link in self.near))
            near = [_line("near names: ", ", ".join(names), width)] if names else []
            return "\n".join([*lines, *textwrap.wrap(self._reason, width), *near])
        if self.links:
            names = list(dict.fromkeys(self.label(link.entity) for link in self.links))
            lines.append(_line("about: ", ", ".join(names), width))
        answer = self.retrieval.answer
        if answer is not None:
            lines.append(_line("answer: ", _on_one_line(answer.text) or "none, for the triples do not suffice", width))
        if not self.triples:
            return "\n".join([*lines, "no triple was found"])
        shown = self._path_texts()
        if shown:
            lines += ["", "paths", *(_line(_score(score), text, width) for text, score in shown[:paths])]
            lines += _more(len(shown), paths, "path")
        scores = self.scores or (None,) * len(self.triples)
        ranked = enumerate(scores[:triples])
        lines += ["", "triples", *(_line(_score(score), self._triple_text(place), width) for place, score in ranked)]
        lines += _more(len(self.triples), triples, "triple")
        return "\n".join(lines)

    def to_networkx(self) -> networkx.MultiDiGraph[str]:
        """Make a networkx graph of the triples, with labels, scores and paths: see ``Subgraph.to_networkx``."""
        return self.retrieval.subgraph.to_networkx(self.labels)

    def to_dataframe(self) -> pandas.DataFrame:
        """Make a pandas table of the triples, best first.

        Returns:
            The columns ``subject``, ``relation``, ``object`` (names), ``score``, ``path``, ``subject_id``,
            ``relation_id``, ``object_id``, ``provenance`` and ``confidence``, which is below 1 where the graph lacks
            the triple.

        Raises:
            PluginError: If pandas is not installed.
        """
        try:
            import pandas
        except ImportError as error:
            raise PluginError("pandas is not installed; run: pip install pandas") from error
        subgraph = self.retrieval.subgraph
        count = len(subgraph.triples)
        at = subgraph.path_of or (-1,) * count
        steps = [" ".join(str(step) for step in path.steps) for path in subgraph.paths]
        columns: dict[str, Sequence[Any]] = {
            "subject": [self.label(triple.subject) for triple in subgraph.triples],
            "relation": [self.label(triple.relation) for triple in subgraph.triples],
            "object": [self.label(triple.object) for triple in subgraph.triples],
            "score": subgraph.scores or (0.0,) * count,
            "path": [steps[number] if number >= 0 else "" for number in at],
            "subject_id": [triple.subject for triple in subgraph.triples],
            "relation_id": [triple.relation for triple in subgraph.triples],
            "object_id": [str(triple.object) for triple in subgraph.triples],
            "provenance": subgraph.provenance or ("",) * count,
            "confidence": subgraph.confidences or (1.0,) * count,
        }
        return pandas.DataFrame(columns)

    def to_record(self) -> dict[str, Any]:
        """Return the record that ``srtk run`` writes of the question."""
        return record_from_retrieval(self.retrieval)

    @property
    def _reason(self) -> str:
        """The error in words that suit someone who has written no recipe."""
        return _NO_LINK if self.error == NO_LINK else self.error or ""

    def _path_texts(self) -> list[tuple[str, float]]:
        """Write each path of which the subgraph has a whole instance, with its score."""
        found = [(self._path_text(path), path.score) for path in self.paths if path.steps]
        return [(text, score) for text, score in found if text is not None]

    def _path_text(self, path: RankedPath) -> str | None:
        """Write a path with the nodes that it passes; None if no triples lead along it to another entity."""
        reached: list[list[str]] = [[path.entity]]
        before: list[dict[str, set[str]]] = []
        for step in path.steps:
            came: dict[str, set[str]] = {}
            here = set(reached[-1])
            for triple in self.triples:
                start, end = (triple.object, triple.subject) if step.inverse else (triple.subject, triple.object)
                if triple.relation == step.relation and start in here:
                    came.setdefault(end, set()).add(start)
            if not came:
                return None
            before.append(came)
            reached.append(list(came))
        reached[-1] = [node for node in reached[-1] if node != path.entity]
        if not reached[-1]:
            return None
        # Only the nodes from which the path goes on to its end.
        for at in range(len(before) - 1, -1, -1):
            used = {start for end in reached[at + 1] for start in before[at][end]}
            reached[at] = [node for node in reached[at] if node in used]
        parts = [self._nodes(reached[0], _NAMES)]
        for number, step in enumerate(path.steps, start=1):
            name = self.label(step.relation)
            parts.append(f"<-{name}-" if step.inverse else f"-{name}->")
            parts.append(self._nodes(reached[number], _NAMES if number == len(path.steps) else 1))
        return " ".join(parts)

    def _nodes(self, nodes: Sequence[str], most: int) -> str:
        names = list(dict.fromkeys(self.label(node) for node in nodes))
        if len(names) <= most:
            return ", ".join(names)
        return f"({len(names)})" if most == 1 else f"{', '.join(names[:most])} and {len(names) - most} more"

    def _triple_text(self, place: int) -> str:
        triple, confidences = self.triples[place], self.retrieval.subgraph.confidences
        text = f"{self.label(triple.subject)} -{self.label(triple.relation)}-> {self.label(triple.object)}"
        if place >= len(confidences) or confidences[place] >= 1:
            return text
        return f"{text} [not in the graph; confidence {written_confidence(confidences[place]):g}]"

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        if self.error is not None:
            return f"<Result {self.question!r}: {self._reason}>"
        best = [text for text, _ in self._path_texts()[:1]]
        return f"<Result {self.question!r}: {', '.join([*best, _count(len(self.triples), 'triple')])}>"

    def _repr_html_(self) -> str:
        """Draw the subgraph in a notebook: the page of the installed exporter; the text where there is none."""
        if missing_drivers({"exporter": PAGE}) is not None:
            return f"<pre>{html.escape(self.to_text())}</pre>"
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.html"
            write_page([self], page)
            content = page.read_text(encoding="utf-8")
        size = f'width="100%" height="{_HEIGHT}" style="border: 0"'
        return f'<iframe srcdoc="{html.escape(content)}" {size} title="{html.escape(self.question)}"></iframe>'


def write_page(results: Sequence[Result], path: Path) -> None:
    """Write results as one page of HTML, which needs no network.

    Raises:
        PluginError: If the exporter of pages is not installed.
        DriverError: If the page cannot be written.
    """
    if (sentence := missing_drivers({"exporter": PAGE})) is not None:
        raise PluginError(sentence)
    [exporter] = open_session({"srtk": 1, "exporters": [{"use": PAGE, "path": str(path)}]}).exporters
    exporter.open_driver()
    try:
        exporter.write([result.retrieval for result in results])
    except BaseException:
        exporter.abort()
        raise
    finally:
        exporter.close_driver()


def _on_one_line(name: str) -> str:
    """Replace what would move the cursor of a terminal."""
    return " ".join("".join(char if char.isprintable() else " " for char in name).split())


def _score(score: float | None) -> str:
    return f"{'' if score is None else format(score, '.2f'):>7}  "


def _line(head: str, text: str, width: int) -> str:
    """Write one entry, on more lines where it does not fit on one."""
    wide = max(width, len(head) + 20)
    return textwrap.fill(text, wide, initial_indent=head, subsequent_indent=" " * len(head), break_on_hyphens=False)


def _more(count: int, shown: int | None, what: str) -> list[str]:
    rest = 0 if shown is None else count - shown
    return [f"{'':9}and {_count(rest, f'more {what}')}"] if rest > 0 else []


def _count(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
