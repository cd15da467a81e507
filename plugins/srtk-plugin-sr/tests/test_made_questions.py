"""Questions that are made from a graph's paths."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_sr.made_questions import MadeQuestions, WalkSource, in_words

from srtk_framework.graph import TripleTable, follow_path
from srtk_framework.testing import DatasetConformance
from srtk_framework.values import Budget, InputError

FACTS = [
    ["ann", "placeOfBirth", "riga"],
    ["bob", "placeOfBirth", "riga"],
    ["ann", "spouse", "bob"],
    ["riga", "country", "latvia"],
    ["oslo", "country", "norway"],
]


def graph_of(facts: list[list[str]]) -> MemoryGraph:
    graph = MemoryGraph(triples=facts, labels={"ann": "Ann Lee"})
    graph.open()
    return graph


def made(facts: list[list[str]] = FACTS, **settings: int) -> MadeQuestions:
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


@given(facts, st.integers(0, 3))
def test_the_answers_are_what_the_path_leads_to_and_the_link_is_where_the_text_names_it(
    triples: list[list[str]], seed: int
) -> None:
    dataset = made(triples, count=20, seed=seed)
    for question in dataset.read():
        assert question.gold_paths is not None
        [path], [link] = question.gold_paths, question.links
        [reached] = follow_path(dataset.graph, [[link.entity]], [path], Budget())
        assert question.answers == tuple(sorted(set(reached.ids()) - {link.entity}))
        assert question.text[link.start : link.end] == link.name


def test_the_words_are_those_of_labels() -> None:
    questions = list(made(count=60).read())
    assert any("Ann Lee" in question.text for question in questions)
    assert any("birth" in question.text for question in questions)
    assert not any("placeOfBirth" in question.text for question in questions)
    assert {len(path) for question in questions for path in question.gold_paths or ()} == {1, 2}


def test_a_path_that_leads_to_too_much_is_no_question() -> None:
    crowd = [[f"p{i}", "in", "town"] for i in range(9)]
    assert {len(question.answers or ()) for question in made(crowd, count=50, hub=3).read()} == {1}


def test_fewer_ends_are_drawn_more_often() -> None:
    table = TripleTable.of(graph_of([[f"p{i}", "in", "town"] for i in range(100)]))
    source = WalkSource(table, 0)
    drawn = [walk for walk in (source.draw() for _ in range(200)) if walk is not None and len(walk[1]) == 1]
    assert sum(not steps[0].inverse for _, steps in drawn) > 0.8 * len(drawn)


def test_a_graph_without_triples_between_entities_makes_no_question() -> None:
    with pytest.raises(InputError, match="no triple between two entities"):
        list(made([]).read())


@given(st.integers(0, 99))
def test_some_words_of_each_label_are_kept(seed: int) -> None:
    text, (start, end) = in_words("Riga", [("place of birth", True), ("spouse", False)], random.Random(seed))
    assert text[start:end] == "Riga"
    assert "spouse" in text
    assert {"place", "of", "birth"} & set(text.replace("'s", "").replace("?", "").split())
