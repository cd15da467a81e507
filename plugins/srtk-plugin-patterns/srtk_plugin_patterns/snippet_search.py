"""From patterns to ranked snippets: the queries of each kind, and their hits in an index."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import attrs

from srtk_framework.graph import TripleTable
from srtk_framework.roles import Index, KnowledgeGraph
from srtk_framework.values import Hit, Pattern, Step, open_end
from srtk_plugin_patterns.instances import Inner, prefix_instances
from srtk_plugin_patterns.lexical_forms import LexicalForms
from srtk_plugin_patterns.text_model import TextModel, reversed_path
from srtk_plugin_patterns.text_queries import VARIANTS, Variant, name_of, query

Ways = Callable[[str, tuple[Step, ...]], Sequence[Inner]]  # Finds the instances of a path from an entity.


@attrs.frozen
class TextQuestion:
    """A pattern and the queries for its open end.

    Attributes:
        entity: The known entity.
        step: The step from it to the open end.
        queries: Distinct queries by kind; none of a kind for which the path has no instance whose nodes have names.
        nodes: Inner nodes of the instances, which the queries with nodes name.
    """

    entity: str
    step: Step
    queries: Mapping[Variant, tuple[str, ...]]
    nodes: frozenset[str]


def table_ways(table: TripleTable, most: int) -> Ways:
    """Find instances in a table of triples, at most so many of a path: the first in order of their nodes."""
    return lambda entity, path: prefix_instances(table, entity, path, most)


def text_questions(
    graph: KnowledgeGraph, forms: LexicalForms, model: TextModel, ways: Ways, patterns: Sequence[Pattern]
) -> list[TextQuestion]:
    """Write the queries for each pattern; none for an entity without a name.

    Args:
        graph: An open graph, for the names of entities.
        forms: Words for relations.
        model: The paths.
        ways: Finds instances, without the held-out triples.
        patterns: Each with one open end.
    """
    found: list[tuple[str, Step, list[tuple[tuple[Step, ...], Sequence[Inner]]]]] = []
    for pattern in patterns:
        entity, step = open_end(pattern)
        paths = [reversed_path(path) if step.inverse else path for path in model.paths.get(step.relation, ())]
        found.append((entity, step, [(path, ways(entity, path)) for path in paths]))
    ids = {entity for entity, _, _ in found}
    ids |= {node for _, _, walked in found for _, instances in walked for inner in instances for node in inner}
    relations = {step.relation for _, step, _ in found}
    relations |= {step.relation for _, _, walked in found for path, _ in walked for step in path}
    listed, named = sorted(ids), sorted(relations)
    names = {id_: name_of(id_, label) for id_, label in zip(listed, graph.labels(listed), strict=True)} if ids else {}
    words = dict(zip(named, forms.forms(named), strict=True)) if relations else {}
    return [_question(entity, step, walked, names, words) for entity, step, walked in found]


def _question(
    entity: str,
    step: Step,
    walked: Sequence[tuple[tuple[Step, ...], Sequence[Inner]]],
    names: Mapping[str, str],
    words: Mapping[str, str],
) -> TextQuestion:
    queries: dict[Variant, dict[str, None]] = {variant: {} for variant in VARIANTS}
    nodes: set[str] = set()
    if names[entity]:
        asked = (names[entity], words[step.relation])
        queries["s+r"][query("s+r", *asked, (), (), step.inverse)] = None
        for path, instances in walked:
            along = [words[one.relation] for one in path]
            queries["s+r+p"][query("s+r+p", *asked, along, (), step.inverse)] = None
            for inner in instances:
                called = [names[node] for node in inner]
                if all(called):
                    nodes.update(inner)
                    for variant in ("s+r+n", "s+r+p+n"):
                        queries[variant][query(variant, *asked, along, called, step.inverse)] = None
    return TextQuestion(entity, step, {kind: tuple(some) for kind, some in queries.items()}, frozenset(nodes))


def ranked_hits(index: Index, queries: Sequence[Sequence[str]], count: int) -> list[list[Hit]]:
    """Search for each list of queries, and join their results by the sum of 1 / rank.

    Args:
        index: An open index that searches texts.
        queries: Lists of queries for the same thing.
        count: Results of each query, and of each joined list.

    Returns:
        Per list the hits, best first, ties by id; each as found by the query that ranks it highest.
    """
    distinct = sorted({text for some in queries for text in some})
    rows = dict(zip(distinct, index.search(distinct, count), strict=True)) if distinct else {}
    return [_joined([rows[text] for text in some], count) for some in queries]


def _joined(lists: Sequence[Sequence[Hit]], count: int) -> list[Hit]:
    """Join ranked lists (reciprocal ranks, as in metasearch)."""
    if len(lists) == 1:
        return list(lists[0])
    sums: dict[str, float] = {}
    best: dict[str, tuple[int, Hit]] = {}
    for hits in lists:
        for rank, hit in enumerate(hits, 1):
            sums[hit.entry.id] = sums.get(hit.entry.id, 0.0) + 1 / rank
            if hit.entry.id not in best or rank < best[hit.entry.id][0]:
                best[hit.entry.id] = rank, hit
    order = sorted(sums, key=lambda id_: (-round(sums[id_], 9), id_))
    return [best[id_][1] for id_ in order[:count]]
