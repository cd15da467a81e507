"""Path search at the server, and large frontiers queried by their path: equal to walking, in fewer queries."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from srtk_plugin_sparql import path_frontiers, path_joins, profiles
from srtk_plugin_sparql.commands.load import load
from srtk_plugin_sparql.errors import TooLargeError
from srtk_plugin_sparql.graph import SparqlGraph
from srtk_plugin_sparql.limits import SparqlLimits
from srtk_plugin_sparql.queries import Queries
from srtk_plugin_sparql.step_reader import StepReader
from srtk_plugin_sparql.vocabulary import Ids, Vocabulary
from srtk_plugin_web import DeadlineError, PartialError, RefusedError

from srtk_framework.graph import find_paths
from srtk_framework.values import Budget, Step

E = "http://example.org/e/"
R = "http://example.org/r/"
FREE = Budget(nodes=None, hub=None)
MEANING: dict[str, Any] = {"prefixes": {"": E, "r": R}, "hidden": ("r:hidden",), "entities": (E,), "relations": (R,)}

nodes = st.sampled_from("abcdef")
facts = st.lists(st.tuples(nodes, st.sampled_from(["r", "s", "^t", "hidden"]), nodes), min_size=1, max_size=14)
sets = st.lists(nodes | st.just("unknown"), max_size=3)


def write(lines: Sequence[str], folder: Path) -> str:
    (folder / "graph.nt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    load([folder / "graph.nt"], folder / "store")
    return str(folder / "store")


def line(subject: str, relation: str, object_: str) -> str:
    return f"<{E}{subject}> <{R}{relation.replace('^', '%5E')}> <{E}{object_}> ."


def opened(endpoint: str, **settings: Any) -> SparqlGraph:
    meaning = {**MEANING, **settings.pop("meaning", {})}
    graph = SparqlGraph(endpoint, vocabulary=Vocabulary(**meaning), **settings)
    graph.open()
    return graph


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the queries that embedded stores answer, in order."""
    from srtk_plugin_sparql.store import EmbeddedStore

    seen: list[str] = []
    select = EmbeddedStore.select

    def note(self: EmbeddedStore, query: str, divisible: bool, fresh: bool = False) -> Any:
        seen.append(query)
        return select(self, query, divisible, fresh)

    monkeypatch.setattr(EmbeddedStore, "select", note)
    return seen


@settings(max_examples=60, deadline=None)
@given(
    facts, st.lists(st.tuples(sets, sets), max_size=4), st.integers(1, 4), st.booleans(), st.booleans(), st.booleans()
)
def test_the_server_finds_the_paths_that_walking_finds(
    triples: list[tuple[str, str, str]],
    pairs: list[tuple[list[str], list[str]]],
    hops: int,
    shortest: bool,
    inverse: bool,
    both: bool,
) -> None:
    # What is no entity or no relation of the graph leads nowhere.
    lines = [line(*triple) for triple in triples]
    lines += [f'<{E}a> <{R}r> "text" .', f"<{E}a> <{R}r> <http://else.example/x> ."]
    lines += [f"<http://else.example/x> <{R}r> <{E}b> .", f"<{E}a> <http://else.example/r> <{E}b> ."]
    starts, ends = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    with tempfile.TemporaryDirectory() as folder, closing(opened(write(lines, Path(folder)), both=both)) as graph:
        wanted = find_paths(graph, starts, ends, hops, FREE, shortest, inverse)
        assert graph.paths(starts, ends, hops, FREE, shortest, inverse) == wanted


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a store with a hub of 300 nodes, whose nodes have hubs of their own."""
    lines = [line(f"n{number:03}", "kind", "hub") for number in range(300)]
    lines += [line(f"n{number:03}", f"r{number % 3}", f"m{number % 7}") for number in range(300)]
    lines += [line(f"m{number}", "in", "top") for number in range(7)]
    lines += [f'<{E}n000> <{R}code> "7" .', line("n001", "hidden", "m0"), line("top", "kind", "hub")]
    return write(lines, tmp_path_factory.mktemp("hub"))


PAIRS = [(["n000"], ["m0"]), (["n000"], ["n007"]), (["n001", "n002"], ["top"]), (["hub"], ["top"]), (["m1"], ["m2"])]
STARTS, ENDS = [pair[0] for pair in PAIRS], [pair[1] for pair in PAIRS]


def test_several_searches_are_one_query_for_each_length(hub: str, asked: list[str]) -> None:
    with closing(opened(hub)) as graph:
        found = graph.paths(STARTS, ENDS, 3, FREE, True, True)
        searches = [query for query in asked if "(?i ?s)" in query]
        assert len(searches) <= 4
        assert all("?o" not in query for query in searches)
        assert found == find_paths(graph, STARTS, ENDS, 3, FREE, True, True)


def test_lengths_are_asked_for_only_until_there_is_a_path(hub: str, asked: list[str]) -> None:
    with closing(opened(hub)) as graph:
        assert list(graph.paths([["n000"]], [["m0"]], 3, FREE, True, True)[0]) == [(Step("r:r0"),)]
    assert not any("?p2" in query for query in asked)


def test_hubs_at_both_ends_are_walked_within_the_budget(
    hub: str, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(opened(hub)) as graph:
        assert list(graph.paths([["hub"]], [["hub"]], 3, FREE, False, True)[0])
        assert not any("?p3" in query for query in asked)
        monkeypatch.setattr(path_joins, "PAIRS_FOR_A_NODE", 2)
        found = graph.paths(STARTS, ENDS, 3, FREE, False, True)
        assert found == find_paths(graph, STARTS, ENDS, 3, FREE, False, True)
        cut = graph.paths([["hub"]], [["hub"]], 3, Budget(nodes=100, hub=100), False, True)[0]
        assert cut.cut
        assert (Step("r:kind", True), Step("r:kind")) in cut.paths


@pytest.mark.parametrize("error", [DeadlineError, TooLargeError, PartialError])
@pytest.mark.parametrize("named", [1, 2, 99])
def test_what_a_server_refuses_is_divided_and_then_walked(
    hub: str, monkeypatch: pytest.MonkeyPatch, error: type[DeadlineError], named: int
) -> None:
    from srtk_plugin_sparql.store import EmbeddedStore

    select = EmbeddedStore.select
    refused = []

    def refuse(self: EmbeddedStore, query: str, divisible: bool, fresh: bool = False) -> Any:
        rows = query.partition("VALUES (?i ?s) {")[2].partition("}")[0].count("(")
        if rows >= named:
            refused.append(rows)
            assert divisible
            raise error("too much").about(self.endpoint, query, "query")
        return select(self, query, divisible, fresh)

    with closing(opened(hub)) as graph:
        wanted = find_paths(graph, STARTS, ENDS, 3, FREE, False, True)
        monkeypatch.setattr(EmbeddedStore, "select", refuse)
        assert graph.paths(STARTS, ENDS, 3, FREE, False, True) == wanted
    assert bool(refused) == (named < 99)
    assert len(refused) < 16


def test_another_failure_is_not_taken_for_an_answer(hub: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from srtk_plugin_sparql.store import EmbeddedStore

    def refuse(self: EmbeddedStore, query: str, divisible: bool, fresh: bool = False) -> Any:
        raise RefusedError("no").about(self.endpoint, query, "query")

    with closing(opened(hub)) as graph:
        graph.frontiers([*STARTS, *ENDS])
        monkeypatch.setattr(EmbeddedStore, "select", refuse)
        with pytest.raises(RefusedError):
            graph.paths(STARTS, ENDS, 3, FREE, False, True)


def test_a_graph_with_steps_of_its_own_is_walked(hub: str, asked: list[str]) -> None:
    class Joined(StepReader):
        pass

    class Own(SparqlGraph):
        def make_reader(
            self, source: Any, vocabulary: Any, ids: Ids, page: int, nodes: int, workers: int
        ) -> StepReader:
            return Joined(source, ids, Queries(vocabulary, ids), page, nodes, workers, self.both)

    class Walked(SparqlGraph):
        def follow(self, frontiers: Any, steps: Any, limit: int | None) -> Any:
            return super().follow(frontiers, steps, limit)

    with closing(opened(hub)) as graph:
        wanted = find_paths(graph, STARTS, ENDS, 3, FREE, False, True)
    for kind in (Own, Walked):
        with closing(kind(hub, vocabulary=Vocabulary(**MEANING))) as graph:
            graph.open()
            asked.clear()
            assert graph.paths(STARTS, ENDS, 3, FREE, False, True) == wanted
            assert not any("(?i ?s)" in query for query in asked)


# Large frontiers


@pytest.fixture
def few_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a query name 20 nodes at most."""
    import attrs

    facts = attrs.evolve(profiles.PROFILES["oxigraph"], nodes=20)
    monkeypatch.setattr(profiles, "PROFILES", {**profiles.PROFILES, "oxigraph": facts})


def walk(graph: SparqlGraph, limit: int | None) -> list[Any]:
    """Walk two steps on from a large frontier, and return all that was read."""
    first = graph.follow(graph.frontiers([["hub"]]), [Step("r:kind", True)], limit)
    steps = graph.steps(first, True)
    at = first * len(steps[0])
    second = graph.follow(at, steps[0], limit)
    third = graph.steps(second, True)
    forward = graph.steps(second, False)
    triples = graph.triples(at, steps[0], limit)
    return [steps, third, forward, triples, [(list(f.ids()), f.cut) for f in (*first, *second)]]


def queries_of(graph: SparqlGraph, limit: int | None, asked: list[str]) -> tuple[list[Any], int]:
    asked.clear()
    with closing(graph):
        return walk(graph, limit), len(asked)


@pytest.mark.usefixtures("few_named")
@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize("limit", [None, 1000, 301, 50, 2])
def test_a_large_frontier_queried_by_its_path_reads_the_same(
    hub: str, asked: list[str], monkeypatch: pytest.MonkeyPatch, limit: int | None, both: bool
) -> None:
    told, fewer = queries_of(opened(hub, both=both), limit, asked)
    monkeypatch.setattr(StepReader, "walks_relations", lambda self: False)
    listed, more = queries_of(opened(hub, both=both), limit, asked)
    assert told == listed
    if limit in (None, 1000):
        assert fewer * 3 <= more


@pytest.mark.usefixtures("few_named")
def test_a_frontier_that_was_cut_is_named_node_by_node(hub: str) -> None:
    with closing(opened(hub)) as graph:
        origin = graph.frontiers([["hub"]])
        kind = [Step("r:kind", True)]
        assert isinstance(graph.follow(origin, kind, None)[0], path_frontiers.PathFrontier)
        assert not isinstance(graph.follow(origin, kind, 100)[0], path_frontiers.PathFrontier)


@pytest.mark.usefixtures("few_named")
def test_neighbours_beyond_a_page_are_read_as_ever(hub: str) -> None:
    paged = opened(hub, limits=SparqlLimits(page=150))
    with closing(opened(hub)) as graph, closing(paged):
        assert walk(paged, None) == walk(graph, None)


@pytest.mark.usefixtures("few_named")
@pytest.mark.parametrize("error", [DeadlineError, TooLargeError, PartialError])
def test_a_way_that_a_server_refuses_is_replaced_by_its_nodes(
    hub: str, monkeypatch: pytest.MonkeyPatch, error: type[DeadlineError]
) -> None:
    from srtk_plugin_sparql.store import EmbeddedStore

    select = EmbeddedStore.select

    def refuse(self: EmbeddedStore, query: str, divisible: bool, fresh: bool = False) -> Any:
        if "?r0" in query:
            raise error("too much").about(self.endpoint, query, "query")
        return select(self, query, divisible, fresh)

    with closing(opened(hub)) as graph:
        wanted = walk(graph, None)
    monkeypatch.setattr(EmbeddedStore, "select", refuse)
    with closing(opened(hub)) as graph:
        assert walk(graph, None) == wanted


@pytest.mark.usefixtures("few_named")
def test_fewer_neighbours_than_were_counted_are_read_again_one_by_one(
    hub: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from srtk_plugin_sparql.store import EmbeddedStore

    select = EmbeddedStore.select
    cut = []

    def lose(self: EmbeddedStore, query: str, divisible: bool, fresh: bool = False) -> Any:
        rows = select(self, query, divisible, fresh)
        if "?r0" in query and query.startswith("SELECT DISTINCT ?d ?n ?p ?o"):
            cut.append(query)
            return rows[:-1]
        return rows

    with closing(opened(hub)) as graph:
        wanted = walk(graph, None)
    monkeypatch.setattr(EmbeddedStore, "select", lose)
    with closing(opened(hub)) as graph:
        assert walk(graph, None) == wanted
    assert cut
