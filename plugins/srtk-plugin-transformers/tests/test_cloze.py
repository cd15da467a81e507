from __future__ import annotations

import math

import attrs
import pytest
from srtk_plugin_transformers.cloze import ClozeMaskFiller

from srtk_framework.testing.generator import ToyGenerator
from srtk_framework.values import DriverError, MaskedText

TEXT = MaskedText("The capital of Latvia is ____.", "Riga is the capital.")


@attrs.define(eq=False)
class Listening(ToyGenerator):
    """Rates an option by its length, and keeps the prompts."""

    heard: list = attrs.field(factory=list)

    def rate(self, prompts):
        self.heard += prompts
        return [[float(-len(option)) for option in prompt.options] for prompt in prompts]


@attrs.define(eq=False)
class Mute(ToyGenerator):
    def rates(self):
        return False


def test_scores_are_shares_among_the_given_labels():
    (row,) = ClozeMaskFiller(generator=Listening()).rate([TEXT], [[("Riga",), ("Tallinn",), ("New York",)]])
    assert sum(map(math.exp, row[:, 0].tolist())) == pytest.approx(1, abs=1e-3)
    assert row[0][0] > row[1][0] > row[2][0]
    assert row[0][0] - row[1][0] == pytest.approx(3, abs=1e-3)


def test_the_generator_reads_context_sentence_and_labels():
    generator = Listening()
    ClozeMaskFiller(generator=generator).rate([TEXT], [[("Riga",), ("Oslo",)]])
    (prompt,) = generator.heard
    said = prompt.messages[0].content
    assert said.index(TEXT.context) < said.index(TEXT.text) < said.index("1. Riga") < said.index("2. Oslo")
    assert (prompt.options, prompt.least, prompt.most) == (("Riga", "Oslo"), 1, 1)


def test_candidates_fill_a_gap_and_others_are_refused():
    filler = ClozeMaskFiller(generator=Listening(), candidates=["Oslo", "Tallinn", "Riga"])
    filler.open()
    (((first, second),),) = filler.fill([TEXT], 2)
    assert (first.token, second.token) == ("Oslo", "Riga")
    with pytest.raises(DriverError, match="none of the candidates"):
        filler.rate([TEXT], [[("Vienna",)]])


def test_a_label_of_many_words_is_one_token():
    filler = ClozeMaskFiller(generator=Listening())
    assert filler.tokens(["Princeton, New Jersey", " a  b ", "", "x ____ y"]) == [
        ["Princeton, New Jersey"],
        ["a b"],
        [],
        [],
    ]


def test_a_text_with_two_gaps_is_refused():
    with pytest.raises(DriverError, match="has 2 gaps; this filler fills one"):
        ClozeMaskFiller(generator=Listening()).rate([MaskedText("____ is ____")], [[("a",)]])


def test_a_generator_that_rates_nothing_is_refused():
    with pytest.raises(DriverError, match="rates no options"):
        ClozeMaskFiller(generator=Mute()).open()


@pytest.mark.parametrize("labels", [["Riga", "Riga"], ["Riga", ""]])
def test_labels_that_are_empty_or_come_twice_are_refused(labels):
    with pytest.raises(DriverError, match="distinct labels"):
        ClozeMaskFiller(generator=Listening(), candidates=labels).open()
