"""Metrics of the first K triples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_evaluation.columns import QUALITY
from srtk_plugin_evaluation.curves import CUTS, Ranking, Ranks, curves, ranks_of
from srtk_plugin_evaluation.metrics import row, score

from srtk_framework.values import Link, Literal, Question, Retrieval, Subgraph, Triple

nodes = st.sampled_from(["Anna", "Riga", "Latvia", "Tea", "Peru", Literal.make("1998", "xsd:gYear"), "1998"])
triples = st.lists(st.builds(Triple, nodes, st.sampled_from(["born", "in"]), nodes), unique=True, max_size=12)
answers = st.lists(nodes, max_size=4).map(tuple)


def retrieval(read: list[Triple], gold: list[Triple] | None = None, wanted: tuple[str, ...] | None = None) -> Retrieval:
    question = Question("1", "?", (Link("Anna"),), wanted, gold_triples=None if gold is None else tuple(gold))
    return Retrieval(question, Subgraph(tuple(read)))


def test_the_first_triples_of_a_case_worked_out_by_hand() -> None:
    gold = [Triple("Anna", "p0", "n0"), Triple("Anna", "p5", "n5"), Triple("x", "y", "z")]
    read = [Triple("Anna", f"p{i}", f"n{i}") for i in range(8)]
    ranks = ranks_of(retrieval(read, gold, ("n4", "n6", "gone", "Anna")))
    assert ranks == Ranks(size=8, answers=4, answers_at=(5, 7), gold=3, gold_at=(1, 6))
    ranking = Ranking([ranks])
    five = {name: values.tolist() for name, values in ranking.at(5).items()}
    assert five == {
        "answer_coverage": [1.0],
        "answer_recall": [0.25],
        "triple_precision": [0.2],
        "triple_recall": [pytest.approx(1 / 3)],
        "triple_f1": [0.25],
        "triples": [5.0],
    }
    ten = {name: values.tolist() for name, values in ranking.at(10).items()}
    assert (ten["answer_recall"], ten["triple_precision"], ten["triples"]) == ([0.5], [0.25], [8.0])


def test_an_answer_counts_once_at_its_first_triple() -> None:
    read = [Triple("a", "in", "Riga"), Triple("Riga", "in", "b"), Triple("Riga", "in", "Riga")]
    assert ranks_of(retrieval(read, wanted=("Riga",))).answers_at == (1,)


@given(triples, triples, answers)
def test_a_cut_at_or_above_the_size_gives_the_metrics_of_the_whole(
    read: list[Triple], gold: list[Triple], wanted: tuple[str, ...]
) -> None:
    made = retrieval(read, gold, wanted)
    whole = score(made)
    for cut in (max(len(read), 1), len(read) + 3, 200):
        found = Ranking([ranks_of(made)]).at(cut)
        for metric in (*QUALITY, "triples"):
            value = float(found[metric][0])
            assert value == whole[metric] or (np.isnan(value) and whole[metric] is None)


@given(triples, triples, answers, st.integers(1, 12))
def test_metrics_at_k_equal_those_of_the_cut_subgraph(
    read: list[Triple], gold: list[Triple], wanted: tuple[str, ...], cut: int
) -> None:
    whole, part = retrieval(read, gold, wanted), retrieval(read[:cut], gold, wanted)
    found, alone = Ranking([ranks_of(whole)]).at(cut), Ranking([ranks_of(part)]).at(10_000)
    for metric in (*QUALITY, "triples"):
        np.testing.assert_array_equal(found[metric], alone[metric])


@given(st.lists(st.tuples(triples, triples, answers), min_size=1, max_size=5))
def test_recall_and_coverage_never_fall_with_the_cut(
    cases: list[tuple[list[Triple], list[Triple], tuple[str, ...]]],
) -> None:
    ranking = Ranking([ranks_of(retrieval(*case)) for case in cases])
    for metric in ("answer_coverage", "answer_recall", "triple_recall", "triples"):
        levels = np.array([ranking.at(cut)[metric] for cut in range(1, 14)])
        assert not (np.diff(levels, axis=0) < 0).any()


@given(st.lists(st.tuples(triples, triples, answers), min_size=1, max_size=5))
def test_the_values_of_a_question_do_not_depend_on_other_questions(
    cases: list[tuple[list[Triple], list[Triple], tuple[str, ...]]],
) -> None:
    ranks = [ranks_of(retrieval(*case)) for case in cases]
    cuts = np.array([1.0 + i for i in range(len(cases))])
    together = Ranking(ranks).at(cuts)
    for i, one in enumerate(ranks):
        alone = Ranking([one]).at(float(cuts[i]))
        for metric, values in together.items():
            np.testing.assert_array_equal(values[i], alone[metric][0])


def test_each_method_is_also_cut_to_the_size_of_the_first_question_by_question() -> None:
    first = Ranking([Ranks(2, 1, (2,)), Ranks(1, 1, (1,))])
    other = Ranking([Ranks(9, 1, (3,)), Ranks(9, 1, (1,))])
    found = curves({"beam": first, "bfs": other})
    assert found["methods"]["bfs"]["answer_recall"]["5"]["mean"] == 1.0
    equal = found["equal"]
    assert equal["methods"]["bfs"]["answer_recall"]["mean"] == 0.5
    assert equal["methods"]["bfs"]["triples"]["mean"] == 1.5
    assert equal["differences"]["beam - bfs"]["answer_recall"]["mean"] == 0.5


def test_the_tests_at_all_cuts_of_a_metric_are_corrected_together() -> None:
    good, bad = Ranking([Ranks(9, 1, (1,))] * 30), Ranking([Ranks(9, 1, ())] * 30)
    found = curves({"beam": good, "bfs": bad})["differences"]["beam - bfs"]["answer_recall"]
    assert list(found) == [str(cut) for cut in CUTS]
    assert {estimate["p"] for estimate in found.values()} == {0.001}
    assert {estimate["p_holm"] for estimate in found.values()} == {0.006}


def test_metrics_without_gold_are_left_out() -> None:
    found = curves({"beam": Ranking([row(retrieval([Triple("a", "b", "c")], wanted=("c",))).ranks])})
    assert set(found["methods"]["beam"]) == {"answer_coverage", "answer_recall", "triples"}
    assert curves({}) == {}


def test_questions_whose_ranks_are_not_known_have_no_value() -> None:
    values = Ranking([None, Ranks(3, 2, (1,))]).at(5)["answer_recall"]
    assert np.isnan(values[0])
    assert values[1] == 0.5
