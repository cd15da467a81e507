"""Which nodes are of the class that a question names, by the type relations of a graph or by its other relations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from srtk_framework.values import Schema
from srtk_plugin_answers.graph_names import GraphNames, objects_of
from srtk_plugin_answers.path_reads import PathReads
from srtk_plugin_answers.question_classes import shared_words


def of_class(
    reads: PathReads, names: GraphNames, asked: Sequence[Sequence[str]], nodes: Sequence[Sequence[str]]
) -> list[frozenset[str]]:
    """Find the nodes with a class that a phrase names, for many questions with the same few reads.

    The classes of a node are one step of a type relation away, and broader classes one step of a subclass relation
    further. Their labels and other names are compared (``shared_words``). Only classes that share the most words count:
    *record label* is not any label.

    Args:
        reads: Reads of the graph.
        names: Its names; where its schema has no type relations nothing is read.
        asked: Per question, the phrases that may name the class.
        nodes: Per question, the nodes.

    Returns:
        Per question, its nodes that have the class.
    """
    schema = names.schema
    wanted = sorted({node for row, some in zip(asked, nodes, strict=True) if row for node in some})
    if not wanted or not schema.type_relations:
        return [frozenset() for _ in asked]
    classes = objects_of(reads.graph, reads.frontiers([wanted]), schema.type_relations)
    above = names.above(sorted({one for row in classes.values() for one in row}))
    known = sorted({*above, *(one for row in above.values() for one in row)})
    named = names.of_classes(known)
    found = []
    for phrases, some in zip(asked, nodes, strict=True):
        of_name = {one: max(shared_words(phrases, name) for name in named[one]) for one in known} if phrases else {}
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
        found.append(_most_shared(shared))
    return found


def of_role(
    reads: PathReads, names: GraphNames, asked: Sequence[Sequence[str]], nodes: Sequence[Sequence[str]]
) -> list[frozenset[str]]:
    """Find the nodes that a relation or their table calls by the class.

    *City country* leads from a city to a country; a node with a column of the table *films* is a film. Not each node of
    a class has such a relation, but the other nodes of a set are like those that have it. Arguments and result are as
    in ``of_class``.
    """
    wanted = [place for place, row in enumerate(asked) if row and nodes[place]]
    found: list[frozenset[str]] = [frozenset() for _ in asked]
    if not wanted:
        return found
    # Which steps call their nodes so is known beforehand where the graph can list its relations.
    known = [names.steps(asked[place]) for place in wanted]
    if names.schema.relations:
        wanted = [place for place, row in zip(wanted, known, strict=True) if row]
    if not wanted:
        return found
    graph = reads.graph
    members = [sorted(set(nodes[place])) for place in wanted]
    if names.schema.relations:
        frontiers = reads.frontiers(members)
        fitting = [row for row in known if row]
        pairs = [(frontier, step) for frontier, row in zip(frontiers, fitting, strict=True) for step, _ in row]
        # One triple of a node is enough to see that it has the relation.
        read = iter(graph.triples([frontier for frontier, _ in pairs], [step for _, step in pairs], 1))
        having = [
            [
                ([triple.object if step.inverse else triple.subject for triple in next(read)], words)
                for step, words in row
            ]
            for row in fitting
        ]
    else:
        # A server tells the steps of nodes with whether they are there; the triples of a step may be many.
        alone = sorted({node for row in members for node in row})
        steps = dict(zip(alone, graph.steps(reads.frontiers([[node] for node in alone]), True), strict=True))
        having = []
        for place, row in zip(wanted, members, strict=True):
            offered = sorted({step for node in row for step in steps[node]})
            fits = dict(names.fitting(asked[place], offered))
            having.append([([node], fits[step]) for node in row for step in steps[node] if step in fits])
    for place, some in zip(wanted, having, strict=True):
        shared: dict[str, int] = {}
        for row, words in some:
            for node in row:
                shared[node] = max(words, shared.get(node, 0))
        found[place] = _most_shared(shared)
    return found


def of_rows(reads: PathReads, schema: Schema, nodes: Sequence[Sequence[str]]) -> list[frozenset[str]]:
    """Find the nodes that are rows of the tables that a graph was made of."""
    columns = {column for names in schema.tables.values() for column in names}
    if not columns or not any(nodes):
        return [frozenset() for _ in nodes]
    graph = reads.graph
    frontiers = reads.frontiers([sorted(set(row)) for row in nodes])
    pairs = [
        (place, step)
        for place, row in enumerate(graph.steps(frontiers, False))
        for step in row
        if step.relation in columns
    ]
    read = graph.triples([frontiers[place] for place, _ in pairs], [step for _, step in pairs], 1)
    found: list[set[str]] = [set() for _ in nodes]
    for (place, _), row in zip(pairs, read, strict=True):
        found[place].update(triple.subject for triple in row)
    return [frozenset(row) for row in found]


def _most_shared(shared: Mapping[str, int]) -> frozenset[str]:
    most = max(shared.values(), default=0)
    return frozenset(node for node, words in shared.items() if most and words == most)
