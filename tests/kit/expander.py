"""Expanders that each break one rule of Expander."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import pytest

from kit.checked import opened
from kit.rules import Fault, batch_faults, changed, kept_under, publish
from srtk_framework.testing.expander import ExpanderConformance, ToyExpander
from srtk_framework.testing.oracle import OracleGraph
from srtk_framework.values import Budget, Question, RankedPath, Step, Subgraph, Triple

GOOD = ToyExpander


class Checked(ExpanderConformance):
    """Tests one of the expanders."""

    under_test: ClassVar[type[ToyExpander]] = GOOD

    @pytest.fixture
    def driver(self, graph: OracleGraph, budget: Budget) -> ToyExpander:
        """Open it over the sample graph."""
        return opened(self.under_test(graph=graph, budget=budget))


def _each(change: Any) -> Any:
    """Change every subgraph that has triples."""

    def method(self: Any, call: Any, questions: Any) -> Any:
        return [change(self, q, s) if s.triples else s for q, s in zip(questions, call(questions), strict=True)]

    return method


def _nothing(self: Any, question: Question, found: Subgraph) -> Subgraph:
    return Subgraph(trace={"reason": "nothing was found"})


def _turned(self: Any, question: Question, found: Subgraph) -> Subgraph:
    if question.id != "loop" or len(found.triples) < 2:
        return found
    turned = [Triple(o, r, s) if s == "Echo" else Triple(s, r, o) for s, r, o in found.triples]
    return attrs.evolve(found, triples=tuple(turned), path_of=(-1,) * len(turned))


def _repeated(self: Any, question: Question, found: Subgraph) -> Subgraph:
    if self.budget != Budget():
        return found
    places = range(len(found.triples))
    return found.ordered([*places, places[-1]]) if places else found


def _unrounded(self: Any, question: Question, found: Subgraph) -> Subgraph:
    return attrs.evolve(found, scores=tuple(score / 3 for score in found.scores))


def _worst_first(self: Any, question: Question, found: Subgraph) -> Subgraph:
    last = len(found.paths) - 1
    return attrs.evolve(found, paths=found.paths[::-1], path_of=tuple(last - i for i in found.path_of))


def _beyond(self: Any, question: Question, found: Subgraph) -> Subgraph:
    return attrs.evolve(found, path_of=(*found.path_of[:-1], len(found.paths)))


def _elsewhere(self: Any, question: Question, found: Subgraph) -> Subgraph:
    more = RankedPath("Museum", (Step("kept_in", True),), -99.0)
    return attrs.evolve(found, paths=(*found.paths, more))


def _wrong_path(self: Any, question: Question, found: Subgraph) -> Subgraph:
    return attrs.evolve(found, path_of=found.path_of[::-1])


def _loose(self: Any, question: Question, found: Subgraph) -> Subgraph:
    if self.budget.triples != 2:
        return found
    whole: Subgraph = attrs.evolve(self, budget=Budget()).expand([question])[0]
    last = len(whole.triples) - 1
    return attrs.evolve(whole.ordered([last]), trace=found.trace)


def _without(limit: str) -> Any:
    """Ignore one limit, but say that something was cut."""

    def method(self: Any, call: Any, questions: Any) -> Any:
        if getattr(self.budget, limit) in (None, 1000):
            return call(questions)
        free = ToyExpander(graph=self.graph, budget=attrs.evolve(self.budget, **{limit: None}))
        return [
            s if limit == "triples" and not s.triples else attrs.evolve(s, trace={**s.trace, "cut": {limit: 1}})
            for s in free.expand(questions)
        ]

    return method


def _silent(limit: str) -> Any:
    def change(self: Any, question: Question, found: Subgraph) -> Subgraph:
        if getattr(self.budget, limit) in (None, 1000):
            return found
        return attrs.evolve(found, trace={"paths": found.trace["paths"]})

    return change


def _no_reason(with_links: bool) -> Any:
    def method(self: Any, call: Any, questions: Any) -> Any:
        pairs = zip(questions, call(questions), strict=True)
        if self.budget.tokens:
            return [found for _, found in pairs]
        return [attrs.evolve(s, trace={}) if not s.triples and bool(q.links) == with_links else s for q, s in pairs]

    return method


def _quotes_fail(self: Any, question: Question, found: Subgraph) -> Subgraph:
    if '"' in question.text:
        raise ValueError("a quote")
    return found


def _blank(name: str) -> Any:
    return lambda self, question, found: attrs.evolve(found, **{name: ()})


def _timed(self: Any, question: Question, found: Subgraph) -> Subgraph:
    return attrs.evolve(found, trace={**found.trace, "seen": ("a tuple",)})


def _worst_triples_first(self: Any, question: Question, found: Subgraph) -> Subgraph:
    return found.ordered(range(len(found.triples))[::-1])


def _scores_stay_in_place(self: Any, question: Question, found: Subgraph) -> Subgraph:
    return attrs.evolve(found.ordered(range(len(found.triples))[::-1]), scores=found.scores)


def _hash_breaks_ties(self: Any, question: Question, found: Subgraph) -> Subgraph:
    order = sorted(range(len(found.triples)), key=lambda i: (-found.scores[i], hash(found.triples[i])))
    return found.ordered(order)


def _gold_first(self: Any, question: Question, found: Subgraph) -> Subgraph:
    if not question.gold_triples:
        return found
    return attrs.evolve(found, triples=(*question.gold_triples, *found.triples[len(question.gold_triples) :]))


def _made_up(self: Any, question: Question, found: Subgraph) -> Subgraph:
    return attrs.evolve(found, provenance=("the web",) * len(found.triples))


def _unsure(self: Any, question: Question, found: Subgraph) -> Subgraph:
    if self.budget != Budget():
        return found  # the text of the subgraph, which the budget of tokens counts, says what is not sure
    return attrs.evolve(found, confidences=(0.5,) * len(found.triples))


def _literals_are_texts(self: Any, question: Question, found: Subgraph) -> Subgraph:
    if self.budget != Budget():
        return found
    return attrs.evolve(found, triples=tuple(Triple(*map(str, triple)) for triple in found.triples))


def _qualifiers_are_texts(self: Any, question: Question, found: Subgraph) -> Subgraph:
    if self.budget != Budget():
        return found
    return attrs.evolve(found, qualifiers=tuple(tuple((n, str(v)) for n, v in row) for row in found.qualifiers))


BEFORE = "test_no_answer_depends_on_what_was_asked_before"

FAULTS: list[Fault] = [
    *batch_faults(GOOD, "expand"),
    changed(GOOD, BEFORE, expand=kept_under(lambda question: question.id)),
    changed(GOOD, BEFORE, expand=kept_under(lambda question: question.text)),
    changed(GOOD, BEFORE, expand=kept_under(lambda question: [link.entity for link in question.links][:1])),
    changed(GOOD, "test_the_budget_of_tokens_is_obeyed", expand=_without("tokens")),
    *(
        changed(GOOD, check, expand=_each(change))
        for check, change in {
            "test_something_is_found": _nothing,
            "test_every_triple_is_in_the_graph": _turned,
            "test_triples_are_distinct": _repeated,
            "test_scores_are_aligned_finite_and_rounded": _unrounded,
            "test_paths_come_best_first": _worst_first,
            "test_path_of_points_to_a_path_for_each_triple": _beyond,
            "test_paths_start_at_links": _elsewhere,
            "test_every_triple_of_a_path_lies_on_it": _wrong_path,
            "test_a_cut_leaves_triples_of_paths_connected_to_a_link": _loose,
            "test_a_cut_by_the_budget_of_triples_is_counted": _silent("triples"),
            "test_a_cut_by_the_budget_of_hubs_is_counted": _silent("hub"),
            "test_a_cut_by_the_budget_of_nodes_is_counted": _silent("nodes"),
            "test_a_cut_by_the_budget_of_mass_is_counted": _silent("mass"),
            "test_a_cut_by_the_budget_of_tokens_is_counted": _silent("tokens"),
            "test_another_process_gets_the_same_answers": _hash_breaks_ties,
            "test_triples_come_best_first": _worst_triples_first,
            "test_a_triple_keeps_its_score_in_a_smaller_subgraph": _scores_stay_in_place,
            "test_gold_changes_no_subgraph": _gold_first,
            "test_provenance_is_what_the_graph_says": _made_up,
            "test_literals_stay_literals": _literals_are_texts,
            "test_provenance_is_given_for_each_triple": _blank("provenance"),
            "test_qualifiers_are_those_of_each_triple": _blank("qualifiers"),
            "test_the_trace_can_be_written_as_json": _timed,
            "test_quotes_and_other_scripts_are_searched": _quotes_fail,
        }.items()
    ),
    changed(GOOD, "test_provenance_is_what_the_graph_says", expand=_each(_unsure)),
    changed(GOOD, "test_literals_stay_literals", expand=_each(_qualifiers_are_texts)),
    changed(GOOD, "test_the_budget_of_triples_is_obeyed", expand=_without("triples")),
    changed(GOOD, "test_the_budget_of_hubs_is_obeyed", expand=_without("hub")),
    changed(GOOD, "test_the_budget_of_nodes_is_obeyed", expand=_without("nodes")),
    changed(GOOD, "test_the_budget_of_mass_is_obeyed", expand=_without("mass")),
    changed(
        GOOD, "test_a_question_without_links_gets_an_empty_subgraph_with_a_reason", expand=_no_reason(with_links=False)
    ),
    changed(GOOD, "test_an_unknown_entity_gets_an_empty_subgraph_with_a_reason", expand=_no_reason(with_links=True)),
]
publish(__name__, globals(), FAULTS)
