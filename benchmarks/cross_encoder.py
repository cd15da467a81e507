"""Choice of the path by a cross-encoder, fine-tuned on the paths that `choice.py` kept, beside the linear model.

    OMP_NUM_THREADS=1 python benchmarks/choice.py
    python benchmarks/cross_encoder.py [--model FOLDER] [--jobs N] [--save FOLDER]

Left out, shipped and own are as in `choice.py`, but that own begins with the weights of the other graphs. *Alone*: the
path with the greatest logit. *Joined*: the linear model with the logit as one more feature, fitted to logits of models
that were tuned on the other half of its questions. `--save` writes what is tuned on the shipped sets, for `choice:
FOLDER`. It takes minutes on a GPU and many hours on a CPU. F1 of each question goes to build/bench/cross-encoder.json.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from typing import Any

import attrs
import choice
import numpy as np
import torch
from choice import GRAPHS, OUT, SHIPPED, Floats, Rows, chosen, fit
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from srtk_framework.evaluation import paired
from srtk_framework.models import find_model

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
RATE, EPOCHS, QUESTIONS, TOKENS = 1e-4, 4, 8, 128
"""Learning rate, epochs, questions of a step and tokens of a pair; none was tuned."""
Sets = Mapping[str, Rows]
reader = cache(AutoTokenizer.from_pretrained)
tokens = cache(lambda model, *pair: reader(model)(*pair, truncation=True, max_length=TOKENS))


def logits(base: str, model: Any, rows: Rows) -> Any:
    """Return the logits of all paths of some questions."""
    pairs = [tokens(base, row.question, text) for row in rows for text in row.texts]
    return model(**reader(base).pad(pairs, return_tensors="pt").to(DEVICE)).logits[:, 0].float()


def tuned(base: str, sets: Sets, start: Any = None) -> Any:
    """Tune a softmax over the paths of a question to the target of `choice.py`; each graph counts the same."""
    torch.manual_seed(0)
    model = AutoModelForSequenceClassification.from_pretrained(base, num_labels=1, dtype=torch.float32).to(DEVICE)
    if start is not None:
        model.load_state_dict(start.state_dict())
    share = {name: 1 / sum(one in sets for one in graph) for graph in GRAPHS.values() for name in graph if name in sets}
    usable = {name: [row for row in rows if len(row.f1) and np.ptp(row.f1)] for name, rows in sets.items()}
    kept = [(row, share[name] / len(rows)) for name, rows in usable.items() for row in rows]
    mean = sum(weight for _, weight in kept) / len(kept)
    steps = EPOCHS * -(-len(kept) // QUESTIONS)
    optimizer = torch.optim.AdamW(model.parameters(), RATE, weight_decay=0.01)
    rate = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda at: min(1, 10 * (at + 1) / steps) * (1 - at / steps))
    chance = np.random.default_rng(0)
    model.train()
    for order in (chance.permutation(len(kept)) for _ in range(EPOCHS)):
        for begin in range(0, len(order), QUESTIONS):
            part = [kept[i] for i in order[begin : begin + QUESTIONS]]
            with torch.autocast(DEVICE, torch.bfloat16, enabled=DEVICE == "cuda"):
                found = logits(base, model, [row for row, _ in part]).split([len(row.f1) for row, _ in part])
            targets = [weight / mean * torch.from_numpy(choice._target(row.f1)).float() for row, weight in part]
            pairs = zip(targets, found, strict=True)
            loss = sum(-target.to(DEVICE) @ values.log_softmax(0) for target, values in pairs) / len(part)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            rate.step()
    return model.eval()


@torch.inference_mode()
def add_logits(base: str, model: Any, rows: Rows) -> Rows:
    """Return rows with the logit of a model as one more feature, the last."""
    found = [logits(base, model, [row]).double().cpu().numpy() if len(row.f1) else np.zeros(0) for row in rows]
    pairs = zip(rows, found, strict=True)
    return [attrs.evolve(row, features=np.hstack([row.features, values[:, None]])) for row, values in pairs]


def joined(base: str, sets: Sets, signed: bool, start: Any = None) -> Floats:
    """Fit the linear model with the logit of models that were tuned on the other half of its questions."""
    found: dict[str, Rows] = {name: [] for name in sets}
    for half in range(2):
        model = tuned(base, {name: rows[1 - half :: 2] for name, rows in sets.items()}, start)
        found = {name: [*found[name], *add_logits(base, model, rows[half::2])] for name, rows in sets.items()}
    return fit(found, signed)


def compared(rows: Rows, weights: Floats) -> Floats:
    """Return F1 of the paths that the logit alone and the weights choose, of shape [questions, 2]."""
    return np.array([chosen(rows, one) for one in (np.eye(len(weights))[-1], weights)]).T


def measured(args: Any, graph: str, train: Sets, held: Sets) -> dict[str, dict[str, Any]]:
    """Return F1 by set and by what was fitted: the left out graph, with own questions too, or what ships."""
    base, kind = args.model, graph if graph == "shipped" else "left out"
    model, weights = tuned(base, train), joined(base, train, signed=True)
    figures = {name: {kind: compared(add_logits(base, model, rows), weights)} for name, rows in held.items()}
    for name, rows in held.items() if graph != "shipped" else ():
        figures[name]["own"], fold = np.zeros((len(rows), 2)), np.random.default_rng(0).permutation(len(rows)) % 4
        for at in range(4):
            mine = {name: [row for row, its in zip(rows, fold, strict=True) if its != at]}
            test = add_logits(base, tuned(base, mine, model), [rows[i] for i in np.flatnonzero(fold == at)])
            figures[name]["own"][fold == at] = compared(test, joined(base, mine, False, model))
    if args.save and graph == "shipped":
        model.half().save_pretrained(args.save)
        reader(base).save_pretrained(args.save)
    return figures


def main() -> int:
    """Tune and measure; print mean F1."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="minilm", help="encoder to begin with")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--save", help="folder for what is tuned on the shipped sets")
    args = parser.parse_args()
    args.model = str(find_model(args.model, None, False, False))
    train, held = choice.kept_rows("choose"), choice.kept_rows("report")
    tasks = [(args, "shipped", {one: train[one] for one in SHIPPED}, held)]
    for graph, names in GRAPHS.items():
        others = {name: rows for name, rows in train.items() if name not in names}
        tasks.append((args, graph, others, {name: held[name] for name in names if name in held}))
    figures: dict[str, dict[str, Any]] = {name: {} for name in held}
    with ProcessPoolExecutor(args.jobs, multiprocessing.get_context("spawn")) as pool:
        for found in pool.map(measured, *zip(*tasks, strict=True)):
            for name, row in found.items():
                figures[name] |= {kind: values.tolist() for kind, values in row.items()}
    (OUT / "cross-encoder.json").write_text(json.dumps(figures) + "\n", encoding="utf-8")
    table = {name: np.hstack([np.mean(row[kind], 0) for kind in sorted(row)]) for name, row in figures.items()}
    print("| set | left out, alone | joined | own, alone | joined | shipped, alone | joined | own, less linear |")
    print("|---|" + "--:|" * 7)
    for name, values in (table | {"mean": np.mean(list(table.values()), axis=0)}).items():
        less = paired([both[1] for both in figures[name]["own"]], choice.own(held[name])) if name in held else None
        change = f"{less['mean']:+.3f} ({less['low']:+.3f} to {less['high']:+.3f})" if less else ""
        print(f"| {name} | {' | '.join(f'{value:.3f}' for value in values)} | {change} |")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
