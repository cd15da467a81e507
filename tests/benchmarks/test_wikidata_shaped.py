"""The generator of the Wikidata-shaped graph: counts, equal bytes, and answers that an independent walk finds."""

from __future__ import annotations

import http.client
import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from benchmarks.loopback import serving, wikidata_shaped
from benchmarks.speed import against_srtk

ROOT = Path(__file__).parents[2]
ENTITIES, QUESTIONS = 1500, 60


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("shaped")
    wikidata_shaped.write(out, ENTITIES, QUESTIONS, seed=3)
    return out


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def edges(folder: Path) -> dict[tuple[str, str], set[str]]:
    """Read the direct claims to entities from the file, by splitting its lines."""
    found: dict[tuple[str, str], set[str]] = {}
    for line in (folder / "graph.nt").read_text(encoding="utf-8").splitlines():
        subject, relation, object_ = line.removesuffix(" .").split(" ", 2)
        if "/prop/direct/" in relation and object_.startswith("<"):
            ends = [term.rpartition("/")[2].rstrip(">") for term in (subject, relation, object_)]
            found.setdefault((ends[0], ends[1]), set()).add(ends[2])
    return found


def test_the_table_has_219_properties_with_a_label_each() -> None:
    properties, of_kind = wikidata_shaped.table()
    assert len(properties) == 219
    assert all(p.id[1:].isdigit() and p.label for p in properties.values())
    assert all(p.leads_to in wikidata_shaped.KINDS for rows in of_kind.values() for p in rows)
    assert all("{x}" in p.noun_phrase for p in properties.values() if p.noun_phrase)


def test_the_counts_are_those_of_the_shape(folder: Path) -> None:
    stats = json.loads((folder / "stats.json").read_text(encoding="utf-8"))
    assert abs(stats["entities"] - ENTITIES) < 30
    assert 17 < stats["triples"] / stats["entities"] < 20
    assert 12 <= stats["out_degree"]["median"] <= 14
    assert stats["questions"] == {"1-hop": QUESTIONS // 2, "2-hop": QUESTIONS // 2}
    assert stats["triples"] == len((folder / "graph.nt").read_text(encoding="utf-8").splitlines())
    assert stats["claims"] == sum(map(len, edges(folder).values()))


def test_some_entities_are_hubs(folder: Path) -> None:
    into: dict[str, int] = {}
    for (_, property_), objects in edges(folder).items():
        for object_ in objects if property_ != "P31" else ():
            into[object_] = into.get(object_, 0) + 1
    ranked = sorted(into.values(), reverse=True)
    assert ranked[0] > 20 * ranked[len(ranked) // 2]


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(folder: Path, tmp_path: Path) -> None:
    wikidata_shaped.write(tmp_path / "same", ENTITIES, QUESTIONS, seed=3)
    wikidata_shaped.write(tmp_path / "other", ENTITIES, QUESTIONS, seed=4)
    for name in ("graph.nt", "relations.tsv", "questions.jsonl", "questions-srtk.jsonl", "stats.json"):
        assert (tmp_path / "same" / name).read_bytes() == (folder / name).read_bytes()
    assert (tmp_path / "other/graph.nt").read_bytes() != (folder / "graph.nt").read_bytes()


def test_answers_are_what_an_independent_walk_reaches(folder: Path) -> None:
    known = edges(folder)
    for row in records(folder / "questions.jsonl"):
        at = set(row["question_entities"])
        for step in row["gold_paths"][0]:
            at = set().union(*(known.get((node, step.removeprefix("wdt:")), set()) for node in at))
        assert sorted(at) == row["answer_entities"]
        assert 1 <= len(at) <= 20
        assert not at & set(row["question_entities"])


def test_spans_hold_the_label_of_the_topic(folder: Path) -> None:
    text = (folder / "graph.nt").read_text(encoding="utf-8")
    rows = records(folder / "questions.jsonl")
    assert len({row["question"] for row in rows}) == len(rows) == QUESTIONS
    for row in rows:
        start, end = row["spans"][0]
        name, topic = row["entity_names"][0], row["question_entities"][0]
        assert row["question"][start:end] == name
        assert f'/{topic}> <http://www.w3.org/2000/01/rdf-schema#label> "{name}"@en' in text


def test_questions_of_both_forms_are_the_same(folder: Path) -> None:
    ours, theirs = records(folder / "questions.jsonl"), records(folder / "questions-srtk.jsonl")
    assert [{field: row[field] for field in other} for row, other in zip(ours, theirs, strict=True)] == theirs
    assert set(theirs[0]) == {"id", "question", "question_entities", "answer_entities"}


def test_the_file_is_whole_ntriples(folder: Path) -> None:
    pyoxigraph = pytest.importorskip("pyoxigraph")
    read = list(pyoxigraph.parse(path=str(folder / "graph.nt"), format=pyoxigraph.RdfFormat.N_TRIPLES))
    assert len({str(triple) for triple in read}) == len(read)
    assert len(read) == json.loads((folder / "stats.json").read_text(encoding="utf-8"))["triples"]


def test_questions_are_read_by_the_project(folder: Path) -> None:
    from srtk_framework.records.retrieval_records import read_questions

    questions = list(read_questions(str(folder / "questions.jsonl")))
    assert len(questions) == QUESTIONS
    assert all(question.links[0].start is not None and question.gold_paths for question in questions)


class Answers(BaseHTTPRequestHandler):
    """A server that repeats what it gets."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(503 if self.path == "/fail" else 200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


def test_the_proxy_counts_and_changes_nothing() -> None:
    against = against_srtk
    with (
        serving.running(HTTPServer(("127.0.0.1", 0), Answers)) as upstream,
        against.counting(upstream.server_port) as proxy,
    ):
        client = http.client.HTTPConnection("127.0.0.1", proxy.server_port, timeout=10)
        for path, status in (("/query", 200), ("/fail", 503), ("/query", 200)):
            client.request("POST", path, b"abc")
            answer = client.getresponse()
            assert (answer.status, answer.read(), answer.getheader("Content-Type")) == (status, b"abc", "text/plain")
        client.close()
        counts = proxy.counts
    assert (counts.requests, counts.connections, counts.failed, counts.received) == (3, 1, 1, 9)


def test_coverage_and_recall_are_those_of_the_answers_in_the_triples(tmp_path: Path) -> None:
    against = against_srtk
    rows = [{"id": "a", "triplets": [["Q1", "P1", "Q2"]]}, {"id": "b", "triplets": []}]
    (tmp_path / "r.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    questions = [{"id": "a", "answer_entities": ["Q2", "Q3"]}, {"id": "b", "answer_entities": ["Q4"]}]
    assert against.quality(tmp_path / "r.jsonl", questions) == {
        "coverage": 0.5,
        "recall": 0.25,
        "triples": 0.5,
        "empty": 1,
    }
