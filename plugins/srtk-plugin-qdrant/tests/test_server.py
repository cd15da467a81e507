"""Towards a server: what is sent, what its faults become, and where its key goes."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import numpy as np
import pytest
from srtk_plugin_index.indexes.entry_filter import EntryFilter
from srtk_plugin_qdrant.index import Hnsw, QdrantIndex

from srtk_framework.cli import main
from srtk_framework.testing import ToyEncoder
from srtk_framework.values import DriverError, Entry, Triple


def over(server, **settings):
    encoder = ToyEncoder(dimensions=8)
    encoder.open()
    return QdrantIndex(encoder=encoder, **{"url": server.url, "key": server.key, "attempts": 1, **settings})


def filled(index, count=20):
    index.create()
    index.add([Entry(f"t{n}", f"text {n}", (Triple("a", "r", f"b{n}"),)) for n in range(count)])
    index.commit()
    return index


def sent(server, method, end):
    return [body for verb, path, body in server.seen if verb == method and path.endswith(end)]


def test_a_build_is_a_collection_with_indexed_fields_and_an_alias(qdrant):
    filled(over(qdrant, batch=8, hnsw=Hnsw(m=8, ef_construct=50)))
    (made,) = sent(qdrant, "PUT", "/collections/srtk%401")
    assert made["vectors"] == {"size": 8, "distance": "Dot", "on_disk": True}
    assert made["hnsw_config"] == {"m": 8, "ef_construct": 50}
    assert made["metadata"]["srtk"]["state"] == "building"
    fields = [(body["field_name"], body["field_schema"]) for body in sent(qdrant, "PUT", "/index")]
    assert fields == [("relations", "keyword"), ("entities", "keyword")]
    assert [len(body["points"]) for body in sent(qdrant, "PUT", "/points")] == [8, 8, 4]
    (moved,) = sent(qdrant, "POST", "/collections/aliases")
    assert moved["actions"] == [{"create_alias": {"collection_name": "srtk@1", "alias_name": "srtk"}}]
    filled(over(qdrant))
    actions = sent(qdrant, "POST", "/collections/aliases")[1]["actions"]
    assert [list(action) for action in actions] == [["delete_alias"], ["create_alias"]]
    assert [one.name for one in qdrant.client.get_collections().collections] == ["srtk@2"]


@pytest.mark.parametrize(("settings", "params"), [({}, {"hnsw_ef": 128}), ({"exact": True}, {"exact": True})])
def test_searches_go_in_one_request_with_filter_and_precision(qdrant, settings, params):
    filled(over(qdrant)).close()
    index = over(qdrant, only=EntryFilter(relations=["r"]), **settings)
    index.open()
    index.search(["text 1", "text 2", "?"], 3)
    (asked,) = sent(qdrant, "POST", "/points/query/batch")
    assert len(asked["searches"]) == 2
    for one in asked["searches"]:
        assert {name: value for name, value in one["params"].items() if value is not None} == params
        assert one["filter"] == {"must": [{"key": "relations", "match": {"any": ["r"]}}]}


def test_a_server_that_is_down_is_named():
    index = QdrantIndex(encoder=ToyEncoder(), url="http://127.0.0.1:1", attempts=1)
    with pytest.raises(DriverError, match=r"no Qdrant server answers at http://127.0.0.1:1 \(.*\); start it"):
        index.open()


@pytest.mark.parametrize("key", ["another-key-of-the-tests", None])
def test_a_wrong_key_is_refused_and_not_shown(qdrant, key):
    with pytest.raises(
        DriverError, match=r"refuses the key \(401: .*set `key` to a valid one by {env: NAME}"
    ) as caught:
        over(qdrant, key=key).open()
    assert "another-key" not in str(caught.value)


def test_a_key_is_in_no_fingerprint_and_no_repr(qdrant):
    index = filled(over(qdrant))
    assert qdrant.key not in index.fingerprint() + repr(index)


def test_a_login_in_the_address_is_refused(qdrant):
    index = over(qdrant, url=qdrant.url.replace("//", "//me:password-of-mine@"))
    assert index.preflight()[0][0] == "url"
    with pytest.raises(DriverError, match="has a login, which Qdrant does not read") as caught:
        index.open()
    assert "password-of-mine" not in str(caught.value)


def test_a_key_that_is_sent_without_encryption_is_told(caplog):
    index = QdrantIndex(encoder=ToyEncoder(), url="http://qdrant.invalid", key="a-key-of-mine", attempts=1)
    with caplog.at_level(logging.WARNING), pytest.raises(DriverError, match="no Qdrant server answers"):
        index.open()
    assert "without encryption" in caplog.text
    assert "a-key-of-mine" not in caplog.text


def test_a_server_without_metadata_is_refused(qdrant):
    qdrant.keeps_metadata = False
    index = over(qdrant)
    index.create()
    with pytest.raises(DriverError, match=r"keeps no metadata of collections; use version 1.16 or later"):
        index.add([Entry("1", "text")])
    assert not qdrant.client.get_collections().collections


def test_an_overloaded_server_is_asked_again(qdrant):
    filled(over(qdrant)).close()
    index = over(qdrant, attempts=3)
    qdrant.plan = [qdrant.fault(429, "slow down", Retry_After="1"), qdrant.fault(503, "busy"), None]
    index.open()
    assert index.size() == 20


@pytest.mark.parametrize(
    ("planned", "sentence"),
    [
        ((429, "slow down", {"Retry_After": "3600"}), "asks to be left alone for 3600 s; try again later"),
        ((429, "slow down", {"Retry_After": "soon"}), "is overloaded; try again later"),
        ((500, "disk full", {}), r"refused a request \(500: disk full\); see its log"),
    ],
)
def test_a_fault_of_a_server_is_one_sentence(qdrant, planned, sentence):
    filled(over(qdrant)).close()
    status, error, headers = planned
    qdrant.plan = [qdrant.fault(status, error, **headers)] * 2
    with pytest.raises(DriverError, match=sentence):
        over(qdrant).open()


def test_a_page_in_place_of_an_answer_is_no_index(qdrant):
    qdrant.plan = [(200, b"<html>welcome</html>", {"Content-Type": "text/html"})]
    with pytest.raises(DriverError, match="does not answer as a Qdrant server does; correct `url`"):
        over(qdrant).open()


def test_a_fault_amid_a_build_leaves_what_was_written_to_the_next(qdrant, caplog):
    index = over(qdrant, batch=5)
    index.create()
    index.add([Entry("first", "text")])
    entries = [Entry(f"t{n}", f"text {n}") for n in range(20)]
    # The token is read, a batch is written, and the next one fails.
    qdrant.plan = [None, None, qdrant.fault(500, "disk full")]
    with pytest.raises(DriverError, match="disk full"):
        index.add(entries)
    assert index.size() == 1
    assert [hit.entry.id for hit in index.search(["text 3"], 9)[0]] == ["first"]
    index.add(entries)
    assert index.commit() == 21
    assert np.allclose(index.entries(["t3"])[0].vector, index.encoder.encode(["text 3"])[0])


RECIPE = """\
srtk: 1
questions: q.jsonl
knowledge_graph: {use: local, path: g, build: {files: [t.tsv]}}
encoder: {use: onnx, model: minilm}
corpus: {use: triples}
index: {use: qdrant, url: "URL", key: {env: QDRANT_KEY}, collection: world}
expander: {use: index, k: 3}
output: out
exporters: [{use: jsonl, path: out/subgraphs.jsonl}]
"""


@pytest.fixture
def place(tmp_path, monkeypatch, qdrant):
    pytest.importorskip("srtk_plugin_onnx.encoder")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("QDRANT_KEY", qdrant.key)
    Path("t.tsv").write_text("Latvia\tcapital\tRiga\nRiga\triver\tDaugava\n")
    Path("q.jsonl").write_text(json.dumps({"id": "q", "question": "Which river flows through Riga?"}) + "\n")
    Path("r.yaml").write_text(RECIPE.replace("URL", qdrant.url))
    return tmp_path


def test_a_recipe_builds_the_index_on_a_server_and_runs_without_a_trace_of_the_key(place, qdrant, capsys, caplog):
    with caplog.at_level(logging.DEBUG):
        assert main(["index", "build", "r.yaml", "--quiet"]) == 0
        assert main(["run", "r.yaml"]) == 0
    said = capsys.readouterr()
    assert "qdrant: 2 entries\n" in said.out
    record = json.loads(Path("out/subgraphs.jsonl").read_text())
    assert record["triplets"][0] == ["Riga", "river", "Daugava"]
    assert qdrant.key not in said.out + said.err + caplog.text
    for path in place.rglob("*"):
        assert not path.is_file() or qdrant.key.encode() not in path.read_bytes(), path


def test_a_filter_by_an_unknown_field_is_refused_where_it_stands(place, capsys):
    Path("r.yaml").write_text(Path("r.yaml").read_text().replace("collection: world", "only: {colour: [red]}"))
    assert main(["index", "build", "r.yaml", "--quiet"]) != 0
    said = capsys.readouterr().err
    assert "r.yaml:6" in said
    assert "colour" in said
    assert "relations" in said
