"""The ``html`` exporter: one self-contained HTML page, which works from disk without a network."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from importlib import resources
from typing import Any

import attrs

from srtk_framework.evaluation import score
from srtk_framework.records import dumps
from srtk_framework.values import DriverError, Retrieval, Subgraph, rounded, written_confidence
from srtk_plugin_files.file_exporter import FileExporter
from srtk_plugin_files.terms import Terms

_PLACE = re.compile(r"\{\{(\w+)\}\}")
_DATA = "\0"  # placeholder of the data; it cannot occur in a page
_SCRIPTS = ("layout", "elements", "list", "question", "diagram", "controls", "tables", "copies", "events")
_ESCAPES = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026"}


@attrs.define
class Page(FileExporter):
    """Write one page with every question: a diagram of its subgraph, its paths and its triples.

    Attributes:
        path: Output file, compressed if it ends in ``.gz``. Its folder is created; an existing file is replaced when
            the run is complete.
        title: Title of the page.
        max_triples: Maximum number of triples in a diagram, routes to answers first; the table lists all. A
            slider on the page draws more or fewer.
        url: Address of an entity or relation, with ``{id}`` where its id goes: ids link there. Ids that are http(s)
            IRIs link to themselves.
    """

    title: str = "Retrieved subgraphs"
    max_triples: int = 60
    url: str = ""
    _entries: list[str] = attrs.field(init=False, factory=list, repr=False)
    _sums: dict[str, list[float]] = attrs.field(init=False, factory=dict, repr=False)
    _tail: str = attrs.field(init=False, default="", repr=False)

    def open(self) -> None:
        """Check the settings and start the page."""
        if self.max_triples < 1:
            raise DriverError(f"max_triples must be above 0, not {self.max_triples}")
        if self.url and not (self.url.startswith(("https://", "http://")) and "{id}" in self.url):
            raise DriverError(f"url must begin with https:// or http:// and have {{id}} in it, not {self.url!r}")
        self._entries, self._sums = [], {}
        super().open()

    def head(self) -> str:
        """Return the page before its data."""
        style, script = _asset("page.css"), _script()
        filled = {
            "title": html.escape(self.title.replace(_DATA, "")),
            "style_hash": _hash(style),
            "script_hash": _hash(script),
            "style": style,
            "script": script,
        }
        page = _PLACE.sub(lambda found: filled.get(found[1], _DATA), _asset("page.html"))
        start, _, self._tail = page.partition(_DATA)
        return start

    def format(self, retrieval: Retrieval) -> str:
        """Return the data of a retrieval as a script element that browsers do not execute."""
        data = page_data(retrieval)
        entry = {"id": retrieval.question.id, "q": retrieval.question.text, "state": data["state"]}
        self._entries.append(_json({**entry, "n": len(retrieval.subgraph.triples)}))
        for metric, value in data["metrics"].items():
            self._sums.setdefault(metric, []).append(value)
        return f'<script type="application/json" id="r{len(self._entries) - 1}">{_json(data)}</script>\n'

    def tail(self) -> str:
        """Return the index of questions, the means of metrics, and the rest of the page."""
        means = {metric: [rounded(sum(v) / len(v)), len(v)] for metric, v in self._sums.items()}
        summary = _json({"drawn": self.max_triples, "means": means, "url": self.url})
        # One entry per line keeps the source of the page readable.
        index = ",\n".join(self._entries)
        return (
            f'<script type="application/json" id="summary-data">{summary}</script>\n'
            f'<script type="application/json" id="index-data">[\n{index}\n]</script>\n{self._tail}'
        )


def page_data(retrieval: Retrieval) -> dict[str, Any]:
    """Return the data of a retrieval for the page's scripts: a table of terms, and their numbers elsewhere."""
    question, subgraph = retrieval.question, retrieval.subgraph
    terms = Terms(retrieval)
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
        "sources": list(sources),
        **_completed(subgraph),
        "metrics": {metric: value for metric, value in score(retrieval).items() if value is not None},
        "trace": dict(subgraph.trace),
        "extra": dict(question.extra),
        "error": retrieval.error,
    }
    data["state"] = _state(retrieval, [found for _, found in answers])
    return {**data, "terms": terms.table()}


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
    return dumps(value).translate(_ESCAPES)


def _script() -> str:
    """Concatenate the scripts inside one function, which keeps their names local."""
    return '"use strict";\n(() => {\n' + "\n".join(_asset(f"{name}.js") for name in _SCRIPTS) + "})();\n"


def _asset(name: str) -> str:
    return (resources.files("srtk_plugin_files") / "page" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
