"""Measures how the dictionary linker finds names with a slip, or in small letters: the demo's questions and MetaQA's.

    make demo
    OMP_NUM_THREADS=1 python benchmarks/linking_slips.py [--seeds 0 1 2] [--limit N] [--rows NAME ...]

A slip is one random edit of a letter of the topic's name: dropped, doubled, exchanged with the next one, or replaced by
a neighbour on an English keyboard. One topic of each question of the demo gets one, whatever the length of its name;
of MetaQA's questions of one hop, 500 are drawn by the seed. Recall at 1: on the demo, the topic is the best link
of its mention; on MetaQA, the best link of the text. Precision: the share of links that are topics. Besides the linker
stands the simplest thing: the longest run of words that is a name, and the entity of that name with the most triples.
Settings were chosen with the seeds 100 to 102, and on every fifth question of MetaQA (--choose); the figures are of the
seeds 0 to 2 and the other questions. --sets annotated compares the
links of the annotated sets of linking.py with those by exact names. Figures go to build/bench/linking-slips.json.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import attrs
from common import DATA, OUT, ROOT, lacking
from linking import SETS, read
from linking_graph import build
from srtk_plugin_local.dictionary.linker import DictionaryLinker
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.graph import LocalGraph

from srtk_framework.records import write_json
from srtk_framework.roles import KnowledgeGraph
from srtk_framework.text import fold, words
from srtk_framework.values import Link

DEMO = ROOT / "build/demo"
KB = ("metaqa/kb_from_splits.txt", "metaqa/kb_from_1hop_answers.txt")
BATCH = 256
DRAWN = 500
KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")

Linker = Callable[[KnowledgeGraph, Sequence[str]], list[Sequence[Link]]]


@attrs.frozen
class Topic:
    """A question and the place of a topic's name in its text."""

    text: str
    entity: str
    start: int
    end: int
    topics: frozenset[str]


def neighbours(letter: str) -> str:
    """Return the keys around a letter on an English keyboard."""
    for row, keys in enumerate(KEYS):
        at = keys.find(letter)
        if at >= 0:
            around = [keys[k] for k in (at - 1, at + 1) if 0 <= k < len(keys)]
            beside = [other for other in KEYS[max(row - 1, 0) : row + 2] if other != keys]
            around += [other[k] for other in beside for k in (at, at - 1, at + 1) if 0 <= k < len(other)]
            return "".join(dict.fromkeys(around))
    return ""


def slip(name: str, chance: random.Random) -> str:
    """Make one random edit of a letter that changes the name."""
    places = [place for place, letter in enumerate(name) if neighbours(letter.lower())]
    for _ in range(100):
        at, kind = chance.choice(places), chance.choice(("drop", "double", "swap", "neighbour"))
        letter, rest = name[at], name[at + 1 :]
        if kind == "drop":
            other = name[:at] + rest
        elif kind == "double":
            other = name[:at] + letter + letter + rest
        elif kind == "swap" and rest:
            other = name[:at] + rest[0] + letter + rest[1:]
        else:
            key = chance.choice(neighbours(letter.lower()))
            other = name[:at] + (key.upper() if letter.isupper() else key) + rest
        if fold(other).strip() != fold(name) and any(map(str.isalnum, other)):
            return other
    raise SystemExit(f"no slip changes {name!r}")


def slipped(topic: Topic, chance: random.Random) -> tuple[str, Topic]:
    """Write a question with a slip in its topic; return the text and the new place of the topic."""
    name = slip(topic.text[topic.start : topic.end], chance)
    text = topic.text[: topic.start] + name + topic.text[topic.end :]
    return text, attrs.evolve(topic, text=text, end=topic.start + len(name))


def exact(graph: KnowledgeGraph, texts: Sequence[str]) -> list[Sequence[Link]]:
    """Link the longest runs of words that are names, from left to right, to the entity with the most triples."""
    found: list[Sequence[Link]] = []
    for text in texts:
        bounds, links, at = words(text), [], 0
        while at < len(bounds):
            ends = range(min(at + 8, len(bounds)), at, -1)
            rows = graph.find([text[bounds[at][0] : bounds[last - 1][1]] for last in ends])
            hit = next(((last, row) for last, row in zip(ends, rows, strict=True) if len(row)), None)
            if hit is None:
                at += 1
                continue
            best = min(zip(graph.degrees(hit[1]), hit[1], strict=True), key=lambda pair: (-pair[0], pair[1]))[1]
            start, end = bounds[at][0], bounds[hit[0] - 1][1]
            links.append(Link(best, (end - start) / 1000, start, end))
            at = hit[0]
        found.append(links)
    return found


def dictionary(**settings: Any) -> Linker:
    """Return the dictionary linker with settings."""

    def link(graph: KnowledgeGraph, texts: Sequence[str]) -> list[Sequence[Link]]:
        linker = DictionaryLinker(graph, **settings)
        linker.open()
        return [row for start in range(0, len(texts), BATCH) for row in linker.link(texts[start : start + BATCH])]

    return link


ROWS: dict[str, Linker] = {
    "exact look-up": exact,
    "dictionary": dictionary(),
    "dictionary, exact names": dictionary(fuzzy=1.0),
}


def demo() -> tuple[KnowledgeGraph, list[Topic]]:
    """Read the demo's questions; a topic's name is the longest run of words that names it."""
    graph = LocalGraph(str(DEMO / "graph"))
    graph.open()
    topics = []
    for line in (DEMO / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        text, bounds = record["question"], words(record["question"])
        spans = [(a[0], b[1]) for k, a in enumerate(bounds) for b in bounds[k : k + 8]]
        spans += [(start, end - 2) for start, end in spans if text[start:end].endswith(("'s", "’s"))]
        named = graph.find([text[start:end] for start, end in spans])
        for entity in record["gold_entities"]:
            own = [span for span, ids in zip(spans, named, strict=True) if entity in ids]
            if own:
                start, end = max(own, key=lambda span: (span[1] - span[0], -span[0]))
                topics.append(Topic(text, entity, start, end, frozenset(record["gold_entities"])))
    return graph, topics


def metaqa(chosen_on: bool) -> tuple[KnowledgeGraph, list[Topic]]:
    """Read MetaQA's questions of one hop: every fifth one for choosing settings, or the others."""
    files = tuple(str(DATA / name) for name in KB)
    graph = LocalGraph(str(OUT / "linking-recall/metaqa"), BuildSettings(files, separator="|"))
    graph.open()
    topics = []
    lines = (DATA / "metaqa/1-hop/qa_dev.txt").read_text(encoding="utf-8").splitlines()
    for line in (line for number, line in enumerate(lines) if (number % 5 == 0) == chosen_on):
        before, name, after = re.match(r"(.*?)\[(.*)\](.*)", line.split("\t")[0]).groups()  # type: ignore[union-attr]
        topics.append(Topic(before + name + after, name, len(before), len(before + name), frozenset([name])))
    return graph, topics


def figures(found: Sequence[Sequence[Link]], topics: Sequence[Topic], whole: bool) -> dict[str, float]:
    """Count topics that are the best link of their mention, or of the whole text, and links that are topics."""
    hits = links = right = 0
    for row, topic in zip(found, topics, strict=True):
        ranked = sorted(row, key=lambda link: (-link.score, link.start or 0, link.entity))
        here = [link for link in ranked if whole or ((link.start or 0) < topic.end and topic.start < (link.end or 0))]
        hits += bool(here) and here[0].entity == topic.entity
        links += len(row)
        right += sum(link.entity in topic.topics for link in row)
    return {"recall_at_1": hits / len(topics), "precision": right / max(links, 1), "links": links / len(topics)}


def measure(row: str, graph: KnowledgeGraph, topics: Sequence[Topic], whole: bool) -> dict[str, float]:
    """Link the texts of topics with one of the rows."""
    texts = [topic.text for topic in topics]
    ROWS[row](graph, ["Xqzvw is no name"])  # makes the index of names
    started = time.process_time()
    found = ROWS[row](graph, texts)
    return {**figures(found, topics, whole), "texts_per_processor_second": len(texts) / (time.process_time() - started)}


def lowered(topics: Sequence[Topic]) -> list[Topic]:
    """Write questions in small letters; lower-casing must keep their length."""
    return [attrs.evolve(t, text=t.text.lower()) for t in topics if len(t.text.lower()) == len(t.text)]


def with_slips(topics: Sequence[Topic], seed: int) -> list[Topic]:
    """Put a slip into each topic."""
    chance = random.Random(seed)
    return [slipped(topic, chance)[1] for topic in topics]


def one_a_question(topics: Sequence[Topic], seed: int) -> list[Topic]:
    """Keep one topic of each question, drawn by the seed."""
    rows: dict[str, list[Topic]] = {}
    for topic in topics:
        rows.setdefault(topic.text, []).append(topic)
    chance = random.Random(seed)
    return [chance.choice(row) for row in rows.values()]


def cases(name: str, topics: Sequence[Topic], seeds: Sequence[int]) -> dict[str, list[list[Topic]]]:
    """Make the texts of each case, for each seed where they are random."""
    lettered = [topic for topic in topics if any(map(neighbours, topic.text[topic.start : topic.end].lower()))]
    if name == "demo":
        drawn = [one_a_question(lettered, seed) for seed in seeds]
    else:
        drawn = [random.Random(seed).sample(lettered, min(DRAWN, len(lettered))) for seed in seeds]
    wrong = [with_slips(some, seed) for some, seed in zip(drawn, seeds, strict=True)]
    return {
        "as written": [list(topics)],
        "small letters": [lowered(topics)],
        "one slip": wrong,
        "one slip, small letters": [lowered(some) for some in wrong],
    }


def annotated(limit: int) -> dict[str, Any]:
    """Count the texts of the annotated sets that have other links than by exact names, and compare the times."""
    graph = LocalGraph(str(build()))
    graph.open()
    ROWS["dictionary"](graph, ["Xqzvw is no name"])
    report = {}
    for name in SETS:
        texts = [question.text for question in read(name, limit)]
        by_exact, by_default = ROWS["dictionary, exact names"](graph, texts), ROWS["dictionary"](graph, texts)
        linked = [place for place, row in enumerate(by_exact) if row]
        seconds = []
        for row in ("dictionary", "dictionary, exact names"):
            started = time.process_time()
            ROWS[row](graph, [texts[place] for place in linked])
            seconds.append(time.process_time() - started)
        changed = sum(by_exact[place] != by_default[place] for place in linked)
        newly = sum(bool(new) and not old for old, new in zip(by_exact, by_default, strict=True))
        report[name] = [len(texts), len(linked), changed, newly, seconds[0] / seconds[1]]
        print(f"| {name} | {len(texts)} | {len(linked)} | {changed} | {newly} | {report[name][-1]:.2f} |", flush=True)
    return report


def main() -> int:
    """Measure all rows on all cases, print and store the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--limit", type=int, help="questions of MetaQA")
    parser.add_argument("--rows", nargs="+", choices=ROWS, default=list(ROWS))
    parser.add_argument("--sets", nargs="+", choices=("demo", "metaqa", "annotated"), default=["demo", "metaqa"])
    parser.add_argument("--choose", action="store_true", help="the questions of MetaQA for choosing settings")
    args = parser.parse_args()
    report: dict[str, Any] = {}
    if "annotated" in args.sets:
        report["annotated"] = annotated(args.limit or 400)
    for name in (name for name in args.sets if name != "annotated"):
        if name == "demo" and not (DEMO / "questions.jsonl").exists():
            print("demo: skipped, build/demo is not built; run `make demo`", file=sys.stderr)
            continue
        if name == "metaqa" and (missing := lacking(*KB)):
            print(f"metaqa: skipped, {missing}", file=sys.stderr)
            continue
        graph, topics = demo() if name == "demo" else metaqa(args.choose)
        if name == "metaqa":
            topics = topics[: args.limit]
        print(f"\n{name}: {len(topics)} topics\n| case | linker | recall@1 | precision | links a text | texts/s |")
        print("|---|---|--:|--:|--:|--:|")
        for case, drawn in cases(name, topics, args.seeds).items():
            for row in args.rows:
                rows = [measure(row, graph, some, name == "metaqa") for some in drawn]
                mean = {key: sum(one[key] for one in rows) / len(rows) for key in rows[0]}
                report.setdefault(name, {}).setdefault(case, {})[row] = {**mean, "runs": rows}
                print(
                    f"| {case} | {row} | {mean['recall_at_1']:.3f} | {mean['precision']:.3f} | {mean['links']:.2f} "
                    f"| {mean['texts_per_processor_second']:.0f} |",
                    flush=True,
                )
    write_json(OUT / "linking-slips.json", report)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
