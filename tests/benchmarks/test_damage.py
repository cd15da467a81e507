"""The damage sweep: its counts are of real damages, and the same seed gives the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.reliability import damage
from benchmarks.reliability.damage import NAMED, OTHER, RAW, SAME, Kind, sweep

pytest.importorskip("srtk_plugin_sr")
QUICK = ["head", "cache of vectors", "path choice"]


def test_a_damage_is_named_or_changes_nothing_and_a_seed_repeats_it() -> None:
    found = sweep(3, 36, QUICK)
    assert len(found) == 36
    assert {one.outcome for one in found} <= {NAMED, SAME}
    assert NAMED in {one.outcome for one in found}
    assert sweep(3, 36, QUICK) == found
    assert sweep(4, 36, QUICK) != found


def test_a_reader_that_notices_nothing_or_fails_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def write(folder: Path, other: int) -> None:
        (folder / "a").write_text(f"{other}" * 100)

    def strict(folder: Path) -> Any:
        return int((folder / "a").read_text().strip("0") or "0") and 1 // 0

    kinds = {"careless": Kind(write, lambda folder: (folder / "a").read_bytes()), "raw": Kind(write, strict)}
    monkeypatch.setattr(damage, "KINDS", kinds)
    assert {one.outcome for one in sweep(0, 20, ["careless"])} >= {OTHER, RAW}, "a missing file is raw"
    assert RAW in {one.outcome for one in sweep(0, 20, ["raw"])}
