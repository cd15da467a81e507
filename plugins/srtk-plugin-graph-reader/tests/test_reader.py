"""The reader ``gnn``: what it learns, answers, supports and refuses, and the files of its model."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from srtk_plugin_graph_reader.decision import Decision, Rated
from srtk_plugin_graph_reader.fit_settings import GraphFitSettings
from srtk_plugin_graph_reader.inputs import GraphInput
from srtk_plugin_graph_reader.reader import GraphReader
from srtk_plugin_graph_reader.walks import support
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework.roles import TrainingTask
from srtk_framework.testing import ReaderConformance, ToyEncoder
from srtk_framework.values import (
    DriverError,
    Link,
    Question,
    RankedPath,
    RunError,
    Step,
    Subgraph,
    TrainingExample,
    Triple,
)

PEOPLE = 24
RELATIONS = ("mother", "city", "work")
FACTS = [
    Triple(f"p{i}", relation, f"p{(i * 5 + 7) % PEOPLE}" if relation == "mother" else f"{relation}{i % 7}")
    for i, relation in itertools.product(range(PEOPLE), RELATIONS)
]
SETTINGS = GraphFitSettings(hidden=16, rounds=2, epochs=40, batch_size=8, learning_rate=0.01, patience=None)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    torch = pytest.importorskip("torch")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def opened(driver: Any) -> Any:
    driver.open()
    return driver


def subgraph_of(entity: str) -> Subgraph:
    """All triples within two steps, forwards."""
    near = {t.object for t in FACTS if t.subject == entity}
    return Subgraph(tuple(t for t in FACTS if t.subject == entity or t.subject in near))


def ends(entity: str, *relations: str) -> tuple[str, ...]:
    level = {entity}
    for relation in relations:
        level = {t.object for t in FACTS if t.subject in level and t.relation == relation}
    return tuple(sorted(level))


def examples() -> list[TrainingExample]:
    made = []
    for i, (first, *more) in itertools.product(range(PEOPLE), [("city",), ("work",), ("mother", "city")]):
        asked = f"what is the {' of the '.join([*more, first])} of p{i}"
        link = Link(f"p{i}", start=len(asked) - len(f"p{i}"), end=len(asked), name=f"p{i}")
        question = Question(f"{first}{len(more)}-{i}", asked, (link,), ends(f"p{i}", first, *more))
        made.append(TrainingExample(question, subgraph=subgraph_of(f"p{i}")))
    return made


def reader(path: str | None = None, graph: Any = None) -> GraphReader:
    graph = graph if graph is not None else opened(MemoryGraph(triples=FACTS))
    return GraphReader(graph=graph, encoder=opened(ToyEncoder(dimensions=32)), path=path)


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a trained model."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("gnn")
    made = opened(reader())
    made.fit(TrainingTask(examples(), None, folder / "training"), SETTINGS)
    made.save(folder / "model")
    torch.set_num_threads(threads)
    return folder / "model"


def asked(lessons):
    return [one.question.without_gold() for one in lessons], [one.subgraph for one in lessons]


def right(made, lessons):
    answers = made.read(*asked(lessons))
    return sum(set(a.entities) == set(one.question.answers) for a, one in zip(answers, lessons, strict=True))


def test_it_learns_one_step_and_two_from_answers_alone(model):
    assert right(opened(reader(str(model))), examples()) >= 0.9 * len(examples())


def test_it_reads_a_graph_of_other_entities(model):
    """No entity has a vector: another name of each node, in any order of the triples, changes no answer."""
    renamed = [Triple(f"x-{s}", r, f"x-{o}") for s, r, o in FACTS]
    made = opened(reader(str(model), opened(MemoryGraph(triples=renamed))))
    question = Question("q", "what is the city of the mother of him", (Link("x-p3", start=34, end=37),))
    found = Subgraph(tuple(Triple(f"x-{s}", r, f"x-{o}") for s, r, o in reversed(subgraph_of("p3").triples)))
    assert made.read([question], [found])[0].entities == tuple(f"x-{end}" for end in ends("p3", "mother", "city"))


def test_the_support_is_the_walk_to_the_answer(model):
    (lesson,) = [one for one in examples() if one.question.text == "what is the city of the mother of p5"]
    answer = opened(reader(str(model))).read(*asked([lesson]))[0]
    mother = ends("p5", "mother")[0]
    wanted = {Triple("p5", "mother", mother), Triple(mother, "city", ends(mother, "city")[0])}
    assert {lesson.subgraph.triples[place] for place in answer.support} == wanted
    assert 0 < answer.trace["probability"] < 1


def test_the_widest_walk_wins_and_of_equal_ones_the_first():
    """a -r-> b -s-> d and a -r-> c -s-> d, and a -t-> d, whose gate is narrow."""
    triples = [("a", "r", "c"), ("c", "s", "d"), ("a", "r", "b"), ("b", "s", "d"), ("a", "t", "d")]
    given = GraphInput.of(Question("q", "?", (Link("a"),)), Subgraph(tuple(Triple(*t) for t in triples)), {})
    forth = np.array([[0.9, 0.1, 0.2, 0, 0, 0], [0.1, 0.8, 0.1, 0, 0, 0]], dtype=np.float32)  # r, s, t forwards
    assert support(given, forth, [given.nodes.index("d")]) == (0, 1)
    forth[0, 2] = 0.95
    assert support(given, forth, [given.nodes.index("d")]) == (4,)
    assert support(given, forth, [given.nodes.index("c"), given.nodes.index("b")]) == (0, 2)


def test_the_numbers_of_a_subgraph():
    triples = (Triple("a", "r", "b"), Triple("c", "s", "b"), Triple("c", "r", "d"))
    paths = (RankedPath("a", (Step("r"), Step("s", True)), 1.0), RankedPath("a", (Step("r"),), 1.0 - np.log(3)))
    question = Question("q", "Who knows A b?", (Link("a", start=10, end=13),))
    given = GraphInput.of(question, Subgraph(triples, paths=paths), {"r": "rules over", "s": "s"})
    assert given.texts == ("Who knows it?", "who", "knows", "it")
    assert given.relations == ("rules over", "s")
    assert given.edges.tolist() == [[0, 0, 1], [2, 1, 1], [2, 0, 3], [1, 2, 0], [1, 3, 2], [3, 2, 2]]
    assert np.argmax(given.features[:, :5], axis=1).tolist() == [0, 1, 2, 3]
    np.testing.assert_allclose(given.features[:, 5:], [[0, 0, 0], [0.25, 0.25, 0], [0.75, 0.75, 1], [0, 0, 0]])
    assert given.lesson(("b", "z", "a")).gold.tolist() == [0, 1, 0, 0]  # a topic is no answer
    assert given.lesson(("b", "z", "a")).missing == 2


def test_the_threshold_is_that_of_the_best_f1_and_the_best_node_is_always_chosen():
    one = Rated(np.array([3.0, 2.6, 1.0, -np.inf], np.float32), np.array([1, 1, 0, 0], np.float32), 0)
    best = Decision.best([one])
    assert 1.0 < best.threshold <= 2.6
    assert best.f1(one) == 1
    assert best.chosen(one.ratings).tolist() == [0, 1]
    assert best.chosen(np.array([-5.0, -4.0], np.float32)).tolist() == [1]
    assert best.f1(one._replace(missing=2)) == 2 / 3


def test_a_probability_is_that_of_the_held_out_questions():
    """Answers far from the threshold are right nine times of ten, near ones half of the time."""
    far, near = np.array([4.0, -4.0], np.float32), np.array([4.0, 1.9], np.float32)
    first, both = np.array([1, 0], np.float32), np.array([1, 1], np.float32)
    rated = [Rated(far, first if i % 10 else both, 0) for i in range(100)]
    rated += [Rated(near, both if i % 2 else first, 0) for i in range(100)]
    best = Decision.best(rated)
    assert best.probability(far) == pytest.approx(0.9, abs=0.03)
    assert best.probability(near) == pytest.approx(0.5, abs=0.03)


def test_a_probability_is_calibrated_where_the_ratings_nearly_tell_the_right_answers():
    random = np.random.default_rng(6)
    weights = random.normal(0, 2, 3)
    rated = []
    for _ in range(200):
        ratings = np.array([abs(random.normal(0, 10)) + 6, -abs(random.normal(0, 10)) - 4.5], np.float32)
        features = (1, ratings[0], np.min(np.abs(ratings)))
        right = random.random() < 1 / (1 + np.exp(-np.dot(features, weights)))
        rated.append(Rated(ratings, np.array([1, not right], np.float32), 0))
    best = Decision.best(rated)
    right = np.mean([best.f1(one) == 1 for one in rated])
    assert np.mean([best.probability(one.ratings) for one in rated]) == pytest.approx(right, abs=0.01)


def test_a_subgraph_without_a_topic_or_another_node_is_refused(model):
    made = opened(reader(str(model)))
    question = examples()[0].question
    strange = Subgraph((Triple("p8", "city", "city1"),))
    alone = Subgraph((Triple("p0", "city", "p0"),))
    found = made.read([question] * 3, [Subgraph(), strange, alone])
    assert [one.enough for one in found] == [False] * 3
    assert [one.missing for one in found] == [
        "no entity of the question is in the subgraph",
        "no entity of the question is in the subgraph",
        "the subgraph has nothing but the entities of the question",
    ]


def test_questions_without_an_answer_in_their_subgraph_are_counted_and_told(tmp_path, caplog):
    lessons = examples()
    lessons[:5] = [attrs.evolve(one, subgraph=subgraph_of(f"p{PEOPLE - 1}")) for one in lessons[:5]]
    figures = opened(reader()).fit(TrainingTask(lessons, None, tmp_path), attrs.evolve(SETTINGS, epochs=1))
    assert figures["without_answer"] >= 1
    assert f"{figures['without_answer']:.0f} of {len(lessons)} training questions have no answer" in caplog.text
    assert figures["questions"] + figures["held_out_questions"] + figures["without_answer"] == len(lessons)
    empty = [attrs.evolve(one, subgraph=Subgraph()) for one in lessons]
    with pytest.raises(RunError, match="none of 72 training questions"):
        opened(reader()).fit(TrainingTask(empty, None, tmp_path), SETTINGS)


def test_an_untrained_reader_says_what_to_do():
    with pytest.raises(DriverError, match=re.escape("train: {driver: reader}")):
        opened(reader()).read(*asked(examples()[:1]))


def test_a_model_of_another_encoder_is_refused(model):
    made = reader(str(model))
    made.encoder = opened(ToyEncoder(dimensions=16))
    with pytest.raises(DriverError, match="other vectors"):
        made.open()


def test_a_damaged_model_is_refused(model, tmp_path):
    for file in model.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    weights = tmp_path / "graph_reader.safetensors"
    content = bytearray(weights.read_bytes())
    content[-5] ^= 1
    weights.write_bytes(content)
    with pytest.raises(DriverError, match="is damaged"):
        reader(str(tmp_path)).open()


@pytest.mark.slow
def test_an_interrupted_training_gives_the_same_bytes_in_another_process(tmp_path):
    """The second process trains for two epochs, and then to the end from its checkpoint."""
    code = (
        "import sys, attrs, torch; from pathlib import Path; from test_reader import *; torch.set_num_threads(1)\n"
        "folder = Path(sys.argv[1])\n"
        "for epochs in map(int, sys.argv[2:]):\n"
        "    made = opened(reader())\n"
        "    module = TrainingTask(examples(), None, folder)\n"
        "    if epochs < 0:\n"
        "        from srtk_plugin_graph_reader import lightning_module as m\n"
        "        plain = m.GraphModule.loss_of\n"
        "        def broken(self, batch, number):\n"
        "            if self.current_epoch == -epochs: raise KeyboardInterrupt\n"
        "            return plain(self, batch, number)\n"
        "        m.GraphModule.loss_of = broken\n"
        "        try: made.fit(module, attrs.evolve(SETTINGS, epochs=4))\n"
        "        except KeyboardInterrupt: m.GraphModule.loss_of = plain; continue\n"
        "        raise SystemExit('not broken off')\n"
        "    made.fit(module, attrs.evolve(SETTINGS, epochs=4))\n"
        "made.save(folder / 'model')\n"
    )
    found = []
    for name, epochs in (("whole", ["4"]), ("broken", ["-2", "4"])):
        folder = tmp_path / name
        subprocess.run([sys.executable, "-c", code, str(folder), *epochs], check=True, cwd=__file__.rpartition("/")[0])
        found.append((folder / "model/graph_reader.safetensors").read_bytes())
    assert found[0] == found[1]


class TestGnn(ReaderConformance):
    name = "gnn"

    @pytest.fixture
    def driver(self, graph: Any, model: Path) -> Iterator[GraphReader]:
        encoder = ToyEncoder(dimensions=32)
        encoder.open()
        driver = GraphReader(graph=graph, encoder=encoder, path=str(model))
        driver.open()
        yield driver
        driver.close()

    @pytest.fixture
    def faulty(self, graph: Any) -> GraphReader:
        return GraphReader(graph=graph, encoder=ToyEncoder(dimensions=32), path="nowhere")
