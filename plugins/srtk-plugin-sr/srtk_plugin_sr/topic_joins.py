"""By how much the topics of a question support each other's triples in a subgraph, and where their paths meet.

For expanders that rank triples rather than nodes: the paths are followed among the triples that were found, without
the graph, and support each other by the rules of ``topic_support``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from srtk_framework.graph import Instance, instances_among
from srtk_framework.values import Join, RatedTriples, Subgraph, Triple
from srtk_plugin_sr.topic_support import INSTANCES_READ, joins_of, passed, path_probabilities, topic_support


class TopicJoins(NamedTuple):
    """How the topics of a question support each other.

    Attributes:
        factors: By how much the other topics raise a triple, above 1; triples that they do not raise are missing.
        joins: Paths of different topics that meet, with their nodes, best first.
    """

    factors: Mapping[Triple, float]
    joins: tuple[Join, ...]


def topic_joins(subgraph: Subgraph, topics: Mapping[str, int], starts: Mapping[str, Collection[str]]) -> TopicJoins:
    """Return by how much the topics of a question raise each other's triples, and where their paths meet.

    A triple is raised as much as the instance of a path through it that is raised most. With one topic, or without
    paths, nothing is.

    Args:
        subgraph: Triples, and the paths that lead to them.
        topics: For each linked entity the number of its topic (see ``text.link_topics``).
        starts: For each linked entity its nodes in the graph.
    """
    read = _instances(subgraph, starts) if len(set(topics.values())) > 1 else {}
    probabilities = path_probabilities(subgraph.paths, sorted(read))
    support = topic_support(subgraph.paths, read, probabilities, topics)
    factors: dict[Triple, float] = {}
    meetings = []
    for rank, found in read.items():
        path = subgraph.paths[rank]
        for instance in found:
            nodes = passed(instance, path)
            factor = support.boost(topics[path.entity], nodes)
            if factor > 1:
                for triple in instance.triples:
                    factors[triple] = max(factor, factors.get(triple, factor))
            worth = factor * probabilities[rank] * instance.confidence
            meetings += [(worth, rank, at, way) for at, way in support.meetings(topics[path.entity], nodes)]
    meetings.sort(key=lambda meeting: -meeting[0])
    return TopicJoins(factors, joins_of((rank, at, way) for _, rank, at, way in meetings))


def _instances(subgraph: Subgraph, starts: Mapping[str, Collection[str]]) -> dict[int, list[Instance]]:
    """Return the instances of the paths among the triples, by rank."""
    rated = zip(subgraph.triples, subgraph.confidences, strict=True) if subgraph.confidences else ()
    triples = RatedTriples(subgraph.triples, {triple: confidence for triple, confidence in rated if confidence < 1})
    most = INSTANCES_READ * len(triples)
    read = {
        rank: instances_among(triples, path, starts[path.entity], most)
        for rank, path in enumerate(subgraph.paths)
        if path.steps and path.entity in starts
    }
    return {rank: found for rank, found in read.items() if found}
