"""Scores the linkers that run offline on annotated texts and on Mintaka: end to end, and on given mentions.

    OMP_NUM_THREADS=1 python -m benchmarks.linking.linking [--only LINKER ...] [--sets SET ...] [--limit N] [--mode ...]

linking_graph.py builds the graph. `covered` are the mentions whose gold entity has a name in the graph. `given`
measures disambiguation alone, for each linker without a detector: the span of the mention is given, and the score is
the accuracy on ambiguous mentions, whose words name several entities of the graph, including the gold entity. They
are listed in build/bench/linking/ambiguous.jsonl. Figures go to build/bench/linking.json. Weights that are learnt
trained weights.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

from srtk_plugin_evaluation import Share, compare_links, counts, covered_by

from benchmarks.common import DATA, OUT, lacking
from benchmarks.figures import ends, half, record_mean
from benchmarks.linking.linking_graph import FOLDER, build
from srtk_framework.recipe import from_data
from srtk_framework.records import dumps, write_json
from srtk_framework.run import Session
from srtk_framework.values import NIL, Link, Question

MINILM = {"use": "transformers", "model": "minilm"}

SPACY = {"use": "spacy", "min_score": 0.8}
EITHER = {"use": "union", "detectors": [{"use": "capitals"}, {"use": "spacy"}], "overlaps": "best"}

LINKERS: dict[str, dict[str, Any]] = {
    "popularity": {"use": "dictionary", "fuzzy": 1},
    "context": {"use": "dictionary", "fuzzy": 1, "encoder": MINILM},
    "near names": {"use": "dictionary"},
    "capitals": {"use": "dictionary", "fuzzy": 1, "detector": {"use": "capitals"}},
    "spacy": {"use": "dictionary", "fuzzy": 1, "detector": SPACY},
    "either": {"use": "dictionary", "fuzzy": 1, "detector": EITHER},
    "either, context": {"use": "dictionary", "fuzzy": 1, "detector": EITHER, "encoder": MINILM},
}
"""Name to the block of an `entity_linker`. A new linker is one line; the first one is what others are compared with."""

BEST = {"n_best": 10}
"""Settings for the runs end to end, so that recall among alternatives can be measured."""

GIVEN = {"n_best": 100, "candidates": 100, "longest": False, "keep": 0.0, "min_score": 0.0}
"""Settings that make a linker look at every place, so that it looks at the given ones."""

SETS: dict[str, dict[str, Any]] = {
    name: {"use": "elevant", "path": str(DATA / f"entity_linking/{name}.benchmark.jsonl"), "unit": "sentence"}
    for name in ("derczynski", "oke-2015-train", "oke-2016-train", "rss-500", "wiki-fair-v2")
}
SETS["mintaka"] = {"use": "mintaka", "path": str(DATA / "wikidata_qa/mintaka"), "given": False}

SHOWN = (
    "strong_precision", "strong_recall", "strong_f1", "weak_f1", "recall_at_1", "recall_at_5",
    "coverage", "covered_precision", "covered_recall", "covered_f1", "ambiguous_accuracy",
    "nil_accuracy", "nil_precision", "nil_recall",
)  # fmt: skip
METRICS = {
    "strong_precision": "strong P", "strong_recall": "strong R", "strong_f1": "strong F1", "weak_f1": "weak F1",
    "recall_at_1": "recall at 1", "recall_at_5": "recall at 5", "coverage": "named by the graph",
    "covered_precision": "covered P", "covered_recall": "covered R", "covered_f1": "covered F1",
    "ambiguous_accuracy": "accuracy on ambiguous mentions", "nil_recall": "NIL recall",
}  # fmt: skip
"""Metrics as the pages name them."""
POOLED = {metric for metric in METRICS if metric.startswith(("strong", "weak", "covered", "nil"))}
CALLED = {
    "popularity": "dictionary, fuzzy: 1", "context": "dictionary, fuzzy: 1, with context", "near names": "dictionary",
    "capitals": "capitals", "spacy": "spacy, min_score: 0.8", "either": "both, overlaps: best",
    "either, context": "both, with context",
}  # fmt: skip
"""Linkers as the pages name them."""
PLACES = {"ELEVANT": "the five together", "mintaka": "Mintaka dev"}
BATCH = 64

Counts = list[Mapping[str, Share] | None]


def read(name: str, limit: int | None) -> list[Question]:
    """Read the questions of a set."""
    block = SETS[name] if limit is None else {**SETS[name], "limit": limit}
    return list(Session(from_data({"srtk": 1, "questions": block})).dataset.read())


def opened(linker: Mapping[str, Any]) -> Session:
    """Make the session of a linker over the graph."""
    graph = {"use": "local", "path": str(build())}
    return Session(from_data({"srtk": 1, "knowledge_graph": graph, "entity_linker": dict(linker)}))


def linked(name: str, settings: Mapping[str, Any], texts: Sequence[str]) -> list[Sequence[Link]]:
    """Link texts in batches; duplicate texts are linked once."""
    distinct = list(dict.fromkeys(texts))
    found: dict[str, Sequence[Link]] = {}
    started = time.perf_counter()
    with opened({**LINKERS[name], **settings}) as session:
        for at in range(0, len(distinct), BATCH):
            some = distinct[at : at + BATCH]
            found.update(zip(some, session.linker.link(some), strict=True))
    seconds = time.perf_counter() - started
    print(f"{name}: {len(distinct)} texts, {len(distinct) / seconds:.1f} a second", file=sys.stderr, flush=True)
    return [found[text] for text in texts]


def ambiguous(sets: Mapping[str, Sequence[Question]]) -> list[dict[str, Any]]:
    """List the gold mentions whose words name several entities of the graph, including the gold entity."""
    mentions = [
        (name, question, link)
        for name, questions in sets.items()
        for question in questions
        for link in question.gold_links or ()
        if link.score and link.entity != NIL and link.start is not None
    ]
    with opened(LINKERS[next(iter(LINKERS))]) as session:
        rows = session.graph.find([question.text[link.start : link.end] for _, question, link in mentions])
    return [
        {
            "set": name, "id": question.id, "question": question.text, "start": link.start, "end": link.end,
            "mention": question.text[link.start : link.end], "entity": link.entity, "candidates": list(row),
        }
        for (name, question, link), row in zip(mentions, rows, strict=True)
        if len(row) > 1 and link.entity in row
    ]  # fmt: skip


def end_to_end(names: Sequence[str], sets: Mapping[str, Sequence[Question]]) -> dict[str, Any]:
    """Score the linkers on each set, and on all texts of ELEVANT together."""
    everything = [question for questions in sets.values() for question in questions]
    with opened(LINKERS[names[0]]) as session:
        known = sorted(covered_by(session.graph, everything))
        covered = {id_ for id_, label in zip(known, session.graph.labels(known), strict=True) if label != id_}
    rows: dict[str, dict[str, Counts]] = {}
    for name in names:
        answers = iter(linked(name, BEST, [question.text for question in everything]))
        for place, questions in sets.items():
            rows.setdefault(place, {})[name] = [
                counts(question.gold_links or (), next(answers), covered) for question in questions
            ]
    pooled = [place for place in sets if place != "mintaka"]
    if len(pooled) > 1:
        rows["ELEVANT"] = {name: [row for place in pooled for row in rows[place][name]] for name in names}
    return {place: compare_links(methods) for place, methods in rows.items()}


def given(names: Sequence[str], mentions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Score the entities that the linkers choose for ambiguous mentions with given spans."""
    texts = [mention["question"] for mention in mentions]
    methods: dict[str, Counts] = {}
    groups: dict[str, list[int]] = {"pooled": list(range(len(mentions)))}
    for place, mention in enumerate(mentions):
        groups.setdefault(str(mention["set"]), []).append(place)
    for name in names:
        methods[name] = [
            {"ambiguous_accuracy": (float(_chosen(links, mention) == mention["entity"]), 1.0)}
            for mention, links in zip(mentions, linked(name, GIVEN, texts), strict=True)
        ]
    return {
        group: compare_links({name: _by_question(rows, mentions, places) for name, rows in methods.items()})
        for group, places in groups.items()
    }


def _chosen(links: Sequence[Link], mention: Mapping[str, Any]) -> str:
    here = [link for link in links if (link.start, link.end) == (mention["start"], mention["end"])]
    return max(here, key=lambda link: link.score).entity if here else NIL


def _by_question(rows: Counts, mentions: Sequence[Mapping[str, Any]], places: Sequence[int]) -> Counts:
    """Sum the mentions of one question, which intervals and tests draw together."""
    sums: dict[Any, list[float]] = {}
    for place in places:
        right, of = (rows[place] or {})["ambiguous_accuracy"]
        total = sums.setdefault((mentions[place]["set"], mentions[place]["id"]), [0.0, 0.0])
        total[0] += right
        total[1] += of
    return [{"ambiguous_accuracy": (right, of), "strong_f1": (0.0, 0.0)} for right, of in sums.values()]


def shown(estimate: Mapping[str, Any] | None) -> str:
    """Write a mean with its interval."""
    if not estimate or estimate["mean"] is None:
        return "–"
    return f"{estimate['mean']:.3f}{half(estimate)}".replace("±0.", "±.")


def table(reports: Mapping[str, Any], metrics: Sequence[str]) -> str:
    """Format reports as a Markdown table."""
    lines = [
        f"| set | linker | {' | '.join(m.replace('_', ' ') for m in metrics)} |",
        "|---|---" + "|--:" * len(metrics) + "|",
    ]
    for place, report in reports.items():
        for number, (name, found) in enumerate(report["methods"].items()):
            cells = " | ".join(shown(found.get(metric)) for metric in metrics)
            lines.append(f"| {place if number == 0 else ''} | {name} | {cells} |")
    return "\n".join(lines)


def differences(reports: Mapping[str, Any], metrics: Sequence[str]) -> str:
    """Write the paired tests, other linker minus the first one."""
    lines = []
    for place, report in reports.items():
        for pair, found in report["differences"].items():
            first, _, other = pair.partition(" - ")
            for metric in metrics:
                if metric in found:
                    e = found[metric]
                    turned = {"low": e["high"], "high": e["low"]}
                    turned = {end: None if value is None else -value for end, value in turned.items()}
                    lines.append(
                        f"{place}: {other} - {first}, {metric.replace('_', ' ')}: {0 - e['mean']:+.3f}"
                        f" ({ends(turned)}), n {e['n']}, p {e['p']:.3f}"
                    )
    return "\n".join(lines)


def keep(reports: Mapping[str, Any]) -> None:
    """Keep the figures end to end for the results: of each set without a detector, of the pools all."""
    for place, report in reports.items():
        for name, figures in report["methods"].items():
            pool = {"ELEVANT": "ELEVANT", "mintaka": "Mintaka"}.get(place)
            for metric, called in METRICS.items():
                if not figures.get(metric):
                    continue
                if name in ("popularity", "context") and metric != "nil_recall":
                    where = PLACES.get(place, place)
                    record_mean(where, CALLED[name], called, figures[metric], None, measurement="end-to-end")
                if pool and metric in POOLED:
                    record_mean(pool, CALLED[name], called, figures[metric], None, measurement="detectors")


def main() -> int:
    """Run the selected measurements, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=list(LINKERS), default=list(LINKERS))
    parser.add_argument("--sets", nargs="*", choices=list(SETS), default=list(SETS))
    parser.add_argument("--limit", type=int, help="questions per set")
    parser.add_argument("--mode", choices=("all", "end-to-end", "given"), default="all")
    args = parser.parse_args()
    if missing := lacking("entity_linking", "wikidata_qa/mintaka"):
        print(f"skipped: {missing}", file=sys.stderr)
        return 0
    build()
    sets = {name: read(name, args.limit) for name in args.sets}
    mentions = ambiguous(sets)
    FOLDER.mkdir(parents=True, exist_ok=True)
    if args.limit is None and len(sets) == len(SETS):
        (FOLDER / "ambiguous.jsonl").write_text("".join(dumps(m) + "\n" for m in mentions), encoding="utf-8")
    found: dict[str, Any] = {}
    if args.mode != "given":
        found["end to end"] = end_to_end(args.only, sets)
        print(table(found["end to end"], SHOWN), "\n")
        print(differences(found["end to end"], ("strong_f1", "covered_f1", "ambiguous_accuracy")), "\n", flush=True)
        keep(found["end to end"])
    everywhere = [name for name in args.only if "detector" not in LINKERS[name]]
    if args.mode != "end-to-end" and everywhere:
        found["given"] = given(everywhere, mentions)
        print(f"{len(mentions)} ambiguous mentions, place given\n")
        print(table(found["given"], ("ambiguous_accuracy",)), "\n")
        print(differences(found["given"], ("ambiguous_accuracy",)))
        for place, report in found["given"].items():
            for name, figures in report["methods"].items():
                if right := figures.get("ambiguous_accuracy"):
                    where = PLACES.get(place, place)
                    record_mean(where, CALLED[name], "right entity first", right, None, measurement="ambiguous")
    write_json(OUT / "linking.json", json.loads(json.dumps(found)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
