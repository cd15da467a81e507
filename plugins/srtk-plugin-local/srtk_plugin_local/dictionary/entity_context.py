"""What stands around entities in the graph, in words: to tell candidates of one name apart."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.text import fold, words
from srtk_framework.values import Frontier, Literal, Step, Triple

MOST_STEPS = 24
MOST_NEIGHBOURS = 2
MOST_VALUES = 50
"""Descriptions that are read of one entity, in whatever language."""
MOST_LINKED = 100
"""Neighbours that are read along one step, to see what two entities share."""
ABOUT = ("description", "schema:description", "http://schema.org/description", "dct:description", "rdfs:comment")
"""Relations whose values describe an entity in words, unless the linker names others."""
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


def texts(
    graph: KnowledgeGraph, ids: Sequence[str], about: Sequence[str] = ABOUT, languages: Sequence[str] = ()
) -> list[tuple[str, str]]:
    """Tell what each entity is and what stands around it.

    Args:
        graph: Read by few calls.
        ids: Entities.
        about: Relations whose values describe an entity.
        languages: Of descriptions, the best first; one without a language comes before them.

    Returns:
        Per entity its description, else its types, else its label; and some of its facts, types first, else its label.
    """
    schema = graph.schema()
    frontiers = graph.frontiers([[id_] for id_ in ids])
    chosen: list[tuple[int, Step]] = []
    for place, row in enumerate(graph.steps(frontiers, True)):
        descriptions = [step for step in row if step.relation in about and not step.inverse]
        telling = _telling(row, (*schema.noise, *about))
        telling.sort(key=lambda step: (step.inverse or step.relation not in schema.type_relations, step.inverse, step))
        chosen += [(place, step) for step in [*descriptions[:1], *telling[:MOST_STEPS]]]
    read = _read(graph, frontiers, chosen, about)
    names = list(dict.fromkeys([*ids, *(item for triples in read for triple in triples for item in triple)]))
    labels = dict(zip(names, graph.labels(names), strict=True))
    described: dict[int, str] = {}
    types: list[list[str]] = [[] for _ in ids]
    facts: list[list[str]] = [[] for _ in ids]
    for (place, step), triples in zip(chosen, read, strict=True):
        if step.relation in about:
            described[place] = labels[_preferred(triples, languages)] if triples else ""
            continue
        ends = ", ".join(labels[_end(triple, step)] for triple in triples)
        facts[place].append(f"{labels[step.relation]} {ends}")
        if step.relation in schema.type_relations and not step.inverse:
            types[place].append(ends)
    return [
        (described.get(place) or ", ".join(types[place]) or labels[id_], "; ".join(facts[place]) or labels[id_])
        for place, id_ in enumerate(ids)
    ]


def neighbours(graph: KnowledgeGraph, ids: Sequence[str]) -> list[set[str]]:
    """Return some of the entities at the other end of each entity's triples."""
    noise = graph.schema().noise
    frontiers = graph.frontiers([[id_] for id_ in ids])
    chosen = [
        (place, step)
        for place, row in enumerate(graph.steps(frontiers, True))
        for step in _telling(row, noise)[:MOST_STEPS]
    ]
    reached = graph.follow([frontiers[place] for place, _ in chosen], [step for _, step in chosen], MOST_LINKED)
    found: list[set[str]] = [set() for _ in ids]
    for (place, _), frontier in zip(chosen, reached, strict=True):
        found[place].update(frontier.ids())
    return found


def _telling(steps: Sequence[Step], noise: Sequence[str]) -> list[Step]:
    return [step for step in steps if not any(fnmatchcase(step.relation, pattern) for pattern in noise)]


def _read(
    graph: KnowledgeGraph, frontiers: Sequence[Frontier], chosen: Sequence[tuple[int, Step]], about: Sequence[str]
) -> list[Sequence[Triple]]:
    """Read the triples of steps: of descriptions many, in order to choose by language, of others a few."""
    found: list[Sequence[Triple]] = [()] * len(chosen)
    for limit, described in ((MOST_VALUES, True), (MOST_NEIGHBOURS, False)):
        places = [i for i, (_, step) in enumerate(chosen) if (step.relation in about) == described]
        rows = graph.triples([frontiers[chosen[i][0]] for i in places], [chosen[i][1] for i in places], limit)
        for i, row in zip(places, rows, strict=True):
            found[i] = row
    return found


def _preferred(triples: Sequence[Triple], languages: Sequence[str]) -> str:
    """Choose a value without a language, else by the order of languages, else the first one."""
    order = [None, *languages]

    def rank(value: str) -> int:
        language = value.language if isinstance(value, Literal) else None
        return order.index(language) if language in order else len(order)

    return min((triple.object for triple in triples), key=rank)


def _end(triple: Triple, step: Step) -> str:
    return triple.subject if step.inverse else triple.object
