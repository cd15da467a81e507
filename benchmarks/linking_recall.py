"""Measures how often the dictionary linker finds the topic of raw questions: MetaQA of 1 to 3 hops, and the demo.

    OMP_NUM_THREADS=1 python benchmarks/linking_recall.py [--limit N] [--slips]

Recall at 1 asks whether the best link of a text is its topic, recall at 5 whether the topic is among the five best.
All dev questions of MetaQA are counted, also those whose topic is not in the part of the graph at hand. The demo's
questions may have several topics: there each is looked for among the entities of its own mention. `--slips` asks 400
questions of one hop with a spelling error in their topic (a letter more, fewer, other, or two exchanged, by a seed),
with exact names only (`fuzzy: 1`) and by default. Figures go to build/bench/linking-recall.json.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import time
from collections.abc import Sequence
from typing import Any

from common import DATA, OUT, ROOT, lacking, shown
from srtk_plugin_local.dictionary.linker import DictionaryLinker
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.graph import LocalGraph

from srtk_framework.records import write_json
from srtk_framework.roles import EntityLinker
from srtk_framework.values import Link

BATCH = 256
KB = ("metaqa/kb_from_splits.txt", "metaqa/kb_from_1hop_answers.txt")
DEMO = ROOT / "build/demo"


def link(linker: EntityLinker, texts: Sequence[str]) -> tuple[list[Sequence[Link]], float]:
    """Link texts in batches; also return the texts per second of processor time."""
    started = time.process_time()
    found: list[Sequence[Link]] = []
    for start in range(0, len(texts), BATCH):
        found += linker.link(texts[start : start + BATCH])
    return found, len(texts) / max(time.process_time() - started, 1e-9)


def metaqa(hops: int, limit: int | None) -> dict[str, Any]:
    """Link the dev questions with the given number of hops."""
    graph = LocalGraph(str(OUT / "linking-recall/metaqa"), BuildSettings(_files(), separator="|"))
    graph.open()
    lines = (DATA / f"metaqa/{hops}-hop/qa_dev.txt").read_text(encoding="utf-8").splitlines()[:limit]
    questions = [line.split("\t")[0] for line in lines]
    topics = [re.findall(r"\[(.*)\]", question)[0] for question in questions]
    texts = [question.replace("[", "").replace("]", "") for question in questions]
    found, speed = link(DictionaryLinker(graph, n_best=5, keep=0.0), texts)
    known = [frontier.size for frontier in graph.frontiers([[topic] for topic in topics])]
    return {
        "questions": len(topics),
        "topic_in_graph": sum(map(bool, known)),
        **_recall(found, topics),
        "texts_per_processor_second": round(speed),
    }


def _files() -> tuple[str, ...]:
    return tuple(str(DATA / name) for name in KB)


def _recall(found: Sequence[Sequence[Link]], topics: Sequence[str]) -> dict[str, float]:
    ranked = [
        list(dict.fromkeys(one.entity for one in sorted(links, key=lambda k: (-k.score, k.start, k.entity))))
        for links in found
    ]
    return {
        "recall_at_1": sum(row[:1] == [topic] for row, topic in zip(ranked, topics, strict=True)) / len(topics),
        "recall_at_5": sum(topic in row[:5] for row, topic in zip(ranked, topics, strict=True)) / len(topics),
    }


def slips(count: int = 400) -> dict[str, Any]:
    """Link topics of at least seven letters with a spelling error."""
    graph = LocalGraph(str(OUT / "linking-recall/metaqa"), BuildSettings(_files(), separator="|"))
    graph.open()
    chance = random.Random(0)
    lines = (DATA / "metaqa/1-hop/qa_dev.txt").read_text(encoding="utf-8").splitlines()
    found = [re.match(r"(.*)\[(.*)\](.*)", line.split("\t")[0]) for line in lines]
    parts = [match.groups() for match in found if match and len(match[2]) >= 7 and match[2].replace(" ", "").isalpha()]
    parts = chance.sample(parts, count)
    topics = [topic for _, topic, _ in parts]
    wrong = [before + _slip(topic, chance) + after for before, topic, after in parts]
    texts_by_form = {
        "written right": ["".join(part) for part in parts],
        "one slip": wrong,
        "one slip, small letters": [text.lower() for text in wrong],
    }
    figures: dict[str, Any] = {}
    for name, texts in texts_by_form.items():
        for fuzzy in (1.0, None):
            links, speed = link(DictionaryLinker(graph, n_best=5, keep=0.0, fuzzy=fuzzy), texts)
            figures[f"{name}, {'by default' if fuzzy is None else 'exact names'}"] = {
                **_recall(links, topics),
                "texts_per_processor_second": round(speed),
            }
    return figures


def _slip(name: str, chance: random.Random) -> str:
    at, letter = chance.randrange(1, len(name)), chance.choice("abcdefghijklmnopqrstuvwxyz")
    return chance.choice(
        [
            name[:at] + name[at + 1 :],
            name[:at] + letter + name[at:],
            name[:at] + letter + name[at + 1 :],
            name[: at - 1] + name[at] + name[at - 1] + name[at + 1 :],
        ]
    )


def demo() -> dict[str, Any]:
    """Link the demo's questions."""
    graph = LocalGraph(str(DEMO / "graph"))
    graph.open()
    records = [json.loads(line) for line in (DEMO / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    found, speed = link(DictionaryLinker(graph, n_best=5), [record["question"] for record in records])
    topics = hits = among = 0
    for record, links in zip(records, found, strict=True):
        spans: dict[tuple[int | None, int | None], list[str]] = {}
        for one in links:
            spans.setdefault((one.start, one.end), []).append(one.entity)
        for topic in record["gold_entities"]:
            topics += 1
            hits += any(row[0] == topic for row in spans.values())
            among += any(topic in row[:5] for row in spans.values())
    return {
        "questions": len(records),
        "topics": topics,
        "recall_at_1": hits / topics,
        "recall_at_5": among / topics,
        "texts_per_processor_second": round(speed),
    }


def main() -> int:
    """Measure all available sets, print and store the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, help="questions of each set of MetaQA")
    parser.add_argument("--slips", action="store_true", help="only questions with a spelling error")
    args = parser.parse_args()
    figures: dict[str, Any] = {}
    if args.slips:
        pass
    elif (DEMO / "questions.jsonl").exists() and (DEMO / "graph").exists():
        figures["demo"] = demo()
    else:
        print(f"demo: skipped, {shown(DEMO)} is not built; run `make demo`")
    if missing := lacking(*KB):
        print(f"metaqa: skipped, {missing}")
    elif args.slips:
        figures.update(slips())
    else:
        figures.update({f"metaqa {hops} hop": metaqa(hops, args.limit) for hops in (1, 2, 3)})
    print(json.dumps(figures, indent=1))
    write_json(OUT / "linking-recall.json", figures)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
