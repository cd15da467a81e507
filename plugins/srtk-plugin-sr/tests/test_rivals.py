"""Paths that a search ranks beside the one that a question was made from."""

from __future__ import annotations

import time
from typing import Any

import attrs
import numpy as np
import pytest
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_sr import rivals
from srtk_plugin_sr.beam import BeamExpander
from srtk_plugin_sr.dense import DenseScorer
from srtk_plugin_sr.rivals import SummingEncoder, find_rivals
from srtk_plugin_sr.vectors import unit

from srtk_framework.roles import Encoder, SearchSettings
from srtk_framework.values import Budget, Link, Path, Question, Step

FACTS = [
    ["ann", "spouse", "bob"],
    ["ann", "partner", "bob"],
    ["ann", "friend", "cid"],
    ["ann", "friend", "dan"],
    ["ann", "boss", "eve"],
    ["bob", "boss", "eve"],
    ["cid", "boss", "eve"],
    ["eve", "boss", "fay"],
    *(["ann", "fan", f"fan{i}"] for i in range(3)),
]


class Words(Encoder):
    """Counts words, so that the vector of a path is the sum of those of its steps."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode(self, texts: list[str]) -> np.ndarray:
        self.asked += texts
        rows = np.zeros((len(texts), 64), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.replace(",", " ").split():
                row[sum(word.encode()) % 64] += 1
        return rows


def scorer(facts: list[list[str]] = FACTS) -> DenseScorer:
    graph = MemoryGraph(triples=facts)
    graph.open()
    one = DenseScorer(encoder=Words(), graph=graph, cache="")
    one.open()
    return one


def question(path: Path, *answers: str, text: str = "the spouse of ann") -> Question:
    start = text.index("ann")
    link = Link("ann", start=start, end=start + 3, name="ann")
    return Question("1", text, (link,), answers=answers, gold_paths=(path,))


SPOUSE = question((Step("spouse"),), "bob")


def test_a_path_of_the_same_ends_is_right_and_one_of_others_is_a_rival() -> None:
    [found] = find_rivals(scorer(), [SPOUSE], 2)
    by_path = dict(zip(found.paths, found.right, strict=True))
    assert found.text == "the spouse of"
    assert found.paths[0] == (Step("spouse"),)
    assert {path for path, right in by_path.items() if right} == {(Step("spouse"),), (Step("partner"),)}
    assert (Step("boss"),) in by_path


def test_a_path_of_much_the_same_ends_is_neither() -> None:
    [found] = find_rivals(scorer(), [question((Step("friend"),), "cid", "dan")], 2)
    # Of the three who have eve as boss, without ann, one is a friend: an F1 of .5.
    assert (Step("boss"), Step("boss", True)) not in found.paths
    assert (Step("boss"),) in found.paths


def test_costs_are_what_the_search_subtracts() -> None:
    one = scorer()
    [found] = find_rivals(one, [SPOUSE], 2)
    search = BeamExpander(graph=one.graph, scorer=one, budget=Budget(), width=50, depth=2, choice=None)
    search.open()
    [subgraph] = search.expand([SPOUSE])
    scores = {path.steps: path.score for path in subgraph.paths}
    data = one.ranking_set([found])
    vectors = unit(one.encoder.encode(data.texts))
    [sample] = data.samples
    logits = vectors[list(sample.candidates)] @ vectors[sample.query] / one.form.temperature - np.array(sample.costs)
    # Scores are rounded at each step.
    np.testing.assert_allclose(logits, [scores[path] for path in found.paths], atol=5e-4)


def test_each_step_is_encoded_once_and_no_path() -> None:
    one = scorer()
    find_rivals(one, [SPOUSE, question((Step("boss"),), "eve", text="the boss of ann")], 2)
    assert isinstance(one.encoder, Words)
    assert len(one.encoder.asked) == len(set(one.encoder.asked))
    assert not any("," in text for text in one.encoder.asked)


def test_the_vector_of_a_path_is_the_sum_of_its_steps_made_a_unit() -> None:
    encoder = SummingEncoder(Words(), ", ")
    whole, one, other = encoder.encode(["boss, friend of", "boss", "friend of"])
    np.testing.assert_allclose(whole, (one + other) / np.linalg.norm(one + other), rtol=1e-6)


@pytest.mark.parametrize(
    ("path", "answers"),
    [((Step("fan"), Step("fan", True)), ("bob",)), ((Step("spouse"),), ("fay",)), ((Step("missing"),), ("bob",))],
)
def test_a_question_is_left_out_whose_path_does_not_lead_to_its_answers(path: Path, answers: Any) -> None:
    assert find_rivals(scorer(), [question(path, *answers)], 2) == []


def test_a_question_without_rivals_is_left_out() -> None:
    assert find_rivals(scorer([["ann", "spouse", "bob"]]), [SPOUSE], 1) == []


def test_a_path_that_the_limits_cut_is_left_out_with_its_question() -> None:
    crowd = [*(["ann", "fan", f"fan{i:03d}"] for i in range(400)), ["fan399", "spouse", "zoe"], ["ann", "boss", "eve"]]
    through = question((Step("fan"), Step("spouse")), "zoe")
    assert find_rivals(scorer(crowd), [through], 2) == []
    [found] = find_rivals(scorer(crowd), [question((Step("boss"),), "eve")], 2)
    assert (Step("fan"),) in found.paths


def test_no_further_batch_is_searched_when_the_time_is_over() -> None:
    many = [SPOUSE] * 100
    assert len(find_rivals(scorer(), many, 1)) == 100
    assert len(find_rivals(scorer(), many, 1, until=time.process_time())) == 32


def fans(count: int) -> list[list[str]]:
    return [*(["ann", "fan", f"fan{i:03d}"] for i in range(count)), ["ann", "boss", "eve"]]


@pytest.mark.parametrize(("count", "found"), [(300, 1), (301, 0)])
def test_a_path_to_as_many_nodes_as_the_limit_is_whole(count: int, found: int) -> None:
    answers = tuple(f"fan{i:03d}" for i in range(count))
    assert len(find_rivals(scorer(fans(count)), [question((Step("fan"),), *answers)], 1)) == found


def test_a_question_has_eleven_rivals_at_most_and_all_paths_that_are_right() -> None:
    facts = [["ann", f"r{i:02}", f"e{i}"] for i in range(13)] + [["ann", "spouse", "bob"], ["ann", "partner", "bob"]]
    [found] = find_rivals(scorer(facts), [SPOUSE], 1)
    assert (sum(found.right), len(found.right)) == (2, 13)
    assert len(found.costs) == len(found.paths) == 13


def test_where_the_search_reads_the_mention_the_text_has_it() -> None:
    one = scorer()
    one.search_settings = lambda: SearchSettings(scale=1.0, mention=None)  # type: ignore[method-assign]
    [found] = find_rivals(one, [SPOUSE], 2)
    assert found.text == "the spouse of ann"


def test_the_search_for_rivals_is_as_wide_as_the_expander() -> None:
    assert attrs.fields(BeamExpander).width.default == rivals._WIDTH
