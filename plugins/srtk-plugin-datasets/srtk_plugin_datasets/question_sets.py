"""Bases of the data sets: a sample of the questions, and links that can be left out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import attrs

from srtk_framework.roles import Dataset
from srtk_framework.values import Question, at_least
from srtk_plugin_datasets.files import finished, sample


@attrs.define
class SampledSet(Dataset):
    """Base of the sets with samples of questions.

    Attributes:
        limit: Maximum number of questions; all by default.
        seed: Seed of the sample that a limit takes; null for the first questions.
    """

    limit: int | None = attrs.field(default=None, validator=at_least(1, "omit it for all questions"), kw_only=True)
    seed: int | None = attrs.field(default=0, kw_only=True)

    def _sampled(self, questions: Iterable[Question]) -> Iterable[Question]:
        return sample(questions, lambda question: question.id, self.limit, self.seed)


@attrs.define
class LinkedSet(SampledSet):
    """Base of the sets in files whose questions come with their entities.

    Attributes:
        path: File or folder of the set; by default the folder of the set under `SRTK_DATA` or `data`.
        given: Return the entities of a question as links; false gives the text only, to be linked in the run.
    """

    path: str | None = None
    given: bool = attrs.field(default=True, kw_only=True)

    def read(self) -> Iterable[Question]:
        """Yield the questions in the order of the files."""
        questions = (pair for file in self._files() for pair in self._questions(file))
        return finished(questions, self.limit, self.seed, self.given)

    @abstractmethod
    def _files(self) -> Sequence[Path]:
        """Find the files."""

    @abstractmethod
    def _questions(self, file: Path) -> Iterator[tuple[str, Question]]:
        """Yield all questions of a file, each with its position."""
