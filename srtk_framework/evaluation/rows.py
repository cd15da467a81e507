"""What the report needs of one question: its metrics, and what questions are grouped by."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from srtk_framework.evaluation.curves import Ranks
from srtk_framework.evaluation.link_scores import Share


@attrs.frozen
class Row:
    """What one method did on one question.

    Attributes:
        id: Of the question.
        metrics: Metric to value; None where it does not apply.
        failed: Whether the question ended in an error.
        links: ``given`` with the question, ``linked`` from its text, or ``none``.
        hops: Steps of its shortest gold path, or None.
        walks: Whether the method reported paths.
        seconds: Time that it took, or None when not measured.
        text: Of the question.
        ranks: Where in the ranking the gold stands, or None.
        paths: Gold paths as text.
        relations: Of each gold path, or of all gold triples.
        fields: Further fields of the question's record, as texts.
        linking: Metric of its links to what is right, and of how many; None without gold links.
    """

    id: str
    metrics: Mapping[str, float | None] = attrs.field(hash=False)
    failed: bool = False
    links: str = "none"
    hops: int | None = None
    walks: bool = False
    seconds: float | None = None
    text: str = ""
    ranks: Ranks | None = None
    paths: tuple[tuple[str, ...], ...] = ()
    relations: tuple[tuple[str, ...], ...] = ()
    fields: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict, hash=False)
    linking: Mapping[str, Share] | None = attrs.field(default=None, hash=False)
