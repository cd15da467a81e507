"""Datasets that each break one rule of Dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import attrs
import pytest

from kit.checked import opened
from kit.rules import Fault, changed, life_faults, publish, replaced
from srtk_framework.testing.dataset import DatasetConformance, ToyDataset
from srtk_framework.values import InputError, Question

GOOD = ToyDataset


class Checked(DatasetConformance):
    """Tests one of the datasets."""

    under_test: ClassVar[type[ToyDataset]] = GOOD

    @pytest.fixture
    def driver(self, tmp_path: Path) -> ToyDataset:
        """Open it over three lines."""
        path = tmp_path / "good.tsv"
        path.write_text("Where is Riga?\tRiga\tLatvia\nWhere is Tallinn?\tTallinn\tEstonia\nWho?\tEcho\tOvid\n")
        return opened(self.under_test(path=str(path)))

    @pytest.fixture
    def broken(self, tmp_path: Path) -> ToyDataset:
        """Open it over a line with two fields."""
        path = tmp_path / "broken.tsv"
        path.write_text("Where is Riga?\tRiga\tLatvia\nWhere is Tallinn?\tTallinn\n")
        return opened(self.under_test(path=str(path)))


def _each(**values: Any) -> Any:
    def method(self: Any, call: Any) -> Any:
        for question in call():
            yield attrs.evolve(question, **values)

    return method


def _counted(self: Any, call: Any) -> Any:
    self.count = vars(self).get("count", 0) + 1
    for question in call():
        yield attrs.evolve(question, extra={"reading": self.count})


def _numbered(self: Any, call: Any) -> Any:
    for question in call():
        yield attrs.evolve(question, extra={"first": vars(self).get("first", False)})


def _without_line(self: Any, line: str, number: int) -> Question:
    if line.count("\t") != 2:
        raise InputError(f"{line.count(chr(9)) + 1} fields instead of three")
    return ToyDataset._question(self, line, number)


def _hash_orders(self: Any, call: Any) -> Any:
    # The hash stands in the record too: a few questions may come in the same order under two seeds.
    ordered = sorted(call(), key=lambda question: hash(question.text))
    return (attrs.evolve(question, extra={"hash": hash(question.text)}) for question in ordered)


FAULTS: list[Fault] = [
    *life_faults(GOOD, "read"),
    changed(GOOD, "test_another_process_gets_the_same_answers", read=_hash_orders),
    changed(GOOD, "test_ids_are_unique_texts", read=_each(id="same")),
    changed(GOOD, "test_fields_have_their_types", read=_each(answers=["Latvia"])),
    changed(GOOD, "test_further_fields_can_be_written_as_json", read=_each(extra={"set": (1, 2)})),
    changed(GOOD, "test_it_may_be_read_again_and_side_by_side", read=_counted),
    changed(GOOD, "test_a_second_instance_answers_the_same", read=_numbered),
    replaced(GOOD, "test_a_malformed_record_is_an_input_error_with_its_line", _question=_without_line),
    changed(
        GOOD,
        "test_it_reads_questions",
        read=lambda self, call: iter(list(call()) if self.path.endswith("broken.tsv") else ()),
    ),
]
publish(__name__, globals(), FAULTS)
