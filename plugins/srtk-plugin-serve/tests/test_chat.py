"""The chat: the last message of the user is asked, and the answer cites numbered triples."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import attrs
import pytest
from litestar.testing import TestClient
from srtk_plugin_serve.chat import cited, last_question

from srtk_framework.roles import Reader
from srtk_framework.run import Result
from srtk_framework.values import Answer, Question, Retrieval, Subgraph, Triple

PATH = "/v1/chat/completions"
SYSTEM = {"role": "system", "content": "x"}


@attrs.define(eq=False)
class First(Reader):
    """Answers with the object of the first triple that the question names."""

    def read(self, questions: Sequence[Question], subgraphs: Sequence[Subgraph]) -> list[Answer]:
        return [Answer(str(s.triples[0].object), (s.triples[0].object,), (0,)) for s in subgraphs]


def asked(client: TestClient[Any], **more: Any) -> Any:
    messages = [
        {"role": "system", "content": "Answer briefly."},
        {"role": "user", "content": "Who directed Heat?"},
        {"role": "assistant", "content": "Michael Mann"},
        {"role": "user", "content": [{"type": "text", "text": "Who directed Alien?"}]},
    ]
    return client.post(PATH, json={"model": "srtk", "messages": messages, "temperature": 0.1, **more})


def test_an_answer_cites_the_triples_it_rests_on(start: Any) -> None:
    client = start({"reader": First()})
    body = asked(client).json()
    [choice] = body["choices"]
    assert choice["finish_reason"] == "stop"
    assert choice["message"]["content"].startswith("Ridley Scott")
    assert body["citations"][0]["triple"] == ["Alien", "directed by", "Ridley Scott"]
    assert body["citations"][0]["source"].startswith("memory")
    assert "[1] Alien - directed by - Ridley Scott" in choice["message"]["content"]


def test_without_a_reader_the_best_triples_are_cited(client: TestClient[Any]) -> None:
    body = asked(client).json()
    assert [one["number"] for one in body["citations"]] == [1, 2]
    assert body["object"] == "chat.completion"


@attrs.define(eq=False)
class Told(Reader):
    """Gives one answer."""

    answer: Answer

    def read(self, questions: Sequence[Question], subgraphs: Sequence[Subgraph]) -> list[Answer]:
        return [self.answer for _ in subgraphs]


def test_a_refusal_has_its_reason_and_the_nearest_triples(start: Any) -> None:
    told = Told(Answer("", (), (), enough=False, missing="nothing of the graph is called\nNew, Zealand."))
    [choice] = asked(start({"reader": told})).json()["choices"]
    first = choice["message"]["content"].splitlines()[0]
    assert first == "No answer: nothing of the graph is called New, Zealand. The nearest triples: [1][2]"


def test_entities_that_the_graph_lacks_are_told_below_a_refusal_and_the_nearest_triples() -> None:
    subgraph = Subgraph((Triple("Alien", "shown in", "Rome"),), trace={"absent_links": ["Q9"]})
    refusal = Answer("", (), (), enough=False, missing="nothing fits")
    for answer, error in ((refusal, None), (None, None), (None, "bfs: the server is down")):
        text, _ = cited(Result(Retrieval(Question("0", "Who?"), subgraph, answer=answer, error=error)))
        assert text.splitlines()[1] == "the graph lacks Q9, which the question was linked to as well"


def test_an_answer_is_told_with_its_notes_on_lines_of_their_own(start: Any) -> None:
    told = Told(Answer("Ridley\x1b[31m\nScott", ("Ridley Scott",), (0,), complete=False, certainty="unsure"))
    [choice] = asked(start({"reader": told})).json()["choices"]
    assert choice["message"]["content"].splitlines()[:3] == [
        "Perhaps Ridley\\u001b[31m Scott [1]",
        "not all was read, so there may be more",
        "",
    ]


def test_a_long_proof_is_cited_whole_and_its_rest_is_counted_and_a_completed_triple_is_marked() -> None:
    triples = [Triple(f"film {i}", "shown in", "Rome") for i in range(13)]
    support = tuple(range(13))
    subgraph = Subgraph(tuple(triples), confidences=(0.5, *[1.0] * 12))
    found = Retrieval(Question("0", "How many?"), subgraph, answer=Answer("13", (), support, number=13.0))
    text, citations = cited(Result(found))
    assert len(citations) == 13
    assert text.splitlines()[2] == "[1] film 0 - shown in - Rome [not in the graph; confidence 0.5]"
    assert text.splitlines()[-2:] == ["[10] film 9 - shown in - Rome", "and 3 more triples of the proof"]
    assert [one["confidence"] for one in citations[:2]] == [0.5, 1.0]


def test_a_stream_holds_the_same_text_and_ends_with_done(client: TestClient[Any]) -> None:
    whole = asked(client).json()
    response = asked(client, stream=True)
    assert response.headers["content-type"].startswith("text/event-stream")
    events = [line.removeprefix("data: ") for line in response.text.split("\n\n") if line]
    assert events[-1] == "[DONE]"
    chunks = [json.loads(event) for event in events[:-1]]
    text = "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks)
    assert text == whole["choices"][0]["message"]["content"]
    assert chunks[-1]["citations"] == whole["citations"]
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"


def test_tokens_are_counted_and_of_a_stream_where_that_is_asked(client: TestClient[Any]) -> None:
    usage = asked(client).json()["usage"]
    assert usage["prompt_tokens"] > 0
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    response = asked(client, stream=True, stream_options={"include_usage": True})
    last = json.loads(response.text.split("\n\n")[-3].removeprefix("data: "))
    assert (last["choices"], last["usage"]) == ([], usage)
    assert "usage" not in asked(client, stream=True).text


def test_a_question_without_an_entity_is_answered_with_the_reason(client: TestClient[Any]) -> None:
    response = client.post(PATH, json={"messages": [{"role": "user", "content": "Who directed Zzyzx?"}]})
    assert response.json()["choices"][0]["message"]["content"].startswith("No answer: no name of the graph was found")
    assert response.json()["citations"] == []


@pytest.mark.parametrize("messages", [[], [SYSTEM]])
def test_a_chat_without_a_message_of_the_user_is_refused(messages: Any) -> None:
    with pytest.raises(ValueError, match="messages: none of them is of the user"):
        last_question(messages)


@pytest.mark.parametrize("content", ["", " ", None, [], [{"type": "image_url", "image_url": {"url": "x"}}]])
def test_a_last_message_without_a_text_is_not_answered_from_an_earlier_one(
    client: TestClient[Any], content: Any
) -> None:
    messages = [{"role": "user", "content": "Who directed Heat?"}, {"role": "user", "content": content}]
    refused = client.post(PATH, json={"messages": messages})
    assert refused.status_code == 400
    assert refused.json()["error"]["message"] == "messages: the last one of the user has no text; ask in words"


def test_a_model_that_is_not_there_is_told(client: TestClient[Any]) -> None:
    assert asked(client).json()["model"] == "srtk"
    refused = asked(client, model="gpt-5")
    assert refused.status_code == 404
    assert refused.json()["error"]["message"] == "there is no model 'gpt-5'; the only one is srtk"


def test_the_model_is_listed(client: TestClient[Any]) -> None:
    assert [model["id"] for model in client.get("/v1/models").json()["data"]] == ["srtk"]


def test_errors_are_as_clients_of_openai_read_them(client: TestClient[Any]) -> None:
    refused = client.post(PATH, json={"messages": [SYSTEM]})
    assert refused.status_code == 400
    assert refused.json()["error"]["message"].startswith("messages: none of them is of the user")
    assert client.post(PATH, json={"messages": []}).status_code == 400
    assert client.get("/v1/models/srtk").json()["id"] == "srtk"
    assert "no model 'x'" in client.get("/v1/models/x").json()["error"]["message"]
