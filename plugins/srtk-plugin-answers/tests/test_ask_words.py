"""`srtk ask`: which words are graphs, which are questions, and where options may stand."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from srtk_plugin_answers import ask_command

from srtk_framework.cli import OK, USAGE, main
from srtk_framework.run import Graph

BFS = ("--set", "expander.use=bfs", "--set", "reader=null")


@pytest.fixture
def films(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "films"]) == OK
    return "films.csv"


def asked(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    capsys.readouterr()
    assert main(["ask", *words, *BFS, "--json", "-q"]) == OK
    return [json.loads(line)["question"] for line in capsys.readouterr().out.splitlines()]


def test_options_stand_anywhere_among_the_arguments(films: str, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--depth", "1", films, "Who made Alien?"], [films, "--depth", "1", "Who made Alien?"]):
        assert asked(capsys, *words) == ["Who made Alien?"]
    assert asked(capsys, films, "Who made Alien?", "--header", "Who made Jaws?") == [
        "Who made Alien?",
        "Who made Jaws?",
    ]


def test_each_argument_with_spaces_is_a_question(films: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert asked(capsys, films, "Who made Alien?", "Jaws") == ["Who made Alien?", "Jaws"]


def test_words_without_spaces_are_one_question_and_that_is_told(films: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert asked(capsys, films, "who", "made", "Alien") == ["who made Alien"]
    assert main(["ask", films, "who", "made", "Alien", *BFS]) == OK
    assert "read as one question: 'who made Alien'; put each of several" in capsys.readouterr().err


@pytest.mark.parametrize("missing", ["none.csv", "none.ttl.gz", "data/none", "my films.csv", "base.sqlite"])
def test_a_missing_graph_is_an_error_and_no_question(
    films: str, missing: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ask", films, missing, "Who made Alien?", *BFS]) == USAGE
    assert f"there is no file or folder {missing!r}; check the path" in capsys.readouterr().err


def test_several_files_are_one_graph_and_so_is_their_folder(
    films: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("more").mkdir()
    Path("more/a.tsv").write_text("Alien\taward\tOscar\n", encoding="utf-8")
    Path("more/notes.md").write_text("no data", encoding="utf-8")
    assert main(["ask", films, "more/a.tsv", "What award did Alien win?", *BFS, "-q"]) == OK
    shown = capsys.readouterr().out
    assert "Alien -award-> Oscar" in shown
    assert "Alien -directed by-> Ridley Scott" in shown
    one, both = (Graph.open(what, mediated=False) for what in ("more", [films, "more"]))
    assert one.block["build"]["files"] == [str(tmp_path / "more" / "a.tsv")]
    assert both.block["build"]["files"] == [str(tmp_path / films), str(tmp_path / "more" / "a.tsv")]
    assert both.snapshot == Graph.from_csv(films, "more/a.tsv").snapshot


def test_what_cannot_be_one_of_several_graphs_is_refused(
    films: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "snapshot").mkdir()
    (tmp_path / "snapshot" / "meta.json").write_text("{}", encoding="utf-8")
    (tmp_path / "empty").mkdir()
    for name, reason in (
        ("snapshot", "is a snapshot, a graph of its own"),
        ("empty", "holds no data file"),
    ):
        assert main(["ask", films, name, "Who made Alien?", *BFS]) == USAGE
        assert f"{name}: {reason}" in capsys.readouterr().err
    assert Graph.open("snapshot").block == {"use": "local", "path": "snapshot"}


def test_flags_of_tables_become_settings_of_the_build(films: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, object] = {}

    def opened(what: object, **settings: object) -> Graph:
        seen.update(settings, what=what)
        raise KeyboardInterrupt

    monkeypatch.setattr(ask_command.Graph, "open", opened)
    flags = ["--key", "a.csv=code", "--link", "boss=b.csv", "--plan", "p.yaml", "--keep", "x, y", "--missing=-,?"]
    main(["ask", films, "Who made Alien?", *flags, "--base", "http://x.org/", "--from", "gephi"])
    assert seen == {
        "what": films,
        "keys": {"a.csv": "code"},
        "links": {"boss": "b.csv"},
        "plan": "p.yaml",
        "keep": ["x", "y"],
        "missing": ["-", "?"],
        "base": "http://x.org/",
        "made_by": "gephi",
    }


@pytest.mark.parametrize(
    ("flag", "form"), [("--key", "write it as FILE=COLUMN"), ("--link", "write it as COLUMN=FILE")]
)
def test_a_pair_without_both_parts_is_refused(
    films: str, flag: str, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ask", films, "Who made Alien?", flag, "code="]) == USAGE
    assert f": {form}" in capsys.readouterr().err


def test_the_prompt_explains_itself(
    films: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(":help\n"))
    assert main(["ask", films, *BFS, "-q"]) == OK
    assert ":more" in capsys.readouterr().out


def test_the_graph_of_the_demo_is_asked_by_its_name(
    films: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = []

    def write_world(folder: Path, quiet: bool = False) -> None:
        seen.append(quiet)
        folder.mkdir(parents=True)
        for name, row in (
            ("triples", "riga\tcapital of\tlatvia"),
            ("labels", "riga\tRiga"),
            ("aliases", "riga\tRīga"),
            ("qualifiers", "riga\tcapital of\tlatvia\tsince\t1918"),
        ):
            (folder / f"{name}.tsv").write_text(row + "\n", encoding="utf-8")

    monkeypatch.setattr("srtk_plugin_answers.demo_command.require_packages", lambda: None)
    monkeypatch.setattr("srtk_plugin_answers.demo_command.write_world", write_world)
    Path("demo").mkdir()
    Path("demo/films.csv").write_text("film,maker\nHeat,Mann\n", encoding="utf-8")  # as in a checkout
    for quiet in (True, False):
        assert main(["ask", "demo", "What is Rīga the capital of?", *BFS, *(["-q"] if quiet else [])]) == OK
        told = capsys.readouterr()
        assert "latvia" in told.out
        assert ("write ./demo" in told.err) is not quiet
    assert seen == [True]


def test_the_demo_of_the_world_names_the_packages_that_it_needs(
    films: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("srtk_plugin_answers.demo_command.find_spec", lambda name: None)
    assert main(["ask", "demo", "What is Riga?"]) == USAGE
    assert "pip install 'srtk-framework[demo]'" in capsys.readouterr().err


def test_the_given_base_makes_the_ids_of_relative_iris(
    films: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("a.ttl").write_text("<alien> <maker> <ridley_scott> .\n", encoding="utf-8")
    capsys.readouterr()
    assert main(["ask", "a.ttl", "Who is the maker of alien?", "--base", "http://x.org/", *BFS, "--json", "-q"]) == OK
    snapshot = str(Graph.open("a.ttl", base="http://x.org/").snapshot)
    ids = ["http://x.org/alien", "http://x.org/maker", "http://x.org/ridley_scott"]
    assert json.loads(capsys.readouterr().out)["triplets"] == [ids]
    assert main(["graph", "build", "a.ttl", "--base", "http://x.org/", "--out", "built"]) == OK
    built, asked_for = (json.loads(Path(folder, "meta.json").read_text("utf-8")) for folder in ("built", snapshot))
    assert built["content"] == asked_for["content"]
