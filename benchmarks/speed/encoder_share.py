"""Processor time of a beam, and of the encoder in it (MetaQA, 2 hops, links given).

    OMP_NUM_THREADS=1 python -m benchmarks.speed.encoder_share [--limit N]

*Cold*, in batches, all texts are encoded. *Alone and warm*, questions come one by one, the vectors of the paths are
there, and no choice is made: what remains of the encoder is the question itself. Its ratio is the number of encodings
of a question that a question takes; a question whose text came before, with other names, is not encoded again, and
counts as encoded once.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from pathlib import Path

import attrs

from benchmarks.common import DATA, OUT, ROOT, Result, lacking, print_outcome
from benchmarks.figures import record_figure
from srtk_framework import Call, Observer, Question
from srtk_framework import open as open_recipe

DEFAULT_LIMIT = 300
WHERE = "MetaQA, 2 hops"
METHODS = {"cold": "beam", "alone": "beam, alone and warm"}


@attrs.define(eq=False)
class EncoderTime(Observer):
    """Adds up the processor seconds of encoders, and counts the texts."""

    seconds: float = 0.0
    texts: int = 0
    _start: float = 0.0

    def before(self, call: Call) -> None:
        """Start the clock where texts are encoded."""
        if call.method == "encode":
            self._start = time.process_time()

    def after(self, call: Call, error: BaseException | None) -> None:
        """Stop the clock."""
        if call.method == "encode":
            self.seconds += time.process_time() - self._start
            self.texts += call.items


def measure(limit: int, out: Path) -> Result:
    """Search for each question cold, and alone and warm, and compare the times of search and encoder."""
    name, command = "encoder-share", "OMP_NUM_THREADS=1 python -m benchmarks.speed.encoder_share"
    if why := lacking("metaqa/2-hop/qa_dev.txt", "metaqa/kb_from_splits.txt"):
        return Result(name, command, skipped=why)
    os.environ.setdefault("SRTK_DATA", str(DATA))
    sets = ["vars.hops=2", f"vars.limit={limit}", "evaluate=false", "path_scorer.cache=", f"output={out / name}"]
    found: dict[str, float] = {}
    for way, more in (("cold", []), ("alone", ["expander.choice=null"])):
        watch = EncoderTime()
        with open_recipe(str(ROOT / "recipes/metaqa.yaml"), [*sets, *more], [watch]) as session:
            questions = list(session.dataset.read())
            parts: Sequence[list[Question]] = [questions]
            if way == "alone":
                # Other words, so that the questions themselves are not remembered.
                session.retrieve([attrs.evolve(one, text=f"{one.text} please") for one in questions])
                parts = [[one] for one in questions]
            watch.seconds, watch.texts, start = 0.0, 0, time.process_time()
            for part in parts:
                session.retrieve(part)
            whole = time.process_time() - start
        found[f"{way}_ms"] = 1000 * whole / len(questions)
        found[f"{way}_encoder_ms"] = 1000 * watch.seconds / len(questions)
        found[f"{way}_ratio"] = whole / watch.seconds
        if way == "alone":
            found["alone_ratio"] = 1 + (whole - watch.seconds) / len(questions) / (watch.seconds / watch.texts)
    return Result(name, command, figures={"questions": len(questions), **found})


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=DEFAULT_LIMIT, help="number of questions")
    parser.add_argument("--out", type=Path, default=OUT, help="folder for the run")
    args = parser.parse_args()
    result = measure(args.limit, args.out.resolve())
    print_outcome(result)
    for way, method in METHODS.items() if result.figures else ():
        n = result.figures["questions"]
        record_figure(WHERE, method, "CPU ms a question", result.figures[f"{way}_ms"], n)
        record_figure(WHERE, method, "CPU ms of the encoder", result.figures[f"{way}_encoder_ms"], n)
        record_figure(WHERE, method, "times the encoder's time", result.figures[f"{way}_ratio"], n)
    for key, value in result.figures.items():
        print(f"  {key}: {value:.2f}")
    return 1 if result.failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
