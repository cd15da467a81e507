"""A server on loopback that speaks the OpenAI chat protocol, answers by a rule, and misbehaves as planned.

In one process with its client: `with serve(rule, latency=0.05) as server: ... server.url ...`. As a process of its
own, so that both have a core: `with process("--latency", "0.05") as url: ...`, or on the command line

    python benchmarks/openai_server.py --latency 0.05 --fault-share 0.2 --rule package.module:function
"""

from __future__ import annotations

import argparse
import importlib
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from typing import Any, NamedTuple

from openai_forms import FAULTS, PERMANENT, UNUSUAL, Rule, instance, plain, said, tokens_of
from openai_handler import Handler
from serving import running

__all__ = [
    "FAULTS",
    "PERMANENT",
    "UNUSUAL",
    "Rule",
    "Seen",
    "Server",
    "instance",
    "plain",
    "process",
    "said",
    "serve",
    "tokens_of",
]


class Seen(NamedTuple):
    """One request: moment of the monotonic clock, path, headers in small letters, body, fault that it got."""

    at: float
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    fault: str | None


class Server(ThreadingHTTPServer):
    """Answers ``POST /v1/chat/completions`` and ``GET /v1/models``.

    Args:
        rule: What answers.
        latency: Seconds from a request to its reply.
        key: The key that it wants; empty for none.
        models: What it has; any other name is answered by 404.
        plan: Faults of the next requests, in order of arrival; None for an ordinary answer. May be changed at any time.
        bad: Word to fault: what a prompt that contains the word always gets.
        share: Of requests that get a fault at random, by the weights of ``faults``.
        faults: Names and weights.
        seed: Of which requests and faults.
        stall: Seconds that a stalled answer takes.
        retry_after: What `Retry-After` says, in seconds.
        context: Most tokens of a prompt; None for no limit.
        forms: Which ``response_format`` types it takes.
        logprobs: Whether it gives log-probabilities; a number rates the options, a function of (body, letter).
        usage: Whether it tells the usage.
        refuses: Fields that it answers by 400, such as ``max_tokens``.
        rate: Requests that it takes in a second before it answers 429; None for any number.
    """

    daemon_threads = True
    request_queue_size = 256

    def __init__(
        self,
        rule: Rule = plain,
        *,
        latency: float = 0.0,
        key: str = "",
        models: Sequence[str] = ("tiny",),
        plan: Sequence[str | None] = (),
        bad: Mapping[str, str] | None = None,
        share: float = 0.0,
        faults: Mapping[str, int] = FAULTS,
        seed: int = 0,
        stall: float = 2.0,
        retry_after: float = 1.0,
        context: int | None = None,
        forms: Sequence[str] = ("json_schema", "json_object", "text"),
        logprobs: Callable[[Mapping[str, Any]], Mapping[str, float]] | None = None,
        usage: bool = True,
        refuses: Sequence[str] = (),
        rate: float | None = None,
        port: int = 0,
    ) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.rule, self.latency, self.key, self.models = rule, latency, key, tuple(models)
        self.plan, self.bad = list(plan), dict(bad or {})
        self.share, self.faults, self.stall, self.retry_after = share, dict(faults), stall, retry_after
        self.context, self.forms, self.logprobs, self.usage = context, tuple(forms), logprobs, usage
        self.refuses, self.rate = tuple(refuses), rate
        self.seen: list[Seen] = []
        self.answered: Counter[str] = Counter()
        """Per last user message, how many whole answers it got."""
        self.served: Counter[str] = Counter()
        """Per fault, how often it came."""
        self.billed = (0, 0)
        """Tokens in and out of all that was generated, whether or not it arrived whole."""
        self.flying = self.most = 0
        """Requests in flight now, and at most."""
        self.connections = 0
        """How many were opened."""
        self.echo = ""
        """What faults under status 200 say besides."""
        self.lock = threading.Lock()
        self._chance = random.Random(seed)
        self._recent: list[float] = []

    @property
    def url(self) -> str:
        """Where it listens: the `base_url` of clients."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Count a connection, and answer what comes over it in a thread."""
        self.connections += 1
        super().process_request(request, client_address)

    def draw(self, body: Mapping[str, Any], path: str, headers: Mapping[str, str]) -> str | None:
        """Note a request, and choose its fault or None."""
        text = said(body)
        with self.lock:
            fault = next((fault for word, fault in self.bad.items() if word in text), None)
            now = time.monotonic()
            if self.rate is not None:
                self._recent = [at for at in self._recent if at > now - 1.0]
                if len(self._recent) >= self.rate:
                    fault = "429, Retry-After"
                else:
                    self._recent.append(now)
            if fault is None and self.plan:
                fault = self.plan.pop(0)
            elif fault is None and self.share and self._chance.random() < self.share:
                fault = self._chance.choices(list(self.faults), list(self.faults.values()))[0]
            if fault is not None:
                self.served[fault] += 1
            self.seen.append(Seen(now, path, headers, body, fault))
            return fault

    def bill(self, tokens_in: int, tokens_out: int) -> None:
        """Count what was generated."""
        with self.lock:
            self.billed = (self.billed[0] + tokens_in, self.billed[1] + tokens_out)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: clients give up where an answer stalls."""


@contextmanager
def serve(rule: Rule = plain, **settings: Any) -> Iterator[Server]:
    """Run a server in a thread of this process; the settings are those of ``Server``."""
    with running(Server(rule, **settings)) as made:
        yield made


@contextmanager
def process(*arguments: str) -> Iterator[str]:
    """Run a server in a process of its own; the arguments are those of the command line. Yields its URL."""
    command = [sys.executable, __file__, *arguments]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    try:
        yield child.stdout.readline().strip()
    finally:
        child.terminate()
        child.wait()
        child.stdout.close()


def main() -> None:
    """Serve until stopped; the first line written is the URL."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds a reply")
    parser.add_argument("--model", action="append", help="name of a model; may be repeated")
    parser.add_argument("--key", default="")
    parser.add_argument("--rule", default="", help="package.module:function that answers")
    parser.add_argument("--fault-share", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    module, _, name = given.rule.partition(":")
    rule = getattr(importlib.import_module(module), name) if module else plain
    server = Server(
        rule,
        port=given.port,
        latency=given.latency,
        models=given.model or ("tiny",),
        key=given.key,
        share=given.fault_share,
        seed=given.seed,
    )
    print(server.url, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
