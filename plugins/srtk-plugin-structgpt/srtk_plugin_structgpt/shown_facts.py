"""The facts that a prompt shows: their names, and which of them hold an answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import attrs

from srtk_framework.text import fold, name
from srtk_framework.values import Subgraph

_TRUTHS = ("yes", "no", "true", "false")


def is_value(answer: str) -> bool:
    """Return whether an answer is a number, a date, yes or no, which no fact needs to hold as it stands."""
    return fold(answer) in _TRUTHS or any(char.isdigit() for char in answer)


@attrs.frozen
class ShownFacts:
    """Names in the facts of a prompt.

    ``names`` are as shown, in the order of the facts. Folded names lead to nodes (``entities``) and to indexes of
    facts (``places``); shown names lead to names in the graph (``plain``).
    """

    names: tuple[str, ...]
    entities: Mapping[str, Sequence[str]]
    places: Mapping[str, Sequence[int]]
    plain: Mapping[str, str]

    def holds(self, answer: str) -> bool:
        """Return whether a fact holds an answer."""
        return fold(answer) in self.places

    def holding(self, answer: str) -> Sequence[int]:
        """Return the indexes of the facts that hold an answer."""
        return self.places.get(fold(answer), ())

    def near(self, answer: str, places: Iterable[int], subgraph: Subgraph) -> list[str]:
        """Return the nodes of some facts that have an answer as their name, or all such nodes if these have none."""
        same = self.entities.get(fold(answer), ())
        ends = {end for i in places for end in (subgraph.triples[i].subject, subgraph.triples[i].object)}
        return [id_ for id_ in same if id_ in ends] or list(same)


def shown_facts(subgraph: Subgraph, size: int, labels: Mapping[str, str], shown: Mapping[str, str]) -> ShownFacts:
    """Return the names in the first facts of a subgraph."""
    triples = subgraph.triples[:size]
    qualifiers = [subgraph.qualifiers[i] if i < len(subgraph.qualifiers) else () for i in range(size)]
    nodes = dict.fromkeys(end for triple in triples for end in (triple.subject, triple.object))
    values = dict.fromkeys(value for row in qualifiers for _, value in row)
    rows = [{*triple, *(q for pair in row for q in pair)} for triple, row in zip(triples, qualifiers, strict=True)]
    forms = {id_: _forms(id_, labels, shown) for id_ in {*nodes, *values}.union(*rows)}
    entities: dict[str, list[str]] = {}
    for id_ in dict.fromkeys((*nodes, *values)):
        for text in forms[id_]:
            # The value of a qualifier may be an answer, but is not an entity of the triples.
            entities.setdefault(text, []).extend([id_] if id_ in nodes else [])
    places: dict[str, list[int]] = {}
    for i, ids in enumerate(rows):
        for text in set().union(*(forms[id_] for id_ in ids)):
            places.setdefault(text, []).append(i)
    names = tuple(dict.fromkeys(shown[id_] for id_ in (*nodes, *values)))
    return ShownFacts(names, entities, places, {shown[id_]: name(id_, labels) for id_ in (*nodes, *values)})


def _forms(id_: str, labels: Mapping[str, str], shown: Mapping[str, str]) -> set[str]:
    """Return the name of an id in the graph and in the prompt, folded; most often they are equal."""
    return {fold(shown[id_]), fold(name(id_, labels))}
