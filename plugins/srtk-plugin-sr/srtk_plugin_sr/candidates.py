"""The triples that ``rerank`` scores: those of one question, where its search starts, and how its topics meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.text import link_topics
from srtk_framework.values import Question, Subgraph
from srtk_plugin_sr.topic_joins import topic_joins


@attrs.frozen(eq=False)
class Candidates:
    """What the inner expander found for one question.

    Attributes:
        question: The question.
        found: The inner expander's subgraph; its joins are those of the paths among its triples.
        starts: The linked nodes with their link scores, between 0 and 1.
        topics: Number of topics of the question.
        support: Logarithm of the factor by which other topics of the question raise each triple, of shape [triples];
            0 with one topic.
    """

    question: Question
    found: Subgraph
    starts: Mapping[str, float]
    topics: int
    support: npt.NDArray[np.float64]


def candidates_of(graph: KnowledgeGraph, questions: Sequence[Question], found: Sequence[Subgraph]) -> list[Candidates]:
    """Return the candidates of questions; their linked nodes are read with one call to the graph."""
    frontiers = iter(graph.frontiers([[link.entity] for question in questions for link in question.links]))
    rows = []
    for question, subgraph in zip(questions, found, strict=True):
        nodes: dict[str, tuple[str, ...]] = {}
        starts: dict[str, float] = {}
        for link in question.links:
            nodes[link.entity] = tuple(next(frontiers).ids())
            for node in nodes[link.entity]:
                starts[node] = max(starts.get(node, 0.0), min(max(link.score, 0.0), 1.0))
        topics = link_topics(question.links)
        factors, joins = topic_joins(subgraph, topics, nodes)
        support = np.log([factors.get(triple, 1.0) for triple in subgraph.triples])
        found_here, count = attrs.evolve(subgraph, joins=joins), len(set(topics.values()))
        rows.append(Candidates(question, found_here, dict(sorted(starts.items())), count, support))
    return rows
