"""Candidates of a beam at one hop or at its end, and the setting that dropped each of them, for ``srtk explain``."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from srtk_framework.graph import PathKey, path_order
from srtk_framework.roles import HopChoice
from srtk_framework.values import RankedPath
from srtk_plugin_sr.beam_state import OVERSAMPLING, BeamState, with_end


def path_key(path: RankedPath) -> PathKey:
    """Identify a path by its entity and its steps, whatever its score."""
    return path.entity, path.steps


def hop_paths(before: BeamState, after: BeamState) -> list[RankedPath]:
    """Return the paths that a hop kept, best first; a path that ended in this hop ends with END."""
    ended = [with_end(path) for path in after.finished[len(before.finished) :]]
    return sorted([*(item.path for item in after.active), *ended], key=path_order)


def hop_choice(
    by_score: Sequence[RankedPath],
    by_fan: Sequence[RankedPath] | None,
    kept: Collection[PathKey],
    near: Collection[PathKey],
    ended: Collection[PathKey],
    width: int,
) -> HopChoice:
    """Explain one hop.

    With a fan cost, only the best ``OVERSAMPLING * width`` continuations are followed and re-ranked. The others come
    after them, with scores from which no cost was subtracted.

    Args:
        by_score: Every continuation, best first, without a fan cost.
        by_fan: Every continuation, best first, with the fan cost; None where there is none.
        kept: Paths that the hop kept.
        near: Paths that it would have kept without ``search.hop_margin``.
        ended: Paths that it did not extend, because of ``search.long_width``.
        width: Paths kept at each hop.
    """
    ranked = list(by_score)
    if by_fan is not None:
        followed = {path_key(path) for path in by_score[: width * OVERSAMPLING]}
        weighed = [path for path in by_fan if path_key(path) in followed]
        ranked = [*weighed, *by_score[len(weighed) :]]
    best_by_score = {path_key(path) for path in by_score[:width]}
    dropped = []
    for rank, path in enumerate(ranked):
        if path_key(path) in kept:
            dropped.append("")
        elif (path.entity, path.steps[:-1]) in ended:
            dropped.append("expander.search.long_width")
        elif rank >= width:
            dropped.append("expander.search.fan_cost" if path_key(path) in best_by_score else "expander.width")
        else:
            dropped.append("expander.search.hop_margin" if path_key(path) in near else "budget.nodes")
    return HopChoice(tuple(ranked), tuple(dropped))


def final_choice(ranked: Sequence[RankedPath], read: Sequence[RankedPath], most: int, limit: str) -> HopChoice:
    """Explain which of the ranked paths are read at the end; ``limit`` names the setting that allows ``most``."""
    kept = {path_key(path) for path in read}
    dropped = tuple(
        "" if path_key(path) in kept else limit if rank >= most else "expander.search.margin"
        for rank, path in enumerate(ranked)
    )
    return HopChoice(tuple(ranked), dropped)
