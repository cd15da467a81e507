"""The state of one question's search between hops, and the ranked subgraph of the triples found."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple

import attrs
from srtk_plugin_sr.topic_joins import topic_joins

from srtk_framework.graph import path_order
from srtk_framework.text import link_shares, link_topics
from srtk_framework.values import (
    Answer,
    DriverError,
    HopState,
    Link,
    Path,
    Question,
    RankedPath,
    Reply,
    Step,
    Subgraph,
    Triple,
    rounded,
    total,
    usage,
)
from srtk_plugin_structgpt.templates import Template, call_record

_GROWING = (list, dict, set)  # Parts of a state that grow in place, so that a copy needs its own


class Branch(NamedTuple):
    """The nodes at the end of one path, from which the search can go on.

    Attributes:
        entity: Linked entity at which the path starts.
        steps: The path.
        nodes: Nodes at its end, in the order of discovery.
        score: Score of the path: the weight of the link plus the sum of 1 / rank over its steps, where rank is the
            position of the step among those chosen.
    """

    entity: str
    steps: Path
    nodes: tuple[str, ...]
    score: float


class ChosenStep(NamedTuple):
    """A step that the generator chose, to be followed from the nodes of a branch.

    ``rank`` counts from 1. The steps of one option share one limit of triples.
    """

    branch: Branch
    step: Step
    rank: int
    option: int

    @property
    def score(self) -> float:
        """Return the score of the path that ends with this step."""
        return self.branch.score + 1.0 / self.rank


class FoundTriple(NamedTuple):
    """A triple in its own direction, and the path along it from a linked entity."""

    triple: Triple
    entity: str
    steps: Path
    score: float
    start: str
    end: str


def found_triple(triple: Triple, entity: str, steps: Path, score: float) -> FoundTriple:
    """Return a found triple; the direction of the last step decides which end is its start."""
    start, end = (triple.object, triple.subject) if steps[-1].inverse else (triple.subject, triple.object)
    return FoundTriple(triple, entity, steps, score, start, end)


@attrs.define(eq=False)
class SearchState(HopState):
    """The search for one question.

    Attributes:
        question: The question.
        query: Text of the question for scorers and for generators that compare texts.
        starts: For each linked entity that the graph contains, its nodes there.
        branches: Branches from which the search goes on, best first.
        revisit: Whether the search may go back to nodes reached at an earlier hop.
        found: Triples found so far, in order.
        parents: By node, the triple on which it was first reached; linked entities have none.
        visited: Nodes that the search went on from, linked entities included, and mediators.
        history: Per hop, the texts of the chosen options.
        hop: Number of hops taken.
        counts: Counts for the trace, such as the candidates offered.
        cut: Number of items that each limit cut.
        calls: Trace records of the calls of the generator.
        usage: Calls, tokens and cost of the generator.
        errors: Errors of failed calls.
        ended: True when no further hop follows.
        stop: Why the search ended before the last hop; empty if it did not.
        done: True when no call follows either.
        answer: Answer of the reader for the subgraph of the last hop.
    """

    question: Question
    query: str
    starts: Mapping[str, tuple[str, ...]]
    branches: list[Branch]
    revisit: bool = False
    found: dict[Triple, FoundTriple] = attrs.field(factory=dict)
    parents: dict[str, Triple] = attrs.field(factory=dict)
    visited: set[str] = attrs.field(factory=set)
    history: list[tuple[str, ...]] = attrs.field(factory=list)
    hop: int = 0
    counts: dict[str, int] = attrs.field(factory=dict)
    cut: dict[str, int] = attrs.field(factory=dict)
    calls: list[dict[str, Any]] = attrs.field(factory=list)
    usage: dict[str, Any] = attrs.field(factory=dict)
    errors: list[str] = attrs.field(factory=list)
    ended: bool = False
    stop: str = ""
    done: bool = False
    answer: Answer | None = None

    @property
    def topics(self) -> tuple[str, ...]:
        """Return the linked nodes."""
        return tuple(node for nodes in self.starts.values() for node in nodes)

    def count(self, name: str, number: int) -> None:
        """Add to a count of the trace."""
        if number:
            self.counts[name] = self.counts.get(name, 0) + number

    def count_cut(self, limit: str, number: int) -> None:
        """Add to the number of items that a limit cut."""
        if number:
            self.cut[limit] = self.cut.get(limit, 0) + number

    def record(self, template: Template, replies: Sequence[Reply], **fields: Any) -> None:
        """Add a call of the generator: its trace record, usage and errors."""
        self.calls.append(call_record(template, replies, self.hop + 1, **fields))
        self.usage = total([self.usage, usage(replies)])
        self.errors += [reply.error for reply in replies if reply.error is not None]

    def end(self, reason: str) -> None:
        """End the search before the last hop."""
        self.stop, self.ended, self.branches = reason, True, []

    def end_without_choice(self) -> None:
        """End the search because the generator failed to choose."""
        self.end("a call failed" if self.errors else "no reply could be read")

    def subgraph(self, found: Mapping[Triple, FoundTriple]) -> Subgraph:
        """Return the ranked subgraph of some of the triples found, with the cuts in its trace."""
        cut = dict(sorted(self.cut.items()))
        ranked = ranked_subgraph(found, self.parents, link_topics(self.question.links), self.starts)
        return attrs.evolve(ranked, trace={"cut": cut} if cut else {})


def copy_state(state: HopState) -> SearchState:
    """Copy a state with its lists, sets and dictionaries, so that a hop does not change the state that it was given."""
    if not isinstance(state, SearchState):
        raise DriverError(
            f"the state is a {type(state).__name__}, not a SearchState; pass the states that start returned"
        )
    parts: dict[str, Any] = {field.name: getattr(state, field.name) for field in attrs.fields(SearchState)}
    parts.update({name: copy(part) for name, part in parts.items() if isinstance(part, _GROWING)})
    return SearchState(**parts)


def link_weights(links: Sequence[Link]) -> dict[str, float]:
    """Return the weight of each linked entity, best first: its share among the alternatives for its span, minus 1."""
    weights: dict[str, float] = {}
    for link, share in zip(links, link_shares(links), strict=True):
        weight = rounded(share - 1.0)
        weights[link.entity] = max(weight, weights.get(link.entity, weight))
    return dict(sorted(weights.items(), key=lambda item: (-item[1], item[0])))


def ranked_subgraph(
    found: Mapping[Triple, FoundTriple],
    parents: Mapping[str, Triple],
    topics: Mapping[str, int],
    starts: Mapping[str, Sequence[str]],
) -> Subgraph:
    """Rank triples so that every prefix of the order is connected to the linked entities.

    Each triple has the score of the best path through it. Where other topics raise the triple, or a triple that it
    leads to, the logarithm of their factor is added. Triples are ordered by falling score; among equal scores
    each triple is followed by the triples that it leads to.

    Triples are given in the order of discovery with all their ancestors, and by node the triple on which it was
    first reached. Each linked entity has the number of its topic and its nodes in the graph.
    """
    scores: dict[tuple[str, Path], float] = {}
    for one in found.values():
        scores[one.entity, one.steps] = max(one.score, scores.get((one.entity, one.steps), one.score))
    best: dict[Triple, RankedPath] = {}
    for triple, one in found.items():
        best[triple] = RankedPath(one.entity, one.steps, rounded(scores[one.entity, one.steps]))
    for triple in reversed(list(found)):
        parent = parents.get(found[triple].start)
        if parent is not None:
            best[parent] = min(best[parent], best[triple], key=path_order)
    # A key is the numbers of the triples from the linked entity to this one, so that a parent precedes its children.
    keys: dict[Triple, tuple[int, ...]] = {}
    for number, (triple, one) in enumerate(found.items()):
        parent = parents.get(one.start)
        keys[triple] = (number,) if parent is None else (*keys[parent], number)
    paths = tuple(sorted(set(best.values()), key=path_order))
    factors, joins = topic_joins(Subgraph(triples=tuple(found), paths=paths), topics, starts)
    worth = {triple: rounded(best[triple].score + math.log(factors.get(triple, 1.0))) for triple in found}
    for triple in reversed(list(found)):
        parent = parents.get(found[triple].start)
        if parent is not None:
            worth[parent] = max(worth[parent], worth[triple])
    order = sorted(found, key=lambda triple: (-worth[triple], keys[triple]))
    rank = {path: i for i, path in enumerate(paths)}
    return Subgraph(
        triples=tuple(order),
        scores=tuple(worth[triple] for triple in order),
        paths=paths,
        path_of=tuple(rank[best[triple]] for triple in order),
        joins=joins,
    )
