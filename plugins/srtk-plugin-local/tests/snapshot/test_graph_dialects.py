"""GraphML and GEXF as programs write them, read alike, and as networkx graphs are read."""

from __future__ import annotations

import os
import random
from collections.abc import Mapping
from pathlib import Path

import networkx as nx
import pytest
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_local.snapshot.build import build
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.graph import LocalGraph
from srtk_plugin_local.snapshot.input_report import sentences

from srtk_framework.values import InputError, Pattern, Triple

DATA = Path(os.environ.get("SRTK_DATA", Path(__file__).parents[4] / "../shared/data")) / "public_graphs"

Qualifiers = Mapping[tuple[str, ...], tuple[tuple[str, str], ...]]


def made(path: Path, **settings: object) -> tuple[LocalGraph, list[tuple[str, ...]], Qualifiers, str]:
    """Build a file; return its graph, facts, qualifiers by fact, and what was reported."""
    built = build(BuildSettings((str(path),), **settings), path.parent / "out")  # type: ignore[arg-type]
    graph = LocalGraph(str(built.folder))
    graph.open()
    triples = graph.match([Pattern()])[0]
    rows = graph.qualifiers(triples)
    qualifiers = {tuple(triple): row for triple, row in zip(triples, rows, strict=True) if row}
    report = "\n".join(sentences(built.meta.build["reading"])).replace(str(path), path.name)
    return graph, [tuple(triple) for triple in triples], qualifiers, report


def graphml(folder: Path, keys: str, body: str, root: str = "", edges: str = "directed") -> Path:
    """Write a GraphML file; keys are such as ``d0=node name string``, separated by commas."""
    lines = []
    for key in filter(None, keys.split(",")):
        id_, _, rest = key.strip().partition("=")
        owner, name, kind = rest.split()
        lines.append(f'<key id="{id_}" for="{owner}" attr.name="{name}" attr.type="{kind}"/>')
    path = folder / "a.graphml"
    path.write_text(f'<graphml{root}>{"".join(lines)}<graph edgedefault="{edges}">\n{body}\n</graph></graphml>')
    return path


def gexf(folder: Path, body: str, root: str = "", graph: str = ' defaultedgetype="directed"') -> Path:
    path = folder / "a.gexf"
    path.write_text(f"<gexf{root}><graph{graph}>\n{body}\n</graph></gexf>")
    return path


NAMED = '<node id="1"><data key="n">Ada</data></node><node id="2"><data key="n">Mill</data></node>'


@pytest.mark.parametrize(
    "root",
    [
        "",
        ' xmlns="http://graphml.graphdrawing.org/xmlns"',
        ' xmlns="https://graphml.graphdrawing.org/xmlns/graphml"',
        ' xmlns="http://www.graphdrawing.org/xmlns"',
    ],
)
def test_graphml_is_read_whatever_its_namespace(tmp_path: Path, root: str) -> None:
    body = NAMED + '<edge source="1" target="2"><data key="e">founded</data></edge>'
    graph, facts, _, _ = made(graphml(tmp_path, "n=node name string, e=edge labelE string", body, root))
    assert facts == [("1", "founded", "2")]
    assert graph.labels(["1", "2"]) == ["Ada", "Mill"]


def test_elements_may_have_a_prefix(tmp_path: Path) -> None:
    (tmp_path / "a.graphml").write_text(
        '<ns0:graphml xmlns:ns0="http://graphml.graphdrawing.org/xmlns"><ns0:graph edgedefault="directed">'
        '<ns0:node id="Ada"/><ns0:edge source="Ada" target="Bo"/></ns0:graph></ns0:graphml>'
    )
    assert made(tmp_path / "a.graphml")[1] == [("Ada", "edge", "Bo")]


@pytest.mark.parametrize("version", ["1.1draft", "1.2draft", "1.3"])
@pytest.mark.parametrize("place", ["http://www.gexf.net/", "http://gexf.net/", "https://gexf.net/", ""])
def test_gexf_is_read_whatever_its_namespace(tmp_path: Path, place: str, version: str) -> None:
    root = f' xmlns="{place}{version}" version="{version}"' if place else ""
    body = (
        '<nodes><node id="1" label="Ada"><viz:size value="3"/></node><node id="2" label="Mill"/></nodes>'
        '<edges><edge id="0" source="1" target="2" label="founded"/></edges>'
    )
    graph, facts, _, _ = made(gexf(tmp_path, body, root))
    assert facts == [("1", "founded", "2")]
    assert graph.labels(["1", "2"]) == ["Ada", "Mill"]


def test_defaults_of_keys_hold_for_nodes_and_edges_without_a_value(tmp_path: Path) -> None:
    (tmp_path / "a.graphml").write_text(
        '<graphml><key id="r" for="edge" attr.name="relation"><default>knows</default></key>'
        '<key id="c" for="node" attr.name="town"><default>Riga</default></key><graph edgedefault="directed">'
        '<node id="Ada"/><node id="Bo"><data key="c">Oslo</data></node><edge source="Ada" target="Bo"/>'
        '<edge source="Bo" target="Ada"><data key="r">likes</data></edge></graph></graphml>'
    )
    assert made(tmp_path / "a.graphml")[1] == [
        ("Ada", "knows", "Bo"),
        ("Ada", "town", '"Riga"'),
        ("Bo", "likes", "Ada"),
        ("Bo", "town", '"Oslo"'),
    ]


def test_a_bad_value_is_not_replaced_by_the_default(tmp_path: Path) -> None:
    (tmp_path / "a.graphml").write_text(
        '<graphml><key id="a" for="node" attr.name="age" attr.type="int"><default>7</default></key>'
        '<graph edgedefault="directed"><node id="Ada"><data key="a">old</data></node><node id="Bo"/></graph></graphml>'
    )
    assert made(tmp_path / "a.graphml")[1] == [("Bo", "age", '"7"^^xsd:integer')]


def test_a_text_that_is_a_list_has_several_values(tmp_path: Path) -> None:
    body = (
        '<node id="Ada"><data key="d">[&quot;maths&quot;, &quot;poems&quot;]</data></node>'
        '<node id="Bo"><data key="d">tall&lt;SEP&gt;calm</data></node><node id="Cy"><data key="d">["x"</data></node>'
    )
    assert [fact[2] for fact in made(graphml(tmp_path, "d=node traits string", body))[1]] == [
        '"maths"',
        '"poems"',
        '"calm"',
        '"tall"',
        '"["x""',
    ]


def test_several_graphs_are_one_and_a_node_of_two_is_one(tmp_path: Path) -> None:
    second = '</graph><graph edgedefault="undirected"><node id="Ada"/><node id="Cy"/><edge source="Ada" target="Cy"/>'
    body = '<node id="Ada"/><node id="Bo"/><edge source="Ada" target="Bo"/>' + second
    graph, facts, _, report = made(graphml(tmp_path, "", body))
    assert (facts, graph.schema().symmetric) == (
        [("Ada", "edge", "Bo"), ("Ada", "edge", "Cy"), ("Cy", "edge", "Ada")],
        (),
    )
    assert "1 edge without direction was read in both directions, as others of their relation have one" in report
    assert "its 2 graphs were read as one" in report
    assert "1 node comes again in another graph; nodes with the same id are one" in report
    assert "1 edge has no direction" in report


def test_a_node_in_a_group_is_part_of_it_and_drawn_texts_are_names(tmp_path: Path) -> None:
    (tmp_path / "a.graphml").write_text(
        '<graphml><key id="d6" for="node" yfiles.type="nodegraphics"/><key id="d9" for="edge" '
        'yfiles.type="edgegraphics"/><graph edgedefault="directed"><node id="n0" yfiles.foldertype="group">'
        '<data key="d6"><y:ProxyAutoBoundsNode><y:Realizers active="1"><y:GroupNode><y:NodeLabel>Open</y:NodeLabel>'
        "</y:GroupNode><y:GroupNode><y:Geometry x='1'/><y:NodeLabel>Board<y:LabelModel/></y:NodeLabel></y:GroupNode>"
        '</y:Realizers></y:ProxyAutoBoundsNode></data><graph id="n0:" edgedefault="directed"><node id="n0::n0">'
        '<data key="d6"><y:ShapeNode><y:NodeLabel>Ada\nLovelace</y:NodeLabel></y:ShapeNode></data></node>'
        "</graph></node>"
        '<node id="n1"><data key="d6"><y:ShapeNode><y:NodeLabel>&lt;html&gt;&lt;b&gt;Mill&lt;/b&gt;</y:NodeLabel>'
        '</y:ShapeNode></data></node><edge id="e0" source="n0::n0" target="n1"><data key="d9"><y:PolyLineEdge>'
        "<y:EdgeLabel>founded<y:LabelModel/></y:EdgeLabel></y:PolyLineEdge></data></edge></graph></graphml>"
    )
    graph, facts, _, report = made(tmp_path / "a.graphml")
    assert facts == [("n0::n0", "founded", "n1"), ("n0::n0", "part of", "n0")]
    assert graph.labels(["n0", "n0::n0", "n1"]) == ["Board", "Ada Lovelace", "Mill"]
    assert "1 node is nested in groups" in report


@pytest.mark.parametrize(
    "nodes",
    [
        '<node id="g" label="Board"><nodes><node id="a" label="Ada"/></nodes></node>',
        '<node id="g" label="Board"/><node id="a" label="Ada" pid="g"/>',
        '<node id="a" label="Ada"><parents><parent for="g"/></parents></node><node id="g" label="Board"/>',
    ],
)
def test_a_nested_node_of_gexf_is_part_of_its_group(tmp_path: Path, nodes: str) -> None:
    assert made(gexf(tmp_path, f"<nodes>{nodes}</nodes>"))[1] == [("a", "part of", "g")]


def test_hyperedges_are_counted_and_ports_are_no_nodes(tmp_path: Path) -> None:
    body = (
        '<node id="Ada"><port name="p"><data key="x">1</data></port></node><node id="Bo"/>'
        '<hyperedge><endpoint node="Ada"/><endpoint node="Bo"/></hyperedge>'
        '<edge source="Ada" target="Bo" sourceport="p"/>'
    )
    _, facts, _, report = made(graphml(tmp_path, "", body))
    assert facts == [("Ada", "edge", "Bo")]
    assert "skipped 1 hyperedge, in 2" in report


@pytest.mark.parametrize("name", ["labelE", "label", "Edge_Label", "relation", "type", "kind", "interaction"])
def test_an_edge_is_named_by_its_word(tmp_path: Path, name: str) -> None:
    body = '<edge source="Ada" target="Bo"><data key="e">knows</data></edge>'
    assert made(graphml(tmp_path, f"e=edge {name} string", body))[1] == [("Ada", "knows", "Bo")]


def test_the_attributes_of_an_element_are_properties_too(tmp_path: Path) -> None:
    body = '<node id="n1" labels=":Person:Poet"/><edge id="e0" source="n1" target="n2" label="ACTED_IN"/>'
    assert made(graphml(tmp_path, "", body))[1] == [
        ("n1", "ACTED_IN", "n2"),
        ("n1", "rdf:type", "Person"),
        ("n1", "rdf:type", "Poet"),
    ]


def test_a_text_of_its_own_on_each_edge_is_a_qualifier(tmp_path: Path) -> None:
    body = "".join(
        f'<edge source="a{n}" target="b{n}"><data key="e">In {1900 + n} they met at a fair in town {n}.</data></edge>'
        for n in range(5)
    )
    _, facts, qualifiers, report = made(graphml(tmp_path, "e=edge label string", body))
    assert {relation for _, relation, _ in facts} == {"edge"}
    assert qualifiers["a1", "edge", "b1"] == (("description", '"In 1901 they met at a fair in town 1."'),)
    assert "5 edges name no relation" in report


def test_a_word_of_one_character_is_a_relation(tmp_path: Path) -> None:
    body = '<nodes/><edges><edge source="Ada" target="Bo" label="母"/></edges>'
    assert made(gexf(tmp_path, body))[1] == [("Ada", "母", "Bo")]


def test_numbers_and_directions_are_no_relations(tmp_path: Path) -> None:
    body = '<edge source="a" target="b"><data key="t">Directed</data><data key="l">7</data></edge>'
    keys = "t=edge Type string, l=edge label string"
    _, facts, qualifiers, _ = made(graphml(tmp_path, keys, body))
    assert facts == [("a", "edge", "b")]
    assert qualifiers == {("a", "edge", "b"): (("label", '"7"'),)}


def test_keywords_are_the_relation_where_there_is_no_other(tmp_path: Path) -> None:
    body = (
        '<edge source="Ada" target="Mill"><data key="k">founding, company</data><data key="d">Ada founded Mill in a '
        'town by the sea.</data><data key="w">1.0</data><data key="f">a.pdf</data></edge>'
    )
    keys = "k=edge keywords string, d=edge description string, w=edge weight double, f=edge file_path string"
    graph, facts, qualifiers, report = made(graphml(tmp_path, keys, body, edges="undirected"))
    assert facts == [("Ada", "founding, company", "Mill")]
    assert graph.schema().symmetric == ("founding, company",)
    assert list(qualifiers.values()) == [(("description", '"Ada founded Mill in a town by the sea."'),)]
    assert "the relation of an edge is its property 'keywords'; --columns source,NAME,target names another" in report
    assert "the weight of all edges is 1.0; it was left out (--keep NAME,... reads it)" in report
    assert "left out as bookkeeping: file_path; --keep NAME,... reads them" in report


def test_a_property_with_few_values_is_the_relation_where_none_is_named(tmp_path: Path) -> None:
    body = "".join(
        f'<edge source="a{n}" target="b{n}"><data key="d">{("ally", "foe")[n % 2]}</data></edge>' for n in range(8)
    )
    _, facts, _, report = made(graphml(tmp_path, "d=edge dealing string", body))
    assert {relation for _, relation, _ in facts} == {"ally", "foe"}
    assert "the relation of an edge is its property 'dealing', which has few values" in report


def test_two_properties_with_few_values_are_doubtful_and_reported(tmp_path: Path) -> None:
    body = "".join(
        f'<edge source="a{n}" target="b{n}"><data key="d">{("ally", "foe")[n % 2]}</data>'
        f'<data key="c">{("east", "west")[n % 2]}</data></edge>'
        for n in range(8)
    )
    path = graphml(tmp_path, "d=edge dealing string, c=edge coast string", body)
    _, facts, _, report = made(path)
    assert {relation for _, relation, _ in facts} == {"edge"}
    assert "one of their properties ['dealing', 'coast'] may be it; --columns source,NAME,target" in report
    assert {fact[1] for fact in made(path, columns=("source", "coast", "target"))[1]} == {"east", "west"}


def test_the_type_of_a_node_is_an_entity_with_a_name(tmp_path: Path) -> None:
    body = "".join(
        f'<node id="{n}"><data key="v">{kind}</data><data key="n">{name}</data></node>'
        for n, (kind, name) in enumerate([("person", "Ada"), ("firm", "Mill")])
    )
    graph, facts, _, _ = made(graphml(tmp_path, "v=node labelV string, n=node name string", body))
    assert facts == [("0", "rdf:type", "person"), ("1", "rdf:type", "firm")]
    assert graph.find(["firm"]) == [["firm"]]


def test_a_label_that_many_nodes_share_is_their_type(tmp_path: Path) -> None:
    body = "".join(
        f'<node id="{name}"><data key="l">{kind}</data></node>'
        for name, kind in [("Ada", "Person"), ("Bo", "Person"), ("Mill", "Firm"), ("Loom", "Firm")]
    )
    graph, facts, _, report = made(graphml(tmp_path, "l=node label string", body))
    assert facts[0] == ("Ada", "rdf:type", "Person")
    assert graph.labels(["Ada"]) == ["Ada"]
    assert "the label of nodes is their type, since many nodes have the same" in report


def test_a_label_that_nodes_share_names_them_where_ids_are_codes(tmp_path: Path) -> None:
    body = "".join(
        f'<node id="n{n}"><data key="l">{label}</data></node>' for n, label in enumerate(["yes", "no", "yes", "no"])
    )
    graph = made(graphml(tmp_path, "l=node label string", body + '<edge source="n0" target="n1"/>'))[0]
    assert graph.labels(["n0", "n1"]) == ["yes", "no"]


def test_types_that_say_nothing_and_words_for_missing_values_are_left_out(tmp_path: Path) -> None:
    body = (
        '<node id="n1"><data key="v">vertex</data><data key="n">None</data><data key="t">NULL</data></node>'
        '<node id="n2"><data key="v">vertex</data><data key="t">Riga</data></node>'
        '<edge source="n1" target="n2"><data key="r">nan</data></edge>'
    )
    keys = "v=node labelV string, n=node name string, t=node town string, r=edge relation string"
    graph, facts, _, report = made(graphml(tmp_path, keys, body))
    assert facts == [("n1", "edge", "n2"), ("n2", "town", '"Riga"')]
    assert graph.labels(["n1"]) == ["None"]
    assert "the labelV of nodes says nothing; it was left out" in report
    assert "2 values such as null were left out as empty" in report
    one = '<node id="n1"><data key="t">NULL</data></node><node id="n2"><data key="t">Riga</data></node>'
    assert "1 value such as null was left out as empty" in made(graphml(tmp_path, keys, one))[3]


def test_ids_of_rows_are_bookkeeping_and_lists_have_several_values(tmp_path: Path) -> None:
    (tmp_path / "a.graphml").write_text(
        '<graphml><key id="u" for="node" attr.name="origin" attr.type="string"/><key id="s" for="node" '
        'attr.name="skills" attr.type="string" attr.list="string"/><graph edgedefault="directed"><node id="Ada">'
        '<data key="u">0b1c2d3e-0000-4000-8000-00000000000a</data><data key="s">["maths","poems"]</data></node>'
        "</graph></graphml>"
    )
    _, facts, _, report = made(tmp_path / "a.graphml")
    assert facts == [("Ada", "skills", '"maths"'), ("Ada", "skills", '"poems"')]
    assert "left out as bookkeeping: origin" in report


def test_ids_that_are_properties_too_are_no_facts(tmp_path: Path) -> None:
    body = '<node id="1"><data key="i">1</data></node><edge source="1" target="2"><data key="e">1-2</data></edge>'
    _, facts, qualifiers, report = made(graphml(tmp_path, "i=node node_id string, e=edge id string", body))
    assert facts == [("1", "edge", "2")]
    assert not qualifiers
    assert "the id of edges numbers them; it was left out" in report


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_elements_changes_no_fact(tmp_path: Path, seed: int) -> None:
    order = random.Random(seed)
    nodes, edges = list(drawn().nodes(data=True)), list(drawn().edges(keys=True, data=True))
    hashes = []
    for place in range(2):
        graph = nx.MultiDiGraph()
        graph.add_nodes_from(nodes)
        graph.add_edges_from(edges)
        nx.write_graphml(graph, tmp_path / f"{place}.graphml")
        hashes.append(build(BuildSettings((str(tmp_path / f"{place}.graphml"),)), tmp_path / str(place)).meta.content)
        order.shuffle(nodes)
        order.shuffle(edges)
    assert hashes[0] == hashes[1]


def test_nodes_without_a_name_are_found_by_ids_that_are_words(tmp_path: Path) -> None:
    body = '<node id="n1"><data key="n">Ada</data></node><edge source="n1" target="Grey_Mill"/>'
    graph = made(graphml(tmp_path, "n=node name string", body))[0]
    assert graph.find(["grey mill"]) == [["Grey_Mill"]]


def test_a_cell_that_is_not_of_its_type_is_skipped_and_counted(tmp_path: Path) -> None:
    body = (
        '<node id="Ada"><data key="a">many</data><data key="b">  true   </data><data key="d">1815-12-10</data></node>'
        '\n<node id="Bo"><data key="a">7</data><data key="b">maybe</data></node>'
    )
    path = graphml(tmp_path, "a=node age int, b=node tall boolean, d=node born date", body)
    _, facts, _, report = made(path)
    assert facts == [
        ("Ada", "born", '"1815-12-10"'),
        ("Ada", "tall", '"true"^^xsd:boolean'),
        ("Bo", "age", '"7"^^xsd:integer'),
    ]
    assert "skipped 2 cells of another type, the first in 2" in report
    assert "the type 'date' of 'born' is not known; its values were read as texts" in report
    with pytest.raises(InputError, match=r"a\.graphml:2: 'many' in 'age' is not of the type int"):
        made(path, strict=True)


def test_values_of_gexf_have_defaults_lists_and_times(tmp_path: Path) -> None:
    body = (
        '<attributes class="node"><attribute id="0" title="town" type="string"><default>Riga</default><options>Riga|'
        'Oslo</options></attribute><attribute id="1" title="skills" type="liststring"/><attribute id="2" title="size of'
        ' shoe" type="double"/></attributes><nodes><node id="1" label="Ada" start="1815"><attvalues>'
        '<attvalue id="1" value="[maths, poems]"/><attvalue for="2" value="null"/></attvalues></node>'
        '<node id="2" label="Bo"><attvalues><attvalue for="0" value="Oslo"/></attvalues></node></nodes><edges>'
        '<edge id="7" source="1" target="2" kind="knows" weight="2.5" start="1830-01-01"><spells><spell end="1840"/>'
        "</spells></edge></edges>"
    )
    _, facts, qualifiers, report = made(gexf(tmp_path, body))
    assert facts == [
        ("1", "knows", "2"),
        ("1", "skills", '"maths"'),
        ("1", "skills", '"poems"'),
        ("1", "start", '"1815"^^xsd:integer'),
        ("1", "town", '"Riga"'),
        ("2", "town", '"Oslo"'),
    ]
    assert qualifiers["1", "knows", "2"] == (
        ("end", '"1840"^^xsd:integer'),
        ("start", '"1830-01-01"'),
        ("weight", '"2.5"^^xsd:decimal'),
    )
    assert "skipped 1 cell of another type" in report


@pytest.mark.parametrize(
    ("default", "type_", "expected", "said"),
    [
        ("directed", "undirected", 1, "its edges have no direction"),
        ("undirected", "directed", 1, ""),
        ("directed", "mutual", 2, "its mutual edges were read in both directions"),
    ],
)
def test_the_direction_of_an_edge_goes_before_that_of_the_graph(
    tmp_path: Path, default: str, type_: str, expected: int, said: str
) -> None:
    body = f'<nodes/><edges><edge source="Ada" target="Bo" type="{type_}" label="knows"/></edges>'
    _, facts, _, report = made(gexf(tmp_path, body, graph=f' defaultedgetype="{default}"'))
    assert len(facts) == expected
    assert said in report
    assert bool(said) == ("direction" in report)


def test_parallel_edges_are_facts_by_relation_and_share_qualifiers(tmp_path: Path) -> None:
    edge = '<edge source="Ada" target="Bo"><data key="r">{}</data><data key="s">{}</data></edge>'
    body = edge.format("knows", 1830) + edge.format("knows", 1840) + edge.format("likes", 1850)
    _, facts, qualifiers, _ = made(graphml(tmp_path, "r=edge relation string, s=edge since int", body))
    assert facts == [("Ada", "knows", "Bo"), ("Ada", "likes", "Bo")]
    assert [value for _, value in qualifiers["Ada", "knows", "Bo"]] == ['"1830"^^xsd:integer', '"1840"^^xsd:integer']


def test_layout_is_no_fact_unless_it_is_kept(tmp_path: Path) -> None:
    body = "".join(
        f'<node id="{name}"><data key="x">{n}.5</data><data key="y">-3</data><data key="s">9</data></node>'
        for n, name in enumerate(["Ada", "Bo"])
    )
    path = graphml(
        tmp_path, "x=node x float, y=node y float, s=node size float", body + '<edge source="Ada" target="Bo"/>'
    )
    _, facts, _, report = made(path)
    assert facts == [("Ada", "edge", "Bo")]
    assert "left out as layout: x, y, size; --keep NAME,... reads them" in report
    kept = {relation for _, relation, _ in made(path, keep=("size",))[1]}
    assert kept == {"edge", "size"}
    assert len({relation for _, relation, _ in made(path, keep=("all",))[1]}) == 4


def drawn() -> nx.MultiDiGraph:
    graph = nx.MultiDiGraph()
    graph.add_node(1, name="Ada", entity_type="person", born=1815, tall=True, x=0.5, y=1.0)
    graph.add_node(2, name="Mill", entity_type="firm", note='a "grey" mill', x=1.5, y=2.0)
    graph.add_node("Grey Town", created_at=5)
    graph.add_edge(1, 2, label="founded", weight=0.5, since="1999")
    graph.add_edge(1, 2, label="owns", weight=1.5)
    graph.add_edge(2, "Grey Town", label="stands in")
    return graph


@pytest.mark.parametrize("ending", ["graphml", "gexf"])
@pytest.mark.parametrize("cls", [nx.MultiDiGraph, nx.Graph, nx.DiGraph, nx.MultiGraph])
def test_a_networkx_graph_is_read_as_its_file(tmp_path: Path, ending: str, cls: type) -> None:
    given = cls(drawn())
    if ending == "gexf":
        for _, data in given.nodes(data=True):
            data.setdefault("label", data.get("name", ""))
    path = tmp_path / f"a.{ending}"
    getattr(nx, f"write_{ending}")(given, path)
    graph, facts, qualifiers, _ = made(path)
    memory = MemoryGraph.from_networkx(given)
    triples = memory.match([Pattern()])[0]
    assert [tuple(triple) for triple in triples] == facts
    ids = ["1", "2", "Grey Town", "person", "firm"]
    assert memory.labels(ids) == graph.labels(ids)
    assert [memory.qualifiers([Triple(*fact)])[0] for fact in facts] == [qualifiers.get(fact, ()) for fact in facts]


@pytest.mark.parametrize("ending", ["graphml", "gexf"])
def test_the_keys_of_edges_are_their_relations_where_they_are_words(tmp_path: Path, ending: str) -> None:
    graph = nx.MultiDiGraph()
    graph.add_edge("Ada", "Bo", key="knows")
    graph.add_edge("Ada", "Bo", key="likes")
    getattr(nx, f"write_{ending}")(graph, tmp_path / f"a.{ending}")
    expected = [("Ada", "knows", "Bo"), ("Ada", "likes", "Bo")]
    assert made(tmp_path / f"a.{ending}")[1] == expected
    assert [tuple(triple) for triple in MemoryGraph.from_networkx(graph).match([Pattern()])[0]] == expected


@pytest.mark.parametrize(
    ("name", "entities", "edges", "fact"),
    [
        ("gephi-data.gexf", 1, 1, ("Node1", "edge", "Node1")),
        ("lesmis.gexf", 77, 254, ("Valjean", "edge", "Myriel")),
        ("igraph-bool.graphml", 8, 9, ("n0", "edge", "n1")),
        ("quakers-network.graphml", 96, 162, ("Anthony Sharp", "edge", "Thomas Curtis")),
        ("tinkerpop-modern.xml", 6, 6, ("josh", "created", "ripple")),
        ("tinkerpop-classic.xml", 6, 6, ("marko", "knows", "vadas")),
        ("yfiles.graphml", 4, 3, ("Top left rounded rectangle", "edge", "Star")),
    ],
)
def test_public_files_have_their_edges_and_names(
    tmp_path: Path, name: str, entities: int, edges: int, fact: tuple[str, ...]
) -> None:
    if not (DATA / name).is_file():
        pytest.skip("no public_graphs in the data folder; name another one by the environment variable SRTK_DATA")
    path = tmp_path / name
    path.write_bytes((DATA / name).read_bytes())
    graph, facts, _, _ = made(path, format="gexf" if name.endswith("gexf") else "graphml")
    shown = [(*graph.labels([s]), r, *graph.labels([o])) for s, r, o in facts if not o.startswith('"')]
    links = [row for row in shown if row[1] != "rdf:type"]
    assert len(links) == edges
    assert len({end for row in links for end in (row[0], row[2])}) == entities
    assert fact in shown


@pytest.mark.parametrize("ending", ["graphml", "gexf"])
def test_nodes_that_are_not_declared_are_told(tmp_path: Path, ending: str) -> None:
    node, edges = '<node id="1"/>', '<edge source="1" target="Cy"/><edge source="Bo" target="Cy"/>'
    if ending == "graphml":
        path = graphml(tmp_path, "", node + edges)
    else:
        path = gexf(tmp_path, f"<nodes>{node}</nodes><edges>{edges}</edges>")
    said = "2 nodes of edges are not declared, such as 'Bo'; each is an entity that its id names"
    assert said in made(path)[3]
    (tmp_path / "again").mkdir()
    again = tmp_path / "again" / path.name
    again.write_text(path.read_text().replace(node, node + '<node id="Bo"/><node id="Cy"/>'))
    assert "not declared" not in made(again)[3]
