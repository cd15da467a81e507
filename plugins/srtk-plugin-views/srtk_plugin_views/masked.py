"""The ``masked`` graph: a view of another graph without some of its triples."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Mapping, Sequence

import attrs

from srtk_framework.records import read_lines
from srtk_framework.roles import KnowledgeGraph, absent, not_open
from srtk_framework.values import (
    Frontier,
    InputError,
    Literal,
    Pattern,
    Qualifier,
    SettingsError,
    Step,
    Triple,
    batched,
)
from srtk_plugin_views.stepwise import StepwiseView
from srtk_plugin_views.view_frontier import ViewFrontier, end_of, first_of_each, inner_frontiers

_log = logging.getLogger(__name__)

# Triples that are looked up in the graph at once, so that a server gets bounded requests.
_BATCH = 4096


@attrs.frozen
class _Hidden:
    """The hidden triples, indexed by their nodes.

    Attributes:
        triples: Hidden triples that the graph has.
        ends: Other ends of the triples at a node along a step.
        nodes: Nodes with hidden triples along a step.
        counts: Number of hidden triples at each node; a loop counts once.
        gone: Nodes that have no other triple.
        unknown: Number of triples that the graph does not have anyway.
    """

    triples: frozenset[Triple]
    ends: Mapping[tuple[str, Step], frozenset[str]]
    nodes: Mapping[Step, frozenset[str]]
    counts: Mapping[str, int]
    gone: frozenset[str]
    unknown: int


@attrs.define(eq=False)
class MaskedGraph(StepwiseView):
    """A graph without some of its triples, as if they had never been in it; for facts that are held out.

    An entity without remaining triples is not in the graph. Triples that the graph does not have are counted, with a
    warning.

    Attributes:
        hide: File of the triples to leave out: subject, relation and object in each line, separated by tabs, as
            ``srtk graph hold-out`` writes them; also .gz, .bz2, .xz and .zst.
        triples: Further triples to leave out, for Python.
    """

    graph: KnowledgeGraph
    hide: str = ""
    _triples: Sequence[Sequence[str]] | None = attrs.field(default=None, repr=False)
    _given: frozenset[Triple] | None = attrs.field(init=False, default=None, repr=False)
    _hidden: _Hidden | None = attrs.field(init=False, default=None, repr=False)

    def __attrs_post_init__(self) -> None:
        if not self.hide and self._triples is None:
            raise SettingsError([((), "name the file of the triples to leave out as `hide`")])

    def preflight(self) -> list[tuple[str, str]]:
        """Check that the file exists."""
        return absent("hide", self.hide)

    def open(self) -> None:
        """Read the triples to leave out, and look them up in the graph."""
        self._given = None
        given = sorted(self._to_hide())
        found: set[Triple] = set()
        for batch in batched(given, _BATCH):
            # The graph's own triples say which objects are literals.
            rows = self.graph.match([Pattern(*triple) for triple in batch])
            found.update(triple for row in rows for triple in row)
        unknown = len(given) - len(found)
        if unknown:
            where = self.hide or "the triples to leave out"
            _log.warning("%s: %d of %d triples are not in the graph anyway", where, unknown, len(given))
        self._hidden = self._indexed(found, unknown)

    def close(self) -> None:
        """Release the triples."""
        self._hidden = None

    @property
    def unknown(self) -> int:
        """Number of the triples to leave out that the graph does not have."""
        return self._open.unknown

    def source(self) -> str:
        """Return the source of the graph, and a hash of the triples left out."""
        return f"{self.graph.source()} without {self._digest()}"

    def fingerprint(self) -> str:
        """Identify the graph and the triples left out."""
        return f"MaskedGraph({self.graph.fingerprint()} without {self._digest()})"

    def _digest(self) -> str:
        text = "\n".join("\t".join(triple) for triple in sorted(self._to_hide()))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def _to_hide(self) -> frozenset[Triple]:
        """Return the triples to leave out, read once."""
        if self._given is None:
            rows = [Triple(*triple) for triple in self._triples or ()]
            self._given = frozenset([*rows, *(read_triples(self.hide) if self.hide else ())])
        return self._given

    @property
    def _open(self) -> _Hidden:
        if self._hidden is None:
            raise not_open(self)
        return self._hidden

    def _indexed(self, triples: Iterable[Triple], unknown: int) -> _Hidden:
        ends: dict[tuple[str, Step], set[str]] = {}
        nodes: dict[Step, set[str]] = {}
        counts: dict[str, int] = {}
        for triple in triples:
            subject, relation, object_ = triple
            ways = [(subject, Step(relation), object_)]
            if not isinstance(object_, Literal):
                ways.append((object_, Step(relation, True), subject))
            for node, step, end in ways:
                ends.setdefault((node, step), set()).add(end)
                nodes.setdefault(step, set()).add(node)
            for node in {subject, object_}:
                counts[node] = counts.get(node, 0) + 1
        entities = sorted({node for node, _ in ends})
        degrees = self.graph.degrees(entities) if entities else []
        return _Hidden(
            frozenset(triples),
            {key: frozenset(found) for key, found in ends.items()},
            {step: frozenset(found) for step, found in nodes.items()},
            counts,
            frozenset(node for node, degree in zip(entities, degrees, strict=True) if degree <= counts[node]),
            unknown,
        )

    # Hooks

    def frontiers(self, node_sets: Sequence[Sequence[str]]) -> Sequence[Frontier]:
        """Make one frontier of each set of ids, without the entities that have no triple left."""
        gone = self._open.gone
        return self.graph.frontiers([[id_ for id_ in ids if id_ not in gone] for ids in node_sets])

    def steps(self, frontiers: Sequence[Frontier], inverse: bool) -> Sequence[Sequence[Step]]:
        """Read the distinct steps that leave each frontier along some triple that is left, sorted."""
        hidden = self._open
        inner = inner_frontiers(frontiers)
        found = self.graph.steps(inner, inverse)
        unsure = [
            (place, step)
            for place, row in enumerate(found)
            for step in row
            if step in hidden.nodes and _meet(inner[place], hidden.nodes[step])
        ]
        if not unsure:
            return found
        at, which = [inner[place] for place, _ in unsure], [step for _, step in unsure]
        limit = 1 + self._most_hidden(at, which)
        read = self.graph.triples(at, which, limit)
        empty = {
            pair for pair, row in zip(unsure, read, strict=True) if all(triple in hidden.triples for triple in row)
        }
        return [[step for step in row if (place, step) not in empty] for place, row in enumerate(found)]

    def _most_hidden(self, frontiers: Sequence[Frontier], steps: Sequence[Step]) -> int:
        """Return the most triples hidden at one node of some frontiers along their steps."""
        hidden = self._open
        return max(
            len(hidden.ends[node, step])
            for frontier, step in zip(frontiers, steps, strict=True)
            for node in _common(frontier, hidden.nodes[step])
        )

    def follow(self, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None) -> list[Frontier]:
        """Follow each step along the triples that are left."""
        hidden = self._open
        inner = inner_frontiers(frontiers)
        touched = self._touched(inner, steps)
        plain = [place for place in range(len(inner)) if place not in touched]
        answers: list[Frontier] = list(inner)
        some = self.graph.follow([inner[place] for place in plain], [steps[place] for place in plain], limit)
        for place, frontier in zip(plain, some, strict=True):
            answers[place] = frontier
        if not touched:
            return answers
        at, which = [inner[place] for place in touched], [steps[place] for place in touched]
        wider = None if limit is None else limit + self._most_hidden(at, which)
        read = self.graph.triples(at, which, wider)
        over = self.graph.follow(at, which, wider)
        kept = [first_of_each(_left(row, hidden), step, limit) for row, step in zip(read, which, strict=True)]
        ends = [
            [end for triple in row if not isinstance(end := end_of(triple, step), Literal)]
            for row, step in zip(kept, which, strict=True)
        ]
        reached = self.graph.frontiers(ends)
        for place, row, all_read, cut, frontier in zip(touched, kept, read, over, reached, strict=True):
            step = steps[place]
            lost = sum(len(hidden.ends[node, step]) for node in _common(inner[place], hidden.nodes[step]))
            answers[place] = ViewFrontier(frontier, len(all_read) + cut.cut - lost - len(row))
        return answers

    def triples(
        self, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None
    ) -> list[Sequence[Triple]]:
        """Read the triples along each step that are left."""
        hidden = self._open
        inner = inner_frontiers(frontiers)
        touched = self._touched(inner, steps)
        plain = [place for place in range(len(inner)) if place not in touched]
        answers: list[Sequence[Triple]] = [()] * len(inner)
        some = self.graph.triples([inner[place] for place in plain], [steps[place] for place in plain], limit)
        for place, row in zip(plain, some, strict=True):
            answers[place] = row
        if touched:
            at, which = [inner[place] for place in touched], [steps[place] for place in touched]
            wider = None if limit is None else limit + self._most_hidden(at, which)
            for place, row in zip(touched, self.graph.triples(at, which, wider), strict=True):
                answers[place] = first_of_each(_left(row, hidden), steps[place], limit)
        return answers

    def _touched(self, frontiers: Sequence[Frontier], steps: Sequence[Step]) -> dict[int, None]:
        """Return the places of the pairs along which something is hidden."""
        nodes = self._open.nodes
        pairs = enumerate(zip(frontiers, steps, strict=True))
        return {place: None for place, (at, step) in pairs if step in nodes and _meet(at, nodes[step])}

    def match(self, patterns: Sequence[Pattern]) -> list[list[Triple]]:
        """Find the triples of each pattern that are left."""
        hidden = self._open.triples
        return [[triple for triple in row if triple not in hidden] for row in self.graph.match(patterns)]

    def degrees(self, ids: Sequence[str]) -> list[int]:
        """Count the triples at each id that are left."""
        counts = self._open.counts
        return [max(0, degree - counts.get(id_, 0)) for id_, degree in zip(ids, self.graph.degrees(ids), strict=True)]

    def find(self, names: Sequence[str]) -> Sequence[Sequence[str]]:
        """Find the entities with each name that have a triple left."""
        found, gone = self.graph.find(names), self._open.gone
        return [[id_ for id_ in row if id_ not in gone] for row in found] if gone else found

    def near_names(self, names: Sequence[str], limit: int, whole: bool) -> Sequence[Sequence[str]]:
        """Find names almost like each name, of entities that have a triple left.

        There may be fewer than ``limit``, since names of entities without a triple take a place among the nearest.
        """
        return (self._near_names_here if self._open.gone else self.graph.near_names)(names, limit, whole)

    def qualifiers(self, triples: Sequence[Triple]) -> list[Sequence[Qualifier]]:
        """Read the qualifiers of each triple; a hidden triple has none."""
        hidden = self._open.triples
        rows = self.graph.qualifiers(triples)
        return [() if triple in hidden else row for triple, row in zip(triples, rows, strict=True)]


def read_triples(path: str) -> list[Triple]:
    """Read a file of triples: subject, relation and object in each line, separated by tabs.

    Raises:
        InputError: If the file cannot be read, or a line has not three cells, with the line.
    """
    found = []
    for number, line in read_lines(path):
        cells = line.split("\t")
        if len(cells) != 3 or not all(cells):
            raise InputError(
                f"{path}:{number}: {len(cells)} cells, {sum(map(bool, cells))} of them filled; give subject, relation"
                " and object, separated by tabs"
            )
        found.append(Triple(*cells))
    return found


def _meet(frontier: Frontier, nodes: frozenset[str]) -> bool:
    return any(id_ in nodes for id_ in frontier.ids())


def _common(frontier: Frontier, nodes: frozenset[str]) -> list[str]:
    return [id_ for id_ in frontier.ids() if id_ in nodes]


def _left(row: Sequence[Triple], hidden: _Hidden) -> list[Triple]:
    return [triple for triple in row if triple not in hidden.triples]
