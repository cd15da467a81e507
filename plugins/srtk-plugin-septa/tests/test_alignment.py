"""Training: the loss, what it teaches, and what it leaves in a folder."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import attrs
import numpy as np
import pytest
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_septa.fit_settings import SeptaFitSettings
from srtk_plugin_septa.graph_encoder import SeptaGraphEncoder
from srtk_plugin_septa.model import SeptaModel
from srtk_plugin_septa.model_files import check_encoder
from srtk_plugin_septa.pairs import recall
from srtk_plugin_septa.subgraphs import SubgraphCorpus
from srtk_plugin_septa.text_encoder import SeptaTextEncoder

from srtk_framework.records import with_checksum
from srtk_framework.roles import Corpus, TrainingTask
from srtk_framework.testing import ToyEncoder
from srtk_framework.values import DriverError

torch = pytest.importorskip("torch")
pytest.importorskip("lightning")

SMALL = {"hidden": 32, "epochs": 3, "batch_size": 32, "accelerator": "cpu", "patience": None}


def opened(driver):
    driver.open()
    return driver


def world() -> MemoryGraph:
    """Make people who were born in one town, work in another, and know each other."""
    random = np.random.default_rng(0)
    people = [f"person {number:03}" for number in range(120)]
    towns = [f"town {''.join(chr(97 + c) for c in random.integers(0, 26, 5))}" for _ in range(40)]
    facts = [(one, "bornIn", towns[random.integers(40)]) for one in people]
    facts += [(one, "worksIn", towns[random.integers(40)]) for one in people]
    facts += [(one, "knows", people[random.integers(120)]) for one in people]
    return opened(MemoryGraph(triples=facts))


def learner(graph, **changes) -> SeptaGraphEncoder:
    corpus = opened(SubgraphCorpus(graph=graph, hops=1, fan=[6]))
    return opened(
        SeptaGraphEncoder(**{"graph": graph, "encoder": opened(ToyEncoder(dimensions=64)), "corpus": corpus, **changes})
    )


def rows(*vectors):
    return torch.tensor(vectors, dtype=torch.float64)


def info_nce(*arguments):
    from srtk_plugin_septa.alignment import info_nce

    return tuple(float(loss) for loss in info_nce(*arguments))


def test_the_golden_losses():
    unit = rows([1, 0], [0, 1])
    assert info_nce(unit, unit, 1.0) == pytest.approx((0.313262, 0.313262), abs=1e-6)
    assert info_nce(unit, unit, 0.5) == pytest.approx((0.126928, 0.126928), abs=1e-6)
    assert info_nce(unit, unit.flip(0), 1.0) == pytest.approx((1.313262, 1.313262), abs=1e-6)


def test_the_two_directions_of_the_loss_differ():
    there, back = info_nce(rows([1, 0], [1, 0]), rows([1, 0], [0, 1]), 1.0)
    assert (there, back) == pytest.approx((0.813262, 0.693147), abs=1e-6)
    assert (there + back) / 2 == pytest.approx(0.753204, abs=1e-6)


def test_pairs_with_equal_texts_are_no_negatives_of_each_other():
    e, h = rows([1, 0], [1, 0], [0, 1]), rows([1, 0], [1, 0], [0, 1])
    same = torch.tensor([4, 4, 9])
    there, back = info_nce(e, h, 1.0, same[:, None] == same[None, :])
    one = math.log(1 + math.exp(-1))
    # The third still has both twins as negatives.
    third = math.log(1 + 2 * math.exp(-1))
    assert there == pytest.approx((2 * one + third) / 3, abs=1e-6)
    assert back == pytest.approx(there, abs=1e-9)
    assert info_nce(e, h, 1.0)[0] > there


def test_a_text_that_another_subgraph_holds_is_no_negative_of_that_one_alone():
    e, h = rows([1, 0], [0, 1]), rows([1, 0], [1, 1])
    held = torch.tensor([[True, False], [True, True]])  # the second subgraph holds the first text, too
    there, back = info_nce(e, h, 1.0, held)
    half = 0.5**0.5
    assert there == pytest.approx(math.log(1 + math.exp(half - 1)) / 2, abs=1e-6)
    assert back == pytest.approx(math.log(2) / 2, abs=1e-6)


def test_recall_counts_equal_texts_as_the_own_one():
    e = np.eye(3, dtype=np.float32)
    h = e[[1, 0, 2]]
    assert recall(e, h, np.array([0, 1, 2])) == pytest.approx((1 / 3, 1 / 3))
    assert recall(e, h, np.array([0, 0, 2])) == pytest.approx((1, 1))


TEMPLATES = """\
bornIn\t[Y] is where the life of [X] once began, on some bright summer morning long ago
worksIn\t[Y] pays the wages that keep [X] fed and clothed throughout every winter
knows\t[X] has on many an occasion shaken hands and spoken at length with [Y]
"""


@pytest.mark.slow
def test_training_finds_more_partners_than_the_means_of_labels(tmp_path):
    (tmp_path / "templates.tsv").write_text(TEMPLATES)
    graph = world()
    corpus = SubgraphCorpus(graph=graph, hops=1, fan=[6], templates=str(tmp_path / "templates.tsv"), tokens=20)
    driver = learner(graph, corpus=opened(corpus))
    entries = list(driver.corpus.read())
    number = {text: at for at, text in enumerate(sorted({entry.text for entry in entries}))}
    same = np.array([number[entry.text] for entry in entries])

    def recalls(texts):
        e = driver.encode([x.triples for x in entries], [x.id for x in entries])
        return np.mean(recall(e, texts.encode([x.text for x in entries]), same))

    before = recalls(driver.encoder)
    figures = driver.fit(TrainingTask([], None, tmp_path / "t"), SeptaFitSettings(**{**SMALL, "epochs": 12}))
    driver.save(tmp_path / "model")
    after = recalls(opened(SeptaTextEncoder(encoder=driver.encoder, path=str(tmp_path / "model"))))
    assert after > before + 0.1, (before, after)
    assert figures["held_out_subgraphs"] == len(entries) // 10
    assert figures["subgraphs"] == len(entries) - len(entries) // 10


@pytest.mark.slow
def test_views_bring_a_clause_near_to_a_subgraph_that_holds_it(tmp_path):
    graph = world()
    entries = list(learner(graph).corpus.read())
    facts = sorted({fact for entry in entries for fact in entry.triples})[:200]
    words = {"bornIn": "born In", "worksIn": "works In", "knows": "knows"}

    def missed(views):
        """Return the share of clauses whose nearest subgraph lacks the triple."""
        driver = learner(graph)
        settings = SeptaFitSettings(**{**SMALL, "epochs": 12, "views": views})
        driver.fit(TrainingTask([], None, tmp_path / str(views)), settings)
        driver.save(tmp_path / str(views) / "model")
        texts = opened(SeptaTextEncoder(encoder=driver.encoder, path=str(tmp_path / str(views) / "model")))
        e = driver.encode([x.triples for x in entries], [x.id for x in entries])
        h = texts.encode([f"{s} {words[r]} {o}" for s, r, o in facts])
        nearest = np.argmax(h @ (e / np.linalg.norm(e, axis=1, keepdims=True)).T, axis=1)
        return np.mean([fact not in entries[at].triples for fact, at in zip(facts, nearest, strict=True)])

    assert missed(2) < 0.7 * missed(0)


def test_a_model_whose_head_reads_other_vectors_is_refused(tmp_path):
    model = SeptaModel.untrained(opened(ToyEncoder(dimensions=64)))
    attrs.evolve(model, graph={**model.graph, "head.weight": model.graph["head.weight"][:, 64:]}).save(tmp_path)
    with pytest.raises(DriverError, match="of another version; train the model again"):
        SeptaModel.read(tmp_path)


@pytest.mark.parametrize("name", ["weight", "bias"])
def test_a_model_of_which_a_part_of_the_head_has_another_shape_is_refused(tmp_path, name):
    model = SeptaModel.untrained(opened(ToyEncoder(dimensions=64)))
    attrs.evolve(model, **{name: getattr(model, name)[:8]}).save(tmp_path)
    with pytest.raises(DriverError, match=r"do not fit septa\.json"):
        SeptaModel.read(tmp_path)


def test_a_saved_model_encodes_the_same_in_a_new_driver(tmp_path):
    graph = world()
    driver = learner(graph)
    driver.fit(TrainingTask([], None, tmp_path / "t"), SeptaFitSettings(**SMALL))
    driver.save(tmp_path / "model")
    other = opened(SeptaGraphEncoder(graph=graph, encoder=driver.encoder, path=str(tmp_path / "model")))
    (entry, *_) = driver.corpus.read()
    assert np.array_equal(driver.encode([entry.triples], [entry.id]), other.encode([entry.triples], [entry.id]))
    untrained = opened(SeptaGraphEncoder(graph=graph, encoder=driver.encoder))
    assert len({one.fingerprint() for one in (driver, other, untrained)}) == 3
    learnt = other.fingerprint().rpartition(", ")[2].rstrip(")")
    assert learnt in driver.fingerprint()
    assert "untrained" in untrained.fingerprint()
    assert other.weights_folder() == tmp_path / "model"
    with pytest.raises(DriverError, match="has other vectors"):
        opened(SeptaTextEncoder(encoder=opened(ToyEncoder(dimensions=64, letters=2)), path=str(tmp_path / "model")))


def resealed(data: bytes, old: bytes, new: bytes) -> bytes:
    """Change the content of a file as a stranger may, with its checksum."""
    return with_checksum(re.sub(rb', "checksum".*', b"}", data.replace(old, new)).decode())[0].encode()


@pytest.mark.parametrize(
    ("file", "change", "fault"),
    [
        ("septa.json", lambda data: data[:20], r"is damaged.*; train it again"),
        ("septa.json", lambda data: resealed(data, b'"shape"', b'"form"'), "holds another kind of model"),
        ("septa.json", lambda data: resealed(data, b'"layers":2', b'"layers":3'), r"do not fit septa\.json; train"),
        ("septa.json", lambda data: resealed(data, b'"layers":2', b'"layers":"2"'), r"do not fit septa\.json; train"),
        ("septa.json", lambda data: resealed(data, b'"dimensions":64', b'"dimensions":8'), r"do not fit septa\.json"),
        ("septa.safetensors", lambda data: data[:-9], r"safetensors: is truncated or damaged.*; train it again"),
        ("septa.safetensors", lambda data: b"\xff" * 8 + data[8:], r"safetensors: is damaged: block 1"),
    ],
)
def test_a_damaged_model_is_refused_by_a_sentence(tmp_path, file, change, fault):
    graph = world()
    driver = learner(graph)
    driver.fit(TrainingTask([], None, tmp_path / "t"), SeptaFitSettings(**{**SMALL, "epochs": 1}))
    driver.save(tmp_path / "model")
    path = tmp_path / "model" / file
    before = path.read_bytes()
    path.write_bytes(change(before))
    assert path.read_bytes() != before
    with pytest.raises(DriverError, match=fault) as caught:
        opened(SeptaGraphEncoder(graph=graph, encoder=driver.encoder, path=str(tmp_path / "model")))
    assert "\n" not in str(caught.value)


def weights(folder):
    return (folder / "septa.safetensors").read_bytes()


@pytest.mark.slow
def test_an_interrupted_training_gives_the_bytes_of_one_that_was_not(tmp_path):
    graph = world()

    def trained(folder, **changes):
        driver = learner(graph)
        driver.fit(TrainingTask([], None, folder), SeptaFitSettings(**{**SMALL, **changes}))
        driver.save(folder / "model")
        return weights(folder / "model")

    whole = trained(tmp_path / "whole")
    assert trained(tmp_path / "again") == whole
    from srtk_plugin_septa.alignment import AlignmentModule

    stops = AlignmentModule.on_train_epoch_start

    def stop(self):
        if self.current_epoch == 2:
            raise RuntimeError("stopped")
        stops(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AlignmentModule, "on_train_epoch_start", stop)
        with pytest.raises(RuntimeError, match="stopped"):
            trained(tmp_path / "part")
    assert list((tmp_path / "part/checkpoints").glob("*.ckpt"))
    assert trained(tmp_path / "part") == whole
    shutil.rmtree(tmp_path / "part")
    assert trained(tmp_path / "part", learning_rate=0.01) != whole


def test_facts_cannot_be_held_out(tmp_path):
    graph = world()
    (fact, *_) = next(iter(SubgraphCorpus(graph=graph).read())).triples
    with pytest.raises(DriverError, match=r"fit\.validation"):
        learner(graph).fit(TrainingTask([], None, tmp_path, held_out=[fact]), SeptaFitSettings(**SMALL))


def test_one_subgraph_is_too_few(tmp_path):
    graph = world()
    corpus = opened(SubgraphCorpus(graph=graph, hops=1, fan=[6], centres=["person 000"]))
    with pytest.raises(DriverError, match="two are the least"):
        learner(graph, corpus=corpus).fit(TrainingTask([], None, tmp_path), SeptaFitSettings(**SMALL))


def test_a_model_that_is_not_there_is_named(tmp_path):
    with pytest.raises(DriverError, match=r"septa\.json cannot be read"):
        learner(world(), path=str(tmp_path))


@pytest.mark.parametrize(("size", "devices"), [(8, 2), (7, 2), (5, 4)])
def test_the_loss_of_gathered_parts_and_its_gradient_are_those_of_the_whole_batch(tmp_path, size, devices):
    from srtk_plugin_septa.alignment import AlignmentModule, part_of
    from srtk_plugin_septa.pairs import Pairs
    from srtk_plugin_septa.shape import Shape

    graph = world()
    driver = learner(graph)
    pairs = Pairs.of(list(driver.corpus.read()), graph, driver.encoder, 2)
    settings = SeptaFitSettings(**SMALL)
    numbers = np.arange(3, 3 + size)

    def gradients(rank, count):
        class Alone(AlignmentModule):
            """One of several devices, which also does the work of the others."""

            trainer = SimpleNamespace(world_size=count)
            global_rank = rank

            def all_gather(self, own, sync_grads):
                assert sync_grads
                every = [self._subgraphs(part_of(numbers, other, count)) for other in range(count)]
                assert torch.allclose(every[rank], own)
                return torch.stack(every)

        module = Alone(Shape(64, 64, 32, 2), pairs, numbers, numbers[:0], settings, tmp_path, 0)
        loss = module.loss(numbers, *module.encoded_by_all(numbers), np.random.default_rng(0))
        loss.backward()
        return [loss.detach(), *(parameter.grad for parameter in module.parameters())]

    whole = gradients(0, 1)
    for rank in range(devices):
        for one, other in zip(gradients(rank, devices), whole, strict=True):
            torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)


SCRIPT = """\
import json, os, sys
from pathlib import Path
import torch
from srtk_plugin_septa.fit_settings import SeptaFitSettings
from srtk_framework.roles import Corpus, TrainingTask
from test_alignment import SMALL, learner, world

torch.set_num_threads(1)
folder, devices, size = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
driver = learner(world())
more = {"devices": devices, "strategy": "ddp" if devices > 1 else "auto", "batch_size": size}
figures = driver.fit(TrainingTask([], None, folder), SeptaFitSettings(**{**SMALL, **more}))
if os.environ.get("LOCAL_RANK", "0") == "0":
    (folder / "figures.json").write_text(json.dumps(figures))
"""


@pytest.mark.slow
def test_two_processes_learn_what_one_does_with_the_batches_of_both(tmp_path):
    from safetensors.numpy import load_file

    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    path = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])

    def trained(name, devices, size):
        folder = tmp_path / name
        command = [sys.executable, str(script), str(folder), str(devices), str(size)]
        done = subprocess.run(
            command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=250, check=False
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return load_file(folder / "best.safetensors"), json.loads((folder / "figures.json").read_text())

    one, alone = trained("one", 1, 32)
    two, together = trained("two", 2, 16)
    assert together == pytest.approx(alone, abs=1e-3)
    for name, value in one.items():
        np.testing.assert_allclose(two[name], value, atol=2e-3)


@attrs.define(eq=False)
class Given(Corpus):
    """Entries as they are."""

    entries: list

    def read(self):
        yield from self.entries

    def fingerprint(self):
        return "given"


def test_entries_without_triples_or_text_teach_nothing_and_a_tenth_is_held_out(tmp_path):
    graph = world()
    entries = list(learner(graph).corpus.read())[:29]
    bad = [attrs.evolve(entries[0], id="bare", triples=()), attrs.evolve(entries[0], id="silent", text="")]

    def figures(validation, some):
        folder = tmp_path / f"{validation} {len(some)}"
        settings = SeptaFitSettings(**{**SMALL, "epochs": 1, "views": 0, "validation": validation})
        return learner(graph, corpus=Given(some)).fit(TrainingTask([], None, folder), settings)

    few, many = figures(1, entries + bad), figures(1000, entries + bad)
    assert (few["subgraphs"], few["held_out_subgraphs"]) == (28, 1)
    assert (many["subgraphs"], many["held_out_subgraphs"]) == (27, 2)
    assert "held_out_loss" not in few
    assert many["held_out_loss"] > 0
    assert figures(0, entries[:2])["subgraphs"] == 2
    with pytest.raises(DriverError, match="given has 1 subgraphs; two are the least"):
        figures(0, entries[:1] + bad)


def test_an_encoder_whose_vector_of_the_probe_is_nearly_the_same_is_taken():
    def vectors(cosine):
        return SimpleNamespace(encode=lambda texts: np.array([[3 * cosine, 3 * math.sqrt(1 - cosine**2)]]))

    probe = np.array([0.5, 0.0])
    check_encoder(vectors(0.9992), probe, "model")
    with pytest.raises(DriverError, match="not the one that the model was trained with"):
        check_encoder(vectors(0.9985), probe, "model")
    with pytest.raises(DriverError, match="has other vectors"):
        check_encoder(vectors(1.0), np.array([0.5, 0.0, 0.0]), "model")


def test_a_text_goes_through_the_weight_and_the_bias_of_the_head(tmp_path):
    encoder = opened(ToyEncoder(dimensions=8))
    model = SeptaModel.untrained(encoder)
    weight = np.random.default_rng(0).normal(size=(8, 8)).astype(np.float32)
    bias = np.arange(8, dtype=np.float32)
    attrs.evolve(model, weight=weight, bias=bias).save(tmp_path)
    texts = ["one", "another text", ""]
    found = opened(SeptaTextEncoder(encoder=encoder, path=str(tmp_path))).encode(texts)
    np.testing.assert_allclose(found, encoder.encode(texts) @ weight.T + bias, rtol=1e-5, atol=1e-5)
    assert found.dtype == np.float32
    assert np.array_equal(opened(SeptaTextEncoder(encoder=encoder)).encode(texts), encoder.encode(texts))


def test_an_untrained_or_closed_encoder_has_no_model_to_save_and_no_folder(tmp_path):
    encoder = opened(ToyEncoder(dimensions=64))
    graphs, texts = opened(SeptaGraphEncoder(graph=world(), encoder=encoder)), opened(SeptaTextEncoder(encoder=encoder))
    assert graphs.weights_folder() is texts.weights_folder() is None
    with pytest.raises(DriverError, match="septa-graph has no trained model; train it, or name its folder in path"):
        graphs.save(tmp_path / "none")
    assert not (tmp_path / "none").exists()
    SeptaModel.untrained(encoder).save(tmp_path)
    read = opened(SeptaTextEncoder(encoder=encoder, path=str(tmp_path)))
    graph = opened(SeptaGraphEncoder(graph=graphs.graph, encoder=encoder, path=str(tmp_path)))
    assert read.weights_folder() == graph.weights_folder() == tmp_path
    for driver in (read, graph):
        driver.close()
        assert driver.weights_folder() is None
    with pytest.raises(DriverError, match="has no trained model"):
        graph.save(tmp_path)
    with pytest.raises(DriverError, match="open"):
        graph.encode([()], ["person 000"])
