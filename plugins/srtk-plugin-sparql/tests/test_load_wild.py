"""``srtk graph load`` of RDF as it is in the wild: encodings, entities, wrong lines, JSON-LD and relative IRIs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import attrs
import pytest
from srtk_plugin_sparql.commands.load import load
from srtk_plugin_sparql.graph import SparqlGraph
from srtk_plugin_sparql.store import META, read_meta

from srtk_framework.values import InputError, Pattern, Step

pytest.importorskip("srtk_plugin_local", reason="srtk-plugin-local reads the files; it is not installed")

XML = (
    '<?xml version="1.0" encoding="{0}"?>\n<!DOCTYPE r [<!ENTITY e \'http://e.org/\'>]>\n'
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e.org/">'
    '<rdf:Description rdf:about="&e;a"><e:r>é</e:r></rdf:Description></rdf:RDF>'
)
LINE = '<http://e.org/a> <http://e.org/r> "é" .\n'
KEYS = '{"@context": {"r": "http://e.org/r"}, "@id": "a", "r": "é", "lost": 1}'


@pytest.mark.parametrize(
    ("name", "data", "base"),
    [
        ("mark.nt", b"\xef\xbb\xbf" + LINE.encode(), None),
        ("two_bytes.nt", LINE.encode("utf-16"), None),
        ("latin.rdf", XML.format("ISO-8859-1").encode("latin-1"), None),
        ("two_bytes.rdf", XML.format("UTF-16").encode("utf-16"), None),
        ("wrong_line.nt", f"{LINE}wrong\n".encode(), None),
        ("keys.jsonld", KEYS.encode(), "http://e.org/"),
        ("named_otherwise.csv", f"@prefix e: <http://e.org/> .\n{LINE}".encode(), None),
    ],
)
def test_the_triple_is_read_however_it_is_written(tmp_path: Path, name: str, data: bytes, base: str | None) -> None:
    (tmp_path / name).write_bytes(data)
    load([tmp_path / name], tmp_path / "store", base=base)
    graph = SparqlGraph(str(tmp_path / "store"))
    graph.open()
    with closing(graph):
        [[found]] = graph.match([Pattern("http://e.org/a")])
    assert (found.relation, found.object) == ("http://e.org/r", '"é"')


def test_what_was_skipped_is_kept_in_the_store_and_an_error_where_it_is_strict(tmp_path: Path) -> None:
    (tmp_path / "a.nt").write_text(f"{LINE}wrong\n", encoding="utf-8")
    load([tmp_path / "a.nt"], tmp_path / "store")
    assert (tmp_path / "store" / META).is_file()
    [report] = read_meta(tmp_path / "store").reading
    assert report["skipped"]["lines that are not ntriples"][0] == 1
    with pytest.raises(InputError, match=r"a\.nt:2"):
        load([tmp_path / "a.nt"], tmp_path / "store", strict=True)


BLANKS = "\u00a0\u1680\u2000\u2003\u2009\u200b\u200e\u2028\u2029\u202e\u202f\u205f\u2060\u3000\ufeff"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"


def in_both(folder: Path, text: str, name: str, ask: Callable[[Any], object]) -> tuple[object, object]:
    """Ask a snapshot and an embedded store of the same file; a file that only the snapshot reads is asked there."""
    from srtk_plugin_local.snapshot.build import build
    from srtk_plugin_local.snapshot.build_settings import BuildSettings
    from srtk_plugin_local.snapshot.graph import LocalGraph

    (folder / name).write_text(text, encoding="utf-8")
    build(BuildSettings(files=(str(folder / name),)), folder / "snapshot")
    graphs: list[Any] = [LocalGraph(str(folder / "snapshot"))]
    if not name.endswith("sv"):
        load([folder / name], folder / "store")
        graphs.append(SparqlGraph(str(folder / "store")))
    answers = []
    for graph in graphs:
        graph.open()
        with closing(graph):
            answers.append(ask(graph))
    return answers[0], answers[-1]


@pytest.mark.parametrize("name", ["a.nt", "a.ttl", "a.tsv", "a.csv"])
def test_a_blank_that_an_iri_may_hold_stays_in_it_in_every_format_and_engine(tmp_path: Path, name: str) -> None:
    nodes = [f"http://e.org/a{blank}b" for blank in BLANKS]
    rows = [(node, f"http://e.org/r{blank}s", "http://e.org/c") for node, blank in zip(nodes, BLANKS, strict=True)]
    if name.endswith("sv"):
        mark = "," if name == "a.csv" else "\t"
        text = mark.join(("subject", "relation", "object")) + "\n" + "".join(f"{mark.join(row)}\n" for row in rows)
    else:
        text = "".join(f"<{s}> <{r}> <{o}> .\n" for s, r, o in rows)

    def ask(graph: Any) -> object:
        frontiers = graph.frontiers([[node] for node in nodes])
        steps = [Step(relation) for _, relation, _ in rows]
        found = [list(triples) for triples in graph.match([Pattern(node) for node in nodes])]
        return found, [list(triples) for triples in graph.triples(frontiers, steps, None)], graph.degrees(nodes)

    one, other = in_both(tmp_path, text, name, ask)
    assert one == other == ([[row] for row in rows], [[row] for row in rows], [1] * len(rows))


@pytest.mark.parametrize("letter", ["\x85", "\x9f", "\ue000", "\U0001ffff"])
def test_a_letter_that_no_iri_may_hold_is_refused_with_its_line_by_every_engine(tmp_path: Path, letter: str) -> None:
    (tmp_path / "a.ttl").write_text(f"<http://e.org/a{letter}b> <http://e.org/r> 1 .\n", encoding="utf-8")
    from srtk_plugin_local.snapshot.build import build
    from srtk_plugin_local.snapshot.build_settings import BuildSettings

    ways: list[Callable[[], object]] = [
        lambda: build(BuildSettings(files=(str(tmp_path / "a.ttl"),)), tmp_path / "snapshot"),
        lambda: load([tmp_path / "a.ttl"], tmp_path / "store"),
    ]
    for way in ways:
        with pytest.raises(InputError, match=r"a\.ttl:1: is not valid turtle: .*Invalid IRI code point"):
            way()


def test_a_node_that_only_has_names_is_no_node_of_a_snapshot_nor_of_a_store(tmp_path: Path) -> None:
    other = "http://www.w3.org/2004/02/skos/core#altLabel"
    text = (
        "<http://e.org/a> <http://e.org/knows> <http://e.org/b> .\n<http://e.org/a> <http://e.org/age> 7 .\n"
        f'<http://e.org/a> <{LABEL}> "Ann" .\n<http://e.org/b> <{LABEL}> "Bob" .\n'
        f'<http://e.org/knows> <{LABEL}> "is acquainted with" .\n'
        f'<http://e.org/lone> <{LABEL}> "Lone" .\n<http://e.org/one> <{other}> "Alone" .\n'
    )
    ids = [f"http://e.org/{name}" for name in ("a", "b", "knows", "lone", "one", "nobody")]

    def ask(graph: Any) -> object:
        found = graph.find(["Ann", "Bob", "Lone", "Alone", "lone", "is acquainted with"])
        sizes = [frontier.size for frontier in graph.frontiers([[id_] for id_ in ids])]
        return [list(some) for some in found], list(graph.labels(ids)), sizes, list(graph.degrees(ids))

    one, other_answer = in_both(tmp_path, text, "a.ttl", ask)
    assert one == other_answer
    assert one == (
        [[ids[0]], [ids[1]], [], [], [], []],
        ["Ann", "Bob", "is acquainted with", "lone", "one", "nobody"],
        [1, 1, 0, 0, 0, 0],
        [2, 1, 0, 0, 0, 0],
    )


def test_a_literal_that_the_parser_cannot_hold_is_counted_and_all_else_is_loaded(tmp_path: Path) -> None:
    start = '[] <http://e.org/r> [ <http://e.org/q> "first" ] .\n'
    end = '[] <http://e.org/r> "last" .\n'
    (tmp_path / "a.ttl").write_text(f'{start}<http://e.org/a> <http://e.org/r> "{"x" * (17 << 20)}" .\n{end}', "utf-8")
    made = load([tmp_path / "a.ttl"], tmp_path / "store")
    [report] = made.reading
    assert report["skipped"]["literals above 16 MB"][0] == 1
    assert report["rows"] == made.triples == 3


TURTLE = """@prefix e: <http://e.org/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
e:a e:p [ e:q "one"@en, "two\\"@en", "three\\n", 4, "5"^^e:unit, "2026-01-02"^^xsd:date,
  "6"^^<http://e.org/a\u00a0b> ], <relative>, _:named .
_:named e:r <<( e:a e:p e:b )>> .
"""


@pytest.mark.parametrize(
    ("name", "text"), [("a.ttl", TURTLE), ("a.trig", "<http://e.org/g> { <http://e.org/a> <http://e.org/p> (1 2) }")]
)
def test_a_store_has_the_triples_of_the_parser_whether_it_works_in_this_process_or_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    import pyoxigraph as ox
    from srtk_plugin_local.snapshot import parser_process

    (tmp_path / name).write_text(text, "utf-8")
    here = load([tmp_path / name], tmp_path / "here")
    monkeypatch.setattr(parser_process, "SMALL", 0)
    assert load([tmp_path / name], tmp_path / "apart") == attrs.evolve(here, files=ANY)
    loaded = {
        str(quad.object)
        for quad in ox.Store.read_only(str(tmp_path / "here" / "store"))
        if isinstance(quad.object, ox.Literal)
    }
    parsed = ox.parse(text, format=ox.RdfFormat.TRIG, base_iri="http://e.org/")
    assert loaded == {str(quad.object) for quad in parsed if isinstance(quad.object, ox.Literal)}


def test_a_file_that_ends_its_parser_is_refused_and_the_command_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from srtk_framework.cli import main

    nested = "<<(<p:a> <p:b> " * 50_000 + "<p:c>" + ")>>" * 50_000
    (tmp_path / "deep.ttl").write_text(f"<http://e.org/a> <http://e.org/p> {nested} .", "utf-8")
    assert main(["graph", "load", "--out", str(tmp_path / "store"), str(tmp_path / "deep.ttl")]) == 2
    assert "ends its parser" in capsys.readouterr().err
    (tmp_path / "long.ttl").write_text("<http://e.org/a> <http://e.org/p> " + "(" * 4_000_000, "utf-8")
    with pytest.raises(InputError, match=r"long\.ttl: needs more than 50 MB to be parsed, .*; give more with --memory"):
        load([tmp_path / "long.ttl"], tmp_path / "store", memory="100MB")
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("memory", ["much", "1", "1.2.3GB", "50%", "1 stone"])
def test_a_memory_that_is_no_amount_is_refused(tmp_path: Path, memory: str) -> None:
    (tmp_path / "a.nt").write_text(LINE, encoding="utf-8")
    with pytest.raises(InputError, match="is not an amount of memory; write one like 1GB or 500MB"):
        load([tmp_path / "a.nt"], tmp_path / "store", memory=memory)
