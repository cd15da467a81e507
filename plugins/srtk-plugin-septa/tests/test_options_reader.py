"""The reader ``options``: attention over what was found, the share of knowledge, training and refusals."""

from __future__ import annotations

import itertools
import math
import re
import subprocess
import sys

import attrs
import numpy as np
import pytest
import torch
from kit.kills import tree
from safetensors.numpy import load_file
from srtk_plugin_index.expander import IndexExpander
from srtk_plugin_index.indexes.exact import ExactIndex
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_septa.fit_settings import OptionsFitSettings
from srtk_plugin_septa.option_checkpoint import OptionProgress, keep, resumed
from srtk_plugin_septa.option_network import OptionBatch, OptionNetwork, blended
from srtk_plugin_septa.option_vectors import OptionVectors, option_vectors, unit
from srtk_plugin_septa.options_reader import OptionsReader, _device, _gold
from srtk_plugin_septa.subgraphs import SubgraphCorpus

from srtk_framework.records import with_checksum
from srtk_framework.roles import TrainingTask
from srtk_framework.testing import ToyEncoder
from srtk_framework.values import Budget, DriverError, Question, RunError, Search, Subgraph, TrainingExample

PLACES = [f"town{chr(97 + i)}{chr(97 + j)}" for i in range(6) for j in range(5)]
FACTS = [(f"animal{i} {name[::-1]}", "livesIn", name) for i, name in enumerate(PLACES)]


def opened(driver):
    driver.open()
    return driver


def encoder():
    return opened(ToyEncoder(dimensions=64))


@pytest.fixture
def graph():
    return opened(MemoryGraph(triples=FACTS))


@pytest.fixture
def index(graph, tmp_path):
    made = ExactIndex(path=str(tmp_path / "index"), encoder=encoder())
    made.create()
    made.add(list(opened(SubgraphCorpus(graph=graph)).read()))
    made.commit()
    return made


@pytest.fixture
def asked(graph, index):
    """Questions that need one fact, with what was retrieved for each."""
    questions = []
    for i, (animal, _, place) in enumerate(FACTS):
        options = [PLACES[(i + shift) % len(PLACES)] for shift in (7, 0, 13)]
        order = np.random.default_rng(i).permutation(3)
        chosen = tuple(options[at] for at in order)
        questions.append(Question(str(i), f"Where lives {animal}", options=chosen, answers=(place,)))
    expander = opened(IndexExpander(index=index, graph=graph, k=3, budget=Budget(triples=30)))
    return list(zip(questions, expander.expand([q.without_gold() for q in questions]), strict=True))


def examples(asked):
    return [TrainingExample(question, subgraph=subgraph) for question, subgraph in asked]


def accuracy(reader, asked):
    answers = reader.read([q.without_gold() for q, _ in asked], [s for _, s in asked])
    return sum(a.text == q.answers[0] for a, (q, _) in zip(answers, asked, strict=True)) / len(asked)


def vectors(searches, entries, found):
    searches = np.array(searches, dtype=np.float32)
    rows = np.array(entries, dtype=np.float32)
    size = len(searches)
    return OptionVectors(searches, rows, np.array(found), searches, np.zeros((size, 4), dtype=np.float32))


def identity(network):
    with torch.no_grad():
        network.attention.in_proj_weight.copy_(torch.eye(2).repeat(3, 1))
        network.attention.in_proj_bias.zero_()
        network.attention.out_proj.weight.copy_(torch.eye(2))
        network.attention.out_proj.bias.zero_()
    return network.eval()


def test_the_golden_weights_of_one_head():
    network = identity(OptionNetwork(2, 2, 1, 1.0))
    query, keys = torch.tensor([[[1.0, 0.0]]]), torch.tensor([[[1.0, 0.0], [0.0, 1.0]]])
    _, weights = network.attention(query, keys, keys)
    assert weights[0, 0].tolist() == pytest.approx([0.669762, 0.330238], abs=1e-6)
    _, alone = network.attention(query, keys[:, :1], keys[:, :1])
    assert alone.item() == 1


def test_the_golden_blend_of_two_scores():
    two, less = torch.tensor(2.0), torch.tensor(-2.0)
    assert blended(two, less, torch.tensor(0.25)) == -1
    assert blended(two, less, torch.tensor(1.0)) == 2
    assert blended(two, less, torch.tensor(0.0)) == -2


def test_places_without_an_entry_or_an_option_change_nothing():
    network = OptionNetwork(2, 2, 1, None)
    with torch.no_grad():
        network.know.weight.copy_(torch.tensor([[1.0, 2.0]]))
    network.eval()
    one = vectors([[1, 0]], [[[0, 1], [0, 0]]], [1])
    short = vectors([[1, 0]], [[[0, 1]]], [1])
    none = vectors([[1, 0]], [[[0, 0], [0, 0]]], [0])
    wide = vectors([[1, 0], [0, 1]], [[[0, 1], [0, 0]]] * 2, [1, 1])
    alone = network(OptionBatch.of([one]))
    assert network(OptionBatch.of([short])).item() == pytest.approx(alone.item(), abs=1e-6)
    both = network(OptionBatch.of([one, wide, none]))
    assert both[0, 0].item() == pytest.approx(alone.item(), abs=1e-6)
    assert both[0, 1].item() == -np.inf
    assert both[2, 0].item() == pytest.approx(0.5, abs=1e-6)  # t alone, by half of lambda


def test_untrained_the_option_whose_subgraph_was_found_wins(index, asked):
    reader = opened(OptionsReader(index=index, encoder=encoder()))
    assert accuracy(reader, asked) > 0.6
    question, subgraph = asked[0]
    (answer,) = reader.read([question], [subgraph])
    best = subgraph.searches[question.options.index(answer.text)].hits[0][0]
    (entry,) = index.entries([best])
    assert {subgraph.triples[place] for place in answer.support} == set(entry.triples)
    assert answer.trace["knowledge"] == 0.5


def test_a_trained_reader_is_saved_and_read_back(index, asked, tmp_path):
    reader = opened(OptionsReader(index=index, encoder=encoder()))
    before = reader.fingerprint()
    task = TrainingTask(examples(asked), lambda: {"answer_exact": accuracy(reader, asked)}, tmp_path)
    figures = reader.fit(task, OptionsFitSettings(epochs=8, batch_size=8))
    assert figures["answer_exact"] >= 0.6
    assert 0 < figures["knowledge"] < 1
    assert reader.fingerprint() != before
    reader.save(tmp_path / "model")
    again = opened(OptionsReader(index=index, encoder=encoder(), path=str(tmp_path / "model")))
    assert again.fingerprint() == reader.fingerprint()
    questions, subgraphs = [q for q, _ in asked], [s for _, s in asked]
    assert again.read(questions, subgraphs) == reader.read(questions, subgraphs)
    with pytest.raises(DriverError, match=r"is not the one that the reader .* was trained with"):
        opened(OptionsReader(index=index, encoder=opened(ToyEncoder(dimensions=64, letters=2)), path=again.path))


def test_two_trainings_with_one_seed_are_equal(index, asked, tmp_path):
    def trained(name, seed):
        reader = opened(OptionsReader(index=index, encoder=encoder()))
        reader.fit(TrainingTask(examples(asked), None, tmp_path / name, seed), OptionsFitSettings(epochs=2))
        return reader.fingerprint()

    assert trained("a", 1) == trained("b", 1) != trained("c", 2)


SCRIPT = """import sys
import time
from pathlib import Path

import numpy as np

from srtk_framework.roles import TrainingTask
from srtk_framework.testing import ToyEncoder
from srtk_framework.values import Budget, Question, TrainingExample
from srtk_plugin_index.expander import IndexExpander
from srtk_plugin_index.indexes.exact import ExactIndex
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_septa.fit_settings import OptionsFitSettings
from srtk_plugin_septa.options_reader import OptionsReader, _gold
from srtk_plugin_septa.subgraphs import SubgraphCorpus

folder = Path(sys.argv[1])

def opened(driver):
    driver.open()
    return driver

graph = opened(MemoryGraph(triples=[(f"animal{n}", "livesIn", f"town{chr(97 + n)}") for n in range(12)]))
encoder = opened(ToyEncoder(dimensions=64))
index = ExactIndex(path=str(folder / "index"), encoder=encoder)
index.create()
index.add(list(opened(SubgraphCorpus(graph=graph)).read()))
index.commit()
towns = [f"town{chr(97 + n)}" for n in range(12)]
questions = [Question(str(n), f"Where lives animal{n}", options=(towns[n - 5], towns[n]), answers=(towns[n],))
             for n in range(12)]
expander = opened(IndexExpander(index=index, graph=graph, k=3, budget=Budget(triples=30)))
found = expander.expand([question.without_gold() for question in questions])
epochs = 0

def validate():
    # Worse in the third validation and after: the best is that of an epoch before the kill.
    global epochs
    epochs += 1
    print("epoch", flush=True)
    time.sleep(float(sys.argv[2]))
    return {"answer_exact": {1: 0.5, 2: 0.7}.get(epochs + int(sys.argv[3]), 0.6)}

reader = opened(OptionsReader(index=index, encoder=encoder))
pairs = [TrainingExample(question, subgraph=subgraph) for question, subgraph in zip(questions, found)]
figures = reader.fit(TrainingTask(pairs, validate, folder, 3), OptionsFitSettings(epochs=9, batch_size=4, patience=4))
reader.save(folder / "model")
print(sorted(figures.items()))
"""


@pytest.mark.slow
def test_a_killed_training_of_a_reader_goes_on_and_ends_like_an_undisturbed_one(tmp_path):
    def command(name, pause, done=0):
        return [sys.executable, "-c", SCRIPT, str(tmp_path / name), str(pause), str(done)]

    with subprocess.Popen(command("killed", 2), stdout=subprocess.PIPE, text=True) as training:
        # The third validation runs: the untrained network and one epoch are in the checkpoint.
        for _ in range(3):
            assert training.stdout.readline() == "epoch\n"
        training.kill()
    assert training.returncode == -9
    again = subprocess.run(command("killed", 0, 2), capture_output=True, text=True, check=True)
    whole = subprocess.run(command("whole", 0), capture_output=True, text=True, check=True)
    assert (again.stdout.count("epoch\n"), whole.stdout.count("epoch\n")) == (4, 6)
    assert again.stdout.splitlines()[-1] == whole.stdout.splitlines()[-1]
    assert "('epochs', 1.0)" in whole.stdout
    assert tree(tmp_path / "killed" / "model") == tree(tmp_path / "whole" / "model")


def test_a_training_that_makes_it_worse_leaves_the_reader_as_it_was(index, asked, tmp_path):
    reader = opened(OptionsReader(index=index, encoder=encoder()))
    before = reader.read([q for q, _ in asked], [s for _, s in asked])
    falling = itertools.count(0, -1)
    task = TrainingTask(examples(asked), lambda: {"answer_exact": next(falling)}, tmp_path)
    figures = reader.fit(task, OptionsFitSettings(epochs=4, learning_rate=0.05, similarity_rate=0.5))
    assert figures["epochs"] == 0
    assert reader.read([q for q, _ in asked], [s for _, s in asked]) == before


def test_some_questions_are_held_out_where_none_validate(index, asked, tmp_path):
    def figures(validation):
        reader = opened(OptionsReader(index=index, encoder=encoder()))
        settings = OptionsFitSettings(epochs=1, validation=validation)
        return reader.fit(TrainingTask(examples(asked), None, tmp_path / str(validation)), settings)

    some, none = figures(0.2), figures(0.0)
    assert (some["questions"], none["questions"]) == (24, 30)
    assert some["held_out_loss"] > 0
    assert "held_out_loss" not in none


@pytest.mark.parametrize(("pull", "layer"), [("knowledge_pull", "know"), ("direct_pull", "direct")])
def test_a_layer_that_is_pulled_further_stays_nearer_to_the_untrained_one(index, asked, tmp_path, pull, layer):
    def learnt(weight):
        reader = opened(OptionsReader(index=index, encoder=encoder()))
        settings = OptionsFitSettings(epochs=5, validation=0, patience=None, **{pull: weight})
        folder = tmp_path / str(weight)
        reader.fit(TrainingTask(examples(asked), lambda: {"answer_exact": next(rising)}, folder), settings)
        reader.save(folder / "model")
        return float(np.linalg.norm(load_file(folder / "model" / "options.safetensors")[f"network.{layer}.weight"]))

    # Rising accuracies, so that the last epoch is the one that is kept.
    rising = itertools.count()
    assert learnt(100.0) < 0.5 * learnt(0.0)


def test_what_question_and_option_find_alone_is_compared(index, asked):
    question, subgraph = asked[0]
    size = len(question.options)
    first, second, third = (entry.id for entry in index.entries([x[0] for x in subgraph.hits[:3]]))
    alone = (
        Search(question.text, ((first, 1.0), (second, 0.9))),
        *(Search(o, ((third, 1.0),)) for o in question.options),
    )
    plain = attrs.evolve(subgraph, searches=subgraph.searches[:size])
    with_alone = attrs.evolve(plain, searches=plain.searches + alone)
    (one,) = option_vectors([question], [with_alone], index, encoder(), encoder(), 2)
    (other,) = option_vectors([question], [plain], index, encoder(), encoder(), 2)

    def vector(text):
        row = encoder().encode([text])[0]
        return row / np.linalg.norm(row)

    def entry(id_):
        (found,) = index.entries([id_])
        return found.vector / np.linalg.norm(found.vector)

    asked_for, last = vector(question.text), entry(third)
    expected = [
        max((entry(id_) @ last) * (entry(id_) @ asked_for) * (last @ vector(option)) for id_ in (first, second))
        for option in question.options
    ]
    assert one.similarities[:, 2] == pytest.approx(np.array(expected), abs=1e-5)
    assert other.similarities[:, 2].tolist() == [0.0] * size
    assert np.array_equal(one.similarities[:, [0, 1, 3]], other.similarities[:, [0, 1, 3]])


def test_a_given_share_of_knowledge_stays(index, asked, tmp_path):
    reader = opened(OptionsReader(index=index, encoder=encoder()))
    figures = reader.fit(TrainingTask(examples(asked), None, tmp_path), OptionsFitSettings(epochs=2, knowledge=1.0))
    assert figures["knowledge"] == 1


def resealed(data: bytes, old: bytes, new: bytes) -> bytes:
    """Change the content of a file as a stranger may, with its checksum."""
    return with_checksum(re.sub(rb', "checksum".*', b"}", data.replace(old, new)).decode())[0].encode()


@pytest.mark.parametrize(
    ("file", "change", "fault"),
    [
        ("options.json", lambda data: data[:9], r"is damaged.*; train"),
        ("options.json", lambda data: resealed(data, b'"heads":4', b'"hands":4'), r"do not fit options\.json; train"),
        ("options.json", lambda data: resealed(data, b'"heads":4', b'"heads":3'), r"do not fit options\.json; train"),
        ("options.safetensors", lambda data: data[:-9], r"safetensors: is truncated or damaged.*; train"),
    ],
)
def test_a_damaged_reader_is_refused_by_a_sentence(index, asked, tmp_path, file, change, fault):
    reader = opened(OptionsReader(index=index, encoder=encoder()))
    reader.fit(TrainingTask(examples(asked), None, tmp_path / "t"), OptionsFitSettings(epochs=1))
    reader.save(tmp_path / "model")
    path = tmp_path / "model" / file
    before = path.read_bytes()
    path.write_bytes(change(before))
    assert path.read_bytes() != before
    with pytest.raises(DriverError, match=fault):
        opened(OptionsReader(index=index, encoder=encoder(), path=str(tmp_path / "model")))


def test_what_cannot_be_read_is_told(index, asked, graph, tmp_path):
    reader = opened(OptionsReader(index=index, encoder=encoder()))
    question, subgraph = asked[0]
    for one, other, said in (
        (attrs.evolve(question, options=()), subgraph, "question 0 has no options to choose from"),
        (question, Subgraph(searches=(Search("a"),)), "has 3 options, and its subgraph 1 searches"),
        (question, Subgraph(searches=(Search("a", (("gone", 1.0),)),) * 3), "the index has no entry 'gone'"),
    ):
        with pytest.raises(DriverError, match=said):
            reader.read([one], [other])
    stray = TrainingExample(attrs.evolve(question, answers=("elsewhere",)), subgraph=subgraph)
    with pytest.raises(RunError, match="none of 1 training questions has its answer among its options"):
        reader.fit(TrainingTask([stray], None, tmp_path), OptionsFitSettings())
    with pytest.raises(DriverError, match=r"options\.json cannot be read"):
        opened(OptionsReader(index=index, encoder=encoder(), path=str(tmp_path)))
    with pytest.raises(DriverError, match="which 5 heads do not divide"):
        reader.fit(TrainingTask(examples(asked), None, tmp_path), OptionsFitSettings(heads=5))


def test_untrained_the_similarities_alone_count_by_their_weights():
    network = OptionNetwork(2, 2, 1, 0.25)
    rows = np.array([[1, 0.5, 0.25, 0.2], [0, 0, 0, 1]], dtype=np.float32)
    one = attrs.evolve(vectors([[1, 0], [0, 1]], [[[0, 1]], [[1, 0]]], [1, 0]), similarities=rows)
    found = network(OptionBatch.of([one]))[0].tolist()
    assert found == pytest.approx([0.25 * (10 + 10 + 20) + 0.75 * 1, 0.75 * 5])
    assert OptionNetwork(2, 2, 1, None)(OptionBatch.of([one]))[0].tolist() == pytest.approx([20.5, 2.5])


def test_the_distance_from_the_untrained_network_is_of_squares_by_layer():
    network = OptionNetwork(2, 2, 1, None)
    start = network.attending()
    assert [float(one.detach()) for one in network.learnt(start)] == [0, 0]
    with torch.no_grad():
        network.know.weight.copy_(torch.tensor([[1.0, 2.0]]))
        network.direct.weight.copy_(torch.tensor([[3.0, 1.0]]))
        network.attention.out_proj.weight.add_(2.0)
        network.attention.in_proj_bias.add_(1.0)
    assert [float(one.detach()) for one in network.learnt(start)] == pytest.approx([5 + 4 * 4 + 6, 10])
    assert [tuple(one.shape) for one in network.few()] == [(4,), ()]


def test_a_checkpoint_brings_back_network_optimizer_and_progress(tmp_path):
    def made(seed):
        torch.manual_seed(seed)
        network = OptionNetwork(2, 2, 1, None)
        return network, torch.optim.Adam(network.parameters(), lr=0.5 + seed)

    network, optimizer = made(0)
    assert resumed(tmp_path, network, optimizer) == OptionProgress()
    network.know(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    progress = OptionProgress(3, 0.5, 2, {"know": np.arange(3, dtype=np.float32)}, {"loss": 0.25})
    keep(tmp_path, network, optimizer, progress)
    other, of_other = made(1)
    found = resumed(tmp_path, other, of_other)
    assert attrs.asdict(attrs.evolve(found, weights={})) == attrs.asdict(attrs.evolve(progress, weights={}))
    assert found.weights["know"].tolist() == [0, 1, 2]
    for name, value in network.state_dict().items():
        assert torch.equal(other.state_dict()[name], value)
    assert of_other.param_groups[0]["lr"] == 0.5
    assert len(of_other.state_dict()["state"]) == len(optimizer.state_dict()["state"]) > 0
    keep(tmp_path, network, optimizer, attrs.evolve(progress, epochs=4))
    assert resumed(tmp_path, other, of_other).epochs == 4
    assert [file.name for file in (tmp_path / "checkpoints").iterdir()] == ["options.ckpt"]


def test_similarities_are_the_greatest_products_of_cosines(index, asked):
    (question, subgraph), k = asked[0], 2
    size = len(question.options)
    hits = tuple(hit for one in subgraph.searches[:size] for hit in one.hits)[:4]
    searches = (Search("first", hits[:3]), Search("second", hits[3:]), Search("third", ()))
    other = opened(ToyEncoder(dimensions=32))
    given = attrs.evolve(subgraph, searches=searches)
    (found,) = option_vectors([question], [given], index, encoder(), other, k)
    assert found.found.tolist() == [2, 1, 0]
    assert found.entries.shape == (size, k, 64)

    def cosine(one, another):
        return float(unit(one[None])[0] @ unit(another[None])[0])

    for place, search in enumerate(searches):
        rows = [entry.vector for entry in index.entries([id_ for id_, _ in search.hits[:k]])]
        asks, option, own = encoder().encode([question.text, question.options[place], search.text])
        both = [cosine(row, asks) * cosine(row, option) for row in rows] + [0.0] * (k - len(rows))
        near = [cosine(row, own) for row in rows] + [0.0] * (k - len(rows))
        alike = cosine(*other.encode([question.options[place], question.text]))
        assert found.similarities[place].tolist() == pytest.approx([max(both), max(near), 0, alike], abs=1e-5)
        assert found.searches[place] == pytest.approx(unit(own[None])[0])
        assert found.plain[place] == pytest.approx(
            unit(other.encode([f"{question.text} {question.options[place]}"]))[0]
        )
    assert unit(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist() == [[pytest.approx(0.6), pytest.approx(0.8)], [0, 0]]


def test_of_equal_options_the_first_is_chosen_and_nothing_that_was_found_proves_nothing(index):
    reader = opened(OptionsReader(index=index, encoder=encoder()))
    question = Question("q", "Where lives it", options=("towna", "townb", "towna"))
    plain, empty = Subgraph(), Subgraph(searches=tuple(Search(option) for option in question.options))
    for answer in reader.read([question] * 2, [plain, empty]):
        scores = answer.trace["scores"]
        assert scores[0] == scores[2]
        assert answer.text == question.options[scores.index(max(scores))]
        assert answer.support == ()


@pytest.mark.parametrize(
    ("values", "patience", "calls", "best"),
    [([0.5, 0.4, 0.3, 0.9], 2, 3, 0), ([0.5, 0.5, 0.5], 2, 3, 0), ([0.1, 0.2, 0.1, 0.1, 0.9], 2, 4, 1)],
)
def test_training_ends_after_so_many_epochs_without_a_better_one(index, asked, tmp_path, values, patience, calls, best):
    reader = opened(OptionsReader(index=index, encoder=encoder()))
    given = []

    def validate():
        given.append(values[len(given)])
        return {"answer_exact": given[-1]}

    settings = OptionsFitSettings(epochs=9, patience=patience)
    figures = reader.fit(TrainingTask(examples(asked), validate, tmp_path), settings)
    assert (len(given), figures["epochs"], figures["answer_exact"]) == (calls, best, max(given))


def test_without_patience_each_epoch_is_validated(index, asked, tmp_path):
    reader = opened(OptionsReader(index=index, encoder=encoder()))
    falling = itertools.count(0, -1)
    settings = OptionsFitSettings(epochs=3, patience=None, batch_size=7)
    reader.fit(TrainingTask(examples(asked), lambda: {"answer_exact": next(falling)}, tmp_path), settings)
    assert next(falling) == -4


def test_a_loss_that_is_no_number_is_refused_with_its_epoch(index, asked, tmp_path, monkeypatch):
    losses = iter([1.0, 2.0, math.inf, 1.0])
    made = lambda *_: torch.tensor(next(losses), requires_grad=True)  # noqa: E731
    monkeypatch.setattr("srtk_plugin_septa.options_reader._loss", made)
    reader = opened(OptionsReader(index=index, encoder=encoder()))
    settings = OptionsFitSettings(epochs=5, batch_size=15, patience=None, validation=0)
    with pytest.raises(DriverError, match=r"the loss is inf in epoch 2; lower learning_rate"):
        reader.fit(TrainingTask(examples(asked), None, tmp_path), settings)


def test_the_right_option_is_the_first_that_is_an_answer():
    question = Question("q", "", options=("a", "b", "c", "b"), answers=("b", "c"))
    assert _gold(question) == 1
    assert _gold(attrs.evolve(question, answers=("a",))) == 0
    assert _gold(attrs.evolve(question, answers=("d",))) is None
    assert _gold(attrs.evolve(question, answers=None)) is None


def test_the_epoch_with_the_least_loss_of_the_questions_held_out_is_kept(index, asked, tmp_path, monkeypatch):
    # By turns the loss of the 6 questions held out, 4 and 2 at once, and of the 24 that teach.
    losses = [3.0, 6.0, 0.5, 2.0, 5.0, 0.25, 2.5, 5.5, 0.125]
    sizes = []

    def made(_, rows):
        assert all(one.found.any() for one, _ in rows)
        sizes.append(len(rows))
        return torch.tensor(losses[len(sizes) - 1], requires_grad=True)

    monkeypatch.setattr("srtk_plugin_septa.options_reader._loss", made)
    monkeypatch.setattr("srtk_plugin_septa.options_reader._AT_ONCE", 4)
    reader = opened(OptionsReader(index=index, encoder=encoder()))
    figures = reader.fit(TrainingTask(examples(asked), None, tmp_path), OptionsFitSettings(epochs=2))
    assert sizes == [4, 2, 24, 4, 2, 24, 4, 2]
    assert (figures["epochs"], figures["loss"], figures["held_out_loss"]) == (1, 0.5, pytest.approx(3.0))


def test_all_questions_teach_where_others_validate_what_was_learnt(index, asked, tmp_path):
    reader = opened(OptionsReader(index=index, encoder=encoder()))
    before, marks = reader.fingerprint(), []
    assert before.endswith("k=5, untrained)")

    def validate():
        marks.append(reader.fingerprint())
        return {"answer_exact": len(marks)}

    figures = reader.fit(TrainingTask(examples(asked), validate, tmp_path), OptionsFitSettings(epochs=1))
    assert figures["questions"] == len(asked)
    assert len({before, *marks}) == 3
    assert not any("untrained" in mark for mark in marks)
    assert reader.fingerprint() == marks[-1]


def test_question_and_option_may_have_an_encoder_of_other_dimensions(index, asked, tmp_path):
    def reader(letters, **changes):
        direct = opened(ToyEncoder(dimensions=32, letters=letters))
        return opened(OptionsReader(index=index, encoder=encoder(), direct=direct, **changes))

    one = reader(3)
    one.fit(TrainingTask(examples(asked), None, tmp_path / "t"), OptionsFitSettings(epochs=1, validation=0))
    assert one._model.shape == {"width": 64, "plain": 32, "heads": 4, "knowledge": None}
    one.save(tmp_path / "model")
    again = reader(3, path=str(tmp_path / "model"))
    assert accuracy(again, asked) == accuracy(one, asked)
    assert again.fingerprint() == one.fingerprint()
    with pytest.raises(DriverError, match=r"is not the one that the reader .* was trained with"):
        reader(2, path=again.path)


@pytest.mark.parametrize("there", [False, True])
def test_an_encoder_learns_on_a_gpu_where_there_is_one_unless_the_cpu_is_named(monkeypatch, there):
    monkeypatch.setattr("torch.cuda.is_available", lambda: there)
    assert _device("cpu") == "cpu"
    assert _device("auto") == ("cuda" if there else "cpu")
    if there:
        assert _device("gpu") == "cuda"


def test_questions_without_a_subgraph_teach_by_their_texts_alone(index, asked, tmp_path):
    reader = opened(OptionsReader(index=index, encoder=encoder()))
    plain = [TrainingExample(question) for question, _ in asked]
    figures = reader.fit(TrainingTask(plain, None, tmp_path), OptionsFitSettings(epochs=1, validation=0))
    assert figures["questions"] == len(asked)


def test_a_closed_reader_neither_reads_nor_saves(index, asked, tmp_path):
    reader = opened(OptionsReader(index=index, encoder=encoder()))
    reader.close()
    for act in (lambda: accuracy(reader, asked), lambda: reader.save(tmp_path)):
        with pytest.raises(DriverError, match="open"):
            act()
