"""Counts how many gold mentions the mention detectors find, on annotated texts and on Mintaka.

    OMP_NUM_THREADS=1 python -m benchmarks.linking.mentions [--sets SET ...] [--limit N]

`ngrams` uses the graph of linking_graph.py, whose names come from other sources than the texts. `recall` is the
share of gold mentions that are found with their exact span, `touched` the share that some mention overlaps, `precision`
the share of found mentions that are gold ones; mentions that need not be found count for neither. Each detector runs
once; rows that join several, or keep only the better mentions of one, are made from that. Figures go to
build/bench/mentions.json.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from importlib.util import find_spec
from typing import Any

from srtk_plugin_evaluation import ratios

from benchmarks.common import OUT, lacking
from benchmarks.figures import half, record_mean
from benchmarks.linking.linking import SETS, read
from benchmarks.linking.linking_graph import build
from srtk_framework.recipe import Composer, from_data
from srtk_framework.records import write_json
from srtk_framework.text import Span, best_apart
from srtk_framework.values import Mention, Question

DETECTORS: dict[str, dict[str, Any]] = {
    "capitals": {"use": "capitals"},
    "ngrams": {"use": "ngrams"},
    "spacy": {"use": "spacy"},
}
"""Name to the block of a `mention_detector`."""

ROWS: dict[str, tuple[tuple[str, ...], float, bool]] = {
    "capitals": (("capitals",), 0.0, False),
    "ngrams": (("ngrams",), 0.0, False),
    "ngrams, best": (("ngrams",), 0.0, True),
    "spacy": (("spacy",), 0.0, False),
    "spacy, best": (("spacy",), 0.0, True),
    "spacy, min_score 0.8": (("spacy",), 0.8, False),
    "spacy, entities alone": (("spacy",), 1.0, False),
    "capitals and spacy": (("capitals", "spacy"), 0.0, False),
    "capitals and spacy, best": (("capitals", "spacy"), 0.0, True),
    "all three": (("capitals", "ngrams", "spacy"), 0.0, False),
}
"""Name of a row to the detectors that it joins, the least score of what is kept, and whether `overlaps` is `best`."""

CALLED = {
    "ngrams, best": "ngrams, overlaps: best",
    "spacy, best": "spacy, overlaps: best",
    "spacy, min_score 0.8": "spacy, min_score: 0.8",
    "capitals and spacy": "union of capitals and spacy",
    "capitals and spacy, best": "union of capitals and spacy, overlaps: best",
    "all three": "union of all three",
}
"""Rows that have another name on the pages."""

MEASURES = ("recall", "touched", "precision")

Found = Sequence[Sequence[Mention]]
Pairs = dict[str, list[tuple[float, float]]]
"""Measure to its share of each text, as a numerator and a denominator."""


def found_by(block: Mapping[str, Any], texts: Sequence[str]) -> tuple[Found, float]:
    """Run a detector over texts; return its mentions, and texts per second."""
    graph = {"use": "local", "path": str(build())}
    composer = Composer(from_data({"srtk": 1, "knowledge_graph": graph, "mention_detector": dict(block)}))
    detector = composer.of_role("mention_detector")
    composer.check()
    with ExitStack() as stack:
        composer.open(stack)
        started = time.perf_counter()
        found = detector.detect(texts)
        return found, len(texts) / (time.perf_counter() - started)


def joined(found: Mapping[str, Found], row: tuple[tuple[str, ...], float, bool]) -> list[set[Span]]:
    """Make the spans of a row, text by text, as the `union` detector does."""
    names, least, apart = row
    spans = []
    for answers in zip(*(found[name] for name in names), strict=True):
        scores: dict[Span, float] = {}
        for mention in (mention for some in answers for mention in some if mention.score >= least):
            span = (mention.start, mention.end)
            scores[span] = max(mention.score, scores.get(span, 0.0))
        every = [Mention(*span, score) for span, score in sorted(scores.items())]
        spans.append({(mention.start, mention.end) for mention in (best_apart(every) if apart else every)})
    return spans


def shares(questions: Sequence[Question], found: Sequence[set[Span]]) -> Pairs:
    """Compare found mentions with gold ones, text by text."""
    pairs: Pairs = {measure: [] for measure in MEASURES}
    for question, spans in zip(questions, found, strict=True):
        placed = [link for link in question.gold_links or () if link.start is not None and link.end is not None]
        wanted = {(link.start or 0, link.end or 0) for link in placed if link.score}
        excused = {(link.start or 0, link.end or 0) for link in placed} - wanted
        touched = sum(any(start < span[1] and span[0] < end for span in spans) for start, end in wanted)
        pairs["recall"].append((len(wanted & spans), len(wanted)))
        pairs["touched"].append((touched, len(wanted)))
        pairs["precision"].append((len(wanted & spans), len(spans - excused)))
    return pairs


def measure(names: Sequence[str], sets: Mapping[str, Sequence[Question]]) -> dict[str, Any]:
    """Run the detectors over all sets, and sum up each set and all of ELEVANT."""
    everything = [question for questions in sets.values() for question in questions]
    found: dict[str, Found] = {}
    report: dict[str, Any] = {"texts_per_second": {}}
    for name in names:
        found[name], speed = found_by(DETECTORS[name], [question.text for question in everything])
        report["texts_per_second"][name] = round(speed, 1)
        print(f"{name}: {speed:.0f} texts a second", file=sys.stderr, flush=True)
    pooled = [place for place in sets if place != "mintaka"]
    for name, row in ROWS.items():
        if not set(row[0]) <= found.keys():
            continue
        spans, at = joined(found, row), 0
        pairs: dict[str, Pairs] = {}
        for place, questions in sets.items():
            pairs[place] = shares(questions, spans[at : at + len(questions)])
            at += len(questions)
        if len(pooled) > 1:
            pairs["elevant"] = {what: [pair for place in pooled for pair in pairs[place][what]] for what in MEASURES}
        for place, columns in pairs.items():
            estimates = ratios([columns[what] for what in MEASURES])
            report.setdefault(place, {})[name] = dict(zip(MEASURES, estimates, strict=True))
    return report


def show(report: Mapping[str, Any]) -> None:
    """Print a table for each set."""
    for place, rows in report.items():
        if place == "texts_per_second":
            continue
        gold = next(iter(rows.values()))["recall"]["n"]
        print(
            f"\n{place}: {gold:.0f} gold mentions\n| detector | {' | '.join(MEASURES)} |\n|---|{'--:|' * len(MEASURES)}"
        )
        for name, figures in rows.items():
            keep(place, CALLED.get(name, name), figures)
            print(f"| {name} | {' | '.join(_shown(figures[what]) for what in MEASURES)} |")


def keep(place: str, method: str, figures: Mapping[str, Any]) -> None:
    """Keep the figures of a detector for the results: of single files only the recall."""
    pooled = {"mintaka": "Mintaka dev", "elevant": "ELEVANT"}
    measures = {"recall": "recall of gold mentions"}
    if place in pooled:
        measures |= {"touched": "touched", "precision": "precision"}
    for name, metric in measures.items():
        record_mean(pooled.get(place, place), method, metric, figures[name], int(figures["recall"]["n"]))


def _shown(estimate: Mapping[str, Any]) -> str:
    return f"{estimate['mean']:.3f}{half(estimate)}".replace("±0", "±")


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="*", choices=SETS, metavar="SET", help=f"of {', '.join(SETS)}")
    parser.add_argument("--limit", type=int, help="texts of each set")
    args = parser.parse_args()
    if missing := lacking("entity_linking", "wikidata_qa/mintaka"):
        print(f"mentions: skipped, {missing}")
        return 0
    names = list(DETECTORS)
    if find_spec("srtk_plugin_spacy") is None:
        names.remove("spacy")
        print("mentions: without spacy, as srtk-plugin-spacy is not installed", file=sys.stderr)
    report = measure(names, {name: read(name, args.limit) for name in args.sets or SETS})
    write_json(OUT / "mentions.json", report)
    show(report)
    return 0


if __name__ == "__main__":
    sys.exit(main())
