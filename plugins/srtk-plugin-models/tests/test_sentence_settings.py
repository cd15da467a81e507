from __future__ import annotations

import json
import logging
from pathlib import Path

import attrs
import pytest
from srtk_plugin_models import SentenceSettings


@attrs.define(eq=False, kw_only=True)
class Marked(SentenceSettings):
    marked: bool = True

    def _find(self) -> Path:
        return Path(self.model)

    def _marks_first_token(self, folder: Path) -> bool:
        return self.marked


@pytest.fixture
def said(tmp_path: Path) -> Path:
    (tmp_path / "1_Pooling").mkdir()
    (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_lasttoken": True}))
    (tmp_path / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 9}))
    return tmp_path


@pytest.mark.parametrize(
    ("pooling", "marked", "plain", "own"),
    [
        ("auto", True, "mean", "last"),
        ("srtk", True, "cls", "last"),
        ("srtk", False, "mean", "last"),
        ("cls", True, "cls", "cls"),
    ],
)
def test_the_folder_decides_unless_the_setting_names_a_way(
    pooling: str, marked: bool, plain: str, own: str, said: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    settings = Marked(pooling=pooling, marked=marked)  # type: ignore[arg-type]
    assert settings._pooling(tmp_path_factory.mktemp("plain")) == plain
    assert settings._pooling(said) == own


def test_the_length_is_the_settings_then_the_folders_then_128(
    said: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert Marked(max_length=5)._length(said) == 5
    assert Marked()._length(said) == 9
    assert Marked()._length(tmp_path_factory.mktemp("plain")) == 128


def test_a_guessed_pooling_is_told(
    said: Path, tmp_path_factory: pytest.TempPathFactory, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        Marked()._warn_of_guessed_pooling(said)
        Marked(pooling="mean")._warn_of_guessed_pooling(tmp_path_factory.mktemp("one"))
        assert not caplog.records
        Marked()._warn_of_guessed_pooling(tmp_path_factory.mktemp("two"))
    assert "does not say how its vectors are pooled" in caplog.text
