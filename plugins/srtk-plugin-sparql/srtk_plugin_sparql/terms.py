"""Terms of RDF as they come in answers, and as they are written into queries: checked and escaped here alone."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from srtk_plugin_web import MalformedError, whole_number

from srtk_framework.values import Literal

XSD = "http://www.w3.org/2001/XMLSchema#"

ILLEGAL = (
    '\x00-\x20\x7f-\x9f<>"{}|^`\\\\\\[\\]'
    "\ue000-\uf8ff\ufdd0-\ufdef\ufff0-\uffff\U000e0000-\U000e0fff\U000f0000-\U0010ffff\ud800-\udfff"
    + "".join(f"{chr(plane + 0xFFFE)}-{chr(plane + 0xFFFF)}" for plane in range(0x10000, 0xF0000, 0x10000))
)
"""Characters that stand in no IRI (RFC 3987), as the inside of a class; blanks from U+00A0 on may, as in Oxigraph."""

KEPT = 20_000
"""IRIs and names whose check and spelling are remembered: a question asks about the same ones several times."""

_IRI = re.compile(rf"[A-Za-z][A-Za-z0-9+.-]*:(?:[^%{ILLEGAL}]|%[0-9A-Fa-f]{{2}})*")
_AUTHORITY = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://(?P<authority>[^/?#]*)")
_HOST = re.compile(r"(?:[^@:%]*@)?[^@:%]*(?::[0-9]*)?")
_LANGUAGE = re.compile(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}


class Term(NamedTuple):
    """One cell of an answer: an ``iri``, ``literal`` or ``blank``, with datatype and language of a literal."""

    kind: str
    value: str
    datatype: str = ""
    language: str = ""

    def literal(self) -> Literal:
        """Return a literal in the form that graphs use."""
        return Literal.make(self.value, self.datatype or None, self.language or None)


class Row(dict[str, Term]):
    """One row of an answer: variable to cell, if there is one; errors name its ``place``, the source and the query."""

    __slots__ = ("place",)

    place: tuple[str, str]

    def __missing__(self, variable: str) -> Term:
        raise self.malformed(f"a row of the answer has no ?{variable}, which the query asks for")

    def number(self, variable: str) -> int:
        """Return the whole number in a cell."""
        found = whole_number(self[variable].value)
        if found is None:
            raise self.malformed(f"the answer has {self[variable].value[:40]!r} where a number was asked for")
        return found

    def malformed(self, cause: str) -> MalformedError:
        """Make an error about this row, with its source and query."""
        return self.about(MalformedError(cause))

    def about(self, error: MalformedError) -> MalformedError:
        """Name the source and the query of this row in an error."""
        place = getattr(self, "place", None)
        return error if place is None else error.about(place[0], place[1], "query")


Rows = list[Row]


def placed(rows: Rows, source: str, query: str) -> Rows:
    """Note on each row where it came from."""
    place = (source, query)
    for row in rows:
        row.place = place
    return rows


def rows_of(data: list[dict[str, list[str]]], source: str, query: str) -> Rows:
    """Read rows that were written as JSON."""
    return placed([Row({name: Term(*cell) for name, cell in row.items()}) for row in data], source, query)


def counted(rows: Rows, source: str, query: str) -> int:
    """Return the number that a count has."""
    if len(rows) != 1 or "c" not in rows[0]:
        raise MalformedError("a count has no number").about(source, query, "query")
    return placed(rows, source, query)[0].number("c")


@functools.lru_cache(maxsize=KEPT)
def is_iri(text: str) -> bool:
    """Return whether a text is an absolute IRI that may stand in a query."""
    if _IRI.fullmatch(text) is None or text.count("#") > 1:
        return False
    found = _AUTHORITY.match(text)
    return found is None or _HOST.fullmatch(found["authority"]) is not None


def iri(text: str) -> str:
    """Write an IRI for a query.

    Raises:
        ValueError: If it is none; nothing else can then get into the query.
    """
    if not is_iri(text):
        raise ValueError(f"{text!r} is not an absolute IRI")
    return f"<{text}>"


def is_language(tag: str) -> bool:
    """Return whether a text is a language tag that may stand in a query."""
    return _LANGUAGE.fullmatch(tag) is not None


def text(value: str, language: str = "") -> str:
    """Write a plain or language-tagged literal for a query."""
    if any("\ud800" <= letter <= "\udfff" for letter in value):
        raise ValueError(f"{value!r} holds half a character")
    if language and _LANGUAGE.fullmatch(language) is None:
        raise ValueError(f"{language!r} is not a language tag")
    # Some servers read \\u0022 as an escape, before all others; an escaped u leaves them none.
    written = re.sub(r"(?<=\\)[uU]|[\\\"\x00-\x1f]", _escaped, value)
    return f'"{written}"@{language}' if language else f'"{written}"'


def _escaped(found: re.Match[str]) -> str:
    return _ESCAPES.get(found[0], f"\\U{ord(found[0]):08X}")


def literal(value: Literal) -> str:
    """Write a literal for a query."""
    written = text(value.lexical, value.language or "")
    if value.language or not value.datatype:
        return written
    name = value.datatype
    return f"{written}^^{iri(XSD + name[4:] if name.startswith('xsd:') else name)}"
