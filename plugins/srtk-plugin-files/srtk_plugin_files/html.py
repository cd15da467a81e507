"""The ``html`` exporter: a self-contained HTML page, which works from disk without a network."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import html
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
from srtk_plugin_evaluation import score

from srtk_framework.records import dumps
from srtk_framework.roles import absent, not_open
from srtk_framework.text import answer_line, answer_notes, refusal_line
from srtk_framework.values import (
    DriverError,
    Retrieval,
    SettingsError,
    Subgraph,
    at_least,
    escaped,
    rounded,
    written_confidence,
)
from srtk_plugin_files.assets import asset, script
from srtk_plugin_files.counterparts import Counterparts
from srtk_plugin_files.file_exporter import FileExporter
from srtk_plugin_files.page_folder import DataFolder, PageTexts
from srtk_plugin_files.terms import Terms

_PLACE = re.compile(r"\{\{(\w+)\}\}")
_DATA = "\0"  # placeholder of the data; it cannot occur in a page
_SCRIPTS = ("saved", "layout", "elements", "list", "question", "controls", "pane", "tips", "events")
_WHOLE = 16 << 20  # Bytes of data up to which a page is one file.
_ESCAPES = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026"}


@attrs.define
class Page(FileExporter):
    """Write one page with every question: a diagram of its subgraph, its paths and its triples.

    Up to 16 MB of data, the page is one file. With more, the data of the questions lie in a folder beside it, whose
    name ends in ``-data``, in files of about 1 MB that the page reads as they are needed, from disk too.

    Attributes:
        title: Title of the page.
        max_triples: Maximum number of triples in a diagram, routes to answers first; the table lists all. A
            slider on the page draws more or fewer.
        url: Address of an entity or relation, with ``{id}`` where its id goes: ids link there. Ids that are http(s)
            IRIs link to themselves.
        against: JSON Lines file of another method's results for the same questions, matched by id, to show beside
            these. A run keeps its methods' results in the folder ``journal``.
        names: Names of both methods.
        total: Number of all questions, where the page gets and mentions only the first of them. It then has no
            questions of the other method alone.
    """

    title: str = "Retrieved subgraphs"
    max_triples: int = attrs.field(default=60, validator=at_least(1))
    url: str = ""
    against: str = ""
    names: list[str] = attrs.field(factory=lambda: ["first", "second"])
    total: int = attrs.field(default=0, validator=at_least(0))
    _count: int = attrs.field(init=False, default=0, repr=False)
    _texts: PageTexts | None = attrs.field(init=False, default=None, repr=False)
    _sums: list[dict[str, list[float]]] = attrs.field(init=False, factory=lambda: [{}], repr=False)
    _others: Counterparts | None = attrs.field(init=False, default=None, repr=False)
    _parts: list[str] = attrs.field(init=False, factory=list, repr=False)

    def __attrs_post_init__(self) -> None:
        if self.url and not (self.url.startswith(("https://", "http://")) and "{id}" in self.url):
            text = f"url must begin with https:// or http:// and have {{id}} in it, not {self.url!r}"
            raise SettingsError([(("url",), text)])
        if self.against and (len(set(self.names)) != 2 or len(self.names) != 2 or not all(self.names)):
            raise SettingsError([(("names",), f"names must be two different names of methods, not {self.names!r}")])

    def preflight(self) -> list[tuple[str, str]]:
        """Check that the page can be written and the other method's results exist."""
        return [*super().preflight(), *absent("against", self.against)]

    def open(self) -> None:
        """Start the page."""
        super().open()
        assert self._output is not None
        self._start(None if self._output.alone else str(Path(self.path).expanduser().resolve().parent))
        if self.against:
            self._sums, self._others = [{}, {}], Counterparts(self.against)

    def form(self, retrieval: Retrieval) -> str:
        """Return the page of one retrieval."""
        with contextlib.closing(self._start(None)) as texts:
            self.format(retrieval)
            return "".join(self._page(texts, {}))

    def _start(self, folder: str | None) -> PageTexts:
        self._count, self._parts, self._sums, self._others = 0, [], [{}], None
        self._texts = PageTexts(folder)
        return self._texts

    def format(self, retrieval: Retrieval) -> str:
        """Keep the data of a retrieval until the page is closed."""
        if self._others is not None:
            self._pair(retrieval, self._others.of(retrieval.question.id))
        else:
            data = page_data(retrieval)
            self._put_question(retrieval, data, [data], {"state": data["state"], "n": len(data["triples"])})
        return ""

    def _pair(self, first: Retrieval | None, second: Retrieval | None) -> None:
        """Keep the data of a question of both methods, or of a single method."""
        data = pair_data(first, second)
        sides = data["sides"]
        keys = [{tuple(triple[:3]) for triple in side["triples"]} for side in sides if side is not None]
        entry = {
            "state": ["absent" if side is None else side["state"] for side in sides],
            "n": [None if side is None else len(side["triples"]) for side in sides],
            "both": len(keys[0] & keys[1]) if len(keys) == 2 else 0,
        }
        known = first or second
        assert known is not None
        self._put_question(known, data, sides, entry)

    def _put_question(
        self, retrieval: Retrieval, data: Any, sides: list[dict[str, Any] | None], entry: Mapping[str, Any]
    ) -> None:
        """Keep the data of a question and its entry of the index, and add its metrics to the sums."""
        if self._texts is None:
            raise not_open(self)
        self._texts.add(_json(data), _json({"id": retrieval.question.id, "q": retrieval.question.text, **entry}))
        self._count += 1
        for sums, side in zip(self._sums, sides, strict=True):
            for metric, value in ({} if side is None else side["metrics"]).items():
                total = sums.setdefault(metric, [0.0, 0])
                total[0] += value
                total[1] += 1

    def abort(self) -> bool:
        """Delete what was written."""
        if self._texts is not None:
            self._texts.close()
            self._texts = None
        return super().abort()

    def close(self) -> None:
        """Write the page and the files beside it, and move them to their places."""
        output, texts = self._output, self._texts
        if output is None or texts is None:
            return
        folder = None if output.alone else DataFolder(self.path, texts)
        try:
            self._rest()
            parted = folder is not None and texts.size > _WHOLE
            for text in self._page(texts, folder.write() if folder is not None and parted else {}):
                self._put(text)
            if folder is not None:
                folder.publish()
            self._output = None
            output.finish()
        except DriverError:
            if folder is not None:
                folder.drop()
            raise
        finally:
            self.abort()
        self._parts = [folder.path] if folder is not None and parted else []

    def parts(self) -> Sequence[str]:
        """Name the folder beside the page."""
        return self._parts

    def _page(self, texts: PageTexts, folder: Mapping[str, Any]) -> Iterator[str]:
        """Yield the page, whose data lie in a folder where one is described."""
        style, code = asset("page.css"), script([asset(f"{name}.js") for name in _SCRIPTS])
        filled = {
            "title": html.escape(escaped(self.title.replace(_DATA, ""))),
            "style_hash": _hash(style),
            # The script may load others, which no text of the page can: these are the files of the folder.
            "scripts": f"'{_hash(code)}'" + (" 'strict-dynamic'" if folder else ""),
            "style": style,
            "script": code,
        }
        page = _PLACE.sub(lambda found: filled.get(found[1], _DATA), asset("page.html"))
        start, _, end = page.partition(_DATA)
        yield start
        for i, text in enumerate(texts.data() if not folder else ()):
            yield f'<script type="application/json" id="r{i}">{text}</script>\n'
        means = [{name: [rounded(total / n), n] for name, (total, n) in sums.items()} for sums in self._sums]
        summary = {
            "drawn": self.max_triples,
            "means": means,
            "url": self.url,
            "names": [] if self._others is None else self.names,
            "total": max(self.total, self._count),
            **({"folder": folder} if folder else {}),
        }
        yield f'<script type="application/json" id="summary-data">{_json(summary)}</script>\n'
        yield '<script type="application/json" id="index-data">[\n'
        # One entry per line keeps the source of the page readable.
        for i, text in enumerate(texts.index()):
            yield f",\n{text}" if i else text
        yield f"\n]</script>\n{end}"

    def _rest(self) -> None:
        """Add the questions that only the other method has; none where the page is cut."""
        if self._others is None or not self._count:
            return
        if not self._others.matched:
            raise DriverError(
                f"no question of {self.against} has the id of a question of {self.names[0]}; give results for the same"
                " questions, with the same ids"
            )
        if self.total > self._count:
            return
        for other in self._others.others():
            self._pair(None, other)


def pair_data(first: Retrieval | None, second: Retrieval | None) -> dict[str, Any]:
    """Return the data of two retrievals for one question: a common table of terms, and ``page_data`` of each, or None.

    Labels of both are shared.
    """
    found = [one for one in (first, second) if one is not None]
    labels = {term: label for one in reversed(found) for term, label in one.labels.items()}
    numbers: dict[str, int] = {}
    sides: list[dict[str, Any] | None] = []
    rows: list[list[str]] = []
    for one in (first, second):
        if one is None:
            sides.append(None)
            continue
        data = page_data(attrs.evolve(one, labels={**labels, **one.labels}), numbers)
        # The link's names stand in the rows of the retrieval that has them.
        pairs: Iterable[tuple[list[str], list[str]]] = itertools.zip_longest(data.pop("terms"), rows, fillvalue=[])
        rows = [max(pair, key=len) for pair in pairs]
        sides.append(data)
    return {"terms": rows, "sides": sides}


def page_data(retrieval: Retrieval, numbers: dict[str, int] | None = None) -> dict[str, Any]:
    """Return the data of a retrieval for the page's scripts: a table of terms, and their numbers elsewhere.

    With ``numbers``, the table continues an earlier table.
    """
    question, subgraph = retrieval.question, retrieval.subgraph
    terms = Terms(retrieval, numbers)
    sources: dict[str, int] = {}
    triples = []
    for i, triple in enumerate(subgraph.triples):
        source = subgraph.provenance[i] if i < len(subgraph.provenance) else ""
        triples.append(
            [
                *(terms.number(part) for part in triple),
                rounded(subgraph.scores[i]) if i < len(subgraph.scores) else 0.0,
                subgraph.path_of[i] if i < len(subgraph.path_of) else -1,
                sources.setdefault(source, len(sources)),
            ]
        )
    answers = terms.answers()
    data: dict[str, Any] = {
        "id": question.id,
        "q": question.text,
        "links": [[terms.number(li.entity), rounded(li.score), li.start, li.end] for li in question.links],
        "gold": None if question.answers is None else answers,
        "answer": terms.shown(retrieval.answer),
        "said": _said(retrieval),
        "notes": answer_notes(retrieval.answer, subgraph, retrieval.labels),
        "support": list(retrieval.answer.support) if retrieval.answer else [],
        "triples": triples,
        "qualifiers": {
            str(i): [[terms.number(r), terms.number(v)] for r, v in row]
            for i, row in enumerate(subgraph.qualifiers)
            if row
        },
        "paths": [
            [
                terms.number(p.entity),
                [[terms.number(s.relation), int(s.inverse)] for s in p.steps if s.relation],
                p.score,
            ]
            for p in subgraph.paths
        ],
        "joins": [[list(join.paths), [terms.number(node) for node in join.nodes]] for join in subgraph.joins],
        "expected": subgraph.expected_recall,
        "sources": list(sources),
        **_completed(subgraph),
        "metrics": {metric: value for metric, value in score(retrieval).items() if value is not None},
        "trace": dict(subgraph.trace),
        "extra": dict(question.extra),
        "error": retrieval.error,
    }
    data["state"] = _state(retrieval, [found for _, found in answers])
    return {**data, "terms": terms.table()}


def _said(retrieval: Retrieval) -> dict[str, Any] | None:
    """Return a reader's answer in words: its line or the reason for a refusal, and the other answers."""
    answer = retrieval.answer
    if answer is None:
        return None
    refused = not answer.enough or not answer.text.strip()
    return {
        "line": "" if refused else answer_line(answer, retrieval.subgraph),
        "refusal": refusal_line(answer) if refused else "",
        "certainty": answer.certainty or "",
        "others": [[one.text, one.path] for one in answer.alternatives],
    }


def _completed(subgraph: Subgraph) -> dict[str, Any]:
    """Return the confidence and the reasons of each triple that the graph lacks; nothing if it holds all."""
    places = [i for i, confidence in enumerate(subgraph.confidences) if confidence < 1]
    if not places:
        return {}
    reasons = subgraph.evidence or ((),) * len(subgraph.triples)
    return {
        "completed": {
            str(i): [written_confidence(subgraph.confidences[i]), [[one.text, one.source] for one in reasons[i]]]
            for i in places
        }
    }


def _state(retrieval: Retrieval, found: list[bool]) -> str:
    if retrieval.error is not None:
        return "error"
    if not retrieval.subgraph.triples:
        return "empty"
    if not found:
        return "plain"
    return "found" if all(found) else "part" if any(found) else "missed"


def _json(value: dict[str, Any]) -> str:
    """Return JSON without characters that are special in HTML."""
    return escaped(dumps(value)).translate(_ESCAPES)


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
