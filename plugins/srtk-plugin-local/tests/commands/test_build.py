"""The flags of ``srtk graph build`` are its settings, and its bar has a line for each stage."""

from __future__ import annotations

import argparse
import io
import re
from pathlib import Path

import pytest
from rich.console import Console
from srtk_plugin_local.commands import build
from srtk_plugin_local.snapshot.build_settings import BuildSettings

from srtk_framework.values import InputError


def parsed(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    build.add_arguments(parser)
    return parser.parse_args(arguments)


def call(*arguments: str) -> None:
    assert build.run(parsed(*arguments)) == 0


def chosen(*arguments: str) -> BuildSettings:
    return build.settings(parsed("a.tsv", "--out", "g", *arguments))


def test_without_flags_the_settings_are_the_defaults() -> None:
    assert chosen() == BuildSettings(files=("a.tsv",))


@pytest.mark.parametrize(
    ("flags", "field", "value"),
    [
        (("--columns", " s, r ,,o"), "columns", ("s", "r", "o")),
        (("--missing", ""), "missing", ()),
        (("--missing", "NA,-"), "missing", ("NA", "-")),
        (("--literal-columns", "a,b"), "literal_columns", ("a", "b")),
        (("--keep", "all"), "keep", ("all",)),
        (("--languages", "de, en"), "languages", ("de", "en")),
        (("--separator", "\\t"), "separator", "\t"),
        (("--split", ";"), "split", ";"),
        (("--key", "a.csv = id", "--key", "b=c=d"), "keys", {"a.csv": "id", "b": "c=d"}),
        (("--link", "town=b.csv"), "links", {"town": "b.csv"}),
        (("--prefix", "wd:= http://x/", "--prefix", "=urn:a="), "prefixes", {"wd": "http://x/", "": "urn:a="}),
        (("--no-header",), "header", False),
        (("--header",), "header", True),
        (("--names",), "names", True),
        (("--no-names",), "names", False),
        (("--plan", "nowhere.yaml"), "plan", None),
        (("--label-relation", "r", "--label-relation", "s"), "label_relations", ("r", "s")),
        (("--memory", "2GB"), "memory", "2GB"),
        (("--strict",), "strict", True),
        (("--from", "gephi"), "made_by", "gephi"),
    ],
)
def test_a_flag_is_a_setting(flags: tuple[str, ...], field: str, value: object) -> None:
    assert getattr(chosen(*flags), field) == value


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--key", "=a"), "--key '=a': write it as FILE=COLUMN"),
        (("--key", "a= "), "--key 'a= ': write it as FILE=COLUMN"),
        (("--link", "a"), "--link 'a': write it as COLUMN=FILE"),
        (("--prefix", "wd=urn"), "--prefix 'wd=urn': write it as NAME=IRI"),
        (("--prefix", "urn:a"), "--prefix 'urn:a': write it as NAME=IRI"),
        (("--split", ""), "--split is empty"),
    ],
)
def test_a_flag_of_another_form_is_refused(flags: tuple[str, ...], said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        chosen(*flags)


def test_a_build_needs_files_and_a_folder(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, said in ((("a.tsv",), "required: --out"), (("--out", "g"), "required: FILE")):
        with pytest.raises(SystemExit):
            parsed(*arguments)
        assert said in capsys.readouterr().err
    assert parsed("a.tsv", "b.tsv", "--out", "g").files == ["a.tsv", "b.tsv"]
    with pytest.raises(SystemExit):
        parsed("a.tsv", "--out", "g", "--header", "--no-header")
    with pytest.raises(SystemExit):
        parsed("a.tsv", "--out", "g", "--names", "--no-names")


def test_the_plan_of_a_build_is_written_once_and_then_followed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("name,town\nAda,Riga\nBo,Oslo\n")
    call("a.csv", "--out", "out", "--plan", "plan.yaml")
    assert "wrote plan.yaml; change it and give it again" in capsys.readouterr().err
    Path("plan.yaml").write_text(Path("plan.yaml").read_text() + "# mine\n")
    assert chosen("--plan", "plan.yaml").plan == "plan.yaml"
    call("a.csv", "--out", "out", "--plan", "plan.yaml")
    assert "wrote" not in capsys.readouterr().err
    assert Path("plan.yaml").read_text().endswith("# mine\n")


def test_a_bar_has_a_line_for_each_stage_whose_ends_are_known() -> None:
    with build._Bar(Console(file=io.StringIO())) as bar:
        bar("read", 1, None)
        bar("read", 2, 4)
        assert [(task.completed, task.total) for task in bar._progress.tasks] == [(2, 4)]
        bar("read", 3, 0)
        bar("sort", 2, 2)
        assert [(task.completed, task.total) for task in bar._progress.tasks][1:] == [(2, 2)]
        assert bar._progress.live.is_started
    assert not bar._progress.live.is_started
    stopped = build._Bar(Console(file=io.StringIO()))
    stopped.__enter__()
    stopped("read", 1, 4)
    stopped.__exit__(KeyError, KeyError(), None)
    assert ([task.completed for task in stopped._progress.tasks], stopped._progress.live.is_started) == ([1], False)


@pytest.mark.parametrize("quiet", [True, False])
def test_a_quiet_build_says_no_counts(
    tmp_path: Path, quiet: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.tsv").write_text("a\tr\tb\n")
    call("a.tsv", "--out", "out", *["--quiet"] * quiet)
    printed = capsys.readouterr()
    said = re.fullmatch(r"out: 1 triple, 2 entities, 1 relation, content [0-9a-f]{16}\n", printed.out)
    assert (said is None) is quiet
    assert (printed.err == "") is quiet
