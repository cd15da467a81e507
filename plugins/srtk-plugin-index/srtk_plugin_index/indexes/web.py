"""The index ``web``: pages of the web, found by a search engine with the JSON interface of SearXNG."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlencode

import attrs
from srtk_plugin_web import (
    Cache,
    Client,
    DeniedError,
    Limits,
    MalformedError,
    NotCachedError,
    Request,
    Response,
    UnavailableError,
    checked,
)

from srtk_framework.roles import Index, no_url, not_open
from srtk_framework.text import clean, fold, words
from srtk_framework.values import DriverError, Entry, Hit, at_least, positive, without_logins

AGENT = "srtk-framework/0.1 (srtk-plugin-index; retrieval for question answering; python-urllib3)"
# Characters of an address above which a search is sent in the body, since servers cut or refuse long addresses.
_LONGEST_URL = 2000

# Days after which a cached answer is asked for again: what the web answers changes, though not within a few runs.
_CACHE_DAYS = 30.0

Page = list[list[str]]
"""The results of a page: address, title and text of each."""


@attrs.frozen
class WebLimits(Limits):
    """Limits towards a search engine, modest since it asks further engines in turn.

    Attributes:
        per_second: Requests begun per second, averaged over time; null for 1 on a public host, and for no limit on
            this machine or a private network.
    """

    polite: ClassVar[float | None] = 1.0

    burst: int = attrs.field(default=2, validator=positive)
    at_once: int | None = attrs.field(default=2, validator=positive)
    deadline: float = attrs.field(default=30.0, validator=positive)
    attempts: int = attrs.field(default=3, validator=positive)
    patience: float = attrs.field(default=120.0, validator=positive)
    failures: int = attrs.field(default=5, validator=positive)
    pause: float = attrs.field(default=60.0, validator=positive)
    answer_bytes: int = attrs.field(default=1 << 22, validator=positive)


@attrs.define(eq=False)
class WebIndex(Index):
    """Search the web by a SearXNG server, or another with its interface ``/search?q=...&format=json``.

    The id of an entry is its address; its text is title and description, and the description is the passage. A score
    is minus the rank of the result. The server's administrator must allow the format ``json``. Results of the web
    change: name a ``cache``, and with ``offline`` repeat a run from it alone.

    Attributes:
        endpoint: Address of the server, above ``search``.
        pages: Most pages of results that are read for a text, as many as ``k`` needs.
        language: Code of the language of the results; empty for the server's choice.
        engines: Names of the engines to be asked; the server's choice when empty.
        categories: Categories of engines, such as ``science``; the server's choice when empty.
        limits: Limits of the client.
        user_agent: How the client names itself; put in an address where you can be reached.
        headers: Further HTTP headers, such as Authorization.
        cache: SQLite file of answers that later runs use again, for 30 days; none when left out.
        offline: Answer from ``cache`` alone, whatever its age.
    """

    endpoint: str
    pages: int = attrs.field(default=1, validator=at_least(1))
    language: str = ""
    engines: Sequence[str] = ()
    categories: Sequence[str] = ()
    limits: WebLimits = attrs.field(factory=WebLimits)
    user_agent: str = AGENT
    headers: Mapping[str, str] = attrs.field(factory=dict, repr=False)
    cache: str | None = None
    offline: bool = False
    _client: Client | None = attrs.field(init=False, default=None, repr=False)
    _cache: Cache | None = attrs.field(init=False, default=None, repr=False)

    def preflight(self) -> list[tuple[str, str]]:
        """Check the form of the endpoint."""
        return no_url("endpoint", self.endpoint)

    def open(self) -> None:
        """Make the client; nothing is sent yet."""
        if self.offline and self.cache is None:
            raise DriverError("offline answers come from a file; name it by `cache`")
        headers = {"Accept": "application/json", **self.headers}
        address = f"{self.endpoint.removesuffix('/')}/search"
        client = Client(
            address, self.limits, self.user_agent, name="web search", headers=headers, noun="search", patient=True
        )
        days = None if self.offline else _CACHE_DAYS
        self._cache = Cache(Path(self.cache) if self.cache else None, "web-search", days=days)
        self._client = client

    def close(self) -> None:
        """Close connections and the cache."""
        if self._client is not None:
            self._client.close()
        if self._cache is not None:
            self._cache.close()
        self._client = self._cache = None

    def fingerprint(self) -> str:
        """Identify the server and the settings of its searches; limits and headers change no answer."""
        asked = (self.pages, self.language, tuple(self.engines), tuple(self.categories))
        return f"WebIndex({without_logins(self.endpoint)}, {asked})"

    def size(self) -> int:
        """Return 0: nobody knows how large the web is."""
        return 0

    def search(self, texts: Sequence[str], k: int) -> list[list[Hit]]:
        """Search for each text, some at the same time; a text without a word is not sent.

        Raises:
            RequestError: If a search fails; no failure is taken for an empty list of results.
        """
        if self._client is None:
            raise not_open(self)
        asked = [text for text in dict.fromkeys(texts) if words(fold(text))]
        if len(asked) > 1:
            with ThreadPoolExecutor(self.limits.at_once or 1) as pool:
                rows = list(pool.map(lambda text: self._found(text, k), asked))
        else:
            rows = [self._found(text, k) for text in asked]
        found = dict(zip(asked, rows, strict=True))
        return [found.get(text, []) for text in texts]

    def _found(self, text: str, k: int) -> list[Hit]:
        """Read pages until there are enough results, or a page has nothing new."""
        found: dict[str, Hit] = {}
        for number in range(1, self.pages + 1):
            before = len(found)
            for address, title, description in self._page(text, number):
                if address not in found:
                    found[address] = _hit(address, title, description, len(found) + 1)
            if len(found) >= k or len(found) == before:
                break
        return list(found.values())[:k]

    def _page(self, text: str, number: int) -> Page:
        client, cache = self._client, self._cache
        assert client is not None
        assert cache is not None
        fields = [("q", text), ("format", "json"), ("pageno", str(number))]
        fields += [("language", self.language)] if self.language else []
        fields += [("engines", ",".join(self.engines))] if self.engines else []
        fields += [("categories", ",".join(self.categories))] if self.categories else []
        # Another server has other engines, so its answers are kept apart.
        key = json.dumps([client.url, fields])
        kept: Page | None = cache.get(key)
        if kept is None:
            if self.offline:
                missing = NotCachedError("the file of `cache` has no answer to this; run once online")
                raise missing.about(client.service, text, "search")
            kept = client.ask(_request(client.url, text, fields), _results)
            cache.put(key, kept)
        return kept


def _request(url: str, text: str, fields: Sequence[tuple[str, str]]) -> Request:
    form = urlencode(fields, errors="replace")
    whole = f"{url}?{form}"
    if len(whole) <= _LONGEST_URL:
        return Request(whole, text)
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    return Request(url, text, "POST", headers, form.encode("ascii"))


def _results(response: Response) -> Page:
    """Read a page of results.

    Raises:
        RequestError: If it is none, or has no result because the engines behind the server failed.
    """
    if response.status == 403:
        raise DeniedError(
            "it does not answer this client (403); allow the format `json` under `search: formats:` in the server's"
            " settings, or ask a server that does"
        )
    data = checked(response).json()
    rows = data.get("results") if isinstance(data, dict) else None
    if not isinstance(rows, list):
        raise MalformedError("the answer is JSON without a list `results`; name a server with SearXNG's interface")
    found: Page = []
    for row in rows:
        address = row.get("url") if isinstance(row, dict) else None
        # Results without an address, such as suggestions, are no pages.
        if isinstance(address, str) and address:
            found.append([address, _line(row.get("title")), _line(row.get("content"))])
    failed = data.get("unresponsive_engines")
    if not found and failed:
        raise UnavailableError(f"it found nothing, and engines behind it failed: {_failures(failed)}")
    return found


def _failures(failed: Any) -> str:
    """Name the engines that failed, each with the reason where it comes in a pair."""
    rows = failed if isinstance(failed, list) else [failed]
    return ", ".join(" ".join(map(str, row)) if isinstance(row, list) else str(row) for row in rows)


def _line(text: Any) -> str:
    return clean(text) if isinstance(text, str) else ""


def _hit(address: str, title: str, description: str, rank: int) -> Hit:
    text = f"{title}\n{description}" if title and description else title or description
    span = (len(text) - len(description), len(text)) if description else None
    return Hit(Entry(address, text), -float(rank), span)
