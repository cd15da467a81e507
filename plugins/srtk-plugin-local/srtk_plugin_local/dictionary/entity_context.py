"""The context of entities in the graph: descriptions, facts and neighbours, by which namesakes differ."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.text import fold, words
from srtk_framework.values import Frontier, Literal, Step, Triple

# An entity's text names its first relations, with few values of each: a hub's thousands would drown the rest.
MOST_STEPS = 24
MOST_NEIGHBOURS = 2
# Descriptions read of one entity, in any language.
MOST_VALUES = 50
# Neighbours read along one step, for coherence.
MOST_LINKED = 100
# Relations whose values describe an entity.
ABOUT = ("description", "schema:description", "http://schema.org/description", "dct:description", "rdfs:comment")
# As *directed* and *directors* share; names of relations are short, so that few other words share as many.
_STEM = 5


def stems(text: str) -> set[str]:
    """Return the first letters of the words of a text, which ``directed`` and ``directors`` share."""
    folded = fold(text)
    return {folded[start:end].rstrip("s")[:_STEM] for start, end in words(folded)}


def relation_stems(graph: KnowledgeGraph, ids: Sequence[str]) -> list[set[str]]:
    """Return the stems of the labels of each entity's relations."""
    rows = graph.steps(graph.frontiers([[id_] for id_ in ids]), True)
    relations = list(dict.fromkeys(step.relation for row in rows for step in row))
    found = {r: stems(label) for r, label in zip(relations, graph.labels(relations), strict=True)}
    return [set().union(*(found[step.relation] for step in row)) for row in rows]


def texts(graph: KnowledgeGraph, ids: Sequence[str], languages: Sequence[str] = ()) -> list[tuple[str, str]]:
    """Return two texts about each entity: its description, and some of its facts.

    Args:
        graph: Graph of the entities.
        ids: The entities.
        languages: Languages of descriptions, in order of preference; a description without a language comes first.

    Returns:
        For each entity its description, else its types, else its label; and its facts, types first, else its label.
    """
    schema = graph.schema()
    frontiers = graph.frontiers([[id_] for id_ in ids])
    chosen: list[tuple[int, Step]] = []
    for place, row in enumerate(graph.steps(frontiers, True)):
        descriptions = [step for step in row if step.relation in ABOUT and not step.inverse]
        others = _without(row, (*schema.noise, *ABOUT))
        others.sort(key=lambda step: (step.inverse or step.relation not in schema.type_relations, step.inverse, step))
        chosen += [(place, step) for step in [*descriptions[:1], *others[:MOST_STEPS]]]
    read = _read(graph, frontiers, chosen)
    names = list(dict.fromkeys([*ids, *(item for triples in read for triple in triples for item in triple)]))
    labels = dict(zip(names, graph.labels(names), strict=True))
    described: dict[int, str] = {}
    types: list[list[str]] = [[] for _ in ids]
    facts: list[list[str]] = [[] for _ in ids]
    for (place, step), triples in zip(chosen, read, strict=True):
        if step.relation in ABOUT:
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
    """Return some of the neighbours of each entity."""
    noise = graph.schema().noise
    frontiers = graph.frontiers([[id_] for id_ in ids])
    chosen = [
        (place, step)
        for place, row in enumerate(graph.steps(frontiers, True))
        for step in _without(row, noise)[:MOST_STEPS]
    ]
    reached = graph.follow([frontiers[place] for place, _ in chosen], [step for _, step in chosen], MOST_LINKED)
    found: list[set[str]] = [set() for _ in ids]
    for (place, _), frontier in zip(chosen, reached, strict=True):
        found[place].update(frontier.ids())
    return found


def _without(steps: Sequence[Step], patterns: Sequence[str]) -> list[Step]:
    return [step for step in steps if not any(fnmatchcase(step.relation, pattern) for pattern in patterns)]


def _read(
    graph: KnowledgeGraph, frontiers: Sequence[Frontier], chosen: Sequence[tuple[int, Step]]
) -> list[Sequence[Triple]]:
    """Read many triples of description steps, to choose by language, and a few of other steps."""
    found: list[Sequence[Triple]] = [()] * len(chosen)
    for limit, described in ((MOST_VALUES, True), (MOST_NEIGHBOURS, False)):
        places = [i for i, (_, step) in enumerate(chosen) if (step.relation in ABOUT) == described]
        rows = graph.triples([frontiers[chosen[i][0]] for i in places], [chosen[i][1] for i in places], limit)
        for i, row in zip(places, rows, strict=True):
            found[i] = row
    return found


def _preferred(triples: Sequence[Triple], languages: Sequence[str]) -> str:
    """Return a value without a language, else in the preferred language, else the first value."""
    order = [None, *languages]

    def rank(value: str) -> int:
        language = value.language if isinstance(value, Literal) else None
        return order.index(language) if language in order else len(order)

    return min((triple.object for triple in triples), key=rank)


def _end(triple: Triple, step: Step) -> str:
    return triple.subject if step.inverse else triple.object
