"""Training of the head of ``rerank``, and calibration of its probabilities on held-out questions.

Importing it imports lightning and torch, which takes seconds.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any, ClassVar

import attrs
import numpy as np
import numpy.typing as npt
import torch
from srtk_plugin_training import fit, quiet_lightning
from srtk_plugin_training.learner import Learner

from srtk_framework.values import DriverError, Triple
from srtk_plugin_sr.cutoff import best_count, connected_order
from srtk_plugin_sr.fit_settings import HeadFitSettings
from srtk_plugin_sr.head import LEAST, Array, Head, HeadInput, input_matrix, input_width, log_probabilities

# With fewer held-out questions, all questions serve for training and for selection.
_FEWEST_HELD = 10
# Share of the questions that select the weights and calibrate: more would leave too few to learn from, as a head is
# often trained on a few hundred.
_HELD = 0.15
# SubgraphRAG's triple scorer is as small; the text vectors are frozen and hold the knowledge.
_DROPOUT = 0.2
# AdamW's default.
_WEIGHT_DECAY = 0.01
_LAYERS = {"inner": 1, "outer": 4}
"""Places of the layers with weights in the network."""


@attrs.frozen(eq=False)
class TrainingQuestion:
    """Candidates of one question, ready for training.

    ``targets`` has the quality of each candidate, from 0 to 1, and ``total`` the sum over all needed triples, found or
    not. ``starts`` are the linked nodes.
    """

    name: str
    text: str
    given: HeadInput
    targets: npt.NDArray[np.float32]
    total: float
    triples: Sequence[Triple]
    starts: Sequence[str]


def train_head(
    questions: Sequence[TrainingQuestion],
    vectors: npt.NDArray[np.float32],
    settings: HeadFitSettings,
    beta: float,
    reads: Mapping[str, Any],
    folder: FilePath,
    seed: int,
) -> tuple[Head, dict[str, float]]:
    """Train a head on questions with candidates.

    Args:
        questions: Questions in a fixed order.
        vectors: Unit vectors of the texts [texts, d].
        settings: Settings of the training.
        beta: Weight of recall against precision where the rankings of held-out questions are cut.
        reads: Settings and encoder of the head's input.
        folder: Folder for the log and the checkpoint; an interrupted training in this folder is resumed.
        seed: Seed of weights, order and dropout.

    Returns:
        The best head, and its figures on the held-out questions.

    Raises:
        DriverError: If no candidate is needed, or the loss is not finite.
    """
    if not any(question.targets.any() for question in questions):
        raise DriverError(
            f"the inner expander found none of the needed triples of {len(questions)} questions;"
            " give it more width, depth or budget, or use other examples"
        )
    held = [question for question in questions if _draw(question.text, seed) < _HELD]
    trained = [question for question in questions if _draw(question.text, seed) >= _HELD]
    if len(held) < _FEWEST_HELD or not any(question.targets.any() for question in trained):
        held = trained = list(questions)
    features = np.concatenate([question.given.features for question in trained])
    norm = {"mean": features.mean(axis=0), "spread": np.maximum(features.std(axis=0), 1e-3)}
    with quiet_lightning():
        module = HeadModule(trained, held, vectors, norm, settings, beta, folder, seed)
        best = fit(module, folder, None, accelerator="cpu")
    weights = {name: values.numpy().astype(np.float64) for name, values in best.items()}
    scaling = module.scaling(weights)
    head = Head({**weights, **norm}, *scaling, reads)
    return head, {
        **{name: value for name, value in module.figures.items() if name.startswith("held_") and name != "held_loss"},
        "questions": float(len(trained)),
        "best_epoch": module.figures["epochs"],
    }


def _draw(text: str, seed: int) -> float:
    """Return a number from 0 to 1 that depends on the words of a question, so that equal texts stay together."""
    # Questions of other programs may hold lone surrogates, which UTF-8 refuses.
    digest = hashlib.sha256(f"held-out {seed}\0{' '.join(text.split())}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8]) / 2**64


class HeadModule(Learner):
    """The network of a head, which learns the needed triples of questions; all questions have equal weight.

    ``held`` are the questions that select the best weights, the same as ``trained`` where there are too few for both.
    ``norm`` has mean and standard deviation of the features.
    """

    # F of few held-out questions moves in steps of about this size.
    least_gain: ClassVar[float] = 1e-4
    monitor: ClassVar[str] = "held_f"
    state: ClassVar[tuple[str, ...]] = (*Learner.state, "least_loss")

    def __init__(
        self,
        trained: Sequence[TrainingQuestion],
        held: Sequence[TrainingQuestion],
        vectors: npt.NDArray[np.float32],
        norm: Mapping[str, Array],
        settings: HeadFitSettings,
        beta: float,
        folder: FilePath,
        seed: int,
    ) -> None:
        super().__init__(settings, folder, seed)
        self.least_loss = math.inf
        self._trained, self._held, self._vectors, self._norm, self._beta = trained, held, vectors, norm, beta
        given = trained[0].given
        width = input_width(vectors.shape[1], given.features.shape[1])
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.network = torch.nn.Sequential(
                torch.nn.Dropout(_DROPOUT),
                torch.nn.Linear(width, settings.hidden),
                torch.nn.ReLU(),
                torch.nn.Dropout(_DROPOUT),
                torch.nn.Linear(settings.hidden, 1),
            )

    def batches(self) -> list[list[TrainingQuestion]]:
        """Return the batches of this epoch."""
        order = np.random.default_rng((self._seed, self.current_epoch)).permutation(len(self._trained))
        size = self._settings.batch_size
        return [[self._trained[i] for i in order[start : start + size]] for start in range(0, len(order), size)]

    def on_train_epoch_start(self) -> None:
        """Seed by the epoch alone, so that a resumed training computes the same as an uninterrupted training."""
        super().on_train_epoch_start()
        for group in self.trainer.optimizers[0].param_groups:
            group["lr"] = self._settings.learning_rate * (1.0 - 0.9 * self.current_epoch / self._settings.epochs)
        # A prime apart, so that no epochs of two small seeds share their dropout.
        torch.manual_seed(self._seed * 100_003 + self.current_epoch + 1)

    def loss_of(self, batch: list[TrainingQuestion], number: int) -> tuple[torch.Tensor, int]:
        """Return the mean loss of the questions of a batch, whatever their numbers of candidates."""
        mean, spread = self._norm["mean"], self._norm["spread"]
        rows = np.concatenate([input_matrix(self._vectors, question.given, mean, spread) for question in batch])
        support = torch.from_numpy(np.concatenate([question.given.support for question in batch])).float()
        targets = torch.from_numpy(np.concatenate([question.targets for question in batch]))
        sizes = [len(question.triples) for question in batch]
        weight = torch.cat([torch.full((size,), 1.0 / size) for size in sizes]) / len(batch)
        losses = torch.nn.functional.binary_cross_entropy_with_logits(
            self.network(torch.from_numpy(rows))[:, 0] + support, targets, reduction="none"
        )
        return (losses * weight).sum(), len(batch)

    def fault(self, batch: list[TrainingQuestion], what: str) -> str:
        """Write the questions of a batch to a file, and name it."""
        file = self._folder / "broken-batch.json"
        file.write_text(json.dumps([question.name for question in batch]) + "\n", encoding="utf-8")
        return f"{super().fault(batch, what)} (the questions of the batch are in {file})"

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Return AdamW, whose learning rate falls with each epoch."""
        return torch.optim.AdamW(self.network.parameters(), lr=self._settings.learning_rate, weight_decay=_WEIGHT_DECAY)

    def weights(self) -> Mapping[str, torch.Tensor]:
        """Return the weights of the layers, by name."""
        found: dict[str, torch.Tensor] = {}
        for name, place in _LAYERS.items():
            layer: Any = self.network[place]
            found |= {name: layer.weight, f"{name}_bias": layer.bias}
        return found

    def scaling(self, weights: Mapping[str, Array]) -> tuple[float, float]:
        """Return slope and offset of Platt scaling for some weights.

        Logits of questions that were trained on are overconfident, so they are not used for calibration.
        """
        return (1.0, 0.0) if self._held is self._trained else platt_scaling(self._held, self._logits(weights))

    def _logits(self, weights: Mapping[str, Array]) -> list[Array]:
        head = Head({**weights, **self._norm}, 1.0, 0.0, {})
        return [head.logits(self._vectors, question.given) for question in self._held]

    def validated(self) -> dict[str, float]:
        """Return means over held-out questions that are ordered and cut as in retrieval, and their loss."""
        weights = {name: values.detach().numpy().astype(np.float64) for name, values in self.weights().items()}
        scaling = self.scaling(weights)
        scored = [log_probabilities(row, *scaling) for row in self._logits(weights)]
        return {**mean_f(self._held, scored, self._beta), "held_loss": mean_loss(self._held, scored)}

    def improves(self, figures: Mapping[str, float]) -> bool:
        """Compare by F, and where F is equal by the loss: a confident ranking is cut well on other questions too."""
        gain, loss = figures["held_f"] - self.best, figures["held_loss"]
        if not (gain > self.least_gain or (abs(gain) <= self.least_gain and loss < self.least_loss)):
            return False
        self.best, self.least_loss = figures["held_f"], loss
        return True


def mean_f(questions: Sequence[TrainingQuestion], scored: Sequence[Sequence[float]], beta: float) -> dict[str, float]:
    """Return means of F, recall, precision and size over questions that are ordered and cut as in retrieval.

    ``scored`` has the logarithms of the candidates' probabilities.
    """
    rows = []
    for question, scores in zip(questions, scored, strict=True):
        order, raised = connected_order(question.triples, scores, question.starts)
        kept = best_count(raised, beta)
        hits = float(question.targets[order[:kept]].sum())
        both = kept + beta**2 * question.total
        rows.append(
            (
                (1 + beta**2) * hits / both if both else 0.0,
                hits / question.total if question.total else 0.0,
                hits / kept if kept else 0.0,
                float(kept),
            )
        )
    means = np.mean(np.array(rows), axis=0).tolist()
    return dict(zip(("held_f", "held_recall", "held_precision", "held_triples"), means, strict=True))


def platt_scaling(questions: Sequence[TrainingQuestion], logits: Sequence[Array]) -> tuple[float, float]:
    """Fit slope and offset that turn logits into probabilities (Platt 1999), by Newton's method with a weak prior.

    Both are rounded to six decimals.
    """
    x = np.concatenate(list(logits))
    y = np.concatenate([question.targets for question in questions]).astype(np.float64)
    sizes = [len(question.targets) for question in questions]
    weight = np.concatenate([np.full(size, 1.0 / max(1, size)) for size in sizes])
    design = np.stack([x, np.ones_like(x)], axis=1)
    line = prior = np.array([1.0, 0.0])
    for _ in range(50):
        p = np.exp(-np.logaddexp(0.0, -(design @ line)))
        slope = design.T @ (weight * (p - y)) + 0.1 * (line - prior)
        curvature = (design * (weight * p * (1 - p))[:, None]).T @ design + 0.1 * np.eye(2)
        step = np.linalg.solve(curvature, slope)
        line = line - np.clip(step, -1.0, 1.0)
        if np.abs(step).max() < 1e-9:
            break
    return max(0.05, round(float(line[0]), 6)), round(float(line[1]), 6)


def mean_loss(questions: Sequence[TrainingQuestion], scored: Sequence[Sequence[float]]) -> float:
    """Return the mean cross-entropy of probabilities, given as logarithms; all questions have equal weight."""
    losses = []
    for question, scores in zip(questions, scored, strict=True):
        logs = np.asarray(scores, dtype=np.float64)
        others = np.log(np.maximum(-np.expm1(logs), LEAST))
        targets = question.targets.astype(np.float64)
        losses.append(-float(np.mean(targets * logs + (1 - targets) * others)))
    return float(np.mean(losses))
