"""The ``nell995`` dataset: candidate pairs of relations of NELL-995 (Xiong et al. 2017, "DeepPath")."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path as FilePath

import attrs

from srtk_framework.records import read_lines
from srtk_framework.values import InputError, Pattern, Question, close_matches
from srtk_plugin_datasets.catalogue import located
from srtk_plugin_datasets.question_sets import SampledSet

_PAIRS = "sort_test.pairs"  # File of the candidate pairs of a task.
_SIGNS = {"+": True, "-": False}


@attrs.define
class NELL995(SampledSet):
    """Patterns whose candidates are listed, some right and some wrong, as PRA, DeepPath and MINERVA are scored.

    A pattern asks for the object of a head and the task's relation. A pair that is listed both as right and as wrong is
    right. Heads without a right candidate are left out. The graph is `train.txt`, which holds no test pair.

    Attributes:
        path: Folder with `tasks`; by default the folder of the set under `SRTK_DATA` or `data`.
        task: Name of the task, such as `athleteplayssport`; null for all.
    """

    path: str | None = None
    task: str | None = None

    def read(self) -> Iterable[Question]:
        """Yield the patterns, task by task, by their heads."""
        tasks = FilePath(located(self.path, "nell995")) / "tasks"
        found = sorted(file.parent.name for file in tasks.glob(f"*/{_PAIRS}"))
        if not found:
            raise InputError(f"{tasks}: no folder of a task with {_PAIRS}; name the folder of NELL-995 as `path`")
        if self.task is not None and self.task not in found:
            raise InputError(f"{tasks}: there is no task {self.task!r}.{close_matches(self.task, found)}")
        names = found if self.task is None else [self.task]
        questions = (question for name in names for question in _questions(tasks / name / _PAIRS, name))
        return self._sampled(questions)


def _questions(file: FilePath, task: str) -> Iterator[Question]:
    right: dict[str, dict[str, bool]] = {}
    for number, line in read_lines(file):
        if not line.strip():
            continue
        pair, _, sign = line.strip().rpartition(": ")
        head, comma, tail = pair.partition(",")
        if sign not in _SIGNS or not comma or not (head.startswith("thing$") and tail.startswith("thing$")):
            raise InputError(f"{file}:{number}: expected `thing$HEAD,thing$TAIL: +` or `-`, not {line!r}")
        tails = right.setdefault(head.removeprefix("thing$"), {})
        tail = tail.removeprefix("thing$")
        tails[tail] = tails.get(tail, False) or _SIGNS[sign]
    for head, tails in sorted(right.items()):
        answers = tuple(sorted(tail for tail, is_right in tails.items() if is_right))
        if answers:
            pattern = Pattern(head, f"concept:{task}")
            yield Question(
                str(pattern), str(pattern), answers=answers, pattern=pattern, candidates=tuple(sorted(tails))
            )
