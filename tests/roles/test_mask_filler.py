from __future__ import annotations

import attrs
import numpy as np
import pytest

from srtk_framework.host import port
from srtk_framework.roles import MaskFiller
from srtk_framework.values import DriverError, MaskedText, TokenScore

TEXT = MaskedText("The capital of Latvia is _.")


@attrs.define
class Given(MaskFiller):
    """Answers with what it is given."""

    mark: object = "_"
    gaps: object = ()
    scores: object = ()

    def mask(self):
        return self.mark

    def tokens(self, texts):
        return [text.split() for text in texts]

    def fill(self, texts, k):
        return [self.gaps for _ in texts]

    def rate(self, texts, fillings):
        return [self.scores for _ in texts]


@attrs.define
class Rater(MaskFiller):
    """Rates only."""

    def mask(self):
        return "_"

    def tokens(self, texts):
        return [[text] for text in texts]

    def rate(self, texts, fillings):
        return [[[-1.0] for _ in row] for row in fillings]


def given(**answers):
    return port(Given(**answers), "mask_filler", "given")


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ([TokenScore("a", -1.0), TokenScore("b", -2.0), TokenScore("c", -3.0)], "k is 2"),
        ([("a", -1.0)], "give TokenScores"),
        ([TokenScore("a", 0.5)], "logarithm of a probability"),
        ([TokenScore("a", float("nan"))], "logarithm of a probability"),
        ([TokenScore("a", -2.0), TokenScore("b", -1.0)], "out of order"),
        ([TokenScore("b", -1.0), TokenScore("a", -1.0)], "out of order"),
        ([TokenScore("a", -1.0), TokenScore("a", -2.0)], "out of order"),
    ],
)
def test_tokens_that_break_the_contract_are_refused_at_the_port(row, sentence):
    with pytest.raises(DriverError, match=sentence):
        given(gaps=[row]).fill([TEXT], 2)


@pytest.mark.parametrize(
    ("scores", "sentence"),
    [
        ([[-1.0]], "rate returned scores"),
        ([[-1.0, -1.0], [-1.0, -1.0]], "rate returned scores"),
        ([[-1.0], [0.5]], "no logarithm"),
        ([[-1.0], [float("-inf")]], "no logarithm"),
    ],
)
def test_scores_that_break_the_contract_are_refused_at_the_port(scores, sentence):
    with pytest.raises(DriverError, match=sentence):
        given(scores=scores).rate([TEXT], [[("riga",), ("oslo",)]])


def test_scores_come_as_arrays_however_the_driver_gives_them():
    (found,) = given(scores=[[-1.0], [-2.5]]).rate([TEXT], [[("riga",), ("oslo",)]])
    assert found.dtype == np.float32
    assert found.tolist() == [[-1.0], [-2.5]]


@pytest.mark.parametrize("mark", ["", "a b", 5])
def test_a_mark_that_is_no_word_is_refused(mark):
    with pytest.raises(DriverError, match="text without blanks"):
        given(mark=mark).mask()


def test_a_driver_that_only_rates_says_so_and_refuses_to_fill():
    rater = port(Rater(), "mask_filler", "rater")
    assert not rater.fills()
    with pytest.raises(DriverError, match="only rates given tokens"):
        rater.fill([TEXT], 3)
    assert given().fills()
