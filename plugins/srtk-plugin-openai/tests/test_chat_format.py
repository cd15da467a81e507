"""How replies are kept to a list of numbers or another form, and what happens where a server takes no such form."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_openai.chat_format import schema_of
from srtk_plugin_openai.generator import OpenAIGenerator

from srtk_framework.values import Prompt

Serve = Callable[..., Any]
Make = Callable[..., OpenAIGenerator]
Ask = Callable[..., Prompt]
TOWN = {
    "type": "object",
    "properties": {"town": {"type": "string"}},
    "required": ["town"],
    "additionalProperties": False,
}


def forms(server: Any) -> list[str | None]:
    return [(seen.body.get("response_format") or {}).get("type") for seen in server.seen]


def test_options_become_a_schema_of_a_list_of_their_numbers(serve: Serve, generator: Make, prompt: Ask) -> None:
    server = serve()
    (reply,) = generator(server).generate([prompt("choose", "a", "b", "c", least=2, most=3)])
    assert reply.text == "[1, 2]"
    form = server.seen[0].body["response_format"]["json_schema"]
    assert form["strict"] is True
    assert form["schema"] == {
        "type": "object",
        "properties": {
            "numbers": {"type": "array", "items": {"type": "integer", "enum": [1, 2, 3]}, "minItems": 2, "maxItems": 3}
        },
        "required": ["numbers"],
        "additionalProperties": False,
    }


@given(st.integers(1, 2000), st.integers(0, 5), st.integers(1, 50))
def test_the_schema_of_numbers_can_always_be_met(count: int, least: int, most: int) -> None:
    numbers = schema_of(count, least, most)["properties"]["numbers"]
    assert 0 <= numbers["minItems"] <= numbers["maxItems"] <= count
    items = numbers["items"]
    assert items.get("enum", [items.get("minimum"), items.get("maximum")])[-1] == count


def test_a_free_reply_has_no_form_or_that_of_its_prompt(serve: Serve, generator: Make, prompt: Ask) -> None:
    server = serve()
    loose = {"type": "object", "properties": {"town": {"type": "string"}}}
    replies = generator(server, workers=1).generate(
        [prompt("hello"), prompt("where", schema=TOWN), prompt("there", schema=loose)]
    )
    assert [reply.text for reply in replies] == ["hello", '{"town": "text"}', '{"town": "text"}']
    assert forms(server) == [None, "json_schema", "json_schema"]
    strict = [seen.body["response_format"]["json_schema"]["strict"] for seen in server.seen[1:]]
    assert strict == [True, False]


@pytest.mark.parametrize(
    ("takes", "tried"),
    [
        (("json_schema",), ["json_schema"]),
        (("json_object",), ["json_schema", "json_object"]),
        ((), ["json_schema", "json_object", None]),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_auto_takes_the_first_form_that_the_server_takes_and_remembers_it(
    serve: Serve, generator: Make, prompt: Ask, caplog: pytest.LogCaptureFixture, takes: Any, tried: Any, stream: bool
) -> None:
    server = serve(lambda body: '{"numbers": [2]}' if body.get("response_format") else "[2]", forms=takes)
    made = generator(server, workers=1, stream=stream)
    replies = made.generate([prompt(f"choose {n}", "a", "b") for n in range(3)])
    assert [reply.text for reply in replies] == ["[2]"] * 3
    assert forms(server) == [*tried, tried[-1], tried[-1]]
    assert len([record for record in caplog.records if record.levelno >= logging.WARNING]) == len(tried) - 1


def test_many_at_once_give_way_together(serve: Serve, generator: Make, prompt: Ask) -> None:
    server = serve(lambda body: "[2]", forms=(), latency=0.01)
    replies = generator(server, workers=8).generate([prompt(f"choose {n}", "a", "b") for n in range(30)])
    assert [reply.text for reply in replies] == ["[2]"] * 30
    assert len(server.answered) == 30
    assert set(server.answered.values()) == {1}


@pytest.mark.parametrize("fixed", ["schema", "object", "none"])
def test_a_fixed_form_is_used_and_no_other(serve: Serve, generator: Make, prompt: Ask, fixed: str) -> None:
    server = serve(lambda body: "[1]")
    generator(server, structure=fixed).generate([prompt("choose", "a", "b")])
    assert forms(server) == [{"schema": "json_schema", "object": "json_object", "none": None}[fixed]]


def test_an_object_is_asked_for_in_words_too(serve: Serve, generator: Make, prompt: Ask) -> None:
    server = serve()
    generator(server, structure="object", workers=1).generate(
        [prompt("choose", "a", "b"), prompt("where", schema=TOWN)]
    )
    first, second = (seen.body["messages"][-1]["content"] for seen in server.seen)
    assert first.endswith('Reply with a JSON object that has one field, "numbers": the list of numbers.')
    assert json.dumps(TOWN) in second


def test_what_a_server_does_not_take_is_remembered_over_runs(
    serve: Serve, generator: Make, prompt: Ask, tmp_path: Path
) -> None:
    server = serve(lambda body: "[2]", forms=(), refuses=("max_tokens",))
    cache = str(tmp_path / "replies.db")
    generator(server, cache=cache).generate([prompt("choose", "a", "b")])
    asked = len(server.seen)
    (reply,) = generator(server, cache=cache).generate([prompt("choose again", "a", "b")])
    (offline,) = generator(server, cache=cache, offline=True).generate([prompt("choose", "a", "b")])
    assert reply.text == offline.text == "[2]"
    assert len(server.seen) == asked + 1


def test_a_server_with_another_name_for_the_length_is_given_that(serve: Serve, generator: Make, prompt: Ask) -> None:
    server = serve(refuses=("max_tokens",))
    made = generator(server, workers=1)
    assert [reply.text for reply in made.generate([prompt("one two three", length=2), prompt("two")])] == [
        "one two",
        "two",
    ]
    assert len(server.seen) == 3
    assert server.seen[-1].body["max_completion_tokens"] == 512


def test_a_server_without_usage_of_streams_is_not_asked_for_it(serve: Serve, generator: Make, prompt: Ask) -> None:
    server = serve(refuses=("stream_options",))
    one, two = generator(server, stream=True, workers=1).generate([prompt("one"), prompt("two")])
    assert (one.text, two.text) == ("one", "two")
    assert one.tokens_in > 0
    assert one.tokens_out == 1
    assert len(server.seen) == 3


def test_a_reply_that_is_no_list_is_passed_on_as_it_is(serve: Serve, generator: Make, prompt: Ask) -> None:
    server = serve(lambda body: "the second one, I think")
    assert generator(server).generate([prompt("choose", "a", "b")])[0].text == "the second one, I think"
