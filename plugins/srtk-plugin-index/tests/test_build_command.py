"""``srtk index build``, and the runs that read what it built."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from kit.kills import EVERY, RENAMES, Kills, restored, tree
from rich.console import Console
from srtk_plugin_index.commands import build as build_command
from srtk_plugin_index.corpora.documents import DocumentCorpus
from srtk_plugin_index.indexes.bm25 import Bm25Index

import srtk_framework
from srtk_framework.cli import main
from srtk_framework.values import RunError

RECIPE = """\
srtk: 1
knowledge_graph: {use: local, path: g, build: {files: [t.tsv]}}
corpus: {use: triples}
index: {use: bm25, path: i}
expander: {use: index}
"""
COMMAND = ["index", "build", "r.yaml", "--quiet"]
MODULES = (
    "duckdb",
    "pyarrow",
    "bm25s",
    "srtk_plugin_local.snapshot.build",
    "srtk_plugin_local.snapshot.graph",
    "srtk_plugin_index.commands.build",
    "srtk_plugin_index.indexes.bm25",
    "srtk_plugin_index.corpora.triples",
)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("t.tsv").write_text("Latvia\tcapital\tRiga\nRiga\triver\tDaugava\n")
    Path("r.yaml").write_text(RECIPE)
    return tmp_path


def facts(text: str) -> list[tuple[str, ...]]:
    """Retrieve by the recipe, and return the triples."""
    with srtk_framework.open("r.yaml") as session:
        return [tuple(triple) for triple in session.retrieve([text])[0].subgraph.triples]


def test_an_index_is_built_from_the_recipe_and_read_by_a_run(place, capsys):
    assert main(COMMAND) == 0
    assert capsys.readouterr().out == "i: 2 entries\n"
    assert facts("Which river flows through Riga?")[0] == ("Riga", "river", "Daugava")
    manifest = json.loads(Path("i/manifest.json").read_text())
    assert manifest["entries"] == 2
    assert manifest["sources"][0].startswith("local:")
    assert manifest["sources"][0] in manifest["built"]["corpus"]
    assert sorted(path.name for path in place.iterdir()) == ["g", "i", "r.yaml", "t.tsv"]


def test_an_index_that_was_never_built_is_refused_by_run_and_check(place, capsys):
    with pytest.raises(Exception, match=r"there is no index at i: .*srtk index build RECIPE"):
        facts("Riga")
    Path("r.yaml").write_text(RECIPE + "questions: q.jsonl\n")
    Path("q.jsonl").write_text('{"question": "Riga?"}\n')
    assert main(["check", "r.yaml"]) != 0
    assert "there is no index at i" in "".join(capsys.readouterr())


def test_an_index_of_a_graph_that_has_changed_is_refused_until_it_is_built_again(place):
    assert main(COMMAND) == 0
    Path("t.tsv").write_text("Estonia\tcapital\tTallinn\n")
    with pytest.raises(Exception, match=r"the index i was built with another corpus .*srtk index build RECIPE"):
        facts("the capital of Estonia")
    assert main(COMMAND) == 0
    assert facts("the capital of Estonia") == [("Estonia", "capital", "Tallinn")]


def test_a_recipe_without_a_corpus_reads_the_index_if_the_graph_is_the_same(place):
    assert main(COMMAND) == 0
    Path("r.yaml").write_text(RECIPE.replace("corpus: {use: triples}\n", ""))
    assert facts("the river Daugava") == [("Riga", "river", "Daugava")]
    Path("t.tsv").write_text("Estonia\tcapital\tTallinn\n")
    with pytest.raises(Exception, match=r"the index was built from local:.* and the graph is local:"):
        facts("the river Daugava")


def test_an_index_without_a_corpus_cannot_be_built(place, capsys):
    Path("r.yaml").write_text(RECIPE.replace("corpus: {use: triples}\n", ""))
    assert main(COMMAND) != 0
    assert "index 'bm25' has nothing to be built from; give `corpus:`" in capsys.readouterr().err


def test_a_recipe_without_an_index_cannot_be_built(place, capsys):
    Path("r.yaml").write_text("srtk: 1\n")
    assert main(COMMAND) != 0
    assert "there is no `index:` to build" in capsys.readouterr().err


def test_several_indexes_are_built_at_once_or_by_name(place, capsys):
    both = "indexes: {one: {use: bm25, path: one}, two: {use: bm25, path: two, k1: 2.0}}"
    Path("r.yaml").write_text(RECIPE.replace("index: {use: bm25, path: i}", both))
    assert main([*COMMAND, "--name", "two"]) == 0
    assert capsys.readouterr().out == "two: 2 entries\n"
    assert main(COMMAND) == 0
    assert capsys.readouterr().out == "one: 2 entries\ntwo: 2 entries\n"
    assert main([*COMMAND, "--name", "three"]) != 0
    assert "no index is named 'three' under `indexes:` (one, two)" in capsys.readouterr().err


def test_the_indexes_that_an_index_fuses_are_built_and_each_once(place, capsys):
    fused = (
        "indexes: {words: {use: bm25, path: one}}\n"
        "index: {use: rrf, indexes: [words, {use: rrf, indexes: [words, {use: bm25, path: two, k1: 2.0}]}]}"
    )
    Path("r.yaml").write_text(RECIPE.replace("index: {use: bm25, path: i}", fused))
    assert main(COMMAND) == 0
    assert sorted(capsys.readouterr().out.splitlines()) == ["one: 2 entries", "two: 2 entries"]
    assert facts("Which river flows through Riga?")[0] == ("Riga", "river", "Daugava")


def test_an_index_may_have_several_corpora(place):
    Path("notes.jsonl").write_text('{"id": "note", "text": "The Daugava is long."}\n')
    corpora = "corpora: [{use: triples}, {use: documents, path: notes.jsonl}]"
    Path("r.yaml").write_text(
        RECIPE.replace("index: {use: bm25, path: i}", f"index: {{use: bm25, path: i, {corpora}}}")
    )
    assert main(COMMAND) == 0
    assert json.loads(Path("i/manifest.json").read_text())["entries"] == 3
    assert facts("Daugava") == [("Riga", "river", "Daugava")]


def test_a_corpus_that_fails_leaves_the_old_index(place, capsys):
    assert main(COMMAND) == 0
    before = tree(place / "i")
    Path("bad.jsonl").write_text('{"id": "a", "text": "fine"}\n{"id": "a", "text": "again"}\n')
    assert main([*COMMAND, "--set", "corpus={use: documents, path: bad.jsonl}"]) != 0
    assert "corpora with the same ids an index each" in capsys.readouterr().err
    assert tree(place / "i") == before
    assert sorted(path.name for path in place.iterdir()) == ["bad.jsonl", "g", "i", "r.yaml", "t.tsv"]


def test_a_corpus_without_entries_is_told(place, capsys, caplog):
    Path("none.jsonl").write_text("")
    assert main([*COMMAND, "--set", "corpus={use: documents, path: none.jsonl}"]) == 0
    assert capsys.readouterr().out == "i: 0 entries\n"
    assert "the corpus has no entry, so a search finds nothing" in caplog.text


def test_a_second_build_at_the_same_time_is_refused(place):
    first = Bm25Index(path="i")
    first.create()
    with pytest.raises(RunError, match="in use by another part of this process"):
        Bm25Index(path="i").create()
    first.close()


@pytest.mark.parametrize("before", ["no index", "an index"])
def test_what_a_killed_build_left_is_told_and_the_next_build_begins_anew(place, before):
    if before == "an index":
        assert main(COMMAND) == 0
    old = tree(place / "i")
    many = [json.dumps({"id": f"d{number}", "text": f"text {number} on rivers"}) for number in range(20_000)]
    Path("many.jsonl").write_text("\n".join(many))
    changed = [*COMMAND, "--set", "corpus={use: documents, path: many.jsonl}"]
    command = [sys.executable, "-m", "srtk_framework", *changed]
    with subprocess.Popen(command) as build:
        while not Path(".i.building/entries.jsonl").exists():
            assert build.poll() is None
            time.sleep(0.001)
        build.kill()
    assert build.returncode == -9
    assert tree(place / "i") == old
    if before == "an index":
        assert facts("Which river flows through Riga?")[0] == ("Riga", "river", "Daugava")
    else:
        with pytest.raises(Exception, match=r"no index at i: its build was broken off, .*RECIPE.* which begins anew"):
            facts("Riga")
    told, again = (subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(2))
    assert "a build of the index i was broken off; it begins anew" in told.stderr
    assert ("the old index stays until the new one is whole" in told.stderr) == (before == "an index")
    assert told.stdout == again.stdout == "i: 20,000 entries\n"
    assert again.stderr == ""
    assert not Path(".i.building").exists()


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder without an index, one with the old one of a graph that has changed, and both after a build."""
    folder = tmp_path_factory.mktemp("states")
    for name, text in (("empty", "a\tr\tb\n"), ("old", "a\tr\tb\n")):
        (folder / name).mkdir()
        (folder / name / "t.tsv").write_text(text)
        (folder / name / "r.yaml").write_text(RECIPE)
        with Kills(folder / name, *MODULES) as kills:
            assert kills.run(["index", "build", "r.yaml", "-q", "--set", "index.path=other"]).code == 0
            shutil.rmtree(folder / name / "other")
            if name == "old":
                assert kills.run(COMMAND).code == 0
                # Another graph for the same recipe; it is built before the strikes, which are about the index.
                (folder / name / "t.tsv").write_text("a\tr\tb\nb\tr\tc\n")
                assert kills.run(["index", "build", "r.yaml", "-q", "--set", "index.path=other"]).code == 0
                shutil.rmtree(folder / name / "other")
    for name in ("empty", "old"):
        shutil.copytree(folder / name, folder / f"{name} built")
        with Kills(folder / f"{name} built", *MODULES) as kills:
            assert kills.run(COMMAND).code == 0
    return folder


def found(folder: Path) -> int | None:
    """Return the number of entries of the index, which must be whole; None if there is none."""
    index = Bm25Index(path=str(folder / "i"))
    if not (folder / "i" / "manifest.json").exists():
        broken = (folder / ".i.building").exists() or (folder / "i").exists()
        with pytest.raises(Exception, match="its build was broken off" if broken else "it was never built"):
            index.open()
        return None
    index.open()
    assert len(index.search(["r"], 10)[0]) == index.size()
    index.close()
    return index_size(folder)


def index_size(folder: Path) -> int:
    return int(json.loads((folder / "i" / "manifest.json").read_text())["entries"])


def struck(states: Path, place: Path, begin: str, how: str, kinds: tuple[str, ...], every: int) -> Iterator[str]:
    """Strike a build everywhere; the old or the new index is there, and the same command gives the unbroken bytes."""
    with Kills(place, *MODULES) as kills:
        for ended in kills.everywhere(COMMAND, restored(states / begin, place), how, kinds, every):
            assert found(place) in ([1, 2] if begin == "old" else [None, 1]), ended.calls[-1]
            left = (place / ".i.building").exists()
            again = kills.run(COMMAND)
            assert again.code == 0, (ended.calls[-1], again.stderr)
            assert not left or "a build of the index i was broken off; it begins anew" in again.stderr, ended.calls[-1]
            assert tree(place / "i") == tree(states / f"{begin} built" / "i"), ended.calls[-1]
            assert not [path.name for path in place.iterdir() if path.name.startswith(".i.")], ended.calls[-1]
            yield ended.calls[-1]


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("begin", "how", "kinds", "every"),
    [
        ("old", "kill", RENAMES, 3),
        ("empty", "kill", EVERY, 5),
        ("old", "power", RENAMES, 5),
    ],
)
def test_after_a_strike_anywhere_the_old_or_the_new_index_is_there(
    states: Path, tmp_path: Path, begin: str, how: str, kinds: tuple[str, ...], every: int
) -> None:
    calls = list(struck(states, tmp_path / "place", begin, how, kinds, every))
    assert len(calls) >= 5


def test_after_a_kill_at_renames_the_old_or_the_new_index_is_there(states: Path, tmp_path: Path) -> None:
    calls = [
        call
        for call in struck(states, tmp_path / "place", "old", "kill", ("rename",), 1)
        if "i/" in call or ".i." in call
    ]
    assert calls[-1] == "rename i/.manifest.json.part"
    assert len(calls) > 3


def test_what_the_limits_of_a_corpus_left_out_is_summed_and_told(place, capsys, monkeypatch):
    def counted(corpus):
        return ((entry, {"longest": number, "none": 0}) for number, entry in enumerate(corpus.read(), 1))

    monkeypatch.setattr(DocumentCorpus, "counted", counted)
    Path("d.jsonl").write_text("".join(f'{{"text": "line {number}"}}\n' for number in range(3)))
    assert main([*COMMAND, "--set", "corpus={use: documents, path: d.jsonl}"]) == 0
    assert capsys.readouterr().out == "i: 3 entries\ni: left out by the limits of documents: longest 6, none 0\n"
    assert json.loads(Path("i/manifest.json").read_text())["left_out"] == [{"longest": 6, "none": 0}]


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("quiet", [True, False])
def test_the_progress_is_shown_on_a_terminal_unless_it_is_to_be_quiet(place, monkeypatch, terminal, quiet):
    screen = Console(file=io.StringIO(), force_terminal=terminal, width=80)
    monkeypatch.setattr(build_command, "console", lambda stderr: screen)
    monkeypatch.setattr(build_command, "_AT_ONCE", 2)
    Path("d.txt").write_text("\n".join("abcde"))
    flags = ["--set", "corpus={use: documents, path: d.txt, unit: line}", *(["-q"] if quiet else [])]
    assert main(["index", "build", "r.yaml", *flags]) == 0
    shown = screen.file.getvalue()
    assert ("indexing 5 entries" in shown) is (terminal and not quiet)
    assert bool(shown) is (terminal and not quiet)


def test_a_build_is_quiet_by_default(monkeypatch):
    class Nothing:
        create = close = lambda self: None

        def settings(self):
            return {"corpora": [SimpleNamespace(counted=list)]}

        def note(self, left_out):
            self.noted = left_out

        def commit(self):
            return 0

    screen = Console(file=io.StringIO(), force_terminal=True)
    monkeypatch.setattr(build_command, "console", lambda stderr: screen)
    assert build_command.build(Nothing()) == (0, [{}])
    assert screen.file.getvalue() == ""


@pytest.mark.parametrize(("name", "told"), [(None, "i"), ("disk", "disk")])
def test_an_error_of_the_disk_names_its_file_or_else_the_index(name, told):
    class Full:
        def create(self):
            raise OSError(28, "No space left on device", name)

        def settings(self):
            return {"path": "i"}

        def close(self):
            self.closed = True

    index = Full()
    with pytest.raises(OSError, match="No space") as caught:
        build_command.build(index)
    assert (caught.value.filename, index.closed) == (told, True)
