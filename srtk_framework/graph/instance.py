"""An instance of a path, and the key of a frontier before it."""

from __future__ import annotations

from typing import NamedTuple

from srtk_framework.values import Path, Triple

PathKey = tuple[str, Path]
"""A linked entity and the steps from it, which identify a frontier of a question."""


class Instance(NamedTuple):
    """One instance of a path.

    Attributes:
        triples: One triple for each step, from the linked entity on.
        end: The node behind the last step.
        confidence: Product of the confidences of its triples.
    """

    triples: tuple[Triple, ...]
    end: str
    confidence: float = 1.0
