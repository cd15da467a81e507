"""Completion of graphs: counts of one pattern, reports over many, and what the graph tells about them."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_evaluation.completion import (
    CompletionScorer,
    StoredFacts,
    compare_completions,
    completed,
    completion_shares,
)
from srtk_plugin_evaluation.files import evaluate_files
from srtk_plugin_evaluation.metrics import compare, row
from srtk_plugin_evaluation.scores import read_scores, write_scores
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework.graph import TripleTable
from srtk_framework.records.jsonl import write_jsonl
from srtk_framework.records.retrieval_records import record_from_retrieval
from srtk_framework.values import Pattern, Question, Retrieval, Subgraph, Triple


def asked(
    pattern: Pattern, gold: list[str], found: dict[str, float], id_: str = "q", error: str | None = None
) -> Retrieval:
    """Make the result of a pattern question from its fillers and their confidences."""
    triples = tuple(Triple(*(filler if part is None else part for part in pattern)) for filler in found)
    subgraph = Subgraph(triples, confidences=tuple(found.values()))
    question = Question(id_, f"what fills {pattern}?", answers=tuple(gold), pattern=pattern)
    return Retrieval(question, subgraph, error=error)


BORN_IN = Pattern("anna", "born_in", None)
BORN_THERE = Pattern(None, "born_in", "riga")


def summary(*results: Retrieval, **facts: Any) -> dict[str, Any]:
    report = compare_completions({"m": [completed(result, **facts) for result in results]})
    return {metric: estimate["mean"] for metric, estimate in report["methods"]["m"].items()}


def test_precision_is_over_queries_with_a_new_prediction_and_recall_over_all() -> None:
    # The worked example of the evaluation of KnowlyBERT: gold {a, b} and {c}, new predictions {a, x} and none.
    found = summary(asked(BORN_IN, ["a", "b"], {"a": 0.9, "x": 0.5}), asked(BORN_IN, ["c"], {}))
    assert found["new_precision"] == 0.5
    assert found["new_recall"] == 0.25


def test_what_the_graph_holds_never_counts() -> None:
    plain = completed(asked(BORN_IN, ["a", "b"], {"a": 0.9, "x": 0.5}))
    held = completed(asked(BORN_IN, ["a", "b", "held"], {"held": 1.0, "other": 1.0, "a": 0.9, "x": 0.5}))
    assert plain is not None
    assert held is not None
    assert held.shares == plain.shares
    assert held.bins == plain.bins


def test_what_the_graph_holds_never_counts_where_a_limit_cut_it_from_the_result() -> None:
    facts = StoredFacts(TripleTable.from_triples([Triple("anna", "born_in", "held")]))
    found = completed(asked(BORN_IN, ["a", "held"], {"a": 0.9}), facts)
    assert found is not None
    assert found.shares["new_recall"] == (1, 1)


def test_an_answer_that_was_not_proposed_has_no_rank_unless_the_candidates_are_known() -> None:
    ranked = [("x", 0.9), ("a", 0.5)]
    assert completion_shares(ranked, ["a", "b"])["mrr"] == (0.5, 2)
    # Of 6 candidates, x and the held one are out: b shares the places 2 to 4 with two others that were not proposed.
    known = completion_shares(ranked, ["a", "b"], ["held"], candidates=6)
    assert known["mrr"] == (pytest.approx(0.5 + (1 / 2 + 1 / 3 + 1 / 4) / 3), 2)
    assert known["hits_at_3"] == (pytest.approx(1 + 2 / 3), 2)


def orders(found: dict[str, float]) -> Iterator[list[str]]:
    groups = [[x for x in found if found[x] == c] for c in sorted(set(found.values()), reverse=True)]
    for parts in itertools.product(*map(itertools.permutations, groups)):
        yield [answer for part in parts for answer in part]


proposed = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from([0.2, 0.5, 0.8]))


@given(proposed, st.sets(st.sampled_from("abcdefg"), min_size=1))
def test_ranks_are_means_over_all_orders_of_ties(found: dict[str, float], gold: set[str]) -> None:
    shares = completion_shares(found.items(), gold)
    reciprocal, first, precision = [], [], []
    for order in orders(found):
        filtered = {g: [x for x in order if x == g or x not in gold] for g in gold}
        places = [filtered[g].index(g) + 1 for g in gold if g in filtered[g]]
        reciprocal.append(sum(1 / place for place in places))
        first.append(sum(place <= 1 for place in places))
        right = [x in gold for x in order]
        precision.append(sum(sum(right[: i + 1]) / (i + 1) for i, good in enumerate(right) if good) / len(gold))
    assert shares["mrr"] == (pytest.approx(np.mean(reciprocal)), len(gold))
    assert shares["hits_at_1"] == (pytest.approx(np.mean(first)), len(gold))
    assert shares["average_precision"] == (pytest.approx(np.mean(precision)), 1)


@given(proposed, st.sets(st.sampled_from("abcdef")))
def test_the_order_of_equal_confidences_changes_nothing(found: dict[str, float], gold: set[str]) -> None:
    backwards = dict(reversed(found.items()))
    assert completion_shares(found.items(), gold) == completion_shares(backwards.items(), gold)


def test_a_failed_question_finds_nothing_and_counts() -> None:
    found = summary(asked(BORN_IN, ["a"], {"a": 0.9}), asked(BORN_IN, ["b"], {}, error="no graph"))
    assert found["new_recall"] == found["mrr"] == found["set_coverage"] == 0.5


def test_calibration_is_pooled_over_all_new_predictions() -> None:
    found = summary(asked(BORN_IN, ["a"], {"a": 0.9, "x": 0.9, "held": 1.0}), asked(BORN_IN, ["b"], {"b": 0.9}))
    assert found["calibration_error"] == round(0.9 - 2 / 3, 4)
    assert found["brier"] == round((0.01 + 0.81 + 0.01) / 3, 4)


def test_sets_tell_how_many_gold_answers_they_hold_and_their_size() -> None:
    found = summary(asked(BORN_IN, ["a", "b", "c"], {"a": 0.9, "x": 0.1}), asked(BORN_IN, ["d"], {"d": 0.2}))
    assert found["set_coverage"] == 0.5
    assert found["set_size"] == 1.5


def test_triples_that_do_not_fit_the_pattern_are_no_answers() -> None:
    result = asked(BORN_IN, ["a"], {"a": 0.9})
    other = Subgraph((*result.subgraph.triples, Triple("anna", "lives_in", "z")), confidences=(0.9, 0.8))
    found = completed(attrs.evolve(result, subgraph=other))
    assert found is not None
    assert found.shares["set_size"] == (1, 1)


def test_a_question_in_words_or_without_gold_is_no_query() -> None:
    assert completed(Retrieval(Question("1", "who?", answers=("a",)))) is None
    assert completed(Retrieval(Question("1", "who?", pattern=BORN_IN))) is None


WORLD = [
    *(Triple(person, "born_in", "riga") for person in ("bob", "cid", "dan")),
    *(Triple("riga", "has_part", part) for part in ("old town", "center", "teika")),
    *(Triple(person, "speaks", tongue) for person in ("bob", "cid") for tongue in ("latvian", "russian")),
    Triple("latvia", "capital", "riga"),
]


def test_cardinality_follows_the_counts_of_the_graph() -> None:
    facts = StoredFacts(TripleTable.from_triples(WORLD))
    found = {name: facts.cardinality(name) for name in ("born_in", "has_part", "speaks", "capital", "employer")}
    assert found == {"born_in": "n-1", "has_part": "1-n", "speaks": "n-m", "capital": "1-1", "employer": None}


def test_half_links_are_those_of_other_triples() -> None:
    facts = StoredFacts(TripleTable.from_triples(WORLD))
    assert facts.half_links(Triple("bob", "speaks", "latvian")) == "both"
    assert facts.half_links(Triple("bob", "born_in", "oslo")) == "(s, r)"
    assert facts.half_links(Triple("anna", "born_in", "riga")) == "(r, o)"
    assert facts.half_links(Triple("anna", "employer", "riga")) == "none"


def test_slices_take_ends_cardinalities_words_and_half_links_apart() -> None:
    graph = MemoryGraph(triples=WORLD)
    graph.open()
    found = CompletionScorer(graph).score(
        [
            asked(Pattern("anna", "born_in", None), ["riga"], {"riga": 0.9}, "1"),
            asked(Pattern(None, "born_in", "riga"), ["anna"], {"bob": 1.0, "eve": 0.9, "anna": 0.5}, "2"),
            asked(Pattern("riga", "has_part", None), ["new town", "x"], {"new town": 0.9}, "3"),
        ]
    )
    slices = compare_completions({"m": found})["slices"]
    mean = {
        name: {label: group["methods"]["m"]["mrr"]["mean"] for label, group in groups.items()}
        for name, groups in slices.items()
    }
    assert mean == {
        "end": {"object": round(2 / 3, 4), "subject": 0.5},
        "relation": {"born_in": 0.75, "has_part": 0.5},
        "cardinality": {"1-n": 0.5, "n-1": 0.75},
        "gold answers": {"1": 0.75, "2 to 10": 0.5},
        "words of the answer": {"1": 0.5, "2": 1.0},
        "half-links in the graph": {"(r, o)": 0.75, "(s, r)": 0.5},
    }
    precision = {
        label: group["methods"]["m"]["new_precision"]["mean"]
        for label, group in slices["words of the answer"].items()
    }  # fmt: skip
    assert precision == {"1": 0.75, "2": 1.0}


def test_a_graph_without_patterns_is_never_listed() -> None:
    class Closed(MemoryGraph):
        def match(self, patterns: Any) -> Any:
            raise AssertionError("the graph was read")

    assert CompletionScorer(Closed(triples=WORLD)).score([Retrieval(Question("1", "who?"))]) == [None]


def test_many_relations_are_the_most_frequent_and_others() -> None:
    results = [asked(Pattern("a", f"r{i % 60}", None), ["b"], {}, str(i)) for i in range(90)]
    groups = compare_completions({"m": [completed(result) for result in results]})["slices"]["relation"]
    assert len(groups) == 50
    assert groups["r0"]["questions"] == 2
    assert sum(group["questions"] for group in groups.values()) == 90
    assert list(groups)[-1] == "others"


def test_the_first_method_is_compared_with_the_others() -> None:
    good = [row(asked(BORN_IN, ["a"], {"a": 0.9}, str(i))) for i in range(20)]
    bad = [row(asked(BORN_IN, ["a"], {"x": 0.9}, str(i))) for i in range(20)]
    report = compare({"good": good, "bad": bad})["completion"]
    assert report["questions"] == 20
    assert report["differences"]["good - bad"]["mrr"]["mean"] == 1
    assert report["differences"]["good - bad"]["mrr"]["p"] < 0.01
    [bin_] = report["reliability"]["bad"]
    assert (bin_["n"], bin_["confidence"], bin_["right"]) == (20, 0.9, 0.0)


def test_scores_of_patterns_are_read_as_written_and_those_of_words_lack_them(tmp_path: Path) -> None:
    graph = MemoryGraph(triples=WORLD)
    graph.open()
    result = asked(BORN_IN, ["riga"], {"riga": 0.9, "old town": 0.25})
    [found] = CompletionScorer(graph).score([result])
    rows = {"m": [row(result, completion=found), row(Retrieval(Question("w", "in words?", answers=("a",))))]}
    write_scores(tmp_path, [(name, one) for name, some in rows.items() for one in some])
    assert read_scores(tmp_path) == rows
    lines = [json.loads(line) for line in (tmp_path / "scores.jsonl").read_text("utf-8").splitlines()]
    assert ["completion" in line for line in lines] == [True, False]


def test_files_of_results_are_scored_with_and_without_a_graph(tmp_path: Path) -> None:
    results = [
        asked(BORN_IN, ["riga"], {"riga": 0.9}, "1"),
        asked(BORN_THERE, ["anna"], {"bob": 1.0, "eve": 0.9}, "2"),
        asked(Pattern("bob", "speaks", None), ["old town"], {"latvian": 1.0, "old town": 0.9}, "3"),
    ]
    write_jsonl(tmp_path / "r.jsonl", map(record_from_retrieval, results))
    graph = MemoryGraph(triples=WORLD)
    graph.open()
    plain = evaluate_files([tmp_path / "r.jsonl"], None)["completion"]
    sliced = evaluate_files([tmp_path / "r.jsonl"], None, graph=graph)["completion"]
    assert plain["methods"] == sliced["methods"]
    assert plain["methods"]["r"]["mrr"]["mean"] == round(2 / 3, 4)
    assert set(plain["slices"]) == {"end", "relation"}
    extra = {"cardinality", "words of the answer", "half-links in the graph"}
    assert set(sliced["slices"]) == set(plain["slices"]) | extra


def test_questions_with_candidates_are_told_apart_by_wrong_ones_and_by_what_the_graph_knows() -> None:
    facts = StoredFacts(TripleTable.from_triples([Triple("anna", "lives_in", "riga")]))

    def groups(pattern: Pattern, ratings: dict[str, float]) -> tuple[str | None, str | None]:
        result = asked(pattern, ["a", "b"], ratings)
        question = attrs.evolve(result.question, candidates=tuple(ratings))
        found = completed(attrs.evolve(result, question=question), facts)
        assert found is not None
        return found.groups.get("candidates"), found.groups.get("bound entity")

    assert groups(BORN_IN, {"a": 0.9, "x": 0.0}) == ("with wrong ones", "in the graph")
    assert groups(Pattern("bert", "born_in", None), {"b": 0.9, "a": 0.1}) == ("right ones alone", "not in the graph")
    assert groups(BORN_IN, {}) == (None, None)


def test_average_precision_over_candidates_counts_those_rated_0() -> None:
    # Both are tied: half of the orders give 1, the others 1/2.
    assert summary(asked(BORN_IN, ["a"], {"a": 0.0, "x": 0.0}))["average_precision"] == 0.75
