"""The format of a file by its first bytes, before the ending of its name."""

from __future__ import annotations

import bz2
import gzip
import io
import sqlite3
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from srtk_plugin_local.snapshot import content
from srtk_plugin_local.snapshot.build import build
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.content import western_example
from srtk_plugin_local.snapshot.input_files import detect, guess_format

from srtk_framework.values import InputError

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
TRIPLE = "<http://x.org/a> <http://x.org/b> <http://x.org/c> .\n"
GRAPHML = "<?xml version='1.0'?>\n<!-- <gexf> -->\n<graphml xmlns='http://graphml.graphdrawing.org/xmlns'/>"
TEXTS = {
    "graphml": GRAPHML,
    "gexf": "<gexf xmlns='http://www.gexf.net/1.3' version='1.3'/>",
    "rdfxml": f"<!DOCTYPE rdf:RDF [<!ENTITY x '<b'>]>\n<rdf:RDF xmlns:rdf='{RDF}'/>",
    "jsonld": '\n[{"@id": "http://x.org/a"}]',
    "turtle": "# comment\n\nPREFIX x: <http://x.org/>\nx:a x:b '{' .",
    "trig": "@prefix x: <http://x.org/> .\nx:g { x:a x:b x:c }",
    "ntriples": TRIPLE,
    "nquads": '<http://x.org/a> <http://x.org/b> "c\\" d"@en <http://x.org/g> .\n',
}


def written(folder: Path, name: str, content: str | bytes) -> str:
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return str(folder / name)


@pytest.mark.parametrize("kind", sorted(TEXTS))
@pytest.mark.parametrize("name", ["data", "data.dump", "data.csv", "data.txt"])
def test_the_first_bytes_tell_the_format_whatever_the_name(tmp_path: Path, kind: str, name: str) -> None:
    found, note = detect(written(tmp_path, name, TEXTS[kind]), None)
    assert found == kind
    assert (note is None) == (name in ("data", "data.dump"))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_hides_no_format(tmp_path: Path, encoding: str) -> None:
    assert guess_format(written(tmp_path, "a.xml", GRAPHML.encode(encoding))) == "graphml"


def test_containers_are_known_by_their_magic_bytes(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": ["b"]}), tmp_path / "a.csv")
    with sqlite3.connect(tmp_path / "b.csv") as base:
        base.execute("CREATE TABLE x (y)")
    base.close()
    workbook = io.BytesIO()
    with zipfile.ZipFile(workbook, "w") as archive:
        archive.writestr("[Content_Types].xml", "")
        archive.writestr("xl/workbook.xml", "")
    written(tmp_path, "c.csv", workbook.getvalue())
    found = [detect(str(tmp_path / name), None) for name in ("a.csv", "b.csv", "c.csv")]
    assert [kind for kind, _ in found] == ["parquet", "sqlite", "xlsx"]
    assert found[1][1] == "is an SQLite database, though its name ends in .csv"


def test_the_ending_decides_where_the_content_fits_it(tmp_path: Path) -> None:
    for name, kind in (("a.ttl", "turtle"), ("a.trig", "trig"), ("a.nq", "nquads"), ("a.nt", "ntriples")):
        assert detect(written(tmp_path, name, TRIPLE), None) == (kind, None)
    for name, kind in (("a.csv", "csv"), ("a.tsv", "tsv"), ("a.txt", "tsv"), ("a.nt", "ntriples")):
        assert detect(written(tmp_path, name, "a,b\tc\n"), None) == (kind, None)


@pytest.mark.parametrize(
    "row", ["<http://x/a>\t<http://x/b>\t<http://x/c>\n", "{a}\tb\tc\n", "[1]\tb\tc\n", "<a>\tb\tc\n"]
)
def test_rows_of_a_table_that_look_a_little_like_rdf_stay_a_table(tmp_path: Path, row: str) -> None:
    assert detect(written(tmp_path, "a.tsv", row * 3), None) == ("tsv", None)


@pytest.mark.parametrize(
    "heading",
    [
        *("@handle {x}", "INSERT INTO club", "CREATE TABLE", "PRAGMA", "graph", "graph [m]"),
        *("Prefix (old)", "Ontology (old)", "Prefix: old", "Ontology: old"),
    ],
)
def test_a_heading_that_begins_as_a_foreign_statement_stays_one(tmp_path: Path, heading: str) -> None:
    assert detect(written(tmp_path, "a.csv", f"{heading},{{n}}\nx,1\n"), None) == ("csv", None)


def test_a_wanted_format_wins_in_silence(tmp_path: Path) -> None:
    assert detect(written(tmp_path, "a.xml", GRAPHML), "ttl") == ("turtle", None)


def test_json_that_is_no_json_ld_stays_a_file_of_names(tmp_path: Path) -> None:
    assert detect(written(tmp_path, "a.json", '{"Q1": "Riga"}'), None) == ("json", None)
    assert detect(written(tmp_path, "b.json", TEXTS["jsonld"]), None) == ("jsonld", None)


def test_text_of_no_known_format_and_name_is_a_table_and_that_is_told(tmp_path: Path) -> None:
    kind, note = detect(written(tmp_path, "data", "a\tb\tc\n"), None)
    assert kind == "tsv"
    assert (note or "").startswith("is read as TSV, since neither its name")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"%PDF-1.7", "is a PDF"),
        ("<!DOCTYPE html><html></html>", "is a web page"),
        ("<Ontology xmlns='http://www.w3.org/2002/07/owl#'/>", "is OWL/XML"),
        ("Prefix(:=<http://x.org/>)\nOntology(<http://x.org/>)", "is OWL in functional syntax"),
        ("format-version: 1.2\n", "is an OBO file"),
        ("version https://git-lfs.github.com/spec/v1\n", "is a pointer of Git LFS"),
        (b"PK\x03\x04\x14\x00films.csv", "is a ZIP archive; unpack it"),
        (b"PK\x03\x04[Content_Types].xml word/document.xml", "is a document of Office"),
        ("BEGIN:VCARD\nFN:Ada\n", "is a vCard, which is not read; export the contacts as CSV"),
        ("BEGIN:VCALENDAR\n", "is a calendar"),
        ("@article{a1,\n  title = {T}\n}\n", "is BibTeX"),
        ("0 HEAD\n1 SOUR GRAMPS\n", "is GEDCOM"),
        ("TY  - JOUR\nAU  - Moss, Ada\n", "is RIS"),
        ("digraph deps {\n a -> b\n}\n", "is a graph of Graphviz"),
        ("graph [\n node [ id 1 ]\n]\n", "is GML"),
        ("*Vertices 3\n1 a\n", "is a network of Pajek"),
        ("@string{a = {T}}\n", "is BibTeX"),
        ("graph [ directed 1\n", "is GML"),
        ("CREATE TABLE a (b);\n", "is a dump of SQL"),
        ("CREATE TABLE a\n(b);\n", "is a dump of SQL"),
        ("INSERT INTO a VALUES (1, 2);\n", "is a dump of SQL"),
        ("PRAGMA foreign_keys=OFF;\n", "is a dump of SQL"),
        ("Prefix: a: <http://x.org/>\n", "is OWL in Manchester syntax"),
        ("Ontology: <http://x.org/>\n", "is OWL in Manchester syntax"),
        ("- name: Ada\n  role: chief\n", "is YAML"),
        ("CREATE (a:Person {name: 'Ada'});\n", "is a script of Cypher"),
        (":begin\nMERGE (a)\n", "is a script of Cypher"),
        (
            '[\n{"type":"item","id":"Q1","labels":{"en":{"language":"en","value":"x"}}},\n',
            "is JSON of Wikidata; give --from wikidata-json",
        ),
        (
            '{"entities": {"L1": {"type": "lexeme", "lemmas": {"de": {"language": "de", "value": "x"}}}}}',
            "is JSON of Wikidata",
        ),
    ],
)
def test_formats_that_are_not_read_are_named_with_what_to_do(
    tmp_path: Path, content: str | bytes, message: str
) -> None:
    with pytest.raises(InputError, match=rf"a\.owl: {message}"):
        detect(written(tmp_path, "a.owl", content), None)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.yaml", "name: Ada\n", "is YAML, which is not read; write it as JSON"),
        ("a.TOML", "[[a]]\nb = 1\n", "is TOML"),
        ("a.sql", "-- a dump\n", "is a dump of SQL"),
        ("a.cql", "USE x;\n", "is a script of Cypher"),
        ("a.gml", "Creator x\n", "is a graph, which is not read; write it as GraphML"),
        ("a.ods", b"PK\x03\x04mimetype", "is an OpenDocument spreadsheet, which is not read; save it as .xlsx"),
        ("a.numbers", b"PK\x03\x04Index", "is a spreadsheet of Apple"),
    ],
)
def test_the_ending_tells_a_format_that_is_not_read_where_the_content_does_not(
    tmp_path: Path, name: str, content: str | bytes, message: str
) -> None:
    with pytest.raises(InputError, match=rf"a\.\w+: {message}"):
        detect(written(tmp_path, name, content), None)
    assert detect(str(tmp_path / name), "csv") == ("csv", None)
    if isinstance(content, str):
        assert detect(written(tmp_path, name, TEXTS["turtle"]), None)[0] == "turtle"


def test_xml_without_rdf_is_refused_where_its_name_says_xml_alone(tmp_path: Path) -> None:
    text = "<people><person id='1'><name>Ada</name></person></people>"
    with pytest.raises(InputError, match=r"a\.xml: is XML without RDF, which is not read; write it as CSV"):
        detect(written(tmp_path, "a.xml", text), None)
    assert detect(written(tmp_path, "a.rdf", text), None) == ("rdfxml", None)
    assert detect(str(tmp_path / "a.xml"), "rdfxml") == ("rdfxml", None)


def test_a_contradiction_is_told_once_and_the_content_is_read(tmp_path: Path) -> None:
    packed = {
        "a.csv": gzip.compress(b"a,r,b\n" * 3),
        "b.tsv.gz": b"a\tr\tc\n" * 3,
        "c.csv.gz": bz2.compress(b"a,r,d\n"),
    }
    files = [written(tmp_path, name, content) for name, content in packed.items()]
    files.append(written(tmp_path, "d.rdf", TRIPLE))
    built = build(BuildSettings(files=tuple(files)), tmp_path / "out")
    assert built.meta.counts["triples"] == 4
    notes = [[note for note in report["notes"] if "though" in note] for report in built.meta.build["reading"]]
    assert notes == [
        ["is compressed by gzip, though its name ends in .csv"],
        ["is not compressed, though its name ends in .gz"],
        ["is compressed by bz2, though its name ends in .gz"],
        ["is N-Triples, though its name ends in .rdf"],
    ]


LINE = TRIPLE.strip()


@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        ([LINE], "ntriples"),
        ([LINE, "cut o"], "ntriples"),  # the last line may be cut off
        (["wrong", LINE], None),
        ([LINE, "wrong", "x"], None),  # more than half of the others
        ([LINE, LINE, "wrong", "x"], "ntriples"),
        (["wrong", LINE, LINE, "x"], "ntriples"),
        (["wrong", "wrong", LINE, LINE, "x"], None),
        (["wrong"] * 9 + [LINE] * 11 + ["x"], "ntriples"),
        ([LINE] * 10 + ["wrong"] * 10 + ["x"], None),  # of twenty lines
        ([LINE] * 10 + ["wrong"] * 10 + [LINE, "x"], None),
        (['VERSION "1.2"', LINE], "ntriples"),
        ([LINE.replace(" .", " <http://x.org/g> ."), LINE, "x"], "nquads"),
    ],
)
def test_lines_are_triples_where_more_than_half_of_twenty_are(lines: list[str], kind: str | None) -> None:
    assert content._lines_of_triples(lines) == kind


@pytest.mark.parametrize(
    ("head", "found"),
    [
        (b"", False),
        (b"# a comment\n\n" + TRIPLE.encode(), True),
        (TRIPLE.encode() + b"x", True),
        (b"no triple\n" + TRIPLE.encode() * 3, False),
    ],
)
def test_the_first_line_that_is_no_comment_is_a_triple_or_none(head: bytes, found: bool) -> None:
    assert content.begins_with_triple(head) is found


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"PAR1 and more", "parquet"),
        (b"PK\x03\x04 xl/workbook.xml", "xlsx"),
        (b"PK\x03\x04[Content_Types].xml", "xlsx"),
        (b"<http://x/a> <http://x/b> 1 ;\n  <http://x/c> 2 .\n", "turtle"),
        (b"x\n<http://x/a> <http://x/b> 1 .\n", None),
        (b"<http://x/a>\t<http://x/b>\tc\nd e\n", None),  # rows of a table
        (b"<http://x/a>, <http://x/b>,c\nd e\n", None),
        (b'{"a": 1}', "json"),
        (b"[]", None),
        (b"[", "json"),
        (b'[["@id"]]', None),
        (b'["x", {"@id": "http://x/a"}]', "jsonld"),
        (b"", None),
        (b"# comments alone\n", None),
    ],
)
def test_first_bytes_show_a_format_or_none(head: bytes, kind: str | None) -> None:
    assert content.format_of(head, "a") == kind


@pytest.mark.parametrize(
    ("head", "said"),
    [
        (bytes(257) + b"ustar", "a: is a tar archive; unpack it, and give the files inside"),
        (b"PK\x03\x04 ppt/a", "a: is a document of Office"),
        (b"PK\x03\x04 other", "a: is a ZIP archive"),
    ],
)
def test_first_bytes_of_other_archives_are_refused(head: bytes, said: str) -> None:
    with pytest.raises(InputError, match=said):
        content.format_of(head, "a")
    assert not content.is_text(b"a\0")
    assert content.is_text("ab".encode("utf-16"))


@pytest.mark.parametrize(("place", "kind"), [(4, "tsv"), (5, "csv")])
def test_one_of_the_first_five_lines_with_a_tab_is_of_a_tsv(tmp_path: Path, place: int, kind: str) -> None:
    lines = ["a,b"] * 8
    lines[place] = "a\tb"
    assert detect(written(tmp_path, "data", "\n".join(lines)), None)[0] == kind


def test_text_of_western_europe_is_known_in_windows_1252_alone() -> None:
    for text in ("Name;Büro\nJürgen Groß;5 €\n", "Françoise «Côté» – Île\n", "Åse Sjöö, 5 m²\n"):
        assert western_example(text.encode("cp1252")) in text
        assert western_example(text.encode()) == ""
    others = {"cp1251": "Юрий Гагарин", "cp1250": "Paweł Żuk", "mac-roman": "Straße", "cp850": "März, Café"}
    others |= {"cp1253": "Αθήνα", "shift-jis": "東京", "gbk": "北京", "cp1254": "Şişli, Işık"}
    for encoding, text in others.items():
        assert western_example(text.encode(encoding)) == "", encoding
    assert western_example("Zoë, ".encode() + "Märta".encode("cp1252")) == ""
    assert western_example("Zoë".encode()[:-1]) == ""  # a block may end within a letter
