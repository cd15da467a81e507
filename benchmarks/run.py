"""Run every benchmark with available data, print the figures, and write them to `benchmarks/results`.

    python -m benchmarks.run [--only NAME ...]      (make bench)

Takes hours. A benchmark without its data says what it lacks. Each can also be run by itself, and some with more choices
(see the files in the rooms beside this one); then nothing is written. `make docs` makes the pages of what was written.
The comparison with SRTK needs an environment with SRTK, and trainings for hours a machine for themselves: these are not
among the parts.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs

from benchmarks.common import DATA
from benchmarks.figures import KEPT_IN, RESULTS, ROOT, merge, this_run


@attrs.frozen
class Part:
    """A benchmark of `make bench`.

    Attributes:
        topic: Topic of its figures.
        measurement: Measurement of its figures, where these do not name theirs.
        module: Its module below `benchmarks`.
        arguments: Its arguments.
        seeds: Seeds that it draws by.
    """

    topic: str
    measurement: str | None
    module: str
    arguments: tuple[str, ...] = ()
    seeds: tuple[int, ...] | None = None

    @property
    def command(self) -> str:
        """The command of the figures, as a person types it."""
        return " ".join(["OMP_NUM_THREADS=1 python -m", f"benchmarks.{self.module}", *self.arguments])


PARTS: dict[str, Part] = {
    "zero-shot": Part("search", "zero-shot", "search.zero_shot"),
    "defaults": Part("search", "defaults", "search.defaults"),
    "thirty-questions": Part("search", "thirty-questions", "search.thirty_questions"),
    "oracle-ceilings": Part(
        "language-models",
        "ceilings",
        "search.oracle_ceilings",
        ("--limit", "500", "--only", "pathquestion", "metaqa-1", "metaqa-2"),
        (0,),
    ),
    "oracle-ceilings-3": Part(
        "language-models", "ceilings", "search.oracle_ceilings", ("--limit", "150", "--only", "metaqa-3"), (0,)
    ),
    "exact": Part("answers", "exact", "answers.measure"),
    "generated-tables": Part(
        "answers",
        "generated-tables",
        "answers.generated_tables",
        ("--topics", "wells", "bells", "--seeds", "101", "102"),
        (101, 102),
    ),
    "public-sets": Part("answers", "public-sets", "answers.public_sets", ("--limit", "100"), (11, 12)),
    "operations": Part("operations", "kinds", "operations.operations", ("--only", "demo", "demo-linked"), (7,)),
    "topics": Part("operations", "several-topics", "operations.topics", ("--several",)),
    "mentions": Part("linking", "mentions", "linking.mentions"),
    "linking": Part("linking", "end-to-end", "linking.linking"),
    "raw-links": Part("linking", "names", "linking.raw_links"),
    "dictionary-speed": Part("linking", "speed", "linking.dictionary_speed"),
    "index-search": Part("index-search", "triples", "index.index_search"),
    "structgpt": Part(
        "language-models",
        "without-a-model",
        "language_models.structgpt",
        ("--only", "pathquestion", "metaqa", "--limit", "150", "--relation-triples", "20"),
    ),
    "structgpt-demo": Part("language-models", "without-a-model", "language_models.structgpt", ("--only", "demo")),
    "scripted-model": Part(
        "language-models", "scripted-model", "language_models.structgpt", ("--oracle", "--only", "cwq", "--limit", "50")
    ),
    "structgpt-speed": Part("language-models", "side-by-side", "language_models.structgpt", ("--speed",)),
    "twins": Part("path-patterns", "twins", "path_patterns.twins"),
    "twins-bound": Part("path-patterns", "twins-bound", "path_patterns.twins", ("--choose",), (0, 1, 2)),
    "trained": Part("training", "pathquestion", "training.trained"),
    "graph-reader": Part("training", "graph-reader", "training.graph_reader", (), (0,)),
    "cross-validation": Part("training", "cross-validation", "training.cross_validation"),
    "encoder-share": Part("speed", "encoder-share", "speed.encoder_share"),
    "run-memory": Part("speed", "run-memory", "speed.run_memory"),
    "local-graph": Part("stores", "local-graph", "speed.local_graph", ("--triples", "20000000", "--update")),
    "search-floor": Part("speed", "search-floor", "speed.search_floor", ("--questions", "100")),
    "over-sparql": Part("speed", "over-sparql", "speed.over_sparql", ("--questions", "100")),
    "path-search": Part("speed", "path-search", "speed.path_search", ("--all",)),
    "shared-session": Part("speed", "shared-session", "speed.shared_session"),
    "same-subgraphs": Part("reliability", "same-subgraphs", "reliability.same_subgraphs"),
    "faults": Part("reliability", "faults", "reliability.faults"),
    "executors": Part("reliability", "executors", "reliability.executors", ("--rounds", "3"), (0,)),
    "damage": Part("reliability", "damage", "reliability.damage", ("--count", "2500"), (0,)),
    "service": Part("reliability", "service", "service.load", ("--rounds", "3")),
    "agents": Part("reliability", "agents", "service.agents"),
    "mutants": Part("reliability", "mutants", "mutants", ("--hand", "compound")),
    "adversary": Part("reliability", "adversary", "reliability.adversary", (), (0,)),
    "random-kills": Part("reliability", None, "reliability.random_kills"),
}
"""Names as given to `--only`."""


def run(part: Part, folder: Path | None) -> bool:
    """Run a benchmark in a process of its own, and write its records; return whether it succeeded.

    Args:
        part: The benchmark.
        folder: Folder of the results; None keeps nothing.
    """
    with tempfile.TemporaryDirectory() as place:
        kept = Path(place) / "records.jsonl"
        environment = {**os.environ, "SRTK_DATA": str(DATA), "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-m", f"benchmarks.{part.module}", *part.arguments]
        if folder:
            environment[KEPT_IN] = str(kept)
        succeeded = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode == 0
        if succeeded and folder and kept.exists():
            write(part, [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()], folder)
    return succeeded


def write(part: Part, records: Iterable[Mapping[str, Any]], folder: Path) -> None:
    """Write the records of a benchmark into the file of its topic."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for kept in records:
        name = kept.get("measurement", part.measurement)
        found.setdefault(name, []).append({key: value for key, value in kept.items() if key != "measurement"})
    for name, some in found.items():
        merge(part.topic, name, some, part.command, this_run(part.seeds), folder)
        print(f"wrote {len(some)} figures of {part.topic}, {name}", flush=True)


def main() -> int:
    """Run the benchmarks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", metavar="NAME", help=f"prefixes of {', '.join(PARTS)}")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the records")
    parser.add_argument("--dry", action="store_true", help="print the figures, and write none")
    args = parser.parse_args()
    failed = []
    for name, part in PARTS.items():
        if args.only and not name.startswith(tuple(args.only)):
            continue
        print(f"\n{name}: {part.command}", flush=True)
        if not run(part, None if args.dry else args.results):
            failed.append(name)
    if failed:
        print(f"\nfailed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
