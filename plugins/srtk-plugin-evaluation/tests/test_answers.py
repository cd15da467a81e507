from __future__ import annotations

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_evaluation import compare, row, score
from srtk_plugin_evaluation.tables import answers_table, tables

from srtk_framework.values import Answer, Link, Literal, Question, Retrieval, Subgraph, Triple, use_of

LABELS = {"Q1": "Rīga", "Q2": "Tallinn", "Q3": "Washington, D.C.", "Q9": "Latvia"}


def read(answer, gold=("Q1", "Q2"), trace=None, error=None, id_="1"):
    question = Question(id_, "which towns?", (Link("Q9"),), answers=gold)
    subgraph = Subgraph((Triple("Q9", "capital", "Q1"),), trace=trace or {})
    return Retrieval(question, subgraph, answer, LABELS, error)


def scores(answer, **more):
    found = score(read(answer, **more))
    return [found.get(metric) for metric in ("answer_hit", "answer_f1", "answer_exact", "answer_refused")]


def test_entities_and_words_of_an_answer_are_scored():
    assert scores(Answer("Riga", ("Q1",))) == [1.0, pytest.approx(2 / 3), 1.0, 0.0]
    assert scores(Answer("Riga and Tallinn.", ("Q1", "Q2"))) == [1.0, 1.0, 1.0, 0.0]
    assert scores(Answer("Oslo, Riga", ("Q7", "Q1"))) == [0.0, 0.5, 0.0, 0.0]
    assert scores(Answer("Norway", ())) == [0.0, 0.0, 0.0, 0.0]


def test_a_refusal_is_counted_and_is_never_right():
    assert scores(Answer(enough=False)) == [0.0, 0.0, 0.0, 1.0]


def test_answer_texts_are_compared_without_case_diacritics_and_outer_punctuation():
    assert scores(Answer('"RIGA".'))[2] == 1.0
    assert scores(Answer("washington, d.c."), gold=("Q3",))[2] == 1.0
    assert scores(Answer("Q1"))[2] == 1.0
    assert scores(Answer("the town of Riga"))[2] == 0.0


def test_a_literal_is_found_by_its_value():
    year = Literal('"1201"^^xsd:gYear')
    assert scores(Answer("1201", (year,)), gold=("1201",)) == [1.0, 1.0, 1.0, 0.0]
    assert scores(Answer("1201", (year,)), gold=(year,)) == [1.0, 1.0, 1.0, 0.0]


def test_a_questions_own_entities_are_no_answers():
    assert scores(Answer("Latvia", ("Q9",)), gold=("Q9",))[:2] == [0.0, 0.0]


def test_an_option_that_the_question_names_itself_may_be_its_answer():
    question = Question("1", "Is Riga in Latvia?", (Link("Riga"),), answers=("Riga",), options=("Riga", "Oslo"))
    found = score(Retrieval(question, Subgraph(), Answer("Riga", ("Riga",))))
    assert (found["answer_hit"], found["answer_f1"], found["answer_exact"]) == (1.0, 1.0, 1.0)


def test_a_count_is_judged_by_its_members_where_the_gold_answers_are_what_is_counted():
    assert scores(Answer("2", ("Q1", "Q2"), operation="count", number=2)) == [1.0, 1.0, 1.0, 0.0]
    assert scores(Answer("1", ("Q1",), operation="count", number=1)) == [1.0, pytest.approx(2 / 3), 0.0, 0.0]
    assert scores(Answer("2", ("Q7", "Q3"), operation="count", number=2)) == [0.0, 0.0, 0.0, 0.0]
    assert scores(Answer("2", ("Q7", "Q3"), operation="count", number=2), gold=("2",)) == [1.0, 1.0, 1.0, 0.0]
    assert scores(Answer("2", number=2))[0] == 0.0


def test_without_gold_only_refusals_are_counted():
    assert scores(Answer("Riga", ("Q1",)), gold=None) == [None, None, None, 0.0]
    assert scores(None) == [None] * 4


@given(st.lists(st.sampled_from(["Q1", "Q2", "Q3", "Q9"]), unique=True), st.lists(st.sampled_from(["Q1", "Q2", "Q3"])))
def test_answer_metrics_are_between_0_and_1(entities, gold):
    found = scores(Answer(", ".join(entities), tuple(entities)), gold=tuple(gold))
    assert all(value is None or 0 <= value <= 1 for value in found)
    if gold and set(entities) == set(gold):
        assert found[:3] == [1.0, 1.0, 1.0]


USED = {"calls": 2, "tokens_in": 100, "tokens_out": 5, "cost": 0.001}


def test_the_usage_of_generators_is_summed_over_search_and_reader():
    trace = {"generator": USED, "reader": {"reads": 1, "generator": {**USED, "calls": 1}}}
    assert use_of(trace) == {"calls": 3, "tokens_in": 200, "tokens_out": 10, "cost": 0.002}
    assert use_of({"reader": {"reads": 1}}) is None
    found = score(read(Answer("Riga"), trace=trace))
    assert (found["calls"], found["model_tokens"], found["cost_per_1000"]) == (3.0, 210.0, pytest.approx(2.0))


def rows(*answers):
    return [row(read(a, id_=str(i), trace={"generator": USED})) for i, a in enumerate(answers)]


def test_answer_metrics_are_averaged_and_compared_if_methods_have_them():
    ours = rows(Answer("Riga", ("Q1",)), Answer("Riga", ("Q1",)), Answer(enough=False))
    theirs = rows(Answer("Oslo", ("Q7",)), Answer("Riga", ("Q1",)), Answer("Oslo", ("Q7",)))
    report = compare({"ours": ours, "theirs": theirs})
    assert report["methods"]["ours"]["answer_hit"]["mean"] == pytest.approx(2 / 3, abs=1e-4)
    assert report["methods"]["ours"]["answer_refused"]["mean"] == pytest.approx(1 / 3, abs=1e-4)
    assert report["methods"]["theirs"]["calls"]["mean"] == 2.0
    assert report["differences"]["ours - theirs"]["answer_hit"]["mean"] == pytest.approx(1 / 3, abs=1e-4)
    assert [column.header for column in answers_table(report).columns][:3] == ["method", "hit@1", "F1"]
    assert answers_table(report) is not None
    assert len(tables(report)) >= 2


def test_a_failed_question_has_no_right_answer_where_others_are_read():
    failed = row(read(None, error="no server", id_="9"))
    report = compare({"ours": [*rows(Answer("Riga", ("Q1",))), failed]})
    assert report["methods"]["ours"]["answer_hit"] == {**report["methods"]["ours"]["answer_hit"], "mean": 0.5, "n": 2}


def test_only_failed_questions_with_gold_answers_count_as_answered_wrongly():
    right = rows(Answer("Riga", ("Q1",)))[0]
    unread = row(read(None, id_="7"))
    no_gold = row(read(None, gold=(), error="no server", id_="8"))
    kept = attrs.evolve(right, id="9", failed=True)
    found = compare({"ours": [right, unread, no_gold, kept]})["methods"]["ours"]
    assert (found["answer_hit"]["mean"], found["answer_hit"]["n"]) == (1.0, 2)


def test_a_failed_question_has_no_metric_that_it_has_no_gold_for():
    gold = attrs.evolve(read(Answer("Riga", ("Q1",))))
    with_triples = attrs.evolve(gold, question=attrs.evolve(gold.question, gold_triples=gold.subgraph.triples))
    found = compare({"ours": [row(with_triples), row(read(None, error="no server", id_="9"))]})["methods"]["ours"]
    assert (found["triple_recall"]["mean"], found["triple_recall"]["n"]) == (1.0, 1)
    assert (found["answer_hit"]["mean"], found["answer_hit"]["n"]) == (0.5, 2)


def test_methods_without_a_reader_have_no_answer_metrics():
    report = compare({"ours": [row(read(None))]})
    assert not {"answer_hit", "calls", "answer_refused"} & set(report["methods"]["ours"])
    assert answers_table(report) is None
