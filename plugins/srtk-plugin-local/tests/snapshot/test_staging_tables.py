"""Staging tables: how facts, names and qualifiers come into the database of a build."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from srtk_plugin_local.snapshot import staging_tables
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.input_report import FileReport
from srtk_plugin_local.snapshot.parser_process import shares
from srtk_plugin_local.snapshot.staging_tables import (
    Meter,
    insert,
    rank_names,
    reported,
    stage_names,
    stage_qualifiers,
    stage_triples,
)

from srtk_framework.values import InputError

XSD = "http://www.w3.org/2001/XMLSchema#"


class Staged:
    """The staging database of the lines of a file of facts, with its reports and its progress."""

    def __init__(self, folder: Path, lines: Sequence[str], **flags: Any) -> None:
        (folder / "a.tsv").write_text("".join(f"{line}\n" for line in lines).replace(" ", "\t"))
        self.con = duckdb.connect(config={"threads": 1})
        self.settings = BuildSettings((str(folder / "a.tsv"),), **flags)
        self.reports: list[FileReport] = []
        self.told: list[tuple[str, int, int]] = []
        self.is_rdf, self.plan = stage_triples(self.con, self.settings, self.progress, self.reports, {})

    def progress(self, stage: str, done: int, total: int) -> None:
        self.told.append((stage, done, total))

    def rows(self, table: str) -> list[Any]:
        return self.con.execute(f"SELECT * FROM {table} ORDER BY ALL").fetchall()


def test_facts_are_staged_with_their_literals(tmp_path: Path) -> None:
    staged = Staged(tmp_path, ["a knows b", f'a age "7"^^{XSD}integer', "b age 8"])
    assert staged.rows("raw") == [
        *(("a", "age", '"7"^^xsd:integer', True), ("a", "knows", "b", False), ("b", "age", "8", False))
    ]
    assert (staged.is_rdf, staged.plan) == (False, {"tables": {}})
    assert [report.name for report in staged.reports] == list(staged.settings.files)
    stage, done, total = staged.told[-1]
    assert (stage, done) == ("read", total)


def test_a_parser_of_its_own_takes_its_share_of_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(staging_tables, "_set_memory", lambda con, memory: told.append(memory))
    pq.write_table(pa.table({"s": ["a"], "r": ["knows"], "o": ["b"]}), tmp_path / "a.parquet")
    (tmp_path / "b.tsv").write_text("c\tknows\td\n")
    settings = BuildSettings((str(tmp_path / "a.parquet"), str(tmp_path / "b.tsv")), memory="1GB")
    stage_triples(duckdb.connect(), settings, lambda *_: None, [], {})
    assert told == [f"{shares('1GB')[0]}B", "1GB", "1GB"]
    assert shares("1GB")[0] < shares("1GB")[1]


def test_a_setting_of_literals_must_be_known(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="literals 'all': choose typed, numbers, quoted or none"):
        Staged(tmp_path, ["a knows b"], literals="all")


@pytest.mark.parametrize(
    ("literals", "wanted"),
    [
        ("numbers", [("8", False), ('"7.5"^^xsd:decimal', True), ('"x"@en', True), ("y", False)]),
        ("typed", [("8", False), ("7.5", False), ('"x"@en', True), ("y", False)]),
        ("none", [("8", False), ("7.5", False), ('"x"@en', False), ("y", False)]),
    ],
)
def test_a_number_that_is_an_id_is_no_literal(tmp_path: Path, literals: str, wanted: list[Any]) -> None:
    staged = Staged(tmp_path, ["8 a 8", "8 b 7.5", '8 c "x"@en', "8 d y"], literals=literals)
    assert [row[2:] for row in staged.rows("raw")] == wanted


def test_lists_in_objects_are_split_and_empty_items_left_out(tmp_path: Path) -> None:
    staged = Staged(tmp_path, ["a knows b|c|", "b knows d"], split="|")
    assert [row[2] for row in staged.rows("raw")] == ["b", "c", "d"]


def test_facts_with_words_of_a_missing_value_stay_unless_the_words_are_given(tmp_path: Path) -> None:
    lines = ["a knows NULL", "nan knows b", "a knows c", "a NULL d"]
    kept = Staged(tmp_path, lines)
    assert len(kept.rows("raw")) == 4
    assert kept.reports[0].notes == [
        "2 facts have a word of a missing value, such as NULL; they stay, and --missing WORD,... leaves them out"
    ]
    dropped = Staged(tmp_path, lines, missing=("Null",))
    assert [row[:3] for row in dropped.rows("raw")] == [("a", "NULL", "d"), ("a", "knows", "c"), ("nan", "knows", "b")]
    assert dropped.reports[0].skipped["facts with a word of a missing value"][0] == 1
    none = Staged(tmp_path, ["a knows c"], missing=("null",))
    assert (none.reports[0].skipped, none.reports[0].notes) == ({}, [])


def test_descriptions_of_known_ids_are_facts(tmp_path: Path) -> None:
    (tmp_path / "d.tsv").write_text("a\tA cat\t\nb\tEin Hund\tde\nz\tunknown\t\nc\t \t\n")
    lines = ["a knows b", "a likes c", 'a says "x"@en']
    staged = Staged(tmp_path, lines, descriptions=(str(tmp_path / "d.tsv"),))
    assert [row for row in staged.rows("raw") if row[1] == "description"] == [
        *(("a", "description", '"A cat"', True), ("b", "description", '"Ein Hund"@de', True))
    ]
    assert staged.told[-1][0] == "read descriptions"
    assert [report.format for report in staged.reports] == ["tsv", "tsv"]


def test_a_file_behind_a_container_is_read_too(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "a.db") as database:
        database.execute("CREATE TABLE t (id TEXT PRIMARY KEY, size INTEGER)")
        database.execute("INSERT INTO t VALUES ('x', 5)")
    database.close()
    (tmp_path / "b.tsv").write_text("a\tknows\tb\n")
    con = duckdb.connect(config={"threads": 1})
    settings = BuildSettings((str(tmp_path / "a.db"), str(tmp_path / "b.tsv")))
    stage_triples(con, settings, lambda *_: None, [], {})
    assert con.execute("SELECT r FROM raw ORDER BY r").fetchall() == [("knows",), ("size",)]


RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
REIFIED = f"""<http://u/s1> <{RDF}type> <{RDF}Statement> .
<http://u/s1> <{RDF}subject> <http://u/a> .
<http://u/s1> <{RDF}predicate> <http://u/p> .
<http://u/s1> <{RDF}object> <http://u/b> .
<http://u/s1> <http://u/since> "1990" .
<http://u/a> <http://u/p> <http://u/b> .
<http://u/s2> <{RDF}subject> <http://u/a> .
<http://u/s2> <{RDF}predicate> <http://u/p> .
<http://u/s2> <{RDF}object> <http://u/c> .
"""


@pytest.mark.parametrize(
    ("more", "subjects"),
    [("", ["a", "s2"]), ("<http://u/d> <http://u/doubts> <http://u/s1> .", ["a", "d", "s1", "s2"])],
)
def test_a_reified_statement_gives_qualifiers_of_its_fact(tmp_path: Path, more: str, subjects: list[str]) -> None:
    file = tmp_path / "a.nt"
    file.write_text(f"{REIFIED}{more}\n")
    con = duckdb.connect(config={"threads": 1})
    settings = BuildSettings((str(file),), prefixes={"": "http://u/"})
    assert stage_triples(con, settings, lambda *_: None, [], {}) == (True, {"tables": {}})
    assert con.execute("SELECT * FROM qualifier").fetchall() == [("a", "p", "b", "since", '"1990"', True)]
    assert [row[0] for row in con.execute("SELECT DISTINCT s FROM raw ORDER BY s").fetchall()] == subjects


def test_names_come_from_relations_and_files(tmp_path: Path) -> None:
    (tmp_path / "l.tsv").write_text('a\tAda\nb\t"Bo"@de\n')
    (tmp_path / "m.tsv").write_text("a\tAddie\ten\n")
    flags = {"label_relations": ("called",), "alias_relations": ("aka",)}
    files = {"labels": (str(tmp_path / "l.tsv"),), "aliases": (str(tmp_path / "m.tsv"),)}
    staged = Staged(tmp_path, ["a called A", 'a aka "AA"@fr', "a knows b"], **flags, **files)
    stage_names(staged.con, staged.settings, staged.progress, staged.reports)
    assert staged.con.execute("SELECT id, text, language, alias FROM raw_name ORDER BY ALL").fetchall() == [
        *(("a", "A", "", False), ("a", "AA", "fr", True), ("a", "Ada", "", False), ("a", "Addie", "en", True)),
        ("b", "Bo", "de", False),
    ]
    assert staged.con.execute("SELECT s, r, o FROM fact").fetchall() == [("a", "knows", "b")]
    stage, done, total = staged.told[-1]
    assert (stage, done) == ("read names", total)


@pytest.mark.parametrize(
    ("languages", "best"),
    [
        ((), ["en", "en-gb", "", "de", "de-at", "fr", "fr-ca"]),
        (("de", "fr"), ["de", "de-at", "fr", "fr-ca", ""]),
        (("FR", "de", "en"), ["fr", "fr-ca", "de", "de-at", "en", "en-gb", ""]),
        (("en",), ["en", "en-gb", ""]),
    ],
)
def test_names_are_ranked_by_their_languages(languages: tuple[str, ...], best: list[str]) -> None:
    con = duckdb.connect(config={"threads": 1})
    con.execute("CREATE TABLE raw_name (id VARCHAR, text VARCHAR, language VARCHAR, alias BOOLEAN, naming UTINYINT)")
    for language in ("de", "", "en-GB", "EN", "fr-CA", "de-AT", "fr"):
        con.execute("INSERT INTO raw_name VALUES ('a', ?, ?, FALSE, 0)", [f" {language or 'none'} ", language])
    con.execute("INSERT INTO raw_name VALUES ('a', ' ', 'en', FALSE, 0)")
    rank_names(con, BuildSettings((), languages=languages))
    texts = [row[0] for row in con.execute("SELECT text FROM name ORDER BY rank, language, text").fetchall()]
    assert [text.lower().replace("none", "") for text in texts] == best


def test_qualifiers_come_from_files_of_five_columns(tmp_path: Path) -> None:
    rows = 'a\tknows\tb\tsince\t"1990"^^xsd:gYear\na\tknows\tb\tin\tRome\na\tknows\tb\tby\t\n'
    (tmp_path / "q.tsv").write_text(rows)
    staged = Staged(tmp_path, ["a knows b"], qualifiers=(str(tmp_path / "q.tsv"),))
    stage_qualifiers(staged.con, staged.settings, staged.progress, staged.reports)
    assert staged.rows("qualifier") == [
        *(("a", "knows", "b", "in", "Rome", False), ("a", "knows", "b", "since", '"1990"^^xsd:gYear', True))
    ]
    assert staged.reports[-1].skipped["rows with an empty cell"][0] == 1
    staged.con.execute("INSERT INTO raw VALUES ('b', 'in', 'Rome', TRUE)")
    stage_qualifiers(staged.con, staged.settings, staged.progress, staged.reports)
    assert {row[5] for row in staged.rows("qualifier") if row[4] == "Rome"} == {True}  # a literal there is one here
    (tmp_path / "q.nt").touch()
    wrong = BuildSettings((), qualifiers=(str(tmp_path / "q.nt"),))
    with pytest.raises(InputError, match="qualifiers cannot be read from ntriples"):
        stage_qualifiers(staged.con, wrong, staged.progress, staged.reports)


def test_progress_adds_up_the_bytes_of_several_files(tmp_path: Path) -> None:
    for name, size in (("a", 10), ("b", 20)):
        (tmp_path / name).write_bytes(b"x" * size)
    told: list[tuple[str, int, int]] = []
    meter = Meter("read", [str(tmp_path / name) for name in ("a", "b")], lambda *row: told.append(row))
    meter(4)
    meter(11)
    meter.next()
    meter(5)
    meter.next()
    assert told == [("read", 4, 30), ("read", 10, 30), ("read", 10, 30), ("read", 15, 30), ("read", 30, 30)]


def test_rows_are_inserted_under_a_condition_and_reports_added() -> None:
    con = duckdb.connect(config={"threads": 1})
    con.execute("CREATE TABLE t (n INTEGER)")
    insert(con, "t", pa.table({"n": [1, 2]}), "n + 1", "n > 1")
    insert(con, "t", pa.table({"n": [5]}), "n")
    assert con.execute("FROM t").fetchall() == [(3,), (5,)]
    reports: list[FileReport] = []
    made = reported("a.csv", BuildSettings((), strict=True), reports)
    assert reports == [made]
    assert (made.format, made.strict) == ("csv", True)
