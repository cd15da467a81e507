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
from srtk_framework.text import answer_line, answer_notes, count_tokens, lacking
from srtk_framework.values import Question, on_one_line
from srtk_plugin_serve.bodies import MODEL, SECONDS, Chat, ChatFault
from srtk_plugin_serve.gone import while_here
from srtk_plugin_serve.routes import faults_as

_DESCRIBED = {"id": MODEL, "object": "model", "created": 0, "owned_by": "srtk"}

FAULTS = faults_as(ChatFault)

_CITED = 10
"""Most triples that the text of an answer cites."""


@get("/v1/models")
async def models() -> dict[str, Any]:
    """List the only model."""
    return {"object": "list", "data": [_DESCRIBED]}


@get("/v1/models/{name:str}", responses=FAULTS)
async def model(name: FromPath[str]) -> dict[str, Any]:
    """Describe the only model."""
    _check_model(name)
    return _DESCRIBED


@post("/v1/chat/completions", status_code=200, responses=FAULTS)
async def completions(
    data: JSONBody[Chat], request: Request[Any, Any, State], state: State
) -> Response[dict[str, Any]] | Stream:
    """Answer the last message of the user, with numbered sources in the text and under `citations`."""
    session: Session = state.session
    _check_model(data.model)
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


def _check_model(name: str) -> None:
    """Refuse a model that is not there.

    Raises:
        NotFoundException: With the name of the only model.
    """
    if name != MODEL:
        raise NotFoundException(f"there is no model {name!r}; the only one is {MODEL}")


def last_question(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the text of the last message of the user; parts of a message that are no text are left out.

    Raises:
        ValueError: If there is no message of the user, or the last one has no text.
    """
    for message in reversed(messages):
        if message.get("role") == "user":
            content = message.get("content")
            parts = [content] if isinstance(content, str) else content if isinstance(content, list) else []
            texts = [part.get("text") if isinstance(part, Mapping) else part for part in parts]
            if text := "\n".join(part for part in texts if isinstance(part, str) and part.strip()):
                return text
            raise ValueError("messages: the last one of the user has no text; ask in words")
    raise ValueError("messages: none of them is of the user")


def cited(result: Result) -> tuple[str, list[dict[str, Any]]]:
    """Write an answer as text with numbered sources.

    Returns:
        The text, and the sources: the number, the triple in names and in ids, its source, its score, and its
        confidence, which is below 1 where the graph lacks it. The sources are the whole proof, or the nearest triples
        where there is none; the text has the first ten.
    """
    subgraph, answer, refusal = result.retrieval.subgraph, result.answer, result.refusal
    proof = answer.support if answer is not None and not refusal else ()
    chosen = list(dict.fromkeys(proof or range(min(_CITED, len(subgraph.triples)))))
    citations: list[dict[str, Any]] = []
    for number, place in enumerate(chosen, 1):
        triple = subgraph.triples[place]
        citations.append(
            {
                "number": number,
                "text": " - ".join(result.label(part) for part in triple),
                "triple": [str(part) for part in triple],
                "source": subgraph.provenance[place] if subgraph.provenance else "",
                "score": subgraph.scores[place] if subgraph.scores else None,
                "confidence": subgraph.confidences[place] if subgraph.confidences else 1.0,
            }
        )
    shown = citations[:_CITED]
    marks = "".join(f"[{one['number']}]" for one in shown)
    nearest = [f"The nearest triples: {marks}" if marks else "No triple was found."]
    if refusal:
        near = ", ".join(on_one_line(link.name or link.entity) for link in result.near)
        names = [f"Names like it: {near}."] if near else []
        lines = [" ".join([f"No answer: {refusal.rstrip('.')}.", *(nearest if marks else names)])]
    elif answer is None:
        lines = nearest
    else:
        lines = [f"{on_one_line(answer_line(answer, subgraph))} {marks}".rstrip()]
    lines += map(on_one_line, answer_notes(answer, subgraph, result.labels))
    sources = [f"[{one['number']}] {one['text']}{lacking(one['confidence'])}" for one in shown]
    if len(citations) > len(shown):
        sources.append(f"and {len(citations) - len(shown)} more triples of the proof")
    return "\n".join([*lines, *(["", *sources] if sources else [])]), citations


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
