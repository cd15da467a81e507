"""The ``graphml`` exporter: a graph for each result."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import attrs

from srtk_framework.values import Literal, Retrieval
from srtk_plugin_files.facts import facts, named, nodes
from srtk_plugin_files.file_exporter import FileExporter

_KEYS = {
    "graph": {"question": "string", "error": "string"},
    "node": {"label": "string", "literal": "boolean"},
    "edge": {
        "relation": "string",
        "label": "string",
        "score": "double",
        "path": "string",
        "provenance": "string",
        "confidence": "double",
        "qualifiers": "string",
    },
}
_FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]|_(?=x[0-9A-F]{4}_)")


@attrs.define
class GraphML(FileExporter):
    """Write GraphML: a directed graph for each result, whose nodes are ids and whose edges are triples.

    Characters that XML cannot hold are written as ``_x001B_``, as in Office Open XML.
    """

    def head(self) -> str:
        """Declare the attributes."""
        keys = (
            f'<key id="{owner}_{name}" for="{owner}" attr.name="{name}" attr.type="{kind}"/>\n'
            for owner, names in _KEYS.items()
            for name, kind in names.items()
        )
        namespace = 'xmlns="http://graphml.graphdrawing.org/xmlns"'
        return f'<?xml version="1.0" encoding="UTF-8"?>\n<graphml {namespace}>\n{"".join(keys)}'

    def format(self, retrieval: Retrieval) -> str:
        """Return the graph of a retrieval."""
        return "".join(f"{line}\n" for line in _lines(retrieval))

    def tail(self) -> str:
        """End the file."""
        return "</graphml>\n"


def _lines(retrieval: Retrieval) -> Iterator[str]:
    labels = retrieval.labels
    yield f'<graph id={_attribute(retrieval.question.id)} edgedefault="directed">'
    yield from _data("graph", {"question": retrieval.question.text, "error": retrieval.error})
    for id_ in nodes(retrieval):
        yield f"<node id={_attribute(id_)}>"
        literal = "true" if isinstance(id_, Literal) else "false"
        yield from _data("node", {"label": named(id_, labels), "literal": literal})
        yield "</node>"
    for fact in facts(retrieval):
        subject, relation, object_ = fact.triple
        yield f'<edge id="e{fact.place}" source={_attribute(subject)} target={_attribute(object_)}>'
        values = {
            "relation": relation,
            "label": labels.get(relation),
            "score": fact.score,
            "path": fact.steps,
            "provenance": fact.source or None,
            "confidence": fact.confidence if fact.confidence < 1 else None,
            "qualifiers": fact.qualified,
        }
        yield from _data("edge", values)
        yield "</edge>"
    yield "</graph>"


def _data(owner: str, values: Mapping[str, Any]) -> Iterator[str]:
    for name, value in values.items():
        if value is not None:
            # A carriage return that is not escaped is read as a line feed.
            text = escape(_allowed(str(value)), {"\r": "&#13;"})
            yield f'<data key="{owner}_{name}">{text}</data>'


def _attribute(text: str) -> str:
    return quoteattr(_allowed(text))


def _allowed(text: str) -> str:
    return _FORBIDDEN.sub(lambda found: f"_x{ord(found[0]):04X}_", text)
