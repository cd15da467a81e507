"""The ``union`` linker: what several linkers find, merged by span and entity."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from typing import Literal

import attrs

from srtk_framework.roles import EntityLinker
from srtk_framework.values import DriverError, Link, LinkList, rounded
from srtk_plugin_local.linker_views.linker_calls import Answer, all_failed, ask, by_place, told

_log = logging.getLogger(__name__)

Mentions = dict[tuple[int, int] | None, list[Link]]
"""Span, or None where it is not known, to the links there, best first."""

LEAST = 0.0001
"""The smallest score after rounding."""


@attrs.define
class _Found:
    """One entity at one span, with the weighted score of each linker that says so."""

    link: Link
    scores: list[float] = attrs.field(factory=list)


@attrs.define(eq=False)
class UnionLinker(EntityLinker):
    """Put together what several linkers find; the same entity at the same span is one link.

    A linker that fails or times out is left out for those texts, which is logged as a warning and told in the trace; a
    text for which all fail is an error.

    Attributes:
        linkers: The linkers; the name of an entity is that of the first that has one.
        weights: How much each linker is trusted, in their order; the greatest counts as 1. All alike when left out.
        combine: any is 1 minus the product of (1 - weight * score), so that agreement raises a score; mean is the
            weighted mean, where a linker that does not find the link counts as 0; max is the greatest weighted score.
        overlaps: keep all mentions; or best, of overlapping ones that with the greatest score, then the longest.
        n_best: Most entities for one mention; all when left out.
        min_score: Links with a lower score after merging are dropped.
        required: Whether the failure of a linker ends the run.
    """

    linkers: Sequence[EntityLinker]
    weights: Sequence[float] = ()
    combine: Literal["any", "mean", "max"] = "any"
    overlaps: Literal["keep", "best"] = "keep"
    n_best: int | None = None
    min_score: float = 0.0
    required: bool = False
    _weights: tuple[float, ...] = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        if not self.linkers:
            raise ValueError("linkers is empty; name at least one")
        if self.weights and len(self.weights) != len(self.linkers):
            raise ValueError(
                f"there are {len(self.linkers)} linkers and {len(self.weights)} weights; give one for each"
            )
        if any(not weight > 0 for weight in self.weights):
            raise ValueError("weights must be above 0; remove a linker that shall not count")
        if self.n_best is not None and self.n_best < 1:
            raise ValueError(f"n_best must be at least 1, not {self.n_best}")
        if not 0 <= self.min_score <= 1:
            raise ValueError(f"min_score must be from 0 to 1, not {self.min_score}")
        most = max(self.weights, default=1.0)
        self._weights = tuple(weight / most for weight in self.weights) or (1.0,) * len(self.linkers)

    def fingerprint(self) -> str:
        """Identify the linkers and how they are merged."""
        inner = ", ".join(linker.fingerprint() for linker in self.linkers)
        how = (tuple(self.weights), self.combine, self.overlaps, self.n_best, self.min_score, self.required)
        return f"UnionLinker([{inner}], {how})"

    def link(self, texts: Sequence[str]) -> list[LinkList]:
        """Ask all linkers and merge their links text by text."""
        asked = [place for place, text in enumerate(texts) if text.strip()]
        some = [texts[place] for place in asked]
        answers = [ask(linker, some, self.required, _log) for linker in self.linkers]
        done = [LinkList() for _ in texts]
        for place, row in zip(asked, zip(*answers, strict=True), strict=True):
            done[place] = self._merge(row)
        return done

    def _merge(self, row: Sequence[Answer]) -> LinkList:
        failures = [answer for answer in row if isinstance(answer, DriverError)]
        if len(failures) == len(self.linkers):
            raise all_failed(failures)
        found: dict[tuple[str, int | None, int | None], _Found] = {}
        total = 0.0
        for weight, answer in zip(self._weights, row, strict=True):
            if isinstance(answer, DriverError):
                continue
            total += weight
            for link in answer:
                known = found.setdefault((link.entity, link.start, link.end), _Found(link))
                known.scores.append(weight * link.score)
                if not known.link.name:
                    known.link = attrs.evolve(known.link, name=link.name)
        links = [attrs.evolve(one.link, score=self._score(one.scores, total)) for one in found.values()]
        links = [link for link in links if link.score >= self.min_score]
        return told(self.linkers, row, self._chosen(sorted(links, key=by_place)))

    def _score(self, scores: Sequence[float], total: float) -> float:
        if self.combine == "any":
            score = 1.0 - math.prod(1.0 - score for score in scores)
        else:
            score = max(scores) if self.combine == "max" else sum(scores) / total
        return min(1.0, max(LEAST, rounded(score)))

    def _chosen(self, links: Sequence[Link]) -> list[Link]:
        """Keep the best mentions of overlapping ones, and the best entities of each."""
        mentions: Mentions = {}
        for link in links:
            place = None if link.start is None or link.end is None else (link.start, link.end)
            mentions.setdefault(place, []).append(link)
        if self.overlaps == "best":
            mentions = _apart(mentions)
        return sorted((link for row in mentions.values() for link in row[: self.n_best]), key=by_place)


def _apart(mentions: Mentions) -> Mentions:
    """Keep mentions that do not overlap: best score first, then the longest, then the first."""
    kept: Mentions = {place: row for place, row in mentions.items() if place is None}
    placed = [(place, row) for place, row in mentions.items() if place is not None]
    chosen: list[tuple[int, int]] = []
    for place, row in sorted(placed, key=lambda item: (-item[1][0].score, item[0][0] - item[0][1], item[0])):
        if all(place[1] <= start or place[0] >= end for start, end in chosen):
            chosen.append(place)
            kept[place] = row
    return kept
