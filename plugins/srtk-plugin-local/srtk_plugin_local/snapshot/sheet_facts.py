"""The facts of sheets, by their plan: names, triples and qualifiers, written inside the staging database."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from srtk_plugin_local.snapshot.build_settings import EDGE, BuildSettings
from srtk_plugin_local.snapshot.column_types import QUANTITY, TIME
from srtk_plugin_local.snapshot.headings import CODES, KEYS, TYPE, has_direction, neo4j_name, neo4j_space
from srtk_plugin_local.snapshot.input_report import counted
from srtk_plugin_local.snapshot.plurals import same_word, singular
from srtk_plugin_local.snapshot.sheets import Column, Sheet, Sheets
from srtk_plugin_local.snapshot.staging_values import first_row, is_literal, quote, shortened, value
from srtk_plugin_local.snapshot.table_links import name_of
from srtk_plugin_local.snapshot.table_plan import is_code

if TYPE_CHECKING:
    import duckdb

_RAW_NAME = "raw_name (id, text, language, alias)"
# Longest code that people say, and its parts, one of which has a number.
_CODE = 20
_PARTS = r"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9]+([-_.:/][A-Za-z0-9]+)*"
_NO_KEY = "rows with an empty cell"


def write_sheets(con: duckdb.DuckDBPyConnection, sheets: Sheets, settings: BuildSettings) -> None:
    """Move all sheets into the tables ``raw``, ``raw_name`` and ``qualifier``."""
    for sheet in sheets:
        if sheet.form == "entities":
            _write_rows(con, sheets, sheet, settings)
        else:
            _write_edges(con, sheets, sheet, settings)
        _write_labels(con, sheets, sheet, settings)
        _report(sheet)
    if not con.execute("SELECT 1 FROM raw LIMIT 1").fetchall():
        for sheet in sheets:
            sheet.note("holds names alone and no fact, so nothing can be asked; add a column or a table that says more")
    for sheet in sheets:
        con.execute(f"DROP TABLE {sheet.table}")


def id_of(sheet: Sheet) -> str:
    """Return the SQL expression of the id of a row."""
    parts = [column.canonical() for column in sheet.key]
    key = parts[0] if len(parts) == 1 else f"concat_ws(', ', {', '.join(parts)})"
    return f"{quote(_prefix(sheet))} || {key}" if _prefix(sheet) else key


def _prefix(sheet: Sheet) -> str:
    space = neo4j_space(sheet.key[0].title) if sheet.neo4j else ""
    return f"{space}/" if space else sheet.prefix


def _write_rows(con: duckdb.DuckDBPyConnection, sheets: Sheets, sheet: Sheet, settings: BuildSettings) -> None:
    filled = " AND ".join(f"{column.sql} IS NOT NULL" for column in sheet.key) if len(sheet.key) == 1 else "TRUE"
    row = first_row(con, f"SELECT count(*), min(rowid) FROM {sheet.table} WHERE NOT ({filled})")
    if row[0]:
        key = sheet.key[0]
        sheet.reports[0].skip_all(_NO_KEY, row[0], f"row {row[1] + 1}", f"{key.title!r} is empty; fill it")
    id_ = shortened(id_of(sheet), settings.prefixes)
    # No view of all columns: it would be bound anew, with all of them, for each column that is written.
    rows = f"{sheet.table} WHERE {filled}"
    _write_names(con, sheets, sheet, id_, rows)
    for column in sheet.columns:
        if column.kind in ("link", "literal", "names", "type") or _is_fact(sheet, column):
            relation = TYPE if column.kind == "type" else neo4j_name(column.title)
            made, literal = _object(con, sheets, column, settings)
            values = sheets.values(column)
            con.execute(
                f"INSERT INTO raw SELECT id, {shortened(quote(relation), settings.prefixes)}, {made}, {literal} FROM "
                f"(SELECT {id_} AS id, {values} AS x FROM {rows} AND {column.sql} IS NOT NULL) {_names(column)} "
                "WHERE x <> ''"
            )
            of_result = any(f"{other}Label" in sheet.titles for other in sheet.titles)
            named = relation.removesuffix("Label") if of_result else relation  # as query services of Wikidata write it
            _name_relation(con, relation, column.type.unit, named)
            _tell_unlinked(con, sheets, sheet, column, rows)
    con.execute("DROP TABLE IF EXISTS named_row")


def _is_fact(sheet: Sheet, column: Column) -> bool:
    """Return whether a key is a fact, too: a part of several columns, or a code beside a name."""
    if column not in sheet.key or column.kind == "name":
        return False
    return len(sheet.key) > 1 or (sheet.label() is not None and column.words.split()[-1:] in [[c] for c in CODES])


def _is_said(key: Column) -> bool:
    """Return whether a key is a code that people say: letters and numbers in a few parts, such as INV-24-7."""
    code = key.example
    return is_code(key) or (len(code) <= _CODE and re.fullmatch(_PARTS, code) is not None and not code.isdigit())


def _write_names(con: duckdb.DuckDBPyConnection, sheets: Sheets, sheet: Sheet, id_: str, rows: str) -> None:
    """Write labels and aliases of the rows."""
    label = sheet.label()
    text = ""
    if label is not None:
        text = name_of(sheet)
    elif len(sheet.key) > 1:
        # A time of day is named as it is written, without seconds.
        parts = [column.sql if column.type is TIME else column.canonical() for column in sheet.key]
        text = f"concat_ws(', ', {', '.join(parts)})"
    elif sheet.prefix and sheet.key[0].type.datatype:
        thing = singular(sheet.words[-1]) if sheet.words else sheet.name
        text = f"{quote(thing)} || ' ' || {sheet.key[0].canonical()}"
        con.execute(f"INSERT INTO {_RAW_NAME} SELECT {id_}, {sheet.key[0].canonical()}, '', TRUE FROM {rows}")
    elif sheet.prefix:
        text = sheet.key[0].sql
    if text:
        con.execute(f"INSERT INTO {_RAW_NAME} SELECT {id_}, {text}, '', FALSE FROM {rows} AND {text} <> ''")
    if label is not None and len(sheet.key) == 1 and _is_said(sheet.key[0]) and not _is_fact(sheet, sheet.key[0]):
        con.execute(f"INSERT INTO {_RAW_NAME} SELECT {id_}, {sheet.key[0].sql}, '', TRUE FROM {rows}")
    for column in sheet.columns:
        if column.kind == "alias":
            values = f"SELECT {id_} AS id, {sheets.values(column)} AS x FROM {rows} AND {column.sql} IS NOT NULL"
            con.execute(f"INSERT INTO {_RAW_NAME} SELECT id, x, '', TRUE FROM ({values}) WHERE x <> ''")


def _write_labels(con: duckdb.DuckDBPyConnection, sheets: Sheets, sheet: Sheet, settings: BuildSettings) -> None:
    """Write the names of the values of columns that have a column of names beside them."""
    for label in (column for column in sheet.columns if column.kind == "label"):
        column = next(column for column in sheet.columns if column.title == label.to)
        if not column.to:  # a row of a table has a name of its own
            made, _ = _object(con, sheets, column, settings)
            both = f"{column.sql} IS NOT NULL AND {label.sql} IS NOT NULL"
            con.execute(
                f"INSERT INTO {_RAW_NAME} SELECT DISTINCT {made}, text, '', FALSE FROM "
                f"(SELECT {column.sql} AS x, {label.sql} AS text FROM {sheet.table} WHERE {both})"
            )


def _name_relation(con: duckdb.DuckDBPyConnection, relation: str, unit: str, named: str = "") -> None:
    """Name a relation by words, by default its own, without camel case and underscores, and the unit of its numbers."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", named or relation).replace("_", " ").split()
    if len(words) > 1 and " " not in relation:
        words = [words[0], *(word if word.isupper() else word.lower() for word in words[1:])]
    if unit and unit.lower() not in relation.lower().replace("_", " ").replace("(", " ").replace(")", " ").split():
        words.append(f"({unit})")
    if relation not in (TYPE, name := " ".join(words) or relation):
        con.execute(f"INSERT INTO {_RAW_NAME} VALUES (?, ?, '', FALSE)", [relation, name])


def _tell_unlinked(con: duckdb.DuckDBPyConnection, sheets: Sheets, sheet: Sheet, column: Column, rows: str) -> None:
    """Note how many values of a link are no row of the other table, or could be several."""
    target = _target(sheets, column)
    if target is None:
        return
    key, value = (name_of(target), "x") if column.by == "name" else (target.key[0].canonical(), column.canonical("x"))
    there = f"SELECT {key} AS k FROM {target.table} GROUP BY 1 HAVING k IS NOT NULL"
    there += " AND count(*) = 1" if column.by == "name" else ""
    values = f"SELECT {sheets.values(column)} AS x FROM {rows} AND {column.sql} IS NOT NULL"
    (lost,) = first_row(con, f"SELECT count(*) FROM ({values}) WHERE {value} NOT IN (SELECT k FROM ({there}))")
    if lost:
        what = f"values of {column.title!r} are no single row of {target.name}; they stay what they are"
        sheet.note(counted(lost, what))


def _target(sheets: Sheets, column: Column) -> Sheet | None:
    return next((sheet for sheet in sheets if sheet.name == column.to), None)


def _names(column: Column) -> str:
    """Return the join of a link by names, over the table that ``_object`` makes."""
    return "LEFT JOIN named_row ON x = named_row.text" if column.to and column.by == "name" else ""


def _object(con: duckdb.DuckDBPyConnection, sheets: Sheets, column: Column, settings: BuildSettings) -> tuple[str, str]:
    """Return the SQL expressions of an object and of whether it is a literal, over a value ``x``."""
    target = _target(sheets, column)
    if target is not None:
        return _linked(con, target, column, settings)
    literals = "typed" if settings.literals == "numbers" else settings.literals
    entity, typed = value("x", settings.prefixes, literals), is_literal("x", literals)
    if column.kind in ("type", "source", "target") or settings.literals == "none":
        return entity, "FALSE"
    if column.kind == "names":
        return entity, typed
    plain = "'\"' || x || '\"'"
    if column.type.datatype:
        made = f"'\"' || {column.canonical('x')} || '\"^^xsd:{column.type.datatype}'"
        exact = not column.odd and not column.split
        plain = made if exact else f"CASE WHEN {column.fits('x')} THEN {made} ELSE {plain} END"
    return f"CASE WHEN {typed} THEN {entity} ELSE {plain} END", "TRUE"


def _linked(con: duckdb.DuckDBPyConnection, target: Sheet, column: Column, settings: BuildSettings) -> tuple[str, str]:
    """Return the expressions of a link; a value that is no row there stays a text, or a number."""
    id_ = shortened(id_of(target), settings.prefixes)
    if column.by == "name":
        con.execute("DROP TABLE IF EXISTS named_row")
        con.execute(
            f"CREATE TEMP TABLE named_row AS SELECT {name_of(target)} AS text, min({id_}) AS node FROM {target.table} "
            "GROUP BY 1 HAVING count(*) = 1"
        )
        return f"coalesce(named_row.node, {shortened('x', settings.prefixes)})", "FALSE"
    (key,) = target.key
    text = column.canonical("x")
    made = shortened(f"({quote(_prefix(target))} || {text})", settings.prefixes)
    if column.kind in ("source", "target"):
        return made, "FALSE"  # an end of an edge is a thing, though its row may be missing
    there = f"{text} IN (SELECT {key.canonical()} FROM {target.table} WHERE {key.sql} IS NOT NULL)"
    other = f"'\"' || {text} || '\"^^xsd:{column.type.datatype}'" if column.type.datatype else "x"
    if settings.literals == "none":
        other = "x"
    literal = f"NOT ({there})" if column.type.datatype and settings.literals != "none" else "FALSE"
    return f"CASE WHEN {there} THEN {made} ELSE {other} END", literal


def _write_edges(con: duckdb.DuckDBPyConnection, sheets: Sheets, sheet: Sheet, settings: BuildSettings) -> None:
    """Write a fact for each row, and its other columns as qualifiers."""
    start, end = (next(c for c in sheet.columns if c.kind == kind) for kind in ("source", "target"))
    relation = EDGE if sheet.form == "edges" else _joining(sheets, sheet, end)
    lacking = f"{start.sql} IS NULL OR {end.sql} IS NULL"
    row = first_row(con, f"SELECT count(*), min(rowid) FROM {sheet.table} WHERE {lacking}")
    if row[0]:
        sheet.reports[0].skip_all(_NO_KEY, row[0], f"row {row[1] + 1}", "an end of the edge is empty; fill it")
    con.execute(f"CREATE TEMP TABLE ends AS SELECT rowid AS n, * FROM {sheet.table} WHERE NOT ({lacking})")
    for name, column in (("s", start), ("o", end)):
        made, _ = _object(con, sheets, column, settings)
        con.execute(
            f"CREATE TEMP TABLE end_{name} AS SELECT n, {made} AS id FROM (SELECT n, {column.sql} AS x FROM ends) "
            f"{_names(column)}"
        )
    con.execute(
        f"CREATE TEMP TABLE fact_row AS SELECT n, end_s.id AS s, {quote(relation)} AS r, end_o.id AS o "
        "FROM end_s JOIN end_o USING (n)"
    )
    con.execute("INSERT INTO raw SELECT s, r, o, FALSE FROM fact_row")
    (repeated,) = first_row(con, "SELECT count(*) - count(DISTINCT hash(s, o)) FROM fact_row")
    if repeated and any(column.kind in ("property", "link") for column in sheet.columns):
        sheet.note(
            f"{repeated:,} rows repeat an edge of another row: such rows are one fact with the qualifiers of all of "
            "them, which are not kept apart"
        )
    for column in sheet.columns:
        if column.kind in ("property", "link"):
            made, literal = _object(con, sheets, column, settings)
            title = neo4j_name(column.title)
            con.execute(
                f"INSERT INTO qualifier SELECT s, r, o, {quote(title)}, {made}, {literal} FROM (SELECT n, "
                f"{sheets.values(column)} AS x FROM ends WHERE {column.sql} IS NOT NULL) {_names(column)} "
                "JOIN fact_row USING (n) WHERE x <> ''"
            )
            _name_relation(con, title, column.type.unit)
    for name in ("ends", "end_s", "end_o", "fact_row"):
        con.execute(f"DROP TABLE {name}")
    con.execute("DROP TABLE IF EXISTS named_row")
    if sheet.form == "edges":
        sheet.note(f"its edges name no relation; it is called {EDGE!r}")
        _tell_direction(con, sheet, (start, end))


def _tell_direction(con: duckdb.DuckDBPyConnection, sheet: Sheet, ends: Sequence[Column]) -> None:
    """Report that the edges have no direction, or that none is known, by their column *Type* or by their headings."""
    told = [column for column in sheet.columns if (column.kind, column.words) == ("bookkeeping", "type")]
    said = {
        str(value).strip().lower()
        for column in told
        for (value,) in con.execute(f"SELECT DISTINCT {column.sql} FROM {sheet.table}").fetchall()
        if value is not None
    }
    if "directed" in said or (not told and has_direction([column.title for column in ends])):
        return
    how = "have no direction" if "undirected" in said else "say no direction, and count as edges without one"
    sheet.note(f"its edges {how}; answers are of both")
    sheet.reports[0].symmetric = [EDGE]


def _joining(sheets: Sheets, sheet: Sheet, end: Column) -> str:
    """Return the relation of a table between two others: its words, except words of all names, and its end's."""
    names = [other.words for other in sheets]
    shared = next((at for at, words in enumerate(zip(*names, strict=False)) if len(set(words)) > 1), 0)
    words = sheet.words[shared:] or sheet.words
    ends = end.words.split()
    ends = ends[:-1] if len(ends) > 1 and ends[-1] in (*KEYS, *CODES) else ends
    return " ".join([*words, *(word for word in ends if not any(same_word(word, other) for other in words))])


def read_as(sheet: Sheet, column: Column) -> str:
    """Return the meaning of a column, in words."""
    words = {
        "name": "name",
        "alias": "other names",
        "names": "names of things",
        "type": "class",
        "source": "start of the edge",
        "target": "end of the edge",
        "ignored": "not read",
        "layout": "layout, not read",
        "bookkeeping": "bookkeeping, not read",
        "empty": "empty",
    }
    text = words.get(column.kind, "")
    if column.kind == "key":
        text = "key"
    elif column in sheet.key:
        text = f"part of the key, {text or _typed(column)}"
    elif column.kind == "literal":
        text = _typed(column)
    elif column.kind == "property":
        text = f"{_typed(column)} of the edge"
    elif column.kind == "label":
        return f"name of {column.to} ({column.why})" if column.why else f"name of {column.to}"
    if column.to:
        text = f"{text + ', ' if text else ''}link to {column.to}" + (" by name" if column.by == "name" else "")
    if column.split:
        text += f", list split at {'items' if column.split == chr(31) else repr(column.split)}"
    return text + (f" ({column.why})" if column.why else "")


def _typed(column: Column) -> str:
    return column.type.name if column.type is not QUANTITY else "text of a quantity"


def _report(sheet: Sheet) -> None:
    """Report the meaning of each column, with its missing values and values of another type."""
    for report in sheet.reports:
        report.columns = [
            {
                "column": column.title,
                "as": read_as(sheet, column),
                "kind": column.kind,
                "type": column.type.name,
                "example": column.example[:40],
            }
            for column in sheet.columns
        ]
        report.unread = [
            column.title for column in sheet.columns if column.kind in ("layout", "bookkeeping", "ignored")
        ]
    missing = {column.title: column.missing for column in sheet.columns if column.missing}
    if missing:
        titles = ", ".join(missing)
        sheet.note(counted(sum(missing.values()), f"words of a missing value, such as NULL, hold no value ({titles})"))
    for column in sheet.columns:
        if column.odd and column.kind in ("literal", "property"):
            counts = f"{column.odd:,} of {column.filled:,} values"
            sheet.note(f"column {column.title!r}: {counts} are no {column.type.name}; they stay texts")
