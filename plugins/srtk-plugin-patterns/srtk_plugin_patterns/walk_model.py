"""Model of one relation and end: a logistic regression over the probabilities of walks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.graph import TripleTable
from srtk_framework.values import Step
from srtk_plugin_patterns.random_walk import RandomWalk
from srtk_plugin_patterns.twins import Twins, with_twins

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@attrs.frozen(eq=False)
class WalkModel:
    """Weights of paths, and of the frequency of the entity.

    Attributes:
        paths: Step numbers of each path, from the bound end to the open one.
        probability: Weight of the probability of each path.
        presence: Weight of a path that can end at the entity.
        frequency: Weight of the logarithm of 1 + the number of the relation's triples with the entity.
        shift: Log-odds of an entity that nothing speaks for.
        fillers: Numbers of the entities that fill the open end in some triple, sorted.
        counts: In how many.
    """

    paths: Sequence[tuple[int, ...]]
    probability: Floats
    presence: Floats
    frequency: float
    shift: float
    fillers: Ints
    counts: Ints

    def base(self, entities: int) -> Floats:
        """Return the log-odds of each entity before any walk."""
        found = np.full(entities, self.shift)
        found[self.fillers] += self.frequency * np.log1p(self.counts)
        return found

    def walked(self, ends: Sequence[Any]) -> Any:
        """Return the sum of the walks' log-odds: a sparse matrix [starts, entities].

        Args:
            ends: For each path the probabilities of its ends, sparse [starts, entities].
        """
        parts = []
        for one, weight, presence in zip(ends, self.probability.tolist(), self.presence.tolist(), strict=True):
            part = one.copy()
            part.data = one.data * weight + presence
            parts.append(part)
        found = sum(parts[1:], parts[0]).tocsr()
        found.sum_duplicates()
        return found

    def parts(self, probabilities: npt.ArrayLike) -> Floats:
        """Return the part of each path in the log-odds of one entity."""
        values = np.array(probabilities)
        found: Floats = values * self.probability + (values > 0) * self.presence
        return found

    def share(self, entity: int) -> float:
        """Return the share of the relation's triples that have an entity."""
        at = int(np.searchsorted(self.fillers, entity))
        known = at < len(self.fillers) and self.fillers[at] == entity
        return float(self.counts[at] / self.counts.sum()) if known else 0.0

    @classmethod
    def learn(
        cls,
        walks: RandomWalk,
        paths: Sequence[tuple[int, ...]],
        facts: Ints,
        held_out: Ints,
        inverse: bool,
        negatives: int,
        regulariser: float,
        random: np.random.Generator,
        twins: Twins,
    ) -> WalkModel | None:
        """Learn the weights from triples, each held out with its twins while its walks are computed.

        None where no wrong entity can be drawn.

        Args:
            walks: Walks over the training graph.
            paths: Step numbers of the paths.
            facts: All triples of the relation as rows [n, 3].
            held_out: Those to learn from [m, 3].
            inverse: Whether the objects are bound, and the subjects open.
            negatives: For each triple so many wrong entities that walks reach, and so many other fillers.
            regulariser: Inverse of scikit-learn's C.
            random: Draws the wrong entities.
            twins: Steps that say the relation's facts again.
        """
        from scipy.sparse import csr_array, diags_array, hstack  # type: ignore[import-untyped]
        from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

        begin, end = (2, 0) if inverse else (0, 2)
        fillers, counts = np.unique(facts[:, end], return_counts=True)
        starts, right = held_out[:, begin], held_out[:, end]
        said, of = with_twins(walks.table, held_out, twins)
        columns = [walks.ends(starts, path, said, of) for path in paths]

        def stored(node: int) -> npt.NDArray[Any]:
            return walks.table.fillers(node, int(facts[0, 1]), inverse)

        rows, entities, labels = _candidates(columns, starts, right, fillers, stored, negatives, random)
        if labels.all():
            return None
        features = _features(columns, rows, entities)
        known = np.searchsorted(fillers, entities)
        known = np.minimum(known, len(fillers) - 1)
        times = np.where(fillers[known] == entities, counts[known], 0) - labels
        log_times = np.log1p(np.maximum(times, 0))
        whole = hstack([features, csr_array(log_times[:, None])]).tocsr()
        scale = np.maximum(abs(whole).max(axis=0).toarray().ravel(), 1e-12)
        whole = whole @ diags_array(1 / scale)
        fitted = LogisticRegression(C=1 / regulariser, max_iter=500, tol=1e-5).fit(whole, labels)
        weights = fitted.coef_[0] / scale
        count = len(paths)
        return cls(
            tuple(paths),
            weights[:count],
            weights[count : 2 * count],
            float(weights[-1]),
            float(fitted.intercept_[0]),
            fillers,
            counts,
        )

    def to_json(self, table: TripleTable) -> dict[str, Any]:
        """Return the values as JSON holds them, with ids in place of numbers."""
        return {
            "paths": [[str(table.step(number)) for number in path] for path in self.paths],
            "probability": self.probability.tolist(),
            "presence": self.presence.tolist(),
            "frequency": self.frequency,
            "shift": self.shift,
            "fillers": {table.entities[n]: c for n, c in zip(self.fillers.tolist(), self.counts.tolist(), strict=True)},
        }

    @classmethod
    def from_json(cls, data: dict[str, Any], table: TripleTable) -> WalkModel:
        """Read the result of ``to_json``.

        Raises:
            KeyError: For an entity that the table lacks.
            ValueError: For a relation that it lacks, or another number of weights than of paths.
        """
        paths = tuple(tuple(table.step_number(Step.parse(name)) for name in path) for path in data["paths"])
        if any(step < 0 for path in paths for step in path):
            raise ValueError("a path has a relation that the graph lacks")
        weights = np.array([data["probability"], data["presence"]], dtype=np.float64)
        if weights.shape != (2, len(paths)):
            raise ValueError(f"{len(paths)} paths have weights of the shape {weights.shape}")
        fillers = np.array([table.entity_numbers[name] for name in data["fillers"]], dtype=np.int64)
        counts = np.array(list(data["fillers"].values()), dtype=np.int64)
        order = np.argsort(fillers)
        return cls(
            paths, weights[0], weights[1], float(data["frequency"]), float(data["shift"]), fillers[order], counts[order]
        )


def _candidates(
    columns: Sequence[Any],
    starts: Ints,
    right: Ints,
    fillers: Ints,
    stored: Callable[[int], npt.NDArray[Any]],
    negatives: int,
    random: np.random.Generator,
) -> tuple[Ints, Ints, Ints]:
    """Return rows of examples: the triple, the entity, and whether it is right."""
    whole = sum(columns[1:], columns[0]).tocsr()
    rows, entities, labels = [], [], []
    for at, (start, entity) in enumerate(zip(starts.tolist(), right.tolist(), strict=True)):
        wrong = np.append(stored(start), start)
        reached = np.setdiff1d(whole.indices[whole.indptr[at] : whole.indptr[at + 1]], wrong)
        others = np.setdiff1d(fillers, wrong)
        drawn = np.union1d(_some(reached, negatives, random), _some(others, negatives, random)).astype(np.int64)
        rows.append(np.full(len(drawn) + 1, at))
        entities.append(np.append(entity, drawn))
        labels.append(np.append(1, np.zeros(len(drawn), dtype=np.int64)))
    return np.concatenate(rows), np.concatenate(entities), np.concatenate(labels)


def _some(values: npt.NDArray[Any], count: int, random: np.random.Generator) -> npt.NDArray[Any]:
    return values if len(values) <= count else random.choice(values, count, replace=False)


def _features(columns: Sequence[Any], rows: Ints, entities: Ints) -> Any:
    """Return the probabilities of all paths, then whether each is above 0: sparse [examples, 2 * paths]."""
    from scipy.sparse import csc_array

    values, at, starts = [], [], [0]
    for one in columns:
        found = np.asarray(one.tocsr()[rows, entities]).ravel()
        places = np.flatnonzero(found > 0)
        values.append(found[places])
        at.append(places)
        starts.append(starts[-1] + len(places))
    data, indices = np.concatenate(values), np.concatenate(at)
    indptr = np.array([*starts, *(starts[-1] + end for end in starts[1:])])
    shape = (len(rows), 2 * len(columns))
    return csc_array((np.append(data, np.ones(len(data))), np.append(indices, indices), indptr), shape=shape)
