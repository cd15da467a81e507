"""An agent asks the demo over the Model Context Protocol, by the official client: over stdio and over HTTP.

    OMP_NUM_THREADS=1 python -m benchmarks.service.agents

1. The triples of `retrieve_subgraph` for each question of the demo are those of `srtk run` with the same budget.
2. Sixty hostile calls are sixty errors with a sentence.
3. The CPU time of a server from its start to its answer to `initialize`.
4. A scripted agent makes 200 calls, each after what it found before. They are replayed on a new server, which has no
   network where `unshare -n` can take it away, and compared: texts and structured contents.

Prints JSON, and fails where a triple, an error or a replayed call differs.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml
from mcp import Client, StdioServerParameters

from benchmarks.common import ROOT, srtk
from benchmarks.figures import record_figure
from benchmarks.service.server import served

TRIPLES, CALLS = 20, 200
TOOLS = {
    "ask": ("question",),
    "retrieve_subgraph": ("question",),
    "link": ("text",),
    "expand_entity": ("entity",),
    "find_paths": ("start", "end"),
}
WRONG: tuple[Any, ...] = (None, 3, [], {}, "", "  ", "\t\n", True, ["x"], 1.5)
"""Values that are no text; each tool is called with each of them in each place."""


def recipe(folder: Path) -> Path:
    """Write the recipe of the demo's first page, without what runs beside it."""
    data = yaml.safe_load((ROOT / "recipes/quickstart.yaml").read_text(encoding="utf-8"))
    kept = ("srtk", "knowledge_graph", "entity_linker", "encoder", "path_scorer", "expander")
    path = folder / "demo.yaml"
    path.write_text(yaml.safe_dump({key: data[key] for key in kept}), encoding="utf-8")
    return path


def of_run(file: Path, questions: Path, folder: Path) -> dict[str, list[list[str]]]:
    """Return the triples of `srtk run` by question."""
    out = folder / "ran.jsonl"
    exporters = f"exporters=[{{use: jsonl, path: {out}}}]"
    settings = [f"questions={questions}", exporters, f"output={folder / 'run'}", f"budget.triples={TRIPLES}"]
    _, failed = srtk("run", "--quiet", str(file), *(word for one in settings for word in ("--set", one)))
    if failed:
        raise SystemExit(failed)
    records = map(json.loads, out.read_text(encoding="utf-8").splitlines())
    return {record["question"]: record["triplets"] for record in records}


def over_stdio(file: Path, *before: str) -> StdioServerParameters:
    """Start a server that speaks over its pipes."""
    command = [*before, sys.executable, "-m", "srtk_framework", "serve", str(file), "--mcp"]
    return StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ), cwd=str(ROOT))


async def parity(server: Any, wanted: dict[str, list[list[str]]]) -> int:
    """Count the questions whose triples are those of a run."""
    equal = 0
    async with Client(server) as client:
        for question, triples in wanted.items():
            found = await client.call_tool("retrieve_subgraph", {"question": question, "triples": TRIPLES})
            equal += [fact["ids"] for fact in found.structured_content["facts"]] == triples
    return equal


async def hostile(server: Any) -> tuple[int, int]:
    """Make the hostile calls; return how many there are, and how many are errors with a sentence."""
    calls: list[tuple[str, dict[str, Any]]] = []
    for tool, names in TOOLS.items():
        for place in names:
            calls += [(tool, {**dict.fromkeys(names, "x"), place: value}) for value in WRONG]
    calls = [*calls[:56], ("ask", {}), ("nothing", {}), ("find_paths", {"start": "x"}), ("link", {"texts": ["x"]})]
    typed = 0
    async with Client(server) as client:
        for tool, arguments in calls:
            try:
                found = await client.call_tool(tool, arguments)
                text = found.content[0].text if found.is_error else ""
            except Exception as error:  # noqa: BLE001 - the protocol's own error, for a tool that is not there
                text = f"{type(error).__name__}: {error}"
            good = bool(text.strip()) and "Traceback" not in text
            typed += good
            if not good:
                print(f"no error: {tool} {arguments}", file=sys.stderr)
    return len(calls), typed


def cpu_of_initialize(file: Path) -> float:
    """Return the CPU seconds of a server until it has answered `initialize`."""
    command = over_stdio(file)
    asked = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
    }
    with subprocess.Popen(
        [command.command, *command.args], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(asked) + "\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["result"]["serverInfo"]["name"] == "srtk"
        taken = cpu_seconds(process.pid)
        process.stdin.close()
    return taken


def cpu_seconds(process: int) -> float:
    """Return the CPU seconds of a process so far, on Linux."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def script(server: Any, questions: list[str]) -> list[Any]:
    """Make the calls of a scripted agent: it asks, and looks around at what it found."""
    said: list[Any] = []

    async with Client(server) as client:

        async def call(tool: str, **arguments: Any) -> dict[str, Any]:
            found = await client.call_tool(tool, arguments)
            said.append([tool, arguments, found.content[0].text, found.structured_content])
            return dict(found.structured_content or {})

        await call("describe_graph")
        for question in questions:
            linked = await call("link", text=question)
            found = await call("retrieve_subgraph", question=question, triples=TRIPLES)
            starts = [one["entity"] for one in linked.get("entities", ())]
            ends = [fact["ids"][2] for fact in found.get("facts", ())]
            if starts and ends:
                await call("expand_entity", entity=starts[0])
                await call("find_paths", start=starts[0], end=ends[0], depth=2)
            if len(said) >= CALLS:
                break
    return said[:CALLS]


def main() -> int:
    """Measure, and print the figures."""
    questions = ROOT / "build/demo/questions.jsonl"
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        file = recipe(folder)
        wanted = of_run(file, questions, folder)
        texts = list(wanted)
        figures: dict[str, Any] = {"questions": len(wanted)}
        with served(file, "--mcp", "http") as (address, _):
            http = f"{address}/mcp"
            figures["equal over HTTP"] = asyncio.run(parity(http, wanted))
            before = asyncio.run(script(http, texts))
        figures["equal over stdio"] = asyncio.run(parity(over_stdio(file), wanted))
        figures["hostile calls"], figures["typed errors"] = asyncio.run(hostile(over_stdio(file)))
        figures["CPU s of initialize"] = max(cpu_of_initialize(file) for _ in range(5))
        alone = () if subprocess.run(["unshare", "-n", "true"], check=False).returncode else ("unshare", "-n")
        again = asyncio.run(script(over_stdio(file, *alone), texts))
        figures["without a network"] = bool(alone)
        figures["calls of an agent"] = len(before)
        figures["replayed equal"] = sum(a == b for a, b in zip(before, again, strict=True))
    print(json.dumps(figures, indent=1))
    n = figures["questions"]
    for way in ("HTTP", "stdio"):
        record_figure("demo", f"MCP over {way}", "questions with the triples of a run", figures[f"equal over {way}"], n)
    record_figure("demo", "MCP", "typed errors of hostile calls", figures["typed errors"], figures["hostile calls"])
    record_figure("demo", "MCP", "CPU s of initialize", figures["CPU s of initialize"], 5)
    record_figure("demo", "MCP", "calls replayed equal", figures["replayed equal"], figures["calls of an agent"])
    pairs = [
        ("equal over HTTP", "questions"),
        ("equal over stdio", "questions"),
        ("typed errors", "hostile calls"),
        ("replayed equal", "calls of an agent"),
    ]
    return int(any(figures[one] != figures[all_] for one, all_ in pairs))


if __name__ == "__main__":
    sys.exit(main())
