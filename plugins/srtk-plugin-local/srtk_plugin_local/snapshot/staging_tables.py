"""Staging tables of a build in DuckDB: triples, names and qualifiers, with short ids and normalised literals."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from srtk_framework.text import LITERAL_FORM
from srtk_framework.values import InputError
from srtk_plugin_local.snapshot import formats
from srtk_plugin_local.snapshot.apoc import edge_rows, is_apoc, node_rows, property_rows
from srtk_plugin_local.snapshot.arrow_texts import LIST
from srtk_plugin_local.snapshot.build_settings import DESCRIPTION, WITHIN, BuildSettings, files_of, names_of_rdf
from srtk_plugin_local.snapshot.column_types import NUMBERS, SPELLINGS
from srtk_plugin_local.snapshot.containers import read_container
from srtk_plugin_local.snapshot.header import plan_facts, plan_fixed
from srtk_plugin_local.snapshot.headings import neo4j_name, neo4j_type
from srtk_plugin_local.snapshot.input_files import Progress, detect, guess_format
from srtk_plugin_local.snapshot.input_report import FileReport, counted
from srtk_plugin_local.snapshot.parser_process import is_apart, read_apart, shares, sheets_apart
from srtk_plugin_local.snapshot.property_graphs.files import read_property_graph
from srtk_plugin_local.snapshot.rdf import RDF, read_rdf
from srtk_plugin_local.snapshot.sheet_facts import write_sheets
from srtk_plugin_local.snapshot.sheets import Sheets
from srtk_plugin_local.snapshot.staging_values import (
    LITERALS,
    QUALIFIERS,
    first_row,
    is_literal,
    quote,
    shorten,
    shortened,
    value,
)
from srtk_plugin_local.snapshot.table_parts import part_tables
from srtk_plugin_local.snapshot.table_plan import plan_sheets
from srtk_plugin_local.snapshot.tables import read_names, read_rows
from srtk_plugin_local.snapshot.tools import kgtk, read_tool
from srtk_plugin_local.snapshot.totals import drop_totals

if TYPE_CHECKING:
    import duckdb

# Names of files that are listed at most.
_SHOWN = 5
_NAMES = "raw_name (id, text, language, alias)"
_PARTS = r'(?s)^"(.*)"(?:@([A-Za-z0-9-]+)|\^\^\S+)?$'


def stage_triples(
    con: duckdb.DuckDBPyConnection,
    settings: BuildSettings,
    progress: Progress,
    reports: list[FileReport],
    pinned: Mapping[str, Any],
) -> tuple[bool, dict[str, Any]]:
    """Fill the table ``raw`` (s, r, o, literal) from the input files.

    Returns:
        Whether one of the files is RDF, and the plan of columns of the sheets.

    Names in tables with one entity in each row go to the table ``raw_name`` (id, text, language, alias).
    """
    if settings.literals not in ("none", "numbers", *LITERALS):
        raise InputError(f"literals {settings.literals!r}: choose typed, numbers, quoted or none")
    con.execute("CREATE TABLE raw (s VARCHAR, r VARCHAR, o VARCHAR, literal BOOLEAN)")
    con.execute(
        "CREATE TEMP TABLE raw_name (id VARCHAR, text VARCHAR, language VARCHAR, alias BOOLEAN, "
        "naming UTINYINT DEFAULT 0)"
    )
    con.execute("CREATE TEMP TABLE cell (s VARCHAR, r VARCHAR, o VARCHAR, literal VARCHAR, certain BOOLEAN)")
    con.execute("CREATE TABLE qualifier (s VARCHAR, r VARCHAR, o VARCHAR, q VARCHAR, v VARCHAR, literal BOOLEAN)")
    if settings.made_by is not None:
        _stage_tool(con, settings, progress, reports)
        return False, {}
    sheets = Sheets(con, settings.missing, settings.split or "")
    files = settings.read_files()
    detected = [detect(name, settings.format) for name in files]
    families = [formats.family(kind) for kind, _ in detected]
    meter = Meter("read", files, progress)
    for name, family, (kind, contradiction) in zip(files, families, detected, strict=True):
        apart = is_apart(name, kind)
        _set_memory(con, f"{shares(settings.memory)[0]}B" if apart else settings.memory)
        if family == formats.CONTAINER:
            container = (
                sheets_apart(name, kind, settings, meter)
                if apart
                else read_container(name, kind, plan_facts(settings), settings.strict, meter, settings.memory)
            )
            for report, tables in container:
                reports.append(report)
                _stage_rows(con, sheets, settings, report, tables)
            meter.next()
            continue
        report = FileReport(name, kind, settings.strict)
        if contradiction is not None:
            report.note(contradiction)
        reports.append(report)
        if family == formats.RDF:
            object_ = f"CASE WHEN literal THEN c2 ELSE {shortened('c2', settings.prefixes)} END"
            rdf = (
                read_apart(name, kind, settings, report, meter)
                if apart
                else read_rdf(name, kind, report, meter, settings.base, settings.memory)
            )
            for table in rdf:
                if table.column_names == QUALIFIERS:
                    _insert_qualifiers(con, table, settings)
                else:
                    insert(con, "raw", table, f"{_subject_relation(settings)}, {object_}, literal")
        elif family == formats.GRAPH:
            read_graph = read_apart if apart else read_property_graph
            for table in read_graph(name, kind, settings, report, meter):
                _insert_facts(con, table, settings)
        elif kind == "tsv" and kgtk.has_label_columns(name):
            report.note("was read as edges of KGTK, since its columns name its nodes")
            for table in kgtk.read(name, settings, report, meter, {}):
                _insert_facts(con, table, settings)
        else:
            tables = read_rows(name, kind, settings.separator, plan_facts(settings), report, meter, settings.memory)
            _stage_rows(con, sheets, settings, report, tables)
        meter.next()
    _tell_unread(settings, reports)
    _set_memory(con, settings.memory)
    part_tables(sheets, settings, pinned)
    for sheet in sheets:
        sheets.profile(sheet)
        drop_totals(sheets, sheet)
    plan = plan_sheets(sheets, settings, bool(first_row(con, "SELECT 1 FROM raw LIMIT 1")), pinned)
    write_sheets(con, sheets, settings)
    _stage_reified(con, settings)
    _stage_cells(con)
    _stage_descriptions(con, settings, progress, reports)
    return formats.RDF in families, plan


def _tell_unread(settings: BuildSettings, reports: Sequence[FileReport]) -> None:
    """Note what lies in a folder of data files and is none by its ending."""
    for folder in filter(os.path.isdir, settings.files):
        read = files_of(folder)
        there = sorted(entry for entry in Path(folder).iterdir() if not entry.name.startswith("."))
        others = [f"{entry.name}{'/' * entry.is_dir()}" for entry in there if str(entry) not in read]
        report = next(
            (report for report in reports if (report.name.rpartition(WITHIN)[0] or report.name) in read), None
        )
        if others and report is not None:
            more = f" and {len(others) - _SHOWN:,} more" if len(others) > _SHOWN else ""
            report.note(
                f"of its folder these entries were not read, whose endings tell no data: {', '.join(others[:_SHOWN])}"
                f"{more}; give those to read by name"
            )


def _set_memory(con: duckdb.DuckDBPyConnection, memory: str) -> None:
    con.execute(f"SET memory_limit = {quote(memory)}")


def _stage_rows(
    con: duckdb.DuckDBPyConnection, sheets: Sheets, settings: BuildSettings, report: FileReport, tables: Iterable[Any]
) -> None:
    """Insert the rows of a table: as facts, or whole where their columns are yet to be understood."""
    words = _Missing(settings.missing, report)
    for table in tables:
        if is_apoc(report.sheet):
            _insert_apoc(con, sheets, settings, report, table)
        elif report.sheet:
            sheets.add(report, table)
        elif report.properties:
            table = words.read(table)
            _insert_edges(con, table.select(range(3)), property_rows(report.properties, table), settings)
        else:
            _insert_facts(con, words.read(table), settings)
    words.tell()


@attrs.define
class _Missing:
    """Words of a missing value in facts, which stay unless they are given.

    Attributes:
        words: The given words, in small letters; None if none are given.
        report: Report of the file.
        count: Number of facts with such a word as subject or object.
    """

    words: Sequence[str] | None
    report: FileReport
    count: int = 0

    def read(self, table: Any) -> Any:
        """Count the facts with such a word; return the table without them if the words are given."""
        import pyarrow as pa
        import pyarrow.compute as pc

        ends = [table.column(place) for place in (0, 2)]
        if self.words is None:
            has = [pc.is_in(column, value_set=pa.array(SPELLINGS)) for column in ends]
        else:
            folded = pa.array([word.casefold() for word in self.words], pa.string())
            has = [pc.is_in(pc.utf8_lower(column), value_set=folded) for column in ends]
        found = pc.or_(*has)
        count = pc.sum(found).as_py() or 0
        self.count += count
        return table if self.words is None or not count else table.filter(pc.invert(found))

    def tell(self) -> None:
        """Note the number of facts with such a word, or count them as skipped."""
        if self.count and self.words is not None:
            self.report.skip_all("facts with a word of a missing value", self.count, "by --missing", "fill the cell")
        elif self.count:
            self.report.note(
                counted(self.count, "facts have a word of a missing value, such as NULL")
                + "; they stay, and --missing WORD,... leaves them out"
            )


def _insert_apoc(
    con: duckdb.DuckDBPyConnection, sheets: Sheets, settings: BuildSettings, report: FileReport, table: Any
) -> None:
    """Insert rows of nodes and rows of edges from a table of both."""
    facts, properties = edge_rows(report.sheet, table)
    _insert_edges(con, facts, properties, settings)
    titles, nodes = node_rows(report.sheet, table)
    if nodes.num_rows:
        sheets.add(report, nodes, titles)


def _insert_edges(
    con: duckdb.DuckDBPyConnection, facts: Any, properties: Iterable[tuple[str, Any]], settings: BuildSettings
) -> None:
    """Insert facts, and their properties as qualifiers: tables of facts with a value, ``c3``, by heading of Neo4j."""
    _insert_facts(con, facts, settings)
    fact = f"{_subject_relation(settings)}, {shortened('c2', settings.prefixes)}"
    for title, values in properties:
        declared = neo4j_type(title)
        text = _plain("c3") if declared in ("string", "char") else f"coalesce({_number('c3')}, {_plain('c3')})"
        mark = quote(settings.split or ";") if title.endswith("[]") else f"chr({ord(LIST)})"
        con.register("whole", values)
        each = f"SELECT c0, c1, c2, trim(unnest(string_split(c3, {mark}))) AS c3 FROM whole"
        values = con.sql(each).to_arrow_table()
        con.unregister("whole")
        insert(con, "qualifier", values, f"{fact}, {quote(neo4j_name(title))}, {text}, TRUE", "c3 <> ''")


def _stage_tool(
    con: duckdb.DuckDBPyConnection, settings: BuildSettings, progress: Progress, reports: list[FileReport]
) -> None:
    """Read the files as the tool writes them that the settings name."""
    files = settings.read_files()
    meter, known = Meter("read", files, progress), dict[str, tuple[str, str, str]]()
    for name in files:
        report = FileReport(name, settings.made_by or "", settings.strict)
        reports.append(report)
        for table in read_tool(name, settings, report, meter, known):
            _insert_facts(con, table, settings)
        meter.next()
    _tell_unread(settings, reports)
    _stage_cells(con)
    _stage_descriptions(con, settings, progress, reports)


def _subject_relation(settings: BuildSettings) -> str:
    return f"{shortened('c0', settings.prefixes)}, {shortened('c1', settings.prefixes)}"


def _insert_facts(con: duckdb.DuckDBPyConnection, table: Any, settings: BuildSettings) -> None:
    """Insert rows of a table: facts, or id, relation, value and kind of value.

    Whether a number is a literal is decided when all ids are known: a number that is an id refers to its entity.
    """
    if table.column_names == QUALIFIERS:
        _insert_qualifiers(con, table, settings)
        return
    literals = "typed" if settings.literals == "numbers" else settings.literals
    object_, literal = value("c2", settings.prefixes, literals), is_literal("c2", literals)
    if table.num_columns == 4:
        id_ = shortened("c0", settings.prefixes)
        insert(con, _NAMES, table, f"{id_}, c2, '', c3 = 'alias'", "c3 IN ('label', 'alias')")
        typed = f"CASE c3 WHEN 'entity' THEN NULL WHEN 'text' THEN {_plain('c2')} {{}} END"
        number = f"WHEN 'literal' THEN coalesce({_number('c2')}, {_plain('c2')}) ELSE {_number('c2')}"
        forms = typed.format(number) if settings.literals != "none" else "NULL"
        columns = f"{_subject_relation(settings)}, {object_}, CASE WHEN {literal} THEN {object_} ELSE {forms} END"
        insert(con, "cell", table, f"{columns}, {literal} OR c3 IN ('literal', 'text')", "c3 NOT IN ('label', 'alias')")
        return
    if settings.split:
        values = f"trim(unnest(string_split(c2, {quote(settings.split)})))"
        con.register("whole", table)
        table = con.sql(f"SELECT * FROM (SELECT c0, c1, {values} AS c2 FROM whole) WHERE c2 <> ''").to_arrow_table()
        con.unregister("whole")
    if settings.literals == "numbers":
        columns = (
            f"{_subject_relation(settings)}, {object_}, CASE WHEN {literal} THEN {object_} ELSE {_number('c2')} END"
        )
        insert(con, "cell", table, f"{columns}, {literal}")
        return
    insert(con, "raw", table, f"{_subject_relation(settings)}, {object_}, {literal}")


def _insert_qualifiers(con: duckdb.DuckDBPyConnection, table: Any, settings: BuildSettings) -> None:
    """Insert the qualifiers that a reader found beside its facts; a text without type that is no literal is an id."""
    ids = [shortened(column, settings.prefixes) for column in ("s", "r", "q")]
    object_, term = (
        f"CASE WHEN starts_with({column}, '\"') THEN {column} ELSE {shortened(column, settings.prefixes)} END"
        for column in ("o", "v")
    )
    insert(con, "qualifier", table, f"{ids[0]}, {ids[1]}, {object_}, {ids[2]}, {term}, literal")


def _stage_reified(con: duckdb.DuckDBPyConnection, settings: BuildSettings) -> None:
    """Make qualifiers of the triples about reified statements whose fact is in the graph; others stay as they are."""
    parts = shorten([RDF + part for part in ("subject", "predicate", "object")], con, settings.prefixes)
    if not con.execute("SELECT 1 FROM raw WHERE r = ? LIMIT 1", [parts[1]]).fetchone():
        return
    s, r, o = (f"(SELECT s AS node, o AS id, literal FROM raw WHERE r = {quote(part)})" for part in parts)
    con.execute(
        "CREATE TEMP TABLE reified AS SELECT DISTINCT a.node, raw.s, raw.r, raw.o "
        f"FROM {s} a JOIN {r} b USING (node) JOIN {o} c USING (node) "
        "JOIN raw ON raw.s = a.id AND raw.r = b.id AND raw.o = c.id AND raw.literal = c.literal"
    )
    # A node that reifies several statements says the same of each.
    [type_, statement] = shorten([RDF + "type", RDF + "Statement"], con, settings.prefixes)
    listed = ", ".join(quote(part) for part in parts)
    con.execute(
        "INSERT INTO qualifier SELECT f.s, f.r, f.o, q.r, q.o, q.literal FROM raw q JOIN reified f ON q.s = f.node "
        f"WHERE q.r NOT IN ({listed}) AND NOT (q.r = {quote(type_)} AND q.o = {quote(statement)})"
    )
    # A statement that another triple refers to also stays a node, as what is said of it would hang in the air.
    con.execute("DELETE FROM raw WHERE s IN (SELECT node FROM reified EXCEPT SELECT o FROM raw WHERE NOT literal)")
    con.execute("DROP TABLE reified")


def _plain(column: str) -> str:
    return f"'\"' || {column} || '\"'"


def _number(column: str) -> str:
    """Return the SQL expression of the literal that a number, a date or a truth value is; NULL for any other text."""
    cases = [
        f"WHEN regexp_full_match({column}, {quote(form)}) THEN '\"' || {text.format(column)} || '\"^^xsd:{kind}'"
        for form, kind, text in NUMBERS
    ]
    return f"CASE {' '.join(cases)} END"


def _stage_cells(con: duckdb.DuckDBPyConnection) -> None:
    """Move the cells into ``raw``, as literals where they are no ids."""
    if not con.execute("SELECT 1 FROM cell LIMIT 1").fetchone():
        return
    con.execute("CREATE TEMP TABLE subject AS SELECT s AS id FROM raw UNION SELECT s FROM cell")
    con.execute(
        "INSERT INTO raw SELECT s, r, CASE WHEN l THEN literal ELSE o END, l FROM (SELECT *, literal IS NOT NULL AND "
        "(certain OR o NOT IN (SELECT id FROM subject)) AS l FROM cell)"
    )
    con.execute("DROP TABLE cell")
    con.execute("DROP TABLE subject")


def _stage_descriptions(
    con: duckdb.DuckDBPyConnection, settings: BuildSettings, progress: Progress, reports: list[FileReport]
) -> None:
    """Add a triple for each description of a known id."""
    if not settings.descriptions:
        return
    con.execute("CREATE TEMP TABLE described (id VARCHAR, text VARCHAR, language VARCHAR)")
    meter = Meter("read descriptions", settings.descriptions, progress)
    for name in settings.descriptions:
        for ids, texts, languages, _ in read_names(name, reported(name, settings, reports), meter):
            _insert_columns(con, "described", (ids, texts, languages), f"{shortened('c0', settings.prefixes)}, c1, c2")
        meter.next()
    literal = "'\"' || trim(text) || '\"' || CASE WHEN language = '' THEN '' ELSE '@' || language END"
    con.execute(
        f"INSERT INTO raw SELECT id, {quote(DESCRIPTION)}, {literal}, TRUE FROM described WHERE trim(text) <> '' "
        "AND id IN (SELECT s FROM raw UNION SELECT o FROM raw WHERE NOT literal)"
    )
    con.execute("DROP TABLE described")


def reported(name: str, settings: BuildSettings, reports: list[FileReport]) -> FileReport:
    """Add a new report, and return it."""
    reports.append(FileReport(name, guess_format(name), settings.strict))
    return reports[-1]


def stage_names(
    con: duckdb.DuckDBPyConnection,
    settings: BuildSettings,
    progress: Progress,
    reports: list[FileReport],
    is_rdf: bool = False,
) -> None:
    """Fill the table ``raw_name`` from files and from triples of label and alias relations.

    The remaining rows of ``raw`` are the view ``fact``.
    """
    labels = shorten(settings.label_relations, con, settings.prefixes)
    aliases = shorten(settings.alias_relations, con, settings.prefixes)
    named = dict.fromkeys((*settings.label_relations, *labels), False)
    named |= dict.fromkeys((*settings.alias_relations, *aliases), True)
    listed = ", ".join(quote(relation) for relation in named) or "''"
    alias_list = ", ".join(quote(relation) for relation, is_alias in named.items() if is_alias) or "''"
    con.execute(
        f"INSERT INTO {_NAMES} SELECT s, {_text('o')}, {_language('o')}, r IN ({alias_list}) "
        f"FROM raw WHERE r IN ({listed})"
    )
    more = _stage_further_names(con, settings, named) if is_rdf else "FALSE"
    con.execute(f"CREATE VIEW fact AS SELECT * FROM raw WHERE r NOT IN ({listed}) AND NOT ({more})")
    meter = Meter("read names", (*settings.labels, *settings.aliases), progress)
    iri, typed = shortened("c0", settings.prefixes), is_literal("c1", "typed")
    parts = [
        f"CASE WHEN {typed} THEN regexp_extract(c1, {quote(_PARTS)}, {place}) ELSE {other} END"
        for place, other in ((1, "c1"), (2, "c2"))
    ]
    files = [(name, False) for name in settings.labels] + [(name, True) for name in settings.aliases]
    for name, only_aliases in files:
        for ids, texts, languages, is_alias in read_names(name, reported(name, settings, reports), meter):
            _insert_columns(
                con,
                _NAMES,
                (ids, texts, languages, [only_aliases or flag for flag in is_alias]),
                f"{iri}, {parts[0]}, {parts[1]}, c3",
            )
        meter.next()


def _text(column: str) -> str:
    return f"CASE WHEN literal THEN regexp_extract({column}, {quote(_PARTS)}, 1) ELSE {column} END"


def _language(column: str) -> str:
    return f"CASE WHEN literal THEN regexp_extract({column}, {quote(_PARTS)}, 2) ELSE '' END"


def _stage_further_names(con: duckdb.DuckDBPyConnection, settings: BuildSettings, known: Mapping[str, bool]) -> str:
    """Add the names of RDF by the other naming relations, ranked; return the SQL condition of their rows in ``raw``.

    Only a literal is a name, else the triple stays a fact. A label of SKOS-XL is a node that holds its text.
    """
    ranked = names_of_rdf(settings)
    short = shorten([relation for relation, _ in ranked], con, settings.prefixes)
    [form] = shorten([LITERAL_FORM], con, settings.prefixes)
    found = con.execute("SELECT DISTINCT r FROM raw WHERE list_contains(?, r)", [[*short, form]]).fetchall()
    present = {row[0] for row in found}
    rows = [
        (relation, rank, alias)
        for rank, (relation, (_, alias)) in enumerate(zip(short, ranked, strict=True), 1)
        if relation in present and relation not in known
    ]
    if not rows:
        return "FALSE"
    values = ", ".join(f"({quote(relation)}, {rank}, {alias})" for relation, rank, alias in rows)
    con.execute(f"CREATE TEMP TABLE naming AS SELECT * FROM (VALUES {values}) AS v (r, naming, alias)")
    con.execute(
        f"INSERT INTO raw_name SELECT s, {_text('o')}, {_language('o')}, alias, naming "
        "FROM raw JOIN naming USING (r) WHERE literal"
    )
    listed = ", ".join(quote(relation) for relation, _, _ in rows)
    named = f"r IN ({listed}) AND literal"
    if form in present:
        named = f"{named} OR {_stage_label_nodes(con, listed, form)}"
    con.execute("DROP TABLE naming")
    return named


def _stage_label_nodes(con: duckdb.DuckDBPyConnection, listed: str, form: str) -> str:
    """Add the names that are nodes of SKOS-XL, each with its text; return the SQL condition of their rows."""
    con.execute(f"CREATE TEMP TABLE form AS SELECT s AS node, o AS text FROM raw WHERE r = {quote(form)} AND literal")
    con.execute(
        f"INSERT INTO raw_name SELECT s, {_text('text')}, {_language('text')}, alias, naming FROM "
        "(SELECT s, r, text, TRUE AS literal FROM raw JOIN form ON o = node WHERE NOT literal) JOIN naming USING (r)"
    )
    names = f"NOT literal AND r IN ({listed})"
    return (
        f"{names} AND o IN (SELECT node FROM form) "
        f"OR r = {quote(form)} AND literal AND s IN (SELECT o FROM raw WHERE {names})"
    )


def rank_names(con: duckdb.DuckDBPyConnection, settings: BuildSettings) -> None:
    """Fill the table ``name`` (id, text, rank, language, alias) from ``raw_name``, which it drops.

    It has the names in the wanted languages. The label of an id is its first text, by ``rank``, ``language`` and
    ``text``, that is not an alias: of the best naming relation, in the best language.
    """
    con.execute("CREATE TABLE name (id VARCHAR, text VARCHAR, rank INTEGER, language VARCHAR, alias BOOLEAN)")
    rank = _rank(settings.languages)
    con.execute(
        "INSERT INTO name SELECT id, trim(text), 10000 * naming + rank, language, alias "
        f"FROM (SELECT id, text, lower(language) AS language, {rank} AS rank, alias, naming FROM raw_name) "
        "WHERE rank >= 0 AND trim(text) <> ''"
    )
    con.execute("DROP TABLE raw_name")


def _rank(languages: Sequence[str]) -> str:
    """Return the SQL expression that ranks the language of a label: 0 is best, -1 excludes it."""
    cases = []
    wanted = [language.lower() for language in languages] or ["en"]
    for place, language in enumerate(wanted):
        cases.append(f"WHEN lower(language) = {quote(language)} THEN {2 * place}")
        cases.append(f"WHEN starts_with(lower(language), {quote(language + '-')}) THEN {2 * place + 1}")
    last = 2 * len(wanted)
    return f"CASE {' '.join(cases)} WHEN language = '' THEN {last} ELSE {-1 if languages else last + 1} END"


def stage_qualifiers(
    con: duckdb.DuckDBPyConnection, settings: BuildSettings, progress: Progress, reports: list[FileReport]
) -> None:
    """Add the qualifiers of files to the table ``qualifier``; ``literal`` is about the value ``v``.

    A value that is a literal among the objects of triples is a literal here, too.
    """
    meter = Meter("read qualifiers", settings.qualifiers, progress)
    iris = [shortened(column, settings.prefixes) for column in ("c0", "c1", "c3")]
    literals = "typed" if settings.literals == "numbers" else settings.literals
    values = [value(column, settings.prefixes, literals) for column in ("c2", "c4")]
    for name in settings.qualifiers:
        kind = guess_format(name)
        if kind not in ("tsv", "csv", "parquet"):
            raise InputError(
                f"{name}: qualifiers cannot be read from {kind}; give tsv, csv or parquet with five columns"
            )
        report = reported(name, settings, reports)
        for table in read_rows(name, kind, None, plan_fixed((5,), 5, None), report, meter):
            columns = (iris[0], iris[1], values[0], iris[2], values[1], is_literal("c4", literals))
            insert(con, "qualifier", table, ", ".join(columns))
        meter.next()
    if settings.qualifiers:
        con.execute("UPDATE qualifier SET literal = TRUE WHERE NOT literal AND v IN (SELECT o FROM raw WHERE literal)")


class Meter:
    """Progress in bytes over several files of one stage."""

    def __init__(self, stage: str, names: Sequence[str], progress: Progress) -> None:
        self._stage = stage
        self._sizes = [Path(name).stat().st_size for name in names]
        self._place = 0
        self._progress = progress

    def __call__(self, done: int) -> None:
        """Report the bytes read of the current file."""
        before = sum(self._sizes[: self._place])
        self._progress(self._stage, before + min(done, self._sizes[self._place]), sum(self._sizes))

    def next(self) -> None:
        """Move to the next file."""
        self._place += 1
        self._progress(self._stage, sum(self._sizes[: self._place]), sum(self._sizes))


def insert(con: duckdb.DuckDBPyConnection, target: str, table: Any, select: str, where: str = "TRUE") -> None:
    """Insert the selected rows of an arrow table into a table of the database."""
    con.register("chunk", table)
    con.execute(f"INSERT INTO {target} SELECT {select} FROM chunk WHERE {where}")
    con.unregister("chunk")


def _insert_columns(con: duckdb.DuckDBPyConnection, target: str, columns: Sequence[list[Any]], select: str) -> None:
    import pyarrow as pa

    types = [pa.bool_() if place == 3 else pa.string() for place in range(len(columns))]
    data = {f"c{n}": pa.array(column, kind) for n, (column, kind) in enumerate(zip(columns, types, strict=True))}
    insert(con, target, pa.table(data), select)
