"""A parser in a process of its own, with a limit of memory: for files whose parser holds them as a whole.

The parent starts ``python -m srtk_plugin_local.snapshot.parser_child``, and names the file on its standard input,
which stays open as long as the parent lives. The child answers with frames: a letter, a length, and a table of Arrow or
a value of JSON. So nothing of the child runs in the parent.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any

import attrs

from srtk_framework.values import InputError
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.input_files import Input
from srtk_plugin_local.snapshot.input_report import FileReport, Meter
from srtk_plugin_local.snapshot.limits import MAX_DEPTH, amount, megabytes

if TYPE_CHECKING:
    import pyarrow as pa

_CHILD = f"{__package__}.parser_child"
SMALL = 1 << 20
"""Unpacked bytes up to which a file is parsed in this process."""

_KINDS = frozenset(("turtle", "trig", "rdfxml", "jsonld", "graphml", "gexf", "json", "xlsx", "parquet"))
HEAD = struct.Struct(">cQ")
REPORT, NEW, TABLE, DONE, ERROR, END = (bytes([letter]) for letter in b"rntdex")
# Exit code of a child whose memory grew too large.
GREW = 77

Frame = tuple[bytes, Any]
"""A letter, and a table or a value of JSON."""


def is_apart(name: str, kind: str) -> bool:
    """Return whether a file is parsed in a process of its own: by its format, and its size when it is unpacked.

    A Parquet file always is, since no size of it can be believed, and Turtle with many triples within triples is, for
    which its parser calls itself.
    """
    if kind not in _KINDS:
        return False
    if kind == "parquet":
        return True
    if kind == "xlsx":
        try:
            with zipfile.ZipFile(name) as archive:
                return sum(entry.file_size for entry in archive.infolist()) > SMALL
        except (OSError, zipfile.BadZipFile):
            return False  # its reader says what is wrong
    size = inner = 0
    with Input(name) as source:
        while size <= SMALL and inner <= MAX_DEPTH and (data := source.read(SMALL)):
            size += len(data)
            inner += data.count(b"<<") if kind in ("turtle", "trig") else 0
    return size > SMALL or inner > MAX_DEPTH


def shares(memory: str) -> tuple[int, int]:
    """Return how many bytes of the memory of a build the database and the parser have while both are at work."""
    whole = amount(memory)
    database = max(whole // 4, min(whole // 2, 100 * 10**6))
    return database, whole - database


def read_apart(name: str, kind: str, settings: BuildSettings, report: FileReport, meter: Meter) -> Iterator[pa.Table]:
    """Yield the tables of a file as its reader does in this process.

    Raises:
        InputError: As the reader does, or if the memory is too little, or the parser ends its process.
    """
    for letter, value in _frames(name, kind, settings):
        if letter == TABLE:
            yield value
        elif letter == DONE:
            meter(value)
        else:
            _update(report, value)


def sheets_apart(
    name: str, kind: str, settings: BuildSettings, meter: Meter
) -> Iterator[tuple[FileReport, Iterator[pa.Table]]]:
    """Yield the report of each table of a container, with its rows, which are to be read before the next table.

    Raises:
        InputError: As ``read_apart``.
    """
    frames = _frames(name, kind, settings)
    begun = next(frames, None)

    def tables(report: FileReport) -> Iterator[pa.Table]:
        nonlocal begun
        begun = None
        for frame in frames:
            letter, value = frame
            if letter == NEW:
                begun = frame
                return
            if letter == TABLE:
                yield value
            elif letter == DONE:
                meter(value)
            else:
                _update(report, value)

    while begun is not None:
        report = FileReport(name, kind)
        _update(report, begun[1])
        yield report, tables(report)


def _update(report: FileReport, data: Mapping[str, Any]) -> None:
    for field, value in data.items():
        setattr(report, field, tuple(value) if field in ("header", "sheet", "properties") else value)


def _frames(name: str, kind: str, settings: BuildSettings) -> Iterator[Frame]:
    _, memory = shares(settings.memory)
    # The files are read by other parsers.
    job = {"name": name, "kind": kind, "memory": memory, "settings": attrs.asdict(attrs.evolve(settings, files=()))}
    paths = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(
            [sys.executable, "-P", "-m", _CHILD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            env={**os.environ, "PYTHONPATH": paths, "ARROW_DEFAULT_MEMORY_POOL": "system", "RUST_BACKTRACE": "0"},
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            with suppress(BrokenPipeError):
                child.stdin.write(json.dumps(job).encode() + b"\n")
                child.stdin.flush()
            while (frame := _received(child.stdout)) is not None:
                letter, value = frame
                if letter == END:
                    return
                if letter == ERROR:
                    raise InputError(value)
                yield frame
            if child.wait() == 1:  # an exception that is no fault of the file
                said.seek(0)
                raise RuntimeError(said.read().decode("utf-8", "replace"))
            raise InputError(f"{name}: {ending(child.returncode, memory)}")
        finally:
            child.kill()
            child.stdout.close()
            with suppress(BrokenPipeError):
                child.stdin.close()
            child.wait()


def ending(code: int, memory: int) -> str:
    """Return what a child that ended before its time shows about the file."""
    if code == -getattr(signal, "SIGSEGV", 0):
        return "ends its parser, as content that nests very deep does; flatten it, or write it as N-Triples or a table"
    return (
        f"needs more than {megabytes(memory)} to be parsed, the parser's part of the memory; give more with "
        "--memory, or write it as N-Triples or as a table"
    )


def _received(pipe: IO[bytes]) -> Frame | None:
    """Return the next frame; None where the pipe ends before it does."""
    head = pipe.read(HEAD.size)
    if len(head) < HEAD.size:
        return None
    letter, size = HEAD.unpack(head)
    data = pipe.read(size)
    if len(data) < size:
        return None
    if letter != TABLE:
        return letter, json.loads(data)
    import pyarrow as pa

    return letter, pa.ipc.open_stream(data).read_all()
