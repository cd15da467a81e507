"""Token counts: by tiktoken where it is installed and knows the model, else by the core's estimate."""

from __future__ import annotations

import importlib
import importlib.util
import logging
from collections.abc import Callable
from typing import Any

from srtk_framework.text import count_tokens
from srtk_framework.values import DriverError

_log = logging.getLogger(__name__)

Counter = Callable[[str], int]


def counter_of(tokenizer: str, model: str) -> tuple[str, Counter]:
    """Find what counts, and name it.

    Args:
        tokenizer: ``auto``, ``estimate``, or the name of an encoding of tiktoken.
        model: Name of the model, for ``auto``.

    Raises:
        DriverError: If a named encoding is not to be had.
    """
    if tokenizer == "estimate":
        return "estimate", count_tokens
    if importlib.util.find_spec("tiktoken") is None:
        if tokenizer == "auto":
            return "estimate", count_tokens
        raise DriverError(f"tokenizer {tokenizer!r} needs tiktoken: pip install 'srtk-plugin-openai[tokens]'")
    tiktoken: Any = importlib.import_module("tiktoken")
    if tokenizer == "auto":
        try:
            tokenizer = tiktoken.encoding_name_for_model(model)
        except KeyError:
            return "estimate", count_tokens
        return _encoding(tokenizer, given=False)
    if tokenizer not in tiktoken.list_encoding_names():
        known = ", ".join(sorted(tiktoken.list_encoding_names()))
        raise DriverError(
            f"tiktoken has no encoding {tokenizer!r}; set `tokenizer` to one of {known}, auto or estimate"
        )
    return _encoding(tokenizer, given=True)


def _encoding(name: str, given: bool) -> tuple[str, Counter]:
    """Load an encoding, which tiktoken fetches on its first use."""
    requests: Any = importlib.import_module("requests")
    tiktoken: Any = importlib.import_module("tiktoken")
    try:
        encoding = tiktoken.get_encoding(name)
    except (OSError, requests.RequestException) as error:
        if given:
            raise DriverError(
                f"the encoding {name!r} cannot be fetched ({error}); set `tokenizer: estimate`"
            ) from error
        _log.warning("the encoding %s of tiktoken cannot be fetched, so tokens are estimated", name)
        return "estimate", count_tokens
    return name, lambda text: len(encoding.encode(text, disallowed_special=()))
