"""Format of chats: prompts written as requests that the server accepts, and lists of numbers read from replies."""

from __future__ import annotations

import json
import logging
import re
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import attrs

from srtk_framework.values import Message, Prompt
from srtk_plugin_openai.errors import RefusedPromptError
from srtk_plugin_openai.http_errors import is_about_forms

Structure = Literal["auto", "schema", "object", "none"]
Level = Literal["schema", "object", "none"]

NUMBERS = "numbers"  # Name of the list in a reply that is an object

_LOWER: Mapping[Level, Level] = {"schema": "object", "object": "none"}
_LISTED = 500  # Up to so many options are listed in a schema; more are given as a range

_HALF = re.compile("[\ud800-\udfff]")

_log = logging.getLogger(__name__)


@attrs.frozen
class Wish:
    """Settings of every reply; None leaves temperature and seed to the server."""

    model: str
    temperature: float | None
    seed: int | None
    length: int
    stream: bool
    extra: Mapping[str, Any]


class Dialect:
    """Features that a server accepts, as far as is known; a feature that it refuses is given up."""

    def __init__(self, structure: Structure) -> None:
        self.level: Level = "schema" if structure == "auto" else structure
        self.length = "max_tokens"
        self.reports_usage = True
        self.version = 0
        """Number of features given up so far."""
        self._gives_up = structure == "auto"
        self._lock = threading.Lock()

    def concede(self, body: Mapping[str, Any], error: RefusedPromptError) -> bool:
        """Give up the feature of a request that the server refused; return whether to write the request anew."""
        about = error.about_field
        with self._lock:
            if self.length in body and "max_completion_tokens" in about and "max_completion_tokens" not in body:
                self.length = "max_completion_tokens"
                self.version += 1
                return True
            if "stream_options" in body and "stream_options" in about:
                if self.reports_usage:
                    self._warn("does not report the usage of streamed replies, which is estimated instead")
                    self.version += 1
                self.reports_usage = False
                return True
            form = body.get("response_format")
            if form is None or not is_about_forms(error, body):
                # Another request may have given up the name of the length meanwhile.
                return "max_tokens" in body and self.length != "max_tokens" and "max_tokens" in about
            used: Level = "schema" if form["type"] == "json_schema" else "object"
            if self._gives_up and self.level == used:
                self.level = _LOWER[used]
                self.version += 1
                self._warn(f"accepts no response_format {form['type']}, so `structure: {self.level}` is used")
            return self.level != used

    def given_up(self) -> list[Any]:
        """Return the features given up, as plain data."""
        return [self.level if self._gives_up else None, self.length, self.reports_usage]

    def give_up(self, given_up: Sequence[Any]) -> None:
        """Start without the features that ``given_up`` returned."""
        level, self.length, self.reports_usage = given_up
        if self._gives_up and level is not None:
            self.level = level

    def _warn(self, what: str) -> None:
        _log.warning("the server %s", what)


def body_of(prompt: Prompt, wish: Wish, dialect: Dialect) -> dict[str, Any]:
    """Write the request of a prompt."""
    messages = turns_of(prompt.messages)
    level = dialect.level
    form: dict[str, Any] | None = None
    schema = prompt.schema if not prompt.options else schema_of(len(prompt.options), prompt.least, prompt.most)
    if schema is not None and level == "schema":
        named = {"name": "reply", "schema": dict(schema), "strict": _is_strict(schema)}
        form = {"type": "json_schema", "json_schema": named}
    elif schema is not None and level == "object":
        form = {"type": "json_object"}
        if messages:
            messages[-1]["content"] += _object_words(prompt)
    return whole(messages, prompt.length or wish.length, form, wish, dialect)


def turns_of(messages: Sequence[Message]) -> list[dict[str, str]]:
    """Write messages as requests have them."""
    return [{"role": message.role, "content": _sendable(message.content)} for message in messages]


def whole(
    messages: Sequence[Mapping[str, str]], length: int, form: Mapping[str, Any] | None, wish: Wish, dialect: Dialect
) -> dict[str, Any]:
    """Write a request of messages."""
    body: dict[str, Any] = {"model": wish.model, "messages": list(messages), dialect.length: length}
    if wish.temperature is not None:
        body["temperature"] = wish.temperature
    if wish.seed is not None:
        body["seed"] = wish.seed
    if form is not None:
        body["response_format"] = dict(form)
    if wish.stream:
        body["stream"] = True
        if dialect.reports_usage:
            body["stream_options"] = {"include_usage": True}
    return body | dict(wish.extra)


def schema_of(count: int, least: int, most: int) -> dict[str, Any]:
    """Make the schema of an object with a list of ``least`` to ``most`` numbers from 1 to ``count``."""
    number: dict[str, Any] = {"type": "integer", "enum": list(range(1, count + 1))}
    if count > _LISTED:
        number = {"type": "integer", "minimum": 1, "maximum": count}
    most = min(most, count)
    numbers = {"type": "array", "items": number, "minItems": min(least, most), "maxItems": most}
    return {"type": "object", "properties": {NUMBERS: numbers}, "required": [NUMBERS], "additionalProperties": False}


def text_of(prompt: Prompt, text: str) -> str:
    """Write a reply to a prompt with options as a JSON list, where it is the object that was asked for."""
    if not prompt.options:
        return text
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if isinstance(data, dict) and list(data) == [NUMBERS] and isinstance(data[NUMBERS], list):
        return json.dumps(data[NUMBERS])
    return text


def _object_words(prompt: Prompt) -> str:
    """Describe the form of a schema in words."""
    if prompt.options:
        return f'\n\nReply with a JSON object that has one field, "{NUMBERS}": the list of numbers.'
    return f"\n\nReply with a JSON object of this JSON schema: {json.dumps(prompt.schema, ensure_ascii=False)}"


def _is_strict(schema: Any) -> bool:
    """Return whether every object of a schema requires all of its fields and allows no others."""
    if isinstance(schema, list):
        return all(_is_strict(part) for part in schema)
    if not isinstance(schema, Mapping):
        return True
    if "properties" in schema or schema.get("type") == "object":
        fields = schema.get("properties", {})
        if schema.get("additionalProperties") is not False or set(schema.get("required", ())) != set(fields):
            return False
        return all(_is_strict(part) for part in fields.values())
    return all(_is_strict(part) for part in schema.values())


def _sendable(text: str) -> str:
    """Replace each half character, which no encoding has."""
    return _HALF.sub("\ufffd", text)
