"""Rows: the metrics of a method on one question, with the values that slices group by."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from srtk_plugin_evaluation.completion import Completed
from srtk_plugin_evaluation.curves import Ranks
from srtk_plugin_evaluation.link_scores import Share
from srtk_plugin_evaluation.selective_answers import Judged


@attrs.frozen
class Row:
    """The result of one method on one question.

    Attributes:
        id: Id of the question.
        metrics: Metric to value; None if it does not apply.
        failed: Whether the question ended in an error.
        links: ``given`` in the input, ``linked`` from the text, or ``none``.
        hops: Length of the shortest gold path, or None.
        walks: Whether the method returned paths.
        seconds: Time of the question in seconds, or None if not measured.
        text: Text of the question.
        ranks: Ranks of the gold, or None.
        paths: Gold paths as text.
        relations: Relations of each gold path, or of all gold triples.
        fields: Other fields of the question's record, as text.
        linking: Linking metric to its share; None without gold links.
        completion: Counts of a pattern question; None for other questions.
        topics: Number of mentions that are linked, or given as topics; None without links.
        judged: The method's answer as a whole, and how sure the method was; None without an answer.
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
    completion: Completed | None = attrs.field(default=None, hash=False)
    topics: int | None = None
    judged: Judged | None = None
