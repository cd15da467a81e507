"""A knowledge graph for LangChain: a retriever of evidence and a tool that answers."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from typing import Literal as OneOf

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import BaseTool
from pydantic import BaseModel, Field

from srtk_framework.records import dumps
from srtk_framework.run import Result, Retriever, Session, aresult_of, result_of
from srtk_framework.values import RunError

__all__ = ["SrtkRetriever", "SrtkTool"]


class SrtkRetriever(BaseRetriever):
    """Retrieves evidence of a graph for a question.

    A question in which nothing of the graph is named has no documents.

    Attributes:
        source: A ``Retriever``, which opens itself, or an open ``Session``.
        by: A document for each path, triple, or answer of the reader.
        k: Most documents, the best first; None for all.

    Raises:
        RunError: From ``invoke`` and ``ainvoke``, if a driver fails.
    """

    source: Retriever | Session
    by: OneOf["path", "triple", "answer"] = "path"
    k: int | None = None

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        return self._documents(_ask(self.source, query), k)

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        return self._documents(await _aask(self.source, query), k)

    def _documents(self, result: Result, k: int | None) -> list[Document]:
        if result.failed:
            raise RunError(result.reason)
        records = result.evidence(self.by)[: self.k if k is None else k]
        return [Document(page_content=record.pop("text"), metadata=record) for record in records]


class _Input(BaseModel):
    question: str = Field(description="a question in words, about things that the graph names")


class SrtkTool(BaseTool):
    """Answers a question: the text is for the model, the artifact is the record of ``srtk run``, as plain data.

    Attributes:
        source: A ``Retriever``, which opens itself, or an open ``Session``.
        tokens: Most tokens of the text, which says what it leaves out.
    """

    name: str = "ask_graph"
    description: str = "Answer a question from the knowledge graph, with the triples that prove the answer."
    args_schema: Any = _Input
    response_format: OneOf["content", "content_and_artifact"] = "content_and_artifact"
    source: Retriever | Session
    tokens: int = Field(default=2_000, ge=20)

    def _run(self, question: str) -> tuple[str, dict[str, Any]]:
        return self._told(_ask(self.source, question))

    async def _arun(self, question: str) -> tuple[str, dict[str, Any]]:
        return self._told(await _aask(self.source, question))

    def _told(self, result: Result) -> tuple[str, dict[str, Any]]:
        # Checkpoints of LangGraph take plain types alone, not the literals of a graph, which are texts with methods.
        return result.to_text(tokens=self.tokens), json.loads(dumps(result.to_record()))


def _session(source: Retriever | Session) -> Session:
    return source.open().session if isinstance(source, Retriever) else source


def _ask(source: Retriever | Session, question: str) -> Result:
    session = _session(source)
    return result_of(session, session.retrieve(question)[0])


async def _aask(source: Retriever | Session, question: str) -> Result:
    session = await asyncio.to_thread(_session, source)
    return await aresult_of(session, (await session.aretrieve(question))[0])
