"""Calls of a run: answered by the cache or the server, within the budget, side by side, each counted once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import attrs
from srtk_plugin_web import Cache, NotCachedError, RequestError

from srtk_plugin_openai.budget import NOTHING, Purse, Size
from srtk_plugin_openai.chat_format import Dialect
from srtk_plugin_openai.client import ChatClient
from srtk_plugin_openai.completions import Completion
from srtk_plugin_openai.errors import RefusedPromptError, SpentError
from srtk_plugin_openai.http_errors import wrong_setting
from srtk_plugin_openai.token_count import Counter

_UNSAID = ("stream", "stream_options")  # Fields of a request that do not change what is answered
_CONCESSIONS = 6  # More often than this no server has to be given way
_TURN = 4  # Tokens that a template of chats puts around a message, roughly
_TURN_MOST = 32  # The same for the upper bound, which a budget must not exceed

Make = Callable[[], dict[str, Any]]
"""Makes a request in what is known of the server's dialect by now."""


@attrs.frozen
class Prepared:
    """A request in the dialect of a moment; its reply is kept under the key."""

    make: Make
    version: int
    body: dict[str, Any]
    key: str


@attrs.frozen
class Called:
    """How a call ended.

    ``size`` is that of the reply, whether it came from the cache or not; ``lost`` counts the tokens of replies that
    were probably billed and did not arrive. Nothing was paid now if it was ``cached``: the reply came from the
    cache or an equal request.
    """

    answer: Completion | RequestError
    size: Size = NOTHING
    lost: Size = NOTHING
    cached: bool = False


class Calls:
    """All calls of a run.

    Without a client, replies come from the cache alone. The address of the server is part of the cache key, and
    refused features are cached too.
    """

    def __init__(
        self,
        client: ChatClient | None,
        base_url: str,
        model: str,
        dialect: Dialect,
        cache: Cache,
        purse: Purse,
        count: Counter,
        workers: int,
    ) -> None:
        self._client = client
        self._base_url = base_url
        self._model = model
        self._dialect = dialect
        self._cache = cache
        self._purse = purse
        self._count = count
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="openai")

    def close(self) -> None:
        """Drop calls that have not begun."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def all(self, makes: Sequence[Make]) -> list[Called]:
        """Make calls, each distinct one once; the results are in their order, however they came."""
        prepared = [self._prepare(make) for make in makes]
        done: dict[str, Called] = {}
        flying: dict[str, Future[Called]] = {}
        for one in prepared:
            key = one.key
            if key in done or key in flying:
                continue
            known = self._known(key)
            if known is not None:
                done[key] = known
            elif self._client is None:
                error = NotCachedError("the file of `cache` has no reply to this prompt; run once online")
                done[key] = Called(error)
            else:
                largest = self._largest(one.body)
                try:
                    self._purse.admit(self._expected(one.body) if self._purse.limited else largest, largest)
                except SpentError as error:
                    done[key] = Called(error)
                    continue
                flying[key] = self._pool.submit(self._settled, self._client, one, largest)
        done.update({key: future.result() for key, future in flying.items()})
        first: set[str] = set()
        rows = []
        for key in (one.key for one in prepared):
            # The first of equal requests was paid for.
            rows.append(attrs.evolve(done[key], lost=NOTHING, cached=True) if key in first else done[key])
            first.add(key)
        return rows

    def _prepare(self, make: Make) -> Prepared:
        version = self._dialect.version
        body = make()
        return Prepared(make, version, body, key_of(self._base_url, body))

    def _settled(self, client: ChatClient, one: Prepared, largest: Size) -> Called:
        called = None
        try:
            called = self._call(client, one)
            return called
        finally:
            new = called is not None and not called.cached
            self._purse.settle(largest, called.size if called and new else NOTHING, called.lost if called else NOTHING)

    def _call(self, client: ChatClient, one: Prepared) -> Called:
        """Ask, giving way where the server does not take a request as it is."""
        lost = 0
        failed: RequestError | None = None
        for _ in range(_CONCESSIONS):
            if one.version != self._dialect.version:
                one = self._prepare(one.make)
                known = self._known(one.key)
                if known is not None:
                    return known
            outcome = client.ask(one.body)
            lost += outcome.lost
            if isinstance(outcome.answer, Completion):
                return self._answered(one, outcome.answer, lost)
            failed = outcome.answer
            if not isinstance(failed, RefusedPromptError):
                break
            if not self._dialect.concede(one.body, failed):
                wrong = wrong_setting(failed, one.body)
                if wrong is not None:
                    client.stop(wrong)
                    failed = wrong
                break
            self._cache.put(self._dialect_key(), self._dialect.given_up())
        assert failed is not None, "what is not answered has failed"
        return Called(failed, lost=Size(lost * self._expected(one.body).tokens_in, 0) if lost else NOTHING)

    def recall(self) -> None:
        """Begin with the features that an earlier run found, if its cache is kept."""
        given_up = self._cache.get(self._dialect_key())
        if given_up is not None:
            self._dialect.give_up(given_up)

    def _dialect_key(self) -> str:
        return f"dialect {self._base_url} {self._model}"

    def _known(self, key: str) -> Called | None:
        kept: Mapping[str, Any] | None = self._cache.get(key)
        if kept is None:
            return None
        top = tuple((str(token), float(value)) for token, value in kept["top"])
        answer = Completion(kept["text"], kept["finish"], "", kept["in"], kept["out"], top)
        return Called(answer, Size(kept["in"], kept["out"]), cached=True)

    def _answered(self, request: Prepared, answer: Completion, lost: int) -> Called:
        """Count a reply and keep it; lost replies count as long as the reply that came."""
        one = Size(
            self._expected(request.body).tokens_in if answer.tokens_in is None else answer.tokens_in,
            self._count(answer.text) if answer.tokens_out is None else answer.tokens_out,
        )
        if not answer.refusal:
            kept = {"text": answer.text, "finish": answer.finish, "top": answer.top}
            self._cache.put(request.key, {**kept, "in": one.tokens_in, "out": one.tokens_out})
        return Called(answer, one, Size(one.tokens_in * lost, one.tokens_out * lost))

    def _expected(self, body: Mapping[str, Any]) -> Size:
        """Return the probable size of a request."""
        read = sum(self._count(message["content"]) + _TURN for message in body["messages"])
        return Size(read, self._longest(body))

    def _largest(self, body: Mapping[str, Any]) -> Size:
        """Return the upper bound of a request: no tokenizer makes more tokens than there are bytes."""
        read = sum(len(message["content"].encode()) + _TURN_MOST for message in body["messages"])
        form = len(json.dumps(body.get("response_format", "")))
        return Size(read + form, self._longest(body))

    def _longest(self, body: Mapping[str, Any]) -> int:
        return int(body.get(self._dialect.length) or body.get("max_tokens") or body.get("max_completion_tokens") or 0)


def key_of(base_url: str, body: Mapping[str, Any]) -> str:
    """Hash address and request, without the fields that only change how the reply travels."""
    asked = {name: value for name, value in body.items() if name not in _UNSAID}
    text = json.dumps([base_url, asked], sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
