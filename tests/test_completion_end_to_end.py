"""Answers held out of a graph, completed, evaluated: the run's figures are those of the completer itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from srtk_plugin_baselines.frequency import FrequencyCompleter
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework.cli import main
from srtk_framework.evaluation import TiedRanks, filtered_ranks, hits, reciprocal_ranks
from srtk_framework.graph import TripleTable
from srtk_framework.records import read_questions
from srtk_framework.values import Triple

TOWNS = 30
TRIPLES = [
    *((f"person{i}", "born_in", f"town{i * i % TOWNS}") for i in range(60)),
    *((f"person{i}", "lives_in", f"town{i * i * i % 7}") for i in range(60)),
    *((f"person{i}", "speaks", f"tongue {j}") for i in range(60) for j in range(4) if (i * j) % 3 < 2),
    *((f"town{i}", "in", f"land{i % 5}") for i in range(TOWNS)),
]


def held_out(tmp_path: Path, ends: str) -> Path:
    file = tmp_path / "world.tsv"
    file.write_text("".join("\t".join(triple) + "\n" for triple in TRIPLES), encoding="utf-8")
    assert main(["graph", "build", "--format", "tsv", "--out", str(tmp_path / "world"), str(file)]) == 0
    out = tmp_path / "held"
    flags = ["--queries", "25", "--share", "0.5", "--relation", "born_in", "--relation", "speaks", "--ends", ends]
    assert main(["graph", "hold-out", str(tmp_path / "world"), "--out", str(out), *flags]) == 0
    return out


def evaluation(held: Path, ends: str) -> dict[str, Any]:
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
            "least": 0,
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
