"""Training of the dense scorer: it matches scoring, and resumes where it was interrupted."""

import csv
import json
import math

import attrs
import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("srtk_plugin_transformers")

from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_sr.beam import BeamExpander
from srtk_plugin_sr.dense import ENOUGH, DenseScorer
from srtk_plugin_sr.fit_settings import ScorerFitSettings
from srtk_plugin_sr.scorer_form import UNTRAINED, write_form
from srtk_plugin_sr.search_settings import TOPIC_BACKGROUNDS, TRAINED
from srtk_plugin_sr.vectors import TextIndex
from srtk_plugin_transformers.encoder import TransformersEncoder

from srtk_framework.records import with_checksum
from srtk_framework.roles import BACKGROUND, PLAIN, Encoder, GraphExamples, SearchSettings, Trainable, TrainingTask
from srtk_framework.values import END, DriverError, Link, Question, RankedPath, Sample, Step, TrainingExample

PEOPLE = [f"p{i}" for i in range(24)]
FACTS = [
    *([p, "spouse", PEOPLE[(i + 1) % 24]] for i, p in enumerate(PEOPLE)),
    *([p, "birth_place", f"town{i % 5}"] for i, p in enumerate(PEOPLE)),
    *([p, "employer", f"firm{i % 4}"] for i, p in enumerate(PEOPLE)),
    *([f"town{i}", "part_of", f"land{i % 2}"] for i in range(5)),
    *([f"firm{i}", "based_in", f"town{i}"] for i in range(4)),
]
KINDS = (
    ("where was {} born", ("birth_place",)),
    ("whom did {} marry", ("spouse",)),
    ("in which land was {} born", ("birth_place", "part_of")),
    ("in which town does {} work", ("employer", "based_in")),
    ("where was the wife of {} born", ("spouse", "birth_place")),
)
WORDS = "where was born whom did marry in which land town does work the wife of is end spouse birth place employer " + (
    "part based someone , " + " ".join(PEOPLE)
)


def examples(people):
    made = []
    for person in people:
        for i, (text, names) in enumerate(KINDS):
            words = text.format(person)
            at = words.index(person)
            question = Question(f"{person}-{i}", words, (Link(person, start=at, end=at + len(person)),))
            made.append(TrainingExample(question, (RankedPath(person, tuple(Step(n) for n in names), 1.0),)))
    return made


@pytest.fixture
def graph():
    graph = MemoryGraph(triples=FACTS)
    graph.open()
    yield graph
    graph.close()


@pytest.fixture
def scorer(graph, tiny, tmp_path):
    """Make opened scorers on the tiny encoder."""
    opened = []

    def make(marks=True, model=None, **settings):
        encoder = TransformersEncoder(model=str(model or tiny(WORDS, marks)), device="cpu", threads=1)
        encoder.open()
        one = DenseScorer(encoder, graph, **{"cache": "", **settings})
        one.open()
        opened.extend((one, encoder))
        return one

    yield make
    for one in opened:
        one.close()


def top(scorer, graph, people):
    """Return the share of questions whose path the beam finds first."""
    beam = BeamExpander(graph, scorer, width=5, depth=2, inverse=True)
    beam.open()
    some = examples(people)
    found = beam.expand([example.question for example in some])
    return sum(f.paths[0].steps == one.paths[0].steps for f, one in zip(found, some, strict=True)) / len(some)


def settings(**more):
    given = {"epochs": 20, "batch_size": 16, "learning_rate": 3e-3, "depth": 2, "accelerator": "cpu", "made": 0, **more}
    return ScorerFitSettings(**given)


def task(tmp_path, validate=None, people=PEOPLE[:12], seed=0):
    return TrainingTask(examples(people), validate, tmp_path / "fit", seed)


def test_the_scorer_is_trainable(scorer):
    assert isinstance(scorer(), Trainable)


@pytest.mark.parametrize("loss", ["cross-entropy", "nt-xent", "listwise"])
def test_each_loss_teaches_questions_about_people_never_seen(loss, scorer, graph, tmp_path):
    one = scorer(rule="log-softmax")
    one.fit(task(tmp_path), settings(loss=loss, mention="someone"))
    assert top(one, graph, PEOPLE[12:]) > 0.9


@pytest.mark.parametrize("rule", ["gain", "srtk-sum"])
def test_each_rule_is_trained_for_what_it_scores(rule, scorer, graph, tmp_path):
    one = scorer(rule=rule)
    before = top(one, graph, PEOPLE[:12])
    one.fit(task(tmp_path), settings())
    after = top(one, graph, PEOPLE[:12])
    assert after > before
    # Sums of positive logits favour long paths whatever the training: that rule never ends early.
    assert after > (0.9 if rule == "gain" else 0.5)


@pytest.mark.parametrize("form", ["plain", "srtk"])
@pytest.mark.parametrize("rule", ["log-softmax", "gain"])
def test_the_logits_of_training_are_those_of_scoring(form, rule, scorer, graph):
    import torch
    from srtk_plugin_sr.lightning_module import candidate_batch

    one = scorer(rule=rule, text=form, temperature=0.1, step_cost=0.4, return_cost=1.5)
    path = (Step("spouse"),)
    candidates = (Step("birth_place"), Step("spouse"), Step("spouse", True), END)
    sample = Sample("q", "where was p1 born", path, candidates, (1.0, 0.0, 0.0, 0.0))
    texts = TextIndex()
    [indexed] = one._indexed([sample], texts)
    network = one.encoder.learner().eval()
    with torch.no_grad():
        vectors = torch.nn.functional.normalize(network(network.tokenize(texts.texts())), dim=-1)
    column = {i: i for i in range(len(texts.texts()))}
    batch = candidate_batch([indexed], column, vectors.device)
    logits = ((vectors[[indexed.query]] @ vectors.T).gather(1, batch.columns) / one.temperature - batch.costs)[0]
    [scores] = one.score([sample.text], [path], [list(candidates)])
    shares = torch.softmax(logits, 0).numpy()
    np.testing.assert_allclose(shares, torch.softmax(torch.tensor(scores), 0).numpy(), atol=2e-3)


def test_an_encoder_without_cls_and_sep_learns(scorer, graph, tmp_path):
    one = scorer(marks=False)
    one.fit(task(tmp_path), settings())
    assert top(one, graph, PEOPLE[:12]) > 0.9


def test_questions_about_another_graph_teach_by_the_labels_of_its_relations(scorer, graph, tmp_path):
    names = sorted({relation for _, relation, _ in FACTS})
    ids = {name: f"r{i}" for i, name in enumerate(names)}
    other = MemoryGraph(triples=[[s, ids[r], o] for s, r, o in FACTS], labels={i: name for name, i in ids.items()})
    other.open()

    def renamed(path):
        return attrs.evolve(path, steps=tuple(Step(ids[step.relation]) for step in path.steps))

    there = [attrs.evolve(one, paths=tuple(map(renamed, one.paths))) for one in examples(PEOPLE[:12])]
    one = scorer()
    one.fit(TrainingTask([], None, tmp_path / "fit", elsewhere=[GraphExamples(other, there)]), settings())
    assert top(one, graph, PEOPLE[12:]) > 0.9


def test_a_pull_keeps_weights_near_those_of_the_start(scorer, tmp_path):
    def moved(pull):
        one = scorer()
        before = [weight.detach().clone() for weight in one.encoder.learner().parameters()]
        one.fit(TrainingTask(examples(PEOPLE[:12]), None, tmp_path / f"fit-{pull}"), settings(epochs=3, pull=pull))
        after = one.encoder.learner().parameters()
        return sum(float((b - a).detach().pow(2).sum()) for a, b in zip(before, after, strict=True)) ** 0.5

    free, held = moved(0.0), moved(300.0)
    assert 0 < held < free / 2


def test_a_blend_lies_on_the_way_from_the_start_to_the_trained_weights(scorer, tmp_path):
    def weights(**fit):
        one = scorer()
        before = one.encoder.learner().state_dict()
        one.fit(TrainingTask(examples(PEOPLE[:12]), None, tmp_path / repr(fit)), settings(epochs=2, **fit))
        return before, one.encoder.learner().state_dict()

    start, trained = weights()
    _, blended = weights(blend=0.25)
    for name, value in start.items():
        np.testing.assert_allclose(blended[name], value + 0.25 * (trained[name] - value), atol=1e-6)


def test_a_saved_encoder_loads_in_a_new_scorer_and_as_an_encoder_driver(scorer, graph, tmp_path):
    one = scorer()
    before = one.fingerprint()
    one.fit(task(tmp_path), settings(epochs=1))
    texts = ["where was p1 born", "spouse"]
    one.save(tmp_path / "model")
    other = scorer()
    other.load(tmp_path / "model")
    assert other.fingerprint() != before
    np.testing.assert_array_equal(other.encoder.encode(texts), one.encoder.encode(texts))
    named = TransformersEncoder(model=str(tmp_path / "model"), device="cpu", threads=1)
    named.open()
    np.testing.assert_array_equal(named.encode(texts), one.encoder.encode(texts))
    assert named.fingerprint() == other.encoder.fingerprint()
    assert (tmp_path / "model" / "model.safetensors").exists()


def test_trained_weights_are_scored_as_they_were_trained_wherever_they_are_loaded(scorer, graph, tmp_path):
    row = (["where was p1 born"], [(Step("spouse"),)], [[Step("birth_place"), Step("spouse", True), END]])
    one = scorer(inverse_text="back {label}", step_cost=0.25)
    assert one.search_settings() == SearchSettings(scale=1.0)
    assert not one.is_trained()
    one.fit(task(tmp_path), settings(epochs=1, mention="someone"))
    assert one.search_settings() == attrs.evolve(TRAINED, mention="someone")
    one.save(tmp_path / "model")
    other = scorer(model=tmp_path / "model")
    assert one.is_trained()
    assert other.is_trained()
    assert other.score(*row) == one.score(*row)
    assert other.search_settings() == one.search_settings()
    assert other.fingerprint() != scorer(model=tmp_path / "model", inverse_text="{label}").fingerprint()
    assert scorer(model=tmp_path / "model", rule="gain").search_settings() == PLAIN


def chosen(scorer, tmp_path, recall, monitor=None):
    """Train a scorer whose search has a recall by its background; return it, its figures and what was tried."""
    one, tried = scorer(), []

    def validate():
        tried.append(one.search_settings().topic_background)
        return {"answer_recall": recall(tried[-1])}

    figures = one.fit(attrs.evolve(task(tmp_path), validate_topics=validate), settings(epochs=1, monitor=monitor))
    return one, figures, tried


@pytest.mark.parametrize(("best", "monitor"), [(0.2, None), (None, None), (0.2, "path_mrr")])
def test_the_background_that_is_best_on_several_topics_is_kept_with_the_weights(best, monitor, scorer, tmp_path):
    def recall(background):
        return 0.9 if background == best else background or 0.0

    one, figures, tried = chosen(scorer, tmp_path, recall, monitor)
    assert sorted(tried, key=str) == sorted(TOPIC_BACKGROUNDS, key=str)
    assert figures["topic_background"] == (best or 0.0)
    assert figures["several_topics_answer_recall"] == 0.9
    one.save(tmp_path / "model")
    assert json.loads((tmp_path / "model" / "path_scorer.json").read_text())["topic_background"] == best
    assert scorer(model=tmp_path / "model").search_settings().topic_background == best


def test_of_equally_good_backgrounds_that_of_the_start_stays(scorer, tmp_path):
    one, _, _ = chosen(scorer, tmp_path, lambda background: 0.5 if background is None else 0.9)
    assert one.search_settings().topic_background == BACKGROUND


def test_a_search_that_does_not_depend_on_the_background_is_validated_twice(scorer, tmp_path):
    one, figures, tried = chosen(scorer, tmp_path, lambda background: 0.5)
    assert tried == [BACKGROUND, None]
    assert figures["topic_background"] == BACKGROUND
    assert one.search_settings().topic_background == BACKGROUND


def test_weights_trained_under_gain_are_searched_as_those_not_trained(scorer, tmp_path):
    one = scorer(rule="gain")
    one.fit(task(tmp_path), settings(epochs=1, mention="someone"))
    assert one.search_settings() == SearchSettings(scale=1.0, mention="someone")


def test_adapted_weights_are_searched_as_if_untrained_and_a_training_from_them_has_the_form_of_any(scorer, tmp_path):
    plain = scorer()
    plain.save(tmp_path / "adapted")
    form = attrs.evolve(UNTRAINED, mention="", adapted=True)
    write_form(form, tmp_path / "adapted")
    one = scorer(model=tmp_path / "adapted")
    assert not one.is_trained()
    one.fit(task(tmp_path), settings(epochs=1, mention="someone"))
    assert one.is_trained()
    assert (one.form.rule, one.form.step_cost, one.form.adapted) == ("log-softmax", 0.0, False)
    assert one.search_settings() == attrs.evolve(TRAINED, mention="someone")


def test_made_questions_fill_up_what_the_given_ones_lack(scorer, graph, tmp_path):
    few, enough = examples(PEOPLE[:2]), examples(PEOPLE) * 5
    assert len(enough) > ENOUGH
    for given, made, some in [(few, None, True), (few, 0, False), (few, 3, True), (enough, None, False)]:
        folder = tmp_path / f"{len(given)}-{made}"
        one = TrainingTask(given, None, folder)
        figures = scorer(rule="log-softmax").fit(one, settings(steps=1, epochs=1, made=made))
        assert (figures["made_questions"] > 0) is some
        assert made is None or figures["made_questions"] <= made


def test_relations_that_no_question_has_are_learnt_from_made_questions(scorer, monkeypatch, tmp_path):
    seen = []
    monkeypatch.setattr("srtk_plugin_sr.dense.train_encoder", lambda network, data, *a, **k: seen.append(data) or {})
    for made in (0, 200):
        one = TrainingTask(examples(PEOPLE)[:1], None, tmp_path)
        scorer(rule="log-softmax").fit(one, settings(made=made))
    right = [
        {data.texts[i] for one in data.samples for i, target in zip(one.candidates, one.targets, strict=True) if target}
        for data in seen
    ]
    assert "employer" not in right[0]
    assert {"employer", "based in"} <= right[1]


def test_a_graph_that_cannot_list_its_triples_gives_no_made_questions_unless_they_are_set(scorer, graph, tmp_path):
    class Silent(MemoryGraph):
        def match(self, patterns):
            raise DriverError("it lists nothing")

    one = scorer(rule="log-softmax")
    one.graph = Silent(triples=FACTS)
    one.graph.open()
    given = TrainingTask(examples(PEOPLE[:2]), None, tmp_path / "fit")
    assert one.fit(given, settings(steps=1, epochs=1, made=None))["made_questions"] == 0
    with pytest.raises(DriverError, match="cannot be listed"):
        one.fit(attrs.evolve(given, folder=tmp_path / "set"), settings(steps=1, epochs=1, made=5))


def test_a_broken_form_beside_the_weights_is_refused_with_its_file(scorer, graph, tmp_path):
    one = scorer()
    one.fit(task(tmp_path), settings(epochs=1))
    one.save(tmp_path / "model")
    file = tmp_path / "model" / "path_scorer.json"
    for content in ("{", with_checksum('{"rules": 1}')[0], "[" * 100_000):
        file.write_text(content, encoding="utf-8")
        with pytest.raises(DriverError, match=r"path_scorer\.json.*train the (scorer|model) again"):
            scorer(model=tmp_path / "model")
    file.unlink()
    with pytest.raises(DriverError, match=r"path_scorer\.json: is missing.*train the (scorer|model) again"):
        scorer(model=tmp_path / "model")


def test_vectors_of_old_and_new_weights_are_never_mixed(scorer, graph, tmp_path):
    one = scorer(cache=str(tmp_path / "cache"))
    candidates = [[Step("spouse"), Step("birth_place"), END]]
    before = one.score(["where was p1 born"], [()], candidates)
    one.fit(task(tmp_path, lambda: {"answer_recall": top(one, graph, PEOPLE[:2])}), settings(epochs=1))
    after = one.score(["where was p1 born"], [()], candidates)
    assert after != before
    assert after == scorer_of(one).score(["where was p1 born"], [()], candidates)
    one.close()
    assert len(list((tmp_path / "cache" / "relations").iterdir())) == 2


def scorer_of(one):
    """Return a scorer on the same encoder that keeps nothing."""
    fresh = DenseScorer(one.encoder, one.graph, cache="", rule="log-softmax")
    fresh.open()
    return fresh


class Killed(Exception):
    """Ends a training as a kill would."""


def test_an_interrupted_training_resumes_and_ends_with_the_same_weights(scorer, graph, tmp_path):
    rules = settings(epochs=4, validate_every=3, patience=None, monitor="n")
    whole = scorer()
    figures = whole.fit(task(tmp_path / "whole", lambda: {"n": top(whole, graph, PEOPLE[:2])}), rules)
    broken = scorer()
    calls = []

    def dies():
        calls.append(1)
        if len(calls) == 3:
            raise Killed
        return {"n": top(broken, graph, PEOPLE[:2])}

    with pytest.raises(Killed):
        broken.fit(task(tmp_path / "broken", dies), rules)
    again = scorer()
    resumed = again.fit(task(tmp_path / "broken", lambda: {"n": top(again, graph, PEOPLE[:2])}), rules)
    assert resumed == figures
    assert again.fingerprint() == whole.fingerprint()


def test_training_stops_when_the_metric_gets_no_better_and_keeps_the_best_weights(scorer, tmp_path):
    one = scorer()
    values = iter([0.5, 0.9, 0.9001, 0.3, 0.2, 0.1])
    rounds = []

    def validate():
        value = next(values)
        rounds.append((value, one.encoder.fingerprint()))
        return {"answer_recall": value}

    figures = one.fit(task(tmp_path, validate), settings(validate_every=2, patience=3))
    assert [value for value, _ in rounds] == [0.5, 0.9, 0.9001, 0.3, 0.2]
    assert figures["answer_recall"] == 0.9
    assert one.encoder.fingerprint() == rounds[1][1]


def test_of_equally_good_weights_those_that_retrieve_fewer_triples_are_kept(scorer, tmp_path):
    one = scorer()
    sizes = iter([40.0, 20.0, 19.9, 5.0, 30.0, 5.0, 5.0])
    figures = one.fit(
        task(tmp_path, lambda: {"answer_recall": 1.0, "triples": next(sizes)}), settings(validate_every=2)
    )
    assert figures["triples"] == 5.0
    assert figures["rounds"] == 7


def test_of_weights_that_find_the_same_answers_those_are_kept_that_rank_the_right_path_best(scorer, tmp_path):
    ranks = iter([0.5, 0.7, 0.8, 0.75, 0.6, 0.6])
    figures = scorer().fit(
        task(tmp_path, lambda: {"answer_recall": 1.0, "path_mrr": next(ranks)}), settings(validate_every=2, patience=3)
    )
    assert figures["path_mrr"] == 0.8
    assert figures["rounds"] == 6


def test_an_unknown_metric_names_those_there_are(scorer, tmp_path):
    with pytest.raises(DriverError, match="no metric 'answer_recall'; monitor one of hits, size"):
        scorer().fit(task(tmp_path, lambda: {"size": 1.0, "hits": 0.0}), settings(epochs=1))


def test_a_loss_that_is_not_finite_stops_with_the_batch_in_a_file(scorer, tmp_path):
    with pytest.raises(DriverError, match=r"broken-batch\.json; lower learning_rate"):
        scorer().fit(task(tmp_path), settings(learning_rate=1e30, warmup=0.0))
    saved = json.loads((tmp_path / "fit" / "broken-batch.json").read_text())
    assert len(saved) == 16
    assert set(saved[0]) == {"query", "candidates", "targets"}


def test_the_log_is_a_table(scorer, tmp_path):
    scorer().fit(task(tmp_path), settings(epochs=2))
    [file] = (tmp_path / "fit" / "log").glob("*/metrics.csv")
    with file.open() as lines:
        losses = [float(row["mean_loss"]) for row in csv.DictReader(lines) if row["mean_loss"]]
    assert len(losses) == 2
    assert all(math.isfinite(value) for value in losses)


def test_a_logger_that_is_not_installed_is_named(scorer, tmp_path):
    with pytest.raises(DriverError, match="the logger wandb is not installed"):
        scorer().fit(task(tmp_path), settings(epochs=1, logger="wandb"))


def test_no_examples_are_an_error(scorer, tmp_path):
    with pytest.raises(DriverError, match="there is no sample to train on"):
        scorer().fit(TrainingTask([], None, tmp_path), settings())


def test_an_encoder_that_cannot_be_trained_is_named(graph, tmp_path):
    class Frozen(Encoder):
        def encode(self, texts):
            return np.zeros((len(texts), 2), np.float32)

    with pytest.raises(DriverError, match="the encoder Frozen cannot be trained"):
        DenseScorer(Frozen(), graph, cache="").fit(task(tmp_path), settings())


def test_training_leaves_the_random_numbers_of_others_alone(scorer, tmp_path):
    import torch

    torch.manual_seed(7)
    wanted = torch.rand(3)
    torch.manual_seed(7)
    scorer().fit(task(tmp_path), settings(epochs=1))
    assert torch.equal(torch.rand(3), wanted)


def test_half_precision_and_saved_memory_train(scorer, graph, tmp_path):
    one = scorer()
    one.fit(task(tmp_path), settings(precision="bf16", checkpointing=True))
    assert top(one, graph, PEOPLE[:12]) > 0.9


def test_weights_that_no_vector_depends_on_are_not_trained_and_the_others_are():
    import torch
    from srtk_plugin_sr.trainer import _freeze_unused

    class Two(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.used, self.spare = torch.nn.Linear(1, 2), torch.nn.Linear(2, 2)

        def forward(self, rows):
            return self.used(torch.tensor([[float(len(row))] for row in rows]))

    network = Two()
    _freeze_unused(network, [[1], [1, 2], [3]])
    trained = {name for name, one in network.named_parameters() if one.requires_grad}
    assert trained == {"used.weight", "used.bias"}
    assert all(one.grad is None for one in network.parameters())
    assert network.training
