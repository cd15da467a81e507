"""The role of a text generator."""

from __future__ import annotations

import math
import threading
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from srtk_framework.roles.answer_checks import check_numbers, counts, is_count, refuse_others, shown, truth
from srtk_framework.roles.base import Role, by_value, hook
from srtk_framework.text.folding import count_tokens
from srtk_framework.values import DriverError, Prompt, Reply, total, usage
from srtk_framework.values.chat import COST_DIGITS


def numbers_of_options(answer: Any, arguments: Mapping[str, Any], driver: str) -> Any:
    """Refuse rates without exactly one finite number per option of each prompt."""
    check_numbers("rate", answer, [len(prompt.options) for prompt in arguments["prompts"]], "options")
    return answer


def replies(answer: Any, arguments: Mapping[str, Any], driver: str) -> Any:
    """Refuse anything but replies with whole numbers of tokens and a finite cost."""
    refuse_others("generate", answer, Reply, "Replies")
    for reply in answer:
        if not isinstance(reply.text, str) or not is_count(reply.tokens_in) or not is_count(reply.tokens_out):
            raise DriverError(f"generate returned {shown(reply)}; text is a text, and tokens are whole numbers")
        if not math.isfinite(reply.cost) or reply.cost < 0:
            raise DriverError(f"generate returned the cost {reply.cost}; a cost is finite and at least 0")
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
        found: Sequence[Reply] = answer
        paid = usage(reply for reply in found if not reply.cached)
        with self._lock:
            whole = total([self._spent, usage(found)])
            cached = self._spent["cached"] + len(found) - paid["calls"]
            self._spent = {**whole, "cached": cached, "paid": round(self._spent["paid"] + paid["cost"], COST_DIGITS)}

    def total(self) -> dict[str, Any]:
        """Return ``calls``, ``tokens_in``, ``tokens_out``, ``cost``, ``cached`` and ``paid``."""
        with self._lock:
            return dict(self._spent)


def spent_together(totals: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Sum the totals of one generator in several processes."""
    cached, paid = sum(row["cached"] for row in totals), math.fsum(row["paid"] for row in totals)
    return {**total(totals), "cached": cached, "paid": round(paid, COST_DIGITS)}


class Generator(Role):
    """Replies to prompts, as a language model does."""

    role = "generator"
    ledger = Spending

    @hook(batch="prompts", answer=replies)
    @abstractmethod
    def generate(self, prompts: Sequence[Prompt]) -> Sequence[Reply]:
        """Reply to each prompt by itself.

        Returns:
            Per prompt a reply, perhaps with an ``error`` instead of a text: too long for the model, refused, over
            the budget. A DriverError is for faults that stop them all: no server, a wrong key.
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

    @hook(batch="texts", key=by_value, answer=counts("count_tokens"))
    def count_tokens(self, texts: Sequence[str]) -> Sequence[int]:
        """Count the tokens of each text; an estimate by words and marks if the driver has no tokenizer."""
        return [count_tokens(text) for text in texts]
