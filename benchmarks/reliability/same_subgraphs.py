"""Runs one recipe on one graph in several stores, and compares the results byte by byte.

    python -m benchmarks.reliability.same_subgraphs [--only metaqa wiki27k fb15k237] [--stores store server virtuoso]

Each graph is loaded into a local snapshot, an embedded Oxigraph store, an Oxigraph server and, where Debian's package
is installed, a Virtuoso server, both on the loopback interface. Beam search with the MiniLM encoder, breadth-first
search and personalised PageRank answer the same questions on each. All fields of the results must be equal, but for
the provenance. Then beam search answers one question after the other in a new session, for the CPU time of each, the
server's included. FB15k-237 is read as Freebase, by beam search alone.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import attrs
from srtk_plugin_local.snapshot.build import build
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_sparql.commands.load import load

from benchmarks.common import DATA, OUT, lacking, shown
from benchmarks.figures import record_figure
from benchmarks.loopback import graphs_in_rdf, servers
from benchmarks.loopback.graphs_in_rdf import Case
from srtk_framework.recipe import from_data
from srtk_framework.records import dumps
from srtk_framework.run import Runner, Session
from srtk_framework.values import Link, Question

QUESTIONS = 200
METHODS = ("beam", "bfs", "ppr")
CALLED = {"local": "snapshot", "table": "snapshot", "store": "store", "server": "Oxigraph server"}
CALLED |= {"virtuoso": "Virtuoso"}
"""Stores as the pages name them; of the snapshots the last one counts."""
TITLES = {"wiki27k": ("Wiki27K, 126 questions", 126), "metaqa": ("MetaQA, 200 questions, depth 3", 200)}
TITLES |= {"fb15k237": ("FB15k-237 as Freebase, 50 questions", 50)}
"""Cases as the pages name them, and their questions."""
GRAPHS = ("wiki27k", "metaqa", "fb15k237")
STORES = ("store", "server", "virtuoso")


@attrs.frozen
class Run:
    """One run of the recipe.

    Attributes:
        store: Store of the graph.
        results: Method to the lines of its results, without provenance.
        seconds: Duration of the run.
        ready: Seconds to load the graph and to start its server.
        recipe: The recipe.
    """

    store: str
    results: Mapping[str, list[str]]
    seconds: float
    ready: float = 0.0
    recipe: Mapping[str, Any] = attrs.field(factory=dict)

    def differences(self, other: Run) -> dict[str, list[str]]:
        """Name the questions whose results differ, for each method that has any."""
        found: dict[str, list[str]] = {}
        for method, lines in self.results.items():
            for line, theirs in zip(lines, other.results[method], strict=True):
                if line != theirs:
                    found.setdefault(method, []).append(json.loads(line)["id"])
        return found

    def counts(self) -> dict[str, int]:
        """Count questions, errors and triples."""
        rows = [json.loads(line) for lines in self.results.values() for line in lines]
        return {
            "questions": len(next(iter(self.results.values()))),
            "failed": sum("error" in row for row in rows),
            "triples": sum(len(row["triplets"]) for row in rows),
        }


def written_recipe(case: Case, graph: Mapping[str, Any], folder: Path, methods: Sequence[str]) -> dict[str, Any]:
    """Write the recipe; only the graph differs between stores."""
    blocks = {
        "beam": {"use": "beam", "width": 10, "depth": case.depth, "inverse": True},
        "bfs": {"use": "bfs", "depth": 2},
        "ppr": {"use": "ppr", "depth": 2},
    }
    chosen = [blocks[name] for name in methods]
    return {
        "srtk": 1,
        "questions": str(case.questions),
        "knowledge_graph": dict(graph),
        "encoder": {"use": "transformers", "model": "minilm"},
        # Unlike the default, this text never equals a relation's label ("capital of"): paths that read alike tie, and
        # ties are broken by ids, which a table writes as P36 and RDF as wdt:P36.
        "path_scorer": {"use": "dense", "inverse_text": "is {label} of"},
        "expander": chosen[0],
        "budget": {"triples": 200, "nodes": 200, "hub": 200},
        "batch": 64,
        "output": str(folder),
        "exporters": [{"use": "jsonl", "path": str(folder / "subgraphs.jsonl")}],
        "evaluate": {"against": chosen[1:]},
    }


def run(
    case: Case, store: str, graph: Mapping[str, Any], out: Path, methods: Sequence[str] = METHODS, ready: float = 0.0
) -> Run:
    """Run the recipe on one graph."""
    folder = out / f"{case.name}-{store}"
    start = time.perf_counter()
    recipe = written_recipe(case, graph, folder, methods)
    Runner(from_data(recipe)).run()
    seconds = time.perf_counter() - start
    results = {name: [_line(text) for text in _read(folder / "journal" / f"{name}.jsonl")] for name in methods}
    exported = [_line(text) for text in _read(folder / "subgraphs.jsonl")]
    if exported != results[methods[0]]:
        raise SystemExit(f"{folder}: what was exported is not what was found")
    return Run(store, results, seconds, ready, recipe)


def costs(recipe: Mapping[str, Any]) -> Iterator[float]:
    """Ask one question after the other in a new session; yield the CPU seconds of each, here and in the server."""
    with Session(from_data(recipe)) as session:
        for row in map(json.loads, _read(Path(recipe["questions"]))):
            question = Question(row["id"], row["question"], tuple(map(Link, row["question_entities"])))
            before = time.process_time() + _children()
            session.retrieve([question], next(iter(session.methods)))
            yield time.process_time() + _children() - before


def _children() -> float:
    """Return the CPU seconds of this process's children, which are servers, by Linux's table of processes."""
    found = 0
    for task in Path("/proc/self/task").iterdir():
        for child in (task / "children").read_text(encoding="ascii").split():
            fields = Path(f"/proc/{child}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            found += int(fields[11]) + int(fields[12])
    return found / os.sysconf("SC_CLK_TCK")


def _read(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def _line(text: str) -> str:
    """Leave the provenance out of a line of results; the table of Wiki27K knows no prefix of properties."""
    record = json.loads(text.replace('"wdt:P', '"P').replace('"^wdt:P', '"^P'))
    del record["provenance"]
    record.pop("journal", None)
    record["labels"] = dict(sorted(record["labels"].items()))
    return dumps(record)


class Stores:
    """Puts one graph into one store after the other.

    Args:
        case: The graph.
        out: Folder for all that is loaded.
        stack: Exit stack that stops the servers.
    """

    def __init__(self, case: Case, out: Path, stack: ExitStack) -> None:
        self._case = case
        self._out = out / case.name
        self._stack = stack
        shutil.rmtree(self._out, ignore_errors=True)
        self._out.mkdir(parents=True)

    def table(self) -> dict[str, Any]:
        """Build a snapshot from the published tables."""
        return self._snapshot("table", self._case.table)

    def local(self) -> dict[str, Any]:
        """Build a snapshot from the N-Triples."""
        settings = {"files": [str(self._case.ntriples)], "prefixes": self._case.vocabulary["prefixes"]}
        return self._snapshot("local", {**settings, "names": self._case.vocabulary.get("names")})

    def _snapshot(self, name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
        given = {key: tuple(value) if isinstance(value, list) else value for key, value in settings.items()}
        build(BuildSettings(**given), self._out / name)
        return {"use": "local", "path": str(self._out / name)}

    def _loaded(self) -> Path:
        store = self._out / "store"
        if not store.exists():
            load([self._case.ntriples], store)
        return store

    def store(self) -> dict[str, Any]:
        """Load an embedded store."""
        return {"use": self._case.driver, "endpoint": str(self._loaded()), "vocabulary": dict(self._case.vocabulary)}

    def server(self) -> dict[str, Any]:
        """Start an Oxigraph server."""
        url = self._stack.enter_context(servers.oxigraph(self._loaded()))
        return {**self.store(), "endpoint": url, "engine": "oxigraph"}

    def virtuoso(self, rows: int = 10000) -> dict[str, Any]:
        """Start a Virtuoso server with a limit on rows."""
        folder = self._out / f"virtuoso-{rows}"
        url = self._stack.enter_context(servers.virtuoso([self._case.ntriples], folder, rows))
        limits = {"per_second": 100000.0, "rows": rows}
        return {**self.store(), "endpoint": url, "engine": "virtuoso", "limits": limits}


def encoded(case: Case, out: Path) -> Case | None:
    """Give a case whose ids are names the ids that a snapshot of its RDF has; None where they are equal."""
    if not case.vocabulary.get("decode"):
        return None
    names = graphs_in_rdf.Ids(graphs_in_rdf.Vocabulary(**case.vocabulary))
    whole = graphs_in_rdf.Ids(graphs_in_rdf.Vocabulary(prefixes=case.vocabulary["prefixes"]))
    questions = out / f"{case.name}-encoded.jsonl"
    with questions.open("w", encoding="utf-8") as file:
        for text in _read(case.questions):
            record = json.loads(text)
            for field in ("question_entities", "answer_entities"):
                record[field] = [whole.short(str(names.iri(id_))) for id_ in record[field]]
            file.write(dumps(record) + "\n")
    vocabulary = {**case.vocabulary, "decode": False}
    return attrs.evolve(case, name=f"{case.name}-encoded", questions=questions, vocabulary=vocabulary)


def compare(case: Case, out: Path, stores: Sequence[str], methods: Sequence[str] = METHODS) -> Iterator[Run]:
    """Run a case on the snapshot of its table or of its N-Triples, then on each store; yield the runs."""
    with ExitStack() as stack:
        places = Stores(case, out, stack)
        for store in stores:
            start = time.perf_counter()
            graph = getattr(places, store)()
            yield run(case, store, graph, out, methods, time.perf_counter() - start)


def cases(names: Sequence[str], out: Path, questions: int | None) -> Iterator[tuple[Case, tuple[str, ...]]]:
    """Yield the cases, each with the snapshots that it is compared with."""
    if "fb15k237" in names:
        yield graphs_in_rdf.fb15k237(DATA, out, questions or 50), ()
    if "wiki27k" in names:
        yield graphs_in_rdf.wiki27k(DATA, out, questions), ("local", "table")
    if "metaqa" in names:
        case = graphs_in_rdf.metaqa(DATA, out, questions or QUESTIONS)
        # Ids of a snapshot of the RDF are encoded, those of the table are names.
        yield case, ("table",)
        other = encoded(case, out)
        if other is not None:
            yield other, ("local",)


def main() -> int:
    """Run every case, and print its duration and differences."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=GRAPHS, default=GRAPHS)
    parser.add_argument("--stores", nargs="*", choices=STORES, default=STORES)
    parser.add_argument(
        "--questions", type=int, help="of each set; by default all 126 of Wiki27K, 200 of MetaQA, 50 of FB15k-237"
    )
    parser.add_argument("--out", type=Path, default=OUT / "same-subgraphs")
    args = parser.parse_args()
    why = lacking(*(f"{name}/ABOUT.txt" for name in args.only))
    if why:
        print(f"same-subgraphs: skipped, {why}")
        return 0
    stores = list(args.stores)
    if "virtuoso" in stores and (lacks := servers.virtuoso_lacks()):
        print(f"virtuoso: skipped, {lacks}")
        stores.remove("virtuoso")
    out = args.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    wrong = 0
    for case, snapshots in cases(args.only, out, args.questions):
        first: Run | None = None
        methods = METHODS[:1] if case.driver == "freebase" else METHODS
        for found in compare(case, out, [*snapshots, *stores], methods):
            first = first or found
            differing = found.differences(first)
            wrong += len(differing)
            spent = list(costs(found.recipe))
            median, worst = statistics.median(spent), max(spent)
            times = {"ready_s": round(found.ready, 1), "run_s": round(found.seconds, 1)}
            times |= {"cpu_median_s": round(median, 2), "cpu_worst_s": round(worst, 2)}
            if found.store in CALLED and case.name in TITLES:
                asked = args.questions or TITLES[case.name][1]
                record_figure(TITLES[case.name][0], CALLED[found.store], "s", found.seconds, asked)
                for metric, figure in (("median CPU s", median), ("worst CPU s", worst)):
                    record_figure(TITLES[case.name][0], CALLED[found.store], metric, figure, asked)
            print(json.dumps({"graph": case.name, "store": found.store, **found.counts(), **times}), flush=True)
            for method, ids in differing.items():
                print(f"  {method} DIFFERS from {first.store} in {len(ids)} questions: {', '.join(ids[:5])}")
    print(f"runs in {shown(out)}: {'some results differ' if wrong else 'all results are byte-equal'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
