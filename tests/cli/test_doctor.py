"""``srtk doctor``: what is stored is sound, damaged or old; caches are repaired."""

from __future__ import annotations

import json
import sqlite3
import zlib
from pathlib import Path

import numpy as np
import pytest

from srtk_framework.cli import main
from srtk_framework.records import answer_checksum, file_blocks, sums_of, with_checksum, write_manifest, write_model


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "srtk-framework"


def changed(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-10 if path.suffix == ".npy" else len(content) // 2] ^= 1
    path.write_bytes(content)


def vectors(folder: Path, checks: bool = True) -> Path:
    folder.mkdir(parents=True)
    fields = [("key", "V32"), ("vector", "<f4", (4,)), *([("check", "<u4")] if checks else [])]
    rows = np.zeros(3, dtype=fields)
    rows["vector"] = np.arange(12).reshape(3, 4)
    if checks:
        rows["check"] = [zlib.crc32(row.tobytes()[:-4], zlib.crc32(folder.name.encode())) for row in rows]
    np.save(folder / "a.npy", rows)
    return folder / "a.npy"


def answers(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE answer (key BLOB PRIMARY KEY, at REAL, body BLOB, checksum INTEGER) WITHOUT ROWID")
        row = [b"key", 1.5, zlib.compress(b'"Riga"'), answer_checksum(b"key", 1.5, b'"Riga"')]
        db.execute("INSERT INTO answer VALUES (?, ?, ?, ?)", row)
    db.close()
    return path


def journal(path: Path) -> Path:
    first, checksum = with_checksum('{"a": 1}')
    path.write_text(first + with_checksum('{"b": 2}', checksum)[0])
    return path


def index(folder: Path) -> Path:
    (folder / "g").mkdir(parents=True)
    (folder / "g" / "entries.jsonl").write_text("[1]\n")
    files = {"entries.jsonl": sums_of(file_blocks(folder / "g" / "entries.jsonl"))}
    (folder / "manifest.json").write_text(with_checksum(json.dumps({"generation": "g", "files": files}))[0])
    return folder / "g" / "entries.jsonl"


def test_all_that_is_sound_is_listed_and_what_people_edit_is_left_alone(
    cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    vectors(cache / "relations" / "abc")
    index(Path("index"))
    journal(Path("answers.jsonl"))
    write_model(Path("model/head.json"), {"a": 1}, {"head.safetensors": b"abc"})
    Path("questions.jsonl").write_text('{"question": "a"}\n')
    Path("report.json").write_text('{"files": {"a": 1}}\n')
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "4 sound, 0 damaged, 0 old"
    assert sorted(line.split("/")[-1] for line in lines[:-1]) == [
        "a.npy",
        "head.json",
        "manifest.json",
        "sound    answers.jsonl",
    ]


def test_each_kind_of_damage_is_told_with_its_remedy_in_80_columns(
    cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_model(Path("model/head.json"), {"a": 1}, {"head.safetensors": b"abc"})
    for path, remedy in (
        (vectors(cache / "relations" / "abc"), "srtk doctor --repair"),
        (answers(cache / "answers.sqlite"), "srtk doctor --repair"),
        (index(Path("index")), "srtk index build RECIPE"),
        (journal(Path("answers.jsonl")), "record the run again"),
        (Path("model/head.json"), "srtk train RECIPE"),
        (Path("model/head.safetensors"), "srtk train RECIPE"),
    ):
        whole = path.read_bytes()
        if path.suffix == ".sqlite":
            path.write_bytes(whole.replace(zlib.compress(b'"Riga"'), zlib.compress(b'"Rigo"')))
        else:
            changed(path)
        assert main(["doctor"]) == 1, path
        out = capsys.readouterr().out
        assert remedy in " ".join(out.split()), path
        assert "1 damaged" in out, path
        assert all(len(line) <= 80 for line in out.splitlines() if " " in line.strip()[9:]), path
        path.write_bytes(whole)
    assert main(["doctor"]) == 0


def test_a_missing_file_and_a_cut_one_are_damage(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    index(Path("index")).unlink()
    assert main(["doctor", "index"]) == 1
    assert "is missing" in capsys.readouterr().out


@pytest.mark.parametrize(
    "content",
    [
        '{"format": "srtk-graph", "ver',
        '{"format": 2, "use": "Bm25Index", "content": "743af92c12035045f2a2a75d99bbdaf2c67f',
        '{"a":1,"files":{"head.safetensors":{"bytes":3,"blocks":[123',
        '{"a": 1, "checksum": "12',
    ],
)
def test_json_that_is_cut_is_damage_where_it_has_a_mark_of_a_stored_file(
    content: str, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("model.json").write_text(content)
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "is no JSON" in out
    assert out.splitlines()[-1] == "0 sound, 1 damaged, 0 old"


@pytest.mark.parametrize("place", ["named", "stamped", "cached"])
def test_json_that_is_cut_is_damage_where_a_stored_folder_names_it(
    place: str, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = cache / "any" if place == "cached" else Path("folder")
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    if place == "named":
        write_manifest(folder)
    elif place == "stamped":
        (folder / ".verified.json").write_text("{}")
    (folder / "config.json").write_text("{")
    assert main(["doctor", str(folder)]) == 1
    assert f"{'damaged':<8} {folder / 'config.json'}" in capsys.readouterr().out


def test_json_of_somebody_else_that_cannot_be_parsed_is_named_and_no_damage(
    cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    index(Path("index"))
    for place in ("tsconfig.json", "index/notes.json", "manifest.json"):
        Path(place).write_text('{"a": 1, // a comment\n "b": 2}\n')
    (cache / "x").mkdir(parents=True)
    write_manifest(cache / "x")
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("unread")] == [
        f"unread   {name}" for name in ("manifest.json", "tsconfig.json", "index/notes.json")
    ]
    assert sum("is not a file of ours, and was not read" in line for line in lines) == 3
    assert lines[-1] == "2 sound, 0 damaged, 0 old, 3 unread"


def test_repair_deletes_entries_of_caches_alone(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = vectors(cache / "relations" / "old", checks=False)
    bad = vectors(cache / "relations" / "bad")
    changed(bad)
    graph = cache / "graphs" / "one"
    index(graph)
    changed(graph / "manifest.json")
    kept = index(Path("index"))
    changed(kept)
    assert main(["doctor"]) == 1
    assert "0 sound, 3 damaged, 1 old" in capsys.readouterr().out
    assert main(["doctor", "--repair"]) == 1
    assert "0 sound, 1 damaged, 0 old, 3 deleted" in capsys.readouterr().out
    assert not old.exists()
    assert not bad.exists()
    assert not graph.exists()
    assert kept.exists()
    assert main(["doctor", str(cache)]) == 0


def test_an_index_without_checksums_is_old(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("manifest.json").write_text('{"format": 1, "generation": "g", "files": {"entries.jsonl": 4}}')
    assert main(["doctor", "."]) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert "0 sound, 0 damaged, 1 old" in out
    assert "srtk index build RECIPE" in out


def test_a_path_that_is_not_there_is_told(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "nowhere"]) == 2
    assert "there is no such file or folder" in capsys.readouterr().err
