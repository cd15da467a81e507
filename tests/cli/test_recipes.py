"""`srtk recipes`: what it prints and writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from srtk_framework.cli import main


def test_the_list_has_a_line_for_each_recipe(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recipes", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("quickstart ") and "countries" in line for line in lines)
    assert "srtk recipes copy NAME" in lines[-1]


def test_a_recipe_is_shown_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recipes", "show", "metaqa"]) == 0
    shown = capsys.readouterr().out
    assert shown == (Path(__file__).parents[2] / "recipes" / "metaqa.yaml").read_text(encoding="utf-8")


def test_a_copy_says_what_it_wrote_and_what_is_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["recipes", "copy", "freebase"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "wrote recipes/freebase.yaml",
        "wrote recipes/files/freebase-questions.jsonl",
        "wrote recipes/recipe.schema.json",
        "next: srtk check recipes/freebase.yaml",
    ]


def test_an_action_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["recipes"])
    assert "list" in capsys.readouterr().err


def test_torch_is_asked_for_only_where_the_weights_of_an_encoder_are_trained() -> None:
    folder = Path(__file__).parents[2] / "recipes"
    found = {file.stem for file in folder.glob("*.yaml") if "use: transformers" in file.read_text(encoding="utf-8")}
    assert found == {"adapt", "septa-align", "train-metaqa", "train-pathquestion", "train-several"}
