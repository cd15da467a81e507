"""How paths from different topics of a question support each other: where they end or pass in the same nodes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import attrs

from srtk_framework.graph import Instance
from srtk_framework.roles import BACKGROUND
from srtk_framework.values import Join, RankedPath, Triple

AT_TOPIC = 0.5
"""Support of a topic at its own node: a path from another topic that passes there joins the two."""
GREATEST = 1e100
"""Greatest support of an instance by all other topics together: hundreds of topics would exceed all numbers."""
LIKELY = 0.25
"""Least probability of a topic's paths at a node for which their triples are read beside those of another topic."""


INSTANCES_READ = 4
"""Instances of a path that are read for each triple of the budget: the number of a path's ends is known up to there."""


class Arrival(NamedTuple):
    """The surest way from a topic to a node.

    Attributes:
        rank: Rank of the path.
        triples: Triples from the linked entity to the node.
        confidence: Product of their confidences.
    """

    rank: int
    triples: tuple[Triple, ...]
    confidence: float


@attrs.frozen
class TopicSupport:
    """The probability with which each topic's paths arrive at each node.

    Attributes:
        topics: For each linked entity, the number of its topic.
        arrived: For each node and topic, the probability of the topic's paths that end or pass there.
        ways: For each topic and node, the best path's way there.
        background: Support of a topic where none of its paths arrive.
    """

    topics: Mapping[str, int]
    arrived: Mapping[str, Mapping[int, float]]
    ways: Mapping[int, Mapping[str, Arrival]]
    background: float = BACKGROUND

    def boost(self, topic: int, nodes: Sequence[str]) -> float:
        """Return the factor by which the other topics raise an instance of a topic's path with these nodes; at least 1.

        For each other topic it is the probability of its paths at the node of the instance that most of them reach,
        over the probability of a path that was not found.
        """
        most = self._most(topic, nodes)
        factor = math.prod((self.background + most[other]) / self.background for other in sorted(most))
        return min(factor, GREATEST)

    def meetings(self, topic: int, nodes: Sequence[str]) -> list[tuple[str, Arrival]]:
        """Return, for each other topic that is likely to arrive at an instance with these nodes, where and how."""
        found = []
        for other, most in sorted(self._most(topic, nodes).items()):
            at = next(node for node in nodes if self.arrived.get(node, {}).get(other, 0.0) == most)
            if at in self.ways[other] and most >= LIKELY:
                found.append((at, self.ways[other][at]))
        return found

    def _most(self, topic: int, nodes: Sequence[str]) -> dict[int, float]:
        """Return the probability of each other topic that arrives at one of some nodes, where it is greatest."""
        most: dict[int, float] = {}
        for node in nodes:
            for other, arrived in self.arrived.get(node, {}).items():
                if other != topic and arrived > most.get(other, 0.0):
                    most[other] = arrived
        return most


def path_probabilities(paths: Sequence[RankedPath], ranks: Sequence[int]) -> dict[int, float]:
    """Return the probability of each of these paths: a softmax over the scores of all topics' paths."""
    best = max((paths[rank].score for rank in ranks), default=0.0)
    weights = {rank: math.exp(paths[rank].score - best) for rank in ranks}
    total = math.fsum(weights.values())
    return {rank: weight / total for rank, weight in weights.items()}


def topic_support(
    paths: Sequence[RankedPath],
    read: Mapping[int, Sequence[Instance]],
    probabilities: Mapping[int, float],
    topics: Mapping[str, int],
    background: float = BACKGROUND,
) -> TopicSupport:
    """Return where the paths of each topic arrive.

    The probabilities of the topic with the likeliest paths sum to one here, of other topics to less: a topic
    without a path that fits the question supports little.

    Args:
        paths: Paths of a question, best first.
        read: Instances of the paths, by rank.
        probabilities: Probability of each of these paths (see ``path_probabilities``).
        topics: For each linked entity, the number of its topic.
        background: Support of a topic where none of its paths arrive, above 0.
    """
    arrived: dict[str, dict[int, float]] = {}
    ways: dict[int, dict[str, Arrival]] = {topic: {} for topic in sorted(set(topics.values()))}
    if len(ways) < 2:
        return TopicSupport(topics, arrived, ways, background)
    sums = dict.fromkeys(ways, 0.0)
    for rank in sorted(read):
        sums[topics[paths[rank].entity]] += probabilities[rank]
    most = max(sums.values()) or 1.0
    for rank in sorted(read):
        topic = topics[paths[rank].entity]
        surest: dict[str, float] = {}
        for instance in read[rank]:
            for depth, node in enumerate(passed(instance, paths[rank]), 1):
                if instance.confidence > surest.get(node, 0.0):
                    surest[node] = instance.confidence
                    way = Arrival(rank, instance.triples[:depth], instance.confidence)
                    if node not in ways[topic] or way.confidence > ways[topic][node].confidence:
                        ways[topic][node] = way
        for node, confidence in surest.items():
            there = arrived.setdefault(node, {})
            there[topic] = there.get(topic, 0.0) + probabilities[rank] / most * confidence
    for entity, topic in topics.items():
        there = arrived.setdefault(entity, {})
        there[topic] = max(AT_TOPIC, there.get(topic, 0.0))
    return TopicSupport(topics, arrived, ways, background)


def joins_of(meetings: Iterable[tuple[int, str, Arrival]]) -> tuple[Join, ...]:
    """Return the paths that meet, with their nodes, from their meetings, best first.

    Args:
        meetings: Of each, the rank of a path, the node, and how another topic arrives there.
    """
    met: dict[tuple[int, ...], dict[str, None]] = {}
    for rank, at, way in meetings:
        met.setdefault((min(rank, way.rank), max(rank, way.rank)), {})[at] = None
    return tuple(Join(ranks, tuple(at)) for ranks, at in met.items())


def passed(instance: Instance, path: RankedPath) -> list[str]:
    """Return the nodes behind each step of an instance; the last is its end."""
    return [
        triple.subject if step.inverse else triple.object
        for triple, step in zip(instance.triples, path.steps, strict=True)
    ]
