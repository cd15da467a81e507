"""Runs whose linking service is down, or finds pages without an id: what the results say about it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from srtk_framework.cli import main
from srtk_framework.recipe import from_data
from srtk_framework.run import Runner
from srtk_framework.values import RunError

TRIPLES = [["Q1773", "country", "Q211"], ["Riga", "name of", "Q1773"]]
LIMITS = {"per_second": None, "wait": 0.01, "wait_most": 0.02, "attempts": 2, "patience": 5.0}


def run(out: Path, linker: dict[str, Any], *questions: str, **more: Any) -> list[dict[str, Any]]:
    """Run a recipe over some questions, and return its records."""
    source = out / "questions.txt"
    source.write_text("".join(f"{question}\n" for question in questions), encoding="utf-8")
    recipe = {
        "srtk": 1,
        "questions": str(source),
        "knowledge_graph": {"use": "memory", "triples": TRIPLES},
        "entity_linker": linker,
        "output": str(out / "run"),
        "exporters": [{"use": "jsonl", "path": str(out / "out.jsonl")}],
        **more,
    }
    assert Runner(from_data(recipe)).run().state == "complete"
    return [json.loads(line) for line in (out / "out.jsonl").read_text(encoding="utf-8").splitlines()]


def rel(service: Any, **more: Any) -> dict[str, Any]:
    return {"use": "rel", "endpoint": service.url, "limits": LIMITS, **more}


def test_a_service_that_fails_is_named_in_the_trace_and_another_linker_answers(
    service: Callable[[str], Any], index: Path, tmp_path: Path
) -> None:
    here = service("rel-lists")
    here.bad = {"Is Riga sick?"}
    views = {"use": "fallback", "linkers": [rel(here, ids=str(index)), {"use": "dictionary"}]}
    well, sick = run(tmp_path, views, "Is Riga well?", "Is Riga sick?", expander={"use": "bfs"})
    assert well["question_entities"] == ["Q1773"]
    assert well["trace"]["linked_by"] == ["rel"]
    assert "linkers_failed" not in well["trace"]
    assert sick["question_entities"] == ["Riga"]
    assert sick["trace"]["linked_by"] == ["dictionary"]
    assert list(sick["trace"]["linkers_failed"]) == ["rel"]
    assert "500" in sick["trace"]["linkers_failed"]["rel"]


def test_a_run_reports_at_its_end_which_linker_failed(
    service: Callable[[str], Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here = service("rel-lists")
    here.bad = {"Is Riga sick?"}
    (tmp_path / "questions.txt").write_text("Is Riga well?\nIs Riga sick?\n", encoding="utf-8")
    recipe = {
        "srtk": 1,
        "questions": str(tmp_path / "questions.txt"),
        "knowledge_graph": {"use": "memory", "triples": TRIPLES},
        "entity_linker": {"use": "fallback", "linkers": [rel(here), {"use": "dictionary"}]},
        "output": str(tmp_path / "run"),
    }
    (tmp_path / "recipe.yaml").write_text(json.dumps(recipe), encoding="utf-8")
    assert main(["run", str(tmp_path / "recipe.yaml")]) == 0
    assert "the linker rel failed on 1 questions" in capsys.readouterr().err


def test_a_union_reports_which_of_its_linkers_failed(service: Callable[[str], Any], tmp_path: Path) -> None:
    here = service("rel-lists")
    here.bad = {"Is Riga sick?"}
    [record] = run(tmp_path, {"use": "union", "linkers": [rel(here), {"use": "dictionary"}]}, "Is Riga sick?")
    assert record["trace"]["linked_by"] == ["dictionary"]
    assert list(record["trace"]["linkers_failed"]) == ["rel"]


def test_a_service_that_fails_without_another_linker_fails_its_question_alone(
    service: Callable[[str], Any], index: Path, tmp_path: Path
) -> None:
    here = service("rel-lists")
    here.bad = {"Is Riga sick?"}
    well, sick = run(tmp_path, rel(here, ids=str(index)), "Is Riga well?", "Is Riga sick?")
    assert well["question_entities"] == ["Q1773"]
    assert "rel" in sick["error"]
    assert sick["trace"]["linked_by"] == []


def test_a_failed_service_ends_the_run_if_the_recipe_demands_it(service: Callable[[str], Any], tmp_path: Path) -> None:
    here = service("rel-lists")
    here.bad = {"Is Riga sick?"}
    views = {"use": "fallback", "required": True, "linkers": [rel(here), {"use": "dictionary"}]}
    with pytest.raises(RunError, match="required: true"):
        run(tmp_path, views, "Is Riga sick?")


@pytest.mark.parametrize("form", ["rel-lists", "tagme"])
def test_link_lists_the_pages_without_an_id_as_srtk_does(
    service: Callable[[str], Any], index: Path, tmp_path: Path, form: str
) -> None:
    questions = tmp_path / "questions.jsonl"
    texts = ["Is Riga in Nowhere?", "Is it in Riga?"]
    questions.write_text("".join(json.dumps({"question": text}) + "\n" for text in texts), encoding="utf-8")
    command = ["link", "-i", str(questions), "-o", str(tmp_path / "out.jsonl"), "--wikimapper-db", str(index)]
    use = ["--service", form.split("-")[0], "-e", service(form).url, "--token", "t", "--quiet"]
    assert main([*command, *use]) == 0
    lost, all_found = map(json.loads, (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines())
    assert lost["not_converted_entities"] == ["Nowhere_Land"]
    assert lost["question_entities"] == ["Q1773"]
    assert all_found["not_converted_entities"] == []


def test_without_a_map_there_is_nothing_to_convert(service: Callable[[str], Any], tmp_path: Path) -> None:
    [record] = run(tmp_path, rel(service("rel-lists")), "Is Riga in Nowhere?")
    assert "not_converted_entities" not in record


def test_the_views_of_ids_keep_the_report_of_a_linker(
    service: Callable[[str], Any], index: Path, tmp_path: Path
) -> None:
    here = service("rel-lists")
    here.bad = {"Is Riga sick?"}
    inner = {"use": "fallback", "linkers": [rel(here), {"use": "dictionary"}]}
    [record] = run(tmp_path, {"use": "wikipedia-map", "index": str(index), "linker": inner}, "Is Riga sick?")
    assert record["question_entities"] == ["Q1773"]
    assert record["trace"]["linked_by"] == ["dictionary"]
    assert list(record["trace"]["linkers_failed"]) == ["rel"]
