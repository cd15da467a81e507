"""The encoder as a generator: its choices by cosine, and the texts that it encodes."""

from __future__ import annotations

import json

import attrs
import numpy as np
import pytest
from srtk_plugin_structgpt.encoder_chooser import EncoderChooser

from srtk_framework.roles import Encoder
from srtk_framework.values import Message, Prompt, SettingsError

ANGLES = {"asked": 0.0, "near": 0.3, "same": 0.0, "far": 1.2, "across": 1.6, "behind": 3.0}


@attrs.define(eq=False)
class Compass(Encoder):
    """Encode each word by an angle, with a length that must not matter."""

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
    assert "can only choose" in free.error
    assert chosen.text == "[1]"


def test_a_text_is_encoded_once():
    chooser = EncoderChooser(Compass())
    chooser.generate([prompt(["near", "far"]), prompt(["far", "near"])])
    chooser.generate([prompt(["near", "across"])])
    assert chooser.encoder.asked == [["asked", "near", "far"], ["across"]]


def test_a_margin_below_nought_is_refused():
    with pytest.raises(SettingsError, match="margin must be at least 0"):
        EncoderChooser(Compass(), margin=-0.1)
