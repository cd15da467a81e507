"""Read out of a SPARQL query what it asks: its form, its constants, and the paths that lead from them to the answer.

This is no SPARQL engine. It reads basic graph patterns, `;` and `,`, UNION and paths of `/` and `^`. OPTIONAL, MINUS,
FILTER and the like narrow an answer and are passed over. Statements of Wikidata (`p:P39`, `ps:P39`) are read as the
direct claim, without their qualifiers. What may change the paths (a sub-query, a relation that is a variable, `*`, `+`,
`|`) leaves the paths unknown, never guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import attrs

from srtk_framework.values import Path, Step, Triple
from srtk_plugin_datasets.sparql import REPEATED, TYPE, NotUnderstood, Parser

_CLAIM = "http://www.wikidata.org/prop/"


@attrs.frozen
class Query:
    """What a query says.

    Attributes:
        form: ``select``, ``count`` (the answer is a number made of what was found), or ``ask``.
        answer: The variable that is asked for, with its mark, or None.
        constants: IRIs in place of subjects and objects, in order; those of FILTERs are left out. Of a query that is
            not understood, all its IRIs.
        classes: Those of the constants that only ever say of what class something is.
        branches: The triple patterns, once for each way to choose from UNIONs; None where they are not understood.
    """

    form: str
    answer: str | None
    constants: tuple[str, ...]
    classes: tuple[str, ...]
    branches: tuple[tuple[Triple, ...], ...] | None

    def paths(self) -> tuple[Path, ...] | None:
        """Find the shortest relation paths from each constant that is no class to the answer; None if unknown."""
        if self.branches is None or self.answer is None:
            return None
        found: dict[Path, None] = {}
        for triples in self.branches:
            for constant in self.constants:
                if constant not in self.classes:
                    found.update(dict.fromkeys(shortest_paths(triples, constant, self.answer, _open)))
        whole = [path for path in found if not any(step.relation.startswith(REPEATED) for step in path)]
        return tuple(whole) or None


def _open(node: str) -> bool:
    return node.startswith(("?", "_:"))


def read_query(text: str, type_relations: Iterable[str] = ()) -> Query:
    """Read a query; one that is not understood still gives its form and its constants.

    Args:
        text: SPARQL.
        type_relations: IRIs of relations from an entity to its class, besides ``rdf:type``.
    """
    parser = Parser(text)
    form, answer = parser.head()
    start = parser.at
    try:
        branches: tuple[tuple[Triple, ...], ...] | None = tuple(_direct(branch) for branch in parser.group())
    except NotUnderstood:
        branches = None
    triples = parser.seen
    nodes = [node for triple in triples for node in (triple.subject, triple.object) if node.startswith("http")]
    if branches is None:
        nodes = parser.iris(start)
    types = {TYPE, *type_relations}
    classes = {t.object for t in triples if t.relation.removeprefix(REPEATED) in types}
    classes -= {t.object for t in triples if t.relation.removeprefix(REPEATED) not in types}
    classes -= {t.subject for t in triples}
    constants = tuple(dict.fromkeys(nodes))
    return Query(form, answer, constants, tuple(node for node in constants if node in classes), branches)


def _direct(triples: Sequence[Triple]) -> tuple[Triple, ...]:
    """Read the two halves of a Wikidata statement as its direct claim; its other halves are left out."""
    owners = {t.object: t for t in triples if t.relation.startswith(_CLAIM) and "/" not in t.relation[len(_CLAIM) :]}
    found = []
    for triple in triples:
        owner = owners.get(triple.subject)
        if owner is None:
            if triple.object not in owners or not triple.relation.startswith(_CLAIM):
                found.append(triple)
        elif triple.relation == _CLAIM + "statement/" + owner.relation[len(_CLAIM) :]:
            found.append(Triple(owner.subject, _CLAIM + "direct/" + owner.relation[len(_CLAIM) :], triple.object))
    return tuple(found)


def shortest_paths(
    triples: Sequence[Triple], start: str, end: str, through: Callable[[str], bool] = lambda _: True
) -> list[Path]:
    """Find the shortest relation paths between two nodes of a small set of triples, walked either way.

    Args:
        triples: Where to walk.
        start: First node.
        end: Last node.
        through: Tells of a node whether a path may lead through it; any, by default.

    Returns:
        Distinct paths of one length, in order of their triples; none where ``start`` is ``end``.
    """
    level: list[tuple[str, Path]] = [(start, ())]
    seen = {start}
    while level and start != end:
        further = []
        for node, path in level:
            for subject, relation, object_ in triples:
                for near, far, step in ((subject, object_, Step(relation)), (object_, subject, Step(relation, True))):
                    if near == node and far not in seen and (far == end or through(far)):
                        further.append((far, (*path, step)))
        if found := [path for node, path in further if node == end]:
            return list(dict.fromkeys(found))
        level = list(dict.fromkeys(further))
        seen.update(node for node, _ in level)
    return []
