"""Questions that are made from a graph's paths."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_sr.made_questions import MadeQuestions, in_words
from srtk_plugin_sr.walks import WalkSource

from srtk_framework.graph import TripleTable, follow_path
from srtk_framework.testing import DatasetConformance, ScriptedGenerator
from srtk_framework.values import Budget, InputError, Prompt, Reply, Step

FACTS = [
    ["ann", "placeOfBirth", "riga"],
    ["bob", "placeOfBirth", "riga"],
    ["ann", "spouse", "bob"],
    ["riga", "country", "latvia"],
    ["oslo", "country", "norway"],
]


def graph_of(facts: list[list[str]], **settings: Any) -> MemoryGraph:
    graph = MemoryGraph(triples=facts, labels={"ann": "Ann Lee"}, **settings)
    graph.open()
    return graph


def made(facts: list[list[str]] = FACTS, **settings: Any) -> MadeQuestions:
    dataset = MadeQuestions(graph=graph_of(facts), **settings)
    dataset.open()
    return dataset


class TestMade(DatasetConformance):
    name = "made"

    @pytest.fixture
    def driver(self) -> MadeQuestions:
        return made(count=30)


names = st.sampled_from("abcde")
facts = st.lists(st.tuples(names, st.sampled_from(["r", "s"]), names).map(list), min_size=1, max_size=15)


@given(facts.filter(lambda rows: any(s != o for s, _, o in rows)), st.integers(0, 3), st.integers(1, 3))
def test_the_answers_are_what_the_path_leads_to_and_the_link_is_where_the_text_names_it(
    triples: list[list[str]], seed: int, depth: int
) -> None:
    dataset = made(triples, count=20, seed=seed, depth=depth)
    for question in dataset.read():
        assert question.gold_paths is not None
        [path], [link] = question.gold_paths, question.links
        [reached] = follow_path(dataset.graph, [[link.entity]], [path], Budget())
        assert question.answers == tuple(sorted(set(reached.ids()) - {link.entity}))
        assert question.text[link.start : link.end] == link.name
        assert len(path) <= depth


def test_the_words_are_those_of_labels() -> None:
    questions = list(made(count=60).read())
    assert any("Ann Lee" in question.text for question in questions)
    assert any("birth" in question.text for question in questions)
    assert not any("placeOfBirth" in question.text for question in questions)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_paths_are_as_long_as_the_search_is_deep(depth: int) -> None:
    questions = list(made(count=100, depth=depth).read())
    assert {len(path) for question in questions for path in question.gold_paths or ()} == set(range(1, depth + 1))


def test_a_path_that_leads_to_too_much_is_no_question() -> None:
    crowd = [[f"p{i}", "in", "town"] for i in range(9)]
    assert {len(question.answers or ()) for question in made(crowd, count=50, hub=3).read()} == {1}


def test_fewer_ends_are_drawn_more_often() -> None:
    table = TripleTable.of(graph_of([[f"p{i}", "in", "town"] for i in range(100)]))
    source = WalkSource(table, 0, 1)
    # An inverse walk starts at the one town, which of two walks is the better known.
    drawn = [walk for walk in (source.draw() for _ in range(200)) if walk is not None]
    assert sum(not steps[0].inverse for _, steps in drawn) > 0.7 * len(drawn)


def test_what_is_better_known_is_asked_for_more_often() -> None:
    known = [["star", "plays_in", f"film{i}"] for i in range(9)]
    table = TripleTable.of(graph_of([*known, ["star", "born_in", "riga"], ["extra", "born_in", "oslo"]]))
    source = WalkSource(table, 0, 1)
    drawn = [walk for walk in (source.draw() for _ in range(400)) if walk is not None]
    starts = [entity for entity, (step,) in drawn if step.relation == "born_in" and not step.inverse]
    assert starts.count("star") > 2 * starts.count("extra")


def test_noise_relations_are_not_asked_for() -> None:
    dataset = MadeQuestions(graph=graph_of(FACTS, noise=["place*"]), count=60)
    dataset.open()
    steps = {step.relation for question in dataset.read() for path in question.gold_paths or () for step in path}
    assert steps == {"country", "spouse"}


@pytest.mark.parametrize("triples", [[], [["ann", "same", "ann"]]])
def test_a_graph_without_triples_between_two_entities_makes_no_question(triples: list[list[str]]) -> None:
    with pytest.raises(InputError, match="no triple between two different entities, so that"):
        list(made(triples).read())


def test_noise_relations_alone_make_no_question() -> None:
    dataset = MadeQuestions(graph=graph_of(FACTS[:2], noise=["place*"]))
    dataset.open()
    with pytest.raises(InputError, match="no triple between two different entities except by its noise relations"):
        list(dataset.read())


def test_a_generator_rewords_a_question_around_its_name() -> None:
    plain = list(made(count=10).read())
    named = {question.text: question.links[0].name for question in plain}

    def reply(prompt: Prompt) -> str:
        asked = prompt.messages[0].content.rpartition("\n")[2]
        return f"Pray, what of {named[asked]}?"

    reworded = list(made(count=10, generator=ScriptedGenerator(default=reply)).read())
    assert {question.text for question in reworded} == {f"Pray, what of {name}?" for name in named.values()}
    assert all(question.text[q.start : q.end] == q.name for question in reworded for q in question.links)
    assert [question.gold_paths for question in reworded] == [question.gold_paths for question in plain]


@pytest.mark.parametrize("reply", ["Who is it?", Reply(error="refused"), "Ann Lee riga\noslo bob latvia norway"])
def test_a_question_stays_as_it_is_where_the_reply_is_of_no_use(reply: Any) -> None:
    assert list(made(count=10, generator=ScriptedGenerator(default=reply)).read()) == list(made(count=10).read())


@given(st.integers(0, 99))
def test_some_words_of_each_label_are_kept(seed: int) -> None:
    text, (start, end) = in_words("Riga", [("place of birth", True), ("spouse", False)], random.Random(seed))
    assert text[start:end] == "Riga"
    assert "spouse" in text
    assert {"place", "of", "birth"} & set(text.replace("'s", "").replace("?", "").split())


def test_one_path_has_many_wordings_some_of_them_turned() -> None:
    texts = {in_words("Riga", [("place of birth", False)], random.Random(seed))[0] for seed in range(200)}
    assert len(texts) > 100
    assert any("birth place" in text for text in texts)


def test_a_seed_makes_the_same_questions_everywhere() -> None:
    """A training is taken up again only with the questions that it began with."""
    assert [question.text for question in made(count=12, seed=3, depth=3).read()] == [
        "tell me those that have latvia as country?",
        "who is spouse everything with riga as its birth?",
        "what is the one with place of riga spouse ?",
        "list the spouse that Ann Lee has?",
        "which is what the ones with the place of birth riga has as spouse ?",
        "tell me the place of for what Ann Lee has as spouse?",
        "in what is the country for the place of birth that Ann Lee has ?",
        "in what is country latvia",
        "list country for place of of bob ?",
        "the country in which riga is is what ?",
        "when is what bob is the spouse of ?",
        "which is riga country",
    ]


def test_a_generator_is_asked_for_short_replies_that_keep_the_name() -> None:
    asked: list[Prompt] = []

    def reply(prompt: Prompt) -> str:
        asked.append(prompt)
        return "no"

    [first, *_] = made(count=70, depth=1, generator=ScriptedGenerator(default=reply)).read()
    assert {prompt.length for prompt in asked} == {60}
    assert "Keep the name" in asked[0].messages[0].content
    assert asked[0].messages[0].content.endswith(f"\n\n{first.text}")


def test_a_reply_that_was_cut_is_not_taken() -> None:
    plain = list(made(count=5).read())
    named = {question.text: question.links[0].name for question in plain}

    def reply(prompt: Prompt) -> Reply:
        asked = prompt.messages[0].content.rpartition("\n")[2]
        return Reply(f"Pray, what of {named[asked]}", finish="length")

    assert list(made(count=5, generator=ScriptedGenerator(default=reply)).read()) == plain


@pytest.mark.parametrize(("hub", "asked"), [(8, False), (9, True)])
def test_a_path_that_leads_to_as_many_as_the_hub_is_asked_for(hub: int, asked: bool) -> None:
    crowd = [[f"p{i}", "in", "town"] for i in range(9)]
    counts = {len(question.answers or ()) for question in made(crowd, count=60, hub=hub, depth=1).read()}
    assert counts == ({1, 9} if asked else {1})


def test_questions_are_numbered_and_none_is_made_twice() -> None:
    questions = list(made(count=200).read())
    assert [question.id for question in questions] == [f"made-{n}" for n in range(1, len(questions) + 1)]
    assert len({question.text for question in questions}) == len(questions)


def test_words_are_left_out_of_a_label_and_the_sides_of_an_of_turned_now_and_then() -> None:
    counts: dict[int, int] = {}
    turned = 0
    for seed in range(3000):
        text, _ = in_words("X", [("alpha of beta", False)], random.Random(seed))
        words = [word.strip("?").removesuffix("'s") for word in text.split()]
        kept = {"alpha", "beta"} & {*words}
        assert "of beta alpha" not in text
        counts[len(kept)] = counts.get(len(kept), 0) + 1
        turned += len(kept) == 2 and words.index("beta") < words.index("alpha")
    # Each word is dropped in about .15 of the wordings.
    assert 0.63 < counts[2] / 3000 < 0.81
    assert 0.15 < turned / counts[2] < 0.25


def test_no_path_goes_back_the_step_that_it_came_and_one_may_go_on_by_the_same() -> None:
    chain = [[f"n{i}", "next", f"n{i + 1}"] for i in range(9)]
    source = WalkSource(TripleTable.of(graph_of(chain)), 0, 3)
    drawn = [walk for walk in (source.draw() for _ in range(300)) if walk is not None]
    assert {steps for _, steps in drawn} == {
        tuple(Step("next", inverse) for _ in range(length)) for inverse in (False, True) for length in (1, 2, 3)
    }


def test_about_as_many_paths_go_on_as_end() -> None:
    ring = [[f"n{i}", "next", f"n{(i + 1) % 50}"] for i in range(50)]
    source = WalkSource(TripleTable.of(graph_of(ring)), 0, 2)
    drawn = [walk for walk in (source.draw() for _ in range(2000)) if walk is not None]
    assert len(drawn) == 2000
    assert 0.51 < sum(len(steps) == 2 for _, steps in drawn) / 2000 < 0.59


def test_a_relation_is_drawn_by_the_square_root_of_its_triples() -> None:
    facts = [*([f"a{i}", "often", f"b{i}"] for i in range(90)), *([f"c{i}", "seldom", f"d{i}"] for i in range(10))]
    source = WalkSource(TripleTable.of(graph_of(facts)), 0, 1)
    drawn = [steps[0].relation for _, steps in filter(None, (source.draw() for _ in range(2000)))]
    assert 0.71 < drawn.count("often") / 2000 < 0.79


def test_the_ends_of_a_walk_are_sorted_and_without_its_start() -> None:
    source = WalkSource(TripleTable.of(graph_of(FACTS)), 0, 2)
    assert source.ends("ann", (Step("placeOfBirth"), Step("placeOfBirth", True))) == ["bob"]
    assert source.ends("riga", (Step("placeOfBirth", True),)) == ["ann", "bob"]
    assert source.ends("ann", ()) == []
