"""Lookups in a snapshot: triple patterns, labels, names, degrees and qualifiers."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, repeat

import numpy as np

from srtk_framework.text import fold
from srtk_framework.values import Literal, Pattern, Qualifier, Triple
from srtk_plugin_local.name_index import NameIndex
from srtk_plugin_local.snapshot.arrays import Snapshot, has_type
from srtk_plugin_local.snapshot.csr import Adjacency, Ints, locate, spread
from srtk_plugin_local.snapshot.csr_traversal import make_triples
from srtk_plugin_local.snapshot.name_table import NameTable

# So many patterns are read by slices, more by arrays.
_FEW = 4


def match(snapshot: Snapshot, relations: Mapping[str, int], patterns: Sequence[Pattern]) -> list[list[Triple]]:
    """Find the triples of each pattern, sorted; a pattern with neither subject nor object takes a scan."""
    if len(patterns) <= _FEW and all((p.subject is None) != (p.object is None) for p in patterns):
        return _match_few(snapshot, relations, patterns)
    found: list[list[Triple]] = [[] for _ in patterns]
    for side, rows in (
        (snapshot.forward, [i for i, p in enumerate(patterns) if p.subject is not None]),
        (snapshot.inverse, [i for i, p in enumerate(patterns) if p.subject is None and p.object is not None]),
    ):
        if rows:
            _match_bound(snapshot, relations, side, [patterns[i] for i in rows], rows, found)
    for i, pattern in enumerate(patterns):
        if pattern.subject is None and pattern.object is None:
            found[i] = _scan(snapshot, None if pattern.relation is None else relations.get(pattern.relation, -1))
    return found


def _match_few(snapshot: Snapshot, relations: Mapping[str, int], patterns: Sequence[Pattern]) -> list[list[Triple]]:
    """Find the triples of patterns with one open end, each by slices: a node alone is read five times as fast."""
    nodes: dict[str, int] = {}
    every = snapshot.relations
    found: list[list[Triple]] = []
    for subject, relation, object_ in patterns:
        id_ = str(object_ if subject is None else subject)
        if id_ not in nodes:
            nodes[id_] = snapshot.number(id_)
        node = nodes[id_]
        side = snapshot.inverse if subject is None else snapshot.forward
        numbers, bounds = side.row(node) if node >= 0 else ([], [0])
        if relation is not None:
            number = relations.get(relation, -1)
            at = numbers.index(number) if number in numbers else len(numbers)
            numbers, bounds = numbers[at : at + 1], bounds[at : at + 2]
        if not numbers:
            found.append([])
            continue
        ends = side.targets[bounds[0] : bounds[-1]]
        names: list[str] = []
        for number, (low, high) in zip(numbers, pairwise(bounds), strict=True):
            names += [every[number]] * (high - low)
        if subject is None and len(numbers) > 1:
            order = ends.argsort(kind="stable")
            ends, names = ends[order], [names[place] for place in order.tolist()]
        own = Literal(id_) if snapshot.has_literals and snapshot.literals[node] else id_
        others = snapshot.ids(ends)
        rows = zip(others, names, repeat(own)) if subject is None else zip(repeat(own), names, others)
        # Makes a triple of a tuple without the call of ``Triple``.
        found.append(list(map(tuple.__new__, repeat(Triple), rows)))
    return found


def _match_bound(
    snapshot: Snapshot,
    relations: Mapping[str, int],
    side: Adjacency,
    patterns: Sequence[Pattern],
    rows: Sequence[int],
    found: list[list[Triple]],
) -> None:
    backward = side is snapshot.inverse
    nodes = snapshot.numbers([str(p.object if backward else p.subject) for p in patterns])
    others = snapshot.numbers([str("" if p.object is None or backward else p.object) for p in patterns])
    free = np.array([backward or p.object is None for p in patterns], dtype=bool)
    wanted = np.array([-1 if p.relation is None else relations.get(p.relation, -2) for p in patterns], dtype=np.int64)
    known = np.flatnonzero((nodes >= 0) & (wanted > -2) & (free | (others >= 0)))
    nodes, others, free, wanted = nodes[known], others[known], free[known], wanted[known]
    if not len(known):
        return
    first, last = side.groups(nodes)
    group = locate(side.relations, first, last, wanted)
    bound = wanted >= 0
    first = np.where(bound, np.maximum(group, 0), first)
    last = np.where(bound, np.where(group >= 0, group + 1, first), last)
    groups, bounds = spread(first, last)
    owner = np.repeat(np.arange(len(known)), np.diff(bounds))
    low, high = side.runs(groups)
    at = locate(side.targets, low, high, others[owner])
    low = np.where(free[owner], low, np.maximum(at, 0))
    high = np.where(free[owner], high, np.where(at >= 0, at + 1, low))
    positions, edge_bounds = spread(low, high)
    lengths = np.diff(edge_bounds)
    owner = np.repeat(owner, lengths)
    relation = np.repeat(side.relations[groups].astype(np.int64), lengths)
    starts, ends = nodes[owner], side.targets[positions].astype(np.int64)
    subjects, objects = (ends, starts) if backward else (starts, ends)
    order = np.lexsort((objects, relation, subjects, owner))
    triples = make_triples(snapshot, subjects[order], relation[order], objects[order])
    cuts = np.searchsorted(owner[order], np.arange(len(known) + 1)).tolist()
    for place, i in enumerate(known.tolist()):
        found[rows[i]] = triples[cuts[place] : cuts[place + 1]]


def _scan(snapshot: Snapshot, relation: int | None) -> list[Triple]:
    side = snapshot.forward
    groups = np.arange(len(side.relations)) if relation is None else np.flatnonzero(side.relations == relation)
    low, high = side.runs(groups)
    positions, bounds = spread(low, high)
    lengths = np.diff(bounds)
    subjects = np.repeat(side.owners(groups), lengths)
    relations = np.repeat(side.relations[groups].astype(np.int64), lengths)
    return make_triples(snapshot, subjects, relations, side.targets[positions].astype(np.int64))


def labels(snapshot: Snapshot, relations: Mapping[str, int], ids: Sequence[str]) -> list[str]:
    """Return the label of each entity, relation or literal."""
    names = list(ids)
    numbers = snapshot.numbers(ids)
    literal, entity = np.zeros(len(ids), dtype=bool), numbers >= 0
    literal[entity] = snapshot.is_literal(numbers[entity])
    entity &= ~literal
    for place, label in zip(np.flatnonzero(entity).tolist(), entity_labels(snapshot, numbers[entity]), strict=True):
        names[place] = label
    for place in np.flatnonzero(~entity).tolist():
        id_ = ids[place]
        if (relation := relations.get(id_)) is not None:
            heap = snapshot.heap("relation_labels")
            label = heap[relation] if len(heap) else ""
            names[place] = label or snapshot.id_names.relation(id_)
        elif literal[place] or isinstance(id_, Literal) or has_type(id_):
            names[place] = Literal(id_).lexical
        else:
            names[place] = snapshot.id_names.entity(id_)
    return names


def entity_labels(snapshot: Snapshot, numbers: Ints) -> list[str]:
    """Return the label of each node."""
    heap = snapshot.heap("labels")
    found = heap.take(numbers) if len(heap) else [""] * len(numbers)
    lacking = [place for place, label in enumerate(found) if not label]
    for place, id_ in zip(lacking, snapshot.ids(numbers[lacking]), strict=True):
        found[place] = id_ if isinstance(id_, Literal) else snapshot.id_names.entity(id_)
    return found


def any_starts_with(snapshot: Snapshot, start: str) -> bool:
    """Return whether the id of some node starts with a text; nodes are sorted by id."""
    at = bisect_left(range(snapshot.size), start, key=snapshot.nodes.__getitem__)
    return at < snapshot.size and snapshot.nodes[at].startswith(start)


def find(snapshot: Snapshot, names: Sequence[str]) -> list[list[str]]:
    """Find the entities with each name, sorted by id.

    An entity that only its id names, as a local name of an IRI does, gives way to those that a label names.
    """
    folded = [fold(name) for name in names]
    wanted = list(dict.fromkeys(name for name in folded if name))
    place, node = snapshot.named(wanted)
    nodes, back = np.unique(node, return_inverse=True)
    given, spelt = _folded_names(snapshot, nodes)
    hits: dict[str, list[int]] = {}
    lesser: dict[str, list[int]] = {}
    for at, number, which in zip(place.tolist(), node.tolist(), back.tolist(), strict=True):
        # Hashes may collide, so the names decide.
        if wanted[at] in given[which]:
            hits.setdefault(wanted[at], []).append(number)
        elif wanted[at] in spelt[which]:
            lesser.setdefault(wanted[at], []).append(number)
    known = dict(zip(nodes.tolist(), snapshot.ids(nodes), strict=True))
    rows = {name: [known[number] for number in sorted(numbers)] for name, numbers in (lesser | hits).items()}
    return [list(rows[name]) if name in rows else [] for name in folded]


def other_names(snapshot: Snapshot, ids: Sequence[str]) -> list[list[str]]:
    """Return the aliases of each id, sorted; none for unknown ids."""
    numbers = snapshot.numbers(ids)
    known = np.flatnonzero(numbers >= 0)
    found: list[list[str]] = [[] for _ in ids]
    for owner, alias in _aliases(snapshot, numbers[known]):
        found[int(known[owner])].append(alias)
    return [sorted(set(names)) for names in found]


def _folded_names(snapshot: Snapshot, numbers: Ints) -> tuple[list[set[str]], list[set[str]]]:
    """Return the names that each entity was given, and those that its id spells, both folded."""
    heap = snapshot.heap("labels")
    labels = heap.take(numbers) if len(heap) else [""] * len(numbers)
    given = [{fold(label)} if label else set() for label in labels]
    spelt: list[set[str]] = [set() for _ in labels]
    lacking = [place for place, label in enumerate(labels) if not label]
    ids_are_names = snapshot.meta.names
    for place, id_ in zip(lacking, snapshot.ids(numbers[lacking]), strict=True):
        (given if ids_are_names else spelt)[place].update(snapshot.id_names.indexed(id_))
    for owner, alias in _aliases(snapshot, numbers):
        given[owner].add(fold(alias))
    return given, spelt


def _all_names(snapshot: Snapshot, numbers: Ints) -> list[set[str]]:
    return [given | spelt for given, spelt in zip(*_folded_names(snapshot, numbers), strict=True)]


def _aliases(snapshot: Snapshot, numbers: Ints) -> Iterator[tuple[int, str]]:
    """Yield each alias of some nodes with the place of its node."""
    starts = snapshot.array("aliases.nodes")
    if not len(starts):
        return
    positions, bounds = spread(starts[numbers].astype(np.int64), starts[numbers + 1].astype(np.int64))
    owners = np.repeat(np.arange(len(numbers)), np.diff(bounds)).tolist()
    yield from zip(owners, snapshot.heap("aliases").take(positions), strict=True)


def name_index(snapshot: Snapshot) -> NameIndex:
    """Return the index of the labels and aliases of all entities."""
    return NameIndex(NameTable(snapshot.array), lambda numbers: _all_names(snapshot, numbers))


def entities(snapshot: Snapshot, ids: Sequence[str]) -> set[str]:
    """Return which of some ids are entities of the snapshot."""
    numbers = snapshot.numbers(ids)
    known = np.flatnonzero(numbers >= 0)
    known = known[~snapshot.is_literal(numbers[known])]
    return {ids[place] for place in known.tolist()}


def degrees(snapshot: Snapshot, ids: Sequence[str]) -> list[int]:
    """Count the triples of each entity; a self-loop counts once."""
    counts = np.zeros(len(ids), dtype=np.int64)
    numbers = snapshot.numbers(ids)
    known = np.flatnonzero(numbers >= 0)
    known = known[~snapshot.is_literal(numbers[known])]
    nodes = numbers[known]
    if len(nodes):
        loops = snapshot.array("loops")
        twice = np.searchsorted(loops, nodes, side="right") - np.searchsorted(loops, nodes, side="left")
        counts[known] = snapshot.forward.degrees(nodes) + snapshot.inverse.degrees(nodes) - twice
    return counts.tolist()


def qualifiers(
    snapshot: Snapshot, relations: Mapping[str, int], triples: Sequence[Triple]
) -> list[tuple[Qualifier, ...]]:
    """Read the qualifiers of each triple, sorted."""
    edges = snapshot.array("qualifiers.edge")
    if not len(edges) or not triples:
        return [() for _ in triples]
    position = snapshot.forward.edges(
        snapshot.numbers([t.subject for t in triples]),
        np.array([relations.get(t.relation, -1) for t in triples], dtype=np.int64),
        snapshot.numbers([t.object for t in triples]),
    )
    wanted = np.maximum(position, 0)
    low: Ints = np.searchsorted(edges, wanted, side="left").astype(np.int64)
    high = np.where(position >= 0, np.searchsorted(edges, wanted, side="right"), low)
    rows, bounds = spread(low, high.astype(np.int64))
    names = [snapshot.relations[number] for number in snapshot.array("qualifiers.relation")[rows].tolist()]
    terms = snapshot.terms(snapshot.array("qualifiers.term")[rows].astype(np.int64))
    pairs = list(zip(names, terms, strict=True))
    ends = bounds.tolist()
    return [tuple(pairs[start:end]) for start, end in pairwise(ends)]
