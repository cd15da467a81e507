"""RDF as it is in the wild: encodings, relative IRIs, annotations and lines that are wrong."""

from __future__ import annotations

import codecs
import json
from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_local.snapshot.build import Built, build
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.graph import LocalGraph

from srtk_framework.values import InputError, Literal, Pattern, Triple

LINE = "<http://ex.org/a> <http://ex.org/p> <http://ex.org/b> .\n"
XML = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://ex.org/">'
ENTRY = '<rdf:Description rdf:about="http://ex.org/a"><e:p>Café</e:p></rdf:Description></rdf:RDF>'
TURTLE = "@prefix : <http://ex.org/> . @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .\n"
FACT = Triple("http://ex.org/a", "http://ex.org/p", "http://ex.org/b")


def made(path: Path, data: str | bytes, **settings: Any) -> Built:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return build(BuildSettings(files=(str(path),), **settings), path.parent / "out")


def opened(built: Built) -> LocalGraph:
    graph = LocalGraph(str(built.folder))
    graph.open()
    return graph


def facts(built: Built) -> list[Triple]:
    [triples] = opened(built).match([Pattern()])
    return list(triples)


def reading(built: Built) -> dict[str, Any]:
    [report] = built.meta.build["reading"]
    return dict(report)


@pytest.mark.parametrize("name", ["a.nt", "a.nq", "a.ttl", "a.trig"])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be", "utf-32"])
def test_marks_and_wide_encodings_are_read(tmp_path: Path, name: str, encoding: str) -> None:
    assert facts(made(tmp_path / name, LINE.encode(encoding))) == [FACT]


def test_json_ld_with_a_mark_is_read(tmp_path: Path) -> None:
    data = codecs.BOM_UTF8 + b'{"@id": "http://ex.org/a", "http://ex.org/p": {"@id": "http://ex.org/b"}}'
    assert facts(made(tmp_path / "a.jsonld", data)) == [FACT]


@pytest.mark.parametrize("encoding", ["ISO-8859-1", "windows-1252", "UTF-16", "utf-8"])
def test_rdf_xml_is_read_in_the_encoding_that_it_declares(tmp_path: Path, encoding: str) -> None:
    data = f'<?xml version="1.0" encoding="{encoding}"?>\n{XML}{ENTRY}'.encode(encoding)
    [fact] = facts(made(tmp_path / "a.rdf", data))
    assert fact.object == Literal.make("Café")


def test_an_unknown_encoding_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\.rdf: declares the encoding 'martian'.*save it as UTF-8"):
        made(tmp_path / "a.rdf", f'<?xml version="1.0" encoding="martian"?>{XML}</rdf:RDF>')


def test_a_large_file_in_another_encoding_is_read_whole(tmp_path: Path) -> None:
    lines = "".join(f"<http://ex.org/é{n}> <http://ex.org/p> <http://ex.org/b> .\n" for n in range(100_000))
    assert made(tmp_path / "a.nt", lines.encode("utf-16")).meta.counts["triples"] == 100_000


def test_entities_may_have_either_quote(tmp_path: Path) -> None:
    head = "<!DOCTYPE rdf:RDF [ <!ENTITY x 'http://ex.org/'> <!-- <!ENTITY y 'z'> --> <!ENTITY q \"it's\" > ]>\n"
    body = '<rdf:Description rdf:about="&x;a"><e:p rdf:resource="&x;b"/></rdf:Description></rdf:RDF>'
    assert facts(made(tmp_path / "a.rdf", head + XML + body)) == [FACT]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.ttl", "<#x> <http://ex.org/p> <b> ."),
        ("a.trig", "<#x> <http://ex.org/p> <b> ."),
        ("a.rdf", XML + '<rdf:Description rdf:ID="x"><e:p rdf:resource="b"/></rdf:Description></rdf:RDF>'),
        ("a.jsonld", '{"@id": "#x", "http://ex.org/p": {"@id": "b"}}'),
    ],
)
def test_relative_iris_are_resolved_wherever_the_file_lies(tmp_path: Path, name: str, data: str) -> None:
    first, second = made(tmp_path / "one" / name, data), made(tmp_path / "two" / name, data)
    assert facts(first) == [Triple(f"file:///{name}#x", "http://ex.org/p", "file:///b")]
    assert first.meta.content == second.meta.content
    assert reading(first)["notes"][:1] == [
        f"relative IRIs were resolved against file:///{name}, such as file:///{name}#x; give another base with --base"
    ]
    chosen = made(tmp_path / "three" / name, data, base="http://ex.org/d/e")
    assert facts(chosen) == [Triple("http://ex.org/d/e#x", "http://ex.org/p", "http://ex.org/d/b")]
    assert not any("relative" in note for note in reading(chosen)["notes"])


@pytest.mark.parametrize(
    "context", ['"https://schema.org"', '"http://schema.org/"', '["https://schema.org", {"x": "http://ex.org/x"}]']
)
def test_the_context_of_schema_org_is_its_vocabulary_and_told(tmp_path: Path, context: str) -> None:
    data = f'{{"@context": {context}, "@id": "http://ex.org/a", "name": "Soup", "x": "y"}}'
    made_ = made(tmp_path / "a.jsonld", data)
    assert ("http://ex.org/a", "Soup") in {(fact.subject, Literal(fact.object).lexical) for fact in facts(made_)} or (
        made_.meta.counts["labels"] == 1
    )
    assert any("the context of schema.org was read as its vocabulary alone" in note for note in reading(made_)["notes"])


def test_a_context_elsewhere_that_only_begins_so_is_refused(tmp_path: Path) -> None:
    for context in ("https://schema.org/docs/x.jsonld", "https://schema.organic/"):
        with pytest.raises(InputError, match="refers to a context elsewhere"):
            made(tmp_path / "a.jsonld", f'{{"@context": "{context}", "@id": "http://ex.org/a", "name": "Soup"}}')


def test_the_base_in_a_file_goes_before_the_given_one(tmp_path: Path) -> None:
    data = "@base <http://in.org/> . <a> <p> <b> ."
    assert facts(made(tmp_path / "a.ttl", data, base="http://ex.org/")) == [
        Triple("http://in.org/a", "http://in.org/p", "http://in.org/b")
    ]


def test_a_base_that_is_no_iri_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'x y' is no IRI"):
        made(tmp_path / "a.ttl", LINE, base="x y")


@pytest.mark.parametrize(("name", "kind"), [("a.nt", "ntriples"), ("a.nq", "nquads")])
def test_a_wrong_line_is_skipped_and_counted(tmp_path: Path, name: str, kind: str) -> None:
    built = made(tmp_path / name, LINE + "no triple\n" + LINE.replace("/b>", "/c d>") + LINE.replace("/b", "/c"))
    assert len(facts(built)) == 2
    [(reason, (count, place, _))] = reading(built)["skipped"].items()
    assert (reason, count, place) == (f"lines that are not {kind}", 2, f"{tmp_path / name}:2")
    with pytest.raises(InputError, match=rf"{name}:2: is not valid {kind}"):
        made(tmp_path / name, LINE + "no triple\n", strict=True)


def test_a_file_of_wrong_lines_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\.nt:1: is not valid ntriples.*2 rows, which are all"):
        made(tmp_path / "a.nt", "no triple\nat all\n")


@pytest.mark.parametrize(
    "text",
    [
        ":a :p :b {| :since 1999 |} .",
        ":a :p :b . :r rdf:reifies <<( :a :p :b )>> ; :since 1999 .",
        ":r :since 1999 ; rdf:reifies <<( :a :p :b )>> . :a :p :b .",
        ":a :p :b . << :a :p :b >> :since 1999 .",
        ":a :p :b . :r a rdf:Statement ; rdf:subject :a ; rdf:predicate :p ; rdf:object :b ; :since 1999 .",
    ],
)
def test_what_is_said_of_a_fact_becomes_its_qualifier(tmp_path: Path, text: str) -> None:
    graph = opened(made(tmp_path / "a.ttl", TURTLE + text))
    assert graph.match([Pattern()]) == [[FACT]]
    assert [list(row) for row in graph.qualifiers([FACT])] == [
        [("http://ex.org/since", Literal.make("1999", "http://www.w3.org/2001/XMLSchema#integer"))]
    ]


@pytest.mark.parametrize("prefixes", [{}, {"e": "http://ex.org/"}])
def test_a_statement_whose_fact_is_not_given_stays_as_it_is(tmp_path: Path, prefixes: dict[str, str]) -> None:
    data = TURTLE + ":r rdf:reifies <<( :a :p :b )>> ; :since 1999 ."
    built = made(tmp_path / "a.ttl", data, prefixes=prefixes)
    assert len(facts(built)) == 4
    assert built.meta.counts["qualifiers"] == 0


def test_a_triple_as_a_value_is_a_node_with_its_parts(tmp_path: Path) -> None:
    triples = facts(made(tmp_path / "a.ttl", TURTLE + ":x :says <<( :a :p <<( :b :q 7 )>> )>> ."))
    assert sorted(triple.relation.rpartition("#")[2] for triple in triples) == [
        "http://ex.org/says", "object", "object", "predicate", "predicate", "subject", "subject",
    ]  # fmt: skip
    [literal] = (triple.object for triple in triples if isinstance(triple.object, Literal))
    assert literal == Literal.make("7", "http://www.w3.org/2001/XMLSchema#integer")


def test_what_is_said_of_an_annotation_is_kept_with_what_it_says(tmp_path: Path) -> None:
    graph = opened(made(tmp_path / "a.ttl", TURTLE + ":a :p :b {| :by :c {| :since 1999 |} |} ."))
    [triples] = graph.match([Pattern()])
    [inner] = [triple for triple in triples if triple.relation == "http://ex.org/by"]
    assert FACT in triples
    since = ("http://ex.org/since", Literal.make("1999", "http://www.w3.org/2001/XMLSchema#integer"))
    assert [list(row) for row in graph.qualifiers([FACT, inner])] == [
        [("http://ex.org/by", "http://ex.org/c")],
        [since],
    ]


def test_a_statement_that_a_fact_refers_to_keeps_its_parts(tmp_path: Path) -> None:
    data = TURTLE + ":a :p :b . :x :says :r . :r rdf:subject :a ; rdf:predicate :p ; rdf:object :b ; :by :c ."
    graph = opened(made(tmp_path / "a.ttl", data))
    [triples] = graph.match([Pattern(subject="http://ex.org/r")])
    assert len(triples) == 4
    assert [list(row) for row in graph.qualifiers([FACT])] == [[("http://ex.org/by", "http://ex.org/c")]]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.nt", LINE.replace("<http://ex.org/b>", '"x"@ar--rtl')),
        ("a.ttl", TURTLE + ':r rdf:reifies <<( :a :p "x"@ar--rtl )>> .'),
        ("a.jsonld", '{"@id": "http://ex.org/a", "http://ex.org/p": {"@value": "x", "@direction": "rtl"}}'),
    ],
)
def test_a_direction_that_is_not_kept_is_told(tmp_path: Path, name: str, data: str) -> None:
    built = made(tmp_path / name, data)
    assert "the directions of texts (ltr, rtl) are not kept" in reading(built)["notes"]
    assert {fact.object.rpartition("@")[0] or fact.object for fact in facts(built)} >= {'"x"'}


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.ttl", "@base <http://ex.org/x/../y> . <b> <p> <c> ."),
        ("a.jsonld", '{"@context": {"@base": "http://ex.org/x/./y"}, "@id": "b", "http://ex.org/p": {"@id": "c"}}'),
    ],
)
def test_dots_that_a_base_leaves_in_iris_are_told(tmp_path: Path, name: str, data: str) -> None:
    assert [note for note in reading(made(tmp_path / name, data))["notes"] if note.startswith("IRIs with dots")]
    assert "dots" not in str(reading(made(tmp_path / "a.nt", LINE.replace("/b", "/x/../b")))["notes"])
    plain = data.replace("/x/../", "/").replace("/./", "/").replace("<c>", '"/../ and /./"')
    assert "dots" not in str(reading(made(tmp_path / name, plain))["notes"])


@pytest.mark.parametrize(
    "text", ['"x" @en', '"7"  ^^  <http://ex.org/t>', '"a\x0bb\x0c\x1c"', '"tab\there"', '"\x85\u2028"']
)
def test_a_line_of_n_quads_is_recognised_whatever_its_spaces(tmp_path: Path, text: str) -> None:
    data = f"<http://ex.org/a>  <http://ex.org/p>  {text}  <http://ex.org/g>  .\n"
    assert len(facts(made(tmp_path / "a.nq", data))) == 1


@pytest.mark.parametrize(
    ("context", "key"),
    [({}, "_:p"), ({"p": "_:p"}, "p"), ({"p": {"@id": "_:p"}}, "p"), ({"p": "_:p"}, "p:x"), ({"@vocab": "_:"}, "p")],
)
def test_keys_of_json_ld_that_are_blank_nodes_are_counted(tmp_path: Path, context: dict[str, Any], key: str) -> None:
    data = {"@context": {"q": "http://ex.org/p", **context}, "@id": "http://ex.org/a", "q": "x", key: ["y", "z"]}
    built = made(tmp_path / "a.jsonld", json.dumps(data, indent=0))
    assert facts(built) == [Triple("http://ex.org/a", "http://ex.org/p", Literal.make("x"))]
    assert [(reason, entry[0]) for reason, entry in reading(built)["skipped"].items()] == [
        ("keys that are blank nodes", 1)
    ]


def test_json_under_an_alias_of_value_has_no_keys_to_tell(tmp_path: Path) -> None:
    data = {
        "@context": {"@version": 1.1, "value": "@value"},
        "@id": "http://ex.org/a",
        "http://ex.org/p": {"@type": "@json", "value": {"lost": 1}},
    }
    built = made(tmp_path / "a.jsonld", json.dumps(data))
    assert len(facts(built)) == 1
    assert not reading(built)["skipped"]


def test_contexts_of_classes_in_maps_by_type_are_told(tmp_path: Path) -> None:
    terms: dict[str, Any] = {
        "@version": 1.1,
        "@vocab": "http://ex.org/",
        "p": {"@container": "@type"},
        "C": {"@context": {"q": "http://ex.org/other"}},
    }
    data = {"@context": terms, "@id": "http://ex.org/a", "p": {"C": {"q": "x"}}}
    notes = reading(made(tmp_path / "a.jsonld", json.dumps(data)))["notes"]
    assert [note for note in notes if note.startswith("in maps by type, the contexts of classes may not reach")]
    del terms["C"]["@context"]
    terms["C"]["@id"] = "http://ex.org/C"
    assert "contexts of classes" not in str(reading(made(tmp_path / "a.jsonld", json.dumps(data)))["notes"])


def test_keys_of_json_ld_that_nothing_defines_are_counted(tmp_path: Path) -> None:
    data = '{"@context": {"p": "http://ex.org/p"},\n"@id": "http://ex.org/a", "p": "x",\n"lost": {"p": "y", "gone": 1}}'
    [(reason, (count, place, _))] = reading(made(tmp_path / "a.jsonld", data))["skipped"].items()
    assert (reason, count, place) == ("keys without an IRI", 2, f"{tmp_path / 'a.jsonld'}:3")


@pytest.mark.parametrize("name", ["a.nt", "a.ttl", "a.rdf", "a.jsonld"])
def test_an_empty_file_has_no_triple(tmp_path: Path, name: str) -> None:
    built = made(tmp_path / name, "")
    assert built.meta.counts["triples"] == 0
    assert "has no triple" in reading(built)["notes"]
