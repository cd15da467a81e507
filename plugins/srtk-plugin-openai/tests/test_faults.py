"""What the generator does when a server refuses, throttles, hangs, breaks off or talks nonsense."""

from __future__ import annotations

import socketserver
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import pytest
from srtk_plugin_openai.budget import Size
from srtk_plugin_openai.errors import DownError, SetUpError
from srtk_plugin_openai.generator import OpenAIGenerator
from srtk_plugin_openai.limits import ServerLimits

from srtk_framework.values import DriverError, Prompt

Serve = Callable[..., Any]
Make = Callable[..., OpenAIGenerator]
Ask = Callable[..., Prompt]
SECRET = "sk-secret-0123456789"
PASSING = [
    "429",
    "429, Retry-After",
    "429, date",
    "429, ms",
    "500",
    "500, cut midway",
    "503, Retry-After",
    "HTML under 200",
    "empty 200",
    "error under 200",
    "JSON cut midway",
    "connection ends midway",
    "no choices",
    "null content",
    "reset",
    "stall",
    "drip",
]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("fault", PASSING)
def test_what_passes_is_sent_again_and_counted_once(
    serve: Serve, generator: Make, prompt: Ask, fault: str, stream: bool
) -> None:
    server = serve(plan=[fault], retry_after=0.05, stall=4.0)
    made = generator(server, stream=stream, price_in=1.0, price_out=1.0)
    (reply,) = made.generate([prompt("one two")])
    assert (reply.text, reply.error) == ("one two", None)
    assert [seen.fault for seen in server.seen] == [fault, None]
    assert server.answered == {"one two": 1}
    # A reply tells its own size whatever went wrong before; what a server wrote and did not arrive is counted too.
    (alike,) = generator(serve(), stream=stream, price_in=1.0, price_out=1.0).generate([prompt("one two")])
    assert reply == alike
    assert server.billed == attrs.astuple(made.spent)
    assert made.cost == pytest.approx(sum(server.billed) / 1e6)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("workers", [1, 16])
def test_among_all_faults_at_random_no_prompt_is_lost_and_none_is_answered_twice(
    serve: Serve, generator: Make, prompt: Ask, servers: Any, workers: int, stream: bool
) -> None:
    quick = ServerLimits(wait=0.01, wait_most=0.05, deadline=2.0, patience=60.0, attempts=12, failures=30, pause=0.05)
    server = serve(lambda body: servers.said(body)[::-1], share=0.3, seed=5, retry_after=0.05, stall=4.0)
    made = generator(server, workers=workers, stream=stream, limits=quick, price_in=3.0, price_out=7.0)
    texts = [f"prompt {n}" for n in range(80)]
    replies = made.generate([prompt(text) for text in texts])
    assert [(reply.text, reply.error) for reply in replies] == [(text[::-1], None) for text in texts]
    assert server.answered == Counter(texts)
    assert len(server.served) > 6
    told = Size(sum(reply.tokens_in for reply in replies), sum(reply.tokens_out for reply in replies))
    assert server.billed == attrs.astuple(made.spent) == attrs.astuple(told + made.lost)
    assert replies == generator(serve(server.rule), price_in=3.0, price_out=7.0).generate([prompt(t) for t in texts])


def test_a_failed_run_that_is_begun_again_asks_only_what_has_no_reply(
    serve: Serve, generator: Make, prompt: Ask, tmp_path: Path
) -> None:
    server = serve(bad={"bad": "500"})
    cache = str(tmp_path / "replies.db")
    prompts = [prompt(text) for text in ("one", "bad", "two")]
    first = generator(server, cache=cache).generate(prompts)
    assert [reply.error is None for reply in first] == [True, False, True]
    server.bad = {}
    second = generator(server, cache=cache).generate(prompts)
    assert [reply.text for reply in second] == ["one", "bad", "two"]
    assert [reply.cached for reply in second] == [True, False, True]
    assert server.answered == {"one": 1, "bad": 1, "two": 1}


def test_a_prompt_that_always_fails_spoils_no_other_and_is_reported(
    serve: Serve, generator: Make, prompt: Ask, quick: ServerLimits
) -> None:
    server = serve(bad={"poison": "500"})
    replies = generator(server).generate([prompt("one"), prompt("poison"), prompt("two")])
    assert [reply.text for reply in replies] == ["one", "", "two"]
    assert replies[1].error is not None
    assert "it failed (500) and says: try again" in replies[1].error
    assert sum(seen.fault == "500" for seen in server.seen) == quick.attempts


def test_a_rest_that_is_asked_for_is_kept_by_all(serve: Serve, generator: Make, prompt: Ask) -> None:
    server = serve(plan=["429, Retry-After"], retry_after=0.5)
    generator(server, workers=1).generate([prompt(f"word {n}") for n in range(4)])
    refused, *later = server.seen
    assert min(seen.at for seen in later) - refused.at >= 0.5


@pytest.mark.parametrize("fault", ["429, date", "503, Retry-After", "429, ms"])
def test_the_rest_is_read_in_all_its_forms(serve: Serve, generator: Make, prompt: Ask, fault: str) -> None:
    server = serve(plan=[fault], retry_after=2.0 if fault == "429, date" else 0.4)
    generator(server).generate([prompt("one")])
    first, second = server.seen
    assert second.at - first.at >= 0.4


def test_a_server_with_a_limit_of_requests_is_not_stormed(serve: Serve, generator: Make, prompt: Ask) -> None:
    server = serve(rate=20, retry_after=0.3)
    replies = generator(server, workers=16).generate([prompt(f"word {n}") for n in range(60)])
    assert all(reply.error is None for reply in replies)
    assert len(server.seen) <= 3 * 60


def test_requests_a_second_can_be_limited(serve: Serve, generator: Make, prompt: Ask, quick: ServerLimits) -> None:
    made = generator(serve(), limits=attrs.evolve(quick, per_second=20.0, burst=2))
    began = time.monotonic()
    made.generate([prompt(f"word {n}") for n in range(10)])
    assert time.monotonic() - began >= 8 / 20


def test_a_server_that_wants_a_longer_rest_than_there_is_patience_stops_the_prompt_alone(
    serve: Serve, generator: Make, prompt: Ask, quick: ServerLimits
) -> None:
    server = serve(plan=["429, Retry-After"], retry_after=3600)
    (reply,) = generator(server, limits=attrs.evolve(quick, patience=1.0)).generate([prompt("one")])
    assert reply.error is not None
    assert "lower `workers` or `limits`" in reply.error
    assert len(server.seen) == 1


def test_a_prompt_that_is_too_long_has_an_error_and_the_others_have_replies(
    serve: Serve, generator: Make, prompt: Ask
) -> None:
    server = serve(context=20)
    one, long, two = generator(server).generate([prompt("one"), prompt("word " * 30), prompt("two")])
    assert (one.text, two.text) == ("one", "two")
    assert long.text == ""
    assert long.error is not None
    assert "too long for the model (400)" in long.error
    assert len(server.seen) == 3


@pytest.mark.parametrize(("fault", "says"), [("refusal", "the model refuses: I will not"), ("filtered", "filtered by")])
@pytest.mark.parametrize("stream", [False, True])
def test_a_refusal_is_an_error_of_its_prompt(
    serve: Serve, generator: Make, prompt: Ask, fault: str, says: str, stream: bool
) -> None:
    server = serve(bad={"weapon": fault})
    fine, refused = generator(server, stream=stream).generate([prompt("flower"), prompt("weapon")])
    assert fine.text == "flower"
    assert refused.error is not None
    assert says in refused.error
    assert len(server.seen) == 2


@pytest.mark.parametrize(
    ("settings", "server_has", "says"),
    [
        ({"key": SECRET}, {"key": "right"}, r"refuses the key \(401\).*set `key` to a valid one"),
        ({}, {"key": "right"}, r"wants a key, and none is set \(401\)"),
        ({"model": "tinyy"}, {}, r"does not have the model 'tinyy'; it has tiny: correct `model`. Did you mean 'tiny'"),
        ({"key": SECRET}, {"bad": {"": "no credit"}}, r"no credit left \(429\)"),
        ({}, {"bad": {"": "payment"}}, r"no credit left \(402\)"),
        ({}, {"bad": {"": "forbidden"}}, r"\(403\)"),
        ({}, {"bad": {"": "moved"}}, r"correct `base_url`"),
        ({}, {"refuses": ("seed",)}, r"'seed' is not supported.*change the setting `seed`, or leave it out by null"),
        ({"structure": "schema"}, {"forms": ()}, r"set `structure: auto`"),
    ],
)
def test_a_fault_of_every_prompt_is_a_driver_error_with_a_remedy(
    serve: Serve, generator: Make, prompt: Ask, settings: Any, server_has: Any, says: str
) -> None:
    server = serve(**server_has)
    made = generator(server, **{"workers": 2, **settings})
    with pytest.raises(SetUpError, match=says) as caught:
        made.generate([prompt(f"word {n}", "a", "b") for n in range(20)])
    shown: BaseException | None = caught.value
    while shown is not None:
        assert SECRET not in str(shown)
        shown = shown.__context__
    assert len(server.seen) <= 4
    with pytest.raises(DriverError):
        made.generate([prompt("another", "a", "b")])
    assert len(server.seen) <= 4


def test_a_wrong_address_is_reported(serve: Serve, generator: Make, prompt: Ask) -> None:
    server = serve()
    with pytest.raises(SetUpError, match="correct `model` or `base_url`"):
        generator(server, base_url=server.url.removesuffix("/v1")).generate([prompt("one")])


def test_no_server_is_a_driver_error(serve: Serve, generator: Make, prompt: Ask) -> None:
    server = serve()
    server.server_close()
    made = generator(server)
    with pytest.raises(DownError, match="is the server up at http://127"):
        made.generate([prompt(f"word {n}") for n in range(50)])
    with pytest.raises(DownError):
        made.generate([prompt("one")])


def test_a_server_that_only_fails_is_given_up_before_all_prompts_are_tried(
    serve: Serve, generator: Make, prompt: Ask, quick: ServerLimits
) -> None:
    server = serve(bad={"": "500"})
    with pytest.raises(DownError, match=r"it failed \(500\)"):
        generator(server).generate([prompt(f"word {n}") for n in range(200)])
    assert len(server.seen) < 200


def test_a_server_that_is_away_for_a_while_loses_no_prompt(serve: Serve, generator: Make, prompt: Ask) -> None:
    server = serve(plan=["reset"] * 30)
    limits = ServerLimits(wait=0.02, wait_most=0.2, deadline=2.0, patience=60.0, attempts=20, failures=10, pause=0.05)
    replies = generator(server, workers=16, limits=limits).generate([prompt(f"word {n}") for n in range(40)])
    assert [reply.text for reply in replies] == [f"word {n}" for n in range(40)]


def test_after_a_failure_a_server_is_asked_again(
    serve: Serve, generator: Make, prompt: Ask, quick: ServerLimits
) -> None:
    server = serve(bad={"": "500"})
    made = generator(server)
    with pytest.raises(DownError):
        made.generate([prompt(f"word {n}") for n in range(4)])
    server.bad = {}
    time.sleep(quick.pause)
    assert made.generate([prompt("one")])[0].text == "one"


def test_what_stopped_all_is_tried_again_after_a_while_however_often_it_was_asked_meanwhile(
    serve: Serve, generator: Make, prompt: Ask, quick: ServerLimits
) -> None:
    server = serve(bad={"": "reset"})
    made = generator(server, limits=attrs.evolve(quick, attempts=2, pause=0.3))
    with pytest.raises(DownError):
        made.generate([prompt("one")])
    server.bad = {}
    for _ in range(20):
        try:
            (reply,) = made.generate([prompt("one")])
        except DownError:
            time.sleep(0.1)
        else:
            break
    assert reply.text == "one"
    assert len(server.seen) == 3


@pytest.mark.parametrize("fault", ["HTML under 200", "error under 200"])
def test_a_key_that_a_server_echoes_is_not_shown(serve: Serve, generator: Make, prompt: Ask, fault: str) -> None:
    server = serve(bad={"": fault})
    server.echo = SECRET
    with pytest.raises(DownError) as caught:
        generator(server, key=SECRET).generate([prompt(f"word {n}") for n in range(4)])
    assert "***" in str(caught.value)
    assert SECRET not in str(caught.value)


def test_paid_replies_are_not_thrown_away_when_the_key_is_withdrawn(serve: Serve, generator: Make, prompt: Ask) -> None:
    server = serve(plan=[None, None], key="right")

    def rule(body: Any) -> str:
        server.key = "other"
        return "fine"

    server.rule = rule
    made = generator(server, key="right", workers=1)
    first, second = made.generate([prompt("one"), prompt("two")])
    assert first.text == "fine"
    assert second.error is not None
    assert "refuses the key" in second.error
    with pytest.raises(SetUpError):
        made.generate([prompt("three")])


@pytest.fixture
def answering() -> Iterator[Callable[[bytes], Any]]:
    """Return what starts a server that answers every request by the same bytes, and closes the connection."""
    with ExitStack() as stack:

        def start(answer: bytes) -> Any:
            class Handler(socketserver.StreamRequestHandler):
                def handle(self) -> None:
                    head = b"".join(iter(self.rfile.readline, b"\r\n"))
                    size = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length"))
                    self.rfile.read(int(size.split(b":")[1]))
                    with suppress(OSError):
                        self.wfile.write(answer)

            server = stack.enter_context(socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler))
            server.daemon_threads = True
            threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
            stack.callback(server.shutdown)
            return SimpleNamespace(url=f"http://127.0.0.1:{server.server_address[1]}/v1")

        yield start


def test_a_prompt_is_not_sent_on_to_another_server(
    serve: Serve, generator: Make, prompt: Ask, answering: Callable[[bytes], Any]
) -> None:
    other = serve()
    place = f"{other.url}/chat/completions".encode()
    here = answering(b"HTTP/1.1 307 Go\r\nLocation: " + place + b"\r\nContent-Length: 0\r\n\r\n")
    with pytest.raises(SetUpError, match="correct `base_url`"):
        generator(here, key=SECRET).generate([prompt("one")])
    assert not other.seen


@pytest.mark.parametrize("body", [b"null", b"[]", b'{"choices":' * 100_000, b'{"choices": [null]}', b"1" * 10_000])
def test_json_that_is_no_reply_is_an_error_of_its_prompt(
    generator: Make, prompt: Ask, answering: Callable[[bytes], Any], quick: ServerLimits, body: bytes
) -> None:
    here = answering(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + body)
    (reply,) = generator(here, limits=attrs.evolve(quick, attempts=2)).generate([prompt("one")])
    assert reply.error
    assert reply.text == ""
