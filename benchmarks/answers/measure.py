"""Exact answers of the reader `paths` on the sets of this folder, beside the twenty-line reader.

    OMP_NUM_THREADS=1 python -m benchmarks.answers.measure [--only by_kind own_tables ...] [--show]

`demo` are the demo's questions by kind; run `make demo` first, and with `--seed N` others are written for the graph.
Tables are opened without a flag. `by_count` are orders by counts on the demo and on two public graphs of the data
folder (SRTK_DATA), and five that look like them, written before the reader had such orders. The sets in `fresh/` were
written without a look at the reader, which is reported by them; the thresholds of its certainty were chosen on
`certainty`, among others. Figures go to build/bench/answers.json.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from srtk_plugin_answers.question_classes import asks_for_several
from srtk_plugin_answers.question_kinds import kind_of

from benchmarks.answers.exact_match import is_exact
from benchmarks.answers.twenty_lines import gold_answer, read_answer
from benchmarks.common import DATA
from benchmarks.figures import record_figure
from srtk_framework import Graph, Retriever
from srtk_framework.values import Question

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
WRITTEN = ("by_kind", "own_tables", "no_link", "not_there", "whole_road")
FRESH = (*(f"fresh/{name}" for name in (*WRITTEN, "by_count")), "fresh/not_there_bands")
SETS = ("demo", "demo_gold", *WRITTEN, "by_count", "certainty", *FRESH)
OUT = ROOT / "build" / "bench" / "answers.json"
WORLD = "build/demo/world"
TITLES = {
    "demo_gold": "the demo's questions by kind, with gold answers for all",
    "by_kind": "thirty more by kind",
    "own_tables": "forty on ten own tables",
    "no_link": "twenty without a link",
    "not_there": "ten that the graph cannot answer",
    "whole_road": "thirty on three further tables, six without an answer",
    "by_count": "twenty orders by counts, five that are none",
    "fresh/by_count": "fifteen further orders by counts, three that are none",
    "certainty": "for certainty, 28 without an answer",
    "fresh/by_kind": "unseen: thirty by kind",
    "fresh/own_tables": "unseen: forty on the ten tables",
    "fresh/no_link": "unseen: twenty without a link",
    "fresh/not_there": "unseen: ten that the graph cannot answer",
    "fresh/not_there_bands": "unseen: ten that a graph of bands cannot answer",
    "fresh/whole_road": "unseen: twenty on three further tables, four without an answer",
}
"""Sets as the pages name them."""
COUNTS = {
    "right": ("paths", "exact answers"),
    "refused": ("paths", "refused"),
    "wrong": ("paths", "wrong"),
    "complete": ("paths", "said complete"),
    "complete and wrong": ("paths", "said complete and wrong"),
    "twenty lines": ("twenty lines", "exact answers"),
}
"""Counts of a set: the method and the metric on the pages."""
OPERATIONS = {"use": "operations", "inner": {"use": "beam"}}
"""What the twenty-line reader reads of."""


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--seed", type=int, help="write the demo's questions by kind with another seed")
    parser.add_argument("--cost", action="store_true", help="CPU time of a look-up with and without the reader alone")
    parser.add_argument("--show", action="store_true", help="print each question whose answer is not exact")
    args = parser.parse_args()
    if args.cost:
        print(json.dumps(_cost()))
        return 0
    figures = {}
    for name in args.only:
        rows = _questions(name, args.seed)
        figures[name] = _measured(rows, args.show)
        print(name, json.dumps(figures[name]), flush=True)
        keep(name, figures[name])
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return 0


def keep(name: str, figures: Mapping[str, Any]) -> None:
    """Keep the figures of a set for the results."""
    if name not in TITLES:
        return
    for count, (method, metric) in COUNTS.items():
        record_figure(TITLES[name], method, metric, figures.get(count, 0), figures["questions"])


def _cost() -> dict[str, Any]:
    """Return the CPU milliseconds that the reader adds to a warm look-up, by what it is asked, and what it takes alone.

    Each of the demo's first hundred questions of one step is asked with and without it in turn, four times: of `added`
    the least time of each counts but for its first, of `new` its first, the first ten questions left out.
    """
    rows = [row for row in _rows(ROOT / "build/demo/questions.jsonl") if row["hops"] == 1][:100]
    graph = _graph((WORLD,))
    first: dict[tuple[str, bool], float] = {}
    least: dict[tuple[str, bool], float] = {}
    with Retriever(graph, reader={"use": "paths"}) as read, Retriever(graph) as plain:
        for turn in range(4):
            for row in rows:
                for with_reader, retriever in ((True, read), (False, plain)):
                    begun = time.process_time()
                    retriever.ask(Question(row["id"], row["question"]))
                    spent = 1000 * (time.process_time() - begun)
                    key = (row["id"], with_reader)
                    if turn:
                        least[key] = min(spent, least.get(key, spent))
                    else:
                        first[key] = spent
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        kind = kind_of(row["question"]).kind
        several = "look-up of a plural" if asks_for_several(row["question"]) else "look-up"
        groups[several if kind == "lookup" else "operation"].append(row)
    return {
        "added": {name: _quartiles(least, some) for name, some in {"all": rows, **groups}.items()},
        "new": _quartiles(first, rows[10:]),
        "without": round(statistics.median(least[row["id"], False] for row in rows), 2),
    }


def _quartiles(spent: dict[tuple[str, bool], float], rows: list[dict[str, Any]]) -> dict[str, float]:
    """Return the number of questions, and quartiles and mean of what the reader adds."""
    added = sorted(spent[row["id"], True] - spent[row["id"], False] for row in rows)
    low, middle, high = (round(added[len(added) * part // 4], 2) for part in (1, 2, 3))
    mean = round(statistics.fmean(added), 2)
    return {"questions": len(added), "low": low, "median": middle, "high": high, "mean": mean}


def _questions(name: str, seed: int | None) -> list[dict[str, Any]]:
    """Read a set; of the demo's questions with the gold answers that were written by hand."""
    if name != "demo":
        return _rows(HERE / f"{name}.jsonl")
    file = ROOT / "build/demo/questions_by_kind.jsonl"
    if seed is not None:
        file = OUT.parent / f"questions-by-kind-{seed}.jsonl"
        OUT.parent.mkdir(parents=True, exist_ok=True)
        command = ["demo/questions_by_kind.py", "--graph", WORLD, "--out", str(file), "--seed", str(seed)]
        subprocess.run([sys.executable, *command], cwd=ROOT, check=True, capture_output=True)
    written = {} if seed is not None else {row["id"]: row["answer"] for row in _rows(HERE / "demo_gold.jsonl")}
    rows = _rows(file)
    for row in rows:
        if row["id"] in written:
            row["answer"] = written[row["id"]]
    return [row for row in rows if {"answer", "number", "answer_entities"} & row.keys()]


def _rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def _measured(rows: list[dict[str, Any]], show: bool) -> dict[str, Any]:
    """Ask each graph its questions; count exact answers, refusals and complete sets."""
    by_graph: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    options: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in rows:
        files = tuple(row.get("files", [WORLD]))
        by_graph[files].append(row)
        options[files] = row.get("options", {})
    count: Counter[str] = Counter()
    kinds: dict[str, list[int]] = {}
    sures: dict[str, list[int]] = {}
    for files, some in by_graph.items():
        asked = [Question(row["id"], row["question"]) for row in some]
        graph = _graph(files, options[files])
        with Retriever(graph, reader={"use": "paths"}) as retriever:
            results = retriever.ask_all(asked)
        with Retriever(graph, expander=OPERATIONS) as retriever:
            plain = [_plain(result.to_record()) for result in retriever.ask_all(asked)]
        for row, result, bare in zip(some, results, plain, strict=True):
            record = result.to_record()
            answer, gold = _said(record.get("answer")), gold_answer(row)
            right = is_exact(_by_name(answer, record, gold), gold)
            kind = kinds.setdefault(row.get("kind") or row.get("by") or row.get("why") or "", [0, 0])
            kind[0] += right
            kind[1] += 1
            sure = sures.setdefault((record.get("answer") or {}).get("certainty") or "refused", [0, 0])
            sure[0] += right
            sure[1] += 1
            count["right"] += right
            count["refused"] += answer is None
            count["wrong"] += answer is not None and not right
            if answer is not None and record["answer"].get("complete"):
                count["complete"] += 1
                count["complete and wrong"] += not right
            count["twenty lines"] += is_exact(_by_name(read_answer(bare), bare, gold), gold)
            if show and not right:
                said = record.get("answer") or {}
                print(
                    f"  {row['id']} {row['question']!r}: {said.get('text')!r} {said.get('missing', '')!r}"
                    f" {said.get('operation')}; gold {json.dumps(gold, ensure_ascii=False)[:120]}"
                )
    shares = {
        part: {name: f"{a}/{b}" for name, (a, b) in rows_.items()}
        for part, rows_ in (("kinds", kinds), ("certainty", sures))
    }
    return {"questions": len(rows), **count, **shares}


def _graph(files: tuple[str, ...], options: dict[str, Any] | None = None) -> Graph:
    """Open a graph with its defaults; the demo's as its recipe says, files in `data/` from the data folder."""
    if files == (WORLD,):
        recipe = yaml.safe_load((ROOT / "recipes/operations.yaml").read_text(encoding="utf-8"))
        build = {**recipe["knowledge_graph"]["build"]}
        for name in ("files", "labels", "aliases", "qualifiers"):
            build[name] = [str(ROOT / file) for file in build[name]]
        return Graph.from_csv(*build.pop("files"), **build)
    places = [DATA / file.removeprefix("data/") if file.startswith("data/") else HERE.parent / file for file in files]
    return Graph.open([str(place) for place in places], **(options or {}))


def _said(answer: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return an answer of a record in the form of the gold answers; None for a refusal."""
    if not answer or not answer["enough"]:
        return None
    if "truth" in answer:
        return {"yes": answer["truth"]}
    if "number" in answer:
        return {"number": answer["number"]}
    if len(answer["entities"]) == 1 and answer["entities"][0].startswith('"'):
        return {"value": answer["entities"][0]}
    return {"entities": answer["entities"]}


def _by_name(answer: dict[str, Any] | None, record: dict[str, Any], gold: dict[str, Any] | None) -> Any:
    """Give entities their names where the gold answer is of names, as on a table."""
    if answer is None or gold is None or "entities" not in answer:
        return answer
    wanted = set(map(str, gold.get("entities", [gold.get("value")])))
    labels = record.get("labels", {})
    return {"entities": [one if one in wanted else labels.get(one, one) for one in answer["entities"]]}


def _plain(record: dict[str, Any]) -> dict[str, Any]:
    return {**record, "triplets": [triple[:3] for triple in record.get("triplets") or []]}


if __name__ == "__main__":
    raise SystemExit(main())
