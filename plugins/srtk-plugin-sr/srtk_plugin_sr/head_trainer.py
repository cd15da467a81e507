"""Train a head: a seeded loop in torch that goes on where it was stopped, then a line and a threshold on held-out."""

from __future__ import annotations

import csv
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.values import DriverError
from srtk_plugin_sr.head import Array, Head, input_width, inputs, log_probabilities
from srtk_plugin_sr.held_out import Lot, Rule, fitted_line, held_loss, measured

_at_least_1: Any = attrs.validators.ge(1)
_none_or_at_least_1: Any = attrs.validators.optional(attrs.validators.ge(1))
_above_0: Any = attrs.validators.gt(0)
_not_below_0: Any = attrs.validators.ge(0)
_share: Any = [_not_below_0, attrs.validators.lt(1)]

_FEWEST_HELD = 10
_GAIN = 1e-4
_THRESHOLDS = tuple(round(0.02 * i, 2) for i in range(1, 50))
_COLUMNS = ("epoch", "loss", "held_loss", "held_f", "held_recall", "held_precision", "held_triples")


@attrs.frozen
class HeadTraining:
    """How the head of ``rerank`` is trained.

    Attributes:
        epochs: Most passes over the questions.
        batch_size: Questions of one update.
        learning_rate: Of AdamW; it falls in a straight line to a tenth of it.
        weight_decay: Of the weights.
        hidden: Width of the layer in between.
        dropout: Share of that layer, and of the input, that is left out at random while training.
        held: Share of the questions, drawn by a hash of their texts, that chooses the best weights, makes logits
            probabilities, and sets the threshold; with fewer than ten such questions all are used for both.
        patience: Epochs without a better F, or else loss, on the held-out questions, after which training stops; null
            for never.
    """

    epochs: int = attrs.field(default=30, validator=_at_least_1)
    batch_size: int = attrs.field(default=16, validator=_at_least_1)
    learning_rate: float = attrs.field(default=1e-3, validator=_above_0)
    weight_decay: float = attrs.field(default=0.01, validator=_not_below_0)
    hidden: int = attrs.field(default=128, validator=_at_least_1)
    dropout: float = attrs.field(default=0.2, validator=_share)
    held: float = attrs.field(default=0.15, validator=_share)
    patience: int | None = attrs.field(default=6, validator=_none_or_at_least_1)


def train_head(
    lots: Sequence[Lot],
    vectors: npt.NDArray[np.float32],
    training: HeadTraining,
    rule: Rule,
    reads: Mapping[str, Any],
    folder: FilePath,
    seed: int,
) -> tuple[Head, dict[str, float]]:
    """Train a head on questions with candidates.

    Args:
        lots: In a fixed order.
        vectors: Unit vectors of the texts.
        training: Settings.
        rule: By which the held-out questions are cut.
        reads: What the head's inputs were made of.
        folder: For the log and the checkpoint; a training that was stopped here goes on.
        seed: Of weights, order and dropout.

    Returns:
        The best head, and its figures on the held-out questions.

    Raises:
        DriverError: If there is nothing to learn from, or the loss is not finite.
    """
    if not any(lot.targets.any() for lot in lots):
        raise DriverError(
            f"none of the {len(lots)} questions has a right triple among those that the inner expander found;"
            " give it more width, depth or budget, or other lessons"
        )
    held = [lot for lot in lots if _drawn(lot.text, seed) < training.held]
    learnt = [lot for lot in lots if _drawn(lot.text, seed) >= training.held]
    if len(held) < _FEWEST_HELD or not any(lot.targets.any() for lot in learnt):
        held = learnt = list(lots)
    folder.mkdir(parents=True, exist_ok=True)
    numbers = np.concatenate([lot.rows.numbers for lot in learnt])
    norm = {"mean": numbers.mean(axis=0), "spread": np.maximum(numbers.std(axis=0), 1e-3)}
    best: dict[str, Array] = {}
    figures: dict[str, float] = {}
    for state in _epochs(learnt, held, vectors, norm, training, rule, folder, seed):
        best, figures = state
    line = fitted_line(held, [Head({**best, **norm}, 1.0, 0.0, 0.0, reads).logits(vectors, lot.rows) for lot in held])
    if held is learnt:
        line = (1.0, 0.0)  # what was learnt by heart would look too sure
    head = Head({**best, **norm}, *line, 0.5, reads)
    scored = [head.scores(vectors, lot.rows) for lot in held]
    by = {at: measured(held, scored, Rule("threshold", rule.beta), at)["f"] for at in _THRESHOLDS}
    head = attrs.evolve(head, threshold=max(_THRESHOLDS, key=lambda at: (by[at], -at)))
    final = measured(held, scored, rule, head.threshold)
    told = {f"held_{name}": value for name, value in final.items()}
    return head, {
        **told,
        "questions": float(len(learnt)),
        "best_epoch": figures["epoch"] + 1,
        "threshold": head.threshold,
    }


def _drawn(text: str, seed: int) -> float:
    """Draw a number from 0 to 1 by the words of a question, so that equal texts stay together."""
    digest = hashlib.sha256(f"held-out {seed}\0{' '.join(text.split())}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8]) / 2**64


def _epochs(
    learnt: Sequence[Lot],
    held: Sequence[Lot],
    vectors: npt.NDArray[np.float32],
    norm: Mapping[str, Array],
    training: HeadTraining,
    rule: Rule,
    folder: FilePath,
    seed: int,
) -> Iterator[tuple[dict[str, Array], dict[str, float]]]:
    """Train epoch by epoch; yield the best weights so far and their figures, first those of an earlier start."""
    import torch

    width = input_width(vectors.shape[1], learnt[0].rows.texts.shape[1], learnt[0].rows.numbers.shape[1])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = torch.nn.Sequential(
            torch.nn.Dropout(training.dropout),
            torch.nn.Linear(width, training.hidden),
            torch.nn.ReLU(),
            torch.nn.Dropout(training.dropout),
            torch.nn.Linear(training.hidden, 1),
        )
        optimizer = torch.optim.AdamW(
            network.parameters(), lr=training.learning_rate, weight_decay=training.weight_decay
        )
        best: dict[str, Any] = {"weights": _weights(network), "figures": {"f": -1.0, "loss": 0.0, "epoch": -1.0}}
        begun = _resume(folder, network, optimizer, best)
        if begun:
            yield best["weights"], best["figures"]
        for epoch in range(begun, training.epochs):
            if training.patience is not None and epoch - best["figures"]["epoch"] > training.patience:
                break
            for group in optimizer.param_groups:
                group["lr"] = training.learning_rate * (1.0 - 0.9 * epoch / training.epochs)
            torch.manual_seed(seed * 100_003 + epoch + 1)
            loss = _epoch(torch, network, optimizer, learnt, vectors, norm, training, folder, (seed, epoch))
            weights = _weights(network)
            head = Head({**weights, **norm}, 1.0, 0.0, 0.5, {})
            logits = [head.logits(vectors, lot.rows) for lot in held]
            line = fitted_line(held, logits) if held is not learnt else (1.0, 0.0)
            scored = [log_probabilities(row, *line) for row in logits]
            figures = {**measured(held, scored, rule, 0.5), "loss": held_loss(held, scored), "epoch": float(epoch)}
            if _better(figures, best["figures"]):
                best.update(weights=weights, figures=figures)
            _log(folder, epoch, loss, figures)
            _keep(folder, network, optimizer, best, epoch + 1)
            yield best["weights"], best["figures"]


def _better(figures: Mapping[str, float], best: Mapping[str, float]) -> bool:
    """Compare by F; where that is equal, by the loss, since what is sure is cut well elsewhere too."""
    gain = figures["f"] - best["f"]
    return gain > _GAIN or (abs(gain) <= _GAIN and figures["loss"] < best["loss"])


def _epoch(
    torch: Any,
    network: Any,
    optimizer: Any,
    lots: Sequence[Lot],
    vectors: npt.NDArray[np.float32],
    norm: Mapping[str, Array],
    training: HeadTraining,
    folder: FilePath,
    seed: tuple[int, int],
) -> float:
    """Go once over the questions; each weighs the same, however many candidates it has. Returns the mean loss."""
    from rich.console import Console
    from rich.progress import Progress

    network.train()
    order = np.random.default_rng(seed).permutation(len(lots))
    console = Console(stderr=True)
    sums = 0.0
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        for start in progress.track(
            range(0, len(order), training.batch_size), description=f"head, epoch {seed[1] + 1} of {training.epochs}"
        ):
            batch = [lots[i] for i in order[start : start + training.batch_size]]
            rows = torch.from_numpy(
                np.concatenate([inputs(vectors, lot.rows, norm["mean"], norm["spread"]) for lot in batch])
            )
            targets = torch.from_numpy(np.concatenate([lot.targets for lot in batch]))
            weight = torch.cat([torch.full((len(lot.triples),), 1.0 / len(lot.triples)) for lot in batch]) / len(batch)
            losses = torch.nn.functional.binary_cross_entropy_with_logits(
                network(rows)[:, 0], targets, reduction="none"
            )
            loss = (losses * weight).sum()
            if not torch.isfinite(loss):
                file = folder / "broken-batch.json"
                file.write_text(json.dumps([lot.name for lot in batch]) + "\n", encoding="utf-8")
                raise DriverError(f"the loss is not finite; lower learning_rate; the questions are in {file}")
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            sums += float(loss.detach()) * len(batch)
    network.eval()
    return sums / len(lots)


def _weights(network: Any) -> dict[str, Array]:
    """Copy the weights, in float64."""
    named = {"inner": 1, "outer": 4}
    found: dict[str, Array] = {}
    for name, layer in named.items():
        found[name] = network[layer].weight.detach().numpy().astype(np.float64)
        found[f"{name}_bias"] = network[layer].bias.detach().numpy().astype(np.float64)
    return found


def _resume(folder: FilePath, network: Any, optimizer: Any, best: dict[str, Any]) -> int:
    """Take over the checkpoint, if there is one; return the epoch to go on with."""
    import torch

    file = folder / "checkpoints" / "head.ckpt"
    if not file.exists():
        return 0
    state = torch.load(file, weights_only=True)
    network.load_state_dict(state["network"])
    optimizer.load_state_dict(state["optimizer"])
    best["weights"] = {name: array.numpy() for name, array in state["weights"].items()}
    best["figures"] = state["figures"]
    return int(state["epoch"])


def _keep(folder: FilePath, network: Any, optimizer: Any, best: Mapping[str, Any], epoch: int) -> None:
    """Write the checkpoint, complete before it gets its name."""
    import torch

    state = {
        "network": network.state_dict(),
        "optimizer": optimizer.state_dict(),
        "weights": {name: torch.from_numpy(array) for name, array in best["weights"].items()},
        "figures": best["figures"],
        "epoch": epoch,
    }
    file = folder / "checkpoints" / "head.ckpt"
    file.parent.mkdir(exist_ok=True)
    part = file.with_suffix(".part")
    torch.save(state, part)
    os.replace(part, file)


def _log(folder: FilePath, epoch: int, loss: float, figures: Mapping[str, float]) -> None:
    """Add a line to ``log/head.csv``."""
    file = folder / "log" / "head.csv"
    file.parent.mkdir(exist_ok=True)
    new = not file.exists()
    with file.open("a", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        if new:
            writer.writerow(_COLUMNS)
        writer.writerow(
            [epoch, *(round(v, 6) for v in (loss, *(figures[n.removeprefix("held_")] for n in _COLUMNS[2:])))]
        )
