"""Mining of path patterns: processor time, memory, and the best paths of a relation.

    OMP_NUM_THREADS=1 python -m benchmarks.path_patterns.path_mining fb15k237 --length 2 --hub none
    OMP_NUM_THREADS=1 python -m benchmarks.path_patterns.path_mining fb15k237 --length 3 --hub none
    OMP_NUM_THREADS=1 python -m benchmarks.path_patterns.path_mining fb15k237 --length 4 --hub 100

The graph is `train.txt` of a folder of the data folder. Memory is the peak of the whole process.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time

from srtk_plugin_patterns.mining import mine
from srtk_plugin_patterns.path_patterns import MiningSettings

from benchmarks.common import DATA, lacking
from srtk_framework.graph import TripleTable
from srtk_framework.values import Triple

SHOWN = "/people/person/nationality"


def main() -> int:
    """Mine, and print the figures as JSON."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("data", help="folder of the data folder with train.txt")
    arguments.add_argument("--length", type=int, default=3)
    arguments.add_argument("--hub", default="none")
    arguments.add_argument("--relation", default=SHOWN, help="relation whose best paths are shown")
    given = arguments.parse_args()
    if missing := lacking(f"{given.data}/train.txt"):
        print(missing, file=sys.stderr)
        return 0
    lines = (DATA / given.data / "train.txt").read_text(encoding="utf-8").splitlines()
    table = TripleTable.from_triples(Triple(*line.split("\t")) for line in lines if line)
    settings = MiningSettings(length=given.length, hub=None if given.hub == "none" else int(given.hub))
    begin = time.process_time()
    patterns = mine(table, settings)
    spent = time.process_time() - begin
    figures = {
        "facts": len(table.triples),
        "relations": len(patterns.relations),
        "pairs": sum(one.mined for one in patterns.relations.values()),
        "paths": sum(len(one.paths) for one in patterns.relations.values()),
        "not_kept": patterns.cut["paths"],
        "hub_steps": patterns.cut["hub_steps"],
        "hub_edges": patterns.cut["hub_edges"],
        "cpu_s": round(spent),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }
    print(json.dumps({"data": given.data, "length": given.length, "hub": settings.hub, **figures}))
    if given.relation in patterns.relations:
        found = patterns.of(given.relation)
        for path in found.best(5, bounded=True):
            print(f"{path.pairs}/{found.mined} {found.score1(path):.3f} {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
