"""Facts and qualifiers of a reader, gathered into tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import attrs

from srtk_plugin_local.snapshot.limits import ROWS
from srtk_plugin_local.snapshot.staging_values import QUALIFIERS

if TYPE_CHECKING:
    import pyarrow as pa


@attrs.define
class Output:
    """Rows that are not yet given away as tables.

    A literal has the form of ``Literal``, in facts and in qualifiers alike, so that a qualifier finds its fact.

    Attributes:
        most: Number of rows that make a table.
    """

    most: int = ROWS
    _facts: list[tuple[str, str, str, str]] = attrs.field(factory=list)
    _qualifiers: list[tuple[str, str, str, str, str]] = attrs.field(factory=list)
    _literals: list[bool] = attrs.field(factory=list)

    def name(self, id_: str, text: str, alias: bool = False) -> None:
        """Add a name of an entity or a relation."""
        if text.strip():
            self._facts.append((id_, "", text.strip(), "alias" if alias else "label"))

    def row(self, row: tuple[str, str, str, str]) -> None:
        """Add an id, a relation, a value and the kind of the value."""
        self._facts.append(row)

    def fact(self, start: str, relation: str, value: str, literal: bool) -> None:
        """Add a fact."""
        if literal and value.endswith('"'):  # a text; its quotation marks are added when it is staged
            self._facts.append((start, relation, value[1:-1], "text"))
        else:
            self._facts.append((start, relation, value, "literal" if literal else "entity"))

    def qualifier(self, fact: Sequence[str], relation: str, value: str, literal: bool) -> None:
        """Add a qualifier of a fact, which is a start, a relation and a value."""
        start, of, end = fact
        self._qualifiers.append((start, of, end, relation, value))
        self._literals.append(literal)

    def full(self) -> Iterator[pa.Table]:
        """Yield tables if there are enough rows."""
        if len(self._facts) + len(self._qualifiers) >= self.most:
            yield from self.rest()

    def rest(self) -> Iterator[pa.Table]:
        """Yield the tables of all rows."""
        import pyarrow as pa

        if self._facts:
            columns = zip(*self._facts, strict=True)
            yield pa.table({f"c{place}": pa.array(column, pa.string()) for place, column in enumerate(columns)})
            self._facts = []
        if self._qualifiers:
            named = zip(QUALIFIERS[:5], zip(*self._qualifiers, strict=True), strict=True)
            table = {name: pa.array(column, pa.string()) for name, column in named}
            yield pa.table({**table, QUALIFIERS[5]: pa.array(self._literals, pa.bool_())})
            self._qualifiers, self._literals = [], []


def literal_of(value: object) -> str:
    """Return a value as a literal: numbers with their type, all else as text."""
    if isinstance(value, bool):
        return f'"{str(value).lower()}"^^xsd:boolean'
    if isinstance(value, int):
        return f'"{value}"^^xsd:integer'
    if isinstance(value, float):
        return f'"{int(value)}"^^xsd:integer' if value.is_integer() else f'"{value}"^^xsd:decimal'
    return f'"{value}"'
