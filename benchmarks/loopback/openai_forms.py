"""Responses of the loopback server of the OpenAI chat protocol: faults, refusals, rule-based replies."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

FAULTS: Mapping[str, int] = {
    "429": 6,
    "429, Retry-After": 2,
    "500": 6,
    "503, Retry-After": 2,
    "HTML under 200": 4,
    "empty 200": 4,
    "error under 200": 4,
    "JSON cut midway": 6,
    "connection ends midway": 6,
    "no choices": 4,
    "reset": 6,
    "stall": 1,
}
"""Faults that pass, and how often each comes relative to the others when they come at random."""

PERMANENT: Mapping[str, tuple[int, str, str | None, str | None]] = {
    "bad key": (401, "Incorrect API key provided: {key}", "invalid_api_key", None),
    "forbidden": (403, "This key may not use the model", "model_not_allowed", None),
    "no credit": (429, "You exceeded your current quota, please check your plan", "insufficient_quota", None),
    "payment": (402, "Insufficient balance", None, None),
    "context": (400, "maximum context length is 64 tokens, you sent {tokens}", "context_length_exceeded", "messages"),
    "filtered": (400, "The prompt was filtered by the content policy", "content_filter", "prompt"),
    "moved": (405, "Method not allowed", None, None),
}
"""Refusals that do not pass: status, message, code, parameter."""

UNUSUAL = ("429, date", "429, ms", "500, cut midway", "drip", "null content", "refusal", "cut at length")
"""Further behaviour that a plan may name."""

Rule = Callable[[Mapping[str, Any]], str]
"""What answers: the request's body to the reply's text. ``RuleError`` is what it may raise."""


def said(body: Mapping[str, Any]) -> str:
    """Return the last user message of a request."""
    return next((str(m["content"]) for m in reversed(body.get("messages", ())) if m.get("role") == "user"), "")


def plain(body: Mapping[str, Any]) -> str:
    """Answer by the smallest value that fits the schema of the request, else by the last user message."""
    form = body.get("response_format") or {}
    if form.get("type") == "json_schema":
        return json.dumps(instance(form["json_schema"]["schema"]))
    return json.dumps({"said": said(body)}) if form.get("type") == "json_object" else said(body)


def instance(schema: Mapping[str, Any]) -> Any:
    """Make the smallest value that fits a JSON schema of the plain sort."""
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "object":
        return {name: instance(part) for name, part in schema.get("properties", {}).items()}
    if kind == "array":
        least, items = schema.get("minItems", 0), schema.get("items", {})
        return list(items["enum"][:least]) if "enum" in items else [instance(items) for _ in range(least)]
    return {"integer": schema.get("minimum", 0), "number": 0.0, "boolean": True, "null": None}.get(str(kind), "text")


def tokens_of(text: str) -> list[str]:
    """Cut a text into what this server counts as tokens; joined they are the text."""
    return re.findall(r"\s*(?:\w+|[^\w\s])|\s+$", text)


def body_of(
    model: str, text: str | None, reason: str, usage: Any, refusal: str | None, logprobs: Any
) -> dict[str, Any]:
    """Make an unstreamed reply; ``usage`` is left out where it is None."""
    message = {"role": "assistant", "content": text, "refusal": refusal}
    choice = {"index": 0, "message": message, "finish_reason": reason, "logprobs": logprobs}
    body = {"id": "chat-0", "object": "chat.completion", "created": 0, "model": model, "choices": [choice]}
    return body if usage is None else {**body, "usage": usage}


def events_of(model: str, pieces: Sequence[str], reason: str, usage: Any, refusal: str | None) -> list[bytes]:
    """Make a streamed reply of server-sent events; a comment precedes them, as on some servers."""

    def event(choices: list[Any], more: Mapping[str, Any]) -> bytes:
        head = {"id": "chat-0", "object": "chat.completion.chunk", "created": 0, "model": model}
        return f"data: {json.dumps({**head, 'choices': choices, **more})}\n\n".encode()

    def delta(part: Mapping[str, Any], finish: str | None) -> bytes:
        return event([{"index": 0, "delta": dict(part), "finish_reason": finish, "logprobs": None}], {})

    events = [b": a comment\n\n", delta({"role": "assistant"}, None)]
    events += [delta({"content": piece}, None) for piece in pieces]
    events += [] if refusal is None else [delta({"refusal": refusal}, None)]
    events.append(delta({}, reason))
    events += [] if usage is None else [event([], {"usage": usage})]
    return [*events, b"data: [DONE]\n\n"]
