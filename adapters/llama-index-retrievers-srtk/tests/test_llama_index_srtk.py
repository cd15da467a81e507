"""The retriever as LlamaIndex uses it."""

from __future__ import annotations

import asyncio
import copy
import pickle
from collections.abc import Sequence
from typing import Any

import attrs
import pytest

pytest.importorskip("llama_index.core", reason="LlamaIndex has an environment of its own: tests/test_adapters.py")
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import MetadataMode
from llama_index.retrievers.srtk import SrtkRetriever

from srtk_framework.roles import Expander
from srtk_framework.run import Result, Retriever, Session
from srtk_framework.values import DriverError, Question, RankedPath, RunError, Step, Subgraph, Triple

ROWS = [
    ["Alien", "directed by", "Ridley Scott"],
    ["Alien", "made in", "United Kingdom"],
    ["Ridley Scott", "born in", "South Shields"],
]
ALIEN = "Who directed Alien?"


def source() -> Retriever:
    return Retriever({"use": "memory", "triples": ROWS}, linker="dictionary", expander={"use": "bfs", "depth": 2})


def records(of: SrtkRetriever) -> list[dict[str, Any]]:
    return [{"text": one.node.get_content(), "score": one.score, **one.node.metadata} for one in of.retrieve(ALIEN)]


@attrs.define(eq=False)
class Walk(Expander):
    """Finds a path of two triples."""

    def expand(self, questions: Sequence[Question]) -> list[Subgraph]:
        triples = (Triple(*ROWS[0]), Triple(*ROWS[2]))
        path = RankedPath("Alien", (Step("directed by"), Step("born in")), 0.5)
        return [Subgraph(triples, scores=(0.5, 0.5), paths=(path,), path_of=(0, 0)) for _ in questions]


@pytest.mark.parametrize("by", ["path", "triple"])
def test_nodes_are_the_evidence_of_the_result(by: Any) -> None:
    with Session.of(graph={"use": "memory", "triples": ROWS}, linker="dictionary", expander=Walk()) as session:
        found = records(SrtkRetriever(session, by=by))
        assert found == Result(session.retrieve(ALIEN)[0]).evidence(by)
    assert found[0]["score"] == 0.5


def test_a_session_is_a_source_too_and_answers_tasks() -> None:
    with source() as opened:
        of = SrtkRetriever(opened.session, by="triple", k=2)
        later = asyncio.run(of.aretrieve(ALIEN))
        assert [one.node.get_content() for one in later] == [one["text"] for one in records(of)]
        assert len(later) == 2


def test_copies_and_pickles_retrieve_the_same() -> None:
    of = SrtkRetriever(source(), by="triple")
    for arrived in (copy.deepcopy(of), pickle.loads(pickle.dumps(of))):
        assert arrived.source is not of.source
        assert records(arrived) == records(of)


def test_a_language_model_is_shown_the_text_alone() -> None:
    of = SrtkRetriever(source(), by="triple")
    [first, *_] = of.retrieve(ALIEN)
    for mode in (MetadataMode.LLM, MetadataMode.EMBED):
        assert first.node.get_content(mode) == first.node.get_content(MetadataMode.NONE)
    answer = RetrieverQueryEngine.from_args(of, llm=MockLLM()).query(ALIEN)
    assert [one.node.metadata["triples"] for one in answer.source_nodes] == [one["triples"] for one in records(of)]


def test_a_question_about_nothing_in_the_graph_has_no_node() -> None:
    assert SrtkRetriever(source()).retrieve("Who directed Zzyzx?") == []


@attrs.define(eq=False)
class Broken(Expander):
    """Fails."""

    def expand(self, questions: Sequence[Question]) -> list[Subgraph]:
        raise DriverError("the server is down")


def test_a_failed_driver_is_an_error_and_no_empty_list() -> None:
    session = Session.of(graph={"use": "memory", "triples": ROWS}, linker="dictionary", expander=Broken())
    with session, pytest.raises(RunError, match="the server is down"):
        SrtkRetriever(session).retrieve(ALIEN)
