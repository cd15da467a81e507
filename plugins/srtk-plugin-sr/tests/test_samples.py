"""Samples of the dense scorer, and the batches into which they are dealt."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_sr.fit_settings import ScorerFitSettings
from srtk_plugin_sr.samples import IndexedSample, Schedule, deal_batches, forward_passes, make_samples

from srtk_framework.values import END, Link, Question, RankedPath, Step, TrainingExample

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


def test_end_is_a_candidate_before_the_first_step_where_the_search_offers_it_there(graph):
    offered = {
        variant: [END in sample.candidates for sample in make_samples(graph, EXAMPLES, chosen, 0)]
        for variant, chosen in (
            ("default", ScorerFitSettings(loss="listwise")),
            ("srtk", ScorerFitSettings(loss="listwise", variant="srtk")),
        )
    }
    assert offered == {"default": [False, True, True], "srtk": [True, True, True]}


@pytest.mark.parametrize(("inverse", "back"), [(None, True), (True, True), (False, False)])
def test_steps_back_are_candidates_unless_the_search_takes_none(graph, inverse, back):
    made = make_samples(graph, EXAMPLES, ScorerFitSettings(inverse=inverse, loss="listwise"), 0)
    assert any(step.inverse for sample in made for step in sample.candidates if step != END) is back


def test_so_many_wrong_steps_are_drawn_at_most(graph):
    few = make_samples(graph, EXAMPLES, ScorerFitSettings(negatives=1), 0)
    assert {len(sample.candidates) for sample in few} == {2}


@pytest.mark.parametrize(("loss", "steps"), [("cross-entropy", [2]), ("listwise", [2]), ("nt-xent", [1, 2])])
def test_a_decision_with_a_single_candidate_teaches_only_beside_other_samples(loss, steps):
    single = MemoryGraph(triples=[["ann", "spouse", "bob"]])
    single.open()
    one = TrainingExample(QUESTION, (RankedPath("ann", (Step("spouse"),), 1.0),))
    made = make_samples(single, [one], ScorerFitSettings(loss=loss, inverse=False, variant="default"), 0)
    assert [len(sample.candidates) for sample in made] == ([1, 1] if loss == "nt-xent" else [])
    back = make_samples(single, [one], ScorerFitSettings(loss=loss), 0)
    assert [len(sample.candidates) for sample in back] == steps


def test_a_decision_whose_candidates_are_all_right_teaches_their_order_alone():
    both = MemoryGraph(triples=[["ann", "spouse", "bob"], ["ann", "partner", "bob"]])
    both.open()
    paths = tuple(RankedPath("ann", (Step(name),), score) for name, score in (("spouse", 1.0), ("partner", 0.5)))
    made = {
        loss: make_samples(both, [TrainingExample(QUESTION, paths)], ScorerFitSettings(loss=loss, depth=1), 0)
        for loss in ("cross-entropy", "listwise", "nt-xent")
    }
    assert {loss: [sample.targets for sample in row] for loss, row in made.items()} == {
        "cross-entropy": [],
        "listwise": [(0.5, 1.0)],
        "nt-xent": [(0.5, 1.0)],
    }


@pytest.mark.parametrize(("longer", "passes"), [(16, [[0, 1]]), (17, [[0], [1]])])
def test_texts_share_a_pass_up_to_1_4_times_the_tokens_and_two(longer, passes):
    assert forward_passes([10, longer]) == passes
    assert forward_passes([longer, 10]) == [[1, 0]] if len(passes) == 1 else [[1], [0]]


def test_samples_of_a_query_stay_together_and_queries_of_much_the_same_length_share_a_batch():
    numbers = [0, 1, 2, 3, 0, 1, 2, 3]
    samples = [IndexedSample(query, (4,), (1.0,)) for query in numbers]
    batches = deal_batches(samples, [9, 1, 8, 2, 5], 4, 0)
    assert sorted(sorted(batch) for batch in batches) == [[0, 2, 4, 6], [1, 3, 5, 7]]
    one, other = (next(batch for batch in batches if sample in batch) for sample in (1, 0))
    # Of each batch the shorter query comes first.
    assert ({*one[:2]}, {*other[:2]}) == ({1, 5}, {2, 6})


def test_an_order_of_a_seed_is_the_same_wherever_it_is_dealt():
    """A resumed training goes on with the batches that are left."""
    samples = [IndexedSample(query, (60,), (1.0,)) for query in range(60)]
    lengths = [query * 7 % 11 for query in range(61)]
    # More than 16 batches of two, which are sorted together.
    batches = deal_batches(samples, lengths, 2, 3)
    assert batches[:4] == [[52, 41], [6, 50], [18, 26], [3, 36]]
    first = [i for batch in batches for i in batch]
    assert first != [i for batch in deal_batches(samples, lengths, 2, 4) for i in batch]


def scheduled(count, ranks=1, **chosen):
    samples = [IndexedSample(i, (count,), (1.0,)) for i in range(count)]
    return Schedule(samples, [1] * (count + 1), ScorerFitSettings(**chosen), ranks, 0)


@pytest.mark.parametrize(
    ("schedule", "figures"),
    [
        # Updates of an epoch, of the training, of a round, and rounds.
        (scheduled(7, batch_size=2, epochs=3), (4, 12, 4, 3)),
        (scheduled(7, batch_size=2, epochs=3, steps=5), (4, 5, 4, 2)),
        (scheduled(7, batch_size=2, epochs=1, steps=50), (4, 4, 4, 1)),
        (scheduled(7, batch_size=2, epochs=3, steps=3), (4, 3, 3, 1)),
        (scheduled(7, batch_size=2, epochs=3, validate_every=50), (4, 12, 12, 1)),
        (scheduled(7, ranks=2, batch_size=2, epochs=3), (2, 6, 2, 3)),
        (scheduled(1, ranks=3, batch_size=2, epochs=2), (1, 2, 1, 2)),
        (scheduled(1100, batch_size=2, epochs=1), (550, 550, 500, 2)),
    ],
)
def test_a_schedule_has_its_updates_and_a_validation_after_each_round(schedule, figures):
    assert (schedule.per_epoch, schedule.total, schedule.every, schedule.rounds) == figures
    batches = [batch for number in range(schedule.rounds) for batch in schedule.round(number, 0)]
    assert len(batches) == schedule.total


def test_each_epoch_has_an_order_of_its_own_and_devices_share_what_there_is():
    schedule = scheduled(16, batch_size=2, epochs=2)
    one, other = ([i for batch in schedule.round(number, 0) for i in batch] for number in (0, 1))
    assert one != other
    assert sorted(one) == sorted(other) == list(range(16))
    assert scheduled(16, batch_size=2, epochs=2).round(1, 0) == schedule.round(1, 0)
    single = scheduled(2, ranks=3, batch_size=2, epochs=1)
    assert [single.round(0, rank) for rank in range(3)] == [single.round(0, 0)] * 3


def test_31_wrong_steps_are_drawn_where_none_are_named_and_all_for_a_list():
    crowd = MemoryGraph(triples=[["ann", f"r{i}", f"e{i}"] for i in range(40)])
    crowd.open()
    one = [TrainingExample(QUESTION, (RankedPath("ann", (Step("r3"),), 1.0),))]
    wanted = {("cross-entropy", None): 32, ("nt-xent", None): 32, ("listwise", None): 40, ("listwise", 5): 6}
    for (loss, negatives), count in wanted.items():
        first, *_ = make_samples(crowd, one, ScorerFitSettings(loss=loss, negatives=negatives), 0)
        assert len(first.candidates) == count


def test_a_text_is_compared_with_the_shortest_of_its_own_pass():
    assert forward_passes([1, 10, 12]) == [[0], [1, 2]]
    assert forward_passes([10, 14, 16, 17, 24]) == [[0, 1, 2], [3, 4]]
    assert forward_passes([]) == []
