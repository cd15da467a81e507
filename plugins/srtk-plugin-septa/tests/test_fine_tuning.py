"""Text encoders that learn with the graph network and with the reader of options, on a CPU and on a GPU."""

from __future__ import annotations

import itertools

import attrs
import numpy as np
import pytest
import torch
from srtk_plugin_index.expander import IndexExpander
from srtk_plugin_index.indexes.exact import ExactIndex
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_septa.fine_tuning import half
from srtk_plugin_septa.fit_settings import OptionsFitSettings, SeptaFitSettings
from srtk_plugin_septa.fused import FusedCorpus
from srtk_plugin_septa.graph_encoder import SeptaGraphEncoder
from srtk_plugin_septa.option_network import OptionLearner, OptionNetwork
from srtk_plugin_septa.option_vectors import OptionVectors, unit
from srtk_plugin_septa.options_reader import OptionsReader
from srtk_plugin_septa.subgraphs import SubgraphCorpus
from srtk_plugin_septa.text_encoder import SeptaTextEncoder

from srtk_framework.roles import TrainingTask
from srtk_framework.testing import ToyEncoder
from srtk_framework.values import Budget, DriverError, Question, TrainingExample

pytest.importorskip("lightning")

TOWNS = [f"town{chr(97 + i)}{chr(97 + j)}" for i in range(6) for j in range(5)]
FACTS = [(f"animal{i} {name[::-1]}", "livesIn", name) for i, name in enumerate(TOWNS)]
SMALL = {"hidden": 16, "epochs": 2, "batch_size": 16, "patience": None, "encoder_rate": 0.01, "views": 1}


def opened(driver):
    driver.open()
    return driver


@pytest.fixture
def graph():
    return opened(MemoryGraph(triples=FACTS))


def aligned(graph, encoder, folder, accelerator="cpu", **changes):
    """Train an alignment, and return its driver and the folder of the model."""
    driver = opened(SeptaGraphEncoder(graph=graph, encoder=encoder, corpus=opened(SubgraphCorpus(graph=graph))))
    settings = SeptaFitSettings(accelerator=accelerator, **{**SMALL, **changes})
    driver.fit(TrainingTask([], None, folder / "training"), settings)
    driver.save(folder / "model")
    return driver, folder / "model"


def index_of(graph, graphs, texts, folder):
    made = ExactIndex(path=str(folder), encoder=texts)
    made.create()
    made.add(list(FusedCorpus(opened(SubgraphCorpus(graph=graph)), graphs, texts).read()))
    made.commit()
    return made


def test_a_text_encoder_learns_with_the_graph_and_is_read_from_the_model(graph, learning, tmp_path, accelerator):
    before = learning.encode([TOWNS[0]])
    driver, model = aligned(graph, learning, tmp_path, accelerator, frozen=False)
    assert np.array_equal(learning.encode([TOWNS[0]]), before)
    tuned = opened(SeptaTextEncoder(encoder=learning, path=str(model)))
    module = tuned.learner()
    assert not np.allclose(tuned.learner().text.rows.weight.detach(), np.eye(64))
    assert np.allclose(module(module.tokenize(TOWNS)).detach(), tuned.encode(TOWNS), atol=1e-5)
    again = opened(SeptaGraphEncoder(graph=graph, encoder=learning, path=str(model)))
    assert again.fingerprint() in driver.fingerprint().replace(f", {driver.corpus.fingerprint()}", "")
    tuned.close()


def test_frozen_weights_of_the_text_encoder_are_not_in_the_model(graph, learning, tmp_path):
    _, model = aligned(graph, learning, tmp_path)
    tuned = opened(SeptaTextEncoder(encoder=learning, path=str(model)))
    assert np.allclose(tuned.learner().text.rows.weight.detach(), np.eye(64))
    assert learning.fingerprint() in tuned.fingerprint()


def test_an_index_of_another_alignment_is_stale(graph, learning, tmp_path):
    texts = []
    for name, frozen in (("one", True), ("other", False)):
        driver, model = aligned(graph, learning, tmp_path / name, frozen=frozen)
        texts.append(opened(SeptaTextEncoder(encoder=learning, path=str(model))))
    index_of(graph, driver, texts[1], tmp_path / "index").close()
    opened(ExactIndex(path=str(tmp_path / "index"), encoder=texts[1])).close()
    with pytest.raises(DriverError, match="build"):
        opened(ExactIndex(path=str(tmp_path / "index"), encoder=texts[0]))


def test_an_encoder_without_weights_to_train_is_refused(graph, tmp_path):
    with pytest.raises(DriverError, match="name `transformers`, or set `frozen: true`"):
        aligned(graph, opened(ToyEncoder(dimensions=64)), tmp_path, frozen=False)


@pytest.fixture
def asked(graph, learning, tmp_path):
    """An index, and questions whose right option no vector tells before a training."""
    graphs = opened(SeptaGraphEncoder(graph=graph, encoder=learning))
    index = index_of(graph, graphs, opened(SeptaTextEncoder(encoder=learning)), tmp_path / "index")
    questions = [
        Question(str(i), "Which is odd", options=(one, other), answers=(one if i % 2 else other,))
        for i, (one, other) in enumerate(itertools.pairwise(TOWNS))
    ]
    expander = opened(IndexExpander(index=index, graph=graph, k=3, budget=Budget(triples=30)))
    found = expander.expand([q.without_gold() for q in questions])
    return index, [TrainingExample(q, subgraph=s) for q, s in zip(questions, found, strict=True)]


def fitted(reader, examples, folder, **changes):
    settings = {"epochs": 3, "batch_size": 8, "encoder_rate": 0.05, "validation": 0, "patience": None, **changes}
    reader.fit(TrainingTask(examples, None, folder), OptionsFitSettings(**settings))
    answers = reader.read([e.question for e in examples], [e.subgraph for e in examples])
    return [answer.trace["scores"] for answer in answers]


@pytest.mark.parametrize("model", [False, True])
def test_a_reader_with_an_encoder_that_learnt_is_read_back(graph, learning, asked, tmp_path, accelerator, model):
    index, examples = asked
    path = str(aligned(graph, learning, tmp_path, frozen=False)[1]) if model else None

    def reader(**changes):
        encoder = opened(SeptaTextEncoder(encoder=learning, path=path))
        return opened(OptionsReader(index=index, encoder=encoder, direct=learning, **changes))

    before = reader().fingerprint()
    one = reader()
    scores = fitted(one, examples, tmp_path / "reader", frozen=False, accelerator=accelerator)
    one.save(tmp_path / "saved")
    again = reader(path=str(tmp_path / "saved"))
    assert again.fingerprint() == one.fingerprint() != before
    answers = again.read([e.question for e in examples], [e.subgraph for e in examples])
    assert [answer.trace["scores"] for answer in answers] == scores
    # Frozen, the layers alone learn other scores.
    assert fitted(reader(), examples, tmp_path / "frozen") != scores
    assert reader().fingerprint() == before


def test_an_encoder_that_learns_gets_the_searches_and_the_plain_texts(graph, learning, asked, tmp_path):
    index, examples = asked
    reader = opened(OptionsReader(index=index, encoder=learning))
    fitted(reader, examples, tmp_path, frozen=False)
    (one,) = reader._vectors([examples[0].question], [examples[0].subgraph])
    tuned = reader._tuned
    texts = [search.text for search in examples[0].subgraph.searches[:2]]
    assert np.allclose(one.searches, tuned.encode(texts), atol=1e-6)
    assert np.allclose(one.plain, tuned.encode([f"Which is odd {o}" for o in examples[0].question.options]), atol=1e-6)
    assert not np.allclose(one.searches, learning.encode(texts), atol=1e-3)


def test_a_gpu_that_is_not_there_is_named(learning, asked, tmp_path, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    index, examples = asked
    reader = opened(OptionsReader(index=index, encoder=learning))
    with pytest.raises(DriverError, match="there is no GPU here; set accelerator: auto, or cpu"):
        fitted(reader, examples, tmp_path, frozen=False, accelerator="gpu")


class Counting(torch.nn.Module):
    """Encode each token row as its first two numbers, and count the rows."""

    rows = 0

    def forward(self, rows):
        self.rows += len(rows)
        return torch.tensor([row[:2] for row in rows], dtype=torch.float32)


def option_vectors_of(texts, plain, learnt):
    """Make a question's vectors: unit vectors of token rows, or zeros beside the rows for an encoder that learns."""
    rows = [unit(np.array(some, dtype=np.float32)) for some in (texts, plain)]
    given = [np.zeros_like(row) for row in rows] if learnt else rows
    size = len(texts)
    entries, similarities = np.ones((size, 1, 2), dtype=np.float32), np.zeros((size, 4), dtype=np.float32)
    return OptionVectors(given[0], entries, np.ones(size, dtype=np.int64), given[1], similarities, (texts, plain))


def test_rows_of_the_text_encoder_stand_at_their_options():
    torch.manual_seed(0)
    network = OptionNetwork(2, 2, 1, None)
    for linear in (network.know, network.direct):
        torch.nn.init.normal_(linear.weight)
    texts = [([[1, 2], [3, 1]], [[2, 5], [1, 7]]), ([[4, 1], [1, 1], [0, 3]], [[1, 4], [6, 1], [2, 2]])]
    questions, wanted = ([option_vectors_of(*both, learnt) for both in texts] for learnt in (True, False))
    found = OptionLearner(network, Counting())(questions)
    torch.testing.assert_close(found, OptionLearner(network)(wanted))
    assert found[0, 2] == -torch.inf


@pytest.mark.parametrize(("knowledge", "rows"), [(None, 3), (0.0, 2), (1.0, 2)])
def test_texts_are_encoded_once_and_not_at_all_where_lambda_leaves_them_out(knowledge, rows):
    text = Counting()
    OptionLearner(OptionNetwork(2, 2, 1, knowledge), text)(
        [option_vectors_of([[1, 2], [3, 1]], [[2, 5], [1, 2]], True)]
    )
    assert text.rows == rows


def test_texts_stand_beside_others_of_their_length():
    widths = []

    class Padding(Counting):
        def forward(self, rows):
            widths.append((len(rows[0]), len(rows[-1])))
            return super().forward(rows)

    tokens = [[[1, number, *[1] * (number % 9)] for number in range(part, part + 100)] for part in (1, 101)]
    one = attrs.evolve(option_vectors_of([[1, 1]] * 100, [[1, 1]] * 100, True), tokens=tokens)
    OptionLearner(OptionNetwork(2, 2, 1, None), Padding())([one])
    assert len(widths) == 4
    assert [short for short, _ in widths] == sorted(short for short, _ in widths)
    assert all(short <= long <= short + 3 for short, long in widths)


def test_a_cpu_computes_in_whole_precision():
    with half(torch.device("cpu")):
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.float32
