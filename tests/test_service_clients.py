"""`srtk serve` as strangers see it: schemathesis and the client of OpenAI, in an environment of their own."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

FILMS = "film,directed by\nAlien,Ridley Scott\nHeat,Michael Mann\n"
STATUSES = """[checks]
not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", "503", "504"]
negative_data_rejection.expected-statuses = ["4xx", "503", "504"]

[[operations]]
include-path = "/v1/chat/completions"
checks.positive_data_acceptance.expected-statuses = ["2xx", "400", "404"]
"""
"""503 and 504 are answers that the description names; a body that is too large is refused with 413.

No schema can say that the last message of the user, and not another, has a text: such a chat is refused with 400.
"""
CHAT = """
import json, sys
from openai import OpenAI

client = OpenAI(base_url=sys.argv[1] + "/v1", api_key="any", max_retries=0)
asked = {"model": client.models.list().data[0].id, "messages": [{"role": "user", "content": "Who directed Alien?"}]}
whole = client.chat.completions.create(**asked, temperature=0.1)
chunks = list(client.chat.completions.create(**asked, stream=True))
streamed = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
print(json.dumps([whole.choices[0].message.content, streamed, whole.citations, chunks[-1].citations, len(chunks)]))
"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The programs of an environment with both clients."""
    folder = tmp_path_factory.mktemp("clients")
    subprocess.run([sys.executable, "-m", "venv", "env"], cwd=folder, check=True)
    command = [folder / "env/bin/pip", "install", "-q", "schemathesis==4.32.5", "openai==3.57.0"]
    subprocess.run(command, cwd=folder, check=True)
    yield folder / "env/bin"
    shutil.rmtree(folder / "env")


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """The address of a service over a table."""
    (tmp_path / "films.csv").write_text(FILMS, encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = ["serve", "films.csv", "--set", "expander=bfs", "--port", str(port)]
    server = subprocess.Popen([sys.executable, "-m", "srtk_framework", *command], cwd=tmp_path)
    for _ in range(1200):
        with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/health"):
            break
        time.sleep(0.1)
    yield f"http://127.0.0.1:{port}"
    server.terminate()
    server.wait()


def test_no_request_that_the_description_allows_or_forbids_is_answered_otherwise(
    programs: Path, address: str, tmp_path: Path
) -> None:
    (tmp_path / "schemathesis.toml").write_text(STATUSES, encoding="utf-8")
    options = ["--checks", "all", "--max-examples", "50", "--seed", "1", "--no-color"]
    command = [str(programs / "schemathesis"), "run", f"{address}/schema/openapi.json", *options]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert int(re.findall(r"(\d+) generated", done.stdout)[0]) > 500


def test_the_client_of_openai_reads_an_answer_whole_and_streamed(programs: Path, address: str) -> None:
    command = [str(programs / "python"), "-c", CHAT, address]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    whole, streamed, citations, last, chunks = json.loads(done.stdout)
    assert "[1] Alien - directed by - Ridley Scott" in whole
    assert (streamed, last) == (whole, citations)
    assert chunks > 3
