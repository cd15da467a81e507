"""Lines of JSON that no reader expects: each is read whole, or refused with its file and line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from srtk_framework.records import dumps, read_questions, read_retrievals, record_from_question, record_from_retrieval
from srtk_framework.records.retrieval_records import QUESTION_FIELDS, RESULT_FIELDS
from srtk_framework.values import InputError

GOOD = '{"id": "a", "question": "q"}\n'
NUMBERS = ["1e999", "-1e999", "1" * 400 + ".0", "NaN", "Infinity", "-Infinity", "9" * 5000]


def written(folder: Path, text: str) -> Path:
    file = folder / "q.jsonl"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: number[:12])
@pytest.mark.parametrize("read", [read_questions, read_retrievals])
def test_a_number_that_cannot_be_written_is_refused_with_its_line(tmp_path, read, number):
    file = written(tmp_path, GOOD + f'{{"id": "b", "question": "q", "note": [{number}]}}\n')
    with pytest.raises(InputError, match=r"q\.jsonl:2: ") as caught:
        list(read(file))
    assert len(str(caught.value)) < 500


def test_a_whole_number_beyond_the_floats_is_no_score(tmp_path):
    line = '{"question": "q", "question_entities": ["e"], "entity_scores": [1' + "0" * 400 + "]}"
    with pytest.raises(InputError, match=r"q\.jsonl:1: field 'entity_scores\[0\]'"):
        list(read_questions(written(tmp_path, line)))


@pytest.mark.parametrize("levels", [101, 700, 5_000, 200_000])
@pytest.mark.parametrize("form", [("[", "]"), ('{"a":', "}")])
def test_a_record_too_deep_to_be_written_is_refused_with_its_line(tmp_path, form, levels):
    start, end = form
    text = GOOD + f'{{"question": "q", "note": {start * levels}0{end * levels}}}\n'
    with pytest.raises(InputError, match=r"q\.jsonl:2: "):
        list(read_questions(written(tmp_path, text)))


def test_a_record_of_many_lists_that_are_not_deep_is_read(tmp_path):
    note = [[[i]] for i in range(500)]
    (question,) = read_questions(written(tmp_path, json.dumps({"question": "q", "note": note})))
    assert question.extra["note"] == note


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(["^r", "END", '"', '"x"@en', "\ud800", "\0", 10**400]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from([*QUESTION_FIELDS, *RESULT_FIELDS, "q_entity", "a_entity", "graph", "prediction", "other"])
RECORDS = st.builds(
    lambda record, rest: {**record, **rest},
    st.dictionaries(FIELDS, VALUES, max_size=6),
    st.sampled_from([{"question": "q"}, {}]),
)
WHOLE = st.one_of(RECORDS.map(json.dumps), VALUES.map(json.dumps))
LINES = st.one_of(WHOLE, WHOLE.map(lambda line: line[: len(line) // 2]), st.text(max_size=30))


def written_again(file: Path, read: Any, record_of: Any) -> str:
    """Write what a reader finds; return why the file is refused, or an empty text."""
    try:
        found = list(read(file))
    except InputError as error:
        return str(error)
    for item in found:
        dumps(record_of(item))
    return ""


@pytest.mark.parametrize(
    ("read", "record_of"), [(read_questions, record_from_question), (read_retrievals, record_from_retrieval)]
)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(LINES, max_size=3))
def test_any_line_is_read_and_can_be_written_or_is_refused_with_its_place(tmp_path, read, record_of, lines):
    file = tmp_path / "q.jsonl"
    file.write_bytes("\n".join(lines).encode("utf-8", "surrogatepass"))
    refused = written_again(file, read, record_of)
    assert not refused or re.match(re.escape(str(file)) + r":\d+", refused)
