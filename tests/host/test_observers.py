from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor

import attrs
import numpy as np
import pytest

from srtk_framework.host.observers import Observer, Progress, Timing, Tracing
from srtk_framework.host.ports import port
from srtk_framework.roles import Encoder, EntityLinker
from srtk_framework.values import DriverError, Link


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
    assert timing.take() == {}


def test_tracing_keeps_the_calls_of_threads_apart(tmp_path):
    watch = Tracing(str(tmp_path / "trace.jsonl"))
    watch.open()
    outer = port(Outer(port(Recorder(), "encoder", "inner", [watch])), "entity_linker", "outer", [watch])
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: outer.link([f"text {i}"]), range(200)))
    watch.close()
    lines = [json.loads(line) for line in (tmp_path / "trace.jsonl").read_text().splitlines()]
    assert sorted((line["driver"], line["depth"]) for line in lines) == [("inner", 1)] * 200 + [("outer", 0)] * 200
    assert all(line["seconds"] >= 0 for line in lines)


def test_the_driver_that_is_opened_is_shown_on_a_terminal_within_80_columns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    progress = Progress()
    progress.open()
    progress.event("opening", {"role": "knowledge_graph", "driver": "local", "number": 0, "total": 2})
    progress.event("opening", {"role": "encoder", "driver": "transformers", "number": 1, "total": 2})
    shown = plain(capsys.readouterr().err)
    progress.event("opened", {})
    progress.event("method", {"name": "beam", "total": 12_000, "completed": 0, "failed": 0})
    progress.event("batch", {"completed": 6_400, "failed": 17})
    progress.close()
    after = plain(capsys.readouterr().err)
    assert "opening" in shown
    assert "encoder transformers" in shown
    assert "6400/12000 questions" in after
    assert "left, 17 failed" in after
    assert "opening" not in after.splitlines()[-1]
    assert max(map(len, (shown + after).splitlines())) <= 80


def plain(text: str) -> str:
    """Drop the codes that move the cursor and colour text."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text.replace("\r", "\n"))


def test_nothing_is_shown_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress()
    progress.open()
    progress.event("opening", {"role": "encoder", "driver": "transformers", "number": 0, "total": 1})
    progress.event("opened", {})
    progress.close()
    assert not capsys.readouterr().err.strip()
