"""Replies of a server under status 200, read within the limits of JSON."""

from __future__ import annotations

import json

import pytest
from srtk_plugin_openai.chat_format import text_of
from srtk_plugin_openai.completions import completion_of
from srtk_plugin_web import MalformedError, PartialError

from srtk_framework.values import Message, Prompt

EVENTS = "text/event-stream"


@pytest.mark.parametrize("body", ["[" * 100_000, '{"choices":' * 100_000])
def test_a_reply_that_nests_too_deeply_is_malformed(body: str) -> None:
    with pytest.raises(MalformedError, match="nested too deeply"):
        completion_of("application/json", body.encode())
    with pytest.raises(MalformedError, match="nested too deeply"):
        completion_of(EVENTS, f"data: {body}\n\n".encode())


def test_a_number_of_too_many_digits_is_a_broken_reply() -> None:
    body = '{"choices": [], "usage": {"prompt_tokens": ' + "1" * 5000 + "}}"
    with pytest.raises(PartialError):
        completion_of("application/json", body.encode())


@pytest.mark.parametrize("tokens", ["1e999", "-1", "1.5", "null", '"7"', "[]"])
def test_odd_counts_of_tokens_are_no_counts(tokens: str) -> None:
    body = '{"choices": [{"message": {"content": "yes"}}], "usage": {"prompt_tokens": ' + tokens + "}}"
    found = completion_of("application/json", body.encode())
    assert (found.text, found.tokens_in) == ("yes", None)


def test_a_text_that_nests_too_deeply_stays_a_text() -> None:
    prompt = Prompt((Message("user", "which?"),), options=("a", "b"))
    text = "[" * 100_000
    assert text_of(prompt, text) == text
    assert json.loads(text_of(prompt, '{"numbers": [2]}')) == [2]
