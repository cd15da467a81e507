"""Limits of the neighbours of each node, over triples along one step."""

from __future__ import annotations

from collections.abc import Iterable

from srtk_framework.values import Step, Triple


def start_of(triple: Triple, step: Step) -> str:
    """Return the end of a triple at which a step starts."""
    return triple.object if step.inverse else triple.subject


def end_of(triple: Triple, step: Step) -> str:
    """Return the end of a triple to which a step leads."""
    return triple.subject if step.inverse else triple.object


def first_of_each(triples: Iterable[Triple], step: Step, limit: int | None) -> list[Triple]:
    """Keep the first triples of each node at which a step starts, at most ``limit``."""
    counts: dict[str, int] = {}
    kept = []
    for triple in triples:
        start = start_of(triple, step)
        counts[start] = counts.get(start, 0) + 1
        if limit is None or counts[start] <= limit:
            kept.append(triple)
    return kept
