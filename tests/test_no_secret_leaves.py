"""A secret planted in every way that a user may give one, against servers that say it back, is written nowhere."""

from __future__ import annotations

import base64
import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest

from srtk_framework.cli import main
from srtk_framework.values import secrets

SECRET = "Zq7!pLum/Kw93+hidden=0x"
CODED = quote(SECRET, safe="")
FORMS = (
    SECRET,
    CODED,
    quote_plus(SECRET),
    base64.b64encode(f"me:{SECRET}".encode()).decode(),
    base64.b64encode(f"{SECRET}:".encode()).decode(),
    # What is left of it where a message was cut.
    SECRET[:12],
    SECRET[-12:],
    SECRET[5:17],
)
FAST = {"attempts": 1, "deadline": 5.0, "wait": 0.01, "per_second": None}


class Echo(BaseHTTPRequestHandler):
    """Refuses every request, and says what was in it."""

    status = 400

    def _refuse(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        # Messages show the start and the end of what a server says.
        own = {name: value for name, value in self.headers.items() if name[:2].lower() in ("x-", "au")}
        said = f"bad request: {own} {self.path} {dict(self.headers)} {body.decode('utf-8', 'replace')} {own}"
        whole = said.encode()
        self.send_response(self.status)
        self.send_header("content-type", "text/plain")
        self.send_header("content-length", str(len(whole)))
        self.end_headers()
        self.wfile.write(whole)

    do_GET = do_POST = _refuse

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


@pytest.fixture(params=[400, 200])
def server(request: pytest.FixtureRequest) -> Iterator[str]:
    """Start a server that answers with what it was sent; the address is without its scheme."""
    handler = type("Handler", (Echo,), {"status": request.param})
    running = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{running.server_port}"
    running.shutdown()
    running.server_close()


@pytest.fixture(autouse=True)
def nothing_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the secrets of other tests, so that each way must be found on its own."""
    monkeypatch.setattr(secrets, "_known", set())
    monkeypatch.setenv("PLANTED", SECRET)


def sparql(address: str, **more: Any) -> dict[str, Any]:
    return {"use": "sparql", "endpoint": f"http://{address}/sparql", "engine": "oxigraph", "limits": FAST, **more}


Planted = tuple[dict[str, Any], list[str]]
"""What a way adds to the recipe, and to the command's arguments."""

WAYS: dict[str, Callable[[str], Planted]] = {
    "a header": lambda at: ({"knowledge_graph": sparql(at, headers={"Authorization": f"Bearer {SECRET}"})}, []),
    "a header of another name": lambda at: ({"knowledge_graph": sparql(at, headers={"X-Our-Own": SECRET})}, []),
    "a header by environment": lambda at: (
        {"knowledge_graph": sparql(at, headers={"X-Api-Key": {"env": "PLANTED"}})},
        [],
    ),
    "the default of an environment reference": lambda at: (
        {"knowledge_graph": sparql(at, headers={"X-Api-Key": {"env": "NOT_SET_AT_ALL", "default": SECRET}})},
        [],
    ),
    "a variable": lambda at: (
        {"vars": {"mine": SECRET}, "knowledge_graph": sparql(at, headers={"Authorization": "Bearer ${mine}"})},
        [],
    ),
    "an override": lambda at: (
        {"knowledge_graph": sparql(at, headers={})},
        ["--set", f"knowledge_graph.headers.X-Key={SECRET}"],
    ),
    "a login": lambda at: ({"knowledge_graph": sparql(f"me:{CODED}@{at}")}, []),
    "a login of a token alone": lambda at: ({"knowledge_graph": sparql(f"{CODED}@{at}")}, []),
    "a parameter of a URL": lambda at: (
        {"knowledge_graph": {**sparql(at), "endpoint": f"http://{at}/sparql?api_key={CODED}"}},
        [],
    ),
    "a URL in an override": lambda at: (
        {"knowledge_graph": sparql(at)},
        ["--set", f"knowledge_graph.endpoint=http://me:{CODED}@{at}/sparql"],
    ),
    "a URL that is none": lambda at: ({"knowledge_graph": sparql(at, endpoint=f"htps://me:{CODED}@{at}/sparql")}, []),
    "the key of a language model": lambda at: (
        {"generator": {"use": "openai", "model": "m", "base_url": f"http://{at}/v1", "key": SECRET, "limits": FAST}},
        [],
    ),
    "the key of a language model by override": lambda at: (
        {"generator": {"use": "openai", "model": "m", "base_url": f"http://{at}/v1", "limits": FAST}},
        ["--set", f"generator.key={SECRET}"],
    ),
    "a linker's token": lambda at: (
        {"entity_linker": {"use": "tagme", "endpoint": f"http://{at}/tag", "token": SECRET, "limits": FAST}},
        [],
    ),
    "a linker's login": lambda at: (
        {"entity_linker": {"use": "rel", "endpoint": f"http://me:{CODED}@{at}", "limits": FAST}},
        [],
    ),
    "headers of another linker": lambda at: (
        {
            "entity_linker": {
                "use": "wikidata-search",
                "endpoint": f"http://{at}/api.php",
                "headers": {"Authorization": SECRET},
                "limits": FAST,
                "record": "record",
            }
        },
        [],
    ),
    "a token of the wrong type": lambda at: (
        {"entity_linker": {"use": "tagme", "endpoint": f"http://{at}/tag", "token": [SECRET]}},
        [],
    ),
    "a setting that does not exist": lambda at: (
        {"entity_linker": {"use": "dictionary", "password": SECRET}},
        [],
    ),
    "a key of YAML that cannot be read": lambda at: (
        {"entity_linker": {"use": "tagme", "endpoint": f"http://{at}/tag", "token": "!!int-tag"}},
        [],
    ),
    "a flag that does not exist": lambda at: ({}, ["--token", SECRET]),
}

COMMANDS: dict[str, list[str]] = {
    "check": ["check", "RECIPE"],
    "run": ["run", "RECIPE"],
    "run with tracebacks": ["--traceback", "run", "RECIPE"],
    "resume": ["run", "RECIPE", "--resume"],
    "explain": ["explain", "RECIPE", "--quiet", "--json", "explained.jsonl"],
}


def recipe(folder: Path, planted: dict[str, Any]) -> Path:
    """Write a recipe with questions, of which one is linked by the recipe."""
    rows = [
        {"id": "a", "question": "currency of Latvia?", "question_entities": ["latvia"], "answer_entities": ["euro"]},
        {"id": "b", "question": "where is Riga?", "answer_entities": ["latvia"]},
    ]
    data: dict[str, Any] = {
        "srtk": 1,
        "questions": "questions.jsonl",
        "output": "out",
        "knowledge_graph": {"use": "memory", "triples": [["riga", "lies_in", "latvia"], ["latvia", "money", "euro"]]},
        "expander": {"use": "bfs"},
        "exporters": [{"use": "jsonl", "path": "out/subgraphs.jsonl"}, {"use": "html", "path": "out/page.html"}],
        "observers": [{"use": "tracing", "path": "out/trace.jsonl"}],
        "evaluate": True,
    }
    if "generator" in planted:
        data["reader"] = {"use": "llm"}
    if planted.get("knowledge_graph", {}).get("use") == "sparql":
        rows[0] |= {"question_entities": ["http://example.org/latvia"], "answer_entities": ["http://example.org/euro"]}
        data["knowledge_graph"] = {**planted["knowledge_graph"], "record": "record"}
        planted = {key: value for key, value in planted.items() if key != "knowledge_graph"}
    (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    text = json.dumps({**data, **planted}, indent=1)
    path = folder / "recipe.yaml"
    path.write_text(text.replace('"!!int-tag"', f"!!int '{SECRET}'"))
    return path


def leaks(texts: dict[str, str]) -> list[str]:
    """Name the places where a form of the secret stands."""
    return sorted({f"{form} in {where}" for where, text in texts.items() for form in FORMS if form in text})


@pytest.mark.parametrize("way", WAYS)
def test_a_secret_given_in_this_way_is_in_no_file_and_on_no_screen(
    way: str,
    server: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    planted, arguments = WAYS[way](server)
    path = recipe(tmp_path, planted)
    shown: dict[str, str] = {}
    for name, command in COMMANDS.items():
        secrets._known.clear()
        line = [str(path) if word == "RECIPE" else word for word in command]
        with contextlib.suppress(SystemExit):  # argparse refuses a flag
            main([*line, *arguments])
        out, err = capsys.readouterr()
        shown |= {f"the screen of {name}": out, f"the error output of {name}": err}
    written = {
        str(file.relative_to(tmp_path)): file.read_bytes().decode("utf-8", "replace")
        for file in sorted(tmp_path.rglob("*"))
        if file.is_file() and file != path
    }
    assert leaks({**shown, **written}) == []
    assert any(text for text in shown.values())


def test_the_questions_of_a_run_with_a_secret_fail_with_the_servers_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is masked is the secret alone: the reason still reaches the user."""
    handler = type("Handler", (Echo,), {"status": 400})
    running = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    monkeypatch.chdir(tmp_path)
    planted, _ = WAYS["a header"](f"127.0.0.1:{running.server_port}")
    main(["run", str(recipe(tmp_path, planted)), "--quiet"])
    running.shutdown()
    running.server_close()
    rows = [json.loads(line) for line in (tmp_path / "out/journal/bfs.jsonl").read_text().splitlines()]
    error = next(row["error"] for row in rows if row["id"] == "a")
    assert "bad request" in error
    assert "***" in error


def test_short_commands_and_endpoints_on_the_command_line_show_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    handler = type("Handler", (Echo,), {"status": 400})
    running = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    rows = [{"id": "a", "question": "where is Riga?", "question_entities": ["Q1773"]}]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    at = f"127.0.0.1:{running.server_port}"
    lines = [
        ["plugins"],
        ["retrieve", "-i", "in.jsonl", "-o", "o.jsonl", "-kg", "wikidata", "-e", f"http://me:{CODED}@{at}/sparql"],
        ["link", "-i", "in.jsonl", "-o", "l.jsonl", "--service", "rel", "--el-endpoint", f"http://me:{CODED}@{at}"],
        [
            "link",
            "-i",
            "in.jsonl",
            "-o",
            "l.jsonl",
            "-kg",
            "wikidata",
            "--token",
            SECRET,
            "--el-endpoint",
            f"http://{at}",
        ],
        ["nothing", "--token", SECRET],
        ["--traceback", "run", f"http://me:{CODED}@{at}/recipe.yaml"],
    ]
    shown = {}
    for number, line in enumerate(lines):
        secrets._known.clear()
        with contextlib.suppress(SystemExit):
            main(line)
        shown[str(number)] = "".join(capsys.readouterr())
    running.shutdown()
    running.server_close()
    for file in sorted(tmp_path.rglob("*")):
        if file.is_file():
            shown[str(file)] = file.read_text()
    assert leaks(shown) == []
