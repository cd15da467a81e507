"""Wiki27K as claims in a store, and as a table in a snapshot: the same records for real questions."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_local.snapshot.build import build
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_wikidata.vocabulary import NOISE

from srtk_framework.recipe import load
from srtk_framework.run import Runner

DATA = Path(os.environ.get("SRTK_DATA", Path(__file__).parents[4] / "shared" / "data")) / "wiki27k"


def run(folder: Path, name: str, graph: str) -> list[dict[str, Any]]:
    (folder / f"{name}.yaml").write_text(
        f"""
        srtk: 1
        questions: {folder}/questions.jsonl
        knowledge_graph: {graph}
        expander: {{use: bfs, depth: 2}}
        budget: {{triples: 300, hub: 20}}
        output: {folder}/{name}
        exporters: [{{use: jsonl, path: {folder}/{name}.jsonl}}]
        """,
        encoding="utf-8",
    )
    assert Runner(load(folder / f"{name}.yaml")).run().failed == 0
    lines = (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [{key: value for key, value in json.loads(line).items() if key != "provenance"} for line in lines]


@pytest.mark.slow
def test_real_questions_give_the_same_records_on_a_store_and_on_a_snapshot(
    store_of: Callable[[str], Path], claims: Callable[[list[str]], str], tmp_path: Path
) -> None:
    if not DATA.is_dir():
        pytest.skip("no wiki27k in the data folder; set SRTK_DATA")
    files = [DATA / f"{name}.txt" for name in ("train", "valid", "test")]
    rows = sorted({line for file in files for line in file.read_text(encoding="utf-8").splitlines() if line})
    lines = (DATA / "entity2label.txt").read_text(encoding="utf-8").splitlines()
    labels = dict(line.split("\t") for line in lines if "\t" in line)
    labels.update(json.loads((DATA / "relation2label.json").read_text(encoding="utf-8")))
    (tmp_path / "labels.tsv").write_text("".join(f"{id_}\t{text}\n" for id_, text in labels.items()), encoding="utf-8")
    named = "".join(f"wd:{id_} rdfs:label {json.dumps(text)}@en .\n" for id_, text in labels.items())
    store = store_of(claims(rows) + named)
    settings = BuildSettings(files=tuple(map(str, files)), labels=(str(tmp_path / "labels.tsv"),), noise=NOISE)
    build(settings, tmp_path / "snapshot")
    with (DATA / "derived" / "mintaka_reachable.jsonl").open(encoding="utf-8") as given:
        questions = [json.loads(line) for line in given]
    kept = [{"id": q["id"], "question": q["question"], "question_entities": q["topic_entities"]} for q in questions]
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(q) + "\n" for q in kept), encoding="utf-8")
    local = run(tmp_path, "local", f"{{use: local, path: {tmp_path}/snapshot}}")
    wikidata = run(tmp_path, "wikidata", f"{{use: wikidata, endpoint: {store}}}")
    assert len(local) == len(questions)
    assert sum(len(record["triplets"]) for record in local) > 1000
    assert wikidata == local
