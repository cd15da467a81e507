"""The choice among whole paths: its features, its weights, and what it changes in a search."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

import attrs
import numpy as np
import pytest
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_sr.beam import BeamExpander
from srtk_plugin_sr.path_choice import PathChoice
from srtk_plugin_sr.path_features import (
    FEATURES,
    FeatureInput,
    QuestionWords,
    SearchedQuestion,
    _ends,
    features_of,
    path_features,
)
from srtk_plugin_sr.search_settings import SearchBlock

from srtk_framework.graph import Instance
from srtk_framework.records import with_checksum, write_model
from srtk_framework.roles import BACKGROUND, PathScorer, SearchSettings
from srtk_framework.values import Budget, DriverError, Link, Path, Question, RankedPath, Step, Subgraph, Triple

FILMS = [
    ["heat", "directed by", "michael"],
    ["heat", "starred actors", "al"],
    ["heat", "release year", "1995"],
    ["ali", "directed by", "michael"],
    ["ali", "starred actors", "will"],
]
DIRECTED, STARRED, YEAR = Step("directed by"), Step("starred actors"), Step("release year")
OTHER_FILMS = Step("directed by", True)


@attrs.define(eq=False)
class Words(PathScorer):
    """Score a step by the beginnings of words that its relation shares with the text; scores are not trained."""

    trained: bool = False

    def score(self, questions: Sequence[str], paths: Sequence[Path], candidates: Any) -> list[list[float]]:
        return [
            [float(sum(word[:4] in text for word in step.relation.split())) for step in row]
            for text, row in zip(questions, candidates, strict=True)
        ]

    def is_trained(self) -> bool:
        return self.trained

    def search_settings(self) -> SearchSettings:
        return SearchSettings(scale=1.0, depth=2, fan_cost=0.0, mention="")


def searched(text: str, paths: Sequence[RankedPath], graph: MemoryGraph) -> SearchedQuestion:
    read = {}
    for rank, path in enumerate(paths):
        chains: list[tuple[Triple, ...]] = [()]
        ends = [path.entity]
        for step in path.steps:
            [triples] = graph.triples(graph.frontiers([ends]), [step], None)
            chains = [(*chain, one) for chain in chains for one in triples][: len(triples)]
            ends = [one.subject if step.inverse else one.object for one in triples]
        read[rank] = [Instance(chain, end) for chain, end in zip(chains, ends, strict=True)]
    marked = text.replace("Heat", "¤")
    return SearchedQuestion(text, marked, {"heat": 0}, paths, read)


def features(text: str, *paths: tuple[Step, ...]) -> list[dict[str, float]]:
    graph = MemoryGraph(FILMS)
    ranked = [RankedPath("heat", steps, -float(rank)) for rank, steps in enumerate(paths)]
    [table] = path_features(graph, Words(), [searched(text, ranked, graph)])
    assert table.shape == (len(paths), len(FEATURES))
    return [dict(zip(FEATURES, map(float, row), strict=True)) for row in table]


def test_a_person_is_expected_of_who_and_a_year_contradicts_it() -> None:
    person, year = features("who made Heat", (DIRECTED,), (YEAR,))
    assert (person["end fits"], person["end clashes"]) == (1.0, 0.0)
    assert (year["end fits"], year["end clashes"], year["value wrong"]) == (0.0, 1.0, 1.0)


def test_a_value_is_expected_of_when() -> None:
    person, year = features("when did Heat come out", (DIRECTED,), (YEAR,))
    assert (year["value fits"], year["value lacks"]) == (1.0, 0.0)
    assert (person["value fits"], person["value lacks"]) == (0.0, 1.0)


def test_a_way_back_is_wanted_only_by_words_such_as_same() -> None:
    path = (DIRECTED, OTHER_FILMS)
    [same] = features("which films have the same director as Heat", path)
    [other] = features("which films does the director of Heat like", path)
    assert (same["back same"], same["at topic"]) == (1.0, 0.0)
    assert (other["back same"], other["at topic"]) == (0.0, 0.5)


def test_the_step_next_to_the_mention_is_the_first() -> None:
    text = "who starred in films that were directed by the maker of Heat"
    right, wrong = features(text, (DIRECTED, OTHER_FILMS, STARRED), (STARRED, DIRECTED))
    assert right["order"] == 0.0
    assert wrong["order"] == 1.0


def test_nested_questions_speak_for_long_paths() -> None:
    short, long = features("who starred in films that the director of Heat made", (STARRED,), (DIRECTED, OTHER_FILMS))
    assert short["length nesting"] == 0.0
    assert long["length nesting"] > 0.0


def test_the_length_of_a_path_has_features_that_the_weights_of_the_package_ignore() -> None:
    paths = (STARRED,), (DIRECTED, OTHER_FILMS), (DIRECTED, OTHER_FILMS, STARRED)
    rows = features("who starred in Heat", *paths)
    assert [(row["two steps"], row["three steps"]) for row in rows] == [(0, 0), (1, 0), (0, 1)]
    assert not {"two steps", "three steps"} & set(PathChoice.load().weights)


def test_the_kind_of_an_answer_is_compared_with_steps_only_where_it_counts() -> None:
    asked: list[Sequence[str]] = []

    class Noted(Words):
        def score(self, questions: Sequence[str], paths: Sequence[Path], candidates: Any) -> list[list[float]]:
            asked.append(questions)
            return super().score(questions, paths, candidates)

    graph = MemoryGraph(FILMS)
    question = searched("who directed Heat", [RankedPath("heat", (DIRECTED,), 0.0)], graph)
    PathChoice.load().scores(graph, Noted(), [question])
    PathChoice({"kind last": 1.0}).scores(graph, Noted(), [question])
    assert asked == [["directed"], ["person", "directed"]]


def test_words_of_a_question_leave_out_mentions_and_numbers() -> None:
    words = QuestionWords.of("which actors of ¤ played in 1995", True)
    assert words.content == ("actors", "played")
    assert words.places == (2, 1)


def test_a_question_without_paths_has_no_features() -> None:
    [table] = path_features(MemoryGraph(FILMS), Words(), [SearchedQuestion("who", "who", {}, [], {})])
    assert table.shape == (0, len(FEATURES))


def test_the_choice_keeps_the_sum_of_the_probabilities_of_the_search() -> None:
    graph = MemoryGraph(FILMS)
    paths = [RankedPath("heat", (STARRED,), 1.0), RankedPath("heat", (YEAR,), 0.5)]
    [scores] = PathChoice({"value fits": 4.0}).scores(
        graph, Words(), [searched("when did Heat come out", paths, graph)]
    )
    assert scores[1] - scores[0] == pytest.approx(4.0, abs=1e-6)
    assert sum(map(math.exp, scores)) == pytest.approx(math.exp(1.0) + math.exp(0.5), abs=1e-3)


def expanded(text: str, trained: bool = False, **settings: Any) -> Subgraph:
    beam = BeamExpander(MemoryGraph(FILMS), Words(trained), Budget(triples=50), **settings)
    beam.open()
    [found] = beam.expand([Question("q", text, (Link("heat", name="Heat"),))])
    return found


def test_the_choice_orders_the_paths_of_an_untrained_search(tmp_path: FilePath) -> None:
    file = tmp_path / "weights.json"
    write_model(file, {"weights": {"value fits": 9.0}})
    text = "when did the starred actors of Heat come"
    assert expanded(text, choice=None).paths[0].steps != (YEAR,)
    chosen = expanded(text, choice=str(file))
    assert chosen.paths[0].steps == (YEAR,)
    assert chosen.triples[0] == Triple("heat", "release year", "1995")
    assert set(chosen.triples) == set(expanded(text, choice=None).triples)


def test_the_weights_of_the_package_are_for_untrained_scores_only() -> None:
    text = "when did the starred actors of Heat come"
    plain = expanded(text, choice=None)
    assert expanded(text).paths != plain.paths
    assert expanded(text, trained=True).paths == plain.paths
    assert expanded(text, variant="srtk").paths == expanded(text, variant="srtk", choice=None).paths


@pytest.mark.parametrize(
    "text", ["when did the last starred actors of Heat come", "when did the starred actors of Heat come before 1990"]
)
def test_a_question_with_an_operation_keeps_the_order_of_the_search(text: str) -> None:
    assert expanded(text).paths == expanded(text, choice=None).paths


def test_explaining_compares_paths_by_the_scores_of_the_search() -> None:
    beam = BeamExpander(MemoryGraph(FILMS), Words(), Budget(), choice="auto", paths=1)
    beam.open()
    states = beam.start([Question("q", "who starred in Heat", (Link("heat", name="Heat"),))])
    while not all(state.done for state in states):
        states = beam.step(states)
    [choice] = beam.last_choices(states)
    assert [bool(reason) for reason in choice.dropped] == [False] + [True] * (len(choice.dropped) - 1)


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("{", "is damaged"),
        (with_checksum('{"weights": 5}')[0], "no model of `beam`"),
        (with_checksum('{"weights": {"share": "x"}}')[0], "no model of `beam`"),
        (with_checksum('{"weights": {"luck": 1}}')[0], "luck"),
    ],
)
def test_a_broken_file_of_weights_is_refused(tmp_path: FilePath, content: str, error: str) -> None:
    file = tmp_path / "weights.json"
    file.write_text(content)
    with pytest.raises(DriverError, match=error):
        PathChoice.load(str(file))


def test_the_weights_of_the_package_have_the_signs_of_their_features() -> None:
    weights: Mapping[str, float] = PathChoice.load().weights
    assert weights["end fits"] > 0 > weights["end clashes"]
    assert weights["back same"] > 0 > weights["only topic"]


def weighted(file: FilePath, weight: float, **settings: Any) -> BeamExpander:
    write_model(file, {"weights": {"share": weight}})
    graph = MemoryGraph(FILMS)
    graph.open()
    return BeamExpander(graph, Words(), choice=str(file), **settings)


def test_other_weights_in_a_file_have_another_fingerprint(tmp_path: FilePath) -> None:
    one, other = (weighted(tmp_path / f"{weight}.json", weight).fingerprint() for weight in (1.0, 2.0))
    assert "('share', 1.0)" in one
    assert "('share', 2.0)" in other


def test_weights_that_would_choose_nothing_are_refused(tmp_path: FilePath) -> None:
    beam = weighted(tmp_path / "weights.json", 1.0, search=SearchBlock(order="paths"))
    with pytest.raises(DriverError, match=r"needs `search: \{order: nodes\}`"):
        beam.open()


def test_a_file_of_weights_that_is_missing_is_a_fault_of_the_recipe() -> None:
    beam = BeamExpander(MemoryGraph(FILMS), Words(), choice="nowhere.json")
    assert beam.preflight() == [("choice", "nowhere.json does not exist; correct the path")]
    assert BeamExpander(MemoryGraph(FILMS), Words(), choice="auto").preflight() == []


def given(
    question: SearchedQuestion, words: QuestionWords, steps: Sequence[Step], table: Any, labels: Mapping[str, str]
) -> FeatureInput:
    [ends], [shown], [topics] = _ends([question])
    return FeatureInput(question, words, steps, table, ends, shown, topics, labels)


def test_the_features_of_a_path_are_those_worked_by_hand() -> None:
    words = QuestionWords.of("which actors of ¤ that played in the film", True)
    # Places of actors, played and film from the mention.
    assert (words.content, words.places, words.nesting) == (("actors", "played", "film"), (2, 2, 5), 2)
    assert words.texts == ["actors", "actors", "played", "film"]
    starred, made_by = STARRED, OTHER_FILMS
    paths = [
        RankedPath("heat", (starred,), 0.0),
        RankedPath("heat", (made_by,), -0.5),
        RankedPath("heat", (made_by, starred), -1.0),
        RankedPath("heat", (YEAR,), -2.0),
        RankedPath("heat", (starred, made_by, starred), -3.0),
    ]
    ends = [["al", "val", "al"], ["ali"], ["al"], ["1995"], ["heat"]]
    read = {rank: [Instance((), end) for end in row] for rank, row in enumerate(ends)}
    question = SearchedQuestion("which actors of Heat that played in the film", "", {"heat": 0}, paths, read)
    # Rows: the expected kind, then each word; the second does not tell the steps apart.
    table = np.array([[3, 0, 0], [2, 2, 2], [0, 2, 1], [6, 0, 3]], dtype=np.float64)
    labels = {
        name: name for name in ("starred actors", "directed by", "release year", "al", "val", "ali", "1995", "heat")
    }
    found = features_of(given(question, words, [starred, made_by, YEAR], table, labels))
    got = dict(zip(FEATURES, found.T.tolist(), strict=True))
    shares = np.exp([path.score for path in paths])
    shares /= shares.sum()
    high, root = math.sqrt(1.5), math.sqrt(2)
    both, alone = shares[0] + shares[2], shares[0]
    wanted = {
        "share": np.log(shares),
        "first": [1, 0, 0, 0, 0],
        "over prefix": [0, 0, -0.5, 0, 0],
        "two steps": [0, 0, 1, 0, 0],
        "three steps": [0, 0, 0, 0, 1],
        "kind last": [root, -1 / root, root, -1 / root, root],
        # Film fits starred best, played fits made_by, and nothing tells of the year.
        "word support": [high, high, high, 0, high],
        "words shared": [0, 0, 0, 0, 1],
        "order": [0, 0, 0, 0, 1],
        "length nesting": [0, 0, 1, 0, 2],
        "named": [0.5, 0, 0.25, 0, 1 / 3],
        "noun last": [1, 0, 1, 0, 1],
        "end fits": [1, 0, 1, 0, 1],
        "end clashes": [0, 1, 0, 1, 0],
        "back same": [0] * 5,
        "at topic": [0, 0, 0, 0, 1],
        "only topic": [0, 0, 0, 0, 1],
        "mass": np.log([(both + alone) / 2, shares[1], both, shares[3], shares[4]]),
        "agreed": [(both + alone) / 2 - shares[0], 0, both - shares[2], 0, 0],
        "joined most": [0] * 5,
        "joined mean": [0] * 5,
        "other topic": [0] * 5,
        "value fits": [0] * 5,
        "value wrong": [0, 0, 0, 1, 0],
        "value lacks": [0] * 5,
        "one of several": [0, 1, 1, 1, 1],
    }
    assert set(wanted) == set(FEATURES)
    for name, row in wanted.items():
        assert got[name] == pytest.approx(list(row), abs=1e-9), name


def test_the_ends_of_a_path_are_judged_by_the_first_three_that_differ() -> None:
    words = QuestionWords.of("when did ¤ come", True)
    ends = ["1991", "1991", "1992", "a", "1993"]
    read = {0: [Instance((), end) for end in ends], 1: [Instance((), "x")] * 12 + [Instance((), "1990")]}
    paths = [RankedPath("heat", (YEAR,), 0.0), RankedPath("heat", (STARRED,), 0.0)]
    question = SearchedQuestion("when did Heat come", "", {"heat": 0}, paths, read)
    labels = {name: name for name in ("release year", "starred actors", *ends, "x", "1990")}
    found = features_of(given(question, words, [YEAR, STARRED], np.zeros((3, 2)), labels))
    fits, lacks = (found[:, FEATURES.index(name)].tolist() for name in ("value fits", "value lacks"))
    assert fits == pytest.approx([2 / 3, 0])
    assert lacks == pytest.approx([1 / 3, 1])


def test_the_paths_of_another_topic_raise_the_features_of_those_that_they_join() -> None:
    near, far = Triple("heat", "r", "x"), Triple("heat", "r", "ali")
    paths = [RankedPath("heat", (Step("r"),), 0.0), RankedPath("ali", (Step("s"),), 0.0)]
    read = {
        0: [Instance((near,), "x"), Instance((Triple("heat", "r", "y"),), "y")],
        1: [Instance((Triple("ali", "s", "x"),), "x")],
    }
    words = QuestionWords.of("what of ¤ and ¤", True)

    def joined(found: Mapping[int, Sequence[Instance]], topics: Mapping[str, int]) -> list[list[float]]:
        question = SearchedQuestion("what of Heat and Ali", "", topics, paths, found)
        labels = {name: name for name in ("r", "s", "x", "y", "ali")}
        table = features_of(given(question, words, [Step("r"), Step("s")], np.zeros((0, 2)), labels))
        return [table[:, FEATURES.index(name)].tolist() for name in ("joined most", "joined mean", "other topic")]

    boost = (BACKGROUND + 1) / BACKGROUND
    most, mean, other = joined(read, {"heat": 0, "ali": 1})
    assert most == pytest.approx([math.log(boost)] * 2)
    assert mean == pytest.approx([math.log((boost + 1) / 2), math.log(boost)])
    assert other == [0, 0]
    assert joined(read, {"heat": 0, "ali": 0}) == [[0, 0]] * 3
    assert joined({0: [Instance((far,), "ali")]}, {"heat": 0, "ali": 1})[2] == [1, 0]


def test_weights_have_four_digits_and_those_of_nothing_are_left_out() -> None:
    row = np.zeros(len(FEATURES))
    row[:4] = 0.12346, 0.00004, -1.5, 0.00006
    choice = PathChoice.of(row)
    assert choice.weights == {FEATURES[0]: 0.1235, FEATURES[2]: -1.5, FEATURES[3]: 0.0001}
    assert choice.row[:4].tolist() == [0.1235, 0.0, -1.5, 0.0001]


def test_a_relation_whose_name_says_nothing_is_named_by_no_word() -> None:
    graph = MemoryGraph([["heat", "of", "x"]])
    [table] = path_features(graph, Words(), [searched("what of Heat", [RankedPath("heat", (Step("of"),), 0.0)], graph)])
    assert table[0][FEATURES.index("named")] == 0.0
