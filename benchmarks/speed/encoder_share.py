"""Ratio of the time of a beam run to the time of its encoder calls (width 10, depth 2).

    python -m benchmarks.speed.encoder_share [--limit N]

The `timing` observer measures both, twice. *Cold*, in batches, all candidate texts are encoded: nothing comes from the
cache of vectors. *Alone and warm*, questions come one by one, the cache has the vectors of the paths, and no choice is
made, so that the ratio is the number of encodings of a question that a question takes.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Mapping
from pathlib import Path

from benchmarks.common import OUT, Result, lacking, print_outcome, read_json, shown, srtk
from benchmarks.figures import record_figure

DEFAULT_LIMIT = 300
GOAL = 1.5
WHERE = "MetaQA, 2 hops"


ALONE = ("batch=1", "expander.choice=null")


def measure(limit: int, out: Path) -> Result:
    """Run MetaQA's recipe with the topic entity given, and compare the times of expander and encoder."""
    name, folder = "encoder-share", out / "encoder-share"
    cache = folder / "vectors"
    sets = ["vars.hops=2", f"vars.limit={limit}", "evaluate=false", f"output={shown(folder / 'run')}"]
    sets += [f"exporters.0.path={shown(folder / 'subgraphs.jsonl')}", f"path_scorer.cache={shown(cache)}"]
    command = "srtk run recipes/metaqa.yaml " + " ".join(f"--set {item}" for item in sets)
    why = lacking("metaqa/2-hop/qa_dev.txt", "metaqa/kb_from_splits.txt")
    if why:
        return Result(name, command, skipped=why)
    shutil.rmtree(cache, ignore_errors=True)
    found: dict[str, float] = {}
    for way, more in (("cold", ()), ("alone", ALONE)):
        given = [part for item in (*sets, *more) for part in ("--set", item)]
        _, failed = srtk("run", "recipes/metaqa.yaml", "--fresh", *given)
        if failed:
            return Result(name, command, failed=failed)
        manifest = read_json(folder / "run/manifest.json")
        (table,) = manifest["timing"].values()
        found |= {f"{way}_{key}": figure for key, figure in figures(table).items()}
    return Result(name, command, figures={"questions": manifest["counts"]["finished"], **found, "goal": GOAL})


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
        n = result.figures["questions"]
        for way, method in (("cold", "beam"), ("alone", "beam, alone and warm")):
            for key, metric in (("beam", "ms a question"), ("encoder", "ms of the encoder")):
                record_figure(WHERE, method, metric, 1000 * result.figures[f"{way}_{key}_seconds"] / n, n)
            record_figure(WHERE, method, "times the encoder's time", result.figures[f"{way}_ratio"], n)
    for key, value in result.figures.items():
        print(f"  {key}: {value}")
    return 1 if result.failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
