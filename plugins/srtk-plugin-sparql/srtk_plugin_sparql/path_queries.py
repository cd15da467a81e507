"""Query texts about whole paths, whose inner nodes stay at the server."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from srtk_plugin_sparql import terms
from srtk_plugin_sparql.queries import Queries

Split = tuple[int, int]
"""How many steps of a path, none or one, are walked from the starts and from the ends; one more joins them."""


class Ends(NamedTuple):
    """A search for paths between IRIs, with its number within the query."""

    number: int
    starts: Sequence[str]
    ends: Sequence[str]


class Trail(NamedTuple):
    """Nodes that are named by the way to them: its first IRIs, and the IRI and direction of each relation on it."""

    starts: tuple[str, ...]
    steps: tuple[tuple[str, bool], ...]


def joined(queries: Queries, searches: Sequence[Ends], split: Split, inverse: bool) -> str:
    """Ask which paths join starts and ends: by search (?i), each step's direction and relation (?d1, ?p1, ...)."""
    starts = _table("?i ?s", ((found.number, iri) for found in searches for iri in found.starts))
    ends = _table("?i ?t", ((found.number, iri) for found in searches for iri in found.ends))
    here, there = "?s", "?t"
    last = sum(split) + 1
    if split[0]:
        here = "?m"
        starts = _side(queries, starts, "?s", "?m", 1, inverse, False)
    if split[1]:
        there = "?n"
        ends = _side(queries, ends, "?t", "?n", last, inverse, True)
    if not any(split):
        # Virtuoso 7 cannot join two VALUES of one group.
        ends = f"{{ SELECT ?i ?t WHERE {{ {ends} }} }}"
    middle = split[0] + 1
    ways = " UNION ".join(
        f"{{ {starts} {ends} {_edge(here, f'?p{middle}', there, back)} . {queries.relation(f'?p{middle}')}"
        f" BIND({int(back)} AS ?d{middle}) }}"
        for back in ((False, True) if inverse else (False,))
    )
    return f"SELECT DISTINCT ?i {columns(last)} WHERE {{ {ways} }}"


def columns(length: int) -> str:
    """Name the variables of the steps of a path."""
    return " ".join(f"?d{number} ?p{number}" for number in range(1, length + 1))


def _side(queries: Queries, values: str, end: str, node: str, number: int, inverse: bool, backward: bool) -> str:
    """Walk one step from an end in a query of its own, so that no server walks on to the other end instead."""
    relation, way = f"?p{number}", f"?d{number}"
    here, there = (node, end) if backward else (end, node)
    edges = f"{_edge(here, relation, there, False)} . BIND(0 AS {way})"
    if inverse:
        edges = f"{{ {edges} }} UNION {{ {_edge(here, relation, there, True)} . BIND(1 AS {way}) }}"
    tests = f"{queries.relation(relation)} {queries.entity(node)}"
    return f"{{ SELECT DISTINCT ?i {way} {relation} {node} WHERE {{ {values} {edges} {tests} }} }}"


def onward(queries: Queries, trails: Sequence[tuple[int, Trail]], inverse: bool) -> str:
    """Count the triples that lead on from the ends of trails of one form, by trail, direction and relation (?c)."""
    nodes = _ends(queries, trails)
    sides = queries.sides([" ", " " if inverse else ""])
    inner = f"SELECT DISTINCT ?i ?d ?n ?p ?o WHERE {{ {nodes} {sides} }}"
    return f"SELECT ?i ?d ?p (COUNT(*) AS ?c) WHERE {{ {{ {inner} }} }} GROUP BY ?i ?d ?p"


def beyond(queries: Queries, trails: Sequence[tuple[int, Trail]], steps: Iterable[tuple[int, str, bool]]) -> str:
    """Ask for the neighbours (?n, ?o) of the ends of trails of one form, along relations with their direction."""
    nodes = _ends(queries, trails)
    every = sorted(steps)
    ways = [_table("?i ?p", ((number, iri) for number, iri, back in every if back == way)) for way in (False, True)]
    return f"SELECT DISTINCT ?d ?n ?p ?o WHERE {{ {nodes} {queries.sides(ways)} }}"


def _ends(queries: Queries, trails: Sequence[tuple[int, Trail]]) -> str:
    """Walk trails to their ends (?n)."""
    steps = trails[0][1].steps
    names = ["?i", "?s", *(f"?r{number}" for number in range(len(steps)))]
    rows = (
        " ".join([str(number), terms.iri(start), *(terms.iri(relation) for relation, _ in trail.steps)])
        for number, trail in trails
        for start in trail.starts
    )
    nodes = ["?s", *(f"?m{number}" for number in range(len(steps) - 1)), "?n"]
    walks = " ".join(
        f"{_edge(nodes[place], f'?r{place}', nodes[place + 1], back)} . {queries.entity(nodes[place + 1])}"
        for place, (_, back) in enumerate(steps)
    )
    written = " ".join(f"({row})" for row in sorted(rows))
    return f"{{ SELECT DISTINCT ?i ?n WHERE {{ VALUES ({' '.join(names)}) {{ {written} }} {walks} }} }}"


def _edge(here: str, relation: str, there: str, back: bool) -> str:
    return f"{there} {relation} {here}" if back else f"{here} {relation} {there}"


def _table(names: str, rows: Iterable[tuple[int, str]]) -> str:
    written = " ".join(f"({number} {terms.iri(iri)})" for number, iri in sorted(set(rows)))
    return f"VALUES ({names}) {{ {written} }}" if written else ""
