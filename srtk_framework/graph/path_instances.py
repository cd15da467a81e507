"""Gold triples from gold paths: the complete instances of a path that end in an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import attrs

from srtk_framework.values import GraphLike, Literal, Path, Question, Step, Triple

Read = Callable[[Sequence[str], Step], Iterable[Triple]]
"""Function that reads the triples of a step from some nodes, each from subject to object."""


def gold_triples_of(graph: GraphLike, question: Question) -> tuple[Triple, ...] | None:
    """Return the triples along a question's gold paths from its linked entities.

    Returns:
        The triples of the complete instances that end in an answer, or of all complete instances if the answers are
        unknown, in order of the paths. None if the question has no gold paths or no links.
    """

    def read(nodes: Sequence[str], step: Step) -> Sequence[Triple]:
        return graph.triples(graph.frontiers([nodes]), [step], None)[0]

    if question.gold_paths is None or not question.links:
        return None
    found: dict[Triple, None] = {}
    for link in question.links:
        for path in question.gold_paths:
            found.update(dict.fromkeys(instance_triples(read, link.entity, path, question.answers)))
    return tuple(found)


def with_gold_triples(graph: GraphLike, questions: Sequence[Question]) -> list[Question]:
    """Add gold triples to the questions that have gold paths only."""
    return [
        question
        if question.gold_triples is not None or question.gold_paths is None
        else attrs.evolve(question, gold_triples=gold_triples_of(graph, question))
        for question in questions
    ]


def instance_triples(read: Read, start: str, path: Path, ends: Iterable[str] | None) -> list[Triple]:
    """Read the triples of the complete instances of a path, sorted hop by hop.

    Args:
        read: Function that reads triples.
        start: First node of every instance.
        path: The steps, without END.
        ends: Allowed last nodes, or None for any; a literal also matches by its lexical form.
    """
    nodes = [start]
    levels: list[list[tuple[str, str, Triple]]] = []
    for step in path:
        triples = sorted(set(read(nodes, step)))
        levels.append([(t.object, t.subject, t) if step.inverse else (t.subject, t.object, t) for t in triples])
        nodes = sorted({end for _, end, _ in levels[-1] if not isinstance(end, Literal)})
    wanted = None if ends is None else set(ends)
    alive: set[str] | None = None
    kept: list[list[Triple]] = []
    for level in reversed(levels):
        if alive is None:
            rows = [row for row in level if wanted is None or names_of(row[1]) & wanted]
        else:
            rows = [row for row in level if row[1] in alive]
        alive = {begin for begin, _, _ in rows}
        kept.append([triple for _, _, triple in rows])
    return list(dict.fromkeys(triple for level in reversed(kept) for triple in level))


def names_of(node: str) -> set[str]:
    """Return the texts by which a node matches a gold answer: its id, and a literal's lexical form."""
    return {node, node.lexical} if isinstance(node, Literal) else {node}
