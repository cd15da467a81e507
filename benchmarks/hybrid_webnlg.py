"""Hidden triples of WebNLG completed by `hybrid` over a language model, rules, texts and frequency, beside its parts.

    OMP_NUM_THREADS=1 python benchmarks/knowlybert.py --model MODEL --seeds 1 --types soft --out FOLDER
    OMP_NUM_THREADS=1 python benchmarks/hybrid_webnlg.py --model MODEL --learnt FOLDER

FOLDER holds what `masked-lm` learnt for seed 0. `path-rules` and `text-search` learn from the same graph here, and
`hybrid` from the held-out triples, which none of them learnt its rules, paths or templates from; the prior of `soft`
types and the kinds of queries of `text-search` were chosen on them. Both ends of each hidden triple are asked for. The
figures are those of `hybrid.py`. Alone, `frequency` also rates all fillers for entities that the graph lacks.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import text_search
from common import lacking
from completion import Data
from hybrid import compared
from knowlybert import RememberedFiller, World
from srtk_plugin_baselines.frequency import FrequencyCompleter
from srtk_plugin_knowlybert.completer import MaskedLMCompleter
from srtk_plugin_patterns.rule_completer import PathRuleCompleter, RuleFitSettings
from srtk_plugin_patterns.text_search import TextSearchCompleter, TextSearchFitSettings

from srtk_framework.graph import TripleTable
from srtk_framework.roles import Completer, TrainingTask
from srtk_framework.values import Literal


def main() -> int:
    """Measure, and print a line of JSON for each figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="folder of the masked language model")
    parser.add_argument("--learnt", type=Path, required=True, help="folder that benchmarks/knowlybert.py wrote")
    parser.add_argument("--methods", nargs="+", choices=["isotonic", "logistic"], default=["isotonic", "logistic"])
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", help="settings of hybrid")
    parser.add_argument("--fit", nargs="*", default=[], metavar="NAME=VALUE", help="settings of its training")
    given = parser.parse_args()
    if missing := lacking("webnlg/en"):
        print(missing, file=sys.stderr)
        return 0
    started = time.process_time()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        world, texts = World(folder), text_search.World(folder, 1)
        hidden, held, known = world.split(0)
        graph = world.graph(known)
        task = TrainingTask([], None, folder / "task", 0, held)

        rules = PathRuleCompleter(graph=graph)
        rules.open()
        rules.fit(task, RuleFitSettings())
        rules.save(folder / "rules")
        searched: dict[str, Any] = {"graph": graph, "index": texts.index, "linker": texts.linker}
        search = TextSearchCompleter(**searched)
        search.open()
        search.fit(task, TextSearchFitSettings())
        search.save(folder / "text")
        filler = RememberedFiller(model=given.model, threads=1)
        filler.open()
        parts: dict[str, Completer] = {
            "frequency": FrequencyCompleter(graph=graph),
            "path-rules": PathRuleCompleter(graph=graph, path=str(folder / "rules")),
            "text-search": TextSearchCompleter(**searched, path=str(folder / "text")),
            "masked-lm": MaskedLMCompleter(
                graph=graph,
                filler=filler,
                names=str(world.names),
                types="soft",
                path=str(given.learnt / "model-0"),
            ),
        }
        for part in parts.values():
            part.open()
        floor = FrequencyCompleter(graph=graph, unknown=True)
        floor.open()
        facts = [one for one in (*known, *hidden) if not isinstance(one.object, Literal)]
        data = Data(known, held, hidden, TripleTable.from_triples(facts))
        print(json.dumps({"learnt in cpu_s": round(time.process_time() - started)}), flush=True)
        for row in compared(graph, parts, data, given, floor):
            print(json.dumps({"facts": len(hidden), **row}, default=float), flush=True)
    print(json.dumps({"cpu_s": round(time.process_time() - started)}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
