"""Files of strangers are refused, or lines and literals of them counted as skipped, at limits that are counts."""

from __future__ import annotations

import gzip
import io
import random
from pathlib import Path

import pytest
from srtk_plugin_local.snapshot import containers, content, input_files, rdf_text, tables
from srtk_plugin_local.snapshot.build import Built, build
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.input_report import FileReport, sentences
from srtk_plugin_local.snapshot.limits import (
    LONG_LINES,
    LONG_LITERALS,
    MAX_COLUMNS,
    MAX_DEPTH,
    MAX_ELEMENTS,
    MAX_LITERAL,
    amount,
    check_whole,
    megabytes,
)
from srtk_plugin_local.snapshot.rdf import read_rdf

from srtk_framework.values import InputError

TRIPLE = "<http://e.org/a> <http://e.org/p> "
LONG = '"' + "x" * (MAX_LITERAL + 1) + '"'
NODE = '<rdf:Description rdf:about="http://e.org/a"><e:p>%s</e:p></rdf:Description>'
RDF = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e.org/">'


def jsonld(depth: int) -> str:
    return '{"http://e.org/p":\n' * depth + '"x"' + "}" * depth


def rdfxml(depth: int) -> str:
    pairs = (depth - 1) // 2
    return RDF + "\n<e:T><e:p>" * pairs + "</e:p></e:T>" * pairs + "</rdf:RDF>"


def graphml(depth: int) -> str:
    pairs = (depth - 1) // 2
    groups = "".join(f'<graph>\n<node id="{n}">' for n in range(pairs))
    return f"<graphml>{groups}{'</node></graph>' * pairs}</graphml>"


def gexf(depth: int) -> str:
    pairs = (depth - 3) // 2 + 1
    nodes = "".join(f'<nodes>\n<node id="{n}">' for n in range(pairs))
    return f"<gexf><graph>{nodes}{'</node></nodes>' * pairs}</graph></gexf>"


def nested(depth: int) -> str:
    return f"{TRIPLE}<http://e.org/o> .\n{TRIPLE}" + "<<( <p:a> <p:b> " * depth + "<p:c>" + " )>>" * depth + " .\n"


def read(folder: Path, name: str, text: str | bytes, **settings: str) -> Built:
    data = text if isinstance(text, bytes) else text.encode()
    (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return build(BuildSettings((str(folder / name),), **settings), folder / "graph")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "text", "levels", "message"),
    [
        ("a.jsonld", jsonld, MAX_DEPTH, r"a\.jsonld:101: objects and lists nest deeper than 100 levels; flatten"),
        ("a.rdf", rdfxml, MAX_ELEMENTS, r"a\.rdf:501: elements nest deeper than 1,000 levels; flatten them"),
        ("a.graphml", graphml, MAX_ELEMENTS, r"a\.graphml:501: elements nest deeper than 1,000 levels; flatten them"),
        ("a.gexf", gexf, MAX_ELEMENTS, r"a\.gexf:\d+: elements nest deeper than 1,000 levels; flatten them"),
    ],
)
def test_a_file_nests_up_to_a_number_of_levels(tmp_path, name, text, levels, message):
    assert read(tmp_path, name, text(levels)).meta.counts["entities"]
    with pytest.raises(InputError, match=message):
        read(tmp_path, name, text(levels + 3))


def test_brackets_of_broken_json_are_counted_but_not_those_in_texts(tmp_path):
    with pytest.raises(InputError, match=r"a\.jsonld:1: objects and lists nest deeper"):
        read(tmp_path, "a.jsonld", '{"@id":' + "[" * 200)
    text = '{"@id": "http://e.org/a", "http://e.org/p": "%s"}' % ("[{" * 200 + '\\"')
    assert read(tmp_path, "a.jsonld", text).meta.counts["triples"] == 1


def test_lines_whose_triples_nest_too_deep_are_counted(tmp_path):
    built = read(tmp_path, "a.nt", nested(MAX_DEPTH) + TRIPLE + '"%s" .\n' % ("<<" * 200))
    assert not built.meta.build["reading"][0]["skipped"]
    built = read(tmp_path, "a.nt", TRIPLE + '"x" .\n' + nested(MAX_DEPTH + 1))
    [entry] = built.meta.build["reading"][0]["skipped"].values()
    assert entry[0] == 1
    assert entry[1].endswith("a.nt:3")


@pytest.mark.parametrize(
    ("name", "head", "tail", "reason", "place"),
    [
        ("a.nt", f'{TRIPLE}"x" .\n', f"{TRIPLE}{LONG} .\n{TRIPLE}<> .\n", LONG_LINES, "a.nt:2"),
        ("a.ttl", f'{TRIPLE}"x" .\n', f'{TRIPLE}{LONG} .\n{TRIPLE}"y" .', LONG_LITERALS, "a.ttl: triple 2"),
        ("a.rdf", f"{RDF}{NODE % 'x'}", f"{NODE % LONG}{NODE % 'y'}", LONG_LITERALS, "a.rdf: triple 2"),
        ("a.tsv", "a\tp\tb\n", f"a\tp\t{LONG[1:-1]}\nb\tp\tc\n", LONG_LINES, "a.tsv:2"),
        ("a.csv", "a,p,b\n", f"a,p,{LONG}\nb,p,c\n", LONG_LINES, "a.csv:2"),
    ],
)
def test_a_literal_above_16_mb_is_counted_and_said_once(tmp_path, name, head, tail, reason, place):
    end = "</rdf:RDF>" if name == "a.rdf" else ""
    report = read(tmp_path, name, head + tail + end).meta.build["reading"][0]
    assert report["skipped"][reason][0] == 1
    assert report["skipped"][reason][1].endswith(place)
    one = reason.replace("lines", "1 line").replace("literals", "1 literal")
    assert sum(f"skipped {one}, in" in sentence for sentence in sentences([report])) == 1
    assert read(tmp_path, name, head + end).meta.counts["triples"] == 1


@pytest.mark.parametrize("mark", ['"', "'", '"""', "'''"])
def test_a_literal_that_the_parser_cannot_hold_is_counted_and_the_rest_is_read(tmp_path, mark):
    inside = "\\" + mark[0] + ("\n" if len(mark) == 3 else " ")
    lines = [
        '[] <http://e.org/p> [ <http://e.org/q> "first" ] . # it\'s "a comment" <with',
        f"<http://e.org/#a> <http://e.org/p> {mark}{'x' * (17 << 20)}{inside}{mark} .",
        f"<http://e.org/#a> <http://e.org/p> {mark}{inside}\\\\{mark}, [], '', \"\" .",
        f'<http://e.org/#b> <http://e.org/p> {mark}{"é" * (17 << 20)}{mark}@en, "last" .',
    ]
    built = read(tmp_path, "a.ttl", "\n".join(lines))
    report = built.meta.build["reading"][0]
    assert [*report["skipped"]] == [LONG_LITERALS]
    assert report["skipped"][LONG_LITERALS][0] == 2
    assert report["skipped"][LONG_LITERALS][1].endswith("a.ttl: triple 3")
    lines[1:] = [lines[2], lines[3].replace("é" * (17 << 20), "x").replace(f"{mark}x{mark}@en, ", "")]
    (tmp_path / "b").mkdir()
    assert built.meta.counts == read(tmp_path / "b", "a.ttl", "\n".join(lines)).meta.counts
    assert built.meta.counts["triples"] == 6


TURTLE = (
    b'@prefix e: <http://e.org/#> . # it\'s "no" quotation\n'
    b'e:a e:o\\\'neill """a"b""c\\"""", "", \'\', \'a\\\'b\', "zz\\\\" .\r# \'\n'
    b"<<( e:a e:b '''c''d\\\\''' )>> e:p 1 .\n"
)
LITERALS = (b'a"b""c\\"', b"a\\'b", b"zz\\\\", b"c''d\\\\")


@pytest.mark.parametrize("step", [1, 2, 3, 5, 1000])
@pytest.mark.parametrize("most", [1, 3, 6, 10_000])
def test_a_mark_stands_for_what_is_too_long_alone_however_the_file_is_divided(monkeypatch, step, most):
    monkeypatch.setattr(rdf_text, "MAX_LITERAL", most)
    shortener, wanted = rdf_text._Shortener(), TURTLE
    parts = [shortener.take(TURTLE[at : at + step]) for at in range(0, len(TURTLE), step)]
    for literal in LITERALS:
        assert wanted.count(literal) == 1
        if len(literal) > most:
            wanted = wanted.replace(literal, rdf_text.LONG_MARK.encode())
    assert b"".join([*parts, shortener.take(b"")]) == wanted


def test_a_literal_of_16_mb_is_read(tmp_path):
    built = read(tmp_path, "a.ttl", f'{TRIPLE}"{"x" * (MAX_LITERAL - 2)}" .')
    assert built.meta.counts["triples"] == 1


@pytest.mark.parametrize("start", ['"', '"""', "<http://e.org/", "# "])
def test_a_token_that_does_not_end_is_refused_with_its_line(tmp_path, start):
    file = tmp_path / "a.ttl"
    file.write_text(f'{TRIPLE}"x" .\n{TRIPLE}{start}' + "x" * (17 << 20))
    with pytest.raises(
        InputError, match=r"a\.ttl:2: a literal, an IRI or a comment up to this line has more than 16 MB"
    ):
        list(read_rdf(str(file), "turtle", FileReport(str(file), "turtle"), lambda _: None))


def test_a_quotation_mark_that_is_not_closed_is_named_at_its_row(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "MAX_LITERAL", 1000)
    with pytest.raises(InputError, match=r"a\.csv:3: a cell that begins in this line has more than 16 MB; close"):
        read(tmp_path, "a.csv", 's,p,o\na,p,b\nb,p,"' + "x\n" * 1000)


def test_text_of_xml_that_does_not_end_is_refused_before_it_is_held(tmp_path):
    file = tmp_path / "a.rdf"
    file.write_text(RDF + NODE % ("x" * (3 * MAX_LITERAL)) + "</rdf:RDF>")
    with pytest.raises(
        InputError, match=r"a\.rdf:1: a literal, an IRI or a comment up to this line has more than 16 MB"
    ):
        list(read_rdf(str(file), "rdfxml", FileReport(str(file), "rdfxml"), lambda _: None))


@pytest.mark.parametrize(("name", "mark"), [("a.csv", ","), ("a.tsv", "\t"), ("a.txt", ";")])
def test_a_table_has_up_to_a_number_of_columns(tmp_path, name, mark):
    with pytest.raises(InputError, match=rf"{name}: has more than 5,000 columns; check the separator"):
        read(tmp_path, name, mark.join("a" * (MAX_COLUMNS + 1)) + "\n")


@pytest.mark.parametrize("name", ["a.csv.gz", "a.ttl.gz", "a.graphml.gz", "a.nt.gz"])
def test_a_file_that_is_packed_far_too_tightly_is_refused(tmp_path, name):
    head = {"a.csv.gz": "a,b,", "a.graphml.gz": "<graphml>"}.get(name, f"{TRIPLE}")
    with pytest.raises(InputError, match=rf"{name}: unpacks to more than 16 MB, over 200 times its size, .* unpack it"):
        read(tmp_path, name, head + "\n" * (20 << 20), memory="2GB")


def test_neither_the_size_nor_the_ratio_alone_is_refused(tmp_path):
    made = random.Random(0)
    rows = "".join(f"n{made.getrandbits(60)}\tp\tn{made.getrandbits(60)}\n" for _ in range(1000))
    assert read(tmp_path, "a.tsv.gz", rows * 500).meta.counts["triples"] == 1000
    assert read(tmp_path, "a.tsv.gz", "a\tp\tb\n" * 1_000_000).meta.counts["triples"] == 1


@pytest.mark.parametrize("kind", ["jsonld", "graphml", "gexf"])
def test_a_format_parsed_as_a_whole_is_bounded_by_the_memory(tmp_path, kind):
    body = {"jsonld": '{"@id":"http://e.org/a","http://e.org/b":"%s"}'}.get(kind, f"<{kind}><graph>%s</graph></{kind}>")
    with pytest.raises(
        InputError, match=rf"a\.{kind}: is larger than 5 MB, of which 100 MB of memory is enough for; give"
    ):
        read(tmp_path, f"a.{kind}", body % (" " * 6_000_000), memory="100MB")


def test_the_limits_are_those_that_the_sentences_name():
    assert (MAX_LITERAL, MAX_DEPTH, MAX_ELEMENTS, MAX_COLUMNS) == (16_000_000, 100, 1000, 5000)


def test_amounts_of_memory_are_read():
    for wrong in ("", "1", "GB", "1 apple", "1.2.3GB", "-1GB", "1GB more"):
        with pytest.raises(InputError, match="is not an amount of memory; write one like 1GB or 500MB"):
            amount(wrong)
    assert [amount(text) for text in ("1GB", "1.5 MB", "2KiB")] == [10**9, 1_500_000, 2048]
    assert [amount(f"1{unit}") for unit in ("B", "kB", "TB", "MiB", "GiB")] == [1, 1000, 10**12, 2**20, 2**30]
    sizes = (0, 1_600_000, 500_500_200, 20 * 10**9)
    assert [megabytes(size) for size in sizes] == ["0 MB", "2 MB", "501 MB", "20,000 MB"]
    check_whole("a", 50, 1000, 20)
    with pytest.raises(InputError):
        check_whole("a", 51, 1000, 20)


def test_comments_and_instructions_without_end_are_looked_at_once():
    for start in ("<!-- ", "<? "):
        assert content._NO_ELEMENT.sub("", start + "<a> " + start) == ""
    assert rdf_text._COMMENT_OR_ENTITY.sub("", "<!-- a <!-- b") == ""


def test_a_workbook_is_bounded_and_its_declared_size_is_not_believed(tmp_path, monkeypatch):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["id", "name", "age"], ["a", "Ann", 7], ["b", "Bo", 8]):
        book.active.append(row)
    book.active["XFD9"] = " "
    book.save(tmp_path / "a.xlsx")
    assert build(BuildSettings((str(tmp_path / "a.xlsx"),)), tmp_path / "graph").meta.counts["triples"] == 2
    monkeypatch.setattr(containers, "MAX_WORKBOOK", 1000)
    with pytest.raises(InputError, match=r"a\.xlsx: unpacks to 0 MB, and a workbook of at most 0 MB is read; save its"):
        build(BuildSettings((str(tmp_path / "a.xlsx"),)), tmp_path / "graph")


def test_computed_columns_of_a_database_are_not_read_and_its_values_are_bounded(tmp_path):
    import sqlite3

    file = tmp_path / "a.db"
    with sqlite3.connect(file) as database:
        database.execute("CREATE TABLE t (id TEXT, age INTEGER, big TEXT AS (hex(zeroblob(100000000))))")
        database.execute("INSERT INTO t VALUES ('a', 7), ('b', 8)")
    database.close()
    assert build(BuildSettings((str(file),)), tmp_path / "graph").meta.counts["triples"] == 2
    with sqlite3.connect(file) as database:
        database.execute("INSERT INTO t VALUES ('c', ?)", ["x" * (MAX_LITERAL + 1)])
    database.close()
    with pytest.raises(InputError, match=r"a\.db: cannot be read as an SQLite database \(string or blob too big\)"):
        build(BuildSettings((str(file),)), tmp_path / "graph")


class Blocks:
    """An opened file that gives some bytes at a time."""

    def __init__(self, data: bytes, size: int) -> None:
        self._file, self._size = io.BytesIO(data), size

    def read(self) -> bytes:
        return self._file.read(self._size)


@pytest.mark.parametrize("quoted", [False, True])
def test_lines_that_are_too_long_are_blank_unless_they_may_be_part_of_a_cell(monkeypatch, quoted):
    monkeypatch.setattr(input_files, "MAX_LITERAL", 10)
    made = random.Random(0)
    for _ in range(3000):
        sizes = [made.choice([0, 1, 3, 9, 10, 11, 12, 25, 60]) for _ in range(made.randrange(1, 6))]
        lines = [bytes(made.choice(b'ab"') for _ in range(size)) for size in sizes]
        marks = [b'"'.join(lines[:end]).count(b'"') - max(0, end - 1) for end in range(len(lines) + 1)]
        long = [place for place, line in enumerate(lines) if len(line) > 10]
        inside = quoted and any(marks[place] % 2 or marks[place + 1] % 2 for place in long)
        report, data, line = FileReport("x", "csv"), b"", 1
        source = Blocks(b"\n".join(lines) + made.choice([b"", b"\n"]), made.choice([1, 2, 3, 5, 8]))
        try:
            for number, block in input_files.blocks(source, report, quoted):  # type: ignore[arg-type]
                assert number == line
                data, line = data + block, line + block.count(b"\n")
        except InputError:
            assert inside
            continue
        assert not inside
        assert data.rstrip(b"\n") == b"\n".join(b"" if len(one) > 10 else one for one in lines).rstrip(b"\n")
        assert report.skipped.get(LONG_LINES, [0])[0] == len(long)
