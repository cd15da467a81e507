"""Expanders other than `beam` and `ppr` on conjunctive questions: `rerank`, `structgpt` and `tog`.

    OMP_NUM_THREADS=1 python benchmarks/conjunctive.py [--only rerank structgpt tog] [--name NAME] [--less EARLIER]

The 420 questions of `topics.py` on WorldCup2014, links given. `rerank` reads 100 triples of an untrained beam; its head
is trained once on 500 of the set's own questions of one step, which have one topic each, and once on the conjunctive
questions of even number and scored on those of odd number. `structgpt` and `tog` are led by untrained MiniLM in the
place of a language model (`encoder-chooser`). `sorted` has the same triples as the row above it, those first at which
paths of most topics arrive; `bfs` is the simplest baseline. The records are in build/bench/conjunctive/NAME. `--less`
compares them with those of an earlier call, of another version, at 1 and 5: intervals of 95 %, p corrected after Holm.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from common import DATA, OUT, lacking, srtk
from srtk_plugin_evaluation import holm, paired
from topics import CUTS, Record, covered, football_questions, football_recipe, sorted_by_topics

CHOOSER = {"stop": "depth", "show": "path", "width": 3, "max_iterations": 2, "mention": ""}
EPOCHS = {"one topic": 6, "conjunctive": 12}
RERANK = {"use": "rerank", "inner": {"use": "beam", "depth": 2, "budget": {"triples": 100}}, "mention": ""}


def recipe(out: Path, questions: Sequence[Record], **blocks: Any) -> Path:
    """Write a recipe that runs an expander on some of the questions."""
    out.mkdir(parents=True, exist_ok=True)
    whole = json.loads(football_recipe(out).read_text(encoding="utf-8"))
    file = out / "questions.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in questions), encoding="utf-8")
    whole["knowledge_graph"]["path"] = str(OUT / "conjunctive/graph")
    (out / "recipe.yaml").write_text(json.dumps({**whole, **blocks}), encoding="utf-8")
    return out / "recipe.yaml"


def found(out: Path, questions: Sequence[Record], **blocks: Any) -> list[Record]:
    """Run an expander; return its records."""
    print(out.name, file=sys.stderr, flush=True)
    _, failed = srtk("run", str(recipe(out, questions, **blocks)), "--quiet", "--fresh")
    if failed:
        raise SystemExit(f"{out}: {failed}")
    return read(out)


def read(out: Path) -> list[Record]:
    """Read the records of a run by id."""
    lines = (out / "subgraphs.jsonl").read_text(encoding="utf-8").splitlines()
    return sorted(map(json.loads, lines), key=lambda record: str(record["id"]))


def training(out: Path, name: str, questions: Record, supervision: str) -> Record:
    """Return the training of a head."""
    return {
        "driver": "expander",
        "questions": questions,
        "supervision": {"use": supervision},
        "folder": str(out / f"head, {name}"),
        "fit": {"epochs": EPOCHS[name]},
    }


def methods(out: Path, only: Sequence[str]) -> dict[str, list[Record]]:
    """Run the methods; return their records by name."""
    every = football_questions()
    even, odd = every[::2], every[1::2]
    rows: dict[str, list[Record]] = {}
    if "rerank" in only:
        own = {"use": "wc2014", "path": str(DATA / "wc2014"), "kind": "1-hop", "limit": 500}
        # Nothing that several topics change is in this training: it is the same for every version.
        one = training(OUT / "conjunctive", "one topic", own, "gold-path")
        rows["rerank, one topic"] = found(out / "rerank, one topic", every, expander=RERANK, train=one)
        half = out / "even.jsonl"
        half.parent.mkdir(parents=True, exist_ok=True)
        half.write_text("".join(json.dumps(one) + "\n" for one in even), encoding="utf-8")
        both = training(out, "conjunctive", {"use": "jsonl", "path": str(half)}, "shortest-path")
        rows["rerank, conjunctive"] = found(out / "rerank, conjunctive", odd, expander=RERANK, train=both)
    for name in ("structgpt", "tog"):
        if name in only:
            chosen = {"generator": {"use": "encoder-chooser"}, "expander": {"use": name, **CHOOSER}}
            rows[name] = found(out / name, every, **chosen)
    rows["bfs"] = found(out / "bfs", every, expander={"use": "bfs", "depth": 2})
    return rows


def recall(records: Sequence[Record]) -> float:
    """Return the mean share of the answers that are in the subgraph."""
    shares = []
    for record in records:
        nodes = {end for s, _, o in record["triplets"] for end in (s, o)}
        shares.append(sum(answer in nodes for answer in record["answer_entities"]) / len(record["answer_entities"]))
    return sum(shares) / len(shares)


def differences(found: Mapping[str, Sequence[Record]], earlier: Path) -> list[str]:
    """Compare the methods with their earlier records, at 1 and 5; return rows of a table."""
    pairs = [(method, most) for method in found if method != "bfs" for most in (1, 5)]
    estimates = [paired(covered(found[name], most), covered(read(earlier / name), most)) for name, most in pairs]
    corrected = holm([estimate["p"] for estimate in estimates])
    return [
        f"| {name} at {most} | {one['mean']:+.3f} ({one['low']:+.3f} to {one['high']:+.3f}) | {p:.4f} |"
        for (name, most), one, p in zip(pairs, estimates, corrected, strict=True)
    ]


def main() -> int:
    """Print a row for each method, and one for the same triples sorted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=("rerank", "structgpt", "tog"))
    parser.add_argument("--name", default="now", help="folder of the records")
    parser.add_argument("--less", metavar="EARLIER", help="folder of the records of an earlier version")
    args = parser.parse_args()
    if missing := lacking("wc2014/WC2014.txt", "wc2014/WC-P1.txt"):
        print(f"skipped: {missing}", file=sys.stderr)
        return 0
    print("| method | questions | triples | joins | recall | " + " | ".join(f"at {most}" for most in CUTS) + " |")
    print("|---|" + "--:|" * (len(CUTS) + 4))
    results = methods(OUT / "conjunctive" / args.name, args.only)
    for method, records in results.items():
        for name, rows in ((method, records), ("sorted", list(map(sorted_by_topics, records)))):
            sizes = sum(len(row["triplets"]) for row in rows) / len(rows)
            joined = sum("joins" in row for row in rows) / len(rows)
            cells = " | ".join(f"{sum(covered(rows, most)) / len(rows):.3f}" for most in CUTS)
            print(f"| {name} | {len(rows)} | {sizes:.1f} | {joined:.3f} | {recall(rows):.3f} | {cells} |", flush=True)
    if args.less:
        print("\n".join(differences(results, OUT / "conjunctive" / args.less)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
