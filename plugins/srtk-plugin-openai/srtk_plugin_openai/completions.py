"""Replies of a server: bodies under status 200, read as a whole reply or as the error that they report."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from types import NoneType
from typing import Any, Literal

import attrs
from srtk_plugin_web import MalformedError, PartialError, UnavailableError, shortened

_THOUGHTS = re.compile(r"^\s*<think>.*?</think>\s*", re.DOTALL)


@attrs.frozen
class Completion:
    """One whole reply of a server.

    The text is without thoughts between ``<think>`` and ``</think>`` at its start. ``refusal`` is the reason of the
    model or the filter for no reply. Tokens are None where the server does not report them; ``top`` has
    log-probabilities of candidates for the first token.
    """

    text: str
    finish: Literal["stop", "length"] = "stop"
    refusal: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    top: tuple[tuple[str, float], ...] = ()


def completion_of(kind: str, body: bytes) -> Completion:
    """Read the body of a response.

    Raises:
        PartialError: If it is the start of a reply, or has no text.
        MalformedError: If it is something else.
        UnavailableError: If it reports a failure.
    """
    if kind.partition(";")[0].strip() == "text/event-stream" or body.startswith((b"data:", b":")):
        data = _joined(body)
    else:
        data = _parsed(body, kind)
    return _read(data)


def _parsed(body: bytes, kind: str) -> Mapping[str, Any]:
    start = body[:1000].decode("utf-8", "replace")
    if not body.strip():
        raise MalformedError("the reply is empty")
    try:
        data = _loaded(body)
    except ValueError as error:
        if start.lstrip().startswith("{"):
            raise PartialError(f"the reply breaks off ({error})") from error
        raise MalformedError(f"the reply is not JSON ({kind or 'no content type'}): {shortened(start)}") from error
    if not isinstance(data, dict):
        raise MalformedError(f"the reply is not an object: {shortened(start)}")
    _stop_at_error(data)
    return data


def _loaded(text: str | bytes) -> Any:
    """Parse JSON; infinities, which some servers give as log-probabilities, are read."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise MalformedError("the reply is JSON that is nested too deeply") from error


def _stop_at_error(data: Mapping[str, Any]) -> None:
    """Raise the failure that a body reports under status 200, as gateways do."""
    error = data.get("error")
    if error and not data.get("choices"):
        message = error.get("message", error) if isinstance(error, dict) else error
        raise UnavailableError(f"it failed under status 200 and says: {shortened(str(message))}")


def _events(body: bytes) -> Iterator[str]:
    """Yield the data of each whole server-sent event; text after the last blank line is no event."""
    text = body.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    for block in text.split("\n\n")[:-1]:
        lines = [line[5:].removeprefix(" ") for line in block.split("\n") if line.startswith("data:")]
        if lines:
            yield "\n".join(lines)


def _joined(body: bytes) -> Mapping[str, Any]:
    """Put the parts of a streamed reply together, in the form of a reply in one piece."""
    text: list[str] = []
    refusal: list[str] = []
    top: Any = None
    finish, usage, done, choices = None, None, False, False
    for data in _events(body):
        if data.startswith("[DONE]"):
            done = True
            break
        try:
            part = _loaded(data)
        except ValueError as error:
            raise PartialError(f"a part of the streamed reply is not JSON ({error})") from error
        if not isinstance(part, dict):
            raise MalformedError(f"a part of the streamed reply is not an object: {shortened(data)}")
        _stop_at_error(part)
        usage = part.get("usage") or usage
        found = part.get("choices") or []
        if not isinstance(found, list):
            raise MalformedError(f"a part of the streamed reply has no list of choices: {shortened(data)}")
        for choice in found:
            choices = True
            delta = (choice.get("delta") or {}) if isinstance(choice, dict) else None
            words: list[Any] = [None]
            if isinstance(delta, dict):
                words = [delta.get(name) or "" for name in ("content", "refusal")]
            if not all(isinstance(word, str) for word in words):
                raise MalformedError(f"a part of the streamed reply is no text: {shortened(data)}")
            text.append(words[0])
            refusal.append(words[1])
            top = top or choice.get("logprobs")
            finish = choice.get("finish_reason") or finish
    if not done and finish is None:
        raise PartialError("the streamed reply breaks off")
    if not choices:
        return {"choices": [], "usage": usage}
    content = "".join(text) or None
    message = {"content": content, "refusal": "".join(refusal) or None}
    return {"choices": [{"message": message, "finish_reason": finish, "logprobs": top}], "usage": usage}


def _read(data: Mapping[str, Any]) -> Completion:
    choices = data.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise MalformedError("the reply has no choices")
    choice = choices[0]
    message = choice.get("message")
    if not isinstance(message, dict):
        raise MalformedError("the reply has no message")
    content, reason = message.get("content"), choice.get("finish_reason")
    if isinstance(content, list):
        content = _parts(content)
    if not isinstance(content, (str, NoneType)) or not isinstance(reason, (str, NoneType)):
        raise MalformedError(f"the reply is no text: {shortened(repr(content))}, finished by {shortened(repr(reason))}")
    usage = data.get("usage") if isinstance(data.get("usage"), dict) else {}
    tokens_in, tokens_out = _whole((usage or {}).get("prompt_tokens")), _whole((usage or {}).get("completion_tokens"))
    refusal = ""
    if message.get("refusal"):
        refusal = f"the model refuses: {shortened(str(message['refusal']))}"
    elif reason == "content_filter":
        refusal = "the server's content filter holds the reply back"
    elif content is None and reason != "length":
        raise PartialError("the reply holds no text")
    return Completion(
        text=_THOUGHTS.sub("", str(content or ""), count=1),
        finish="length" if reason == "length" else "stop",
        refusal=refusal,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        top=_top(choice.get("logprobs")),
    )


def _parts(content: list[Any]) -> str | None:
    """Join the texts of a reply in parts; None where it has none."""
    texts = [part.get("text") for part in content if isinstance(part, dict)]
    if any(not isinstance(text, (str, NoneType)) for text in texts):
        raise MalformedError(f"the reply has a part that is no text: {shortened(repr(content))}")
    return "".join(text for text in texts if text) if texts else None


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _top(logprobs: Any) -> tuple[tuple[str, float], ...]:
    """Read the candidates for the first token; empty where the server does not report them."""
    tokens = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(tokens, list) or not tokens or not isinstance(tokens[0], dict):
        return ()
    candidates = tokens[0].get("top_logprobs")
    if not isinstance(candidates, list):
        return ()
    return tuple(
        (str(item["token"]), float(item["logprob"]))
        for item in candidates
        if isinstance(item, dict) and "token" in item and _is_finite(item.get("logprob"))
    )


def _is_finite(value: Any) -> bool:
    return isinstance(value, (int, float)) and math.isfinite(value)
