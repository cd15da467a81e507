"""The formats that a build reads: triples, names, descriptions and qualifiers."""

from __future__ import annotations

import bz2
import codecs
import gzip
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from srtk_plugin_local.dictionary import entity_context
from srtk_plugin_local.snapshot.build import Built, build
from srtk_plugin_local.snapshot.build_settings import BuildSettings, fingerprint
from srtk_plugin_local.snapshot.graph import LocalGraph
from srtk_plugin_local.snapshot.input_files import Input, detect
from srtk_plugin_local.snapshot.input_report import FileReport

from srtk_framework.cli import main
from srtk_framework.values import InputError, Literal, Pattern, Triple

FACTS = [("riga", "capital_of", "latvia"), ("latvia", "part_of", "europe"), ("tallinn", "capital_of", "estonia")]
EX = "http://example.org/"
TURTLE_LINE = f"@prefix x: <{EX}> . x:a x:b x:c ."

Make = Callable[..., LocalGraph]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Return a function that writes files, builds a snapshot of the first, and opens it."""

    def make(files: dict[str, str | bytes], **settings: Any) -> LocalGraph:
        built = make_only(tmp_path, files, **settings)
        graph = LocalGraph(str(built.folder))
        graph.open()
        return graph

    return make


def make_only(folder: Path, files: dict[str, str | bytes], **settings: Any) -> Built:
    for name, content in files.items():
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    for key in ("labels", "aliases", "qualifiers"):
        settings[key] = tuple(str(folder / name) for name in settings.get(key, ()))
    given = settings.pop("inputs", tuple(files)[:1])
    return build(BuildSettings(files=tuple(str(folder / name) for name in given), **settings), folder / "out")


def everything(graph: LocalGraph) -> list[tuple[str, ...]]:
    return [tuple(triple) for triple in graph.match([Pattern()])[0]]


def lines(separator: str = "\t") -> str:
    return "".join(separator.join(fact) + "\n" for fact in FACTS)


@pytest.mark.parametrize(("name", "separator"), [("a.tsv", "\t"), ("a.txt", "|"), ("a.txt", " ||| "), ("a.csv", ",")])
def test_tables_are_read_with_their_separator(make: Make, name: str, separator: str) -> None:
    graph = make({name: lines(separator)}, separator=separator)
    assert everything(graph) == sorted(FACTS)


def test_parquet_is_read(make: Make, tmp_path: Path) -> None:
    columns = dict(zip(("s", "p", "o"), (list(column) for column in zip(*FACTS, strict=True)), strict=True))
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    assert everything(make({}, inputs=("a.parquet",))) == sorted(FACTS)


def test_columns_are_taken_by_the_names_in_a_header(make: Make) -> None:
    graph = make({"a.csv": 'to,note,rel,from\nlatvia,"x,\ny",capital_of,riga\n'}, columns=("from", "rel", "to"))
    assert everything(graph) == [("riga", "capital_of", "latvia")]


@pytest.mark.parametrize("ending", ["gz", "bz2", "zst"])
def test_compressed_files_are_read_directly(make: Make, ending: str) -> None:
    data = {"gz": gzip.compress, "bz2": bz2.compress, "zst": _zstd}[ending](lines().encode())
    assert everything(make({f"a.tsv.{ending}": data})) == sorted(FACTS)


def _zstd(data: bytes) -> bytes:
    return bytes(pa.compress(data, codec="zstd", asbytes=True))


RDF = {
    "a.nt": "".join(f"<{EX}{s}> <{EX}{r}> <{EX}{o}> .\n" for s, r, o in FACTS),
    "a.nq": "".join(f"<{EX}{s}> <{EX}{r}> <{EX}{o}> <{EX}graph> .\n" for s, r, o in FACTS),
    "a.ttl": f"@prefix : <{EX}> .\n" + "".join(f":{s} :{r} :{o} .\n" for s, r, o in FACTS),
    "a.rdf": '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://example.org/">'
    + "".join(
        f'<rdf:Description rdf:about="{EX}{s}"><{r} rdf:resource="{EX}{o}"/></rdf:Description>' for s, r, o in FACTS
    )
    + "</rdf:RDF>",
}


@pytest.mark.parametrize("name", sorted(RDF))
def test_rdf_formats_give_the_same_graph(make: Make, name: str) -> None:
    graph = make({name: RDF[name]}, prefixes={"": EX})
    assert everything(graph) == sorted(FACTS)


def test_a_prefix_shortens_and_the_longest_namespace_wins(make: Make) -> None:
    content = f"<{EX}a> <{EX}prop/b> <{EX}c> .\n<{EX}> <{EX}prop/b> <http://elsewhere.org/x> .\n"
    graph = make({"a.nt": content}, prefixes={"ex": EX, "p": EX + "prop/"})
    assert everything(graph) == [("ex:a", "p:b", "ex:c"), (EX, "p:b", "http://elsewhere.org/x")]
    assert graph.schema().prefixes == {"ex": EX, "p": EX + "prop/"}


def test_rdf_labels_and_aliases_become_names_and_no_triples(make: Make) -> None:
    label, alias = "<http://www.w3.org/2000/01/rdf-schema#label>", "<http://www.w3.org/2004/02/skos/core#altLabel>"
    content = f"""<{EX}Q1> <{EX}P1> <{EX}Q2> .
<{EX}Q1> {label} "Rīga"@lv .
<{EX}Q1> {label} "Riga"@en .
<{EX}Q1> {label} "Riga"@de .
<{EX}Q1> {alias} "City of \\"Riga\\""@en .
<{EX}P1> {label} "capital of"@en .
"""
    graph = make({"a.nt": content}, prefixes={"": EX})
    assert everything(graph) == [("Q1", "P1", "Q2")]
    assert graph.labels(["Q1", "P1", "Q2"]) == ["Riga", "capital of", "Q2"]
    assert graph.find(["riga", "RĪGA", 'city of "riga"', "q2", "capital of"]) == [["Q1"], ["Q1"], ["Q1"], ["Q2"], []]


def test_languages_choose_and_order_labels(make: Make) -> None:
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    content = f"<{EX}a> <{EX}b> <{EX}c> .\n" + "".join(
        f'<{EX}a> {label} "{text}"{tag} .\n'
        for text, tag in [("Riga", "@en"), ("Riika", "@et"), ("Ryga", "@lt"), ("plain", "")]
    )
    graph = make({"a.nt": content}, prefixes={"": EX}, languages=("et", "lt"))
    assert graph.labels(["a"]) == ["Riika"]
    assert graph.find(["ryga", "plain", "riga"]) == [["a"], ["a"], []]


def test_label_and_alias_files_name_entities_and_relations(make: Make) -> None:
    files: dict[str, str | bytes] = {
        "a.tsv": "Q1\tP1\tQ2\n",
        "labels.tsv": "Q1\tRiga\nP1\tcapital of\nQ9\tnot in the graph\nQ2\t\n",
        "aliases.json": '{"Q1": ["City of Riga", "Riga"], "Q2": "Lettland"}',
    }
    graph = make(files, labels=("labels.tsv",), aliases=("aliases.json",))
    assert graph.labels(["Q1", "P1", "Q2", "Q9"]) == ["Riga", "capital of", "Q2", "Q9"]
    assert graph.find(["city_of_riga", "lettland", "Q2", "not in the graph"]) == [["Q1"], ["Q2"], ["Q2"], []]


def test_names_that_say_nothing_about_the_graph_are_counted(tmp_path: Path) -> None:
    built = make_only(tmp_path, {"a.tsv": "a\tr\tb\na\tr\tb\n", "l.tsv": "x\tX\n"}, labels=("l.tsv",))
    assert built.ignored == {"names of ids without a fact": 1, "repeated triples": 1}


def test_ids_of_a_graph_without_labels_are_names(make: Make) -> None:
    graph = make({"a.tsv": "ludwig_ii\tplace_of_birth\tNymphenburg_Palace\n"})
    assert graph.labels(["ludwig_ii", "place_of_birth"]) == ["ludwig ii", "place of birth"]
    assert graph.find(["Ludwig II", "nymphenburg palace"]) == [["ludwig_ii"], ["Nymphenburg_Palace"]]


def test_ids_are_shown_as_they_are_where_they_are_no_names(make: Make) -> None:
    assert make({"a.tsv": "a_b\tr\tc\n"}, names=False).labels(["a_b"]) == ["a_b"]


def test_typed_and_tagged_objects_of_tables_are_literals(make: Make) -> None:
    content = 'a\tborn\t"1998-01-02"^^xsd:date\na\tname\t"Ann "A"."@en\na\tsong\t"Heroes"\n'
    content += 'a\tage\t"7"^^http://www.w3.org/2001/XMLSchema#integer\na\tsaid\t"x"^^xsd:string\n'
    graph = make({"a.tsv": content})
    found = {triple.relation: triple.object for triple in graph.match([Pattern("a")])[0]}
    literal = {relation: type(object_) is Literal for relation, object_ in found.items()}
    assert literal == {"born": True, "name": True, "song": False, "age": True, "said": True}
    assert found["age"] == '"7"^^xsd:integer'
    assert found["said"] == '"x"'
    assert graph.labels(list(found.values()))[:3] == ["7", "1998-01-02", 'Ann "A".']


@pytest.mark.parametrize(("literals", "count"), [("typed", 1), ("quoted", 2), ("none", 0)])
def test_the_setting_decides_what_a_literal_is(make: Make, literals: str, count: int) -> None:
    graph = make({"a.tsv": 'a\tr\t"x"\na\tr\t"y"@en\n'}, literals=literals)
    assert sum(type(triple.object) is Literal for triple in graph.match([Pattern("a")])[0]) == count


def test_rdf_literals_keep_type_language_and_line_ends(make: Make) -> None:
    xsd = "http://www.w3.org/2001/XMLSchema#"
    content = f'<{EX}a> <{EX}b> "two\\nlines \\"x\\""@en .\n<{EX}a> <{EX}b> "1"^^<{xsd}integer> .\n'
    graph = make({"a.nt": content + f'<{EX}a> <{EX}b> "p"^^<{xsd}string> .\n'}, prefixes={"": EX})
    assert [triple.object for triple in graph.match([Pattern("a")])[0]] == [
        '"1"^^xsd:integer',
        '"p"',
        '"two\nlines "x""@en',
    ]
    assert graph.degrees(["a"]) == [3]


STRANGE = ['say "hi"', "two\nlines", "العربية", "日本", "<b>&", "it's", "\\", "tab\there", "http://example.org/ä?x=1#y"]


def test_strange_ids_survive_a_quoted_csv(make: Make) -> None:
    import csv
    import io

    text = io.StringIO()
    csv.writer(text).writerows([id_, f"r {id_}", "end"] for id_ in STRANGE)
    graph = make({"a.csv": text.getvalue()})
    assert everything(graph) == sorted((id_, f"r {id_}", "end") for id_ in STRANGE)
    assert [list(frontier.ids()) for frontier in graph.frontiers([[id_] for id_ in STRANGE])] == [[x] for x in STRANGE]


def test_windows_line_ends_a_byte_order_mark_and_blank_lines_are_read_over(make: Make) -> None:
    assert everything(make({"a.tsv": b"\xef\xbb\xbfa\tr\tb\r\n\r\n\r\nb\tr\tc"})) == [("a", "r", "b"), ("b", "r", "c")]


def test_blank_nodes_of_turtle_keep_the_same_id_in_every_build(tmp_path: Path) -> None:
    content = f"@prefix : <{EX}> . :a :b [ :c :d ], [ :c _:x ] ."
    hashes = set()
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        hashes.add(make_only(tmp_path / name, {"a.ttl": content}).meta.content)
    assert len(hashes) == 1


def test_qualifiers_are_kept_with_their_triple(make: Make) -> None:
    files: dict[str, str | bytes] = {
        "a.tsv": "q42\tspouse\tjane\nq42\tspouse\tjill\n",
        "q.tsv": 'q42\tspouse\tjane\tstart\t"1991"^^xsd:gYear\nq42\tspouse\tjane\tplace\tlondon\nx\ty\tz\tp\tq\n',
        "l.tsv": "start\tstart time\n",
    }
    graph = make(files, qualifiers=("q.tsv",), labels=("l.tsv",))
    asked = [Triple("q42", "spouse", "jane"), Triple("q42", "spouse", "jill"), Triple("x", "y", "z")]
    assert graph.qualifiers(asked) == [(("place", "london"), ("start", '"1991"^^xsd:gYear')), (), ()]
    assert isinstance(graph.qualifiers(asked)[0][1][1], Literal)
    assert graph.labels(["start"]) == ["start time"]


def test_quoted_values_of_qualifiers_are_literals_where_the_setting_says_so(make: Make) -> None:
    files: dict[str, str | bytes] = {
        "a.tsv": "q42\tspouse\tjane\n",
        "q.tsv": 'q42\tspouse\tjane\tnote\t"quiet"\nq42\tspouse\tjane\tplace\tlondon\n',
    }
    asked = [Triple("q42", "spouse", "jane")]
    for literals, kind in (("quoted", Literal), ("typed", str)):
        (row,) = make(files, qualifiers=("q.tsv",), literals=literals).qualifiers(asked)
        assert list(row) == [("note", '"quiet"'), ("place", "london")]
        assert [type(value) for _, value in row] == [kind, str]


def test_a_typed_value_of_a_qualifier_is_a_name_where_no_text_is_a_literal(make: Make) -> None:
    files: dict[str, str | bytes] = {
        "a.tsv": "q42\tspouse\tjane\n",
        "q.tsv": 'q42\tspouse\tjane\tstart\t"1991"^^xsd:gYear\n',
    }
    graph = make(files, qualifiers=("q.tsv",), literals="none")
    assert type(graph.qualifiers([Triple("q42", "spouse", "jane")])[0][0][1]) is str


def test_a_value_of_a_qualifier_is_a_literal_where_it_is_one_in_a_triple(make: Make) -> None:
    files: dict[str, str | bytes] = {
        "a.nt": f'<{EX}q> <{EX}motto> "quiet" .\n<{EX}q> <{EX}spouse> <{EX}jane> .\n',
        "q.tsv": f'{EX}q\t{EX}spouse\t{EX}jane\t{EX}note\t"quiet"\n',
    }
    graph = make(files, qualifiers=("q.tsv",))
    (row,) = graph.qualifiers([Triple(f"{EX}q", f"{EX}spouse", f"{EX}jane")])
    assert row == ((f"{EX}note", '"quiet"'),)
    assert isinstance(row[0][1], Literal)
    assert graph.labels([row[0][1]]) == ["quiet"]


def test_only_qualifiers_whose_form_misleads_change_the_content_of_a_snapshot(tmp_path: Path) -> None:
    row = 'q42\tspouse\tjane\tstart\t"1991"^^xsd:gYear\n'
    files: dict[str, str | bytes] = {"a.tsv": "q42\tspouse\tjane\n", "q.tsv": row}
    typed = make_only(tmp_path, files, qualifiers=("q.tsv",)).meta
    none = make_only(tmp_path, files, qualifiers=("q.tsv",), literals="none").meta
    assert "terms.literals" not in typed.files
    assert "terms.literals" in none.files
    assert typed.content != none.content


def test_the_schema_is_kept_and_rdf_type_is_known(make: Make) -> None:
    content = f"<{EX}a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{EX}C> .\n"
    graph = make({"a.nt": content}, mediators=("_:*",), noise=("see*",), subclass_relations=(EX + "sub",))
    schema = graph.schema()
    assert schema.type_relations == ("http://www.w3.org/1999/02/22-rdf-syntax-ns#type",)
    assert (schema.subclass_relations, schema.mediators, schema.noise) == ((EX + "sub",), ("_:*",), ("see*",))


def test_an_empty_file_gives_an_empty_graph(make: Make) -> None:
    graph = make({"a.tsv": ""})
    assert everything(graph) == []
    frontier = graph.frontiers([["a"]])
    assert graph.steps(frontier, True) == [[]]
    assert graph.find(["a"]) == [[]]
    assert graph.labels(["a"]) == ["a"]


WRONG: dict[str, tuple[dict[str, str | bytes], dict[str, Any], str]] = {
    "columns": ({"a.tsv": "a\tr\tb\n" * 3 + "a\tr\n"}, {"strict": True}, r"a\.tsv:4: expected 3 columns .* found 2"),
    "separator": ({"a.tsv": "a/r/b\n"}, {}, r"a\.tsv:1: found one column; give the --separator"),
    "empty": ({"a.tsv": "a\tr\tb\n\na\t\tb\n"}, {"strict": True}, r"a\.tsv:3: column 2 is empty"),
    "encoding": ({"a.tsv": b"a\tr\tb\na\tr\t\xff\n"}, {}, r"a\.tsv:2: is not UTF-8"),
    "csv": ({"a.csv": 'a,r,b\na,"r\nx"y,b\n'}, {}, r"a\.csv:3: "),
    "csv columns": ({"a.csv": 'a,"r\nr",b\na,r\n'}, {"strict": True}, r"a\.csv:3: expected 3 columns"),
    "nt": ({"a.nt": f"<{EX}a> <{EX}b> <{EX}c> .\n<{EX}a> b c .\n"}, {"strict": True}, r"a\.nt:2: "),
    "ttl": ({"a.ttl": ":a :b :c ."}, {}, r"a\.ttl:1: is not valid turtle"),
    "rdf": ({"a.rdf": "<rdf:RDF>"}, {}, r"a\.rdf.*: is not well-formed XML"),
    "graphml": ({"a.graphml": "<?xml version='1.0'"}, {}, r"a\.graphml:1: is not well-formed XML"),
    "gzip": ({"a.tsv.gz": gzip.compress(b"a\tr\tb\n" * 9999)[:-20]}, {}, r"a\.tsv\.gz: is damaged or truncated"),
    "zstd": ({"a.tsv.zst": _zstd(b"a\tr\tb\n" * 9999)[:-20]}, {}, r"a\.tsv\.zst: is damaged or truncated"),
    "name": (
        {"a.dump": b"\x00\x01"},
        {},
        r"a\.dump: is no text of a known format, and the format is not known by its name; give --format",
    ),
    "format": ({"a.tsv": lines()}, {"format": "tvs"}, r"'tvs' is not a format .* Did you mean 'tsv'"),
    "header": ({"a.csv": "a,b,c\n"}, {"columns": ("a", "b", "d")}, r"a\.csv:1: the header has no column 'd'"),
    "parquet": ({"a.parquet": b"no"}, {}, r"a\.parquet: cannot be read as Parquet"),
    "labels": (
        {"a.tsv": lines(), "l.tsv": "a\tA\nb\n"},
        {"labels": ("l.tsv",), "strict": True},
        r"l\.tsv:2: expected 2 columns",
    ),
    "json": ({"a.tsv": lines(), "l.json": '["a"]'}, {"labels": ("l.json",)}, r"l\.json: expected a JSON object"),
    "subject": ({"a.tsv": 'a\tr\t"b"@en\n"b"@en\tr\ta\n'}, {}, r'the literal "b"@en is the subject of a triple'),
    "memory": ({"a.tsv": lines()}, {"memory": "much"}, r"'much' is not an amount of memory"),
    "missing": ({}, {"inputs": ("none.tsv",)}, r"none\.tsv: cannot be read \(No such file"),
}


@pytest.mark.parametrize("case", sorted(WRONG))
def test_wrong_input_is_refused_with_its_place_and_leaves_nothing(tmp_path: Path, case: str) -> None:
    files, settings, message = WRONG[case]
    with pytest.raises(InputError, match=message):
        make_only(tmp_path, files, **settings)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(files)


def test_an_empty_cell_of_a_parquet_file_is_refused_with_its_row(tmp_path: Path) -> None:
    pq.write_table(pa.table({"s": ["a", "b"], "r": ["r", None], "o": ["x", "y"]}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"a\.parquet: row 2: column 2 is empty"):
        make_only(tmp_path, {}, inputs=("a.parquet",), strict=True)


def read_all(source: Input, size: int) -> bytes:
    return b"".join(iter(lambda: source.read(size), b""))


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"a\nb\n", "a\nb\n"),
        (b"a\rb\rc", "a\nb\nc"),  # as old Macs end lines
        (b"a\r\nb\rc", "a\r\nb\rc"),
        ("ä\nb\n".encode("utf-16"), "ä\nb\n"),
        (codecs.BOM_UTF16_BE + "ä\nb\n".encode("utf-16-be"), "ä\nb\n"),
        ("ä\rb\rc".encode("utf-16"), "ä\nb\nc"),
        ("Zoë, Jürgen\nb\n".encode("cp1252"), "Zoë, Jürgen\nb\n"),
        (b"", ""),
    ],
)
@pytest.mark.parametrize("size", [3, 100])
@pytest.mark.parametrize("block", [8, 100])
def test_text_is_read_as_utf_8_with_line_feeds(
    tmp_path: Path, data: bytes, text: str, size: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_bytes(data)
    report, is_western = FileReport("a", "csv"), "Zoë" in text
    reading = Input.read
    if not is_western:  # whose example is a word of the first block
        monkeypatch.setattr(Input, "read", lambda self, size=block: reading(self, min(size, block)))
    with Input(str(tmp_path / "a")) as source:
        assert source.peek() == source.peek()
        source.to_utf8(report)
        assert source.peek() == source.peek()
        assert (read_all(source, size).decode(), source.read(size), source.done) == (text, b"", len(data))
    told = "was read as Windows-1252, such as 'Zoë'; convert the file to UTF-8 if this is wrong"
    assert report.notes == [told] * is_western


def test_no_encoding_is_guessed_where_it_could_not_be_told_and_a_wrong_one_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes("Zoë, Jürgen\n".encode("cp1252"))
    with Input(str(tmp_path / "a")) as source:
        source.to_utf8()
        assert source.read() == "Zoë, Jürgen\n".encode("cp1252")
    (tmp_path / "a").write_bytes("ab".encode("utf-16") + b"\x00\xd8\x00\x00")
    with Input(str(tmp_path / "a")) as source, pytest.raises(InputError, match=r"a: is not what its beginning says \("):
        source.to_utf8()


@pytest.mark.parametrize(
    ("wanted", "found"),
    [("TTL", "turtle"), ("rdf/xml", "rdfxml"), ("json-ld", "jsonld"), ("ndjson", "json"), ("CSV", "csv")],
)
def test_a_format_has_further_names(wanted: str, found: str) -> None:
    assert detect("none", wanted) == (found, None)


@pytest.mark.parametrize(
    ("name", "data", "found", "note"),
    [
        ("a.nt", TURTLE_LINE, "turtle", "is Turtle, though its name ends in .nt"),
        ("a.nt", f"<{EX}a> <{EX}b> <{EX}c> .\nno triple\nnone\nx", "ntriples", None),  # which its reader counts
        ("a.trig", TURTLE_LINE, "trig", None),
        ("a.json", "[1, 2]", "json", None),
        ("a.jsonld", '{"a": 1}', "jsonld", None),
        ("a.csv", '{"a": 1}', "csv", None),
        ("a.csv", '{"@id": "x"}', "jsonld", "is JSON-LD, though its name ends in .csv"),
        ("a", "  \n", None, "a: has no content to see, and the format is not known by its name; give --format {"),
        ("a.tsv.gz", "", "tsv", None),
        ("a", "a,b\n", "csv", "is read as CSV, since neither its name nor its first bytes tell another format"),
    ],
)
def test_content_and_name_decide_the_format_together(
    tmp_path: Path, name: str, data: str, found: str | None, note: str | None
) -> None:
    (tmp_path / name).write_text(data)
    if found is None:
        with pytest.raises(InputError, match=re.escape(note or "")):
            detect(str(tmp_path / name), None)
    else:
        assert detect(str(tmp_path / name), None) == (found, note)


def written(folder: Path, name: str, *lines: str) -> str:
    (folder / name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return str(folder / name)


def opened(folder: Path) -> LocalGraph:
    graph = LocalGraph(str(folder))
    graph.open()
    return graph


def test_files_of_descriptions_become_literals_of_known_ids(tmp_path: Path) -> None:
    triples = written(tmp_path, "kb.tsv", "Q1\tin\tQ2")
    about = written(tmp_path, "about.tsv", 'Q1\ta "large" city\ten', "Q2\tcountry\t", "Q9\tunknown\ten")
    build(BuildSettings((triples,), descriptions=(about,)), tmp_path / "graph")
    graph = opened(tmp_path / "graph")
    found = graph.match([Pattern(None, "description", None)])[0]
    assert found == [("Q1", "description", '"a "large" city"@en'), ("Q2", "description", '"country"')]
    assert [own for own, _ in entity_context.texts(graph, ["Q1", "Q2"])] == ['a "large" city', "country"]
    assert graph.find(["country"]) == [[]]


def test_the_command_takes_descriptions(tmp_path: Path) -> None:
    triples = written(tmp_path, "kb.tsv", "Q1\tin\tQ2")
    about = written(tmp_path, "about.json", '{"Q1": "a city"}')
    out = str(tmp_path / "graph")
    assert main(["graph", "build", "--quiet", "--out", out, "--descriptions", about, triples]) == 0
    assert opened(tmp_path / "graph").match([Pattern("Q1", "description", None)])[0][0].object == '"a city"'


def test_a_changed_description_builds_the_snapshot_again(tmp_path: Path) -> None:
    triples = written(tmp_path, "kb.tsv", "Q1\tin\tQ2")
    about = written(tmp_path, "about.tsv", "Q1\ta city")
    settings = BuildSettings((triples,), descriptions=(about,))
    before = fingerprint(settings)
    written(tmp_path, "about.tsv", "Q1\ta large city")
    assert fingerprint(settings) != before
