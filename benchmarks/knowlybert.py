"""WebNLG and LAMA: hidden triples that a masked language model fills into sentences, beside `frequency`.

    OMP_NUM_THREADS=1 python benchmarks/knowlybert.py --model FOLDER
    OMP_NUM_THREADS=1 python benchmarks/knowlybert.py --model FOLDER --data lama --seeds 1
    OMP_NUM_THREADS=1 python benchmarks/knowlybert.py --model FOLDER --development --types soft --set masks=2

Of WebNLG 30 % of the triples between entities are hidden by a hash, for each of three seeds; of what is left a fifth is
held out. Templates are made of the texts, by triples that are neither hidden nor held out, and `soft` types are learnt
on the held-out ones. Both ends of each hidden triple are asked for. Of LAMA a half is hidden, its own templates are
used, and the objects are asked for. A curve ranks all completions of one end by their
confidence; its recall is the share of all hidden triples.

`--development` asks for the held-out triples, and leaves the hidden ones alone; settings are chosen so.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")

from common import DATA, lacking
from srtk_plugin_baselines.frequency import FrequencyCompleter
from srtk_plugin_datasets.hidden_facts import hidden_facts
from srtk_plugin_datasets.lama import HIDDEN as LAMA_HIDDEN
from srtk_plugin_datasets.lama import lama_facts, lama_relations
from srtk_plugin_datasets.webnlg import mentions, names, read_webnlg, webnlg_files
from srtk_plugin_knowlybert.annotated import AnnotatedCorpus
from srtk_plugin_knowlybert.completer import MaskedLMCompleter
from srtk_plugin_knowlybert.fit_settings import MaskedLMFitSettings
from srtk_plugin_knowlybert.state import FILE
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_transformers.mask_filler import TransformersMaskFiller

from srtk_framework.records import dumps
from srtk_framework.roles import Completer, TrainingTask
from srtk_framework.text import read_yaml
from srtk_framework.values import Completion, Literal, Pattern, Triple

SEEDS = (0, 1, 2)
HIDDEN, HELD = 0.3, 0.2
MOST = 10
"""Completions of a pattern that are counted."""

Ranked = list[tuple[float, bool]]


class World:
    """The triples and texts of WebNLG.

    Args:
        folder: Where the annotated texts and the names are written.
    """

    share = HIDDEN
    ends: tuple[str, ...] = ("object", "subject")

    def __init__(self, folder: Path) -> None:
        entries = [one for file in webnlg_files(DATA / "webnlg", ("train", "dev")) for one in read_webnlg(file)]
        self.triples = sorted({triple for entry in entries for triple in entry.triples})
        ids = sorted({end for triple in self.triples for end in triple[::2] if not isinstance(end, Literal)})
        self.called = {id_: names(id_) for id_ in ids}
        self.names, self.texts = folder / "names.tsv", folder / "texts.jsonl"
        self.names.write_text("".join(f"{id_}\t{one}\n" for id_ in ids for one in self.called[id_]), encoding="utf-8")
        self.labels = {id_: some[0] for id_, some in self.called.items()}
        with self.texts.open("w", encoding="utf-8") as out:
            for entry in entries:
                for number, text in enumerate(entry.texts, 1):
                    row = {"id": f"{entry.id}/{number}", "text": text, "mentions": mentions(text, entry.triples)}
                    out.write(dumps(row) + "\n")

    def graph(self, triples: Sequence[Triple]) -> MemoryGraph:
        """Make a graph of some triples with the names of all entities."""
        aliases = {id_: some[1:] for id_, some in self.called.items()}
        return MemoryGraph(triples=triples, labels=self.labels, aliases=aliases)

    def sources(self) -> dict[str, Any]:
        """Return what templates are made of."""
        corpus = AnnotatedCorpus(path=str(self.texts))
        corpus.open()
        return {"corpus": corpus}

    def split(self, seed: int) -> tuple[list[Triple], list[Triple], list[Triple]]:
        """Return the hidden facts, those held out of the rest, and all triples that are not hidden."""
        facts = [triple for triple in self.triples if not isinstance(triple.object, Literal)]
        hidden = hidden_facts(facts, self.share, seed)
        out = set(hidden)
        known = [one for one in self.triples if one not in out]
        held = hidden_facts((one for one in known if not isinstance(one.object, Literal)), HELD, seed)
        return hidden, held, known


class LamaWorld(World):
    """The facts and templates of LAMA; a label is the id.

    Args:
        folder: Where the names are written.
    """

    share = LAMA_HIDDEN
    ends = ("object",)

    def __init__(self, folder: Path) -> None:
        self.triples = lama_facts(DATA / "lama")
        ids = sorted({end for triple in self.triples for end in triple[::2]})
        self.called = {id_: [id_] for id_ in ids}
        self.labels = lama_relations(DATA / "lama")
        self.names = folder / "names.tsv"
        self.names.write_text("".join(f"{id_}\t{id_}\n" for id_ in ids), encoding="utf-8")

    def sources(self) -> dict[str, Any]:
        """Return the templates of the set."""
        return {"templates": str(DATA / "lama/relations.jsonl")}


def main() -> int:
    """Measure, and print a line of JSON for each figure."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--model", required=True, help="folder of the masked language model")
    arguments.add_argument("--data", choices=("webnlg", "lama"), default="webnlg")
    arguments.add_argument("--development", action="store_true", help="ask for the held-out facts")
    arguments.add_argument("--types", nargs="+", default=["soft", "signatures", "seen", "none"], help="kinds of types")
    arguments.add_argument("--seeds", type=int, default=len(SEEDS), help="number of seeds")
    arguments.add_argument("--fit", action="append", default=[], metavar="NAME=VALUE", help="setting of the training")
    arguments.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="setting of masked-lm")
    given = arguments.parse_args()
    if missing := lacking("webnlg/en" if given.data == "webnlg" else "lama/relations.jsonl"):
        print(missing, file=sys.stderr)
        return 0
    started = time.process_time()
    curves: dict[tuple[str, str], Ranked] = {}
    firsts: dict[tuple[str, str], list[tuple[int, bool]]] = {}
    totals = {"object": 0, "subject": 0}
    with tempfile.TemporaryDirectory() as folder:
        world = (World if given.data == "webnlg" else LamaWorld)(Path(folder))
        filler = TransformersMaskFiller(model=given.model, threads=1)
        filler.open()
        for seed in SEEDS[: given.seeds]:
            hidden, held, known = world.split(seed)
            if given.development:
                out = set(held)
                hidden, known = held, [one for one in known if one not in out]
                facts = [one for one in known if not isinstance(one.object, Literal)]
                held = hidden_facts(facts, HELD, seed + 100)
            found = completers(world, filler, known, held, seed, Path(folder), given)
            pieces = {id_: min(map(len, filler.tokens(some))) for id_, some in world.called.items()}
            for end in world.ends:
                totals[end] += len(hidden)
                by_pattern: dict[Pattern, set[str]] = {}
                for s, r, o in hidden:
                    pattern, sought = (Pattern(s, r), o) if end == "object" else (Pattern(None, r, o), s)
                    by_pattern.setdefault(pattern, set()).add(str(sought))
                patterns = sorted(by_pattern, key=str)
                for name, completer in found.items():
                    rows = completer.complete(patterns, MOST)
                    curve = curves.setdefault((name, end), [])
                    first = firsts.setdefault((name, end), [])
                    for pattern, row in zip(patterns, rows, strict=True):
                        right = [_filler(one, end) in by_pattern[pattern] for one in row]
                        curve += [(one.confidence, good) for one, good in zip(row, right, strict=True)]
                        first.append((min(pieces[id_] for id_ in by_pattern[pattern]), bool(right[:1] == [True])))
    for (name, end), curve in sorted(curves.items(), key=lambda one: (one[0][1], one[0][0])):
        print(json.dumps({"end": end, "completer": name, **figures(curve, totals[end], firsts[name, end])}))
    print(json.dumps({"cpu_s": round(time.process_time() - started)}))
    return 0


def completers(
    world: World,
    filler: TransformersMaskFiller,
    known: Sequence[Triple],
    held: Sequence[Triple],
    seed: int,
    folder: Path,
    given: argparse.Namespace,
) -> dict[str, Completer]:
    """Train the completer once, and open it with each kind of types."""
    graph = world.graph(known)
    frequency = FrequencyCompleter(graph=graph)
    frequency.open()
    settings: dict[str, Any] = {"graph": graph, "filler": filler, "names": str(world.names), **_settings(given.set)}
    trained = MaskedLMCompleter(**settings, **world.sources())
    trained.open()
    task = TrainingTask([], None, folder, seed, held)
    print(json.dumps({"seed": seed, "fit": trained.fit(task, MaskedLMFitSettings(**_settings(given.fit)))}), flush=True)
    trained.save(folder / f"model-{seed}")
    print((folder / f"model-{seed}" / FILE).read_text(encoding="utf-8")[-600:], file=sys.stderr)
    found: dict[str, Completer] = {"frequency": frequency}
    for types in given.types:
        one = MaskedLMCompleter(**settings, types=types, path=str(folder / f"model-{seed}"))
        one.open()
        found[f"masked-lm, {types}"] = one
    return found


def figures(curve: Ranked, total: int, first: Sequence[tuple[int, bool]]) -> dict[str, Any]:
    """Return what a ranking of completions is worth."""
    ranked = sorted(curve, key=lambda one: -one[0])
    good, at_recall, recall = 0, None, 0.0
    for at, (confidence, right) in enumerate(ranked, 1):
        good += right
        # Equal confidences are cut together.
        if at < len(ranked) and ranked[at][0] == confidence:
            continue
        if at_recall is None and good >= 0.05 * total:
            at_recall = good / at
        if good >= 0.5 * at:
            recall = good / total

    def share(least: int, most: int) -> float | None:
        some = [right for pieces, right in first if least <= pieces <= most]
        return round(sum(some) / len(some), 4) if some else None

    return {
        "queries": len(first),
        "found": round(good / total, 4),
        "precision at recall .05": None if at_recall is None else round(at_recall, 4),
        "recall at precision .5": round(recall, 4),
        "P@1": share(0, 99),
        "P@1, one piece": share(1, 1),
        "P@1, two or three": share(2, 3),
    }


def _filler(one: Completion, end: str) -> str:
    return str(one.triple.object if end == "object" else one.triple.subject)


def _settings(given: Sequence[str]) -> dict[str, Any]:
    return {name: read_yaml(value, name) for name, _, value in (one.partition("=") for one in given)}


if __name__ == "__main__":
    raise SystemExit(main())
