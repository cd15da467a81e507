import pytest
from srtk_plugin_files.counterparts import Counterparts

from srtk_framework.values import DriverError


def written(tmp_path, *lines):
    path = tmp_path / "other.jsonl"
    path.write_text("".join(line + "\n" for line in lines))
    return str(path)


def record(question):
    return f'{{"id": "{question}", "question": "?", "triplets": []}}'


def test_results_are_found_in_any_order_and_the_others_come_last(tmp_path):
    others = Counterparts(written(tmp_path, *map(record, "abcd")))
    found = [others.of(question) for question in ("c", "x", "a")]
    assert [one and one.question.id for one in found] == ["c", None, "a"]
    assert [one.question.id for one in others.others()] == ["b", "d"]
    assert others.matched == 2


def test_a_file_in_the_same_order_is_read_no_further_than_it_is_asked_for(tmp_path):
    others = Counterparts(written(tmp_path, record("a"), record("b"), "no record"))
    assert [others.of(question).question.id for question in "ab"] == ["a", "b"]
    with pytest.raises(DriverError, match=r"other.jsonl:3"):
        others.of("c")


def test_two_results_for_a_question_are_refused(tmp_path):
    others = Counterparts(written(tmp_path, record("a"), record("a"), record("b")))
    with pytest.raises(DriverError, match="has two results for the question 'a'; keep one of them"):
        others.of("b")
