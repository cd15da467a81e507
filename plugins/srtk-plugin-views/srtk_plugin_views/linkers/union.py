"""The ``union`` linker: the links of several linkers, merged by span and entity."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from typing import Literal

import attrs

from srtk_framework.roles import EntityLinker
from srtk_framework.values import (
    DriverError,
    Link,
    LinkList,
    SettingsError,
    above,
    at_least,
    each,
    link_order,
    not_empty,
    rounded,
    share,
)
from srtk_plugin_views.linkers.linker_calls import LinksOrError, all_failed, by_place, link_texts, with_failures

_log = logging.getLogger(__name__)

Mentions = dict[tuple[int, int] | None, list[Link]]
"""Links by span (None if unknown), best first."""

# The smallest score after rounding, so that a link that was found never scores 0.
LEAST = 0.0001


@attrs.define
class _Found:
    """One entity at one span, with the weighted score of each linker that found it."""

    link: Link
    scores: list[float] = attrs.field(factory=list)


@attrs.define(eq=False)
class UnionLinker(EntityLinker):
    """Merge the links of several linkers; the same entity at the same span is one link.

    A linker that fails or times out is skipped for those texts, with a warning in the log and an entry in the trace. A
    text is an error if all linkers fail on it.

    Attributes:
        linkers: The linkers; an entity has the name that the first linker gives it.
        weights: Weight of each linker, relative to the greatest; equal by default.
        combine: any: 1 - product of (1 - weight * score), so agreement raises a score. mean: weighted mean, 0 for a
            linker without the link. max: greatest weighted score.
        overlaps: keep: all mentions. best: of overlapping mentions the best, then the longest.
        n_best: Maximum number of entities of one mention; unlimited by default.
        min_score: Minimum score of a merged link.
        required: Whether the failure of a linker ends the run.
    """

    linkers: Sequence[EntityLinker] = attrs.field(validator=not_empty("name at least one"))
    weights: Sequence[float] = attrs.field(default=(), validator=each(above(0, "remove a linker that must not count")))
    combine: Literal["any", "mean", "max"] = "any"
    overlaps: Literal["keep", "best"] = "keep"
    n_best: int | None = attrs.field(default=None, validator=at_least(1))
    min_score: float = attrs.field(default=0.0, validator=share)
    required: bool = False
    _weights: tuple[float, ...] = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        if self.weights and len(self.weights) != len(self.linkers):
            text = f"there are {len(self.linkers)} linkers and {len(self.weights)} weights; give one for each"
            raise SettingsError([(("weights",), text)])
        most = max(self.weights, default=1.0)
        self._weights = tuple(weight / most for weight in self.weights) or (1.0,) * len(self.linkers)

    def fingerprint(self) -> str:
        """Identify the linkers and how they are merged."""
        inner = ", ".join(linker.fingerprint() for linker in self.linkers)
        how = (tuple(self.weights), self.combine, self.overlaps, self.n_best, self.min_score, self.required)
        return f"UnionLinker([{inner}], {how})"

    def link(self, texts: Sequence[str]) -> list[LinkList]:
        """Link with all linkers and merge the links of each text."""
        filled = [place for place, text in enumerate(texts) if text.strip()]
        some = [texts[place] for place in filled]
        results = [link_texts(linker, some, self.required, _log) for linker in self.linkers]
        done = [LinkList() for _ in texts]
        for place, row in zip(filled, zip(*results, strict=True), strict=True):
            done[place] = self._merge(row)
        return done

    def suggest(self, texts: Sequence[str], limit: int) -> list[list[Link]]:
        """Return the best suggestions of all linkers, each entity once."""
        found = []
        for rows in zip(*(linker.suggest(texts, limit) for linker in self.linkers), strict=True):
            best: dict[str, Link] = {}
            for link in (link for row in rows for link in row):
                if link.entity not in best or best[link.entity].score < link.score:
                    best[link.entity] = link
            found.append(sorted(best.values(), key=link_order)[:limit])
        return found

    def _merge(self, row: Sequence[LinksOrError]) -> LinkList:
        failures = [result for result in row if isinstance(result, DriverError)]
        if len(failures) == len(self.linkers):
            raise all_failed(failures)
        found: dict[tuple[str, int | None, int | None], _Found] = {}
        total = 0.0
        for weight, result in zip(self._weights, row, strict=True):
            if isinstance(result, DriverError):
                continue
            total += weight
            for link in result:
                known = found.setdefault((link.entity, link.start, link.end), _Found(link))
                known.scores.append(weight * link.score)
                if not known.link.name:
                    known.link = attrs.evolve(known.link, name=link.name)
        links = [attrs.evolve(one.link, score=self._score(one.scores, total)) for one in found.values()]
        links = [link for link in links if link.score >= self.min_score]
        return with_failures(self.linkers, row, self._chosen(sorted(links, key=by_place)))

    def _score(self, scores: Sequence[float], total: float) -> float:
        if self.combine == "any":
            score = 1.0 - math.prod(1.0 - score for score in scores)
        else:
            score = max(scores) if self.combine == "max" else sum(scores) / total
        return min(1.0, max(LEAST, rounded(score)))

    def _chosen(self, links: Sequence[Link]) -> list[Link]:
        """Keep the best of overlapping mentions, and the best entities of each."""
        mentions: Mentions = {}
        for link in links:
            place = None if link.start is None or link.end is None else (link.start, link.end)
            mentions.setdefault(place, []).append(link)
        if self.overlaps == "best":
            mentions = _apart(mentions)
        return sorted((link for row in mentions.values() for link in row[: self.n_best]), key=by_place)


def _apart(mentions: Mentions) -> Mentions:
    """Keep mentions without overlap: the best score first, then the longest, then the first."""
    kept: Mentions = {place: row for place, row in mentions.items() if place is None}
    placed = [(place, row) for place, row in mentions.items() if place is not None]
    chosen: list[tuple[int, int]] = []
    for place, row in sorted(placed, key=lambda item: (-item[1][0].score, item[0][0] - item[0][1], item[0])):
        if all(place[1] <= start or place[0] >= end for start, end in chosen):
            chosen.append(place)
            kept[place] = row
    return kept
