"""The demo behind `srtk serve`: 200 clients at once, the CPU time of an answer, and a worker that is killed.

    OMP_NUM_THREADS=1 python -m benchmarks.service.load [--seconds 60] [--rounds 5]

1. For a minute 200 clients ask one question after the other. Each request gets an answer, or 503 with `Retry-After`,
   which the client keeps to; anything else is lost.
2. The CPU time of the server for an answer, beside a plain loop over a session of the same recipe, which also writes
   record and text of each answer; rounds of both alternate, each over all questions of the demo, after one round that
   is not counted.
3. Of two workers one is killed (`kill -9`) while 64 clients ask. Only requests on the connections of that worker may
   fail, and all clients go on.

Prints JSON, and fails if a request is lost. On Linux.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx
import psutil

from benchmarks.common import ROOT
from benchmarks.figures import record_figure
from benchmarks.service.agents import cpu_seconds, recipe
from benchmarks.service.server import served
from srtk_framework import open as open_recipe
from srtk_framework.records import dumps
from srtk_framework.run import Session, result_of

CLIENTS = 200
WAITING = 100
"""Half of the clients may wait, so that the service has to refuse some."""


async def ask(client: httpx.AsyncClient, question: str) -> str:
    """Ask one question; return what became of it."""
    try:
        response = await client.post("/ask", json={"question": question})
    except httpx.HTTPError as error:
        return type(error).__name__
    if response.status_code == 503 and "Retry-After" in response.headers:
        await asyncio.sleep(float(response.headers["Retry-After"]))
    elif response.status_code == 200 and "triplets" not in response.json():
        return "a body without triples"
    return str(response.status_code)


async def crowd(address: str, questions: Iterator[str], seconds: float) -> Counter[str]:
    """Have all clients ask for a while."""
    end = time.monotonic() + seconds
    counts: Counter[str] = Counter()

    async def client() -> None:
        async with httpx.AsyncClient(base_url=address, timeout=120) as own:
            while time.monotonic() < end:
                counts[await ask(own, next(questions))] += 1

    await asyncio.gather(*(client() for _ in range(CLIENTS)))
    return counts


async def together(address: str, questions: list[str]) -> None:
    """Ask all questions, 32 at a time."""
    left = iter(questions)
    limits = httpx.Limits(max_connections=32, max_keepalive_connections=32)
    async with httpx.AsyncClient(base_url=address, timeout=120, limits=limits) as client:

        async def some() -> None:
            for question in left:
                assert await ask(client, question) == "200"

        await asyncio.gather(*(some() for _ in range(32)))


def loop(session: Session, questions: list[str]) -> None:
    """Answer the questions one after the other, as a program does that has the session itself."""
    for question in questions:
        result = result_of(session, session.retrieve(question)[0])
        dumps({**result.to_record(), "text": result.to_text()})


def cpu(address: str, process: int, file: Path, questions: list[str], rounds: int) -> dict[str, float]:
    """Return the milliseconds of CPU for an answer of the service, and of the loop."""
    taken: dict[str, list[float]] = {"service": [], "loop": []}
    with open_recipe(file) as session:
        for _ in range(rounds + 1):
            before = cpu_seconds(process)
            asyncio.run(together(address, questions))
            taken["service"].append(cpu_seconds(process) - before)
            start = time.process_time()
            loop(session, questions)
            taken["loop"].append(time.process_time() - start)
    return {name: 1000 * statistics.median(values[1:]) / len(questions) for name, values in taken.items()}


def ports_of(process: psutil.Process) -> set[int]:
    """Return the ports of the clients that a process serves."""
    return {one.raddr.port for one in process.net_connections() if one.raddr}


async def killed(address: str, server: int, questions: Iterator[str]) -> dict[str, Any]:
    """Kill one of two workers while clients ask, until each of them has an answer to a request of after that."""
    failed: list[int] = []
    again: set[int] = set()
    gone = asyncio.Event()

    async def client(number: int) -> None:
        port = 0
        await asyncio.sleep(number / 16)  # so that not one worker accepts them all

        async def noted(event: str, data: dict[str, Any]) -> None:
            nonlocal port
            if event == "connection.connect_tcp.complete":
                port = data["return_value"].get_extra_info("client_addr")[1]

        while number not in again:
            async with httpx.AsyncClient(base_url=address, timeout=120) as own:
                try:
                    while number not in again:
                        late, asked = gone.is_set(), {"question": next(questions)}
                        response = await own.post("/ask", json=asked, extensions={"trace": noted})
                        assert response.status_code == 200, response.status_code
                        again.update([number] if late else [])
                except httpx.HTTPError:
                    failed.append(port)

    tasks = [asyncio.create_task(client(number)) for number in range(64)]
    await asyncio.sleep(6)
    serving = [one for one in psutil.Process(server).children() if ports_of(one)]
    worker = min(serving, key=lambda one: len(ports_of(one)))
    worker.suspend()  # so that it accepts nobody between the look and the kill
    ports = ports_of(worker)
    worker.kill()
    gone.set()
    async with asyncio.timeout(300):
        await asyncio.gather(*tasks)
    return {
        "connections of the killed worker": len(ports),
        "requests that failed on them": sum(port in ports for port in failed),
        "requests that failed elsewhere": sum(port not in ports for port in failed),
        "clients answered afterwards": len(again),
    }


def main() -> int:
    """Measure, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60, help="of the crowd (%(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="of service and loop (%(default)s)")
    args = parser.parse_args()
    lines = (ROOT / "build/demo/questions.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line)["question"] for line in lines]
    with tempfile.TemporaryDirectory() as temporary:
        file = recipe(Path(temporary))
        with served(file) as (address, server):
            spent = cpu(address, server.pid, file, questions, args.rounds)
        with served(file, "--waiting", str(WAITING)) as (address, _):
            counts = asyncio.run(crowd(address, cycle(questions), args.seconds))
        with served(file, "--workers", "2") as (address, server):
            asyncio.run(together(address, questions))
            fates = asyncio.run(killed(address, server.pid, cycle(questions)))
    lost = sum(count for fate, count in counts.items() if fate not in ("200", "503"))
    ratio = spent["service"] / spent["loop"]
    shown = {name: round(value, 3) for name, value in spent.items()}
    figures = {"crowd": counts, "lost": lost, "CPU ms": shown, "service / loop": round(ratio, 3), "killed": fates}
    print(json.dumps(figures, indent=1))
    n = sum(counts.values())
    for name, value in (("answers", counts["200"]), ("refusals with Retry-After", counts["503"]), ("lost", lost)):
        record_figure("demo", f"{CLIENTS} clients", name, value, n)
    record_figure("demo", "srtk serve", "CPU ms of an answer", spent["service"], args.rounds * len(questions))
    record_figure("demo", "plain loop", "CPU ms of an answer", spent["loop"], args.rounds * len(questions))
    for name, value in fates.items():
        record_figure("demo", "one of two workers killed", name, value, 64)
    return int(lost > 0 or fates["requests that failed elsewhere"] > 0)


if __name__ == "__main__":
    sys.exit(main())
