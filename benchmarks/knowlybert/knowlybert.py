"""WebNLG and LAMA: hidden triples that a masked language model fills into sentences, beside `frequency`.

    OMP_NUM_THREADS=1 python -m benchmarks.knowlybert.knowlybert --model FOLDER
    OMP_NUM_THREADS=1 python -m benchmarks.knowlybert.knowlybert --model FOLDER --data lama --seeds 1
    OMP_NUM_THREADS=1 python -m benchmarks.knowlybert.knowlybert --model FOLDER --development --types soft --set masks=2
    python -m benchmarks.knowlybert.knowlybert --read FILE

Of WebNLG 30 % of the triples between entities are hidden by a hash, for each of three seeds; of what is left a fifth is
held out. Templates are made of the texts, by triples that are neither hidden nor held out, and `soft` types are learnt
on the held-out ones. Both ends of each hidden triple are asked for. Of LAMA a half is hidden, its own templates are
used, and the objects are asked for. A curve ranks all completions of one end by their
confidence; its recall is the share of all hidden triples. Intervals of 95 % are of patterns drawn again, the same ones
for all completers where two are compared.

Entities whose triples are all hidden are not in the graph; `frequency` is asked to rate all fillers of the relation for
these, as `masked-lm` answers for all entities that have a name.

`published` has the variant of the published code over the same templates. Its answers are a set, cut by thresholds:
precision is the mean over patterns with an answer, recall that over all patterns (tables 1 and 2 of the paper).

`--out` keeps what was learnt and answered of each seed, which is not computed again there; `--read` makes the figures
of files of answers, those of several runs together.
`--known` leaves a part of the triples in the graph, and the same hidden ones are asked for; `--fit keep=1` keeps a
template of each relation.
`--development` asks for the held-out triples, and leaves the hidden ones alone; settings are chosen so.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import attrs

os.environ.setdefault("HF_HUB_OFFLINE", "1")

from srtk_plugin_baselines.frequency import FrequencyCompleter
from srtk_plugin_datasets.hidden_facts import hidden_facts
from srtk_plugin_datasets.lama import HIDDEN as LAMA_HIDDEN
from srtk_plugin_datasets.lama import lama_facts, lama_relations
from srtk_plugin_datasets.webnlg import mentions, names, read_webnlg, webnlg_files
from srtk_plugin_knowlybert.annotated import AnnotatedCorpus
from srtk_plugin_knowlybert.completer import MaskedLMCompleter
from srtk_plugin_knowlybert.fit_settings import MaskedLMFitSettings
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_transformers.mask_filler import TransformersMaskFiller

from benchmarks.common import DATA, lacking
from benchmarks.knowlybert.answered import Answered, differences, figures, read, sets, write
from srtk_framework.records import dumps, place
from srtk_framework.roles import Completer, TrainingTask
from srtk_framework.text import read_yaml
from srtk_framework.values import Completion, Literal, MaskedText, Pattern, TokenScore, Triple, batched

SEEDS = (0, 1, 2)
HIDDEN, HELD = 0.3, 0.2
MOST = 10
"""Completions of a pattern that are counted."""
BATCH = 256
SET = "masked-lm, published"


@attrs.define(eq=False)
class RememberedFiller(TransformersMaskFiller):
    """Fills a text once that several completers ask for."""

    _filled: dict[tuple[MaskedText, int], list[list[TokenScore]]] = attrs.field(init=False, factory=dict, repr=False)

    def fill(self, texts: Sequence[MaskedText], k: int) -> list[list[list[TokenScore]]]:
        """Return the most probable tokens of each gap, computed once."""
        new = [text for text in dict.fromkeys(texts) if (text, k) not in self._filled]
        for text, row in zip(new, super().fill(new, k) if new else [], strict=True):
            self._filled[text, k] = row
        return [self._filled[text, k] for text in texts]

    def forget(self) -> None:
        """Forget all texts."""
        self._filled.clear()


class World:
    """The triples and texts of WebNLG.

    Args:
        folder: Where the annotated texts and the names are written.
    """

    share = HIDDEN
    texts: Path | None
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
        self.labels, self.texts = lama_relations(DATA / "lama"), None
        self.names = folder / "names.tsv"
        self.names.write_text("".join(f"{id_}\t{id_}\n" for id_ in ids), encoding="utf-8")

    def sources(self) -> dict[str, Any]:
        """Return the templates of the set."""
        return {"templates": str(DATA / "lama/relations.jsonl")}


def main() -> int:
    """Measure, and print a line of JSON for each figure."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--model", help="folder of the masked language model")
    arguments.add_argument("--data", choices=("webnlg", "lama"), default="webnlg")
    arguments.add_argument("--development", action="store_true", help="ask for the held-out facts")
    arguments.add_argument("--types", nargs="+", default=["soft", "signatures", "seen", "none"], help="kinds of types")
    arguments.add_argument("--seeds", type=int, default=len(SEEDS), help="number of seeds")
    arguments.add_argument("--known", type=float, default=1.0, help="share of the triples that the graph keeps")
    arguments.add_argument("--patterns", type=int, help="most patterns of each end, drawn by hashes")
    arguments.add_argument("--fit", action="append", default=[], metavar="NAME=VALUE", help="setting of the training")
    arguments.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="setting of masked-lm")
    arguments.add_argument(
        "--out", type=Path, help="folder that keeps what was learnt and answered; made where missing"
    )
    arguments.add_argument("--read", type=Path, nargs="+", default=[], help="files of answers to make figures of")
    given = arguments.parse_args()
    if given.read:
        report(one for file in given.read for one in read(file))
        return 0
    if given.model is None:
        arguments.error("name a folder as --model, or files as --read")
    if missing := lacking("webnlg/en" if given.data == "webnlg" else "lama/relations.jsonl"):
        print(missing, file=sys.stderr)
        return 0
    started = time.process_time()
    answers: list[Answered] = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) if given.out is None else given.out
        folder.mkdir(parents=True, exist_ok=True)
        world = (World if given.data == "webnlg" else LamaWorld)(folder)
        filler = RememberedFiller(model=given.model, threads=1)
        filler.open()
        for seed in SEEDS[: given.seeds]:
            hidden, held, known = world.split(seed)
            if given.known < 1:
                known = hidden_facts(known, given.known, seed + 200)
                held = sorted(set(held) & set(known))
            if given.development:
                out = set(held)
                hidden, known = held, [one for one in known if one not in out]
                facts = [one for one in known if not isinstance(one.object, Literal)]
                held = hidden_facts(facts, HELD, seed + 100)
            file = folder / f"answers-{seed}.jsonl"
            if not file.exists():
                found = completers(world, filler, known, held, seed, folder, given)
                write(file, asked(world, filler, found, hidden, seed, given.patterns))
            answers += read(file)
    report(answers)
    print(json.dumps({"cpu_s": round(time.process_time() - started)}))
    return 0


def asked(
    world: World,
    filler: RememberedFiller | None,
    found: dict[str, Completer],
    hidden: Sequence[Triple],
    seed: int,
    most: int | None = None,
) -> list[Answered]:
    """Ask all completers for the open ends of hidden triples, of each end at most so many patterns, drawn by hashes."""
    kinds = cardinalities(world.triples)
    pieces = {} if filler is None else {id_: min(map(len, filler.tokens(some))) for id_, some in world.called.items()}
    answers: list[Answered] = []
    for end in world.ends:
        by_pattern: dict[Pattern, set[str]] = {}
        for s, r, o in hidden:
            pattern, sought = (Pattern(s, r), o) if end == "object" else (Pattern(None, r, o), s)
            by_pattern.setdefault(pattern, set()).add(str(sought))
        drawn = sorted(by_pattern, key=lambda one: (place(str(one), seed), str(one)))[:most]
        for part in batched(sorted(drawn, key=str), BATCH):
            for name, completer in found.items():
                for pattern, row in zip(part, completer.complete(part, MOST), strict=True):
                    some = by_pattern[pattern]
                    answers.append(
                        Answered(
                            seed,
                            end,
                            name,
                            str(pattern),
                            str(pattern.relation),
                            kinds[str(pattern.relation)],
                            len(some),
                            min(pieces.get(id_, 1) for id_ in some),
                            max(len(world.called[id_][0].split()) for id_ in some),
                            _filler(row[0], end) if row else "",
                            tuple(one.confidence for one in row),
                            tuple(_filler(one, end) in some for one in row),
                        )
                    )
            if filler is not None:
                filler.forget()
    return answers


def cardinalities(triples: Iterable[Triple]) -> dict[str, str]:
    """Return whether each relation joins one or several, by means of 1.5 at an end."""
    objects = Counter((s, r) for s, r, _ in triples)
    subjects = Counter((r, str(o)) for _, r, o in triples)
    found = {}
    for relation in {r for _, r in objects}:
        ends = [
            [count for (_, r), count in objects.items() if r == relation],
            [count for (r, _), count in subjects.items() if r == relation],
        ]
        found[relation] = ("1-1", "1-n", "n-m")[sum(sum(some) / len(some) >= 1.5 for some in ends)]
    return found


def report(answers: Iterable[Answered]) -> None:
    """Print a line of JSON for each figure."""
    rows: dict[tuple[str, str], list[Answered]] = {}
    for one in answers:
        rows.setdefault((one.end, one.completer), []).append(one)
    for (end, name), some in sorted(rows.items()):
        print(json.dumps({"end": end, "completer": name, **figures(some)}))
    for end in sorted({end for end, _ in rows}):
        mine = rows.get((end, "masked-lm, soft"))
        for name in sorted(name for one, name in rows if one == end and name not in ("masked-lm, soft", SET)):
            if mine is not None:
                print(json.dumps({"end": end, "masked-lm, soft": f"over {name}", **differences(mine, rows[end, name])}))
    for name in sorted({name for _, name in rows}):
        both = [one for end in ("object", "subject") for one in rows.get((end, name), [])]
        groups: dict[str, list[Answered]] = {"all": both}
        for one in both:
            few = "1" if one.sought == 1 else "2 to 10" if one.sought <= 10 else "more than 10"
            pieces = "1" if one.pieces == 1 else "2 or 3" if one.pieces <= 3 else "more than 3"
            for group in (one.end, f"pieces: {pieces}", f"relation: {one.kind}", f"sought: {few}"):
                groups.setdefault(group, []).append(one)
        for group, some in sorted(groups.items()):
            print(json.dumps({"completer": name, "of": group, **sets(some)}))


def completers(
    world: World,
    filler: RememberedFiller,
    known: Sequence[Triple],
    held: Sequence[Triple],
    seed: int,
    folder: Path,
    given: argparse.Namespace,
) -> dict[str, Completer]:
    """Train the completer once, and open it with each kind of types."""
    graph = world.graph(known)
    frequency = FrequencyCompleter(graph=graph, unknown=True)
    frequency.open()
    settings: dict[str, Any] = {"graph": graph, "filler": filler, "names": str(world.names), **_settings(given.set)}
    path = trained(world, settings, held, seed, folder, MaskedLMFitSettings(**_settings(given.fit)))
    found: dict[str, Completer] = {"frequency": frequency}
    for types in given.types:
        one = MaskedLMCompleter(**settings, types=types, path=str(path))
        one.open()
        found[f"masked-lm, {types}"] = one
    templates = str(path / "templates.json") if world.texts is not None else world.sources()["templates"]
    published = MaskedLMCompleter(**{**settings, "variant": "code"}, templates=templates)
    published.open()
    published.fit(TrainingTask([], None, folder, seed, held), MaskedLMFitSettings())
    found[SET] = published
    filler.forget()
    return found


def trained(
    world: World,
    settings: dict[str, Any],
    held: Sequence[Triple],
    seed: int,
    folder: Path,
    fit: MaskedLMFitSettings,
) -> Path:
    """Return the folder of the completer that is trained with a seed; it is not trained again there."""
    path = folder / f"model-{seed}"
    if not path.exists():
        made = MaskedLMCompleter(**settings, **world.sources())
        made.open()
        learnt = made.fit(TrainingTask([], None, folder, seed, held), fit)
        print(json.dumps({"seed": seed, "fit": learnt}), flush=True)
        made.save(path)
    return path


def _filler(one: Completion, end: str) -> str:
    return str(one.triple.object if end == "object" else one.triple.subject)


def _settings(given: Sequence[str]) -> dict[str, Any]:
    return {name: read_yaml(value, name) for name, _, value in (one.partition("=") for one in given)}


if __name__ == "__main__":
    raise SystemExit(main())
