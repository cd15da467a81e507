"""A snapshot as a thing on disk: whole or refused, replaced at once or not at all, shared between processes."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest
from kit.kills import tree
from srtk_plugin_local.snapshot import build as module
from srtk_plugin_local.snapshot import layout
from srtk_plugin_local.snapshot.build import build, check_target, update
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.graph import LocalGraph
from srtk_plugin_local.snapshot.meta_file import read_meta

from srtk_framework.recipe import settings as framework_settings
from srtk_framework.records import check_files
from srtk_framework.values import DriverError, InputError, Pattern, RunError, SnapshotError, Step


@pytest.fixture
def source(tmp_path: Path) -> BuildSettings:
    path = tmp_path / "triples.tsv"
    path.write_text("".join(f"n{n}\tr{n % 3}\tn{n * 7 % 50}\n" for n in range(200)))
    return BuildSettings(files=(str(path),))


@pytest.fixture
def snapshot(source: BuildSettings, tmp_path: Path) -> Path:
    return build(source, tmp_path / "out").folder


def data(folder: Path) -> Path:
    """Return the folder with the files of a snapshot."""
    return folder / read_meta(folder).generation


def opened(folder: Path) -> LocalGraph:
    graph = LocalGraph(str(folder))
    graph.open()
    return graph


def test_a_build_needs_a_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no input file; give at least one file of triples"):
        build(BuildSettings(files=()), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("names", "is_ours"),
    [
        ((), True),
        (("meta.json", ".meta.json.part", "0123456789abcdef", "0123456789abcdef-2"), True),
        (("0123456789abcde",), False),
        (("0123456789abcdef", "letter.txt"), False),
        (("meta.json.part",), False),
    ],
)
def test_only_what_a_build_leaves_may_be_replaced_without_force(
    tmp_path: Path, names: tuple[str, ...], is_ours: bool
) -> None:
    out = tmp_path / "above" / "out"
    out.mkdir(parents=True)
    for name in names:
        (out / name).write_text("{}")
    check_target(out, True)
    if is_ours:
        check_target(out, False)
    else:
        with pytest.raises(RunError, match="out: exists and is not a graph snapshot"):
            check_target(out, False)
        (out / "meta.json").write_text('{"format": "srtk-graph"')
        check_target(out, False)


def test_the_folder_above_a_snapshot_is_made_or_cannot_be(tmp_path: Path) -> None:
    check_target(tmp_path / "new" / "newer" / "out", False)
    assert (tmp_path / "new" / "newer").is_dir()
    assert not (tmp_path / "new" / "newer" / "out").exists()
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match=r"file/above: cannot be created .*; choose another --out"):
        check_target(tmp_path / "file" / "above" / "out", True)
    (tmp_path / "broken").symlink_to(tmp_path / "nowhere")
    with pytest.raises(RunError, match="broken: is a file, and a snapshot is a folder"):
        check_target(tmp_path / "broken", True)


def test_a_graph_of_the_cache_follows_the_plan_of_the_last_one_of_the_same_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def made(name: str, time: int, rows: int) -> Path:
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (time, time))
        tables = {"t": {"files": ["a.csv", "b.csv"], "kind": name[-1]}}
        builds[name] = {
            "plan": {"tables": tables},
            "reading": [{"name": "x/a.csv", "rows": rows}, {"name": "y/b.csv", "rows": 1}],
        }
        return tmp_path / name

    builds: dict[str, Any] = {}
    monkeypatch.setattr(module, "_build_of", lambda folder: builds.get(folder.name, {}))
    new = tmp_path / f"{'a' * 12}-{'0' * 24}"
    assert module._plan_of(new) == {"tables": {}}
    made(f"{'b' * 12}-{'1' * 24}", 9, 9)  # of other files
    made(f"{'a' * 12}-{'1' * 23}", 9, 9)  # no name of the cache
    assert module._plan_of(new) == {"tables": {}}
    made(f"{'a' * 12}-{'3' * 24}", 3, 5)
    last = made(f"{'a' * 12}-{'2' * 24}", 4, 6)
    made(f"{'a' * 12}-{'4' * 24}", 2, 7)
    entry = {"files": ["a.csv", "b.csv"], "kind": "2"}
    assert module._plan_of(new) == {"tables": {"t": {**entry, "beyond": 7}}}
    assert module._plan_of(last) == {"tables": {"t": entry}}
    assert module._plan_of(tmp_path / "graph") == {}
    builds[last.name]["reading"] = [{"name": "a.csv", "rows": 4}]
    assert module._plan_of(new)["tables"]["t"]["beyond"] == 4


@pytest.mark.parametrize(
    ("names", "is_rdf", "labelled", "found"),
    [
        *((True, True, True, True), (False, False, False, False), (None, False, False, True)),
        *((None, True, False, False), (None, False, True, False)),
    ],
)
def test_ids_are_names_where_it_is_said_or_a_table_has_no_labels(
    names: bool | None, is_rdf: bool, labelled: bool, found: bool
) -> None:
    assert module._ids_are_names(BuildSettings(files=(), names=names), is_rdf, labelled) is found


def test_the_classes_of_a_graph_are_those_that_are_given_or_the_usual_ones_that_it_has() -> None:
    con = duckdb.connect()
    con.execute("CREATE TABLE relation (id VARCHAR)")
    con.execute("INSERT INTO relation VALUES ('x'), ('rdfs:subClassOf'), ('rdf:type')")
    found = module._schema(BuildSettings(files=(), noise=("n",), mediators=("m",)), con)
    assert found == {
        "type_relations": ["rdf:type"],
        "subclass_relations": ["rdfs:subClassOf"],
        "mediators": ["m"],
        "noise": ["n"],
        "prefixes": {},
    }
    given = BuildSettings(files=(), type_relations=("x",), subclass_relations=("y",), prefixes={"b": "u:", "a": "v:"})
    found = module._schema(given, con)
    assert (found["type_relations"], found["subclass_relations"]) == (["x"], ["y"])
    assert list(found["prefixes"]) == ["a", "b"]


@pytest.mark.parametrize(
    ("fault", "wanted", "said"),
    [
        (duckdb.OutOfMemoryException("x"), RunError, "1GB of memory is too little .*--memory"),
        (duckdb.IOException("x"), RunError, r"the build cannot write here \(x\); check the disk"),
        (duckdb.IOException("No space left on device"), OSError, "No space left on device"),
    ],
)
def test_an_error_of_the_database_becomes_a_sentence(
    tmp_path: Path, fault: Exception, wanted: type[Exception], said: str
) -> None:
    def failing() -> None:
        with module._database(BuildSettings(files=()), tmp_path):
            raise fault

    with pytest.raises(wanted, match=said) as raised:
        failing()
    assert not isinstance(raised.value, OSError) or raised.value.errno == errno.ENOSPC


def test_the_database_has_a_limit_of_threads_and_a_place_to_spill_and_is_closed(tmp_path: Path) -> None:
    with module._database(BuildSettings(files=()), tmp_path) as con:
        limits = "SELECT current_setting('threads'), current_setting('temp_directory')"
        assert con.execute(limits).fetchone() == (min(4, os.cpu_count() or 1), str(tmp_path / "spill"))
    with pytest.raises(duckdb.ConnectionException):
        con.execute("SELECT 1")


@pytest.mark.parametrize(("cores", "threads"), [(1, 1), (3, 3), (4, 4), (5, 4), (64, 4), (None, 1)])
def test_a_build_has_four_threads_at_most(
    tmp_path: Path, cores: int | None, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module.os, "cpu_count", lambda: cores)
    with module._database(BuildSettings(files=()), tmp_path) as con:
        assert con.execute("SELECT current_setting('threads')").fetchone() == (threads,)


def test_an_amount_of_memory_and_a_place_for_the_database_are_checked(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'much' is not an amount of memory; write one like 1GB or 500MB"):
        module._connect(BuildSettings(files=(), memory="much"), tmp_path)
    with pytest.raises(RunError, match="nowhere: the build cannot write here"):
        module._connect(BuildSettings(files=()), tmp_path / "nowhere")


LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"


def notes_of(folder: Path, text: str) -> list[str]:
    (folder / "a.ttl").write_text("@prefix s: <http://s.org/> .\n" + text)
    [report] = build(BuildSettings(files=(str(folder / "a.ttl"),)), folder / "out").meta.build["reading"]
    return list(report["notes"])


@pytest.mark.parametrize(("labels", "told"), [(1, True), (2, False)])
def test_a_relation_that_looks_like_a_name_is_told_where_less_than_half_have_one(
    tmp_path: Path, labels: int, told: bool
) -> None:
    rows = "".join(f's:Part{n} s:heading "Heading {n}x" ; s:size {n} .\n' for n in range(4))
    rows += "".join(f's:Part{n} {LABEL} "Name {n}" .\n' for n in range(labels))
    assert bool(notes_of(tmp_path, rows)) is told


@pytest.mark.parametrize(("codes", "told"), [(2, False), (3, True)])
def test_ids_that_name_nothing_are_told_where_they_are_more_than_half(tmp_path: Path, codes: int, told: bool) -> None:
    ids = [f"s:Q{n}" for n in range(codes)] + [f"s:Name{'ab'[n]}" for n in range(4 - codes)]
    assert bool(notes_of(tmp_path, "".join(f"{id_} s:knows {ids[0]} .\n" for id_ in ids))) is told


def test_the_first_file_says_what_a_prefix_means_and_an_update_keeps_it(tmp_path: Path) -> None:
    files = []
    for name, iri in (("1.ttl", "http://one.org/"), ("2.ttl", "http://two.org/"), ("3.ttl", "http://three.org/")):
        (tmp_path / name).write_text(f"@prefix p: <{iri}> .\n@prefix z{name[0]}: <{iri}z> .\np:a p:knows p:b .\n")
        files.append(str(tmp_path / name))
    built = build(BuildSettings(files=tuple(files[:2])), tmp_path / "out")
    assert built.meta.build["prefixes"] == {"p": "http://one.org/", "z1": "http://one.org/z", "z2": "http://two.org/z"}
    changed = update(built.folder, {"files": (files[2],)}, ())
    assert changed.meta.build["prefixes"] == {**built.meta.build["prefixes"], "z3": "http://three.org/z"}
    assert changed.meta.build["files"] == files
    assert [Path(report["name"]).name for report in changed.meta.build["reading"]] == ["1.ttl", "2.ttl", "3.ttl"]
    assert changed.meta.build["inputs"] != built.meta.build["inputs"]
    (tmp_path / "t.tsv").write_text("a\tr\tb\n")
    assert "prefixes" not in build(BuildSettings(files=(str(tmp_path / "t.tsv"),)), tmp_path / "t").meta.build


FILES = [*layout.ARRAYS, *(f"{heap}.{part}" for heap in layout.HEAPS for part in ("offsets", "bytes"))]


def test_a_truncated_file_is_refused_with_its_path_and_sizes(snapshot: Path) -> None:
    cut = [name for name in FILES if (data(snapshot) / name).stat().st_size]
    assert len(cut) > 10
    for name in cut:
        path = data(snapshot) / name
        whole = path.read_bytes()
        path.write_bytes(whole[:-1])
        with pytest.raises(SnapshotError) as error:
            opened(snapshot)
        assert f"{path}: is truncated" in str(error.value)
        assert f"expected {len(whole)} bytes, found {len(whole) - 1}; build it again" in str(error.value)
        path.write_bytes(whole)
    opened(snapshot)


def test_a_missing_file_is_refused_with_its_path(snapshot: Path) -> None:
    (data(snapshot) / "forward.targets").unlink()
    with pytest.raises(SnapshotError, match=r"forward\.targets: is missing"):
        opened(snapshot)


def test_a_snapshot_of_another_version_is_refused_with_both_versions(snapshot: Path) -> None:
    meta = json.loads((snapshot / "meta.json").read_text())
    (snapshot / "meta.json").write_text(json.dumps({**meta, "version": 99}))
    with pytest.raises(SnapshotError, match="has the snapshot format version 99, not 4; build"):
        opened(snapshot)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": "other"}', '{"format": "srtk-graph", "version": 1}'])
def test_a_damaged_meta_file_is_refused(snapshot: Path, content: str) -> None:
    (snapshot / "meta.json").write_text(content)
    with pytest.raises(SnapshotError, match="build it again"):
        opened(snapshot)


def test_a_folder_that_is_not_there_is_no_snapshot(tmp_path: Path) -> None:
    with pytest.raises(SnapshotError, match="nowhere: is not a graph snapshot"):
        opened(tmp_path / "nowhere")


def test_a_graph_that_is_not_open_says_so(snapshot: Path) -> None:
    graph = opened(snapshot)
    graph.close()
    with pytest.raises(DriverError, match="is not open"):
        graph.frontiers([["n1"]])


def test_a_changed_byte_is_found_when_the_hashes_are_verified(snapshot: Path) -> None:
    meta = opened(snapshot)._open.meta
    check_files(snapshot / meta.generation, meta.files, "", SnapshotError, anew=True)
    path = data(snapshot) / "forward.targets"
    content = bytearray(path.read_bytes())
    content[0] ^= 1
    path.write_bytes(content)
    with pytest.raises(SnapshotError, match=r"forward\.targets: is damaged"):
        check_files(snapshot / meta.generation, meta.files, "", SnapshotError, anew=True)


def test_the_same_inputs_give_the_same_bytes(source: BuildSettings, snapshot: Path, tmp_path: Path) -> None:
    other = build(source, tmp_path / "other").folder
    paths = [path.relative_to(snapshot) for path in sorted(snapshot.rglob("*"))]
    assert paths == [path.relative_to(other) for path in sorted(other.rglob("*"))]
    for path in paths:
        assert (snapshot / path).is_dir() or (other / path).read_bytes() == (snapshot / path).read_bytes()


# A build that stops for good at the named stage, after saying so.
STOPPED = """
import sys, time
from pathlib import Path
from srtk_plugin_local.snapshot.build import build
from srtk_plugin_local.snapshot.build_settings import BuildSettings

def progress(stage, done, total):
    if stage == sys.argv[3]:
        print("there", flush=True)
        time.sleep(600)

build(BuildSettings(files=(sys.argv[1],)), Path(sys.argv[2]), progress=progress)
"""


def start_and_stop_at(stage: str, source: BuildSettings, out: Path) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-c", STOPPED, source.files[0], str(out), stage], stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"there\n"
    return process


def kill(process: subprocess.Popen[bytes]) -> None:
    with process:
        os.kill(process.pid, signal.SIGKILL)


@pytest.mark.parametrize("stage", ["read", "number triples", "write inverse", "write qualifiers"])
def test_a_killed_build_leaves_no_snapshot_and_the_next_one_cleans_up(
    source: BuildSettings, tmp_path: Path, stage: str
) -> None:
    out = tmp_path / "killed"
    kill(start_and_stop_at(stage, source, out))
    assert not out.exists()
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == [".killed.building"]
    assert (tmp_path / ".killed.lock").exists()
    build(source, out)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["killed", "triples.tsv"]
    opened(out)


def test_a_killed_rebuild_leaves_the_old_snapshot_whole(source: BuildSettings, snapshot: Path) -> None:
    before = opened(snapshot).source()
    Path(source.files[0]).write_text("a\tr\tb\n")
    kill(start_and_stop_at("write inverse", source, snapshot))
    assert opened(snapshot).source() == before


def test_two_builds_of_one_snapshot_do_not_run_at_once(source: BuildSettings, tmp_path: Path) -> None:
    process = start_and_stop_at("write inverse", source, tmp_path / "out")
    try:
        with pytest.raises(RunError, match=f"out is in use by process {process.pid}; wait until"):
            build(source, tmp_path / "out")
    finally:
        kill(process)


def test_a_full_disk_is_one_clear_sentence_and_changes_nothing(source: BuildSettings, tmp_path: Path) -> None:
    out = tmp_path / "out"

    def fill(stage: str, done: int, total: int | None) -> None:
        made = tmp_path / ".out.building" / "snapshot"
        if stage == "number nodes" and not os.path.lexists(made / "nodes.bytes"):
            (made / "nodes.bytes").symlink_to("/dev/full")

    with pytest.raises(RunError, match=r"the disk is full; out was not built and nothing was changed; free some space"):
        build(source, out, progress=fill)
    assert [path.name for path in tmp_path.iterdir()] == ["triples.tsv"]


def test_a_folder_that_is_no_snapshot_is_replaced_only_by_force(source: BuildSettings, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "letter.txt").write_text("mine")
    with pytest.raises(RunError, match="exists and is not a graph snapshot"):
        build(source, out)
    assert (out / "letter.txt").read_text() == "mine"
    build(source, out, force=True)
    assert opened(out).degrees(["n1"]) == [5]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "triples.tsv"]


def test_a_file_is_never_replaced_by_a_snapshot(source: BuildSettings, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(RunError, match="out: is a file, and a snapshot is a folder; remove it"):
        build(source, tmp_path / "out", force=True)
    assert (tmp_path / "out").read_text() == "mine"


def test_a_snapshot_of_the_first_format_is_refused_and_built_again(source: BuildSettings, tmp_path: Path) -> None:
    out = tmp_path / "old"
    out.mkdir()
    (out / "meta.json").write_text('{"content": "1", "format": "srtk-graph", "version": 1}'.replace(", ", ",\n "))
    (out / "forward.nodes").write_bytes(b"")
    with pytest.raises(SnapshotError, match=r"old: has the snapshot format version 1, not 4; build it again with"):
        opened(out)
    build(source, out)
    assert opened(out).degrees(["n1"]) == [5]
    assert sorted(path.name for path in out.iterdir()) == sorted([read_meta(out).generation, "meta.json"])


def test_a_failed_build_leaves_the_old_snapshot(source: BuildSettings, snapshot: Path, tmp_path: Path) -> None:
    before = tree(tmp_path)
    Path(source.files[0]).write_text("one\ttwo\n")
    with pytest.raises(InputError):
        build(source, snapshot)
    Path(source.files[0]).write_bytes(b"".join(f"n{n}\tr{n % 3}\tn{n * 7 % 50}\n".encode() for n in range(200)))
    assert tree(tmp_path) == before


def test_a_snapshot_is_replaced_while_others_go_on_reading_it(source: BuildSettings, snapshot: Path) -> None:
    graph = opened(snapshot)
    before = graph.match([Pattern("n1")])
    Path(source.files[0]).write_text("a\tr\tb\n")
    build(source, snapshot)
    assert graph.match([Pattern("n1")]) == before
    assert opened(snapshot).match([Pattern("n1")]) == [[]]


READ = """
import sys
from srtk_plugin_local.snapshot.graph import LocalGraph
from srtk_framework.values import Pattern
graph = LocalGraph(sys.argv[1])
graph.open()
print("open", flush=True)
sys.stdin.readline()
print(graph.source(), graph.match([Pattern("n1")]), flush=True)
"""


def test_two_processes_read_the_same_snapshot(snapshot: Path) -> None:
    command = [sys.executable, "-c", READ, str(snapshot)]
    processes = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.stdout.readline() for process in processes if process.stdout] == ["open\n"] * 2
    answers = [process.communicate("go\n")[0] for process in processes]
    graph = opened(snapshot)
    assert answers == [f"{graph.source()} {graph.match([Pattern('n1')])}\n"] * 2


def test_opening_builds_what_is_missing_or_was_built_from_other_input(source: BuildSettings, tmp_path: Path) -> None:
    out = tmp_path / "built"
    block = {"path": str(out), "build": {"files": list(source.files)}}
    graph = framework_settings.structure(block, LocalGraph)
    graph.open()
    first = graph.source(), (out / "meta.json").stat().st_ino
    graph.open()
    assert (graph.source(), (out / "meta.json").stat().st_ino) == first
    with Path(source.files[0]).open("a") as file:
        file.write("new\tr0\tn1\n")
    graph.open()
    assert graph.source() != first[0]
    assert graph.steps(graph.frontiers([["new"]]), True) == [[Step("r0")]]


def test_the_source_and_fingerprint_are_the_content_hash(snapshot: Path) -> None:
    graph = opened(snapshot)
    assert graph.source() == f"local:{graph.fingerprint()[:16]}"
    assert len(graph.fingerprint()) == 64
