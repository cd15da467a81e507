"""The file of a run's scores."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kit.placed import rows
from srtk_plugin_evaluation.curves import Ranks
from srtk_plugin_evaluation.rows import Row
from srtk_plugin_evaluation.scores import FILE, read_scores, write_scores

from srtk_framework.values import DriverError, InputError, RunError


def listed(methods: Mapping[str, Sequence[Row]]) -> list[tuple[str, Row]]:
    return [(name, one) for name, some in methods.items() for one in some]


def test_scores_are_read_as_they_were_written(tmp_path: Path) -> None:
    methods = {"beam": rows(1, seconds=0.5), "bfs": [*rows(2), Row("x", {"triples": None})]}
    write_scores(tmp_path, listed(methods))
    assert read_scores(tmp_path) == methods


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)


@given(st.lists(st.integers(1, 9), max_size=4), st.dictionaries(texts, st.lists(texts, min_size=1).map(tuple)), texts)
def test_any_row_is_read_back_from_the_file(
    tmp_path_factory: Any, at: list[int], fields: dict[str, Any], text: str
) -> None:
    folder = tmp_path_factory.mktemp("scores")
    made = Row("1", {"m": 0.1}, text=text, ranks=Ranks(9, 9, tuple(at)), paths=((text, "b"),), fields=fields)
    write_scores(folder, listed({"m": [made]}))
    assert read_scores(folder) == {"m": [made]}


def test_scores_of_another_version_are_refused_with_their_line(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('{"method": "beam", "id": "1"}\n')
    with pytest.raises(InputError, match=r"scores.jsonl:1: not a score of this version"):
        read_scores(tmp_path)


def test_shares_of_links_and_answer_metrics_are_read_back(tmp_path: Path) -> None:
    made = Row("1", {"answer_hit": 1.0, "calls": 2.0}, linking={"strong_f1": (2, 4), "recall_at_1": (0, 1)})
    write_scores(tmp_path, listed({"ours": [made, Row("2", {}, failed=True)]}))
    assert read_scores(tmp_path) == {"ours": [made, Row("2", {}, failed=True)]}


def test_the_file_has_a_line_per_method_and_question_in_the_order_given(tmp_path: Path) -> None:
    file = write_scores(tmp_path, listed({"z": rows(1)[:2], "a": rows(2)[:1]}))
    found = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert [(record["method"], record["id"]) for record in found] == [("z", "0"), ("z", "1"), ("a", "0")]


def test_an_interrupted_writing_leaves_the_old_file(tmp_path: Path) -> None:
    write_scores(tmp_path, listed({"beam": rows(1)}))
    with pytest.raises(DriverError, match="field 'metrics' cannot be written"):
        write_scores(tmp_path, listed({"beam": [*rows(2), Row("x", {"m": object()})]}))  # type: ignore[dict-item]
    assert read_scores(tmp_path) == {"beam": rows(1)}


@pytest.mark.parametrize(
    "change",
    [{"ranks": 3}, {"paths": None, "more": 1}, {"fields": []}, {"linking": [1]}],
    ids=["ranks", "an unknown field", "fields", "linking"],
)
def test_a_field_of_another_form_is_refused_with_its_line(tmp_path: Path, change: dict[str, Any]) -> None:
    file = write_scores(tmp_path, listed({"beam": rows(1)[:2]}))
    first, second = file.read_text(encoding="utf-8").splitlines()
    file.write_text(first + "\n" + json.dumps({**json.loads(second), **change}) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"scores.jsonl:2: not a score of this version .*run the recipe again"):
        read_scores(tmp_path)


def test_scores_that_cannot_be_written_are_an_error_with_the_file_and_the_old_ones_stay(tmp_path: Path) -> None:
    write_scores(tmp_path, listed({"beam": rows(1)}))
    (tmp_path / f"{FILE}.part").mkdir()
    with pytest.raises(RunError, match=rf"{FILE} cannot be written: .*give the same command again"):
        write_scores(tmp_path, listed({"beam": rows(2)}))
    assert read_scores(tmp_path) == {"beam": rows(1)}
