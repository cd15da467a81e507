"""Twins: which steps say the facts of a relation again, and that nothing is learnt or proposed by them."""

from __future__ import annotations

import json
from collections import defaultdict

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_patterns.mining import describe, given_or_mined, mine
from srtk_plugin_patterns.path_patterns import MiningSettings, PathPatterns
from srtk_plugin_patterns.random_walk import RandomWalk
from srtk_plugin_patterns.rule_completer import PathRuleCompleter
from srtk_plugin_patterns.rule_learner import RuleFitSettings
from srtk_plugin_patterns.rules import Rules
from srtk_plugin_patterns.text_model import TextModel, chosen_paths
from srtk_plugin_patterns.twins import Twin, described, find_twins, twins_alone, with_twins, without_held_out
from srtk_plugin_patterns.walk_completer import PathWalkCompleter, PathWalkFitSettings
from srtk_plugin_patterns.walk_model import WalkModel

from srtk_framework.cli import main
from srtk_framework.graph import TripleTable
from srtk_framework.roles import TrainingTask
from srtk_framework.values import DriverError, Pattern, Step, Triple

ALL = MiningSettings(length=3, hub=None, least=1, most=None)
BOTH = MiningSettings(length=3, hub=None, least=1, most=None, twins=None)
ids = st.sampled_from("abcd")
graphs = st.lists(st.builds(Triple, ids, st.sampled_from("rst"), ids), min_size=1, max_size=14)


def steps(*names):
    return tuple(map(Step.parse, names))


def facts_of(people):
    """Add an inverse, a duplicate that lacks a fact, a symmetric relation, and a wider one, which is no twin."""
    facts = people.named(people.triples)
    facts += [Triple(fact.object, "citizen", fact.subject) for fact in facts if fact.relation == "nationality"]
    facts += [Triple(fact.subject, "from", fact.object) for fact in facts if fact.relation == "born_in"][1:]
    facts += [Triple(f"p{n}", "in", "riga") for n in range(9)]
    facts += [Triple(person, "in", "riga") for person in ("ann", "bob")]
    return [*facts, Triple("ann", "friend", "bob"), Triple("bob", "friend", "ann")]


@pytest.fixture
def world(people):
    return TripleTable.from_triples(facts_of(people))


def test_inverses_duplicates_and_symmetric_relations_are_twins(world):
    assert find_twins(world) == {
        "born_in": (Twin(Step("from"), 4, 0.8),),
        "citizen": (Twin(Step("nationality", True), 4, 1.0),),
        "friend": (Twin(Step("friend", True), 2, 1.0),),
        "from": (Twin(Step("born_in"), 4, 0.8),),
        "nationality": (Twin(Step("citizen", True), 4, 1.0),),
    }
    assert "from" not in find_twins(world, 0.81)
    assert find_twins(world, None) == {}


def test_what_says_a_held_out_fact_again_is_held_out_too(world):
    facts = [Triple("ann", "friend", "bob"), world.named(world.of_relation(world.relation_numbers["nationality"]))[0]]
    left, again = without_held_out(world, [*facts, Triple("nobody", "friend", "bob"), Triple("ann", "met", "bob")])
    assert again == sorted([Triple("bob", "friend", "ann"), Triple(facts[1].object, "citizen", facts[1].subject)])
    assert set(world.named(world.triples)) - set(left.named(left.triples)) == {*facts, *again}
    assert without_held_out(world, facts, None)[1] == []


def test_a_twin_that_is_held_out_itself_is_no_further_triple(world):
    both = [Triple("ann", "friend", "bob"), Triple("bob", "friend", "ann")]
    assert without_held_out(world, both)[1] == []


def test_a_pair_alone_makes_no_twins():
    assert find_twins(TripleTable.from_triples([Triple("a", "r", "b"), Triple("a", "s", "b")])) == {}


@settings(deadline=None, max_examples=100)
@given(graphs, st.sampled_from([0.3, 0.5, 0.8, 1.0]))
def test_twins_share_so_many_pairs_of_each(triples, least):
    pairs = defaultdict(set)
    for s, r, o in triples:
        if s != o:
            pairs[Step(r)].add((s, o))
            pairs[Step(r, True)].add((o, s))
    wanted = defaultdict(dict)
    for one in (step for step in pairs if not step.inverse):
        for other in pairs.keys() - {one}:
            shared = len(pairs[one] & pairs[other])
            if shared >= max(2, least * max(len(pairs[one]), len(pairs[other]))):
                wanted[one.relation][other] = shared
    found = find_twins(TripleTable.from_triples(triples), least)
    assert {name: {twin.step: twin.shared for twin in row} for name, row in found.items()} == wanted


def test_no_relation_is_mined_by_a_twin_of_the_same_pair(world):
    held, both = mine(world, ALL), mine(world, BOTH)
    for name, single in (("nationality", "^citizen"), ("born_in", "from"), ("friend", "^friend")):
        assert steps(single) not in {path.steps for path in held.of(name).paths}
        assert steps(single) in {path.steps for path in both.of(name).paths}
        # Nothing else is lost.
        assert len(held.of(name).paths) == len(both.of(name).paths) - 1
    assert held.twins == find_twins(world)
    assert both.twins == {}


def test_another_pair_may_use_a_twin(world):
    paths = {path.steps for path in mine(world, ALL).of("nationality").paths}
    assert steps("born_in", "^born_in", "^citizen") in paths


def test_what_a_twin_joins_counts_for_no_total(world):
    """^citizen joins pairs of works_in too: it is a path of that relation alone."""
    (path,) = (path for path in mine(world, ALL).of("works_in").paths if path.steps == steps("^citizen"))
    assert (path.pairs, path.total) == (1, 1)


def test_twins_are_kept_and_told(world, tmp_path):
    patterns = mine(world, ALL)
    patterns.save(tmp_path)
    assert PathPatterns.load(tmp_path) == patterns
    assert "5 relations have twins, which were held out: born_in by from (80%), " in describe(patterns)
    assert "twins" not in describe(mine(world, BOTH))


def test_patterns_with_other_twins_are_refused(world, tmp_path):
    mine(world, BOTH).save(tmp_path)
    with pytest.raises(DriverError, match=r"mined with `twins: null`, and `fit` has 0\.6"):
        given_or_mined(str(tmp_path), world, ALL)
    assert given_or_mined(str(tmp_path), world, BOTH) == mine(world, BOTH)


def test_the_commands_tell_what_is_held_out(people, tmp_path, capsys):
    (tmp_path / "facts.tsv").write_text("".join("\t".join(fact) + "\n" for fact in facts_of(people)))
    graph, out = str(tmp_path / "kg"), str(tmp_path / "patterns")
    assert main(["graph", "build", str(tmp_path / "facts.tsv"), "--out", graph, "--no-header", "--quiet"]) == 0
    assert main(["patterns", "mine", "-kg", graph, "-o", out, "--length", "2", "--quiet"]) == 0
    assert "5 relations have twins" in capsys.readouterr().out
    assert main(["patterns", "show", out, "nationality"]) == 0
    assert "held out: ^citizen, which joins 4 of its pairs (overlap 1.000)" in capsys.readouterr().out
    assert main(["patterns", "show", out]) == 0
    assert [line.split("  ")[-1] for line in capsys.readouterr().out.splitlines()][-3:-1] == [
        "nationality without ^citizen",
        "profession",
    ]
    assert main(["patterns", "mine", "-kg", graph, "-o", out, "--length", "2", "--quiet", "--twins", "none"]) == 0
    assert "twins" not in capsys.readouterr().out


def rows(table, *facts):
    return table.numbers(facts).astype(np.int64)


def test_triples_are_held_out_with_those_that_say_them_again(world):
    own = [Triple("ann", "born_in", "riga"), Triple("bob", "born_in", "riga")]
    found, of = with_twins(world, rows(world, *own), find_twins(world))
    named = list(zip(world.named(found.astype(np.int32)), of.tolist(), strict=True))
    # The duplicate lacks ann's.
    assert named == [(own[0], 0), (own[1], 1), (Triple("bob", "from", "riga"), 1)]


@pytest.mark.parametrize("inverse", [False, True])
def test_a_twin_alone_says_what_a_question_asks_for(people, inverse):
    said = Triple("latvia", "citizen", "eve")
    table = TripleTable.from_triples([*facts_of(people), said])
    starts = np.array([table.entity_numbers[name] for name in (("latvia", "norway") if inverse else ("eve", "ann"))])
    step = table.step_number(Step("nationality", inverse))
    found, of = twins_alone(table, starts, step, find_twins(table))
    assert table.named(found.astype(np.int32)) == [said]
    assert of.tolist() == [0]


@settings(deadline=None, max_examples=150)
@given(graphs, st.lists(st.sampled_from(["r", "^r", "s", "^s"]), min_size=1, max_size=4), st.booleans(), st.data())
def test_several_triples_of_a_start_are_not_walked(triples, names, simple, data):
    table = TripleTable.from_triples([*triples, Triple("a", "r", "b"), Triple("a", "s", "b")])
    facts = table.named(table.triples)
    starts = data.draw(st.lists(st.sampled_from(table.entities), min_size=1, max_size=3))
    out = [data.draw(st.lists(st.sampled_from(facts), unique=True)) for _ in starts]
    numbers = np.array([table.entity_numbers[start] for start in starts])
    of = np.array([at for at, row in enumerate(out) for _ in row], dtype=np.int64)
    path = [table.step_number(Step.parse(name)) for name in names]
    held = rows(table, *(fact for row in out for fact in row))
    found = RandomWalk(table, simple).ends(numbers, path, held, of).toarray()
    for at, row in enumerate(out):
        alone = RandomWalk(table.without(row), simple).ends(numbers[at : at + 1], path).toarray()[0]
        assert found[at] == pytest.approx(alone)


PLAYS = [Triple(f"p{n}", "plays", f"c{(n + more) % 3}") for n in range(9) for more in (0, 1)]
CLUBS = [*PLAYS, *(Triple(fact.object, "member", fact.subject) for fact in PLAYS)]
TWIN = Triple("c0", "member", "zoe")
BACK = steps("^member", "member", "^member")


@pytest.mark.parametrize("simple", [False, True])
def test_a_walk_shares_the_edges_that_are_left(simple):
    table = TripleTable.from_triples(Triple("a", "r", end) for end in "bcde")
    held = rows(table, Triple("a", "r", "b"), Triple("a", "r", "c"))
    (found,) = RandomWalk(table, simple).ends(np.array([0]), [0], held, np.array([0, 0])).toarray()
    assert found.tolist() == [0, 0, 0, 0.5, 0.5]


def walks(facts, tmp_path, held_out=(), validate=None, **fit):
    completer = PathWalkCompleter(graph=MemoryGraph(triples=facts))
    completer.open()
    task = TrainingTask((), validate and (lambda: validate(completer)), tmp_path, 0, held_out)
    figures = completer.fit(task, PathWalkFitSettings(**{"least": 1, "hub": None, **fit}))
    return completer, figures


def rate(completer, person="zoe"):
    return completer.rate([Pattern(person, "plays")], [["c0"]])[0][0]


def test_walks_propose_nothing_by_a_twin_alone(tmp_path):
    """Of zoe there is the twin's triple alone: the walk there, back, and there again is not taken."""
    held, figures = walks([*CLUBS, TWIN], tmp_path)
    assert figures["twins"] == 2
    assert BACK in {tuple(map(held._table.step, path)) for path in held._models[Step("plays")].paths}
    assert rate(held) == rate(held, "nobody")
    # Nor is it a reason, however much each path speaks for an entity.
    for step, model in held._models.items():
        held._models[step] = attrs.evolve(model, presence=np.ones(len(model.paths)))
    (found,) = held.complete([Pattern("zoe", "plays")], None)
    assert {reason.kind for one in found for reason in one.evidence} == {"model"}
    both, figures = walks([*CLUBS, TWIN], tmp_path, twins=None)
    assert figures["twins"] == 0
    assert rate(both) > rate(both, "nobody")


def test_walks_learn_nothing_by_a_twin():
    table = TripleTable.from_triples(CLUBS)
    facts, path = rows(table, *PLAYS), tuple(map(table.step_number, BACK))
    held, both = (
        WalkModel.learn(RandomWalk(table), [path], facts, facts, False, 9, 3.0, np.random.default_rng(0), twins)
        for twins in (find_twins(table), {})
    )
    assert held.probability[0] < both.probability[0]


def test_twins_stand_in_a_trained_model(people, tmp_path):
    completer, _ = walks(facts_of(people), tmp_path, relations=["nationality"])
    completer.save(tmp_path)
    assert json.loads((tmp_path / "walks.json").read_text())["twins"] == {"nationality": [["^citizen", 4, 1.0]]}
    again = PathWalkCompleter(graph=completer.graph, path=str(tmp_path))
    again.open()
    assert again._twins == completer._twins


def test_validation_walks_neither_the_held_out_facts_nor_their_twins(tmp_path):
    out, seen = Triple("zoe", "plays", "c0"), []
    completer, _ = walks([*CLUBS, out, TWIN], tmp_path, [out], lambda one: seen.append(rate(one)) or {})
    assert seen == [rate(completer, "nobody")]
    assert rate(completer) != seen[0]  # Afterwards they are walked.


def rules(facts, folder, **fit):
    completer = PathRuleCompleter(graph=MemoryGraph(triples=facts))
    completer.open()
    figures = completer.fit(TrainingTask([], None, folder), RuleFitSettings(least_support=1, **fit))
    completer.save(folder)
    (row,) = completer.complete([Pattern("zoe", "nationality")], None)
    return completer, figures, {reason.text for one in row for reason in one.evidence}


def test_no_rule_follows_from_a_twin_of_the_same_pair(people, tmp_path):
    facts = [*facts_of(people), Triple("latvia", "citizen", "zoe")]
    held, figures, reasons = rules(facts, tmp_path)
    assert figures["twins"] == 5
    assert not any("citizen" in text.split("←")[1] and "(Y, X)" in text for text in reasons)
    assert not any("citizen(latvia, X)" in text for text in reasons if text.startswith("nationality(X, latvia)"))
    assert Rules.load(tmp_path).twins == held._learnt[0].twins == find_twins(held._table)
    _, figures, reasons = rules(facts, tmp_path, twins=None)
    assert figures["twins"] == 0
    assert any(text.startswith("nationality(X, Y) ← citizen(Y, X)") for text in reasons)
    assert any(text.startswith("nationality(X, latvia) ← citizen(latvia, X)") for text in reasons)


def test_subjects_get_no_constant_by_a_twin(people, tmp_path):
    """nationality(ann, X) follows from citizen(X, ann): the twin as a step from the object."""
    held, _, _ = rules(facts_of(people), tmp_path)
    both, _, _ = rules(facts_of(people), tmp_path, twins=None)
    table = held._table
    relation, step = table.relation_numbers["nationality"], table.step_number(Step("citizen"))
    own = []
    for completer in (held, both):
        found = completer._learnt[0].constants
        own.append(((found.relations == relation) & (found.steps == step) & (found.values == found.constants)).any())
    assert own == [False, True]


def test_no_query_is_aimed_by_a_path_that_begins_or_ends_with_a_twin():
    table = TripleTable.from_triples(CLUBS)
    held, both = (chosen_paths(mine(table, bounds), 100, 100)["plays"] for bounds in (ALL, BOTH))
    assert BACK in both
    assert held == [path for path in both if steps("^member")[0] not in (path[0], path[-1])] != []
    model = TextModel(twins=find_twins(table))
    assert TextModel.from_json(json.loads(json.dumps(model.to_json()))) == model


def test_a_training_says_once_what_it_holds_out(people, tmp_path, caplog):
    walks(facts_of(people), tmp_path)
    assert [text for text in caplog.messages if "have twins" in text] == [
        "5 relations have twins, which were held out: born_in by from (80%), citizen by ^nationality (100%), friend by"
        " ^friend (100%), ...; `fit: {twins: null}` learns from them"
    ]


def test_three_relations_with_twins_are_named_whole(world):
    some = {name: find_twins(world)[name] for name in ("born_in", "citizen", "friend")}
    assert described(some) == (
        "3 relations have twins, which were held out: born_in by from (80%), citizen by ^nationality (100%), friend by"
        " ^friend (100%)"
    )
    assert described({}) == ""


def test_an_overlap_is_kept_with_four_digits():
    facts = [Triple(f"a{n}", "r", f"b{n}") for n in range(3)] + [Triple(f"a{n}", "s", f"b{n}") for n in range(2)]
    assert find_twins(TripleTable.from_triples(facts))["r"] == (Twin(Step("s"), 2, 0.6667),)


def test_a_query_takes_the_path_that_surely_belongs_to_its_relation(people):
    found = chosen_paths(mine(people, ALL), 1, 20)
    # Of a single pair each, works_in and a longer path by it are more exclusive, but may be so by chance.
    assert found["nationality"] == [steps("born_in", "city_of")]
    assert len(found["works_in"][0]) > 1


def test_a_path_of_one_step_is_chosen_where_there_is_no_longer_one():
    table = TripleTable.from_triples([Triple("a", "r", "b"), Triple("a", "s", "b")])
    assert chosen_paths(mine(table, ALL), 5, 5) == {"r": [steps("s")], "s": [steps("r")]}
