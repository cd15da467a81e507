"""Requests to a DBpedia Spotlight server, and both forms of its answers read into rows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

from srtk_plugin_sparql.service_linker import ServiceClient
from srtk_plugin_sparql.terms import Row, Rows, Term
from srtk_plugin_web import MalformedError, Request, Response, checked, whole_number

ANNOTATE, CANDIDATES = "annotate", "candidates"
_FIELDS = {
    ANNOTATE: {"uri": "@URI", "score": "@similarityScore"},
    CANDIDATES: {"uri": "@uri", "score": "@finalScore", "label": "@label"},
}


def question(service: str, text: str, settings: Mapping[str, str]) -> str:
    """Write a question as one line, which is also the key of its answer in cache and record."""
    return json.dumps({"text": text, **settings, "service": service}, ensure_ascii=False)


class SpotlightClient(ServiceClient):
    """One Spotlight server; its endpoint is the URL above ``annotate`` and ``candidates``."""

    noun = "text"

    def select(self, query: str, divisible: bool, fresh: bool = False) -> Rows:
        """Ask about the text of a `question` until there is an answer, without rows if it names nothing."""
        form = json.loads(query)
        service = form.pop("service")
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        body = urlencode(form, errors="replace").encode()
        request = Request(f"{self.endpoint}/{service}", form["text"], "POST", kind, body)
        return self._client.ask(request, lambda response: _read(response, service))


def _read(response: Response, service: str) -> Rows:
    if not checked(response).kind.endswith("json"):
        raise MalformedError(f"the answer is {response.kind or 'of no type'}, not JSON")
    data = response.json()
    try:
        return list(_annotated(data) if service == ANNOTATE else _candidates(data))
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
        cause = f"the answer is JSON, but not in the form of {service} ({type(error).__name__}: {error})"
        raise MalformedError(cause) from error


def _annotated(data: Any) -> Iterator[Row]:
    """Read ``annotate``: one entity for a mention; no key Resources where nothing is found."""
    if "Resources" not in data and "@text" not in data:
        raise ValueError("neither Resources nor @text")
    for resource in _several(data.get("Resources")):
        yield _row(resource, ANNOTATE, resource["@surfaceForm"], resource["@offset"])


def _candidates(data: Any) -> Iterator[Row]:
    """Read ``candidates``: entities below mentions; where there is one alone, it stands without a list."""
    for mention in _several(data["annotation"].get("surfaceForm")):
        for resource in _several(mention.get("resource")):
            yield _row(resource, CANDIDATES, mention["@name"], mention["@offset"])


def _row(resource: Mapping[str, Any], service: str, surface: Any, offset: Any) -> Row:
    """Keep the parts of an entity that a link needs; numbers may also be texts."""
    fields = _FIELDS[service]
    label = resource.get(fields.get("label", ""), "")
    for name, text in (("entity", resource[fields["uri"]]), ("mention", surface), ("label", label)):
        if not isinstance(text, str):
            raise ValueError(f"the {name} is {text!r}, not a text")  # noqa: TRY004 - the answer is bad, not the type
    score, place = resource[fields["score"]], offset if isinstance(offset, int) else whole_number(str(offset))
    if isinstance(score, bool) or isinstance(offset, bool) or place is None or place < 0:
        raise ValueError(f"the score is {score!r}, the offset {offset!r}")
    float(score)
    cells = {"uri": resource[fields["uri"]], "score": str(score), "surface": surface, "offset": str(place)}
    return Row({name: Term("literal", value) for name, value in {**cells, "label": label}.items()})


def _several(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]
