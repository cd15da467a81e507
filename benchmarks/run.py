"""Run every benchmark with available data, print the figures, and list skipped ones with the reason.

    python benchmarks/run.py [--limit N] [--only NAME ...]      (make bench)

Takes hours. Writes build/bench/results.json, and build/bench/zero_shot.md with the table of the zero-shot runs. Each
benchmark can also be run by itself, and some with more choices: see the files beside this one. The comparison with
SRTK (against_srtk.py) needs an environment with SRTK and is not among these.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path

import attrs
import encoder_share
import zero_shot
from common import OUT, Result, print_outcome, run, shown

SCRIPTS: dict[str, tuple[str, ...]] = {
    "defaults": ("defaults.py",),
    "thirty-questions": ("thirty_questions.py",),
    "local-graph": ("local_graph.py",),
    "same-subgraphs": ("same_subgraphs.py",),
    "faults": ("faults.py",),
    "random-kills": ("random_kills.py",),
    "path-search": ("path_search.py",),
    "shared-session": ("shared_session.py",),
    "mentions": ("mentions.py",),
    "linking": ("linking.py",),
    "linking-learnt": ("linking_learnt.py",),
    "linking-recall": ("linking_recall.py",),
    "linking-retrieval": ("linking_retrieval.py",),
    "linking-alternatives": ("linking_alternatives.py",),
    "linking-threshold": ("linking_threshold.py",),
    "dictionary-speed": ("dictionary_speed.py",),
    "oracle-ceilings": ("oracle_ceilings.py", "--limit", "150"),
    "index-search": ("index_search.py",),
    "structgpt": ("structgpt.py",),
    "structgpt-speed": ("structgpt.py", "--speed"),
    "trained": ("trained.py",),
    "trained-losses": ("trained.py", "--losses"),
    "cross-validation": ("cross_validation.py",),
}
"""Benchmarks that print their own figures and skipped parts: name to file and arguments."""


def script(name: str) -> Result:
    """Run a benchmark in a process of its own."""
    file, *arguments = SCRIPTS[name]
    path = Path(__file__).with_name(file)
    output, failed = run([sys.executable, str(path), *arguments])
    return Result(name, " ".join(["python", shown(path), *arguments]), {"output": output.splitlines()}, failed=failed)


def main() -> int:
    """Run the benchmarks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=zero_shot.DEFAULT_LIMIT, help="questions per case; 0 for all")
    parser.add_argument("--only", nargs="*", metavar="NAME", help="prefixes of benchmark names")
    parser.add_argument("--out", type=Path, default=OUT, help="folder for results")
    args = parser.parse_args()
    out = args.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    started = time.time()
    zero: list[Result] = zero_shot.run_all(args.limit or None, out, args.only)
    others: list[Result] = []
    for name, measure in parts(out, args.limit):
        if not args.only or name.startswith(tuple(args.only)):
            others.append(measure())
            print_outcome(others[-1])
    report(zero, others)
    zero_shot.write_page(zero, out)
    write(out / "results.json", [*zero, *others], time.time() - started)
    return 1 if any(result.failed for result in (*zero, *others)) else 0


def parts(out: Path, limit: int) -> list[tuple[str, Callable[[], Result]]]:
    """List the benchmarks besides the zero-shot ones."""
    most = min(limit or encoder_share.DEFAULT_LIMIT, encoder_share.DEFAULT_LIMIT)
    return [
        ("encoder-share", lambda: encoder_share.measure(most, out)),
        *((name, partial(script, name)) for name in SCRIPTS),
    ]


def report(zero: Sequence[Result], others: Sequence[Result]) -> None:
    """Print all figures, then what was skipped."""
    if any(result.figures for result in zero):
        zero_shot.show(zero)
    for result in others:
        if result.figures:
            print(f"\n{result.name}: {result.command}")
            for key, value in result.figures.items():
                print(*(f"  {line}" for line in value) if key == "output" else [f"  {key}: {value}"], sep="\n")
    passed_over = [result for result in (*zero, *others) if result.skipped or result.failed]
    if passed_over:
        print()
    for result in passed_over:
        print_outcome(result)


def write(path: Path, results: Sequence[Result], seconds: float) -> None:
    """Write the figures with a description of the machine."""
    data = {
        "version": version("srtk-framework"),
        "python": platform.python_version(),
        "machine": {"processor": platform.machine(), "cores": os.cpu_count(), "system": platform.system()},
        "seconds": round(seconds, 1),
        "benchmarks": {result.name: attrs.asdict(result) for result in results},
    }
    path.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print(f"wrote {shown(path)}")


if __name__ == "__main__":
    raise SystemExit(main())
