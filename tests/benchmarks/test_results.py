"""The figures of benchmarks: records of one schema, and pages that are made from them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from benchmarks import figures, pages

ROOT = Path(__file__).parents[2]
TOPICS = figures.topics()
SCHEMA = json.loads((figures.RESULTS / "schema.json").read_text(encoding="utf-8"))
CHECKER = jsonschema.Draft202012Validator(SCHEMA, format_checker=jsonschema.FormatChecker())
MOST = 150
"""Lines of a page: a reader finds an answer on the first or second screen."""


@pytest.mark.parametrize("name", TOPICS)
def test_a_topic_follows_the_schema(name: str) -> None:
    assert [error.message for error in CHECKER.iter_errors(figures.load(name))] == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"figure": "0.9"},
        {"interval": [0.1]},
        {"n": 0},
        {"run": 0},
        {"measured": "2026-11-26"},
        {"metric": ""},
    ],
)
def test_a_wrong_record_breaks_the_schema(wrong: dict[str, Any]) -> None:
    topic = figures.load("speed")
    topic["measurements"][0]["records"][0] |= wrong
    assert not CHECKER.is_valid(topic)


@pytest.mark.parametrize("name", TOPICS)
def test_a_figure_has_one_record_within_its_interval(name: str) -> None:
    topic = figures.load(name)
    ids = [found["id"] for found in topic["measurements"]]
    assert len(ids) == len(set(ids))
    for found in topic["measurements"]:
        keys = [(one["set"], one["method"], one["metric"]) for one in found["records"]]
        assert len(keys) == len(set(keys)), found["id"]
        assert {one.get("run", 0) for one in found["records"]} == set(range(len(found["runs"])))
    for one in figures.records(topic):
        if "interval" in one:
            low, high = one["interval"]
            assert low <= one["figure"] <= high, one


@pytest.mark.parametrize("name", TOPICS)
def test_a_file_is_written_as_it_is_read(name: str, tmp_path: Path) -> None:
    figures.write(figures.load(name), tmp_path)
    file = f"{name}.json"
    assert (tmp_path / file).read_text(encoding="utf-8") == (figures.RESULTS / file).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", TOPICS)
def test_the_script_of_a_command_is_here_or_in_the_commit_of_the_figures(name: str) -> None:
    for found in figures.load(name)["measurements"]:
        assert pages.exists(found["command"]) or all(run["commit"] for run in found["runs"]), found["id"]


def test_the_pages_are_those_of_the_figures() -> None:
    made = pages.pages()
    assert {path for path in made if path.read_text(encoding="utf-8") != made[path]} == set(), "run `make docs`"
    assert set(pages.PAGES.iterdir()) | {pages.SUMMARY} == set(made)


@pytest.mark.parametrize("path", [path for path in pages.pages() if path.suffix == ".md"], ids=lambda path: path.stem)
def test_a_page_is_short_and_has_one_table(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MOST
    assert len(re.findall(r"^\|---", text, flags=re.MULTILINE)) == 1
    assert "{{" not in text


@pytest.mark.parametrize("path", sorted(figures.RESULTS.glob("*.md")), ids=lambda path: path.stem)
def test_no_share_is_typed_into_a_sentence(path: Path) -> None:
    bare = re.sub(r"\{\{.*?\}\}|`[^`]*`", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert re.findall(r"(?<![\w.])0?\.\d+", bare) == []


def test_fresh_records_take_the_place_of_old_ones_and_leave_the_others_to_their_run() -> None:
    old = {"commit": "aaaaaaa", "measured_at": "2026-01-01", "versions": None, "seeds": None}
    new = {**old, "commit": "bbbbbbb"}
    one = {"set": "demo", "method": "beam", "metric": "recall", "n": 2, "figure": 0.5}
    other = {**one, "method": "bfs"}
    found = {"id": "a", "about": "A.", "command": "old", "runs": [old], "records": [one, other]}
    fresh = [{**one, "figure": 0.75}, {**one, "set": "MetaQA"}]
    laid = figures.merged(found, fresh, "new", new)
    assert laid["runs"] == [new, old]
    assert laid["records"] == [{**one, "figure": 0.75}, {**other, "run": 1}, {**one, "set": "MetaQA"}]
    again = figures.merged(laid, [other], "new", new)
    assert again["runs"] == [new]
    assert all("run" not in kept for kept in again["records"])


def test_a_sentence_names_a_figure_that_is_there() -> None:
    topic = figures.load("search")
    name = "{{demo | demo | beam | answer recall}}"
    assert re.fullmatch(r"\.\d{2,}", pages.filled(name, [topic]))
    with pytest.raises(KeyError, match="no figure of demo"):
        pages.filled(name.replace("beam", "beams"), [topic])


@pytest.mark.parametrize(
    ("figure", "digits", "text"),
    [(0.5, 3, ".500"), (-0.012, None, "-.012"), (1, None, "1"), (10000, None, "10,000"), (12.5, 1, "12.5")],
)
def test_a_figure_is_written_as_a_reader_expects_it(figure: float, digits: int | None, text: str) -> None:
    assert pages.number(figure, digits) == text


def test_a_picture_has_a_bar_with_its_interval_for_each_figure() -> None:
    topic = figures.load("search")
    drawn = topic["page"]["picture"]
    picture = pages.picture(topic)
    bars = len(drawn["groups"]) * len(drawn["bars"])
    assert picture.count('height="12"') == bars
    assert picture.count("<path") == bars
