"""JSON Lines and JSON files, plain or compressed; errors name the file and line."""

from __future__ import annotations

import contextlib
import errno
import io
import itertools
import json
import math
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, NoReturn

from srtk_framework.records.publication import rename
from srtk_framework.values import DriverError, InputError, RunError, redacted_data, shortened

# Some readers end a line at the first three, and UTF-8 has no lone surrogates.
_UNSAFE = re.compile("[\u0085\u2028\u2029\ud800-\udfff]")
MAX_DEPTH = 100
"""Levels of lists and objects in a record; a deeper one might be read, and then be too deep to be written."""
MAX_LINE = 128 << 20
"""Bytes of a line, which may hold a whole JSON document."""
MAX_UNPACKED = 16 << 20
"""Unpacked bytes up to which a file may be packed however tightly."""
MAX_RATIO = 200
"""Maximum ratio of unpacked to packed bytes above MAX_UNPACKED; text is seldom packed to less than a fiftieth."""
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")


def dumps(record: Mapping[str, Any]) -> str:
    """Serialise a record as one line of JSON, without a line feed.

    Text is not escaped, except for line separators of some readers (U+0085, U+2028, U+2029) and lone surrogates.
    Fields keep their order.

    Raises:
        DriverError: If a value is not JSON, such as NaN, an infinity or an object of another type.
    """
    try:
        line = _encode(dict(record))
    except (ValueError, TypeError, RecursionError) as error:
        raise DriverError(_blame(record, error)) from error
    return _UNSAFE.sub(lambda found: f"\\u{ord(found.group()):04x}", line)


def _encode(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "tolist") and hasattr(value, "dtype"):  # a numpy number or array
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not a JSON type")


def _blame(record: Mapping[str, Any], error: Exception) -> str:
    for field, value in record.items():
        try:
            _encode({field: value})
        except (ValueError, TypeError, RecursionError) as reason:
            return f"record {record.get('id', '')!r}: field {field!r} cannot be written as JSON: {reason}"
    return f"record {record.get('id', '')!r} cannot be written as JSON: {error}"


def base_suffix(path: str | Path) -> str:
    """Return the suffix of a file's name in lower case, ignoring a suffix such as ``.gz``."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def shown(path: str | Path) -> str:
    """Return the name of a file for messages; ``-`` is the standard input."""
    return "<stdin>" if str(path) == "-" else str(path)


def read_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Yield the (line number from 1, text) of each non-blank line of a UTF-8 file.

    ``.gz``, ``.bz2``, ``.xz`` and ``.zst`` files are decompressed; ``-`` is the standard input. Only line feeds end
    a line. A byte order mark is skipped.

    Raises:
        InputError: If the file is missing, damaged, not UTF-8 or unpacks to far too much, or a line has more than
            MAX_LINE bytes.
    """
    unpacked = 0
    try:
        file, damage = _open(path)
        packed = Path(path).stat().st_size if Path(path).suffix.lower() in _COMPRESSED else None
    except OSError as error:
        raise InputError(f"{shown(path)}: cannot be read: {error.strerror or error}") from error
    except ValueError as error:  # a name that no file can have
        raise InputError(f"{str(path)!r}: cannot be read: {error}") from error
    with file as lines:
        for number in itertools.count(1):
            try:
                raw = lines.readline(MAX_LINE + 1)
            except (OSError, EOFError, damage) as error:
                raise InputError(f"{shown(path)}:{number}: cannot be read further: {error}") from error
            if not raw:
                return
            if len(raw) > MAX_LINE:
                raise InputError(
                    f"{shown(path)}:{number}: the line has more than {MAX_LINE >> 20} MB; shorten or remove it"
                )
            if packed is not None:
                unpacked += max(len(raw), 64)  # an empty line takes as much time
                check_unpacked(path, packed, unpacked)
            try:
                text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise InputError(
                    f"{shown(path)}:{number}: not UTF-8 (byte {error.start + 1} of the line); save the file as UTF-8"
                ) from error
            if text.strip():
                yield number, text.rstrip("\r\n")


def check_unpacked(path: str | Path, packed: int, unpacked: int) -> None:
    """Refuse a file that unpacks to more than both MAX_UNPACKED bytes and MAX_RATIO times its packed bytes.

    Raises:
        InputError: If it does.
    """
    if unpacked > MAX_UNPACKED and unpacked > MAX_RATIO * packed:
        raise InputError(
            f"{path}: unpacks to more than {MAX_UNPACKED >> 20} MB, over {MAX_RATIO} times its size, as files made to "
            "fill the memory do; if it is right, unpack it, and give the unpacked file"
        )


def _open(path: str | Path) -> tuple[AbstractContextManager[Any], type[Exception]]:
    """Open a file for reading bytes; also return the exception, besides OSError, that damaged content raises."""
    suffix = Path(path).suffix.lower()
    if str(path) == "-":
        return nullcontext(sys.stdin.buffer), EOFError
    if suffix == ".gz":
        import gzip
        import zlib

        return gzip.open(path, "rb"), zlib.error
    if suffix == ".bz2":
        import bz2

        return bz2.open(path, "rb"), EOFError
    if suffix == ".xz":
        import lzma

        return lzma.open(path, "rb"), lzma.LZMAError
    if suffix == ".zst":
        return _open_zstandard(path)
    return open(path, "rb"), EOFError


def _open_zstandard(path: str | Path) -> tuple[AbstractContextManager[Any], type[Exception]]:
    try:
        import zstandard
    except ImportError as error:
        raise InputError(f"{path}: reading .zst needs a package: pip install 'srtk-framework[zst]'") from error
    return io.BufferedReader(_Unpacked(path, zstandard.ZstdDecompressor()), 1 << 17), zstandard.ZstdError


class _Unpacked(io.RawIOBase):
    """The content of a file of zstandard frames; the library's own reader accepts truncated files."""

    def __init__(self, path: str | Path, decompressor: Any) -> None:
        self._file, self._decompressor = open(path, "rb"), decompressor  # noqa: SIM115 - closed by ``close``
        self._frame: Any = None
        self._packed, self._rest = b"", memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            # A kilobyte can hold 32 MB.
            self._packed = self._packed or self._file.read(1 << 10)
            if not self._packed:
                if self._frame is not None:
                    raise EOFError("the file ends in the middle of its compressed data")
                return 0
            self._frame = self._frame or self._decompressor.decompressobj()
            self._rest = memoryview(self._frame.decompress(self._packed))
            self._packed = self._frame.unused_data
            self._frame = None if self._frame.eof else self._frame
        size = min(len(buffer), len(self._rest))
        buffer[:size], self._rest = self._rest[:size], self._rest[size:]
        return size

    def close(self) -> None:
        self._file.close()
        super().close()


def parse_object(text: str, where: str) -> dict[str, Any]:
    """Parse a line with one JSON object; ``where`` is ``file:line``.

    Raises:
        InputError: If the line is no JSON object, with the column and the reason.
    """
    value = _decoded(text, where, "{where}:{error.colno}: not valid JSON: {error.msg}; each line holds one object")
    if not isinstance(value, dict):
        raise InputError(f"{where}: the line holds a {_kind(value)}; each line holds one JSON object {{...}}")
    return value


def parse_json(content: str | bytes, file: str) -> Any:
    """Parse the content of a JSON file; bytes are UTF-8, with or without a byte order mark.

    Raises:
        InputError: With file, line and column, if the content is not JSON, has a number that no float can hold, or
            nests deeper than MAX_DEPTH levels.
    """
    try:
        text = content if isinstance(content, str) else content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{file}: not UTF-8 (byte {error.start + 1}); save the file as UTF-8") from error
    return _decoded(text, file, "{where}:{error.lineno}:{error.colno}: not valid JSON: {error.msg}")


def _decoded(text: str, where: str, message: str) -> Any:
    """Decode JSON within the limits; ``message`` is the template of the message on a syntax error."""
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise InputError(message.format(where=where, error=error)) from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not valid JSON: {error}") from error
    check_depth(value, text, where)
    return value


def read_json(path: str | Path) -> Any:
    """Read a JSON file in UTF-8; see ``parse_json``.

    Raises:
        InputError: If the file cannot be read or is no such JSON.
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    return parse_json(content, str(path))


def check_depth(value: Any, text: str, where: str) -> None:
    """Refuse a value parsed from ``text``, or written as it, that nests too deep to be written again.

    Raises:
        InputError: If lists and objects nest deeper than MAX_DEPTH levels.
    """
    # Most records have too few brackets to be too deep, and counting them is fast.
    if text.count("[") + text.count("{") > MAX_DEPTH and _is_deep(value):
        raise InputError(f"{where}: the record nests deeper than {MAX_DEPTH} levels; flatten it")


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON number")


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise ValueError(f"the number {shortened(digits)} is too large for a float; write it as text")
    return value


_DECODER = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite)


def json_decoder() -> json.JSONDecoder:
    """Return a decoder that raises ValueError at NaN, infinities, and numbers that no float holds."""
    return _DECODER


def _is_deep(value: Any) -> bool:
    """Return whether lists and objects nest deeper than MAX_DEPTH."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [
            item
            for holder in level
            if isinstance(holder, list | tuple | Mapping)
            for item in (holder.values() if isinstance(holder, Mapping) else holder)
        ]
    return bool(level)


def _kind(value: Any) -> str:
    names = {list: "list", str: "string", bool: "truth value", int: "number", float: "number"}
    return names.get(type(value), "null")


def read_jsonl(path: str | Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the (line number from 1, object) of each line of a JSON Lines file; see ``read_lines`` for formats.

    Raises:
        InputError: If a line is no JSON object, with file, line, column and reason.
    """
    for number, text in read_lines(path):
        yield number, parse_object(text, f"{shown(path)}:{number}")


def unwritable(path: Path, error: OSError) -> str:
    """Return why a file of a run cannot be written, and the remedy."""
    if error.errno == errno.ENOSPC:
        return f"the disk is full, {path} cannot be written; free some space and give the same command again"
    return f"{path} cannot be written: {error.strerror or error}; fix this and give the same command again"


def write_json(path: Path, data: Any) -> None:
    """Write a JSON file atomically, without the secrets in it.

    Raises:
        RunError: If the file cannot be written; its old content stays.
    """
    replace_lines(path, [json.dumps(redacted_data(data), ensure_ascii=False, indent=1)])


def write_jsonl(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Write a JSON Lines file atomically; see ``dumps``.

    Raises:
        DriverError: If a value is not JSON.
        RunError: If the file cannot be written; its old content stays.
    """
    replace_lines(path, map(dumps, records))


def replace_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines beside a file, bring them to the disk, and put them in its place."""
    draft = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            for line in lines:
                file.write(line + "\n")
            file.flush()
            os.fsync(file.fileno())
        rename(draft, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)
        raise RunError(unwritable(path, error)) from error
