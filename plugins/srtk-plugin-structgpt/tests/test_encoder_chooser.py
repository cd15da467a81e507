"""The parts of the walks by themselves: the chooser, replies about answers, weights of links."""

from __future__ import annotations

import json

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_structgpt.encoder_chooser import EncoderChooser
from srtk_plugin_structgpt.replies import Said, said
from srtk_plugin_structgpt.search_state import weights

from srtk_framework.roles import Encoder
from srtk_framework.values import DriverError, Link, Message, Prompt

ANGLES = {"asked": 0.0, "near": 0.3, "same": 0.0, "far": 1.2, "across": 1.6, "behind": 3.0}


@attrs.define(eq=False)
class Compass(Encoder):
    """Point each word in its direction, with a length that must not count."""

    asked: list = attrs.field(factory=list)

    def encode(self, texts):
        self.asked.append(list(texts))
        rows = [(len(text) * np.cos(ANGLES[text]), len(text) * np.sin(ANGLES[text])) for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(rows), 2)


def prompt(options, least=1, most=1):
    return Prompt((Message("user", "?"),), tuple(options), least, most, query="asked")


def choose(options, least=1, most=1, **settings):
    chooser = EncoderChooser(Compass(), **settings)
    chooser.open()
    return json.loads(chooser.generate([prompt(options, least, most)])[0].text)


def test_the_most_like_come_first_and_of_equal_ones_the_first():
    assert choose(["far", "near", "same"], most=3) == [3, 2, 1]
    assert choose(["same", "asked"], most=2) == [1, 2]
    assert choose(["behind", "across"], most=1) == [2]


def test_unlike_options_are_left_out_unless_they_are_needed():
    options = ["near", "across", "behind"]
    assert choose(options, most=3, floor=0.0) == [1]
    assert choose(options, least=2, most=3, floor=0.0) == [1, 2]
    assert choose(options, least=0, most=3, floor=0.99) == []
    assert choose(options, most=3, margin=1.0) == [1, 2]


def test_a_prompt_without_options_gets_an_error_and_spoils_no_other():
    free, chosen = EncoderChooser(Compass()).generate([Prompt((Message("user", "Tell."),)), prompt(["near"])])
    assert "only chooses" in free.error
    assert chosen.text == "[1]"


def test_a_text_is_encoded_once():
    chooser = EncoderChooser(Compass())
    chooser.generate([prompt(["near", "far"]), prompt(["far", "near"])])
    chooser.generate([prompt(["near", "across"])])
    assert chooser.encoder.asked == [["asked", "near", "far"], ["across"]]


def test_a_margin_below_nought_is_refused():
    with pytest.raises(DriverError, match="must not be below 0"):
        EncoderChooser(Compass(), margin=-0.1).open()


KNOWN = {"norway": ["norway"], "oslo": ["oslo"], "no": ["no"]}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('{"enough": true, "answer": ["Norway"], "triples": [2, 1, 2]}', Said(True, ("Norway",), (1, 2))),
        ('Here:\n```json\n{"enough": true, "answer": "Norway", "triples": 1}\n```', Said(True, ("Norway",), (1,))),
        ('I know: {"enough": true, "answers": ["no", "no"]} Good.', Said(True, ("no",))),
        ('<think>{"enough": false}</think>{"enough": true, "answer": ["x"]}', Said(True, ("x",))),
        ('{"enough": true, "answer": [1990], "triples": [1, 9, 0, true, "2"]}', Said(True, ("1990",), (1,), 2)),
        ('{"enough": false, "answer": ["Norway"], "triples": [1]}', Said(False)),
        ("Norway", Said(True, ("Norway",))),
        ('"NORWAY."', Said(True, ("NORWAY",))),
        ("Denmark", None),
        ("There is no answer in these facts, I know nothing.", None),
        ('{"enough": true, "answer": []}', None),
        ('{"enough": "yes", "answer": ["Norway"]}', None),
        ('{"enough": true, "answer": ["a"]} {"enough": false}', None),
        ('{"enough": tr', None),
        ('{"a":' * 50_000, None),
        ("", None),
    ],
)
def test_a_reply_about_an_answer_is_read_or_found_unclear(text, wanted):
    assert said(text, 3, KNOWN) == wanted


@given(st.text(max_size=60), st.integers(1, 5))
def test_no_reply_breaks_the_reading(text, count):
    found = said(text, count, {})
    assert found is None or all(1 <= number <= count for number in found.numbers)


def test_links_of_one_span_share_their_weight():
    links = (Link("a", 0.6, 0, 4), Link("b", 0.2, 0, 4), Link("c", 0.3), Link("d", 0.5, 6, 9), Link("b", 0.1, 10, 12))
    assert weights(links) == {"b": 0.0, "c": 0.0, "d": 0.0, "a": -0.25}
