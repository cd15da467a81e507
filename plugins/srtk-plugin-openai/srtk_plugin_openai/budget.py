"""Budget of a run in tokens and money: the same prompts are answered whatever the concurrency."""

from __future__ import annotations

import threading

import attrs

from srtk_plugin_openai.errors import SpentError


@attrs.frozen
class Prices:
    """Prices of a million tokens in any currency."""

    tokens_in: float = 0.0
    tokens_out: float = 0.0

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        """Price a call."""
        return round((tokens_in * self.tokens_in + tokens_out * self.tokens_out) / 1e6, 10)


@attrs.frozen
class Size:
    """Tokens of a call, read and written."""

    tokens_in: int
    tokens_out: int

    def __add__(self, other: Size) -> Size:
        return Size(self.tokens_in + other.tokens_in, self.tokens_out + other.tokens_out)


NOTHING = Size(0, 0)


class Purse:
    """Tokens and money of a run, spent and left.

    Calls are admitted in the order of the prompts. A call begins at once if it fits beside the largest sizes of the
    calls in flight, else when these have ended. So the decision is the same as with a single call at a time.
    """

    def __init__(self, tokens: int | None, cost: float | None, prices: Prices) -> None:
        self.prices = prices
        self._tokens = tokens
        self._cost = cost
        self._changed = threading.Condition()
        self._flying: list[Size] = []
        self.spent = NOTHING
        """Of all calls that have ended, lost replies included."""
        self.lost = NOTHING
        """Of the lost replies."""

    @property
    def limited(self) -> bool:
        """Return whether there is any limit."""
        return self._tokens is not None or self._cost is not None

    def admit(self, expected: Size, largest: Size) -> None:
        """Wait until a call may be made, and count it as in flight."""
        with self._changed:
            while self._flying and self._over([*self._flying, largest]):
                self._changed.wait()
            over = "" if self._flying else self._over([expected])
            if over:
                raise SpentError(over)
            self._flying.append(largest)

    def settle(self, largest: Size, spent: Size, lost: Size) -> None:
        """Count a call as ended, with its tokens and the tokens of replies that were lost on the way."""
        with self._changed:
            self._flying.remove(largest)
            self.spent = self.spent + spent + lost
            self.lost = self.lost + lost
            self._changed.notify_all()

    def _over(self, calls: list[Size]) -> str:
        """Return the fault of the limit that some calls would break; empty when they fit."""
        tokens_in = self.spent.tokens_in + sum(call.tokens_in for call in calls)
        tokens_out = self.spent.tokens_out + sum(call.tokens_out for call in calls)
        used = self.spent.tokens_in + self.spent.tokens_out
        if self._tokens is not None and tokens_in + tokens_out > self._tokens:
            needed = tokens_in + tokens_out - used
            return (
                f"the budget of tokens is spent: {used} of max_tokens_total {self._tokens} are used, and this call may "
                f"take {needed}; raise `max_tokens_total`"
            )
        if self._cost is not None and self.prices.cost(tokens_in, tokens_out) > self._cost:
            paid = self.prices.cost(self.spent.tokens_in, self.spent.tokens_out)
            needed_cost = self.prices.cost(tokens_in, tokens_out) - paid
            return (
                f"the budget of money is spent: {paid:.6f} of max_cost {self._cost:g} are used, and this call may cost "
                f"{needed_cost:.6f}; raise `max_cost`"
            )
        return ""
