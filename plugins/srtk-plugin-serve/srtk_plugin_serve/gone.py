"""Calls that end when their client has gone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

from litestar import Request
from litestar.exceptions import ClientException

T = TypeVar("T")


async def while_here(request: Request[Any, Any, Any], call: Awaitable[T]) -> T:
    """Await a call as long as the client of the request is there.

    Raises:
        ClientException: If the client went first; the call is cancelled, and frees its place in the session.
    """
    work = asyncio.ensure_future(call)
    gone = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            raise ClientException("the client has gone", status_code=499)
        return work.result()
    finally:
        work.cancel()
        gone.cancel()


async def _gone(request: Request[Any, Any, Any]) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
