"""Words of a question that a graph says otherwise, and the links beside them."""

from __future__ import annotations

import pytest
from srtk_plugin_answers.question_rewrites import rewritten

from srtk_framework.values import Link, Question


def linked(text: str, *names: str) -> Question:
    """Return a question with links at some of its words, and one without a place."""
    return Question(
        "q", text, (*(Link(n, start=text.index(n), end=text.index(n) + len(n)) for n in names), Link("none"))
    )


@pytest.mark.parametrize(
    ("text", "names", "new"),
    [
        ("Which orders of Ida are unpaid?", ["Ida"], "Which orders of Ida are not paid?"),
        ("Is unpaid the order of Ida?", ["Ida"], "Is not paid the order of Ida?"),
        ("How many unpaid orders are of Ida?", ["Ida"], "How many orders are of Ida that are not paid?"),
        ("Which unpaid orders of Ida have Bo?", ["Ida", "Bo"], "Which orders of Ida have Bo that are not paid?"),
        ("Which books of Ida are in stock?", ["Ida"], "Which books of Ida are with a stock over 0?"),
        ("Which planets of Sol have no moons?", ["Sol"], "Which planets of Sol have a moons of exactly 0?"),
        ("planets with no moons found by Ida", ["Ida"], "planets with a moons of exactly 0 found by Ida"),
        ("Which teams don't have any gold medals?", [], "Which teams have a gold medals of exactly 0?"),
        ("Does Bo have any moons without rings?", ["Bo"], "Does Bo have any moons without rings?"),
    ],
)
def test_links_stay_at_their_names_when_words_beside_them_change(text: str, names: list[str], new: str) -> None:
    found = rewritten(
        linked(text, *names),
        lambda name: name in ("paid", "stock"),
        lambda name: name in ("moons", "gold medals"),
        lambda _: False,
        lambda *_: False,
    )
    assert found == linked(new, *names)
