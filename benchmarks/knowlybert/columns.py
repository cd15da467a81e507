"""The tables of the KnowlyBERT paper: relation extraction, embeddings, the language model and `hybrid`, in one run.

    OMP_NUM_THREADS=1 python -m benchmarks.knowlybert.columns --data wiki27k --model FOLDER --patterns 500
    OMP_NUM_THREADS=1 python -m benchmarks.knowlybert.columns --data codex-s
    python -m benchmarks.knowlybert.columns --data wiki27k --read FILE

All completers are asked for the same patterns, over one graph without the hidden facts and without the triples that say
these again by a twin (`--twins` leaves these in). Relation extraction is `text-search`: over the texts of WebNLG, which
state all facts, and over one line about each entity of Wiki27K. LAMA's facts come without texts here, and CoDEx-S,
Kinship and UMLS without templates.

HolE and ComplEx have equal numbers for an entity, epochs and negatives; each takes the learning rate that ranks the
held-out facts best. From these facts `soft` types, kinds of queries and `hybrid` are learnt too.

A system's answers are a set, as in the paper: all that the texts mention (ten at most); the first entity of
`frequency` and of the embeddings; the answers above the thresholds of `masked-lm, published`; what `masked-lm, soft`
and `hybrid` give at least a chance of a half. Precision is the mean over patterns with an answer, recall that over all.
Beside these: P@1 and MRR of the first ten completions, in which other right ones are no competitors; what `hybrid` is
over `frequency`; the patterns whose first completion is another; and an oracle that takes the best part of `hybrid` for
each pattern.

`--out` keeps what was learnt and answered, which is not computed again there.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")

from srtk_plugin_baselines.frequency import FrequencyCompleter
from srtk_plugin_completers.hybrid import HybridCompleter, HybridTraining
from srtk_plugin_datasets.hidden_facts import by_hash
from srtk_plugin_datasets.webnlg import read_webnlg, webnlg_files
from srtk_plugin_embedding.completer import EmbeddingCompleter
from srtk_plugin_embedding.fit_settings import EmbeddingFitSettings
from srtk_plugin_evaluation import bootstrap, paired
from srtk_plugin_index.indexes.bm25 import Bm25Index
from srtk_plugin_knowlybert.completer import MaskedLMCompleter
from srtk_plugin_knowlybert.fit_settings import MaskedLMFitSettings
from srtk_plugin_local.dictionary.linker import DictionaryLinker
from srtk_plugin_patterns.text_search import TextSearchCompleter, TextSearchFitSettings
from srtk_plugin_patterns.twins import find_twins, said_again

from benchmarks.common import DATA, lacking
from benchmarks.completion import completion
from benchmarks.figures import record_mean
from benchmarks.knowlybert.answered import Answered, read, write
from benchmarks.knowlybert.knowlybert import SEEDS, SET, LamaWorld, RememberedFiller, World, _settings, asked, trained
from srtk_framework.graph import TripleTable
from srtk_framework.roles import Completer, TrainingTask
from srtk_framework.values import Entry, Triple

NAMES = {"webnlg": "WebNLG", "lama": "LAMA", "wiki27k": "Wiki27K", "codex-s": "CoDEx-S", "kinship": "Kinship"}
NAMES |= {"umls": "UMLS", "fb15k237": "FB15k-237", "wn18rr": "WN18RR", "codex-m": "CoDEx-M"}
HELD = 2000
"""Most validation facts that are held out; the others are in the graph."""
BUDGET: Mapping[str, Any] = {"dimensions": 128, "epochs": 15, "negatives": 500, "validate_every": 3, "patience": None}
RATES = (0.03, 0.1, 0.3)
FIRST = ("frequency", "complex", "hole")
SURE = 0.5
RELATIONS = ("P17", "P19", "P31", "P36", "P101", "P103", "P108", "P159", "P279", "P1303", "P1412")
"""Relations of the paper's table 2."""


class FilesWorld(World):
    """A graph in three files, of which the test facts are hidden.

    Args:
        folder: Where names and templates are written.
        name: Name of the data set.
    """

    texts = None

    def __init__(self, folder: Path, name: str) -> None:
        self.data = completion.read(name, None)
        self.triples = self.data.known.named(self.data.known.triples)
        place = DATA / completion.FOLDERS[name]
        self.labels, self.about = (_table(place / f"entity2{kind}.txt") for kind in ("label", "definition"))
        self.called = {id_: [self.labels.get(id_) or id_] for id_ in self.data.known.entities}
        self.names, self.templates = folder / "names.tsv", folder / "relations.json"
        self.names.write_text("".join(f"{id_}\t{some[0]}\n" for id_, some in self.called.items()), encoding="utf-8")
        if (place / "relation2template.json").exists():
            self.templates.write_bytes((place / "relation2template.json").read_bytes())
            self.labels |= json.loads((place / "relation2label.json").read_text(encoding="utf-8"))

    def sources(self) -> dict[str, Any]:
        """Return the templates of the set."""
        return {"templates": str(self.templates)}

    def split(self, seed: int) -> tuple[list[Triple], list[Triple], list[Triple]]:
        """Return the test facts, some validation facts, and all others with these."""
        known = sorted({*self.data.train, *self.data.valid} - set(self.data.test))
        return self.data.test, sorted(by_hash(set(known) & set(self.data.valid), seed)[:HELD]), known


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print a line of JSON for each figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, choices=list(NAMES))
    parser.add_argument("--model", help="folder of the masked language model; without it there is no such column")
    parser.add_argument("--patterns", type=int, help="most patterns of each end, drawn by hashes")
    parser.add_argument("--seed", type=int, default=SEEDS[0])
    parser.add_argument("--twins", action="store_true", help="leave in the graph what says a hidden fact again")
    parser.add_argument("--hybrid", nargs="*", default=[], metavar="NAME=VALUE", help="settings of hybrid")
    parser.add_argument("--out", type=Path, help="folder that keeps what was learnt and answered")
    parser.add_argument("--read", type=Path, help="file of answers to make figures of")
    given = parser.parse_args(arguments)
    if missing := lacking("webnlg/en" if given.data == "webnlg" else completion.FOLDERS.get(given.data, given.data)):
        print(missing, file=sys.stderr)
        return 0
    started = time.process_time()
    if given.read is None:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary) if given.out is None else given.out
            folder.mkdir(parents=True, exist_ok=True)
            file = folder / "answers.jsonl"
            if not file.exists():
                write(file, answered(given, folder))
            report(given.data, read(file))
        print(json.dumps({"cpu_s": round(time.process_time() - started)}))
    else:
        report(given.data, read(given.read))
    return 0


def answered(given: argparse.Namespace, folder: Path) -> list[Answered]:
    """Train the completers, and ask them."""
    kinds = {"webnlg": World, "lama": LamaWorld}
    world = kinds[given.data](folder) if given.data in kinds else FilesWorld(folder, given.data)
    hidden, held, known = world.split(given.seed)
    whole = TripleTable.from_triples([*known, *hidden])
    if not given.twins:
        again = set(said_again(whole, hidden, find_twins(whole)))
        known = [fact for fact in known if fact not in again]
        held = [fact for fact in held if fact not in again]
        print(json.dumps({"twins of hidden facts": len(again), "known": len(known), "held out": len(held)}), flush=True)
    filler = None
    if given.model is not None:
        filler = RememberedFiller(model=given.model, threads=1)
        filler.open()
    graph = world.graph(known)
    task = TrainingTask([], None, folder / "task", given.seed, held)
    found: dict[str, Completer] = {"frequency": FrequencyCompleter(graph=graph, unknown=True)}
    for kind in ("complex", "hole"):
        found[kind] = embedding(graph, kind, task, folder)
    if entries := documents(world):
        found["text-search"] = text_search(world, graph, entries, task, folder)
    if filler is not None:
        settings = {"graph": graph, "filler": filler, "names": str(world.names)}
        path = trained(world, settings, held, given.seed, folder, MaskedLMFitSettings())
        found["masked-lm, soft"] = MaskedLMCompleter(**settings, path=str(path))
    for one in found.values():
        one.open()
    # ComplEx and HolE know the same; the better one is enough.
    parts = [one for name, one in found.items() if name != "hole"]
    hybrid = HybridCompleter(completers=parts, graph=graph, **_settings(given.hybrid))
    hybrid.open()
    clock = time.process_time()
    figures = hybrid.fit(task, HybridTraining(patterns=3000))
    print(json.dumps({"hybrid": figures, "cpu_s": round(time.process_time() - clock)}), flush=True)
    found["hybrid"] = hybrid
    if filler is not None:
        filler.forget()
        templates = str(path / "templates.json") if world.texts is not None else world.sources()["templates"]
        found[SET] = MaskedLMCompleter(**{**settings, "variant": "code"}, templates=templates)
        found[SET].open()
        found[SET].fit(task, MaskedLMFitSettings())
        filler.forget()
    return asked(world, filler, found, hidden, given.seed, given.patterns)


def embedding(graph: Any, kind: Any, task: TrainingTask, folder: Path) -> EmbeddingCompleter:
    """Train an embedding with each learning rate, and return the one that ranks the held-out facts best."""
    kept, path = -1.0, folder / kind
    for rate in RATES:
        one = EmbeddingCompleter(graph=graph, model=kind)
        one.open()
        clock = time.process_time()
        figures = one.fit(
            TrainingTask([], None, folder / f"{kind}-{rate}", task.seed, task.held_out),
            EmbeddingFitSettings(**BUDGET, learning_rate=rate),
        )
        shown = {"embedding": kind, "rate": rate, "epochs": figures["epochs"], "held-out MRR": round(figures["mrr"], 4)}
        print(json.dumps({**shown, "cpu_s": round(time.process_time() - clock)}), flush=True)
        if figures["mrr"] > kept:
            kept = figures["mrr"]
            one.save(path)
    return EmbeddingCompleter(graph=graph, path=str(path))


def documents(world: World) -> list[Entry]:
    """Return the texts of a world that name its entities; none without any."""
    if isinstance(world, FilesWorld):
        return [
            Entry(id_, f"{world.called[id_][0]} is {text}.") for id_, text in world.about.items() if id_ in world.called
        ]
    if world.texts is None:
        return []
    entries = [one for file in webnlg_files(DATA / "webnlg", ("train", "dev")) for one in read_webnlg(file)]
    return [Entry(f"{one.id}/{number}", text) for one in entries for number, text in enumerate(one.texts, 1)]


def text_search(world: World, graph: Any, entries: Sequence[Entry], task: TrainingTask, folder: Path) -> Completer:
    """Index texts, and learn the kinds of queries."""
    index = Bm25Index(path=str(folder / "words"), sentences=1)
    index.create()
    index.add(entries)
    index.commit()
    linker = DictionaryLinker(graph=world.graph([Triple(id_, "is", id_) for id_ in world.called]))
    linker.open()
    settings = {"graph": graph, "index": index, "linker": linker}
    one = TextSearchCompleter(**settings)
    one.open()
    clock = time.process_time()
    figures = one.fit(task, TextSearchFitSettings(facts=20))
    print(json.dumps({"text-search": figures, "cpu_s": round(time.process_time() - clock)}), flush=True)
    one.save(folder / "text")
    return TextSearchCompleter(**settings, path=str(folder / "text"))


def report(data: str, answers: Sequence[Answered]) -> None:
    """Print the figures of all completers by the paper's slices, and what is between `hybrid` and `frequency`."""
    rows: dict[str, list[Answered]] = {}
    for one in answers:
        rows.setdefault(one.completer, []).append(one)
    for name, some in rows.items():
        for where, members in slices(some).items():
            show(f"{NAMES[data]}, {where}", name, members)
    ours, simple = rows["hybrid"], rows["frequency"]
    parts = [some for name, some in rows.items() if name not in ("hybrid", "hole", SET)]
    best = [max(map(reciprocal, each)) for each in zip(*parts, strict=True)]
    mrr = {name: [reciprocal(one) for one in some] for name, some in rows.items()}
    first = {name: [float(one.right[:1] == (True,)) for one in some] for name, some in rows.items()}
    other = [float(one.first != simple_.first) for one, simple_ in zip(ours, simple, strict=True)]
    for end in ("all", *sorted({f"open {one.end}" for one in ours})):
        at = [place for place, one in enumerate(ours) if end in ("all", f"open {one.end}")]
        where = f"{NAMES[data]}, {end}"

        def column(values: Sequence[float], some: Sequence[int] = at) -> list[float]:
            return [values[place] for place in some]

        for metric, values in (("MRR", mrr), ("P@1", first)):
            simplest = column(values["frequency"])
            for name in (name for name in rows if name != "frequency"):
                _kept(where, f"{name}, less frequency", metric, paired(column(values[name]), simplest))
        _kept(where, "hybrid", "another first completion", bootstrap(column(other)))
        _kept(where, "oracle of the best part", "MRR", bootstrap(column(best)))


def slices(some: Sequence[Answered]) -> dict[str, list[Answered]]:
    """Return the rows of the paper's tables."""
    found: dict[str, list[Answered]] = {"all": list(some)}
    for one in some:
        few = "1" if one.sought == 1 else "2 to 10" if one.sought <= 10 else "more than 10"
        of = [f"relation {one.kind}", f"open {one.end}", f"{few} sought"]
        of.append("one word" if one.words == 1 else "several words")
        for where in of + [one.relation] * (one.relation in RELATIONS):
            found.setdefault(where, []).append(one)
    return {where: members for where, members in sorted(found.items()) if where == "all" or len(members) < len(some)}


def show(where: str, name: str, some: Sequence[Answered]) -> None:
    """Print precision and recall of the answers as sets, P@1 and MRR."""
    cut = [one.right[: answers_of(name, one)] for one in some]
    told = [sum(row) / len(row) for row in cut if row]
    if told:
        _kept(where, name, "precision", bootstrap(told))
    _kept(where, name, "recall", bootstrap([sum(row) / one.sought for row, one in zip(cut, some, strict=True)]))
    if not where.endswith((", all", "open object", "open subject")):
        return
    _kept(where, name, "P@1", bootstrap([float(one.right[:1] == (True,)) for one in some]))
    _kept(where, name, "MRR", bootstrap([reciprocal(one) for one in some]))


def answers_of(name: str, one: Answered) -> int:
    """Return how many of its completions a completer's answer has."""
    if name in FIRST:
        return min(1, len(one.right))
    return len(one.right) if name in ("text-search", SET) else sum(sure >= SURE for sure in one.sure)


def reciprocal(one: Answered) -> float:
    """Return the mean reciprocal filtered rank of what is sought; 0 for what is not among the first ten."""
    wrong, found = 0, 0.0
    for is_right in one.right:
        found += is_right / (1 + wrong)
        wrong += not is_right
    return found / one.sought


def _kept(where: str, method: str, metric: str, estimate: Mapping[str, Any]) -> None:
    figures = [estimate["mean"], estimate["low"], estimate["high"]]
    shown = [None if figure is None else round(figure, 4) for figure in figures]
    print(json.dumps({"set": where, "method": method, "metric": metric, "n": estimate["n"], "figure": shown}))
    record_mean(where, method, metric, estimate, estimate["n"])


def _table(file: Path) -> dict[str, str]:
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return dict(line.split("\t", 1) for line in lines if "\t" in line)


if __name__ == "__main__":
    raise SystemExit(main())
