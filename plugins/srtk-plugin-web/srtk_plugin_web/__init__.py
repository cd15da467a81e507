"""One polite HTTP client for every plugin that talks to a web service.

    client = Client("https://example.org/annotate", Limits(per_second=2), "my-plugin/1.0 (me@example.org)")
    data = client.ask(Request(url=client.url, subject=text), lambda response: checked(response).json())

The whole request has a deadline, answers have a largest size, redirects stay on their host, and every failure
is a `RequestError`. Importing this room loads no HTTP library; opening a `Client` needs the extra `web`.
"""

from srtk_plugin_web.breaker import Breaker
from srtk_plugin_web.cache import Cache
from srtk_plugin_web.client import Client
from srtk_plugin_web.faults import (
    CircuitOpenError,
    ClosedError,
    CredentialError,
    DeadlineError,
    DeniedError,
    EmptyError,
    MalformedError,
    NotCachedError,
    OversizeError,
    PartialError,
    RefusedError,
    RequestError,
    ThrottledError,
    UnavailableError,
    UnreachableError,
    shortened,
)
from srtk_plugin_web.limits import Limits, is_local
from srtk_plugin_web.messages import Request, Response, checked, retry_after, status_error, whole_number
from srtk_plugin_web.rate_limit import Gate, TokenBucket

__all__ = [
    "Breaker",
    "Cache",
    "CircuitOpenError",
    "Client",
    "ClosedError",
    "CredentialError",
    "DeadlineError",
    "DeniedError",
    "EmptyError",
    "Gate",
    "Limits",
    "MalformedError",
    "NotCachedError",
    "OversizeError",
    "PartialError",
    "RefusedError",
    "Request",
    "RequestError",
    "Response",
    "ThrottledError",
    "TokenBucket",
    "UnavailableError",
    "UnreachableError",
    "checked",
    "is_local",
    "retry_after",
    "shortened",
    "status_error",
    "whole_number",
]
