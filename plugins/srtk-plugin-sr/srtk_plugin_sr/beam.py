"""Search relation paths from the linked entities with a beam, and read the facts along the best."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Literal

import attrs

from srtk_framework.graph import path_order
from srtk_framework.roles import Expander, KnowledgeGraph, PathScorer
from srtk_framework.values import (
    END,
    Budget,
    DriverError,
    Frontier,
    HopState,
    Link,
    Question,
    RankedPath,
    Step,
    Subgraph,
    rounded,
)
from srtk_plugin_sr.beam_state import BeamState, Going, copied, ended, own_state
from srtk_plugin_sr.explain import Choosing
from srtk_plugin_sr.links import name_of, names_needed, weighed, without_mention
from srtk_plugin_sr.triple_quota import shared_facts

FOLLOWED = 3
"""How many times the width is followed where what a step reaches counts."""


@attrs.define(eq=False)
class BeamExpander(Choosing, Expander):
    """Keep the best paths of each length, over all links of a question (SR, Zhang et al. 2022, section 4.2).

    At each hop the scorer rates every step that leaves the paths in the beam, and END. A path's score is the sum
    along it, and that of its link. The triples on the best paths are the subgraph.

    Attributes:
        graph: Where to search.
        scorer: Scores the steps.
        budget: Limits on triples, tokens, nodes and neighbours.
        width: Paths kept at each hop.
        depth: Most steps of a path.
        inverse: Also walk against the direction of relations.
        paths: Most paths whose triples are read; `width` by default.
        margin: Leave out the paths whose score is so far below that of the best; under `log-softmax` 2.3 is a tenth of
            its probability. No such limit by default.
        hop_margin: The same at each hop, for paths that may still go on: a search that is sure goes on with few.
        share: Most triples of one path as long as others wait for room in the budget; no such limit by default.
        fan_cost: Taken off a path's score for each factor e of nodes that a step reaches: between steps that read
            alike, the one to few nodes says more (as PRA divides by the fan-out, Lao and Cohen 2010). Above 0, a
            few times `width` continuations are followed at each hop before the best are kept.
        link_weight: Weighs the logarithm of a link's share of the scores in its span; 0 for none.
        mention: What stands for the linked entity's mention when the scorer reads the question; null leaves the text.
        end_at_start: Offer END before the first step too.
        stop_when_full: Stop as soon as `width` paths have ended, as SRTK does.
        overflow: What becomes of a frontier above the budget's nodes: `cut` to them, or `drop` its path.
    """

    graph: KnowledgeGraph
    scorer: PathScorer
    budget: Budget = attrs.field(factory=Budget)
    width: int = 10
    depth: int = 2
    inverse: bool = True
    paths: int | None = None
    margin: float | None = None
    hop_margin: float | None = None
    share: int | None = None
    fan_cost: float = 0.0
    link_weight: float = 1.0
    mention: str | None = None
    end_at_start: bool = False
    stop_when_full: bool = False
    overflow: Literal["cut", "drop"] = "cut"
    _noise: tuple[str, ...] = attrs.field(init=False, default=(), repr=False)
    _clear: dict[str, bool] = attrs.field(init=False, factory=dict, repr=False)
    _end_is_scored: bool = attrs.field(init=False, default=False, repr=False)

    def open(self) -> None:
        """Check the settings and ask the graph which relations are noise."""
        for name in ("width", "depth", "paths", "share"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise DriverError(f"{name} is {value}; it must be at least 1")
        for name in ("margin", "hop_margin"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise DriverError(f"{name} is {value}; it must not be below 0")
        if self.overflow not in ("cut", "drop"):
            raise DriverError(f"overflow is {self.overflow!r}; use cut or drop")
        self._noise = tuple(self.graph.schema().noise)
        self._end_is_scored = self.scorer.scores_end()

    def start(self, questions: Sequence[Question]) -> list[BeamState]:
        """Find the linked entities in the graph."""
        every = [weighed(question.links, self.link_weight) for question in questions]
        found = iter(self.graph.frontiers([[entity] for links in every for entity in links]))
        labels: dict[str, str] = {}
        if self.mention is not None and (nameless := names_needed(questions)):
            labels = dict(zip(nameless, self.graph.labels(nameless), strict=True))
        states = []
        for question, links in zip(questions, every, strict=True):
            at = {entity: next(found) for entity in links}
            known = [entity for entity, frontier in at.items() if frontier.size]
            paths = sorted((RankedPath(entity, (), links[entity][0]) for entity in known), key=path_order)
            trace: dict[str, Any] = {"links": len(links), "hops": 0, "scored": 0}
            if len(known) < len(links):
                trace["unknown"] = len(links) - len(known)
            if not known:
                trace["reason"] = "no linked entity is in the graph" if links else "the question has no link"
            states.append(
                BeamState(
                    texts={entity: self._text(question, links[entity][1], labels) for entity in known},
                    going=[Going(path, at[path.entity]) for path in paths],
                    finished=[],
                    frontiers={(entity, ()): at[entity] for entity in known},
                    depth=0,
                    trace=trace,
                    cut={},
                    done=not known,
                )
            )
        return states

    def step(self, states: Sequence[HopState]) -> list[BeamState]:
        """Score every continuation of every path in the beams, and follow the best."""
        moved = [copied(state) for state in states]
        every = [(state, item) for state in moved for item in state.going]
        offered = self.graph.steps([item.frontier for _, item in every], self.inverse)
        candidates = [
            self._candidates(steps, state.depth > 0 or self.end_at_start)
            for (state, _), steps in zip(every, offered, strict=True)
        ]
        scores = self.scorer.score(
            [state.texts[item.path.entity] for state, item in every],
            [item.path.steps for _, item in every],
            candidates,
        )
        at = 0
        for state in moved:
            end = at + len(state.going)
            state.trace["scored"] += sum(len(row) for row in candidates[at:end])
            state.going = self._best(state.going, candidates[at:end], scores[at:end])
            at = end
        if self.fan_cost:
            self._weigh_reach(moved)
        for state in moved:
            state.finished += [ended(item.path) for item in state.going if item.path.steps[-1] == END]
            state.going = self._near([item for item in state.going if item.path.steps[-1] != END], state.finished)
            state.depth += 1
            state.trace["hops"] = state.depth
        # Where the last steps lead matters only where it can drop a path: the facts are read from their start.
        if self.overflow == "drop":
            self._follow(moved)
        else:
            self._follow([state for state in moved if state.depth < self.depth])
        for state in moved:
            full = self.stop_when_full and len(state.finished) >= self.width
            state.done = full or not state.going or state.depth >= self.depth
        return moved

    def result(self, states: Sequence[HopState]) -> list[Subgraph]:
        """Rank the paths and read their triples; paths that may still go on count as they are."""
        own = [own_state(state) for state in states]
        ranked = [
            _within(sorted([*state.finished, *going], key=path_order)[: self.paths or self.width], self.margin)
            for state, going in zip(own, self._stopped(own), strict=True)
        ]
        traces = []
        for state, paths in zip(own, ranked, strict=True):
            trace = {**state.trace, "paths": len(paths)}
            if state.cut:
                trace["cut"] = dict(state.cut)
            if not paths and "reason" not in trace:
                trace["reason"] = "no step leaves a linked entity" if state.depth else "no hop was taken"
            traces.append(trace)
        known = [state.frontiers for state in own]
        return shared_facts(self.graph, ranked, self.budget, self.share, known, traces)

    def _text(self, question: Question, link: Link, labels: Mapping[str, str]) -> str:
        if self.mention is None:
            return question.text
        return without_mention(question, link, name_of(link, labels), self.mention)

    def _candidates(self, steps: Sequence[Step], end: bool) -> list[Step]:
        """Leave noise out; END comes last."""
        for step in steps:
            if step.relation not in self._clear:
                noisy = any(fnmatchcase(step.relation, pattern) for pattern in self._noise)
                self._clear[step.relation] = not noisy
        kept = [step for step in steps if self._clear[step.relation]]
        return [*kept, END] if end else kept

    def _best(
        self, going: Sequence[Going], candidates: Sequence[Sequence[Step]], scores: Sequence[Sequence[float]]
    ) -> list[Going]:
        """Return the best continuations of one question's paths, each with the frontier that it leaves."""
        totals = [
            (rounded(item.path.score + score), item, step)
            for item, row, values in zip(going, candidates, scores, strict=True)
            for step, score in zip(row, values, strict=True)
        ]
        # Paths are made only of what can win: making and comparing all of them costs more than scoring them.
        most = self.width * FOLLOWED if self.fan_cost else self.width
        if len(totals) > most:
            least = heapq.nlargest(most, (total for total, _, _ in totals))[-1]
            totals = [entry for entry in totals if entry[0] >= least]
        grown = [
            Going(RankedPath(item.path.entity, (*item.path.steps, step), total), item.frontier)
            for total, item, step in totals
        ]
        return sorted(grown, key=lambda item: path_order(item.path))[:most]

    def _near(self, going: list[Going], finished: Sequence[RankedPath]) -> list[Going]:
        """Drop the paths that are too far below the best one of the question."""
        if self.hop_margin is None or not going:
            return going
        best = max(path.score for path in (*finished, *(item.path for item in going)))
        return [item for item in going if item.path.score >= rounded(best - self.hop_margin)]

    def _weigh_reach(self, states: Sequence[BeamState]) -> None:
        """Follow the continuations, take off what their fan costs, and keep the best of them."""
        walks = [item for state in states for item in state.going if item.path.steps[-1] != END]
        reached = iter(
            self.graph.follow(
                [item.frontier for item in walks], [item.path.steps[-1] for item in walks], self.budget.hub
            )
        )
        for state in states:
            items = [self._weighed(item, reached) for item in state.going]
            state.going = sorted(items, key=lambda item: path_order(item.path))[: self.width]

    def _weighed(self, item: Going, reached: Iterator[Frontier]) -> Going:
        if item.path.steps[-1] == END:
            return item
        frontier = next(reached)
        cost = self.fan_cost * math.log(max(1, frontier.size + frontier.cut))
        return Going(attrs.evolve(item.path, score=rounded(item.path.score - cost)), item.frontier, frontier)

    def _follow(self, states: Sequence[BeamState]) -> None:
        """Walk the last step of every path in the beams; keep frontiers within the budget."""
        walks = [(state, item) for state in states for item in state.going]
        if not walks:
            return
        unread = [item for _, item in walks if item.reached is None]
        read = iter(
            self.graph.follow(
                [item.frontier for item in unread], [item.path.steps[-1] for item in unread], self.budget.hub
            )
        )
        reached = [next(read) if item.reached is None else item.reached for _, item in walks]
        most = self.budget.nodes
        large = [i for i, frontier in enumerate(reached) if most is not None and frontier.size > most]
        for state in states:
            state.going = []
        cut = large if self.overflow == "cut" else []
        smaller = dict(zip(cut, self.graph.frontiers([reached[i].ids()[:most] for i in cut]), strict=True))
        dropped = set(large) - smaller.keys()
        for i, ((state, item), frontier) in enumerate(zip(walks, reached, strict=True)):
            if frontier.cut:
                state.cut["hub"] = state.cut.get("hub", 0) + frontier.cut
            kept = smaller.get(i, frontier)
            if i in dropped or kept.size < frontier.size:
                lost = frontier.size if i in dropped else frontier.size - kept.size
                state.cut["nodes"] = state.cut.get("nodes", 0) + lost
            if i not in dropped:
                state.frontiers[item.path.entity, item.path.steps] = kept
                state.going.append(Going(item.path, kept))

    def _stopped(self, states: Sequence[BeamState]) -> list[list[RankedPath]]:
        """End the paths that may still go on: for free, or for what the scorer says."""
        rows = [[item.path for item in state.going if item.path.steps] for state in states]
        if not self._end_is_scored:
            return rows
        asked = [(state, path) for state, row in zip(states, rows, strict=True) for path in row]
        scores = iter(
            self.scorer.score(
                [state.texts[path.entity] for state, path in asked],
                [path.steps for _, path in asked],
                [[END] for _ in asked],
            )
        )
        return [[attrs.evolve(path, score=rounded(path.score + next(scores)[0])) for path in row] for row in rows]


def _within(paths: list[RankedPath], margin: float | None) -> list[RankedPath]:
    """Keep the paths, best first, whose score is near that of the best."""
    if margin is None or not paths:
        return paths
    return [path for path in paths if path.score >= rounded(paths[0].score - margin)]
