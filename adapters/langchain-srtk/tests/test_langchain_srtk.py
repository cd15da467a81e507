"""LangChain's standard tests of retrievers and tools, and what it asks of copies and checkpoints."""

from __future__ import annotations

import asyncio
import copy
import json
import pickle
from collections.abc import Sequence
from typing import Any

import attrs
import pytest

pytest.importorskip("langchain_tests", reason="LangChain has an environment of its own: tests/test_adapters.py")
from langchain_core.messages import AIMessage, ToolMessage
from langchain_srtk import SrtkRetriever, SrtkTool
from langchain_tests.integration_tests import RetrieversIntegrationTests, ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from srtk_framework.roles import Expander
from srtk_framework.run import Result, Retriever, Session, open_session
from srtk_framework.values import DriverError, Question, RankedPath, RunError, Step, Subgraph, Triple

ROWS = [
    ["Alien", "directed by", "Ridley Scott"],
    ["Alien", "made in", "United Kingdom"],
    ["Ridley Scott", "born in", "South Shields"],
    ["Alien", "released in", '"1979"^^xsd:gYear'],
    ["Heat", "directed by", "Michael Mann"],
]
ALIEN = "Who directed Alien?"
DRIVERS = {"linker": "dictionary", "expander": {"use": "bfs", "depth": 2}}


def retriever() -> Retriever:
    return Retriever({"use": "memory", "triples": ROWS}, **DRIVERS)


class TestRetriever(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self) -> type[SrtkRetriever]:
        return SrtkRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"source": retriever(), "by": "triple"}

    @property
    def retriever_query_example(self) -> str:
        return ALIEN


class OfTool:
    @property
    def tool_constructor(self) -> type[SrtkTool]:
        return SrtkTool

    @property
    def tool_constructor_params(self) -> dict[str, Any]:
        return {"source": retriever()}

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return {"question": ALIEN}


class TestToolAlone(OfTool, ToolsUnitTests):
    pass


class TestTool(OfTool, ToolsIntegrationTests):
    pass


def documents(of: SrtkRetriever, **settings: Any) -> list[dict[str, Any]]:
    return [{"text": one.page_content, **one.metadata} for one in of.invoke(ALIEN, **settings)]


@attrs.define(eq=False)
class Walk(Expander):
    """Finds a path of two triples."""

    def expand(self, questions: Sequence[Question]) -> list[Subgraph]:
        triples = (Triple(*ROWS[0]), Triple(*ROWS[2]))
        path = RankedPath("Alien", (Step("directed by"), Step("born in")), 0.5)
        return [Subgraph(triples, scores=(0.5, 0.5), paths=(path,), path_of=(0, 0)) for _ in questions]


@pytest.mark.parametrize("by", ["path", "triple"])
def test_documents_are_the_evidence_of_the_result(by: Any) -> None:
    with Session.of(graph={"use": "memory", "triples": ROWS}, linker="dictionary", expander=Walk()) as session:
        found = documents(SrtkRetriever(source=session, by=by))
        assert found == Result(session.retrieve(ALIEN)[0]).evidence(by)
    assert [one["text"] for one in found][:1] == {
        "path": ["Alien -directed by-> Ridley Scott -born in-> South Shields"],
        "triple": ["Alien -directed by-> Ridley Scott"],
    }[by]


def test_an_open_session_is_a_source_too_and_answers_tasks() -> None:
    with open_session(retriever().session.recipe.data) as session:
        of = SrtkRetriever(source=session, by="triple")
        later = asyncio.run(of.ainvoke(ALIEN, k=2))
        assert [one.page_content for one in later] == [one["text"] for one in documents(of, k=2)]
        assert len(later) == 2


def test_copies_and_pickles_retrieve_the_same() -> None:
    of = SrtkRetriever(source=retriever(), by="triple")
    for arrived in (copy.deepcopy(of), pickle.loads(pickle.dumps(of)), of.model_copy(deep=True)):
        assert arrived.source is not of.source
        assert documents(arrived) == documents(of)


def test_an_artifact_is_the_record_in_plain_types_and_passes_a_checkpoint() -> None:
    source = retriever()
    call = {"name": "ask_graph", "args": {"question": ALIEN}, "id": "1", "type": "tool_call"}
    message = SrtkTool(source=source).invoke(call)
    assert isinstance(message, ToolMessage)
    assert message.artifact["triplets"] == source.ask(ALIEN).to_record()["triplets"]
    plain(message.artifact)
    serde = JsonPlusSerializer()
    kept = serde.loads_typed(serde.dumps_typed([AIMessage("", tool_calls=[call]), message]))
    assert kept[1].artifact == message.artifact


def plain(value: Any) -> None:
    assert type(value) in (dict, list, str, int, float, bool, type(None)), type(value)
    for one in [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else ():
        plain(one)


def test_a_text_has_no_more_tokens_than_allowed_and_says_what_it_leaves_out() -> None:
    text = SrtkTool(source=retriever(), tokens=20).invoke({"question": ALIEN})
    assert len(text.split()) < 20
    assert text != SrtkTool(source=retriever()).invoke({"question": ALIEN})
    json.dumps(text)


def test_a_question_about_nothing_in_the_graph_has_no_document_and_a_text_with_the_reason() -> None:
    assert SrtkRetriever(source=retriever()).invoke("Who directed Zzyzx?") == []
    assert "no name of the graph" in SrtkTool(source=retriever()).invoke({"question": "Who directed Zzyzx?"})


@attrs.define(eq=False)
class Broken(Expander):
    """Fails."""

    def expand(self, questions: Sequence[Question]) -> list[Subgraph]:
        raise DriverError("the server is down")


def test_a_failed_driver_is_an_error_and_no_empty_list() -> None:
    with Session.of(graph={"use": "memory", "triples": ROWS}, linker="dictionary", expander=Broken()) as session:
        with pytest.raises(RunError, match="the server is down"):
            SrtkRetriever(source=session).invoke(ALIEN)
        assert "the server is down" in SrtkTool(source=session).invoke({"question": ALIEN})
