"""A parser in a process of its own, with a limit of memory: for files whose parser holds them as a whole.

The parent starts ``python -m srtk_plugin_local.snapshot.parser_process``, and names the file on its standard input,
which stays open as long as the parent lives. The child answers with frames: a letter, a length, and a table of Arrow or
a value of JSON. So nothing of the child runs in the parent.
"""

from __future__ import annotations

import io
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import attrs

from srtk_framework.values import InputError
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.input_files import Input
from srtk_plugin_local.snapshot.input_report import FileReport
from srtk_plugin_local.snapshot.limits import MAX_DEPTH, amount

if TYPE_CHECKING:
    import pyarrow as pa

    from srtk_plugin_local.snapshot.tables import Meter

SMALL = 1 << 20
"""Unpacked bytes up to which a file is parsed in this process."""

_KINDS = frozenset(("turtle", "trig", "rdfxml", "jsonld", "graphml", "gexf", "xlsx", "parquet"))
_HEAD = struct.Struct(">cQ")
_REPORT, _NEW, _TABLE, _DONE, _ERROR, _END = (bytes([letter]) for letter in b"rntdex")
# Exit code of a child whose memory grew too large.
_GREW = 77
_WATCH = 0.05

Frame = tuple[bytes, Any]


def is_apart(name: str, kind: str) -> bool:
    """Return whether a file is parsed in a process of its own: by its format, and its size when it is unpacked.

    A pipe is not, since it can be read once only. A Parquet file always is, since no size of it can be believed, and
    Turtle with many triples within triples is, for which its parser calls itself.
    """
    if kind not in _KINDS or not Path(name).is_file():
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
        if letter == _TABLE:
            yield value
        elif letter == _DONE:
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
            if letter == _NEW:
                begun = frame
                return
            if letter == _TABLE:
                yield value
            elif letter == _DONE:
                meter(value)
            else:
                _update(report, value)

    while begun is not None:
        report = FileReport(name, kind)
        _update(report, begun[1])
        yield report, tables(report)


def _update(report: FileReport, data: Mapping[str, Any]) -> None:
    for field, value in data.items():
        setattr(report, field, tuple(value) if field in ("header", "sheet") else value)


def _frames(name: str, kind: str, settings: BuildSettings) -> Iterator[Frame]:
    _, memory = shares(settings.memory)
    # The files are read by other parsers.
    job = {"name": name, "kind": kind, "memory": memory, "settings": attrs.asdict(attrs.evolve(settings, files=()))}
    paths = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(
            [sys.executable, "-P", "-m", __name__],
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
                if letter == _END:
                    return
                if letter == _ERROR:
                    raise InputError(value)
                yield frame
            if child.wait() == 1:  # an exception that is no fault of the file
                said.seek(0)
                raise RuntimeError(said.read().decode("utf-8", "replace"))
            raise InputError(f"{name}: {_ending(child.returncode, memory)}")
        finally:
            child.kill()
            child.stdout.close()
            with suppress(BrokenPipeError):
                child.stdin.close()
            child.wait()


def _ending(code: int, memory: int) -> str:
    """Return what a child that ended before its time shows about the file."""
    if code == -getattr(signal, "SIGSEGV", 0):
        return "ends its parser, as content that nests very deep does; flatten it, or write it as N-Triples or a table"
    return (
        f"needs more than {memory / 1e6:,.0f} MB to be parsed, the parser's part of the memory; give more with "
        "--memory, or write it as N-Triples or as a table"
    )


def _received(pipe: IO[bytes]) -> Frame | None:
    """Return the next frame; None where the pipe ends before it does."""
    head = pipe.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    letter, size = _HEAD.unpack(head)
    data = pipe.read(size)
    if len(data) < size:
        return None
    if letter != _TABLE:
        return letter, json.loads(data)
    import pyarrow as pa

    return letter, pa.ipc.open_stream(data).read_all()


def main() -> None:
    """Parse the file that the first line of the standard input names, and send its tables."""
    job = json.loads(sys.stdin.buffer.readline())
    out = os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "wb") as nothing:  # a library may print
        os.dup2(nothing.fileno(), 1)
    lists: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in job["settings"].items()
    }
    settings = BuildSettings(**lists)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    text = ""
    try:
        for frame in _limited(job, settings):
            _send(out, *frame)
    except InputError as error:
        text = str(error)
    except MemoryError:
        text = f"{job['name']}: {_ending(_GREW, job['memory'])}"
    with suppress(BrokenPipeError):
        _send(out, *((_ERROR, text) if text else (_END, None)))
    os._exit(0)  # a thread waits for the parent


def _limited(job: Mapping[str, Any], settings: BuildSettings) -> Iterator[Frame]:
    import pyarrow  # noqa: F401  # what is loaded does not count

    name, kind = job["name"], job["kind"]
    limit_memory(job["memory"])
    frames: list[Frame] = []

    def meter(done: int) -> None:
        frames.append((_DONE, done))

    if kind == "xlsx":
        from srtk_plugin_local.snapshot.containers import read_container
        from srtk_plugin_local.snapshot.header import plan_facts

        for report, tables in read_container(name, kind, plan_facts(settings), settings.strict, meter):
            yield _NEW, _data(report)
            yield from _reported(tables, report, frames)
        return
    report = FileReport(name, kind, settings.strict)
    yield from _reported(_reader(name, kind, settings, report, meter), report, frames)


def _reported(tables: Iterator[pa.Table], report: FileReport, frames: list[Frame]) -> Iterator[Frame]:
    for table in tables:
        yield _REPORT, _data(report)  # which says how the table is to be read
        yield _TABLE, table
        yield from frames
        frames.clear()
    yield _REPORT, _data(report)
    yield from frames
    frames.clear()


def _reader(
    name: str, kind: str, settings: BuildSettings, report: FileReport, meter: Callable[[int], None]
) -> Iterator[pa.Table]:
    from srtk_plugin_local.snapshot.property_graphs.files import read_property_graph
    from srtk_plugin_local.snapshot.rdf import read_rdf
    from srtk_plugin_local.snapshot.tables import parquet_texts

    if kind == "parquet":
        return parquet_texts(name)
    if kind in ("graphml", "gexf"):
        return read_property_graph(name, kind, settings, report, meter)
    return read_rdf(name, kind, report, meter, settings.base, settings.memory)


def _data(report: FileReport) -> dict[str, Any]:
    data = attrs.asdict(report)
    del data["name"], data["strict"]
    return {"name": report.name, "strict": report.strict, **data}


def _send(out: IO[bytes], letter: bytes, value: Any) -> None:
    if letter == _TABLE:
        import pyarrow as pa

        sink = io.BytesIO()
        with pa.ipc.new_stream(sink, value.schema) as stream:
            stream.write_table(value)
        data: Any = sink.getbuffer()
    else:
        data = json.dumps(value).encode()
    out.write(_HEAD.pack(letter, len(data)))
    out.write(data)
    out.flush()


def _end_with_parent() -> None:
    while os.read(0, 1 << 16):
        pass
    os._exit(_GREW)


def limit_memory(more: int) -> None:
    """Let this process use so many bytes more than now: the system refuses them, or the process ends itself.

    Only Linux refuses data that is mapped; elsewhere a thread looks at the largest size so far.
    """
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        import resource

        used = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmData"))
        limit = int(used.split()[1]) * 1024 + more
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        return
    threading.Thread(target=watch_memory, args=(peak_memory() + more,), daemon=True).start()


def watch_memory(limit: int) -> None:
    """End this process when its memory has exceeded a limit in bytes."""
    while peak_memory() <= limit:
        time.sleep(_WATCH)
    os._exit(_GREW)


def peak_memory() -> int:
    """Return the largest number of bytes that this process has held in memory."""
    if sys.platform == "win32":
        import ctypes
        from ctypes import wintypes

        class Counters(ctypes.Structure):
            # PROCESS_MEMORY_COUNTERS of psapi.h
            _fields_ = [("cb", wintypes.DWORD), ("PageFaultCount", wintypes.DWORD)] + [
                (name, ctypes.c_size_t)
                for name in (
                    *("PeakWorkingSetSize", "WorkingSetSize", "QuotaPeakPagedPoolUsage", "QuotaPagedPoolUsage"),
                    *("QuotaPeakNonPagedPoolUsage", "QuotaNonPagedPoolUsage", "PagefileUsage", "PeakPagefileUsage"),
                )
            ]

        found = Counters(cb=ctypes.sizeof(Counters))
        kernel = ctypes.WinDLL("kernel32")
        kernel.GetCurrentProcess.restype = wintypes.HANDLE
        kernel.K32GetProcessMemoryInfo.argtypes = (wintypes.HANDLE, ctypes.c_void_p, wintypes.DWORD)
        kernel.K32GetProcessMemoryInfo(kernel.GetCurrentProcess(), ctypes.byref(found), found.cb)
        return int(found.PeakPagefileUsage)
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    main()
