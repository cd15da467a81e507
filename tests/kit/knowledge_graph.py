"""Graphs that each break one rule of KnowledgeGraph.

They derive from OracleGraph, in which no method calls another: in the toy graph, whose other hooks have the defaults of
the role, a broken ``follow`` would break paths and neighbourhoods too.
"""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import numpy as np
import pytest

from kit.checked import opened
from kit.rules import batch_faults, changed, publish
from srtk_framework.testing.knowledge_graph import UNKNOWN, KnowledgeGraphConformance
from srtk_framework.testing.oracle import OracleGraph
from srtk_framework.testing.sample import Sample, is_plain
from srtk_framework.values import Budget, Literal, NodeSet, Origin, Triple

GOOD = OracleGraph


class _NoEdges:
    """Arrays that number the nodes and find no edge."""

    relations: ClassVar[list[str]] = []

    def numbers(self, ids: Any) -> Any:
        """Number the ids in their order; the last is unknown."""
        return np.array([*range(len(ids) - 1), -1])

    def ids(self, numbers: Any) -> Any:
        """Return no id."""
        return []

    def nodes(self, frontier: Any) -> Any:
        """Return no node."""
        return np.zeros(0, dtype=np.int64)

    def along(self, nodes: Any, places: Any, steps: Any, limit: Any) -> Any:
        """Return no edge."""
        return (np.zeros(0, dtype=np.int64),) * 2


class Checked(KnowledgeGraphConformance):
    """Tests one of the graphs."""

    under_test: ClassVar[type[OracleGraph]] = GOOD

    @pytest.fixture
    def driver(self, sample: Sample) -> OracleGraph:
        """Open it over the sample."""
        return opened(self.under_test(sample=sample))

    @pytest.fixture
    def changed(self, sample: Sample) -> OracleGraph:
        """Open it over the sample without its last triple."""
        return opened(self.under_test(sample=attrs.evolve(sample, triples=sample.triples[:-1])))


class _Counted(NodeSet):
    """Says that it has another number of nodes than it has."""

    __slots__ = ("_said",)

    def __init__(self, ids: Any, said: int) -> None:
        super().__init__(ids)
        self._said = said

    @property
    def size(self) -> int:
        return self._said


class _Reached(NodeSet):
    """What a broken ``follow`` returns, and a broken ``triples`` does not know."""

    __slots__ = ()


def _frontiers_count_duplicates(self: Any, call: Any, node_sets: Any) -> Any:
    return [_Counted(f.ids(), len(ids)) if f.size else f for f, ids in zip(call(node_sets), node_sets, strict=True)]


def _frontiers_keep_literals(self: Any, call: Any, node_sets: Any) -> Any:
    kept = [[id_ for id_ in ids if id_.startswith('"')] for ids in node_sets]
    return [NodeSet([*f.ids(), *more]) if more else f for f, more in zip(call(node_sets), kept, strict=True)]


def _labels_refuse_unknown_ids(self: Any, call: Any, ids: Any) -> Any:
    if UNKNOWN in ids:
        raise KeyError(UNKNOWN)
    return call(ids)


def _follow_refuses_other_steps(self: Any, call: Any, frontiers: Any, steps: Any, limit: Any) -> Any:
    known = self.sample.relations
    if wrong := [s for f, s in zip(frontiers, steps, strict=True) if f.size and s.relation not in known]:
        raise KeyError(wrong[0])
    return call(frontiers, steps, limit)


def _steps_are_always_inverse_too(self: Any, call: Any, frontiers: Any, inverse: bool) -> Any:
    return call(frontiers, inverse or all(frontier.size == 1 for frontier in frontiers))


def _inverse_steps_are_unsorted(self: Any, call: Any, frontiers: Any, inverse: bool) -> Any:
    rows = call(frontiers, inverse)
    if not inverse or any(frontier.size > 1 for frontier in frontiers):
        return rows
    return [sorted(row, key=lambda s: (s.inverse, s)) for row in rows]


def _follow_keeps_literals(self: Any, call: Any, frontiers: Any, steps: Any, limit: Any) -> Any:
    answer = call(frontiers, steps, limit)
    if limit is not None or any(f.size > 1 for f in frontiers):
        return answer
    ends = [
        [t.object for t in row] if not s.inverse else ()
        for row, s in zip(self.triples(frontiers, steps, None), steps, strict=True)
    ]
    return [NodeSet([*f.ids(), *more]) for f, more in zip(answer, ends, strict=True)]


def _follow_takes_the_last(self: Any, call: Any, frontiers: Any, steps: Any, limit: Any) -> Any:
    if limit != 3:
        return call(frontiers, steps, limit)
    return [NodeSet(list(f.ids())[-3:]) for f in call(frontiers, steps, None)]


def _follow_cuts_in_silence(self: Any, call: Any, frontiers: Any, steps: Any, limit: Any) -> Any:
    return [NodeSet(f.ids()) if limit == 1 else f for f in call(frontiers, steps, limit)]


def _follow_returns_another_kind(self: Any, call: Any, frontiers: Any, steps: Any, limit: Any) -> Any:
    return [_Reached(f.ids(), f.cut) for f in call(frontiers, steps, limit)]


def _triples_know_one_kind(self: Any, call: Any, frontiers: Any, steps: Any, limit: Any) -> Any:
    rows = call(frontiers, steps, limit)
    return [[] if isinstance(f, _Reached) else row for f, row in zip(frontiers, rows, strict=True)]


def _triples_turn_round(self: Any, call: Any, frontiers: Any, steps: Any, limit: Any) -> Any:
    return [
        [Triple(t.object, t.relation, t.subject) for t in row] if f.ids() == ("Echo",) and limit is None else row
        for f, row in zip(frontiers, call(frontiers, steps, limit), strict=True)
    ]


def _triples_ignore_the_limit(self: Any, call: Any, frontiers: Any, steps: Any, limit: Any) -> Any:
    alone = all(f.size == 1 for f in frontiers)
    return call(frontiers, steps, None if alone and limit == 3 else limit)


def _literals_are_texts(self: Any, call: Any, frontiers: Any, steps: Any, limit: Any) -> Any:
    return [[Triple(*map(str, triple)) for triple in row] for row in call(frontiers, steps, limit)]


def _small_sets_lose_one(self: Any, call: Any, node_sets: Any) -> Any:
    return [NodeSet(f.ids()[:-1]) if 2 <= f.size <= 4 else f for f in call(node_sets)]


def _match_is_unsorted(self: Any, call: Any, patterns: Any) -> Any:
    return [
        row[::-1] if p.relation is not None and p.subject is None else row
        for p, row in zip(patterns, call(patterns), strict=True)
    ]


def _open_match_is_cut(self: Any, call: Any, patterns: Any) -> Any:
    return [row if any(p) else row[:10] for p, row in zip(patterns, call(patterns), strict=True)]


def _neighbourhood_goes_one_hop(self: Any, call: Any, frontiers: Any, hops: int, budget: Budget) -> Any:
    return call(frontiers, min(hops, 1) if budget == Budget(nodes=None, hub=None) else hops, budget)


def _without(limit: str) -> Any:
    def change(self: Any, call: Any, frontiers: Any, hops: int, budget: Budget) -> Any:
        return call(frontiers, hops, attrs.evolve(budget, **{limit: None}))

    return change


def _paths_go_forward_only(self: Any, call: Any, *arguments: Any) -> Any:
    return call(*arguments[:-1], False)


def _labels_of_literals_are_raw(self: Any, call: Any, ids: Any) -> Any:
    return [str(id_) if isinstance(id_, Literal) else label for id_, label in zip(ids, call(ids), strict=True)]


def _find_minds_case(self: Any, call: Any, names: Any) -> Any:
    return [() if name.isupper() else row for name, row in zip(names, call(names), strict=True)]


def _unfolded_near_names(self: Any, call: Any, names: Any, limit: int, whole: bool) -> Any:
    return [[self.sample.entities[0].upper()] for _ in names]


def _known_words_mind_case(self: Any, call: Any, words: Any) -> Any:
    return [not word.isupper() for word in words]


def _degrees_count_loops_twice(self: Any, call: Any, ids: Any) -> Any:
    loops = {t.subject for t in self.sample.triples if t.subject == t.object}
    return [count + (id_ in loops) for id_, count in zip(ids, call(ids), strict=True)]


def _qualifiers_are_unsorted(self: Any, call: Any, triples: Any) -> Any:
    return [row[::-1] for row in call(triples)]


def _quotes_are_dropped(self: Any, call: Any, ids: Any) -> Any:
    return [
        label if is_plain(id_) or isinstance(id_, Literal) else label.replace('"', "")
        for id_, label in zip(ids, call(ids), strict=True)
    ]


def _source_names_the_instance(self: Any, call: Any) -> str:
    return f"{call()}:{id(self)}"


def _schema_has_lists(self: Any, call: Any) -> Any:
    return attrs.evolve(call(), noise=["code"])


def _steps_are_kept(self: Any, call: Any, frontiers: Any, inverse: bool) -> Any:
    if any(frontier.size > 1 for frontier in frontiers):
        return call(frontiers, inverse)
    memory = vars(self).setdefault("memory", {})
    return [memory.setdefault(f.ids(), row) for f, row in zip(frontiers, call(frontiers, inverse), strict=True)]


def _many_ids_fail(self: Any, call: Any, ids: Any) -> Any:
    if len(ids) > 999:
        raise ValueError("too many SQL variables")
    return call(ids)


def _fifty_rows(self: Any, call: Any, frontiers: Any, steps: Any, limit: Any) -> Any:
    return [row[:50] for row in call(frontiers, steps, limit)]


def _fifty_nodes(self: Any, call: Any, frontiers: Any, steps: Any, limit: Any) -> Any:
    return [NodeSet(f.ids()[:50], f.cut) for f in call(frontiers, steps, limit)]


def _matches_are_texts(self: Any, call: Any, patterns: Any) -> Any:
    return [[Triple(*map(str, triple)) for triple in row] for row in call(patterns)]


def _qualifiers_are_texts(self: Any, call: Any, triples: Any) -> Any:
    return [tuple((name, str(value)) for name, value in row) for row in call(triples)]


def _fingerprint_without_data(self: Any, call: Any) -> str:
    return "a graph"


def _source_without_data(self: Any, call: Any) -> str:
    return "a graph"


def _origins_are_constant(self: Any, call: Any, triples: Any) -> Any:
    return [Origin("a graph")] * len(triples)


def _origins_are_doubted(self: Any, call: Any, triples: Any) -> Any:
    return [attrs.evolve(origin, confidence=0.5) for origin in call(triples)]


FAULTS = [
    changed(GOOD, "test_the_origin_of_a_stored_triple_is_certain", origins=_origins_are_doubted),
    changed(GOOD, "test_arguments_of_one_call_are_forgotten_in_the_next", steps=_steps_are_kept),
    changed(GOOD, "test_more_than_a_thousand_ids_are_one_batch", labels=_many_ids_fail),
    changed(GOOD, "test_more_than_a_thousand_ids_are_one_batch", find=_many_ids_fail),
    changed(GOOD, "test_a_node_with_many_neighbours_is_read_whole", triples=_fifty_rows),
    changed(GOOD, "test_a_node_with_many_neighbours_is_read_whole", follow=_fifty_nodes),
    changed(GOOD, "test_literals_are_literals_in_every_answer", match=_matches_are_texts),
    changed(GOOD, "test_literals_are_literals_in_every_answer", qualifiers=_qualifiers_are_texts),
    changed(GOOD, "test_other_data_have_another_fingerprint", fingerprint=_fingerprint_without_data),
    changed(GOOD, "test_other_data_have_another_source", source=_source_without_data),
    *batch_faults(GOOD, "labels"),
    changed(GOOD, "test_a_frontier_is_a_sorted_set", frontiers=_frontiers_count_duplicates),
    changed(GOOD, "test_literals_are_left_out_of_frontiers", frontiers=_frontiers_keep_literals),
    changed(GOOD, "test_unknown_ids_are_left_out_and_answered_by_nothing", labels=_labels_refuse_unknown_ids),
    changed(GOOD, "test_a_relation_that_a_node_lacks_leads_nowhere", follow=_follow_refuses_other_steps),
    changed(GOOD, "test_forward_steps_are_those_of_the_triples_sorted", steps=_steps_are_always_inverse_too),
    changed(GOOD, "test_inverse_steps_are_read_too_when_asked_for_sorted", steps=_inverse_steps_are_unsorted),
    changed(GOOD, "test_follow_reaches_the_entities_at_the_other_end", follow=_follow_keeps_literals),
    changed(GOOD, "test_follow_obeys_the_limit_by_order_of_id", follow=_follow_takes_the_last),
    changed(GOOD, "test_follow_counts_what_the_limit_cut", follow=_follow_cuts_in_silence),
    changed(
        GOOD,
        "test_a_frontier_of_follow_may_be_followed",
        follow=_follow_returns_another_kind,
        triples=_triples_know_one_kind,
    ),
    changed(GOOD, "test_triples_are_in_their_own_direction_and_order", triples=_triples_turn_round),
    changed(GOOD, "test_triples_obey_the_limit_by_order_of_id", triples=_triples_ignore_the_limit),
    changed(GOOD, "test_literal_objects_are_literals_and_entities_are_not", triples=_literals_are_texts),
    changed(GOOD, "test_edges_by_number_are_those_of_the_hooks", arrays=lambda self, call: _NoEdges()),
    changed(GOOD, "test_random_sets_are_followed_as_by_the_oracle", frontiers=_small_sets_lose_one),
    changed(GOOD, "test_match_finds_the_triples_of_each_pattern_sorted", match=_match_is_unsorted),
    changed(GOOD, "test_a_wholly_open_pattern_is_refused_or_answered_in_full", match=_open_match_is_cut),
    changed(
        GOOD,
        "test_a_neighbourhood_is_read_in_both_directions_nearest_first",
        neighbourhood=_neighbourhood_goes_one_hop,
    ),
    changed(GOOD, "test_a_neighbourhood_stops_at_the_budget_of_triples", neighbourhood=_without("triples")),
    changed(GOOD, "test_a_neighbourhood_obeys_the_budget_of_hubs", neighbourhood=_without("hub")),
    changed(GOOD, "test_a_neighbourhood_obeys_the_budget_of_nodes", neighbourhood=_without("nodes")),
    changed(GOOD, "test_paths_between_two_sets_are_those_of_brute_force", paths=_paths_go_forward_only),
    changed(GOOD, "test_labels_name_entities_relations_and_literals", labels=_labels_of_literals_are_raw),
    changed(
        GOOD,
        "test_other_names_are_names_that_find_knows",
        other_names=lambda self, call, ids: [["a name of nobody"] for _ in ids],
    ),
    changed(
        GOOD,
        "test_own_ids_leaves_the_ids_of_the_graph",
        own_ids=lambda self, call, ids, relations: [f"wd:{id_}" for id_ in ids],
    ),
    changed(GOOD, "test_find_knows_labels_and_aliases_after_folding", find=_find_minds_case),
    changed(GOOD, "test_near_names_are_folded_names_that_find_knows", near_names=_unfolded_near_names),
    changed(GOOD, "test_words_of_names_are_known", known_words=_known_words_mind_case),
    changed(GOOD, "test_degrees_count_the_triples_at_a_node", degrees=_degrees_count_loops_twice),
    changed(GOOD, "test_qualifiers_come_with_their_triple_sorted", qualifiers=_qualifiers_are_unsorted),
    changed(GOOD, "test_quotes_and_other_scripts_survive_in_ids_and_names", labels=_quotes_are_dropped),
    changed(
        GOOD,
        "test_the_source_is_the_same_for_the_same_data",
        source=_source_names_the_instance,
        origins=_origins_are_constant,
    ),
    changed(GOOD, "test_the_schema_is_a_schema", schema=_schema_has_lists),
]
publish(__name__, globals(), FAULTS)
