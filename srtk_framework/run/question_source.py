"""The questions of a run: checked and counted before retrieval begins, then streamed."""

from __future__ import annotations

import hashlib
import itertools
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from srtk_framework.recipe.recipe import Recipe
from srtk_framework.records.retrieval_records import read_questions, read_retrievals
from srtk_framework.run.session import Session
from srtk_framework.training.trainer import Trained
from srtk_framework.values import Question, Retrieval


class RunQuestions:
    """The questions of a recipe.

    Args:
        session: Gives the dataset.
        folder: Folder of the run, which keeps a copy of the standard input.
        recipe: Gives the limit on their number.
        trained: The training's outcome, by which shared questions are counted.

    Attributes:
        count: Number of questions.
        shared: Number of questions that the training has seen.
        hash: SHA-256 of all questions.
    """

    def __init__(self, session: Session, folder: Path, recipe: Recipe, trained: Trained | None = None) -> None:
        self._session, self._recipe = session, recipe
        self._dataset: Any = session.dataset
        if self._dataset == "-":
            self._dataset = _kept_input(folder)
        digest = hashlib.sha256()
        self.count = self.shared = 0
        for retrieval in self.read():
            self.count += 1
            self.shared += trained is not None and trained.shares(retrieval.question)
            digest.update(repr((retrieval.question, retrieval.subgraph.triples)).encode("utf-8", "surrogatepass"))
        self.hash = digest.hexdigest()

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


def _kept_input(folder: Path) -> str:
    """Copy the standard input beside the run, so that the run can be resumed."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / "questions.in"
    data = sys.stdin.buffer.read()
    if data or not kept.exists():
        kept.write_bytes(data)
    return os.fspath(kept)
