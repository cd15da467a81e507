"""Subgraphs and questions as numbers for the network."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.graph import names_of
from srtk_framework.text import relation_words, without_mentions, words
from srtk_framework.values import Question, Step, Subgraph

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

STAND_IN = "it"
"""Stands for the mentions in a question, whose names say nothing about its relations."""
MOST_WORDS = 64
"""Words of a question that are read."""
_DISTANCES = 4  # Distances from the nearest topic with a feature of their own; the last is that of all farther nodes.
FEATURES = _DISTANCES + 4
"""Numbers that are known of each node."""


@attrs.frozen(eq=False)
class GraphInput:
    """A question and its subgraph.

    Attributes:
        nodes: Nodes of the subgraph, in the order of its triples.
        texts: The question without its mentions, then its words.
        relations: Labels of the relations of the subgraph, which are sorted by their ids.
        edges: For each triple in both directions its source, its relation (+ the number of relations against the
            direction) and its target, [2 * triples, 3].
        features: Of each node: whether it is a topic, its distance, and what the search says, [nodes, FEATURES].
    """

    nodes: tuple[str, ...]
    texts: tuple[str, ...]
    relations: tuple[str, ...]
    edges: Ints
    features: Floats

    @classmethod
    def of(cls, question: Question, subgraph: Subgraph, labels: Mapping[str, str]) -> GraphInput:
        """Number the nodes, relations and words of a question and its subgraph, given the labels of ids."""
        nodes = {node: i for i, node in enumerate(dict.fromkeys(e for t in subgraph.triples for e in (t[0], t[2])))}
        relations = sorted({triple.relation for triple in subgraph.triples})
        number = {relation: i for i, relation in enumerate(relations)}
        forth = np.array(
            [(nodes[t.subject], number[t.relation], nodes[t.object]) for t in subgraph.triples], dtype=np.int64
        ).reshape(-1, 3)
        edges = np.concatenate([forth, forth[:, ::-1] + np.array([0, len(relations), 0])])
        text = without_mentions(question, question.links, labels, STAND_IN)
        every = [text[start:end].lower() for start, end in words(text)][:MOST_WORDS]
        topics = {link.entity for link in question.links} | {path.entity for path in subgraph.paths}
        features = np.zeros((len(nodes), FEATURES), dtype=np.float32)
        if nodes:
            distances = _distances(edges, {nodes[topic] for topic in topics if topic in nodes}, len(nodes))
            features[np.arange(len(nodes)), np.minimum(distances, _DISTANCES)] = 1
            features[:, _DISTANCES + 1 :] = _of_paths(subgraph, nodes)
        named = tuple(relation_words(relation, labels.get(relation, relation)) for relation in relations)
        return cls(tuple(nodes), (text, *every), named, edges, features)

    def fault(self) -> str | None:
        """Say why the subgraph cannot be read; None where it can."""
        if not len(self.topics):
            return "no entity of the question is in the subgraph"
        if len(self.topics) == len(self.nodes):
            return "the subgraph has nothing but the entities of the question"
        return None

    @property
    def topics(self) -> Ints:
        """Numbers of the topics among the nodes."""
        return np.flatnonzero(self.features[:, 0])

    def lesson(self, answers: Collection[str]) -> Lesson:
        """Add the gold answers."""
        right = set(answers)
        gold = np.array([not right.isdisjoint(names_of(node)) for node in self.nodes], dtype=np.float32)
        gold[self.topics] = 0
        return Lesson(self, gold, len(right) - int(gold.sum()))


@attrs.frozen(eq=False)
class Lesson:
    """A question with its answers.

    Attributes:
        given: The question and its subgraph.
        gold: 1 for each node that is an answer, else 0; a topic is none.
        missing: Number of answers that are no such nodes.
    """

    given: GraphInput
    gold: Floats
    missing: int


def _distances(edges: Ints, topics: Collection[int], size: int) -> Ints:
    """Return the number of steps from the nearest topic to each node, with any direction; ``size`` without a way."""
    found = np.full(size, size, dtype=np.int64)
    found[sorted(topics)] = 0
    for step in range(1, _DISTANCES):
        near = edges[found[edges[:, 0]] == step - 1, 2]
        found[near] = np.minimum(found[near], step)
    return found


def _of_paths(subgraph: Subgraph, nodes: Mapping[str, int]) -> Floats:
    """Return for each node the share of the paths that end there in the search's probability, [nodes, 3].

    The share of all of them, of the best of them, and whether the best of all paths is among them.
    """
    onward: dict[tuple[str, Step], list[str]] = {}
    for subject, relation, object_ in subgraph.triples:
        onward.setdefault((subject, Step(relation)), []).append(object_)
        onward.setdefault((object_, Step(relation, True)), []).append(subject)
    paths = [path for path in subgraph.paths if path.steps]
    most = max((path.score for path in paths), default=0.0)
    weights = [math.exp(path.score - most) for path in paths]
    found = np.zeros((len(nodes), 3), dtype=np.float32)
    for path, weight in zip(paths, weights, strict=True):
        level: Sequence[str] = [path.entity]
        for step in path.steps:
            level = list(dict.fromkeys(end for node in level for end in onward.get((node, step), ())))
        if not level:
            continue
        ends = [nodes[node] for node in level]
        found[ends, 0] += weight / math.fsum(weights)
        found[ends, 1] = np.maximum(found[ends, 1], weight / math.fsum(weights))
        found[ends, 2] = np.maximum(found[ends, 2], weight == 1.0)
    return found
