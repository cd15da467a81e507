from __future__ import annotations

import attrs
import numpy as np
import pytest

from srtk_framework.errors import DriverError
from srtk_framework.observers import Observer, Timing, share_of_time
from srtk_framework.ports import port
from srtk_framework.specs import Encoder, EntityLinker
from srtk_framework.types import Link


@attrs.define
class Recorder(Encoder):
    answer: object = None
    seen: list[list[str]] = attrs.field(factory=list)

    def encode(self, texts):
        self.seen.append(list(texts))
        if isinstance(self.answer, BaseException):
            raise self.answer
        if self.answer is not None:
            return self.answer
        return np.array([[float(len(t)), 1.0] for t in texts], dtype=np.float32)


@attrs.define
class NoAnswer(EntityLinker):
    def link(self, texts):
        return None


def test_duplicates_are_asked_once_and_spread_over_the_answer():
    driver = Recorder()
    matrix = port(driver, "encoder", "rec").encode(["aa", "b", "aa"])
    assert driver.seen == [["aa", "b"]]
    assert matrix.tolist() == [[2, 1], [1, 1], [2, 1]]


def test_an_answer_of_the_wrong_length_is_refused_by_name():
    with pytest.raises(DriverError, match="rec: encode got 2 items and returned 1"):
        port(Recorder(np.zeros((1, 2), np.float32)), "encoder", "rec").encode(["a", "b"])


@pytest.mark.parametrize("wrong", [np.zeros((2, 2)), np.full((2, 2), np.nan, np.float32), np.zeros(2, np.float32)])
def test_a_matrix_of_the_wrong_kind_is_refused(wrong):
    with pytest.raises(DriverError, match="rec: encode"):
        port(Recorder(wrong), "encoder", "rec").encode(["a", "b"])


def test_no_answer_is_refused():
    with pytest.raises(DriverError, match="returned None"):
        port(NoAnswer(), "entity_linker", "none").link(["a"])


def test_any_error_of_a_driver_gets_its_name():
    with pytest.raises(DriverError, match=r"rec: cannot encode: ZeroDivisionError: by nought"):
        port(Recorder(ZeroDivisionError("by nought")), "encoder", "rec").encode(["a"])
    with pytest.raises(DriverError, match=r"^rec: said so$"):
        port(Recorder(DriverError("said so")), "encoder", "rec").encode(["a"])


def test_an_interrupt_passes_through():
    with pytest.raises(KeyboardInterrupt):
        port(Recorder(KeyboardInterrupt()), "encoder", "rec").encode(["a"])


@attrs.define
class Outer(EntityLinker):
    encoder: Encoder

    def link(self, texts):
        self.encoder.encode(texts)
        return [[Link("e")] for _ in texts]


def test_observers_see_every_call_with_its_size_and_outcome():
    seen = []

    class Watch(Observer):
        def before(self, call):
            seen.append(("before", call.driver, call.method, call.items))

        def after(self, call, error):
            seen.append(("after", call.driver, type(error).__name__))

    inner = port(Recorder(), "encoder", "inner", [Watch()])
    port(Outer(inner), "entity_linker", "outer", [Watch()]).link(["a", "bb"])
    with pytest.raises(DriverError):
        port(Recorder(ValueError()), "encoder", "bad", [Watch()]).encode(["a"])
    assert seen == [
        ("before", "outer", "link", 2),
        ("before", "inner", "encode", 2),
        ("after", "inner", "NoneType"),
        ("after", "outer", "NoneType"),
        ("before", "bad", "encode", 1),
        ("after", "bad", "ValueError"),
    ]


def test_timing_counts_nested_calls_once():
    timing = Timing()
    inner = port(Recorder(), "encoder", "inner", [timing])
    port(Outer(inner), "entity_linker", "outer", [timing]).link(["a"])
    table = timing.take()
    outer, nested = table["entity_linker:outer.link"], table["encoder:inner.encode"]
    assert outer["own"] == pytest.approx(outer["seconds"] - nested["seconds"])
    assert sum(share_of_time(table).values()) == pytest.approx(1, abs=1e-3)
    assert timing.take() == {}


def test_a_driver_with_attrs_equality_over_arrays_can_be_registered():
    @attrs.define
    class WithArray(Encoder):
        matrix: object = attrs.field(factory=lambda: np.zeros(3))

        def encode(self, texts):
            return np.zeros((len(texts), 1), dtype=np.float32)

    assert port(WithArray(), "encoder", "array").encode(["a"]).shape == (1, 1)
