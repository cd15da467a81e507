"""`srtk serve` against its own description: schemathesis, in an environment of its own, finds nothing."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

FILMS = "film,directed by\nAlien,Ridley Scott\nHeat,Michael Mann\n"
STATUSES = """[checks]
not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", "503", "504"]
negative_data_rejection.expected-statuses = ["4xx", "503", "504"]
"""
"""503 and 504 are answers that the description names; a body that is too large is refused with 413."""


def test_no_request_that_the_description_allows_or_forbids_is_answered_otherwise(tmp_path: Path) -> None:
    (tmp_path / "films.csv").write_text(FILMS, encoding="utf-8")
    (tmp_path / "schemathesis.toml").write_text(STATUSES, encoding="utf-8")
    subprocess.run([sys.executable, "-m", "venv", "env"], cwd=tmp_path, check=True)
    subprocess.run([tmp_path / "env/bin/pip", "install", "-q", "schemathesis==4.32.5"], cwd=tmp_path, check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ["serve", "films.csv", "--set", "expander=bfs", "--port", str(port)]
    server = subprocess.Popen([sys.executable, "-m", "srtk_framework", *command], cwd=tmp_path)
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health").close()
                break
            except urllib.error.URLError:
                time.sleep(0.1)
        address = f"http://127.0.0.1:{port}/schema/openapi.json"
        options = ["--checks", "all", "--max-examples", "50", "--seed", "1", "--no-color"]
        done = subprocess.run(
            [tmp_path / "env/bin/schemathesis", "run", address, *options],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        server.terminate()
        server.wait()
    print(done.stdout)
    assert done.returncode == 0, done.stdout
    assert int(re.findall(r"(\d+) generated", done.stdout)[0]) > 500
    shutil.rmtree(tmp_path / "env")
