"""Training of the head of ``rerank``: a seeded loop in torch that resumes, then calibration on held-out questions."""

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

from srtk_framework.values import DriverError, Triple
from srtk_plugin_sr.cutoff import Cutoff, connected_order
from srtk_plugin_sr.fit_settings import HeadFitSettings
from srtk_plugin_sr.head import LEAST, Array, Head, HeadInput, input_matrix, input_width, log_probabilities

_FEWEST_HELD = 10
"""With fewer held-out questions, all questions serve for training and for selection."""
_GAIN = 1e-4
"""Difference of F that counts as better."""
_THRESHOLDS = tuple(round(0.02 * i, 2) for i in range(1, 50))
_COLUMNS = ("epoch", "loss", "held_loss", "held_f", "held_recall", "held_precision", "held_triples")


@attrs.frozen(eq=False)
class TrainingQuestion:
    """Candidates of one question, ready for settings.

    Attributes:
        name: Id of the question.
        text: Text of the question.
        given: Input of the head.
        targets: Quality of each candidate, from 0 to 1.
        total: Sum of the qualities of all needed triples, including those that were not found.
        triples: The candidates.
        starts: The linked nodes.
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
    cutoff: Cutoff,
    reads: Mapping[str, Any],
    folder: FilePath,
    seed: int,
) -> tuple[Head, dict[str, float]]:
    """Train a head on questions with candidates.

    Args:
        questions: Questions in a fixed order.
        vectors: Unit vectors of the texts [texts, d].
        settings: Settings of the settings.
        cutoff: Rule by which the rankings of held-out questions are cut.
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
    held = [question for question in questions if _draw(question.text, seed) < settings.held]
    trained = [question for question in questions if _draw(question.text, seed) >= settings.held]
    if len(held) < _FEWEST_HELD or not any(question.targets.any() for question in trained):
        held = trained = list(questions)
    folder.mkdir(parents=True, exist_ok=True)
    features = np.concatenate([question.given.features for question in trained])
    norm = {"mean": features.mean(axis=0), "spread": np.maximum(features.std(axis=0), 1e-3)}
    best: dict[str, Array] = {}
    figures: dict[str, float] = {}
    for state in _epochs(trained, held, vectors, norm, settings, cutoff, folder, seed):
        best, figures = state
    raw = Head({**best, **norm}, 1.0, 0.0, 0.0, reads)
    # Logits of questions that were trained on are overconfident, so they are not used for calibration.
    scaling = (1.0, 0.0) if held is trained else platt_scaling(held, [raw.logits(vectors, q.given) for q in held])
    head = Head({**best, **norm}, *scaling, 0.5, reads)
    scored = [head.scores(vectors, question.given) for question in held]
    by_threshold = {at: mean_f(held, scored, Cutoff("threshold", cutoff.beta), at)["f"] for at in _THRESHOLDS}
    head = attrs.evolve(head, threshold=max(_THRESHOLDS, key=lambda at: (by_threshold[at], -at)))
    final = mean_f(held, scored, cutoff, head.threshold)
    return head, {
        **{f"held_{name}": value for name, value in final.items()},
        "questions": float(len(trained)),
        "best_epoch": figures["epoch"] + 1,
        "threshold": head.threshold,
    }


def _draw(text: str, seed: int) -> float:
    """Return a number from 0 to 1 that depends on the words of a question, so that equal texts stay together."""
    digest = hashlib.sha256(f"held-out {seed}\0{' '.join(text.split())}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8]) / 2**64


def _epochs(
    trained: Sequence[TrainingQuestion],
    held: Sequence[TrainingQuestion],
    vectors: npt.NDArray[np.float32],
    norm: Mapping[str, Array],
    settings: HeadFitSettings,
    cutoff: Cutoff,
    folder: FilePath,
    seed: int,
) -> Iterator[tuple[dict[str, Array], dict[str, float]]]:
    """Train epoch by epoch, from the checkpoint if there is one; yield the best weights so far and their figures."""
    import torch

    width = input_width(vectors.shape[1], trained[0].given.texts.shape[1], trained[0].given.features.shape[1])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = torch.nn.Sequential(
            torch.nn.Dropout(settings.dropout),
            torch.nn.Linear(width, settings.hidden),
            torch.nn.ReLU(),
            torch.nn.Dropout(settings.dropout),
            torch.nn.Linear(settings.hidden, 1),
        )
        optimizer = torch.optim.AdamW(
            network.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay
        )
        best: dict[str, Any] = {"weights": _weights(network), "figures": {"f": -1.0, "loss": 0.0, "epoch": -1.0}}
        begun = _resume(folder, network, optimizer, best)
        if begun:
            yield best["weights"], best["figures"]
        for epoch in range(begun, settings.epochs):
            if settings.patience is not None and epoch - best["figures"]["epoch"] > settings.patience:
                break
            for group in optimizer.param_groups:
                group["lr"] = settings.learning_rate * (1.0 - 0.9 * epoch / settings.epochs)
            torch.manual_seed(seed * 100_003 + epoch + 1)
            loss = _epoch(torch, network, optimizer, trained, vectors, norm, settings, folder, (seed, epoch))
            weights = _weights(network)
            head = Head({**weights, **norm}, 1.0, 0.0, 0.5, {})
            logits = [head.logits(vectors, question.given) for question in held]
            scaling = platt_scaling(held, logits) if held is not trained else (1.0, 0.0)
            scored = [log_probabilities(row, *scaling) for row in logits]
            figures = {**mean_f(held, scored, cutoff, 0.5), "loss": mean_loss(held, scored), "epoch": float(epoch)}
            if _better(figures, best["figures"]):
                best.update(weights=weights, figures=figures)
            _log(folder, epoch, loss, figures)
            _save_checkpoint(folder, network, optimizer, best, epoch + 1)
            yield best["weights"], best["figures"]


def _better(figures: Mapping[str, float], best: Mapping[str, float]) -> bool:
    """Compare by F, and where F is equal by the loss: a confident ranking is cut well on other questions too."""
    gain = figures["f"] - best["f"]
    return gain > _GAIN or (abs(gain) <= _GAIN and figures["loss"] < best["loss"])


def _epoch(
    torch: Any,
    network: Any,
    optimizer: Any,
    questions: Sequence[TrainingQuestion],
    vectors: npt.NDArray[np.float32],
    norm: Mapping[str, Array],
    settings: HeadFitSettings,
    folder: FilePath,
    seed: tuple[int, int],
) -> float:
    """Train on each question once, with equal weight whatever its number of candidates; return the mean loss."""
    from rich.console import Console
    from rich.progress import Progress

    network.train()
    order = np.random.default_rng(seed).permutation(len(questions))
    console = Console(stderr=True)
    sums = 0.0
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        for start in progress.track(
            range(0, len(order), settings.batch_size), description=f"head, epoch {seed[1] + 1} of {settings.epochs}"
        ):
            batch = [questions[i] for i in order[start : start + settings.batch_size]]
            rows = torch.from_numpy(
                np.concatenate(
                    [input_matrix(vectors, question.given, norm["mean"], norm["spread"]) for question in batch]
                )
            )
            support = torch.from_numpy(np.concatenate([question.given.support for question in batch])).float()
            targets = torch.from_numpy(np.concatenate([question.targets for question in batch]))
            sizes = [len(question.triples) for question in batch]
            weight = torch.cat([torch.full((size,), 1.0 / size) for size in sizes]) / len(batch)
            losses = torch.nn.functional.binary_cross_entropy_with_logits(
                network(rows)[:, 0] + support, targets, reduction="none"
            )
            loss = (losses * weight).sum()
            if not torch.isfinite(loss):
                file = folder / "broken-batch.json"
                file.write_text(json.dumps([question.name for question in batch]) + "\n", encoding="utf-8")
                raise DriverError(
                    f"the loss is not finite; lower learning_rate (the questions of the batch are in {file})"
                )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            sums += float(loss.detach()) * len(batch)
    network.eval()
    return sums / len(questions)


def _weights(network: Any) -> dict[str, Array]:
    """Return a copy of the weights, in float64."""
    named = {"inner": 1, "outer": 4}
    found: dict[str, Array] = {}
    for name, layer in named.items():
        found[name] = network[layer].weight.detach().numpy().astype(np.float64)
        found[f"{name}_bias"] = network[layer].bias.detach().numpy().astype(np.float64)
    return found


def _resume(folder: FilePath, network: Any, optimizer: Any, best: dict[str, Any]) -> int:
    """Load the checkpoint, if there is one; return the epoch to start with."""
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


def _save_checkpoint(folder: FilePath, network: Any, optimizer: Any, best: Mapping[str, Any], epoch: int) -> None:
    """Write the checkpoint to a temporary file that is then renamed."""
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
    """Append a line to ``log/head.csv``."""
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


def mean_f(
    questions: Sequence[TrainingQuestion], scored: Sequence[Sequence[float]], cutoff: Cutoff, threshold: float
) -> dict[str, float]:
    """Return means of F, recall, precision and size over questions that are ordered and cut as in retrieval.

    Args:
        questions: Questions with their candidates.
        scored: Per question, the logarithm of each candidate's probability.
        cutoff: Rule for the number of triples kept.
        threshold: Least probability, for ``keep: threshold``.
    """
    rows = []
    for question, scores in zip(questions, scored, strict=True):
        order, raised = connected_order(question.triples, scores, question.starts)
        kept = cutoff.count(raised, threshold)
        hits = float(question.targets[order[:kept]].sum())
        both = kept + cutoff.beta**2 * question.total
        rows.append(
            (
                (1 + cutoff.beta**2) * hits / both if both else 0.0,
                hits / question.total if question.total else 0.0,
                hits / kept if kept else 0.0,
                float(kept),
            )
        )
    means = np.mean(np.array(rows), axis=0).tolist()
    return dict(zip(("f", "recall", "precision", "triples"), means, strict=True))


def platt_scaling(questions: Sequence[TrainingQuestion], logits: Sequence[Array]) -> tuple[float, float]:
    """Fit slope and offset that turn logits into probabilities (Platt 1999), by Newton's method with a weak prior.

    Args:
        questions: Held-out questions.
        logits: Per question, the logit of each candidate.

    Returns:
        Slope and offset, rounded to six decimals.
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
