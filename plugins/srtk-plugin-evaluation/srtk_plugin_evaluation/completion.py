"""Metrics of the completion of graphs: answers to pattern questions that the graph of a run lacks.

An answer that the graph holds never counts: neither as gold, nor as a proposal, nor as a competitor. Proposals that are
not gold count as wrong, as no data prove them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from srtk_framework.graph import TripleTable
from srtk_framework.roles import KnowledgeGraph
from srtk_framework.values import DriverError, Pattern, Retrieval, Triple, open_end
from srtk_plugin_evaluation.calibration import BINS, bin_sums, error_of_bins, reliability
from srtk_plugin_evaluation.intervals import Estimate, bootstrap_sums, ratios
from srtk_plugin_evaluation.link_scores import Share, Shares, differences
from srtk_plugin_evaluation.rank_metrics import TiedRanks, average_precision, hits, reciprocal_ranks

CALIBRATION = "calibration_error"
SIZE = "set_size"  # The only metric that is no share.

# Names of all metrics, in the order of reports.
METRICS = (
    *("mrr", "hits_at_1", "hits_at_3", "hits_at_10", "average_precision"),
    *("new_precision", "new_recall", "set_coverage", SIZE, CALIBRATION, "brier"),
)

MOST_RELATIONS = 50  # Maximum number of groups by relation: the relations with most questions, and ``others``.

END, RELATION, CARDINALITY, ANSWERS, WORDS, HALF_LINKS = (
    *("end", "relation", "cardinality", "gold answers"),
    *("words of the answer", "half-links in the graph"),
)
CANDIDATES, BOUND = "candidates", "bound entity"  # Slices of the questions that give candidates.
_OTHERS = "others"  # Group of the rarer relations.


@attrs.frozen
class Completed:
    """Counts of a method's proposals for one pattern question.

    Attributes:
        shares: Metric to numerator and denominator; a metric with denominator 0 does not apply to the question.
        bins: Calibration bins with proposals: number of the bin, proposals, sum of confidences, right proposals.
        groups: Slice to the group of the question.
        parts: Slice to group to the shares of the answers in that group alone.
    """

    shares: Mapping[str, Share] = attrs.field(hash=False)
    bins: tuple[tuple[int, int, float, int], ...] = ()
    groups: Mapping[str, str] = attrs.field(factory=dict, hash=False)
    parts: Mapping[str, Mapping[str, Mapping[str, Share]]] = attrs.field(factory=dict, hash=False)


def completion_shares(
    ranked: Iterable[tuple[str, float]],
    gold: Iterable[str],
    held: Collection[str] = (),
    candidates: int | None = None,
    counted: Collection[str] | None = None,
) -> dict[str, Share]:
    """Count the numerators and denominators of all metrics of one pattern, except for the calibration error.

    Args:
        ranked: Answers proposed, each with its confidence, in any order.
        gold: Gold answers.
        held: Answers that the graph holds.
        candidates: Number of all possible answers. Gold answers that were not proposed are ranked among all answers
            that were not, in random order. None gives them the reciprocal rank 0.
        counted: Answers that are counted, for slices; ranks are among all proposals. None counts all.
    """
    known, right = set(held), set(gold)
    right -= known
    proposed: dict[str, float] = {}
    for answer, confidence in ranked:
        if answer not in known:
            proposed[answer] = max(confidence, proposed.get(answer, 0.0))
    wanted = {answer for answer in right if counted is None or answer in counted}
    judged = {answer: c for answer, c in proposed.items() if counted is None or answer in counted}
    wrong = np.sort([confidence for answer, confidence in proposed.items() if answer not in right])
    found = sorted(wanted & proposed.keys())
    ranks = _ranks([proposed[answer] for answer in found], wrong)
    if candidates is not None and len(found) < len(wanted):
        unseen = max(candidates - len(known) - len(right) - len(wrong), 0)
        missed = np.ones(len(wanted) - len(found), dtype=np.int64)
        ranks = TiedRanks(np.append(ranks.better, missed * len(wrong)), np.append(ranks.tied, missed * unseen))
    size = len(wanted)
    one = float(bool(wanted))
    # Sorted, so that the last bits of the sum do not depend on the order of the answers.
    apart = sorted(confidence - (answer in wanted) for answer, confidence in judged.items())
    return {
        "mrr": (float(reciprocal_ranks(ranks).sum()), size),
        **{f"hits_at_{k}": (float(hits(ranks, k).sum()), size) for k in (1, 3, 10)},
        "average_precision": (_precision(proposed, wanted, right) if wanted else 0.0, one),
        "new_precision": (len(found) / len(judged) if judged else 0.0, float(bool(judged))),
        "new_recall": (len(found) / size if wanted else 0.0, one),
        "set_coverage": (float(len(found)), float(size)),
        SIZE: (float(len(judged)), 1.0),
        "brier": (float(np.square(apart).sum()), float(len(judged))),
    }


def _ranks(own: Sequence[float], wrong: Any) -> TiedRanks:
    low, high = (np.searchsorted(wrong, own, side=side) for side in ("left", "right"))
    return TiedRanks((len(wrong) - high).astype(np.int64), (high - low).astype(np.int64))


def _precision(proposed: Mapping[str, float], wanted: Collection[str], right: Collection[str]) -> float:
    """Return the average precision for some of the right answers, without the rest."""
    groups: dict[float, list[int]] = {}
    for answer, confidence in proposed.items():
        if answer in wanted or answer not in right:
            group = groups.setdefault(confidence, [0, 0])
            group[0] += 1
            group[1] += answer in wanted
    return average_precision([(size, good) for _, (size, good) in sorted(groups.items(), reverse=True)], len(wanted))


class StoredFacts:
    """Facts of a run's graph about patterns and their answers.

    Args:
        table: All triples that the graph holds.
    """

    def __init__(self, table: TripleTable) -> None:
        self._table = table
        self._cardinalities: dict[str, str] = {}

    def held(self, pattern: Pattern) -> list[str]:
        """Return the answers to a pattern that the graph holds."""
        inverse = pattern.subject is None
        bound = pattern.object if inverse else pattern.subject
        return [self._table.entities[place] for place in self._fillers(bound, pattern.relation, inverse)]

    def knows(self, entity: str) -> bool:
        """Return whether any triple of the graph has an entity."""
        return entity in self._table.entity_numbers

    def cardinality(self, relation: str) -> str | None:
        """Return ``1-1``, ``1-n``, ``n-1`` or ``n-m``; None for a relation without triples.

        A side is ``n`` if the entities of the other side have 1.5 or more of its entities on average (Bordes et al.
        2013, section 4.3).
        """
        number = self._table.relation_numbers.get(relation)
        if number is None:
            return None
        if relation not in self._cardinalities:
            rows = self._table.of_relation(number)
            if not len(rows):
                return None
            subjects, objects = (len(rows) / len(np.unique(rows[:, end])) >= 1.5 for end in (2, 0))
            name = {(False, False): "1-1", (False, True): "1-n", (True, False): "n-1", (True, True): "n-m"}
            self._cardinalities[relation] = name[bool(subjects), bool(objects)]
        return self._cardinalities[relation]

    def half_links(self, triple: Triple) -> str:
        """Return which halves of a triple, (s, r) and (r, o), the graph holds in other triples."""
        first = len(self._fillers(triple.subject, triple.relation, False)) > 0
        second = len(self._fillers(triple.object, triple.relation, True)) > 0
        return {(True, True): "both", (True, False): "(s, r)", (False, True): "(r, o)"}.get((first, second), "none")

    def _fillers(self, entity: str | None, relation: str | None, inverse: bool) -> Sequence[int]:
        at = self._table.entity_numbers.get(entity or "")
        number = self._table.relation_numbers.get(relation or "")
        if at is None or number is None:
            return ()
        found: Sequence[int] = self._table.fillers(at, number, inverse).tolist()
        return found


def completed(
    retrieval: Retrieval, facts: StoredFacts | None = None, labels: Mapping[str, str] | None = None
) -> Completed | None:
    """Count the metrics of one pattern question.

    The proposals are the triples of the result that fit the pattern and whose confidence is below 1.

    Args:
        retrieval: The result; a failed result proposes nothing.
        facts: Facts of the graph, for slices by cardinality and half-links.
        labels: Labels of gold answers and of proposals, for slices by words; None without them.

    Returns:
        The counts; None if the question has no pattern or no gold answers.
    """
    question = retrieval.question
    pattern = question.pattern
    if pattern is None or pattern.relation is None or not question.answers:
        return None
    ranked = proposals(retrieval)
    held = {answer for answer, confidence in ranked if confidence >= 1}
    if facts is not None:
        held.update(facts.held(pattern))
    gold = set(question.answers)
    new = {answer: confidence for answer, confidence in sorted(ranked) if answer not in held}
    of_answer: dict[str, dict[str, str]] = {}
    judged = sorted({*new, *(gold - held)})
    if labels is not None:
        of_answer[WORDS] = {answer: _words(labels.get(answer, answer)) for answer in judged}
    if facts is not None:
        of_answer[HALF_LINKS] = {answer: facts.half_links(pattern.filled(answer)) for answer in judged}
    sums = bin_sums(list(new.values()), [answer in gold for answer in new])
    return Completed(
        completion_shares(ranked, gold, held),
        tuple((place, round(n), total, round(good)) for place, (n, total, good) in enumerate(sums.tolist()) if n),
        _groups(pattern, pattern.relation, set(question.candidates), gold, held, facts),
        {name: _parts(ranked, gold, held, placed) for name, placed in of_answer.items()},
    )


def _groups(
    pattern: Pattern, relation: str, candidates: set[str], gold: set[str], held: set[str], facts: StoredFacts | None
) -> dict[str, str]:
    """Return the group of a question in each slice that applies to it."""
    groups = {END: "subject" if pattern.subject is None else "object", RELATION: relation}
    if candidates:
        groups[CANDIDATES] = "right ones alone" if gold >= candidates - held else "with wrong ones"
    if candidates and facts is not None:
        groups[BOUND] = "in the graph" if facts.knows(open_end(pattern)[0]) else "not in the graph"
    if count := len(gold - held):
        groups[ANSWERS] = "1" if count == 1 else "2 to 10" if count <= 10 else "11 to 100" if count <= 100 else "> 100"
    if facts is not None and (kind := facts.cardinality(relation)) is not None:
        groups[CARDINALITY] = kind
    return groups


def proposals(retrieval: Retrieval) -> list[tuple[str, float]]:
    """Return the answers to a pattern question, each with the confidence of its triple, in the order of the triples."""
    pattern, subgraph = retrieval.question.pattern, retrieval.subgraph
    confidences = subgraph.confidences or (1.0,) * len(subgraph.triples)
    if pattern is None:
        return []
    return [
        (triple.subject if pattern.subject is None else triple.object, confidence)
        for triple, confidence in zip(subgraph.triples, confidences, strict=True)
        if all(part in (None, own) for part, own in zip(pattern, triple, strict=True))
    ]


def _words(label: str) -> str:
    count = len(label.split())
    return str(count) if count < 4 else "4 or more"


def _parts(
    ranked: Sequence[tuple[str, float]], gold: Collection[str], held: Collection[str], placed: Mapping[str, str]
) -> dict[str, dict[str, Share]]:
    """Count the shares of the answers of each group."""
    groups: dict[str, set[str]] = {}
    for answer, group in placed.items():
        groups.setdefault(group, set()).add(answer)
    found = {}
    for group in sorted(groups):
        found[group] = completion_shares(ranked, gold, held, None, groups[group])
        del found[group][SIZE]
    return found


class CompletionScorer:
    """Scores pattern questions, with slices by the facts of their graph.

    Args:
        graph: Graph of the run, or None. Its triples are listed at the first pattern question; a graph that cannot
            list them gives no slices by cardinality and half-links.
    """

    def __init__(self, graph: KnowledgeGraph | None) -> None:
        self._graph = graph
        self._facts: StoredFacts | None = None
        self._asked = False

    def score(self, retrievals: Sequence[Retrieval]) -> list[Completed | None]:
        """Count the metrics of each question; None for questions that are no patterns with gold answers."""
        patterns = [one for one in retrievals if one.question.pattern is not None]
        if self._graph is None or not patterns:
            return [completed(one) for one in retrievals]
        if not self._asked:
            self._asked = True
            self._facts = _facts(self._graph)
        ids = sorted({id_ for one in patterns for id_ in (*(one.question.answers or ()), *dict(proposals(one)))})
        labels = dict(zip(ids, self._graph.labels(ids), strict=True))
        return [completed(one, self._facts, labels) for one in retrievals]


def _facts(graph: KnowledgeGraph) -> StoredFacts | None:
    try:
        table = TripleTable.of(graph)
    except DriverError:
        return None
    return StoredFacts(table)


Rows = Sequence[Completed | None]  # The counts of each question; None for questions that are no patterns.

# Returns the part of a question's counts that is in a group; None for a question outside it.
_Choice = Callable[[Completed], Completed | None]


def compare_completions(methods: Mapping[str, Rows], slices: bool = True) -> dict[str, Any]:
    """Build the part ``completion`` of a report, which compares the first method with each other method.

    Args:
        methods: Method to its counts, for the same questions in the same order.
        slices: Whether to add the slices.
    """
    report: dict[str, Any] = {
        "questions": max((sum(row is not None for row in rows) for rows in methods.values()), default=0),
        "methods": _summaries(methods),
        "differences": differences(_shares(methods), [metric for metric in METRICS if metric != CALIBRATION], SIZE),
        "reliability": {name: reliability(_bins(rows).sum(axis=0)) for name, rows in methods.items()},
    }
    if slices:
        report["slices"] = _slices(methods)
    return report


def _slices(methods: Mapping[str, Rows]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in (END, RELATION, CANDIDATES, BOUND, CARDINALITY, ANSWERS, WORDS, HALF_LINKS):
        groups = _placed(name, methods)
        if len(groups) > 1:
            found[name] = {
                label: {
                    "questions": len(next(iter(some.values()))),
                    "methods": _summaries(some),
                }
                for label, some in groups.items()
            }
    return found


def _placed(name: str, methods: Mapping[str, Rows]) -> dict[str, dict[str, Rows]]:
    """Return the questions of each group of a slice, by method."""
    every = [row for rows in methods.values() for row in rows if row is not None]
    if name in (WORDS, HALF_LINKS):
        labels = sorted({label for row in every for label in row.parts.get(name, ())})
        return {label: _subset(methods, _part(name, label)) for label in labels}
    sizes = Counter(row.groups[name] for row in every if name in row.groups)
    labels = sorted(sizes)
    if len(labels) <= MOST_RELATIONS:
        return {label: _subset(methods, _within(name, {label})) for label in labels}
    first = sorted(labels, key=lambda label: (-sizes[label], label))[: MOST_RELATIONS - 1]
    found = {label: _subset(methods, _within(name, {label})) for label in first}
    return {**found, _OTHERS: _subset(methods, _within(name, set(labels) - set(first)))}


def _subset(methods: Mapping[str, Rows], of: _Choice) -> dict[str, Rows]:
    """Keep the questions that are in a group for some method."""
    kept = {method: [None if row is None else of(row) for row in rows] for method, rows in methods.items()}
    places = [i for i, rows in enumerate(zip(*kept.values(), strict=True)) if any(row is not None for row in rows)]
    return {method: [rows[i] for i in places] for method, rows in kept.items()}


def _within(name: str, labels: Collection[str]) -> _Choice:
    """Choose the questions of some groups."""
    return lambda row: row if row.groups.get(name) in labels else None


def _part(name: str, label: str) -> _Choice:
    """Choose the answers of one group."""

    def choose(row: Completed) -> Completed | None:
        shares = row.parts.get(name, {}).get(label)
        return None if shares is None else Completed(shares)

    return choose


def _summaries(methods: Mapping[str, Rows]) -> dict[str, dict[str, Estimate]]:
    """Estimate each metric of each method, with 95 % intervals over the questions."""
    names = [metric for metric in METRICS if metric != CALIBRATION]
    keys = [(method, metric) for method in methods for metric in names]
    shares = _shares(methods)
    sizes = [place for place, (_, metric) in enumerate(keys) if metric == SIZE]
    estimates = dict(zip(keys, ratios((shares[method].column(metric) for method, metric in keys), sizes), strict=True))
    for method, rows in methods.items():
        sums = _bins(rows)
        # Empty bins would cost time in every resample.
        flat = sums[:, sums.any(axis=(0, 2))].reshape(len(sums), -1)
        count = round(sums[..., 0].sum())
        estimates[method, CALIBRATION] = bootstrap_sums(
            flat, lambda some: error_of_bins(some.reshape(len(some), -1, 3)), count
        )
    return {
        method: {metric: found for metric in METRICS if (found := estimates[method, metric])["n"]} for method in methods
    }


def _shares(methods: Mapping[str, Rows]) -> dict[str, Shares]:
    return {method: Shares(None if row is None else row.shares for row in rows) for method, rows in methods.items()}


def _bins(rows: Rows) -> Any:
    """Return the calibration bins of all questions, [questions, ``BINS``, 3]."""
    found = np.zeros((len(rows), BINS, 3))
    for i, row in enumerate(rows):
        for place, *sums in () if row is None else row.bins:
            found[i, place] = sums
    return found
