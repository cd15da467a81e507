"""Which nodes are of the class that a question names, by the type relations of a graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.values import Literal, Schema, Step
from srtk_plugin_answers.question_classes import shared_words


def of_class(
    graph: KnowledgeGraph, schema: Schema, asked: Sequence[Sequence[str]], nodes: Sequence[Sequence[str]]
) -> list[frozenset[str]]:
    """Find the nodes with a class that a phrase names, for many questions with the same few reads.

    The classes of a node are one step of a type relation away, and those above them one more of a subclass relation;
    their labels and other names are compared (``shared_words``). Where some share more words with the phrase than
    others, those others are of another class: *record label* is not any label.

    Args:
        graph: Graph to read.
        schema: Its schema; without type relations nothing is read.
        asked: For each question the phrases that may name the class.
        nodes: For each question the nodes.

    Returns:
        For each question those of its nodes that have the class.
    """
    wanted = sorted({node for row, some in zip(asked, nodes, strict=True) if row for node in some})
    if not wanted or not schema.type_relations:
        return [frozenset() for _ in asked]
    classes = _objects(graph, wanted, schema.type_relations)
    direct = sorted({one for row in classes.values() for one in row})
    above = _objects(graph, direct, schema.subclass_relations)
    known = sorted({*direct, *(one for row in above.values() for one in row)})
    names = {
        one: (label, *others)
        for one, label, others in zip(known, graph.labels(known), graph.other_names(known), strict=True)
    }
    found = []
    for phrases, some in zip(asked, nodes, strict=True):
        of_name = {one: max(shared_words(phrases, name) for name in names[one]) for one in known} if phrases else {}
        shared = (
            {
                node: max(
                    (of_name[one] for first in classes.get(node, ()) for one in (first, *above.get(first, ()))),
                    default=0,
                )
                for node in some
            }
            if phrases
            else {}
        )
        most = max(shared.values(), default=0)
        found.append(frozenset(node for node, words in shared.items() if most and words == most))
    return found


def _objects(graph: KnowledgeGraph, nodes: Sequence[str], relations: Iterable[str]) -> dict[str, list[str]]:
    """Return what relations lead to from each node."""
    steps = [Step(relation) for relation in relations]
    found: dict[str, list[str]] = defaultdict(list)
    if not nodes or not steps:
        return found
    [frontier] = graph.frontiers([nodes])
    for row in graph.triples([frontier] * len(steps), steps, None):
        for triple in row:
            if not isinstance(triple.object, Literal):
                found[triple.subject].append(triple.object)
    return found
