"""Queries to a SPARQL endpoint over HTTP; only whole answers are returned."""

from __future__ import annotations

import logging
import string
from collections.abc import Mapping

import attrs
from srtk_plugin_web import Client, DeadlineError, Request, RequestError, Response, is_local

from srtk_plugin_sparql import answers, queries
from srtk_plugin_sparql.answers import Table
from srtk_plugin_sparql.limits import SparqlLimits
from srtk_plugin_sparql.profiles import AUTO, PROFILES, Profile, profile
from srtk_plugin_sparql.row_cap import SIDES, RowCap
from srtk_plugin_sparql.terms import Rows, placed

_log = logging.getLogger(__name__)
_SAFE = frozenset(string.ascii_letters + string.digits + "_.-~/")


class SparqlClient:
    """One endpoint, usable from several threads.

    A login in the endpoint is sent, and shown to nobody. The profile of the engine fills in limits that are None.
    """

    def __init__(
        self,
        endpoint: str,
        engine: str,
        limits: SparqlLimits,
        user_agent: str,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._agent = user_agent
        self._limits = limits
        self._headers = headers
        self._auto = engine == AUTO and limits.rows is None
        self._profile = profile(engine)
        self._client = self._made(endpoint, self._profile)
        self._address = endpoint
        self._cap = RowCap(self.endpoint, self._ask, limits.rows or self._profile.rows)

    def _made(self, endpoint: str, polite: Profile) -> Client:
        """Make the client; on this machine and in private networks requests per second have no limit."""
        limits = attrs.evolve(
            self._limits,
            at_once=self._limits.at_once or polite.at_once,
            per_second=self._limits.per_second or (None if is_local(endpoint) else polite.per_second),
        )
        return Client(endpoint, limits, self._agent, headers=self._headers, noun="query")

    @property
    def endpoint(self) -> str:
        """The URL, without login."""
        return self._client.url

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def engine(self) -> str:
        """Return the engine in the server's own name, or ``auto``.

        The request asks how many rows it returns, which has to be known anyway. It is sent once: the faults of a server
        that does not answer show in the first query.
        """
        try:
            response = self._client.send_once(self._request(queries.table(SIDES[0])))
            self._cap.learn(SIDES[0], self._read(response))
        except RequestError as error:
            _log.info("%s does not tell its engine (%s)", self.endpoint, error.cause)
            return AUTO
        server = response.headers.get("server", "").lower()
        return next((name for name in PROFILES if server.startswith(name)), AUTO)

    def adopt(self, engine: str) -> None:
        """Take the limits of an engine; on a public host only its cap of rows."""
        self._profile = profile(engine)
        if self._limits.rows is None:
            self._cap.lower(self._profile.rows)
        if is_local(self._address):
            self._client.close()
            self._client = self._made(self._address, self._profile)

    def select(self, query: str, divisible: bool, fresh: bool = False) -> Rows:
        """Ask a SELECT query until there is a whole answer.

        A query that takes too long is not asked again if it is ``divisible``, since the caller can ask for
        less. `fresh` is of use only to sources that keep answers.
        """
        rows = self._cap.whole(query, self._ask(query, divisible))
        return placed(rows, self.endpoint, query)

    def _ask(self, query: str, divisible: bool = False) -> Table:
        def again(error: RequestError) -> bool:
            return error.transient and not (divisible and isinstance(error, DeadlineError))

        return self._client.ask(self._request(query), self._read, again)

    def _request(self, query: str) -> Request:
        """Write a query as a URL-encoded POST (SPARQL 1.1 Protocol, section 2.1.2).

        It is the request of SPARQLWrapper, which has no public call that writes without sending.
        """
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": answers.ACCEPTED}
        return Request(self.endpoint, query, "POST", headers, f"query={_encoded(query)}".encode())

    def _read(self, response: Response) -> Table:
        """Read a response; the server's name may imply its cap."""
        if self._auto and response.headers.get("server", "").lower().startswith("virtuoso"):
            self._cap.lower(PROFILES["virtuoso"].rows)
        table = answers.read(response, self._profile.broken)
        self._cap.lower(table.most)
        return table


def _encoded(query: str) -> str:
    """URL-encode a query as ``quote_plus`` does where ``/`` is safe, but in a fraction of the time.

    A query is long, and has few distinct characters that are not safe.
    """
    text = query.encode().decode("latin-1")
    unsafe = set(text) - _SAFE
    # Escapes are written with a percent sign, and blanks as a plus.
    text = text.replace("%", "%25")
    for sign in unsafe - {"%", " "}:
        text = text.replace(sign, f"%{ord(sign):02X}")
    return text.replace(" ", "+")
