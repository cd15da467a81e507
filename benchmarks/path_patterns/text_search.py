"""WebNLG: kinds of queries for hidden triples, and what `text-search` completes beside other completers.

    OMP_NUM_THREADS=1 python -m benchmarks.path_patterns.text_search
    OMP_NUM_THREADS=1 python -m benchmarks.path_patterns.text_search --development --set about=false
    OMP_NUM_THREADS=1 python -m benchmarks.path_patterns.text_search --gold

30 % of the triples between entities are hidden by a hash, for each of three seeds; of what is left a fifth is held
out: no path is mined on it, and it chooses the kind of query of each relation and end. The texts state all triples, one
document each. The linker knows names, and no triple.

Where entity and relation alone are weak on the held-out facts, each kind is compared with them on the facts for which
it finds something; `all` joins the results of all four kinds. `--queries` stops there, and completes nothing.

`--development` asks for the held-out facts, and leaves the hidden ones alone; settings are chosen so. `--gold` names
the nodes of a path that is known to end in the right entity, as published; nothing is completed then.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from srtk_plugin_baselines.frequency import FrequencyCompleter
from srtk_plugin_completers.calibrated import CalibratedCompleter, CalibrationTraining
from srtk_plugin_completers.completer_union import UnionCompleter
from srtk_plugin_datasets.hidden_facts import hidden_facts
from srtk_plugin_datasets.webnlg import names, read_webnlg, webnlg_files
from srtk_plugin_evaluation import paired, snippet_table
from srtk_plugin_index.indexes.bm25 import Bm25Index
from srtk_plugin_local.dictionary.linker import DictionaryLinker
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_patterns.instances import gold_instances
from srtk_plugin_patterns.lexical_forms import LexicalForms
from srtk_plugin_patterns.rule_completer import PathRuleCompleter
from srtk_plugin_patterns.rule_learner import RuleFitSettings
from srtk_plugin_patterns.snippet_search import TextQuestion, ranked_hits, table_ways, text_questions
from srtk_plugin_patterns.text_model import TextModel
from srtk_plugin_patterns.text_queries import VARIANTS, tells
from srtk_plugin_patterns.text_search import TextSearchCompleter, TextSearchFitSettings

from benchmarks.common import DATA, lacking
from srtk_framework.graph import TripleTable
from srtk_framework.roles import Completer, TrainingTask
from srtk_framework.text import read_yaml
from srtk_framework.values import Entry, Literal, Pattern, Step, Triple

FOLDER = "webnlg"
SEEDS = (0, 1, 2)
HIDDEN, HELD = 0.3, 0.2
SNIPPETS = 10
MOST = 10
"""Completions of a pattern that are counted."""

Rows = dict[str, list[list[bool]]]


class World:
    """The triples and texts of WebNLG.

    Args:
        folder: Where the index is built.
        sentences: Sentences of a passage.
    """

    def __init__(self, folder: Path, sentences: int | None) -> None:
        entries = [one for file in webnlg_files(DATA / FOLDER, ("train", "dev")) for one in read_webnlg(file)]
        self.triples = sorted({triple for entry in entries for triple in entry.triples})
        ids = sorted({end for triple in self.triples for end in triple[::2] if not isinstance(end, Literal)})
        self.names = {id_: names(id_) for id_ in ids}
        self.index = Bm25Index(path=str(folder / "words"), sentences=sentences)
        self.index.create()
        self.index.add([Entry(f"{one.id}/{n}", text) for one in entries for n, text in enumerate(one.texts, 1)])
        self.index.commit()
        self.linker = DictionaryLinker(graph=self.graph([Triple(id_, "is", id_) for id_ in ids]))
        self.linker.open()

    def graph(self, triples: Sequence[Triple]) -> MemoryGraph:
        """Make a graph of some triples with the names of all entities."""
        labels = {id_: some[0] for id_, some in self.names.items()}
        return MemoryGraph(triples=triples, labels=labels, aliases={id_: some[1:] for id_, some in self.names.items()})

    def split(self, seed: int) -> tuple[list[Triple], list[Triple], list[Triple]]:
        """Return the hidden facts, those held out of the rest, and all triples that are not hidden."""
        facts = [triple for triple in self.triples if not isinstance(triple.object, Literal)]
        hidden = hidden_facts(facts, HIDDEN, seed)
        out = set(hidden)
        known = [one for one in self.triples if one not in out]
        held = hidden_facts((one for one in known if not isinstance(one.object, Literal)), HELD, seed)
        return hidden, held, known


def main() -> int:
    """Measure, and print a line of JSON for each figure."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--development", action="store_true", help="ask for the held-out facts")
    arguments.add_argument("--gold", action="store_true", help="name the nodes of paths to the right entity")
    arguments.add_argument("--queries", action="store_true", help="complete nothing")
    arguments.add_argument("--sentences", type=int, default=1, help="sentences of a passage; 0 for whole texts")
    arguments.add_argument("--fit", action="append", default=[], metavar="NAME=VALUE", help="setting of the training")
    arguments.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="setting of text-search")
    arguments.add_argument("--seeds", type=int, default=len(SEEDS), help="number of seeds")
    given = arguments.parse_args()
    if missing := lacking(f"{FOLDER}/en"):
        print(missing, file=sys.stderr)
        return 0
    started = time.process_time()
    kinds: dict[bool, Rows] = {inverse: {name: [] for name in (*VARIANTS, "learnt")} for inverse in (False, True)}
    relations: dict[bool, list[str]] = {False: [], True: []}
    hard: dict[str, list[tuple[float, float]]] = {name: [] for name in (*VARIANTS[1:], "all", "learnt")}
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder), given.sentences or None)
        for seed in SEEDS[: given.seeds]:
            hidden, held, known = world.split(seed)
            if given.development:
                out = set(held)
                hidden, known = held, [one for one in known if one not in out]
                held = []
            graph = world.graph(known)
            completer = TextSearchCompleter(graph=graph, index=world.index, linker=world.linker, **_settings(given.set))
            completer.open()
            fit = TextSearchFitSettings(**_settings(given.fit))
            model = Path(folder) / f"text-{seed}"
            print(json.dumps({"seed": seed, "fit": completer.fit(TrainingTask([], None, model, seed, held), fit)}))
            completer.save(model)
            for inverse in (False, True):
                facts, rows = asked(world, completer, graph, hidden, inverse, given.gold)
                chosen = completer._model.variants
                weak = weak_steps(world, completer, graph, held, inverse)
                for at, fact in enumerate(facts):
                    relations[inverse].append(f"{seed} {fact.relation}")
                    best = chosen.get(Step(fact.relation, inverse), "s+r")
                    row = rows[best][at] or rows["s+r"][at]
                    for name in VARIANTS:
                        kinds[inverse][name].append(rows[name][at])
                    kinds[inverse]["learnt"].append(row)
                    if fact.relation in weak:
                        told = {**{name: some[at] for name, some in rows.items()}, "learnt": row}
                        # A kind without a query has nothing to compare.
                        for name in (name for name in hard if told[name]):
                            hard[name].append((_share(told[name], 1), _share(told["s+r"], 1)))
            if not (given.gold or given.queries):
                print(json.dumps({"seed": seed, "changed_queries": leaks(world, completer, known, held)}))
                complete(world, graph, completer, model, hidden, held, seed, Path(folder), given.development)
    for inverse, rows in kinds.items():
        for kind, figures in snippet_table(rows, relations[inverse]).items():
            short = {key: round(value, 3) if isinstance(value, float) else value for key, value in figures.items()}
            print(json.dumps({"end": "subject" if inverse else "object", "query": kind, **short}))
        print(json.dumps({"end": "subject" if inverse else "object", "relations": len(set(relations[inverse]))}))
    for inverse, rows in kinds.items():
        for k in (1, 3, 10):
            pairs = [(_share(a, k), _share(b, k)) for a, b in zip(rows["learnt"], rows["s+r"], strict=True)]
            print(json.dumps({"end": "subject" if inverse else "object", "k": k, "learnt - s+r": _estimate(pairs)}))
    for name, pairs in hard.items():
        if pairs:
            means = {"P@1": sum(one for one, _ in pairs) / len(pairs), "s+r": sum(one for _, one in pairs) / len(pairs)}
            short = {key: round(value, 3) for key, value in means.items()}
            weak_on = {"where s+r has P@1 < .5 on held-out facts": len(pairs), "query": name}
            print(json.dumps({**weak_on, **short, "difference": _estimate(pairs)}))
    print(json.dumps({"cpu_s": round(time.process_time() - started)}))
    return 0


def asked(
    world: World, completer: TextSearchCompleter, graph: MemoryGraph, facts: Sequence[Triple], inverse: bool, gold: bool
) -> tuple[list[Triple], Rows]:
    """Search for facts about known entities by all kinds of queries; return both, with what each snippet tells."""
    table = TripleTable.of(graph)
    facts = [fact for fact in facts if fact[2 if inverse else 0] in table.entity_numbers]
    if gold:
        questions = [gold_question(completer, table, graph, fact, inverse) for fact in facts]
    else:
        questions = questions_of(completer._model, table, graph, facts, inverse, completer)
    rows: Rows = {}
    for name in (*VARIANTS, "all"):
        asked_for = [question.queries[name] if name in VARIANTS else every(question) for question in questions]
        found = ranked_hits(world.index, asked_for, SNIPPETS)
        rows[name] = [
            [tells(hit.snippet, world.names[fact[0 if inverse else 2]]) for hit in hits]
            for fact, hits in zip(facts, found, strict=True)
        ]
    return facts, rows


def every(question: TextQuestion) -> list[str]:
    """Return the queries of all kinds."""
    return [text for some in question.queries.values() for text in some]


def questions_of(
    model: TextModel,
    table: TripleTable,
    graph: MemoryGraph,
    facts: Sequence[Triple],
    inverse: bool,
    completer: TextSearchCompleter,
) -> list[TextQuestion]:
    """Write the queries for one end of facts."""
    patterns = [Pattern(None, r, o) if inverse else Pattern(s, r) for s, r, o in facts]
    ways = table_ways(table, completer.ways)
    return text_questions(graph, LexicalForms(graph), model, ways, patterns)


def gold_question(
    completer: TextSearchCompleter, table: TripleTable, graph: MemoryGraph, fact: Triple, inverse: bool
) -> TextQuestion:
    """Write the queries that know the end which they ask for."""
    end = fact[0 if inverse else 2]
    pattern = Pattern(None, fact.relation, fact.object) if inverse else Pattern(fact.subject, fact.relation)
    (question,) = text_questions(
        graph,
        LexicalForms(graph),
        completer._model,
        lambda start, path: gold_instances(table, start, path, end, completer.ways),
        [pattern],
    )
    return question


def weak_steps(
    world: World, completer: TextSearchCompleter, graph: MemoryGraph, held: Sequence[Triple], inverse: bool
) -> set[str]:
    """Return the relations for which s+r has P@1 below .5 on the held-out facts."""
    table = TripleTable.of(graph).without(held)
    found: dict[str, list[bool]] = {}
    questions = questions_of(completer._model, table, graph, held, inverse, completer)
    rows = ranked_hits(world.index, [question.queries["s+r"] for question in questions], 1)
    for fact, hits in zip(held, rows, strict=True):
        told = bool(hits) and tells(hits[0].snippet, world.names[fact[0 if inverse else 2]])
        found.setdefault(fact.relation, []).append(told)
    return {relation for relation, told in found.items() if sum(told) < 0.5 * len(told)}


def leaks(world: World, completer: TextSearchCompleter, known: Sequence[Triple], held: Sequence[Triple]) -> str:
    """Count the held-out facts with queries that change when the facts' objects are exchanged among them."""
    out = set(held)
    rest = [one for one in known if one not in out and not isinstance(one.object, Literal)]
    written = []
    for shift in (0, 1):
        by_relation: dict[str, list[str]] = {}
        for fact in held:
            by_relation.setdefault(fact.relation, []).append(fact.object)
        places = dict.fromkeys(by_relation, 0)
        swapped = []
        for fact in held:
            objects, at = by_relation[fact.relation], places[fact.relation]
            places[fact.relation] += 1
            swapped.append(Triple(fact.subject, fact.relation, objects[(at + shift) % len(objects)]))
        swapped = [one for one in swapped if one not in set(rest)]
        table = TripleTable.from_triples([*rest, *swapped]).without(swapped)
        graph = world.graph([*rest, *swapped])
        asked_for = [Triple(s, r, o) for s, r, o in held]
        questions = questions_of(completer._model, table, graph, asked_for, False, completer)
        written.append([sorted(question.queries.items()) for question in questions])
    return f"{sum(one != other for one, other in zip(*written, strict=True))} of {len(held)}"


def complete(
    world: World,
    graph: MemoryGraph,
    text: TextSearchCompleter,
    model: Path,
    hidden: Sequence[Triple],
    held: Sequence[Triple],
    seed: int,
    folder: Path,
    development: bool,
) -> None:
    """Complete the hidden triples, and print recall at precision .5."""
    frequency = FrequencyCompleter(graph=graph, unknown=True)
    frequency.open()
    found: dict[str, Completer] = {"frequency": frequency, "text-search": text}
    if not development:
        rules = PathRuleCompleter(graph=graph)
        rules.open()
        task = TrainingTask([], None, folder / f"rules-task-{seed}", seed, held)
        rules.fit(task, RuleFitSettings())
        rules.save(folder / f"rules-{seed}")
        found["path-rules"] = rules
        found["union"] = UnionCompleter(completers=[text, rules])
        for name, made in (
            ("text-search", TextSearchCompleter(graph=graph, index=world.index, linker=world.linker, path=str(model))),
            ("path-rules", PathRuleCompleter(graph=graph, path=str(folder / f"rules-{seed}"))),
            ("frequency", FrequencyCompleter(graph=graph)),
        ):
            made.open()
            calibrated = CalibratedCompleter(completer=made, graph=graph)
            calibrated.fit(task, CalibrationTraining())
            found[f"{name}, calibrated"] = calibrated
        parts = [found[f"{name}, calibrated"] for name in ("text-search", "path-rules", "frequency")]
        found["union of all calibrated"] = UnionCompleter(completers=parts)
        found["union of text and rules calibrated"] = UnionCompleter(completers=parts[:2])
    right = set(hidden)
    patterns = sorted({Pattern(s, r) for s, r, _ in hidden}, key=str)
    patterns += sorted({Pattern(None, r, o) for _, r, o in hidden}, key=str)
    for name, completer in found.items():
        started = time.process_time()
        rows = completer.complete(patterns, MOST)
        ranked = sorted(((one.confidence, one.triple in right) for row in rows for one in row), key=lambda one: -one[0])
        told = good = 0
        for at, (confidence, is_right) in enumerate(ranked, 1):
            good += is_right
            last = at == len(ranked) or ranked[at][0] < confidence
            if last and good >= 0.5 * at:
                told = good
        first = [bool(row) and row[0].triple in right for row in rows]
        print(
            json.dumps(
                {
                    "seed": seed,
                    "completer": name,
                    "patterns": len(patterns),
                    "found": round(sum(is_right for _, is_right in ranked) / (2 * len(hidden)), 4),
                    "P@1": round(sum(first) / len(first), 4),
                    "recall at precision .5": round(told / (2 * len(hidden)), 4),
                    "cpu_s": round(time.process_time() - started, 1),
                }
            ),
            flush=True,
        )


def _share(told: Sequence[bool], k: int) -> float:
    """Return P@k, 0 for a query with fewer snippets."""
    return sum(told[:k]) / k if len(told) >= k else 0.0


def _estimate(pairs: Sequence[tuple[float, float]]) -> dict[str, Any]:
    return dict(paired([one for one, _ in pairs], [other for _, other in pairs]))


def _settings(pairs: Sequence[str]) -> dict[str, Any]:
    return {name: read_yaml(value, "--set") for name, _, value in (pair.partition("=") for pair in pairs)}


if __name__ == "__main__":
    sys.exit(main())
