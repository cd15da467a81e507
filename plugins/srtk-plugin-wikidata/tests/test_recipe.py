"""The recipe for Wikidata, offline from a record of a run against a server on loopback.

``SRTK_RECORD=1 pytest plugins/srtk-plugin-wikidata/tests/test_recipe.py`` writes the record anew.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from srtk_framework.recipe import load
from srtk_framework.records import checked_lines, with_checksum
from srtk_framework.run import Runner

ROOT = Path(__file__).parents[3]
DATA = Path(os.environ.get("SRTK_DATA", ROOT.parent / "shared" / "data")) / "wiki27k"
REPLAY = Path(__file__).parent / "replay"
QUESTIONS = ROOT / "recipes" / "files" / "wikidata-questions.jsonl"
ANSWERS = "answers.jsonl"
SOURCE = "http://127.0.0.1/query"

SUBJECTS = ("Q9325", "Q131402", "Q46033", "Q58226", "Q365", "Q8093", "Q34600")
LEFT_OUT = ("P190", "P47", "P463")


def sample() -> list[str]:
    """Take what the graph of the record holds from Wiki27K, as Turtle: claims of some subjects, and all labels."""
    if not DATA.is_dir():
        pytest.skip("no wiki27k in the data folder; set SRTK_DATA")
    rows = {
        tuple(line.split())
        for name in ("train", "valid", "test")
        for line in (DATA / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    }
    kept = sorted(row for row in rows if row[0] in SUBJECTS and row[1] not in LEFT_OUT)
    lines = (DATA / "entity2label.txt").read_text(encoding="utf-8").splitlines()
    labels = dict(line.split("\t") for line in lines if "\t" in line)
    labels.update(json.loads((DATA / "relation2label.json").read_text(encoding="utf-8")))
    triples = [f"wd:{s} wdt:{r} wd:{o} ." for s, r, o in kept]
    for id_ in sorted({id_ for row in kept for id_ in row}):
        name = labels[id_].encode().decode("unicode_escape") if "\\u" in labels[id_] else labels[id_]
        triples.append(f"wd:{id_} rdfs:label {json.dumps(name, ensure_ascii=False)}@en .")
    return triples


def run(out: Path, **graph: object) -> list[dict[str, Any]]:
    """Run the recipe, and return its records."""
    changes = [
        f"vars.questions={QUESTIONS}", f"output={out}", "path_scorer.cache=",
        f"exporters.0.path={out / 'subgraphs.jsonl'}", f"exporters.1.path={out / 'page.html'}",
        *(f"knowledge_graph.{name}={value}" for name, value in graph.items()),
    ]  # fmt: skip
    outcome = Runner(load(ROOT / "recipes" / "wikidata.yaml", changes)).run()
    assert outcome.failed == 0
    return [json.loads(line) for line in (out / "subgraphs.jsonl").read_text(encoding="utf-8").splitlines()]


def test_a_run_against_a_server_leaves_the_record_that_is_kept_here(
    store_of: Callable[[str], Path], serve: Callable[[Path], str], tmp_path: Path
) -> None:
    triples = sample()
    assert len(triples) <= 50
    run(tmp_path, endpoint=serve(store_of("\n".join(triples))), record=tmp_path / "record")
    lines = [dict(line) for _, line, _ in checked_lines(tmp_path / "record" / ANSWERS, "")]
    lines = [{"source": SOURCE}, *(line for line in lines[1:] if "closed" not in line), {"closed": "then"}]
    if os.environ.get("SRTK_RECORD"):
        written, checksum = "", 0
        for line in lines:
            text, checksum = with_checksum(json.dumps(line, ensure_ascii=False), checksum)
            written += text
        (REPLAY / ANSWERS).write_text(written, encoding="utf-8")
    kept = [line for _, line, _ in checked_lines(REPLAY / ANSWERS, "")]
    assert sorted(map(repr, kept)) == sorted(map(repr, lines)), "write the record anew with SRTK_RECORD=1"


@pytest.fixture(scope="module")
def offline(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, Any]]]:
    """Run the recipe from the record, with an endpoint at which nobody answers."""
    out = tmp_path_factory.mktemp("offline")
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        return out, run(out, endpoint=f"http://127.0.0.1:{nobody.getsockname()[1]}/query", replay=REPLAY)


def test_the_recipe_answers_its_questions_offline(offline: tuple[Path, list[dict[str, Any]]]) -> None:
    out, records = offline
    assert len(records) == 3
    for record in records:
        assert {triple[2] for triple in record["triplets"]} >= set(record["answer_entities"])
        assert record["provenance"] == [SOURCE] * len(record["triplets"])
    means = json.loads((out / "evaluation.json").read_text(encoding="utf-8"))["methods"]["beam"]
    assert means["answer_recall"]["mean"] == 1.0


def test_the_best_paths_are_those_that_answer(offline: tuple[Path, list[dict[str, Any]]]) -> None:
    hubs, named, prefecture = ({tuple(triple) for triple in record["triplets"][:6]} for record in offline[1])
    assert {("Q9325", "P113", "Q131402"), ("Q9325", "P113", "Q46033"), ("Q9325", "P113", "Q58226")} <= hubs
    assert {("Q131402", "P138", "Q1726"), ("Q46033", "P138", "Q1794"), ("Q58226", "P138", "Q1718")} <= named
    assert ("Q34600", "P1376", "Q120730") in prefecture


def test_no_two_paths_are_so_near_that_another_machine_might_ask_in_another_order(
    offline: tuple[Path, list[dict[str, Any]]],
) -> None:
    for record in offline[1]:
        scores = [path["score"] for path in record["paths"]]
        assert min(a - b for a, b in pairwise(scores)) > 0.01
