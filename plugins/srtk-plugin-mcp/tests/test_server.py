"""The tools by the official client: structured triples, bounded texts, errors as sentences."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import pytest
from mcp import Client
from srtk_plugin_mcp import mcp_server
from srtk_plugin_mcp.results import TOKENS, text_of

import srtk_framework
from srtk_framework.roles import Reader
from srtk_framework.run import Session
from srtk_framework.text import count_tokens
from srtk_framework.values import Answer, Question, Subgraph

ROWS = [
    ["Alien", "directed by", "Ridley Scott"],
    ["Blade Runner", "directed by", "Ridley Scott"],
    ["Heat", "directed by", "Michael Mann"],
    *([f"film {i}", "shown in", "Rome"] for i in range(300)),
]


@attrs.define(eq=False)
class First(Reader):
    """Answers with the object of the first triple."""

    def read(self, questions: Sequence[Question], subgraphs: Sequence[Subgraph]) -> list[Answer]:
        return [Answer(str(s.triples[0].object), (s.triples[0].object,), (0,), certainty="sure") for s in subgraphs]


@attrs.define(eq=False)
class Told(Reader):
    """Gives one answer."""

    answer: Answer

    def read(self, questions: Sequence[Question], subgraphs: Sequence[Subgraph]) -> list[Answer]:
        return [self.answer for _ in subgraphs]


def recipe(reader: Reader | None = None) -> dict[str, Any]:
    return {
        "srtk": 1,
        "knowledge_graph": {"use": "memory", "triples": ROWS},
        "entity_linker": {"use": "dictionary"},
        "expander": {"use": "bfs", "depth": 2},
        "reader": reader or First(),
    }


def called(tool: str, arguments: dict[str, Any], make: Callable[[], Session] | None = None) -> Any:
    """Call a tool by a client in the same process."""

    async def talk() -> Any:
        async with Client(mcp_server(make or (lambda: srtk_framework.open(recipe())))) as client:
            return await client.call_tool(tool, arguments)

    return asyncio.run(talk())


def text(result: Any) -> str:
    return str(result.content[0].text)


def test_an_answer_has_its_triples_by_number_and_source() -> None:
    result = called("ask", {"question": "Who directed Alien?"})
    content = result.structured_content
    assert (content["answer"], content["certainty"], content["support"]) == ("Ridley Scott", "sure", [1])
    first = content["facts"][0]
    assert first["ids"] == ["Alien", "directed by", "Ridley Scott"]
    assert first["source"].startswith("memory")
    assert text(result).splitlines()[:4] == [
        "Answer: Ridley Scott [1]",
        "Certainty: sure",
        "About: Alien (Alien)",
        "[1] Alien - directed by - Ridley Scott",
    ]


def test_a_refusal_has_its_reason() -> None:
    told = Told(Answer("", (), (), enough=False, missing="nothing of the graph is called New, Zealand"))
    result = called("ask", {"question": "Who directed Alien?"}, lambda: srtk_framework.open(recipe(told)))
    assert result.structured_content["error"] == "nothing of the graph is called New, Zealand"
    assert text(result).splitlines()[:3] == [
        "No answer.",
        "About: Alien (Alien)",
        "Reason: nothing of the graph is called New, Zealand",
    ]


def test_an_answer_has_its_notes_and_the_triples_it_rests_on_first() -> None:
    told = Told(Answer("Blade\nRunner", ("Blade Runner",), (1,), complete=False))
    result = called("ask", {"question": "Who directed Alien?"}, lambda: srtk_framework.open(recipe(told)))
    assert result.structured_content["notes"] == ["not all was read, so there may be more"]
    lines = text(result).splitlines()
    assert lines[:2] == ["Answer: Blade Runner [2]", "Note: not all was read, so there may be more"]
    assert [line[:3] for line in lines[3:5]] == ["[2]", "[1]"]


def test_a_question_is_answered_from_as_many_triples_as_by_a_session() -> None:
    for tool in ("ask", "retrieve_subgraph"):
        facts = called(tool, {"question": "What is shown in Rome?"}).structured_content["facts"]
        with srtk_framework.open(recipe()) as session:
            [one] = session.retrieve("What is shown in Rome?")
        assert [tuple(fact["ids"]) for fact in facts] == [tuple(map(str, t)) for t in one.subgraph.triples], tool


def test_a_subgraph_has_the_triples_of_a_run_with_the_same_budget() -> None:
    content = called("retrieve_subgraph", {"question": "Who directed Alien?", "triples": 2}).structured_content
    with srtk_framework.open(recipe()) as session:
        [one] = session.retrieve("Who directed Alien?", limits={"triples": 2})
    assert [tuple(fact["ids"]) for fact in content["facts"]] == [tuple(map(str, t)) for t in one.subgraph.triples]


def test_entities_correct_what_was_linked() -> None:
    content = called("ask", {"question": "Who directed Alien?", "entities": ["Heat"]}).structured_content
    assert content["answer"] == "Michael Mann"


def test_entities_that_the_graph_lacks_are_told_with_an_answer_a_refusal_and_triples() -> None:
    note = "the graph lacks Zzyzx, which the question was linked to as well"
    refusing = Told(Answer("", (), (), enough=False, missing="nothing fits"))
    for tool, reader in (("ask", None), ("ask", refusing), ("retrieve_subgraph", None)):
        asked = {"question": "Who directed Alien?", "entities": ["Alien", "Zzyzx"]}
        result = called(tool, asked, lambda reader=reader: srtk_framework.open(recipe(reader)))  # type: ignore[misc]
        assert result.structured_content["notes"] == [note]
        assert f"Note: {note}" in text(result).splitlines()


def test_links_have_ids_and_names() -> None:
    result = called("link", {"text": "Who directed Alien?"})
    assert [one["entity"] for one in result.structured_content["entities"]] == ["Alien"]
    assert called("link", {"text": "Zzyzx"}).structured_content == {"entities": [], "near": []}


def test_an_expansion_is_diverse_counted_and_short() -> None:
    result = called("expand_entity", {"entity": "Rome", "triples": 1000})
    content = result.structured_content
    assert len(content["facts"]) == 300
    assert content["left_out"] == {}
    assert count_tokens(text(result)) <= TOKENS
    few = called("expand_entity", {"entity": "Ridley Scott", "triples": 1})
    assert few.structured_content["left_out"] == {"^directed by": "1"}
    assert text(few).endswith("Left out of the graph: ^directed by 1")


def test_paths_connect_two_entities() -> None:
    content = called("find_paths", {"start": "Alien", "end": "Blade Runner"}).structured_content
    assert content["paths"] == ["Alien directed by ^directed by"]
    assert len(content["facts"]) == 2
    nobody = called("find_paths", {"start": "Alien", "end": "nobody"}).structured_content
    assert nobody["error"] == "the graph has none of the entities nobody; check their ids"
    around = called("expand_entity", {"entity": "nobody"}).structured_content
    assert around["error"] == "the graph has none of the entities nobody; check their ids"
    nothing = called("find_paths", {"start": "Alien", "end": "Heat", "depth": 2})
    assert nothing.structured_content["error"] == "no path of at most 2 steps connects them"


def test_the_graph_is_described() -> None:
    content = called("describe_graph", {}).structured_content
    assert content["graph"].startswith("memory")
    assert content["drivers"]["expander"] == "bfs"
    assert content["most_triples"] == 50


@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        ("ask", {"question": " "}, "question: it is empty; give a text"),
        ("ask", {"question": "x", "triples": 0}, "triples: it is 0; give a number from 1 to 1,000"),
        ("ask", {"question": 3}, "question: it is 3; give a text"),
        ("link", {"text": "x" * 20_001}, "the question has 20,001 characters; shorten it to 20,000 at most"),
        ("ask", {"question": "x", "entities": ["a", " "]}, "entities[1]: it is empty; give a text"),
        ("ask", {"question": None}, "question: it is null; give a text"),
        ("ask", {}, "question: ask needs it; give a text"),
        ("ask", {"question": "x", "triples": "many"}, 'triples: it is "many"; give a whole number, or leave it out'),
        ("ask", {"question": "x", "triples": True}, "triples: it is true; give a whole number, or leave it out"),
        ("ask", {"question": "x", "entities": "é"}, 'entities: it is "é"; give a list of texts, or leave it out'),
        ("ask", {"question": "x", "entities": ["a", {"id": "b"}]}, 'entities[1]: it is {"id": "b"}; give a text'),
        ("retrieve_subgraph", {"question": "x", "depth": 99}, "depth: it is 99; give a number from 1 to 5"),
        ("expand_entity", {"entity": "x", "triples": 2.5}, "triples: it is 2.5; give a whole number"),
        (
            "find_paths",
            {"start": "Alien", "end": "Heat", "triples": -1},
            "triples: it is -1; give a number from 1 to 1,000",
        ),
        (
            "ask",
            {"question": "x", "tripels": 3},
            "tripels: ask has no such argument; it takes question, entities, triples",
        ),
        ("describe_graph", {"graph": "x"}, "graph: describe_graph has no such argument; it takes none"),
        (
            "tell",
            {"question": "x"},
            "there is no tool 'tell'; the tools are ask, retrieve_subgraph, link, expand_entity, find_paths,"
            " describe_graph",
        ),
        ("expand_entity", {"entity": ""}, "entity: it is empty; give a text"),
        ("expand_entity", {"entity": ["Rome"]}, 'entity: it is ["Rome"]; give a text'),
    ],
)
def test_a_hostile_call_is_an_error_with_a_sentence(tool: str, arguments: dict[str, Any], sentence: str) -> None:
    result = called(tool, arguments)
    assert result.is_error
    assert text(result) == sentence


def test_a_question_about_nothing_in_the_graph_is_no_error() -> None:
    result = called("ask", {"question": "Who directed Zzyzx?"})
    assert not result.is_error
    assert result.structured_content["error"] == "no name of the graph was found in the question"
    assert text(result).startswith("No answer.")


def test_a_graph_that_cannot_be_opened_is_told_at_the_first_call_and_tools_are_listed_before() -> None:
    made: list[int] = []

    def make() -> Session:
        made.append(1)
        return srtk_framework.open({"srtk": 1, "knowledge_graph": {"use": "local", "path": "nowhere"}})

    async def talk() -> tuple[list[str], Any]:
        async with Client(mcp_server(make)) as client:
            names = sorted(tool.name for tool in (await client.list_tools()).tools)
            assert not made
            return names, await client.call_tool("describe_graph", {})

    names, result = asyncio.run(talk())
    assert names == ["ask", "describe_graph", "expand_entity", "find_paths", "link", "retrieve_subgraph"]
    assert result.is_error
    assert "nowhere" in text(result)


def test_every_tool_has_a_schema_of_its_output() -> None:
    async def listed() -> Any:
        async with Client(mcp_server(lambda: srtk_framework.open(recipe()))) as client:
            return (await client.list_tools()).tools

    for tool in asyncio.run(listed()):
        assert tool.output_schema is not None, tool.name
        assert tool.annotations.read_only_hint is True
        assert "\n  " not in tool.description


def test_a_text_says_how_many_triples_it_leaves_out() -> None:
    facts = [
        {
            "number": i,
            "subject": "a b c",
            "relation": "r",
            "object": "d e f",
            "ids": [],
            "source": "",
            "score": 0.0,
            "confidence": 0.5 if i == 1 else 1.0,
        }
        for i in range(1, 301)
    ]
    written = text_of(["Head"], facts, {"r": "5"}, 200)  # type: ignore[arg-type]
    shown = sum(line.startswith("[") for line in written.splitlines())
    assert count_tokens(written) <= 200
    assert "[1] a b c - r - d e f [not in the graph; confidence 0.5]\n[2] a b c - r - d e f\n" in written
    assert f"({300 - shown} further triples are in the structured content)" in written
    assert written.endswith("Left out of the graph: r 5")
    assert count_tokens(text_of(["word " * 900], [], {}, 100)) <= 100
