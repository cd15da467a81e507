"""What can be said about where a question's answers were lost, and what an expander tells for it."""

from __future__ import annotations

from collections.abc import Mapping

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

CLASSES: dict[str, str] = {
    FAILED: "the question ended in an error",
    NOT_LINKED: "no gold topic is among the links",
    UNKNOWN_LINK: "no link is in the graph",
    IS_LINK: "the answer is a link of the question",
    ABSENT: "the answer is not in the graph",
    UNREACHABLE: "no path within the depth",
    PRUNED: "the path was not kept",
    CUT: "the path was kept, its facts were cut",
    FOUND: "every answer is in the subgraph",
}
"""The classes in the order of the way that an answer goes, each with what it says."""


@attrs.frozen
class Far:
    """Answers that no path within the depth leads to.

    Attributes:
        depth: Most steps of a path, or None where the expander has no such setting.
        path: The shortest path found beyond what the expander walks, or None.
        why: What keeps the expander from it: ``depth``, ``inverse``, ``noise``; empty where no path was found.
        searched: Up to how many steps paths were looked for.
        cut: What limits left unread in that search, so that a path may exist all the same.
    """

    depth: int | None
    path: RankedPath | None = None
    why: str = ""
    searched: int = 0
    cut: Mapping[str, int] = attrs.field(factory=dict, hash=False)


@attrs.frozen
class Loss:
    """Where the search left the best of the paths that lead to an answer.

    Attributes:
        path: The whole path, from a link; its score is that of what was left out.
        hop: At which hop; None where the expander does not tell.
        at_end: It was walked whole, and left out when the paths were ranked at the end.
        rank: Its place among everything weighed there, from 1; None where it was not even weighed.
        weighed: How many were weighed there.
        kept: How many were kept.
        needed: The least score that was kept; None where nothing was.
        setting: What left it out, such as ``expander.width``; empty where that is not known.
        winners: The best paths that were kept instead.
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
    """Answers on paths that were kept, but whose facts a limit cut.

    Attributes:
        limits: Which limits of the budget, lifted together, bring an answer back; those that cut anything where none
            does.
        dropped: Limit to how much it cut, as the trace counts it: what was never read is not in it.
        places: Answer to the place, from 1, of its first triple in the order without these limits.
        needed: Limit to a value that holds all of ``places``, which was tried: for ``triples`` and ``tokens`` only.
        path: The path whose facts they are, or None.
    """

    limits: tuple[str, ...] = ()
    dropped: Mapping[str, int] = attrs.field(factory=dict, hash=False)
    places: Mapping[str, int] = attrs.field(factory=dict, hash=False)
    needed: Mapping[str, int] = attrs.field(factory=dict, hash=False)
    path: RankedPath | None = None


@attrs.frozen
class Explanation:
    """What became of one question.

    Attributes:
        retrieval: With the links that were used, and the gold.
        kind: One of ``CLASSES``: ``found`` when every gold answer counts as found (``answer_recall`` is 1), else the
            class of most of its missing answers, of equals the one further along.
        recall: Share of the gold answers found.
        answers: Gold answer to its class, in the order of the question.
        topics: Gold topic entities, as far as the question tells them.
        unlinked: Those of them that are not among the links.
        far: About the answers that are ``unreachable``.
        loss: About the answers that are ``pruned``.
        cut: About the answers that are ``cut``.
        labels: Label of what occurs above.
    """

    retrieval: Retrieval
    kind: str
    recall: float
    answers: Mapping[str, str] = attrs.field(hash=False)
    topics: tuple[str, ...] = ()
    unlinked: tuple[str, ...] = ()
    far: Far | None = None
    loss: Loss | None = None
    cut: Cut | None = None
    labels: Mapping[str, str] = attrs.field(factory=dict, hash=False)

    @property
    def question(self) -> Question:
        """The question."""
        return self.retrieval.question

    @property
    def subgraph(self) -> Subgraph:
        """What was retrieved."""
        return self.retrieval.subgraph


def kind_of(answers: Mapping[str, str]) -> str:
    """Return the class of most of the missing answers (of equals the one further along), ``found`` if none."""
    missing = [kind for kind in answers.values() if kind != FOUND]
    order = list(CLASSES)
    return max(set(missing), key=lambda kind: (missing.count(kind), order.index(kind)), default=FOUND)
