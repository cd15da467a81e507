"""WebNLG: its triples, names and texts, as files for a graph and an index."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from srtk_plugin_datasets.webnlg import names, read_triple, read_webnlg

from srtk_framework.cli import main
from srtk_framework.values import InputError, Literal, Triple

XML = """<?xml version='1.0' encoding='utf-8'?>
<benchmark><entries>
  <entry category="City" eid="Id1" size="2">
    <originaltripleset><otriple>Riga | old | Thing</otriple></originaltripleset>
    <modifiedtripleset>
      <mtriple>Riga | country | Latvia</mtriple>
      <mtriple>Riga | elevation | 7.5</mtriple>
    </modifiedtripleset>
    <lex comment="good" lid="Id1">Riga is in
      Latvia, 7.5 m up.</lex>
    <lex comment="good" lid="Id2"> </lex>
    <lex comment="good" lid="Id3">Latvia has Riga &amp; 7.5 m.</lex>
  </entry>
  <entry category="City" eid="Id2" size="1">
    <modifiedtripleset><mtriple>Riga | country | Latvia</mtriple></modifiedtripleset>
    <lex lid="Id1">Riga, Latvia.</lex>
  </entry>
</entries></benchmark>
"""


def written(folder: Path, text: str = XML) -> Path:
    place = folder / "en" / "train" / "1triples" / "City.xml"
    place.parent.mkdir(parents=True)
    place.write_text(text, encoding="utf-8")
    return place


def test_entries_have_modified_triples_and_texts_on_one_line(tmp_path):
    one, other = read_webnlg(written(tmp_path))
    assert one.triples == (
        Triple("Riga", "country", "Latvia"),
        Triple("Riga", "elevation", Literal('"7.5"^^xsd:decimal')),
    )
    assert one.texts == ("Riga is in Latvia, 7.5 m up.", "Latvia has Riga & 7.5 m.")
    assert (one.id, one.category, other.id) == ("train/1triples/City#Id1", "City", "train/1triples/City#Id2")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A | r | Riga_Bay", "Riga_Bay"),
        ("A | r | 1907-07-11", Literal('"1907-07-11"^^xsd:date')),
        ("A | r | -3.5E7", Literal('"-3.5E7"^^xsd:decimal')),
        ("A | r | 30.0 g", Literal('"30.0 g"^^xsd:string')),
        ('A | r | "2"', Literal('"2"^^xsd:decimal')),
        ('A | r | "the "old" town"', Literal('"the \\"old\\" town"^^xsd:string')),
        ("A | r | 1._FC_Köln", "1._FC_Köln"),
        ("A | r | 2014–15_Serie_A", "2014–15_Serie_A"),
    ],
)
def test_quoted_objects_dates_numbers_and_texts_are_literals(text, value):
    triple = read_triple(text, "here")
    assert (triple.object, type(triple.object)) == (value, type(value))


def test_a_subject_with_blanks_is_the_entity_without():
    assert read_triple("Al_Anderson_(NRBQ band) | r | B", "here").subject == "Al_Anderson_(NRBQ_band)"


@pytest.mark.parametrize("text", ["A | r", "A | r | ", "A | r | b | c", ""])
def test_what_is_no_triple_is_refused_with_its_place(text):
    with pytest.raises(InputError, match=r"here: .* is no triple"):
        read_triple(text, "here")


def test_names_are_without_brackets_and_up_to_a_comma():
    assert names("Alan_Martin_(footballer)") == ["Alan Martin", "Alan Martin (footballer)"]
    assert names("Anaheim,_California") == ["Anaheim, California", "Anaheim"]
    assert names("(15788)_1993_SB") == ["(15788) 1993 SB"]
    assert names("Riga") == ["Riga"]


def test_the_command_writes_triples_names_and_texts(tmp_path, capsys):
    written(tmp_path / "data")
    files = {name: str(tmp_path / name) for name in ("g.tsv", "l.tsv", "a.tsv", "t.jsonl")}
    flags = [
        "--out",
        files["g.tsv"],
        "--labels",
        files["l.tsv"],
        "--aliases",
        files["a.tsv"],
        "--texts",
        files["t.jsonl"],
    ]
    assert main(["datasets", "graph", "webnlg", str(tmp_path / "data"), *flags]) == 0
    assert "2 triples, 1 between entities, of 3 texts" in capsys.readouterr().out
    assert Path(files["g.tsv"]).read_text() == 'Riga\tcountry\tLatvia\nRiga\televation\t"7.5"^^xsd:decimal\n'
    assert Path(files["l.tsv"]).read_text() == "Latvia\tLatvia\nRiga\tRiga\n"
    assert Path(files["a.tsv"]).read_text() == ""
    documents = [json.loads(line) for line in Path(files["t.jsonl"]).read_text().splitlines()]
    assert [one["id"] for one in documents] == [
        "train/1triples/City#Id1/1",
        "train/1triples/City#Id1/2",
        "train/1triples/City#Id2/1",
    ]
    assert documents[2]["triples"] == [["Riga", "country", "Latvia"]]
    pytest.importorskip("srtk_plugin_local")
    assert main(["graph", "build", "--no-header", "--out", str(tmp_path / "kg"), files["g.tsv"]]) == 0
    assert "2 triples, 2 entities" in capsys.readouterr().out


def test_files_that_are_no_webnlg_are_refused(tmp_path, capsys):
    file = written(tmp_path, "<benchmark><entries>")
    assert main(["datasets", "graph", "webnlg", str(file), "--out", str(tmp_path / "g.tsv")]) == 2
    assert "is no XML of WebNLG" in capsys.readouterr().err
    assert main(["datasets", "graph", "webnlg", str(tmp_path), "--splits", "x", "--out", str(tmp_path / "g.tsv")]) == 2
    assert "no XML of the splits x here" in capsys.readouterr().err


def test_texts_of_another_format_are_refused(tmp_path, capsys):
    rows = tmp_path / "a.jsonl"
    rows.write_text('{"id": "1", "question": "q", "graph": []}\n')
    flags = ["--out", str(tmp_path / "g.tsv"), "--texts", str(tmp_path / "t.jsonl")]
    assert main(["datasets", "graph", "rog", str(rows), *flags]) == 2
    assert "the format rog has neither" in capsys.readouterr().err
