"""The generator ``openai``: any server that speaks the OpenAI chat protocol, hosted or your own."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import attrs
from srtk_plugin_web import Cache, RequestError

from srtk_framework.roles import Generator, no_url
from srtk_framework.values import (
    DriverError,
    Message,
    Prompt,
    Reply,
    SettingsError,
    above,
    at_least,
    close_matches,
    part_of_run,
    rounded,
)
from srtk_plugin_openai.budget import NOTHING, Prices, Purse, Size
from srtk_plugin_openai.chat_format import Dialect, Structure, Wish, body_of, text_of, turns_of, whole
from srtk_plugin_openai.client import ChatClient
from srtk_plugin_openai.dispatch import Called, Calls
from srtk_plugin_openai.errors import ModelError, SetUpError
from srtk_plugin_openai.limits import ServerLimits
from srtk_plugin_openai.logprobs import LETTERS, Top, rated
from srtk_plugin_openai.token_count import Counter, counter_of

_SHOWN = 10

_log = logging.getLogger(__name__)


@attrs.define(eq=False, kw_only=True)
class OpenAIGenerator(Generator):
    """Reply by a model behind a server that speaks the OpenAI chat protocol: vLLM, Ollama, llama.cpp, or hosted.

    Attributes:
        model: Name of the model, as the server calls it.
        base_url: Address of the server, up to `/v1`.
        key: Key, for servers that want it; write `{env: NAME}`.
        temperature: Of sampling; 0 takes the most probable word, null leaves it to the server.
        seed: Of sampling; null for servers that take none.
        length: Most tokens of a reply, if the prompt sets no length.
        structure: How replies keep to a list of numbers or another form: by a JSON `schema`, as a JSON `object`, by the
            words of the prompt alone (`none`), or `auto`: the first of these that the server takes.
        stream: Whether replies come in parts; of use where a proxy breaks long waits off.
        rating: Whether options are rated by log-probabilities, for servers that return them.
        extra: Further fields of every request, such as `{top_p: 0.9}`.
        workers: Most requests in flight.
        limits: Deadline, attempts, patience, waits, requests per second.
        max_tokens_total: Most tokens, read and written, of a run; later prompts have an error.
        max_cost: Most money of a run, in the currency of the prices.
        price_in: Of a million tokens read.
        price_out: Of a million tokens written.
        cache: SQLite file for replies, used by later runs; without it they are kept for the run.
        offline: Answer from `cache` alone.
    """

    model: str
    base_url: str = "https://api.openai.com/v1"
    key: str = attrs.field(default="", repr=False)
    temperature: float | None = attrs.field(default=0.0, validator=at_least(0))
    seed: int | None = 0
    length: int = attrs.field(default=512, validator=at_least(1))
    structure: Structure = "auto"
    stream: bool = False
    rating: bool = False
    extra: Mapping[str, Any] = attrs.field(factory=dict)
    workers: int = attrs.field(default=8, validator=at_least(1))
    limits: ServerLimits = attrs.field(factory=ServerLimits)
    max_tokens_total: int | None = attrs.field(default=None, validator=at_least(1, "omit it for no limit"))
    max_cost: float | None = attrs.field(default=None, validator=above(0, "omit it for no limit"))
    price_in: float = attrs.field(default=0.0, validator=at_least(0))
    price_out: float = attrs.field(default=0.0, validator=at_least(0))
    cache: str | None = None
    offline: bool = False
    _calls: Calls | None = attrs.field(init=False, default=None, repr=False)
    _client: ChatClient | None = attrs.field(init=False, default=None, repr=False)
    _cache: Cache | None = attrs.field(init=False, default=None, repr=False)
    _purse: Purse | None = attrs.field(init=False, default=None, repr=False)
    _dialect: Dialect | None = attrs.field(init=False, default=None, repr=False)
    _counter: tuple[str, Counter] | None = attrs.field(init=False, default=None, repr=False)

    def __attrs_post_init__(self) -> None:
        if self.max_cost is not None and not self.price_in and not self.price_out:
            raise SettingsError(
                [(("max_cost",), "max_cost needs price_in and price_out, the prices of a million tokens")]
            )
        if self.offline and self.cache is None:
            raise SettingsError([(("offline",), "offline replies come from a file; name it by `cache`")])

    def preflight(self) -> list[tuple[str, str]]:
        """Check the form of the address."""
        return no_url("base_url", self.base_url)

    def open(self) -> None:
        """Open the file of replies and make the client; nothing is sent yet."""
        self._counter = counter_of(self.model)
        # Without a file a reply is kept for the whole run, so that the same prompt has the same reply.
        self._cache = Cache(Path(self.cache) if self.cache else None, "openai", remember=10_000 if self.cache else None)
        if not self.offline:
            self._client = ChatClient(self.base_url, self.key, self.workers, self.limits)
        part = part_of_run()
        tokens = None if self.max_tokens_total is None else int(self.max_tokens_total * part)
        cost = None if self.max_cost is None else self.max_cost * part
        self._purse = Purse(tokens, cost, Prices(self.price_in, self.price_out))
        self._dialect = Dialect(self.structure)
        self._calls = Calls(
            self._client,
            self._address(),
            self.model,
            self._dialect,
            self._cache,
            self._purse,
            self._counter[1],
            self.workers,
        )
        self._calls.recall()

    def close(self) -> None:
        """Close connections and file; calls that have not begun are dropped."""
        if self._client is not None:
            self._client.close()
        if self._calls is not None:
            self._calls.close()
        if self._cache is not None:
            self._cache.close()
        if self._client is not None and self.lost != NOTHING:
            _log.warning(
                "replies that broke off or came too late were probably billed: %d tokens read and %d written, which are"
                " in no record",
                self.lost.tokens_in,
                self.lost.tokens_out,
            )
        self._client = self._calls = self._cache = None

    def fingerprint(self) -> str:
        """Identify model, address, tokenizer and the settings that decide the replies."""
        decides = ("model", "temperature", "seed", "length", "structure", "rating", "extra")
        parts = [f"{name}={getattr(self, name)!r}" for name in decides]
        parts.extend((f"base_url={self._address()!r}", f"tokenizer={(self._counter or counter_of(self.model))[0]!r}"))
        return f"{type(self).__module__}.{type(self).__qualname__}({', '.join(parts)})"

    @property
    def spent(self) -> Size:
        """Tokens that were billed since opening, as far as is known: of replies, ratings, and replies lost."""
        return self._purse.spent if self._purse else NOTHING

    @property
    def lost(self) -> Size:
        """Tokens of replies among them that broke off or came too late."""
        return self._purse.lost if self._purse else NOTHING

    @property
    def cost(self) -> float:
        """Cost of all that was billed."""
        return self._purse.prices.cost(self.spent.tokens_in, self.spent.tokens_out) if self._purse else 0.0

    def generate(self, prompts: Sequence[Prompt]) -> list[Reply]:
        """Ask for each distinct prompt once; the same prompt has the same reply for the whole run.

        Raises:
            SetUpError: If key, model, address or a setting is wrong, so that there is no reply at all.
            DownError: If nothing gets through to the server.
        """
        calls, dialect = self._opened()
        called = calls.all([partial(body_of, prompt, self._wish(), dialect) for prompt in prompts])
        self._stop_if_all_failed(called)
        prices = Prices(self.price_in, self.price_out)
        return [_reply(prompt, call, prices) for prompt, call in zip(prompts, called, strict=True)]

    def rates(self) -> bool:
        """Return the setting `rating`."""
        return self.rating

    def rate(self, prompts: Sequence[Prompt]) -> list[list[float]]:
        """Rate options by the log-probability of a letter that stands for each.

        Raises:
            DriverError: If `rating` is off, the server returns no log-probabilities, or a prompt fails.
        """
        if not self.rating:
            raise DriverError("options are rated with `rating: true`, by servers that return log-probabilities")
        return [[rounded(rating) for rating in row] for row in rated(prompts, self._tops)]

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count by the tokenizer."""
        assert self._counter is not None, "open the generator first"
        return [self._counter[1](text) for text in texts]

    def _tops(self, conversations: Sequence[Sequence[Message]]) -> list[Top]:
        """Ask for the most probable first tokens of each reply."""
        calls, dialect = self._opened()
        extra = {**self.extra, "logprobs": True, "top_logprobs": len(LETTERS)}
        wish = attrs.evolve(self._wish(), stream=False, extra=extra)
        called = calls.all([partial(whole, turns_of(one), 1, None, wish, dialect) for one in conversations])
        self._stop_if_all_failed(called)
        tops: list[Top] = []
        for call in called:
            if isinstance(call.answer, RequestError):
                raise call.answer
            if not call.answer.top:
                raise SetUpError("the server returns no log-probabilities; set `rating: false`")
            tops.append(call.answer.top)
        return tops

    def _stop_if_all_failed(self, called: Sequence[Called]) -> None:
        """Raise the error that stops all prompts, unless there are replies that were paid for."""
        if any(not isinstance(call.answer, RequestError) and not call.cached for call in called):
            return
        fatal = next((c.answer for c in called if isinstance(c.answer, RequestError) and c.answer.fatal), None)
        if isinstance(fatal, ModelError) and self._client is not None:
            names = self._client.models()
            if names and self.model not in names:
                more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
                hint = close_matches(self.model, names)
                raise SetUpError(
                    f"the server at {self._client.address} does not have the model {self.model!r}; it has "
                    f"{', '.join(names[:_SHOWN])}{more}: correct `model`.{hint}"
                ) from fatal
        if fatal is not None:
            raise fatal

    def _opened(self) -> tuple[Calls, Dialect]:
        assert self._calls is not None, "open the generator first"
        assert self._dialect is not None, "open the generator first"
        return self._calls, self._dialect

    def _wish(self) -> Wish:
        return Wish(self.model, self.temperature, self.seed, self.length, self.stream, self.extra)

    def _address(self) -> str:
        return self.base_url.rstrip("/")


def _reply(prompt: Prompt, call: Called, prices: Prices) -> Reply:
    """Return the reply of a call, or its error."""
    read, written = call.size.tokens_in, call.size.tokens_out
    counted = Reply(tokens_in=read, tokens_out=written, cost=prices.cost(read, written), cached=call.cached)
    if isinstance(call.answer, RequestError):
        return attrs.evolve(counted, error=call.answer.cause)
    if call.answer.refusal:
        return attrs.evolve(counted, error=call.answer.refusal)
    return attrs.evolve(counted, text=text_of(prompt, call.answer.text), finish=call.answer.finish)
