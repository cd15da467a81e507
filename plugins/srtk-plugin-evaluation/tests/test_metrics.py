"""Scores of one question, reports over many, and the table."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_evaluation.columns import METRICS, PATH_METRICS
from srtk_plugin_evaluation.metrics import compare, row, score, summarise
from srtk_plugin_evaluation.rows import Row

from srtk_framework.values import (
    END,
    InputError,
    Link,
    Literal,
    Question,
    RankedPath,
    Retrieval,
    Step,
    Subgraph,
    Triple,
)

BORN, IN = Step("born"), Step("in")
RIGA = Triple("Anna", "born", "Riga")
LATVIA = Triple("Riga", "in", "Latvia")
OTHER = Triple("Anna", "likes", "Tea")


def retrieval(triples: tuple[Triple, ...], answers: tuple[str, ...] | None = ("Latvia",), **known: Any) -> Retrieval:
    question = Question("1", "Where was Anna born?", (Link("Anna"),), answers, **known)
    return Retrieval(question, Subgraph(triples, (0.5,) * len(triples)))


def test_coverage_needs_any_answer_and_recall_counts_all() -> None:
    found = score(retrieval((RIGA, LATVIA), ("Latvia", "Riga", "Estonia", "Peru")))
    assert found["answer_coverage"] == 1.0
    assert found["answer_recall"] == 0.5


def test_an_entity_of_the_question_is_never_an_answer_found() -> None:
    found = score(retrieval((RIGA,), ("Anna",)))
    assert found["answer_coverage"] == 0.0
    assert found["answer_recall"] == 0.0


def test_an_answer_that_is_an_entity_of_the_question_stays_among_the_gold() -> None:
    assert score(retrieval((RIGA,), ("Anna", "Riga")))["answer_recall"] == 0.5


def test_repeated_gold_answers_count_once() -> None:
    assert score(retrieval((LATVIA,), ("Latvia", "Latvia", "Peru")))["answer_recall"] == 0.5


def test_a_literal_is_found_by_its_lexical_form_and_by_its_whole_form() -> None:
    year = Literal.make("1998", "xsd:gYear")
    triples = (Triple("Anna", "born in", year),)
    assert score(retrieval(triples, ("1998",)))["answer_coverage"] == 1.0
    assert score(retrieval(triples, (year,)))["answer_coverage"] == 1.0
    assert score(retrieval(triples, ("199",)))["answer_coverage"] == 0.0


@pytest.mark.parametrize("answers", [None, ()])
def test_a_question_without_answers_has_no_answer_metrics(answers: tuple[str, ...] | None) -> None:
    found = score(retrieval((RIGA,), answers))
    assert found["answer_coverage"] is None
    assert found["answer_recall"] is None
    assert found["triples"] == 1.0


def test_triples_are_compared_with_the_gold_triples() -> None:
    found = score(retrieval((RIGA, LATVIA, OTHER), gold_triples=(RIGA, LATVIA, Triple("a", "b", "c"), RIGA)))
    assert found["triple_precision"] == pytest.approx(2 / 3)
    assert found["triple_recall"] == pytest.approx(2 / 3)
    assert found["triple_f1"] == pytest.approx(2 / 3)


def test_without_gold_triples_there_are_no_triple_metrics() -> None:
    found = score(retrieval((RIGA,), gold_paths=((BORN,),)))
    assert [found[name] for name in ("triple_precision", "triple_recall", "triple_f1")] == [None, None, None]


def test_an_empty_subgraph_has_precision_0_and_size_0() -> None:
    found = score(retrieval((), gold_triples=(RIGA,)))
    assert [found[name] for name in METRICS] == [0.0] * len(METRICS)


def test_tokens_are_those_of_the_text_with_labels() -> None:
    plain = retrieval((RIGA,))
    assert score(plain)["tokens"] == 5.0  # Anna | born | Riga
    assert score(attrs.evolve(plain, labels={"born": "was born in"}))["tokens"] == 7.0


def test_a_gold_path_is_known_by_its_steps_with_or_without_the_end() -> None:
    known = retrieval((RIGA,), gold_paths=((BORN, IN), (BORN,)))
    paths = (RankedPath("Anna", (IN,), 0.9), RankedPath("Anna", (BORN, END), 0.5))
    found = score(attrs.evolve(known, subgraph=attrs.evolve(known.subgraph, paths=paths)))
    assert (found["path_hit"], found["path_top"]) == (1.0, 0.0)
    found = score(attrs.evolve(known, subgraph=attrs.evolve(known.subgraph, paths=paths[::-1])))
    assert (found["path_hit"], found["path_top"]) == (1.0, 1.0)


def test_only_the_end_is_taken_off_a_path() -> None:
    three = (BORN, IN, Step("near"))
    known = retrieval((RIGA,), gold_paths=(three,))
    end = Step(*END)
    paths = [(*three, END), (*three, end), three, three[:-1], (BORN, END), (END,), (*three[:-1], Step("zzz"))]
    hits = [
        score(attrs.evolve(known, subgraph=attrs.evolve(known.subgraph, paths=(RankedPath("Anna", path, 0.5),))))
        for path in paths
    ]
    assert [found["path_hit"] for found in hits] == [1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    assert row(attrs.evolve(known, question=attrs.evolve(known.question, gold_paths=((*three, END), three)))).hops == 3
    for path in [(IN,), (Step("zzz"),)]:
        assert row(retrieval((RIGA,), gold_paths=(path,))).hops == 1


def test_the_top_path_is_the_first_of_several_and_missing_paths_score_0() -> None:
    known = retrieval((RIGA,), gold_paths=((BORN,),))
    right, wrong = RankedPath("Anna", (BORN,), 0.9), RankedPath("Anna", (IN,), 0.5)
    tops = [
        score(attrs.evolve(known, subgraph=attrs.evolve(known.subgraph, paths=paths)))["path_top"]
        for paths in [(), (right, wrong, wrong), (wrong, right, right), (right, wrong, right)]
    ]
    assert tops == [0.0, 1.0, 0.0, 1.0]


def test_a_failed_question_scores_0_and_is_counted() -> None:
    failed = Retrieval(retrieval(()).question, error="the endpoint is down")
    found = row(failed)
    assert found.failed
    assert found.metrics["answer_coverage"] == 0.0
    report = compare({"beam": [found, row(retrieval((LATVIA,)))]})
    assert report["failed"] == {"beam": 1}
    assert report["methods"]["beam"]["answer_coverage"]["mean"] == 0.5


nodes = st.sampled_from(["Anna", "Riga", "Latvia", "Tea", "Peru"])
triples = st.lists(st.builds(Triple, nodes, st.sampled_from(["born", "in"]), nodes), unique=True, max_size=8)


@given(triples, triples, st.lists(nodes, max_size=4))
def test_scores_are_shares_and_do_not_depend_on_order(
    read: list[Triple], gold: list[Triple], answers: list[str]
) -> None:
    made = retrieval(tuple(read), tuple(answers), gold_triples=tuple(gold))
    turned = retrieval(tuple(read[::-1]), tuple(answers[::-1]), gold_triples=tuple(gold[::-1]))
    found = score(made)
    assert found == score(turned)
    assert all(0 <= value <= 1 for name in METRICS[:5] if (value := found[name]) is not None)
    if gold:
        assert (found["triple_f1"] == 1.0) == (set(read) == set(gold))


@given(triples, triples)
def test_more_triples_never_find_fewer_answers(read: list[Triple], more: list[Triple]) -> None:
    few = score(retrieval(tuple(read), ("Riga", "Latvia", "Peru")))
    many = score(retrieval(tuple(dict.fromkeys(read + more)), ("Riga", "Latvia", "Peru")))
    assert (few["answer_recall"] or 0) <= (many["answer_recall"] or 0)


def rows(values: list[float | None], **known: Any) -> list[Row]:
    empty = dict.fromkeys((*METRICS, *PATH_METRICS))
    return [
        Row(str(i), {**empty, "answer_coverage": v, "triples": 3.0, "tokens": 9.0}, **known)
        for i, v in enumerate(values)
    ]


def test_every_fixed_metric_is_in_the_report_even_without_values() -> None:
    summary = compare({"beam": rows([1.0, None, 0.0], seconds=0.5)})["methods"]["beam"]
    assert set(summary) == {*METRICS, "questions_per_second"}
    assert summary["triple_f1"] == {"mean": None, "low": None, "high": None, "n": 0}
    assert (summary["answer_coverage"]["mean"], summary["answer_coverage"]["n"]) == (0.5, 2)
    assert summary["questions_per_second"] == {"mean": 2.0, "low": None, "high": None, "n": 3}


def test_equal_sizes_have_no_interval_though_they_are_0_or_1() -> None:
    one = [attrs.evolve(r, metrics={**r.metrics, "triples": 1.0}) for r in rows([1.0] * 20)]
    report = compare({"beam": one, "bfs": one})
    of_beam, apart = report["methods"]["beam"], report["differences"]["beam - bfs"]
    assert of_beam["answer_coverage"]["low"] < 1 == of_beam["triples"]["mean"]
    assert of_beam["triples"]["low"] is None
    assert apart["answer_coverage"]["low"] < 0 == apart["triples"]["mean"]
    assert apart["triples"]["low"] is None


def test_sizes_also_get_median_and_95th_percentile() -> None:
    summary = summarise(rows([1.0] * 4))
    assert (summary["triples"]["median"], summary["tokens"]["p95"]) == (3.0, 9.0)
    assert "median" not in summary["answer_coverage"]


def test_speed_is_computed_from_the_timed_questions() -> None:
    assert summarise(rows([1.0, 0.0]))["questions_per_second"]["mean"] is None
    timed = [attrs.evolve(r, seconds=s) for r, s in zip(rows([1.0, 0.0]), (0.1, 0.3), strict=True)]
    assert summarise(timed)["questions_per_second"]["mean"] == 5.0
    half = [attrs.evolve(r, seconds=s) for r, s in zip(rows([1.0, 0.0]), (0.1, None), strict=True)]
    assert summarise(half)["questions_per_second"] == {"mean": 10.0, "low": None, "high": None, "n": 1}


def test_path_metrics_are_omitted_for_a_method_without_paths() -> None:
    known = retrieval((RIGA,), gold_paths=((BORN,),))
    walked = attrs.evolve(known, subgraph=attrs.evolve(known.subgraph, paths=(RankedPath("Anna", (BORN,), 0.5),)))
    report = compare({"beam": [row(walked)], "bfs": [row(known)]})
    assert report["methods"]["beam"]["path_hit"]["mean"] == 1.0
    assert "path_hit" not in report["methods"]["bfs"]


def test_the_first_method_is_compared_with_each_other_one() -> None:
    report = compare({"beam": rows([1.0] * 30), "bfs": rows([0.0] * 30), "random": rows([1.0] * 30)})
    assert list(report["differences"]) == ["beam - bfs", "beam - random"]
    assert report["differences"]["beam - bfs"]["answer_coverage"] == {
        "mean": 1.0, "low": 0.8125, "high": 1.0, "n": 30, "p": 0.001, "p_holm": 0.002
    }  # fmt: skip
    assert report["differences"]["beam - random"]["answer_coverage"]["p"] == 1.0


def test_methods_run_on_other_questions_are_refused() -> None:
    with pytest.raises(InputError, match=r"'beam' \(3 questions\) and 'bfs' \(2\).*only one of them has 2"):
        compare({"beam": rows([1.0] * 3), "bfs": rows([1.0] * 2)})


def named(*ids: str, text: str = "") -> list[Row]:
    return [attrs.evolve(r, id=id_, text=text) for r, id_ in zip(rows([1.0] * len(ids)), ids, strict=True)]


@pytest.mark.parametrize(("one", "other"), [("1", "2"), ("2", "1")])
def test_methods_run_on_as_many_other_questions_are_refused(one: str, other: str) -> None:
    with pytest.raises(InputError, match="only one of them has 1, 2; run both"):
        compare({"beam": named(one), "bfs": named(other)})
    with pytest.raises(InputError, match="the order or number of questions differs"):
        compare({"beam": named(one, other), "bfs": named(other, one)})


def test_at_most_five_questions_of_one_method_are_named() -> None:
    with pytest.raises(InputError, match=r"only one of them has 1, 2, 3, 4, 5; run both"):
        compare({"beam": named("0"), "bfs": named(*"0123456")})


@pytest.mark.parametrize(("one", "other"), [("a?", "b?"), ("b?", "a?")])
def test_questions_with_other_texts_are_refused_and_the_first_is_named(one: str, other: str) -> None:
    beam, bfs = named(*"123", text=one), named(*"123", text=other)
    with pytest.raises(InputError, match=r"'beam' and 'bfs'.*: 3 ids have different texts, such as 1; run both"):
        compare({"beam": beam, "bfs": bfs})
    assert compare({"beam": beam, "bfs": named(*"123", text="")})["questions"] == 3, "an unknown text is no other text"


def test_a_later_method_on_other_questions_is_refused_too() -> None:
    with pytest.raises(InputError, match=r"methods 'beam' .* and 'ppr'"):
        compare({"beam": named("1"), "bfs": named("1"), "ppr": named("2")})


def test_links_are_compared_if_any_question_has_gold_links() -> None:
    linked = attrs.evolve(rows([1.0])[0], linking={"strong_f1": (1, 2)}, hops=1)
    plain = attrs.evolve(rows([1.0, 1.0])[1], hops=2)
    report = compare({"beam": [linked, plain], "bfs": [linked, plain]})
    assert report["linking"]["questions"] == 1
    assert report["linking"]["methods"]["beam"]["strong_f1"]["mean"] == 0.5
    assert report["slices"]["hops"]["1"]["linking"]["questions"] == 1
    assert "linking" not in report["slices"]["hops"]["2"]
    assert "linking" not in compare({"beam": [plain]})
    assert "linking" in compare({"beam": [linked]})


def test_cuts_are_compared_if_the_ranks_of_any_question_are_known() -> None:
    known = row(retrieval((RIGA, LATVIA)))
    assert known.ranks is not None
    unknown = attrs.evolve(known, id="2", ranks=None)
    assert "at" not in compare({"beam": [unknown]})
    assert "at" in compare({"beam": [known]})
    assert "at" in compare({"beam": [known, unknown]})


@pytest.mark.parametrize(
    ("kinds", "links"),
    [(["given", "given"], "given"), (["given", "linked"], "mixed"), (["none", "linked"], "linked"), (["none"], "none")],
)
def test_the_report_names_the_origin_of_the_links(kinds: list[str], links: str) -> None:
    assert (
        compare({"beam": [attrs.evolve(rows([1.0])[0], id=str(i), links=k) for i, k in enumerate(kinds)]})["links"]
        == links
    )


def test_a_row_takes_its_links_from_the_trace() -> None:
    made = retrieval((RIGA,))
    assert row(made).links == "given"
    assert row(attrs.evolve(made, subgraph=Subgraph(trace={"links": "linked"}))).links == "linked"
    assert row(Retrieval(Question("1", "?"))).links == "none"


def test_questions_are_also_reported_by_the_length_of_their_paths() -> None:
    mixed = [attrs.evolve(r, hops=1 + i % 2) for i, r in enumerate(rows([1.0, 0.0, 1.0, 0.0]))]
    report = compare({"beam": mixed})
    assert report["slices"]["hops"]["1"]["methods"]["beam"]["answer_coverage"]["mean"] == 1.0
    assert report["slices"]["hops"]["2"]["methods"]["beam"]["answer_coverage"]["mean"] == 0.0
    assert compare({"beam": rows([1.0], hops=2)})["slices"] == {}


def test_a_report_is_the_same_each_time() -> None:
    methods = {"beam": rows([1.0, 0.0, 0.5] * 20), "bfs": rows([0.0, 0.5, 0.5] * 20)}
    assert compare(methods) == compare(methods)
