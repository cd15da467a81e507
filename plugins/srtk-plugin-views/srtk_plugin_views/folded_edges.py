"""Edges of a graph without lists, OWL restrictions and blank nodes between nodes, read in batches and cached."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import attrs

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.values import Literal, Pattern, Qualifier, Triple
from srtk_plugin_views import composites
from srtk_plugin_views.cached_edges import NONE, CachedEdges, Edges
from srtk_plugin_views.owl_terms import OwlTerms

# The ids of blank nodes begin so in all graphs.
BLANK = "_:"

_log = logging.getLogger(__name__)

Path = tuple[str, ...]
"""Relations from a node to a blank node or over it, as the folded relation will name them."""
_State = tuple[Path, str]


class UnnamedNodes(Protocol):
    """Reads the blank nodes of a graph that has no ids for them."""

    def triples(self, nodes: Iterable[str]) -> Iterable[Triple]:
        """Read the triples from nodes to blank nodes, and from these on; their names hold for this call."""

    def find(self, names: Sequence[str]) -> Sequence[Sequence[str]]:
        """Find the entities with each name, also entities whose triples all lead over blank nodes."""

    def starts(self, ends: Iterable[str]) -> Mapping[str, Iterable[str]]:
        """Find the nodes that lead to other nodes, or to literals, over blank nodes."""


@attrs.define
class _Walk:
    """The ways from a node over blank nodes.

    Attributes:
        start: The node.
        reached: Blank nodes by the path to them; the state before, and the triple between.
        level: States to go on from.
        found: Path, state before and last triple of each way to a node.
        cut: Number of edges to blank nodes beyond the limits.
    """

    start: str
    reached: dict[_State, tuple[_State | None, Triple]] = attrs.field(factory=dict)
    level: list[_State | None] = attrs.field(factory=lambda: [None])
    found: list[tuple[Path, _State | None, Triple]] = attrs.field(factory=list)
    cut: int = 0

    def way(self, state: _State | None, last: Triple) -> tuple[Triple, ...]:
        """Return the triples from the start up to the last triple."""
        triples = [last]
        while state is not None:
            state, before = self.reached[state]
            triples.append(before)
        return tuple(reversed(triples))


class FoldedEdges(CachedEdges):
    """The edges of nodes in the folded graph, each read once.

    A blank node is left out where it has no name and something leads to it. All edges are found forward, from a node
    over blank nodes. The incoming edges of a node are outgoing edges of the nodes that reach it.

    Args:
        graph: Graph with blank nodes.
        terms: Ids of the terms of RDF and OWL.
        depth: Most relations in a chain.
        most: Most blank nodes that are read for one node.
        unnamed: Reads blank nodes of a graph whose frontiers cannot have them, as of a server.
    """

    def __init__(
        self, graph: KnowledgeGraph, terms: OwlTerms, depth: int, most: int, unnamed: UnnamedNodes | None = None
    ) -> None:
        super().__init__(graph, (BLANK + "*",), True)
        self._terms = terms
        self._depth = depth
        self._most = most
        self._unnamed_nodes = unnamed
        self._cut: dict[tuple[str, bool], int] = {}

    @property
    def left_out(self) -> int:
        """Number of edges to blank nodes that were left out because of the limits."""
        return sum(self._cut.values())

    def called(self, names: Sequence[str]) -> Sequence[Sequence[str]]:
        """Find the entities of the graph with each name."""
        return (self._unnamed_nodes or self._graph).find(names)

    def _judge(self, nodes: Iterable[str]) -> None:
        """Determine which blank nodes have no name; other nodes need no look."""
        super()._judge(node for node in nodes if node.startswith(BLANK))

    def _is_mediator(self, node: str) -> bool:
        return not isinstance(node, Literal) and self._mediators.get(node, False)

    def _is_left_out(self, node: str) -> bool:
        """Return whether a node is structure, after its incoming edges were read."""
        return self._is_mediator(node) and bool(self._raw[True].get(node))

    def load(self, nodes: Iterable[str], inverse: bool) -> None:
        """Load the edges of nodes in one direction, in some reads for each level of blank nodes."""
        table = self._joined[inverse]
        missing = [node for node in dict.fromkeys(nodes) if node not in table and not isinstance(node, Literal)]
        if not missing:
            return
        self._judge(missing)
        self._read([node for node in missing if self._is_mediator(node)], True)
        table.update(dict.fromkeys(missing, NONE))
        shown = [node for node in missing if not self._is_left_out(node) and node not in self._terms.nil]
        table.update(self._incoming(shown) if inverse else self._outgoing(shown))
        self._kept += sum(len(ends) for node in shown for ends in table[node].values())

    def _outgoing(self, nodes: Sequence[str]) -> Mapping[str, Edges]:
        found: dict[str, Edges] = {}
        for walk in self._walked(nodes):
            ends: dict[str, set[str]] = {}
            for path, _, triple in walk.found:
                ends.setdefault(composites.join_all(path), set()).add(triple.object)
            found[walk.start] = {relation: sorted(some) for relation, some in ends.items()}
            self._count(walk.start, False, walk.cut)
        return found

    def _count(self, node: str, inverse: bool, cut: int) -> None:
        if cut and (node, inverse) not in self._cut:
            self._cut[node, inverse] = cut
            _log.warning(
                "%s: %d edges over blank nodes were left out, beyond depth %d or %d nodes; raise `depth` or `most`",
                node,
                cut,
                self._depth,
                self._most,
            )

    def _walked(self, nodes: Sequence[str]) -> list[_Walk]:
        """Walk from nodes to the ends of all paths over blank nodes, level by level."""
        walks = [_Walk(node) for node in nodes]
        active = walks
        while active:
            places = [walk.start if state is None else state[1] for walk in active for state in walk.level]
            self._read_over(places)
            raw = self._raw[False]
            self._judge(end for place in dict.fromkeys(places) for ends in raw[place].values() for end in ends)
            for walk in active:
                self._advance(walk)
            active = [walk for walk in active if walk.level]
        return walks

    def _read_over(self, places: Sequence[str]) -> None:
        """Read the outgoing edges of nodes; from a server, also of all blank nodes that they lead to."""
        raw = self._raw[False]
        fresh = [place for place in dict.fromkeys(places) if place not in raw]
        self._read(places, False)
        if self._unnamed_nodes is None or not fresh:
            return
        further: dict[str, dict[str, list[str]]] = {}
        for subject, relation, end in self._unnamed_nodes.triples(fresh):
            further.setdefault(subject, {}).setdefault(relation, []).append(end)
            if end.startswith(BLANK) and not isinstance(end, Literal):
                further.setdefault(end, {})
                self._mediators[end] = True
        for node, edges in further.items():
            known = raw.get(node, NONE)
            raw[node] = {name: [*known.get(name, ()), *edges.get(name, ())] for name in {**known, **edges}}
            self._kept += 1 + sum(map(len, edges.values()))

    def _advance(self, walk: _Walk) -> None:
        level, walk.level = walk.level, []
        for state in level:
            for path, triple in self._from_node(walk.start) if state is None else self._from_blank(*state):
                end = triple.object
                if not self._is_mediator(end):
                    if end not in self._terms.nil or isinstance(end, Literal):
                        walk.found.append((path, state, triple))
                    continue
                after = (path, end)
                if after in walk.reached:
                    continue
                if len(walk.reached) >= self._most or len(self._chain(path)) >= self._depth:
                    walk.cut += 1
                    continue
                walk.reached[after] = (state, triple)
                walk.level.append(after)

    # One step of a walk

    def _from_node(self, node: str) -> Iterator[tuple[Path, Triple]]:
        """Yield the paths of one relation that leave a node; all paths of a list lead to its members."""
        raw = self._raw[False][node]
        member = next((relation for relation in sorted(raw) if relation in self._terms.first), None)
        blank = self._is_mediator(node)
        for relation, ends in raw.items():
            path = (member,) if member is not None and relation in self._terms.rest else (relation,)
            for end in ends:
                if not (blank and self._is_structural(relation, end)):
                    yield path, Triple(node, relation, end)

    def _from_blank(self, path: Path, node: str) -> Iterator[tuple[Path, Triple]]:
        """Yield the paths that lead on over a blank node."""
        terms, raw = self._terms, self._raw[False][node]
        # The properties that a restriction is about; none where it is no restriction.
        properties = [
            end
            for relation, ends in raw.items()
            if relation in terms.on_property
            for end in ends
            if not self._is_mediator(end) and not isinstance(end, Literal)
        ]
        for relation, ends in raw.items():
            for end in ends:
                if self._is_structural(relation, end):
                    continue
                triple = Triple(node, relation, end)
                if relation in terms.first or relation in terms.rest:
                    yield path, triple
                elif not properties:
                    # A relation between parts of a class expression counts once, so that their cycles end.
                    once = relation in terms.boolean or relation in terms.above
                    yield (path if once and relation in path else (*path, relation)), triple
                elif relation not in terms.on_property:
                    for one in properties:
                        about = (*self._chain(path), one)
                        yield (about if relation in terms.fillers else (*about, relation)), triple

    def _is_structural(self, relation: str, end: str) -> bool:
        """Return whether an edge of a blank node only gives the kind of its structure."""
        return relation in self._terms.type and end in self._terms.classes

    def _chain(self, path: Path) -> Path:
        """Return a path, empty if it only leads from a class or an individual to the parts of a class expression."""
        terms = self._terms
        between = [
            relation in terms.boolean or relation in terms.above or (place == 0 and relation in terms.type)
            for place, relation in enumerate(path)
        ]
        return () if all(between) else path

    # Incoming edges

    def _incoming(self, nodes: Sequence[str]) -> Mapping[str, Edges]:
        starts = self._climbed(dict.fromkeys(nodes, ()))
        self.load((start for some in starts.values() for start in some), False)
        return {node: self._leading(some, node) for node, some in starts.items()}

    def _leading(self, starts: Iterable[str], node: str) -> Edges:
        """Return the loaded edges of some nodes that end in a node, or in a literal of this class."""
        found: dict[str, list[str]] = {}
        literal = isinstance(node, Literal)
        for start in sorted(starts):
            for relation, ends in self.ends(start, False).items():
                if any(end == node and isinstance(end, Literal) == literal for end in ends):
                    found.setdefault(relation, []).append(start)
        return found

    def _climbed(self, known: Mapping[str, Iterable[Triple]]) -> dict[str, set[str]]:
        """Find the nodes that reach given ends directly or over blank nodes.

        Args:
            known: Ends of walks; for a literal, whose incoming edges cannot be read, the triples that lead to it.
        """
        starts: dict[str, set[str]] = {end: set() for end in known}
        seen: dict[str, set[str]] = {end: set() for end in known}
        self._read((end for end in known if not isinstance(end, Literal)), True)
        level = {end: [*triples] if isinstance(end, Literal) else self._into(end) for end, triples in known.items()}
        while level:
            self._judge(triple.subject for triples in level.values() for triple in triples)
            blank = {triple.subject for triples in level.values() for triple in triples}
            self._read((node for node in blank if self._is_mediator(node)), True)
            level = {end: self._above(end, level[end], starts[end], seen[end]) for end in level}
            level = {end: triples for end, triples in level.items() if triples}
        if self._unnamed_nodes is not None:
            # Blank nodes lead to the classes of structure and to the empty list only as structure.
            structure = self._terms.classes | self._terms.nil
            asked = (end for end in known if isinstance(end, Literal) or end not in structure)
            for end, some in self._unnamed_nodes.starts(asked).items():
                starts[end].update(some)
        return starts

    def _into(self, node: str) -> list[Triple]:
        return [Triple(end, relation, node) for relation, ends in self._raw[True][node].items() for end in ends]

    def _above(self, end: str, triples: Iterable[Triple], starts: set[str], seen: set[str]) -> list[Triple]:
        """Sort the subjects of triples into starts and blank nodes, and return the triples that lead to blank nodes."""
        further: list[Triple] = []
        for subject, relation, object_ in sorted(triples):
            if not self._is_left_out(subject):
                starts.add(subject)
            elif subject in seen or relation in self._terms.on_property or self._is_structural(relation, object_):
                continue
            elif len(seen) >= self._most:
                self._count(end, True, 1)
            else:
                seen.add(subject)
                further += self._into(subject)
        return further

    def leading_to(self, literal: str) -> list[Triple]:
        """Find the triples whose object is a literal, sorted."""
        starts = self._climbed({literal: self._graph.match([Pattern(object=literal)])[0]})[literal]
        self.load(starts, False)
        found = self._leading(starts, literal)
        return sorted(Triple(start, relation, literal) for relation, some in found.items() for start in some)

    # Details of triples

    def qualifiers(self, subject: str, halves: tuple[str, ...], object_: str) -> Sequence[Qualifier]:
        """Return nothing: the triples of a blank node are folded themselves."""
        return ()

    def ways(self, triple: Triple) -> list[tuple[Triple, ...]]:
        """Return the triples of the graph that a triple with a loaded subject stands for, once for each way."""
        subject, relation, object_ = triple
        if self._is_left_out(subject):
            return []
        path = composites.parts(relation)
        literal = isinstance(object_, Literal)
        return [
            walk.way(state, last)
            for walk in self._walked([subject])
            for found, state, last in walk.found
            if found == path and last.object == object_ and isinstance(last.object, Literal) == literal
        ]
