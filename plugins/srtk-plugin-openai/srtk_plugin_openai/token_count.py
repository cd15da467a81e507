"""Token counts: by tiktoken where it is installed and knows the model, else by the core's estimate."""

from __future__ import annotations

import importlib
import importlib.util
import logging
from collections.abc import Callable
from typing import Any

from srtk_framework.text import count_tokens

_log = logging.getLogger(__name__)

Counter = Callable[[str], int]


def counter_of(model: str) -> tuple[str, Counter]:
    """Return the name and the count of a model's tokenizer: its encoding in tiktoken, else ``estimate``."""
    if importlib.util.find_spec("tiktoken") is None:
        return "estimate", count_tokens
    tiktoken: Any = importlib.import_module("tiktoken")
    requests: Any = importlib.import_module("requests")
    try:
        name = tiktoken.encoding_name_for_model(model)
    except KeyError:
        return "estimate", count_tokens
    try:
        encoding = tiktoken.get_encoding(name)
    except (OSError, requests.RequestException):
        # tiktoken fetches an encoding on its first use.
        _log.warning("the encoding %s of tiktoken cannot be fetched, so tokens are estimated", name)
        return "estimate", count_tokens
    return name, lambda text: len(encoding.encode(text, disallowed_special=()))
