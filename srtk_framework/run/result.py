"""The result of one question for people and programs: as text, as a networkx graph, as a table, as a page."""

from __future__ import annotations

import html
import tempfile
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from typing import Literal as OneOf

import attrs

from srtk_framework.host.ports import driver_of
from srtk_framework.records import record_from_retrieval
from srtk_framework.run.default_drivers import PAGE, missing_drivers
from srtk_framework.run.pipeline import NO_LINK, with_trace
from srtk_framework.run.result_text import PROOF, ResultText, counted, cut_lines, label, line, names
from srtk_framework.run.session import Session, export, open_session
from srtk_framework.text import answer_line, count_tokens, refusal_line
from srtk_framework.text.answers import NAMED
from srtk_framework.values import (
    Answer,
    BusyError,
    DriverError,
    LateError,
    Link,
    PluginError,
    RankedPath,
    Retrieval,
    Triple,
    on_one_line,
)

if TYPE_CHECKING:
    import networkx
    import pandas

PATHS = 5
"""Paths that the text of a result shows, the best first."""
TRIPLES = 10
"""Triples that it shows."""
WIDTH = 80
_NO_LINK = "no name of the graph was found in the question"
_NEAR = 5
"""Near names of a question in which nothing was linked."""
SUGGESTIONS_FAILED = "suggestions_failed"
"""Field of a trace: why the linker gave no near names."""
# The sentence that counts what is left out has about as many.
_LEAST = 20
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
        """Why there is no subgraph; None if there is a subgraph."""
        return self.retrieval.error

    @property
    def answer(self) -> Answer | None:
        """The reader's answer; None without a reader."""
        return self.retrieval.answer

    def label(self, id_: str) -> str:
        """Return the name of an entity or a relation, or the text of a literal, on one line."""
        return label(self.retrieval, id_)

    def to_text(
        self,
        triples: int | OneOf["auto"] | None = "auto",
        paths: int | OneOf["auto"] | None = "auto",
        width: int = WIDTH,
        tokens: int | None = None,
    ) -> str:
        """Write the answer with its proof and the other answers, the paths with their ends, and the triples.

        A path whose ends a better path has is folded into the better path, unless all paths are asked for.

        Args:
            triples: Most triples to show; None for all. By default 10, and none below an answer with its proof.
            paths: Most paths to show; None for all. By default 5, and none below an answer with its proof.
            width: Characters of a line.
            tokens: Most tokens, by ``count_tokens``; at least 20. Triples are left out first, then paths, then lines
                from the end; the last line says how many.

        Raises:
            ValueError: If ``tokens`` is below 20.
        """
        if tokens is not None and tokens < _LEAST:
            raise ValueError(f"tokens is {tokens}; allow at least {_LEAST}, so that the text says what it leaves out")
        text = self._text(triples, paths, width)
        if tokens is None or count_tokens(text) <= tokens:
            return text
        proof = bool(ResultText(self.retrieval, width).proof(1))
        most = [(0 if proof else auto) if n == "auto" else n for n, auto in ((paths, PATHS), (triples, TRIPLES))]
        all_ = (len(self.paths), len(self.triples))
        p, t = (known if n is None else min(n, known) for n, known in zip(most, all_, strict=True))
        shorter = [(n, p) for n in range(t, 0, -1)] + [(0, n) for n in range(p, -1, -1)]
        texts = (self._text(*one, width) for one in shorter)
        text = next((text for text in texts if count_tokens(text) <= tokens), None) or self._text(0, 0, width)
        return cut_lines(text, tokens)

    def _text(self, triples: int | OneOf["auto"] | None, paths: int | OneOf["auto"] | None, width: int) -> str:
        lines = textwrap.wrap(on_one_line(self.question), width)
        near = [line("near names: ", names(self.near), width)] if self.near else []
        text, all_ = ResultText(self.retrieval, width), triples is None or paths is None
        if self.error is not None:
            # A reader that was asked without links says more than that there are none.
            told = text.answer(None) or [*textwrap.wrap(self.reason, width), *text.notes("note: ", None)]
            return "\n".join([*lines, *told, *near])
        lines += [*(text.answer(None if all_ else NAMED) or text.notes("note: ", None)), *near]
        if self.links:
            found = list(dict.fromkeys(self.label(link.entity) for link in self.links))
            lines.append(line("about: ", ", ".join(found), width))
        if not self.triples:
            limits = ", ".join(self.retrieval.subgraph.trace.get("cut", {}))
            return "\n".join([*lines, f"no triple fits the limit of {limits}" if limits else "no triple was found"])
        proof = text.proof(None if all_ else PROOF)
        ways = text.ways()
        lines += _part("proof", proof) + _part("other answers", text.alternatives())
        shown_paths = (0 if proof else PATHS) if paths == "auto" else paths
        shown_triples = (0 if proof else TRIPLES) if triples == "auto" else triples
        if shown_paths != 0:
            lines += _part("paths", text.paths(ways, shown_paths))
        if shown_triples != 0:
            lines += _part("triples", text.triples(shown_triples))
        hidden = [counted(len(ways), "path")] if ways and shown_paths == 0 else []
        hidden += [counted(len(self.triples), "triple")] if shown_triples == 0 else []
        return "\n".join([*lines, "", f"not shown: {', '.join(hidden)}"] if hidden else lines)

    def to_networkx(self) -> networkx.MultiDiGraph[str]:
        """Make a networkx graph of the triples, with plain attributes: see ``Subgraph.to_networkx``."""
        return self.retrieval.subgraph.to_networkx(self.labels)

    def to(self, form: str, **settings: Any) -> Any:
        """Return the result as an installed exporter writes it, such as ``rdf``, ``graphml`` or ``parquet``.

        Args:
            form: Name of an exporter.
            settings: Its settings, without ``path``.

        Returns:
            A text, or an object of the library that the exporter writes with.

        Raises:
            PluginError: If the exporter is not installed.
            RecipeError: If there is none of this name, or it has no such setting.
            DriverError: If it has no form of one result, or lacks a library.
        """
        if (sentence := missing_drivers({"exporter": form})) is not None:
            raise PluginError(sentence)
        [exporter] = open_session({"srtk": 1, "exporters": [{**settings, "use": form, "path": form}]}).exporters
        return driver_of(exporter).form(self.retrieval)

    def evidence(self, by: OneOf["path", "triple", "answer"] = "path") -> list[dict[str, Any]]:
        """Return what was found as plain records, best first.

        Args:
            by: A record for each path that leads to an entity, for each triple, or for each answer of the reader.

        Returns:
            ``text`` (in words, on one line), ``score`` (None where there is none; of an answer the best of its
            triples), ``sources`` (where the triples were read) and ``triples`` (lists of three ids).

        Raises:
            ValueError: If ``by`` is another word.
        """
        text = ResultText(self.retrieval, WIDTH)
        kinds = {"path": text.path_evidence, "triple": text.triple_evidence, "answer": text.answer_evidence}
        if by not in kinds:
            raise ValueError(f"evidence is by {', '.join(kinds)}, not by {by!r}")
        provenance = self.retrieval.subgraph.provenance
        return [
            {
                "text": words,
                "score": value,
                "sources": list(dict.fromkeys(provenance[i] for i in places if i < len(provenance))),
                "triples": [[str(part) for part in self.triples[i]] for i in places],
            }
            for words, value, places in kinds[by]()
        ]

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
    def failed(self) -> bool:
        """Whether a driver or a limit failed the question; a question without a name of the graph is no failure."""
        return self.error not in (None, NO_LINK)

    @property
    def reason(self) -> str:
        """The error in words that suit someone who has written no recipe."""
        return _NO_LINK if self.error == NO_LINK else self.error or ""

    @property
    def refusal(self) -> str:
        """Why there is no answer, on one line: what the reader says, or the error; empty where there is neither."""
        answer = self.answer
        refused = answer is not None and not (answer.enough and answer.text.strip())
        return on_one_line(refusal_line(answer) if answer is not None and refused else self.reason)

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        if self.error is not None:
            return f"<Result {self.question!r}: {self.reason}>"
        answer = "" if self.answer is None else on_one_line(answer_line(self.answer, self.retrieval.subgraph))
        text = ResultText(self.retrieval, WIDTH)
        best = [answer] if answer else [text.way(way) for way in text.ways()[:1]]
        return f"<Result {self.question!r}: {', '.join([*best, counted(len(self.triples), 'triple')])}>"

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


def result_of(session: Session, retrieval: Retrieval) -> Result:
    """Make the result of a retrieval of a session, with near names where nothing was linked."""
    if retrieval.error != NO_LINK:
        return Result(retrieval)
    try:
        [near] = session.suggest([retrieval.question.text], _NEAR)
    except DriverError as error:
        return _without_names(retrieval, error)
    return Result(retrieval, near)


def _without_names(retrieval: Retrieval, error: Exception) -> Result:
    """Make a result without near names, whose trace has the reason."""
    return Result(with_trace(retrieval, {SUGGESTIONS_FAILED: str(error)}))


async def aresult_of(session: Session, retrieval: Retrieval, timeout: float | None = None) -> Result:
    """Make a result as ``result_of`` does, without holding up the event loop.

    Near names are left out where they would come later than the ``timeout``, in seconds, or the session is busy; the
    trace then has the reason under ``suggestions_failed``.
    """
    if retrieval.error != NO_LINK:
        return Result(retrieval)
    try:
        return await session.aturn(result_of, session, retrieval, timeout=timeout)
    except (BusyError, LateError) as error:
        return _without_names(retrieval, error)


def write_page(results: Sequence[Result], path: Path) -> None:
    """Write results as one page of HTML, which needs no network.

    Raises:
        PluginError: If the exporter of pages is not installed.
        DriverError: If the page cannot be written.
    """
    if (sentence := missing_drivers({"exporter": PAGE})) is not None:
        raise PluginError(sentence)
    [exporter] = open_session({"srtk": 1, "exporters": [{"use": PAGE, "path": str(path)}]}).exporters
    export(exporter, [[result.retrieval for result in results]])


def _part(head: str, lines: Sequence[str]) -> list[str]:
    """Write a part of the text below an empty line; nothing if it has no lines."""
    return ["", head, *lines] if lines else []
