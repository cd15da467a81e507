"""Measures a session shared by many callers: joined calls, latency of a single call, equality of results.

    python -m benchmarks.speed.shared_session

A beam of one hop over a graph in memory is scored by a driver that sleeps for half a second a call, however large
its batch is. One question runs alone through ``retrieve`` and by ``aretrieve``, eight at once through ``aretrieve`` and
threads, and eight while another batch is running. Then, without the pause of the scorer, threads call all methods of
the session and the results are compared with serial calls, and the cost of a call is compared with the same work
without a session. Then the session as a server's engine: 200 clients, half of which leave early; the CPU time of a call
while 20,000 wait; the growth of memory over 100,000 different questions. Prints JSON, and fails if results or numbers
of scorer calls are wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import resource
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import attrs

from benchmarks.figures import record_figure
from srtk_framework.host import Call, Observer
from srtk_framework.roles import PathScorer
from srtk_framework.run import Session
from srtk_framework.values import LateError, Path, Question, Retrieval, Step

TOWNS = 50
TEXTS = [f"Which land does town {i} lie in?" for i in range(TOWNS)]
LIMIT = 0.8
CALLED = {
    "one by retrieve": "one question by retrieve",
    "one by aretrieve": "one question by aretrieve",
    "8 at once by aretrieve": "8 at once by aretrieve",
    "8 threads by retrieve": "8 threads by retrieve",
    "8 while 1 is running": "8 threads while one question is running",
}
"""Calls as the pages name them."""


@attrs.define(eq=False)
class Sleeping(PathScorer):
    """Scores by the relation's name after a pause.

    Attributes:
        seconds: Pause of each call.
    """

    seconds: float
    calls: int = attrs.field(default=0, init=False)

    def score(
        self, questions: Sequence[str], paths: Sequence[Path], candidates: Sequence[Sequence[Step]]
    ) -> list[list[float]]:
        """Sleep, then prefer long names."""
        self.calls += 1
        time.sleep(self.seconds)
        return [[len(step.relation) / 100 for step in row] for row in candidates]


class Overlaps(Observer):
    """Counts hook calls, and the calls that began during a call of another thread."""

    def __init__(self) -> None:
        self.calls = self.overlaps = 0
        self._inside: list[int] = []

    def before(self, call: Call) -> None:
        """Record the thread."""
        self.calls += 1
        self._inside.append(threading.get_ident())
        self.overlaps += len(set(self._inside)) > 1

    def after(self, call: Call, error: BaseException | None) -> None:
        """Remove the thread."""
        self._inside.remove(threading.get_ident())


def session(scorer: Sleeping, observers: Sequence[Observer] = ()) -> Session:
    """Make a session over towns, their lands and mayors."""
    rows = [
        [f"town {i}", relation, f"{kind} {i % 7}"]
        for i in range(TOWNS)
        for relation, kind in (("lies in", "land"), ("has mayor", "mayor"))
    ]
    beam = {"use": "beam", "width": 3, "depth": 1, "choice": None}
    graph = {"use": "memory", "triples": rows}
    return Session.of(graph=graph, linker="dictionary", expander=beam, scorer=scorer, observers=observers)


def timed(scorer: Sleeping, work: Callable[[], Any]) -> dict[str, Any]:
    """Return the seconds and the scorer's calls of some work."""
    calls, start = scorer.calls, time.perf_counter()
    work()
    return {"seconds": round(time.perf_counter() - start, 3), "scorer_calls": scorer.calls - calls}


async def at_once(opened: Session, texts: Sequence[str]) -> list[list[Retrieval]]:
    """Retrieve each text in its own concurrent call."""
    return await asyncio.gather(*(opened.aretrieve(text) for text in texts))


def waits(seconds: float) -> dict[str, dict[str, Any]]:
    """Measure how long calls wait for a slow scorer."""
    scorer = Sleeping(seconds)
    with session(scorer) as opened, ThreadPoolExecutor(16) as pool:

        def while_busy() -> None:
            before, first = scorer.calls, pool.submit(opened.retrieve, TEXTS[0])
            while scorer.calls == before:
                time.sleep(0.001)
            list(pool.map(opened.retrieve, TEXTS[1:9]))
            first.result()

        return {
            "one by retrieve": timed(scorer, lambda: opened.retrieve(TEXTS[0])),
            "one by aretrieve": timed(scorer, lambda: asyncio.run(opened.aretrieve(TEXTS[0]))),
            "8 at once by aretrieve": timed(scorer, lambda: asyncio.run(at_once(opened, TEXTS[:8]))),
            "8 threads by retrieve": timed(scorer, lambda: list(pool.map(opened.retrieve, TEXTS[:8]))),
            "8 while 1 is running": timed(scorer, while_busy),
        }


def calls_of(opened: Session) -> list[Callable[[int], Any]]:
    """Return the methods of a session as functions of a number that selects the questions."""

    def some(i: int) -> list[Question]:
        return [Question(str(k), TEXTS[(i + k) % TOWNS]) for k in range(1 + i % 3)]

    return [
        lambda i: opened.retrieve(some(i)),
        lambda i: opened.retrieve(TEXTS[i % TOWNS], read=False),
        lambda i: list(opened.stream(some(i))),
        lambda i: asyncio.run(opened.aretrieve(some(i))),
        lambda i: opened.link(some(i)),
        lambda i: opened.linked(some(i)),
        lambda i: opened.read(opened.retrieve(some(i), read=False)),
        lambda i: opened.labelled(opened.linked(some(i))),
        lambda i: opened.spent,
    ]


def equality(threads: int, calls: int) -> dict[str, Any]:
    """Compare calls of all methods from several threads with the same calls one after the other."""
    watch = Overlaps()
    with session(Sleeping(0.0), [watch]) as opened, ThreadPoolExecutor(threads) as pool:
        methods = calls_of(opened)
        serial = [methods[i % len(methods)](i) for i in range(calls)]
        together = list(pool.map(lambda i: methods[i % len(methods)](i), range(calls)))
    different = sum(one != other for one, other in zip(serial, together, strict=True))
    return {
        "threads": threads,
        "calls": calls,
        "different": different,
        "hook_calls": watch.calls,
        "overlapping_hook_calls": watch.overlaps,
    }


def cost(calls: int) -> dict[str, float]:
    """Compare the microseconds of a call with the same work without a session's queue."""
    with session(Sleeping(0.0)) as opened:
        method, pipeline = opened.methods["beam"], opened._pipeline
        ways: dict[str, Callable[[int], Any]] = {
            "without": lambda i: pipeline.retrieve([Question("0", TEXTS[i % TOWNS])], method, True),
            "retrieve": lambda i: opened.retrieve(TEXTS[i % TOWNS]),
        }
        taken = dict.fromkeys(ways, 0.0)
        for i in range(calls):
            for name, way in ways.items():
                start = time.perf_counter()
                way(i)
                taken[name] += time.perf_counter() - start

        async def one_by_one() -> None:
            for i in range(calls):
                await opened.aretrieve(TEXTS[i % TOWNS])

        start = time.perf_counter()
        asyncio.run(one_by_one())
        taken["aretrieve"] = time.perf_counter() - start
    return {name: round(1e6 * seconds / calls, 1) for name, seconds in taken.items()}


async def crowd(opened: Session, seconds: float) -> int:
    """Ask from 200 clients, every second of which leaves after a while; return how many are answered."""

    async def client(i: int) -> int:
        return len(await opened.aretrieve(f"{TEXTS[i % TOWNS]} {i}", timeout=seconds if i % 2 else None))

    answers = await asyncio.gather(*(client(i) for i in range(200)), return_exceptions=True)
    return sum(isinstance(answer, int) for answer in answers)


class Answered(Observer):
    """Counts the questions that were answered, also those for which nobody waited any more."""

    def __init__(self) -> None:
        self.questions = 0

    def event(self, name: str, data: Any) -> None:
        """Add a batch."""
        if name == "answered":
            self.questions += data["questions"]


async def queued(opened: Session, calls: int) -> float:
    """Return the microseconds of CPU of a call that is made while others wait, and leaves again."""

    async def leaves(text: str) -> None:
        with contextlib.suppress(LateError):
            await opened.aretrieve(text, timeout=0.0)

    waiting = [asyncio.create_task(opened.aretrieve(text)) for text in TEXTS * (20_000 // TOWNS)]
    while opened.load.waiting < 19_000:
        await asyncio.sleep(0.01)
    start = time.process_time()
    for i in range(calls):
        await leaves(TEXTS[i % TOWNS])
    taken = time.process_time() - start
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    return round(1e6 * taken / calls, 1)


def engine(calls: int) -> dict[str, Any]:
    """Measure the session as a server uses it."""
    counted = Answered()
    with session(Sleeping(0.25), [counted]) as opened:
        delivered = asyncio.run(crowd(opened, 0.5))
    held = Sleeping(3.0)
    with session(held) as opened:
        microseconds = asyncio.run(queued(opened, 2_000))
    with session(Sleeping(0.0)) as opened:

        def ask(numbers: range) -> None:
            for i in numbers:
                opened.retrieve(f"{TEXTS[i % TOWNS]} Asked for the time {i}.")

        ask(range(calls // 10))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        ask(range(calls // 10, calls))
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return {
        "delivered": delivered,
        "computed / delivered": round(counted.questions / delivered, 2),
        "microseconds of a call while 20,000 wait": microseconds,
        "MB grown": round(grown * 1024 / 1e6, 1),
    }


def main() -> int:
    """Run the measurements and print them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.5, help="pause of the scorer, 0.5 by default")
    parser.add_argument("--threads", type=int, default=4, help="threads whose results are compared, 4 by default")
    parser.add_argument("--calls", type=int, default=600, help="calls of these threads, 600 by default")
    parser.add_argument("--questions", type=int, default=100_000, help="different questions of one session")
    args = parser.parse_args()
    slow, equal = waits(args.seconds), equality(args.threads, args.calls)
    served = engine(args.questions)
    figures = {"waits": slow, "limit": LIMIT, "equality": equal, "microseconds": cost(args.calls), "engine": served}
    print(json.dumps(figures, indent=1))
    for name, called in CALLED.items():
        record_figure(called, "one session", "seconds", slow[name]["seconds"], None)
        record_figure(called, "one session", "scorer calls", slow[name]["scorer_calls"], None)
    for name, value in served.items():
        record_figure("session", "as a server's engine", name, value, None)
    wanted = {"one by retrieve": 1, "one by aretrieve": 1, "8 at once by aretrieve": 1, "8 while 1 is running": 2}
    wrong = [name for name, count in wanted.items() if slow[name]["scorer_calls"] != count]
    if wrong or equal["different"] or equal["overlapping_hook_calls"]:
        print(f"wrong: {', '.join(wrong) or 'results of threads'}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
