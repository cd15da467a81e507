"""`srtk demo`: the graph and the questions that recipes read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from srtk_plugin_answers import demo_command

from srtk_framework.cli import main
from srtk_framework.recipe import shipped_recipe
from srtk_framework.values import SrtkError


def needs_data() -> None:
    try:
        demo_command.require_packages()
    except SrtkError as error:
        pytest.skip(str(error))


def test_the_help_of_the_demo_tells_what_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["demo", "--help"])
    assert ended.value.code == 0
    assert "which (world)" in capsys.readouterr().out


@pytest.mark.slow
def test_the_demo_is_written_where_the_recipes_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    needs_data()
    monkeypatch.chdir(tmp_path)
    assert main(["demo"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("next: srtk recipes copy quickstart")
    questions = Path("build/demo/questions.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(questions) == 287
    assert all(json.loads(line)["answer_entities"] for line in questions)
    recipe = shipped_recipe("quickstart").text
    for name in ("triples", "labels", "aliases", "qualifiers"):
        assert f"build/demo/world/{name}.tsv" in recipe
        assert Path(f"build/demo/world/{name}.tsv").stat().st_size > 10_000


def test_missing_data_packages_are_named_with_the_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo_command, "find_spec", lambda name: None if name == "pycountry" else object())
    assert main(["demo"]) == 2
    assert "the demo needs pycountry; run: pip install 'srtk-framework[demo]'" in capsys.readouterr().err


def test_a_program_that_fails_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo_command, "require_packages", lambda: None)
    monkeypatch.setattr(demo_command, "shipped_folder", lambda _: tmp_path)
    (tmp_path / "world.py").write_text("raise SystemExit(3)")
    assert main(["demo", "--out", str(tmp_path)]) == 2
    assert "world.py" in capfd.readouterr().err.splitlines()[-1]


def test_the_films_of_the_readme_are_written_and_never_over_another_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        assert main(["demo", "films"]) == 0
    assert 'next: srtk ask films.csv "Where was the director of Alien born?"' in capsys.readouterr().out
    rows = Path("films.csv").read_text(encoding="utf-8").splitlines()
    assert "Ridley Scott,born in,South Shields" in rows
    assert {row.split(",")[1] for row in rows} >= {"directed by", "release year", "genre", "starring"}
    Path("films.csv").write_text("mine", encoding="utf-8")
    assert main(["demo", "films"]) == 2
    assert "films.csv is there already and differs" in capsys.readouterr().err
    assert main(["demo", "--out", "sub", "films"]) == 0
    assert Path("sub/films.csv").is_file()


def test_the_programs_of_the_demo_write_below_the_folder_that_is_given_or_where_the_recipes_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo_command, "require_packages", lambda: None)
    monkeypatch.setattr(demo_command, "shipped_folder", lambda _: tmp_path)
    for name in ("world", "questions", "questions_by_kind"):
        (tmp_path / f"{name}.py").write_text("import sys; print(*sys.argv[1:], flush=True)")
    for flags, folder in (([], "build/demo"), (["--out", "other"], "other")):
        assert main(["demo", *flags]) == 0
        *programs, told = capfd.readouterr().out.splitlines()
        graph = f"--graph {folder}/world --out {folder}/questions"
        assert programs == [f"--out {folder}/world", f"{graph}.jsonl", f"{graph}_by_kind.jsonl"]
        assert told == "next: srtk recipes copy quickstart && srtk run recipes/quickstart.yaml"
    demo_command.write_world(Path("here"), quiet=True)
    assert capfd.readouterr().out == ""
    demo_command.write_world(Path("here"))
    assert capfd.readouterr().out == "--out here\n"


def test_films_are_written_into_new_folders_and_a_folder_that_cannot_be_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "films", "--out", "a/b"]) == 0
    assert capsys.readouterr().out.startswith("wrote a/b/films.csv\nnext: srtk ask a/b/films.csv ")
    Path("file").write_text("mine")
    assert main(["demo", "films", "--out", "file"]) == 2
    assert "cannot be written" in capsys.readouterr().err
