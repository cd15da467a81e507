"""One pluggy manager for each driver."""

from __future__ import annotations

import attrs
import numpy as np
import pytest

from srtk_framework.host.hooks import managed
from srtk_framework.host.observers import Call, Observer
from srtk_framework.roles import Encoder, PathScorer
from srtk_framework.values import Step


@attrs.define
class Lengths(Encoder):
    wrong: Exception | None = None

    def encode(self, texts):
        if self.wrong:
            raise self.wrong
        return np.array([[len(text)] for text in texts], dtype=np.float32)


class Log(Observer):
    def __init__(self, name, seen):
        self.name, self.seen = name, seen

    def before(self, call):
        self.seen.append((self.name, "before", call))

    def after(self, call, error):
        self.seen.append((self.name, "after", error))


def test_a_hook_returns_the_drivers_own_answer():
    assert managed(Lengths(), Encoder, "lengths").hook.encode(texts=["abc"]).tolist() == [[3.0]]


def test_two_drivers_of_one_class_do_not_share_a_manager():
    seen = []
    watched = managed(Lengths(), Encoder, "one", [Log("a", seen)])
    managed(Lengths(), Encoder, "two").hook.encode(texts=["abc"])
    assert seen == []
    watched.hook.encode(texts=["abc"])
    assert [call.driver for _, when, call in seen if when == "before"] == ["one"]


def test_observers_are_called_in_turn_and_in_reverse_after_the_call():
    seen = []
    manager = managed(Lengths(), Encoder, "lengths", [Log("a", seen), Log("b", seen)])
    manager.hook.encode(texts=["x", "y"])
    call = Call("encoder", "lengths", "encode", 2)
    assert seen == [("a", "before", call), ("b", "before", call), ("b", "after", None), ("a", "after", None)]


def test_observers_get_the_exception_and_the_caller_too():
    seen, wrong = [], ValueError("no")
    manager = managed(Lengths(wrong), Encoder, "lengths", [Log("a", seen)])
    with pytest.raises(ValueError, match="no"):
        manager.hook.encode(texts=[])
    assert seen[-1] == ("a", "after", wrong)


def test_a_driver_with_fewer_arguments_than_its_role_is_called_with_those_it_takes():
    @attrs.define
    class Older(PathScorer):
        def score(self, candidates):
            return [[1.0 for _ in row] for row in candidates]

    hook = managed(Older(), PathScorer, "older").hook
    assert hook.score(questions=["q"], paths=[()], candidates=[[Step("a")]]) == [[1.0]]
