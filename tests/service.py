"""`srtk serve` in a process of its own."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager

import httpx


@contextmanager
def served(tmp_path, *arguments):
    """Start the service, and wait until it answers; its token, where it wants one, is in SRTK_TEST_TOKEN."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "srtk_framework", "serve", *arguments, "--port", str(port)]
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "SRTK_TEST_TOKEN": "s3cret"}
    process = subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(1200):
            if process.poll() is not None:
                raise AssertionError(process.communicate()[1])
            try:
                httpx.get(f"{address}/health").raise_for_status()
                break
            except httpx.HTTPError:
                time.sleep(0.05)
        yield address, process
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise
