"""Asks the search of a Wikibase (``wbsearchentities`` of the action API), and reads its answers into rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from srtk_plugin_sparql import answers
from srtk_plugin_sparql.answers import Reply, Rows
from srtk_plugin_sparql.client import Client
from srtk_plugin_sparql.errors import (
    MalformedError,
    PartialError,
    QueryError,
    RefusedError,
    ThrottledError,
    UnavailableError,
)
from srtk_plugin_sparql.limits import Limits
from srtk_plugin_sparql.terms import Term

MAX_LAG = 5
"""Seconds that the servers may lag behind before they are left alone."""

_THROTTLED = ("ratelimited", "actionthrottledtext")
_FAILED = ("readonly", "internal_api_error", "search-backend-error", "cirrussearch-", "too-busy")


def question(mention: str, language: str, limit: int) -> str:
    """Write what is asked as one line, under which the answer is also kept and recorded."""
    return json.dumps({"search": mention, "language": language, "limit": str(limit)}, ensure_ascii=False)


class SearchClient(Client):
    """The API of one Wikibase, usable from several threads.

    Args:
        endpoint: URL of its ``api.php``.
        limits: How hard to ask.
        user_agent: How the client calls itself.
        headers: Further HTTP headers.
    """

    def __init__(self, endpoint: str, limits: Limits, user_agent: str, headers: Mapping[str, str]) -> None:
        super().__init__(endpoint, "auto", limits, user_agent, headers)

    def _send(self, query: str) -> Reply:
        """Send one request and read all of its response."""
        asked = json.loads(query)
        form = {
            "action": "wbsearchentities",
            **asked,
            "uselang": asked["language"],
            "type": "item",
            "format": "json",
            "formatversion": "2",
            "maxlag": str(MAX_LAG),
        }
        url = f"{self._url}?{urlencode(form, errors='replace')}"
        return self._transfer(query, "GET", url, {"User-Agent": self._agent, "Accept": "application/json"})

    def _read(self, reply: Reply, query: str) -> Rows:
        """Read a reply; the API tells its errors under status 200 as well."""
        if reply.status == 200 and not reply.body.strip():
            raise MalformedError("the answer is empty, though the status is 200", self._url, query)
        data = self._json(reply, query)
        told = data.get("error") if isinstance(data, dict) else None
        if isinstance(told, dict):
            raise self._told(told, reply, query)
        if reply.status != 200:
            return answers.read(reply, None, (), self._url, query)
        try:
            return [_row(hit) for hit in data["search"]]
        except (AttributeError, KeyError, TypeError) as error:
            cause = f"the answer is JSON, but no list of hits ({type(error).__name__}: {error})"
            raise MalformedError(cause, self._url, query) from error

    def _json(self, reply: Reply, query: str) -> Any:
        kind = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            if reply.status != 200:
                return None
            raise MalformedError(f"the answer is {kind or 'of no type'}, not JSON", self._url, query)
        try:
            return json.loads(reply.body)
        except ValueError as error:
            if reply.status != 200:
                return None
            raise PartialError(f"the answer breaks off or is no JSON ({error})", self._url, query) from error

    def _told(self, told: Mapping[str, Any], reply: Reply, query: str) -> QueryError:
        """Turn an error of the API into one of ours."""
        code = str(told.get("code", ""))
        cause = f"the API says {code}: {str(told.get('info', ''))[:200]}"
        wait = answers.retry_after(reply.headers)
        if code == "maxlag":
            return ThrottledError(cause, self._url, query, MAX_LAG if wait is None else wait)
        if code in _THROTTLED or reply.status == 429:
            return ThrottledError(cause, self._url, query, wait)
        if code.startswith(_FAILED) or reply.status >= 500:
            return UnavailableError(cause, self._url, query)
        return RefusedError(cause, self._url, query)


def _row(hit: Mapping[str, Any]) -> dict[str, Term]:
    """Keep of a hit what a link needs: id, label, and the name that the mention met."""
    match = hit.get("match") or {}
    cells = {
        "id": hit["id"],
        "label": hit.get("label", ""),
        "kind": match.get("type", ""),
        "name": match.get("text", hit.get("label", "")),
    }
    return {name: Term("literal", str(value)) for name, value in cells.items()}
