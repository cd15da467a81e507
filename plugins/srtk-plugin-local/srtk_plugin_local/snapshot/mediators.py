"""Nodes that only hold the parts of a fact together (mediators), noticed by their place in the graph."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from srtk_plugin_local.snapshot.csr import Adjacency, Ints, spread

Flags = npt.NDArray[np.bool_]

# Ids that are no names, not even where ids are: mids and guids of Freebase, statements of Wikidata, UUIDs.
GENERATED = (
    r"^/?[mg][./][01][0-9a-z_]+$|(?:entity/|^)statement/|^wds:"
    r"|(?i:(?:^|[/#:])(?:[QPL][0-9]+[-$])?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$)"
)

_MID = re.compile(r"(.*[/:]|)[mg]([./])[01][0-9a-z_]+")
_STATEMENT = re.compile(r"((?:.*/entity/)?statement/|wds:).+")
_NUMBER = re.compile(r"[0-9_-]+\Z")

FREEBASE, WIKIDATA = "Freebase", "Wikidata"

# Most edges that lead to a mediator; what a question would ask for has more, once it matters to a graph.
MOST_IN = 5
# Fewest mediators that are noticed.
FEW = 3
# Least share of a relation's objects that have no name.
NAMELESS = 0.9
# Least share of a relation's objects that look like mediators, and of the other rules that half must fit.
IN_FORM = 0.5
# Fewest edges of a node that holds more than two things together.
ENDS = 3
_BLOCK = 1_000_000
# Nodes whose ids are compared for a common form; the form is then counted over all.
_SAMPLE = 1000


@attrs.frozen
class Noticed:
    """The mediators of a graph.

    Attributes:
        nodes: Their number.
        patterns: Patterns of their ids; of nodes without a name, nearly all that fit are mediators.
        relations: Relations that lead to them.
        example: The id of a mediator.
        vocabulary: Freebase or Wikidata, whose mediators have ids of their own; else empty.
    """

    nodes: int
    patterns: tuple[str, ...]
    relations: tuple[str, ...]
    example: str
    vocabulary: str = ""

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in attrs.asdict(self).items()}

    def told(self) -> str:
        """Return a sentence on the mediators, with the setting that joins them."""
        others = len(self.relations) - 1
        more = f" and {others:,} other relation{'s' * (others > 1)}" if others else ""
        ask = f", whose default it is for {self.vocabulary}'s in files of triples" if self.vocabulary else ""
        return (
            f"{self.nodes:,} nodes without a name, such as {self.example}, only hold a fact together (mediators, behind"
            f" {self.relations[0]}{more}); as one step: knowledge_graph: {{use: mediated, graph: {{use: local, …}}}} in"
            f" a recipe, --set knowledge_graph.mediated=true in srtk ask{ask}"
        )


def notice(
    forward: Adjacency,
    inverse: Adjacency,
    nameless: Flags,
    literals: Flags,
    relations: Sequence[str],
    types: Sequence[str],
    ids: Callable[[Ints], list[str]],
) -> Noticed | None:
    """Notice the mediators of a graph.

    A mediator has no name; few edges lead to it, all of them from nodes with a name. Further edges lead from it, at
    least one of them to a node with a name. Mediators are found by relation: nearly all its objects are nameless, and
    at least half look like mediators. Of the nameless nodes between others whose ids begin alike, at least half are
    mediators; and half of them have three ends, unless their ids prove them.

    Args:
        forward: Edges by subject; n nodes, in order of their ids.
        inverse: Edges by object.
        nameless: Whether each node is an entity without a name.
        literals: Whether each node is a literal; empty where there is none.
        relations: Ids of the relations.
        types: Ids of relations to classes, which are no part of a fact.
        ids: Returns the ids of nodes.

    Returns:
        The mediators; None where the graph has none, or fewer than three.
    """
    named = ~nameless & ~literals if len(literals) else ~nameless
    if np.count_nonzero(nameless) < FEW or not named.any():  # which most graphs end at
        return None
    entities = ~literals if len(literals) else np.ones(len(nameless), dtype=bool)
    plain = np.array([name not in types for name in relations], dtype=bool)
    every = np.ones(len(relations), dtype=bool)
    objects, unnamed = (np.zeros(len(relations), dtype=np.int64) for _ in range(2))
    alike, found = [], []
    for start in range(0, len(nameless), _BLOCK):
        block = nameless[start : start + _BLOCK]
        first = inverse.nodes[start : start + len(block) + 1].astype(np.int64)
        kinds = inverse.relations[first[0] : first[-1]]
        objects += np.bincount(kinds, minlength=len(relations))
        unnamed += np.bincount(kinds[np.repeat(block, np.diff(first))], minlength=len(relations))
        lacking = np.flatnonzero(block) + start
        incoming = inverse.degrees(lacking)
        between = incoming > 0
        between[between] = _neighbours(forward, lacking[between], entities, plain) > 0
        lacking, incoming = lacking[between], incoming[between]
        alike.append(lacking)
        lacking, incoming = lacking[incoming <= MOST_IN], incoming[incoming <= MOST_IN]
        fits = _neighbours(inverse, lacking, named, every) == incoming
        found.append(lacking[fits & (_neighbours(forward, lacking, named, plain) > 0)])
    nodes, others = np.concatenate(found), np.concatenate(alike)
    groups, offsets = spread(*inverse.groups(nodes))
    kinds = inverse.relations[groups].astype(np.int64)
    fitting = np.bincount(kinds, minlength=len(relations))
    leading = plain & (fitting > 0) & (fitting >= IN_FORM * objects) & (unnamed >= NAMELESS * objects)
    nodes = nodes[_sums(leading[kinds], offsets) > 0]
    if len(nodes) < FEW:
        return None
    some = ids(nodes[np.unique(np.linspace(0, len(nodes) - 1, _SAMPLE).astype(np.int64))])
    vocabulary, patterns = _patterns(some)
    fitting_ids = sum(_number(ids, others, pattern[:-1]) for pattern in patterns)
    ends = forward.degrees(nodes) + inverse.degrees(nodes)
    if len(nodes) < IN_FORM * fitting_ids or not (vocabulary or np.count_nonzero(ends >= ENDS) >= IN_FORM * len(nodes)):
        return None
    most = np.argsort(-fitting * leading, kind="stable")[: np.count_nonzero(leading)].tolist()
    behind = tuple(relations[number] for number in most)
    return Noticed(len(nodes), patterns, behind, some[len(some) // 2], vocabulary)


def _neighbours(side: Adjacency, nodes: Ints, flags: Flags, relations: Flags) -> Ints:
    """Count the flagged neighbours of each node along flagged relations."""
    groups, offsets = spread(*side.groups(nodes))
    groups, kept = groups[relations[side.relations[groups]]], _sums(relations[side.relations[groups]], offsets)
    positions, runs = spread(*side.runs(groups))
    return _sums(_sums(flags[side.targets[positions]], runs), np.concatenate(([0], np.cumsum(kept))))


def _sums(values: npt.NDArray[Any], offsets: Ints) -> Ints:
    """Sum each of the runs that offsets give."""
    total = np.concatenate(([0], np.cumsum(values, dtype=np.int64)))
    return np.asarray(total[offsets[1:]] - total[offsets[:-1]], dtype=np.int64)


def _number(ids: Callable[[Ints], list[str]], nodes: Ints, start: str) -> int:
    """Return how many of some nodes, which are in order of their ids, have an id with this start."""
    first, last = (
        bisect_left(range(len(nodes)), text, key=lambda place: ids(nodes[place : place + 1])[0])
        for text in (start, f"{start}\U0010ffff")
    )
    return last - first


def _patterns(ids: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Return the vocabulary of ids, sorted, and the patterns that they fit."""
    mids, statements = ([form.fullmatch(id_) for id_ in ids] for form in (_MID, _STATEMENT))
    if all(mids):
        return FREEBASE, tuple(sorted({f"{match[1]}{kind}{match[2]}*" for match in mids if match for kind in "mg"}))
    if all(statements):
        return WIKIDATA, tuple(sorted({f"{match[1]}*" for match in statements if match}))
    first, last = ids[0], ids[-1]
    places = (place for place, (a, b) in enumerate(zip(first, last, strict=False)) if a != b)
    same = first[: next(places, len(first))].partition("[")[0]  # a bracket is no letter of a pattern
    return "", (f"{_NUMBER.sub('', same)}*",)
