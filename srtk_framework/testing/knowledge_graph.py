"""Conformance of knowledge graphs: every read is compared with a dictionary of the same triples."""

from __future__ import annotations

import contextlib
import csv
import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import attrs
import hypothesis
import numpy as np
import pytest
from hypothesis import strategies

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.testing.batches import BatchConformance, Probe, Probes
from srtk_framework.testing.choices import (
    all_steps,
    named,
    names_of,
    nodes_of,
    oracle_of,
    ordinary_nodes,
    patterns_of,
    steps_of,
)
from srtk_framework.testing.oracle import OracleGraph
from srtk_framework.testing.sample import SAMPLE, Sample, is_plain
from srtk_framework.testing.values import plain
from srtk_framework.text import fold, spaced
from srtk_framework.values import (
    Budget,
    DriverError,
    Frontier,
    InputError,
    Literal,
    NodeSet,
    Origin,
    Pattern,
    Schema,
    Step,
    Triple,
)

UNKNOWN = "no_such_entity"
ALL = Budget(nodes=None, hub=None)
THOUSAND = 1100  # More than a query names (500), or old SQLite takes in a statement (999)


class KnowledgeGraphConformance(BatchConformance):
    """Checks a KnowledgeGraph; its ``driver`` is opened over the triples, names and qualifiers of ``sample``.

    Attributes:
        examples: How many sets of nodes hypothesis makes.
    """

    role = KnowledgeGraph
    examples: ClassVar[int] = 25

    @pytest.fixture(scope="class")
    @classmethod
    def sample(cls) -> Sample:
        """Return the facts that the graph must hold; override it if the graph cannot hold all of ``SAMPLE``."""
        return SAMPLE

    @pytest.fixture
    def oracle(self, sample: Sample) -> OracleGraph:
        """Return the dictionary-based graph that answers are compared with."""
        return oracle_of(sample)

    @pytest.fixture
    def probes(self, sample: Sample, oracle: OracleGraph) -> Probes:
        """Call every method that takes a batch."""
        hub = max(nodes_of(oracle), key=lambda node: (oracle.degrees([node]), node))
        pairs = sorted(all_steps(oracle), key=lambda pair: pair[0] != hub)

        def make(driver: Any) -> list[Probe]:
            def origins(triples: Sequence[Triple]) -> list[Origin]:
                # A source may be the address of a server, which another process starts elsewhere.
                return [attrs.evolve(one, source="") for one in driver.origins(triples)]

            single = list(driver.frontiers([[node] for node in sample.entities]))
            at = dict(zip(sample.entities, single, strict=True))
            walks = [(at[node], step) for node, step in pairs]
            nodes = [(node,) for node in sample.entities]
            return [
                Probe("frontiers", driver.frontiers, [([node, hub],) for node in sample.entities]),
                Probe("steps", driver.steps, [(frontier,) for frontier in single], (True,)),
                Probe("follow", driver.follow, walks, (2,)),
                Probe("triples", driver.triples, walks, (2,)),
                Probe("match", driver.match, [(Pattern(subject=node),) for node in sample.entities]),
                Probe("neighbourhood", driver.neighbourhood, [(frontier,) for frontier in single], (1, ALL)),
                Probe("paths", driver.paths, [([node], [hub]) for node in sample.entities], (2, ALL, True, True)),
                Probe("labels", driver.labels, nodes),
                Probe("find", driver.find, [(sample.labels.get(node, node),) for node in named(sample)]),
                Probe("degrees", driver.degrees, nodes),
                Probe("qualifiers", driver.qualifiers, [(t,) for t in [*sample.qualifiers, *sample.triples]]),
                Probe("origins", origins, [(t,) for t in sample.triples]),
            ]

        return make

    def use(self, driver: Any) -> None:
        """Read a node's steps."""
        driver.steps(driver.frontiers([[UNKNOWN]]), True)

    def test_other_data_have_another_source(self, driver: Any, changed: Any) -> None:
        """Graphs over different data have different sources, so that provenance differs."""
        if changed is None:
            pytest.skip("no fixture `changed` gives a graph over other data")
        with contextlib.closing(changed):
            assert changed.source() != driver.source(), (
                f"the data changed and the source is still {driver.source()!r}; add a hash of the data to it"
            )

    def test_arguments_of_one_call_are_forgotten_in_the_next(self, driver: Any, oracle: OracleGraph) -> None:
        """Reads of one node with different directions, limits and distances do not affect each other."""
        node = max(nodes_of(oracle), key=lambda node: (oracle.degrees([node]), node))
        steps = oracle.steps(oracle.frontiers([[node]]), True)[0]
        calls: list[tuple[str, tuple[Any, ...]]] = [("steps", (inverse,)) for inverse in (True, False)]
        calls += [(name, ([step], n)) for name in ("follow", "triples") for step in steps for n in (1, None, 2)]
        calls += [("neighbourhood", (hops, ALL)) for hops in (2, 1)]
        calls += [("neighbourhood", (1, Budget(triples=most))) for most in (1, 2)]
        with self.copy_of(driver) as one, self.copy_of(driver) as other:
            first = [plain(getattr(one, name)(one.frontiers([[node]]), *rest)) for name, rest in calls]
            second = [plain(getattr(other, name)(other.frontiers([[node]]), *rest)) for name, rest in calls[::-1]]
        for (name, rest), mine, its in zip(calls, first, second[::-1], strict=True):
            assert mine == its, f"{name} of {node!r} with {rest} changes with what was read before"

    def test_more_than_a_thousand_ids_are_one_batch(self, driver: Any, oracle: OracleGraph) -> None:
        """More ids than a query of a database may hold are read in several queries."""
        known = [id_ for id_ in named(oracle.sample) if is_plain(id_)]
        ids = [*(f"{UNKNOWN}_{number}" for number in range(THOUSAND)), *known]
        assert list(driver.frontiers([ids])[0].ids()) == sorted(known), "a frontier of many ids"
        assert_named(oracle, ids, driver.labels(ids))
        assert list(driver.degrees(ids)) == list(oracle.degrees(ids)), f"degrees of {len(ids)} ids"
        names = [*ids[:THOUSAND], *(oracle.sample.labels[id_] for id_ in known)]
        assert plain(driver.find(names)) == plain(oracle.find(names)), f"find of {len(names)} names"

    def test_a_node_with_many_neighbours_is_read_whole(self, driver: Any, oracle: OracleGraph) -> None:
        """All of 120 neighbours are read, also from a server that returns pages."""
        subject, relation, _ = oracle.sample.widest
        step, answers = Step(relation), []
        for graph in (driver, oracle):
            start = graph.frontiers([[subject]])
            reached = graph.follow(start, [step], None)
            back = graph.frontiers([reached[0].ids()])
            triples = [graph.triples(start, [step], None), graph.triples(back, [Step(relation, True)], None)]
            around = graph.neighbourhood(start, 1, ALL)
            answers.append(
                [plain(reached), *map(plain, triples), plain(graph.match([Pattern(subject)])), plain(around)]
            )
        for what, mine, its in zip(("follow", "triples", "triples", "match", "neighbourhood"), *answers, strict=True):
            assert mine == its, f"{what} {step} at {subject!r}, which has many neighbours"

    # Frontiers

    def test_a_frontier_is_a_sorted_set(self, driver: Any, sample: Sample) -> None:
        """Ids are sorted, duplicates are removed, and ``cut`` is 0."""
        wanted = sorted(sample.entities[:5])
        frontier = driver.frontiers([[*wanted[::-1], *wanted]])[0]
        assert plain(frontier) == ("frontier", tuple(wanted), len(wanted), 0)

    def test_literals_are_left_out_of_frontiers(self, driver: Any, sample: Sample) -> None:
        """Frontiers hold entities only; literals are never expanded."""
        node = sample.entities[0]
        for literal in sample.literals:
            assert list(driver.frontiers([[literal, node]])[0].ids()) == [node], f"{literal} is in a frontier"

    def test_unknown_ids_are_left_out_and_answered_by_nothing(self, driver: Any) -> None:
        """An unknown id is no error and has no steps, triples, names or degree."""
        frontier = driver.frontiers([[UNKNOWN]])[0]
        assert frontier.size == 0, f"a frontier holds {UNKNOWN!r}"
        assert plain(driver.steps([frontier], True)) == ((),), "an empty frontier has steps"
        reached = driver.follow([frontier], [Step(UNKNOWN)], None)[0]
        assert plain(reached) == ("frontier", (), 0, 0), "a step from an empty frontier leads somewhere"
        assert plain(driver.triples([frontier], [Step(UNKNOWN)], None)) == ((),), "an empty frontier has triples"
        patterns = [Pattern(subject=UNKNOWN), Pattern(object=UNKNOWN)]
        assert plain(driver.match(patterns)) == ((), ()), f"match finds triples of {UNKNOWN!r}"
        (label,) = driver.labels([UNKNOWN])
        assert label in names_in(UNKNOWN), f"the label of the unknown id {UNKNOWN!r} is {label!r}"
        assert plain(driver.find([UNKNOWN])) == ((),), f"find knows {UNKNOWN!r}"
        assert list(driver.degrees([UNKNOWN])) == [0], "an unknown id has a degree"

    def test_a_relation_that_a_node_lacks_leads_nowhere(self, driver: Any, oracle: OracleGraph) -> None:
        """Following a relation that a node lacks is no error."""
        frontiers = driver.frontiers([[node] for node in oracle.sample.entities[:5]])
        for frontier in frontiers:
            for step in (Step("no_such_relation"), Step("no_such_relation", True)):
                assert driver.follow([frontier], [step], None)[0].size == 0, f"{step} leads somewhere"

    # Steps

    def test_forward_steps_are_those_of_the_triples_sorted(self, driver: Any, oracle: OracleGraph) -> None:
        """Without ``inverse``, steps are the relations of triples with the node as subject."""
        for node in nodes_of(oracle):
            self.compare_steps(driver, oracle, [node], inverse=False)

    def test_inverse_steps_are_read_too_when_asked_for_sorted(self, driver: Any, oracle: OracleGraph) -> None:
        """With ``inverse``, relations of triples with the node as object are inverse steps."""
        for node in nodes_of(oracle):
            self.compare_steps(driver, oracle, [node], inverse=True)

    def compare_steps(self, driver: Any, oracle: OracleGraph, nodes: Sequence[str], inverse: bool) -> None:
        """Compare the steps of one frontier."""
        wanted = oracle.steps(oracle.frontiers([nodes]), inverse)
        assert plain(driver.steps(driver.frontiers([nodes]), inverse)) == plain(wanted), (
            f"steps of {list(nodes)} with inverse={inverse}"
        )

    def test_literals_are_literals_in_every_answer(self, driver: Any, oracle: OracleGraph) -> None:
        """``match``, ``neighbourhood`` and ``qualifiers`` return ``Literal``, never ``str``, also for plain texts."""
        held = [triple for triple in oracle.sample.triples if isinstance(triple.object, Literal)]
        for triple in held:
            start = driver.frontiers([[triple.subject]])
            rows = [driver.match([Pattern(triple.subject)])[0], driver.neighbourhood(start, 1, ALL)[0]]
            for found in [found for row in rows for found in row if found == triple]:
                assert isinstance(found.object, Literal), f"the object of {found} is a plain str; make it a Literal"
        for triple, pairs in oracle.sample.qualifiers.items():
            kinds = {name: isinstance(value, Literal) for name, value in driver.qualifiers([triple])[0]}
            for name, value in pairs:
                assert kinds.get(name) in (None, isinstance(value, Literal)), (
                    f"the qualifier {name} of {triple} is a plain str; make it a Literal"
                )

    # Traversal

    def test_follow_reaches_the_entities_at_the_other_end(self, driver: Any, oracle: OracleGraph) -> None:
        """``follow`` works in both directions, includes loops and leaves literals out."""
        for node, step in steps_of(oracle):
            self.compare_walk(driver, oracle, "follow", [node], step, None)

    def test_follow_obeys_the_limit_by_order_of_id(self, driver: Any, oracle: OracleGraph) -> None:
        """A limit keeps the first neighbours of each node by code point."""
        for node, step in self.entity_steps(oracle):
            reached = driver.follow(driver.frontiers([[node]]), [step], 3)[0]
            wanted = oracle.follow(oracle.frontiers([[node]]), [step], 3)[0]
            assert plain(reached.ids()) == plain(wanted.ids()), f"{step} from {node!r} with a limit of 3"

    def test_follow_counts_what_the_limit_cut(self, driver: Any, oracle: OracleGraph) -> None:
        """``cut`` counts the neighbours that the limit left out, over all nodes."""
        for node, step in self.entity_steps(oracle):
            reached = driver.follow(driver.frontiers([[node]]), [step], 1)[0]
            wanted = oracle.follow(oracle.frontiers([[node]]), [step], 1)[0]
            assert reached.cut == wanted.cut, f"{step} from {node!r} with a limit of 1 cuts {wanted.cut} neighbours"

    def test_a_frontier_of_follow_may_be_followed(self, driver: Any, oracle: OracleGraph) -> None:
        """A frontier returned by ``follow`` is valid input for the next hop."""
        for node, step in steps_of(oracle):
            mine = driver.follow(driver.frontiers([[node]]), [step], None)[0]
            its = oracle.follow(oracle.frontiers([[node]]), [step], None)[0]
            assert set(driver.steps([mine], True)[0]) == set(oracle.steps([its], True)[0]), f"steps after {node} {step}"
            for onward in oracle.steps([its], True)[0]:
                assert plain(driver.triples([mine], [onward], None)) == plain(oracle.triples([its], [onward], None)), (
                    f"{onward} after {step} from {node!r}"
                )

    def test_triples_are_in_their_own_direction_and_order(self, driver: Any, oracle: OracleGraph) -> None:
        """Triples include literals and are ordered by start node, then by end node."""
        for node, step in steps_of(oracle):
            self.compare_walk(driver, oracle, "triples", [node], step, None)

    def test_triples_obey_the_limit_by_order_of_id(self, driver: Any, oracle: OracleGraph) -> None:
        """``triples`` and ``follow`` keep the same neighbours."""
        for node, step in self.entity_steps(oracle):
            self.compare_walk(driver, oracle, "triples", [node], step, 3)

    def test_literal_objects_are_literals_and_entities_are_not(self, driver: Any, oracle: OracleGraph) -> None:
        """``triples`` returns literal objects as ``Literal`` and entities as ``str``."""
        for node, step in steps_of(oracle):
            wanted = oracle.triples(oracle.frontiers([[node]]), [step], None)[0]
            for triple, known in zip(driver.triples(driver.frontiers([[node]]), [step], None)[0], wanted, strict=True):
                assert isinstance(triple.object, Literal) == isinstance(known.object, Literal), (
                    f"the object of {triple} is a {type(triple.object).__name__}"
                )

    def test_edges_by_number_are_those_of_the_hooks(self, driver: Any, oracle: OracleGraph) -> None:
        """``arrays``, where a graph has it, numbers nodes by their ids, and reads the edges of ``triples``."""
        arrays = driver.arrays()
        if arrays is None:
            return
        numbers = arrays.numbers([*ordinary_nodes(oracle), UNKNOWN]).tolist()
        assert numbers[:-1] == sorted(set(numbers[:-1])), "nodes have numbers in order of id"
        assert numbers[-1] == -1, f"{UNKNOWN} has the number {numbers[-1]}"
        assert list(arrays.relations) == sorted(arrays.relations)
        for node, step in steps_of(oracle):
            wanted = oracle.triples(oracle.frontiers([[node]]), [step], None)[0]
            far = [triple.subject if step.inverse else triple.object for triple in wanted]
            starts = arrays.nodes(driver.frontiers([[node]])[0])
            assert arrays.ids(starts) == [node], f"the frontier of {node!r}"
            rows, ends = arrays.along(starts, np.zeros(1, dtype=np.int64), [step], None)
            assert rows.tolist() == [0] * len(far), f"along {step} from {node!r}"
            assert plain(arrays.ids(ends)) == plain(far), f"along {step} from {node!r}"
            assert arrays.is_literal(ends).tolist() == [isinstance(end, Literal) for end in far]
            _, relations, low, high = arrays.runs(starts, step.inverse)
            [at] = [i for i, n in enumerate(relations.tolist()) if arrays.relations[n] == step.relation]
            run = arrays.targets(np.arange(low[at], high[at]), step.inverse)
            assert run.tolist() == sorted(set(ends.tolist())), f"run of {step} from {node!r}"

    def test_random_sets_are_followed_as_by_the_oracle(self, driver: Any, oracle: OracleGraph) -> None:
        """``steps``, ``follow`` and ``triples`` are right for random sets of nodes, directions and limits."""
        some = ordinary_nodes(oracle)

        @hypothesis.settings(
            max_examples=self.examples, deadline=None, database=None, derandomize=True, report_multiple_bugs=False
        )
        @hypothesis.given(strategies.data())
        def check(data: strategies.DataObject) -> None:
            nodes = data.draw(strategies.lists(strategies.sampled_from(some), min_size=2, max_size=6))
            self.compare_steps(driver, oracle, nodes, inverse=data.draw(strategies.booleans()))
            steps = oracle.steps(oracle.frontiers([nodes]), True)[0]
            if steps:
                step = data.draw(strategies.sampled_from(steps))
                self.compare_walk(driver, oracle, "follow", nodes, step, None)
                self.compare_walk(driver, oracle, "triples", nodes, step, data.draw(strategies.integers(1, 5)))

        check()

    def compare_walk(
        self, driver: Any, oracle: OracleGraph, method: str, nodes: Sequence[str], step: Step, limit: int | None
    ) -> None:
        """Compare one step from one frontier."""
        answers = [getattr(g, method)(g.frontiers([nodes]), [step], limit) for g in (driver, oracle)]
        assert plain(answers[0]) == plain(answers[1]), f"{method} {step} from {list(nodes)} with limit {limit}"

    def entity_steps(self, oracle: OracleGraph) -> list[tuple[str, Step]]:
        """List the nodes and steps that lead to entities alone."""
        return [
            (node, step)
            for node, step in steps_of(oracle)
            if not any(
                isinstance(t.object, Literal) for t in oracle.triples(oracle.frontiers([[node]]), [step], None)[0]
            )
        ]

    # Patterns and neighbourhoods

    def test_match_finds_the_triples_of_each_pattern_sorted(self, driver: Any, oracle: OracleGraph) -> None:
        """``match`` answers patterns that bind subject, object or both, with or without the relation."""
        for pattern in patterns_of(oracle.sample):
            assert plain(driver.match([pattern])) == plain(oracle.match([pattern])), f"match of {pattern}"

    def test_a_wholly_open_pattern_is_refused_or_answered_in_full(self, driver: Any, oracle: OracleGraph) -> None:
        """A graph that cannot enumerate raises DriverError instead of returning a part."""
        pattern = Pattern()
        try:
            answer = driver.match([pattern])
        except DriverError as error:
            assert str(error), "the DriverError has no message"  # noqa: PT017 - an error is allowed, not asked for
            return
        assert plain(answer) == plain(oracle.match([pattern])), "match of an open pattern is not all triples, sorted"

    def test_a_neighbourhood_is_read_in_both_directions_nearest_first(self, driver: Any, oracle: OracleGraph) -> None:
        """Triples are ordered by hop, then by step, then as in ``triples``."""
        for node in nodes_of(oracle):
            for hops in (0, 1, 2):
                self.compare_neighbourhood(driver, oracle, node, hops, ALL)

    def test_a_neighbourhood_stops_at_the_budget_of_triples(self, driver: Any, oracle: OracleGraph) -> None:
        """A budget of triples keeps a prefix of the whole neighbourhood."""
        for node in nodes_of(oracle):
            self.compare_neighbourhood(driver, oracle, node, 2, Budget(triples=3, nodes=None, hub=None))

    def test_a_neighbourhood_obeys_the_budget_of_hubs(self, driver: Any, oracle: OracleGraph) -> None:
        """A budget of hubs keeps the first neighbours of each node along each step."""
        for node in nodes_of(oracle):
            self.compare_neighbourhood(driver, oracle, node, 2, Budget(nodes=None, hub=2))

    def test_a_neighbourhood_obeys_the_budget_of_nodes(self, driver: Any, oracle: OracleGraph) -> None:
        """A budget of nodes continues each hop from the first new nodes."""
        for node in nodes_of(oracle):
            self.compare_neighbourhood(driver, oracle, node, 2, Budget(nodes=2, hub=None))

    def compare_neighbourhood(self, driver: Any, oracle: OracleGraph, node: str, hops: int, budget: Budget) -> None:
        """Compare the neighbourhood of one node."""
        answers = [plain(g.neighbourhood(g.frontiers([[node]]), hops, budget)) for g in (driver, oracle)]
        assert answers[0] == answers[1], f"{hops} hops around {node!r} within {budget}"

    # Paths

    def test_paths_between_two_sets_are_those_of_brute_force(self, driver: Any, oracle: OracleGraph) -> None:
        """``paths`` finds all paths or the shortest, up to three hops, forward or in both directions."""
        hub = max(oracle.sample.entities, key=lambda node: (oracle.degrees([node]), node))
        nodes = nodes_of(oracle)
        pairs = [([node], [hub]) for node in nodes] + [(nodes[:2], nodes[-2:]), ([UNKNOWN], [hub]), ([], [hub])]
        starts, ends = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        for hops, shortest, inverse in ((1, False, True), (2, False, True), (2, False, False), (3, True, True)):
            found = driver.paths(starts, ends, hops, ALL, shortest, inverse)
            wanted = oracle.paths(starts, ends, hops, ALL, shortest, inverse)
            for pair, mine, its in zip(pairs, found, wanted, strict=True):
                assert list(mine) == list(its), f"paths of {hops} hops for {pair}, {shortest=}, {inverse=}"
                assert not mine.cut, f"paths for {pair} are cut by {mine.cut}, without any limit"

    # Names and numbers

    def test_labels_name_entities_relations_and_literals(self, driver: Any, oracle: OracleGraph) -> None:
        """The label of an unlabelled id is the id or the name in it; the label of a literal is its value."""
        sample = oracle.sample
        ids = [id_ for id_ in [*sample.entities, *sample.relations] if is_plain(id_)] + sample.literals
        for id_ in ids:
            assert_named(oracle, [id_], driver.labels([id_]))

    def test_other_names_are_names_that_find_knows(self, driver: Any, oracle: OracleGraph) -> None:
        """``other_names`` gives distinct sorted names, and ``find`` leads from each back to the entity."""
        for id_ in [*named(oracle.sample), "no_such_entity"]:
            (names,) = driver.other_names([id_])
            assert list(names) == sorted(set(names)), f"other names of {id_!r} are not distinct and sorted: {names}"
            lost = [name for name in names if id_ not in driver.find([name])[0]]
            assert not lost, f"find does not lead from {lost} to {id_!r}"

    def test_own_ids_leaves_the_ids_of_the_graph(self, driver: Any, oracle: OracleGraph) -> None:
        """``own_ids`` leaves ids of the graph, literals and unknown texts as they are."""
        nodes, relations = nodes_of(oracle), sorted({triple.relation for triple in oracle.sample.triples})
        for ids, of_relations in (([*nodes, UNKNOWN, "a text"], False), (relations, True)):
            own = list(driver.own_ids(ids, of_relations))
            assert own == ids, f"ids of the graph are changed: {ids} to {own}"

    def test_find_knows_labels_and_aliases_after_folding(self, driver: Any, oracle: OracleGraph) -> None:
        """``find`` ignores case, diacritics and underscores, and sorts ids."""
        names = [name for id_ in named(oracle.sample) for name in names_of(oracle.sample, id_)]
        for name in sorted({*names, *(name.upper() for name in names), *(name.replace(" ", "_") for name in names)}):
            assert plain(driver.find([name])) == plain(oracle.find([name])), f"find {name!r}"

    def test_near_names_are_folded_names_that_find_knows(self, driver: Any, oracle: OracleGraph) -> None:
        """``near_names`` returns distinct folded names of entities, no more than asked for."""
        names = sorted({name for id_ in named(oracle.sample) for name in names_of(oracle.sample, id_)})
        asked = [*names, *(name[:-1] for name in names), *(name.split()[0] for name in names if name.split()), "", "x"]
        for limit, whole in ((1, False), (3, False), (3, True)):
            for name, near in zip(asked, driver.near_names(asked, limit, whole), strict=True):
                assert len(near) <= limit, f"{len(near)} names near {name!r} where {limit} are asked for"
                assert len(set(near)) == len(near), f"names near {name!r} come twice: {near}"
                assert [fold(other) for other in near] == list(near), f"names near {name!r} are not folded: {near}"
                assert all(driver.find([other])[0] for other in near), f"find lacks a name near {name!r}: {near}"

    def test_words_of_names_are_known(self, driver: Any, oracle: OracleGraph) -> None:
        """``known_words`` knows every word of a name, whatever its case."""
        names = sorted({name for id_ in named(oracle.sample) for name in names_of(oracle.sample, id_)})
        known = sorted({word for name in names for word in name.split() if word.isalpha()})
        answer = driver.known_words([*known, *(word.upper() for word in known)])
        assert list(answer) == [True] * len(answer), f"of the words {known} not all are known: {list(answer)}"

    def test_degrees_count_the_triples_at_a_node(self, driver: Any, oracle: OracleGraph) -> None:
        """Degrees count triples as subject and as object; a loop counts once."""
        for node in nodes_of(oracle):
            assert plain(driver.degrees([node])) == plain(oracle.degrees([node])), f"degree of {node!r}"

    def test_qualifiers_come_with_their_triple_sorted(self, driver: Any, oracle: OracleGraph) -> None:
        """Qualifiers are sorted; an unknown triple has none."""
        made_up = Triple(UNKNOWN, "no_such_relation", UNKNOWN)
        for triple in [*oracle.sample.qualifiers, *oracle.sample.triples[:5], made_up]:
            assert plain(driver.qualifiers([triple])) == plain(oracle.qualifiers([triple])), f"qualifiers of {triple}"

    def test_quotes_and_other_scripts_survive_in_ids_and_names(self, driver: Any, oracle: OracleGraph) -> None:
        """Ids and names with quotes, spaces or other scripts come back unchanged."""
        for node in oracle.sample.strange():
            assert list(driver.frontiers([[node]])[0].ids()) == [node], f"frontier of {node!r}"
            assert_named(oracle, [node], driver.labels([node]))
            assert plain(driver.match([Pattern(subject=node)])) == plain(oracle.match([Pattern(subject=node)])), (
                f"triples of {node!r}"
            )
        for relation in oracle.sample.relations:
            assert_named(oracle, [relation], driver.labels([relation]))

    def test_the_source_is_the_same_for_the_same_data(self, driver: Any) -> None:
        """``source`` is a text that stays the same, also in a second driver."""
        source = driver.source()
        assert isinstance(source, str), f"source returned {type(source).__name__}, not str"
        assert source, "source returned an empty text"
        with self.copy_of(driver) as copy:
            assert [driver.source(), copy.source()] == [source, source], "source changes while the data is the same"

    def test_the_origin_of_a_stored_triple_is_certain(self, driver: Any, sample: Sample) -> None:
        """``origins`` names a source for each triple of the data, with confidence 1 and no completer."""
        for triple, origin in zip(sample.triples, driver.origins(sample.triples), strict=True):
            assert isinstance(origin, Origin), f"the origin of {triple} is a {type(origin).__name__}, not an Origin"
            assert origin.source, f"the origin of {triple} has no source"
            assert (origin.confidence, origin.by) == (1, ""), f"the data hold {triple}, but its origin is {origin}"

    def test_the_schema_is_a_schema(self, driver: Any) -> None:
        """``schema`` returns a Schema whose fields have the right types."""
        schema = driver.schema()
        assert isinstance(schema, Schema), f"schema returned {type(schema).__name__}"
        lists = (schema.type_relations, schema.subclass_relations, schema.mediators, schema.noise, schema.symmetric)
        for values in lists:
            assert isinstance(values, tuple), f"{values!r} in the schema must be a tuple"
            assert all(isinstance(value, str) for value in values), f"{values!r} in the schema must hold texts"


def names_in(id_: str) -> set[str]:
    """Return the possible names of an id without a label: the id, whole or split into words."""
    return {id_, id_.replace("_", " ").strip(), spaced(id_)}


def assert_named(oracle: OracleGraph, ids: Sequence[str], labels: Sequence[str]) -> None:
    """Check that labels equal the labels of the oracle, or the names in unlabelled ids."""
    assert len(labels) == len(ids), f"{len(labels)} labels of {len(ids)} ids"
    for id_, wanted, label in zip(ids, oracle.labels(ids), labels, strict=True):
        assert label == wanted or (wanted == id_ and label in names_in(id_)), f"label of {id_!r} is {label!r}"


@attrs.define(eq=False)
class ToyKnowledgeGraph(KnowledgeGraph):
    """Read a CSV file into dictionaries; hooks that are not written here have defaults that use these.

    Attributes:
        path: CSV file of subject, relation, object; an object in quotes of its own is a literal.
        labels: CSV file of id and name, the label before the aliases; empty for none.
    """

    path: str
    _labels: str = ""
    _ends: dict[tuple[str, Step], list[str]] = attrs.field(init=False, factory=dict, repr=False)
    _steps: dict[str, set[Step]] = attrs.field(init=False, factory=dict, repr=False)
    _names: dict[str, str] = attrs.field(init=False, factory=dict, repr=False)
    _named: dict[str, set[str]] = attrs.field(init=False, factory=dict, repr=False)
    _hash: str = attrs.field(init=False, default="", repr=False)

    def open(self) -> None:
        """Read the files."""
        facts = _read_rows(self.path, 3)
        names = _read_rows(self._labels, 2) if self._labels else []
        ends: dict[tuple[str, Step], set[str]] = {}
        for subject, relation, text in facts:
            object_ = Literal(text) if text.startswith('"') else text
            ends.setdefault((subject, Step(relation)), set()).add(object_)
            if not isinstance(object_, Literal):
                ends.setdefault((object_, Step(relation, True)), set()).add(subject)
        self._ends = {key: sorted(found) for key, found in ends.items()}
        self._steps, self._names, self._named = {}, {}, {}
        for node, step in self._ends:
            self._steps.setdefault(node, set()).add(step)
        for id_, name in names:
            self._names.setdefault(id_, name)
            if id_ in self._steps:
                self._named.setdefault(fold(name), set()).add(id_)
        self._hash = hashlib.sha256(repr((sorted(facts), names)).encode()).hexdigest()[:16]

    def frontiers(self, node_sets: Sequence[Sequence[str]]) -> list[Frontier]:
        """Keep the ids that the graph has."""
        return [NodeSet(id_ for id_ in ids if id_ in self._steps) for ids in node_sets]

    def steps(self, frontiers: Sequence[Frontier], inverse: bool) -> list[list[Step]]:
        """Collect the steps of the nodes."""
        return [
            sorted({step for id_ in frontier.ids() for step in self._steps[id_] if inverse or not step.inverse})
            for frontier in frontiers
        ]

    def follow(self, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None) -> list[Frontier]:
        """Collect the entities at the other end; count the ends beyond the limit."""
        reached: list[Frontier] = []
        for frontier, step in zip(frontiers, steps, strict=True):
            rows = [self._ends.get((id_, step), []) for id_ in frontier.ids()]
            cut = sum(len(row) - len(row[:limit]) for row in rows)
            reached.append(NodeSet((end for row in rows for end in row[:limit] if end in self._steps), cut))
        return reached

    def triples(self, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None) -> list[list[Triple]]:
        """Write the other ends as triples, in their own direction."""
        answers = []
        for frontier, step in zip(frontiers, steps, strict=True):
            pairs = [(id_, end) for id_ in frontier.ids() for end in self._ends.get((id_, step), [])[:limit]]
            answers.append([_triple(id_, step, end) for id_, end in pairs])
        return answers

    def labels(self, ids: Sequence[str]) -> list[str]:
        """Look labels up; the name of a literal is its value."""
        return [self._names.get(id_, id_.lexical if isinstance(id_, Literal) else id_) for id_ in ids]

    def find(self, names: Sequence[str]) -> list[list[str]]:
        """Look folded names up."""
        return [sorted(self._named.get(fold(name), ())) for name in names]

    def source(self) -> str:
        """Return the name of the driver and a hash of all that the files hold."""
        return f"toy:{self._hash}"

    def fingerprint(self) -> str:
        """Name the data, so that a run never continues on other data."""
        return self.source()


def _triple(start: str, step: Step, end: str) -> Triple:
    return Triple(end, step.relation, start) if step.inverse else Triple(start, step.relation, end)


def _read_rows(path: str, size: int) -> list[list[str]]:
    """Read the rows of a CSV file, all of one size."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines(keepends=True)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}; name a CSV file") from error
    rows = list(csv.reader(lines))
    for number, row in enumerate(rows, start=1):
        if len(row) != size or not all(row):
            raise InputError(f"{path}:{number}: {len(row)} fields; give {size} in each row, none of them empty")
    return rows


class ToyKnowledgeGraphCase(KnowledgeGraphConformance):
    """The toy graph keeps the contract of a knowledge graph."""

    name = "toy"

    @pytest.fixture(scope="class")
    @classmethod
    def sample(cls) -> Sample:
        """Leave out the qualifiers, which two CSV files cannot hold."""
        return SAMPLE.without_qualifiers()

    @pytest.fixture
    def changed(self, driver: ToyKnowledgeGraph, sample: Sample, tmp_path: Path) -> ToyKnowledgeGraph:
        """Write the files again without the last triple, and open a graph with the same settings."""
        return self.over(attrs.evolve(sample, triples=sample.triples[:-1]), tmp_path)

    def over(self, sample: Sample, folder: Path) -> ToyKnowledgeGraph:
        """Write a sample and open a graph over it."""
        names = [*sample.labels.items(), *((id_, name) for id_, row in sample.aliases.items() for name in row)]
        for file, rows in (("facts.csv", [tuple(triple) for triple in sample.triples]), ("labels.csv", names)):
            with folder.joinpath(file).open("w", encoding="utf-8", newline="") as lines:
                csv.writer(lines).writerows(rows)
        graph = ToyKnowledgeGraph(path=str(folder / "facts.csv"), labels=str(folder / "labels.csv"))
        graph.open()
        return graph

    @pytest.fixture
    def driver(self, sample: Sample, tmp_path: Path) -> Iterator[ToyKnowledgeGraph]:
        """Open a graph over the sample."""
        graph = self.over(sample, tmp_path)
        yield graph
        graph.close()

    @pytest.fixture
    def faulty(self, tmp_path: Path) -> ToyKnowledgeGraph:
        """Return a graph over a file that does not exist."""
        return ToyKnowledgeGraph(path=str(tmp_path / "missing.csv"))


SUMMARY = "A knowledge graph in a CSV file"

RECIPE = """\
knowledge_graph: {use: toy, path: facts.csv, labels: labels.csv}
"""
