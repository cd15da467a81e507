"""What a driver learns from: questions with paths, and single decisions of a search."""

from __future__ import annotations

import attrs

from srtk_framework.values.questions import Question
from srtk_framework.values.subgraphs import RankedPath
from srtk_framework.values.triples import Path, Step


@attrs.frozen
class Lesson:
    """A question with what a method should find, to learn from.

    Attributes:
        question: With its links and gold.
        paths: Relation paths that lead to the answers, each with its quality between 0 and 1, best first.
    """

    question: Question
    paths: tuple[RankedPath, ...] = ()


@attrs.frozen
class Sample:
    """One decision of a search: the candidates after a path, and which of them are right.

    Attributes:
        question: Id of the question.
        text: Its words.
        path: Steps so far.
        candidates: Possible next steps, distinct; END among them stops the path here.
        targets: Per candidate how right it is, from 0 (wrong) to 1; at least one is above 0.
    """

    question: str
    text: str
    path: Path
    candidates: tuple[Step, ...]
    targets: tuple[float, ...]
