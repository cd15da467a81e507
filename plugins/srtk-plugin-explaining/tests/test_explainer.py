from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from srtk_plugin_evaluation.metrics import score
from srtk_plugin_explaining.advice import Advice
from srtk_plugin_explaining.explainer import Explainer
from srtk_plugin_explaining.findings import CLASSES, FOUND
from srtk_plugin_explaining.records import record_of
from srtk_plugin_explaining.report import advice_lines, question_lines

from srtk_framework.cli import main
from srtk_framework.recipe.recipe import from_data
from srtk_framework.records import dumps
from srtk_framework.run.session import Session
from srtk_framework.values import Link, Question, Step, Triple

TRIPLES = [
    ["riga", "capital_of", "latvia"],
    ["riga", "lies_on", "daugava"],
    ["riga", "twin_of", "oslo"],
    ["riga", "twin_of", "perm"],
    ["riga", "founded", '"1201"^^xsd:gYear'],
    ["latvia", "currency", "euro"],
    ["latvia", "neighbour", "estonia"],
    ["estonia", "currency", "kroon"],
    ["kroon", "sign", "kr"],
    ["riga", "page", "wiki_riga"],
    ["moon", "orbits", "earth"],
]
SCORES = {"capital_of": -1.0, "lies_on": -2.0, "twin_of": -3.0, "founded": -4.0, "currency": -1.5, "neighbour": -1.0}


def recipe(**changes):
    data = {
        "srtk": 1,
        "knowledge_graph": {"use": "memory", "triples": TRIPLES, "noise": ["page"]},
        "path_scorer": {"use": "fixed", "scores": SCORES},
        "expander": {"use": "beam", "width": 4, "depth": 2, "inverse": False},
        **changes,
    }
    return from_data({key: value for key, value in data.items() if value is not None})


def explained(question, **changes):
    with Session(recipe(**changes)) as session:
        explainer = Explainer(session)
        [one] = explainer.explain_all([question])
        lines = question_lines(one, Advice(session, explainer.expander))
    assert (one.kind == FOUND) == (score(one.retrieval)["answer_recall"] == 1.0)
    json.loads(dumps(record_of(one)))
    return one, "\n".join(lines)


def ask(*answers, links=("riga",), **more):
    return Question("q", "what about riga?", tuple(Link(link) for link in links), answers, **more)


def beam(**more):
    return {"use": "beam", "width": 4, "depth": 2, "inverse": False, **more}


def test_an_answer_in_the_subgraph_is_found():
    one, text = explained(ask("euro"))
    assert (one.kind, one.recall, dict(one.answers)) == ("found", 1.0, {"euro": "found"})
    assert "1 of 1 answers found" in text


def test_a_question_without_a_link_is_not_linked():
    one, text = explained(ask("euro", links=()))
    assert one.kind == "not-linked"
    assert "Add an `entity_linker`" in text


def test_a_wrongly_linked_question_shows_its_links_and_its_gold_topics():
    one, text = explained(ask("euro", links=("moon",), extra={"gold_entities": ["riga"]}))
    assert (one.kind, one.unlinked) == ("not-linked", ("riga",))
    assert "links:               moon" in text
    assert "not linked:          riga" in text


def test_links_that_the_graph_lacks_are_a_class_of_their_own():
    one, _ = explained(ask("euro", links=("atlantis",)))
    assert one.kind == "link-not-in-graph"


def test_an_answer_that_is_a_link_can_never_count_as_found():
    one, _ = explained(ask("riga"))
    assert one.kind == "answer-is-link"


def test_an_answer_that_the_graph_lacks_is_absent():
    one, _ = explained(ask("lats"))
    assert one.kind == "answer-not-in-graph"


def test_a_literal_is_in_the_graph_by_its_value():
    one, _ = explained(ask("1201"), expander=beam(width=1))
    assert one.kind == "pruned"
    assert one.loss.path.steps == (Step("founded"),)


def test_a_path_longer_than_the_depth_is_shown_with_its_length():
    one, text = explained(ask("kroon"))
    assert one.kind == "unreachable"
    assert (len(one.far.path.steps), one.far.why, one.far.depth) == (3, "depth", 2)
    assert "`expander.depth: 3` would reach it" in text


def test_of_paths_of_equal_length_beyond_the_depth_the_first_by_its_steps_is_shown():
    # Two paths of three steps lead to the answer, one of them from each of two links.
    more = [["riga", "a_route", "riga_port"], ["riga_port", "leads_to", "sea"], ["sea", "currency", "kroon"]]
    graph = {"use": "memory", "triples": [*TRIPLES, *more, ["oslo", "a_route", "riga_port"]]}
    one, text = explained(ask("kroon", links=("riga", "oslo")), knowledge_graph=graph)
    assert (one.kind, one.far.why, one.far.path.entity) == ("unreachable", "depth", "oslo")
    assert [str(step) for step in one.far.path.steps] == ["a_route", "leads_to", "currency"]
    assert "3 steps; it is longer than the expander's depth (2)" in text


def test_an_answer_beyond_one_more_step_has_no_path():
    one, text = explained(ask("kr"))
    assert one.kind == "unreachable"
    assert (one.far.path, one.far.searched) == (None, 3)
    assert "none from a link within 3 steps" in text


def test_a_path_against_the_direction_needs_inverse():
    one, text = explained(ask("riga", links=("latvia",)))
    assert (one.kind, one.far.why) == ("unreachable", "inverse")
    assert "`expander.inverse: true` would reach it" in text


def test_a_path_over_noise_is_not_walked():
    one, _ = explained(ask("wiki_riga"))
    assert (one.kind, one.far.why) == ("unreachable", "noise")


def test_a_pruned_step_is_shown_with_its_rank_and_score_and_the_winners():
    one, text = explained(ask("oslo"), expander=beam(width=2))
    loss = one.loss
    assert one.kind == "pruned"
    assert (loss.hop, loss.rank, loss.weighed, loss.kept) == (1, 3, 4, 2)
    assert (loss.path.score, loss.needed, loss.setting) == (-3.0, -2.0, "expander.width")
    assert [(path.steps, path.score) for path in loss.winners] == [
        ((Step("capital_of"),), -1.0),
        ((Step("lies_on"),), -2.0),
    ]
    assert "at hop 1 (twin of): rank 3 of 4, score -3.0000; 2 were kept, down to -2.0000" in text or "twin_of" in text
    assert "`expander.width: 2` pruned it at rank 3" in text


def test_scores_add_up_to_the_second_hop():
    one, _ = explained(ask("euro"), expander=beam(width=1))
    # END after the capital scores 0 more, the neighbour -1, the currency -1.5.
    loss = one.loss
    assert (loss.hop, loss.rank, loss.path.score, loss.needed) == (2, 3, -2.5, -1.0)
    assert loss.winners[0].steps == (Step("capital_of"), Step("", False))


def test_gold_paths_are_followed_rather_than_shorter_ones():
    question = ask("euro", gold_paths=((Step("twin_of"), Step("currency")), (Step("capital_of"), Step("currency"))))
    one, _ = explained(question, expander=beam(width=1))
    assert one.loss.path.steps == (Step("capital_of"), Step("currency"))


def test_another_path_to_the_answer_does_not_hide_that_the_gold_path_is_too_long():
    gold = (Step("capital_of"), Step("neighbour"), Step("currency"))
    triples = [*TRIPLES, ["oslo", "visited_with", "kroon"]]
    graph = {"use": "memory", "triples": triples}
    one, text = explained(ask("kroon", gold_paths=(gold,)), knowledge_graph=graph, expander=beam(width=1))
    assert (one.kind, one.far.why, one.far.path.steps) == ("unreachable", "depth", gold)
    assert "`expander.depth: 3` would reach it" in text
    incidental, _ = explained(ask("kroon"), knowledge_graph=graph, expander=beam(width=1))
    assert (incidental.kind, incidental.loss.path.steps) == ("pruned", (Step("twin_of"), Step("visited_with")))


def test_gold_paths_start_at_gold_topics():
    # The other link has the same relation, as it happens, but the question is not about it.
    triples = [*TRIPLES, ["jurmala", "capital_of", "latvia"]]
    graph = {"use": "memory", "triples": triples}
    question = ask(
        "euro",
        links=("jurmala", "riga"),
        gold_paths=((Step("capital_of"), Step("currency")),),
        extra={"gold_entities": ["riga"]},
    )
    one, _ = explained(question, knowledge_graph=graph, expander=beam(width=1))
    assert (one.kind, one.loss.path.entity) == ("pruned", "riga")


def test_an_answer_to_which_the_gold_path_leads_from_another_topic_alone_is_not_linked():
    question = ask(
        "euro",
        links=("riga",),
        gold_paths=((Step("shares_money_with"), Step("currency")),),
        extra={"gold_entities": ["riga", "tartu"]},
    )
    triples = [*TRIPLES, ["tartu", "shares_money_with", "latvia"]]
    one, text = explained(question, knowledge_graph={"use": "memory", "triples": triples}, expander=beam(width=1))
    assert (one.kind, one.unlinked, one.loss) == ("not-linked", ("tartu",), None)
    assert "not linked:          tartu" in text


def test_without_gold_paths_those_of_the_gold_triples_are_followed():
    gold = (Triple("riga", "twin_of", "oslo"), Triple("oslo", "visited_with", "euro"))
    graph = {"use": "memory", "triples": [*TRIPLES, ["oslo", "visited_with", "euro"]]}
    one, _ = explained(ask("euro", gold_triples=gold), knowledge_graph=graph, expander=beam(width=1))
    assert (one.kind, one.loss.path.steps) == ("pruned", (Step("twin_of"), Step("visited_with")))


@pytest.mark.parametrize(
    ("trained", "said", "unsaid"),
    [
        (False, "a trained scorer may rank the steps better", "the scorer is trained"),
        (True, "the scorer is trained, so questions like these may be missing in its training", "a trained scorer may"),
    ],
)
def test_training_is_advised_only_where_the_scorer_is_not_trained(trained, said, unsaid):
    scorer = {"use": "fixed", "scores": SCORES, "trained": trained}
    _, text = explained(ask("oslo"), expander=beam(width=2), path_scorer=scorer)
    assert said in text
    assert unsaid not in text


def test_a_path_pruned_at_the_end_is_shown_with_its_rank_among_all_paths():
    one, text = explained(ask("daugava"), expander=beam(width=4, paths=1, depth=1))
    loss = one.loss
    assert (one.kind, loss.at_end, loss.rank, loss.setting) == ("pruned", True, 2, "expander.paths")
    assert (loss.path.score, loss.needed) == (-2.0, -1.0)
    assert "pruned at:           the end: rank 2 of 4" in text


@pytest.mark.parametrize(
    ("more", "setting"),
    [
        ({"search": {"hop_margin": 0.5}}, "expander.search.hop_margin"),
        ({"search": {"margin": 0.5}, "depth": 1}, "expander.search.margin"),
    ],
)
def test_a_margin_that_prunes_a_path_is_named(more, setting):
    one, _ = explained(ask("daugava"), expander=beam(**more))
    assert (one.kind, one.loss.setting, one.loss.rank) == ("pruned", setting, 2)


def test_a_fan_cost_that_prunes_a_path_is_named():
    scores = {"twin_of": -1.0, "capital_of": -1.1}
    scorer = {"use": "fixed", "scores": scores}
    one, _ = explained(
        ask("oslo", "perm"), expander=beam(width=1, depth=1, search={"fan_cost": 0.5}), path_scorer=scorer
    )
    assert (one.kind, one.loss.setting, one.loss.rank) == ("pruned", "expander.search.fan_cost", 2)
    assert one.loss.path.score == -1.3466


def test_a_step_dropped_for_its_large_frontier_names_the_nodes():
    changes = {"expander": beam(variant="srtk"), "budget": {"nodes": 1}}
    one, _ = explained(ask("oslo"), **changes)
    assert (one.kind, one.loss.setting) == ("pruned", "budget.nodes")


def test_facts_cut_by_the_triple_limit_show_the_position_of_the_answer():
    one, text = explained(ask("daugava"), budget={"triples": 1}, expander=beam(depth=1))
    assert one.kind == "cut"
    assert (one.cut.limits, dict(one.cut.places), dict(one.cut.needed)) == (
        ("triples",),
        {"daugava": 2},
        {"triples": 2},
    )
    assert "`budget.triples: 1` cut it (2 would keep it)" in text


def test_facts_cut_by_the_token_limit_show_how_many_tokens_are_needed():
    one, _ = explained(ask("daugava"), budget={"tokens": 8}, expander=beam(depth=1))
    assert (one.kind, one.cut.limits) == ("cut", ("tokens",))
    needed = one.cut.needed["tokens"]
    assert explained(ask("daugava"), budget={"tokens": needed}, expander=beam(depth=1))[0].kind == "found"
    assert explained(ask("daugava"), budget={"tokens": needed - 1}, expander=beam(depth=1))[0].kind == "cut"


def test_a_hub_that_hides_an_answer_is_named():
    one, _ = explained(ask("perm"), budget={"hub": 1}, expander=beam(depth=1))
    assert (one.kind, one.cut.limits, dict(one.cut.dropped)) == ("cut", ("hub",), {"hub": 1})


def test_the_cut_of_an_expander_without_hops_is_explained():
    one, _ = explained(ask("oslo"), expander={"use": "bfs", "depth": 1, "inverse": False}, budget={"triples": 2})
    assert (one.kind, dict(one.cut.needed)) == ("cut", {"triples": one.cut.places["oslo"]})


def test_an_expander_within_an_expander_has_its_budget_lifted():
    outer = {"use": "outer", "inner": {"use": "bfs", "depth": 1, "inverse": False}}
    one, _ = explained(ask("oslo"), expander=outer, budget={"triples": 2})
    assert (one.kind, one.cut.limits) == ("cut", ("triples",))


def test_pruning_by_a_search_within_an_expander_is_located():
    one, _ = explained(ask("oslo"), expander={"use": "outer", "inner": beam(width=2)})
    assert (one.kind, one.loss.hop, one.loss.rank, one.loss.setting) == ("pruned", 1, 3, "expander.width")


def test_pruning_by_the_outer_expander_is_not_located():
    one, text = explained(ask("oslo"), expander={"use": "outer", "inner": beam(width=9), "most": 1})
    assert (one.kind, one.loss.hop) == ("pruned", None)
    assert "the expander does not report where" in text


def test_of_several_paths_pruned_by_the_outer_expander_the_shortest_is_shown():
    outer = {"use": "outer", "inner": beam(width=9), "most": 1}
    one, _ = explained(ask("oslo", "euro", "daugava"), expander=outer)
    assert (one.kind, one.loss.hop) == ("pruned", None)
    assert len(one.loss.path.steps) == 1


def test_of_several_paths_pruned_by_an_expander_without_choices_the_shortest_is_shown():
    one, _ = explained(ask("kroon", "oslo", "perm"), expander={"use": "nothing", "depth": 3})
    assert (one.kind, one.loss.hop, one.loss.path.steps) == ("pruned", None, (Step("twin_of"),))


def test_a_failed_question_is_shown_with_its_error():
    one, text = explained(ask("oslo"), expander="broken")
    assert one.kind == "failed"
    assert "the disk melted" in text


def test_a_question_has_the_class_of_most_of_its_missing_answers():
    one, _ = explained(ask("euro", "lats", "mark", "kroon"))
    assert dict(one.answers) == {
        "euro": "found",
        "lats": "answer-not-in-graph",
        "mark": "answer-not-in-graph",
        "kroon": "unreachable",
    }
    assert (one.kind, one.recall) == ("answer-not-in-graph", 0.25)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    answers=st.lists(st.sampled_from(["euro", "kroon", "oslo", "perm", "lats", "riga", "1201", "kr"]), min_size=1),
    links=st.lists(st.sampled_from(["riga", "latvia", "moon", "nowhere"]), max_size=2, unique=True),
    use=st.sampled_from([beam(width=1), beam(width=3, inverse=True), {"use": "bfs", "depth": 2}, {"use": "random"}]),
    triples=st.sampled_from([1, 3, 100]),
)
def test_every_question_has_one_class_and_is_found_exactly_when_all_answers_are(answers, links, use, triples):
    one, _ = explained(ask(*answers, links=links), expander=use, budget={"triples": triples})
    assert one.kind in CLASSES
    assert set(one.answers) == set(answers)
    assert one.recall == pytest.approx(sum(kind == FOUND for kind in one.answers.values()) / len(set(answers)))


@pytest.fixture
def file(tmp_path):
    """Write a recipe with three questions, one of them without answers."""
    rows = [
        {"id": "a", "question": "euro?", "question_entities": ["riga"], "answer_entities": ["latvia"]},
        {"id": "b", "question": "oslo?", "question_entities": ["riga"], "answer_entities": ["oslo"]},
        {"id": "c", "question": "open?", "question_entities": ["riga"]},
    ]
    questions = tmp_path / "questions.jsonl"
    questions.write_text("".join(json.dumps(row) + "\n" for row in rows))
    data = {
        "srtk": 1,
        "questions": str(questions),
        "output": str(tmp_path / "run"),
        "knowledge_graph": {"use": "memory", "triples": TRIPLES},
        "path_scorer": {"use": "fixed", "scores": SCORES},
        "expander": beam(width=2),
    }
    path = tmp_path / "recipe.yaml"
    path.write_text(json.dumps(data))
    return path


def test_the_command_counts_a_run_and_gives_advice(file, capsys):
    assert main(["explain", str(file), "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert "pruned" in out
    assert "`expander.width: 2` pruned it at rank 3" in out
    assert "skipped 1 questions" in err


def test_each_question_has_one_record_and_equal_input_gives_equal_records(file, tmp_path, capsys):
    for name in ("one", "two"):
        assert main(["explain", str(file), "--quiet", "--json", str(tmp_path / name)]) == 0
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    rows = [json.loads(line) for line in (tmp_path / "one").read_text().splitlines()]
    assert [(row["id"], row["class"]) for row in rows] == [("a", "found"), ("b", "pruned")]
    assert (rows[1]["pruned"]["rank"], rows[1]["pruned"]["score"]) == (3, -3.0)


def test_one_question_is_chosen_by_its_id_or_by_its_text(file, capsys):
    assert main(["explain", str(file), "--quiet", "--id", "b"]) == 0
    by_id = capsys.readouterr().out
    assert main(["explain", str(file), "--quiet", "--question", "Oslo?"]) == 0
    assert capsys.readouterr().out == by_id
    assert "kept instead" in by_id


def test_a_new_question_needs_its_answers(file, capsys):
    assert main(["explain", str(file), "--quiet", "--question", "which river?"]) == 2
    assert "name the answers with --answer" in capsys.readouterr().err
    assert main(["explain", str(file), "--quiet", "--question", "euro?", "--answer", "daugava"]) == 0
    assert "daugava" in capsys.readouterr().out


def test_an_unknown_id_is_refused(file, capsys):
    assert main(["explain", str(file), "--quiet", "--id", "x"]) == 2
    assert "no question 'x'" in capsys.readouterr().err


def test_explanations_before_an_interruption_are_shown_and_written(file, tmp_path, capsys):
    changes = ["--set", "expander={use: halts}", "--set", "batch=1", "--json", str(tmp_path / "done")]
    assert main(["explain", str(file), "--quiet", *changes]) == 130
    out, err = capsys.readouterr()
    assert "pruned" in out
    assert "1 of 2 questions are explained" in err
    assert len((tmp_path / "done").read_text().splitlines()) == 1


def test_a_question_is_linked_by_the_recipe_and_the_linker_is_named(tmp_path):
    question = Question("q", "what about moon?", (), ("euro",), extra={"gold_entities": ["riga"]})
    one, text = explained(question, entity_linker="dictionary")
    assert (one.kind, [link.entity for link in one.question.links]) == ("not-linked", ["moon"])
    assert "`entity_linker.n_best`" in text


def test_advice_names_the_questions_of_each_class():
    with Session(recipe(expander=beam(width=2))) as session:
        explainer = Explainer(session)
        done = list(explainer.explain_all([ask("oslo"), ask("lats")]))
        text = "\n".join(advice_lines(done, Advice(session, explainer.expander)))
    assert "  1 at hop 1\n" in text
    assert "answer-not-in-graph: No setting helps" in text
