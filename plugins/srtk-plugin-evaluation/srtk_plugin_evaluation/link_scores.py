"""Metrics of entity linking: strong and weak match, n-best recall, NIL, covered and ambiguous mentions.

All metrics are micro-averaged: numerators and denominators are summed over the questions. Intervals and tests resample
whole questions.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.graph import with_ids_among
from srtk_framework.roles import KnowledgeGraph
from srtk_framework.values import LINKED_BY, NIL, Link, Question, Retrieval
from srtk_plugin_evaluation.curves import by_pair
from srtk_plugin_evaluation.intervals import Estimate, bootstrap_many, paired_ratios, ratios
from srtk_plugin_evaluation.numbers import Numbers

AT = (1, 5, 10)  # Values of n for n-best recall.

PER_QUESTION = "strong_f1_per_question"

METRICS = (
    "strong_precision", "strong_recall", "strong_f1",
    "weak_precision", "weak_recall", "weak_f1",
    "entity_precision", "entity_recall", "entity_f1",
    "mention_recall",
    *(f"recall_at_{n}" for n in AT),
    "coverage", "covered_precision", "covered_recall", "covered_f1",
    "ambiguous_accuracy",
    "nil_accuracy", "nil_precision", "nil_recall",
)  # fmt: skip
"""Names of all metrics, in the order of reports."""

Share = tuple[float, float]  # Numerator and denominator of a metric.

Span = tuple[int, int]


@attrs.define
class _Mention:
    """A linker's entities for one span, best first; the span is None if the linker gives none."""

    span: Span | None
    entities: list[str]
    match: Link | None = None

    @property
    def best(self) -> str:
        return self.entities[0]


def counts(gold: Sequence[Link], found: Sequence[Link], covered: Collection[str] | None = None) -> dict[str, Share]:
    """Count the numerators and denominators of all metrics for the links of one question.

    Args:
        gold: Gold links; entity ``NIL`` for mentions without an entity, score 0 for optional links.
        found: Links of a linker; links with one span are alternatives.
        covered: Gold entities in the graph; None without a graph.

    Returns:
        Metric to its share; a metric with denominator 0 does not apply to the question.
    """
    wanted = [link for link in gold if link.score and link.entity != NIL]
    nils = [link for link in gold if link.score and link.entity == NIL]
    spare = [link for link in gold if not link.score]
    mentions = _mentions(found)
    shares: dict[str, Share] = {}
    for name, overlapping in (("strong", False), ("weak", True)):
        counted = _counted(mentions, wanted, spare, overlapping)
        _add(shares, name, sum(mention.match is not None for mention in counted), len(counted), len(wanted))
        if covered is not None and not overlapping:
            _add_covered(shares, counted, wanted, nils, covered)
    _add_entities(shares, mentions, wanted, spare)
    _add_places(shares, mentions, wanted)
    for n in AT:
        shares[f"recall_at_{n}"] = (sum(_among(link, found, mentions, n) for link in wanted), len(wanted))
    _add_nil(shares, mentions, wanted, nils)
    return {name: (float(shares[name][0]), float(shares[name][1])) for name in METRICS if name in shares}


def _mentions(found: Sequence[Link]) -> list[_Mention]:
    placed: dict[Span, list[Link]] = {}
    loose: list[_Mention] = []
    for link in found:
        span = _span(link)
        if span is None:
            loose.append(_Mention(None, [link.entity]))
        else:
            placed.setdefault(span, []).append(link)
    rows = {
        span: sorted(links, key=lambda link: -link.score) for span, links in sorted(placed.items(), key=lambda x: x[0])
    }
    return [
        *(_Mention(span, list(dict.fromkeys(link.entity for link in links))) for span, links in rows.items()),
        *loose,
    ]


def _span(link: Link) -> Span | None:
    return None if link.start is None or link.end is None else (link.start, link.end)


def _fits(a: Span | None, b: Span | None, overlapping: bool) -> bool:
    """Return whether two places are the same; an unknown place fits every place."""
    if a is None or b is None:
        return True
    return a[0] < b[1] and b[0] < a[1] if overlapping else a == b


def _counted(
    mentions: Sequence[_Mention], wanted: Sequence[Link], spare: Sequence[Link], overlapping: bool
) -> list[_Mention]:
    """Match mentions with an entity to gold links; leave out wrong mentions that an optional gold link excuses."""
    linked = [_Mention(m.span, m.entities) for m in mentions if m.best != NIL]
    _pair(linked, wanted, overlapping)
    return [m for m in linked if m.match is not None or not any(_excuses(link, m, overlapping) for link in spare)]


def _pair(mentions: Sequence[_Mention], wanted: Sequence[Link], overlapping: bool) -> None:
    """Give each mention at most one gold link of its entity, and each gold link at most one mention."""
    left = sorted(wanted, key=lambda link: (link.start is None, link.start or 0, link.end or 0))
    # Known places choose first, so that a mention without a place takes what is left.
    for mention in sorted(mentions, key=lambda m: (m.span is None, m.span or (0, 0))):
        same = [link for link in left if link.entity == mention.best and _fits(_span(link), mention.span, overlapping)]
        same.sort(key=lambda link: _span(link) != mention.span)
        if same:
            mention.match = same[0]
            left.remove(same[0])


def _excuses(link: Link, mention: _Mention, overlapping: bool) -> bool:
    """Return whether an optional gold link excuses a mention."""
    return link.entity in (NIL, mention.best) and _fits(_span(link), mention.span, overlapping)


def _add(shares: dict[str, Share], name: str, right: int, found: int, wanted: int) -> None:
    shares[f"{name}_precision"] = (right, found)
    shares[f"{name}_recall"] = (right, wanted)
    shares[f"{name}_f1"] = (2 * right, found + wanted)


def _add_covered(
    shares: dict[str, Share],
    linked: Sequence[_Mention],
    wanted: Sequence[Link],
    nils: Sequence[Link],
    covered: Collection[str],
) -> None:
    """Count the covered mentions: gold entities that the graph lacks are neither missed nor wrong."""
    known = [link for link in wanted if link.entity in covered]
    beyond = [link for link in [*wanted, *nils] if link.entity not in covered]
    right = sum(m.match is not None and m.match.entity in covered for m in linked)
    judged = sum(
        m.match is not None or not any(m.span and _span(g) and _fits(_span(g), m.span, True) for g in beyond)
        for m in linked
    )
    shares["coverage"] = (len(known), len(wanted))
    _add(shares, "covered", right, judged, len(known))


def _add_entities(
    shares: dict[str, Share], mentions: Sequence[_Mention], wanted: Sequence[Link], spare: Sequence[Link]
) -> None:
    """Count distinct entities, regardless of their spans."""
    gold = {link.entity for link in wanted}
    read = {m.best for m in mentions if m.best != NIL}
    # Any entity may be linked to an optional mention, such as a date.
    excused = {m.best for m in mentions if m.span and any(_span(g) and _excuses(g, m, True) for g in spare)}
    right = len(gold & read)
    _add(shares, "entity", right, len(read - (excused - gold)), len(gold))


def _add_places(shares: dict[str, Share], mentions: Sequence[_Mention], wanted: Sequence[Link]) -> None:
    """Count the mentions at the places of gold links, and the right choices among several entities there."""
    placed = [link for link in wanted if _span(link) is not None]
    there = [(m, link) for link in placed for m in mentions if m.span == _span(link)]
    several = [m for m, link in there if len(m.entities) > 1 and link.entity in m.entities]
    golds = {(_span(link), link.entity) for link in placed}
    spans = {m.span for m in mentions}
    shares["mention_recall"] = (sum(_span(link) in spans for link in placed), len(placed))
    shares["ambiguous_accuracy"] = (sum((m.span, m.best) in golds for m in several), len(several))


def _among(link: Link, found: Sequence[Link], mentions: Sequence[_Mention], n: int) -> bool:
    """Return whether a gold entity is among the first ``n`` alternatives of an overlapping mention."""
    if any(m.span and _fits(_span(link), m.span, True) and link.entity in m.entities[:n] for m in mentions):
        return True
    loose = sorted((other for other in found if _span(other) is None), key=lambda other: -other.score)
    return link.entity in list(dict.fromkeys(other.entity for other in loose))[:n]


def _add_nil(
    shares: dict[str, Share], mentions: Sequence[_Mention], wanted: Sequence[Link], nils: Sequence[Link]
) -> None:
    """Count the decisions between an entity and NIL; a linker decides for NIL by linking nothing there."""
    spans = [m.span for m in mentions if m.best != NIL and m.span]
    left = {True: 0, False: 0}
    placed = [link for link in [*wanted, *nils] if _span(link) is not None]
    for link in placed:
        if not any(_fits(_span(link), span, True) for span in spans):
            left[link.entity == NIL] += 1
    absent = sum(link.entity == NIL for link in placed)
    shares["nil_recall"] = (left[True], absent)
    shares["nil_precision"] = (left[True], left[True] + left[False])
    shares["nil_accuracy"] = (left[True] + len(placed) - absent - left[False], len(placed))


def link_counts(retrieval: Retrieval, covered: Collection[str] | None = None) -> dict[str, Share] | None:
    """Count the shares of a result's links; None without gold links, or if the links are part of the input."""
    question = retrieval.question
    if question.gold_links is None or LINKED_BY not in retrieval.subgraph.trace:
        return None
    if covered is None:
        question = with_ids_among(question, [link.entity for link in question.links])
    assert question.gold_links is not None
    return counts(question.gold_links, question.links, covered)


def covered_by(graph: KnowledgeGraph, questions: Sequence[Question]) -> frozenset[str]:
    """Return the gold entities of questions that are in a graph."""
    ids = sorted({link.entity for question in questions for link in question.gold_links or ()} - {NIL})
    return frozenset(
        id_ for id_, frontier in zip(ids, graph.frontiers([[id_] for id_ in ids]), strict=True) if frontier.size
    )


Rows = Iterable[Mapping[str, Share] | None]  # The shares of each question; None where there is nothing to count.


class Shares:
    """The shares of a method's questions, in columns.

    Args:
        rows: The first questions.

    Attributes:
        size: Number of questions.
    """

    def __init__(self, rows: Rows = ()) -> None:
        self.size = self._whole = 0
        self._known = Numbers()
        self._columns: dict[str, tuple[Numbers, Numbers]] = {}
        self._places: npt.NDArray[np.int64] | None = None
        for row in rows:
            self.add(row)

    def add(self, row: Mapping[str, Share] | None) -> None:
        """Add the shares of the next question."""
        place = self.size
        self.size = self._whole = place + 1
        if row is None:
            return
        self._known.put(place, 1)
        for metric, share in row.items():
            for numbers, value in zip(self._columns.setdefault(metric, (Numbers(), Numbers())), share, strict=True):
                numbers.put(place, value)

    def take(self, places: npt.NDArray[np.int64]) -> Shares:
        """Return the shares of some questions."""
        part = copy.copy(self)
        part._places, part.size = places, len(places)
        return part

    @property
    def known(self) -> int:
        """Number of questions with shares."""
        return int(np.nansum(self._values(self._known)))

    def column(self, metric: str) -> npt.NDArray[np.float64]:
        """Return the share of a metric of each question, [size, 2]; 0 of 0 where it does not apply."""
        parts = self._columns.get(metric, (Numbers(), Numbers()))
        return np.nan_to_num(np.stack([self._values(part) for part in parts], axis=1))

    def _values(self, numbers: Numbers) -> npt.NDArray[np.float64]:
        whole = numbers.values(self._whole)
        return whole if self._places is None else whole[self._places]


def summaries(methods: Mapping[str, Shares]) -> dict[str, dict[str, Estimate]]:
    """Estimate each metric of each method, with 95 % intervals; ``n`` is the denominator.

    The NIL metrics are omitted if no gold link is NIL.
    """
    found: dict[str, dict[str, Estimate]] = {}
    asked = _asked(methods)
    for method, shares in methods.items():
        estimates = ratios(map(shares.column, asked))
        found[method] = {metric: one for metric, one in zip(asked, estimates, strict=True) if one["n"]}
    singles = [_quotients(shares.column("strong_f1")) for shares in methods.values()]
    for method, estimate in zip(methods, bootstrap_many(singles), strict=True):
        if estimate["n"]:
            found[method][PER_QUESTION] = estimate
    return found


def differences(
    methods: Mapping[str, Shares], metrics: Sequence[str], size: str | None = None
) -> dict[str, dict[str, Estimate]]:
    """Compare the first method with each other method on the same questions (see ``paired_ratios``).

    Args:
        methods: Method to its counts, for the same questions in the same order.
        metrics: Metrics to compare.
        size: Metric that is no share.
    """
    first, *others = methods or [""]
    keys = [(name, metric) for name in others for metric in metrics]
    sizes = [place for place, (_, metric) in enumerate(keys) if metric == size]
    pairs = ((methods[first].column(m), methods[name].column(m)) for name, m in keys)
    return by_pair(first, others, keys, paired_ratios(pairs, sizes))


def compare_links(methods: Mapping[str, Rows | Shares]) -> dict[str, Any]:
    """Build the part ``linking`` of a report, which compares the first method with each other method."""
    tables = {name: some if isinstance(some, Shares) else Shares(some) for name, some in methods.items()}
    return {
        "questions": max((shares.known for shares in tables.values()), default=0),
        "methods": summaries(tables),
        "differences": differences(tables, _asked(tables)),
    }


def _asked(methods: Mapping[str, Shares]) -> list[str]:
    nothing = any(shares.column("nil_recall")[:, 1].any() for shares in methods.values())
    return [metric for metric in METRICS if nothing or not metric.startswith("nil_")]


def _quotients(column: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    over, below = column.T
    found: npt.NDArray[np.float64] = np.divide(over, below, out=np.full(len(column), np.nan), where=below != 0)
    return found
