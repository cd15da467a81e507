"""Values of properties by the types that a file declares."""

from __future__ import annotations

import re

from srtk_plugin_local.snapshot.input_report import FileReport
from srtk_plugin_local.snapshot.property_graphs.elements import Typed

BAD_CELLS = "cells of another type"

_WHOLE = ("int", "integer", "long", "short", "byte", "biginteger")
_BROKEN = ("float", "double", "decimal", "bigdecimal", "real", "number")
_TRUTHS = ("boolean", "bool")
_TEXTS = ("string", "char", "character", "anyuri", "text", "")
_TRUTH = {"true": "true", "false": "false", "1": "true", "0": "false", "yes": "true", "no": "false"}
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def read_cell(text: str, kind: str, title: str, line: int, report: FileReport) -> str | None:
    """Return a value by its declared type; None if it is empty, or not of its type, which is counted.

    Args:
        text: The text in the file.
        kind: The declared type; a value of an unknown type is a text.
        title: Name of the property.
        line: Number of the line.
        report: Counts skipped values, and notes unknown types.
    """
    text, kind = text.strip(), kind.strip().lower()
    if not text:
        return None
    if kind in _WHOLE or kind in _BROKEN:
        if _NUMBER.fullmatch(text):
            return Typed(text)
    elif kind in _TRUTHS:
        if truth := _TRUTH.get(text.lower()):
            return Typed(truth)
    else:
        if kind not in _TEXTS:
            report.note(f"the type {kind!r} of {title!r} is not known; its values were read as texts")
        return text
    report.skip(BAD_CELLS, line, f"{text!r} in {title!r} is not of the type {kind}; correct or empty the value")
    return None


def read_list(text: str, kind: str, title: str, line: int, report: FileReport) -> list[str]:
    """Return the values of a list such as ``a|b``, ``[a, b]`` or ``a;b``: ``|`` separates, else ``;``, else a comma."""
    text = text.strip()
    if text[:1] + text[-1:] in ("[]", "()", "{}"):
        text = text[1:-1]
    separator = next((mark for mark in "|;," if mark in text), None)
    parts = [part.strip().strip("\"'") for part in (text.split(separator) if separator else [text])]
    found = [read_cell(part, kind, title, line, report) for part in parts]
    return [value for value in found if value is not None]


def untyped(text: str) -> str:
    """Return a value without a declared type: a number by its form, else a text."""
    return Typed(text) if _NUMBER.fullmatch(text) else text
