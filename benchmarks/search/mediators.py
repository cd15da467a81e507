"""Which graphs have mediators, as their builds notice them, and what a view that joins them is worth.

    make demo
    OMP_NUM_THREADS=1 python -m benchmarks.search.mediators [--noticed]

`--noticed` builds the graphs of the data folder and prints what was noticed in each. Without it, questions of
ComplexWebQuestions are searched in the union of the triples that were labelled for its test questions (Freebase, names
as ids; 1,365 of 5,133 nodes are mediators): by `beam` and by `bfs`, with mediators as nodes and joined by `mediated`.
The questions are those with a topic in the graph and an answer among their own labelled triples; links are given. A
joined triple stands for two, so its tokens stand beside it. The graph holds little that no question asks for: figures
are to be compared with each other only.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from srtk_plugin_evaluation import paired

from benchmarks.common import DATA, OUT, ROOT, codex_relations, lacking, srtk
from benchmarks.figures import ends

FOLDER = OUT / "mediators"
TRIPLES = "freebase_qa/subgraphrag/cwq_test_labelled_triples.jsonl"
QUESTIONS = "fb15k237/derived/cwq_test_reachable.jsonl"
NAMES = "fb15k237/entity2text.txt"
CUTS = (5, 10, 20, 50)
_RELATION = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)+")


def graphs() -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each graph, and the arguments of its build."""
    world = ROOT / "build/demo/world"
    labels = ["--labels", str(DATA / "wiki27k/entity2label.txt")]
    yield "demo", ["--labels", f"{world}/labels.tsv", "--literals", "quoted", f"{world}/triples.tsv"]
    yield "demo, no labels", ["--no-names", "--literals", "quoted", f"{world}/triples.tsv"]
    yield "metaqa", ["--separator", "|", str(DATA / "metaqa/kb_from_splits.txt")]
    for size in "sm":
        files = [str(DATA / f"codex/codex-{size}/{part}.txt") for part in ("train", "valid", "test")]
        yield f"codex-{size}", [*labels, "--labels", str(codex_relations(FOLDER)), *files]
        yield f"codex-{size}, no labels", files
    for name, named in (("fb15k237", [str(DATA / NAMES)]), ("wiki27k", labels[1:])):
        files = [str(DATA / f"{name}/{part}.txt") for part in ("train", "valid", "test")]
        yield name, [*(flag for file in named for flag in ("--labels", file)), *files]
    yield "dbp15k", [str(DATA / "dbpedia/derived/dbp15k_en_union.tsv.gz")]
    yield "wc2014", ["--no-header", str(DATA / "wc2014/WC2014.txt")]
    for hops in "23":
        yield f"pathquestion-{hops}", ["--separator", "\t", str(DATA / f"pathquestion/{hops}H-kb.txt")]
    every = sorted(path for path in (DATA / "public_graphs").iterdir() if path.suffix != ".txt")
    northwind = [str(path) for path in every if path.name.startswith("northwind")]
    yield "northwind", northwind
    for path in every:
        if str(path) not in northwind:
            yield path.name, [str(path)]
    yield "cwq, labelled triples", ["--no-header", str(written_graph())]


def print_noticed() -> None:
    """Print what the build of each graph notices."""
    print("| graph | entities | mediators | patterns | vocabulary |\n|---|--:|--:|---|---|")
    for name, arguments in graphs():
        folder = FOLDER / "graphs" / re.sub(r"\W+", "-", name)
        _, failed = srtk("graph", "build", "--quiet", "--out", str(folder), *arguments)
        if failed:
            print(f"{name}: not built: {failed}", file=sys.stderr)
            continue
        meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
        found = meta["build"].get("mediators", {"nodes": 0, "patterns": [], "vocabulary": ""})
        cells = (name, f"{meta['counts']['entities']:,}", f"{found['nodes']:,}", " ".join(found["patterns"]))
        print(f"| {' | '.join(cells)} | {found['vocabulary']} |", flush=True)


def labelled() -> dict[str, list[tuple[str, ...]]]:
    """Read the labelled triples by the id of their question; a few relations are cut, and left out."""
    rows = map(json.loads, (DATA / TRIPLES).read_text(encoding="utf-8").splitlines())
    return {row["id"]: [tuple(one) for one in row["triples"] if _RELATION.fullmatch(one[1])] for row in rows}


def written_graph() -> Path:
    """Write the union of the labelled triples; an unchanged file keeps its graph."""
    file, rows = FOLDER / "cwq.tsv", sorted({triple for row in labelled().values() for triple in row})
    text = "".join("\t".join(row) + "\n" for row in rows)
    file.parent.mkdir(parents=True, exist_ok=True)
    if not file.is_file() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")
    return file


def write_questions(file: Path) -> None:
    """Write the questions with a topic in the graph and an answer among their own triples."""
    own = labelled()
    nodes = {end for row in own.values() for triple in row for end in triple[::2]}
    lines = (DATA / NAMES).read_text(encoding="utf-8").splitlines()
    called = dict(line.split("\t")[:2] for line in lines)
    with file.open("w", encoding="utf-8") as out:
        for line in (DATA / QUESTIONS).read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            topics = [name for mid in row["topic_entities"] if (name := called.get(mid)) in nodes]
            ends = {end for triple in own.get(row["id"], ()) for end in triple[::2]}
            answers = [name for name in row["answers"] if name in ends and name not in topics]
            if topics and answers:
                record = {"id": row["id"], "question": row["question"], "question_entities": topics}
                out.write(json.dumps({**record, "answer_entities": answers}) + "\n")


def searched(name: str, graph: Mapping[str, Any], expander: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Search the questions; return the rows of their scores."""
    folder = FOLDER / name
    recipe = {
        "srtk": 1,
        "questions": {"use": "jsonl", "path": str(FOLDER / "questions.jsonl")},
        "knowledge_graph": graph,
        "encoder": {"use": "onnx", "model": "minilm"},
        "path_scorer": {"use": "dense"},
        "expander": expander,
        "budget": {"triples": 50},
        "evaluate": True,
        "output": str(folder),
    }
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "recipe.yaml"
    file.write_text(yaml.safe_dump(recipe, sort_keys=False), encoding="utf-8")
    _, failed = srtk("run", str(file), "--quiet", "--resume")
    if failed:
        raise SystemExit(f"{name}: {failed}")
    return [json.loads(line) for line in (folder / "scores.jsonl").read_text(encoding="utf-8").splitlines()]


def recall_at(rows: Sequence[Mapping[str, Any]], most: int) -> list[float]:
    """Return the share of each question's answers among the first triples, in order of the ids."""
    rows = sorted(rows, key=lambda row: row["id"])
    return [sum(rank <= most for rank in row["ranks"]["answers_at"]) / row["ranks"]["answers"] for row in rows]


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--noticed", action="store_true", help="print what is noticed in each graph, and end")
    args = parser.parse_args()
    if missing := lacking(TRIPLES, QUESTIONS, NAMES):
        print(f"skipped: {missing}", file=sys.stderr)
        return 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    if args.noticed:
        print_noticed()
        return 0
    local = {"use": "local", "path": str(FOLDER / "cwq"), "build": {"files": [str(written_graph())], "header": False}}
    write_questions(FOLDER / "questions.jsonl")
    print("| search | mediators | " + " | ".join(f"recall at {most}" for most in CUTS) + " | triples | tokens |")
    print("|---|---|" + "--:|" * (len(CUTS) + 2))
    for name, expander in (("beam", {"use": "beam"}), ("bfs", {"use": "bfs", "depth": 2})):
        found = {
            way: searched(f"{name}-{way}", graph, expander)
            for way, graph in (("nodes", local), ("joined", {"use": "mediated", "graph": local}))
        }
        for way, rows in found.items():
            cells = [f"{sum(recall_at(rows, most)) / len(rows):.3f}" for most in CUTS]
            sizes = [f"{sum(row['metrics'][size] for row in rows) / len(rows):.0f}" for size in ("triples", "tokens")]
            print(f"| {name}, {len(rows)} questions | {way} | {' | '.join(cells + sizes)} |", flush=True)
        for most in CUTS:
            one = paired(recall_at(found["joined"], most), recall_at(found["nodes"], most))
            print(f"{name}, joined - nodes at {most}: {one['mean']:+.3f} ({ends(one)})")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
