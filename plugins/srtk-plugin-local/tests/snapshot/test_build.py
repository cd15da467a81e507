"""A snapshot as a thing on disk: whole or refused, replaced at once or not at all, shared between processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from kit.kills import tree
from srtk_plugin_local.snapshot import layout
from srtk_plugin_local.snapshot.build import build
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
    with pytest.raises(SnapshotError, match="has the snapshot format version 99, not 3; build"):
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
    with pytest.raises(SnapshotError, match=r"old: has the snapshot format version 1, not 3; build it again with"):
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
