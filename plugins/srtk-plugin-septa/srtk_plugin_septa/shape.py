"""Shape of a network, and subgraphs as arrays of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.values import Triple

Vectors = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


@attrs.frozen
class Shape:
    """Sizes of a network."""

    input: int
    dimensions: int
    hidden: int = 256
    layers: int = 2


class Arrays(NamedTuple):
    """A subgraph in numbers.

    Attributes:
        nodes: Ids of its nodes, the centre first, then sorted.
        relations: Id of the relation of each triple.
        triples: int64 [n, 3]: place of the subject in ``nodes``, place of the triple, place of the object in ``nodes``.
    """

    nodes: tuple[str, ...]
    relations: tuple[str, ...]
    triples: Ints

    @classmethod
    def of(cls, triples: Sequence[Triple], centre: str) -> Arrays:
        """Number the parts of a subgraph; neither the order of triples nor their repetitions change anything."""
        facts = sorted(set(triples))
        rest = sorted({end for subject, _, object_ in facts for end in (subject, object_)} - {centre})
        nodes = (centre, *rest)
        places = {node: place for place, node in enumerate(nodes)}
        rows = [(places[subject], at, places[object_]) for at, (subject, _, object_) in enumerate(facts)]
        return cls(nodes, tuple(t.relation for t in facts), np.array(rows, dtype=np.int64).reshape(len(rows), 3))
