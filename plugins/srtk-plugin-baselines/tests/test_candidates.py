"""Ranks of given candidates."""

from __future__ import annotations

import pytest
from srtk_plugin_baselines.candidates import CandidatesExpander
from srtk_plugin_baselines.frequency import FrequencyCompleter
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework.values import Budget, DriverError, Pattern, Question, Triple

TRIPLES = [
    Triple("ann", "plays", "chess"),
    Triple("bob", "plays", "chess"),
    Triple("bob", "plays", "go"),
    Triple("cid", "plays", "chess"),
    Triple("dan", "lives_in", "riga"),
]


def ranked(*questions, budget=None):
    graph = MemoryGraph(TRIPLES)
    graph.open()
    completer = FrequencyCompleter(graph)
    completer.open()
    return CandidatesExpander(graph, completer, budget or Budget()).expand(questions)


def asked(*parts, candidates=(), id_="1"):
    return Question(id_, "", pattern=Pattern(*parts), candidates=candidates)


def test_all_candidates_are_ranked_by_their_rating():
    (one,) = ranked(asked("dan", "plays", None, candidates=("riga", "go", "chess")))
    assert one.triples == tuple(Triple("dan", "plays", id_) for id_ in ("chess", "go", "riga"))
    assert one.confidences == (0.75, 0.25, 0.0)
    assert one.answer.entities == ("chess", "go", "riga")
    assert one.scores == (-0.2877, -1.3863, -13.8155)
    assert {text.partition(":")[0] for text in one.provenance} == {"FrequencyCompleter"}


def test_equal_candidates_are_sorted_and_not_left_out():
    (one,) = ranked(asked("dan", "plays", None, candidates=("tennis", "mars")))
    assert one.answer.entities == ("mars", "tennis")
    assert one.confidences == (0.0, 0.0)


def test_a_candidate_that_the_graph_holds_is_certain():
    (one,) = ranked(asked(None, "plays", "go", candidates=("ann", "bob")))
    assert one.triples[0] == Triple("bob", "plays", "go")
    assert one.confidences[0] == 1.0
    assert one.confidences[1] < 1
    assert one.answer.entities == ("bob", "ann")


def test_each_question_has_its_own_candidates_whatever_stands_between_them():
    rows = ranked(
        asked("dan", "plays", None, candidates=("go",), id_="1"),
        Question("2", "Who plays?"),
        asked("dan", "plays", None, id_="3"),
        asked("dan", "plays", None, candidates=("chess",), id_="4"),
    )
    assert [len(one.triples) for one in rows] == [1, 0, 0, 1]
    assert rows[1].trace["reason"].startswith("the question has no pattern")
    assert rows[2].trace["reason"].startswith("the question has no candidates")
    assert rows[3].answer.entities == ("chess",)


def test_what_the_budget_cuts_is_counted():
    (one,) = ranked(asked("dan", "plays", None, candidates=("go", "chess")), budget=Budget(triples=1))
    assert one.answer.entities == ("chess",)
    assert one.trace["cut"] == {"triples": 1}


def test_a_pattern_without_a_relation_and_one_open_end_is_refused():
    with pytest.raises(DriverError, match="bind the relation and either the subject or the object"):
        ranked(asked(None, "plays", None, candidates=("go",)))
