"""The dense scorer: both rules by hand, its laws, and what it refuses."""

import math
from types import SimpleNamespace
from typing import ClassVar

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_sr import dense
from srtk_plugin_sr.beam import BeamExpander
from srtk_plugin_sr.dense import ENOUGH, DenseScorer
from srtk_plugin_sr.fit_settings import ScorerFitSettings
from srtk_plugin_sr.samples import RankedPaths
from srtk_plugin_sr.scorer_form import UNTRAINED, ScorerForm

from srtk_framework.roles import PLAIN, Encoder, SearchSettings
from srtk_framework.values import END, DriverError, Link, Question, SettingsError, Step

CAPITAL, BORDERS, CURRENCY = Step("capital"), Step("borders"), Step("currency")


@attrs.define(eq=False)
class Table(Encoder):
    """Give each text the vector that the table has for it, and count calls."""

    vectors: dict
    calls: list = attrs.field(factory=list)

    def encode(self, texts):
        self.calls.append(list(texts))
        return np.array([self.vectors[text] for text in texts], dtype=np.float32).reshape(len(texts), -1)


@attrs.define(eq=False)
class Letters(Encoder):
    """Count letters: any text has a vector, and texts with common letters are near."""

    calls: list = attrs.field(factory=list)
    fingerprint_text: ClassVar[str] = "letters"

    def encode(self, texts):
        self.calls.append(list(texts))
        return np.array(
            [[1 + text.lower().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts],
            dtype=np.float32,
        ).reshape(len(texts), 26)

    def fingerprint(self):
        return self.fingerprint_text


def graph_of(*relations, **labels):
    return MemoryGraph(triples=[["a", relation, "b"] for relation in relations], labels=labels)


def scorer_of(encoder, rule="log-softmax", **changes):
    graph = graph_of("capital", "borders", "currency")
    made = DenseScorer(encoder=encoder, graph=graph, cache="", rule=rule, **changes)
    made.open()
    return made


def cosines(*values):
    """Return vectors of length 2 in the plane at these cosines to (1, 0)."""
    return [[2 * value, 2 * math.sqrt(1 - value * value)] for value in values]


HAND = dict(
    zip(
        ["Q?", "capital", "borders", "end", "Q? [SEP] capital"],
        [[3.0, 0.0], *cosines(0.6, 0.25, 0.1), [0.0, 5.0]],
        strict=True,
    )
)


def test_log_softmax_by_hand():
    # Cosines .6, .25 and END .1, temperature .05: logits 12, 5, 2.
    total = math.log(math.exp(12) + math.exp(5) + math.exp(2))
    found = scorer_of(Table(HAND), temperature=0.05).score(["Q?"], [()], [[CAPITAL, BORDERS, END]])
    assert found == [[round(12 - total, 4), round(5 - total, 4), round(2 - total, 4)]]


def test_log_sigmoid_by_hand():
    # Logits 12, 5 and END 2: p = 1 / (1 + exp(2 - 12)), 1 / (1 + exp(2 - 5)) and 1/2.
    found = scorer_of(Table(HAND), rule="log-sigmoid", temperature=0.05).score(["Q?"], [()], [[CAPITAL, BORDERS, END]])
    assert found == [[0.0, -0.0486, -0.6931]]
    # Logit 1, one below END: p = 1 / (1 + e) = .2689.
    weaker = scorer_of(Table({**HAND, "borders": cosines(0.05)[0]}), rule="log-sigmoid", temperature=0.05)
    assert weaker.score(["Q?"], [()], [[BORDERS]]) == [[-1.3133]]


def test_under_log_sigmoid_a_step_does_not_depend_on_its_rivals():
    scorer = scorer_of(Table(HAND), rule="log-sigmoid", temperature=0.05)
    among = scorer.score(["Q?"], [()], [[CAPITAL, BORDERS, END]])[0]
    assert scorer.score(["Q?"], [()], [[BORDERS]]) == [among[1:2]]


def test_under_log_sigmoid_logits_far_apart_stay_finite():
    far = {**HAND, "borders": cosines(-1.0)[0], "end": cosines(1.0)[0]}
    scorer = scorer_of(Table(far), rule="log-sigmoid", temperature=0.0005)
    assert scorer.score(["Q?"], [()], [[BORDERS]]) == [[-4000.0]]


def test_weights_that_no_path_scorer_was_trained_from_are_scored_by_gain_with_small_costs():
    row = (["Who?"], [(CAPITAL,)], [[BORDERS, Step("capital", True), END]])
    by_default = scorer_of(Letters(), rule=None)
    explicit = scorer_of(Letters(), rule="gain", step_cost=0.5, return_cost=0.5, inverse_text="{label} of")
    assert by_default.score(*row) == explicit.score(*row) != scorer_of(Letters()).score(*row)
    assert by_default.fingerprint() == explicit.fingerprint() != scorer_of(Letters()).fingerprint()


def test_an_encoder_as_it_comes_is_no_trained_scorer():
    assert not scorer_of(Letters(), rule=None).is_trained()


def test_margins_are_not_suggested_for_scores_of_untrained_weights_that_are_no_gains():
    assert scorer_of(Letters(), rule=None).search_settings() == SearchSettings(scale=1.0)
    assert scorer_of(Letters(), rule="log-softmax").search_settings() == PLAIN
    assert scorer_of(Letters(), rule="srtk-sum").search_settings() == PLAIN


def test_a_text_form_that_is_given_brings_its_own_inverse():
    encoder = Letters()
    scorer_of(encoder, rule=None, text="srtk").score(["Who?"], [()], [[Step("capital", True)]])
    assert "relation: is capital of" in encoder.calls[0]


def test_end_takes_no_probability_where_it_is_not_offered():
    # Logits 12 and 5: log p = -log(1 + exp(-7)) and that less 7.
    scorer = scorer_of(Table(HAND), temperature=0.05)
    assert scorer.score(["Q?"], [()], [[CAPITAL, BORDERS]]) == [[-0.0009, -7.0009]]


def test_the_query_of_a_later_step_holds_the_steps_so_far():
    # The query is now (0, 1): the cosine of each candidate is its sine.
    scorer = scorer_of(Table(HAND), rule="srtk-sum", temperature=1.0)
    assert scorer.score(["Q?"], [(CAPITAL,)], [[CAPITAL, BORDERS]]) == [[0.8, round(math.sqrt(1 - 0.0625), 4)]]


def test_srtk_sum_by_hand():
    form = {f"relation: {name}": HAND[old] for name, old in [("capital", "capital"), ("END OF HOP", "end")]}
    scorer = scorer_of(Table({**form, "query: Q? [SEP] ": [3.0, 0.0]}), rule="srtk-sum", text="srtk")
    assert scorer.score(["Q?"], [()], [[CAPITAL, END]]) == [[round(0.6 / 0.07, 4), round(0.1 / 0.07, 4)]]


def test_gain_sums_to_the_similarity_of_the_whole_path():
    walked = {"capital, borders": cosines(0.9)[0], "capital, currency": cosines(0.5)[0]}
    scorer = scorer_of(Table({**HAND, **walked}), rule="gain", temperature=0.1, step_cost=0.0)
    first = scorer.score(["Q?"], [()], [[CAPITAL, BORDERS]])[0]
    second = scorer.score(["Q?"], [(CAPITAL,)], [[BORDERS, CURRENCY, END]])[0]
    assert first == [6.0, 2.5]
    assert second == [3.0, -1.0, 0.0]
    assert first[0] + second[0] == 9.0


def test_a_step_cost_is_subtracted_from_every_step_but_not_from_end():
    scorer = scorer_of(Table(HAND), rule="srtk-sum", temperature=1.0, step_cost=0.2)
    assert scorer.score(["Q?"], [()], [[CAPITAL, END]]) == [[0.4, 0.1]]


def test_reversing_the_last_step_costs_the_return_cost():
    scorer = scorer_of(Letters(), rule="srtk-sum", return_cost=3.0)
    free = scorer_of(Letters(), rule="srtk-sum")
    back, other = Step("capital", True), Step("borders", True)
    costly = scorer.score(["Q"], [(CAPITAL,)], [[back, other, CAPITAL]])[0]
    plain = free.score(["Q"], [(CAPITAL,)], [[back, other, CAPITAL]])[0]
    assert costly == [pytest.approx(plain[0] - 3.0), *plain[1:]]


@pytest.mark.parametrize("rule", ["log-softmax", "log-sigmoid", "gain"])
def test_end_without_a_rival_scores_0_and_calls_no_encoder(rule):
    encoder = Letters()
    assert scorer_of(encoder, rule=rule).score(["Q"], [(CAPITAL,)], [[END]]) == [[0.0]]
    assert encoder.calls == []


def test_srtk_sum_scores_end_without_a_rival():
    scorer = scorer_of(Letters(), rule="srtk-sum")
    both = scorer.score(["Q"], [(CAPITAL,)], [[BORDERS, END]])[0]
    assert scorer.score(["Q"], [(CAPITAL,)], [[END]]) == [[both[1]]]


def test_one_call_of_score_is_one_call_of_the_encoder():
    encoder = Letters()
    scorer = scorer_of(encoder)
    scorer.score(["Who?", "What?", "Who?"], [(), (CAPITAL,), ()], [[CAPITAL, END], [BORDERS], [CURRENCY]])
    assert len(encoder.calls) == 1
    assert sorted(encoder.calls[0]) == sorted({"Who?", "What? [SEP] capital", "capital", "borders", "currency", "end"})


def test_relations_are_encoded_once():
    encoder = Letters()
    scorer = scorer_of(encoder)
    scorer.score(["Who?"], [()], [[CAPITAL, BORDERS]])
    scorer.score(["Where?"], [()], [[BORDERS, CAPITAL, CURRENCY]])
    assert encoder.calls[1] == ["Where?", "currency"]


def test_relations_that_an_earlier_run_cached_are_not_encoded_again(tmp_path):
    graph = graph_of("capital", "borders")
    for calls in (["Who?", "capital", "end"], ["Who?", "borders"]):
        encoder = Letters()
        scorer = DenseScorer(encoder=encoder, graph=graph, cache=str(tmp_path))
        scorer.open()
        scorer.score(["Who?"], [()], [[CAPITAL, BORDERS] if "borders" in calls else [CAPITAL]])
        scorer.close()
        assert encoder.calls == [calls]


def test_the_labels_of_the_graph_are_compared():
    encoder = Letters()
    graph = graph_of("P36", "P47", P36="capitalOf", P47="shares border with")
    scorer = DenseScorer(encoder=encoder, graph=graph, cache="", rule="log-softmax", inverse_text="{label}, reversed")
    scorer.open()
    scorer.score(["Who?"], [(Step("P36"),)], [[Step("P47", True)]])
    assert encoder.calls[0] == ["Who? [SEP] capital of", "shares border with, reversed", "end"]


STEPS = [Step(name, inverse) for name in ("capital", "borders", "currency") for inverse in (False, True)]
row = st.tuples(
    st.sampled_from(["Who?", "What is it?", "Where does it end, and why?", ""]),
    st.lists(st.sampled_from(STEPS), max_size=3).map(tuple),
    st.lists(st.sampled_from([*STEPS, END]), max_size=8),
)


@pytest.mark.parametrize(
    "changes",
    [{}, {"rule": "log-sigmoid"}, {"rule": "gain"}, {"rule": "srtk-sum", "text": "srtk"}],
)
@given(rows=st.lists(row, max_size=6))
@settings(max_examples=40, deadline=None)
def test_a_batch_is_scored_as_its_rows_one_by_one(changes, rows):
    together = scorer_of(Letters(), **changes)
    alone = scorer_of(Letters(), **changes)
    found = together.score(*([r[i] for r in rows] for i in range(3)))
    assert found == [alone.score([q], [p], [c])[0] for q, p, c in rows]


@given(
    offered=st.lists(st.sampled_from([*STEPS, END]), unique=True, min_size=1),
    walked=st.lists(st.sampled_from(STEPS)),
)
@settings(max_examples=40, deadline=None)
def test_log_probabilities_of_what_is_offered_sum_to_one(offered, walked):
    found = scorer_of(Letters()).score(["Who?"], [tuple(walked)], [offered])[0]
    assert math.fsum(math.exp(value) for value in found) == pytest.approx(1.0, abs=1e-3)
    assert max(found) <= 0.0


names = st.sampled_from("abcd")


@given(
    facts=st.lists(st.tuples(names, st.sampled_from(["capital", "borders", "currency"]), names), min_size=1),
    depth=st.integers(1, 3),
    variant=st.sampled_from(["default", "srtk"]),
    inverse=st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_the_probabilities_of_all_paths_of_a_search_sum_to_one(facts, depth, variant, inverse):
    graph = MemoryGraph(triples=facts)
    graph.open()
    scorer = DenseScorer(encoder=Letters(), graph=graph, cache="", rule="log-softmax", temperature=1.0)
    scorer.open()
    beam = BeamExpander(graph, scorer, depth=depth, width=9999, variant=variant, inverse=inverse)
    beam.open()
    start = facts[0][0]
    [found] = beam.expand([Question("q", "What borders it?", (Link(start),))])
    assert math.fsum(math.exp(path.score) for path in found.paths) == pytest.approx(1.0, abs=1e-2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rule": "softmax"}, "rule must be log-softmax, log-sigmoid, srtk-sum or gain, not 'softmax'"),
        ({"temperature": 0.0}, "temperature must be above 0, not 0"),
        ({"text": "srkt"}, "text is 'srkt'"),
    ],
)
def test_an_invalid_setting_is_refused(changes, message):
    with pytest.raises((DriverError, SettingsError), match=message):
        scorer_of(Letters(), **changes)


def test_the_fingerprint_names_model_and_settings_but_not_the_cache(tmp_path):
    first = scorer_of(Letters()).fingerprint()
    assert scorer_of(Letters(), temperature=0.1).fingerprint() != first
    graph = graph_of("capital", "borders", "currency")
    kept = DenseScorer(encoder=Letters(), graph=graph, rule="log-softmax", cache=str(tmp_path))
    assert kept.fingerprint() == first


# Preparation


@pytest.mark.parametrize(
    ("rule", "kept"), [("gain", ["end", "capital", "capital, borders"]), ("log-softmax", ["end", "capital", "borders"])]
)
def test_what_no_question_changes_is_encoded_ahead_and_once(tmp_path, rule, kept):
    encoder, paths = Letters(), [(CAPITAL,), (CAPITAL, BORDERS)]

    def scorer():
        made = DenseScorer(encoder=encoder, graph=graph_of("capital", "borders"), cache=str(tmp_path), rule=rule)
        made.open()
        return made

    counts = scorer().prepare(paths)
    assert encoder.calls == [kept]
    assert (counts["texts"], counts["encoded"], counts["bytes"]) == (3, 3, 3 * (32 + 4 * 26 + 4))
    assert scorer().prepare(paths)["encoded"] == 0
    encoder.calls.clear()
    scorer().score(["who"] * 2, [(), (CAPITAL,)], [[CAPITAL, END], [BORDERS, END]])
    assert {text for call in encoder.calls for text in call if not text.startswith("who")} == set()


def test_kept_vectors_are_reported_when_a_scorer_opens(tmp_path, caplog):
    for _ in range(2):
        with caplog.at_level("INFO"):
            made = DenseScorer(encoder=Letters(), graph=graph_of("capital"), cache=str(tmp_path))
            made.open()
            made.prepare([(CAPITAL,)])
    assert [one.message.split(" by ")[0] for one in caplog.records] == ["vectors of 2 texts"]


def test_the_form_of_the_weights_is_read_once_until_they_are_loaded_again(monkeypatch, tmp_path):
    read = []
    monkeypatch.setattr(dense, "read_form", lambda encoder: read.append(encoder))
    scorer = scorer_of(Letters(), rule=None)
    for _ in range(3):
        assert not scorer.is_trained()
        assert scorer.search_settings() is scorer.search_settings()
    assert len(read) == 1
    monkeypatch.setattr(dense, "trainable_encoder", lambda encoder: SimpleNamespace(load=lambda folder: None))
    scorer.load(tmp_path)
    assert scorer.search_settings().scale == 1.0
    assert len(read) == 2


def test_a_path_costs_each_of_its_steps_and_each_return():
    form = ScorerForm(step_cost=0.5, return_cost=2.0)
    back = Step("capital", True)
    assert form.path_cost(()) == 0.0
    assert form.path_cost((CAPITAL, BORDERS)) == 1.0
    assert form.path_cost((CAPITAL, back, CAPITAL, CAPITAL)) == 4 * 0.5 + 2 * 2.0


def test_as_many_questions_are_made_as_the_setting_says():
    assert f"as many as the examples lack to {ENOUGH}," in " ".join(ScorerFitSettings.__doc__.split())


def test_rivals_are_ranked_by_the_texts_and_costs_of_scoring():
    scorer = scorer_of(Letters(), rule="gain")
    ranked = RankedPaths("who", ((CAPITAL,), (CAPITAL, BORDERS)), (True, False), (0.5, 1.0))
    data = scorer.ranking_set([ranked])
    assert data.texts == ["who", "capital", "capital, borders"]
    [sample] = data.samples
    assert (sample.query, sample.candidates, sample.targets, sample.costs) == (0, (1, 2), (1.0, 0.0), (0.5, 1.0))


def test_a_scorer_with_another_encoder_has_its_form_and_none_of_its_vectors():
    one, encoder = scorer_of(Letters(), temperature=0.05), Letters()
    row = (["Who?"], [()], [[CAPITAL, BORDERS, END]])
    scores = one.score(*row)
    other = one.with_encoder(encoder)
    assert other.score(*row) == scores
    assert len(encoder.calls) == len(one.encoder.calls) == 1
    assert other.form == one.form


def test_settings_are_put_over_the_form_of_the_weights():
    given = {"temperature": 0.5, "step_cost": 1.0, "return_cost": 2.0, "inverse_text": "{label} back", "text": "srtk"}
    form = scorer_of(Letters(), rule="gain", **given).form
    assert {name: getattr(form, name) for name in given} == given
    assert scorer_of(Letters(), rule="log-sigmoid").form == ScorerForm(rule="log-sigmoid")
    assert scorer_of(Letters(), rule=None).form == UNTRAINED
    assert scorer_of(Letters(), rule=None, text="plain").form == UNTRAINED
