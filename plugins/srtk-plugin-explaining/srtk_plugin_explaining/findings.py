"""Classes of answers, and the evidence for each: unreachable, pruned or cut."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from srtk_framework.values import Question, RankedPath, Retrieval, Subgraph

FAILED = "failed"
NOT_LINKED = "not-linked"
UNKNOWN_LINK = "link-not-in-graph"
IS_LINK = "answer-is-link"
ABSENT = "answer-not-in-graph"
UNREACHABLE = "unreachable"
PRUNED = "pruned"
CUT = "cut"
FOUND = "found"

# The classes in order of the retrieval stages, each with its meaning.
CLASSES: dict[str, str] = {
    FAILED: "the question ended in an error",
    NOT_LINKED: "no gold topic is among the links",
    UNKNOWN_LINK: "no link is in the graph",
    IS_LINK: "the answer is a link of the question",
    ABSENT: "the answer is not in the graph",
    UNREACHABLE: "no path within the depth",
    PRUNED: "the path was not kept",
    CUT: "a limit cut the path's facts, or nodes on it",
    FOUND: "every answer is in the subgraph",
}


@attrs.frozen
class UnreachableAnswers:
    """Answers that the expander cannot reach.

    Attributes:
        depth: Maximum path length of the expander, or None without such a setting.
        path: The shortest path outside the expander's search space, or None if none was found.
        why: Cause that excludes the path: ``depth``, ``inverse`` or ``noise``; empty without a path.
        searched: Maximum length of the paths searched for.
        cut: Unread neighbours or nodes by limit; these may hide a path.
    """

    depth: int | None
    path: RankedPath | None = None
    why: str = ""
    searched: int = 0
    cut: Mapping[str, int] = attrs.field(factory=dict, hash=False)


@attrs.frozen
class Loss:
    """The point at which the search pruned the best path to an answer.

    Attributes:
        path: The whole path from a link, with the score of its pruned prefix.
        hop: Hop at which it was pruned, from 1; None if the expander does not report it.
        at_end: True if the whole path was searched, then pruned in the final ranking.
        rank: Rank among the candidates, from 1; None if it was not a candidate.
        weighed: Number of candidates.
        kept: Number of candidates kept.
        needed: Lowest score kept; None if nothing was kept.
        setting: Setting that pruned it, such as ``expander.width``; empty if unknown.
        winners: The best paths kept instead.
    """

    path: RankedPath
    hop: int | None = None
    at_end: bool = False
    rank: int | None = None
    weighed: int = 0
    kept: int = 0
    needed: float | None = None
    setting: str = ""
    winners: tuple[RankedPath, ...] = ()


@attrs.frozen
class Cut:
    """Answers on paths whose facts, or nodes on the way, a budget limit cut.

    Attributes:
        limits: Budget limits that restore an answer when lifted together; if none do, all limits that cut anything.
        dropped: Limit to the count of its cuts in the trace, which excludes facts never read.
        places: Answer to the position, from 1, of its first triple without these limits.
        needed: Tested values of the limits, except of those that have to be lifted entirely: with them all answers
            in ``places`` are retained, or the search sees the step after ``hop``.
        path: Path of the facts, or None.
        hop: Hop after which nodes were cut, from 1, so that the search never saw the next step of the path; None if
            the facts of a kept path were cut.
    """

    limits: tuple[str, ...] = ()
    dropped: Mapping[str, int] = attrs.field(factory=dict, hash=False)
    places: Mapping[str, int] = attrs.field(factory=dict, hash=False)
    needed: Mapping[str, int] = attrs.field(factory=dict, hash=False)
    path: RankedPath | None = None
    hop: int | None = None


@attrs.frozen
class Change:
    """A setting to change.

    Attributes:
        setting: Key of the recipe, as for ``--set``; ``question_entities`` is a field of the question.
        value: Its new value.
        was: Its present value.
    """

    setting: str
    value: Any
    was: Any = None


@attrs.frozen
class Explanation:
    """The explanation of one question.

    Attributes:
        retrieval: The retrieval, with the links that were used and the gold annotations.
        kind: One of ``CLASSES``: ``found`` if every gold answer counts as found (``answer_recall`` is 1), else the
            most frequent class of the missing answers; among equally frequent classes, the last in ``CLASSES``.
        recall: Share of the gold answers found.
        answers: Gold answer to its class, in the order of the question.
        topics: Gold topic entities, if known.
        unlinked: Gold topic entities that are not among the links.
        far: Evidence for the ``unreachable`` answers.
        loss: Evidence for the ``pruned`` answers.
        cut: Evidence for the ``cut`` answers.
        labels: Labels of the ids in the explanation.
        changes: Settings that bring missing answers back when they are changed together; tried on this question. Empty
            if none are known.
        restored: The answers that these changes bring back.
    """

    retrieval: Retrieval
    kind: str
    recall: float
    answers: Mapping[str, str] = attrs.field(hash=False)
    topics: tuple[str, ...] = ()
    unlinked: tuple[str, ...] = ()
    far: UnreachableAnswers | None = None
    loss: Loss | None = None
    cut: Cut | None = None
    labels: Mapping[str, str] = attrs.field(factory=dict, hash=False)
    changes: tuple[Change, ...] = attrs.field(default=(), hash=False)
    restored: tuple[str, ...] = ()

    @property
    def question(self) -> Question:
        """The question."""
        return self.retrieval.question

    @property
    def subgraph(self) -> Subgraph:
        """The retrieved subgraph."""
        return self.retrieval.subgraph


def kind_of(answers: Mapping[str, str]) -> str:
    """Return the most frequent class of the missing answers, ``found`` if none; ties go to the last in ``CLASSES``."""
    missing = [kind for kind in answers.values() if kind != FOUND]
    order = list(CLASSES)
    return max(set(missing), key=lambda kind: (missing.count(kind), order.index(kind)), default=FOUND)
