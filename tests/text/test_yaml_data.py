"""YAML within limits."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from srtk_framework.text import read_yaml
from srtk_framework.values import InputError

BOMB = "a: &a [" + ",".join(["x"] * 9) + "]\n"
for _previous, _name in zip("abcdefg", "bcdefgh", strict=True):
    BOMB += f"{_name}: &{_name} [" + ",".join([f"*{_previous}"] * 9) + "]\n"


def test_values_have_the_types_of_yaml():
    text = "a: [1, 0.5, true, ~, x]\n2: {b: 'y'}\nc: &shared z\nd: *shared\n"
    assert read_yaml(text, "f.yaml") == {"a": [1, 0.5, True, None, "x"], 2: {"b": "y"}, "c": "z", "d": "z"}
    assert read_yaml("", "f.yaml") is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (BOMB, r"\d+:\d+: the file expands to more than 100,000 values"),
        ("a: &a [*a]", r"1:\d+: the file nests deeper than 100 levels"),
        ("a: " + "x" * (1 << 20), " the file has more than 1,048,576 characters; name files instead"),
        ("[" * 5000, " the file nests deeper than 100 levels"),
        ("a: [", "1:5: this is not YAML"),
        ("a: b\0", r"1:5: this is not YAML: the character U\+0000"),
        ("a: 1\na: 2", "2:1: key 'a' occurs twice"),
        ("[a]: 1", r"1:1: key \['a'\] must be text"),
        ("a: 2001-99-99", "1:4: '2001-99-99' is no timestamp of YAML"),
        ('a: "b\\0c"', r"1:4: the text 'b\\x00c' holds the character U\+0000"),
        ("a: .nan", "1:4: .nan is no finite number"),
        ("a: -.inf", "1:4: -.inf is no finite number"),
        (f"a: 0x{'f' * 300}", "1:4: the number 0xfff.* has more than 1000 bits"),
    ],
)
def test_a_text_beyond_the_limits_is_refused_with_its_place(text, reason):
    with pytest.raises(InputError, match=rf"^f\.yaml:{reason}"):
        read_yaml(text, "f.yaml")


PIECES = ["a", ": ", "- ", "\n", "  ", "[", "]", "{", "}", ",", "&x ", "*x", "!!int ", "'", '"', "#", "|", "~"]
PIECES += ["<<", "\0", ".inf", "2001-01-01", "1e5", "0x" + "f" * 300, "? ", "%", "---", "\ud800"]


@settings(deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
@example("&x [*x]")
@example("<<: *x")
def test_any_text_is_read_or_refused_with_its_place(text):
    refused = ""
    try:
        read_yaml(text, "f.yaml")
    except InputError as error:
        refused = str(error)
    assert not refused or re.match(r"f\.yaml:(\d+:\d+:)? ", refused)
