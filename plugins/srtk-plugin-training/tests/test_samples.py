"""Training samples: what is right, what was offered besides, and how wrong candidates are drawn."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_training.samples import samples

from srtk_framework.testing.oracle import OracleGraph
from srtk_framework.testing.sample import Sample as Facts
from srtk_framework.values import END, Link, Question, RankedPath, Sample, Schema, Step, TrainingExample, Triple


@attrs.define(eq=False)
class Noisy(OracleGraph):
    """A graph with a relation that answers no question."""

    def schema(self) -> Schema:
        return Schema(noise=("seen_*",))


def graph_of(*facts: str) -> OracleGraph:
    graph = Noisy(Facts(tuple(sorted(Triple(*fact.split()) for fact in facts))))
    graph.open()
    return graph


def example(entity: str, *paths: str, score: float = 1.0, name: str = "q") -> TrainingExample:
    ranked = tuple(RankedPath(entity, tuple(Step.parse(s) for s in path.split()), score) for path in paths)
    return TrainingExample(Question(name, "Who?", (Link(entity),)), ranked)


def made(
    graph: OracleGraph, *examples: TrainingExample, negatives: int | None = None, inverse: bool = True
) -> list[Sample]:
    return [s for row in samples(graph, examples, negatives=negatives, seed=0, inverse=inverse) for s in row]


def names(steps: Sequence[Step]) -> list[str]:
    return [str(step) for step in steps]


FILM = graph_of("film by ann", "film year 1999", "ann born riga", "ann seen_in film", "film2 by ann", "riga in latvia")


def test_a_path_of_k_steps_gives_k_plus_1_samples() -> None:
    found = made(FILM, example("film", "by born"))
    assert [names(s.path) for s in found] == [[], ["by"], ["by", "born"]]
    right = [[str(c) for c, target in zip(s.candidates, s.targets, strict=True) if target] for s in found]
    assert right == [["by"], ["born"], ["END"]]


def test_wrong_candidates_are_what_really_leaves_the_nodes_reached() -> None:
    first, second, last = made(FILM, example("film", "by born"))
    assert names(first.candidates) == ["by", "year"]
    assert names(second.candidates) == ["^by", "born", "END"]
    assert names(last.candidates) == ["^born", "in", "END"]


def test_end_is_no_candidate_before_the_first_step() -> None:
    assert END not in made(FILM, example("film", "by"))[0].candidates


def test_noise_is_no_candidate() -> None:
    assert not [s for s in made(FILM, example("ann", "born")) if "seen_in" in names(s.candidates)]


def test_steps_against_the_direction_are_left_out_on_request() -> None:
    found = made(FILM, example("film", "by born"), inverse=False)
    assert names(found[1].candidates) == ["born", "END"]


def test_paths_that_share_a_beginning_share_their_samples() -> None:
    found = made(FILM, example("film", "by", "by born"))
    assert [names(s.path) for s in found] == [[], ["by"], ["by", "born"]]
    second = found[1]
    assert dict(zip(names(second.candidates), second.targets, strict=True)) == {"^by": 0.0, "born": 1.0, "END": 1.0}


def test_the_quality_of_the_best_path_is_the_target_of_its_steps() -> None:
    both = TrainingExample(
        Question("q", "Who?", (Link("film"),)),
        (*example("film", "by", score=0.8).paths, *example("film", "by born", score=0.3).paths),
    )
    second = made(FILM, both)[1]
    assert dict(zip(names(second.candidates), second.targets, strict=True)) == {"^by": 0.0, "born": 0.3, "END": 0.8}


def test_a_path_that_the_graph_lacks_is_passed_over() -> None:
    assert made(FILM, example("film", "wrote"), example("nobody", "by")) == []


def test_the_text_may_be_what_the_scorer_sees() -> None:
    rows = samples(
        FILM,
        [example("film", "by")],
        negatives=None,
        seed=0,
        inverse=True,
        text=lambda question, entity: f"{question.text} {entity}",
    )
    assert {s.text for s in rows[0]} == {"Who? film"}


steps = st.sampled_from(["r", "s", "t", "^r", "^s", "^t"])
nodes = st.sampled_from("abcde")
facts = st.lists(st.tuples(nodes, st.sampled_from("rst"), nodes).map(" ".join), min_size=1, max_size=15)
examples = st.lists(st.tuples(nodes, st.lists(steps, min_size=1, max_size=3).map(" ".join)), min_size=1, max_size=4)


@given(facts, examples, st.integers(0, 3))
def test_a_drawing_depends_on_its_own_question_alone(
    triples: list[str], asked: list[tuple[str, str]], negatives: int
) -> None:
    graph = graph_of(*triples)
    every = [example(entity, path, name=f"q{i}") for i, (entity, path) in enumerate(asked)]
    together = samples(graph, every, negatives=negatives, seed=3, inverse=True)
    assert together == [samples(graph, [one], negatives=negatives, seed=3, inverse=True)[0] for one in every]


@given(facts, examples, st.integers(0, 3))
def test_every_sample_has_right_candidates_and_at_most_so_many_wrong_ones(
    triples: list[str], asked: list[tuple[str, str]], negatives: int
) -> None:
    graph = graph_of(*triples)
    every = [example(entity, path, name=f"q{i}") for i, (entity, path) in enumerate(asked)]
    for sample in made(graph, *every, negatives=negatives):
        assert len(set(sample.candidates)) == len(sample.candidates) == len(sample.targets)
        wrong = sum(target == 0 for target in sample.targets)
        assert wrong <= negatives
        assert wrong < len(sample.targets)


@pytest.mark.parametrize("negatives", [2, 3, 9])
def test_end_is_never_dropped_among_the_negatives_that_are_drawn(negatives: int) -> None:
    hub = graph_of("a to b", "b right c", *(f"b r{i} c" for i in range(30)))
    for seed in range(5):
        [row] = samples(hub, [example("a", "to right")], negatives=negatives, seed=seed, inverse=False)
        second = next(sample for sample in row if len(sample.path) == 1)
        assert second.candidates[-1] == END
        assert sum(target == 0 for target in second.targets) == negatives


def test_end_is_a_candidate_before_the_first_step_where_the_search_offers_it() -> None:
    def first(end_at_start: bool) -> Sample:
        [row] = samples(FILM, [example("film", "by")], negatives=None, seed=0, inverse=False, end_at_start=end_at_start)
        return row[0]

    assert END not in first(False).candidates
    assert dict(zip(first(True).candidates, first(True).targets, strict=True))[END] == 0.0


@pytest.mark.parametrize("negatives", [1, 2])
def test_another_seed_draws_others(negatives: int) -> None:
    hub = graph_of("a right b", *(f"a r{i} b" for i in range(30)))
    drawn = {
        samples(hub, [example("a", "right")], negatives=negatives, seed=seed, inverse=False)[0][0].candidates
        for seed in range(5)
    }
    assert len(drawn) > 1
