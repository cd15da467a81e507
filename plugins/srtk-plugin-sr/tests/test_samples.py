"""Samples of the dense scorer, and the batches into which they are dealt."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_sr.fit_settings import ScorerFitSettings
from srtk_plugin_sr.samples import IndexedSample, Schedule, deal_batches, forward_passes, make_samples

from srtk_framework.values import Link, Question, RankedPath, Step, TrainingExample

FACTS = [
    ["ann", "spouse", "bob"],
    ["bob", "born", "riga"],
    ["ann", "born", "oslo"],
    ["riga", "country", "latvia"],
    ["oslo", "country", "norway"],
]
QUESTION = Question("q", "where was the husband of ann born", (Link("ann", start=25, end=28),))
EXAMPLES = [TrainingExample(QUESTION, (RankedPath("ann", (Step("spouse"), Step("born")), 1.0),))]


@pytest.fixture
def graph():
    graph = MemoryGraph(triples=FACTS)
    graph.open()
    yield graph
    graph.close()


def test_a_path_gives_a_sample_for_each_of_its_steps_and_for_its_end(graph):
    made = make_samples(graph, EXAMPLES, ScorerFitSettings(), 0)
    assert [sample.path for sample in made] == [(), (Step("spouse"),), (Step("spouse"), Step("born"))]


def test_decisions_beyond_the_depth_of_the_search_are_left_out(graph):
    every = make_samples(graph, EXAMPLES, ScorerFitSettings(), 0)
    assert make_samples(graph, EXAMPLES, ScorerFitSettings(depth=2), 0) == every[:2]


def test_the_mention_is_masked_in_the_texts_of_samples(graph):
    texts = {sample.text for sample in make_samples(graph, EXAMPLES, ScorerFitSettings(mention="someone"), 0)}
    assert texts == {"where was the husband of someone born"}


queries = st.lists(st.integers(0, 9), min_size=1, max_size=60)


@given(queries, st.integers(1, 8), st.integers(0, 3))
def test_every_sample_is_dealt_once_into_batches_of_the_given_size(numbers, size, seed):
    samples = [IndexedSample(query, (10,), (1.0,)) for query in numbers]
    batches = deal_batches(samples, list(range(11)), size, seed)
    assert sorted(i for batch in batches for i in batch) == list(range(len(samples)))
    assert max(map(len, batches)) <= size
    assert batches == deal_batches(samples, list(range(11)), size, seed)


@given(st.lists(st.integers(1, 200), min_size=1, max_size=40))
def test_the_texts_of_a_forward_pass_have_similar_lengths(lengths):
    passes = forward_passes(lengths)
    assert sorted(i for group in passes for i in group) == list(range(len(lengths)))
    for group in passes:
        sizes = [lengths[i] for i in group]
        assert max(sizes) <= 1.4 * min(sizes) + 2


def test_the_rounds_of_a_schedule_hold_its_updates_and_each_device_gets_its_own_batches():
    samples = [IndexedSample(i, (20,), (1.0,)) for i in range(20)]
    schedule = Schedule(samples, [1] * 21, ScorerFitSettings(batch_size=2, epochs=2, validate_every=3), ranks=2, seed=0)
    assert (schedule.per_epoch, schedule.total, schedule.rounds) == (5, 10, 4)
    assert [len(schedule.round(number, 0)) for number in range(4)] == [3, 3, 3, 1]
    first_epoch = [batch for rank in (0, 1) for batch in (schedule.round(0, rank) + schedule.round(1, rank))[:5]]
    assert sorted(i for batch in first_epoch for i in batch) == list(range(20))
