"""Retrieval by an index of verbalised triples, without links, beside beam search and breadth-first search from links.

python -m benchmarks.index.index_search [--limit N] [--only NAME ...]

Builds the indexes of recipes/index-pathquestion.yaml and recipes/index-metaqa.yaml where they are missing: those of
MetaQA's 130,425 triples take seconds by words, and six minutes of processor time by vectors.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.common import OUT, Result, lacking, print_outcome, srtk
from benchmarks.search.zero_shot import DEFAULT_LIMIT, Case, keep, run_case, show


def cases() -> Iterator[tuple[Case, tuple[str, ...]]]:
    """List the cases, each with the folders of its indexes."""
    for hops in (2, 3):
        files = (f"pathquestion/PQ-{hops}H.txt", f"pathquestion/{hops}H-kb.txt")
        case = Case(f"index-pathquestion-{hops}", "recipes/index-pathquestion.yaml", files, (f"vars.hops={hops}",))
        yield case, (f"build/pathquestion-{hops}-words", f"build/pathquestion-{hops}-meaning")
    for hops in (1, 2, 3):
        files = (f"metaqa/{hops}-hop/qa_dev.txt", "metaqa/kb_from_splits.txt")
        case = Case(f"index-metaqa-{hops}", "recipes/index-metaqa.yaml", files, (f"vars.hops={hops}",))
        yield case, ("build/metaqa-words", "build/metaqa-meaning")


def built(case: Case, indexes: tuple[str, ...]) -> str | None:
    """Build the indexes of a case where one is missing; return why that failed."""
    if lacking(*case.files) or all(Path(index, "manifest.json").is_file() for index in indexes):
        return None
    start = time.monotonic()
    sets = [part for item in case.sets for part in ("--set", item)]
    _, failed = srtk("index", "build", case.recipe, "--quiet", *sets)
    print(f"{case.name}: indexes built in {time.monotonic() - start:.0f} s")
    return failed


def main() -> int:
    """Run the cases and print their table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=DEFAULT_LIMIT, help="questions per case; 0 for all")
    parser.add_argument("--only", nargs="*", metavar="NAME", help="prefixes of case names")
    parser.add_argument("--out", type=Path, default=OUT, help="folder for the runs")
    args = parser.parse_args()
    out = args.out.resolve()
    results = []
    for case, indexes in cases():
        if args.only and not case.name.startswith(tuple(args.only)):
            continue
        failed = built(case, indexes)
        result = Result(case.name, f"srtk index build {case.recipe}", failed=failed) if failed else None
        results.append(result or run_case(case, args.limit or None, out))
        print_outcome(results[-1])
        keep(results[-1])
    show(results)
    return 1 if any(result.failed for result in results) else 0


if __name__ == "__main__":
    raise SystemExit(main())
