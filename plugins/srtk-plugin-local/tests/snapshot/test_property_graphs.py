"""GraphML, GEXF, JSON-LD and named graphs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import networkx as nx
import pytest
from srtk_plugin_local.snapshot.build import Built, build
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.graph import LocalGraph
from srtk_plugin_local.snapshot.input_report import sentences
from srtk_plugin_local.snapshot.property_graphs.roles import relations

from srtk_framework.values import InputError, Literal, Pattern, Triple

EX = "http://example.org/"


def made(path: Path, **settings: object) -> tuple[Built, LocalGraph, list[tuple[str, ...]]]:
    built = build(BuildSettings((str(path),), **settings), path.parent / "out")  # type: ignore[arg-type]
    graph = LocalGraph(str(built.folder))
    graph.open()
    return built, graph, [tuple(triple) for triple in graph.match([Pattern()])[0]]


def people() -> nx.MultiDiGraph:
    graph = nx.MultiDiGraph()
    graph.add_node("a", label="Anna", born=1990, note="tall", senior=True)
    graph.add_node("b", label="Bert")
    graph.add_edge("a", "b", relation="knows", weight=0.5)
    graph.add_edge("a", "b", relation="likes", weight=1.5)
    return graph


@pytest.mark.parametrize("ending", ["graphml", "gexf"])
def test_nodes_give_labels_and_literals_and_edges_give_triples(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a.{ending}"
    getattr(nx, f"write_{ending}")(people(), path)
    _, graph, facts = made(path)
    assert facts == [
        ("a", "born", '"1990"^^xsd:integer'),
        ("a", "knows", "b"),
        ("a", "likes", "b"),
        ("a", "note", '"tall"'),
        ("a", "senior", '"true"^^xsd:boolean'),
    ]
    assert graph.labels(["a", "b"]) == ["Anna", "Bert"]
    assert graph.qualifiers([Triple("a", "knows", "b"), Triple("a", "likes", "b")]) == [
        (("weight", '"0.5"^^xsd:decimal'),),
        (("weight", '"1.5"^^xsd:decimal'),),
    ]


def test_edges_without_a_relation_are_called_edge_and_told(tmp_path: Path) -> None:
    graph = nx.Graph()
    graph.add_edge("a", "b", note="near")
    nx.write_graphml(graph, tmp_path / "a.graphml")
    built, _, facts = made(tmp_path / "a.graphml")
    assert facts == [("a", "edge", "b")]
    said = "\n".join(sentences(built.meta.build["reading"]))
    assert "1 edge names no relation; it is called 'edge'" in said
    assert "its edges have no direction" in said
    assert made(tmp_path / "a.graphml", columns=("source", "note", "target"))[2] == [("a", "near", "b")]


LAUGHS = '<!ENTITY l0 "ha">' + "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 11))


@pytest.mark.parametrize("ending", ["graphml", "gexf"])
def test_an_entity_that_expands_without_end_is_refused(tmp_path: Path, ending: str) -> None:
    (tmp_path / f"a.{ending}").write_text(f"<!DOCTYPE a [{LAUGHS}]><{ending}>&l10;</{ending}>")
    with pytest.raises(InputError, match=rf"a\.{ending}:1: the entity 'l\d+' stands for"):
        made(tmp_path / f"a.{ending}")


@pytest.mark.parametrize(("content", "place"), [("<graphml>\n<graph>", ":2"), ("<html/>", ""), ("", "")])
@pytest.mark.parametrize("ending", ["graphml", "gexf"])
def test_a_file_of_another_kind_is_refused_with_its_name(tmp_path: Path, ending: str, content: str, place: str) -> None:
    (tmp_path / f"a.{ending}").write_text(content)
    with pytest.raises(InputError, match=rf"a\.{ending}{place}"):
        made(tmp_path / f"a.{ending}")


def test_a_graph_that_memory_does_not_hold_is_refused_before_it_is_read(tmp_path: Path) -> None:
    nx.write_graphml(people(), tmp_path / "a.graphml")
    with (tmp_path / "a.graphml").open("a") as file:
        file.write(" " * 6_000_000)
    with pytest.raises(InputError, match=r"a\.graphml: is larger than 5 MB, .* give more with --memory"):
        made(tmp_path / "a.graphml", memory="100MB")


def test_json_ld_is_read_with_its_own_context(tmp_path: Path) -> None:
    (tmp_path / "a.jsonld").write_text(
        f'{{"@context": {{"@vocab": "{EX}"}}, "@id": "{EX}a", "knows": {{"@id": "{EX}b"}}, "age": 7}}'
    )
    assert made(tmp_path / "a.jsonld", prefixes={"": EX})[2] == [("a", "age", '"7"^^xsd:integer'), ("a", "knows", "b")]


def test_a_context_elsewhere_is_not_fetched(tmp_path: Path) -> None:
    (tmp_path / "a.jsonld").write_text(f'{{"@context": "{EX}context", "@id": "{EX}a", "name": "A"}}')
    with pytest.raises(InputError, match=r"a\.jsonld: refers to a context elsewhere, which is not fetched"):
        made(tmp_path / "a.jsonld")


def test_json_is_refused_with_the_format_of_json_ld(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{}")
    with pytest.raises(InputError, match="give --format jsonld if it is JSON-LD"):
        made(tmp_path / "a.json")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.nq", f"<{EX}a> <{EX}b> <{EX}c> <{EX}g> .\n<{EX}a> <{EX}b> <{EX}d> <{EX}h> .\n<{EX}a> <{EX}b> <{EX}e> .\n"),
        ("a.trig", f"@prefix : <{EX}> . :g {{ :a :b :c }} :h {{ :a :b :d }} :a :b :e ."),
    ],
)
def test_named_graphs_are_merged_and_told(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    built, _, facts = made(tmp_path / name, prefixes={"": EX})
    assert facts == [("a", "b", "c"), ("a", "b", "d"), ("a", "b", "e")]
    said = list(sentences(built.meta.build["reading"]))
    assert said == [f"{tmp_path / name}: 2 named graphs were merged into one; their names are not kept"]


def test_a_relation_that_hardly_repeats_has_forty_letters_at_most() -> None:
    for size, found in ((40, ["predicate"]), (41, [])):
        values = Counter({letter * size: 1 for letter in "xyz"})
        assert relations({"predicate": values}, 3) == (found, "")


@pytest.mark.parametrize(("literals", "kind"), [("typed", Literal), ("none", str)])
def test_values_of_edges_are_literals_unless_there_are_none(tmp_path: Path, literals: str, kind: type[str]) -> None:
    nx.write_graphml(people(), tmp_path / "a.graphml")
    _, graph, _ = made(tmp_path / "a.graphml", literals=literals)
    [[(name, value)]] = graph.qualifiers([Triple("a", "knows", "b")])
    assert (name, type(value)) == ("weight", kind)


@pytest.mark.parametrize(("content", "is_empty"), [("", True), ('<node id="a"/>', False)])
def test_only_a_graph_without_nodes_is_empty(tmp_path: Path, content: str, is_empty: bool) -> None:
    (tmp_path / "a.graphml").write_text(f"<graphml><graph>{content}</graph></graphml>")
    built, _, facts = made(tmp_path / "a.graphml")
    [report] = built.meta.build["reading"]
    assert facts == []
    assert ("is empty" in report["notes"], "empty files" in report["skipped"]) == (is_empty, is_empty)
