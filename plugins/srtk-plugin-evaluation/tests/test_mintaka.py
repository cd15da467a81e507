"""Mintaka's measures on ten answers, computed by hand."""

from __future__ import annotations

from typing import Any

import pytest
from srtk_plugin_evaluation import compare, row
from srtk_plugin_evaluation.columns import MINTAKA_METRICS
from srtk_plugin_evaluation.mintaka import contains, mintaka_scores, overlap, tokens

from srtk_framework.values import Answer, Question, Retrieval

Case = tuple[dict[str, Any], tuple[str, ...] | None, Answer, tuple[float, ...]]

TEN: tuple[Case, ...] = (
    ({"answer_type": "entity", "answer_names": ["Riga"]}, ("Q1",), Answer("Riga", ("Q1",)), (1, 1, 1, 1, 1)),
    # Two of three items; five words of text, of which two are the two gold ones.
    (
        {"answer_type": "entity", "answer_names": ["Riga", "Oslo"]},
        ("Q1", "Q2"),
        Answer("cities: Riga Oslo and Bern", ("Q1", "Q2", "Q3")),
        (0, 4 / 5, 1, 1, 4 / 7),
    ),
    # The order of a list counts for exact match alone.
    (
        {"answer_type": "entity", "answer_names": ["Riga", "Oslo"]},
        ("Q1", "Q2"),
        Answer("Oslo Riga", ("Q2", "Q1")),
        (0, 1, 1, 0, 1),
    ),
    ({"answer_type": "entity", "answer_names": ["Riga"]}, ("Q1",), Answer("Bern", ("Q3",)), (0, 0, 0, 0, 0)),
    ({"answer_type": "entity", "answer_names": ["Riga"]}, ("Q1",), Answer(enough=False), (0, 0, 0, 0, 0)),
    # Without an id in Wikidata, nothing is the right list, and the annotator's text the right text.
    ({"answer_type": "entity", "answer_mention": "Decrease"}, None, Answer(enough=False), (1, 1, 1, 0, 0)),
    ({"answer_type": "boolean", "answer_values": ["true"]}, None, Answer("Yes", truth=True), (1, 1, 1, 1, 1)),
    ({"answer_type": "numerical", "answer_values": ["4"]}, None, Answer("4 films", number=4), (1, 1, 1, 1, 1)),
    ({"answer_type": "numerical", "answer_values": ["4"]}, None, Answer("5", number=5), (0, 0, 0, 0, 0)),
    # A repeated gold item counts twice: two items in common of three and two.
    (
        {"answer_type": "entity", "answer_names": ["Oscar", "Oscar", "Emmy"], "answer_items": ["Q5", "Q5", "Q6"]},
        ("Q5", "Q6"),
        Answer("Oscar Emmy", ("Q5", "Q6")),
        (0, 4 / 5, 1, 0, 4 / 5),
    ),
)


@pytest.mark.parametrize(("extra", "answers", "answer", "wanted"), TEN)
def test_each_of_ten_answers_has_the_measures_counted_by_hand(
    extra: dict[str, Any], answers: tuple[str, ...] | None, answer: Answer, wanted: tuple[float, ...]
) -> None:
    found = mintaka_scores(Retrieval(Question("1", "which?", answers=answers, extra=extra), answer=answer))
    assert tuple(found.values()) == pytest.approx(wanted)
    assert tuple(found) == MINTAKA_METRICS


def test_a_report_has_their_means() -> None:
    rows = [
        row(Retrieval(Question(str(i), "which?", answers=answers, extra=extra), answer=answer))
        for i, (extra, answers, answer, _) in enumerate(TEN)
    ]
    methods = compare({"m": rows})["methods"]["m"]
    for place, name in enumerate(MINTAKA_METRICS):
        assert methods[name]["mean"] == pytest.approx(sum(wanted[place] for *_, wanted in TEN) / 10, abs=1e-4)


def test_other_questions_and_results_without_answers_have_none() -> None:
    assert mintaka_scores(Retrieval(Question("1", "who?", answers=("A",)), answer=Answer("A", ("A",)))) == {}
    assert mintaka_scores(Retrieval(Question("1", "who?", extra={"answer_type": "entity"}))) == {}


def test_words_are_runs_of_letters_digits_and_accents() -> None:
    assert tokens("São  Paulo's No. 1!") == ["sa\u0303o", "paulo", "'", "s", "no", ".", "1", "!"]
    assert contains("It is Côte d'Ivoire.", "côte D'IVOIRE")
    assert not contains("Mark Twain", "Twain Mark")
    assert overlap(["a", "a", "b"], ["a", "b", "b"]) == pytest.approx(4 / 6)
