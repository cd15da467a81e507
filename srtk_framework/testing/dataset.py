"""Conformance of datasets: valid questions, which can be read repeatedly."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest

from srtk_framework.roles import Dataset
from srtk_framework.testing.records import RecordConformance
from srtk_framework.values import InputError, Link, Question, Step, Triple


class DatasetConformance(RecordConformance):
    """Checks a Dataset; its ``driver`` is opened over a small file of the author's own."""

    role = Dataset

    def test_it_reads_questions(self, driver: Any) -> None:
        """``read`` yields at least one question and nothing else."""
        questions = list(driver.read())
        assert questions, "the dataset reads no question; give the driver a file with some"
        for question in questions:
            assert isinstance(question, Question), f"read yields {type(question).__name__}, not Question"

    def test_fields_have_their_types(self, driver: Any) -> None:
        """Fields are tuples of the right type; unknown fields are None or empty."""
        for question in driver.read():
            assert isinstance(question.text, str), f"{question.id}: text is {question.text!r}"
            rows: list[tuple[str, Any, type]] = [
                ("links", question.links, Link),
                ("answers", question.answers or (), str),
                ("options", question.options, str),
                ("gold_triples", question.gold_triples or (), Triple),
            ]
            rows += [("gold_paths", path, Step) for path in question.gold_paths or ()]
            for field, values, kind in rows:
                assert isinstance(values, tuple), f"{question.id}: {field} must be a tuple, not {values!r}"
                assert all(isinstance(value, kind) for value in values), f"{question.id}: {field} holds {values!r}"

    def test_further_fields_can_be_written_as_json(self, driver: Any) -> None:
        """``extra`` consists of JSON values."""
        for question in driver.read():
            assert isinstance(question.extra, Mapping), f"{question.id}: extra is {question.extra!r}"
            assert json.loads(json.dumps(dict(question.extra))) == question.extra, f"{question.id}: {question.extra!r}"


@attrs.define(eq=False)
class ToyDataset(Dataset):
    """Read lines of question, entities and answers; bars separate several entities or answers.

    Attributes:
        path: The file, in UTF-8.
    """

    path: str

    def read(self) -> Iterator[Question]:
        """Yield a question for each line; its id is the number of the line."""
        try:
            lines = Path(self.path).open(encoding="utf-8")  # noqa: SIM115 - the try holds this one call
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read: {error.strerror}; name a file of questions") from error
        with lines:
            for number, line in enumerate(lines, start=1):
                yield self._question(line.rstrip("\n"), number)

    def _question(self, line: str, number: int) -> Question:
        parts = line.split("\t")
        if len(parts) != 3:
            raise InputError(
                f"{self.path}:{number}: {len(parts)} fields; write question, entities and answers, separated by tabs"
            )
        text, entities, answers = parts
        return Question(str(number), text, tuple(Link(entity) for entity in _several(entities)), _several(answers))


def _several(field: str) -> tuple[str, ...]:
    return tuple(part for part in field.split("|") if part)


class ToyDatasetCase(DatasetConformance):
    """The toy dataset keeps the contract of a dataset."""

    name = "toy"

    def over(self, path: Path, *lines: str) -> ToyDataset:
        """Write a file and open a dataset over it."""
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        dataset = ToyDataset(path=str(path))
        dataset.open()
        return dataset

    @pytest.fixture
    def driver(self, tmp_path: Path) -> ToyDataset:
        """Open a dataset of two questions."""
        return self.over(tmp_path / "questions.tsv", "Where is Riga?\tRiga\tLatvia", 'Who said "hi"?\tA|B\tC|D')

    @pytest.fixture
    def broken(self, tmp_path: Path) -> ToyDataset:
        """Open a dataset whose second line lacks its fields."""
        return self.over(tmp_path / "broken.tsv", "Where is Riga?\tRiga\tLatvia", "Where is Tallinn?")

    @pytest.fixture
    def faulty(self, tmp_path: Path) -> ToyDataset:
        """Return a dataset over a file that does not exist."""
        return ToyDataset(path=str(tmp_path / "missing.tsv"))

    def test_bars_separate_entities_and_answers(self, driver: ToyDataset) -> None:
        """Both may have several."""
        second = list(driver.read())[1]
        assert [link.entity for link in second.links] == ["A", "B"]
        assert second.answers == ("C", "D")


SUMMARY = "A dataset of tab-separated questions"

RECIPE = """\
dataset: {use: toy, path: questions.tsv}
"""
