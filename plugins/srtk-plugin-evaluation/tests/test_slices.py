"""Slices of the questions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_evaluation.metrics import compare, row
from srtk_plugin_evaluation.row_table import RowTable
from srtk_plugin_evaluation.rows import Row
from srtk_plugin_evaluation.slices import fields_of, groups
from srtk_plugin_evaluation.training_overlap import (
    gold_paths,
    gold_relations,
    overlap_of_training,
    read_training_overlap,
)

from srtk_framework.records.training_examples import write_training_examples
from srtk_framework.values import (
    END,
    InputError,
    Link,
    Question,
    RankedPath,
    Retrieval,
    Step,
    Subgraph,
    TrainingExample,
    Triple,
)

BORN, IN, LIKES = Step("born"), Step("in", True), Step("likes")


def of(id_: str, *paths: tuple[Step, ...], links: str = "given", **extra: Any) -> Row:
    question = Question(id_, f"question {id_}?", (Link("Anna"),), ("Riga",), gold_paths=paths or None, extra=extra)
    return row(Retrieval(question, Subgraph((Triple("Anna", "born", "Riga"),), trace={"links": links})))


def sizes(report: dict[str, Any], name: str) -> dict[str, int]:
    return {label: group["questions"] for label, group in report["slices"][name].items()}


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    known = Question("t", "?", (Link("Anna"),), gold_paths=((LIKES,),))
    file = tmp_path / "training_examples.jsonl"
    write_training_examples(
        file, [TrainingExample(known, (RankedPath("Anna", (BORN, IN), 1.0),)), TrainingExample(known)]
    )
    return file


def test_questions_are_grouped_by_the_relations_and_paths_of_the_training_examples(examples: Path) -> None:
    rows = [of("1", (BORN, IN)), of("2", (IN, BORN)), of("3", (LIKES,)), of("4"), of("5", (LIKES,), (BORN, IN))]
    report = compare({"beam": rows}, overlap=read_training_overlap(examples))
    assert sizes(report, "relations in training") == {"seen": 3, "unseen": 1}
    assert sizes(report, "path in training") == {"seen": 2, "unseen": 2}


def test_training_questions_with_gold_define_the_seen_relations(tmp_path: Path) -> None:
    file = tmp_path / "train.jsonl"
    records = [
        {"id": "a", "question": "?", "question_entities": ["x"], "gold_paths": [["born", "^in"]]},
        {"id": "b", "question": "?", "question_entities": ["x"], "gold_triples": [["x", "likes", "y"]]},
    ]
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    found = read_training_overlap(file)
    assert found.relations == {"born", "in", "likes"}
    assert found.paths == {("born", "^in")}


def test_relations_of_gold_triples_are_used_without_gold_paths(examples: Path) -> None:
    question = Question("1", "?", gold_triples=(Triple("a", "in", "b"), Triple("a", "born", "c")))
    overlap = read_training_overlap(examples)
    made = row(Retrieval(question))
    assert (overlap.relations_of(made), overlap.path_of(made)) == ("seen", None)


def test_training_has_a_question_if_it_had_all_of_some_gold_path(examples: Path) -> None:
    overlap = read_training_overlap(examples)
    found = [(overlap.relations_of(one), overlap.path_of(one)) for one in (of("1", (BORN,)), of("2", (BORN, LIKES)))]
    assert found == [("seen", "unseen"), ("unseen", "unseen")]


def test_the_end_of_a_gold_path_is_no_step_and_relations_count_once() -> None:
    question = Question("1", "?", gold_paths=((IN, BORN, IN, END), (LIKES, END)), gold_triples=(Triple("a", "x", "b"),))
    assert gold_paths(question) == (("^in", "born", "^in"), ("likes",))
    assert gold_relations(question) == (("born", "in"), ("likes",))
    only = Question("2", "?", gold_triples=(Triple("a", "x", "b"), Triple("b", "r", "c"), Triple("b", "x", "c")))
    assert (gold_paths(only), gold_relations(only)) == ((), (("r", "x"),))


def test_the_training_of_a_folder_is_known_only_with_its_examples(examples: Path, tmp_path: Path) -> None:
    assert overlap_of_training(tmp_path) == read_training_overlap(examples)
    assert overlap_of_training(tmp_path / "other") is None


def test_a_training_file_without_paths_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "train.jsonl"
    file.write_text('{"question": "?", "answer_entities": ["x"]}\n')
    with pytest.raises(InputError, match=r"train.jsonl: no record has paths, gold_paths or gold_triples"):
        read_training_overlap(file)


def test_links_are_a_slice_where_they_differ_between_questions() -> None:
    rows = [of("1"), of("2", links="linked"), of("3")]
    report = compare({"a": rows, "b": rows})
    assert sizes(report, "links") == {"given": 2, "linked": 1}
    other = [of("1"), of("2"), of("3", links="linked")]
    assert sizes(compare({"a": rows, "b": other}), "links") == {"given": 1, "mixed": 2}
    assert compare({"a": rows, "b": other})["links_of"] == {"a": "mixed", "b": "mixed"}


def test_a_field_is_a_slice_with_intervals_and_tests() -> None:
    rows = [of(str(i), kind="count" if i % 3 else "which") for i in range(9)]
    report = compare({"a": rows, "b": rows}, fields=["kind"])
    assert sizes(report, "kind") == {"count": 6, "which": 3}
    group = report["slices"]["kind"]["count"]
    assert group["methods"]["a"]["answer_recall"] == {"mean": 1.0, "low": 0.5407, "high": 1.0, "n": 6}
    assert group["differences"]["a - b"]["answer_recall"]["p_holm"] == 1.0


def test_a_question_with_several_values_is_in_each_group_and_numbers_come_in_order() -> None:
    rows = [of("1", tags=["10", "b"]), of("2", tags=["9", "b"]), of("3", tags=[])]
    [(name, placed)] = groups({"a": RowTable(rows, ["tags"])}, ["tags"])
    assert (name, list(placed)) == ("tags", ["9", "10", "b"])
    assert {label: list(places) for label, places in placed.items()} == {"9": [1], "10": [0], "b": [0, 1]}


def test_only_fields_with_scalar_values_are_kept() -> None:
    extra = {"n": 3, "yes": True, "list": ["a", "a", 2], "deep": {"x": 1}, "none": None, "long": "x" * 500, "no": []}
    assert fields_of(Question("1", "?", extra=extra)) == {"n": ("3",), "yes": ("true",), "list": ("a", "2")}


def test_an_unknown_field_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"no question has a scalar field 'kin'; .* kind. Did you mean 'kind'\?"):
        compare({"a": [of("1", kind="x")]}, fields=["kin"])


def test_a_field_with_too_many_values_is_refused() -> None:
    with pytest.raises(InputError, match="field 'kind' has 60 values, but a slice has at most 50"):
        compare({"a": [of(str(i), kind=i) for i in range(60)]}, fields=["kind"])
