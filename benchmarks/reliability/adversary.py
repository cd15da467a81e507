"""All sweeps of an adversary with one seed: what is killed, damaged, blown up, made hostile or drawn at random.

    python -m benchmarks.reliability.adversary [--seed 0] [--minutes 30] [--only NAME ...]      (make adversary)

Each sweep is a command of its own, with its share of the time; its last lines are printed, and its whole output is in
`build/bench/adversary`. A sweep that needs data that is not there says so. The command fails if one finds anything,
or does not end in its time.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time

from benchmarks.common import DATA, OUT, ROOT
from benchmarks.figures import record_figure

SWEEPS: dict[str, tuple[float, tuple[str, ...]]] = {
    "damage": (1, ("reliability.damage", "--count", "1000", "--seed", "{seed}")),
    "bombs": (14, ("reliability.bombs", "--seed", "{seed}")),
    "hostile texts": (1, ("reliability.hostile_texts", "--seed", "{seed}")),
    "disk faults": (2, ("reliability.disk_faults", "--seed", "{seed}")),
    "hostile servers": (3, ("reliability.hostile_servers",)),
    "laws": (2, ("reliability.laws", "--graphs", "10", "--seed", "{seed}")),
    "fuzz": (2, ("reliability.fuzz", "--tries", "400", "--seed", "{seed}")),
    "kills": (3, ("reliability.random_kills", "--kills", "20", "--seed", "{seed}")),
    "other places": (2, ("reliability.executors", "--questions", "200", "--kills", "3", "--seed", "{seed}")),
}
"""Sweep to its share of thirty minutes, and its module with arguments."""


def main() -> int:
    """Run the sweeps, and print what they found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--only", nargs="*", metavar="NAME", help=f"of {', '.join(SWEEPS)}")
    args = parser.parse_args()
    folder = OUT / "adversary"
    folder.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "SRTK_DATA": str(DATA), "OMP_NUM_THREADS": "1"}
    found = []
    for name, (share, words) in SWEEPS.items():
        if args.only and name not in args.only:
            continue
        command = [sys.executable, "-m", f"benchmarks.{words[0]}", *(w.format(seed=args.seed) for w in words[1:])]
        file, began = folder / f"{name.replace(' ', '-')}.txt", time.monotonic()
        with file.open("w", encoding="utf-8") as out:
            try:
                code: int | str = subprocess.run(
                    command,
                    cwd=ROOT,
                    env=environment,
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    timeout=args.minutes * 60 * share / 30,
                    check=False,
                ).returncode
            except subprocess.TimeoutExpired:
                code = "out of time"
        ended = {0: "nothing found", "out of time": "OUT OF TIME"}.get(code, "FOUND")
        print(f"{name}: {ended} in {time.monotonic() - began:.0f} s", flush=True)
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines()[-3:]:
            print(f"    {line[:110]}", flush=True)
        if code != "out of time":
            record_figure("one seed", name, "sweeps that found something", int(code != 0), 1)
        found += [name] if code != 0 else []
    print(f"found something, or did not end: {', '.join(found) or 'none'}")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
