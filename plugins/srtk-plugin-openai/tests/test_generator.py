"""What the generator says to a server and makes of its replies, when all goes well."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest
from srtk_plugin_openai.budget import NOTHING, Size
from srtk_plugin_openai.generator import OpenAIGenerator
from srtk_plugin_web import NotCachedError

from srtk_framework.recipe import load
from srtk_framework.values import DriverError, InputError, Prompt, Reply

Serve = Callable[..., Any]
Make = Callable[..., OpenAIGenerator]
Ask = Callable[..., Prompt]
SECRET = "sk-secret-0123456789"


@pytest.mark.parametrize("stream", [False, True])
def test_a_prompt_gets_the_words_of_the_server_and_its_usage(
    serve: Serve, generator: Make, prompt: Ask, stream: bool
) -> None:
    server = serve()
    made = generator(server, stream=stream, price_in=2.0, price_out=10.0)
    (reply,) = made.generate([prompt('Where is “Rīga”?\n"here"')])
    assert reply == Reply('Where is “Rīga”?\n"here"', tokens_in=18, tokens_out=9, cost=0.000126)
    assert server.billed == (18, 9)
    assert made.spent == Size(18, 9)
    assert made.cost == 0.000126


def test_the_request_is_that_of_the_protocol(serve: Serve, generator: Make, prompt: Ask) -> None:
    server = serve()
    generator(server, key=SECRET, extra={"top_p": 0.5}).generate([prompt("hello", length=7)])
    (seen,) = server.seen
    assert seen.path == "/v1/chat/completions"
    assert seen.headers["authorization"] == f"Bearer {SECRET}"
    assert "srtk-plugin-openai" in seen.headers["user-agent"]
    assert seen.body == {
        "model": "tiny",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hello"}],
        "max_tokens": 7,
        "temperature": 0.0,
        "seed": 0,
        "top_p": 0.5,
    }


def test_what_is_null_is_not_sent(serve: Serve, generator: Make, prompt: Ask) -> None:
    server = serve()
    generator(server, temperature=None, seed=None).generate([prompt("hello")])
    assert {"temperature", "seed"}.isdisjoint(server.seen[0].body)


def test_without_a_key_none_is_sent_whatever_the_environment_holds(
    serve: Serve, generator: Make, prompt: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, SECRET)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    server = serve()
    assert generator(server).generate([prompt("hello")])[0].text == "hello"
    assert SECRET not in str(server.seen[0].headers)
    assert "authorization" not in server.seen[0].headers


def test_the_key_is_shown_nowhere(serve: Serve, generator: Make, prompt: Ask, tmp_path: Path) -> None:
    made = generator(serve(), key=SECRET, cache=str(tmp_path / "replies.db"))
    made.generate([prompt("hello")])
    made.close()
    assert SECRET not in made.fingerprint() + repr(made)
    assert all(SECRET.encode() not in file.read_bytes() for file in tmp_path.iterdir())


def test_a_recipe_takes_the_key_from_the_environment_and_does_not_write_it_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THE_KEY", SECRET)
    path = tmp_path / "recipe.yaml"
    path.write_text(
        "srtk: 1\ngenerator: {use: openai, model: tiny, key: {env: THE_KEY}}\n"
        "knowledge_graph: {use: memory, triples: [[a, b, c]]}\nexpander: {use: bfs}\n",
        encoding="utf-8",
    )
    recipe = load(path)
    assert SECRET not in json.dumps(recipe.written)
    assert os.environ["THE_KEY"] == SECRET


def test_what_decides_the_replies_is_in_the_fingerprint_and_nothing_else() -> None:
    def of(**settings: Any) -> str:
        return OpenAIGenerator(**{"model": "tiny", **settings}).fingerprint()

    one = of()
    for same in (
        {"key": "k"},
        {"workers": 3},
        {"cache": "c.db"},
        {"price_in": 1.0},
        {"max_tokens_total": 5},
        {"stream": True},
    ):
        assert of(**same) == one, same
    for other in (
        {"model": "big"},
        {"temperature": 1.0},
        {"seed": 1},
        {"base_url": "http://x/v1"},
        {"extra": {"top_p": 1}},
    ):
        assert of(**other) != one, other


@pytest.mark.parametrize("workers", [1, 8])
def test_replies_stand_in_the_order_of_prompts_whatever_comes_first(
    serve: Serve, generator: Make, prompt: Ask, workers: int
) -> None:
    def rule(body: Any) -> str:
        text = str(body["messages"][-1]["content"])
        time.sleep(0.03 if text.endswith(("0", "3")) else 0.0)
        return text.upper()

    server = serve(rule)
    replies = generator(server, workers=workers).generate([prompt(f"word {n}") for n in range(20)])
    assert [reply.text for reply in replies] == [f"WORD {n}" for n in range(20)]
    assert server.most <= workers


def test_requests_are_in_flight_side_by_side_up_to_the_number_of_workers(
    serve: Serve, generator: Make, prompt: Ask
) -> None:
    server = serve(latency=0.1)
    generator(server, workers=5).generate([prompt(f"word {n}") for n in range(20)])
    assert server.most == 5


@pytest.mark.parametrize("stream", [False, True])
def test_there_is_one_connection_for_each_request_in_flight_and_it_is_used_again(
    serve: Serve, generator: Make, prompt: Ask, stream: bool
) -> None:
    server = serve(latency=0.02)
    made = generator(server, workers=3, stream=stream)
    for start in (0, 20):
        made.generate([prompt(f"number {i}") for i in range(start, start + 20)])
    assert server.most == server.connections == 3


def test_a_query_in_the_address_is_sent_with_every_chat(serve: Serve, generator: Make, prompt: Ask) -> None:
    server = serve()
    with pytest.raises(DriverError):  # this server knows no queries
        generator(server, base_url=f"{server.url}?version=2").generate([prompt("hello")])
    assert server.seen[0].path == "/v1/chat/completions?version=2"


def test_equal_prompts_are_asked_once_and_paid_once(serve: Serve, generator: Make, prompt: Ask) -> None:
    server = serve()
    made = generator(server, price_in=1.0)
    first, other, again = made.generate([prompt("one"), prompt("two"), prompt("one")])
    (later,) = made.generate([prompt("one")])
    assert [reply.cached for reply in (first, other, again, later)] == [False, False, True, True]
    assert again == later == attrs.evolve(first, cached=True) == Reply("one", None, "stop", 10, 1, 0.00001, True)
    assert len(server.seen) == 2
    # What was paid is counted once.
    assert (made.spent.tokens_in, made.spent.tokens_out) == server.billed == (20, 2)
    assert made.cost == 0.00002


def test_a_reply_cut_at_its_maximum_length_is_marked(serve: Serve, generator: Make, prompt: Ask) -> None:
    made = generator(serve(), length=3)
    short, long = made.generate([prompt("one two"), prompt("one two three four")])
    assert (short.text, short.finish) == ("one two", "stop")
    assert (long.text, long.finish) == ("one two three", "length")


def test_thoughts_before_the_reply_are_left_out(serve: Serve, generator: Make, prompt: Ask) -> None:
    server = serve(lambda body: "<think>\nmaybe [2]\n</think>\n\n[1]")
    assert generator(server).generate([prompt("choose", "a", "b")])[0].text == "[1]"


@pytest.mark.parametrize("stream", [False, True])
def test_without_usage_tokens_are_estimated(serve: Serve, generator: Make, prompt: Ask, stream: bool) -> None:
    (reply,) = generator(serve(usage=False), stream=stream).generate([prompt("one two")])
    assert reply.tokens_in > 4
    assert reply.tokens_out == 2


def test_half_characters_are_sent_as_marks(serve: Serve, generator: Make, prompt: Ask) -> None:
    assert generator(serve()).generate([prompt("a\ud83d b")])[0].text == "a\ufffd b"


def test_replies_of_an_earlier_run_are_read_from_the_file_are_the_same_and_nothing_is_paid(
    serve: Serve, generator: Make, prompt: Ask, tmp_path: Path
) -> None:
    server = serve()
    cache = str(tmp_path / "deep" / "replies.db")
    prompts = [prompt("one"), prompt("choose", "a", "b")]
    first = generator(server, cache=cache, price_in=1.0)
    told = first.generate(prompts)
    first.close()
    second = generator(server, cache=cache, price_in=1.0, stream=True, key="other", workers=2)
    again = second.generate(prompts)
    assert again == [attrs.evolve(reply, cached=True) for reply in told]
    assert (second.spent, second.cost) == (NOTHING, 0.0)
    assert len(server.seen) == 2


@pytest.mark.parametrize(
    "other", [{"temperature": 0.5}, {"seed": 1}, {"length": 5}, {"extra": {"top_p": 0.5}}, {"model": "big"}]
)
def test_another_request_is_not_answered_from_the_file(
    serve: Serve, generator: Make, prompt: Ask, tmp_path: Path, other: dict[str, Any]
) -> None:
    server = serve(models=("tiny", "big"))
    cache = str(tmp_path / "replies.db")
    for settings in ({}, other):
        generator(server, cache=cache, **settings).generate([prompt("one")])
    assert len(server.seen) == 2


def test_offline_the_file_answers_alone(serve: Serve, generator: Make, prompt: Ask, tmp_path: Path) -> None:
    server = serve()
    cache = str(tmp_path / "replies.db")
    generator(server, cache=cache).generate([prompt("one")])
    known, unknown = generator(server, cache=cache, offline=True).generate([prompt("one"), prompt("two")])
    assert known.text == "one"
    assert unknown.error == str(NotCachedError("the file of `cache` has no reply to this prompt; run once online"))
    assert len(server.seen) == 1


def test_a_file_that_is_no_database_is_an_input_error(serve: Serve, generator: Make, tmp_path: Path) -> None:
    (tmp_path / "replies.db").write_text("no database, and long enough to be seen as none " * 9, encoding="utf-8")
    with pytest.raises(InputError, match="give another file to `cache`"):
        generator(serve(), cache=str(tmp_path / "replies.db"))


def test_tokens_are_estimated_where_no_tokenizer_is_known(serve: Serve, generator: Make) -> None:
    assert generator(serve()).count_tokens(["", "Where is Riga?"]) == [0, 4]


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"workers": 0}, "workers must be at least 1"),
        ({"max_cost": 1.0}, "max_cost needs price_in"),
        ({"max_tokens_total": 0}, "max_tokens_total must be at least 1"),
        ({"offline": True}, "name it by `cache`"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        OpenAIGenerator(**{"model": "tiny", **settings})


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"base_url": "localhost:8000/v1"}, "is not an http or https URL"),
        ({"base_url": "http://me:pass@localhost/v1"}, "holds a login"),
        ({"key": "ключ"}, "set `key` to the key alone"),
    ],
)
def test_settings_that_do_not_work_are_refused_on_open(settings: dict[str, Any], says: str) -> None:
    made = OpenAIGenerator(**{"model": "tiny", **settings})
    with pytest.raises(DriverError, match=says) as caught:
        made.open()
    made.close()
    assert "pass" not in str(caught.value)


def test_nothing_is_sent_by_opening(serve: Serve, generator: Make, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    server = serve()
    assert generator(server).generate([]) == []
    assert server.seen == []
