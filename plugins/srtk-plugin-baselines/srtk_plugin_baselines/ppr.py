"""The ``ppr`` expander: triples ranked by the personalised PageRank of their ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from srtk_framework.graph import finish
from srtk_framework.roles import Expander, KnowledgeGraph
from srtk_framework.text import link_topics
from srtk_framework.values import Budget, Question, Subgraph, at_least, between, positive
from srtk_plugin_baselines.neighbourhood import Neighbourhood, neighbourhoods, ranked_subgraph

if TYPE_CHECKING:
    import numpy.typing as npt

_LEAST = 1e-300  # Replaces a PageRank of 0, which has no logarithm
_ROUNDS = 50  # Most iterations of a walk
_TOLERANCE = 1e-8  # A walk ends when its probabilities change by less than this in total


@attrs.define(eq=False)
class PprExpander(Expander):
    """Rank the triples around the links by personalised PageRank (Page et al. 1999; Haveliwala 2002).

    A random walk follows the triples at a node in either direction, all with the same probability, and restarts with
    probability ``1 - alpha`` at a link, drawn by weight. Power iteration computes the stationary probability p of each
    node. A triple scores log10(p(subject) p(object)).

    Where a question has several topics (see ``text.link_topics``), there is a walk for each of them. The p of a node is
    then their mean, by the weights of the links, times ``1 + p_t / meet`` for each topic t but the most probable. This
    soft conjunction of walks (Tong and Faloutsos, KDD 2006) changes no node that a single topic reaches.

    Attributes:
        graph: Graph to read.
        budget: Limits of a question.
        depth: Number of hops from the links that the walk covers.
        inverse: Also follow relations against their direction to find that neighbourhood.
        alpha: Probability of continuing rather than restarting.
        meet: Probability of a further topic's walk at a node that doubles the node's; null for one walk from all links.
        most_read: Maximum number of triples of the neighbourhood, nearest first; null for no limit.
    """

    graph: KnowledgeGraph
    budget: Budget = attrs.field(factory=Budget)
    depth: int = attrs.field(default=2, validator=at_least(1))
    inverse: bool = True
    alpha: float = attrs.field(default=0.85, validator=between(above=0, below=1))
    meet: float | None = attrs.field(default=0.01, validator=positive)
    most_read: int | None = attrs.field(default=100_000, validator=at_least(1))

    def expand(self, questions: Sequence[Question]) -> list[Subgraph]:
        """Return the triples whose ends have the greatest PageRank."""
        found = neighbourhoods(
            self.graph, questions, self.depth, self.inverse, self.budget, most=self.most_read, cut_by="read"
        )
        ranked = [self._rank(one, self._topics(one, question)) for one, question in zip(found, questions, strict=True)]
        return finish(self.graph, ranked, self.budget)

    def _topics(self, one: Neighbourhood, question: Question) -> list[dict[str, float]]:
        """Return the linked nodes with their weights, for each topic with a weight above 0; else all of them."""
        if self.meet is None:
            return [dict(one.links)]
        topics = link_topics(question.links)
        rows: dict[int, dict[str, float]] = {}
        for node, weight in one.links.items():
            # A node that the graph has in place of the linked entity is a topic of its own.
            rows.setdefault(topics.get(node, -1 - len(rows)), {})[node] = weight
        return [row for row in rows.values() if any(row.values())] or [dict(one.links)]

    def _rank(self, one: Neighbourhood, topics: Sequence[Mapping[str, float]]) -> Subgraph:
        if not len(one.hops):
            return ranked_subgraph(one, np.empty(0), self.budget)
        nodes, at = np.unique(np.concatenate([one.places, one.subjects, one.objects]), return_inverse=True)
        places, heads, tails = np.split(at, [len(one.places), len(one.places) + len(one.hops)])
        number = dict(zip(one.links, places.tolist(), strict=True))
        walks, most = [], 0
        for weights in topics:
            restart = np.zeros(len(nodes))
            restart[[number[node] for node in weights]] = list(weights.values())
            shares, rounds = pagerank(heads, tails, restart, self.alpha, _ROUNDS, _TOLERANCE)
            walks.append(shares)
            most = max(most, rounds)
        shares = self._joined(np.stack(walks), [sum(weights.values()) for weights in topics])
        logarithms = np.log10(np.maximum(shares, _LEAST))
        return ranked_subgraph(one, logarithms[heads] + logarithms[tails], self.budget, rounds=most)

    def _joined(self, walks: npt.NDArray[np.float64], weights: Sequence[float]) -> npt.NDArray[np.float64]:
        """Return the weighted mean of walks, raised where more than one of them arrives; of shape [nodes]."""
        if self.meet is None or len(walks) == 1:
            only: npt.NDArray[np.float64] = walks[0]
            return only
        mean = np.average(walks, axis=0, weights=weights)
        joined: npt.NDArray[np.float64] = mean * np.prod(1.0 + np.sort(walks, axis=0)[:-1] / self.meet, axis=0)
        return joined


def pagerank(
    heads: npt.NDArray[np.int64],
    tails: npt.NDArray[np.int64],
    restart: npt.NDArray[np.float64],
    alpha: float,
    iterations: int,
    tolerance: float,
) -> tuple[npt.NDArray[np.float64], int]:
    """Compute personalised PageRank by power iteration on an undirected graph with parallel edges.

    Returns the probability of each node, of shape [nodes], and the number of iterations. If no restart weight is
    above 0, all are equal. The iteration stops when the total change is below ``tolerance``.
    """
    from scipy import sparse  # type: ignore[import-untyped]

    size = len(restart)
    start = restart / restart.sum() if restart.sum() > 0 else (restart * 0 + 1) / size
    loops = heads == tails
    rows = np.concatenate([heads, tails[~loops]])
    columns = np.concatenate([tails, heads[~loops]])
    degree = np.bincount(columns, minlength=size)
    alone = degree == 0
    transition: Any = sparse.csr_matrix((1.0 / degree[columns], (rows, columns)), shape=(size, size))
    shares = start
    for done in range(1, iterations + 1):
        stay = shares[alone].sum()
        following = alpha * (transition @ shares + stay * start) + (1.0 - alpha) * start
        change = np.abs(following - shares).sum()
        shares = following
        if change < tolerance:
            return shares, done
    return shares, iterations
