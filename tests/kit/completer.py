"""Completers that each break one rule of Completer."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from kit.checked import opened
from kit.rules import Fault, batch_faults, changed, class_faults, life_faults, publish
from srtk_framework.testing.completer import CompleterConformance, ToyCompleter
from srtk_framework.testing.oracle import OracleGraph
from srtk_framework.values import Completion, Evidence, Literal, Pattern, Step, Triple

GOOD = ToyCompleter


class Checked(CompleterConformance):
    """Tests one of the completers."""

    under_test: ClassVar[type[ToyCompleter]] = GOOD

    @pytest.fixture
    def driver(self, graph: OracleGraph) -> ToyCompleter:
        """Open it over the sample graph."""
        return opened(self.under_test(graph=graph))


def _rows(change: Any) -> Any:
    """Change all completions of each pattern before the limit cuts them."""

    def method(self: Any, call: Any, patterns: Any, limit: Any) -> Any:
        rows = [change(pattern, row) for pattern, row in zip(patterns, call(patterns, None), strict=True)]
        return [row[:limit] for row in rows]

    return method


def _each(change: Any) -> Any:
    """Change every completion, and put them in order again."""
    return _rows(lambda pattern, row: _ordered([change(pattern, one) for one in row]))


def _ordered(row: list[Completion]) -> list[Completion]:
    return sorted(row, key=lambda one: (-one.confidence, one.triple))


def _of_another_relation(pattern: Pattern, one: Completion) -> Completion:
    return one._replace(triple=one.triple._replace(relation="never"))


def _stored(pattern: Pattern, row: list[Completion]) -> list[Completion]:
    stored = Triple("Latvia", "borders", "Estonia")
    return _ordered([*row, Completion(stored, 0.5)]) if pattern == Pattern("Latvia", "borders") else row


def _literal(pattern: Pattern, row: list[Completion]) -> list[Completion]:
    if pattern.object is not None or not row:
        return row
    return _ordered([*row, Completion(Triple(*pattern[:2], Literal.make("new", language="lv")), 0.5)])


def _certain(pattern: Pattern, one: Completion) -> Completion:
    return one._replace(confidence=1.0)


def _unrounded(pattern: Pattern, one: Completion) -> Completion:
    return one._replace(confidence=one.confidence + 1e-9)


def _by_hash(pattern: Pattern, one: Completion) -> Completion:
    return one._replace(confidence=round(one.confidence * (1 - hash(one.triple.relation) % 7 / 100), 4))


def _baseless(pattern: Pattern, one: Completion) -> Completion:
    return one._replace(evidence=(Evidence("path", "", triples=(one.triple,)),))


def _unlimited(self: Any, call: Any, patterns: Any, limit: Any) -> Any:
    return call(patterns, limit and limit + 1)


def _last(self: Any, call: Any, patterns: Any, limit: Any) -> Any:
    return [row[-limit:] if limit else row for row in call(patterns, None)]


def _stumbles(self: Any, call: Any, patterns: Any, limit: Any) -> Any:
    if any("never" in str(part) for pattern in patterns for part in pattern):
        raise KeyError("never")
    return call(patterns, limit)


def _guesses(self: Any, call: Any, patterns: Any, limit: Any) -> Any:
    rows = zip(patterns, call(patterns, limit), strict=True)
    return [
        [Completion(Triple("nobody at all", "capital", "Riga"), 0.1)] if "nobody at all" in p else r for p, r in rows
    ]


def _anything(self: Any, call: Any, patterns: Any, limit: Any) -> Any:
    rows: list[Any] = []
    for pattern in patterns:
        whole = pattern.relation is None or (pattern.subject is None) == (pattern.object is None)
        rows.append([] if whole else call([pattern], limit)[0])
    return rows


def _quotes_fail(self: Any, call: Any, patterns: Any, limit: Any) -> Any:
    if any('"' in str(part) for pattern in patterns for part in pattern):
        raise ValueError("a quote")
    return call(patterns, limit)


def _half(self: Any, call: Any, patterns: Any, candidates: Any) -> Any:
    return [[rate / 2 for rate in row] for row in call(patterns, candidates)]


def _generous(self: Any, call: Any, patterns: Any, candidates: Any) -> Any:
    """Rate what is not proposed higher than what is; unknown ids stay at 0."""
    known = set(self.graph.sample.entities)
    rows = zip(call(patterns, candidates), candidates, strict=True)
    return [[rate or 0.9 * (id_ in known) for rate, id_ in zip(row, ids, strict=True)] for row, ids in rows]


def _only_lengths(self: Any, call: Any, patterns: Any, candidates: Any) -> Any:
    """Sort the candidates where one is unknown."""
    rows = [sorted(ids) if "nobody at all" in ids else ids for ids in candidates]
    return call(patterns, rows)


def _rated_by_number(self: Any, call: Any, patterns: Any, candidates: Any) -> Any:
    """Take an unknown id for the last known one, as an index of -1 does."""
    rows = zip(call(patterns, candidates), candidates, strict=True)
    return [[0.001 if id_ == "nobody at all" else rate for rate, id_ in zip(*row, strict=True)] for row in rows]


def _kept_by_relation(self: Any, call: Any, patterns: Any, limit: Any) -> Any:
    """Remember how confident it was of the first completion of a relation."""
    memory, rows = vars(self).setdefault("memory", {}), []
    for pattern, row in zip(patterns, call(patterns, None), strict=True):
        kept = memory.setdefault(pattern.relation, row[0].confidence) if row else 0.0
        rows.append(_ordered([one._replace(confidence=kept) for one in row])[:limit])
    return rows


def _both_ways(self: Any, call: Any, node_sets: Any, inverse: bool) -> Any:
    return call(node_sets, True)


def _first_alone(self: Any, call: Any, node_sets: Any, inverse: bool) -> Any:
    return call([ids[-1:] for ids in node_sets], inverse)


def _empty_promise(self: Any, call: Any, node_sets: Any, inverse: bool) -> Any:
    known = set(self.graph.sample.entities)
    rows = zip(call(node_sets, inverse), node_sets, strict=True)
    return [sorted({*row, Step("never")}) if known & {*ids} else row for row, ids in rows]


FAULTS: list[Fault] = [
    *life_faults(GOOD, "complete"),
    *class_faults(GOOD, "complete"),
    *batch_faults(GOOD, "complete"),
    *batch_faults(GOOD, "rate", width=2),
    *batch_faults(GOOD, "offers"),
    changed(GOOD, "test_another_process_gets_the_same_answers", complete=_each(_by_hash)),
    changed(
        GOOD,
        "test_something_is_completed",
        complete=_rows(lambda pattern, row: []),
        offers=lambda self, call, node_sets, inverse: [[] for _ in node_sets],
    ),
    changed(GOOD, "test_completions_fit_their_pattern", complete=_each(_of_another_relation)),
    changed(GOOD, "test_no_completion_is_stored", complete=_rows(_stored)),
    changed(GOOD, "test_completions_are_distinct", complete=_rows(lambda pattern, row: [*row[:1], *row])),
    changed(GOOD, "test_completions_come_best_first", complete=_rows(lambda pattern, row: row[::-1])),
    changed(GOOD, "test_confidences_are_rounded_and_below_one", complete=_each(_certain)),
    changed(GOOD, "test_confidences_are_rounded_and_below_one", complete=_each(_unrounded)),
    changed(GOOD, "test_only_entities_are_proposed", complete=_rows(_literal)),
    changed(GOOD, "test_a_limit_gives_the_first_completions", complete=_unlimited),
    changed(GOOD, "test_a_limit_gives_the_first_completions", complete=_last),
    changed(GOOD, "test_rates_agree_with_completions", rate=_half),
    changed(GOOD, "test_rates_agree_with_completions", rate=_generous),
    changed(GOOD, "test_a_rate_stays_with_its_candidate", rate=_only_lengths),
    changed(GOOD, "test_a_rate_stays_with_its_candidate", rate=_rated_by_number),
    changed(GOOD, "test_what_is_unknown_has_no_completions", complete=_stumbles),
    changed(GOOD, "test_what_is_unknown_has_no_completions", complete=_guesses),
    changed(GOOD, "test_a_pattern_without_one_open_end_is_refused", complete=_anything),
    changed(GOOD, "test_evidence_rests_on_the_graph", complete=_each(_baseless)),
    changed(GOOD, "test_offers_are_sorted_and_forward_unless_asked", offers=_both_ways),
    changed(GOOD, "test_offers_for_a_set_are_those_of_its_entities", offers=_first_alone),
    changed(GOOD, "test_what_is_offered_can_be_completed", offers=_empty_promise),
    changed(GOOD, "test_quotes_and_other_scripts_are_completed", complete=_quotes_fail),
    changed(GOOD, "test_no_answer_depends_on_what_was_asked_before", complete=_kept_by_relation),
]
publish(__name__, globals(), FAULTS)
