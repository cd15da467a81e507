"""Damage to a snapshot is named, before it is opened and while it is open."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from srtk_plugin_local.snapshot import data_files, layout
from srtk_plugin_local.snapshot.build import build
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.graph import LocalGraph
from srtk_plugin_local.snapshot.meta_file import read_meta

from srtk_framework.records import checksums
from srtk_framework.values import Budget, Pattern, SnapshotError, Step, Triple

IDS = [f"n{n}" for n in range(60)]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a snapshot in which no file but that of the loops is empty."""
    folder = tmp_path_factory.mktemp("whole")
    rows = [f"n{n}\tr{n % 3}\tn{n * 7 % 50}" for n in range(300)] + [f'n{n}\tr3\t"{n}"^^xsd:integer' for n in range(30)]
    (folder / "triples.tsv").write_text("\n".join([*rows, "n1\tr0\tn1", ""]))
    (folder / "labels.tsv").write_text("".join(f"n{n}\tName {n}\nr{n % 3}\tRelation {n % 3}\n" for n in range(60)))
    (folder / "aliases.tsv").write_text("".join(f"n{n}\tAlias {n}\n" for n in range(60)))
    (folder / "qualifiers.tsv").write_text(
        "".join(f"n{n}\tr{n % 3}\tn{n * 7 % 50}\tq{n % 2}\tv{n}\n" for n in range(60))
    )
    given = {name: (str(folder / f"{name}.tsv"),) for name in ("labels", "aliases", "qualifiers")}
    return build(BuildSettings(files=(str(folder / "triples.tsv"),), **given), folder / "out").folder


@pytest.fixture
def snapshot(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "out"))


def results(folder: Path) -> str:
    """Ask a graph for everything that it holds, in every way."""
    graph = LocalGraph(str(folder))
    graph.open()
    frontiers = graph.frontiers([[id_] for id_ in IDS])
    steps = graph.steps(frontiers, True)
    pairs = [(frontier, step) for frontier, row in zip(frontiers, steps, strict=True) for step in row]
    reached = graph.follow([frontier for frontier, _ in pairs], [step for _, step in pairs], 3)
    triples = graph.match([Pattern(id_) for id_ in IDS] + [Pattern(object=id_) for id_ in IDS] + [Pattern()])
    said = [
        graph.source(),
        graph.schema(),
        [list(row) for row in steps],
        [sorted(frontier.ids()) for frontier in reached],
        triples,
        [list(row) for row in graph.triples(frontiers, [Step("r0", True)] * len(frontiers), None)],
        [list(row) for row in graph.neighbourhood(frontiers[:9], 2, Budget(triples=40))],
        graph.labels([*IDS, "r0", "r1", "r2"]),
        graph.find([*(f"name {n}" for n in range(60)), *(f"alias {n}" for n in range(60)), "n55"]),
        graph.degrees(IDS),
        graph.qualifiers(triples[-1]),
    ]
    return repr(said)


def flipped(content: bytes, at: float) -> bytes:
    place = int(at * (len(content) - 1))
    return content[:place] + bytes([content[place] ^ (1 << place % 8)]) + content[place + 1 :]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "first byte flipped": lambda content: flipped(content, 0.0),
    "middle byte flipped": lambda content: flipped(content, 0.5),
    "last byte flipped": lambda content: flipped(content, 1.0),
    "cut by half": lambda content: content[: len(content) // 2],
    "one byte more": lambda content: content + b"\0",
    "zeroed": lambda content: bytes(len(content)),
    "halves swapped": lambda content: content[len(content) // 2 :] + content[: len(content) // 2],
    "reversed": lambda content: content[::-1],
}
FILES = [*layout.ARRAYS, *(f"{heap}.{part}" for heap in layout.HEAPS for part in ("offsets", "bytes")), layout.META]


@pytest.mark.parametrize("name", FILES)
def test_each_single_damage_of_a_file_is_named_or_changes_nothing(snapshot: Path, name: str) -> None:
    before = results(snapshot)
    path = snapshot / name if name == layout.META else snapshot / read_meta(snapshot).generation / name
    content = path.read_bytes()
    assert content
    named = []
    for damage, change in DAMAGES.items():
        damaged = change(content)
        if damaged == content:
            continue
        path.write_bytes(damaged)
        try:
            after = results(snapshot)
        except SnapshotError as error:
            named.append(str(error))
        else:
            assert name == layout.META, damage
            assert after == before, damage
        path.write_bytes(content)
    assert len(named) >= 6
    for said in named:
        assert name in said or "is not a graph snapshot" in said
        assert "build it again" in said
    assert results(snapshot) == before


def test_files_that_took_each_others_place_are_named(snapshot: Path) -> None:
    folder = snapshot / read_meta(snapshot).generation
    one, other = folder / "forward.targets", folder / "inverse.targets"
    assert one.stat().st_size == other.stat().st_size
    one.rename(folder / "kept")
    other.rename(one)
    (folder / "kept").rename(other)
    with pytest.raises(SnapshotError, match=r"forward\.targets: is damaged: block 1 of 1 \(from byte 0\)"):
        results(snapshot)


def test_the_damaged_block_is_named(snapshot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "BLOCK", 64)
    monkeypatch.setattr(checksums, "BLOCK", 64)
    monkeypatch.setattr("srtk_plugin_local.snapshot.meta_file.BLOCK", 64)
    source = Path(snapshot.parent / "t.tsv")
    source.write_text("".join(f"n{n}\tr{n % 3}\tn{n * 7 % 50}\n" for n in range(300)))
    folder = build(BuildSettings(files=(str(source),)), snapshot.parent / "small").folder
    path = folder / read_meta(folder).generation / "forward.targets"
    assert path.stat().st_size == 600
    before = results(folder)
    content = path.read_bytes()
    path.write_bytes(flipped(content, 200 / 599))
    with pytest.raises(SnapshotError, match=r"targets: is damaged: block 4 of 10 \(from byte 192\) has"):
        results(folder)
    path.write_bytes(content)
    assert results(folder) == before


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record which files are compared with their checksums; all files are old enough to be remembered."""
    names: list[str] = []
    check = checksums._check_blocks
    monkeypatch.setattr(checksums, "_SETTLED", -(10**12))
    monkeypatch.setattr(checksums, "_check_blocks", lambda path, *rest: (names.append(path.name), check(path, *rest)))
    return names


@pytest.mark.usefixtures("reads")
def test_a_damaged_list_of_what_was_verified_changes_nothing(snapshot: Path) -> None:
    before = results(snapshot)
    path = snapshot / read_meta(snapshot).generation / checksums.VERIFIED
    content = path.read_bytes()
    for change in DAMAGES.values():
        path.write_bytes(change(content))
        assert results(snapshot) == before
    for text in ("[]", "{}", '{"a": 1}', "[" * 100_000):
        path.write_text(text)
        assert results(snapshot) == before


def test_a_file_is_read_once_for_each_change_of_it(snapshot: Path, reads: list[str]) -> None:
    before = results(snapshot)
    assert sorted(reads) == sorted(read_meta(snapshot).files)
    reads.clear()
    assert results(snapshot) == before
    assert reads == []
    path = snapshot / read_meta(snapshot).generation / "nodes.bytes"
    path.write_bytes(path.read_bytes())
    assert results(snapshot) == before
    assert reads == ["nodes.bytes"]


def test_a_change_that_keeps_size_and_time_is_found(snapshot: Path, reads: list[str]) -> None:
    results(snapshot)
    path = snapshot / read_meta(snapshot).generation / "nodes.bytes"
    stat = path.stat()
    path.write_bytes(flipped(path.read_bytes(), 0.5))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    with pytest.raises(SnapshotError, match=r"nodes\.bytes: is damaged"):
        results(snapshot)


def test_a_file_that_has_just_been_written_is_read_at_the_next_opening_too(whole: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(whole, tmp_path / "copy"))
    results(copy)
    listed = copy / read_meta(copy).generation / checksums.VERIFIED
    assert not listed.exists() or json.loads(listed.read_text()) == {}


def test_where_nothing_can_be_written_the_files_are_read_at_each_opening(
    snapshot: Path, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*args: object, **kwargs: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "write_text", refused)
    before = results(snapshot)
    reads.clear()
    assert results(snapshot) == before
    assert sorted(reads) == sorted(read_meta(snapshot).files)


def opened(folder: Path) -> LocalGraph:
    graph = LocalGraph(str(folder))
    graph.open()
    return graph


CALLS: dict[str, Callable[[LocalGraph], object]] = {
    "frontiers": lambda graph: graph.frontiers([["n1"]]),
    "match": lambda graph: graph.match([Pattern("n1")]),
    "labels": lambda graph: graph.labels(["n1"]),
    "find": lambda graph: graph.find(["name 1"]),
    "degrees": lambda graph: graph.degrees(["n1"]),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_file_that_was_cut_is_an_error_at_the_next_call(snapshot: Path, call: str) -> None:
    graph = opened(snapshot)
    path = snapshot / read_meta(snapshot).generation / "nodes.bytes"
    os.truncate(path, 0)
    with pytest.raises(SnapshotError, match=r"nodes\.bytes: was cut while the graph was open: expected \d+ b"):
        CALLS[call](graph)


def test_a_frontier_is_not_read_from_a_file_that_was_cut(snapshot: Path) -> None:
    graph = opened(snapshot)
    frontier = graph.frontiers([["n1"]])[0]
    time.sleep(2 * data_files._PAUSE)
    os.truncate(snapshot / read_meta(snapshot).generation / "nodes.bytes", 0)
    with pytest.raises(SnapshotError, match="was cut while the graph was open"):
        frontier.ids()


CUT = """
import os, sys
from srtk_plugin_local.snapshot.graph import LocalGraph
from srtk_framework.records import checksums
from srtk_framework.values import Pattern, SnapshotError
graph = LocalGraph(sys.argv[1])
graph.open()
for name in sorted(os.listdir(sys.argv[2])):
    os.truncate(os.path.join(sys.argv[2], name), 0)
try:
    graph.match([Pattern()])
except SnapshotError as error:
    print("SnapshotError", error)
"""


def test_a_process_whose_files_were_cut_is_not_killed(snapshot: Path) -> None:
    folder = snapshot / read_meta(snapshot).generation
    done = subprocess.run([sys.executable, "-c", CUT, str(snapshot), str(folder)], capture_output=True, text=True)
    assert (done.returncode, done.stdout.split()[0]) == (0, "SnapshotError")


def test_a_file_that_was_replaced_is_an_error_at_the_next_call(snapshot: Path) -> None:
    graph = opened(snapshot)
    path = snapshot / read_meta(snapshot).generation / "nodes.bytes"
    other = path.with_name("other")
    other.write_bytes(flipped(path.read_bytes(), 0.5))
    os.replace(other, path)
    with pytest.raises(SnapshotError, match=r"nodes\.bytes: was replaced while the graph was open; run again"):
        graph.match([Pattern("n1")])


def test_a_file_that_was_written_to_is_an_error_soon(snapshot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_files, "_WATCH", 0.0)
    graph = opened(snapshot)
    path = snapshot / read_meta(snapshot).generation / "nodes.bytes"
    path.write_bytes(flipped(path.read_bytes(), 0.5))
    with pytest.raises(SnapshotError, match=r"nodes\.bytes: was written to while the graph was open; run again"):
        graph.match([Pattern("n1")])


def test_sizes_are_looked_at_every_20_ms_and_times_every_100(snapshot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(monotonic=lambda: clock.now, now=1.0)
    monkeypatch.setattr(data_files, "time", clock)
    meta = read_meta(snapshot)
    folder = snapshot / meta.generation
    files = data_files.DataFiles(folder, meta.files)
    files.check()
    path = folder / "nodes.bytes"
    content, stat = path.read_bytes(), path.stat()
    with path.open("r+b") as file:
        file.write(flipped(content, 0.0))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))
    for clock.now in (1.03, 1.06, 1.099):
        files.check()
    clock.now = 1.121
    with pytest.raises(SnapshotError, match="was written to while the graph was open"):
        files.check()
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    clock.now = 2.0
    files.check()
    os.truncate(path, 1)
    clock.now = 2.019
    files.check()
    clock.now = 2.021
    with pytest.raises(SnapshotError, match=rf"was cut .*: expected {len(content)} bytes, found 1; build it again"):
        files.check()


def test_a_deleted_snapshot_is_read_on_by_those_who_have_it_open(snapshot: Path) -> None:
    graph = opened(snapshot)
    before = graph.match([Pattern()])
    shutil.rmtree(snapshot)
    assert graph.match([Pattern()]) == before


def test_new_permissions_of_a_file_change_nothing(snapshot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_files, "_WATCH", 0.0)
    graph = opened(snapshot)
    before = graph.match([Pattern()])
    (snapshot / read_meta(snapshot).generation / "nodes.bytes").chmod(0o400)
    assert graph.match([Pattern()]) == before


@pytest.mark.parametrize("times", [1, 4, 5])
def test_another_generation_that_is_published_while_one_is_opened_is_opened_instead_four_times_at_most(
    snapshot: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    source = snapshot.parent / "new.tsv"
    published = iter(range(times))

    def late(folder: Path, files: Any) -> data_files.DataFiles:
        for number in islice(published, 1):
            source.write_text(f"a\tr\tb{number}\n")
            build(BuildSettings(files=(str(source),)), snapshot)
        return data_files.DataFiles(folder, files)

    monkeypatch.setattr("srtk_plugin_local.snapshot.arrays.DataFiles", late)
    if times == 5:
        with pytest.raises(SnapshotError):
            opened(snapshot)
    else:
        assert opened(snapshot).match([Pattern("a")]) == [[Triple("a", "r", f"b{times - 1}")]]
