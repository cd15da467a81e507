"""Candidates of a pattern from several completers, with their ratings as features."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.roles import Completer
from srtk_framework.values import Completion, Pattern, Step, open_end
from srtk_plugin_completers.calibration import log_odds

_Floats = npt.NDArray[np.float64]


@attrs.frozen(eq=False)
class CandidatePool:
    """The candidates of one pattern: the first completions of all completers, and further candidates.

    Attributes:
        step: Step of the pattern to its open end.
        ids: The candidates: first from the completers, then the further candidates.
        size: Number of candidates from the completers.
        rates: Confidence of each completer in each candidate, [candidates, completers]; 0 for none.
        ranks: Place of each candidate among the completer's first completions, from 1; 0 if it is not there.
        depth: Most first completions of a completer.
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
        return np.where(self.rates > 0, log_odds(self.rates), 0.0)

    def features(self, prior: float) -> _Floats:
        """Return the features of each candidate, [candidates, features]; they do not depend on further candidates.

        Of each completer: the log-odds of its confidence, 0 without any; whether it has any; the logarithm of the rank,
        past the depth for candidates that it does not propose. Then whether it proposes the candidate, and first; how
        far the log-odds are below the greatest of the pool; their square. Of each two completers the product. Then how
        many propose it, the prior, and the logarithm of 1 + the triples that the pattern has in the graph.

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
    """Ask completers about patterns; each rates the candidates of all, and the further candidates.

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
    proposed = [list(found) for found in zip(*rows, strict=True)]
    pools = [
        _pool(open_end(pattern)[1], found, further[at] if further else (), depth, stored[at])
        for at, (pattern, found) in enumerate(zip(patterns, proposed, strict=True))
    ]
    for column, completer in enumerate(completers):
        unrated = [pool.ranks[:, column] == 0 for pool in pools]
        asked = [at for at, rows_ in enumerate(unrated) if rows_.any()]
        lacking = [[pools[at].ids[row] for row in np.flatnonzero(unrated[at])] for at in asked]
        answers = completer.rate([patterns[at] for at in asked], lacking) if asked else []
        for at, answer in zip(asked, answers, strict=True):
            pools[at].rates[unrated[at], column] = answer
    return pools, proposed


def _pool(
    step: Step, found: Sequence[Sequence[Completion]], further: Sequence[str], depth: int, stored: int
) -> CandidatePool:
    """Gather the candidates of a pattern, with the completers' own proposals."""
    ends = [[one.triple.subject if step.inverse else one.triple.object for one in row] for row in found]
    places = [{end: place for place, end in enumerate(row, 1)} for row in ends]
    pool = dict.fromkeys(sorted({end for row in ends for end in row}))
    ids = (*pool, *dict.fromkeys(id_ for id_ in further if id_ not in pool))
    ranks = np.array([[of.get(id_, 0) for of in places] for id_ in ids], dtype=np.int64).reshape(-1, len(found))
    rates = np.zeros(ranks.shape)
    for column, row in enumerate(found):
        inside = ranks[:, column] > 0
        rates[inside, column] = [row[place - 1].confidence for place in ranks[inside, column]]
    return CandidatePool(step, ids, len(pool), rates, ranks, depth, stored)
