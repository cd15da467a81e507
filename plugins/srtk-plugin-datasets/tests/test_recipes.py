"""The recipes for MetaQA and PathQuestion, on a few real questions."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from srtk_framework.recipe import load
from srtk_framework.run import Runner

ROOT = Path(__file__).parents[3]
DATA = Path(os.environ.get("SRTK_DATA", ROOT.parent / "shared" / "data"))


def ran(name: str, folder: str, out: Path, *sets: str) -> dict[str, float]:
    """Run a recipe on six questions and return the means of its beam."""
    if not (DATA / folder).is_dir():
        pytest.skip(f"no {folder} in the data folder; set SRTK_DATA")
    changes = [
        f"vars.data={DATA}", "vars.limit=6", "evaluate=true", "path_scorer.cache=",
        f"output={out}", f"exporters.0.path={out / 'subgraphs.jsonl'}", f"knowledge_graph.path={out / 'graph'}",
    ]  # fmt: skip
    outcome = Runner(load(ROOT / "recipes" / name, [*changes, *sets])).run()
    assert outcome.failed == 0
    records = [json.loads(line) for line in (out / "subgraphs.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(records) == 6
    methods = json.loads((out / "evaluation.json").read_text(encoding="utf-8"))["methods"]
    return {metric: value["mean"] for metric, value in methods["beam"].items()}


@pytest.mark.slow
@pytest.mark.parametrize("given", ["true", "false"])
def test_the_recipe_of_pathquestion_finds_gold_triples(tmp_path: Path, given: str) -> None:
    found = ran("pathquestion.yaml", "pathquestion", tmp_path, f"vars.given={given}")
    assert found["triple_recall"] >= 0.5
    assert found["triples"] <= 60


@pytest.mark.slow
@pytest.mark.parametrize("given", ["true", "false"])
def test_the_recipe_of_metaqa_finds_answers(tmp_path: Path, given: str) -> None:
    found = ran("metaqa.yaml", "metaqa", tmp_path, "vars.hops=1", f"vars.given={given}")
    assert found["answer_coverage"] >= 0.5
    assert found["triples"] <= 200
