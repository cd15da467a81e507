"""Keys of JSON-LD that stand for no relation: the standard drops them and all below them without a word."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from srtk_plugin_local.snapshot.input_report import DIRECTIONS, FileReport
from srtk_plugin_local.snapshot.rdf_text import Utf8Input

# Bytes of the largest file that is searched for such keys; it is held in memory.
LARGEST = 64 << 20


@attrs.frozen
class _Terms:
    """The definitions of all contexts of a document.

    Attributes:
        terms: The terms.
        free: Whether some keys need no context, as in maps by language or id, or with ``@vocab``.
        blank: Terms and prefixes that stand for blank nodes; ``@vocab`` if all other terms do.
        values: ``@value`` and its aliases.
        typed_maps: Whether there are maps by type, and terms with contexts of their own.
    """

    terms: frozenset[str]
    free: bool
    blank: frozenset[str]
    values: frozenset[str]
    typed_maps: bool

    def is_blank(self, key: str) -> bool:
        """Return whether a key stands for a blank node."""
        prefix = key.partition(":")[0]
        return prefix == "_" or prefix in self.blank or ("@vocab" in self.blank and prefix not in self.terms)


def note_lost_keys(name: str, report: FileReport) -> None:
    """Count the keys of a JSON-LD file that no context of it defines or that are blank nodes, as the parser drops them.

    All contexts of the file count together, so that a key counts only if no context knows it.
    """
    if Path(name).is_file() and Path(name).stat().st_size > LARGEST:
        return
    with Utf8Input(name) as source:
        text = b"".join(iter(source.read, b""))
    if len(text) > 4 * LARGEST:
        return
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return  # the parser says what is wrong
    terms = _terms(data)
    if b'"@direction"' in text:
        report.note(DIRECTIONS)
    if terms.typed_maps:
        report.note("in maps by type, the contexts of classes may not reach what is nested; compare the relations")
    for parent in _objects(data, terms.values):
        for key, value in parent.items():
            if value is None or key.startswith("@"):
                continue
            if terms.is_blank(key):
                reason, sentence = "keys that are blank nodes", f"{key!r} is a blank node; a relation needs an IRI"
            elif not terms.free and ":" not in key and key not in terms.terms:
                reason, sentence = (
                    "keys without an IRI",
                    f"no @context says what {key!r} stands for; add it, or an @vocab",
                )
            else:
                continue
            report.skip(reason, 1 if reason in report.skipped else _line(key, text), sentence)


def _line(key: str, text: bytes) -> int:
    return text.count(b"\n", 0, max(0, text.find(json.dumps(key, ensure_ascii=False).encode()))) + 1


def _terms(data: Any) -> _Terms:
    known: set[str] = set()
    meanings: dict[str, set[str]] = {}
    free = typed = scoped = False
    waiting = [parent["@context"] for parent in _objects(data, ("@value",)) if "@context" in parent]
    while waiting:
        for context in _listed(waiting.pop()):
            free = free or isinstance(context, str)
            if not isinstance(context, dict):
                continue
            known |= set(context)
            free = free or "@vocab" in context
            for term, definition in context.items():
                inner = definition if isinstance(definition, dict) else {"@id": definition}
                meanings.setdefault(str(inner.get("@id", "")), set()).add(term)
                containers = _listed(inner.get("@container"))
                free = free or inner.get("@type") == "@json" or not {"@list", "@set", None}.issuperset(containers)
                typed = typed or "@type" in containers
                scoped = scoped or "@context" in inner
                waiting += [inner["@context"]] if "@context" in inner else []
    blank = {term for meaning, names in meanings.items() if meaning.startswith("_:") for term in names}
    values = {"@value", *meanings.get("@value", ())}
    return _Terms(frozenset(known), free, frozenset(blank), frozenset(values), typed and scoped)


def _objects(data: Any, values: Collection[str]) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a document, without its contexts and plain JSON values."""
    waiting = [data]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            yield item
            waiting += [value for key, value in item.items() if key != "@context" and key not in values]
        elif isinstance(item, list):
            waiting += item


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
