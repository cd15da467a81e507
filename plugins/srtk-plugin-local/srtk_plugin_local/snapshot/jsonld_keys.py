"""Keys of JSON-LD that stand for no IRI: the standard drops them and all below them without a word."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from srtk_plugin_local.snapshot.input_report import FileReport
from srtk_plugin_local.snapshot.rdf_text import Utf8Input

LARGEST = 64 << 20
"""Bytes of the largest file that is searched for such keys; it is held in memory."""


def note_lost_keys(name: str, report: FileReport) -> None:
    """Count the keys of a JSON-LD file that no context of it defines, as the parser drops them.

    All contexts of the file count as one, so that a key is told only where no context knows it.
    """
    if Path(name).is_file() and Path(name).stat().st_size > LARGEST:
        return
    with Utf8Input(name) as source:
        text = b"".join(iter(source.read, b""))
    if b'"@vocab"' in text or len(text) > 4 * LARGEST:
        return
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return  # the parser says what is wrong
    known = _terms(data)
    lost = [
        key
        for parent in _objects(data)
        for key, value in parent.items()
        if value is not None and not key.startswith("@") and ":" not in key and known is not None and key not in known
    ]
    for key in lost:
        first = not report.skipped
        line = text.count(b"\n", 0, max(0, text.find(json.dumps(key, ensure_ascii=False).encode()))) + 1 if first else 1
        report.skip("keys without an IRI", line, f"no @context says what {key!r} stands for; add it, or an @vocab")


def _terms(data: Any) -> set[str] | None:
    """Return the terms of all contexts; None where some keys need none, as in maps by language or id."""
    known: set[str] = set()
    waiting = [parent["@context"] for parent in _objects(data) if "@context" in parent]
    while waiting:
        for context in _listed(waiting.pop()):
            if isinstance(context, str):
                return None
            if not isinstance(context, dict):
                continue
            known |= set(context)
            for term in context.values():
                if not isinstance(term, dict):
                    continue
                if term.get("@type") == "@json" or not {"@list", "@set", None}.issuperset(
                    _listed(term.get("@container"))
                ):
                    return None
                waiting += [term["@context"]] if "@context" in term else []
    return known


def _objects(data: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a document, without its contexts and plain JSON values."""
    waiting = [data]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            yield item
            waiting += [value for key, value in item.items() if key not in ("@context", "@value")]
        elif isinstance(item, list):
            waiting += item


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
