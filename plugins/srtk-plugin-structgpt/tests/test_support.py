"""The triples that support an answer."""

from __future__ import annotations

from srtk_plugin_structgpt.search_state import found_triple
from srtk_plugin_structgpt.support import connected

from srtk_framework.testing.scripted import picks
from srtk_framework.values import Step, Triple

ENOUGH = "Do these facts contain the answer?"


def test_an_answer_without_support_has_it_marked_by_a_further_call(show, walk, ask):
    script = [
        ("Which of the facts does the answer rest on?", picks("jeff | profession | producer")),
        (ENOUGH, '{"enough": true, "answer": ["producer"], "triples": []}'),
        ("follow", picks("profession", "spouse")),
    ]
    found = walk(show, script, width=2).expand([ask("What does Jeff do?", "jeff")])[0]
    assert found.triples == (("jeff", "profession", "producer"),)
    assert found.trace["calls"][-1]["template"] == "support"


def test_all_triples_stay_where_no_support_is_known_or_wanted(show, walk, ask):
    script = [(ENOUGH, '{"enough": true, "answer": ["producer"], "triples": []}'), ("Which of the facts", "[]")]
    script.append(("follow", picks("profession", "spouse")))
    question = ask("What does Jeff do?", "jeff")
    assert len(walk(show, script, width=2).expand([question])[0].triples) == 2
    assert len(walk(show, script, width=2, support=False).expand([question])[0].triples) == 2


def test_only_the_triples_that_lead_to_the_supporting_ones_are_connected():
    first, second, third, other = (Triple(*row) for row in ("arb", "brc", "crd", "brx"))
    found = {triple: found_triple(triple, "a", (Step("r"),), 1.0) for triple in (first, other, second, third)}
    parents = {one.end: triple for triple, one in found.items()}
    assert list(connected([third], found, parents)) == [first, second, third]
    assert list(connected([other, second], found, parents)) == [first, other, second]
    assert connected([], found, parents) == {}
