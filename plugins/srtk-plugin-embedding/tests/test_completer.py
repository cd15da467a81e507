"""The ``embedding`` completer: what it learns, what it keeps, and what it refuses."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_embedding.completer import EmbeddingCompleter, _rounded
from srtk_plugin_embedding.fit_settings import EmbeddingFitSettings
from srtk_plugin_embedding.scoring import KINDS
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework.records import checked, with_checksum
from srtk_framework.roles import TrainingTask
from srtk_framework.values import DriverError, Pattern, Triple, confidence

PAIRS = 24
FACTS = [
    *[(f"p{i:02}", "lives_in", f"city{i % 4}") for i in range(PAIRS)],
    *[(f"p{i:02}", "citizen_of", f"land{i % 4}") for i in range(PAIRS)],
    *[(f"city{i}", "part_of", f"land{i}") for i in range(4)],
    ("p00", "height", '"170"^^xsd:integer'),
]
HELD_OUT = [Triple(f"p{i:02}", "citizen_of", f"land{i % 4}") for i in (1, 6, 11, 16)]


def graph(facts=FACTS):
    made = MemoryGraph(triples=[list(fact) for fact in facts])
    made.open()
    return made


def files(folder):
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


def saved(completer, folder):
    completer.save(folder)
    return files(folder)


def opened(path, facts=FACTS, **settings):
    completer = EmbeddingCompleter(graph=graph(facts), path=str(path), **settings)
    completer.open()
    return completer


@pytest.mark.parametrize("kind", KINDS)
def test_a_fact_that_is_held_out_is_proposed_first(kind, trained):
    given = graph([fact for fact in FACTS if fact not in HELD_OUT])
    completer = trained(given, kind, epochs=80)
    rows = completer.complete([Pattern(s, r) for s, r, _ in HELD_OUT], 1)
    assert sum(row[0].triple == fact for row, fact in zip(rows, HELD_OUT, strict=True)) >= 3


@pytest.mark.parametrize(("twins", "learnt"), [(0.6, len(FACTS) - 1 + PAIRS - 8), (None, len(FACTS) - 1 + PAIRS - 4)])
def test_a_twin_of_a_held_out_fact_is_not_learnt(tmp_path, twins, learnt):
    """The countries say by `has_citizen` what is held out of `citizen_of`; the height is no triple of entities."""
    inverses = [(o, "has_citizen", s) for s, r, o in FACTS if r == "citizen_of"]
    completer = EmbeddingCompleter(graph=graph([*FACTS, *inverses]))
    completer.open()
    settings = EmbeddingFitSettings(dimensions=4, epochs=1, twins=twins)
    figures = completer.fit(TrainingTask([], None, tmp_path, held_out=HELD_OUT), settings)
    assert (figures["triples"], figures["twin_triples"]) == (learnt, 4 if twins else 0)


def test_confidences_are_shares_of_all_entities(trained):
    completer = trained(graph(), held_out=HELD_OUT)
    pattern = Pattern("p01", "lives_in")
    (row,) = completer.complete([pattern], None)
    stored = completer.rate([pattern], [["city1"]])[0][0]
    assert sum(one.confidence for one in row) + stored == pytest.approx(1, abs=1e-4)
    assert len(row) == PAIRS + 8 - 1


@given(st.lists(st.floats(0, 1), min_size=1))
def test_rates_are_rounded_like_confidences(shares):
    assert _rounded(np.array(shares)).tolist() == pytest.approx([confidence(share) for share in shares], rel=1e-9)


def test_evidence_names_the_model_and_its_score(trained):
    completer = trained(graph(), "rotate")
    (row,) = completer.complete([Pattern("p01", "lives_in")], 1)
    (evidence,) = row[0].evidence
    assert evidence.kind == "model"
    assert evidence.text == f"RotatE scores it {evidence.score:.2f}"
    assert evidence.source == f"embedding:{completer._model.fingerprint()}"


def test_batches_and_limits_do_not_change_completions(trained):
    completer = trained(graph())
    patterns = [Pattern(f"p{i:02}", "citizen_of") for i in range(PAIRS)] * 2
    together = completer.complete(patterns, 5)
    assert together == [completer.complete([pattern], None)[0][:5] for pattern in patterns]


def test_a_saved_embedding_completes_the_same(trained, tmp_path):
    completer = trained(graph(), held_out=HELD_OUT)
    saved(completer, tmp_path / "model")
    again = opened(tmp_path / "model")
    patterns = [Pattern("p03", "citizen_of"), Pattern(None, "lives_in", "city2")]
    assert again.complete(patterns, None) == completer.complete(patterns, None)
    assert again.fingerprint() == completer.fingerprint()
    assert saved(again, tmp_path / "again") == files(tmp_path / "model")


def test_an_equal_seed_gives_equal_bytes(trained, tmp_path):
    one, other = (saved(trained(graph(), folder=name), tmp_path / f"{name}-model") for name in ("one", "other"))
    assert one == other


def test_a_stopped_training_goes_on_to_the_same_bytes(trained, tmp_path, monkeypatch):
    from srtk_plugin_embedding import lightning_module

    whole = saved(trained(graph(), held_out=HELD_OUT, folder="whole", patience=None), tmp_path / "whole-model")
    finish = lightning_module.EmbeddingModule.on_train_epoch_end

    def stop(module):
        if module.current_epoch == 6:
            raise KeyboardInterrupt
        finish(module)

    monkeypatch.setattr(lightning_module.EmbeddingModule, "on_train_epoch_end", stop)
    with pytest.raises(KeyboardInterrupt):
        trained(graph(), held_out=HELD_OUT, folder="stopped", patience=None)
    assert [file.name for file in (tmp_path / "stopped" / "checkpoints").iterdir()] == ["epoch-000003.ckpt"]
    monkeypatch.undo()
    assert saved(trained(graph(), held_out=HELD_OUT, folder="stopped", patience=None), tmp_path / "model") == whole


def test_a_finished_training_is_not_trained_further(trained, tmp_path):
    one = saved(trained(graph(), held_out=HELD_OUT), tmp_path / "one")
    logs = len(list((tmp_path / "training" / "log").iterdir()))
    assert saved(trained(graph(), held_out=HELD_OUT), tmp_path / "other") == one
    assert len(list((tmp_path / "training" / "log").iterdir())) == logs


def test_training_stops_when_held_out_facts_are_ranked_no_better(trained, tmp_path):
    completer = trained(graph(), held_out=HELD_OUT, epochs=400, validate_every=2, patience=2)
    completer.save(tmp_path / "model")
    figures = json.loads((tmp_path / "model" / "embedding.json").read_text())["training"]
    assert figures["epochs"] < 396
    assert figures["mrr"] > 0.2


def test_the_figures_are_returned(tmp_path):
    completer = EmbeddingCompleter(graph=graph())
    completer.open()
    task = TrainingTask([], lambda: {"mrr": 0.25}, tmp_path, held_out=HELD_OUT)
    figures = completer.fit(task, EmbeddingFitSettings(dimensions=4, epochs=2, accelerator="cpu"))
    assert figures["mrr"] == 0.25, "the metrics of the recipe's validation come last"
    assert figures["triples"] == len(FACTS) - 1 - len(HELD_OUT)
    assert figures["held_out"] == len(HELD_OUT)


def test_held_out_facts_are_not_learnt(trained, tmp_path):
    lonely = Triple("nobody", "lives_in", "city1")
    without = saved(trained(graph(), folder="without", epochs=4), tmp_path / "without-model")
    completer = trained(graph([*FACTS, lonely]), held_out=[lonely], epochs=4)
    with_it = saved(completer, tmp_path / "model")
    assert with_it["embedding.safetensors"] == without["embedding.safetensors"]
    assert completer.complete([Pattern("nobody", "lives_in")], None) == [[]]
    assert completer.rate([Pattern("p01", "lives_in")], [["nobody"]]) == [[0.0]]


def test_an_embedding_serves_its_graph_with_and_without_the_held_out_facts(trained, tmp_path):
    trained(graph(), held_out=HELD_OUT).save(tmp_path / "model")
    hidden = opened(tmp_path / "model", [fact for fact in FACTS if fact not in HELD_OUT])
    pattern = Pattern(*HELD_OUT[0][:2])
    assert HELD_OUT[0] in [one.triple for one in hidden.complete([pattern], None)[0]]
    assert HELD_OUT[0] not in [one.triple for one in opened(tmp_path / "model").complete([pattern], None)[0]]


def test_an_embedding_of_another_graph_is_refused(trained, tmp_path):
    trained(graph()).save(tmp_path / "model")
    with pytest.raises(DriverError, match="was trained on another graph than memory:"):
        opened(tmp_path / "model", FACTS[1:])


def test_an_embedding_of_another_model_is_refused(trained, tmp_path):
    trained(graph(), "hole", epochs=4).save(tmp_path / "model")
    with pytest.raises(DriverError, match="is hole, not rotate; leave `model` out, or train it again"):
        opened(tmp_path / "model", model="rotate")


def test_a_folder_without_an_embedding_is_refused(tmp_path):
    assert EmbeddingCompleter(graph=graph(), path=str(tmp_path / "none")).preflight()[0][0] == "path"
    with pytest.raises(DriverError, match="cannot be read"):
        opened(tmp_path)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("embedding.json", with_checksum('{"format": "other"}')[0].encode(), "not srtk-embedding-1"),
        ("embedding.json", b"{", "is damaged"),
        ("embedding.safetensors", b"none", "embedding.safetensors: is truncated or damaged"),
    ],
)
def test_a_broken_file_is_refused(trained, tmp_path, file, content, message):
    trained(graph(), epochs=4).save(tmp_path / "model")
    (tmp_path / "model" / file).write_bytes(content)
    with pytest.raises(DriverError, match=message):
        opened(tmp_path / "model")


def test_weights_of_other_ids_are_refused(trained, tmp_path):
    trained(graph(), epochs=4).save(tmp_path / "model")
    file = tmp_path / "model" / "embedding.json"
    facts, _ = checked(file.read_bytes(), file, "")
    file.write_text(with_checksum(json.dumps({**facts, "entities": facts["entities"][1:]}))[0])
    with pytest.raises(DriverError, match=r"its vectors do not fit its ids"):
        opened(tmp_path / "model")


def test_an_untrained_completer_says_how_to_train():
    completer = EmbeddingCompleter(graph=graph())
    completer.open()
    with pytest.raises(DriverError, match="the embedding is not trained: add `train:"):
        completer.complete([Pattern("p01", "lives_in")], 1)


def test_a_graph_of_literals_alone_cannot_be_learnt(trained):
    with pytest.raises(DriverError, match="has no triple between entities to learn from"):
        trained(graph(FACTS[-1:]))


def test_a_loss_that_is_not_finite_is_an_error(trained):
    with pytest.raises(DriverError, match="lower learning_rate or raise regulariser"):
        trained(graph(), learning_rate=1e30)


@pytest.mark.parametrize("dimensions", [0, 7])
def test_dimensions_are_even(dimensions):
    with pytest.raises(ValueError, match="give an even number"):
        EmbeddingFitSettings(dimensions=dimensions)


def test_a_sample_of_negatives_estimates_the_loss_over_all_entities(tmp_path):
    torch = pytest.importorskip("torch")
    from srtk_plugin_embedding import lightning_module
    from srtk_plugin_embedding.query_answers import QueryAnswers

    from srtk_framework.graph import TripleTable

    table = TripleTable.from_triples(Triple(f"e{i:03}", "r", f"e{(i * 7 + 1) % 400:03}") for i in range(400))
    queries = QueryAnswers.of(table)

    def losses(negatives, times):
        settings = EmbeddingFitSettings(dimensions=8, negatives=negatives)
        module = lightning_module.EmbeddingModule("complex", queries, table, settings, None, tmp_path, 0)
        with torch.no_grad():
            module.entities.mul_(800)
            module.relations.mul_(800)
        batch = np.arange(32)
        answers, rows = queries.of_queries(batch)
        return [float(module._loss(batch, answers, rows, np.random.default_rng(i)).detach()) for i in range(times)]

    (exact,) = losses(None, 1)
    estimates = losses(100, 40)
    assert np.std(estimates) > 0
    assert np.mean(estimates) == pytest.approx(exact, rel=0.02)
