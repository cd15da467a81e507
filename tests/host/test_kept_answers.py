"""What the drivers inside have answered is not asked again where a batch is divided."""

from __future__ import annotations

import attrs
import numpy as np

from srtk_framework.host.kept_answers import KeptAnswers
from srtk_framework.host.ports import port, ports_below
from srtk_framework.roles import Encoder, EntityLinker
from srtk_framework.values import DriverError, Link, answered


@attrs.define
class Counted(Encoder):
    seen: list[str] = attrs.field(factory=list)
    nan: str = ""

    def encode(self, texts):
        self.seen += texts
        return np.array([[np.nan if text == self.nan else len(text)] for text in texts], np.float32)


@attrs.define
class Late(EntityLinker):
    encoder: Encoder
    bad: str = ""

    def link(self, texts):
        matrix = self.encoder.encode(texts)
        assert matrix.shape == (len(texts), 1)
        if self.bad in texts:
            raise DriverError("after the work")
        return [[Link(str(int(row[0])))] for row in matrix]


def linked(inner: Counted, bad: str = "") -> list[object]:
    linker = port(Late(port(inner, "encoder", "inner"), bad), "entity_linker", "late")
    kept = KeptAnswers()
    for one in ports_below(linker):
        one.kept = kept
    with kept.batch(4):
        return answered(["a", "bb", "ccc", "dddd"], linker.link, kept.replay)


def test_nothing_is_asked_twice_where_a_driver_raises_after_its_work() -> None:
    inner = Counted()
    found = linked(inner, "bb")
    assert [isinstance(one, DriverError) for one in found] == [False, True, False, False]
    assert found[3][0].entity == "4"
    assert inner.seen == ["a", "bb", "ccc", "dddd"]


def test_an_error_of_one_item_is_kept_too() -> None:
    inner = Counted(nan="bb")
    found = linked(inner, "none")
    assert str(found[1]).startswith("inner: encode")
    assert [isinstance(one, DriverError) for one in found] == [False, True, False, False]
    assert inner.seen == ["a", "bb", "ccc", "dddd"]


def test_nothing_is_kept_after_the_batch() -> None:
    inner = Counted()
    encoder = port(inner, "encoder", "inner")
    encoder.kept = KeptAnswers()
    with encoder.kept.batch(2):
        encoder.encode(["a"])
    with encoder.kept.batch(2), encoder.kept.replay():
        encoder.encode(["a"])
    assert inner.seen == ["a", "a"]
