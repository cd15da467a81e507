"""Asks a DBpedia Spotlight server, and reads both of its forms of answer into rows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

from srtk_plugin_sparql import answers
from srtk_plugin_sparql.answers import Reply, Rows
from srtk_plugin_sparql.client import Client
from srtk_plugin_sparql.errors import MalformedError, PartialError
from srtk_plugin_sparql.limits import Limits
from srtk_plugin_sparql.terms import Term

ANNOTATE, CANDIDATES = "annotate", "candidates"
_FIELDS = {
    ANNOTATE: {"uri": "@URI", "score": "@similarityScore"},
    CANDIDATES: {"uri": "@uri", "score": "@finalScore", "label": "@label"},
}


def question(service: str, text: str, settings: Mapping[str, str]) -> str:
    """Write what is asked as one line, under which the answer is also kept and recorded."""
    return json.dumps({"text": text, **settings, "service": service}, ensure_ascii=False)


class SpotlightClient(Client):
    """One Spotlight server, usable from several threads.

    Args:
        endpoint: The URL that ``annotate`` and ``candidates`` are below of.
        limits: How hard to ask.
        user_agent: How the client calls itself.
        headers: Further HTTP headers.
    """

    def __init__(self, endpoint: str, limits: Limits, user_agent: str, headers: Mapping[str, str]) -> None:
        super().__init__(endpoint.rstrip("/"), "auto", limits, user_agent, headers)

    def _send(self, query: str) -> Reply:
        """Send one request and read all of its response."""
        form = json.loads(query)
        url = f"{self._url}/{form.pop('service')}"
        headers = {
            "User-Agent": self._agent,
            "Accept": "application/json",
            "Content-Type": "application/x-www-form-urlencoded",
        }
        return self._transfer(query, "POST", url, headers, urlencode(form, errors="replace").encode())

    def _read(self, reply: Reply, query: str) -> Rows:
        """Read a reply; an answer that names nothing has no rows."""
        if reply.status != 200:
            return answers.read(reply, None, (), self._url, query)
        if not reply.body.strip():
            raise MalformedError("the answer is empty, though the status is 200", self._url, query)
        kind = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
        if not kind.endswith("json"):
            raise MalformedError(f"the answer is {kind or 'of no type'}, not JSON", self._url, query)
        try:
            data = json.loads(reply.body)
        except ValueError as error:
            raise PartialError(f"the answer breaks off or is no JSON ({error})", self._url, query) from error
        service = json.loads(query)["service"]
        try:
            return list(_annotated(data) if service == ANNOTATE else _candidates(data))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            cause = f"the answer is JSON, but none of {service} ({type(error).__name__}: {error})"
            raise MalformedError(cause, self._url, query) from error


def _annotated(data: Any) -> Iterator[dict[str, Term]]:
    """Read ``annotate``: one entity for a mention; no key Resources where nothing is found."""
    if "Resources" not in data and "@text" not in data:
        raise ValueError("neither Resources nor @text")
    for resource in _several(data.get("Resources")):
        yield _row(resource, ANNOTATE, resource["@surfaceForm"], resource["@offset"])


def _candidates(data: Any) -> Iterator[dict[str, Term]]:
    """Read ``candidates``: entities below mentions; where there is one alone, it stands without a list."""
    for mention in _several(data["annotation"].get("surfaceForm")):
        for resource in _several(mention.get("resource")):
            yield _row(resource, CANDIDATES, mention["@name"], mention["@offset"])


def _row(resource: Mapping[str, Any], service: str, surface: Any, offset: Any) -> dict[str, Term]:
    cells = {name: str(resource[key]) for name, key in _FIELDS[service].items() if name != "label"}
    label = str(resource.get(_FIELDS[service].get("label", ""), ""))
    float(cells["score"])
    cells |= {"surface": str(surface), "offset": str(int(offset)), "label": label}
    return {name: Term("literal", value) for name, value in cells.items()}


def _several(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]
