"""Answers in words: one line that ends in the answer, and its facts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from srtk_framework.values import ABSENT_LINKS, Answer, Literal, Subgraph, written_confidence

NAMED = 10
"""Names that the note below an answer has; the others are counted."""
COMPARED = 5
"""Names where values were compared."""
_ORDERED = ("superlative", "ordinal")
_LONG_NUMBER = re.compile(r"-?\d{5,}(?:\.\d+)?")
_NUMERIC = re.compile(r"(?:integer|int|long|short|decimal|double|float)>?$", re.IGNORECASE)
_NOT_SUFFICIENT = "the triples do not suffice"
_NOT_WHOLE = "not all was read, so there may be more"
_ABSENT = "the graph lacks {}, which the question was linked to as well"


def answer_line(answer: Answer, subgraph: Subgraph) -> str:
    """Write an answer as one line that ends in its text; empty for a refusal.

    "Perhaps" stands before an unsure answer, with its probability where the reader left it in the subgraph's trace, and
    "at least" before a count that a limit stopped.
    """
    if not answer.enough:
        return ""
    least = "at least " if answer.complete is False and _is_count(answer) else ""
    perhaps = "Perhaps " if answer.certainty == "unsure" else ""
    told = subgraph.trace.get("reader")
    probability = told.get("probability") if isinstance(told, Mapping) else None
    if perhaps and isinstance(probability, float):
        perhaps += f"({probability:.0%}) "
    return f"{perhaps}{least}{answer.text}"


def refusal_line(answer: Answer) -> str:
    """Write why a reader refuses to answer."""
    return answer.missing.strip() or _NOT_SUFFICIENT


def lacking(confidence: float) -> str:
    """Write behind a triple that the graph lacks it, with the confidence in it; empty of a triple of the graph."""
    if confidence >= 1:
        return ""
    return f" [not in the graph; confidence {written_confidence(confidence):g}]"


def answer_notes(
    answer: Answer | None, subgraph: Subgraph, labels: Mapping[str, str], most: int | None = NAMED
) -> list[str]:
    """Write the lines below an answer: the counted things, the values that decided, and what is unread or lacking.

    A refusal has only the line about what the graph lacks, and so has a question without an answer.

    Args:
        answer: The answer; None without one.
        subgraph: The subgraph to which its support refers.
        labels: Labels of ids, where they differ from the id.
        most: Most names of a note; None for all.
    """
    notes = [] if answer is None or _refuses(answer) else _facts(answer, subgraph, labels, most)
    if isinstance(absent := subgraph.trace.get(ABSENT_LINKS), Sequence) and absent:
        notes.append(_ABSENT.format(", ".join(map(str, absent))))
    return notes


def _refuses(answer: Answer) -> bool:
    """Return whether a reader refuses to answer, or says nothing."""
    return not answer.enough or not answer.text.strip()


def _facts(answer: Answer, subgraph: Subgraph, labels: Mapping[str, str], most: int | None) -> list[str]:
    """Write the counted things, the values that decided, and what is unread."""
    values = _values(answer, subgraph)
    members = _members(answer, values)
    notes = []
    if members:
        # More members than these are of use where they are the answer itself.
        limit = most if most is None or answer.number is not None else min(most, COMPARED)
        head = "" if answer.number is None or not answer.unit else f"{answer.unit}: "
        notes.append(head + _listed([_member(one, values, labels) for one in members], limit))
    if counts := _counts(answer, subgraph, labels):
        notes.append(_listed(counts, most))
    told = subgraph.trace.get("reader")
    if isinstance(told, Mapping) and isinstance(told.get("notice"), str):
        notes.append(told["notice"])
    if answer.complete is False and not _is_count(answer):
        notes.append(_NOT_WHOLE)
    return notes


def _counts(answer: Answer, subgraph: Subgraph, labels: Mapping[str, str]) -> list[str]:
    """Return the entities of an order by counts, each with its count, where the reader left it in the trace."""
    told = subgraph.trace.get("reader")
    choice = told.get("choice") if isinstance(told, Mapping) else None
    if not isinstance(choice, Mapping) or not isinstance(choice.get("counts"), Sequence):
        return []
    relation = labels.get(choice.get("relation", ""), choice.get("relation", ""))
    counted = zip(answer.entities, choice["counts"], strict=False)
    what = f"{relation}: " if relation else ""
    return [f"{labels.get(one, one)} ({what}{count:,})" for one, count in counted if isinstance(count, int)]


def _is_count(answer: Answer) -> bool:
    return answer.number is not None and answer.operation == "count"


def _values(answer: Answer, subgraph: Subgraph) -> dict[str, list[tuple[str, Literal]]]:
    """Return the values of each entity in the support, with their relations."""
    values: dict[str, list[tuple[str, Literal]]] = {}
    for place in answer.support:
        triple = subgraph.triples[place]
        if isinstance(triple.object, Literal):
            values.setdefault(triple.subject, []).append((triple.relation, triple.object))
    return values


def _members(answer: Answer, values: Mapping[str, Sequence[tuple[str, Literal]]]) -> list[str]:
    """Return the counted or compared entities; compared entities by their values, from the answer's end."""
    own = list(dict.fromkeys(entity for entity in answer.entities if not isinstance(entity, Literal)))
    if not own:
        return list(values) if answer.truth is not None or answer.number is not None else []
    if answer.number is not None:
        return own
    if not any(entity in values for entity in own):
        return []
    members = list(dict.fromkeys([*own, *values]))
    keys = {entity: _order_key(row) for entity, row in values.items()}
    if answer.operation not in _ORDERED or len({key and (key[0], type(key[1])) for key in keys.values()}) != 1:
        return members
    if None in keys.values() or any(entity not in keys for entity in own):
        return members
    ranked = sorted(members, key=lambda entity: keys[entity])  # type: ignore[arg-type, return-value]
    first = ranked.index(own[0])
    return ranked if first < len(ranked) - 1 - first else ranked[::-1]


def _order_key(row: Sequence[tuple[str, Literal]]) -> tuple[str, float | str] | None:
    """Return the relation and the value of an entity with one value; dates compare as texts."""
    if len(row) != 1:
        return None
    [(relation, value)] = row
    try:
        return relation, float(value.lexical)
    except ValueError:
        return relation, value.lexical


def _member(entity: str, values: Mapping[str, Sequence[tuple[str, Literal]]], labels: Mapping[str, str]) -> str:
    """Return the name of an entity, with its values."""
    texts = dict.fromkeys(f"{labels.get(name, name)} {value_text(value)}" for name, value in values.get(entity, ()))
    return labels.get(entity, entity) + (f" ({', '.join(texts)})" if texts else "")


def value_text(value: Literal) -> str:
    """Return the text of a value; a long number with commas between its thousands."""
    text = value.lexical
    if not _LONG_NUMBER.fullmatch(text) or not _NUMERIC.search(value.datatype or ""):
        return text
    whole, dot, fraction = text.partition(".")
    return f"{int(whole):,}{dot}{fraction}"


def _listed(names: list[str], most: int | None) -> str:
    if most is None or len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {len(names) - most} more"
