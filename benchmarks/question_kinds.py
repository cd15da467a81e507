"""The kind of a question: read from its words (`operations`), and by a classifier on an encoder's vectors.

    OMP_NUM_THREADS=1 python benchmarks/question_kinds.py [--seeds 101 102 103 104]

Both are scored on Mintaka dev by its annotation (2,000 questions) and on the demo's questions by kind. Its generic,
multi-hop and intersection questions are lookups here, and so is what is time-bound. The classifier (ridge regression of
the kinds on MiniLM's vectors) learns from the demo's questions by kind with other seeds, and its others. The
words were chosen with the half of Mintaka dev whose ids have an even hash; the other half stands beside it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from common import DATA, OUT, ROOT, lacking, run
from srtk_plugin_answers.question_kinds import kind_of
from srtk_plugin_onnx.encoder import OnnxEncoder

MINTAKA = {
    "generic": "lookup",
    "multihop": "lookup",
    "intersection": "lookup",
    "comparative": "comparison",
    "yesno": "yes-no",
}
SPARE = {"time-bound": "lookup", "intersection": "lookup"}
CONDITIONED = ("value", "type")
"""Beginnings of kinds that are another kind with a condition, and are left out."""
RIDGE = 1.0


def demo(seed: int) -> list[tuple[str, str]]:
    """Return the demo's questions by kind of one seed, each with its kind."""
    file = OUT / f"operations-{seed}.jsonl"
    command = [sys.executable, "demo/questions_by_kind.py", "--graph", "build/demo/world", "--out", str(file)]
    _, failed = run([*command, "--seed", str(seed)])
    if failed:
        raise SystemExit(f"{failed}; run `make demo` first")
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    plain = [row for row in rows if not row["kind"].startswith(CONDITIONED)]
    return [(row["question"], SPARE.get(row["kind"], row["kind"])) for row in plain]


def mintaka(half: int) -> list[tuple[str, str]]:
    """Return half of Mintaka dev, each question with its kind."""
    every = json.loads((DATA / "wikidata_qa/mintaka/mintaka_dev.json").read_text(encoding="utf-8"))
    return [
        (row["question"], MINTAKA.get(row["complexityType"], row["complexityType"]))
        for row in every
        if int(hashlib.sha256(row["id"].encode()).hexdigest(), 16) % 2 == half
    ]


def lookups() -> list[tuple[str, str]]:
    """Return the demo's other questions that ask for no best one."""
    lines = (ROOT / "build/demo/questions.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [(row["question"], "lookup") for row in rows if " | " not in row["query"]]


def fitted(encoder: Any, lessons: Sequence[tuple[str, str]]) -> Any:
    """Return a function that classifies texts, learnt by ridge regression."""
    kinds = sorted({kind for _, kind in lessons})
    rows = np.asarray(encoder.encode([text for text, _ in lessons]), dtype=np.float64)
    rows = np.hstack([rows / np.linalg.norm(rows, axis=1, keepdims=True), np.ones((len(rows), 1))])
    # Each kind weighs the same, however many questions it has.
    counts = Counter(kind for _, kind in lessons)
    weight = np.array([1.0 / counts[kind] for _, kind in lessons])[:, None] * len(lessons) / len(kinds)
    wanted = np.array([[float(kind == one) for one in kinds] for _, kind in lessons])
    learnt = np.linalg.solve(rows.T @ (weight * rows) + RIDGE * np.eye(rows.shape[1]), rows.T @ (weight * wanted))

    def classify(texts: Sequence[str]) -> list[str]:
        found = np.asarray(encoder.encode(list(texts)), dtype=np.float64)
        found = np.hstack([found / np.linalg.norm(found, axis=1, keepdims=True), np.ones((len(found), 1))])
        return [kinds[i] for i in (found @ learnt).argmax(axis=1)]

    return classify


def by_words(texts: Sequence[str]) -> list[str]:
    """Classify texts by their words."""
    return [SPARE.get(kind_of(text).kind, kind_of(text).kind) for text in texts]


def figures(asked: Sequence[tuple[str, str]], said: Sequence[str]) -> dict[str, float]:
    """Return accuracy, mean recall over the kinds, and the recall of each."""
    right = [kind == one for (_, kind), one in zip(asked, said, strict=True)]
    kinds = sorted({kind for _, kind in asked})
    recall = {
        kind: float(np.mean([fine for fine, (_, one) in zip(right, asked, strict=True) if one == kind]))
        for kind in kinds
    }
    return {"accuracy": float(np.mean(right)), "mean recall": float(np.mean(list(recall.values()))), **recall}


def main() -> int:
    """Score both, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="*", default=[101, 102, 103, 104], help="of the lessons")
    args = parser.parse_args()
    if missing := lacking("wikidata_qa/mintaka"):
        print(f"skipped: {missing}")
        return 0
    encoder = OnnxEncoder(model="minilm")
    encoder.open()
    OUT.mkdir(parents=True, exist_ok=True)
    classify = fitted(encoder, [*(row for seed in args.seeds for row in demo(seed)), *lookups()])
    kinds = [
        "accuracy",
        "mean recall",
        "lookup",
        "count",
        "superlative",
        "ordinal",
        "comparison",
        "difference",
        "yes-no",
    ]
    print("| questions | number | by | " + " | ".join(kinds) + " |\n|---|--:|---|" + "--:|" * len(kinds))
    for name, asked in (
        ("Mintaka dev, half looked at", mintaka(0)),
        ("Mintaka dev, other half", mintaka(1)),
        ("demo", demo(7)),
    ):
        texts = [text for text, _ in asked]
        for by, said in (("words", by_words(texts)), ("encoder", classify(texts))):
            found = figures(asked, said)
            cells = " | ".join(f"{found[kind]:.3f}" if kind in found else "–" for kind in kinds)
            print(f"| {name} | {len(asked)} | {by} | {cells} |", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
