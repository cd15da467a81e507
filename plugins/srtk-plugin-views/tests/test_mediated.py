"""The `mediated` view, by itself and where the build of a graph noticed mediators.

The tests of srtk-plugin-freebase have more graphs with mediators.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import attrs
import pytest
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.graph import LocalGraph
from srtk_plugin_views.folded import FoldedGraph
from srtk_plugin_views.mediated import MediatedGraph

from srtk_framework.testing import OracleGraph
from srtk_framework.testing.knowledge_graph import KnowledgeGraphConformance
from srtk_framework.values import Step, Triple


class TestMediated(KnowledgeGraphConformance):
    name = "mediated"

    @pytest.fixture
    def driver(self) -> Iterator[MediatedGraph]:
        inside = OracleGraph()
        inside.open()
        with closing(MediatedGraph(inside)) as graph:
            graph.open()
            yield graph

    @pytest.fixture
    def faulty(self, tmp_path: Path) -> MediatedGraph:
        return MediatedGraph(LocalGraph(str(tmp_path)))


STATEMENT = "http://www.wikidata.org/entity/statement/Q1-3F2504E0-4F89-11D3-9A0C-0305E82C330{}"


def relations(folder: Path, id_: str, named: bool = False, fold: bool = False, **settings: Any) -> list[str]:
    """Return the relations at a person of a graph whose employments have ids of a form, with a number in it."""
    rows = []
    for n in range(4):
        statement = id_.format(n)
        rows += [("p1" if n else "p0", "job", statement), (statement, "firm", f"f{n}"), (statement, "role", "r1")]
    rows.append(("p1", "home", "x9"))
    (folder / "a.tsv").write_text("".join("\t".join(row) + "\n" for row in rows))
    ends = sorted({end for row in rows for end in row[::2] if not end.startswith(("x", "m.", "http"))})
    (folder / "labels.tsv").write_text("".join(f"{end}\tName of {end}\n" for end in ends))
    build = BuildSettings((str(folder / "a.tsv"),), header=False, labels=(str(folder / "labels.tsv"),) * named)
    local = LocalGraph(str(folder / "out"), build)
    inner = FoldedGraph(local) if fold else local
    graph = MediatedGraph(inner, **settings)
    for one in dict.fromkeys((local, inner, graph)):
        one.open()
    [steps] = graph.steps(graph.frontiers([["p1"]]), False)
    return [step.relation for step in steps]


@pytest.mark.parametrize("fold", [False, True])
@pytest.mark.parametrize("id_", ["m.0{}_b", STATEMENT])
def test_known_mediators_that_the_build_noticed_are_joined_below_any_view(tmp_path: Path, id_: str, fold: bool) -> None:
    assert relations(tmp_path, id_, fold=fold, known=True) == ["home", "job..firm", "job..role"]


def test_mediators_of_no_known_vocabulary_are_joined_where_all_are_asked_for(tmp_path: Path) -> None:
    assert relations(tmp_path, "x{}", named=True, known=True) == ["home", "job"]
    assert relations(tmp_path, "x{}", named=True) == ["job..firm", "job..role"]


def test_a_graph_without_mediators_answers_by_itself(tmp_path: Path) -> None:
    assert relations(tmp_path, "x{}", known=True) == ["home", "job"]


def test_patterns_of_the_schema_go_before_the_usual_ones_and_after_given_ones() -> None:
    rows = [("a", "job", "s1"), ("s1", "firm", "f"), ("a", "age", "n1"), ("n1", "of", "f")]
    inside = MemoryGraph(triples=rows, mediators=["s*"], labels={"a": "A", "f": "F"})
    inside.open()
    for patterns, relation in ((None, "job..firm"), (("n*",), "age..of")):
        graph = MediatedGraph(inside, patterns)
        graph.open()
        assert Step(relation) in graph.steps(graph.frontiers([["a"]]), False)[0]


@attrs.define(eq=False)
class Noticing(MemoryGraph):
    """A graph whose build may have noticed mediators, which the hash of its content does not tell."""

    noticed: dict[str, Any] | None = attrs.field(default=None, repr=False, kw_only=True)

    def noticed_mediators(self) -> dict[str, Any] | None:
        return self.noticed


def test_equal_graphs_of_which_one_build_noticed_mediators_have_other_fingerprints() -> None:
    builds = [None, *({"patterns": ["s*"], "vocabulary": name} for name in ("Freebase", "Wikidata"))]
    for known in (False, True):
        inner = [Noticing(triples=[("a", "job", "s1"), ("s1", "firm", "f")], noticed=build) for build in builds]
        for one in inner:
            one.open()
        assert len({one.fingerprint() for one in inner}) == 1
        assert len({MediatedGraph(one, known=known).fingerprint() for one in inner}) == 3


def test_no_joined_edge_or_qualifier_leads_back_to_where_it_began() -> None:
    rows = [("ann", "job", "_m1"), ("_m1", "firm", "acme"), ("_m1", "who", "ann"), ("_m1", "since", "x")]
    graph = MediatedGraph(MemoryGraph(triples=rows), patterns=("_m*",))
    graph.graph.open()
    graph.open()
    [steps] = graph.steps(graph.frontiers([["ann"]]), False)
    assert [step.relation for step in steps] == ["job..firm", "job..since"]
    assert graph.qualifiers([Triple("ann", "job..firm", "acme")]) == [(("since", "x"),)]
