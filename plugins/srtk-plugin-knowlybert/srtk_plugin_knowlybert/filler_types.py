"""Which entities can fill the open end of a relation, and how likely each is without a sentence."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.graph import Signatures, TripleTable
from srtk_framework.values import Schema, Step
from srtk_plugin_knowlybert.entity_classes import entity_classes, expected_classes, fillers

Types = Literal["classes", "signatures", "seen", "soft", "none"]
TYPES: tuple[Types, ...] = ("classes", "signatures", "seen", "soft", "none")

# What is known of an entity at an end of a relation; see ``FillerTypes.prior``.
PRIOR_FEATURES = ("seen", "share", "signature", "classes", "popularity", "unknown")


@attrs.define(eq=False)
class FillerTypes:
    """Fillers of the relations of a graph, by its triples.

    Attributes:
        table: The triples.
        schema: For the type and subclass relations.
        share: See ``expected_classes``.
        of_answers: Whether the classes of a pattern's known answers are expected, where there are any.
    """

    table: TripleTable
    schema: Schema
    share: float = 0.4
    of_answers: bool = True
    popularity: dict[str, int] = attrs.field(init=False, repr=False)
    _classes: Mapping[str, frozenset[str]] = attrs.field(init=False, repr=False)
    signatures: Signatures = attrs.field(init=False, repr=False)
    _fits: dict[Step, npt.NDArray[np.bool_]] = attrs.field(init=False, factory=dict, repr=False)
    _seen: dict[Step, Counter[str]] = attrs.field(init=False, factory=dict, repr=False)
    _expected: dict[Step, Counter[str]] = attrs.field(init=False, factory=dict, repr=False)

    def __attrs_post_init__(self) -> None:
        self._classes = entity_classes(self.table, self.schema)
        self.signatures = Signatures.of(self.table, self.schema)
        counts = np.bincount(self.table.triples[:, 2], minlength=len(self.table.entities)).tolist()
        self.popularity = dict(zip(self.table.entities, counts, strict=True))

    def known(self, end: str, step: Step) -> list[str]:
        """Return the entities that the graph holds at the far end of a step from an entity."""
        number, relation = self.table.entity_numbers.get(end), self.table.relation_numbers.get(step.relation)
        if number is None or relation is None:
            return []
        return [self.table.entities[one] for one in self.table.fillers(number, relation, step.inverse).tolist()]

    def seen(self, step: Step) -> Counter[str]:
        """Count the fillers of the far end of a step."""
        if step not in self._seen:
            self._seen[step] = Counter(fillers(self.table, step))
        return self._seen[step]

    def allowed(self, types: Types, end: str, step: Step, ids: Sequence[str]) -> list[bool]:
        """Return for each entity whether it can stand at the far end of a step from ``end``.

        By ``classes`` it shares an expected class; where the graph has no classes, or none is expected there, as by
        ``signatures``: it has the step, or a step in common with entities that have it, or no triple at all.
        """
        if types in ("soft", "none"):
            return [True] * len(ids)
        if types == "seen":
            seen = self.seen(step)
            return [id_ in seen for id_ in ids]
        if types == "classes":
            expected = self.expected(end, step)
            if expected:
                return [not expected.isdisjoint(self._classes.get(id_, ())) for id_ in ids]
        fits, numbers = self._can_fill(step), self.table.entity_numbers
        return [id_ not in numbers or bool(fits[numbers[id_]]) for id_ in ids]

    def expected(self, end: str, step: Step) -> frozenset[str]:
        """Return the classes that are expected at the far end of a step from an entity."""
        if self.of_answers and (answers := self.known(end, step)):
            found: frozenset[str] = frozenset().union(*(self._classes.get(id_, ()) for id_ in answers))
            if found:
                return found
        return expected_classes(self._class_counts(step), self.share)

    def prior(self, step: Step, ids: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return the prior features of entities at the far end of a step, float64 [n, 6].

        The columns are ``PRIOR_FEATURES``: whether it fills this end in a triple; the logarithm of its share of these
        triples, with a half added to its number; whether its signature fits. Then the greatest share of fillers with
        a class of it; the logarithm of the number of its triples as object; whether it has no triple.
        """
        seen, numbers, fits = self.seen(step), self.table.entity_numbers, self._can_fill(step)
        total = seen.total() + 1.0
        classes = self._class_counts(step)
        most = max(1, seen.total())
        rows = np.zeros((len(ids), len(PRIOR_FEATURES)))
        for row, id_ in zip(rows, ids, strict=True):
            of_class = max((classes[one] for one in self._classes.get(id_, ())), default=0) / most
            fit = id_ in numbers and bool(fits[numbers[id_]])
            count = seen[id_]
            row[:] = (
                count > 0,
                math.log((count + 0.5) / total),
                fit,
                of_class,
                math.log1p(self.popularity.get(id_, 0)),
                id_ not in numbers,
            )
        return rows

    def _class_counts(self, step: Step) -> Counter[str]:
        if step not in self._expected:
            self._expected[step] = Counter(
                one for id_ in fillers(self.table, step) for one in self._classes.get(id_, ())
            )
        return self._expected[step]

    def _can_fill(self, step: Step) -> npt.NDArray[np.bool_]:
        if step not in self._fits:
            self._fits[step] = self.signatures.can_have(Step(step.relation, not step.inverse))
        return self._fits[step]
