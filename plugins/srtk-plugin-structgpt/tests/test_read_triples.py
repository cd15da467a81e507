"""The triples of the chosen steps, and the statements behind mediators, narrowed to those that are asked for."""

from __future__ import annotations

from srtk_framework.testing.scripted import misnumbered, picks

ASKED = "Does the question ask for some of these values only?"
PRIZE = "Which prize did Jeff get in Norway?"


def test_what_hangs_on_a_mediator_is_read_with_it(awards, walk, ask):
    found = walk(awards, [(ASKED, "[]"), ("follow", picks("award"))], max_iterations=1).expand([ask(PRIZE, "jeff")])[0]
    assert ("st1", "prize", "oscar") in found.triples
    assert ("st3", "nation", "denmark") in found.triples
    assert ("show", "winner", "st2") in found.triples
    assert found.trace["nested"] == 1
    assert not any("st9" in triple for triple in found.triples)


def test_the_parts_of_a_statement_stand_together(awards, walk, ask):
    found = walk(awards, [(ASKED, "[]"), ("follow", picks("award"))], max_iterations=1).expand([ask(PRIZE, "jeff")])[0]
    order = [next(end for end in triple if end.startswith("st")) for triple in found.triples]
    assert order == sorted(order)


def test_options_are_what_not_all_statements_say(awards, walk, ask):
    expander = walk(awards, [(ASKED, "[]"), ("follow", picks("award"))], max_iterations=1)
    expander.expand([ask(PRIZE, "jeff")])
    prompt = expander.generator.asked(ASKED)[0]
    assert prompt.options == (
        "country_of_award: norway",
        "country_of_award: usa",
        "is winner of: show",
        "nation: denmark",
        "prize: amanda",
        "prize: bodil",
        "prize: oscar",
    )
    assert not misnumbered(prompt)


def test_a_picked_value_drops_the_statements_with_another(awards, walk, ask):
    script = [(ASKED, picks("country_of_award: norway")), ("follow", picks("award"))]
    found = walk(awards, script, max_iterations=1).expand([ask(PRIZE, "jeff")])[0]
    assert ("st2", "prize", "amanda") in found.triples
    # The third says nothing of the country of its award, so that nothing speaks against it.
    assert ("st3", "prize", "bodil") in found.triples
    assert not any("st1" in triple for triple in found.triples)
    call = found.trace["calls"][-1]
    assert (call["rule"], call["kept"], call["dropped"]) == ("strict", 2, 1)


def test_a_pair_with_norway_in_it_is_a_constraint_and_no_refusal(awards, walk, ask):
    script = [(ASKED, "the fitting pair is [country_of_award: norway]"), ("follow", picks("award"))]
    found = walk(awards, script, max_iterations=1).expand([ask(PRIZE, "jeff")])[0]
    assert found.trace["calls"][-1]["how"] == "first"
    assert found.trace["constrained"] == 1


def test_where_no_statement_has_all_that_was_picked_those_with_some_stay(awards, walk, ask):
    picked = picks("country_of_award: norway", "prize: oscar")
    found = walk(awards, [(ASKED, picked), ("follow", picks("award"))], max_iterations=1).expand([ask(PRIZE, "jeff")])[
        0
    ]
    assert found.trace["calls"][-1]["rule"] == "soft"
    assert {triple.object for triple in found.triples if triple.relation == "award"} == {"st1", "st2"}


def test_the_walk_goes_on_behind_mediators_and_not_into_them(awards, walk, ask, watched):
    graph = watched(awards)
    script = [
        (ASKED, picks("country_of_award: norway")),
        ("norway | capital | oslo", answer_by("norway | capital | oslo")),
        ("Followed so far: <data>award", picks("capital")),
        ("follow", picks("award")),
    ]
    found = walk(graph, script).expand([ask("What is the capital of the country where Jeff got a prize?", "jeff")])[0]
    assert set(found.triples) == {
        ("jeff", "award", "st2"),
        ("st2", "country_of_award", "norway"),
        ("norway", "capital", "oslo"),
    }
    steps = [nodes for name, sets in graph.calls if name == "steps" for nodes in sets]
    walked_on = [node for nodes in steps for node in nodes if node.startswith("st")]
    assert len(walked_on) == len(set(walked_on)) == 3


def answer_by(words):
    """Return a reply that answers by the triple whose line contains the words."""

    def answer(prompt):
        line = next(line for line in prompt.messages[-1].content.splitlines() if words in line)
        number = line.partition(".")[0]
        return f'{{"enough": true, "answer": ["{words.rpartition(" ")[2]}"], "triples": [{number}]}}'

    return answer


def test_without_constraints_nobody_is_asked(awards, walk, ask):
    expander = walk(awards, [("follow", picks("award"))], constraints=False, max_iterations=1)
    found = expander.expand([ask(PRIZE, "jeff")])[0]
    assert not expander.generator.asked(ASKED)
    assert {triple.object for triple in found.triples if triple.relation == "award"} == {"st1", "st2", "st3"}


def test_calls_stay_within_three_a_hop(awards, walk, ask):
    script = [(ASKED, "[]"), ("follow", "[1]")]
    expander = walk(awards, script, max_iterations=3)
    expander.expand([ask(PRIZE, "jeff")])
    assert len(expander.generator.prompts) <= 3 * 3 + 2


def test_values_beyond_the_tokens_are_not_shown_and_counted(awards, walk, ask):
    expander = walk(awards, [(ASKED, "[]"), ("follow", picks("award"))], tokens=10, max_iterations=1)
    found = expander.expand([ask(PRIZE, "jeff")])[0]
    shown = expander.generator.asked(ASKED)[0].options
    assert 0 < len(shown) < 7
    assert found.trace["cut"]["tokens"] == 7 - len(shown)


def test_of_a_relation_each_node_gives_one_triple_in_turn(graph_of, walk, ask):
    rows = [("a", "to", f"b{i}") for i in range(2)]
    rows += [("b0", "has", f"x{i}") for i in range(9)] + [("b1", "has", f"y{i}") for i in range(2)]
    expander = walk(graph_of(rows), [("follow", picks("has"))], relation_triples=5, max_iterations=2)
    found = expander.expand([ask("What is there?", "a")])[0]
    kept = sorted(triple.object for triple in found.triples if triple.relation == "has")
    assert kept == ["x0", "x1", "x2", "y0", "y1"]
    assert found.trace["cut"] == {"relation": 6}
