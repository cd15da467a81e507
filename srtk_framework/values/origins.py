"""Origins of triples: the data that a triple was read from, or the completer that concluded it, with its evidence."""

from __future__ import annotations

from typing import NamedTuple

import attrs

from srtk_framework.values.scores import SCORE_DIGITS
from srtk_framework.values.triples import Triple

EVIDENCE_KINDS = ("template", "path", "snippet", "model")
"""Kinds of evidence: a filled sentence, a path of the graph, a passage of a text, or a model that names no reason."""

# float32's precision: more digits differ between machines.
_DIGITS = 6


@attrs.frozen
class Evidence:
    """One reason for a triple that no graph holds.

    Attributes:
        kind: ``template`` (a sentence whose gap a model filled), ``path`` (triples that imply it), ``snippet`` (a
            passage that states it) or ``model`` (the score of a model that names no reason).
        text: The reason in words.
        source: Where it was read: a document, a file, a model; may be empty.
        score: Strength of the reason, in the measure of the method; higher is better.
        triples: Triples of the graph that the reason rests on.
    """

    kind: str
    text: str
    source: str = ""
    score: float = 0.0
    triples: tuple[Triple, ...] = ()

    def __attrs_post_init__(self) -> None:
        if self.kind not in EVIDENCE_KINDS:
            raise ValueError(f"evidence is one of {', '.join(EVIDENCE_KINDS)}, not {self.kind!r}")


@attrs.frozen
class Origin:
    """Where a triple comes from.

    Attributes:
        source: The data that the triple was read from, or concluded from, as ``KnowledgeGraph.source`` names it.
        confidence: 1 for a triple that the data hold, below 1 for a completed triple.
        by: Name of the completer; empty for a triple that the data hold.
        evidence: Reasons for a completed triple, best first.
    """

    source: str
    confidence: float = 1.0
    by: str = ""
    evidence: tuple[Evidence, ...] = ()

    def __attrs_post_init__(self) -> None:
        if not 0 <= self.confidence <= 1:
            raise ValueError(f"a confidence lies between 0 and 1, not at {self.confidence}")

    @property
    def provenance(self) -> str:
        """The origin as one text: the source, and before it the completer, if any."""
        return f"{self.by}:{self.source}" if self.by else self.source


class Completion(NamedTuple):
    """A triple that a graph lacks, as a completer proposes it.

    Attributes:
        triple: The triple.
        confidence: At least 0 and below 1; see ``confidence``.
        evidence: Reasons, best first.
    """

    triple: Triple
    confidence: float
    evidence: tuple[Evidence, ...] = ()


def confidence(value: float) -> float:
    """Round a confidence of a completer to six significant digits, at least 0 and below 1.

    Completers rank by the rounded value, so that the last bits of a floating-point sum decide no order. A completed
    triple never has the confidence of a stored triple.
    """
    most = 1 - float(f"1e-{_DIGITS}")
    return min(max(float(f"{float(value):.{_DIGITS}g}"), 0.0), most)


def written_confidence(value: float) -> float:
    """Round a confidence for people to read; below 1 stays below 1. Records keep six significant digits."""
    most = 1 - float(f"1e-{SCORE_DIGITS}")
    return 1.0 if value >= 1 else min(round(float(value), SCORE_DIGITS), most)
