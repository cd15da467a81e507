"""The command: a service of its own process, stopped gracefully, and workers that fail alone."""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from service import served
from srtk_plugin_serve.serve_command import add_arguments, run

from srtk_framework.values import InputError

ROWS = "film,directed by\nAlien,Ridley Scott\nHeat,Michael Mann\n"
BFS = ["--set", "expander={use: bfs, depth: 1}", "--set", "reader=null"]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "films.csv"
    path.write_text(ROWS, encoding="utf-8")
    return path


def ask(address: str, **headers: str) -> httpx.Response:
    return httpx.post(f"{address}/ask", json={"question": "Who directed Alien?"}, headers=headers, timeout=30)


def test_a_table_is_served_and_an_interrupt_ends_the_service(table: Path, tmp_path: Path) -> None:
    with served(tmp_path, str(table), *BFS) as (address, process):
        assert ask(address).json()["triplets"] == [["Alien", "directed by", "Ridley Scott"]]
    assert process.returncode in (0, -signal.SIGINT, 130)


def test_a_recipe_is_served_with_a_token(tmp_path: Path) -> None:
    recipe = {
        "srtk": 1,
        "knowledge_graph": {"use": "memory", "triples": [["Alien", "directed by", "Ridley Scott"]]},
        "entity_linker": {"use": "dictionary"},
        "expander": {"use": "bfs", "depth": 1},
    }
    path = tmp_path / "recipe.yaml"
    path.write_text(json.dumps(recipe), encoding="utf-8")
    with served(tmp_path, str(path), "--token", "SRTK_TEST_TOKEN") as (address, _):
        assert ask(address).status_code == 401
        assert ask(address, Authorization="Bearer s3cret").json()["triplets"]


@pytest.mark.slow
def test_a_killed_worker_fails_its_own_requests_alone(table: Path, tmp_path: Path) -> None:
    with served(tmp_path, str(table), *BFS, "--workers", "2") as (address, process):
        children = [int(line) for line in _children(process.pid)]
        with ThreadPoolExecutor(8) as pool:
            before = list(pool.map(lambda _: ask(address).status_code, range(40)))
            os.kill(children[-1], signal.SIGKILL)
            after: list[Any] = list(pool.map(lambda _: _status(address), range(80)))
        assert before == [200] * 40
        # What the killed process had taken is lost; everything else is answered.
        assert after.count(200) >= 70
        time.sleep(3)  # the supervisor looks after its children every now and then
        assert [ask(address).status_code for _ in range(10)] == [200] * 10


def _status(address: str) -> int:
    try:
        return ask(address).status_code
    except httpx.HTTPError:
        return 0


def _children(parent: int) -> list[str]:
    found = subprocess.run(["pgrep", "-P", str(parent), "-f", "spawn_main"], capture_output=True, text=True, check=True)
    return found.stdout.split()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nothing.csv"], "there is no file or folder 'nothing.csv'"),
        (["films.csv", "--token", "SRTK_NO_TOKEN"], "that environment variable is not set"),
        (["films.csv", "--workers", "0"], "numbers from 1 on"),
        (["films.csv", "--waiting", "0", "--mcp", "http"], "numbers from 1 on"),
        (["films.csv", "--port", "0"], "a port is a number from 1 to 65535"),
        (["films.csv", "--port", "65536", "--mcp", "http"], "a port is a number from 1 to 65535"),
        (["films.csv", "--host", "192.0.2.1"], "--host 192.0.2.1 --port 8123: "),
        (["films.csv", "--host", "a..b"], "--host a..b --port 8123: is no name of a host; choose another address"),
        (["recipe.yaml", "--port", "8124"], "there is no such recipe"),
    ],
)
def test_a_mistake_is_told_before_anything_is_served(table: Path, arguments: list[str], sentence: str) -> None:
    command = [sys.executable, "-m", "srtk_framework", "serve", *arguments]
    done = subprocess.run(command, cwd=table.parent, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("kind", [[], ["--mcp", "http"]])
def test_a_port_that_is_taken_is_told_before_an_address_is_named(table: Path, kind: list[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        command = [sys.executable, "-m", "srtk_framework", "serve", str(table), "--port", port, *kind]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(f"srtk: error: --host 127.0.0.1 --port {port}: ")


@pytest.mark.parametrize("taken", [0, 1])
def test_each_address_of_a_host_is_tried(table: Path, taken: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        ports = [free.getsockname()[1]] * 2
        ports[taken] = other.getsockname()[1]
        free.close()
        found = [(socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", port)) for port in ports]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **kwargs: found)
        parser = argparse.ArgumentParser()
        add_arguments(parser)
        with pytest.raises(InputError, match="--host localhost --port 8123: "):
            run(parser.parse_args([str(table), "--host", "localhost"]))
