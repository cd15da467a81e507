"""The ``rerank`` expander: its training data, its training, and its saved heads."""

import csv
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import attrs
import numpy as np
import pytest
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_sr.fit_settings import HeadFitSettings
from srtk_plugin_sr.rerank import RerankExpander, candidates_of, needed_triples, shared
from srtk_plugin_sr.vectors import TextIndex

from srtk_framework.graph import facts
from srtk_framework.roles import Encoder, Expander, KnowledgeGraph, Trainable, TrainingTask
from srtk_framework.values import (
    Budget,
    DriverError,
    Link,
    Question,
    RankedPath,
    SettingsError,
    Step,
    Subgraph,
    TrainingExample,
    Triple,
)

PEOPLE = [f"person{i}" for i in range(12)]
RELATIONS = ("mother", "employer", "friend")
FACTS = [[person, relation, f"{relation} of {person}"] for person in PEOPLE for relation in RELATIONS]
FACTS += [[f"employer of {person}", "city", f"city of {person}"] for person in PEOPLE]


@attrs.define(eq=False)
class Words(Encoder):
    """Count words of a small dictionary."""

    known: tuple = ("mother", "employer", "friend", "city", "of")

    def encode(self, texts):
        rows = [[0.1] + [float(text.lower().split().count(word)) for word in self.known] for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(rows), 1 + len(self.known))


@attrs.define(eq=False)
class Everything(Expander):
    """Return all paths of up to two steps, all with one score."""

    graph: KnowledgeGraph
    budget: Budget = attrs.field(factory=Budget)
    asked: list = attrs.field(init=False, factory=list)

    def expand(self, questions):
        self.asked += [question.id for question in questions]
        paths = [(Step(relation),) for relation in sorted(RELATIONS)] + [(Step("employer"), Step("city"))]
        rows = [[RankedPath(q.links[0].entity, path, 0.0) for path in paths] if q.links else [] for q in questions]
        return [s if s.triples else Subgraph(trace={"reason": "no link"}) for s in facts(self.graph, rows, self.budget)]


def example(person, relation, path):
    text = f"who is the {relation} of {person} ?"
    question = Question(f"{person}-{relation}", text, (Link(person),))
    return TrainingExample(question, (RankedPath(person, tuple(map(Step, path)), 1.0),))


EXAMPLES = [
    example(person, relation, path)
    for person in PEOPLE
    for relation, path in (("mother", ["mother"]), ("friend", ["friend"]), ("city", ["employer", "city"]))
]
SETTINGS = HeadFitSettings(epochs=40, learning_rate=0.01, hidden=16, patience=None)


def opened(**changes):
    graph = MemoryGraph(triples=FACTS)
    graph.open()
    settings = {"inner": Everything(graph), "encoder": Words(), "graph": graph, "cache": "", **changes}
    driver = RerankExpander(**settings)
    driver.open()
    return driver


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    made = opened()
    made.fit(TrainingTask(EXAMPLES[:-6], None, tmp_path_factory.mktemp("training")), SETTINGS)
    return made


def test_it_can_be_trained_by_a_recipe(driver):
    assert isinstance(driver, Trainable)


def test_untrained_it_says_how_to_train():
    with pytest.raises(DriverError, match=r"add `train: .driver: expander"):
        opened().expand([EXAMPLES[0].question])


def test_each_question_gets_as_many_triples_as_it_needs(driver):
    mother, friend, city = driver.expand([one.question for one in EXAMPLES[-3:]])
    assert mother.triples == (Triple("person11", "mother", "mother of person11"),)
    assert friend.triples == (Triple("person11", "friend", "friend of person11"),)
    assert city.triples == (
        Triple("person11", "employer", "employer of person11"),
        Triple("employer of person11", "city", "city of person11"),
    )
    assert city.trace["reranked"] == 4
    assert city.trace["cut"] == {"rerank": 2}


def test_paths_stay_with_their_triples(driver):
    city = driver.expand([EXAMPLES[-1].question])[0]
    assert [str(city.paths[i].steps[-1]) for i in city.path_of] == ["employer", "city"]


@attrs.define(eq=False)
class Elsewhere(Everything):
    """Finds what Everything finds, and says of each triple where it was read and how it was qualified."""

    def expand(self, questions):
        return [
            attrs.evolve(
                found,
                provenance=tuple(f"page of {triple.subject}" for triple in found.triples),
                qualifiers=tuple(((triple.relation, "2001"),) for triple in found.triples),
            )
            for found in super().expand(questions)
        ]


def test_provenance_and_qualifiers_of_the_inner_expander_stay_with_their_triples(driver, tmp_path):
    driver.save(tmp_path)
    graph = opened().graph
    for keep in ("f1", "all"):
        outer = opened(model=str(tmp_path), inner=Elsewhere(graph), keep=keep)
        [found] = outer.expand([EXAMPLES[-1].question])
        assert found.provenance == tuple(f"page of {triple.subject}" for triple in found.triples)
        assert found.qualifiers == tuple(((triple.relation, "2001"),) for triple in found.triples)


TWO = [Step("mother", inverse=True), Step("friend", inverse=True)]
FAMILY = [["ann", "mother", "eve"], ["bob", "mother", "eve"], ["bob", "friend", "dan"], ["cid", "friend", "dan"]]


@attrs.define(eq=False)
class FromEach(Everything):
    """Return the people whose mother, and those whose friend, is linked."""

    def expand(self, questions):
        rows = [[RankedPath(link.entity, (step,), 0.0) for link in q.links for step in TWO] for q in questions]
        return facts(self.graph, rows, self.budget)


def asked(driver, folder, *links):
    driver.save(folder)
    graph = MemoryGraph(triples=FAMILY)
    graph.open()
    outer = opened(model=str(folder), inner=FromEach(graph), graph=graph, keep="all")
    return outer.expand([Question("q", "whose mother is eve and whose friend is dan ?", links)])[0]


def test_what_paths_from_two_topics_reach_comes_first_and_is_a_join(driver, tmp_path):
    found = asked(driver, tmp_path, Link("eve", 1.0, 16, 19), Link("dan", 1.0, 37, 40))
    apart = asked(driver, tmp_path, Link("eve", 1.0, 16, 19), Link("dan", 1.0, 16, 19))
    assert {triple.subject for triple in found.triples[:2]} == {"bob"}
    assert [join.nodes for join in found.joins] == [("bob",)]
    assert apart.joins == ()
    assert all(score <= 0 for score in found.scores)


def test_the_head_raises_only_what_paths_from_two_topics_reach(driver, tmp_path):
    links = (Link("eve", 1.0, 16, 19), Link("dan", 1.0, 37, 40))
    found = asked(driver, tmp_path, *links)
    graph = MemoryGraph(triples=FAMILY)
    graph.open()
    [one] = candidates_of(graph, [Question("q", "?", links)], [found])
    assert one.topics == 2
    raised = {triple for triple, support in zip(found.triples, one.support, strict=True) if support > 0}
    assert raised == {triple for triple in found.triples if triple.subject == "bob"}


def test_with_one_topic_the_scores_are_those_of_the_head_alone(driver, tmp_path):
    found = asked(driver, tmp_path, Link("eve"))
    [alone] = candidates_of(opened().graph, [Question("q", "?", (Link("eve"),))], [found])
    assert not alone.support.any()
    assert alone.found == found


def test_of_two_topics_the_head_has_half_of_the_probability_and_the_inner_order_the_rest():
    head = [math.log(0.8), math.log(0.4), math.log(0.2), math.log(0.2)]
    found = [math.exp(score) for score in shared(head, [1.0, 5.0, 5.0, 0.5], topics=2)]
    # Places by the inner scores: 2, 1, 1, 3.
    assert found == pytest.approx([0.4 + 0.4 / 4, 0.2 + 0.4, 0.1 + 0.4, 0.1 + 0.4 / 9], abs=1e-3)


def test_of_three_topics_the_head_has_a_third():
    found = shared([math.log(0.9), math.log(0.3)], [0.0, 1.0], topics=3)
    assert [math.exp(score) for score in found] == pytest.approx([0.3 + 0.6 / 4, 0.1 + 0.6], abs=1e-3)


def test_with_one_topic_the_inner_order_has_no_share():
    assert shared([-1.0, -2.0], [0.0, 9.0], topics=1) == [-1.0, -2.0]


def test_all_keeps_all_and_the_mass_of_the_probabilities_cuts_it(driver, tmp_path):
    driver.save(tmp_path)
    whole = opened(model=str(tmp_path), keep="all").expand([EXAMPLES[-1].question])[0]
    part = opened(model=str(tmp_path), keep="all", budget=Budget(mass=0.9)).expand([EXAMPLES[-1].question])[0]
    assert len(whole.triples) == 4
    assert part.triples == whole.triples[:2]
    assert part.trace["cut"] == {"mass": 2}
    assert sum(map(math.exp, part.scores)) >= 0.9 * sum(map(math.exp, whole.scores))


def test_a_saved_head_computes_the_same(driver, tmp_path):
    driver.save(tmp_path)
    again = opened(model=str(tmp_path))
    questions = [one.question for one in EXAMPLES]
    assert again.expand(questions) == driver.expand(questions)
    assert again.fingerprint() == driver.fingerprint()


def test_weights_are_part_of_the_fingerprint(driver):
    assert opened().fingerprint() != driver.fingerprint()


def test_a_head_of_another_encoder_is_refused(driver, tmp_path):
    driver.save(tmp_path)
    with pytest.raises(DriverError, match="another encoder"):
        opened(model=str(tmp_path), encoder=Words(("city", "of", "what", "is", "the")))


def test_a_head_of_other_settings_is_refused(driver, tmp_path):
    driver.save(tmp_path)
    with pytest.raises(DriverError, match="trained with mention: None"):
        opened(model=str(tmp_path), mention="X")


@pytest.mark.parametrize(("name", "content"), [("head.json", "[]"), ("head.json", "{"), ("head.safetensors", "?")])
def test_a_broken_file_is_named(driver, tmp_path, name, content):
    driver.save(tmp_path)
    (tmp_path / name).write_text(content)
    with pytest.raises(DriverError, match=name):
        opened(model=str(tmp_path))


def test_there_is_nothing_to_save_before_training(tmp_path):
    with pytest.raises(DriverError, match="no trained head"):
        opened().save(tmp_path)


def test_an_interrupted_training_ends_with_the_same_weights(tmp_path, monkeypatch):
    from srtk_plugin_sr.head_trainer import HeadModule

    fit = HeadFitSettings(epochs=6, hidden=8)
    whole, late = opened(), opened()
    whole.fit(TrainingTask(EXAMPLES[:-6], None, tmp_path / "whole"), fit)
    validated, calls = HeadModule.validated, []

    def dies(module):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return validated(module)

    monkeypatch.setattr(HeadModule, "validated", dies)
    with pytest.raises(KeyboardInterrupt):
        opened().fit(TrainingTask(EXAMPLES[:-6], None, tmp_path / "stopped"), fit)
    late.fit(TrainingTask(EXAMPLES[:-6], None, tmp_path / "stopped"), fit)
    assert late.fingerprint() == whole.fingerprint()


def test_gold_triples_are_the_needed_triples_of_a_question_that_has_them():
    gold = (Triple("person1", "friend", "friend of person1"),)
    given = attrs.evolve(EXAMPLES[0], question=attrs.evolve(EXAMPLES[0].question, gold_triples=gold))
    assert needed_triples(opened().graph, given, None) == {gold[0]: 1.0}


def test_without_gold_triples_those_on_path_instances_that_end_in_an_answer_are_needed():
    paths = (
        RankedPath("person1", (Step("employer"), Step("city")), 0.5),
        RankedPath("person1", (Step("employer"),), 1.0),
        RankedPath("person1", (Step("friend"),), 1.0),
    )
    answers = ("city of person1", "employer of person1")
    question = Question("q", "?", (Link("person1"),), answers=answers)
    assert needed_triples(opened().graph, TrainingExample(question, paths), None) == {
        Triple("person1", "employer", "employer of person1"): 1.0,
        Triple("employer of person1", "city", "city of person1"): 0.5,
    }


def test_training_examples_without_a_needed_triple_among_the_candidates_are_refused(tmp_path):
    lost = [attrs.evolve(one, paths=()) for one in EXAMPLES]
    with pytest.raises(DriverError, match="found none of the needed triples of 36 questions"):
        opened().fit(TrainingTask(lost, None, tmp_path), SETTINGS)


def test_a_loss_that_is_not_finite_stops_with_the_questions_saved(tmp_path):
    with pytest.raises(DriverError, match="the loss is nan in epoch"):
        opened().fit(TrainingTask(EXAMPLES, None, tmp_path), HeadFitSettings(learning_rate=1e30, epochs=5))
    assert json.loads((tmp_path / "broken-batch.json").read_text())


def test_the_log_has_a_line_for_each_epoch(tmp_path):
    opened().fit(TrainingTask(EXAMPLES, None, tmp_path), HeadFitSettings(epochs=3, hidden=4))
    rows = list(csv.DictReader((tmp_path / "log" / "version_0" / "metrics.csv").read_text().splitlines()))
    assert {"epoch", "loss", "held_loss", "held_f"} <= rows[0].keys()
    assert [row["epoch"] for row in rows if row["held_f"]] == ["0", "1", "2"]


def test_validation_metrics_are_among_the_figures(tmp_path):
    driver = opened()
    question = EXAMPLES[-1].question

    def validate():
        return {"size": float(len(driver.expand([question])[0].triples))}

    figures = driver.fit(TrainingTask(EXAMPLES[:-6], validate, tmp_path), SETTINGS)
    assert figures["size"] == 2.0
    assert 0.9 < figures["held_f"] <= 1.0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"beta": 0.0}, "beta must be above 0"),
        ({"keep": "some"}, "keep must be f1 or all"),
    ],
)
def test_a_setting_out_of_range_is_refused(settings, message):
    with pytest.raises(SettingsError, match=message):
        opened(**settings)


def test_mentions_are_masked_from_the_last_to_the_first():
    driver = opened(mention="X")
    question = Question("q", "is Ann fond of Bo ?", (Link("ann", 1.0, 3, 6), Link("bo", 1.0, 15, 17)))
    assert driver._query(question, {}) == "is X fond of X ?"


SCRIPT = """
import sys, pathlib
sys.path.insert(0, sys.argv[1])
import test_rerank as t
driver = t.opened()
driver.fit(t.TrainingTask(t.EXAMPLES[:-6], None, pathlib.Path(sys.argv[2])), t.HeadFitSettings(epochs=4, hidden=8))
print(driver.fingerprint())
for found in driver.expand([one.question for one in t.EXAMPLES]):
    print(found)
"""


@pytest.mark.slow
def test_two_processes_train_and_score_the_same(tmp_path):
    outputs = []
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(Path(__file__).parent), str(tmp_path / seed)],
            env={**os.environ, "PYTHONHASHSEED": seed, "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            check=True,
        )
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1]
    assert "person11" in outputs[0]


def test_each_setting_is_in_the_fingerprint_but_the_cache():
    prints = [
        opened(**one).fingerprint()
        for one in ({}, {"keep": "all"}, {"beta": 2.0}, {"mention": ""}, {"budget": Budget(triples=3)})
    ]
    assert len({text.split("Words")[-1] for text in prints}) == 5


def test_a_missing_head_is_a_fault_of_the_recipe():
    graph = MemoryGraph(triples=FACTS)
    [(setting, said)] = RerankExpander(Everything(graph), Words(), graph, model="nowhere").preflight()
    assert (setting, "nowhere" in said) == ("model", True)


def test_links_are_read_with_their_scores_between_0_and_1_the_best_where_several_lead_to_a_node():
    graph = opened().graph
    links = (Link("person2", 9.0), Link("person1", 0.3), Link("person1", 0.7), Link("person3", -1.0), Link("nobody"))
    [one] = candidates_of(graph, [Question("q", "?", links)], [Subgraph()])
    assert list(one.starts.items()) == [("person1", 0.7), ("person2", 1.0), ("person3", 0.0)]


def test_a_triple_is_needed_by_the_quality_of_its_best_path_which_is_at_most_1():
    def needed(*scores):
        paths = tuple(RankedPath("person1", (Step("friend"),), score) for score in scores)
        return needed_triples(opened().graph, TrainingExample(Question("q", "?", (Link("person1"),)), paths), None)

    assert list(needed(7.0).values()) == [1.0]
    assert list(needed(0.25, 0.5, 0.125).values()) == [0.5]
    assert needed(0.0) == {}


class Counted(Words):
    """Keeps the texts that it encoded."""

    def __init__(self):
        super().__init__()
        self.texts = []

    def encode(self, texts):
        self.texts += texts
        return super().encode(texts)


def test_vectors_of_relations_are_encoded_once_and_of_questions_each_time(driver, tmp_path):
    driver.save(tmp_path / "head")
    made = {"model": str(tmp_path / "head"), "cache": str(tmp_path / "cache")}
    outer = opened(encoder=Counted(), **made)
    for _ in range(2):
        outer.expand([EXAMPLES[0].question])
    assert outer.encoder.texts.count(EXAMPLES[0].question.text) == 2
    assert outer.encoder.texts.count("mother") == 1
    outer.close()
    later = opened(encoder=Counted(), **made)
    later.expand([EXAMPLES[0].question])
    assert "mother" not in later.encoder.texts
    assert later.expand([]) == []


@attrs.define(eq=False)
class Tilted(Words):
    """Gives each text a vector that leans a little towards mothers."""

    lean: float = 0.0

    def encode(self, texts):
        rows = super().encode(texts)
        rows[:, 1] += self.lean * np.linalg.norm(rows, axis=1)
        return rows


@pytest.mark.parametrize(("cosine", "same"), [(0.995, True), (0.985, False)])
def test_an_encoder_that_differs_in_the_last_digits_is_the_same(driver, tmp_path, cosine, same):
    driver.save(tmp_path)
    encoder = Tilted(lean=math.sqrt(1 / cosine**2 - 1))
    if same:
        assert opened(model=str(tmp_path), encoder=encoder).expand([]) == []
    else:
        with pytest.raises(DriverError, match="another encoder"):
            opened(model=str(tmp_path), encoder=encoder)


def test_a_triple_without_a_path_has_no_text_of_one():
    triples = tuple(Triple("person1", name, f"{name} of person1") for name in ("mother", "friend", "employer"))
    paths = (
        RankedPath("person1", (Step("mother"),), 0.0),
        RankedPath("person1", (Step("employer"), Step("city")), -1.0),
    )
    found, texts = Subgraph(triples, (0.0, -1.0, -2.0), paths, (0, -1, 1)), TextIndex()
    driver = opened()
    rows = driver._texts(found, driver._labels([], [found]), texts)
    named = [[texts.texts()[number] if number >= 0 else None for number in row] for row in rows.tolist()]
    assert named == [["mother", "mother"], ["friend", None], ["employer", "employer, city"]]
