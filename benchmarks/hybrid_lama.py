"""LAMA: objects of hidden facts by `hybrid` over a masked language model and `frequency`, beside its parts.

    OMP_NUM_THREADS=1 python benchmarks/hybrid_lama.py --model FOLDER [--patterns 1500] [--seeds 1] [--out FOLDER]

The facts are halved into known and asked ones for each of three seeds, as by `knowlybert.py --data lama`. A fifth of
the known facts is held out: the prior of `soft` types and `hybrid` learn from these alone. The graph lacks most of the
subjects, so `frequency` proposes for these as well (`unknown`); "known subjects" is `hybrid` over one that does not.

MRR (what is not among the first ten completions of a pattern counts as 0), the area under precision and recall of these
completions, P@1, and precision at recall .05, over the patterns of all seeds. Intervals of 95 % are of patterns drawn
again, with all seeds in which they are asked and for all completers; p is that of a difference of either sign.
`--patterns` asks the patterns with the lowest hashes alone. `--out` keeps what was learnt and answered of each seed,
which is not computed again there.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import attrs
import numpy as np
import numpy.typing as npt
from answered import DRAWS, Answered, Curve, interval, read, write
from common import lacking
from hybrid import trained as trained_hybrid
from knowlybert import SEEDS, LamaWorld, RememberedFiller, asked, trained
from srtk_plugin_baselines.frequency import FrequencyCompleter
from srtk_plugin_completers.completer_union import UnionCompleter
from srtk_plugin_evaluation import calibration_error
from srtk_plugin_knowlybert.completer import MaskedLMCompleter
from srtk_plugin_knowlybert.fit_settings import MaskedLMFitSettings

from srtk_framework.records import place
from srtk_framework.roles import Completer
from srtk_framework.values import Completion, Pattern

FIGURES = ("MRR", "area", "P@1", "precision at recall .05")
_Floats = npt.NDArray[np.float64]


def main() -> int:
    """Measure, and print a line of JSON for each figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="folder of the masked language model")
    parser.add_argument("--patterns", type=int, help="most patterns of a seed that are asked; all by default")
    parser.add_argument("--seeds", type=int, default=len(SEEDS), help="number of seeds")
    parser.add_argument("--out", type=Path, help="folder that keeps what was learnt and answered; made where missing")
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", help="settings of hybrid")
    parser.add_argument("--fit", nargs="*", default=[], metavar="NAME=VALUE", help="settings of its training")
    given = parser.parse_args()
    if missing := lacking("lama/relations.jsonl"):
        print(missing, file=sys.stderr)
        return 0
    started = time.process_time()
    answers: list[Answered] = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) if given.out is None else given.out
        folder.mkdir(parents=True, exist_ok=True)
        world = LamaWorld(folder)
        filler = RememberedFiller(model=given.model, threads=1)
        filler.open()
        for seed in SEEDS[: given.seeds]:
            file = folder / f"hybrid-{seed}.jsonl"
            if not file.exists():
                write(file, answered(world, filler, seed, folder, given))
            answers += read(file)
    report(answers)
    print(json.dumps({"cpu_s": round(time.process_time() - started)}))
    return 0


def answered(
    world: LamaWorld, filler: RememberedFiller, seed: int, folder: Path, given: argparse.Namespace
) -> list[Answered]:
    """Train the completers of a seed, and ask them."""
    hidden, held, known = world.split(seed)
    settings: dict[str, Any] = {"graph": world.graph(known), "filler": filler, "names": str(world.names)}
    # No threshold is used here, and patterns of the graph are asked for that alone.
    path = trained(world, settings, held, seed, folder, MaskedLMFitSettings(queries=1))
    model = MaskedLMCompleter(**settings, path=str(path))
    model.open()
    text = Whole(model)
    text.open()
    frequency, of_known = (FrequencyCompleter(graph=settings["graph"], unknown=unknown) for unknown in (True, False))
    frequency.open()
    of_known.open()
    found: dict[str, Completer] = {
        "frequency": frequency,
        "masked-lm": text,
        "union, max": UnionCompleter(completers=[text, frequency]),
    }
    for name, method, other in (
        ("hybrid, logistic", "logistic", frequency),
        ("hybrid, isotonic", "isotonic", frequency),
        ("hybrid, logistic, known subjects", "logistic", of_known),
    ):
        parts = [text, other]
        found[name], figures = trained_hybrid(parts, parts, settings["graph"], held, method, given)
        print(json.dumps({"seed": seed, "hybrid": name, **figures}), flush=True)

    def forget() -> None:
        filler.forget()
        text.remembered.clear()

    forget()
    patterns = sorted({(s, r) for s, r, _ in hidden}, key=lambda one: (place("\t".join(one), seed), one))
    some = set(patterns[: given.patterns])
    return asked(world, filler, found, [one for one in hidden if one[:2] in some], seed, forget)


@attrs.define(eq=False)
class Whole(Completer):
    """Asks a completer once for all completions of a pattern, whose first ones and rates others want.

    Attributes:
        completer: The completer.
        remembered: Completions by the completer's fingerprint and pattern; copies over other graphs share it.
    """

    completer: Completer
    remembered: dict[tuple[str, Pattern], list[Completion]] = attrs.field(factory=dict, repr=False)
    _fingerprint: str = attrs.field(init=False, default="", repr=False)

    def open(self) -> None:
        """Ask the completer, which is open, what it is."""
        self._fingerprint = self.completer.fingerprint()

    def complete(self, patterns: Sequence[Pattern], limit: int | None) -> list[list[Completion]]:
        """Return the first completions."""
        keys = [(self._fingerprint, one) for one in patterns]
        new = [key for key in dict.fromkeys(keys) if key not in self.remembered]
        rows = self.completer.complete([one for _, one in new], None)
        self.remembered.update(zip(new, map(list, rows), strict=True))
        return [self.remembered[key][:limit] for key in keys]


def report(answers: Sequence[Answered]) -> None:
    """Print a line of JSON for each completer, and for what is between two."""
    rows: dict[str, list[Answered]] = {}
    for one in answers:
        rows.setdefault(one.completer, []).append(one)
    times = drawn([one.pattern for one in next(iter(rows.values()))])
    values = {name: measured(some, times) for name, some in rows.items()}
    for name, some in rows.items():
        pairs = [pair for one in some for pair in zip(one.sure, one.right, strict=True)]
        shown = {figure: interval(column) for figure, column in zip(FIGURES, values[name].T, strict=True)}
        error = round(calibration_error(*zip(*pairs, strict=True)), 4)
        print(json.dumps({"completer": name, "patterns": len(some), **shown, "ECE": error}))
    for mine in [name for name in rows if name.startswith("hybrid")]:
        for other in rows:
            if other != mine:
                between = (values[mine] - values[other]).T
                shown = {
                    figure: [*(interval(column) or []), p_of(column[1:])]
                    for figure, column in zip(FIGURES, between, strict=True)
                }
                print(json.dumps({mine: f"over {other}", **shown}))


def drawn(patterns: Sequence[str]) -> _Floats:
    """Return how often each place is drawn, in rows of draws; the places of one pattern are drawn together.

    The first row has each once.
    """
    distinct, of = np.unique(patterns, return_inverse=True)
    random = np.random.default_rng(0)
    draws = random.multinomial(len(distinct), np.full(len(distinct), 1 / len(distinct)), DRAWS).astype(np.float64)
    return np.vstack([np.ones((1, len(patterns))), draws[:, of]])


def measured(some: Sequence[Answered], times: _Floats) -> _Floats:
    """Return the figures of a completer for each draw, [draws, figures]."""
    curve = Curve(some)
    reciprocal = np.array([sum(reciprocals(one.right)) for one in some])
    first = np.array([one.right[:1] == (True,) for one in some], dtype=np.float64)
    rows = [
        ((row @ reciprocal) / (row @ curve.sought), curve.area(row), (row @ first) / row.sum(), curve.read(row)[0])
        for row in times
    ]
    return np.array(rows)


def reciprocals(right: Sequence[bool]) -> list[float]:
    """Return the reciprocal filtered rank of each right completion: other right ones are no competitors."""
    wrong, found = 0, []
    for is_right in right:
        if is_right:
            found.append(1 / (1 + wrong))
        wrong += not is_right
    return found


def p_of(differences: _Floats) -> float:
    """Return the share of draws at or beyond 0, of both sides; at least that of one draw."""
    below = float(np.mean(differences <= 0))
    return round(min(1.0, 2 * max(min(below, 1 - below), 1 / DRAWS)), 4)


if __name__ == "__main__":
    raise SystemExit(main())
