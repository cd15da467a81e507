"""Statuses other than 200: failures that pass, refused prompts, wrong settings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from srtk_plugin_web import RequestError, Response, ThrottledError, UnavailableError, retry_after, shortened

from srtk_plugin_openai.errors import ModelError, RefusedPromptError, SetUpError, TooLongError

_CREDIT = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance")
_LONG = (
    "context_length_exceeded",
    "context length",
    "context window",
    "context size",
    "maximum context",
    "too many tokens",
    "prompt is too long",
    "string_above_max_length",
)
_FORMS = ("response_format", "json_schema", "json_object", "schema", "grammar", "structured output", "guided")
_FILTER = ("content_filter", "content_policy_violation", "content management policy")
_SETTINGS = {
    "temperature": "temperature",
    "seed": "seed",
    "max_tokens": "length",
    "max_completion_tokens": "length",
    "logprobs": "rating",
    "top_logprobs": "rating",
    "model": "model",
}
"""Field of a request to the setting that fills it."""


def error_of(response: Response, keyed: bool) -> RequestError:
    """Make the error of a response whose status is no success."""
    status, wait = response.status, retry_after(response.headers)
    reported = _reported(response.body)
    message, param = shortened(str(reported.get("message") or "")), reported.get("param")
    code = str(reported.get("code") or "")
    says = f" and says: {message}" if message else ""
    words = f"{code} {reported.get('type') or ''} {message}".lower()
    if status == 402 or _names(words, _CREDIT):
        return SetUpError(f"the account has no credit left ({status}){says}; pay it up, or set another `key`")
    if status == 401 or (status == 403 and not _names(words, _FILTER)):
        what = "refuses the key" if keyed else "wants a key, and none is set"
        return SetUpError(f"it {what} ({status}){says}; set `key` to a valid one by {{env: NAME}}")
    if status == 429 or (status == 503 and wait is not None):
        return ThrottledError(f"it wants fewer requests ({status}); lower `workers` or `limits`", wait)
    if status == 413 or _names(words, _LONG):
        return TooLongError(f"the prompt is too long for the model ({status}){says}; shorten it by a budget of tokens")
    if status in (408, 409, 425) or status >= 500:
        return UnavailableError(f"it failed ({status}){says}", wait)
    if status == 404 or code == "model_not_found":
        return ModelError(f"it does not have this model or address ({status}){says}; correct `model` or `base_url`")
    if status == 405 or 300 <= status < 400:
        return SetUpError(
            f"it takes no chats at this address ({status}){says}; correct `base_url`, which often ends in /v1"
        )
    return RefusedPromptError(f"it does not answer this prompt ({status}){says}", f"{param or ''} {words}")


def wrong_setting(error: RefusedPromptError, body: Mapping[str, Any]) -> SetUpError | None:
    """Make the error of a refusal that is about a setting, and so about every prompt."""
    field = error.about_field.partition(" ")[0]
    if field in _SETTINGS and field in body:
        return SetUpError(f"{error.cause}; change the setting `{_SETTINGS[field]}`, or leave it out by null")
    if is_about_forms(error, body):
        return SetUpError(f"{error.cause}; set `structure: auto`")
    return None


def is_about_forms(error: RefusedPromptError, body: Mapping[str, Any]) -> bool:
    """Return whether a server refuses the form that a request wants of the reply."""
    return "response_format" in body and _names(error.about_field, _FORMS)


def _names(text: str, names: Sequence[str]) -> bool:
    return any(name in text for name in names)


def _reported(body: bytes) -> Mapping[str, Any]:
    """Find the error in a body, whatever the server's form of it."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return {"message": body[:1000].decode("utf-8", "replace")}
    if not isinstance(data, dict):
        return {"message": str(data)}
    error = data.get("error", data)
    if isinstance(error, dict):
        return {**error, "message": error.get("message") or error.get("detail") or error.get("error") or ""}
    return {"message": str(error)}
