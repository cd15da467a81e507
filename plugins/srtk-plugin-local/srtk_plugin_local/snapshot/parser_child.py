"""The process in which a parser works apart; see ``parser_process``, which starts it."""

from __future__ import annotations

import io
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import attrs

from srtk_framework.values import InputError
from srtk_plugin_local.snapshot.arrow_texts import parquet_texts
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.containers import read_container
from srtk_plugin_local.snapshot.formats import CONTAINER, FORMATS
from srtk_plugin_local.snapshot.header import plan_facts
from srtk_plugin_local.snapshot.input_report import FileReport
from srtk_plugin_local.snapshot.parser_process import DONE, END, ERROR, GREW, HEAD, NEW, REPORT, TABLE, Frame, ending
from srtk_plugin_local.snapshot.property_graphs.files import read_property_graph
from srtk_plugin_local.snapshot.rdf import read_rdf

if TYPE_CHECKING:
    import pyarrow as pa

_WATCH = 0.02
_SPARE = 64 << 20


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
        text = f"{job['name']}: {ending(GREW, job['memory'])}"
    with suppress(BrokenPipeError):
        _send(out, *((ERROR, text) if text else (END, None)))
    os._exit(0)  # a thread waits for the parent


def _limited(job: Mapping[str, Any], settings: BuildSettings) -> Iterator[Frame]:
    import pyarrow  # noqa: F401  # what is loaded does not count

    name, kind = job["name"], job["kind"]
    limit_memory(job["memory"])
    frames: list[Frame] = []

    def meter(done: int) -> None:
        frames.append((DONE, done))

    if FORMATS[kind].family == CONTAINER:
        for report, tables in read_container(name, kind, plan_facts(settings), settings.strict, meter, settings.memory):
            yield NEW, attrs.asdict(report)
            yield from _reported(tables, report, frames)
        return
    report = FileReport(name, kind, settings.strict)
    yield from _reported(_reader(name, kind, settings, report, meter), report, frames)


def _reported(tables: Iterator[pa.Table], report: FileReport, frames: list[Frame]) -> Iterator[Frame]:
    for table in tables:
        yield REPORT, attrs.asdict(report)  # which says how the table is to be read
        yield TABLE, table
        yield from frames
        frames.clear()
    yield REPORT, attrs.asdict(report)
    yield from frames
    frames.clear()


def _reader(
    name: str, kind: str, settings: BuildSettings, report: FileReport, meter: Callable[[int], None]
) -> Iterator[pa.Table]:
    if kind == "parquet":
        return parquet_texts(name, report)
    if kind in ("graphml", "gexf"):
        return read_property_graph(name, kind, settings, report, meter)
    return read_rdf(name, kind, report, meter, settings.base, settings.memory)


def _send(out: IO[bytes], letter: bytes, value: Any) -> None:
    if letter == TABLE:
        import pyarrow as pa

        sink = io.BytesIO()
        with pa.ipc.new_stream(sink, value.schema) as stream:
            stream.write_table(value)
        data: Any = sink.getbuffer()
    else:
        data = json.dumps(value).encode()
    out.write(HEAD.pack(letter, len(data)))
    out.write(data)
    out.flush()


def _end_with_parent() -> None:
    while os.read(0, 1 << 16):
        pass
    os._exit(GREW)


def limit_memory(more: int) -> None:
    """Let this process use so many bytes more than now, after which it ends itself.

    Linux refuses data beyond that, too, but with some to spare: CPython 3.11 may unwind a ``MemoryError`` without end
    where it cannot get 32 bytes.
    """
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    used = peak_memory
    if sys.platform == "linux":
        import resource

        used = _data_memory
        limit = used() + more + _SPARE
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    threading.Thread(target=watch_memory, args=(used() + more, used), daemon=True).start()


def watch_memory(limit: int, used: Callable[[], int]) -> None:
    """End this process when its memory has exceeded a limit in bytes."""
    while used() <= limit:
        time.sleep(_WATCH)
    os._exit(GREW)


def _data_memory() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmData")).split()[1]) * 1024


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
