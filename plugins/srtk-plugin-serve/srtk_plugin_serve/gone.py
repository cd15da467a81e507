"""Calls that end when their client has gone, or the service is stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

from litestar import Request
from litestar.exceptions import ClientException, HTTPException, ServiceUnavailableException

T = TypeVar("T")

BODY_SECONDS = 60.0
"""Seconds in which a body must arrive; a client that sends no end of it holds its place no longer."""

STOPPED = "the service was stopped before it answered; ask again when it runs"


async def while_running(call: Awaitable[T]) -> T:
    """Await a call as long as the service runs.

    Raises:
        ServiceUnavailableException: If it was stopped first; the server then cancels what is not answered in time.
    """
    try:
        return await call
    except asyncio.CancelledError:
        raise ServiceUnavailableException(STOPPED) from None


async def body_of(request: Request[Any, Any, Any]) -> bytes:
    """Return the body of a request.

    Raises:
        HTTPException: If it does not come in time, or the service was stopped first.
    """
    try:
        return await while_running(asyncio.wait_for(request.body(), BODY_SECONDS))
    except TimeoutError:
        raise HTTPException(f"the body did not come within {BODY_SECONDS:g} seconds", status_code=408) from None


async def while_here(request: Request[Any, Any, Any], call: Awaitable[T]) -> T:
    """Await a call as long as the client of the request is there.

    Raises:
        ClientException: If the client went first; the call is cancelled, and frees its place in the session.
        ServiceUnavailableException: If the service was stopped first.
    """
    work = asyncio.ensure_future(call)
    gone = asyncio.ensure_future(_gone(request))
    try:
        await while_running(asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED))
        if not work.done():
            raise ClientException("the client has gone", status_code=499)
        return work.result()
    finally:
        work.cancel()
        gone.cancel()


async def _gone(request: Request[Any, Any, Any]) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
