"""GraphML, GEXF and networkx graphs as nodes and edges with properties, before their meaning is known."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.input_report import FileReport
from srtk_plugin_local.snapshot.property_graphs.elements import PropertyGraph, Typed
from srtk_plugin_local.snapshot.property_graphs.files import read_property_graph
from srtk_plugin_local.snapshot.property_graphs.gexf import GexfHandler
from srtk_plugin_local.snapshot.property_graphs.graphml import GraphmlHandler
from srtk_plugin_local.snapshot.property_graphs.networkx_graph import property_graph
from srtk_plugin_local.snapshot.property_graphs.xml_parse import parse

from srtk_framework.values import InputError

Found = tuple[PropertyGraph, FileReport]


def read(folder: Path, text: str, kind: str, handler: type[Any]) -> Found:
    (folder / f"a.{kind}").write_text(text, encoding="utf-8")
    report = FileReport(str(folder / f"a.{kind}"), kind)
    made = handler(report)
    parse(made, kind, report, "1GB", lambda done: None)
    return made.finish(), report


def gexf(folder: Path, body: str, graph: str = ' defaultedgetype="directed"') -> Found:
    return read(folder, f"<gexf><graph{graph}>{body}</graph></gexf>", "gexf", GexfHandler)


def graphml(folder: Path, body: str, keys: str = "", graph: str = ' edgedefault="directed"') -> Found:
    return read(folder, f"<graphml>{keys}<graph{graph}>{body}</graph></graphml>", "graphml", GraphmlHandler)


def edges(graph: PropertyGraph) -> list[tuple[Any, ...]]:
    return [tuple(edge) for edge in graph.edges]


def counts(report: FileReport) -> dict[str, int]:
    return {reason: entry[0] for reason, entry in report.skipped.items()}


# GEXF


def test_attributes_of_nodes_and_edges_of_gexf_are_properties_but_ends_and_drawing(tmp_path: Path) -> None:
    graph, _ = gexf(
        tmp_path,
        '<nodes><node id="a" label=" 7 " xmlns:v="v" v:size="3" born="1815" note=" " open="x" start="1" end="2"/>'
        '<node id="b"/></nodes><edges><edge id="e" source="a" target="b" type="directed" weight="2" kind="x" '
        'label="8" timestamp="3"/></edges>',
    )
    assert graph.nodes == {"a": {"label": "7", "born": "1815", "open": "x", "start": "1", "end": "2"}, "b": {}}
    assert [type(graph.nodes["a"][name]) for name in ("label", "born", "open")] == [str, Typed, str]
    assert edges(graph) == [("a", "b", {"weight": "2", "kind": "x", "label": "8", "timestamp": "3"}, "e")]
    assert [type(graph.edges[0].properties[name]) for name in ("weight", "label")] == [Typed, str]


def test_what_stands_in_an_unknown_element_of_gexf_is_left_out_whole(tmp_path: Path) -> None:
    aside = '<meta><by><node id="x"/><edge source="a" target="x"/></by><default>y</default></meta>'
    graph, _ = gexf(tmp_path, f'{aside}<nodes><node id="a">{aside}</node></nodes>{aside}')
    assert (graph.nodes, graph.edges, graph.members) == ({"a": {}}, [], {})


def test_nodes_of_gexf_are_members_of_the_nodes_that_they_stand_in_or_name(tmp_path: Path) -> None:
    graph, report = gexf(
        tmp_path,
        '<nodes><node id="a"><nodes><node id="b" pid="a"/><node id="c"><parents><parent for="d"/></parents></node>'
        '</nodes></node><node id="d" pid="0"/><node id="e" pid="e"/><node id="a" born="1"/><node id="d"/>'
        '<node label="x"/></nodes>',
    )
    assert list(graph.members) == [("b", "a"), ("c", "a"), ("c", "d")]
    assert graph.nodes["a"] == {"born": "1"}
    assert counts(report) == {"nodes without id": 1}
    assert report.notes == ["2 nodes come again with the same id; each id is one node"]


def test_an_element_out_of_place_does_not_end_what_it_stands_in(tmp_path: Path) -> None:
    declared = '<attributes class="node"><attribute id="0" title="town"><spells/><default>Riga</default></attribute>'
    graph, _ = gexf(
        tmp_path,
        f'{declared}</attributes><nodes><node id="a"><spells/><attvalues><attvalue for="x" value="1"/></attvalues>'
        '</node></nodes><edges><edge source="a" target="a"><spells/><attvalues><attvalue for="y" value="2"/>'
        "</attvalues></edge></edges>",
    )
    assert graph.nodes == {"a": {"x": "1", "town": "Riga"}}
    assert edges(graph) == [("a", "a", {"y": "2"}, "")]


def test_the_parent_of_a_node_of_gexf_is_of_the_innermost_node(tmp_path: Path) -> None:
    parent = '<parents><parent for="z"/></parents>'
    nested = (
        f'<node id="a">{parent}<nodes><node id="b"><nodes><node id="c">{parent}</node></nodes></node></nodes></node>'
    )
    graph, _ = gexf(tmp_path, f'<nodes>{nested}<node id="z"/></nodes>')
    assert list(graph.members) == [("a", "z"), ("b", "a"), ("c", "b"), ("c", "z")]


def test_values_of_gexf_belong_to_the_declared_attribute_of_their_owner(tmp_path: Path) -> None:
    declared = (
        '<attributes class="node"><attribute id="0" title="town" type="string"><default>Riga</default></attribute>'
        '<attribute id="1" type="integer"/></attributes><attributes class="edge"><attribute id="0" title="since" '
        'type="integer"><default>1990</default></attribute><attribute id="2" title="tags" type="listfloat"/>'
        "</attributes>"
    )
    graph, report = gexf(
        tmp_path,
        f'{declared}<nodes><node id="a"><attvalues><attvalue for="1" value="7"/><attvalue for="0" value="Oslo" '
        'start="1"/></attvalues></node><node id="b"/></nodes><edges><edge source="a" target="b"><attvalues><attvalue '
        'for="2" value="[1, 2]"/></attvalues></edge><edge source="b" target="a"><attvalues><attvalue for="0" '
        'value="bad"/><attvalue for="9" value="x"/></attvalues></edge></edges>',
    )
    assert graph.nodes == {"a": {"1": "7", "town": "Oslo"}, "b": {"town": "Riga"}}
    assert [edge.properties for edge in graph.edges] == [
        {"tags": ["1", "2"], "since": "1990"},
        {"since": [], "9": "x"},
    ]
    assert report.notes == [
        "the times of the values of 'town' are not kept",
        "the attribute '9' of edges is not declared; its values were read as texts",
    ]
    assert counts(report) == {"cells of another type": 1}


@pytest.mark.parametrize(
    ("usual", "own", "undirected", "count"),
    [
        ("directed", "", 0, 1),
        ("undirected", "", 1, 1),
        (None, "", 1, 1),  # as the format says
        ("Directed ", "undirected", 1, 1),
        ("undirected", "directed", 0, 1),
        ("undirected", "mutual", 0, 2),
    ],
)
def test_the_own_direction_of_an_edge_of_gexf_counts(
    tmp_path: Path, usual: str | None, own: str, undirected: int, count: int
) -> None:
    graph, _ = gexf(
        tmp_path,
        f'<edges><edge source="a" target="b" type="{own}"/></edges>',
        f' defaultedgetype="{usual}"' if usual is not None else "",
    )
    assert (len(graph.undirected), len(graph.edges)) == (undirected, count)


def test_edges_of_gexf_without_an_end_are_counted_and_the_key_of_networkx_is_their_key(tmp_path: Path) -> None:
    graph, report = gexf(
        tmp_path,
        '<edges><edge source="a"/>\n<edge target="b"/><edge id="e" source="a" target="b"><attvalues><attvalue '
        'for="networkx_key" value="knows"/></attvalues></edge></edges>',
    )
    assert edges(graph) == [("a", "b", {}, "knows")]
    assert counts(report) == {"edges with one end": 2}
    assert report.skipped["edges with one end"][1].endswith(":1")


# GraphML


def test_what_has_a_part_of_its_own_in_graphml_is_left_out_whole(tmp_path: Path) -> None:
    graph, report = graphml(
        tmp_path,
        '<node id="a"><port><node id="x"/></port></node><hyperedge><endpoint><node id="y"/></endpoint></hyperedge>'
        '<node id="b"/>',
    )
    assert list(graph.nodes) == ["a", "b"]
    assert counts(report) == {"hyperedges": 1}


def test_attributes_of_graphml_are_properties_but_ends_and_drawing(tmp_path: Path) -> None:
    graph, _ = graphml(
        tmp_path,
        '<node id="a" born="1815" note=" " xmlns:y="z" y:size="3" parse.indegree="2" yfiles.folder="x"/>'
        '<edge id="e" source="a" target="b" sourceport="1" since="x"/>',
    )
    assert graph.nodes == {"a": {"born": "1815"}}
    assert edges(graph) == [("a", "b", {"since": "x"}, "e")]


@pytest.mark.parametrize(
    ("usual", "own", "undirected"),
    [
        *(("directed", "", 0), ("undirected", "", 1), ("", "", 0), ("Undirected ", "true", 0)),
        *(("undirected", "1", 0), ("directed", "false", 1), ("directed", "0", 1)),
    ],
)
def test_the_own_direction_of_an_edge_of_graphml_counts(tmp_path: Path, usual: str, own: str, undirected: int) -> None:
    graph, _ = graphml(tmp_path, f'<edge source="a" target="b" directed="{own}"/>', graph=f' edgedefault="{usual}"')
    assert len(graph.undirected) == undirected


def test_groups_graphs_and_repeated_nodes_of_graphml_are_told(tmp_path: Path) -> None:
    inner = (
        '<node id="a"><graph edgedefault="undirected"><node id="b"><graph><node id="c"/></graph></node></graph></node>'
    )
    again = "".join(f'<node id="{id_}"/>' for id_ in "abdddd")
    second = f'</graph><graph>{again}<edge source="a" target="d"/><node/>'
    graph, report = graphml(tmp_path, inner + second)
    assert list(graph.members) == [("b", "a"), ("c", "b")]
    assert (list(graph.nodes), len(graph.undirected)) == (["a", "b", "c", "d"], 0)
    assert report.notes == [
        "its 2 graphs were read as one",
        "2 nodes come again in another graph; nodes with the same id are one",
        "3 nodes come again with the same id; each id is one node",
    ]
    assert counts(report) == {"nodes without id": 1}
    assert graphml(tmp_path, '<node id="a"/>')[1].notes == []


def test_values_of_graphml_belong_to_the_declared_key_of_their_owner(tmp_path: Path) -> None:
    keys = (
        '<key id="k" for="node" attr.name="town"><default>Riga</default></key>'
        '<key id="k" for="edge" attr.name="since" attr.type="int"><default>1990</default></key>'
        '<key id="s" for="all" attr.name="tags" attr.type="string" attr.list="int"/>'
        '<key id="g" for="graph" attr.name="made"/><key id="n"/>'
    )
    body = (
        '<data key="g">today</data><node id="a"><data key="s">[1, 2]</data><data key="n">x</data></node>'
        '<node id="b"><data key="k">Oslo</data><desc> tall </desc><data key="z">y</data></node>'
        '<edge source="a" target="b"/><edge source="b" target="a"><data key="k">bad</data><data key="s">3</data></edge>'
    )
    graph, report = graphml(tmp_path, body, keys)
    assert graph.nodes == {
        "a": {"tags": ["1", "2"], "n": "x", "town": "Riga"},
        "b": {"town": "Oslo", "description": "tall", "z": "y"},
    }
    assert [edge.properties for edge in graph.edges] == [{"since": "1990"}, {"since": [], "tags": "3"}]
    assert report.unread == ["made of the graph"]
    assert report.notes == ["the key 'z' is not declared; its values were read as texts of that name"]
    assert counts(report) == {"cells of another type": 1}


def test_an_unknown_element_in_a_node_of_graphml_does_not_end_it(tmp_path: Path) -> None:
    graph, _ = graphml(tmp_path, '<node id="a"><view/><data key="n">x</data></node>', '<key id="n"/>')
    assert graph.nodes == {"a": {"n": "x"}}


def test_only_a_value_of_the_graph_itself_is_told_as_not_read(tmp_path: Path) -> None:
    keys = '<key id="g" for="graph" attr.name="made"/><data key="g">outside</data>'
    _, report = graphml(tmp_path, '<desc>about</desc><data key="g"> </data>', keys)
    assert report.unread == []
    _, report = graphml(tmp_path, '<data key="g">today</data><data key="g">now</data>', keys)
    assert report.unread == ["made of the graph"]


def test_labels_that_yed_draws_are_properties_without_their_markup(tmp_path: Path) -> None:
    keys = '<key id="d" for="node" yfiles.type="nodegraphics"/>'
    label = "<ShapeNode><Geometry/><NodeLabel>{}<Model/></NodeLabel></ShapeNode>"
    text = "&lt;html&gt;&lt;b&gt;Ada&lt;/b&gt; &amp;amp; Bo"
    shown = f'<Realizers active="1">{label.format("first")}{label.format("second")}</Realizers>'
    drawn = (label.format("Old\n Mill"), label.format(text), shown)
    body = "".join(
        f'<node id="{id_}"><data key="d">{data}</data></node>' for id_, data in zip("abc", drawn, strict=True)
    )
    graph, _ = graphml(tmp_path, body, keys)
    assert [graph.nodes[id_]["label"] for id_ in "abc"] == ["Old Mill", "Ada & Bo", "second"]
    assert graph.layout == {"nodegraphics"}


@pytest.mark.parametrize(
    ("active", "shown"), [('active="1"', "second"), ('active="0"', "first"), ('active="x"', "first"), ("", "first")]
)
def test_of_several_pictures_of_a_node_the_active_one_gives_the_label(tmp_path: Path, active: str, shown: str) -> None:
    label = "<ShapeNode><NodeLabel>{}</NodeLabel></ShapeNode>"
    pictures = f"<Realizers {active}>{label.format('first')}{label.format('second')}</Realizers>"
    graph, _ = graphml(tmp_path, f'<node id="a"><data key="d">{pictures}</data></node>', '<key id="d" for="node"/>')
    assert graph.nodes["a"]["label"] == shown


def test_a_label_of_yfiles_is_its_text_unless_it_is_bound(tmp_path: Path) -> None:
    labels = '<Labels><Label/><Label Text="{Binding}"/><Label Text="Ada"/><Other Text="x"/></Labels>'
    graph, _ = graphml(tmp_path, f'<node id="a"><data key="d">{labels}</data></node>', '<key id="d" for="node"/>')
    assert graph.nodes["a"] == {"label": "Ada"}


def test_edges_of_graphml_without_an_end_are_counted(tmp_path: Path) -> None:
    graph, report = graphml(tmp_path, '<edge source="a"/>\n<edge target="b"/>\n<edge source="a" target="b"/>')
    assert edges(graph) == [("a", "b", {}, "")]
    assert [entry[:2] for entry in report.skipped.values()] == [[2, f"{tmp_path / 'a.graphml'}:1"]]


# Both


def tables(folder: Path, text: str, kind: str = "graphml", **settings: Any) -> tuple[list[Any], list[Any], FileReport]:
    """Read a file; return its facts, its qualifiers, and the report."""
    name = str(folder / f"a.{kind}")
    Path(name).write_text(text, encoding="utf-8")
    report = FileReport(name, kind, settings.pop("strict", False))
    facts: list[Any] = []
    qualifiers: list[Any] = []
    for table in read_property_graph(name, kind, BuildSettings((name,), **settings), report, lambda done: None):
        rows = qualifiers if "q" in table.column_names else facts
        rows += zip(*table.to_pydict().values(), strict=True)
    return facts, qualifiers, report


MET = (
    '<graphml><graph><edge source="a" target="b" label="knows" note="met"/><edge source="b" target="a" label="likes"/>'
    "</graph></graphml>"
)


def test_the_second_of_three_columns_names_the_relation_of_edges(tmp_path: Path) -> None:
    for columns in ((), ("label",), ("a", "note"), ("a", "note", "b", "c")):
        facts, qualifiers, _ = tables(tmp_path, MET, columns=columns)
        assert facts == [("a", "knows", "b", "entity"), ("b", "likes", "a", "entity")]
        assert qualifiers == [("a", "knows", "b", "note", '"met"', True)]
    facts, qualifiers, _ = tables(tmp_path, MET, columns=("a", "note", "b"))
    assert facts == [("a", "met", "b", "entity"), ("b", "edge", "a", "entity")]
    assert [row[3:] for row in qualifiers] == [("description", '"knows"', True), ("description", '"likes"', True)]
    assert [row[5] for row in tables(tmp_path, MET, literals="none")[1]] == [False]


def test_a_file_without_a_graph_is_refused_and_one_without_nodes_is_empty(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\.graphml: is not valid graphml: it has no element <graph>; correct"):
        tables(tmp_path, "<graphml/>")
    facts, qualifiers, report = tables(tmp_path, "<graphml><graph/></graphml>")
    assert (facts, qualifiers, report.notes, counts(report)) == ([], [], ["is empty"], {"empty files": 1})
    with pytest.raises(InputError, match=r"a\.graphml:1: there is no node; leave the file out"):
        tables(tmp_path, "<graphml><graph/></graphml>", strict=True)
    for body in ('<node id="a"/>', '<edge source="a" target="b"/>'):
        assert tables(tmp_path, f"<graphml><graph>{body}</graph></graphml>")[2].skipped == {}


@pytest.mark.parametrize("kind", ["graphml", "gexf"])
def test_several_graphs_of_a_file_are_told(tmp_path: Path, kind: str) -> None:
    one = '<graph><nodes><node id="{}"/></nodes></graph>'
    both = one.format("a") + one.format("b")
    assert tables(tmp_path, f"<{kind}>{both}</{kind}>", kind)[2].notes == ["its 2 graphs were read as one"]
    assert tables(tmp_path, f"<{kind}>{one.format('a')}</{kind}>", kind)[2].notes == []


def test_the_prefix_of_the_root_is_cut_off_each_name_and_another_is_kept(tmp_path: Path) -> None:
    text = (
        '<g:gexf><g:graph><g:nodes><g:node id="a"/><v:node id="x"/></g:nodes><g:edges><g:edge source="a" target="a"/>'
    )
    graph, _ = read(tmp_path, text + "</g:edges></g:graph></g:gexf>", "gexf", GexfHandler)
    assert (list(graph.nodes), edges(graph)) == (["a"], [("a", "a", {}, "")])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<gexf><graph>\n<node></graph></gexf>", r"a\.gexf:2: is not valid gexf: mismatched tag; correct the file"),
        ("<gexf>\n<graph>", r"a\.gexf:2: is not valid gexf: no element found; correct the file"),
        ("<html/>", r"a\.gexf: is not valid gexf: its first element is 'html'; correct the file"),
        ("<a>" * 1001, r"a\.gexf:1: .*deep"),
    ],
)
def test_an_xml_file_with_a_fault_is_refused_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read(tmp_path, text, "gexf", GexfHandler)
    nested = "<nodes>" * 997 + "</nodes>" * 997
    assert gexf(tmp_path, f'{nested}<nodes><node id="a"/></nodes>')[0].nodes == {"a": {}}


def test_a_file_may_have_a_twentieth_of_the_memory(tmp_path: Path) -> None:
    for size in (1000, 1001):
        (tmp_path / "a.gexf").write_bytes(b"<gexf><graph/></gexf>".ljust(size))
        report, met = FileReport(str(tmp_path / "a.gexf"), "gexf"), list[int]()
        if size == 1000:
            parse(GexfHandler(report), "gexf", report, "20KB", met.append)
            assert met[-1] == 1000
        else:
            with pytest.raises(InputError, match=r"a\.gexf: is larger than 0 MB, of which 0 MB of memory is enough"):
                parse(GexfHandler(report), "gexf", report, "20KB", met.append)


# Networkx


def test_values_of_a_networkx_graph_are_texts_numbers_dates_and_lists(tmp_path: Path) -> None:
    graph = nx.DiGraph()
    graph.add_node("a", born=1815, tall=True, size=np.float64(1.5), on=date(2020, 1, 2), name=" Ada ", tags=["x", "x"])
    graph.add_node(2, gone=None, far=float("inf"), odd={"a": 1}, more=("x", "y"), one={7})
    graph.add_edge("a", 2, kind="knows", odd=[[1]])
    report = FileReport("x", "networkx")
    found = property_graph(graph, None, report)
    assert found.nodes == {
        "a": {"born": "1815", "tall": "true", "size": "1.5", "on": "2020-01-02", "name": "Ada", "tags": "x"},
        "2": {"more": ["x", "y"], "one": "7"},
    }
    typed = [name for name, value in found.nodes["a"].items() if isinstance(value, Typed)]
    assert typed == ["born", "tall", "size", "on"]
    assert (edges(found), found.undirected) == ([("a", "2", {"kind": "knows"}, "")], set())
    assert report.unread == ["odd of nodes", "odd of edges"]


def test_scalars_of_numpy_are_read_as_those_of_python() -> None:
    graph = nx.DiGraph()
    graph.add_node("a", count=np.int64(3), share=np.float64(0.5), tall=np.bool_(True), name=np.str_("Ada"))
    found = property_graph(graph, None, FileReport("x", "networkx"))
    assert found.nodes == {"a": {"count": "3", "share": "0.5", "tall": "true", "name": "Ada"}}


def test_keys_of_a_networkx_multigraph_are_keys_where_they_are_texts() -> None:
    graph = nx.MultiGraph()
    graph.add_edge("a", "b", key="knows", kind=" likes ")
    graph.add_edge("a", "b", key=1, kind="sees")
    found = property_graph(graph, None, FileReport("x", ""))
    assert ([edge.key for edge in found.edges], found.undirected) == (["knows", ""], {0, 1})
    wished = property_graph(graph, "kind", FileReport("x", ""))
    assert [edge.properties["kind"] for edge in wished.edges] == ["likes", "sees"]
    graph.edges["a", "b", "knows"]["kind"] = 7  # a number is no relation
    assert property_graph(graph, "kind", FileReport("x", "")).edges[0].properties == {"kind": "knows"}
    graph.edges["a", "b", 1]["kind"] = None
    with pytest.raises(ValueError, match=r"\('a', 'b', 1\) has no relation; set its attribute 'kind'"):
        property_graph(graph, "kind", FileReport("x", ""))
