"""The first exception of each driver is kept with its traceback."""

from __future__ import annotations

import attrs
import numpy as np
import pytest

from srtk_framework.host import Tracebacks, port
from srtk_framework.host.tracebacks import lines_of
from srtk_framework.roles import Encoder, EntityLinker
from srtk_framework.values import DriverError


@attrs.define
class Failing(Encoder):
    wrong: list[Exception] = attrs.field(factory=list)

    def encode(self, texts):
        if self.wrong:
            raise self.wrong.pop(0)
        return np.zeros((len(texts), 1), dtype=np.float32)


@attrs.define
class Outer(EntityLinker):
    encoder: Encoder

    def link(self, texts):
        self.encoder.encode(texts)
        return [[] for _ in texts]


def test_only_the_first_exception_of_a_driver_is_kept():
    kept = Tracebacks()
    encoder = port(Failing([ZeroDivisionError("first"), KeyError("second")]), "encoder", "failing", [kept])
    for _ in range(2):
        with pytest.raises(DriverError):
            encoder.encode(["a"])
    encoder.encode(["a"])
    assert list(kept.table) == ["encoder:failing"]
    assert kept.table["encoder:failing"][-1] == "ZeroDivisionError: first"


def test_an_exception_is_kept_for_the_driver_that_raised_it_alone():
    kept = Tracebacks()
    inner = port(Failing([ZeroDivisionError("inner")]), "encoder", "inner", [kept])
    with pytest.raises(DriverError, match="inner: cannot encode: ZeroDivisionError"):
        port(Outer(inner), "entity_linker", "outer", [kept]).link(["a"])
    assert list(kept.table) == ["encoder:inner"]


def test_the_lines_begin_at_the_drivers_hook_and_show_causes():
    kept = Tracebacks()
    cause = ValueError("cause")
    wrong = DriverError("consequence")
    wrong.__cause__ = cause
    with pytest.raises(DriverError):
        port(Failing([wrong]), "encoder", "failing", [kept]).encode(["a"])
    lines = kept.table["encoder:failing"]
    assert "ValueError: cause" in lines
    assert not any("pluggy" in line for line in lines)
    place = next(line for line in lines if "File" in line)
    assert "test_tracebacks.py" in place


def test_an_exception_that_was_never_raised_has_no_frames():
    assert lines_of(ValueError("x")) == ["ValueError: x"]
