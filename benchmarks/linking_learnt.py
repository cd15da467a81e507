"""Cross-validates trained weights of the dictionary linker on annotated texts and Mintaka.

    OMP_NUM_THREADS=1 python benchmarks/linking_learnt.py [--folds 5] [--by name] [--limit N]

Graph, texts and scores are the same as in linking.py. The texts are divided by hash into folds, and the weights for a
fold are trained on the other folds. `--by name` divides the ambiguous mentions by their words instead, so that no
ambiguous name is in both training and test. A detector is used in training and end to end, not where the span is given.
Figures go to build/bench/linking-learnt-by-text.json and -by-name.json.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import linking
import numpy as np
from common import OUT, cached_values, lacking
from srtk_plugin_evaluation import compare_links, counts, covered_by
from srtk_plugin_local.dictionary.weight_fit import LinkerTraining

from srtk_framework.records import place, write_json
from srtk_framework.roles import Encoder, MentionDetector, TrainingTask
from srtk_framework.values import Link, Question, TrainingExample

DETECTOR = {"use": "union", "detectors": [{"use": "capitals"}, {"use": "spacy"}]}

BLOCKS: dict[str, dict[str, Any]] = {
    "popularity": {"use": "dictionary", "fuzzy": 1},
    "popularity learnt": {"use": "dictionary"},
    "popularity learnt, near": {"use": "dictionary", "fuzzy": 0.75},
    "context": {"use": "dictionary", "fuzzy": 1, "encoder": linking.MINILM},
    "context learnt": {"use": "dictionary", "encoder": linking.MINILM},
    "detected learnt": {"use": "dictionary", "detector": DETECTOR},
    "detected learnt, near": {"use": "dictionary", "fuzzy": 0.75, "detector": DETECTOR},
    "detected, context learnt": {"use": "dictionary", "detector": DETECTOR, "encoder": linking.MINILM},
}
Rows = list[Sequence[Link]]


@attrs.define(eq=False)
class Remembering(Encoder):
    """Encodes each text once, since all folds share the texts."""

    inner: Encoder
    _known: dict[str, Any] = attrs.field(init=False, factory=dict)

    def encode(self, texts: Sequence[str]) -> Any:
        """Encode the new texts."""
        return np.stack(cached_values(self._known, texts, self.inner.encode))


@attrs.define(eq=False)
class RememberingDetector(MentionDetector):
    """Processes each text once, since all folds share the texts."""

    inner: MentionDetector
    _known: dict[str, Any] = attrs.field(init=False, factory=dict)

    def detect(self, texts: Sequence[str]) -> Any:
        """Detect mentions in the new texts."""
        return cached_values(self._known, texts, self.inner.detect)


def link(linker: Any, texts: Sequence[str]) -> Rows:
    """Link texts in batches; duplicate texts are linked once."""
    distinct = list(dict.fromkeys(texts))
    found: dict[str, Sequence[Link]] = {}
    for at in range(0, len(distinct), linking.BATCH):
        some = distinct[at : at + linking.BATCH]
        found.update(zip(some, linker.link(some), strict=True))
    return [found[text] for text in texts]


def without(question: Question, names: set[str]) -> Question:
    """Leave out the gold links to mentions of some names."""
    kept = [
        attrs.evolve(one, score=0.0) if question.text[one.start : one.end].lower() in names else one
        for one in question.gold_links or ()
    ]
    return attrs.evolve(question, gold_links=tuple(kept))


def score(
    block: dict[str, Any], learnt: bool, questions: Sequence[Question], mentions: Sequence[Any], args: Any
) -> tuple[dict[str, Sequence[Link]], Rows, list[dict[str, float]]]:
    """Link all texts end to end, and ambiguous mentions at their spans, fold by fold."""
    whole: dict[str, Sequence[Link]] = {}
    given: dict[int, Sequence[Link]] = {}
    figures = []
    with linking.opened(block) as session, tempfile.TemporaryDirectory() as folder:
        linker = session.linker.driver
        if linker.encoder is not None:
            linker.encoder = Remembering(linker.encoder)
        if linker.detector is not None:
            linker.detector = RememberingDetector(linker.detector)
        for fold in range(args.folds if learnt else 1):
            here = [q.text for q in questions if not learnt or _fold(q.text, args.folds) == fold]
            if args.by == "text":
                some = [i for i, m in enumerate(mentions) if not learnt or _fold(m["question"], args.folds) == fold]
                others = [q for q in questions if _fold(q.text, args.folds) != fold]
            else:
                some = [i for i, m in enumerate(mentions) if not learnt or _fold(_name(m), args.folds) == fold]
                names = {_name(mentions[i]) for i in some}
                others = [without(q, names) for q in questions]
            if learnt:
                task = TrainingTask([TrainingExample(q) for q in others], None, Path(folder), 0)
                figures.append(dict(linker.fit(task, LinkerTraining())))
            at_places = with_settings(linker, {**linking.GIVEN, "detector": None})
            given.update(zip(some, link(at_places, [mentions[i]["question"] for i in some]), strict=True))
            if args.by == "text" and not args.given:
                whole.update(zip(here, link(with_settings(linker, linking.BEST), here), strict=True))
    return whole, [given[i] for i in range(len(mentions))], figures


def with_settings(linker: Any, settings: Mapping[str, Any]) -> Any:
    """Make a linker with other settings and the same trained weights."""
    other = attrs.evolve(linker, **settings)
    other._learnt = linker._learnt
    return other


def _fold(text: str, folds: int) -> int:
    return min(int(place(f"linking {text}", 0) * folds), folds - 1)


def _name(mention: Any) -> str:
    return str(mention["mention"]).lower()


def main() -> int:
    """Score all linkers, and print tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--by", choices=("text", "name"), default="text")
    parser.add_argument("--only", nargs="*", choices=list(BLOCKS), default=list(BLOCKS))
    parser.add_argument("--limit", type=int, help="questions per set")
    parser.add_argument("--given", action="store_true", help="only mentions with given spans")
    args = parser.parse_args()
    if missing := lacking("entity_linking", "wikidata_qa/mintaka"):
        print(f"skipped: {missing}", file=sys.stderr)
        return 0
    linking.build()
    sets = {name: linking.read(name, args.limit) for name in linking.SETS}
    mentions = linking.ambiguous(sets)
    questions = [question for rows in sets.values() for question in rows]
    methods, ends, learnt = {}, {}, {}
    for name in args.only:
        started = time.perf_counter()
        whole, given, figures = score(BLOCKS[name], name.endswith("learnt"), questions, mentions, args)
        print(f"{name}: {time.perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
        ends[name] = whole
        methods[name] = [
            {"ambiguous_accuracy": (float(linking._chosen(links, m) == m["entity"]), 1.0)}
            for m, links in zip(mentions, given, strict=True)
        ]
        if figures:
            learnt[name] = {key: float(np.mean([one[key] for one in figures])) for key in figures[0]}
    groups = {"pooled": list(range(len(mentions)))}
    for kind in ("ELEVANT", "mintaka"):
        groups[kind] = [i for i, m in enumerate(mentions) if (m["set"] == "mintaka") == (kind == "mintaka")]
    report: dict[str, Any] = {
        group: compare_links({name: linking._by_question(rows, mentions, some) for name, rows in methods.items()})
        for group, some in groups.items()
    }
    print(f"{len(mentions)} ambiguous mentions, place given, folds by {args.by}\n")
    print(linking.table(report, ("ambiguous_accuracy",)), "\n")
    print(linking.differences(report, ("ambiguous_accuracy",)), "\n")
    results: dict[str, Any] = {"given": report, "learnt": learnt}
    if args.by == "text" and not args.given:
        with linking.opened(BLOCKS["popularity"]) as session:
            known = sorted(covered_by(session.graph, questions))
            covered = {id_ for id_, label in zip(known, session.graph.labels(known), strict=True) if label != id_}
        parts = {"mintaka": sets["mintaka"], "ELEVANT": [q for n, rows in sets.items() if n != "mintaka" for q in rows]}
        results["end to end"] = {
            part: compare_links(
                {name: [counts(q.gold_links or (), ends[name][q.text], covered) for q in rows] for name in args.only}
            )
            for part, rows in parts.items()
        }
        print(linking.table(results["end to end"], linking.SHOWN), "\n")
        print(linking.differences(results["end to end"], ("strong_f1", "covered_f1")), "\n")
    print(json.dumps(learnt, indent=1))
    write_json(OUT / f"linking-learnt-by-{args.by}.json", json.loads(json.dumps(results)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
