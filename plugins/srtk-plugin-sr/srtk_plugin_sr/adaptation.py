"""Adaptation of a path scorer's encoder to a graph: training on ranked paths, and a blend of weights with the start.

A training on made questions can forget more than it learns. So half of the target is the ranking of the weights
before. Afterwards the weights are led back towards the start, and stay there if no blend ranks held-out questions
better by more than chance alone gives.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from srtk_plugin_sr.fit_settings import ScorerFitSettings
from srtk_plugin_sr.samples import IndexedSample, TrainingSet
from srtk_plugin_sr.scorer_form import ScorerForm
from srtk_plugin_sr.trainer import blend_weights, train_encoder, weights_of
from srtk_plugin_sr.vectors import unit

SHARES = (0.3, 0.5, 0.7, 1.0)
"""How far from the start to the trained weights a blend may lie."""
# Part of the target that is the ranking of the start, against forgetting: an earlier adaptation without it lost
# coverage on the demo.
DISTILLED = 0.5


@attrs.frozen
class Adapted:
    """Result of an adaptation; accuracies are shares of held-out questions with a right path first.

    ``blends`` are the accuracies by share of the way; of these ``share`` is kept, 0 for the weights as they were.
    ``updates`` led to the best trained weights.
    """

    start: float
    trained: float
    blends: Mapping[float, float] = attrs.field(hash=False)
    share: float
    updates: int


def adapt(
    encoder: Any,
    learning: TrainingSet,
    held_out: TrainingSet,
    form: ScorerForm,
    settings: ScorerFitSettings,
    folder: FilePath,
    seed: int,
) -> Adapted:
    """Train an encoder, and blend it with its start; it ends with the weights that are kept.

    Args:
        encoder: An open encoder that can be trained.
        learning: Ranked paths to learn from.
        held_out: Ranked paths by which the training ends and a blend is chosen.
        form: Form of the scores; its temperature counts.
        settings: Settings of the training.
        folder: Folder of the training, which is resumed there.
        seed: Seed of the order of samples and of dropout.

    Raises:
        DriverError: If there is no sample, or the loss is not finite.
    """
    network = encoder.learner()
    first = weights_of(network)

    def ranked() -> npt.NDArray[np.bool_]:
        encoder.take(network)
        return hits(encoder, held_out, form.temperature)

    def validated() -> dict[str, float]:
        return {"accuracy": float(ranked().mean())}

    start = ranked()
    learning = softened(encoder, learning, form.temperature, DISTILLED)
    figures = train_encoder(
        network, learning, settings, temperature=form.temperature, validate=validated, folder=folder, seed=seed
    )
    last = weights_of(network)
    blends = {}
    for share in SHARES:
        blend_weights(network, first, last, share)
        blends[share] = ranked()
    share = best_blend(blends)
    share = share if surely_better(blends[share], start) else 0.0
    blend_weights(network, first, last, share)
    encoder.take(network)
    shares = {share: float(right.mean()) for share, right in blends.items()}
    return Adapted(float(start.mean()), figures["accuracy"], shares, share, int(figures["steps"]))


def best_blend(blends: Mapping[float, npt.NDArray[np.bool_]]) -> float:
    """Return the share whose blend ranks best: whether each question is right [questions]; of equal ones the least."""
    return max(blends, key=lambda share: (blends[share].mean(), -share))


def surely_better(after: npt.NDArray[np.bool_], before: npt.NDArray[np.bool_]) -> bool:
    """Return whether a ranking is right more often than another, by more than the standard error of the difference.

    Chance alone gives either ranking about half of the questions that a single ranking has right (McNemar 1947). Both
    arrays hold whether each question is right [questions].
    """
    gained, lost = int((after & ~before).sum()), int((before & ~after).sum())
    return gained - lost > math.sqrt(gained + lost)


def softened(encoder: Any, rankings: TrainingSet, temperature: float, share: float) -> TrainingSet:
    """Mix the targets with the probabilities that an encoder gives now, so that training forgets less of them.

    The weights of the start are the teacher (learning without forgetting, Li and Hoiem 2016). The right candidates
    share their part as the teacher rates them; ``share`` is the teacher's part of the target.
    """
    made = []
    for sample, logits in _logits(encoder, rankings, temperature):
        before = np.exp(logits - logits.max())
        before /= before.sum()
        right = np.where(np.array(sample.targets) > 0, before, 0.0)
        mixed = (1 - share) * right / right.sum() + share * before
        made.append(attrs.evolve(sample, targets=tuple(mixed.tolist())))
    return TrainingSet(rankings.texts, made)


def hits(encoder: Any, rankings: TrainingSet, temperature: float) -> npt.NDArray[np.bool_]:
    """Return for each sample whether a right candidate scores highest [samples]."""
    return np.array(
        [sample.targets[int(logits.argmax())] > 0 for sample, logits in _logits(encoder, rankings, temperature)]
    )


def _logits(
    encoder: Any, rankings: TrainingSet, temperature: float
) -> Iterator[tuple[IndexedSample, npt.NDArray[np.float64]]]:
    vectors = unit(encoder.encode(rankings.texts)).astype(np.float64)
    for sample in rankings.samples:
        logits = vectors[list(sample.candidates)] @ vectors[sample.query] / temperature
        yield sample, logits - np.array(sample.costs)
