"""Selections from a sample graph for the checks: enough of each kind, yet few calls for a slow graph."""

from __future__ import annotations

import functools

from srtk_framework.testing.oracle import OracleGraph
from srtk_framework.testing.sample import Sample
from srtk_framework.values import Literal, Pattern, Step, Triple

EACH = 3  # Nodes of each step, so that rare steps have their share of a check


@functools.lru_cache(maxsize=8)
def oracle_of(sample: Sample) -> OracleGraph:
    """Open the oracle over a sample, once."""
    graph = OracleGraph(sample=sample)
    graph.open()
    return graph


def steps_of(oracle: OracleGraph) -> list[tuple[str, Step]]:
    """List each step with the first nodes that it leaves."""
    found: dict[Step, list[str]] = {}
    for node, step in all_steps(oracle):
        if step.relation != oracle.sample.widest.relation:  # which has a check of its own
            found.setdefault(step, []).append(node)
    return [(node, step) for step, nodes in found.items() for node in nodes[:EACH]]


def nodes_of(oracle: OracleGraph) -> list[str]:
    """List the nodes that ``steps_of`` takes."""
    return sorted({node for node, _ in steps_of(oracle)})


def ordinary_nodes(oracle: OracleGraph) -> list[str]:
    """List the nodes with a step of another than the widest relation."""
    return list(dict.fromkeys(n for n, step in all_steps(oracle) if step.relation != oracle.sample.widest.relation))


def all_steps(oracle: OracleGraph) -> list[tuple[str, Step]]:
    """List every node with every step that leaves it."""
    nodes = oracle.sample.entities
    rows = oracle.steps(oracle.frontiers([[node] for node in nodes]), True)
    return [(node, step) for node, row in zip(nodes, rows, strict=True) for step in row]


def patterns_of(sample: Sample) -> list[Pattern]:
    """Make the patterns that the first triples of each relation fit; a literal is bound only beside its subject."""
    by_relation: dict[str, list[Triple]] = {}
    for triple in sample.triples:
        if triple.relation != sample.widest.relation:
            by_relation.setdefault(triple.relation, []).append(triple)
    found = []
    for s, r, o in [triple for row in by_relation.values() for triple in row[:EACH]]:
        found += [Pattern(s), Pattern(s, r), Pattern(s, None, o), Pattern(s, r, o), Pattern(s, r, s)]
        if not isinstance(o, Literal):
            found += [Pattern(None, None, o), Pattern(None, r, o)]
    return list(dict.fromkeys(found))


def named(sample: Sample) -> list[str]:
    """List the entities that have a label."""
    return [id_ for id_ in sample.entities if id_ in sample.labels]


def names_of(sample: Sample, id_: str) -> list[str]:
    """List the label and the aliases of an entity."""
    return [sample.labels[id_], *sample.aliases.get(id_, ())]
