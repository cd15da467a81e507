"""Input files of a build: their formats, decompression, and text in blocks of whole lines."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from srtk_framework.values import InputError, close_matches

RDF_FORMATS = ("ntriples", "nquads", "turtle", "trig", "rdfxml", "jsonld")
GRAPH_FORMATS = ("graphml", "gexf")
FORMATS = (*RDF_FORMATS, *GRAPH_FORMATS, "tsv", "csv", "parquet")
BLOCK = 8 << 20

_ENDINGS = {
    ".nt": "ntriples",
    ".nq": "nquads",
    ".ttl": "turtle",
    ".trig": "trig",
    ".rdf": "rdfxml",
    ".owl": "rdfxml",
    ".xml": "rdfxml",
    ".jsonld": "jsonld",
    ".graphml": "graphml",
    ".gexf": "gexf",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".txt": "tsv",
    ".csv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".json": "json",
}
_SYNONYMS = {"nt": "ntriples", "nq": "nquads", "ttl": "turtle", "rdf": "rdfxml", "rdf/xml": "rdfxml", "xml": "rdfxml"}
_SYNONYMS["json-ld"] = "jsonld"
_COMPRESSION = {".gz": "gzip", ".zst": "zstd", ".zstd": "zstd", ".bz2": "bz2"}

Progress = Callable[[str, int, int | None], None]
"""Receives the stage, the amount done, and the total where it is known."""


def quiet(stage: str, done: int, total: int | None) -> None:
    """Ignore the progress."""


def guess_format(name: str, wanted: str | None) -> str:
    """Return the format of a file: the wanted one, or the one that its name ends in.

    Raises:
        InputError: If there is no such format, or the name has no known ending.
    """
    if wanted is not None:
        known = _SYNONYMS.get(wanted.lower(), wanted.lower())
        if known not in FORMATS:
            raise InputError(
                f"{wanted!r} is not a format of triples; use {', '.join(FORMATS)}.{close_matches(known, FORMATS)}"
            )
        return known
    path = Path(name)
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in _COMPRESSION:
        suffixes.pop()
    if not suffixes or suffixes[-1] not in _ENDINGS:
        raise InputError(f"{name}: the format is not known by its name; give --format {{{','.join(FORMATS)}}}")
    return _ENDINGS[suffixes[-1]]


class Input:
    """An open input file that decompresses while it is read.

    Args:
        name: Path of the file.

    Raises:
        InputError: If the file cannot be read, or its compressed content is damaged or truncated.
    """

    def __init__(self, name: str) -> None:
        import pyarrow as pa

        self.name = name
        try:
            self.size = Path(name).stat().st_size
            self._raw = pa.OSFile(name)
        except OSError as error:
            raise InputError(f"{name}: cannot be read ({error.strerror or error}); check the path") from error
        kind = _COMPRESSION.get(Path(name).suffix.lower())
        self._stream: Any = pa.CompressedInputStream(self._raw, kind) if kind else self._raw
        self._ahead = b""
        self._decoder: codecs.IncrementalDecoder | None = None
        self._returns = False

    def to_utf8(self) -> None:
        """Read UTF-16 with a mark as UTF-8 from here on, and line ends of old Macs as line feeds."""
        start = self.peek()
        if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
            self._decoder = codecs.getincrementaldecoder("utf-16")("replace")
            self._ahead = start = self._recoded(start)
        self._returns = b"\r" in start and b"\n" not in start
        if self._returns:
            self._ahead = start.replace(b"\r", b"\n")

    def _recoded(self, data: bytes) -> bytes:
        if self._decoder is None:
            return data.replace(b"\r", b"\n") if self._returns else data
        return self._decoder.decode(data).encode()

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
            return self._recoded(data) if data else data
        except OSError as error:
            raise InputError(
                f"{self.name}: is damaged or truncated ({error}); download or write the file again"
            ) from error

    def __enter__(self) -> Input:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()
        self._raw.close()


def blocks(source: Input) -> Iterator[tuple[int, bytes]]:
    """Yield blocks of whole lines, each with the number of its first line; the last may lack its line end."""
    line = 1
    rest = b""
    first = True
    while data := source.read():
        if first:
            data = data.removeprefix(b"\xef\xbb\xbf")
            first = False
        end = data.rfind(b"\n") + 1
        if not end:
            rest += data
            continue
        block = rest + data[:end]
        rest = data[end:]
        yield line, block
        line += block.count(b"\n")
    if rest:
        yield line, rest
