"""Pruning of known paths by a hop-wise search."""

from __future__ import annotations

from collections.abc import Sequence

from srtk_framework.roles import Explainable, HopChoice
from srtk_framework.values import END, HopState, Path, Question, RankedPath
from srtk_plugin_explaining.findings import Loss

_WINNERS = 3  # Enough to see what the scorer preferred.


def follow(search: Explainable, question: Question, paths: Sequence[RankedPath]) -> tuple[list[RankedPath], list[Loss]]:
    """Repeat the search for a question and record where it prunes given paths.

    Args:
        search: The expander.
        question: The question with the links that were used.
        paths: Paths to follow, without END.

    Returns:
        The paths that the search keeps, and one loss for each other path, in their order.
    """
    losses: dict[RankedPath, Loss] = {}
    state: HopState = search.start([question])[0]
    hop = 0
    while not state.done:
        choice, hop = search.choices([state])[0], hop + 1
        state = search.step([state])[0]
        for path in paths:
            wanted = _wanted(path.steps, hop)
            if path not in losses and wanted and (loss := _loss(path, wanted, choice, hop, False)):
                losses[path] = loss
    last = search.last_choices([state])[0]
    for path in paths:
        if path in losses:
            continue
        if len(path.steps) > hop:
            stopped = getattr(search, "variant", "") == "srtk"
            losses[path] = Loss(path, hop=hop + 1, setting="expander.variant" if stopped else "")
        elif loss := _loss(path, path.steps, last, hop, True):
            losses[path] = loss
    return [path for path in paths if path not in losses], [losses[path] for path in paths if path in losses]


def _wanted(steps: Path, hop: int) -> Path:
    """Return the prefix of a path that a hop must keep; empty after its end."""
    if len(steps) >= hop:
        return steps[:hop]
    return (*steps, END) if len(steps) + 1 == hop else ()


def _loss(path: RankedPath, wanted: Path, choice: HopChoice, hop: int, at_end: bool) -> Loss | None:
    """Return how a choice pruned a path, or None if it kept the path."""
    kept = [ranked for ranked, dropped in zip(choice.ranked, choice.dropped, strict=True) if not dropped]
    place = next(
        (i for i, ranked in enumerate(choice.ranked) if (ranked.entity, ranked.steps) == (path.entity, wanted)), None
    )
    if place is not None and not choice.dropped[place]:
        return None
    return Loss(
        path=path if place is None else RankedPath(path.entity, path.steps, choice.ranked[place].score),
        hop=hop,
        at_end=at_end,
        rank=None if place is None else place + 1,
        weighed=len(choice.ranked),
        kept=len(kept),
        needed=min((ranked.score for ranked in kept), default=None),
        setting="" if place is None else choice.dropped[place],
        winners=tuple(kept[:_WINNERS]),
    )


def best_loss(losses: Sequence[Loss]) -> Loss | None:
    """Return the loss at the latest hop, then with the best rank; None without losses."""

    def key(loss: Loss) -> tuple[int, int, float, Path, str]:
        hop = loss.hop or 0
        rank = float("inf") if loss.rank is None else loss.rank
        return (-int(loss.at_end), -hop, rank, loss.path.steps, loss.path.entity)

    return min(losses, key=key, default=None)
