"""The ``union`` completer: the completions of several completers, each triple once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.roles import Completer
from srtk_framework.values import (
    Completion,
    Pattern,
    Step,
    Triple,
    completion_order,
    confidence,
    not_empty,
    one_of,
    open_end,
)

# First completions of each completer that give their evidence to the same triple of a more confident one.
REASONS = 100

LEAST = 1e-6  # Confidence that a completer is taken to have in what it does not propose, for the mean of log-odds.


@attrs.define(eq=False)
class UnionCompleter(Completer):
    """Propose the completions of all of several completers.

    A triple has the evidence of the most confident completer and of all that have it among their first hundred. Its
    confidence is the greatest, or comes from the mean log-odds. The greatest needs no assumption, and suits completers
    that know different things: a mean punishes a triple that some of them cannot know. The mean of log-odds suits
    completers that all know the whole graph, such as rules and an embedding: triples that both find likely come first.
    A product of doubts (noisy or) takes completers for independent, which they never are over one
    graph. Calibrate the completers first where their confidences are no probabilities, or calibrate the union.

    Attributes:
        completers: The completers, over one graph; the evidence of the most confident comes first.
        method: max: the greatest confidence. log-odds: the mean of the log-odds, with a millionth where a completer has
            no proposal.
    """

    completers: Sequence[Completer] = attrs.field(validator=not_empty("name at least one"))
    method: Literal["max", "log-odds"] = attrs.field(default="max", validator=one_of(("max", "log-odds")))

    def complete(self, patterns: Sequence[Pattern], limit: int | None) -> list[list[Completion]]:
        """Unite the completions of each pattern.

        Each is asked for ``limit`` completions, or a hundred if that is more: the first completions of the union are
        among the first of their most confident completer. For the mean of log-odds they are asked for more until no
        further completion can come before the last of the union.
        """
        if self.method == "log-odds":
            return self._mean_completions(patterns, limit)
        asked = None if limit is None else max(limit, REASONS)
        rows = [one.complete(patterns, asked) for one in self.completers]
        return [united(found)[:limit] for found in zip(*rows, strict=True)]

    def rate(self, patterns: Sequence[Pattern], candidates: Sequence[Sequence[str]]) -> list[list[float]]:
        """Return the greatest rate of each candidate, or the mean; 0 if all rate it below a millionth."""
        rows = [one.rate(patterns, candidates) for one in self.completers]
        if self.method == "log-odds":
            return [_means(np.array(found, dtype=np.float64)) for found in zip(*rows, strict=True)]
        return [[max(rates) for rates in zip(*found, strict=True)] for found in zip(*rows, strict=True)]

    def offers(self, node_sets: Sequence[Sequence[str]], inverse: bool) -> list[list[Step]]:
        """Offer the steps of all completers."""
        return all_offers(self.completers, node_sets, inverse)

    def _mean_completions(self, patterns: Sequence[Pattern], limit: int | None) -> list[list[Completion]]:
        answers: list[list[Completion]] = [[] for _ in patterns]
        left, asked = list(range(len(patterns))), None if limit is None else max(limit, REASONS)
        while left:
            some = [patterns[place] for place in left]
            rows = [one.complete(some, asked) for one in self.completers]
            merged = [united(found) for found in zip(*rows, strict=True)]
            ends = [
                [one.triple.subject if open_end(pattern)[1].inverse else one.triple.object for one in found]
                for pattern, found in zip(some, merged, strict=True)
            ]
            again = []
            for at, (found, rates) in enumerate(zip(merged, self.rate(some, ends), strict=True)):
                rated = [one._replace(confidence=rate) for one, rate in zip(found, rates, strict=True) if rate]
                rated.sort(key=completion_order)
                answers[left[at]] = rated[:limit]
                if asked is None or all(len(row[at]) < asked for row in rows):
                    continue
                # Nobody is more sure of what follows than of the last completion.
                last = [[row[at][-1].confidence if row[at] else 0.0] for row in rows]
                (most,) = _means(np.array(last, dtype=np.float64))
                if limit and (len(rated) < limit or rated[limit - 1].confidence <= most):
                    again.append(left[at])
            left, asked = again, None if asked is None else 2 * asked
        return answers


def _means(confidences: npt.NDArray[np.float64]) -> list[float]:
    """Return the confidence of the mean log-odds of each column; 0 where all are below a millionth."""
    some = np.flatnonzero((confidences >= LEAST).any(axis=0))
    kept = np.maximum(confidences[:, some], LEAST)
    odds = (np.log(kept) - np.log1p(-kept)).sum(axis=0) / len(kept)
    distinct, places = np.unique(1 / (1 + np.exp(-odds)), return_inverse=True)
    found = np.zeros(confidences.shape[1])
    found[some] = np.array([confidence(one) for one in distinct.tolist()])[places]
    rated: list[float] = found.tolist()
    return rated


def all_offers(completers: Sequence[Completer], node_sets: Sequence[Sequence[str]], inverse: bool) -> list[list[Step]]:
    """Return the steps that some completer offers."""
    rows = [one.offers(node_sets, inverse) for one in completers]
    return [sorted({step for steps in found for step in steps}) for found in zip(*rows, strict=True)]


def united(rows: Sequence[Sequence[Completion]]) -> list[Completion]:
    """Return each triple once, with the greatest confidence and the distinct evidence, in order."""
    of_triple: dict[Triple, list[tuple[int, Completion]]] = {}
    for place, one in (pair for row in rows for pair in enumerate(row)):
        of_triple.setdefault(one.triple, []).append((place, one))
    found = []
    for triple, several in of_triple.items():
        best = max(one.confidence for _, one in several)
        # Whether a reason counts must not depend on the limit.
        kept = [one for place, one in several if place < REASONS or one.confidence == best]
        ranked = sorted(kept, key=lambda one: -one.confidence)
        evidence = tuple(dict.fromkeys(reason for one in ranked for reason in one.evidence))
        found.append(Completion(triple, best, evidence))
    return sorted(found, key=completion_order)
