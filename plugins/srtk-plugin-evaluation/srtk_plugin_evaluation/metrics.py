"""Metrics of retrievals against gold answers, triples and paths, and the comparison of methods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from srtk_framework.graph import names_of, with_ids_of_result
from srtk_framework.text import subgraph_tokens
from srtk_framework.values import END, LINKED_BY, InputError, Path, Question, Retrieval
from srtk_plugin_evaluation.answers import answer_scores, judged, use_scores
from srtk_plugin_evaluation.columns import (
    ANSWER_METRICS,
    METRICS,
    MINTAKA_METRICS,
    PATH_METRICS,
    SIZES,
    SPEED,
    USE_METRICS,
)
from srtk_plugin_evaluation.completion import Completed, compare_completions, completed
from srtk_plugin_evaluation.curves import by_pair, curves, ranks_of
from srtk_plugin_evaluation.intervals import Estimate, bootstrap_many, paired_many, rates, spread
from srtk_plugin_evaluation.link_scores import compare_links
from srtk_plugin_evaluation.mintaka import mintaka_scores
from srtk_plugin_evaluation.row_table import RowTable
from srtk_plugin_evaluation.rows import Row
from srtk_plugin_evaluation.selective_answers import compare_selective
from srtk_plugin_evaluation.slices import fields_of, groups, links_of
from srtk_plugin_evaluation.training_overlap import TrainingOverlap, gold_paths, gold_relations

# Metrics of methods with a reader or a generator; omitted for others.
OPTIONAL = (*ANSWER_METRICS, *MINTAKA_METRICS, *USE_METRICS)

Score = dict[str, float | None]


def score(retrieval: Retrieval) -> Score:
    """Compute the metrics of one question.

    Gold and links are compared with the result by the IRIs of their ids, whatever their spelling. The answers found are
    the gold answers among the nodes of the triples, without the question's own entities. The metrics of a failed
    question are 0, as its subgraph is empty.
    """
    retrieval = with_ids_of_result(retrieval)
    question, subgraph = retrieval.question, retrieval.subgraph
    found: Score = dict.fromkeys((*METRICS, *PATH_METRICS))
    if question.answers:
        nodes: set[str] = set()
        for triple in subgraph.triples:
            nodes |= names_of(triple.subject) | names_of(triple.object)
        answers = set(question.answers)
        hits = len((answers & nodes) - {link.entity for link in question.links})
        found["answer_coverage"] = float(bool(hits))
        found["answer_recall"] = hits / len(answers)
    if question.gold_triples:
        gold, read = set(question.gold_triples), set(subgraph.triples)
        right = len(gold & read)
        found["triple_precision"] = right / len(read) if read else 0.0
        found["triple_recall"] = right / len(gold)
        found["triple_f1"] = 2 * right / (len(gold) + len(read))
    found["triples"] = float(len(subgraph.triples))
    found["tokens"] = float(subgraph_tokens(subgraph, retrieval.labels))
    if question.gold_paths:
        wanted = {_steps(path) for path in question.gold_paths}
        walked = [_steps(path.steps) in wanted for path in subgraph.paths]
        found["path_hit"] = float(any(walked))
        found["path_top"] = float(bool(walked) and walked[0])
    return found | answer_scores(retrieval) | mintaka_scores(retrieval) | use_scores(subgraph.trace)


def _steps(path: Path) -> Path:
    return path[:-1] if path and path[-1] == END else path


def row(
    retrieval: Retrieval,
    seconds: float | None = None,
    links: str | None = None,
    completion: Completed | None = None,
) -> Row:
    """Score one question and collect its values for reports.

    Args:
        retrieval: The result for the question.
        seconds: Time of the question, in seconds.
        links: ``given`` or ``linked``; by default as in the trace.
        completion: Counts of a pattern question; by default ``completed`` counts without a graph.
    """
    retrieval = with_ids_of_result(retrieval)
    question = retrieval.question
    lengths = [len(_steps(path)) for path in question.gold_paths or ()]
    trace, metrics = retrieval.subgraph.trace, score(retrieval)
    origin = trace.get("links") or ("linked" if LINKED_BY in trace else None)
    return Row(
        id=question.id,
        metrics=metrics,
        failed=retrieval.error is not None,
        links=(links or ("linked" if origin == "linked" else "given")) if question.links else "none",
        hops=min(lengths, default=None),
        walks=bool(retrieval.subgraph.paths),
        seconds=seconds,
        text=question.text,
        ranks=ranks_of(retrieval),
        paths=gold_paths(question),
        relations=gold_relations(question),
        fields=fields_of(question),
        completion=completion or completed(retrieval),
        topics=_topics(question),
        judged=judged(retrieval, metrics),
    )


def _topics(question: Question) -> int | None:
    """Count the mentions that are linked; alternatives of one span are one topic."""
    places = {link.entity if link.start is None else (link.start, link.end) for link in question.links}
    return len(places) or None


def summarise(rows: Iterable[Row]) -> dict[str, Estimate]:
    """Average each metric over questions, with 95 % intervals."""
    return _summaries({"": RowTable(rows)})[""]


def _summaries(methods: Mapping[str, RowTable]) -> dict[str, dict[str, Estimate]]:
    columns = {
        (method, name): table.column(name)
        for method, table in methods.items()
        for name in (*METRICS, *(PATH_METRICS if table.walks else ()), *OPTIONAL)
        if name in METRICS or table.has(name)
    }
    speeds = rates([table.seconds for table in methods.values()])
    found: dict[str, dict[str, Estimate]] = {method: {} for method in methods}
    sizes = [place for place, (_, name) in enumerate(columns) if name in SIZES]
    for (method, name), estimate in zip(columns, bootstrap_many(list(columns.values()), sizes), strict=True):
        if estimate["n"] or name in METRICS:
            found[method][name] = estimate
    for (method, summary), speed in zip(found.items(), speeds, strict=True):
        for name in (metric for metric in METRICS if metric in SIZES):
            summary[name].update(spread(columns[method, name]))
        summary[SPEED] = speed
    return found


def compare(
    methods: Mapping[str, Sequence[Row]],
    fields: Sequence[str] = (),
    overlap: TrainingOverlap | None = None,
) -> dict[str, Any]:
    """Compare the first method with each other method: see ``report_of``.

    Args:
        methods: Method to its rows, for the same questions in the same order.
        fields: Fields of the question records to slice by.
        overlap: Relations and paths in the training data, to slice by.

    Raises:
        InputError: If the methods had different questions, or a field is unsuitable for slices.
    """
    first_name, first = next(iter(methods.items()), ("", ()))
    for name, rows in methods.items():
        _same_questions(first_name, first, name, rows)
    return report_of({name: RowTable(rows, fields, overlap) for name, rows in methods.items()}, fields)


def report_of(methods: Mapping[str, RowTable], fields: Sequence[str] = ()) -> dict[str, Any]:
    """Build the report in ``evaluation.json``, which compares the first method with each other method.

    Args:
        methods: Method to the table of its rows, for the same questions in the same order.
        fields: Fields of the question records to slice by, which the tables have.

    Raises:
        InputError: If a field is unsuitable for slices.
    """
    report: dict[str, Any] = {
        "questions": next((table.size for table in methods.values()), 0),
        "links": links_of(methods.values()),
        "links_of": {name: links_of([table]) for name, table in methods.items()},
        "failed": {name: table.failed for name, table in methods.items()},
        "methods": _summaries(methods),
        "differences": _differences(methods),
    }
    report |= _at(methods)
    answers = compare_selective({name: table.answers for name, table in methods.items()})
    if answers:
        report["answers"] = answers
    report |= _links_and_completion(methods)
    report["slices"] = {
        name: {
            label: _slice({method: table.take(places) for method, table in methods.items()})
            for label, places in placed.items()
        }
        for name, placed in groups(methods, fields)
    }
    return report


def _same_questions(name_a: str, a: Sequence[Row], name_b: str, b: Sequence[Row]) -> None:
    if [r.id for r in a] == [r.id for r in b]:
        changed = [x.id for x, y in zip(a, b, strict=True) if x.text and y.text and x.text != y.text]
        if changed:
            raise InputError(
                f"methods {name_a!r} and {name_b!r} were not run on the same questions: {len(changed)} ids have"
                f" different texts, such as {changed[0]}; run both on one question file"
            )
        return
    apart = sorted({r.id for r in a} ^ {r.id for r in b})
    detail = f"only one of them has {', '.join(apart[:5])}" if apart else "the order or number of questions differs"
    raise InputError(
        f"methods {name_a!r} ({len(a)} questions) and {name_b!r} ({len(b)}) were not run on the same questions:"
        f" {detail}; run both on one question file"
    )


def _differences(methods: Mapping[str, RowTable]) -> dict[str, dict[str, Estimate]]:
    """Compare the first method with each other method; ``p_holm`` is corrected over the methods of a metric."""
    first, *others = methods or [""]
    shown = (*METRICS, *(metric for metric in OPTIONAL if methods and methods[first].has(metric)))
    keys = [(name, metric) for name in others for metric in shown]
    sizes = [place for place, (_, metric) in enumerate(keys) if metric in SIZES]
    pairs = [(methods[first].column(metric), methods[name].column(metric)) for name, metric in keys]
    return by_pair(first, others, keys, paired_many(pairs, sizes))


def _slice(part: Mapping[str, RowTable]) -> dict[str, Any]:
    return {
        "questions": next(iter(part.values())).size,
        "methods": {
            name: {metric: value for metric, value in summary.items() if value["n"]}
            for name, summary in _summaries(part).items()
        },
        "differences": _differences(part),
        **_at(part),
        **_links_and_completion(part, slices=False),
    }


def _links_and_completion(methods: Mapping[str, RowTable], slices: bool = True) -> dict[str, Any]:
    """Compare the links and the completions of the methods, where any question has them."""
    found: dict[str, Any] = {}
    if any(table.linking.known for table in methods.values()):
        found["linking"] = compare_links({name: table.linking for name, table in methods.items()})
    if any(table.completion for table in methods.values()):
        rows = {n: [*map(t.completion.get, range(t.size))] for n, t in methods.items()}
        found["completion"] = compare_completions(rows, slices)
    return found


def _at(methods: Mapping[str, RowTable]) -> dict[str, Any]:
    """Compare the methods at each K, if ranks are known."""
    if all(np.isnan(table.ranking.sizes).all() for table in methods.values()):
        return {}
    return {"at": curves({name: table.ranking for name, table in methods.items()})}
