"""RDF files as tables of triples: how they are cut, what is counted and noted, and the ids of blank nodes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from srtk_plugin_local.snapshot import rdf
from srtk_plugin_local.snapshot.input_report import FileReport
from srtk_plugin_local.snapshot.rdf import RDF, read_rdf
from srtk_plugin_local.snapshot.rdf_text import LONG_MARK, EndlessError

from srtk_framework.values import InputError, Literal

EX = "http://ex.org/"
Row = tuple[str, str, str, bool]


def parts(
    path: Path, text: str, kind: str = "turtle", **settings: Any
) -> tuple[list[list[Row]], FileReport, list[int]]:
    """Return the rows of each table of a file, with the report and what the meter received."""
    path.write_text(text, encoding="utf-8")
    report, met = FileReport(str(path), kind), list[int]()
    tables = list(read_rdf(str(path), kind, report, met.append, **settings))
    assert all(table.column_names == ["c0", "c1", "c2", "literal"] for table in tables)
    return [list(zip(*(column.to_pylist() for column in t.columns), strict=True)) for t in tables], report, met


def rows(path: Path, text: str, kind: str = "turtle", **settings: Any) -> tuple[list[Row], FileReport]:
    tables, report, _ = parts(path, text, kind, **settings)
    return [row for table in tables for row in table], report


def lines(count: int) -> str:
    return "".join(f"<{EX}a> <{EX}p> <{EX}b{n}> .\n" for n in range(count))


@pytest.mark.parametrize(("count", "sizes"), [(1, [1]), (2, [2]), (3, [2, 1]), (5, [2, 2, 1]), (0, [])])
@pytest.mark.parametrize("kind", ["turtle", "ntriples"])
def test_a_table_has_so_many_rows_and_the_last_the_rest(
    tmp_path: Path, count: int, sizes: list[int], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rdf, "ROWS", 2)
    found, report, met = parts(tmp_path / "a", lines(count), kind)
    assert [len(table) for table in found] == sizes
    assert (report.rows, len(met)) == (count, len(sizes) + 1)
    assert met[-1] == len(lines(count))


def test_a_table_ends_where_the_parser_holds_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rdf, "_HELD", len(lines(3)))  # the file as a whole is held, and no more than that
    assert [len(table) for table in parts(tmp_path / "a", lines(3))[0]] == [3]
    monkeypatch.setattr(rdf, "_HELD", len(lines(3)) - 1)
    assert [len(table) for table in parts(tmp_path / "a", lines(3))[0]] == [1, 2]


def test_a_file_without_a_triple_is_refused_where_it_is_read_strictly(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text("# nothing")
    report = FileReport(str(tmp_path / "a.ttl"), "turtle", strict=True)
    with pytest.raises(InputError, match=r"a\.ttl:1: there is no triple; leave the file out"):
        list(read_rdf(report.name, "turtle", report, lambda done: None))


def test_each_kind_of_object_has_its_own_form(tmp_path: Path) -> None:
    found, report = rows(tmp_path / "a.ttl", f'@prefix : <{EX}> . :a :p :b ; :q 7, "x"@en, "y" ; :r _:n .')
    seven = str(Literal.make("7", "http://www.w3.org/2001/XMLSchema#integer"))
    assert found[:4] == [
        (f"{EX}a", f"{EX}p", f"{EX}b", False),
        *((f"{EX}a", f"{EX}q", text, True) for text in (seven, '"x"@en', '"y"')),
    ]
    assert (found[4][2][:2], found[4][3], len(found)) == ("_:", False, 5)
    assert report.prefixes == {"": EX}
    assert report.notes == []


@pytest.mark.parametrize(
    ("text", "base", "told"),
    [
        ("<#a> <http://p> <http://b> .", "", "file:///x.ttl#a"),
        ("<http://a> <#p> <http://b> .", "", "file:///x.ttl#p"),
        ("<http://a> <http://p> <#b> .", "", "file:///x.ttl#b"),
        ("<a> <http://p> <http://b> .", "", "file:///a"),
        ("<http://a> <http://p> </b/c> .", "", "file:///b/c"),
        ("<http://a> <http://p> <file:///b>, <#c> .", "", "file:///x.ttl#c"),
        ("<http://a> <http://p> <http://b> .", "", ""),
        ("<#a> <http://p> <http://b> .", "http://base/", ""),
    ],
)
def test_the_base_of_relative_iris_is_told_where_one_was_read_and_none_given(
    tmp_path: Path, text: str, base: str, told: str
) -> None:
    found, report = rows(tmp_path / "x.ttl", text, base=base)
    note = f"relative IRIs were resolved against file:///x.ttl, such as {told}; give another base with --base"
    assert report.notes == [note] * bool(told)
    if base:
        assert found[0][0] == "http://base/#a"


def test_an_iri_of_a_file_that_may_have_been_relative_is_told_as_such(tmp_path: Path) -> None:
    for text in ("<http://a> <http://p> <file:///b> .", "<a> <http://p> <file:///b> ."):
        [note] = rows(tmp_path / "x.ttl", text)[1].notes
        assert "was written so, or is relative and was resolved against file:///x.ttl" in note
    assert rows(tmp_path / "x.ttl", "<http://a> <http://p> <file:///b> .", base="http://base/")[1].notes == []


def test_the_base_is_told_of_a_relative_iri_in_any_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rdf, "ROWS", 1)
    for relative in ("<#a> <http://p> <http://b> .\n" + lines(1), lines(1) + "<#a> <http://p> <http://b> .\n"):
        assert len(rows(tmp_path / "x.ttl", relative)[1].notes) == 1
    absolute = "<file:///x.nt#a> <http://p> <http://b> .\n"
    assert rows(tmp_path / "x.nt", absolute, "ntriples")[1].notes == []


@pytest.mark.parametrize("place", range(3))
def test_an_iri_with_dots_in_its_path_is_told_wherever_it_stands(tmp_path: Path, place: int) -> None:
    terms = ["<http://a>", "<http://p>", "<http://b>"]
    plain = rows(tmp_path / "x.ttl", "@base <http://x/../> . " + " ".join(terms) + " .")[1]
    assert plain.notes == []
    terms[place] = "<y>"
    told = rows(tmp_path / "x.ttl", " ".join(terms) + " .", base="http://x/a/../")[1]
    assert told.notes == ["IRIs with dots as parts of their path, such as http://x/a/../y, are kept as they are"]


def test_named_graphs_are_counted_once_each(tmp_path: Path) -> None:
    one, two = (line[:-3] for line in lines(2).splitlines(True))
    text = f"{one} <{EX}g> .\n{two} <{EX}g> .\n{one} <{EX}h> .\n{two} .\n"
    note = "2 named graphs were merged into one; their names are not kept"
    assert rows(tmp_path / "a", text, "nquads")[1].notes == [note]
    assert rows(tmp_path / "a", f"<{EX}g> {{ {lines(2)} }} <{EX}h> {{ {lines(1)} }} {lines(1)}", "trig")[1].notes == [
        note
    ]
    assert rows(tmp_path / "a", lines(2), "nquads")[1].notes == []


def test_blank_nodes_keep_their_label_in_n_triples_and_have_a_hash_of_the_file_elsewhere(tmp_path: Path) -> None:
    line = f"_:x <{EX}p> _:y .\n"
    assert rows(tmp_path / "a.nt", line, "ntriples")[0] == [("_:x", f"{EX}p", "_:y", False)]
    scope = hashlib.blake2b(line.encode(), digest_size=6).hexdigest()
    assert rows(tmp_path / "a.ttl", line)[0] == [(f"_:{scope}.x", f"{EX}p", f"_:{scope}.y", False)]
    text = f"[] <{EX}p> [ <{EX}q> [] ] ."
    scope = hashlib.blake2b(text.encode(), digest_size=6).hexdigest()
    ends = {row[place] for row in rows(tmp_path / "a.ttl", text)[0] for place in (0, 2)}
    assert ends == {f"_:{scope}.-{n}" for n in range(3)}
    named = f"_:b <{EX}p> _:{'0' * 19} ."  # too short for a label that the parser made up
    assert rows(tmp_path / "a.ttl", named)[0][0][2].endswith("." + "0" * 19)


@pytest.mark.parametrize(
    ("object_", "row"),
    [
        ("<http://ex.org/o>", (f"{EX}o", False)),
        ('"x"', ('"x"', True)),
        ("_:o", ("_:o", False)),
    ],
)
def test_a_triple_that_is_a_term_is_a_node_with_three_parts(
    tmp_path: Path, object_: str, row: tuple[str, bool]
) -> None:
    term = f"<<( _:s <{EX}q> {object_} )>>"
    [first, *others] = rows(tmp_path / "a.nt", f"<{EX}a> <{EX}p> {term} .\n", "ntriples")[0]
    assert first[:2] == (f"{EX}a", f"{EX}p")
    node = first[2]
    assert re.fullmatch(r"_:[0-9a-f]{12}\.statement\.[0-9a-f]{16}", node)
    assert others == [
        (node, RDF + "subject", "_:s", False),
        (node, RDF + "predicate", f"{EX}q", False),
        (node, RDF + "object", *row),
    ]
    own = rows(tmp_path / "a.nt", f"<{EX}a> <{RDF}reifies> {term} .\n", "ntriples")[0]
    assert own == [(f"{EX}a", *other[1:]) for other in others]


@pytest.mark.parametrize("most", [5, 6])
def test_a_literal_that_is_too_long_is_counted_with_its_triple(
    tmp_path: Path, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rdf, "MAX_LITERAL", most)
    monkeypatch.setattr(rdf, "ROWS", 2)
    line = '<a:a> <a:p> "{}" .\n'
    text = "".join(line.format(value) for value in ("a", "b", "abcde", "abcd"))
    found, report = rows(tmp_path / "a.nt", text, "ntriples")
    assert [row[2] for row in found] == ['"a"', '"b"', '"abcd"'][: 2 + (most == 6)]
    [(reason, (count, place, _))] = report.skipped.items()
    assert (reason, count) == ("literals above 16 MB", 7 - most)
    assert place == f"{tmp_path / 'a.nt'}: triple 3"


def test_a_line_with_too_many_triples_within_triples_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rdf, "MAX_DEPTH", 2)
    plain = f"<{EX}s> <{EX}p> "
    nested = [plain + f"<<( {plain}" * depth + f"<{EX}o>" + " )>>" * depth + " .\n" for depth in (2, 3)]
    quoted = plain + '"<< << << \\" <<" .\n'
    found, report = rows(tmp_path / "a.nt", plain + f"<{EX}o> .\n" + quoted + nested[0] + nested[1], "ntriples")
    assert len([row for row in found if row[0] == f"{EX}s" and row[1] == f"{EX}p"]) == 3
    assert report.skipped == {
        "lines with triples that nest too deep": [
            1, f"{tmp_path / 'a.nt'}:4", "triples nest deeper than 2 levels; name the inner ones"
        ]
    }  # fmt: skip


def test_only_lists_that_nest_very_deep_are_refused(tmp_path: Path) -> None:
    plain = f"<{EX}a> <{EX}p> "
    smileys = plain + '"' + ":(((" * 50_000 + '" .\n'
    deep = plain + "(" * 1_000 + ")" * 1_000 + " .\n"
    found, _ = rows(tmp_path / "a.ttl", smileys * 2 + deep + plain + "(" + '"(" ' * 50_000 + ") .\n")
    assert len(found) == 2 + 2 * 999 + 1 + 1 + 2 * 50_000
    with pytest.raises(InputError, match=r"a\.ttl:2: lists nest deeper than 100,000 levels"):
        rows(tmp_path / "a.ttl", smileys + plain + "(" * 300_000)


def test_lines_are_handed_on_in_parts_of_the_size_that_is_asked_for() -> None:
    blocks = iter([b"abcdef\n", b"gh"])
    source = SimpleNamespace(read=lambda: next(blocks, b""))
    read = rdf._Lines(source, FileReport("a", "ntriples")).read  # type: ignore[arg-type]
    assert [read(4), read(3), read(9), read(9), read(9)] == [b"abcd", b"ef\n", b"gh", b"", b""]


def test_each_wrong_line_is_skipped_and_the_first_is_named(tmp_path: Path) -> None:
    text = lines(1) + "no triple\n" + lines(1) + "none\n" + lines(1)
    found, report = rows(tmp_path / "a.nt", text, "ntriples")
    assert len(found) == 3
    [(reason, (count, place, sentence))] = report.skipped.items()
    assert (reason, count, place) == ("lines that are not ntriples", 2, f"{tmp_path / 'a.nt'}:2")
    assert sentence.startswith("is not valid ntriples: ")
    assert "Parser error" not in sentence
    assert sentence.endswith("; correct the file or --format")


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("<a:a> <a:b>\n<a:c", "turtle", r"a:\d: is not valid turtle: (?!Parser error).*; correct the file or --format"),
        ('{"@context": "http://x/", "@id": "a"}', "jsonld", "a: refers to a context elsewhere, which is not fetched"),
        ("<a:a> <a:b> <a:c> .", "turtle", "'no iri' is no IRI .*; give a whole one with --base"),
    ],
)
def test_a_file_that_is_not_valid_is_refused_with_its_place(tmp_path: Path, text: str, kind: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        parts(tmp_path / "a", text, kind, base="no iri" if "no iri" in said else "")


def test_a_fault_without_a_line_is_named_by_its_file() -> None:
    error = SyntaxError("odd")
    assert str(rdf._wrong("a.ttl", "turtle", error, "odd")).startswith("a.ttl: is not valid turtle: odd;")
    error.lineno = 7
    assert str(rdf._wrong("a.ttl", "turtle", error, "odd")).startswith("a.ttl:7: is not valid turtle: odd;")


def test_a_mark_in_the_place_of_a_literal_is_counted_with_its_number() -> None:
    triples = [SimpleNamespace(object=text) for text in ("a", LONG_MARK, "b", f'"{LONG_MARK}\n"')]
    report = FileReport("a.ttl", "turtle")
    assert [triple.object for triple in rdf._without_marks(iter(triples), report)] == ["a", "b"]
    assert [entry[:2] for entry in report.skipped.values()] == [[2, "a.ttl: triple 2"]]


@pytest.mark.parametrize(
    ("first", "second", "sizes"),
    [((2, 2), (3, 3, 1), [2, 2, 2, 1]), ((2, 2), (4, 1), [2, 2, 1]), ((), (3,), [3]), ((5,), (2, 2, 2), [5, 1])],
)
def test_a_file_that_is_read_again_goes_on_after_the_rows_that_were_yielded(
    first: tuple[int, ...], second: tuple[int, ...], sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def tables(source: Any, *_: Any) -> Iterator[pa.Table]:
        start = 0
        for size in second if source.again else first:
            yield pa.table({"n": list(range(start, start + size))})
            start += size
        if not source.again:
            raise EndlessError("endless")

    def shorten(kind: str) -> bool:
        source.again = kind == "turtle"
        return bool(source.again)

    source: Any = SimpleNamespace(again=False, shorten=shorten)
    monkeypatch.setattr(rdf, "_tables", tables)
    found = [table.column("n").to_pylist() for table in rdf._all_tables(source, "turtle", "", FileReport("a", "t"))]
    assert [len(part) for part in found] == sizes
    assert [n for part in found for n in part] == list(range(sum(second)))
    source.again = False
    with pytest.raises(EndlessError):
        list(rdf._all_tables(source, "xml", "", FileReport("a", "t")))


@pytest.mark.parametrize(("encoding", "told"), [("utf-8", False), ("utf-16", True), ("ascii", False)])
def test_another_encoding_than_utf_8_is_told(tmp_path: Path, encoding: str, told: bool) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?>\n<rdf:RDF xmlns:rdf="{RDF}" xmlns:e="{EX}">'
    text += f'<rdf:Description rdf:about="{EX}a"><e:p>x</e:p></rdf:Description></rdf:RDF>'
    (tmp_path / "a.rdf").write_bytes(text.encode(encoding))
    report = FileReport(str(tmp_path / "a.rdf"), "rdfxml")
    kind = next(name for name, form in rdf.FORMATS.items() if form.parser == "RDF_XML")
    assert sum(table.num_rows for table in read_rdf(report.name, kind, report, lambda done: None)) == 1
    assert any("was read as utf-16" in note for note in report.notes) is told
    assert bool(report.notes) is told


def test_keys_that_json_ld_loses_are_counted(tmp_path: Path) -> None:
    found, report = rows(tmp_path / "a", f'{{"@id": "{EX}a", "{EX}p": "x", "lost": "y"}}', "jsonld")
    assert found == [(f"{EX}a", f"{EX}p", '"x"', True)]
    assert list(report.skipped) == ["keys without an IRI"]
    assert rows(tmp_path / "a", "", "jsonld")[1].notes == ["has no triple"]
