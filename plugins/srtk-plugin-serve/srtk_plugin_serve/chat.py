"""An OpenAI-compatible chat: the last message of the user is asked of the graph, and the answer cites its triples.

Front ends that speak this protocol can so ask a graph. Fields of the request that mean nothing to a graph, such as
``temperature``, are ignored. Protocol: https://platform.openai.com/docs/api-reference/chat
"""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import msgspec
from litestar import Request, Response, get, post
from litestar.datastructures import State
from litestar.exceptions import NotFoundException
from litestar.params import FromPath, JSONBody
from litestar.response import Stream

from srtk_framework.run import Result, Session, aresult_of
from srtk_framework.text import answer_line, count_tokens
from srtk_framework.values import Question
from srtk_plugin_serve.bodies import SECONDS, Chat, ChatFault
from srtk_plugin_serve.gone import while_here
from srtk_plugin_serve.routes import faults_as

MODEL = "srtk"
"""Name of the only model."""

_DESCRIBED = {"id": MODEL, "object": "model", "created": 0, "owned_by": "srtk"}

FAULTS = faults_as(ChatFault)

_CITED = 10
"""Most triples that an answer cites."""


@get("/v1/models")
async def models() -> dict[str, Any]:
    """List the only model."""
    return {"object": "list", "data": [_DESCRIBED]}


@get("/v1/models/{name:str}", responses=FAULTS)
async def model(name: FromPath[str]) -> dict[str, Any]:
    """Describe the only model."""
    if name != MODEL:
        raise NotFoundException(f"there is no model {name!r}; the only one is {MODEL}")
    return _DESCRIBED


@post("/v1/chat/completions", status_code=200, responses=FAULTS)
async def completions(
    data: JSONBody[Chat], request: Request[Any, Any, State], state: State
) -> Response[dict[str, Any]] | Stream:
    """Answer the last message of the user, with numbered sources in the text and under `citations`."""
    session: Session = state.session
    question = Question("0", last_question(data.messages))

    async def answered() -> Result:
        [retrieval] = await session.aretrieve([question], timeout=SECONDS)
        return await aresult_of(session, retrieval, SECONDS)

    text, citations = cited(await while_here(request, answered()))
    head = {"id": f"chatcmpl-{uuid.uuid4().hex}", "created": int(time.time()), "model": MODEL}
    usage = _usage(question.text, text)
    if data.stream:
        counted = usage if (data.stream_options or {}).get("include_usage") else None
        return Stream(_chunks(head, text, citations, counted), media_type="text/event-stream")
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    body = {"object": "chat.completion", "choices": [choice], "citations": citations, "usage": usage}
    return Response({**head, **body})


HANDLERS = [models, model, completions]


def last_question(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the text of the last message of the user; parts of a message that are no text are left out.

    Raises:
        ValueError: If there is none.
    """
    for message in reversed(messages):
        if message.get("role") == "user":
            content = message.get("content")
            parts = [content] if isinstance(content, str) else content if isinstance(content, list) else []
            texts = [part.get("text") if isinstance(part, Mapping) else part for part in parts]
            text = "\n".join(part for part in texts if isinstance(part, str) and part)
            if text:
                return text
    raise ValueError("messages: none of them is a text of the user")


def cited(result: Result) -> tuple[str, list[dict[str, Any]]]:
    """Write an answer as text with numbered sources.

    Returns:
        The text, and the sources: the number, the triple in names and in ids, its source and its score.
    """
    if result.error is not None:
        near = (
            [f" Names like it: {', '.join(link.name or link.entity for link in result.near)}."] if result.near else []
        )
        return "".join([f"No answer: {result.reason}.", *near]), []
    subgraph, answer = result.retrieval.subgraph, result.answer
    proof = answer.support if answer is not None else ()
    chosen = list(dict.fromkeys([*proof, *range(0 if proof else min(_CITED, len(subgraph.triples)))]))[:_CITED]
    citations = []
    for number, place in enumerate(chosen, 1):
        triple = subgraph.triples[place]
        citations.append(
            {
                "number": number,
                "text": " - ".join(result.label(part) for part in triple),
                "triple": [str(part) for part in triple],
                "source": subgraph.provenance[place] if subgraph.provenance else "",
                "score": subgraph.scores[place] if subgraph.scores else None,
            }
        )
    marks = "".join(f"[{one['number']}]" for one in citations)
    if not citations:
        text = "No triple was found."
    elif answer is None or not answer.enough:
        text = f"The graph has no certain answer. The nearest triples: {marks}"
    else:
        text = f"{answer_line(answer, subgraph)} {marks}"
    sources = [f"[{one['number']}] {one['text']}" for one in citations]
    return "\n".join([text, "", *sources]) if sources else text, citations


def _usage(question: str, text: str) -> dict[str, int]:
    """Count the tokens of question and answer, as budgets count them; no language model is paid for them."""
    asked, said = count_tokens(question), count_tokens(text)
    return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}


async def _chunks(
    head: Mapping[str, Any], text: str, citations: list[dict[str, Any]], usage: Mapping[str, int] | None
) -> AsyncIterator[str]:
    """Yield the events of a stream: the role, the text line by line, the end with its citations, the usage if asked."""

    def event(delta: Mapping[str, Any], reason: str | None = None, **more: Any) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        body = {**head, "object": "chat.completion.chunk", "choices": [choice], **more}
        return f"data: {msgspec.json.encode(body).decode()}\n\n"

    yield event({"role": "assistant", "content": ""})
    for line in text.splitlines(keepends=True):
        yield event({"content": line})
    yield event({}, "stop", citations=citations)
    if usage is not None:
        yield event({}, choices=[], usage=usage)
    yield "data: [DONE]\n\n"
