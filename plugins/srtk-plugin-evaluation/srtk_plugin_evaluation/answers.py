"""Metrics of readers' answers and of the use of generators."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from srtk_framework.graph import names_of
from srtk_framework.text import fold
from srtk_framework.values import Answer, Literal, Question, Retrieval, use_of
from srtk_plugin_evaluation.selective_answers import Judged

VALUES = "answer_values"  # Field of question records with gold answers that are numbers, dates, or yes and no.

_PARTS = re.compile(r"\s*[,;\n]\s*|\s+and\s+")  # Separators of the lists that models write.
_MARKS = " .!\"'"  # Outer marks of an answer, which carry no meaning.
_TRUTHS = {"yes": True, "true": True, "no": False, "false": False}
# Fields of a reader's trace with the probability that its answer is right.
_CONFIDENCES = ("probability", "confidence")


def answer_scores(retrieval: Retrieval) -> dict[str, float]:
    """Compare an answer with the gold answers.

    The given answers are the number or truth value that the question asks for, else the entities. Where the gold
    answers of a count are entities, as in LC-QuAD and Mintaka, entities count too. A question's own entities are no
    answers, unless it has options, which it may name itself. Numbers are compared by value, yes and no with true and
    false. The text is right if it consists of labels or ids of gold answers only; case, diacritics and
    outer punctuation are ignored.

    Returns:
        Metric to value: empty without an answer, only ``answer_refused`` without gold answers.
    """
    question, answer = retrieval.question, retrieval.answer
    if answer is None:
        return {}
    found = {"answer_refused": float(not answer.enough)}
    gold = gold_of(question)
    if not gold:
        return found
    right = _right(retrieval, answer, gold)
    hits = set().union(*right)
    found["answer_hit"] = float(bool(right and right[0]))
    found["answer_f1"] = 2 * len(hits) / (len(gold) + len(right)) if hits else 0.0
    found["answer_equal"] = float(bool(right) and all(right) and len(hits) == len(gold))
    if _is_judged_by_members(answer, gold):
        found["answer_exact"] = found["answer_equal"]
    else:
        found["answer_exact"] = float(_is_value(answer) and bool(hits)) or float(_named(answer.text, gold, retrieval))
    return found


def gold_of(question: Question) -> set[str]:
    """Return the gold answers; without any, the values of ``answer_values``, which are no nodes of a graph."""
    values = question.extra.get(VALUES)
    listed = values if isinstance(values, list | tuple) else ()
    return set(question.answers or ()) or {str(value) for value in listed if isinstance(value, str | int | float)}


def _is_value(answer: Answer) -> bool:
    return answer.number is not None or answer.truth is not None


def _is_judged_by_members(answer: Answer, gold: Collection[str]) -> bool:
    """Return whether a number is a count of entities, and the gold answers are entities too."""
    return answer.number is not None and bool(answer.entities) and all(_number(one) is None for one in gold)


def _right(retrieval: Retrieval, answer: Answer, gold: Collection[str]) -> list[set[str]]:
    """Return, for each answer given, the gold answers that it is."""
    if answer.truth is not None:
        return [{one for one in gold if _TRUTHS.get(_value(one).casefold()) is answer.truth}]
    if answer.number is not None and not _is_judged_by_members(answer, gold):
        return [{one for one in gold if _number(one) == answer.number}]
    question = retrieval.question
    own = set() if question.options else {link.entity for link in question.links}
    return [names_of(entity) & set(gold) - own for entity in answer.entities]


def _value(gold: str) -> str:
    return gold.lexical if isinstance(gold, Literal) else gold


def _number(gold: str) -> float | None:
    try:
        return float(_value(gold).replace(",", ""))
    except ValueError:
        return None


def _named(text: str, gold: Collection[str], retrieval: Retrieval) -> bool:
    """Return whether a text consists of labels or ids of gold answers only."""
    wanted = {text for id_ in gold for text in _texts(id_, retrieval.labels)}
    whole = _folded(text)
    return bool(whole) and (whole in wanted or all(_folded(part) in wanted for part in _PARTS.split(text)))


def judged(retrieval: Retrieval, metrics: Mapping[str, float | None]) -> Judged | None:
    """Return whether a method's answer is right as a whole, and how sure the method was.

    An answer of values or entities is right if it equals the gold answers; an answer in words, if its text is right.

    Args:
        retrieval: The result for the question.
        metrics: Its metrics.

    Returns:
        None for a result without an answer that did not fail.
    """
    answer = retrieval.answer
    if answer is None:
        return None
    said = bool(answer.entities) or _is_value(answer)
    right = metrics.get("answer_equal" if said else "answer_exact")
    return Judged(
        right=None if right is None else bool(right),
        answered=answer.enough and (said or bool(answer.text.strip())),
        confidence=_confidence(retrieval.subgraph.trace),
        certainty=answer.certainty,
    )


def _confidence(trace: Mapping[str, Any]) -> float | None:
    """Return the probability of an answer in the reader's part of a trace; None without a valid probability."""
    reader = trace.get("reader")
    values = [reader.get(name) for name in _CONFIDENCES] if isinstance(reader, Mapping) else []
    known = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool) and 0 <= v <= 1]
    return float(known[0]) if known else None


def _texts(id_: str, labels: Mapping[str, str]) -> set[str]:
    value = id_.lexical if isinstance(id_, Literal) else id_
    return {text for text in (_folded(labels.get(id_, value)), _folded(value)) if text}


def _folded(text: str) -> str:
    return fold(text).strip(_MARKS)


def use_scores(trace: Mapping[str, Any]) -> dict[str, float]:
    """Return the usage metrics of one question; empty without a generator."""
    used = use_of(trace)
    if used is None:
        return {}
    tokens = used["tokens_in"] + used["tokens_out"]
    return {"calls": float(used["calls"]), "model_tokens": float(tokens), "cost_per_1000": 1000 * used["cost"]}
