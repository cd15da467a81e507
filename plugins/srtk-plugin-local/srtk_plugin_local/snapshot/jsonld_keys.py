"""Keys of JSON-LD that stand for no relation: the standard drops them and all below them without a word."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import attrs

from srtk_framework.values import InputError
from srtk_plugin_local.snapshot.input_report import DIRECTIONS, FileReport
from srtk_plugin_local.snapshot.limits import MAX_DEPTH

# Bytes of memory for each byte of a file: measured 7 (long texts) to 96 (many small values), nearly all in pyoxigraph.
# A file that is small enough by this may still exceed the limit of its process.
GROWTH = 20
_SCHEMA_ORG = re.compile(rb'("@context"\s*:\s*(?:\[\s*)?)"https?://(?:www\.)?schema\.org/?"')
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[][{}]', re.DOTALL)


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


def with_schema_org(text: bytes, report: FileReport) -> bytes:
    """Return a JSON-LD file with the vocabulary of schema.org in place of its context, which lies elsewhere.

    Pages for search engines name no other. What the context says beyond the vocabulary is told: it makes IRIs of
    some texts, such as addresses.

    Args:
        text: Content of the file.
        report: Takes the note.
    """
    made, count = _SCHEMA_ORG.subn(rb'\1{"@vocab": "http://schema.org/"}', text)
    if count:
        report.note(
            "the context of schema.org was read as its vocabulary alone, http://schema.org/, so that addresses are "
            "texts"
        )
    return made


def note_lost_keys(text: bytes, report: FileReport) -> None:
    """Count the keys of a JSON-LD file that no context of it defines or that are blank nodes, as the parser drops them.

    All contexts of the file count together, so that a key counts only if no context knows it.

    Args:
        text: Content of the file.
        report: Takes the counts.

    Raises:
        InputError: If objects and lists nest deeper than MAX_DEPTH levels.
    """
    try:
        data = json.loads(text)
    except RecursionError:
        data = None
    except ValueError:
        _check_depth(text, report.name)
        return  # the parser says what is wrong
    if data is None or _is_deep(data):
        _check_depth(text, report.name)
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


def _is_deep(data: Any) -> bool:
    level = [data]
    for _ in range(MAX_DEPTH + 1):
        held = [item for item in level if isinstance(item, dict | list)]
        level = [value for item in held for value in (item.values() if isinstance(item, dict) else item)]
    return bool(level)


def _check_depth(text: bytes, name: str) -> None:
    """Refuse brackets deeper than MAX_DEPTH, with their line; the parser, which calls itself, would end the process."""
    depth = 0
    for token in _TOKEN.finditer(text):
        depth += {b"{": 1, b"[": 1, b"}": -1, b"]": -1}.get(token[0], 0)
        if depth > MAX_DEPTH:
            line = text.count(b"\n", 0, token.start()) + 1
            raise InputError(
                f"{name}:{line}: objects and lists nest deeper than {MAX_DEPTH} levels; flatten them with @id"
            )


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
