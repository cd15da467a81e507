"""What a walk knows of one question between hops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import attrs

from srtk_framework.text import link_shares
from srtk_framework.values import Answer, DriverError, HopState, Link, Path, Question, Step, Triple, rounded


class Branch(NamedTuple):
    """Nodes to go on from that one path leads to.

    Attributes:
        entity: The linked entity that the path starts from.
        steps: The path.
        nodes: Where it leads, in the order in which they were reached.
        score: Of the path: the sum of 1 / place over its steps, where place is that among the steps chosen.
    """

    entity: str
    steps: Path
    nodes: tuple[str, ...]
    score: float


class Fact(NamedTuple):
    """A triple, and how it was come upon.

    Attributes:
        triple: In its own direction.
        entity: The linked entity that the path starts from.
        steps: The path, this triple's own step included.
        score: Of the path.
        start: The end that it was walked from.
        end: The other one.
    """

    triple: Triple
    entity: str
    steps: Path
    score: float
    start: str
    end: str


def fact(triple: Triple, entity: str, steps: Path, score: float) -> Fact:
    """Tell the ends of a triple apart by the last step."""
    start, end = (triple.object, triple.subject) if steps[-1].inverse else (triple.subject, triple.object)
    return Fact(triple, entity, steps, score, start, end)


class Walk(NamedTuple):
    """A step that was chosen, to be walked from the nodes of a branch.

    Attributes:
        branch: Where it leaves from.
        step: What is walked.
        place: Of the step among those chosen, from 1.
        option: Number of the option that it belongs to; walks of one option share one limit of triples.
    """

    branch: Branch
    step: Step
    place: int
    option: int

    @property
    def score(self) -> float:
        """Score of the path that the step makes."""
        return self.branch.score + 1.0 / self.place


@attrs.define(eq=False)
class WalkState(HopState):
    """What the walk knows of one question.

    Attributes:
        question: What is asked.
        query: Its text as choosers that compare texts see it.
        topics: The linked entities that the graph has.
        going: Branches to go on from, best first.
        found: The triples so far, in the order in which they were come upon.
        way: By node, the triple that first led to it; linked entities have none.
        seen: Nodes that were walked from, linked entities included, and mediators.
        history: Per hop, the words of the options chosen.
        hop: Hops taken.
        counts: What was offered and passed over.
        cut: What limits left out, by limit.
        calls: What was asked and replied.
        used: Calls, tokens and cost of them.
        errors: Why a call got no reply.
        over: True when no further hop is wanted.
        stop: Why the walk ended before its time; empty where it did not.
        done: True when nothing is left to be asked either.
        answer: What the reader made of the last hop's subgraph.
    """

    question: Question
    query: str
    topics: tuple[str, ...]
    going: list[Branch]
    found: dict[Triple, Fact] = attrs.field(factory=dict)
    way: dict[str, Triple] = attrs.field(factory=dict)
    seen: set[str] = attrs.field(factory=set)
    history: list[tuple[str, ...]] = attrs.field(factory=list)
    hop: int = 0
    counts: dict[str, int] = attrs.field(factory=dict)
    cut: dict[str, int] = attrs.field(factory=dict)
    calls: list[dict[str, Any]] = attrs.field(factory=list)
    used: dict[str, Any] = attrs.field(factory=dict)
    errors: list[str] = attrs.field(factory=list)
    over: bool = False
    stop: str = ""
    done: bool = False
    answer: Answer | None = None

    def count(self, name: str, number: int) -> None:
        """Add to a count of what was offered or passed over."""
        if number:
            self.counts[name] = self.counts.get(name, 0) + number

    def drop(self, limit: str, number: int) -> None:
        """Count what a limit left out."""
        if number:
            self.cut[limit] = self.cut.get(limit, 0) + number

    def end(self, why: str) -> None:
        """End the walk before its time."""
        self.stop, self.over, self.going = why, True, []


def own_state(state: HopState) -> WalkState:
    """Take a state for one of this walk's own, or refuse it."""
    if not isinstance(state, WalkState):
        raise DriverError(f"a state of the walk is needed, not {type(state).__name__}")
    return state


def copied(state: HopState) -> WalkState:
    """Copy a state so that the hop leaves the given one untouched."""
    own = own_state(state)
    return attrs.evolve(
        own,
        going=list(own.going),
        found=dict(own.found),
        way=dict(own.way),
        seen=set(own.seen),
        history=list(own.history),
        counts=dict(own.counts),
        cut=dict(own.cut),
        calls=list(own.calls),
        used=dict(own.used),
        errors=list(own.errors),
    )


def weights(links: Sequence[Link]) -> dict[str, float]:
    """Weigh each linked entity, best first: its share among the alternatives for its span, less 1."""
    found: dict[str, float] = {}
    for link, share in zip(links, link_shares(links), strict=True):
        weight = rounded(share - 1.0)
        found[link.entity] = max(weight, found.get(link.entity, weight))
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))
