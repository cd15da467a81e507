"""A knowledge graph for LlamaIndex: a retriever of evidence."""

from __future__ import annotations

import asyncio
from typing import Any
from typing import Literal as OneOf

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from srtk_framework.run import Result, Retriever, Session, aresult_of, result_of
from srtk_framework.values import RunError

__all__ = ["SrtkRetriever"]


class SrtkRetriever(BaseRetriever):
    """Retrieves evidence of a graph for a question.

    A question in which nothing of the graph is named has no nodes. Metadata of a node are ``sources`` and ``triples``;
    a language model is shown the text alone.

    Args:
        source: A ``Retriever``, which opens itself, or an open ``Session``.
        by: A node for each path, triple, or answer of the reader.
        k: Most nodes, the best first; None for all.
        settings: Keyword arguments of LlamaIndex's ``BaseRetriever``.

    Raises:
        RunError: From ``retrieve`` and ``aretrieve``, if a driver fails.
    """

    def __init__(
        self,
        source: Retriever | Session,
        *,
        by: OneOf["path", "triple", "answer"] = "path",
        k: int | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(**settings)
        self.source, self.by, self.k = source, by, k

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        session = self._session()
        return self._nodes(result_of(session, session.retrieve(query_bundle.query_str)[0]))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        session = await asyncio.to_thread(self._session)
        return self._nodes(await aresult_of(session, (await session.aretrieve(query_bundle.query_str))[0]))

    def _session(self) -> Session:
        return self.source.open().session if isinstance(self.source, Retriever) else self.source

    def _nodes(self, result: Result) -> list[NodeWithScore]:
        if result.failed:
            raise RunError(result.reason)
        return [
            NodeWithScore(
                node=TextNode(
                    text=record["text"],
                    metadata={"sources": record["sources"], "triples": record["triples"]},
                    excluded_embed_metadata_keys=["sources", "triples"],
                    excluded_llm_metadata_keys=["sources", "triples"],
                ),
                score=record["score"],
            )
            for record in result.evidence(self.by)[: self.k]
        ]
