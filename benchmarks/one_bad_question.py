"""CPU time of batches in which one question fails, against batches in which none does.

    python benchmarks/one_bad_question.py [--questions 96] [--batch 32] [--rounds 5]

The expander is beam search on the demo's graph (``make demo`` builds it), with one failing question in each batch.
``given``: it returns an error in the place of that question's subgraph. ``at once``: it raises for the whole batch
before any work. ``after``: it raises for the whole batch after its work. The questions of all rounds differ, so that
nothing comes out of a cache, and the rounds are interleaved. Calls of the encoder and of the scorer are counted, and
texts and paths that either was asked about a second time: no call is paid for twice.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any, ClassVar

import attrs
from common import ROOT
from srtk_plugin_sr.beam import BeamExpander
from srtk_plugin_sr.dense import DenseScorer

import srtk_framework
from srtk_framework.values import DriverError, Path, Question, Step, Subgraph

MARK = "zzz"
"""Word of the questions that fail."""
MODES = ("none", "given", "at once", "after")


@attrs.define(eq=False)
class Failing(BeamExpander):
    """Beam search that fails for questions with the mark, as ``mode`` says."""

    __doc__ = BeamExpander.__doc__

    def expand(self, questions: Sequence[Question]) -> list[Subgraph | DriverError]:
        """Search, and fail."""
        bad = [MARK in question.text for question in questions]
        if State.mode == "given":
            found = iter(super().expand([q for q, wrong in zip(questions, bad, strict=True) if not wrong]))
            return [DriverError("this question fails") if wrong else next(found) for wrong in bad]
        if any(bad) and State.mode == "at once":
            raise DriverError("this batch fails")
        done = list(super().expand(questions))
        if any(bad) and State.mode == "after":
            raise DriverError("this batch fails")
        return done


@attrs.define(eq=False)
class Counting(DenseScorer):
    """The dense scorer, which counts what it is asked."""

    __doc__ = DenseScorer.__doc__

    def score(
        self, questions: Sequence[str], paths: Sequence[Path], candidates: Sequence[Sequence[Step]]
    ) -> Sequence[Sequence[float]]:
        """Count, and score."""
        State.asked.update(zip(questions, paths, map(tuple, candidates), strict=True))
        return super().score(questions, paths, candidates)


class State:
    """How the expander fails now, and what the scorer was asked."""

    mode = "none"
    asked: ClassVar[Counter[Any]] = Counter()


def recipe() -> dict[str, Any]:
    """Return the demo's recipe with the two drivers."""
    return {
        "srtk": 1,
        "knowledge_graph": {"use": "local", "path": str(ROOT / "build/demo/graph")},
        "entity_linker": "dictionary",
        "encoder": {"use": "onnx", "model": "minilm"},
        "path_scorer": {"use": Counting},
        "expander": {"use": Failing},
    }


def asked(texts: Sequence[str], batch: int, mode: str, number: int) -> list[Question]:
    """Make the questions of a round: one of each batch is marked, unless none is to fail."""
    found = []
    for i, text in enumerate(texts):
        mark = f" {MARK}" if mode != "none" and i % batch == batch // 5 else ""
        found.append(Question(f"{number}-{i}", f"{text.rstrip('?')} {number}{mark}?"))
    return found


def measure(texts: Sequence[str], batch: int, rounds: int) -> dict[str, dict[str, Any]]:
    """Measure all modes in turn."""
    seconds: dict[str, list[float]] = {mode: [] for mode in MODES}
    failed: dict[str, int] = {}
    again: dict[str, int] = {}
    with srtk_framework.open({**recipe(), "batch": batch}) as session:
        session.retrieve(asked(texts, batch, "none", 0))
        for number in range(rounds):
            for place in range(len(MODES)):
                State.mode = MODES[(place + number) % len(MODES)]
                State.asked = Counter()
                questions = asked(texts, batch, State.mode, number * len(MODES) + place + 1)
                start = time.process_time()
                results = session.retrieve(questions)
                seconds[State.mode].append(time.process_time() - start)
                failed[State.mode] = sum(result.error is not None for result in results)
                again[State.mode] = sum(count - 1 for count in State.asked.values())
    clean = statistics.median(seconds["none"])
    return {
        mode: {
            "ms per question": round(1000 * statistics.median(row) / len(texts), 2),
            "times": round(statistics.median(row) / clean, 3),
            "failed": failed[mode],
            "asked twice": again[mode],
        }
        for mode, row in seconds.items()
    }


def main() -> int:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=96)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    source = ROOT / "build/demo/questions.jsonl"
    if not source.exists():
        print("one_bad_question: skipped, no build/demo/questions.jsonl; run `make demo`")
        return 0
    lines = source.read_text(encoding="utf-8").splitlines()[: args.questions]
    print(json.dumps(measure([json.loads(line)["question"] for line in lines], args.batch, args.rounds), indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
