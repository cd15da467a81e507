"""Input files of a build: their formats, decompression, and text in blocks of whole lines."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from srtk_framework.records import check_unpacked
from srtk_framework.values import InputError, close_matches
from srtk_plugin_local.snapshot.content import (
    HEAD,
    begins_with_triple,
    compression_of,
    format_of,
    is_text,
    text_of,
    western_example,
)
from srtk_plugin_local.snapshot.formats import FORMATS
from srtk_plugin_local.snapshot.input_report import FileReport
from srtk_plugin_local.snapshot.limits import LONG_LINE, LONG_LINES, MAX_LITERAL

BLOCK = 8 << 20
_MAGIC = 16

_THOUGH = "though its name ends in"
_COMPRESSION = {".gz": "gzip", ".zst": "zstd", ".zstd": "zstd", ".bz2": "bz2"}

Progress = Callable[[str, int, int | None], None]
"""Receives the stage, the amount done, and the total where it is known."""


def quiet(stage: str, done: int, total: int | None) -> None:
    """Ignore the progress."""


def guess_format(name: str) -> str:
    """Return the format of a file; see ``detect``."""
    return detect(name, None)[0]


def detect(name: str, wanted: str | None) -> tuple[str, str | None]:
    """Return the format of a file, and a note where its content contradicts its name.

    The wanted format goes before the content, and the content before the ending of the name, which decides between
    CSV and TSV, and wherever the content fits it.

    Raises:
        InputError: If there is no such format, the content is of a format that is not read, or nothing tells it.
    """
    if wanted is not None:
        return _known(wanted), None
    suffixes = [suffix.lower() for suffix in Path(name).suffixes]
    packed = suffixes.pop() if suffixes and suffixes[-1] in _COMPRESSION else ""
    by_name = _by_ending(suffixes[-1]) if suffixes else None
    head, compression = _head(name)
    found = format_of(head, name)
    by_line = by_name in FORMATS and FORMATS[by_name].by_line
    if by_line and found in ("turtle", "trig") and begins_with_triple(head):
        found = by_name  # a later line is wrong, which its reader counts
    if by_name is None:
        return (found, None) if found else _table(head, name)
    if "json" in (by_name, found) and found in ("json", "jsonld"):  # a cell may begin with a brace
        return ("jsonld" if found == "jsonld" else by_name), None
    # A format that includes the format of the content is read as its name has it.
    if not (found is None or found == by_name or (by_name in FORMATS and found in FORMATS[by_name].includes)):
        return found, f"is {FORMATS[found].spoken}, {_THOUGH} {suffixes[-1]}"
    if head and compression != _COMPRESSION.get(packed):
        ending = packed or suffixes[-1]
        return by_name, f"is {f'compressed by {compression}' if compression else 'not compressed'}, {_THOUGH} {ending}"
    return by_name, None


def _by_ending(ending: str) -> str | None:
    return next((kind for kind, form in FORMATS.items() if ending in form.endings), None)


def _known(wanted: str) -> str:
    lower = wanted.lower()
    known = next((kind for kind, form in FORMATS.items() if lower in form.synonyms), lower)
    if known not in FORMATS:
        close = close_matches(known, list(FORMATS))
        raise InputError(f"{wanted!r} is not a format of triples; use {', '.join(FORMATS)}.{close}")
    return known


def _head(name: str) -> tuple[bytes, str | None]:
    """Return the first bytes and the compression; no bytes of a damaged file, whose reader says what is wrong."""
    try:
        with Input(name) as source:
            return source.read(HEAD), source.compression
    except InputError:
        return b"", None


def _table(head: bytes, name: str) -> tuple[str, str]:
    """Take a text of no known format for a table, and say so."""
    if not head.strip() or not is_text(head):
        what = "is no text of a known format" if head.strip() else "has no content to see"
        raise InputError(
            f"{name}: {what}, and the format is not known by its name; give --format {{{','.join(FORMATS)}}}"
        )
    lines = text_of(head).splitlines()[:5]
    kind = "tsv" if any("\t" in line for line in lines) else "csv"
    return kind, f"is read as {kind.upper()}, since neither its name nor its first bytes tell another format"


class Input:
    """An open input file that decompresses while it is read.

    Args:
        name: Path of the file.

    Raises:
        InputError: If the file cannot be read, its compressed content is damaged or truncated, or it unpacks
            to far too much.
    """

    def __init__(self, name: str) -> None:
        import pyarrow as pa

        self.name = name
        try:
            self.size = Path(name).stat().st_size
            self._raw = pa.OSFile(name)
        except OSError as error:
            raise InputError(f"{name}: cannot be read ({error.strerror or error}); check the path") from error
        self.compression = self._compression()
        self._stream: Any = pa.CompressedInputStream(self._raw, self.compression) if self.compression else self._raw
        self._unpacked = 0
        self._ahead = b""
        self._to_text: codecs.IncrementalDecoder | None = None
        self._returns = False

    def to_utf8(self, report: FileReport | None = None) -> None:
        """Read UTF-16 with a mark as UTF-8 from here on, and line ends of old Macs as line feeds.

        Args:
            report: Receives a note where text of Western Europe is read as Windows-1252; without it no encoding is
                guessed.
        """
        start = self.peek()
        if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
            self._to_text = codecs.getincrementaldecoder("utf-16")()
        elif report is not None and (example := western_example(start)):
            self._to_text = codecs.getincrementaldecoder("cp1252")()
            report.note(f"was read as Windows-1252, such as {example!r}; convert the file to UTF-8 if this is wrong")
        if self._to_text is not None:
            self._ahead = start = self._recoded(start)
        self._returns = b"\r" in start and b"\n" not in start
        if self._returns:
            self._ahead = start.replace(b"\r", b"\n")

    def _recoded(self, data: bytes) -> bytes:
        if self._to_text is None:
            return data.replace(b"\r", b"\n") if self._returns else data
        try:
            text = self._to_text.decode(data).encode()
        except UnicodeError as error:
            raise InputError(f"{self.name}: is not what its beginning says ({error}); save it as UTF-8") from error
        return text.replace(b"\r", b"\n") if self._returns else text

    def _compression(self) -> str | None:
        """Return the compression of the first bytes, whatever the name."""
        head = self._raw.read(_MAGIC)
        self._raw.seek(0)
        return compression_of(head)

    @property
    def done(self) -> int:
        """Bytes of the file read so far, before decompression."""
        return int(self._raw.tell())

    def peek(self) -> bytes:
        """Return the bytes that the next ``read`` will return."""
        self._ahead = self._ahead or self.read()
        return self._ahead

    def read(self, size: int = BLOCK) -> bytes:
        """Read up to ``size`` decompressed bytes; empty at the end of the file."""
        if self._ahead:
            data, self._ahead = self._ahead[:size], self._ahead[size:]
            return data
        try:
            data = bytes(self._stream.read(size))
        except OSError as error:
            raise InputError(
                f"{self.name}: is damaged or truncated ({error}); download or write the file again"
            ) from error
        if self.compression:
            self._unpacked += len(data)
            check_unpacked(self.name, self.done, self._unpacked)
        return self._recoded(data) if data else data

    def __enter__(self) -> Input:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()
        self._raw.close()


def blocks(source: Input, report: FileReport, quoted: bool = False) -> Iterator[tuple[int, bytes]]:
    """Yield blocks of whole lines, each with the number of its first line; the last may lack its line end.

    A line above MAX_LITERAL is counted as skipped, and is blank in its block.

    Args:
        source: The opened file.
        report: Counts skipped lines.
        quoted: Whether cells may hold line ends between quotation marks.

    Raises:
        InputError: If a line that is too long may be part of a quoted cell.
    """
    line = marks = size = 0
    parts: list[bytes] = []

    def skip(rest: bytes) -> None:
        inside = marks % 2 or (marks + dropped + rest.count(b'"')) % 2
        if quoted and inside:
            raise InputError(
                f"{report.name}:{line + 1}: the line has more than 16 MB within quotation marks; close the quotation "
                "mark, or remove the line"
            )
        report.skip(LONG_LINES, line + 1, LONG_LINE)

    dropped = 0
    while data := source.read():
        if not line and not size:
            data = data.removeprefix(b"\xef\xbb\xbf")
        end = data.find(b"\n") if size + len(data) > MAX_LITERAL else 0
        if end < 0 or size + end > MAX_LITERAL:  # the line is dropped, and counted at its end
            dropped += sum(part.count(b'"') for part in parts)
            parts = []
            size += end if end >= 0 else len(data)
            if end < 0:
                dropped += data.count(b'"')
                continue
            skip(data[:end])
            marks, dropped, size, data = marks + dropped + data.count(b'"', 0, end), 0, 0, data[end:]
        end = data.rfind(b"\n") + 1
        if not end:
            parts.append(data)
            size += len(data)
            continue
        block = b"".join((*parts, data[:end]))
        parts, size = [data[end:]], len(data) - end
        marks += block.count(b'"') if quoted else 0
        yield line + 1, block
        line += block.count(b"\n")
    if size > MAX_LITERAL:
        skip(b"")
    elif size:
        yield line + 1, b"".join(parts)
