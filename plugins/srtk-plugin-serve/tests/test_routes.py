"""Each route gives what the session gives, and refuses a wrong body with a sentence."""

from __future__ import annotations

import json
from typing import Any

import pytest
from litestar.testing import TestClient

import srtk_framework
from srtk_framework.records import record_from_retrieval
from srtk_framework.values import DriverError, LateError, Question

TEXT = "Who directed Alien?"


def test_an_answer_is_the_record_of_a_run_and_a_text(client: TestClient[Any], recipe: dict[str, Any]) -> None:
    answer = client.post("/ask", json={"question": TEXT}).json()
    with srtk_framework.open(recipe) as session:
        [retrieval] = session.retrieve([Question("0", TEXT)])
    text = answer.pop("text")
    assert answer == json.loads(json.dumps(record_from_retrieval(retrieval)))
    assert text.startswith(TEXT)


def test_entities_of_a_question_take_the_place_of_the_linker(client: TestClient[Any]) -> None:
    answer = client.post("/ask", json={"question": "Who?", "id": "q7", "entities": ["Heat"]}).json()
    assert (answer["id"], answer["question_entities"]) == ("q7", ["Heat"])
    assert ["Heat", "directed by", "Michael Mann"] in answer["triplets"]


def test_a_link_of_the_route_of_links_can_be_given_with_its_place(client: TestClient[Any]) -> None:
    [[link]] = [one["links"] for one in client.post("/link", json={"texts": [TEXT]}).json()]
    answer = client.post("/ask", json={"question": TEXT, "entities": [{**link, "entity": "Heat"}]}).json()
    assert (answer["question_entities"], answer["spans"]) == (["Heat"], [[13, 18]])
    many = {"questions": [{"question": TEXT, "entities": [{"entity": "Heat", "start": 0, "end": 3}]}]}
    assert client.post("/ask-many", json=many).json()["spans"] == [[0, 3]]
    for wrong in ({"start": 13, "end": 99}, {"start": 3}, {"start": 3, "end": 3}):
        refused = client.post("/ask", json={"question": TEXT, "entities": [{"entity": "Heat", **wrong}]})
        assert refused.status_code == 404
        assert "give its place there, or none" in refused.json()["error"]


def test_a_name_or_an_id_gives_all_its_entities_and_near_names(start: Any) -> None:
    rows = [["e1", "kind", "film"], ["e2", "kind", "place"], ["e2", "in", "e3"], ["e3", "kind", "place"]]
    labels = {"e1": "Alien", "e2": "Alien", "e3": "Aliens"}
    graph = {"use": "memory", "triples": rows, "labels": labels}
    client = start({"knowledge_graph": graph})
    body = {"texts": ["alien", "e1", "nobody"], "names": True}
    name, id_, none = client.post("/link", json=body).json()
    assert [(one["entity"], one["name"]) for one in name["links"]] == [("e2", "Alien"), ("e1", "Alien")]
    assert "e3" in [one["entity"] for one in name["near"]]
    assert [one["entity"] for one in id_["links"]] == ["e1"]
    assert none["links"] == []

    def failing(ids: Any, relations: Any) -> Any:
        raise DriverError("the endpoint is down")

    client.app.state.session.graph.own_ids = failing
    [found] = client.post("/link", json={"texts": ["alien"], "names": True}).json()
    assert len(found["links"]) == 1
    assert "the endpoint is down" in found["error"]


def test_limits_of_a_call_are_kept(client: TestClient[Any]) -> None:
    body = {"question": TEXT, "triples": 1}
    assert len(client.post("/ask", json=body).json()["triplets"]) == 1
    assert len(client.post("/ask", json={"question": TEXT, "depth": 2}).json()["triplets"]) == 2
    assert len(client.post("/ask", json={"question": TEXT, "depth": 1}).json()["triplets"]) == 1


def test_a_question_without_an_entity_has_an_error_and_near_names(client: TestClient[Any]) -> None:
    response = client.post("/ask", json={"question": "Who directed Zzyzx?"})
    assert response.status_code == 200
    assert "no entity" in response.json()["error"]


def test_many_questions_come_line_by_line_in_order(client: TestClient[Any]) -> None:
    asked = [{"question": TEXT, "id": "a"}, "Who directed Heat?", {"question": "?", "entities": ["Alien"]}]
    response = client.post("/ask-many", json={"questions": asked * 30, "triples": 1})
    lines = [json.loads(line) for line in response.text.splitlines()]
    assert response.headers["content-type"].startswith("application/jsonl")
    assert [line["id"] for line in lines[:3]] == ["a", "1", "2"]
    assert len(lines) == 90
    assert all(len(line["triplets"]) == 1 for line in lines)


@pytest.mark.parametrize(
    ("item", "fault"),
    [
        (3, "Expected `str | object`, got `int`"),
        ({"text": "x"}, "unknown field `text`"),
        ({"question": "x", "limit": 3}, "limit"),
        ({"question": "x", "entities": [1]}, "entities[0]: Expected `str | object`"),
    ],
)
def test_a_wrong_item_of_many_is_named_before_any_is_answered(client: TestClient[Any], item: Any, fault: str) -> None:
    response = client.post("/ask-many", json={"questions": ["x", item]})
    assert response.status_code == 400
    assert response.json()["error"].startswith("questions[1]")
    assert fault in response.json()["error"]


def test_links_have_names_scores_and_places(client: TestClient[Any]) -> None:
    first, second = client.post("/link", json={"texts": [TEXT, "Who directed Hea?"]}).json()
    [link] = first["links"]
    assert (link["entity"], link["start"], link["end"]) == ("Alien", 13, 18)
    assert 0 < link["score"] <= 1
    assert second["text"] == "Who directed Hea?"


def test_neighbours_are_counted(client: TestClient[Any]) -> None:
    [rome] = client.post("/expand", json={"entities": ["Rome"], "triples": 4}).json()
    assert len(rome["triplets"]) == 4
    assert rome["trace"]["left_out"] == {"^shown in": "26"}


def test_paths_connect_two_entities(client: TestClient[Any]) -> None:
    found = client.post("/paths", json={"start": "Alien", "end": "Blade Runner"}).json()
    assert [path["steps"] for path in found["paths"]] == [["directed by", "^directed by"]]
    assert len(found["triplets"]) == 2


def test_a_loss_is_explained(client: TestClient[Any]) -> None:
    body = {"question": "Who directed Alien?", "answers": ["Ridley Scott"]}
    assert client.post("/explain", json=body).json()["class"] == "found"


def test_health_and_metrics_count(client: TestClient[Any]) -> None:
    client.post("/ask", json={"question": TEXT})
    client.post("/ask", json={"question": "Zzyzx?"})
    client.get("/there/is/nothing")
    assert client.get("/health").json()["status"] == "ok"
    counts = client.get("/metrics").text
    assert 'srtk_requests_total{path="/ask",status="200"} 2.0' in counts
    assert 'srtk_questions_total{outcome="found"} 1.0' in counts
    assert 'srtk_questions_total{outcome="failed"} 1.0' in counts
    assert "/there/is/nothing" not in counts


@pytest.mark.parametrize(
    ("path", "body", "fault"),
    [
        ("/ask", {}, "question"),
        ("/ask", {"question": 3}, "question"),
        ("/ask", {"question": TEXT, "triples": 0}, "triples: Expected `int` >= 1"),
        ("/ask", {"question": TEXT, "read": 0}, "read: Expected `bool`, got `int`"),
        ("/ask", {"question": TEXT, "timeout": "5"}, "timeout: Expected `float`, got `str`"),
        ("/ask", {"question": TEXT, "method": "none"}, "there is no method 'none'"),
        ("/ask", [], "body"),
        ("/ask", {"question": TEXT, "triple": 5}, "triple"),
        ("/ask", {"question": TEXT, "triples": 2.5}, "triples"),
        ("/ask", {"question": TEXT, "triples": 10**400}, "triples: Expected `int` <= 1000000"),
        ("/ask", {"question": TEXT, "timeout": -1}, "timeout: Expected `float` >= 0.0"),
        ("/link", {"texts": ["x"] * 1001}, "texts: Expected `array` of length <= 1000"),
        ("/link", {"texts": ["x" * 20_001]}, "texts[0]: Expected `str` of length <= 20000"),
        ("/explain", {"question": TEXT, "answers": []}, "answers"),
        ("/expand", {"entities": "Rome"}, "entities"),
        ("/paths", {"start": "Alien", "end": "Heat", "depth": 0}, "depth: Expected `int` >= 1"),
        ("/expand", {"entities": ["Rome"], "triples": 10**9}, "triples: Expected `int` <= 10000"),
    ],
)
def test_a_wrong_body_is_told_in_a_sentence(client: TestClient[Any], path: str, body: Any, fault: str) -> None:
    response = client.post(path, json=body)
    assert 400 <= response.status_code < 500, response.text
    assert fault in response.json()["error"]


def test_a_late_answer_is_a_timeout(client: TestClient[Any]) -> None:
    response = client.post("/ask", json={"question": TEXT, "timeout": 0})
    assert response.status_code == 504
    assert "no answer within the time limit" in response.json()["error"]


def test_a_body_that_is_too_large_is_refused(client: TestClient[Any]) -> None:
    response = client.post("/ask", json={"question": "x" * 1_100_000})
    assert response.status_code == 413
    assert response.json()["error"] == "the body has more than 1,000,000 bytes; send less at once"


def test_the_schema_describes_each_route(client: TestClient[Any]) -> None:
    schema = client.get("/schema/openapi.json").json()
    assert {"/ask", "/ask-many", "/link", "/expand", "/paths", "/explain"} <= set(schema["paths"])
    asked = schema["components"]["schemas"]["Asked"]
    assert asked["required"] == ["question"]
    assert asked["additionalProperties"] is False
    assert schema["components"]["schemas"]["Between"]["properties"]["depth"]["maximum"] == 5
    stream = schema["paths"]["/v1/chat/completions"]["post"]["responses"]["200"]["content"]
    assert set(stream) == {"application/json", "text/event-stream"}
    refused = schema["paths"]["/v1/chat/completions"]["post"]["responses"]["400"]["content"]["application/json"]
    assert refused["schema"]["$ref"].endswith("ChatFault")


def test_a_whole_number_may_be_written_with_a_point_and_a_method_that_is_not_there_is_not_found(
    client: TestClient[Any],
) -> None:
    assert len(client.post("/ask", json={"question": TEXT, "triples": 1.0}).json()["triplets"]) == 1
    assert client.post("/ask", json={"question": TEXT, "method": "none"}).status_code == 404


def test_a_body_that_is_no_json_or_nests_too_deep_is_refused(client: TestClient[Any], caplog: Any) -> None:
    plain = client.post("/ask", content=b'{"question": "x"}', headers={"Content-Type": "text/plain"})
    assert plain.status_code == 415
    deep = client.post("/v1/chat/completions", content=b"[" * 20_000, headers={"Content-Type": "application/json"})
    assert deep.status_code == 400
    assert not [record for record in caplog.records if record.name.startswith("srtk")]


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ('{"question": "Réunion"}'.encode("latin-1"), "body: it is not in UTF-8"),
        (b'{"question": "cut \\ud83d"}', "body: a text has half of a character"),
        (b'{"question": "cut \\ud83d', "body: Input data was truncated"),
        (b'{"question": "x", "triples": ' + b"9" * 5000 + b"}", "body: Integer value out of range"),
        (b'{"question": "\\ud83c\\udfac", "depth": "1"}', "depth: Expected `int | null`, got `str`"),
    ],
)
def test_a_body_that_is_no_text_of_whole_characters_is_told(
    client: TestClient[Any], content: bytes, fault: str
) -> None:
    refused = client.post("/ask", content=content, headers={"Content-Type": "application/json"})
    assert refused.status_code == 400
    assert refused.json()["error"].startswith(fault)


@pytest.mark.parametrize(
    ("path", "body", "place"),
    [
        ("/ask", {"question": TEXT, "entities": ["Alien", ""]}, "entities[1]"),
        ("/ask", {"question": TEXT, "entities": [{"entity": ""}]}, "entities[0].entity"),
        ("/expand", {"entities": [""]}, "entities[0]"),
        ("/paths", {"start": "Alien", "end": ""}, "end"),
    ],
)
def test_an_empty_id_is_refused_by_its_place(client: TestClient[Any], path: str, body: Any, place: str) -> None:
    refused = client.post(path, json=body)
    assert (refused.status_code, refused.json()["error"]) == (400, f"{place}: Expected `str` of length >= 1")


@pytest.mark.parametrize(
    ("method", "path", "status", "sentence"),
    [
        ("GET", "/nix", 404, "there is nothing at /nix; /schema/openapi.json describes the routes"),
        ("POST", "/v1/responses", 404, "there is nothing at /v1/responses; /schema/openapi.json describes the routes"),
        ("GET", "/ask", 405, "/ask takes POST, OPTIONS, not GET"),
    ],
)
def test_a_route_or_a_method_that_is_not_there_is_told_in_a_sentence(
    client: TestClient[Any], method: str, path: str, status: int, sentence: str
) -> None:
    refused = client.request(method, path)
    error = refused.json()["error"]
    assert (refused.status_code, error["message"] if path.startswith("/v1/") else error) == (status, sentence)


def test_a_stream_that_is_late_ends_with_the_error(client: TestClient[Any]) -> None:
    asked = {"questions": [TEXT] * 100, "timeout": 3600}
    session = client.app.state.session
    session.recipe.options.batch = 10
    answer, later = session._dispatcher.submit, iter([True] * 3 + [False] * 100)

    def late(key: Any, items: Any) -> Any:
        if not next(later):
            raise LateError("no answer within the time limit")
        return answer(key, items)

    session._dispatcher.submit = late
    lines = [json.loads(line) for line in client.post("/ask-many", json=asked).text.splitlines()]
    assert lines[-1] == {"error": "no answer within the time limit"}
    assert len(lines) == 31
