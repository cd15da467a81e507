"""The ``union`` completer: the completions of several completers, each triple once."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from srtk_framework.roles import Completer
from srtk_framework.values import Completion, Pattern, Step, Triple

REASONS = 100
"""First completions of each completer that give their evidence to the same triple of a more confident one."""


@attrs.define(eq=False)
class UnionCompleter(Completer):
    """Propose what any of several completers proposes.

    A triple that several propose has the greatest of their confidences, and the evidence of the most confident and of
    all that have it among their first hundred. The greatest needs no
    assumption: a product of doubts (noisy or) takes completers for independent, which they never are over one graph,
    and a mean punishes a triple for what one of them cannot know. Calibrate the completers first where their
    confidences are no probabilities.

    Attributes:
        completers: The completers, over one graph; the evidence of the most confident comes first.
    """

    completers: Sequence[Completer] = attrs.field(validator=attrs.validators.min_len(1))

    def complete(self, patterns: Sequence[Pattern], limit: int | None) -> list[list[Completion]]:
        """Unite the completions of each pattern.

        Each is asked for ``limit`` completions, or a hundred if that is more: what is among the first of the union is
        among the first of its most confident completer.
        """
        asked = None if limit is None else max(limit, REASONS)
        rows = [one.complete(patterns, asked) for one in self.completers]
        return [_united(found)[:limit] for found in zip(*rows, strict=True)]

    def rate(self, patterns: Sequence[Pattern], candidates: Sequence[Sequence[str]]) -> list[list[float]]:
        """Return the greatest rate of each candidate."""
        rows = [one.rate(patterns, candidates) for one in self.completers]
        return [[max(rates) for rates in zip(*found, strict=True)] for found in zip(*rows, strict=True)]

    def offers(self, node_sets: Sequence[Sequence[str]], inverse: bool) -> list[list[Step]]:
        """Offer what some completer offers."""
        rows = [one.offers(node_sets, inverse) for one in self.completers]
        return [sorted({step for steps in found for step in steps}) for found in zip(*rows, strict=True)]


def _united(rows: Sequence[Sequence[Completion]]) -> list[Completion]:
    """Return each triple once, with the greatest confidence and the distinct evidence, in order."""
    of_triple: dict[Triple, list[tuple[int, Completion]]] = {}
    for place, one in (pair for row in rows for pair in enumerate(row)):
        of_triple.setdefault(one.triple, []).append((place, one))
    found = []
    for triple, several in of_triple.items():
        best = max(one.confidence for _, one in several)
        # Whether a reason counts must not depend on the limit.
        kept = [one for place, one in several if place < REASONS or one.confidence == best]
        ranked = sorted(kept, key=lambda one: -one.confidence)
        evidence = tuple(dict.fromkeys(reason for one in ranked for reason in one.evidence))
        found.append(Completion(triple, best, evidence))
    return sorted(found, key=lambda one: (-one.confidence, one.triple))
