"""Literals, steps, paths, triples and triple patterns."""

from __future__ import annotations

import re
from typing import NamedTuple

from srtk_framework.values.errors import DriverError

_XSD = "http://www.w3.org/2001/XMLSchema#"
_LITERAL = re.compile(r'^"(?P<lexical>.*)"(?:@(?P<language>[A-Za-z0-9-]+)|\^\^(?P<datatype>\S+))?$', re.DOTALL)


class Literal(str):
    """A typed value in object position; searches do not expand it.

    The string form is as in N-Triples, with ``xsd:`` for the XML Schema namespace:
    ``"1998-01-02"^^xsd:date``, ``"Riga"@lv``, ``"plain"``.
    """

    __slots__ = ()

    @classmethod
    def make(cls, lexical: str, datatype: str | None = None, language: str | None = None) -> Literal:
        """Build a literal from its lexical form and either a datatype IRI or a language tag."""
        if language:
            return cls(f'"{lexical}"@{language}')
        if datatype and datatype not in (_XSD + "string", "xsd:string"):
            short = "xsd:" + datatype[len(_XSD) :] if datatype.startswith(_XSD) else datatype
            return cls(f'"{lexical}"^^{short}')
        return cls(f'"{lexical}"')

    def _parts(self) -> dict[str, str | None]:
        found = _LITERAL.match(self)
        return found.groupdict() if found else {"lexical": str(self), "language": None, "datatype": None}

    @property
    def lexical(self) -> str:
        """The lexical form, without quotes, datatype or language tag."""
        return self._parts()["lexical"] or ""

    @property
    def datatype(self) -> str | None:
        """The datatype (``xsd:date``, or a full IRI), or None for plain and language-tagged text."""
        return self._parts()["datatype"]

    @property
    def language(self) -> str | None:
        """The language tag, or None."""
        return self._parts()["language"]


class Step(NamedTuple):
    """A relation followed from subject to object (forward) or from object to subject (inverse)."""

    relation: str
    inverse: bool = False

    def __str__(self) -> str:
        if self == END:
            return "END"
        escaped = (
            "\\" + self.relation if self.relation.startswith(("^", "\\")) or self.relation == "END" else self.relation
        )
        return "^" + escaped if self.inverse else escaped

    @classmethod
    def parse(cls, text: str) -> Step:
        """Parse the output of ``str``: ``born_in`` (forward), ``^born_in`` (inverse) or ``END``."""
        if text == "END":
            return END
        inverse = text.startswith("^")
        relation = text[1:] if inverse else text
        return cls(relation[1:] if relation.startswith("\\") else relation, inverse)


END = Step("")
"""The candidate step that ends a path; no graph has a relation with an empty name."""

Path = tuple[Step, ...]
"""The steps of a path, in the order in which they are followed; empty for the entity itself."""


class Triple(NamedTuple):
    """A fact of the graph, from subject to object even if it was traversed by an inverse step."""

    subject: str
    relation: str
    object: str


class Pattern(NamedTuple):
    """A triple pattern; None matches anything."""

    subject: str | None = None
    relation: str | None = None
    object: str | None = None

    def __str__(self) -> str:
        return f"({', '.join('?' if part is None else str(part) for part in self)})"

    def filled(self, entity: str) -> Triple:
        """Return the triple with an entity at the open end."""
        subject, relation, object_ = self
        return Triple(entity if subject is None else subject, relation or "", entity if object_ is None else object_)


def open_end(pattern: Pattern) -> tuple[str, Step]:
    """Read a pattern with a relation and exactly one open end.

    Returns:
        The bound end, and the step that leads from it to the open end: forward for (s, r, ?), inverse for (?, r, o).

    Raises:
        DriverError: If the pattern has no relation, no open end, or two.
    """
    subject, relation, object_ = pattern
    if relation is None or (subject is None) == (object_ is None):
        raise DriverError(f"{pattern} cannot be completed; bind the relation and either the subject or the object")
    return (object_, Step(relation, True)) if subject is None else (subject, Step(relation))  # type: ignore[return-value]


Qualifier = tuple[str, str]
"""A relation and a value that qualify a triple, such as ``("start time", "\"2005\"^^xsd:gYear")``."""
