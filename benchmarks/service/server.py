"""Starts `srtk serve` as a process of its own."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from benchmarks.common import ROOT


@contextmanager
def served(what: Path, *flags: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Serve a recipe until the block ends; yield the address and the process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "srtk_framework", "serve", str(what), *flags, "--port", str(port)]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
    try:
        for _ in range(1200):
            with suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            if process.poll() is not None:
                raise SystemExit(f"srtk serve ended with {process.returncode}")
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}", process
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()
