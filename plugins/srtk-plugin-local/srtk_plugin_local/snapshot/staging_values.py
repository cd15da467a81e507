"""SQL expressions of values: short ids, literals and their datatypes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

_XSD = "http://www.w3.org/2001/XMLSchema#"
# Quotation marks alone may belong to a name, such as a song title; `literals: quoted` makes them literals.
LITERALS = {"typed": r'(?s)".*"(?:@[A-Za-z0-9-]+|\^\^\S+)', "quoted": r'(?s)".*"(?:@[A-Za-z0-9-]+|\^\^\S+)?'}

# Columns of a table of qualifiers: a fact as its reader gave it, a relation, a value, whether it is a literal.
#
# Facts and values are unshortened; a literal has the form of ``Literal``, such as ``"7"^^xsd:integer``.
QUALIFIERS = ["s", "r", "o", "q", "v", "literal"]


def quote(text: str) -> str:
    """Return an SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


def first_row(con: duckdb.DuckDBPyConnection, sql: str) -> tuple[int, ...]:
    """Return the first row of numbers that a query selects, 0 for NULL; an empty tuple without rows."""
    rows = con.execute(sql).fetchall()
    return tuple(int(number or 0) for number in rows[0]) if rows else ()


def shortened(column: str, prefixes: Mapping[str, str]) -> str:
    """Return the SQL expression that shortens an IRI: the longest namespace wins, an empty prefix gives a bare name.

    A local name with a colon is never a bare name, since it would read as a prefixed name.
    """
    cases = []
    for prefix, namespace in sorted(prefixes.items(), key=lambda item: (-len(item[1]), item[0])):
        local = f"substr({column}, {len(namespace) + 1})"
        plain = f" AND NOT contains({local}, ':')" if not prefix else ""
        short = f"{quote(prefix + ':')} || {local}" if prefix else local
        cases.append(f"WHEN starts_with({column}, {quote(namespace)}) AND {local} <> ''{plain} THEN {short}")
    return f"CASE {' '.join(cases)} ELSE {column} END" if cases else column


def shorten(iris: Sequence[str], con: duckdb.DuckDBPyConnection, prefixes: Mapping[str, str]) -> list[str]:
    """Shorten IRIs by the rule of ``shortened``."""
    if not iris:
        return []
    sql = f"SELECT {shortened('x', prefixes)} FROM (SELECT unnest(?) AS x, generate_subscripts(?, 1) AS n) ORDER BY n"
    return [short for (short,) in con.execute(sql, [list(iris), list(iris)]).fetchall()]


def value(column: str, prefixes: Mapping[str, str], literals: str) -> str:
    """Return the SQL expression that normalises an object of a text table: IRIs shortened, datatypes abbreviated."""
    plain = rf"regexp_replace({column}, '\^\^({_XSD}|xsd:)string$', '')"
    typed = rf"regexp_replace({plain}, '\^\^{_XSD}(\S+)$', '^^xsd:\1')"
    return f"CASE WHEN {is_literal(column, literals)} THEN {typed} ELSE {shortened(column, prefixes)} END"


def is_literal(column: str, literals: str) -> str:
    """Return the SQL condition under which a text is a literal, by the setting ``literals``."""
    if literals == "none":
        return "FALSE"
    return f"(starts_with({column}, '\"') AND regexp_full_match({column}, {quote(LITERALS[literals])}))"
