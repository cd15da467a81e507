"""Checksums of stored files: what was written is read, and nothing else."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from srtk_framework.records import (
    beside,
    check_files,
    checked,
    checked_lines,
    checksums,
    file_blocks,
    read_model,
    sums_of,
    with_checksum,
    write_model,
)
from srtk_framework.values import DriverError, InputError

AGAIN = "make it again"
RECORDS = [{"text": "Rīga"}, {"text": "b", "number": 1.5}, {"text": "c"}]


def flipped(content: bytes, place: int, bit: int = 0) -> bytes:
    return content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :]


def journal(path: Path) -> Path:
    checksum, text = 0, ""
    for record in RECORDS:
        line, checksum = with_checksum(json.dumps(record), checksum)
        text += line
    path.write_text(text)
    return path


def read(path: Path) -> list[object]:
    return [record for _, record, _ in checked_lines(path, AGAIN)]


@pytest.mark.parametrize("indent", [None, 1])
def test_every_flipped_bit_of_a_json_file_is_found_or_changes_nothing(indent: int | None) -> None:
    data = {"a": [1, 2], "b": "Rīga", "c": {"checksum": "x"}}
    content = with_checksum(json.dumps(data, indent=indent, ensure_ascii=False))[0].encode()
    assert checked(content, "f", AGAIN)[0] == data

    def outcome(changed: bytes) -> str:
        try:
            return "the same" if checked(changed, "f", AGAIN)[0] == data else "other"
        except DriverError as error:
            return str(error)[:13]

    outcomes = {outcome(flipped(content, place, bit)) for place in range(len(content)) for bit in range(8)}
    assert "f: is damaged" in outcomes
    assert outcomes <= {"f: is damaged", "the same"}


@pytest.mark.parametrize("cut", [0, 1, 10, -1, -2, -20])
def test_a_json_file_that_was_cut_is_refused(cut: int) -> None:
    content = with_checksum('{"a": 1, "b": [1, 2, 3]}')[0].encode()
    with pytest.raises(DriverError, match="f: is damaged, or of an older version that wrote no checksums; make it"):
        checked(content[:cut], "f", AGAIN)


def test_a_strangers_file_with_a_right_checksum_is_still_no_more_than_json() -> None:
    for text in ("[1}", '{"a": 1e999}', "{" + '"a":[' * 100_000 + "}", "[1]"):
        with pytest.raises(InputError, match="f: is not JSON of this framework"):
            checked(with_checksum(text)[0].encode(), "f", AGAIN, kind=InputError)


def test_lines_are_read_in_their_order_alone(tmp_path: Path) -> None:
    path = journal(tmp_path / "j.jsonl")
    assert read(path) == RECORDS
    one, two, three = path.read_text().splitlines(keepends=True)
    for lines, at in (([two, one, three], 1), ([one, three], 2), ([one, two, two, three], 3), ([two], 1)):
        path.write_text("".join(lines))
        with pytest.raises(DriverError, match=rf"j\.jsonl:{at}: is damaged: .*make it again"):
            read(path)


def test_a_character_in_a_line_is_found_with_its_number(tmp_path: Path) -> None:
    path = journal(tmp_path / "j.jsonl")
    path.write_text(path.read_text().replace('"b"', '"B"'))
    with pytest.raises(DriverError, match=r"j\.jsonl:2: is damaged"):
        read(path)


def test_a_last_line_that_was_not_finished_counts_for_nothing(tmp_path: Path) -> None:
    path = journal(tmp_path / "j.jsonl")
    path.write_bytes(path.read_bytes()[:-5])
    assert read(path) == RECORDS[:2]


def test_a_line_that_nests_too_deep_is_refused_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "j").write_text(with_checksum('{"a": ' + "[" * 150 + "]" * 150 + "}")[0])
    with pytest.raises(InputError, match="j:1: the record nests deeper than 100 levels"):
        read(tmp_path / "j")


def test_a_journal_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        list(checked_lines(tmp_path / "j", AGAIN, kind=InputError))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    write_model(tmp_path / "m" / "m.json", {"a": 1}, {"m.bin": b"0123456789" * 300_000})
    return tmp_path / "m" / "m.json"


def loaded(file: Path) -> object:
    return read_model(file, "toy", lambda data: (data["a"], beside(file, data, "m.bin").read_bytes()))


def test_a_model_is_read_as_it_was_written(model: Path) -> None:
    assert loaded(model) == (1, b"0123456789" * 300_000)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda data: flipped(data, 2_000_000), r"m\.bin: is damaged: block 2 of 3 \(from byte 1,048,576\)"),
        (lambda data: data[:-1], r"m\.bin: is truncated or damaged"),
        (lambda data: data + b"0", r"m\.bin: is truncated or damaged"),
        (lambda data: data[::-1], r"m\.bin: is damaged: block 1"),
    ],
)
def test_another_file_beside_a_model_is_refused(model: Path, change: object, said: str) -> None:
    file = model.with_name("m.bin")
    file.write_bytes(change(file.read_bytes()))  # type: ignore[operator]
    with pytest.raises(DriverError, match=f"{said}.*; train it again"):
        loaded(model)
    file.unlink()
    with pytest.raises(DriverError, match=r"m\.bin: is missing .*; train it again"):
        loaded(model)


def test_a_model_of_another_driver_is_refused_whatever_its_reader_raises(tmp_path: Path) -> None:
    write_model(tmp_path / "m.json", {"b": 1})
    for parse in (lambda data: data["a"], lambda data: 1 / 0):
        with pytest.raises(DriverError, match="is no model of `toy`"):
            read_model(tmp_path / "m.json", "toy", parse)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(checksums, "_SETTLED", -(10**12))
    (tmp_path / "a").write_bytes(b"a" * 2_000_000)
    (tmp_path / "b").write_bytes(b"b")
    return tmp_path


def sums(folder: Path) -> dict[str, object]:
    return {name: sums_of(file_blocks(folder / name)) for name in ("a", "b")}


def test_a_state_that_was_found_right_is_not_read_again(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = sums(files)
    check_files(files, written, AGAIN)  # type: ignore[arg-type]
    monkeypatch.setattr(checksums, "_check_blocks", lambda path, *_: pytest.fail(f"{path} is read again"))
    check_files(files, written, AGAIN)  # type: ignore[arg-type]
    with pytest.raises(pytest.fail.Exception, match="a is read again"):
        check_files(files, written, AGAIN, anew=True)  # type: ignore[arg-type]
    (files / "b").write_bytes(b"b")
    with pytest.raises(pytest.fail.Exception, match="b is read again"):
        check_files(files, written, AGAIN)  # type: ignore[arg-type]


def test_files_that_are_compared_one_by_one_are_each_read_once(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Path] = []
    monkeypatch.setattr(checksums, "_check_blocks", lambda path, *_: read.append(path))
    for name, entry in [*sums(files).items()] * 2:
        check_files(files, {name: entry}, AGAIN)  # type: ignore[dict-item]
    assert read == [files / "a", files / "b"]


def test_a_manifest_of_other_files_does_not_believe_what_was_found_right(files: Path) -> None:
    written = sums(files)
    check_files(files, written, AGAIN)  # type: ignore[arg-type]
    (files / "b").write_bytes(b"c")
    other = sums(files)
    (files / "b").write_bytes(b"b")
    check_files(files, written, AGAIN)  # type: ignore[arg-type]
    with pytest.raises(DriverError, match="b: is damaged"):
        check_files(files, other, AGAIN)  # type: ignore[arg-type]


def test_a_missing_or_damaged_file_is_named(files: Path) -> None:
    written = sums(files)
    (files / "a").write_bytes(flipped((files / "a").read_bytes(), 1_500_000))
    with pytest.raises(DriverError, match=r"a: is damaged: block 2 of 2 .*; make it again"):
        check_files(files, written, AGAIN)  # type: ignore[arg-type]
    (files / "a").unlink()
    with pytest.raises(DriverError, match=r"a: is missing .*; make it again"):
        check_files(files, written, AGAIN)  # type: ignore[arg-type]


def test_a_file_found_right_before_is_opened_only_for_who_wants_it_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    os.utime(tmp_path / "a", (1, 1))
    files = {"a": sums_of(file_blocks(tmp_path / "a"))}
    monkeypatch.setattr("srtk_framework.records.checksums._SETTLED", -(10**18))
    check_files(tmp_path, files, "again")
    opened: list[str] = []
    real = Path.open
    monkeypatch.setattr(
        Path,
        "open",
        lambda self, *args, **named: (self.name == "a" and opened.append("a")) or real(self, *args, **named),
    )
    check_files(tmp_path, files, "again")
    assert opened == []
    seen: list[str] = []
    check_files(tmp_path, files, "again", opened=lambda name, *_: seen.append(name))
    check_files(tmp_path, files, "again", anew=True)
    assert (seen, opened) == (["a"], ["a", "a"])
    with pytest.raises(DriverError, match="expected 4 bytes, found 3"):
        check_files(tmp_path, {"a": {**files["a"], "bytes": 4}}, "again")
    (tmp_path / "a").write_bytes(b"abd")
    with pytest.raises(DriverError, match="is damaged: block 1 of 1"):
        check_files(tmp_path, files, "again")
    (tmp_path / "a").unlink()
    with pytest.raises(DriverError, match="is missing"):
        check_files(tmp_path, files, "again")
