"""What completers answered to patterns, and what a ranking of all completions by confidence is worth."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.records import dumps

DRAWS = 1000


@attrs.frozen
class Answered:
    """What a completer answered to a pattern.

    Attributes:
        seed: Seed of the hidden triples.
        end: Which end is open.
        completer: Name of the completer.
        pattern: The pattern, written out.
        relation: Its relation.
        kind: Cardinality of the relation (`1-1`; `1-n` either way; `n-m`).
        sought: Number of hidden triples of the pattern.
        pieces: Pieces of the shortest name that is sought.
        words: Words of the longest name that is sought.
        first: The first completion; empty without any.
        sure: Confidences of the first completions.
        right: Which of them are hidden triples.
    """

    seed: int
    end: str
    completer: str
    pattern: str
    relation: str
    kind: str
    sought: int
    pieces: int
    words: int
    first: str
    sure: tuple[float, ...] = attrs.field(converter=tuple)
    right: tuple[bool, ...] = attrs.field(converter=tuple)


def write(file: Path, some: Iterable[Answered]) -> None:
    """Write answers, a line of JSON each."""
    file.write_text("".join(dumps(attrs.asdict(one)) + "\n" for one in some), encoding="utf-8")


def read(file: Path) -> list[Answered]:
    """Read what ``write`` wrote."""
    return [Answered(**json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines()]


class Curve:
    """The answers of some patterns, ranked by their confidence.

    Args:
        some: Patterns and answers.
    """

    def __init__(self, some: Sequence[Answered]) -> None:
        sure = np.array([value for one in some for value in one.sure], dtype=np.float64)
        order = np.argsort(-sure, kind="stable")
        self.right = np.array([value for one in some for value in one.right], dtype=np.float64)[order]
        self.of = np.repeat(np.arange(len(some)), [len(one.sure) for one in some])[order]
        # Equal confidences are cut together.
        self.ends = np.flatnonzero(np.append(np.diff(sure[order]) != 0, True)) if len(sure) else np.array([], dtype=int)
        self.sought = np.array([one.sought for one in some], dtype=np.float64)

    def read(self, times: npt.NDArray[np.float64]) -> tuple[float, float]:
        """Return precision at recall .05 and recall at precision .5, each pattern being there some times."""
        weights, total = times[self.of], float(times @ self.sought)
        good = np.cumsum(weights * self.right)[self.ends]
        told = np.cumsum(weights)[self.ends]
        reached, halves = np.flatnonzero(good >= 0.05 * total), np.flatnonzero((good >= 0.5 * told) & (told > 0))
        precision = good[reached[0]] / max(told[reached[0]], 1.0) if len(reached) else np.nan
        return float(precision), float(good[halves[-1]] / total) if len(halves) else 0.0

    def area(self, times: npt.NDArray[np.float64]) -> float:
        """Return average precision, the area under precision and recall; what is not found counts as missed."""
        weights = times[self.of]
        good, told = np.cumsum(weights * self.right)[self.ends], np.cumsum(weights)[self.ends]
        gained = np.diff(good, prepend=0.0)
        return float((gained * good / np.maximum(told, 1e-9)).sum() / (times @ self.sought))


def drawn(count: int) -> npt.NDArray[np.float64]:
    """Return how often each pattern is drawn, in rows of draws; the first row has each once."""
    random = np.random.default_rng(0)
    draws = random.multinomial(count, np.full(count, 1 / count), DRAWS)
    return np.vstack([np.ones((1, count)), draws])


def figures(some: Sequence[Answered]) -> dict[str, Any]:
    """Return what a ranking of completions is worth, with intervals."""
    curve, times = Curve(some), drawn(len(some))
    precision, recall = np.array([curve.read(row) for row in times]).T
    first = {
        name: mean(np.array([one.right[:1] == (True,) for one in some if least <= one.pieces <= most], dtype=float))
        for name, least, most in (
            ("P@1", 0, 99),
            ("P@1, one piece", 1, 1),
            ("P@1, two", 2, 2),
            ("P@1, three", 3, 3),
            ("P@1, two or three", 2, 3),
        )
    }
    return {
        "queries": len(some),
        "found": round(float(curve.right.sum() / curve.sought.sum()), 4),
        "precision at recall .05": interval(precision),
        "recall at precision .5": interval(recall),
        **first,
    }


def differences(mine: Sequence[Answered], others: Sequence[Answered]) -> dict[str, Any]:
    """Return what is between two completers that were asked the same patterns in the same order."""
    ours, theirs, times = Curve(mine), Curve(others), drawn(len(mine))
    rows = np.array([np.subtract(ours.read(row), theirs.read(row)) for row in times]).T
    first = [
        float(one.right[:1] == (True,)) - (other.right[:1] == (True,)) for one, other in zip(mine, others, strict=True)
    ]
    return {
        "precision at recall .05": interval(rows[0]),
        "recall at precision .5": interval(rows[1]),
        "P@1": mean(np.array(first)),
    }


def sets(some: Sequence[Answered]) -> dict[str, Any]:
    """Return precision and recall of the answers of each pattern as a set, and their intervals."""
    recall = np.array([sum(one.right) / one.sought for one in some])
    precision = np.array([sum(one.right) / len(one.right) for one in some if one.right])
    return {
        "queries": len(some),
        "answered": len(precision),
        "precision": mean(precision),
        "recall": mean(recall),
        "P@1": mean(np.array([one.right[:1] == (True,) for one in some], dtype=float)),
    }


def interval(values: npt.NDArray[np.float64]) -> list[float] | None:
    """Return the first value and the interval of 95 % of the others; None where most draws do not get so far."""
    if np.isnan(values[0]):
        return None
    return [round(float(one), 4) for one in (values[0], *np.nanquantile(values[1:], [0.025, 0.975]))]


def mean(values: npt.NDArray[np.float64]) -> list[float] | None:
    """Return a mean over patterns and its interval."""
    if not len(values):
        return None
    random = np.random.default_rng(0)
    means = values[random.integers(0, len(values), (DRAWS, len(values)))].mean(axis=1)
    return [round(float(one), 4) for one in (values.mean(), *np.quantile(means, [0.025, 0.975]))]
