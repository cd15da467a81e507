import json

import pytest

from srtk_framework.records.training_examples import read_training_examples, write_training_examples
from srtk_framework.values import InputError, Link, Question, RankedPath, Step, TrainingExample


def test_examples_come_back_as_they_were_written(tmp_path):
    question = Question("a", "x?", links=(Link("rome"),), answers=("italy",), extra={"hops": 2})
    examples = [
        TrainingExample(question, (RankedPath("rome", (Step("capital_of"), Step("currency", True)), 0.5),)),
        TrainingExample(Question("b", "y?")),
    ]
    write_training_examples(tmp_path / "l.jsonl", examples)
    assert read_training_examples(tmp_path / "l.jsonl") == examples


def test_examples_as_srtk_writes_them_start_at_every_linked_entity(tmp_path):
    file = tmp_path / "scores.jsonl"
    record = {"id": "a", "question": "x?", "question_entities": ["p", "q"], "paths": [["r"]], "path_scores": [0.5]}
    file.write_text(json.dumps(record) + "\n")
    [example] = read_training_examples(file)
    assert [(path.entity, path.score) for path in example.paths] == [("p", 0.5), ("q", 0.5)]


def test_examples_with_lists_of_unequal_length_name_their_line(tmp_path):
    file = tmp_path / "scores.jsonl"
    file.write_text(json.dumps({"question": "x?", "paths": [["r"]], "path_scores": []}) + "\n")
    with pytest.raises(InputError, match=r"scores\.jsonl:1: field 'path_scores' has 0 items and 'paths' has 1"):
        read_training_examples(file)
