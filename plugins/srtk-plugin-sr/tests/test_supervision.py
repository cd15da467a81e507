"""What each supervision finds, and the measures of quality."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_sr.supervision import MEASURES, GoldPath, GoldTriples, NearShortest, ShortestPath

from srtk_framework.values import Budget, Link, Question, RankedPath, SettingsError, Step, Triple

DATA = Path(os.environ.get("SRTK_DATA", Path(__file__).parents[3] / "../shared/data"))

FACTS = [
    ["film", "by", "ann"],
    ["film", "by", "bob"],
    ["film2", "by", "ann"],
    ["ann", "born", "riga"],
    ["bob", "born", "oslo"],
    ["film", "shot", "riga"],
    ["riga", "in", "latvia"],
]


def graph(facts: list[list[str]] = FACTS) -> MemoryGraph:
    made = MemoryGraph(triples=facts)
    made.open()
    return made


def asked(entity: str, *answers: str, **more: object) -> Question:
    return Question("q", "What?", (Link(entity),), answers=answers, **more)  # type: ignore[arg-type]


def texts(paths: list[RankedPath]) -> list[tuple[str, float]]:
    return [(" ".join(map(str, path.steps)), path.score) for path in paths]


def path(text: str) -> tuple[Step, ...]:
    return tuple(Step.parse(step) for step in text.split())


def test_measures_compare_reached_and_answers() -> None:
    values = {name: measure({"a", "b", "c"}, {"b", "c", "d", "e"}) for name, measure in MEASURES.items()}
    assert values == {"f1": 4 / 7, "jaccard": 2 / 5, "precision": 2 / 3, "recall": 1 / 2}


@given(st.sets(st.sampled_from("abcd")), st.sets(st.sampled_from("abcd")))
def test_measures_lie_between_0_and_1_and_are_1_for_equal_sets(reached: set[str], answers: set[str]) -> None:
    for measure in MEASURES.values():
        assert 0 <= measure(reached, answers) <= 1
        if reached:
            assert measure(reached, reached) == 1


def test_all_shortest_paths_are_found_in_both_directions() -> None:
    driver = ShortestPath(graph=graph(), threshold=0.0)
    assert texts(driver.supervise([asked("film", "latvia")])[0]) == [("shot in", 1.0)]
    # Bob was born elsewhere; that path reaches two places, of which one is the answer.
    assert texts(driver.supervise([asked("film2", "riga")])[0]) == [("by born", 1.0)]
    assert texts(driver.supervise([asked("riga", "film")])[0]) == [("^shot", 1.0)]


def test_a_path_below_the_threshold_is_dropped() -> None:
    question = asked("film", "ann")
    assert texts(ShortestPath(graph=graph(), threshold=0.6).supervise([question])[0]) == [("by", 0.6667)]
    assert ShortestPath(graph=graph(), threshold=0.7).supervise([question])[0] == []
    assert texts(ShortestPath(graph=graph(), threshold=0.7, measure="recall").supervise([question])[0]) == [("by", 1.0)]


def test_each_answer_has_its_own_shortest_paths() -> None:
    driver = ShortestPath(graph=graph(), threshold=0.0)
    found = dict(texts(driver.supervise([asked("film", "ann", "latvia")])[0]))
    assert found == {"by": 0.5, "shot in": 0.6667}


def test_an_answer_that_is_the_entity_itself_is_no_goal() -> None:
    assert ShortestPath(graph=graph(), threshold=0.0).supervise([asked("film", "film")])[0] == []


def test_longer_paths_are_found_and_cost_quality() -> None:
    question = asked("film", "riga")
    assert texts(ShortestPath(graph=graph()).supervise([question])[0]) == [("shot", 1.0)]
    near = dict(texts(NearShortest(graph=graph(), slack=1, decay=0.5).supervise([question])[0]))
    assert near == {"shot": 1.0, "by born": 0.3333}


def test_near_shortest_stays_within_its_hops() -> None:
    near = NearShortest(graph=graph(), hops=2, slack=5).supervise([asked("film", "riga")])[0]
    assert max(len(one.steps) for one in near) == 2


def test_gold_paths_start_from_each_entity_that_has_them() -> None:
    question = Question(
        "q", "What?", (Link("film"), Link("riga")), answers=("latvia",), gold_paths=(path("shot in"), path("in"))
    )
    found = GoldPath(graph=graph()).supervise([question])[0]
    assert found == [RankedPath("riga", path("in"), 1.0), RankedPath("film", path("shot in"), 1.0)]


def test_gold_paths_of_unknown_answers_need_to_lead_somewhere() -> None:
    question = Question("q", "What?", (Link("film"),), gold_paths=(path("shot"), path("in")))
    assert texts(GoldPath(graph=graph()).supervise([question])[0]) == [("shot", 1.0)]


def test_gold_triples_give_the_paths_within_them() -> None:
    triples = (Triple("film", "by", "ann"), Triple("ann", "born", "riga"), Triple("riga", "in", "latvia"))
    question = asked("film", "riga", gold_triples=triples)
    assert texts(GoldTriples().supervise([question])[0]) == [("by born", 1.0)]
    backwards = asked("riga", "film", gold_triples=triples)
    assert texts(GoldTriples().supervise([backwards])[0]) == [("^born ^by", 1.0)]
    assert GoldTriples(inverse=False).supervise([backwards])[0] == []


def test_what_limits_cut_is_reported_once_for_all_batches(caplog: pytest.LogCaptureFixture) -> None:
    facts = [["hub", "r", f"n{i:02}"] for i in range(9)] + [["n08", "s", "end"], ["n07", "s", "end2"]]
    facts += [[f"x{i}", "s", "end"] for i in range(9)]
    driver = ShortestPath(graph=graph(facts), budget=Budget(hub=2), threshold=0.0, hops=2)
    with caplog.at_level(logging.WARNING):
        for answer in ("end", "end2", "n00"):
            driver.supervise([asked("hub", answer)])
        assert not caplog.records
        driver.close()
        driver.close()
    assert [record.getMessage() for record in caplog.records] == [
        "in 1 of 3 searches a limit of neighbours or nodes may have hidden a path; raise `budget`",
        "a limit of neighbours or nodes cut what the paths of 3 questions reach; raise `budget`",
    ]


def test_questions_whose_paths_reach_more_than_was_followed_are_counted(caplog: pytest.LogCaptureFixture) -> None:
    driver = GoldPath(graph=graph([["hub", "r", f"n{i}"] for i in range(9)]), budget=Budget(hub=2))
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            driver.supervise([asked("hub", "n0", gold_paths=(path("r"),))])
        driver.close()
    [message] = [record.getMessage() for record in caplog.records]
    assert message == "a limit of neighbours or nodes cut what the paths of 3 questions reach; raise `budget`"


@pytest.mark.parametrize("settings", [{"hops": 0}, {"answers": 0}, {"paths": 0}, {"measure": "accuracy"}])
def test_bad_settings_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(SettingsError, match=next(iter(settings))):
        ShortestPath(graph=graph(), **settings)  # type: ignore[arg-type]


def test_on_pathquestion_the_shortest_paths_hold_the_gold_path() -> None:
    from srtk_plugin_datasets.pathquestion import PathQuestion

    folder = DATA / "pathquestion"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there; set SRTK_DATA to the folder of data")
    dataset = PathQuestion(path=str(folder), hops=2, limit=60)
    dataset.open()
    questions = list(dataset.read())
    facts = sorted({tuple(line.split("\t")) for line in _lines(folder)})
    driver = ShortestPath(graph=graph([list(fact) for fact in facts]), threshold=0.0, measure="recall")
    hits = 0
    for question, found in zip(questions, driver.supervise(questions), strict=True):
        gold = set(question.gold_paths or ())
        shorter = [one for one in found if len(one.steps) < 2]
        hits += bool(gold & {one.steps for one in found} or shorter or question.answers == (question.links[0].entity,))
    assert hits == len(questions), json.dumps([q.id for q in questions])[:200]


def _lines(folder: Path) -> list[str]:
    return [
        line
        for name in sorted(folder.glob("2H-kb.txt"))
        for line in name.read_text(encoding="utf-8").splitlines()
        if line.count("\t") == 2
    ]


def test_without_what_is_reached_or_an_answer_every_measure_is_0() -> None:
    for measure in MEASURES.values():
        assert measure([], ["a"]) == measure(["a"], []) == measure([], []) == 0.0
    assert MEASURES["precision"](["a", "a", "b"], ["a", "a"]) == 0.5
    assert MEASURES["recall"](["a", "a"], ["a", "b", "b"]) == 0.5


def test_a_path_at_the_threshold_is_kept() -> None:
    question = asked("film", "ann", "latvia")
    assert texts(ShortestPath(graph=graph()).supervise([question])[0]) == [("shot in", 0.6667), ("by", 0.5)]


def test_only_the_first_answers_are_searched_for_and_only_the_best_paths_returned() -> None:
    question = asked("film", "bob", "latvia", "ann")
    few = ShortestPath(graph=graph(), threshold=0.0, answers=2).supervise([question])[0]
    assert texts(few) == [("by", 0.8)]
    every = ShortestPath(graph=graph(), threshold=0.0).supervise([question])[0]
    assert texts(every) == [("by", 0.8), ("shot in", 0.5)]
    assert ShortestPath(graph=graph(), threshold=0.0, paths=1).supervise([question])[0] == every[:1]


def test_a_path_that_is_found_for_several_answers_has_the_quality_of_the_nearest() -> None:
    # From a the path "r s" is the shortest to c, and one longer than "t" to d.
    facts = [["a", "r", "b"], ["b", "s", "c"], ["b", "s", "d"], ["a", "t", "d"]]
    near = NearShortest(graph=graph(facts), slack=1, decay=0.25, inverse=False)
    found = dict(texts(near.supervise([asked("a", "c", "d")])[0]))
    assert found == {"r s": 1.0, "t": 0.6667}


def test_hops_are_three_by_default_and_of_gold_triples_four() -> None:
    chain = [[f"n{i}", "r", f"n{i + 1}"] for i in range(6)]
    driver = ShortestPath(graph=graph(chain))
    assert [len(driver.supervise([asked("n0", f"n{i}")])[0]) for i in (3, 4)] == [1, 0]
    triples = tuple(Triple(*row) for row in chain)
    found = [GoldTriples().supervise([asked("n0", f"n{i}", gold_triples=triples)])[0] for i in (4, 5)]
    assert [len(row) for row in found] == [1, 0]


def test_gold_triples_without_answers_lead_to_where_they_end_and_visit_no_node_twice() -> None:
    triples = tuple(Triple(*row) for row in (["a", "r", "b"], ["b", "s", "a"], ["b", "t", "c"], ["a", "u", "a"]))
    question = Question("q", "What?", (Link("a"),), gold_triples=triples)
    assert texts(GoldTriples(inverse=False).supervise([question])[0]) == [("r t", 1.0)]


def test_the_cuts_of_one_run_are_not_those_of_the_next(caplog: pytest.LogCaptureFixture) -> None:
    driver = GoldPath(graph=graph([["hub", "r", f"n{i}"] for i in range(9)]), budget=Budget(hub=2))
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            driver.supervise([asked("hub", "n0", gold_paths=(path("r"),))])
            driver.close()
    assert len({record.getMessage() for record in caplog.records}) == 1
    assert len(caplog.records) == 2
