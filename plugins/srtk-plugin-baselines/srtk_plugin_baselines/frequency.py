"""The ``frequency`` completer: the most frequent fillers of a relation, whatever the entity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np

from srtk_framework.graph import Signatures, TripleTable, candidate_numbers
from srtk_framework.roles import Completer, KnowledgeGraph, not_open
from srtk_framework.values import Completion, Evidence, Pattern, Step, confidence, open_end

if TYPE_CHECKING:
    import numpy.typing as npt


@attrs.frozen(eq=False)
class _Fillers:
    """The entities at the far end of a step, by sorted number, in all ``total`` triples of its relation.

    ``confidences`` are rounded shares of the triples; ``order`` has the places of the most confident entities first.
    """

    entities: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int64]
    confidences: npt.NDArray[np.float64]
    order: npt.NDArray[np.int64]
    total: int

    @classmethod
    def of(cls, ends: npt.NDArray[np.int32]) -> _Fillers:
        """Count the entities at one end of all triples of a relation."""
        entities, counts = np.unique(ends, return_counts=True)
        distinct, place = np.unique(counts, return_inverse=True)
        shares = np.array([confidence(count / len(ends)) for count in distinct.tolist()])[place]
        return cls(entities, counts, shares, np.lexsort((entities, -shares)), len(ends))

    def rates(self, numbers: npt.NDArray[np.int64]) -> list[float]:
        """Return the confidence of each entity; 0 for those that are no fillers."""
        at = np.minimum(np.searchsorted(self.entities, numbers), len(self.entities) - 1)
        rates: list[float] = np.where(self.entities[at] == numbers, self.confidences[at], 0.0).tolist()
        return rates


@attrs.define(eq=False)
class FrequencyCompleter(Completer):
    """Propose the most frequent fillers of a relation that the entity lacks.

    The confidence of an entity is the share of the relation's triples that have it at the open end, whatever the bound
    end is. Every method that looks at the entity must do better. Steps are offered by the classes or the
    signatures of the entities.

    Attributes:
        graph: Graph to complete; it must be able to list its triples, as a snapshot does.
        unknown: Whether triples are also proposed for entities that the graph lacks. Beside completers that answer for
            these, such as a language model, the most frequent fillers are else no candidates.
    """

    graph: KnowledgeGraph
    unknown: bool = False
    _table: TripleTable | None = attrs.field(init=False, default=None, repr=False)
    _signatures: Signatures | None = attrs.field(init=False, default=None, repr=False)
    _fillers: dict[Step, _Fillers] = attrs.field(init=False, factory=dict, repr=False)
    _full: dict[str, set[Step]] = attrs.field(init=False, factory=dict, repr=False)

    def open(self) -> None:
        """Read the graph and count."""
        table = TripleTable.of(self.graph)
        self._signatures = Signatures.of(table, self.graph.schema())
        self._fillers, self._full = {}, {}
        for number, relation in enumerate(table.relations):
            rows = table.of_relation(number)
            for step, start, end in ((Step(relation), 0, 2), (Step(relation, True), 2, 0)):
                fillers = self._fillers[step] = _Fillers.of(rows[:, end])
                nodes, counts = np.unique(rows[:, start], return_counts=True)
                for node in nodes[counts == len(fillers.entities)].tolist():
                    self._full.setdefault(table.entities[node], set()).add(step)
        self._table = table

    def close(self) -> None:
        """Release the counts."""
        self._table = self._signatures = None
        self._fillers, self._full = {}, {}

    @property
    def _open(self) -> TripleTable:
        if self._table is None:
            raise not_open(self)
        return self._table

    def complete(self, patterns: Sequence[Pattern], limit: int | None) -> list[list[Completion]]:
        """Return the most frequent fillers that the entity lacks."""
        table = self._open
        return [self._complete(table, pattern, limit) for pattern in patterns]

    def _complete(self, table: TripleTable, pattern: Pattern, limit: int | None) -> list[Completion]:
        entity, step = open_end(pattern)
        fillers = self._fillers.get(step)
        number = table.entity_numbers.get(entity)
        if fillers is None or (number is None and not self.unknown):
            return []
        held = np.empty(0, dtype=np.int32)
        if number is not None:
            held = table.fillers(number, table.relation_numbers[step.relation], step.inverse)
        # As many as are held may have to be passed over.
        order = fillers.order if limit is None else fillers.order[: limit + len(held)]
        places = order[~np.isin(fillers.entities[order], held)][:limit]
        return [
            Completion(
                pattern.filled(table.entities[end]),
                share,
                (Evidence("model", f"{count} of {fillers.total} triples have it", "frequency", share),),
            )
            for end, share, count in zip(
                fillers.entities[places].tolist(),
                fillers.confidences[places].tolist(),
                fillers.counts[places].tolist(),
                strict=True,
            )
        ]

    def rate(self, patterns: Sequence[Pattern], candidates: Sequence[Sequence[str]]) -> list[list[float]]:
        """Return the shares of the candidates, also for an unknown bound end; 0 for an unknown relation."""
        answers = []
        for pattern, numbers in zip(patterns, candidate_numbers(candidates, self._open.entity_numbers), strict=True):
            fillers = self._fillers.get(open_end(pattern)[1])
            answers.append([0.0] * len(numbers) if fillers is None else fillers.rates(numbers))
        return answers

    def offers(self, node_sets: Sequence[Sequence[str]], inverse: bool) -> list[list[Step]]:
        """Offer the steps that entities of these classes or signatures have, unless all fillers are held."""
        signatures = self._signatures
        if signatures is None:
            raise not_open(self)
        answers = []
        for nodes in node_sets:
            full = [node for node in nodes if node in self._full]
            (steps,) = signatures.offers([[node for node in nodes if node not in self._full]], inverse)
            for node, row in zip(full, signatures.offers([[node] for node in full], inverse), strict=True):
                steps = [*steps, *(step for step in row if step not in self._full[node])]
            answers.append(sorted(set(steps)) if full else steps)
        return answers
