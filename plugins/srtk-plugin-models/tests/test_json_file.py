"""JSON files in the folder of a model."""

from __future__ import annotations

from pathlib import Path

import pytest
from srtk_plugin_models import read_json

from srtk_framework.values import DriverError


def test_infinities_are_read_since_configurations_hold_them(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"scale": Infinity}')
    assert read_json(tmp_path / "config.json") == {"scale": float("inf")}


@pytest.mark.parametrize("text", ["{", "[" * 100_000, ""])
def test_what_is_no_json_is_refused_with_its_name(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(DriverError, match=r"config\.json is not valid JSON"):
        read_json(tmp_path / "config.json")
