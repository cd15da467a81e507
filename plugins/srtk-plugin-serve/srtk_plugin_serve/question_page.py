"""A page on which people ask, and the data that it draws."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib import resources
from typing import Any

from litestar import Request, Response, get, post
from litestar.datastructures import State
from litestar.params import JSONBody
from srtk_plugin_files.assets import DRAWING, asset, script
from srtk_plugin_files.html import page_data

from srtk_framework.records import read_questions
from srtk_framework.run import Result, Session
from srtk_framework.values import Question, SrtkError
from srtk_plugin_serve.bodies import Around, Asked
from srtk_plugin_serve.routes import OPEN, answered, around

_HEADERS = {
    # The page and its parts come from here, and so does everything that it asks for.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self';"
    " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-cache",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_EXAMPLES = 3
_LONGEST = 80
"""Characters of an example: a line on a phone, or two."""
_LOOKED_AT = 200
"""Questions that are read to choose examples from."""


def _own(name: str) -> str:
    return (resources.files("srtk_plugin_serve") / "page" / name).read_text(encoding="utf-8")


@cache
def _code() -> str:
    parts = [_own("live.js"), *(asset(f"{name}.js") for name in DRAWING), _own("links.js"), _own("ask.js")]
    return script(parts, [_own("neighbours.js")])


def _file(text: str, kind: str) -> Response[str]:
    return Response(text, media_type=kind, headers=_HEADERS)


@get("/", opt={OPEN: True}, include_in_schema=False)
async def page() -> Response[str]:
    """Return the page; what it shows comes from other routes, which want the token."""
    return _file(_own("ask.html"), "text/html")


@get("/page.js", opt={OPEN: True}, include_in_schema=False)
async def code() -> Response[str]:
    """Return the script of the page."""
    return _file(_code(), "text/javascript")


@get("/page.css", opt={OPEN: True}, include_in_schema=False)
async def style() -> Response[str]:
    """Return the style sheet of the page."""
    return _file(asset("page.css") + _own("ask.css"), "text/css")


@get("/page.svg", opt={OPEN: True}, include_in_schema=False)
async def icon() -> Response[str]:
    """Return the icon of the page."""
    return _file(_own("icon.svg"), "image/svg+xml")


@get("/page/examples", include_in_schema=False)
async def examples(state: State) -> list[str]:
    """Return some short questions of the recipe; none where it has none, or they cannot be read."""
    session: Session = state.session
    return await session.aturn(_examples, session)


@post("/page/ask", status_code=200, include_in_schema=False)
async def ask(data: JSONBody[Asked], request: Request[Any, Any, State], state: State) -> dict[str, Any]:
    """Answer a question with the data of its drawing."""
    return _drawn(await answered(data, request, state.session))


@post("/page/expand", status_code=200, include_in_schema=False)
async def expand(data: JSONBody[Around], request: Request[Any, Any, State], state: State) -> list[dict[str, Any]]:
    """Return the neighbours of entities as data of a drawing."""
    return [_drawn(one) for one in await around(data, request, state.session)]


HANDLERS = [page, code, style, icon, examples, ask, expand]


def _drawn(result: Result) -> dict[str, Any]:
    near = [[link.entity, link.name or link.entity] for link in result.near]
    return {**page_data(result.retrieval), "error": result.reason or None, "near": near}


def _examples(session: Session) -> list[str]:
    if session.dataset is None or session.dataset == "-":
        return []
    questions: Iterable[Question]
    with suppress(SrtkError):  # whoever asks needs no examples
        questions = read_questions(session.dataset) if isinstance(session.dataset, str) else session.dataset.read()
        texts = [question.text for question in itertools.islice(questions, _LOOKED_AT)]
        short = [text for text in dict.fromkeys(texts) if 0 < len(text) <= _LONGEST] or texts[:_EXAMPLES]
        # Questions of one kind often stand together.
        return [short[len(short) * i // _EXAMPLES] for i in range(min(_EXAMPLES, len(short)))]
    return []
