"""Breadth-first samples of a graph around centres, read in batches."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

import attrs
import numpy as np

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.values import DriverError, Literal, Triple

_MOST_KEPT = 500_000  # Triples that are kept in memory for the next centres


@attrs.frozen
class Sample:
    """A subgraph around a centre.

    Triples between two sampled nodes are given, those nearest to the centre first. ``drawn`` nodes had more
    neighbours than the fan-out, and ``hubs`` had more than were read.
    """

    centre: str
    triples: tuple[Triple, ...]
    hops: dict[str, int] = attrs.field(hash=False)
    drawn: int = 0
    hubs: int = 0


@attrs.define(eq=False)
class Sampler:
    """Samples around centres: nodes hop by hop, then all triples between them.

    All new neighbours of a node are taken, or as many as the fan-out allows, drawn by the seed and the centre. So a
    sample depends neither on other centres nor on the size of the batches.

    Attributes:
        graph: An open graph.
        fan: Most new nodes for one expanded node, one number for each hop.
        inverse: Whether a neighbour may be the subject of a triple, too.
        hub: Most neighbours read for one node at one step, first in order of id.
        seed: Seed of the draws.
    """

    graph: KnowledgeGraph
    fan: Sequence[int]
    inverse: bool = True
    hub: int = 1000
    seed: int = 0
    _known: dict[str, tuple[tuple[Triple, ...], bool]] = attrs.field(init=False, factory=dict)
    _kept: int = attrs.field(init=False, default=0)

    def samples(self, centres: Sequence[str]) -> list[Sample]:
        """Return the sample of each centre."""
        for centre, frontier in zip(centres, self.graph.frontiers([[c] for c in centres]), strict=True):
            if not frontier.size:
                raise DriverError(f"the centre {centre!r} is no node of {self.graph.source()}; name nodes of the graph")
        hops: list[dict[str, int]] = [{centre: 0} for centre in centres]
        drawn = [0] * len(centres)
        draws = [np.random.default_rng([self.seed, *hashlib.sha256(_bytes(centre)).digest()]) for centre in centres]
        for hop, fan in enumerate(self.fan):
            self._read(node for row in hops for node, at in row.items() if at == hop)
            for place, row in enumerate(hops):
                for node in [node for node, at in row.items() if at == hop]:
                    new = sorted(self._neighbours(node) - row.keys())
                    if len(new) > fan:
                        drawn[place] += 1
                        new = [new[i] for i in sorted(draws[place].choice(len(new), fan, replace=False).tolist())]
                    row.update((one, hop + 1) for one in new)
        self._read(node for row in hops for node in row)
        found = [
            Sample(centre, self._between(row), row, drawn[place], sum(self._known[node][1] for node in row))
            for place, (centre, row) in enumerate(zip(centres, hops, strict=True))
        ]
        if self._kept > _MOST_KEPT:
            self._known.clear()
            self._kept = 0
        return found

    def _neighbours(self, node: str) -> set[str]:
        ends = {object_ for subject, _, object_ in self._known[node][0] if subject == node}
        if self.inverse:
            ends |= {subject for subject, _, object_ in self._known[node][0] if object_ == node}
        return ends

    def _between(self, hops: dict[str, int]) -> tuple[Triple, ...]:
        inside = {t for node in hops for t in self._known[node][0] if t.subject in hops and t.object in hops}

        def order(triple: Triple) -> tuple[int, int, Triple]:
            one, other = hops[triple.subject], hops[triple.object]
            return min(one, other), max(one, other), triple

        return tuple(sorted(inside, key=order))

    def _read(self, nodes: Iterable[str]) -> None:
        """Read the triples of nodes that are not known."""
        new = [node for node in dict.fromkeys(nodes) if node not in self._known]
        if not new:
            return
        frontiers = self.graph.frontiers([[node] for node in new])
        steps = self.graph.steps(frontiers, self.inverse)
        pairs = [(place, step) for place, row in enumerate(steps) for step in row]
        # One more than is kept tells where some were left out.
        rows = self.graph.triples([frontiers[i] for i, _ in pairs], [step for _, step in pairs], self.hub + 1)
        found: list[set[Triple]] = [set() for _ in new]
        cut = [False] * len(new)
        for (place, _), row in zip(pairs, rows, strict=True):
            cut[place] |= len(row) > self.hub
            found[place].update(t for t in row[: self.hub] if not isinstance(t.object, Literal))
        for node, triples, more in zip(new, found, cut, strict=True):
            self._known[node] = tuple(sorted(triples)), more
            self._kept += len(triples)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
