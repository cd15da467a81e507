"""`srtk ask`: which words are graphs, which are questions, and where options may stand."""

from __future__ import annotations

import io
import json
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from rich.console import Console
from srtk_plugin_answers import ask_command

from srtk_framework.cli import FAILED, OK, USAGE, main
from srtk_framework.run import Graph
from srtk_framework.values import InputError

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
    assert one.block["build"]["files"] == [str(tmp_path / "more")], "the build says what else the folder holds"
    assert both.block["build"]["files"] == [str(tmp_path / films), str(tmp_path / "more")]
    assert both.snapshot != Graph.from_csv(films, "more/a.tsv").snapshot


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


@pytest.mark.parametrize(
    ("words", "graphs"),
    [
        (["data", "a.csv", "who?"], 2),  # a folder, and a file beside it
        (["data", "who?", "a.csv"], 1),
        (["a.csv"], 1),
        (["a.csv", "data"], 2),
        (["wikidata", "a.csv", "who?"], 1),
        (["https://example.org/a.csv", "a.csv"], 1),
        (["http://example.org/a.csv", "a.csv"], 1),
    ],
)
def test_further_files_stand_directly_after_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], graphs: int
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    Path("a.csv").touch()
    assert ask_command._told_apart(words) == (words[:graphs], words[graphs:])
    with pytest.raises(InputError, match=r"no file or folder 'b.csv'"):
        ask_command._told_apart(["b.csv", *words])


def test_words_with_a_space_or_alone_are_questions(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["who?"], ["who made it?", "it"]):
        assert ask_command._questions_of(words, False) == words
    assert capsys.readouterr().err == ""
    assert ask_command._questions_of(["who", "made?"], True) == ["who made?"]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("text", ["=code", "code=", "code", " = "])
def test_a_pair_has_two_sides(text: str) -> None:
    with pytest.raises(InputError, match="write it as FILE=COLUMN"):
        ask_command._pairs("--key", ["a=b", text])
    assert ask_command._pairs("--key", [" a = b=c "]) == {"a": "b=c"}


def test_results_stand_apart_but_not_in_records(films: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = [films, "Who made Alien?", "Who is Zzyzx?"]
    capsys.readouterr()
    assert main(["ask", *words, *BFS, "-q"]) == OK
    shown = capsys.readouterr().out
    assert "\n\nWho is Zzyzx?\n" in shown
    assert not shown.startswith("\n")
    assert main(["ask", *words, *BFS, "-q", "--json"]) == OK
    assert "\n\n" not in capsys.readouterr().out
    assert main(["ask", films, "Who is Zzyzx?", "Who is Zyx?", *BFS, "-q"]) == FAILED


def test_a_page_is_told_unless_it_is_to_be_quiet(films: str, capsys: pytest.CaptureFixture[str]) -> None:
    for flags, told in (([], True), (["-q"], False)):
        capsys.readouterr()
        assert main(["ask", films, "Who made Alien?", *BFS, "--page", "page.html", *flags]) == OK
        assert ("wrote page.html" in capsys.readouterr().err) is told
        Path("page.html").unlink()


def test_an_override_without_a_value_is_refused(films: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ask", films, "Who?", "--set", "expander"]) == USAGE
    assert "expander" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flags", "reader"),
    [
        ([], {"use": "paths", "least": 0.5}),
        (["--set", "reader.members=5"], {"use": "paths", "members": 5, "least": 0.5}),
    ],
)
def test_the_least_probability_is_a_setting_of_the_reader(
    films: str, capsys: pytest.CaptureFixture[str], flags: list[str], reader: dict[str, Any]
) -> None:
    capsys.readouterr()
    assert main(["ask", films, "--recipe", "--least", "0.5", *flags]) == OK
    assert yaml.safe_load(capsys.readouterr().out)["reader"] == reader


class Asked:
    """Stands for a retriever: answers with the question, or raises what it names."""

    def ask(self, question: str) -> Any:
        if question == "pipe":
            raise BrokenPipeError
        if question in ("stop", "known", "fault"):
            raise {"stop": KeyboardInterrupt, "known": InputError, "fault": ValueError}[question]("so")
        return SimpleNamespace(
            to_text=lambda *limits, width=80: f"{question}: {limits}", to_record=lambda: {"question": question}
        )


def conversed(monkeypatch: pytest.MonkeyPatch, lines: str, **flags: bool) -> list[Any]:
    monkeypatch.setattr("sys.stdin", io.StringIO(lines))
    asked: list[Any] = []
    ask_command._converse(Asked(), SimpleNamespace(**{"json": False, "more": False, **flags}), asked)
    return asked


def test_a_conversation_goes_on_after_what_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    asked = conversed(monkeypatch, ":more\none\n\nstop\nknown\nfault\n:more\n two \n")
    shown = capsys.readouterr()
    assert len(asked) == 2
    more = "(None, None, 50)"
    assert shown.out == f"nothing was asked yet\n\none: ()\n\n\n\none: {more}\n\ntwo: ()\n"
    assert "interrupted" in shown.err
    assert "error: so" in shown.err
    assert "error: ValueError: so" in shown.err
    with pytest.raises(BrokenPipeError):
        conversed(monkeypatch, "pipe\n")
    capsys.readouterr()
    conversed(monkeypatch, "one\ntwo\n", json=True)
    assert capsys.readouterr().out == '{"question": "one"}\n{"question": "two"}\n'
    conversed(monkeypatch, "one\n", more=True)
    assert capsys.readouterr().out == f"one: {more}\n"


def test_a_prompt_drops_empty_lines_and_interrupted_ones_and_ends_with_the_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines: Iterator[Any] = iter([" one ", "", KeyboardInterrupt, "two", EOFError, "never"])

    def typed(prompt: str) -> str:
        line = next(lines)
        if isinstance(line, str):
            return line
        raise line

    monkeypatch.setattr("builtins.input", typed)
    monkeypatch.setattr(ask_command, "_history", lambda file: nullcontext())
    assert list(ask_command._questions(True)) == ["one", "two"]
    shown = capsys.readouterr()
    assert shown.out == "\n\n"
    assert shown.err.startswith("Ask in words; :more shows all")


def test_a_thousand_lines_of_a_prompt_are_kept_where_there_is_a_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls: list[Any] = []

    def read(file: Path) -> None:
        calls.append(("read", file))
        raise FileNotFoundError

    def write(file: Path) -> None:
        calls.append(("write", file))
        if file.name == "no":
            raise PermissionError(13, "Permission denied")
        file.touch()

    fake = SimpleNamespace(read_history_file=read, write_history_file=write, set_history_length=calls.append)
    monkeypatch.setitem(sys.modules, "readline", fake)
    file = tmp_path / "a" / "b" / "history"
    for _ in range(2):
        with ask_command._history(file):
            calls.append("asked")
    assert calls == [("read", file), 1000, "asked", ("write", file)] * 2
    assert file.is_file()
    with ask_command._history(tmp_path / "no"):
        pass
    assert "the history is not kept: " in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "readline", None)
    with ask_command._history(tmp_path / "none"):
        pass
    assert len(calls) == 11


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("new", [True, False])
@pytest.mark.parametrize("quiet", [True, False])
def test_why_the_first_answer_takes_time_is_told_of_a_build_and_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], terminal: bool, new: bool, quiet: bool
) -> None:
    screen = Console(file=io.StringIO(), force_terminal=True, width=100)
    monkeypatch.setattr(ask_command, "console", lambda stderr: screen)
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal, raising=False)
    driver = SimpleNamespace()
    monkeypatch.setattr(ask_command, "driver_of", lambda graph: driver)
    graph = SimpleNamespace(name="films", is_new=new)
    retriever: Any = SimpleNamespace(graph=graph, session=SimpleNamespace(graph=None))
    log = logging.getLogger("types")
    before = (log.level, list(log.handlers))
    with ask_command._shown_while_opening(retriever, quiet):
        log.info("read %s%sa.csv", Path.cwd(), os.sep)
        log.debug("details")
    assert (log.level, list(log.handlers)) == before
    shown = screen.file.getvalue() if terminal else capsys.readouterr().err
    what = "building the graph of films, once" if new else "loading graph and model"
    assert (what in shown) is (not quiet and (terminal or new))
    assert ("read a.csv" in shown) is (not quiet and new)
    assert "details" not in shown


@pytest.mark.parametrize("quiet", [True, False])
def test_that_the_tables_of_the_demo_are_written_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], quiet: bool
) -> None:
    def stop(folder: Path) -> dict[str, Any]:
        raise InputError("enough")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("srtk_plugin_answers.demo_command.require_packages", lambda: None)
    monkeypatch.setattr(
        "srtk_plugin_answers.demo_command.write_world", lambda folder, quiet: folder.mkdir(parents=True)
    )
    monkeypatch.setattr("srtk_plugin_answers.demo_command.world_build", stop)
    for told in (not quiet, False):
        with pytest.raises(InputError, match="enough"):
            ask_command._demo({}, quiet)
        assert ("writing the tables of the demo, once" in capsys.readouterr().err) is told
