from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_knowlybert.similarity import METRICS, Metric, similar, similarity

CITY = "[S] was born in the city of [O] ."
TOWN = "[S] was born in the town of [O] ."
BIRTHPLACE = "[O] is the birthplace of [S] ."

WORDS = ["[S]", "[O]", "was", "born", "in", "the", "city", "of", "."]

texts = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)


@pytest.mark.parametrize(
    ("metric", "town", "birthplace"),
    [("words", 0.8889, 0.25), ("characters", 0.9091, 0.5714), ("sets", 0.8, 0.4545)],
)
def test_similarities_are_those_worked_out_by_hand(metric: str, town: float, birthplace: float) -> None:
    assert similarity(CITY, TOWN, metric) == pytest.approx(town, abs=5e-5)
    assert similarity(CITY, BIRTHPLACE, metric) == pytest.approx(birthplace, abs=5e-5)


@given(texts, texts, st.sampled_from(METRICS), st.floats(0, 1))
def test_what_is_similar_has_a_greater_similarity(one: str, other: str, metric: str, most: float) -> None:
    assert similar(one, other, most, metric) == (similarity(one, other, metric) > most)
    assert similarity(one, other, metric) == similarity(other, one, metric)


@pytest.mark.parametrize("metric", METRICS)
def test_as_similar_as_the_most_is_not_similar(metric: Metric) -> None:
    pairs = [("x is in y", "x lies in y"), ("x y", "x z y"), ("a b", "a b"), ("x", "y"), ("ab ba", "ba ab")]
    for one, other in pairs:
        ratio = similarity(one, other, metric)
        assert similarity(other, one, metric) == ratio
        assert not similar(one, other, ratio, metric)
        assert similar(one, other, ratio - 1e-9, metric)


def test_texts_without_a_word_in_common_have_nothing_in_common_and_two_empty_ones_all() -> None:
    assert [similarity(one, other, "sets") for one, other in (("x", "y"), ("", "x"), ("", ""))] == [0.0, 0.0, 1.0]
