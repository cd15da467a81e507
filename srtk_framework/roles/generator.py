"""The role of a text generator."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from srtk_framework.roles.answer_checks import check_numbers, truth
from srtk_framework.roles.base import Role, by_value, hook
from srtk_framework.text.folding import count_tokens
from srtk_framework.values import COST_DIGITS, DriverError, Prompt, Reply, total, usage


def numbers_of_options(answer: Any, arguments: Mapping[str, Any], driver: str) -> Any:
    """Refuse rates without exactly one finite number per option of each prompt.

    Raises:
        DriverError: For another number of rates, or anything but finite numbers.
    """
    check_numbers("rate", answer, [len(prompt.options) for prompt in arguments["prompts"]], "options")
    return answer


class Spending:
    """Usage of a generator: the sums of ``values.usage``, cached replies included, and the amount paid."""

    def __init__(self) -> None:
        self._spent: dict[str, Any] = {**total([]), "cached": 0, "paid": 0.0}
        self._lock = threading.Lock()

    def add(self, hook: str, answer: Any) -> None:
        """Count the replies of one call of ``generate``."""
        if hook != "generate":
            return
        replies: Sequence[Reply] = answer
        paid = usage(reply for reply in replies if not reply.cached)
        with self._lock:
            whole = total([self._spent, usage(replies)])
            cached = self._spent["cached"] + len(replies) - paid["calls"]
            self._spent = {**whole, "cached": cached, "paid": round(self._spent["paid"] + paid["cost"], COST_DIGITS)}

    def total(self) -> dict[str, Any]:
        """Return ``calls``, ``tokens_in``, ``tokens_out``, ``cost``, ``cached`` and ``paid``."""
        with self._lock:
            return dict(self._spent)


class Generator(Role):
    """Replies to prompts, as a language model does."""

    role = "generator"
    ledger = Spending

    @hook(batch="prompts")
    @abstractmethod
    def generate(self, prompts: Sequence[Prompt]) -> Sequence[Reply]:
        """Reply to each prompt by itself.

        Returns:
            Per prompt a reply, or one whose ``error`` says why there is none: too long for the model, refused, over
            the budget. A DriverError is for what stops them all: no server, a wrong key.
        """

    @hook(batch="prompts", answer=numbers_of_options)
    def rate(self, prompts: Sequence[Prompt]) -> Sequence[Sequence[float]]:
        """Rate the options of each prompt, one number each, higher is better; log-likelihoods for language models.

        Raises:
            DriverError: If the driver cannot (``rates`` is False).
        """
        raise DriverError("this generator does not rate options; let it choose by `generate`")

    @hook(answer=truth)
    def rates(self) -> bool:
        """Return whether ``rate`` is supported."""
        return False

    @hook(batch="texts", key=by_value)
    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Count the tokens of each text; an estimate by words and marks if the driver has no tokenizer."""
        return [count_tokens(text) for text in texts]
