"""Rows: values of one question that groups and tests are made from."""

from __future__ import annotations

import attrs
import pytest
from srtk_plugin_evaluation.completion import Completed
from srtk_plugin_evaluation.curves import Ranks
from srtk_plugin_evaluation.rows import Row
from srtk_plugin_evaluation.scores import read_scores, write_scores
from srtk_plugin_evaluation.selective_answers import Judged


def test_a_row_of_metrics_alone_was_neither_failed_nor_linked_nor_timed() -> None:
    row = Row("1", {"triples": 3.0})
    assert (row.failed, row.links, row.walks, row.seconds, row.hops) == (False, "none", False, None, None)
    assert (row.ranks, row.linking, row.paths, row.relations, row.fields) == (None, None, (), (), {})


def test_rows_with_mappings_can_be_members_of_a_set_and_differ_by_them() -> None:
    one = Row("1", {"triples": 3.0}, fields={"kind": ("a",)}, linking={"strong_f1": (1, 2)})
    other = attrs.evolve(one, metrics={"triples": 4.0})
    assert one != other
    assert {one, other, attrs.evolve(one)} == {one, other}


def test_a_row_cannot_be_changed() -> None:
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        Row("1", {}).failed = True  # type: ignore[misc]


def test_rows_without_fields_do_not_share_them() -> None:
    assert Row("1", {}).fields is not Row("2", {}).fields


def test_every_field_of_a_row_is_kept_in_the_file_of_scores(tmp_path) -> None:
    full = Row(
        "1", {"triples": 3.0}, True, "linked", 2, True, 0.5, "Who?", Ranks(9, 2, (1,), 1, (2,)), (("p", "q"),),
        (("p",),), {"kind": ("a", "b")}, {"strong_f1": (1, 2)},
        Completed({"mrr": (1, 2)}, ((1, 2, 0.25, 1),), {"end": "object"}, {"words": {"1": {"mrr": (1, 2)}}}),
        2, Judged(True, True, 0.5, "sure"),
    )  # fmt: skip
    plain = Row("1", {})
    same = [field.name for field in attrs.fields(Row) if getattr(full, field.name) == getattr(plain, field.name)]
    assert same == ["id"], "every other field is set in this test"
    write_scores(tmp_path, [("beam", full)])
    assert read_scores(tmp_path) == {"beam": [full]}
