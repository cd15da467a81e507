"""Measures a learnt threshold of the dictionary linker that is chosen by what retrieval loses.

    OMP_NUM_THREADS=1 python benchmarks/linking_threshold.py

ComplexWebQuestions on FB15k-237, parts by hash: weights are learnt on the topics of .5 to .85, the threshold of
`recall` is chosen on .85 to 1, and the raw texts of 0 to .5 are linked, searched (50 triples, untrained) and scored.
`unlearnt` is the linker as it comes, `f1` has the threshold of the best F1 of links; `near` are with near
names (the default with `monitor`), the others without. The runs are in build/bench/linking-threshold.
"""

from __future__ import annotations

from collections.abc import Mapping

from common import OUT, ROOT, lacking, read_json, srtk
from srtk_plugin_evaluation import compare_runs

ASKED = "fb15k237/derived/cwq_test_reachable.jsonl"
GIVEN = f"use: jsonl, path: '${{data}}/{ASKED}', entities_field: topic_entities"
LEARN = (
    f"driver: entity_linker, questions: {{{GIVEN}, part: {{between: [0.5, 0.85]}}}}, "
    f"validation: {{{GIVEN}, part: {{between: [0.85, 1.0]}}}}"
)
NEAR = "entity_linker={use: dictionary, fuzzy: 0.75}"
VARIANTS: Mapping[str, tuple[str, ...]] = {
    "unlearnt": ("train=null",),
    "f1": (f"train={{{LEARN}}}",),
    "recall": (f"train={{{LEARN}, fit: {{monitor: answer_recall}}}}", "entity_linker={use: dictionary, fuzzy: 1}"),
    "f1-near": (f"train={{{LEARN}}}", NEAR),
    "recall-near": (f"train={{{LEARN}, fit: {{monitor: answer_recall}}}}",),
}
SETS = (
    *("vars.from=0.0", "vars.to=0.5", "questions.given=false", "budget={triples: 50}", "exporters=[]"),
    *("encoder={use: onnx, model: minilm}", "entity_linker={use: dictionary}"),
)
METRICS = ("answer_coverage", "answer_recall", "triples")


def main() -> int:
    """Run the variants and print the table."""
    if missing := lacking(ASKED, "fb15k237/train.txt"):
        print(f"skipped: {missing}")
        return 0
    out = OUT / "linking-threshold"
    print("| links | threshold | failed | coverage | recall | triples |\n|---|--:|--:|--:|--:|--:|")
    for name, more in VARIANTS.items():
        sets = (*SETS, f"output={out / name}", *more)
        flags = [part for change in sets for part in ("--set", change)]
        _, failed = srtk("run", str(ROOT / "benchmarks/recipes/train-cwq.yaml"), "--quiet", *flags)
        if failed and not (out / name / "evaluation.json").exists():
            raise SystemExit(f"{name}: {failed}")
        report = read_json(out / name / "evaluation.json")
        method = next(iter(report["methods"]))
        found = report["methods"][method]
        learnt = out / name / "training/model/linker.json"
        threshold = f"{read_json(learnt)['threshold']:.3f}" if learnt.exists() else "–"
        cells = [f"{found[key]['mean']:.3f}" for key in METRICS]
        print(f"| {name} | {threshold} | {report['failed'][method]} | {' | '.join(cells)} |", flush=True)
    for first, others in (("recall", ["f1", "unlearnt"]), ("recall-near", ["f1-near", "unlearnt"])):
        names = [first, *others]
        for pair, metrics in compare_runs([out / name for name in names], names)["differences"].items():
            e = metrics["answer_recall"]
            print(f"{pair}, answer recall: {e['mean']:+.3f} ({e['low']:+.3f} to {e['high']:+.3f}), p {e['p']:.3f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
