"""Held-out questions: cut them as in retrieval and measure, and fit the line that makes logits probabilities."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.values import Triple
from srtk_plugin_sr.cutoff import best_count, connected_order
from srtk_plugin_sr.head import LEAST, Array, Rows


@attrs.frozen(eq=False)
class Lot:
    """The candidates of one question, ready to learn from.

    Attributes:
        name: Id of the question.
        text: Its words.
        rows: What the head reads.
        targets: How right each candidate is, from 0 to 1.
        total: Sum over all right triples, those that were not found included.
        triples: The candidates.
        starts: The linked nodes.
    """

    name: str
    text: str
    rows: Rows
    targets: npt.NDArray[np.float32]
    total: float
    triples: Sequence[Triple]
    starts: Sequence[str]


@attrs.frozen
class Rule:
    """How many triples of a question are kept.

    Attributes:
        keep: ``f1``, ``threshold`` or ``all``.
        beta: Weight of recall against precision.
    """

    keep: str
    beta: float

    def count(self, scores: Sequence[float], threshold: float) -> int:
        """Count the first of falling scores (logarithms of probabilities) that are kept; never none of some."""
        if self.keep == "all":
            return len(scores)
        found = np.exp(np.asarray(scores, dtype=np.float64))
        if self.keep == "f1":
            return best_count(found.tolist(), self.beta)
        return max(1, int((found >= threshold).sum())) if len(scores) else 0


def measured(lots: Sequence[Lot], scored: Sequence[Sequence[float]], rule: Rule, threshold: float) -> dict[str, float]:
    """Average F, recall, precision and size over questions that are ordered and cut as in retrieval."""
    rows = []
    for lot, scores in zip(lots, scored, strict=True):
        order, lifted = connected_order(lot.triples, scores, lot.starts)
        kept = rule.count(lifted, threshold)
        hits = float(lot.targets[order[:kept]].sum())
        both = kept + rule.beta**2 * lot.total
        rows.append(
            (
                (1 + rule.beta**2) * hits / both if both else 0.0,
                hits / lot.total if lot.total else 0.0,
                hits / kept if kept else 0.0,
                float(kept),
            )
        )
    means = np.mean(np.array(rows), axis=0).tolist()
    return dict(zip(("f", "recall", "precision", "triples"), means, strict=True))


def fitted_line(lots: Sequence[Lot], logits: Sequence[Array]) -> tuple[float, float]:
    """Fit slope and offset that make logits probabilities (Platt 1999), by Newton's method with a weak prior."""
    x = np.concatenate(list(logits))
    y = np.concatenate([lot.targets for lot in lots]).astype(np.float64)
    weight = np.concatenate([np.full(len(lot.targets), 1.0 / max(1, len(lot.targets))) for lot in lots])
    design = np.stack([x, np.ones_like(x)], axis=1)
    line = prior = np.array([1.0, 0.0])
    for _ in range(50):
        p = np.exp(-np.logaddexp(0.0, -(design @ line)))
        slope = design.T @ (weight * (p - y)) + 0.1 * (line - prior)
        bend = (design * (weight * p * (1 - p))[:, None]).T @ design + 0.1 * np.eye(2)
        step = np.linalg.solve(bend, slope)
        line = line - np.clip(step, -1.0, 1.0)
        if np.abs(step).max() < 1e-9:
            break
    return max(0.05, round(float(line[0]), 6)), round(float(line[1]), 6)


def held_loss(lots: Sequence[Lot], scored: Sequence[Sequence[float]]) -> float:
    """Return the mean cross-entropy of probabilities, given as logarithms; each question weighs the same."""
    losses = []
    for lot, scores in zip(lots, scored, strict=True):
        logs = np.asarray(scores, dtype=np.float64)
        others = np.log(np.maximum(-np.expm1(logs), LEAST))
        targets = lot.targets.astype(np.float64)
        losses.append(-float(np.mean(targets * logs + (1 - targets) * others)))
    return float(np.mean(losses))
