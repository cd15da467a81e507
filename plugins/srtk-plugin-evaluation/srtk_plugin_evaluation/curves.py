"""Recall and precision at K: metrics of the first K triples, computed from the ranks of the gold."""

from __future__ import annotations

import copy
import functools
from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.graph import names_of
from srtk_framework.values import Retrieval
from srtk_plugin_evaluation.columns import QUALITY
from srtk_plugin_evaluation.intervals import Computed, Estimate, bootstrap_many, holm, paired_many
from srtk_plugin_evaluation.numbers import Numbers

CUTS = (5, 10, 20, 50, 100, 200)  # Values of K at which methods are compared.

WHOLE = "all"  # Name of the cut-off that keeps the whole subgraph.


_Floats = npt.NDArray[np.float64]
_Ints = npt.NDArray[np.int64]


@attrs.frozen
class Ranks:
    """Ranks of the gold answers and gold triples in a subgraph.

    Attributes:
        size: Number of triples of the subgraph.
        answers: Number of gold answers, or None if unknown.
        answers_at: Rank, from 1, of the first triple with each answer found; ascending.
        gold: Number of gold triples, or None if unknown.
        gold_at: Rank, from 1, of each gold triple found; ascending.
    """

    size: int
    answers: int | None = None
    answers_at: tuple[int, ...] = ()
    gold: int | None = None
    gold_at: tuple[int, ...] = ()


def ranks_of(retrieval: Retrieval) -> Ranks:
    """Return the ranks of the gold in a retrieval; the question's own entities never count as found."""
    question, triples = retrieval.question, retrieval.subgraph.triples
    answers, gold = set(question.answers or ()), set(question.gold_triples or ())
    wanted = answers - {link.entity for link in question.links}
    answers_at: list[int] = []
    for place, triple in enumerate(triples, 1):
        if not wanted:
            break
        found = (names_of(triple.subject) | names_of(triple.object)) & wanted
        answers_at += [place] * len(found)
        wanted -= found
    gold_at = [place for place, triple in enumerate(triples, 1) if triple in gold]
    return Ranks(
        len(triples),
        len(answers) or None,
        tuple(answers_at),
        len(gold) or None,
        tuple(gold_at),
    )


class Ranking:
    """The ranks of one method over all questions, in columns.

    Args:
        ranks: Ranks of the first questions, or None if unknown.

    Attributes:
        size: Number of questions.
    """

    def __init__(self, ranks: Iterable[Ranks | None] = ()) -> None:
        self.size = self._whole = 0
        self._sizes, self._answers, self._gold = Numbers(), Numbers(), Numbers()
        self._answers_at, self._gold_at = (array("I"), array("I")), (array("I"), array("I"))
        self._places: _Ints | None = None
        for one in ranks:
            self.add(one)

    def add(self, ranks: Ranks | None) -> None:
        """Add the ranks of the next question."""
        place = self.size
        self.size = self._whole = place + 1
        if ranks is None:
            return
        for numbers, value in ((self._sizes, ranks.size), (self._answers, ranks.answers), (self._gold, ranks.gold)):
            if value is not None:
                numbers.put(place, value)
        for (places, values), some in ((self._answers_at, ranks.answers_at), (self._gold_at, ranks.gold_at)):
            places.extend(place for _ in some)
            values.extend(some)

    def take(self, places: _Ints) -> Ranking:
        """Return the ranks of some questions."""
        part = copy.copy(self)
        part._places, part.size = places, len(places)
        return part

    @property
    def sizes(self) -> _Floats:
        """Number of triples of each subgraph; NaN if unknown."""
        return self._values(self._sizes)

    def at(self, cut: int | _Floats) -> dict[str, _Floats]:
        """Compute the metrics of the first ``cut`` triples.

        The precision of a subgraph with fewer triples is the precision of the whole subgraph.

        Args:
            cut: The cut-off K: one number, or an array with one number per question.

        Returns:
            Metric to an array with one value per question; NaN if it does not apply.
        """
        cuts = np.broadcast_to(np.asarray(cut, dtype=np.float64), (self.size,))
        sizes = np.minimum(self.sizes, cuts)
        wanted, known = self._values(self._answers), self._values(self._gold)
        answers, gold = self._within(self._answers_at, cuts), self._within(self._gold_at, cuts)
        return {
            "answer_coverage": np.where(np.isnan(wanted), np.nan, (answers > 0).astype(np.float64)),
            "answer_recall": answers / wanted,
            "triple_precision": np.where(np.isnan(known), np.nan, gold / np.maximum(sizes, 1)),
            "triple_recall": gold / known,
            "triple_f1": 2 * gold / (known + sizes),
            "triples": sizes,
        }

    def columns(self, cut: int | _Floats) -> dict[str, Computed]:
        """Return the metrics of the first ``cut`` triples, each computed when it is read."""
        return {
            metric: Computed(self.size, functools.partial(lambda name: self.at(cut)[name], metric))
            for metric in (*QUALITY, "triples")
        }

    def _values(self, numbers: Numbers) -> _Floats:
        whole = numbers.values(self._whole)
        return whole if self._places is None else whole[self._places]

    def _within(self, flat: tuple[array[int], array[int]], cuts: _Floats) -> _Floats:
        """Count the ranks of each question up to its cut-off."""
        rows, values = (np.array(some, dtype=np.int64) for some in flat)
        if self._places is not None:
            new = np.full(self._whole, -1)
            new[self._places] = np.arange(self.size)
            rows = new[rows]
            rows, values = rows[rows >= 0], values[rows >= 0]
        return np.bincount(rows[values <= cuts[rows]], minlength=self.size).astype(np.float64)


def curves(rankings: Mapping[str, Ranking]) -> dict[str, Any]:
    """Estimate every metric at every K, and compare the first method with each other method.

    Returns:
        ``sizes``: the values of K. ``methods``: method to metric to K to estimate. ``differences``: the same for
        pairs of methods, with ``p_holm`` corrected over all methods and values of K of a metric. ``equal``:
        ``methods`` and ``differences`` with every method cut, question by question, to the size of the first
        method's subgraph.
    """
    if not rankings:
        return {}
    names = list(rankings)
    at = {
        name: {str(cut): ranking.columns(cut) for cut in CUTS} | {WHOLE: ranking.columns(ranking.sizes)}
        for name, ranking in rankings.items()
    }
    first = rankings[names[0]].sizes
    equal = {name: {"equal": ranking.columns(first)} for name, ranking in rankings.items()}
    level = {"methods": _means(equal), "differences": _differences(equal, QUALITY)}
    return {
        "sizes": list(CUTS),
        "methods": _means(at),
        "differences": _differences(at, QUALITY),
        "equal": {
            part: {
                name: {metric: values["equal"] for metric, values in metrics.items()} for name, metrics in some.items()
            }
            for part, some in level.items()
        },
    }


_At = Mapping[str, Mapping[str, Mapping[str, Computed]]]  # Method to cut to metric to values.

_Found = dict[str, dict[str, dict[str, Estimate]]]  # Method, or pair of methods, to metric to cut to estimate.


def _means(at: _At) -> _Found:
    keys = [(name, metric, cut) for name, cuts in at.items() for metric in (*QUALITY, "triples") for cut in cuts]
    sizes = [place for place, (_, metric, _) in enumerate(keys) if metric == "triples"]
    return _nested(keys, bootstrap_many([at[name][cut][metric] for name, metric, cut in keys], sizes))


def _differences(at: _At, metrics: Sequence[str]) -> _Found:
    first, *others = at
    keys = [(name, metric, cut) for name in others for metric in metrics for cut in at[first] if cut != WHOLE]
    estimates = paired_many([(at[first][cut][metric], at[name][cut][metric]) for name, metric, cut in keys])
    correct(estimates, [metric for _, metric, _ in keys])
    return _nested([(f"{first} - {name}", metric, cut) for name, metric, cut in keys], estimates)


def by_pair(
    first: str, others: Sequence[str], keys: Sequence[tuple[str, str]], estimates: Sequence[Estimate]
) -> dict[str, dict[str, Estimate]]:
    """Return the differences of the first method to each other method, by metric, corrected over the methods.

    Args:
        first: The first method.
        others: The other methods.
        keys: Other method and metric of each estimate.
        estimates: The differences; estimates without questions are left out.
    """
    correct(estimates, [metric for _, metric in keys])
    found: dict[str, dict[str, Estimate]] = {f"{first} - {name}": {} for name in others}
    for (name, metric), estimate in zip(keys, estimates, strict=True):
        if estimate["n"]:
            found[f"{first} - {name}"][metric] = estimate
    return found


def correct(estimates: Sequence[Estimate], families: Sequence[str]) -> None:
    """Add ``p_holm`` to paired estimates, corrected within each family."""
    for family in dict.fromkeys(families):
        members = [estimate for estimate, other in zip(estimates, families, strict=True) if other == family]
        for estimate, p in zip(members, holm([e["p"] for e in members]), strict=True):
            estimate["p_holm"] = p


def _nested(keys: Sequence[tuple[str, str, str]], estimates: Sequence[Estimate]) -> _Found:
    """Nest estimates by key; metrics without values are omitted."""
    found: _Found = {name: {} for name, _, _ in keys}
    for (name, metric, cut), estimate in zip(keys, estimates, strict=True):
        if estimate["n"]:
            found[name].setdefault(metric, {})[cut] = estimate
    return found
