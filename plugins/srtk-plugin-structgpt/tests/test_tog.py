"""The beam of Think-on-Graph: relations chosen for each entity, then triples among all."""

from __future__ import annotations

from srtk_plugin_structgpt.tog import TogExpander

from srtk_framework.testing.scripted import misnumbered, picks, said

FACTS = "It has just come upon these facts"


def test_three_hops_give_exactly_the_triples_that_lead_to_the_answer(show, walk, ask):
    def answer(prompt):
        lines = prompt.messages[-1].content.splitlines()
        number = next((line.partition(".")[0] for line in lines if "oslo | country | norway" in line), None)
        return number and f'{{"enough": true, "answer": ["norway"], "triples": [{number}]}}'

    script = [
        ("Facts (subject", answer),
        (FACTS, picks("lisa | born_in", "jeff | spouse | lisa")),
        ("It stands at: <data>oslo", picks("country")),
        ("It stands at: <data>lisa", picks("born_in", "is nominee of")),
        ("can be followed", picks("spouse", "profession")),
    ]
    expander = walk(show, script, cls=TogExpander, width=2)
    found = expander.expand([ask("In which country was Jeff's spouse born?", "jeff")])[0]
    assert set(found.triples) == {
        ("jeff", "spouse", "lisa"),
        ("lisa", "born_in", "oslo"),
        ("oslo", "country", "norway"),
    }
    assert found.answer.entities == ("norway",)
    assert not [wrong for prompt in expander.generator.prompts for wrong in misnumbered(prompt)]


def test_no_more_triples_stay_at_a_hop_than_the_beam_holds(graph_of, walk, ask):
    rows = [("a", "to", f"b{i}") for i in range(6)] + [(f"b{i}", "on", f"c{i}") for i in range(6)]
    script = [(FACTS, "[5, 2]"), ("can be followed", picks("to", "on"))]
    found = walk(graph_of(rows), script, cls=TogExpander, width=2, stop="depth", max_iterations=2).expand(
        [ask("What is there?", "a")]
    )[0]
    assert found.triples == (("a", "to", "b4"), ("b4", "on", "c4"), ("a", "to", "b1"), ("b1", "on", "c1"))
    assert found.trace["cut"]["beam"] == 4


def test_relations_are_chosen_for_each_entity_by_itself(graph_of, walk, ask):
    rows = [("a", "to", "b"), ("a", "to", "c"), ("b", "x", "1"), ("b", "y", "2"), ("c", "z", "3"), ("c", "w", "4")]
    expander = walk(graph_of(rows), [("can be followed", "[1]")], cls=TogExpander, width=2, stop="depth")
    expander.expand([ask("What is there?", "a")])
    later = [prompt.options for prompt in expander.generator.prompts if "It stands at" in prompt.messages[-1].content]
    assert later[:2] == [("is to of", "x", "y"), ("is to of", "w", "z")]


def test_an_unreadable_choice_among_triples_ends_one_question_only(graph_of, walk, ask):
    rows = [("a", "to", f"b{i}") for i in range(6)]
    script = [
        ("Bad", lambda prompt: "none of them" if FACTS in said(prompt) else None),
        (FACTS, "[1]"),
    ]
    expander = walk(graph_of(rows), script, cls=TogExpander, stop="depth", max_iterations=1)
    bad, good = expander.expand([ask("Bad?", "a", id_="1"), ask("Who?", "a", id_="2")])
    assert good.triples == (("a", "to", "b0"),)
    assert not bad.triples
    assert bad.trace["unreadable"] == 1
    assert bad.trace["reason"] == "no reply could be read"


def test_triples_beyond_the_tokens_are_not_shown_and_counted(graph_of, walk, ask):
    rows = [("a", "to", f"b{i}") for i in range(9)]
    expander = walk(
        graph_of(rows), [(FACTS, "[1]"), ("can", "[1]")], cls=TogExpander, stop="depth", tokens=20, max_iterations=1
    )
    found = expander.expand([ask("What is there?", "a")])[0]
    shown = expander.generator.asked(FACTS)[0].options
    assert 0 < len(shown) < 9
    assert found.trace["cut"]["tokens"] == 9 - len(shown)


def test_a_path_that_comes_back_is_followed_with_revisit_only(graph_of, walk, ask):
    rows = [("kate", "child", "tom"), ("tom", "parent", "kate"), ("kate", "religion", "methodism")]
    script = [
        ("Followed so far: <data>child; then parent", picks("religion")),
        ("Followed so far: <data>child", picks("parent")),
        ("can be followed", picks("child")),
    ]
    settings = {"cls": TogExpander, "stop": "depth", "max_iterations": 3}
    once, again = (
        walk(graph_of(rows), script, revisit=revisit, **settings).expand([ask("Whose?", "kate")])[0].triples
        for revisit in (False, True)
    )
    assert once == (("kate", "child", "tom"),)
    assert set(again) == set(rows)
