"""Ratio of the time of a beam run to the time of its encoder calls (width 10, depth 2).

    python -m benchmarks.speed.encoder_share [--limit N]

The `timing` observer measures both. All candidate texts are encoded; the cache on disk is not used.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from benchmarks.common import OUT, Result, lacking, print_outcome, read_json, shown, srtk
from benchmarks.figures import record_figure

DEFAULT_LIMIT = 300
GOAL = 1.5


def measure(limit: int, out: Path) -> Result:
    """Run MetaQA's recipe with the topic entity given, and compare the times of expander and encoder."""
    name, folder = "encoder-share", out / "encoder-share"
    sets = ["vars.hops=2", f"vars.limit={limit}", "path_scorer.cache=", "evaluate=false"]
    command = "srtk run recipes/metaqa.yaml " + " ".join(f"--set {item}" for item in sets)
    why = lacking("metaqa/2-hop/qa_dev.txt", "metaqa/kb_from_splits.txt")
    if why:
        return Result(name, command, skipped=why)
    sets += [f"output={shown(folder)}", f"exporters.0.path={shown(folder / 'subgraphs.jsonl')}"]
    _, failed = srtk("run", "recipes/metaqa.yaml", *(part for item in sets for part in ("--set", item)))
    if failed:
        return Result(name, command, failed=failed)
    manifest = read_json(folder / "manifest.json")
    (table,) = manifest["timing"].values()
    return Result(name, command, figures={"questions": manifest["counts"]["finished"], **figures(table)})


def figures(table: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Read seconds of the beam, of the encoder within it, and their ratio from a timing table."""
    beam = sum(row["seconds"] for key, row in table.items() if key.startswith("expander:"))
    encoder = sum(row["own"] for key, row in table.items() if key.startswith("encoder:"))
    texts = sum(row["items"] for key, row in table.items() if key.startswith("encoder:"))
    return {
        "beam_seconds": round(beam, 3),
        "encoder_seconds": round(encoder, 3),
        "encoded_texts": texts,
        "ratio": round(beam / encoder, 3) if encoder else float("inf"),
        "goal": GOAL,
    }


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=DEFAULT_LIMIT, help="number of questions")
    parser.add_argument("--out", type=Path, default=OUT, help="folder for the run")
    args = parser.parse_args()
    result = measure(args.limit, args.out.resolve())
    print_outcome(result)
    if result.figures:
        where, n = "MetaQA, 2 hops", result.figures["questions"]
        record_figure(where, "beam", "s", result.figures["beam_seconds"], n)
        record_figure(where, "encoder calls", "s", result.figures["encoder_seconds"], n)
        record_figure(where, "beam", "times the encoder's time", result.figures["ratio"], n)
    for key, value in result.figures.items():
        print(f"  {key}: {value}")
    return 1 if result.failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
