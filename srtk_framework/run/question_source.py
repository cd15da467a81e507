"""The questions of a run: checked and counted before retrieval begins, then streamed."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from srtk_framework.recipe.recipe import Recipe
from srtk_framework.records.gold_answers import has_topics_of_set
from srtk_framework.records.jsonl import dumps, unwritable
from srtk_framework.records.retrieval_records import read_questions, read_retrievals, record_from_retrieval
from srtk_framework.run.session import Session
from srtk_framework.values import DriverError, InputError, Question, Retrieval, RunError


class RunQuestions:
    """The questions of a recipe.

    Args:
        session: Gives the dataset.
        folder: Folder of the run, which keeps a copy of the standard input.
        recipe: Gives the limit on their number.

    Attributes:
        count: Number of questions.
        hash: SHA-256 of all questions.
        topics_of_sets: Questions whose topics were read from ``q_entity``.

    Raises:
        InputError: If a question cannot be read, or cannot be written into a result.
    """

    def __init__(self, session: Session, folder: Path, recipe: Recipe) -> None:
        self._session, self._recipe = session, recipe
        self._dataset: Any = session.dataset
        self._part = folder / "questions.in.part"
        self._kept = folder / "questions.in"
        if self._dataset == "-":
            self._dataset = self._input()
        digest = hashlib.sha256()
        self.count = self.topics_of_sets = 0
        for retrieval in self.read():
            self.count += 1
            _check_writable(retrieval, self.count)
            self.topics_of_sets += has_topics_of_set(retrieval.question)
            digest.update(repr((retrieval.question, retrieval.subgraph.triples)).encode("utf-8", "surrogatepass"))
        self.hash = digest.hexdigest()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # What stays is written over, or deleted, by the next run; this one has all that it needs.
        with contextlib.suppress(OSError):
            self._part.unlink(missing_ok=True)

    def keep(self) -> None:
        """Keep the text of the standard input, so that the run can go on without it.

        Called once the folder is known to be this run's, since another run's input may lie there.

        Raises:
            RunError: If it cannot be written.
        """
        if self._dataset == os.fspath(self._part):
            try:
                os.replace(self._part, self._kept)
            except OSError as error:
                raise RunError(unwritable(self._kept, error)) from error
            self._dataset = os.fspath(self._kept)

    def _input(self) -> str:
        """Return the name of a file with the standard input, or with the run's copy of it if it is empty."""
        data = sys.stdin.buffer.read()
        if not data and self._kept.exists():
            return os.fspath(self._kept)
        try:
            self._part.parent.mkdir(parents=True, exist_ok=True)
            self._part.write_bytes(data)
        except OSError as error:
            raise RunError(unwritable(self._part, error)) from error
        return os.fspath(self._part)

    def read(self) -> Iterator[Retrieval]:
        """Yield the questions; in a recipe without methods they come with subgraphs of an earlier run."""
        return itertools.islice(self._all(), self._recipe.options.limit)

    def _all(self) -> Iterator[Retrieval]:
        if isinstance(self._dataset, str) and not self._session.methods and not self._session.linker:
            yield from read_retrievals(self._dataset)
            return
        questions: Iterable[Question]
        questions = read_questions(self._dataset) if isinstance(self._dataset, str) else self._dataset.read()
        for question in questions:
            yield Retrieval(question)


def _check_writable(retrieval: Retrieval, number: int) -> None:
    """Refuse a question of a dataset that JSON cannot hold, before any work."""
    try:
        dumps(record_from_retrieval(retrieval))
    except DriverError as error:
        raise InputError(f"question {number} cannot be written into a result: {error}; change the dataset") from error
