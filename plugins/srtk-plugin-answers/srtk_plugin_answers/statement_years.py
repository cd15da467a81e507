"""Statements that held in a year, by the dates of their qualifiers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.values import Qualifier, Subgraph, Triple
from srtk_plugin_answers.literal_values import value_of
from srtk_plugin_answers.result_order import in_order

_START = frozenset(["start", "since", "from", "begin", "beginning"])
_END = frozenset(["end", "until", "till", "to"])
"""Words in the names of qualifiers that give the first or the last date of a statement."""
_WORD = re.compile(r"[a-z]+")


def in_year(graph: KnowledgeGraph, found: Subgraph, year: int | None) -> tuple[Subgraph, int]:
    """Put statements that held in a year first, and statements that did not hold last.

    Returns:
        The subgraph in that order, and how many statements held; -1 if dates exclude all, 0 without dates or a year.
    """
    if year is None:
        return found, 0
    rows = found.qualifiers or tuple(tuple(row) for row in graph.qualifiers(found.triples))
    words = _names(graph, rows)
    held = [_held(row, words, year) for row in rows]
    order = sorted(range(len(held)), key=lambda i: (-held[i], i))
    count = sum(one > 0 for one in held)
    return in_order(found, order, count), count or -any(held)


_ENDED = re.compile(
    r"\b(?:until|till|stop|stopped|end|ended|give up|gave up|abandon|abandoned|leave|left|cease|ceased|drop)\b"
)


def ends(question: str) -> bool:
    """Return whether a question in English asks when something ended, rather than when it began."""
    return bool(_ENDED.search(question.casefold()))


def dates_of(graph: KnowledgeGraph, triples: Sequence[Triple], ended: bool) -> list[tuple[Triple, str]]:
    """Return the first date, or the last, of each statement with dates in its qualifiers."""
    rows = graph.qualifiers(triples) if triples else []
    words = _names(graph, rows)
    side, other = (_END, _START) if ended else (_START, _END)
    return [
        (triple, value)
        for triple, row in zip(triples, rows, strict=True)
        for relation, value in row
        if value_of(value) is not None and words[relation] & side and not words[relation] & other
    ]


def _names(graph: KnowledgeGraph, rows: Iterable[Iterable[Qualifier]]) -> dict[str, frozenset[str]]:
    """Return the words in the ids and labels of qualifiers."""
    names = sorted({relation for row in rows for relation, _ in row})
    return {
        relation: frozenset(_WORD.findall(f"{relation} {label}".casefold()))
        for relation, label in zip(names, graph.labels(names), strict=True)
    }


def _held(qualifiers: Iterable[tuple[str, str]], words: Mapping[str, frozenset[str]], year: int) -> int:
    """Return 1 if the qualifiers' dates allow a year, -1 if they exclude it, 0 without dates."""
    known = False
    for relation, value in qualifiers:
        date = value_of(value)
        starts, ends = bool(words[relation] & _START), bool(words[relation] & _END)
        if date is None or starts == ends:
            continue
        known = True
        if (ends and date < year) or (starts and date >= year + 1):
            return -1
    return 1 if known else 0
