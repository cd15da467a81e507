"""The local graph: the conformance kit, and any triples read as by a dictionary."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import attrs
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_local.snapshot import graph as module
from srtk_plugin_local.snapshot.build import build
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.graph import LocalGraph

from srtk_framework.graph import graph_defaults as reading
from srtk_framework.testing import KnowledgeGraphConformance
from srtk_framework.testing.oracle import OracleGraph
from srtk_framework.testing.sample import SAMPLE, Sample
from srtk_framework.values import Budget, DriverError, InputError, Literal, NodeSet, Pattern, Step, Triple


def write_sample(sample: Sample, folder: Path) -> BuildSettings:
    tables = {
        "triples": [tuple(triple) for triple in sample.triples],
        "labels": list(sample.labels.items()),
        "aliases": [(id_, name) for id_, names in sample.aliases.items() for name in names],
        "qualifiers": [(*triple, *pair) for triple, pairs in sample.qualifiers.items() for pair in pairs],
    }
    for name, rows in tables.items():
        columns = {f"c{n}": [str(cell) for cell in column] for n, column in enumerate(zip(*rows, strict=True))}
        pq.write_table(pa.table(columns), folder / f"{name}.parquet")
    return BuildSettings(
        files=(str(folder / "triples.parquet"),),
        labels=(str(folder / "labels.parquet"),),
        aliases=(str(folder / "aliases.parquet"),),
        qualifiers=(str(folder / "qualifiers.parquet"),),
        literals="quoted",
        noise=("code",),
    )


class TestLocalGraph(KnowledgeGraphConformance):
    name = "local"

    @pytest.fixture(scope="class")
    @classmethod
    def snapshot(cls, tmp_path_factory: pytest.TempPathFactory) -> Path:
        folder = tmp_path_factory.mktemp("local")
        return build(write_sample(SAMPLE, folder), folder / "snapshot").folder

    @pytest.fixture
    def driver(self, snapshot: Path) -> Iterator[LocalGraph]:
        graph = LocalGraph(str(snapshot))
        graph.open()
        yield graph
        graph.close()

    @pytest.fixture
    def changed(self, tmp_path: Path) -> LocalGraph:
        less = attrs.evolve(SAMPLE, triples=SAMPLE.triples[:-1])
        graph = LocalGraph(str(build(write_sample(less, tmp_path), tmp_path / "snapshot").folder))
        graph.open()
        return graph


def test_a_graph_is_checked_before_it_is_opened(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("a\tr\tb\n")
    files = tuple(str(tmp_path / name) for name in ("a.tsv", "b.tsv"))
    [(setting, said)] = LocalGraph(str(tmp_path / "out"), BuildSettings(files)).preflight()
    assert (setting, said.split(";")[0]) == ("build", f"{files[1]} does not exist")
    assert LocalGraph(str(tmp_path / "out"), BuildSettings(files[:1])).preflight() == []
    [(setting, said)] = LocalGraph(str(tmp_path / "out")).preflight()
    assert setting == "path"
    assert "out: is not a graph snapshot" in said
    build(BuildSettings(files[:1]), tmp_path / "out")
    assert LocalGraph(str(tmp_path / "out")).preflight() == []


def test_a_graph_that_is_built_says_how_once_and_is_closed_whole(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "a.csv").write_text("subject,relation,object\nRiga,in,Latvia\nRiga,near,\n")
    graph = LocalGraph(str(tmp_path / "out"), BuildSettings((str(tmp_path / "a.csv"),)))
    for call in (graph.fingerprint, lambda: graph.steps([], True)):
        with pytest.raises(DriverError, match="is not open"):
            call()
    with caplog.at_level(logging.INFO):
        graph.open()
    assert caplog.messages[-1] == "the graph has 1 triple, 2 entities, 1 relation"
    assert any("skipped 1 row with an empty cell" in message for message in caplog.messages)
    caplog.clear()
    with caplog.at_level(logging.INFO):
        graph.open()
    assert caplog.messages == []
    assert graph.source() == f"local:{graph.fingerprint()[:16]}"
    assert graph.known_words(["riga", "oslo"]) == [True, False]
    index = graph._names
    assert graph.near_names(["Rigga"], 1, True) == [["riga"]]
    assert graph._names is index
    assert (graph.has_blank_nodes(), graph.noticed_mediators()) == (False, None)
    graph.close()
    assert (graph._snapshot, graph._steps, graph._relations, graph._names) == (None, None, {}, None)


def test_the_own_columns_of_a_table_of_entities_are_its_relations_that_no_other_has() -> None:
    columns = {"a": 1, "b": 2, "c": 3}
    plan = {
        "tables": {
            "one": {"rows": "entities", "columns": columns},
            "two": {"rows": "entities", "columns": {"b": 1}},
            "edges": {"rows": "facts", "columns": {"a": 1}},
            "bare": {"rows": "entities"},
        }
    }
    found = module._own_columns(plan, ["a", "b"])
    assert found == {"one": ("a",), "two": (), "bare": ()}
    assert module._own_columns({}, ["a"]) == {}


def test_edges_are_followed_up_to_a_limit(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("a\tr\tb\na\tr\tc\nb\tr\ta\n_:x\tr\ta\n")
    graph = LocalGraph(str(build(BuildSettings((str(tmp_path / "a.tsv"),)), tmp_path / "out").folder))
    graph.open()
    at = graph.frontiers([["a"]])
    assert [list(frontier.ids()) for frontier in graph.follow(at, [Step("r")], 1)] == [["b"]]
    assert [list(row) for row in graph.triples(at, [Step("r", True)], None)] == [
        [Triple("_:x", "r", "a"), Triple("b", "r", "a")]
    ]
    assert graph.has_blank_nodes()
    assert graph.neighbourhood(at, 0, Budget()) == [[]]
    assert graph.own_ids(["r", "a"], True) == ["r", "a"]


ENTITIES = ["a", "b", "B", "c c", "d", "ä", "é", "é", "𝔊", "Ａ", "العربية", '"q', "!", "\n", "z" * 300]
LITERALS = [Literal('"1"^^xsd:integer'), Literal('"a"@en'), Literal('"a"'), Literal('""')]
RELATIONS = ["r", "^r", "s", "relation with\ttab"]

triples = st.builds(
    Triple, st.sampled_from(ENTITIES), st.sampled_from(RELATIONS), st.sampled_from([*ENTITIES, *LITERALS])
)
facts = st.lists(triples, max_size=60)
node_sets = st.lists(st.lists(st.sampled_from([*ENTITIES, *LITERALS, "unknown"]), max_size=5), max_size=6)
limits = st.sampled_from([None, 1, 2, 5])
budgets = st.builds(
    Budget,
    triples=st.sampled_from([None, 1, 4, 20]),
    hub=st.sampled_from([None, 1, 3]),
    nodes=st.sampled_from([None, 1, 3]),
)
few = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def both(found: list[Triple], folder: str) -> tuple[LocalGraph, OracleGraph]:
    """Build the same triples, given twice, as a snapshot and as a dictionary graph."""
    rows = [[str(part) for part in triple] for triple in [*found, *reversed(found)]]
    columns = [list(column) for column in zip(*rows, strict=True)] or [[], [], []]
    path = Path(folder) / "triples.parquet"
    pq.write_table(pa.table({name: pa.array(c, pa.string()) for name, c in zip("sro", columns, strict=True)}), path)
    build(BuildSettings(files=(str(path),), literals="quoted", names=False), Path(folder) / "out")
    local = LocalGraph(str(Path(folder) / "out"))
    oracle = OracleGraph(Sample(tuple(sorted(set(found)))))
    local.open()
    oracle.open()
    return local, oracle


def ids(frontiers: object) -> list[tuple[list[str], int, int]]:
    return [(list(f.ids()), f.size, f.cut) for f in frontiers]  # type: ignore[attr-defined]


@few
@given(facts, node_sets, st.booleans(), limits)
def test_frontiers_steps_follow_and_triples_are_those_of_a_dictionary(
    found: list[Triple], sets: list[list[str]], inverse: bool, limit: int | None
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        local, oracle = both(found, folder)
        mine, its = local.frontiers(sets), oracle.frontiers(sets)
        assert ids(mine) == ids(its)
        steps = oracle.steps(its, inverse)
        assert local.steps(mine, inverse) == steps
        pairs = [(i, step) for i, row in enumerate(steps) for step in [*row, Step("no such relation")]]
        walked = [step for _, step in pairs]
        at, beside = [mine[i] for i, _ in pairs], [its[i] for i, _ in pairs]
        assert [list(row) for row in local.triples(at, walked, limit)] == oracle.triples(beside, walked, limit)
        reached, wanted = local.follow(at, walked, limit), oracle.follow(beside, walked, limit)
        assert ids(reached) == ids(wanted)
        assert local.steps(reached, True) == oracle.steps(wanted, True)
        for alone, beside_it, row in zip(mine, its, steps, strict=True):
            assert local.steps([alone], inverse) == [row]
            walked = [*row, Step("no such relation")]
            one, its_one = [alone] * len(walked), [beside_it] * len(walked)
            assert ids(local.follow(one, walked, limit)) == ids(oracle.follow(its_one, walked, limit))
            assert list(map(list, local.triples(one, walked, limit))) == oracle.triples(its_one, walked, limit)
        assert all(type(row[1].object) is Literal for row in pairwise(found) if isinstance(row[1].object, Literal))


@few
@given(facts, st.lists(triples, max_size=4))
def test_match_degrees_and_labels_are_those_of_a_dictionary(found: list[Triple], asked: list[Triple]) -> None:
    patterns = [
        Pattern(*(part if bit & 1 << place else None for place, part in enumerate(triple)))
        for triple in [*found[:3], *asked]
        for bit in range(8)
    ]
    with tempfile.TemporaryDirectory() as folder:
        local, oracle = both(found, folder)
        wanted = oracle.match(patterns)
        assert local.match(patterns) == wanted
        # A few patterns are read by slices.
        alone = [row for pattern in patterns for row in local.match([pattern])]
        assert alone == wanted
        assert [type(one.object) for row in alone for one in row] == [type(one.object) for row in wanted for one in row]
        entities = [*ENTITIES, "unknown"]
        assert local.degrees(entities) == oracle.degrees(entities)
        assert local.labels([*entities, *LITERALS]) == oracle.labels([*entities, *LITERALS])
        names = ["a", "A", "É", "unknown", " b "]
        assert local.find(names) == oracle.find(names)


@few
@given(facts, node_sets, st.integers(0, 3), budgets)
def test_the_quick_neighbourhood_is_that_of_the_framework(
    found: list[Triple], sets: list[list[str]], hops: int, budget: Budget
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        local, oracle = both(found, folder)
        wanted = oracle.neighbourhood(oracle.frontiers(sets), hops, budget)
        assert local.neighbourhood(local.frontiers(sets), hops, budget) == wanted
        assert reading.neighbourhood(local, local.frontiers(sets), hops, budget) == wanted


@few
@given(facts)
def test_the_content_hash_does_not_depend_on_order_files_or_repetition(found: list[Triple]) -> None:
    def built(parts: list[list[Triple]], folder: Path) -> str:
        folder.mkdir()
        for number, part in enumerate(parts):
            columns = [[str(triple[place]) for triple in part] for place in range(3)]
            table = pa.table({f"c{place}": pa.array(column, pa.string()) for place, column in enumerate(columns)})
            pq.write_table(table, folder / f"{number}.parquet", row_group_size=3)
        files = tuple(str(folder / f"{number}.parquet") for number in range(len(parts)))
        return build(BuildSettings(files=files, literals="quoted"), folder / "out").meta.content

    with tempfile.TemporaryDirectory() as folder:
        whole = built([sorted(found)], Path(folder) / "whole")
        assert built([found[::2], found[::-1], found[1::2]], Path(folder) / "parts") == whole
        fewer = sorted(set(found))[1:]
        assert not found or built([fewer], Path(folder) / "fewer") != whole


def test_frontiers_of_another_graph_are_understood_by_their_ids() -> None:
    with tempfile.TemporaryDirectory() as folder:
        local, _ = both([Triple("a", "r", "b")], folder)
        other = LocalGraph(local.path)
        other.open()
        for frontier in (NodeSet(["a", "unknown"]), other.frontiers([["a"]])[0]):
            assert local.steps([frontier], True) == [[Step("r")]]


@pytest.mark.parametrize(("text", "why"), [("", "is empty"), ("id,name\n1,Ada\n", "holds names alone")])
def test_files_without_a_fact_are_refused_each_time(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "a.csv").write_text(text)
    graph = LocalGraph(str(tmp_path / "out"), BuildSettings((str(tmp_path / "a.csv"),)))
    for _ in range(2):  # the second time the snapshot is there
        with pytest.raises(InputError, match=rf"hold no fact, so that nothing can be asked: .*a\.csv: {why}"):
            graph.open()


def test_a_relation_has_spellings_that_an_entity_of_the_same_id_lacks(tmp_path: Path) -> None:
    direct, entity = "http://www.wikidata.org/prop/direct/P31", "http://www.wikidata.org/entity/Q5"
    (tmp_path / "a.nt").write_text(f"<{entity}> <{direct}> <{direct}> .\n")
    stored = LocalGraph(str(build(BuildSettings((str(tmp_path / "a.nt"),)), tmp_path / "out").folder))
    stored.open()
    for graph in (stored, MemoryGraph([[entity, direct, direct]])):
        assert graph.own_ids(["P31", "wdt:P31", "Q5"], True) == [direct, direct, "Q5"]
        assert graph.own_ids(["P31", "wdt:P31", "Q5"], False) == ["P31", direct, entity]
