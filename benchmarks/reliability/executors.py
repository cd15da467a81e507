"""The same run in one process, two processes and two Ray actors; and with workers and the first process killed.

    python -m benchmarks.reliability.executors [--questions 2000] [--kills 20] [--rounds 3]

MetaQA's questions of three steps. Compares the bytes of the journals, and counts the runs that differ; the rounds are
interleaved, and wall time is compared, which needs two idle processors. A kill (SIGKILL)
strikes a worker, or the first process with all workers, at a random moment; after the latter the same command goes on.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import signal
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

from benchmarks.common import OUT, lacking
from benchmarks.figures import record_figure

PLACES = {
    "one process": [],
    "two processes": ["executor={use: processes, workers: 2}"],
    "two Ray actors": ["executor={use: ray, workers: 2}"],
}
DATA = "MetaQA, 3 hops"


def command(place: str, questions: int, folder: Path) -> list[str]:
    """Return the command of a run."""
    sets = ["vars.hops=3", f"vars.limit={questions}", "encoder.use=onnx", "evaluate=null", "exporters=[]"]
    sets += [f"output={folder}", *PLACES[place]]
    words = [sys.executable, "-m", "srtk_framework", "run", "recipes/metaqa.yaml", "--quiet"]
    return words + [part for one in sets for part in ("--set", one)]


def journal(folder: Path) -> str:
    """Return a hash of the results."""
    [file] = (folder / "journal").glob("*.jsonl")
    return hashlib.sha256(file.read_bytes()).hexdigest()


def workers_of(process: int) -> list[int]:
    """Return the processes that a run has spawned to work, by Linux's table of processes."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii").split()
    texts = {int(child): Path(f"/proc/{child}/cmdline") for child in children}
    return [child for child, text in texts.items() if text.exists() and b"spawn_main" in text.read_bytes()]


def struck(questions: int, folder: Path, expected: str, whom: str, seconds: float, draw: random.Random) -> bool:
    """Kill a worker, or the first process, of a new run at a random moment; return whether the results are the same."""
    words = command("two processes", questions, folder)
    run = subprocess.Popen([*words, "--fresh"])
    time.sleep(draw.uniform(0.2, 1.0) * seconds)
    victims = workers_of(run.pid) if whom == "worker" and run.poll() is None else [run.pid]
    for victim in victims[:1]:
        if run.poll() is None:
            os.kill(victim, signal.SIGKILL)
    run.wait()
    if run.returncode:
        subprocess.run(words, check=True)
    return journal(folder) == expected


def main() -> int:
    """Run, kill, compare and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=2000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    why = lacking("metaqa/3-hop/qa_dev.txt", "metaqa/kb_from_splits.txt")
    if why:
        print(why)
        return 0
    folder, found, taken = OUT / "executors", {}, defaultdict[str, list[float]](list)
    for place in [*PLACES] * args.rounds:
        began = time.monotonic()
        subprocess.run([*command(place, args.questions, folder / place.replace(" ", "-")), "--fresh"], check=True)
        taken[place].append(time.monotonic() - began)
        found[place] = journal(folder / place.replace(" ", "-"))
        equal = int(found[place] == found["one process"])
        load = f"{taken[place][-1]:.1f} s at a load of {os.getloadavg()[0]:.1f}"
        print(f"{place}: {'equal' if equal else 'DIFFERENT'}, {load}", flush=True)
        record_figure(DATA, place, "runs with the bytes of one process", equal, args.questions)
    for place in PLACES if args.rounds > 1 else ():  # a single round tells nothing about speed
        ratio = statistics.median(taken["one process"]) / statistics.median(taken[place])
        record_figure(DATA, place, "times the throughput of one process", ratio, args.questions)
    few, draw = max(100, args.questions // 10), random.Random(args.seed)
    began = time.monotonic()
    subprocess.run([*command("two processes", few, folder / "few"), "--fresh"], check=True)
    seconds, expected = time.monotonic() - began, journal(folder / "few")
    for whom in ("worker", "first process"):
        same = sum(struck(few, folder / "struck", expected, whom, seconds, draw) for _ in range(args.kills))
        print(f"{whom} killed: {same} of {args.kills} equal", flush=True)
        record_figure(DATA, f"{whom} killed", "kills with equal results", same, args.kills)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
