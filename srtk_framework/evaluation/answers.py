"""Metrics of readers' answers and of the use of generators."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from srtk_framework.graph.path_instances import names_of
from srtk_framework.text.folding import fold
from srtk_framework.values import Literal, Retrieval, total

ANSWER_METRICS = ("answer_hit", "answer_f1", "answer_exact", "answer_refused")
"""Metrics of methods with a reader: first entity right, F1 of the entities, text right, answer refused."""

USE_METRICS = ("calls", "model_tokens", "cost_per_1000")
"""Metrics of methods with a generator: calls, tokens of prompts and replies, and price of 1,000 questions."""

_PARTS = re.compile(r"\s*[,;\n]\s*|\s+and\s+")
_MARKS = " .!\"'"


def answer_scores(retrieval: Retrieval) -> dict[str, float]:
    """Compare an answer with the gold answers.

    A question's own entities do not count as answers, unless it has options, which it may name itself. The text is
    right if it consists of labels or ids of gold answers only; case, diacritics and outer punctuation are ignored.

    Returns:
        Metric to value: empty without an answer, only ``answer_refused`` without gold answers.
    """
    question, answer = retrieval.question, retrieval.answer
    if answer is None:
        return {}
    found = {"answer_refused": float(not answer.enough)}
    if not question.answers:
        return found
    gold = set(question.answers)
    own = set() if question.options else {link.entity for link in question.links}
    right = [names_of(entity) & gold - own for entity in answer.entities]
    hits = set().union(*right)
    wanted = {text for id_ in gold for text in _texts(id_, retrieval.labels)}
    text = _folded(answer.text)
    parts = [_folded(part) for part in _PARTS.split(answer.text)]
    found["answer_hit"] = float(bool(right and right[0]))
    found["answer_f1"] = 2 * len(hits) / (len(gold) + len(right)) if hits else 0.0
    found["answer_exact"] = float(bool(text) and (text in wanted or all(part in wanted for part in parts)))
    return found


def _texts(id_: str, labels: Mapping[str, str]) -> set[str]:
    value = id_.lexical if isinstance(id_, Literal) else id_
    return {text for text in (_folded(labels.get(id_, value)), _folded(value)) if text}


def _folded(text: str) -> str:
    return fold(text).strip(_MARKS)


def use_of(trace: Mapping[str, Any]) -> dict[str, Any] | None:
    """Sum the usage of generators in a trace, including the reader's; None without a generator."""
    reader = trace.get("reader")
    usages = [trace.get("generator"), reader.get("generator") if isinstance(reader, Mapping) else None]
    used = [row for row in usages if isinstance(row, Mapping)]
    return total(used) if used else None


def use_scores(trace: Mapping[str, Any]) -> dict[str, float]:
    """Return the usage metrics of one question; empty without a generator."""
    used = use_of(trace)
    if used is None:
        return {}
    tokens = used["tokens_in"] + used["tokens_out"]
    return {"calls": float(used["calls"]), "model_tokens": float(tokens), "cost_per_1000": 1000 * used["cost"]}


def whole_use(retrievals: Iterable[Retrieval]) -> dict[str, Any] | None:
    """Sum the usage of many questions; None without a generator."""
    rows = [used for retrieval in retrievals if (used := use_of(retrieval.subgraph.trace)) is not None]
    return {"questions": len(rows), **total(rows)} if rows else None
