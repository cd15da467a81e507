"""Redirects of a build: the names of a page that redirects become aliases of the entity that it leads to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import unquote

from srtk_framework.values import InputError
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.formats import RDF, family
from srtk_plugin_local.snapshot.header import plan_fixed
from srtk_plugin_local.snapshot.headings import IDS, WORDS
from srtk_plugin_local.snapshot.input_files import Progress, guess_format
from srtk_plugin_local.snapshot.input_report import FileReport
from srtk_plugin_local.snapshot.limits import ROWS
from srtk_plugin_local.snapshot.rdf import read_rdf
from srtk_plugin_local.snapshot.staging_tables import Meter, insert, reported
from srtk_plugin_local.snapshot.staging_values import first_row, shortened
from srtk_plugin_local.snapshot.tables import read_rows

if TYPE_CHECKING:
    import duckdb

# Most redirects that are followed one after the other; what goes on after that leads in a circle.
LONGEST = 32

_PAGES = ("page", "redirect", "alias", *IDS, *WORDS["subject"])
_TARGETS = ("page", "redirects to", *WORDS["relation"], *WORDS["object"])
_IN_WIKI = re.compile(r"(?<=/)(?:resource|wiki|page)/")
# Ids that are no names: Q42, /m/0abc, m.0abc, numbers.
_CODE = re.compile(r"[A-Z]\d+|/?[a-z][./][0-9a-z_]+|[\d\W_]+")


def name_of(page: str, prefixes: Mapping[str, str]) -> str:
    """Return the name that the id of a page spells; empty for a code such as ``Q42`` or ``/m/0abc``."""
    prefix, colon, local = page.partition(":")
    if "://" in page:
        wiki = _IN_WIKI.search(page)  # whose titles may have slashes
        local = page[wiki.end() :] if wiki else re.split(r"[#/]", page.rstrip("#/"))[-1]
    elif not colon or prefix not in prefixes:
        local = page
    name = " ".join(unquote(local).replace("_", " ").split())
    return "" if _CODE.fullmatch(local) or page.startswith("_:") else name


def stage_redirects(
    con: duckdb.DuckDBPyConnection, settings: BuildSettings, progress: Progress, reports: list[FileReport]
) -> dict[str, int]:
    """Give the names of pages that redirect to the entities that they lead to, as aliases in the table ``raw_name``.

    A page has the names that the inputs give its id, else the name in its id. A redirect is followed until it reaches
    an id of a triple; an id that occurs in a triple is an entity and no redirect.

    Returns:
        Numbers of redirects that give no alias, by kind.
    """
    if not settings.redirects:
        return {}
    con.execute("CREATE TEMP TABLE redirect (page VARCHAR, target VARCHAR)")
    meter = Meter("read redirects", settings.redirects, progress)
    for name in settings.redirects:
        _read(con, name, settings, reports, meter)
        meter.next()
    con.execute("CREATE TEMP TABLE known AS SELECT s AS id FROM fact UNION SELECT o FROM fact WHERE NOT literal")
    con.execute(
        "CREATE TEMP TABLE ahead AS SELECT DISTINCT page, target FROM redirect ANTI JOIN known ON page = known.id"
    )
    ignored = {
        "redirects of ids with triples": _count(con, "SELECT DISTINCT page FROM redirect JOIN known ON page = known.id")
    }
    con.execute("CREATE TEMP TABLE reached (page VARCHAR, target VARCHAR)")
    for _ in range(LONGEST):
        con.execute("INSERT INTO reached SELECT page, target FROM ahead JOIN known ON target = known.id")
        con.execute(
            "CREATE OR REPLACE TEMP TABLE ahead AS SELECT DISTINCT a.page, r.target FROM ahead a "
            "JOIN redirect r ON a.target = r.page ANTI JOIN known ON a.target = known.id"
        )
        if not _count(con, "FROM ahead"):
            break
    circles = "SELECT DISTINCT page FROM ahead ANTI JOIN reached USING (page)"
    ignored["redirects in a circle"] = _count(con, circles)
    if ignored["redirects in a circle"]:
        [first] = con.execute(f"SELECT min(page) FROM ({circles})").fetchall()
        report = next(report for report in reports if report.name == settings.redirects[0])
        report.note(f"redirects lead in a circle, such as that of {first[0]}")
    ignored["redirects to unknown ids"] = _count(
        con,
        "SELECT DISTINCT page FROM redirect ANTI JOIN known ON page = known.id ANTI JOIN reached USING (page) "
        "ANTI JOIN ahead USING (page)",
    )
    _give_names(con, settings.prefixes)
    for table in ("redirect", "known", "ahead", "reached"):
        con.execute(f"DROP TABLE {table}")
    return ignored


def _read(
    con: duckdb.DuckDBPyConnection, name: str, settings: BuildSettings, reports: list[FileReport], meter: Meter
) -> None:
    """Read a file of redirects into the table ``redirect``: each triple, or each row of page and target."""
    kind = guess_format(name)
    report = reported(name, settings, reports)
    page = shortened("c0", settings.prefixes)
    if family(kind) == RDF:
        for table in read_rdf(name, kind, report, meter):
            insert(con, "redirect", table, f"{page}, {shortened('c2', settings.prefixes)}", "NOT literal")
        return
    if kind not in ("tsv", "csv", "parquet"):
        raise InputError(f"{name}: redirects cannot be read from {kind}; give RDF, tsv, csv or parquet")
    for table in read_rows(name, kind, None, plan_fixed((2, 3), 3, (_PAGES, _TARGETS)), report, meter):
        last = f"c{table.num_columns - 1}"
        insert(con, "redirect", table, f"{page}, {shortened(last, settings.prefixes)}")


def _give_names(con: duckdb.DuckDBPyConnection, prefixes: Mapping[str, str]) -> None:
    """Move the names of pages to the entities reached; pages without a name get the name in their id."""
    import pyarrow as pa

    con.execute(
        "CREATE TEMP TABLE lead AS SELECT reached.target, text, language FROM reached "
        "JOIN raw_name ON raw_name.id = reached.page"
    )
    # A cursor, which reads while rows are inserted, sees no temporary tables.
    con.execute("CREATE TABLE spelt AS SELECT page, target FROM reached ANTI JOIN raw_name ON page = raw_name.id")
    for batch in con.cursor().sql("FROM spelt").to_arrow_reader(ROWS):
        names = [name_of(page, prefixes) for page in batch.column(0).to_pylist()]
        table = pa.table({"c0": batch.column(1), "c1": pa.array(names, pa.string())})
        insert(con, "lead", table, "c0, c1, ''", "c1 <> ''")
    con.execute("DELETE FROM raw_name WHERE id IN (SELECT page FROM reached)")
    con.execute("INSERT INTO raw_name (id, text, language, alias) SELECT target, text, language, TRUE FROM lead")
    con.execute("DROP TABLE lead")
    con.execute("DROP TABLE spelt")


def _count(con: duckdb.DuckDBPyConnection, query: str) -> int:
    return first_row(con, f"SELECT count(*) FROM ({query})")[0]
