"""Base of the linkers over a web service: client, cache, record, and questions asked side by side."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import ClassVar

import attrs
from srtk_plugin_web import Client, Limits, RequestError

from srtk_framework.roles import EntityLinker, absent, no_url, not_open
from srtk_framework.values import at_least
from srtk_plugin_sparql.record import Recorder, Replay
from srtk_plugin_sparql.sources import CachedSource, RememberedSource, Source
from srtk_plugin_sparql.terms import Rows


class ServiceClient:
    """A web service that answers questions in JSON, usable from several threads; a subclass adds ``select``."""

    noun: ClassVar[str]
    """What is asked about, for errors."""

    def __init__(self, endpoint: str, limits: Limits, user_agent: str, headers: Mapping[str, str]) -> None:
        accepted = {"Accept": "application/json", **headers}
        self._client = Client(endpoint, limits, user_agent, headers=accepted, noun=self.noun)

    @property
    def endpoint(self) -> str:
        """The URL, without login."""
        return self._client.url

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


@attrs.define(eq=False, kw_only=True)
class ServiceLinker(EntityLinker):
    """Base of the linkers that ask a web service, whose answers can be cached, recorded and replayed.

    Attributes:
        limits: Limits of the client.
        user_agent: How the client names itself; put in an address where you can be reached.
        headers: Further HTTP headers, such as Authorization.
        cache: SQLite file of answers that later runs use again; none when left out.
        cache_days: Age in days at which a cached answer is asked for again.
        record: Folder to which every answer is written.
        replay: Folder of such a record, which then answers in the place of the service.
    """

    at_once: ClassVar[int] = 1
    """Requests in flight where the limits set no number."""

    limits: Limits
    user_agent: str
    headers: Mapping[str, str] = attrs.field(factory=dict, repr=False)
    cache: str | None = None
    cache_days: float = attrs.field(default=30.0, validator=at_least(0))
    record: str | None = None
    replay: str | None = None
    _source: Source | None = attrs.field(init=False, default=None, repr=False)

    @abstractmethod
    def _client(self) -> Source:
        """Make the client."""

    @abstractmethod
    def _url(self) -> str:
        """Return the URL of the service."""

    def preflight(self) -> list[tuple[str, str]]:
        """Check the form of the endpoint, or that the record exists."""
        if self.replay is not None:
            return absent("replay", self.replay, "make it by a run with `record`")
        return no_url("endpoint", self._url())

    def open(self) -> None:
        """Make the client; nothing is sent yet. A replay needs none."""
        if self.replay is not None:
            source: Source = Replay(Path(self.replay))
        else:
            source = self._client()
            if self.cache is not None:
                source = CachedSource(source, Path(self.cache), "", self.cache_days)
            if self.record is not None:
                source = Recorder(source, Path(self.record), source.endpoint)
        self._source = RememberedSource(source)

    def close(self) -> None:
        """Close connections and files."""
        if self._source is not None:
            self._source.close()
        self._source = None

    def _ask(self, queries: Sequence[str]) -> list[Rows]:
        """Ask all, some at the same time; the first failure stops queries that have not begun."""
        source = self._source
        if source is None:
            raise not_open(self)
        workers = 1 if self.replay is not None else self.limits.at_once or self.at_once
        if workers < 2 or len(queries) < 2:
            return [source.select(query, False) for query in queries]
        with ThreadPoolExecutor(workers) as pool:
            asked = [pool.submit(source.select, query, False) for query in queries]
            try:
                return [future.result() for future in asked]
            except RequestError:
                for future in asked:
                    future.cancel()
                raise
