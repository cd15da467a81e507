"""What is sent to a service: parameters or a body, and the token in its place."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import urlencode

import attrs


@attrs.frozen
class Request:
    """One request; its token is the service's affair.

    Attributes:
        text: What is asked about, for errors.
        query: Parameters in the URL.
        form: Parameters in the body, URL-encoded; the request is a POST then.
        body: What goes as JSON into the body; the request is a POST then.
    """

    text: str
    query: tuple[tuple[str, str], ...] = ()
    form: tuple[tuple[str, str], ...] | None = None
    body: Any = None


@attrs.frozen
class Credential:
    """A token and the place where the service wants it.

    Attributes:
        where: ``header``, ``query`` or ``form``.
        name: Of the header or parameter.
        value: The token, shown to nobody.
    """

    where: Literal["header", "query", "form"]
    name: str
    value: str = attrs.field(repr=False)


def parts(request: Request, url: str, headers: Mapping[str, str], token: Credential | None) -> dict[str, Any]:
    """Make method, URL, headers and body."""
    headers = dict(headers)
    query, form, body = list(request.query), request.form, None
    if token is not None and token.where == "header":
        headers[token.name] = token.value
    elif token is not None and token.where == "query":
        query.append((token.name, token.value))
    elif token is not None:
        form = (*(form or ()), (token.name, token.value))
    if form is not None:
        headers["Content-Type"] = "application/x-www-form-urlencoded; charset=utf-8"
        body = urlencode(form).encode()
    elif request.body is not None:
        headers["Content-Type"] = "application/json"
        body = json.dumps(request.body, ensure_ascii=False).encode()
    joint = "&" if "?" in url else "?"
    whole = f"{url}{joint}{urlencode(query)}" if query else url
    return {"method": "GET" if body is None else "POST", "url": whole, "headers": headers, "body": body}


def key_of(request: Request, url: str) -> str:
    """Name what is asked, whoever asks."""
    asked = [url, request.query, request.form, request.body]
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
