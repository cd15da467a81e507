"""The ``cypher`` exporter: statements that merge results into a property graph, such as Neo4j."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from srtk_framework.values import Literal, Retrieval
from srtk_plugin_files.facts import facts, named, nodes
from srtk_plugin_files.file_exporter import FileExporter

_UNSAFE = re.compile(r"[^A-Za-z0-9_]+")
_ESCAPED = re.compile(r"[\\'\"`]|[^\x20-\x7e]")
_NAMED = {"\\": "\\\\", "'": "\\'", '"': '\\"'}


@attrs.define
class Cypher(FileExporter):
    """Write one Cypher statement a line: nodes by their id, and a relationship for each triple of a result.

    The type of a relationship is the relation with ``_`` in place of all but letters, digits and underscores of ASCII;
    its property ``relation`` has the whole id. Every other text is a string, in ASCII, so that no label can end it.
    """

    def format(self, retrieval: Retrieval) -> str:
        """Return the statements of a retrieval."""
        return "".join(f"{line};\n" for line in _lines(retrieval))


def _lines(retrieval: Retrieval) -> Iterator[str]:
    labels, id_ = retrieval.labels, retrieval.question.id
    about = {"question": retrieval.question.text, "error": retrieval.error}
    yield f"MERGE (r:Result {_map({'id': id_})}) SET r += {_map(about)}"
    for node in nodes(retrieval):
        kind = "Literal" if isinstance(node, Literal) else "Entity"
        yield f"MERGE (n:{kind} {_map({'id': node})}) SET n += {_map({'label': named(node, labels)})}"
    for fact in facts(retrieval):
        subject, relation, object_ = fact.triple
        kind = "Literal" if isinstance(object_, Literal) else "Entity"
        values = {
            "label": labels.get(relation),
            "score": fact.score,
            "rank": fact.place + 1,
            "path": fact.steps,
            "provenance": fact.source or None,
            "confidence": fact.confidence if fact.confidence < 1 else None,
            "qualifiers": fact.qualified,
        }
        ends = f"MATCH (s:Entity {_map({'id': subject})}), (o:{kind} {_map({'id': object_})})"
        key = _map({"relation": relation, "result": id_})
        yield f"{ends} MERGE (s)-[t:`{_UNSAFE.sub('_', relation) or '_'}` {key}]->(o) SET t += {_map(values)}"


def _map(values: Mapping[str, Any]) -> str:
    written = (f"{name}: {_value(value)}" for name, value in values.items() if value is not None)
    return f"{{{', '.join(written)}}}"


def _value(value: Any) -> str:
    if isinstance(value, str):
        return f"'{_ESCAPED.sub(lambda found: _escape(found[0]), value)}'"
    return repr(value) if math.isfinite(value) else "null"


def _escape(char: str) -> str:
    # Characters beyond 16 bits are written as two surrogates, as in Java.
    units = char.encode("utf-16-be", "surrogatepass")
    return _NAMED.get(char) or "".join(f"\\u{units[i]:02X}{units[i + 1]:02X}" for i in range(0, len(units), 2))
