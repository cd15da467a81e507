"""Answers held out of a graph, completed, evaluated: the run's figures are those of the completer itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from srtk_plugin_baselines.frequency import FrequencyCompleter
from srtk_plugin_completers.calibrated import CalibratedCompleter, CalibrationTraining
from srtk_plugin_embedding.completer import EmbeddingCompleter
from srtk_plugin_embedding.fit_settings import EmbeddingFitSettings
from srtk_plugin_evaluation import TiedRanks, filtered_ranks, hits, reciprocal_ranks
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_training.graph import held_out_facts

from srtk_framework.cli import main
from srtk_framework.graph import TripleTable
from srtk_framework.records import read_questions
from srtk_framework.roles import TrainingTask
from srtk_framework.values import DriverError, Pattern, Triple

TOWNS = 30
TRIPLES = [
    *((f"person{i}", "born_in", f"town{i * i % TOWNS}") for i in range(60)),
    *((f"person{i}", "lives_in", f"town{i * i * i % 7}") for i in range(60)),
    *((f"person{i}", "speaks", f"tongue {j}") for i in range(60) for j in range(4) if (i * j) % 3 < 2),
    *((f"town{i}", "in", f"land{i % 5}") for i in range(TOWNS)),
]

LEAST = {"object": 0.03, "subject": 0.015}
"""A share of the triples that leaves some fillers out, and some right ones in."""


def held_out(tmp_path: Path, ends: str) -> Path:
    file = tmp_path / "world.tsv"
    file.write_text("".join("\t".join(triple) + "\n" for triple in TRIPLES), encoding="utf-8")
    assert main(["graph", "build", "--format", "tsv", "--out", str(tmp_path / "world"), str(file)]) == 0
    out = tmp_path / "held"
    flags = ["--queries", "25", "--share", "0.5", "--relation", "born_in", "--relation", "speaks", "--ends", ends]
    assert main(["graph", "hold-out", str(tmp_path / "world"), "--out", str(out), *flags]) == 0
    return out


def evaluation(held: Path, ends: str, least: float = 0) -> dict[str, Any]:
    """Run the questions on the masked graph as `frequency` completes it."""
    masked = {
        "use": "masked",
        "graph": {"use": "local", "path": str(held.parent / "world")},
        "hide": str(held / "hidden.tsv"),
    }
    recipe = {
        "srtk": 1,
        "questions": str(held / "patterns.jsonl"),
        "knowledge_graphs": {"stored": masked},
        "knowledge_graph": {
            "use": "completed",
            "graph": "stored",
            "completers": [{"use": "frequency", "graph": "stored"}],
            "least": least,
            "most": 1000,
            "ends": ends,
        },
        "expander": "pattern",
        "budget": {"triples": None, "hub": None},
        "evaluate": True,
        "output": str(held.parent / "run"),
    }
    file = held.parent / "run.yaml"
    file.write_text(json.dumps(recipe), encoding="utf-8")
    assert main(["run", str(file)]) == 0
    found: dict[str, Any] = json.loads((held.parent / "run" / "evaluation.json").read_text("utf-8"))
    return found


@pytest.mark.parametrize("end", ["object", "subject"])
def test_a_run_over_a_completed_graph_has_the_figures_of_its_completer(tmp_path: Path, end: str) -> None:
    held = held_out(tmp_path, end)
    report = evaluation(held, end)["completion"]
    hidden = {Triple(*line.split("\t")) for line in (held / "hidden.tsv").read_text("utf-8").splitlines()}
    left = [triple for triple in TRIPLES if Triple(*triple) not in hidden]
    graph = MemoryGraph(triples=left)
    graph.open()
    completer = FrequencyCompleter(graph=graph)
    completer.open()
    table = TripleTable.from_triples([Triple(*triple) for triple in TRIPLES])
    stored = table.without(hidden)
    # Rank the gold answers by the completer's own ratings of all entities; what it rates 0 it does not propose.
    found: list[TiedRanks] = []
    missed = 0
    for question in read_questions(str(held / "patterns.jsonl")):
        pattern = question.pattern
        assert pattern is not None
        number = table.relation_numbers[pattern.relation or ""]
        inverse = pattern.subject is None
        bound = table.entity_numbers[(pattern.object if inverse else pattern.subject) or ""]
        gold = [table.entity_numbers[answer] for answer in question.answers or ()]
        known = [*gold, *stored.fillers(bound, number, inverse).tolist()]
        rates = np.array(completer.rate([pattern], [table.entities]))
        for answer in gold:
            if rates[0, answer] > 0:
                found.append(filtered_ranks(rates, [answer], [known]))
            else:
                missed += 1
    ranks = TiedRanks(*(np.concatenate(column) for column in zip(*found, strict=True)))
    [metrics] = report["methods"].values()
    assert metrics["mrr"]["n"] == len(found) + missed
    assert metrics["mrr"]["mean"] == round(float(reciprocal_ranks(ranks).sum()) / (len(found) + missed), 4)
    assert metrics["hits_at_10"]["mean"] == round(float(hits(ranks, 10).sum()) / (len(found) + missed), 4)
    assert metrics["set_coverage"]["mean"] == round(len(found) / (len(found) + missed), 4)
    assert 0.05 < metrics["mrr"]["mean"] < 0.95
    assert set(report["slices"]) >= {"relation", "cardinality", "gold answers"}


@pytest.mark.parametrize("end", ["object", "subject"])
def test_precision_and_recall_of_left_out_answers_are_those_of_a_plain_count(tmp_path: Path, end: str) -> None:
    held = held_out(tmp_path, end)
    hidden = {tuple(line.split("\t")) for line in (held / "hidden.tsv").read_text("utf-8").splitlines()}
    left = [triple for triple in TRIPLES if triple not in hidden]
    bound, open_ = (0, 2) if end == "object" else (2, 0)
    precisions, recalls = [], []
    for bound_id, relation in sorted({(triple[bound], triple[1]) for triple in hidden}):
        ends = [triple[open_] for triple in left if triple[1] == relation]
        known = {triple[open_] for triple in left if (triple[bound], triple[1]) == (bound_id, relation)}
        wanted = {triple[open_] for triple in hidden if (triple[bound], triple[1]) == (bound_id, relation)}
        told = {one for one in ends if ends.count(one) / len(ends) >= LEAST[end]} - known
        recalls.append(len(told & wanted) / len(wanted))
        if told:
            precisions.append(len(told & wanted) / len(told))
    [metrics] = evaluation(held, end, LEAST[end])["completion"]["methods"].values()
    assert metrics["new_recall"]["n"] == len(recalls)
    assert metrics["new_recall"]["mean"] == round(sum(recalls) / len(recalls), 4)
    assert metrics["new_precision"]["n"] == len(precisions)
    assert metrics["new_precision"]["mean"] == round(sum(precisions) / len(precisions), 4)
    assert 0 < metrics["new_precision"]["mean"] < 1
    assert 0 < metrics["new_recall"]["mean"] < 1


def test_a_trained_embedding_is_calibrated_on_the_facts_that_it_has_not_seen(tmp_path: Path) -> None:
    """Both trainings hold out the same facts of the same graph, so that the embedding may be read over what is left."""
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    graph = MemoryGraph(triples=TRIPLES)
    graph.open()
    held = held_out_facts(TripleTable.of(graph), 0.2, seed=0)
    embedding = EmbeddingCompleter(graph=graph)
    embedding.open()
    small = EmbeddingFitSettings(dimensions=8, epochs=4, batch_size=32, validate_every=4, accelerator="cpu")
    embedding.fit(TrainingTask([], None, tmp_path / "training", held_out=held), small)
    embedding.save(tmp_path / "model")
    trained = EmbeddingCompleter(graph=graph, path=str(tmp_path / "model"))
    trained.open()
    calibrated = CalibratedCompleter(completer=trained, graph=graph)
    calibrated.open()
    figures = calibrated.fit(TrainingTask([], None, tmp_path, held_out=held), CalibrationTraining())
    assert figures["held_out"] == len(held)
    assert figures["right"] > 0
    pattern = Pattern("person1", "speaks", None)
    [row] = calibrated.complete([pattern], 5)
    [inner] = trained.complete([pattern], 5)
    assert {one.triple for one in row} <= {one.triple for one in trained.complete([pattern], None)[0]}
    assert row[0].evidence == inner[0].evidence
    other = CalibratedCompleter(completer=trained, graph=graph)
    other.open()
    with pytest.raises(DriverError, match="was trained on another graph"):
        other.fit(TrainingTask([], None, tmp_path, held_out=held[1:]), CalibrationTraining())
