import bz2
import gzip
import io
import json
import lzma
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from srtk_framework.records import dumps, jsonl, read_json, read_jsonl, read_questions
from srtk_framework.values import DriverError, InputError

TEXT = st.text(max_size=12)


JSON = st.recursive(st.none() | st.booleans() | st.integers() | TEXT, lambda x: st.lists(x) | st.dictionaries(TEXT, x))


@given(st.dictionaries(st.text(), JSON | st.text(alphabet="\u0085\u2028\u2029\ud800\udfff\r\n\"'<\x0b\x1e")))
def test_any_record_is_one_line_and_is_read_back(record):
    line = dumps(record)
    assert len(line.splitlines()) == 1
    assert json.loads(line.encode("utf-8")) == json.loads(json.dumps(record))  # joins pairs of surrogates


def test_other_scripts_are_kept_as_they_are():
    assert dumps({"question": "Где Рига? 🏰 הר"}) == '{"question": "Где Рига? 🏰 הר"}'


@pytest.mark.parametrize("value", [float("nan"), float("-inf"), {1, 2}, object()])
def test_a_value_that_is_not_json_is_refused_with_its_field(value):
    with pytest.raises(DriverError, match=r"record 'q7': field 'score'"):
        dumps({"id": "q7", "fine": 1, "score": [value]})


def test_numpy_numbers_are_written_as_numbers():
    import numpy as np

    assert dumps({"a": np.float32(0.5), "b": np.arange(3)}) == '{"a": 0.5, "b": [0, 1, 2]}'


def test_a_malformed_line_is_named_with_line_column_and_reason(tmp_path):
    file = tmp_path / "q.jsonl"
    file.write_text('{"question": "a"}\n\n{"question": b}\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"q\.jsonl:3:14: not valid JSON: Expecting value"):
        list(read_jsonl(file))


@pytest.mark.parametrize("line", ["[1]", '"a"', "3", "null", '{"a": NaN}', "[" * 100_000, '{"a": 1' + "0" * 5000 + "}"])
def test_a_line_that_is_no_record_is_refused(tmp_path, line):
    file = tmp_path / "q.jsonl"
    file.write_text(line, encoding="utf-8")
    with pytest.raises(InputError, match=r"q\.jsonl:1"):
        list(read_jsonl(file))


def test_unicode_line_separators_do_not_split_a_line(tmp_path):
    file = tmp_path / "q.jsonl"
    file.write_bytes('{"question": "a\u2028b\u0085c"}\r\n{"question": "d"}'.encode())
    assert [record["question"] for _, record in read_jsonl(file)] == ["a\u2028b\u0085c", "d"]


def test_a_byte_order_mark_is_passed_over(tmp_path):
    file = tmp_path / "q.jsonl"
    file.write_bytes('\ufeff{"question": "a"}\n'.encode())
    assert list(read_jsonl(file)) == [(1, {"question": "a"})]


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
def test_compressed_files_are_read_and_a_truncated_one_is_refused(tmp_path, suffix):
    content = "".join(f'{{"question": "{i * 7919}"}}\n' for i in range(2000)).encode()
    if suffix == ".zst":
        packed = pytest.importorskip("zstandard").compress(content)
    else:
        module = __import__({".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}[suffix])
        packed = module.compress(content)
    file = tmp_path / f"q.jsonl{suffix}"
    file.write_bytes(packed)
    assert len(list(read_questions(file))) == 2000
    file.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(InputError, match=r"q\.jsonl"):
        list(read_questions(file))


def test_a_file_whose_compression_does_not_match_its_name_is_refused(tmp_path):
    file = tmp_path / "q.jsonl.gz"
    file.write_text("{}")
    with pytest.raises(InputError, match="gz"):
        list(read_jsonl(file))


def test_a_file_that_is_not_utf8_is_refused_with_its_line(tmp_path):
    file = tmp_path / "q.jsonl"
    file.write_bytes(b'{"question": "a"}\n{"question": "\xe9"}\n')
    with pytest.raises(InputError, match=r"q\.jsonl:2: not UTF-8"):
        list(read_jsonl(file))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"none\.jsonl: cannot be read: No such file"):
        list(read_jsonl(tmp_path / "none.jsonl"))


def test_a_dash_is_the_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"question": "a"}\n{')))
    lines = read_jsonl("-")
    assert next(lines) == (1, {"question": "a"})
    with pytest.raises(InputError, match=r"^<stdin>:2:2"):
        next(lines)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'{"a":\n b}', r":2:2: not valid JSON: Expecting value"),
        (b"[" * 200_000, ": not valid JSON: maximum recursion depth exceeded"),
        (b"[" * 101 + b"0" + b"]" * 101, ": the record nests deeper than 100 levels; flatten it"),
        (b'{"a": 1e999}', ": not valid JSON: the number 1e999 is too large for a float"),
        (b'{"a": NaN}', ": not valid JSON: NaN is not a JSON number"),
        (b'{"a": "\xe9"}', r": not UTF-8 \(byte 8\)"),
    ],
)
def test_a_json_file_beyond_the_limits_is_refused_with_its_place(tmp_path, content, reason):
    file = tmp_path / "x.json"
    file.write_bytes(content)
    with pytest.raises(InputError, match=rf"x\.json{reason}"):
        read_json(file)


def test_a_json_file_is_read_with_or_without_a_byte_order_mark(tmp_path):
    file = tmp_path / "x.json"
    for mark in (b"", b"\xef\xbb\xbf"):
        file.write_bytes(mark + b' [1, {"a": null}]\n')
        assert read_json(file) == [1, {"a": None}]
    with pytest.raises(InputError, match=r"none\.json: cannot be read: No such file"):
        read_json(tmp_path / "none.json")


@pytest.mark.parametrize("ending", ["", ".gz", ".bz2", ".xz", ".zst"])
def test_a_line_has_a_maximum_of_bytes_in_each_compression(tmp_path, monkeypatch, ending):
    monkeypatch.setattr(jsonl, "MAX_LINE", 100)
    file = tmp_path / f"q.jsonl{ending}"
    _write_packed(file, b'{"a": "%s"}\n{"b": 1}' % (b"x" * 90))
    assert [record for _, record in read_jsonl(file)] == [{"a": "x" * 90}, {"b": 1}]
    _write_packed(file, b'{"b": 1}\n{"a": "%s"}\n' % (b"x" * 92))
    with pytest.raises(InputError, match=r"q\.jsonl.*:2: the line has more than"):
        list(read_jsonl(file))


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz", ".zst"])
def test_a_file_that_is_packed_far_too_tightly_is_refused(tmp_path, ending):
    file = tmp_path / f"q.jsonl{ending}"
    _write_packed(file, b'{"a": 1}\n' + (b" " * 1000 + b"\n") * 20_000)
    with pytest.raises(
        InputError, match=r"unpacks to more than 16 MB, over 200 times its size, .* give the unpacked file"
    ):
        list(read_jsonl(file))


def _write_packed(file, data):
    ending = file.suffix
    if ending == ".zst":
        data = pytest.importorskip("zstandard").compress(data)
    elif ending in (".gz", ".bz2", ".xz"):
        data = {".gz": gzip, ".bz2": bz2, ".xz": lzma}[ending].compress(data)
    file.write_bytes(data)
