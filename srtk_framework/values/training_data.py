"""Training data: questions with relation paths, and single decisions of a search."""

from __future__ import annotations

import attrs

from srtk_framework.values.questions import Question
from srtk_framework.values.subgraphs import RankedPath, Subgraph
from srtk_framework.values.triples import Path, Step


@attrs.frozen
class TrainingExample:
    """A question to train on.

    Attributes:
        question: The question with its links and gold annotations.
        paths: Relation paths to the answers, each with its quality between 0 and 1, best first; none for a driver that
            does not learn from paths.
        subgraph: The subgraph retrieved for the question; None for a driver that does not learn to answer.
    """

    question: Question
    paths: tuple[RankedPath, ...] = ()
    subgraph: Subgraph | None = None


@attrs.frozen
class Sample:
    """One decision of a search: the candidate steps after a path, with their target scores.

    Attributes:
        question: Id of the question.
        text: Text of the question.
        path: Steps before the decision.
        candidates: Distinct candidate steps; the candidate END ends the path.
        targets: Target score of each candidate, from 0 (wrong) to 1 (right); not all of them 0.
    """

    question: str
    text: str
    path: Path
    candidates: tuple[Step, ...]
    targets: tuple[float, ...]
