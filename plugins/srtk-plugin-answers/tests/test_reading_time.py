"""The time that reading a question takes: at most in proportion to its length."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from srtk_plugin_answers import answer_types, question_kinds, question_orders, statement_years
from srtk_plugin_answers.question_classes import asked_classes, asks_for_several, shared_words
from srtk_plugin_answers.question_values import clauses, value_constraints

LENGTHS = (2000, 4000, 8000)
MOST_PER_DOUBLING = 3.0
"""Twice the time is linear and four times quadratic; between them lies what a busy machine adds."""
UNNOTICED = 0.03
"""Seconds below which a clock says nothing; a quadratic pattern took 0.4 and more for the longest text."""
REPEATED = [
    *("a ", "with a ", "1,1", "which ", "1 1", "the a ", "a-", "x-x ", "'s ", "b's ", "( ", "b. ", "0.", " ", "¤ "),
    *("of ", "in ", "and ", "not a ", "having a ", "and the ", "more than 1 ", "more than 1", "in 1999 ", "from 1999 "),
    *(
        "between 1 and ",
        "from 1999 to ",
        "1 million ",
        "million ",
        "the year ",
        "in the 1",
        "number of ",
        "how many b ",
    ),
    *(
        "how long b ",
        "how much more ",
        "difference ",
        "of b and b ",
        "a, b or ",
        "first ",
        "largest ",
        "most of ",
        "most b ",
        "the most ",
    ),
]
READERS: dict[str, Callable[[str], Any]] = {
    "value_constraints": value_constraints,
    "clauses": clauses,
    "asked_classes": asked_classes,
    "asks_for_several": asks_for_several,
    "shared_words": lambda text: shared_words(["city"], text),
    "ends": statement_years.ends,
    **{
        name: getattr(module, name)
        for module, names in (
            (question_kinds, "kind_of is_yes_no"),
            (question_orders, "order_clause counted_order is_of_age is_of_length"),
            (answer_types, "classes_asked arithmetic_of value_kind asked_relation asks_for_things"),
        )
        for name in names.split()
    },
}


def seconds(read: Callable[[str], Any], text: str, tries: int) -> float:
    """Return the least processor time of several readings."""
    took = []
    for _ in range(tries):
        begun = time.process_time()
        read(text)
        took.append(time.process_time() - begun)
    return min(took)


def is_linear(read: Callable[[str], Any], texts: list[str]) -> bool:
    """Return whether the time grows no faster than the texts; a slow try is repeated before it counts."""
    if seconds(read, texts[-1], 1) < UNNOTICED:
        return True
    for tries in (2, 6):
        took = [seconds(read, text, tries) for text in texts]
        if took[-1] < UNNOTICED or took[-1] < took[0] * MOST_PER_DOUBLING ** (len(texts) - 1):
            return True
    return False


@pytest.mark.parametrize("name", READERS)
def test_reading_a_repetitive_question_takes_linear_time(name: str) -> None:
    slow = [
        (begin, part)
        for begin in ("", "which ")
        for part in REPEATED
        if not is_linear(READERS[name], [(begin + part * length)[:length] for length in LENGTHS])
    ]
    assert slow == []


def test_a_reading_that_compares_all_words_with_each_other_is_told_from_a_linear_one() -> None:
    texts = [("a " * length)[:length] for length in LENGTHS]
    words = {text: text.split()[::2] for text in texts}
    assert not is_linear(lambda text: [one == other for one in words[text] for other in words[text]], texts)
    assert is_linear(lambda text: [word == "b" for _ in range(200) for word in words[text]], texts)


@pytest.mark.parametrize("part", ["in 1999 ", "more than 5 seats ", "released in 1999 and "])
def test_each_of_a_thousand_constraints_is_read(part: str) -> None:
    text = "Which were " + part * 1000
    left, found = clauses(text)
    assert len(found) == len(value_constraints(text)) == 1000
    assert not any(char.isdigit() for char in left)
