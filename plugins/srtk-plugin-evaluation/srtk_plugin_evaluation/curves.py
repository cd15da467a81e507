"""Recall and precision at K: metrics of the first K triples, computed from the ranks of the gold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.graph import names_of
from srtk_framework.values import Retrieval
from srtk_plugin_evaluation.columns import QUALITY
from srtk_plugin_evaluation.intervals import Estimate, bootstrap_many, holm, paired_many

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
    """The ranks of one method over all questions, in arrays.

    Args:
        ranks: Ranks of each question, or None if unknown.
    """

    def __init__(self, ranks: Sequence[Ranks | None]) -> None:
        self.sizes: _Floats = np.array([np.nan if r is None else r.size for r in ranks], dtype=np.float64)
        self._answers = np.array([None if r is None else r.answers for r in ranks], dtype=np.float64)
        self._gold = np.array([None if r is None else r.gold for r in ranks], dtype=np.float64)
        self._answers_at = _flat([() if r is None else r.answers_at for r in ranks])
        self._gold_at = _flat([() if r is None else r.gold_at for r in ranks])

    def at(self, cut: int | _Floats) -> dict[str, _Floats]:
        """Compute the metrics of the first ``cut`` triples.

        The precision of a subgraph with fewer triples is the precision of the whole subgraph.

        Args:
            cut: The cut-off K: one number, or an array with one number per question.

        Returns:
            Metric to an array with one value per question; NaN if it does not apply.
        """
        cuts = np.broadcast_to(np.asarray(cut, dtype=np.float64), self.sizes.shape)
        sizes = np.minimum(self.sizes, cuts)
        answers, gold = _within(self._answers_at, cuts), _within(self._gold_at, cuts)
        return {
            "answer_coverage": np.where(np.isnan(self._answers), np.nan, (answers > 0).astype(np.float64)),
            "answer_recall": answers / self._answers,
            "triple_precision": np.where(np.isnan(self._gold), np.nan, gold / np.maximum(sizes, 1)),
            "triple_recall": gold / self._gold,
            "triple_f1": 2 * gold / (self._gold + sizes),
            "triples": sizes,
        }


def _flat(rows: Sequence[Sequence[int]]) -> tuple[_Ints, _Floats]:
    """Flatten ragged rows into two arrays: the row of each value, and the values."""
    lengths = [len(row) for row in rows]
    values = np.fromiter((value for row in rows for value in row), dtype=np.float64, count=sum(lengths))
    return np.repeat(np.arange(len(rows)), lengths), values


def _within(flat: tuple[_Ints, _Floats], cuts: _Floats) -> _Floats:
    rows, values = flat
    return np.bincount(rows[values <= cuts[rows]], minlength=len(cuts)).astype(np.float64)


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
        name: {str(cut): ranking.at(cut) for cut in CUTS} | {WHOLE: ranking.at(ranking.sizes)}
        for name, ranking in rankings.items()
    }
    first = rankings[names[0]]
    equal = {name: {"equal": ranking.at(first.sizes)} for name, ranking in rankings.items()}
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


_At = Mapping[str, Mapping[str, Mapping[str, _Floats]]]  # Method to cut to metric to values.

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
