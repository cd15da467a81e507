"""Queries to a SPARQL endpoint over HTTP; only whole answers are returned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import attrs
from SPARQLWrapper import JSON, POST, SPARQLWrapper

from srtk_framework.web import Client, DeadlineError, Request, RequestError, Response
from srtk_plugin_sparql import answers
from srtk_plugin_sparql.limits import SparqlLimits
from srtk_plugin_sparql.profiles import PROFILES, profile
from srtk_plugin_sparql.terms import Rows


class SparqlClient:
    """One endpoint, usable from several threads.

    Args:
        endpoint: An http or https URL; a login in it is sent, and shown to nobody.
        engine: Name of a profile.
        limits: Limits of the client; what is None there comes from the profile.
        user_agent: How the client names itself.
        headers: Further HTTP headers.
    """

    def __init__(
        self,
        endpoint: str,
        engine: str,
        limits: SparqlLimits,
        user_agent: str,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._profile = profile(engine)
        self._agent = user_agent
        self._cap = limits.rows or self._profile.rows
        self._auto = engine == "auto" and limits.rows is None
        limits = attrs.evolve(
            limits,
            at_once=limits.at_once or self._profile.at_once,
            per_second=limits.per_second or self._profile.per_second,
        )
        self._client = Client(endpoint, limits, user_agent, headers=headers, noun="query")

    @property
    def endpoint(self) -> str:
        """The URL, without login."""
        return self._client.url

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def select(self, query: str, divisible: bool, fresh: bool = False) -> Rows:
        """Ask a SELECT query until there is a whole answer.

        Args:
            query: The query.
            divisible: The caller can ask for less, so that a query that takes too long is not asked again.
            fresh: Of use only to sources that keep answers.

        Raises:
            RequestError: When there is none.
        """

        def again(error: RequestError) -> bool:
            return error.transient and not (divisible and isinstance(error, DeadlineError))

        return self._client.ask(self._request(query), self._read, again)

    def _request(self, query: str) -> Request:
        """Write a query as a POST request, as SPARQLWrapper does."""
        wrapper = SPARQLWrapper(self.endpoint, agent=self._agent)
        wrapper.setMethod(POST)
        wrapper.setReturnFormat(JSON)
        wrapper.setOnlyConneg(True)
        wrapper.setQuery(query)
        request = wrapper._createRequest()
        headers = {name: value for name, value in request.header_items() if name.lower() != "user-agent"}
        return Request(self.endpoint, query, "POST", headers, cast(bytes, request.data))

    def _read(self, response: Response) -> Rows:
        """Read a response; the server's name may tell its cap."""
        if self._cap is None and self._auto and response.headers.get("server", "").lower().startswith("virtuoso"):
            self._cap = PROFILES["virtuoso"].rows
        return answers.read(response, self._cap, self._profile.broken)
