"""Recipes and tables changed at random: each ends as a command ends, with a sentence, and no fault of the program.

    python -m benchmarks.reliability.fuzz [--tries 400] [--seed 0]

Recipes come from `recipes/`, tables from `benchmarks/files/tables`. Lines are taken out, doubled or exchanged,
characters are changed, and values become numbers, lists or signs. A recipe goes through `srtk check`, a table through
`srtk graph build`. Another exit code than 0, 1 or 2, a traceback, and the sentence for faults of a driver are findings,
printed with their seed; the command fails if there are any.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

from benchmarks.common import ROOT
from srtk_framework.cli import main as srtk

SIGNS = ["", "\0", "\t", '"', "'", ",", "{", "[", ":", "#", "&a *a", "\u202e", "\x1b[31m", "9" * 400, "-1", "null", "~"]
KINDS = {
    "recipe": (sorted((ROOT / "recipes").glob("*.yaml")), ["check"]),
    "table": (sorted((ROOT / "benchmarks/files/tables").glob("*.*")), ["graph", "build", "--out", "graph", "--quiet"]),
}
FAULTS = ("Traceback", "has a fault")


def changed(text: str, draw: random.Random) -> str:
    """Change a text in one to four places."""
    lines = text.split("\n")
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(lines))
        match draw.randrange(5):
            case 0 if len(lines) > 1:
                del lines[at]
            case 1:
                lines.insert(at, lines[draw.randrange(len(lines))])
            case 2:
                other = draw.randrange(len(lines))
                lines[at], lines[other] = lines[other], lines[at]
            case 3:
                place = draw.randint(0, len(lines[at]))
                lines[at] = lines[at][:place] + draw.choice(SIGNS) + lines[at][place + draw.randint(0, 3) :]
            case _:
                head, sep, _ = lines[at].partition(draw.choice([": ", ",", "\t"]))
                lines[at] = head + sep + draw.choice(SIGNS)
    return "\n".join(lines)


def tried(kind: str, draw: random.Random, folder: Path) -> tuple[str, str]:
    """Give one changed file to its command; return how it ended, and the finding if it is one."""
    files, words = KINDS[kind]
    source = draw.choice(files)
    file = folder / source.name
    file.write_bytes(changed(source.read_bytes().decode("utf-8", "replace"), draw).encode("utf-8", "surrogatepass"))
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said), contextlib.chdir(folder):
        try:
            code: object = srtk([*words, file.name])
        except SystemExit as end:  # argparse
            code = end.code
        except Exception as error:  # noqa: BLE001 - it is what is looked for
            code = f"{type(error).__name__}: {error}"
    fault = next((line for line in said.getvalue().splitlines() if any(word in line for word in FAULTS)), "")
    if code not in (0, 1, 2) or fault:
        return "finding", f"{source.name}: {code}: {fault}"
    return ("read", "") if code == 0 else ("refused", "")


def main() -> int:
    """Try, and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tries", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    os.environ.setdefault("SRTK_DATA", "data")
    findings = 0
    for kind in KINDS:
        counts: Counter[str] = Counter()
        for number in range(args.tries // len(KINDS)):
            with tempfile.TemporaryDirectory() as folder:
                outcome, finding = tried(kind, random.Random(f"{args.seed} {kind} {number}"), Path(folder))
            counts[outcome] += 1
            if finding:
                print(f"{kind} {number} of seed {args.seed}: {finding}", flush=True)
        print(f"{kind}: {dict(sorted(counts.items()))}", flush=True)
        findings += counts["finding"]
    return int(findings > 0)


if __name__ == "__main__":
    sys.exit(main())
