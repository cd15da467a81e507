"""Requests to the search of a Wikibase (``wbsearchentities`` of its action API), and its answers read into rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from srtk_plugin_sparql.service_linker import ServiceClient
from srtk_plugin_sparql.terms import Row, Rows, Term
from srtk_plugin_web import (
    DeniedError,
    EmptyError,
    MalformedError,
    Request,
    RequestError,
    Response,
    ThrottledError,
    UnavailableError,
    retry_after,
    shortened,
    status_error,
)

MAX_LAG = 5  # Replication lag in seconds above which the API answers that it is too busy

_THROTTLED = ("ratelimited", "actionthrottledtext")
_FAILED = ("readonly", "internal_api_error", "search-backend-error", "cirrussearch-", "too-busy")


def question(mention: str, language: str, limit: int) -> str:
    """Write a question as one line, which is also the key of its answer in cache and record."""
    return json.dumps({"search": mention, "language": language, "limit": str(limit)}, ensure_ascii=False)


class SearchClient(ServiceClient):
    """The API of one Wikibase; its endpoint is the URL of its ``api.php``."""

    noun = "mention"

    def select(self, query: str, divisible: bool, fresh: bool = False) -> Rows:
        """Look the mention of a `question` up until there is an answer."""
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
        url = f"{self.endpoint}?{urlencode(form, errors='replace')}"
        return self._client.ask(Request(url, asked["search"]), _read)


def _read(response: Response) -> Rows:
    """Read a response; the API reports errors under status 200 as well."""
    if response.status == 200 and not response.body.strip():
        raise EmptyError("the answer is empty, though the status is 200")
    data = _json(response)
    reported = data.get("error") if isinstance(data, dict) else None
    if isinstance(reported, dict):
        raise _reported(reported, response)
    if response.status != 200:
        raise status_error(response)
    hits = data.get("search") if isinstance(data, dict) else None
    if not isinstance(hits, list):
        raise MalformedError("the answer is JSON, but no list of hits")
    return [_row(hit) for hit in hits]


def _json(response: Response) -> Any:
    """Parse a body; None for an error whose body is not JSON."""
    if response.kind != "application/json":
        if response.status != 200:
            return None
        raise MalformedError(f"the answer is {response.kind or 'of no type'}, not JSON")
    try:
        return response.json()
    except MalformedError:
        if response.status != 200:
            return None
        raise


def _reported(error: Mapping[str, Any], response: Response) -> RequestError:
    """Make the error that the API reports."""
    code = str(error.get("code", ""))
    cause = f"the API says {code}: {str(error.get('info', ''))[:200]}"
    wait = retry_after(response.headers)
    if code == "maxlag":
        return ThrottledError(cause, MAX_LAG if wait is None else wait)
    if code in _THROTTLED or response.status == 429:
        return ThrottledError(cause, wait)
    if code.startswith(_FAILED) or response.status >= 500:
        return UnavailableError(cause)
    return DeniedError(cause)


def _row(hit: Any) -> Row:
    """Keep id and label of a hit, and the name that the mention matched."""
    match = (hit.get("match") or {}) if isinstance(hit, dict) else None
    if not isinstance(match, dict):
        raise MalformedError(f"the answer has a hit that is none: {shortened(repr(hit))}")
    cells = {
        "id": hit.get("id"),
        "label": hit.get("label", ""),
        "kind": match.get("type", ""),
        "name": match.get("text", hit.get("label", "")),
    }
    for name, value in cells.items():
        if not isinstance(value, str) or (name == "id" and not value):
            raise MalformedError(f"the answer has a hit whose {name} is {shortened(repr(value))}")
    return Row({name: Term("literal", value) for name, value in cells.items()})
