"""What several completers say about the candidates of one pattern, and the features of it."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.roles import Completer
from srtk_framework.values import Completion, Pattern, Step, open_end

_EDGE = 1e-6
"""Confidences below it, or as near to 1, count as it."""

_Floats = npt.NDArray[np.float64]


@attrs.frozen(eq=False)
class CandidatePool:
    """The candidates of one pattern: those that some completer has among its first ones, and further ones.

    Attributes:
        step: Step of the pattern to its open end.
        ids: The candidates; first those of the completers, then the further ones.
        size: Number of those of the completers.
        rates: Confidence of each completer in each candidate, [candidates, completers]; 0 for none.
        ranks: Place of each candidate among the completer's first ones, from 1; 0 if it is not there.
        depth: Most first ones of a completer.
        stored: Number of triples of the pattern that the graph holds.
    """

    step: Step
    ids: tuple[str, ...]
    size: int
    rates: _Floats
    ranks: npt.NDArray[np.int64]
    depth: int
    stored: int

    @property
    def odds(self) -> _Floats:
        """Log-odds of the rates; 0 where the rate is 0."""
        return np.where(self.rates > 0, _log_odds(self.rates), 0.0)

    def features(self, prior: float) -> _Floats:
        """Return the features of each candidate, [candidates, features]; a candidate's depend on no further one.

        Of each completer: the log-odds of its confidence, 0 without any; whether it has any; the logarithm of the rank,
        past the depth where it does not propose it; whether it proposes it, and first; how far the log-odds are below
        the greatest of the pool; their square. Of each two completers the product of the log-odds. Then how many
        propose it, the prior, and the logarithm of 1 + the triples that the pattern has in the graph.

        Args:
            prior: Log-odds with which a proposal for this step is right.
        """
        odds, rated, proposed = self.odds, self.rates > 0, self.ranks > 0
        size = self.rates.shape[1]
        best = np.where(rated, odds, -np.inf)[: self.size].max(axis=0, initial=-np.inf)
        pairs = [odds[:, one] * odds[:, other] for one in range(size) for other in range(one, size)]
        fixed = np.broadcast_to([prior, np.log1p(self.stored)], (len(self.ids), 2))
        columns = [
            odds,
            rated,
            np.log(np.where(proposed, self.ranks, self.depth + 1)),
            proposed,
            self.ranks == 1,
            np.where(rated & np.isfinite(best), odds - np.where(np.isfinite(best), best, 0.0), 0.0),
            *pairs,
            proposed.sum(axis=1),
            fixed,
        ]
        return np.column_stack(columns).astype(np.float64)


def candidate_pools(
    completers: Sequence[Completer],
    patterns: Sequence[Pattern],
    depth: int,
    stored: Sequence[int],
    further: Sequence[Sequence[str]] | None = None,
) -> tuple[list[CandidatePool], list[list[list[Completion]]]]:
    """Ask completers about patterns; each rates also what only others propose, and the further candidates.

    Args:
        completers: The completers.
        patterns: The patterns.
        depth: Most completions of each completer.
        stored: Number of triples of each pattern in the graph.
        further: Candidates of each pattern to be rated besides.

    Returns:
        The pool of each pattern, and its completions by each completer.
    """
    rows = [[list(row) for row in one.complete(patterns, depth)] for one in completers]
    proposed = list(zip(*rows, strict=True))
    steps = [open_end(pattern)[1] for pattern in patterns]
    ids: list[tuple[str, ...]] = []
    sizes = []
    places: list[list[dict[str, int]]] = []
    for at, (step, found) in enumerate(zip(steps, proposed, strict=True)):
        ends = [[one.triple.subject if step.inverse else one.triple.object for one in row] for row in found]
        places.append([{end: place for place, end in enumerate(row, 1)} for row in ends])
        pool = sorted({end for row in ends for end in row})
        sizes.append(len(pool))
        known = set(pool)
        ids.append((*pool, *dict.fromkeys(id_ for id_ in (further[at] if further else ()) if id_ not in known)))
    pools = []
    rates = [np.zeros((len(some), len(completers))) for some in ids]
    ranks = [np.zeros((len(some), len(completers)), dtype=np.int64) for some in ids]
    for column, completer in enumerate(completers):
        lacking = [[id_ for id_ in some if id_ not in of[column]] for some, of in zip(ids, places, strict=True)]
        asked = [at for at, some in enumerate(lacking) if some]
        answers = completer.rate([patterns[at] for at in asked], [lacking[at] for at in asked]) if asked else []
        others = dict(zip(asked, answers, strict=True))
        for at, some in enumerate(ids):
            rank = ranks[at][:, column] = [places[at][column].get(id_, 0) for id_ in some]
            inside = np.array(rank) > 0
            sure = [one.confidence for one in rows[column][at]]
            rates[at][inside, column] = [sure[place - 1] for place in rank if place]
            rates[at][~inside, column] = others.get(at, [])
    for at, step in enumerate(steps):
        pools.append(CandidatePool(step, ids[at], sizes[at], rates[at], ranks[at], depth, stored[at]))
    return pools, [list(found) for found in proposed]


def _log_odds(values: _Floats) -> _Floats:
    clipped = np.clip(values, _EDGE, 1 - _EDGE)
    found: _Floats = np.log(clipped / (1 - clipped))
    return found
