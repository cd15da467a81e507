"""CPU time and peak memory of one build, of files that are made here; run with the package of each commit in turn.

python -m benchmarks.files.build_cost make FOLDER --rows 10000000 [--only facts table]
PYTHONPATH=... python -m benchmarks.files.build_cost build FOLDER/facts.tsv
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
_BLOCK = 500_000
_WORDS = ("north", "river", "ada", "bo", "lake", "stone", "mill", "gold", "hill", "west")
_IRI = "http://example.org"
_TEXTS = 3
"""Number of the relation whose objects are texts in N-Triples."""


def _skewed(rng: np.random.Generator, count: int, most: int, skew: float) -> Ints:
    """Draw numbers below ``most``, of which small ones are the more frequent the larger ``skew`` is."""
    return np.minimum((most * rng.random(count) ** skew).astype(np.int64), most - 1)


def _sizes(rows: int) -> Iterator[tuple[int, int]]:
    return ((start, min(_BLOCK, rows - start)) for start in range(0, rows, _BLOCK))


def write_facts(folder: Path, rows: int) -> None:
    """Write the same facts as TSV and as N-Triples: a tenth as many entities as facts, fifty relations."""
    rng = np.random.default_rng(7)
    entities = max(1000, rows // 10)
    order = rng.permutation(entities)
    names = np.array([f"{_WORDS[i % 10]}_{_WORDS[i // 10 % 10]}_{i}" for i in range(entities)])
    with (folder / "facts.tsv").open("w") as tsv, (folder / "facts.nt").open("w") as ntriples:
        for _, size in _sizes(rows):
            subjects, objects = (names[order[_skewed(rng, size, entities, skew)]].tolist() for skew in (1.5, 3))
            facts = list(zip(subjects, _skewed(rng, size, 50, 2).tolist(), objects, strict=True))
            tsv.writelines(f"{s}\trelation_{r}\t{o}\n" for s, r, o in facts)
            ntriples.writelines(
                f"<{_IRI}/entity/{s}> <{_IRI}/relation/relation_{r}> "
                + (f'"{o}"@en .\n' if r == _TEXTS else f"<{_IRI}/entity/{o}> .\n")
                for s, r, o in facts
            )


def write_table(folder: Path, rows: int) -> None:
    """Write a table of entities: key, name, a link by values, a link to another row, two numbers and a date."""
    rng = np.random.default_rng(7)
    with (folder / "table.csv").open("w") as file:
        file.write("id,name,country,supervisor,height,income,born\n")
        for start, size in _sizes(rows):
            country, other = _skewed(rng, size, 200, 2), _skewed(rng, size, rows, 2)
            height, income = rng.integers(1400, 2100, size) / 10, rng.integers(1000, 99999, size)
            year, month, day = rng.integers(1930, 2010, size), rng.integers(1, 13, size), rng.integers(1, 29, size)
            file.writelines(
                f"E{n},{_WORDS[n % 10].title()} {_WORDS[n // 10 % 10].title()} {n},Country {country[i]},E{other[i]},"
                f"{height[i]},{income[i]},{year[i]}-{month[i]:02}-{day[i]:02}\n"
                for i, n in enumerate(range(start, start + size))
            )


def build(file: Path, place: Path) -> dict[str, Any]:
    """Build a file in this process; return seconds of CPU, peak memory in MB, and what was built."""
    import srtk_plugin_local
    from srtk_plugin_local.snapshot.build import build as build_snapshot
    from srtk_plugin_local.snapshot.build_settings import BuildSettings

    with tempfile.TemporaryDirectory(dir=place) as folder:
        built = build_snapshot(BuildSettings(files=(str(file),)), Path(folder) / "graph")
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "package": srtk_plugin_local.__file__,
        "file": file.name,
        "seconds": round(used.ru_utime + used.ru_stime, 1),
        "megabytes": used.ru_maxrss // 1024,
        "hash": built.meta.content[:12],
        "counts": built.meta.counts,
    }


def main() -> None:
    """Make the files, or build one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    does = parser.add_subparsers(dest="does", required=True)
    makes = does.add_parser("make")
    makes.add_argument("folder", type=Path)
    makes.add_argument("--rows", type=int, default=10_000_000)
    makes.add_argument("--only", nargs="+", choices=("facts", "table"), default=["facts", "table"])
    builds = does.add_parser("build")
    builds.add_argument("file", type=Path)
    args = parser.parse_args()
    if args.does == "build":
        print(json.dumps(build(args.file, args.file.parent)))
        return
    args.folder.mkdir(parents=True, exist_ok=True)
    for write, kind in ((write_facts, "facts"), (write_table, "table")):
        if kind in args.only:
            write(args.folder, args.rows)


if __name__ == "__main__":
    main()
