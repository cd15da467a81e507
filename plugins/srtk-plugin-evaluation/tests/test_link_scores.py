"""Links against gold links: counts of one question, shares over many, files, runs and commands."""

from __future__ import annotations

import json
from pathlib import Path

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_evaluation.files import evaluate_links
from srtk_plugin_evaluation.intervals import paired_ratios, ratios
from srtk_plugin_evaluation.link_scores import METRICS, Shares, compare_links, counts, link_counts

from srtk_framework.cli import main
from srtk_framework.values import LINKED_BY, NIL, InputError, Link, Question, Retrieval, Subgraph

ANNA = Link("anna", start=0, end=4)
RIGA = Link("riga", start=10, end=14)
NOTHING = Link(NIL, start=20, end=25)
YEAR = Link(NIL, 0.0, 30, 34)


def found(entity: str, start: int | None = None, end: int | None = None, score: float = 0.5) -> Link:
    return Link(entity, score, start, end)


def test_a_strong_match_needs_the_same_span_and_a_weak_one_any_overlap() -> None:
    shares = counts([ANNA, RIGA], [found("anna", 0, 4), found("riga", 8, 14)])
    assert shares["strong_precision"] == (1, 2)
    assert shares["strong_recall"] == (1, 2)
    assert shares["strong_f1"] == (2, 4)
    assert shares["weak_f1"] == (4, 4)


def test_a_wrong_entity_at_the_right_span_is_no_match() -> None:
    shares = counts([RIGA], [found("riga-hill", 10, 14)])
    assert shares["weak_recall"] == (0, 1)
    assert shares["mention_recall"] == (1, 1)


def test_two_mentions_cannot_both_take_one_gold_link() -> None:
    shares = counts([RIGA], [found("riga", 10, 12), found("riga", 12, 14)])
    assert shares["weak_precision"] == (1, 2)


def test_alternatives_count_by_their_rank() -> None:
    links = [found("riga-hill", 10, 14, 0.6), found("riga", 10, 14, 0.5)]
    shares = counts([RIGA], links)
    assert shares["strong_precision"] == (0, 1)
    assert shares["recall_at_1"] == (0, 1)
    assert shares["recall_at_5"] == (1, 1)
    assert shares["ambiguous_accuracy"] == (0, 1)


def test_a_mention_with_one_candidate_or_without_the_gold_one_is_not_ambiguous() -> None:
    assert counts([RIGA], [found("riga", 10, 14)])["ambiguous_accuracy"] == (0, 0)
    links = [found("x", 10, 14, 0.6), found("y", 10, 14, 0.5)]
    assert counts([RIGA], links)["ambiguous_accuracy"] == (0, 0)


@pytest.mark.parametrize("gold", [[RIGA], [Link("riga")]])
def test_links_without_spans_are_matched_by_entity(gold: list[Link]) -> None:
    shares = counts(gold, [found("riga", score=0.4), found("anna", score=0.9)])
    assert shares["strong_f1"] == (2, 3)
    assert shares["recall_at_1"] == (0, 1)
    assert shares["recall_at_5"] == (1, 1)


def test_entities_are_counted_once_regardless_of_their_spans() -> None:
    gold = [RIGA, Link("riga", start=40, end=44)]
    shares = counts(gold, [found("riga", 1, 3), found("anna", 5, 7)])
    assert shares["entity_precision"] == (1, 2)
    assert shares["entity_recall"] == (1, 1)


def test_optional_gold_links_are_neither_missed_nor_wrong() -> None:
    assert counts([YEAR], [])["strong_recall"] == (0, 0)
    assert counts([YEAR], [found("2014", 30, 34)])["strong_precision"] == (0, 0)
    spare = attrs.evolve(RIGA, score=0.0)
    assert counts([spare], [found("riga", 10, 14)])["strong_precision"] == (0, 0)
    assert counts([spare], [found("riga-hill", 10, 14)])["strong_precision"] == (0, 1)


def test_a_link_at_a_nil_mention_is_wrong() -> None:
    shares = counts([NOTHING, RIGA], [found("x", 20, 25)])
    assert shares["strong_precision"] == (0, 1)
    assert shares["nil_recall"] == (0, 1)
    assert shares["nil_precision"] == (0, 1)
    assert shares["nil_accuracy"] == (0, 2)


def test_a_nil_mention_is_right_without_a_link_or_with_a_nil_link() -> None:
    for links in ([], [found(NIL, 20, 25)]):
        shares = counts([NOTHING, RIGA], [*links, found("riga", 10, 14)])
        assert shares["nil_accuracy"] == (2, 2)
        assert shares["strong_precision"] == (1, 1)


def test_mentions_of_entities_outside_the_graph_are_neither_missed_nor_wrong() -> None:
    shares = counts([ANNA, RIGA], [found("anna", 0, 4), found("x", 10, 14), found("y", 50, 52)], {"anna"})
    assert shares["coverage"] == (1, 2)
    assert shares["covered_recall"] == (1, 1)
    assert shares["covered_precision"] == (1, 2), "a link at a mention that cannot be known is not judged"
    assert "coverage" not in counts([ANNA], [])


GOLD = st.lists(
    st.builds(
        Link, st.sampled_from(["a", "b", NIL]), st.sampled_from([0.0, 1.0]), st.integers(0, 3), st.integers(4, 6)
    ),
    max_size=4,
    unique_by=lambda link: (link.start, link.end),
)
FOUND = st.lists(
    st.builds(Link, st.sampled_from("abc"), st.floats(0.1, 1.0), st.integers(0, 3), st.integers(4, 6)), max_size=5
)


@given(GOLD, FOUND)
def test_no_share_exceeds_one_and_weak_matches_include_strong_ones(gold: list[Link], links: list[Link]) -> None:
    shares = counts(gold, links, {"a"})
    assert list(shares) == list(METRICS)
    assert all(0 <= right <= of for right, of in shares.values())
    assert shares["strong_recall"][0] <= shares["weak_recall"][0]
    assert shares["recall_at_1"] <= shares["recall_at_5"]


@given(GOLD, FOUND)
def test_the_order_of_gold_links_changes_nothing(gold: list[Link], links: list[Link]) -> None:
    assert counts(gold[::-1], links, {"a"}) == counts(gold, links, {"a"})


@given(GOLD.map(lambda links: [link for link in links if link.entity != NIL and link.score]))
def test_the_gold_links_themselves_are_right(gold: list[Link]) -> None:
    shares = counts(gold, gold, {"a", "b"})
    for metric in ("strong_f1", "weak_f1", "entity_f1", "covered_f1", "recall_at_1"):
        assert shares[metric][0] == shares[metric][1]


def test_only_questions_that_were_linked_are_scored() -> None:
    question = Question("1", "Anna in Riga", (RIGA,), gold_links=(RIGA,))
    assert link_counts(Retrieval(question)) is None
    shares = link_counts(Retrieval(question, Subgraph(trace={LINKED_BY: ["dictionary"]})))
    assert shares is not None
    assert shares["strong_recall"] == (1, 1)
    ungilded = attrs.evolve(question, gold_links=None)
    assert link_counts(Retrieval(ungilded, Subgraph(trace={LINKED_BY: []}))) is None


def test_a_share_is_summed_over_questions_before_it_is_divided() -> None:
    [estimate] = ratios([[(1, 1), (0, 3)]])
    assert estimate["mean"] == 0.25
    assert estimate["n"] == 4
    assert 0 <= estimate["low"] <= 0.25 <= estimate["high"] <= 1


def test_a_metric_without_counts_has_no_estimate() -> None:
    assert ratios([[(0, 0)], [(1, 1)]])[0]["mean"] is None
    assert paired_ratios([([(0, 0)], [(1, 1)])])[0]["p"] is None
    assert ratios([]) == []


def test_a_clear_difference_of_shares_has_a_small_p_and_none_has_one() -> None:
    good, bad = [(1.0, 1.0)] * 30, [(0.0, 1.0)] * 30
    estimate, same = paired_ratios([(good, bad), (good, good)])
    assert (estimate["mean"], estimate["low"], estimate["high"]) == (1.0, 0.8125, 1.0)
    assert estimate["p"] < 0.01
    assert same["p"] == 1.0


def test_linkers_are_compared_with_the_first() -> None:
    rows = [counts([RIGA], [found("riga", 10, 14)])] * 9
    worse = [counts([RIGA], [])] * 9
    report = compare_links({"one": [*rows, None], "two": [*worse, None]})
    assert report["questions"] == 9
    assert report["methods"]["one"]["strong_f1_per_question"]["mean"] == 1.0
    assert report["differences"]["one - two"]["strong_recall"]["mean"] == 1.0
    assert "p_holm" in report["differences"]["one - two"]["strong_recall"]


def test_nil_metrics_are_omitted_without_nil_gold_links() -> None:
    report = compare_links({"one": [counts([RIGA], [])]})
    assert "nil_precision" not in report["methods"]["one"]
    assert "nil_recall" in compare_links({"one": [counts([NOTHING], [])]})["methods"]["one"]


TRIPLES = "Riga\tcapital of\tLatvia\nLima\tcapital of\tPeru\nRiga\tnamed after\tPeru\n"
RECORDS = [
    {
        "id": "a",
        "question": "Is Riga in Latvia?",
        "gold_links": [{"entity": "Riga", "start": 3, "end": 7}, {"entity": "Latvia", "start": 11, "end": 17}],
    },
    {"id": "b", "question": "Is Atlantis lost?", "gold_links": [{"entity": None, "start": 3, "end": 11}]},
]


def write(path: Path, records: list[dict[str, object]]) -> str:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return str(path)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kb.tsv").write_text(TRIPLES, encoding="utf-8")
    assert main(["graph", "build", "--quiet", "--out", "graph/kb", "kb.tsv"]) == 0
    write(tmp_path / "gold.jsonl", RECORDS)
    return tmp_path


def test_the_link_command_scores_questions_with_gold_links(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["link", "-i", "gold.jsonl", "-o", "links.jsonl", "-kg", "graph/kb"]) == 0
    table = capsys.readouterr().out
    assert "strong recall" in table
    assert "answer" not in table
    report = json.loads((here / "links.jsonl.run" / "evaluation.json").read_text())
    assert report["links"] == "linked"
    assert report["linking"]["methods"]["linked"]["strong_f1"]["mean"] == 1.0
    assert report["linking"]["methods"]["linked"]["nil_accuracy"]["mean"] == 1.0
    record = json.loads((here / "links.jsonl").read_text().splitlines()[0])
    assert record["gold_links"] == RECORDS[0]["gold_links"]


def test_the_link_command_scores_nothing_without_gold_links(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(here / "q.jsonl", [{"id": "a", "question": "Is Riga in Latvia?"}])
    assert main(["link", "-i", "q.jsonl", "-o", "links.jsonl", "-kg", "graph/kb"]) == 0
    assert "strong" not in capsys.readouterr().out
    assert not (here / "links.jsonl.run" / "evaluation.json").exists()


def test_evaluate_scores_files_of_links(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["link", "-i", "gold.jsonl", "-o", "links.jsonl", "-kg", "graph/kb", "--quiet"])
    write(here / "none.jsonl", [{"id": "a", "question": "Is Riga in Latvia?", "question_entities": []}])
    command = ["evaluate", "--linking", "links.jsonl", "none.jsonl", "--gold", "gold.jsonl", "-kg", "graph/kb"]
    assert main([*command, "--missing", "fail", "-o", "report.json", "--report", "page"]) == 0
    methods = json.loads((here / "report.json").read_text())["linking"]["methods"]
    assert methods["links"]["covered_recall"]["mean"] == 1.0
    assert methods["none"]["strong_recall"]["mean"] == 0.0
    assert "links - none" in capsys.readouterr().out
    assert "strong F1" in (here / "page" / "report.html").read_text()


def test_gold_may_be_a_question_set(here: Path) -> None:
    main(["link", "-i", "gold.jsonl", "-o", "links.jsonl", "-kg", "graph/kb", "--quiet"])
    command = ["evaluate", "--linking", "links.jsonl", "-o", "report.json"]
    assert main([*command, "--gold", "{use: jsonl, path: gold.jsonl}"]) == 0
    assert json.loads((here / "report.json").read_text())["linking"]["questions"] == 2


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--linking", "q.jsonl"], "no record has gold_links"),
        (["--linking", "q.jsonl", "--gold", "{use: "], "is not YAML"),
        (["q.jsonl", "--gold", "gold.jsonl"], "goes with --linking"),
    ],
)
def test_links_that_cannot_be_scored_are_refused_with_the_reason(
    here: Path, flags: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(here / "q.jsonl", [{"id": "a", "question": "Is Riga in Latvia?", "question_entities": []}])
    assert main(["evaluate", *flags]) != 0
    assert message in capsys.readouterr().err


def test_evaluating_no_file_is_an_error() -> None:
    with pytest.raises(InputError, match="no file of links"):
        evaluate_links([])


def test_runs_of_linkers_are_compared(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, best in (("one", 1), ("two", 2)):
        (here / f"{name}.yaml").write_text(
            f"srtk: 1\nquestions: gold.jsonl\nknowledge_graph: {{use: local, path: graph/kb}}\n"
            f"entity_linker: {{use: dictionary, n_best: {best}}}\noutput: out/{name}\nevaluate: true\n",
            encoding="utf-8",
        )
    assert main(["run", "one.yaml", "two.yaml"]) == 0
    assert "one - two" in capsys.readouterr().out
    report = json.loads((here / "out" / "comparison" / "comparison.json").read_text())
    assert set(report["linking"]["methods"]) == {"one", "two"}


def test_the_shares_of_some_questions_are_compared_as_those_questions_alone() -> None:
    rows = [counts([RIGA], [RIGA] * (i % 2)) if i % 3 else None for i in range(12)]
    places = np.array([1, 2, 5, 6, 10])
    part = compare_links({"m": Shares(rows).take(places)})
    assert part == compare_links({"m": [rows[i] for i in places]})
    assert part["questions"] == 4
