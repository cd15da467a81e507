from __future__ import annotations

from typing import Literal

import attrs
import pytest

from srtk_framework.recipe.settings import describe, structure
from srtk_framework.values import SettingsError


@attrs.define
class Inner:
    size: int
    names: list[str] = attrs.field(factory=list)


@attrs.define
class Outer:
    flag: bool = False
    ratio: float = 0.5
    text: str | None = None
    inner: Inner | None = None
    either: str | dict[str, str] = ""
    kind: Literal["a", "b"] = "a"
    pair: tuple[int, ...] = ()


def test_plain_data_becomes_a_typed_value():
    data = {"flag": True, "ratio": 1, "inner": {"size": 3, "names": ["x"]}, "either": {"k": "v"}, "pair": [1, 2]}
    assert structure(data, Outer) == Outer(True, 1.0, None, Inner(3, ["x"]), {"k": "v"}, "a", (1, 2))


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({"flag": "false"}, "expected true or false, got 'false'"),
        ({"ratio": "1"}, "expected number, got '1'"),
        ({"ratio": True}, "expected number, got True"),
        ({"ratio": float("nan")}, "expected a finite number, got nan; None is no limit"),
        ({"ratio": float("-inf")}, "expected a finite number, got -inf"),
        ({"text": 3}, "expected text, got 3"),
        ({"inner": {"size": 1, "names": "x"}}, "expected list of text, got 'x'"),
        ({"inner": {"size": None}}, "expected whole number, got None"),
        ({"either": 3}, "expected text or mapping of text, got 3"),
        ({"kind": "c"}, "'c'"),
    ],
)
def test_nothing_is_guessed(data, text):
    with pytest.raises(SettingsError) as caught:
        structure(data, Outer)
    assert text in str(caught.value)


def test_every_problem_is_told_with_its_place():
    with pytest.raises(SettingsError) as caught:
        structure({"inner": {"size": "x", "names": ["a", 1]}, "flag": 1, "rato": 1}, Outer)
    places = {where for where, _ in caught.value.problems}
    assert places == {("inner", "size"), ("inner", "names", 1), ("flag",), ("rato",)}


def test_a_missing_key_is_named():
    with pytest.raises(SettingsError, match="'size' is missing"):
        structure({"inner": {}}, Outer)


def test_types_are_described_in_plain_words():
    assert describe(list[str]) == "list of text"
    assert describe(str | None) == "text or nothing"
