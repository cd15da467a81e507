"""The choice among whole paths: its features, its weights, and what it changes in a search."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

import attrs
import pytest
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_sr.beam import BeamExpander
from srtk_plugin_sr.path_choice import PathChoice
from srtk_plugin_sr.path_features import FEATURES, QuestionWords, SearchedQuestion, path_features
from srtk_plugin_sr.search_settings import SearchBlock

from srtk_framework.graph import Instance
from srtk_framework.records import with_checksum, write_model
from srtk_framework.roles import PathScorer, SearchSettings
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


def test_words_of_a_question_leave_out_mentions_and_numbers() -> None:
    words = QuestionWords.of("which actors of ¤ played in 1995")
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
