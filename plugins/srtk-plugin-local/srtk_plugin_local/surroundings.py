"""What stands around entities in the graph, in words: to tell candidates of one name apart."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from srtk_framework.specs import KnowledgeGraph
from srtk_framework.text import fold, words
from srtk_framework.types import Step, Triple

MOST_STEPS = 24
MOST_NEIGHBOURS = 2
_STEM = 5


def stems(text: str) -> set[str]:
    """Return the beginnings of a text's words, by which ``directed`` and ``directors`` are one."""
    folded = fold(text)
    return {folded[start:end].rstrip("s")[:_STEM] for start, end in words(folded)}


def relation_stems(graph: KnowledgeGraph, ids: Sequence[str]) -> list[set[str]]:
    """Return, for each entity, the stems of the words in the labels of the relations at it."""
    rows = graph.steps(graph.frontiers([[id_] for id_ in ids]), True)
    relations = list(dict.fromkeys(step.relation for row in rows for step in row))
    found = {r: stems(label) for r, label in zip(relations, graph.labels(relations), strict=True)}
    return [set().union(*(found[step.relation] for step in row)) for row in rows]


def descriptions(graph: KnowledgeGraph, ids: Sequence[str]) -> list[str]:
    """Describe each entity by its label and some of its facts, those that tell its type first."""
    schema = graph.schema()
    frontiers = graph.frontiers([[id_] for id_ in ids])
    chosen: list[tuple[int, Step]] = []
    for place, row in enumerate(graph.steps(frontiers, True)):
        telling = [step for step in row if not any(fnmatchcase(step.relation, noise) for noise in schema.noise)]
        telling.sort(key=lambda step: (step.inverse or step.relation not in schema.type_relations, step.inverse, step))
        chosen += [(place, step) for step in telling[:MOST_STEPS]]
    read = graph.triples([frontiers[place] for place, _ in chosen], [step for _, step in chosen], MOST_NEIGHBOURS)
    names = list(dict.fromkeys([*ids, *(item for triples in read for triple in triples for item in triple)]))
    labels = dict(zip(names, graph.labels(names), strict=True))
    facts: list[list[str]] = [[] for _ in ids]
    for (place, step), triples in zip(chosen, read, strict=True):
        ends = ", ".join(labels[_end(triple, step)] for triple in triples)
        facts[place].append(f"{labels[step.relation]} {ends}")
    return ["; ".join([labels[id_], *row]) for id_, row in zip(ids, facts, strict=True)]


def _end(triple: Triple, step: Step) -> str:
    return triple.subject if step.inverse else triple.object
