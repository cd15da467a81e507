"""The ``beam`` expander: a beam search over relation paths from the linked entities, and the triples on the best."""

from __future__ import annotations

import copy
import heapq
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import chain, groupby
from operator import attrgetter
from pathlib import Path as FilePath
from typing import Any, ClassVar, Literal, TypeVar

import attrs
import numpy as np

from srtk_framework.graph import (
    Instance,
    PathKey,
    Reached,
    facts,
    follow_within,
    frontier_batches,
    path_order,
    relative_scores,
    unit_of,
    within_nodes,
)
from srtk_framework.roles import Expander, HopChoice, KnowledgeGraph, PathScorer, SearchSettings, TrainingTask, absent
from srtk_framework.text import link_shares, link_topics, unnamed_entities, without_mentions
from srtk_framework.values import (
    END,
    Budget,
    DriverError,
    HopState,
    Link,
    Question,
    RankedPath,
    Step,
    Subgraph,
    at_least,
    batched,
    one_of,
    rounded,
)
from srtk_plugin_sr.answer_kind import MARK, operates
from srtk_plugin_sr.beam_state import OVERSAMPLING, ActivePath, BeamState, beam_state, copy_state, without_end
from srtk_plugin_sr.choice_fit import FoundPaths, f1_of, fit_choice
from srtk_plugin_sr.cross_encoder import CrossEncoder
from srtk_plugin_sr.explain import final_choice, hop_choice, hop_paths, path_key
from srtk_plugin_sr.fit_settings import ChoiceFitSettings
from srtk_plugin_sr.node_mass import RankedSearch, Rescore, facts_by_node
from srtk_plugin_sr.path_choice import FILE, PathChoice, PathRecorder
from srtk_plugin_sr.path_features import SearchedQuestion
from srtk_plugin_sr.search_settings import AUTO, Auto, SearchBlock

_Item = TypeVar("_Item")
_AT_ONCE = 64
"""Questions that a training searches together."""
_SHORT = 2
"""Steps up to which a path is short."""
# A share of 0 has no logarithm.
_LEAST_SHARE = 1e-6


@attrs.define(eq=False)
class BeamExpander(Expander):
    """Keep the best paths of each length from each topic of a question (SR, Zhang et al. 2022, section 4.2).

    At each hop the scorer rates END and every step that leaves a path in the beam. The score of a path is the sum of
    its steps' scores and of its link's score. The triples on the best paths form the subgraph.

    The best settings of a search depend on the scores. So the scorer suggests them (``SearchSettings`` of the roles; by
    default the best without training), and the block `search` replaces single settings.

    A training fits the weights of the `choice` to questions with answers, drawn to the weights before.

    Attributes:
        graph: Graph to search.
        scorer: Scores the steps.
        budget: Limits on triples, tokens, nodes and neighbours.
        width: Paths kept at each hop, for each topic: alternatives for one mention are one topic.
        depth: Maximum number of steps of a path; `auto` is the scorer's suggestion, 3 without training. With a number,
            long paths cost nothing more and all may be extended, except by settings of `search`.
        inverse: Also follow relations against their direction.
        paths: Maximum number of paths of a topic whose triples are read. By default `width`, and paths that the search
            has followed and left out fill the rest of the budget's triples, behind the others. Nothing is filled with a
            `margin`, or where the budget's recall, price or mass end the reading.
        search: Settings that replace the scorer's suggestions.
        choice: Second stage that scores whole paths anew, where the triples come in the order `nodes`. `auto` is the
            weights of the package where the scorer is not trained and the variant is the default, else none. Or a file
            of weights, the folder of a cross-encoder, or null for none. Weights leave the order of questions with an
            operation (*the largest*, *before 1990*) as it is.
        variant: `srtk` searches as SRTK does. END is offered before the first step too, and the search stops as soon as
            `width` paths have ended. A path whose frontier is larger than the budget's nodes is dropped, not cut.
    """

    learns: ClassVar[str] = "answers"
    reuse: ClassVar[str] = f"expander: {{use: beam, choice: FOLDER/{FILE}}}"

    graph: KnowledgeGraph
    scorer: PathScorer
    budget: Budget = attrs.field(factory=Budget)
    width: int = attrs.field(default=15, validator=at_least(1))
    depth: int | Auto = attrs.field(default=AUTO, validator=at_least(1))
    inverse: bool = True
    paths: int | None = attrs.field(default=None, validator=at_least(1))
    search: SearchBlock = attrs.field(factory=SearchBlock)
    choice: str | None = AUTO
    variant: Literal["default", "srtk"] = attrs.field(default="default", validator=one_of(("default", "srtk")))
    _noise: tuple[str, ...] = attrs.field(init=False, repr=False)
    _clear: dict[str, bool] = attrs.field(init=False, factory=dict, repr=False)
    _end_is_scored: bool = attrs.field(init=False, repr=False)
    _fixed: SearchSettings | None = attrs.field(init=False, default=None, repr=False)
    _drops: bool = attrs.field(init=False, default=False, repr=False)
    _weights: PathChoice | CrossEncoder | PathRecorder | None = attrs.field(init=False, default=None, repr=False)
    _learnt: bool = attrs.field(init=False, default=False, repr=False)

    def open(self) -> None:
        """Read the graph's noise relations, whether the scorer scores END, and the weights that choose paths.

        Raises:
            DriverError: If the weights cannot be read, or do not choose in the order of the search.
        """
        self._weights = self._read_weights()
        if isinstance(self._weights, CrossEncoder):
            self._weights.open()
        if self.choice not in (None, AUTO) and self._search().order != "nodes":
            raise DriverError(f"choice: {self.choice} needs `search: {{order: nodes}}`; set it, or omit choice")
        self._noise = tuple(self.graph.schema().noise)
        self._end_is_scored = self.scorer.scores_end()
        self._drops = self.variant == "srtk"

    def preflight(self) -> list[tuple[str, str]]:
        """Check that the file or folder of weights exists."""
        return absent("choice", None if self.choice == AUTO else self.choice)

    def fingerprint(self) -> str:
        """Identify the drivers that this one uses, the settings, and the weights that choose paths."""
        weights = self._weights or self._read_weights()
        plain = Expander.fingerprint(self)
        return f"{plain}, {weights.fingerprint()}" if isinstance(weights, PathChoice | CrossEncoder) else plain

    def _read_weights(self) -> PathChoice | CrossEncoder | None:
        if self.choice is None:
            return None
        folder = FilePath(self.choice).expanduser()
        if self.choice != AUTO and folder.is_dir():
            return CrossEncoder(folder)
        return PathChoice.load(None if self.choice == AUTO else self.choice)

    def settings_in_force(self) -> dict[str, Any]:
        """Return the settings, those left open as they suit the scorer."""
        search = attrs.asdict(self._search())
        block = {field.name: search[field.name] for field in attrs.fields(SearchBlock)}
        return {**self.settings(), "depth": search["depth"], "search": block}

    def start(self, questions: Sequence[Question]) -> list[BeamState]:
        """Look up the linked entities in the graph."""
        mention = self._search().mention
        linked = [weighted_entities(question.links) for question in questions]
        frontiers = iter(self.graph.frontiers([[entity] for links in linked for entity in links]))
        labels: dict[str, str] = {}
        choice = self._choice()
        if (mention is not None or choice) and (unnamed := unnamed_entities(questions)):
            labels = dict(zip(unnamed, self.graph.labels(unnamed), strict=True))
        states = []
        for question, links in zip(questions, linked, strict=True):
            at = {entity: next(frontiers) for entity in links}
            known = [entity for entity, frontier in at.items() if frontier.size]
            paths = sorted((RankedPath(entity, (), links[entity][0]) for entity in known), key=path_order)
            trace: dict[str, Any] = {"links": len(links), "hops": 0, "scored": 0}
            if unknown := len(links) - len(known):
                trace["unknown"] = unknown
            if not known:
                trace["reason"] = "no linked entity is in the graph" if links else "the question has no link"
            states.append(
                BeamState(
                    topics=link_topics(question.links),
                    texts={entity: _text(question, links[entity][1], labels, mention) for entity in known},
                    active=[ActivePath(path, at[path.entity]) for path in paths],
                    finished=[],
                    frontiers={(entity, ()): at[entity] for entity in known},
                    depth=0,
                    trace=trace,
                    cut={},
                    done=not known,
                    text=question.text,
                    marked=without_mentions(question, question.links, labels, f" {MARK} ") if choice else "",
                )
            )
        return states

    def step(self, states: Sequence[HopState]) -> list[BeamState]:
        """Score every continuation of every path in the beams, and follow the best."""
        search = self._search()
        after = [copy_state(state) for state in states]
        candidates, scores = self._scored(after, search)
        begin = 0
        for state in after:
            end = begin + len(state.active)
            state.trace["scored"] += sum(len(row) for row in candidates[begin:end])
            rows = _in_units(state, candidates[begin:end], scores[begin:end], search.scale)
            state.active = self._best(state, candidates[begin:end], rows, search)
            begin = end
        if search.fan_cost:
            self._subtract_fan_cost(after, search.fan_cost)
        for state in after:
            state.finished += [without_end(item.path) for item in state.active if item.path.steps[-1] == END]
            open_ended = [item for item in state.active if item.path.steps[-1] != END]
            state.active = _within_hop_margin(state, open_ended, search.hop_margin)
            state.depth += 1
            state.trace["hops"] = state.depth
        # The last steps are followed only where that can drop a path: facts are read from the start of a path.
        if self._drops:
            self._follow(after)
        else:
            self._follow([state for state in after if state.depth < search.depth])
        for state in after:
            full = self.variant == "srtk" and len(state.finished) >= self.width
            state.done = full or not state.active or state.depth >= search.depth
        return after

    def _scored(
        self, states: Sequence[BeamState], search: SearchSettings
    ) -> tuple[list[list[Step]], Sequence[Sequence[float]]]:
        """Return the continuations of each path in the beams, state by state, and their scores."""
        active = [(state, item) for state in states for item in state.active]
        extended = [one for state in states for one in _extended(state, search.long_width)]
        frontiers = [item.frontier for (_, item), further in zip(active, extended, strict=True) if further]
        batches = frontier_batches(frontiers, self.graph)
        offered = chain.from_iterable(self.graph.steps(frontiers[batch], self.inverse) for batch in batches)
        candidates = [
            self._candidates(next(offered), state.depth > 0 or self.variant == "srtk") if further else [END]
            for (state, _), further in zip(active, extended, strict=True)
        ]
        texts = [state.texts[item.path.entity] for state, item in active]
        return candidates, self.scorer.score(texts, [item.path.steps for _, item in active], candidates)

    def result(self, states: Sequence[HopState]) -> list[Subgraph]:
        """Rank the paths and read their triples; paths that could still be extended count as they are."""
        search = self._search()
        beams = [beam_state(state) for state in states]
        every = [
            sorted([*state.finished, *active], key=path_order)
            for state, active in zip(beams, self._ended(beams), strict=True)
        ]
        ranked = [
            _within_margin(
                _best_of_topics(paths, self.paths or self.width, state.topics, _entity), search.margin, state.topics
            )
            for state, paths in zip(beams, every, strict=True)
        ]
        traces = []
        for state, paths in zip(beams, ranked, strict=True):
            trace = {**state.trace, "paths": len(paths)}
            if state.cut:
                trace["cut"] = dict(state.cut)
            if not paths and "reason" not in trace:
                trace["reason"] = "no step leaves a linked entity" if state.depth else "no hop was taken"
            traces.append(trace)
        if search.order == "paths":
            return facts(self.graph, ranked, self.budget, [state.frontiers for state in beams], traces)
        budget = self.budget
        if budget.recall is None and budget.price is None:
            budget = attrs.evolve(budget, price=search.price)
        fills = self._fills()
        searches = [
            RankedSearch(paths, state.topics, state.frontiers, trace, _spare(state, row, paths) if fills else ())
            for state, row, paths, trace in zip(beams, every, ranked, traces, strict=True)
        ]
        rescore = self._rescore(beams) if self._choice() else None
        return facts_by_node(self.graph, searches, budget, search.found, search.topic_background, rescore)

    def choices(self, states: Sequence[HopState]) -> list[HopChoice]:
        """Return, for each state, the candidates of the next hop, best first, and the setting that drops each."""
        return [self._hop_choice(beam_state(state)) for state in states]

    def last_choices(self, states: Sequence[HopState]) -> list[HopChoice]:
        """Return, for each state, its paths, best first, and the setting that keeps each from being read."""
        # Paths are compared here, not their triples, so one triple is enough.
        budget = attrs.evolve(self.budget, triples=1, tokens=None)
        unlimited = attrs.evolve(self._search(), margin=None)
        # By the scores of the search, which decide what is read; the choice orders what was read.
        every = self._copy(budget=budget, paths=sys.maxsize, _fixed=unlimited, choice=None, _weights=None).result(
            states
        )
        most, limit = self.paths or self.width, "expander.paths" if self.paths else "expander.width"
        read = self._copy(budget=budget, paths=most, choice=None, _weights=None).result(states)
        return [final_choice(all_.paths, some.paths, most, limit) for all_, some in zip(every, read, strict=True)]

    def _hop_choice(self, state: BeamState) -> HopChoice:
        """Repeat one hop without limits, and compare its paths with the paths that this beam keeps."""

        def hop(beam: BeamExpander) -> list[RankedPath]:
            [after] = beam.step([state])
            return hop_paths(state, after)

        search = self._search()
        loose = attrs.evolve(search, depth=1, long_width=None, hop_margin=None)
        unlimited = self._copy(width=sys.maxsize, _fixed=loose, _drops=False)
        kept = near = {path_key(path) for path in hop(self)}
        if search.hop_margin is not None:
            near = {path_key(path) for path in hop(self._copy(_fixed=attrs.evolve(search, hop_margin=None)))}
        by_score = hop(unlimited._copy(_fixed=attrs.evolve(loose, fan_cost=0.0)))
        by_fan = hop(unlimited) if search.fan_cost else None
        extended = zip(state.active, _extended(state, search.long_width), strict=True)
        ended = {path_key(item.path) for item, further in extended if not further}
        return hop_choice(by_score, by_fan, kept, near, ended, self.width)

    def _copy(self, **settings: Any) -> BeamExpander:
        """Copy this open beam with other settings; the graph and the scorer are shared."""
        # A new instance would not be open.
        other = copy.copy(self)
        for name, value in settings.items():
            setattr(other, name, value)
        return other

    def _search(self) -> SearchSettings:
        """Return the settings in force; a training changes those that are left to the scorer."""
        if self._fixed is not None:
            return self._fixed
        return _in_force(self.search, self.scorer.search_settings(), self.depth)

    def training_faults(self) -> list[str]:
        """Return why there is no choice to train, if so."""
        if self.choice is None:
            return ["`choice: null` chooses nothing, so there is nothing to train; set `choice: auto`"]
        if self.choice != AUTO and FilePath(self.choice).expanduser().is_dir():
            return ["a cross-encoder is not trained here; set `choice: auto`, or train it with its own library"]
        return []

    def fit(self, task: TrainingTask, training: ChoiceFitSettings) -> Mapping[str, float]:
        """Fit the weights of the choice to the paths that the search returns for the examples' questions.

        They are drawn to the weights that chose before, or to the order of the search where none did.

        Raises:
            DriverError: If the triples come in another order, or no question has both right and wrong paths.
        """
        if self._search().order != "nodes":
            raise DriverError("the choice of the path needs `search: {order: nodes}`; set it, and train again")
        before = self._choice()
        prior = before if isinstance(before, PathChoice) else PathChoice({"share": 1.0})
        recorder = PathRecorder()
        searching = self._copy(_weights=recorder, _learnt=True)
        questions = [example.question for example in task.examples]
        for batch in batched(questions, _AT_ONCE):
            states = searching.start(batch)
            while going := [at for at, state in enumerate(states) if not state.done]:
                for at, state in zip(going, searching.step([states[at] for at in going]), strict=True):
                    states[at] = state
            searching.result(states)
        found = [
            FoundPaths(
                table,
                np.array([f1_of(question, {end.end for end in one.read.get(at, ())}) for at in range(len(one.paths))]),
                operates(one.marked),
            )
            for question, (one, table) in zip(questions, recorder.found, strict=True)
        ]
        self._weights, figures = fit_choice(found, prior)
        self._learnt = True
        return figures if task.validate is None else {**figures, **task.validate()}

    def save(self, folder: FilePath) -> None:
        """Write the weights that choose paths."""
        if not isinstance(self._weights, PathChoice):
            raise DriverError("there are no weights of a choice to save; train them first")
        self._weights.save(folder / FILE)

    def load(self, folder: FilePath) -> None:
        """Choose paths by the weights that ``save`` wrote, whatever the scorer is."""
        self._weights, self._learnt = PathChoice.load(str(folder / FILE)), True

    def _fills(self) -> bool:
        """Return whether paths that were left out fill the budget: all of them followed, and no limit on paths set."""
        search = self._search()
        limited = (self.paths, search.margin, search.hop_margin) != (None, None, None)
        return self.variant == "default" and search.fan_cost > 0 and not limited

    def _choice(self) -> PathChoice | CrossEncoder | PathRecorder | None:
        """Return the weights that choose paths, if any; a trained scorer does without the package's weights."""
        if self.choice == AUTO and not self._learnt and (self.scorer.is_trained() or self.variant == "srtk"):
            return None
        return self._weights if self._search().order == "nodes" else None

    def _rescore(self, states: Sequence[BeamState]) -> Rescore:
        """Return a function that gives the paths of questions new scores."""
        choice = self._choice()

        def rescore(
            paths: Sequence[Sequence[RankedPath]], read: Sequence[Mapping[int, Sequence[Instance]]]
        ) -> list[list[float]]:
            assert choice is not None
            questions = [
                SearchedQuestion(state.text, state.marked, state.topics, row, found)
                for state, row, found in zip(states, paths, read, strict=True)
            ]
            return choice.scores(self.graph, self.scorer, questions)

        return rescore

    def _candidates(self, steps: Sequence[Step], end: bool) -> list[Step]:
        """Remove noise relations, and append END where it is offered."""
        for step in steps:
            if step.relation not in self._clear:
                noisy = any(fnmatchcase(step.relation, pattern) for pattern in self._noise)
                self._clear[step.relation] = not noisy
        kept = [step for step in steps if self._clear[step.relation]]
        return [*kept, END] if end else kept

    def _best(
        self,
        state: BeamState,
        candidates: Sequence[Sequence[Step]],
        scores: Sequence[Sequence[float]],
        search: SearchSettings,
    ) -> list[ActivePath]:
        """Return the best continuations of each topic's paths, each with the frontier before its last step."""
        totals: dict[int, list[tuple[float, ActivePath, Step]]] = {}
        for item, row, values in zip(state.active, candidates, scores, strict=True):
            further = item.path.score - (search.long_cost if len(item.path.steps) >= _SHORT else 0.0)
            totals.setdefault(state.topics[item.path.entity], []).extend(
                (rounded((item.path.score if step == END else further) + score), item, step)
                for step, score in zip(row, values, strict=True)
            )
        # Paths are built only for what can win: building and comparing all of them costs more than scoring them.
        most = self.width * OVERSAMPLING if search.fan_cost else self.width
        extended = []
        for found in totals.values():
            least = heapq.nlargest(most, (total for total, _, _ in found))[-1] if len(found) > most else -math.inf
            built = [
                ActivePath(RankedPath(item.path.entity, (*item.path.steps, step), total), item.frontier)
                for total, item, step in found
                if total >= least
            ]
            extended += _in_order(built)[:most]
        return _in_order(extended) if len(totals) > 1 else extended

    def _subtract_fan_cost(self, states: Sequence[BeamState], fan_cost: float) -> None:
        """Follow the continuations, subtract the cost of their fan-out, and keep the best."""
        reached = iter(self._reach([item for s in states for item in s.active if item.path.steps[-1] != END]))
        for state in states:
            ranked = _in_order([_with_fan_cost(item, reached, fan_cost) for item in state.active])
            state.active = _best_of_topics(ranked, self.width, state.topics, lambda item: item.path.entity)
            kept = set(map(id, state.active))
            left = [item.path for item in ranked if id(item) not in kept]
            state.spare += [without_end(path) if path.steps[-1] == END else path for path in left]

    def _reach(self, items: Sequence[ActivePath]) -> list[Reached]:
        """Follow the last step of each path; only the hub limit applies."""
        hub_only = attrs.evolve(self.budget, nodes=None)
        steps = [item.path.steps[-1] for item in items]
        return follow_within(self.graph, [item.frontier for item in items], steps, hub_only)

    def _follow(self, states: Sequence[BeamState]) -> None:
        """Follow the last step of every path in the beams, and keep the frontiers within the budget."""
        items = [(state, item) for state in states for item in state.active]
        if not items:
            return
        unread = iter(self._reach([item for _, item in items if item.reached is None]))
        reached = [item.reached or next(unread) for _, item in items]
        most = self.budget.nodes
        for state in states:
            state.active = []
        if not self._drops:
            within = within_nodes(self.graph, [behind.frontier for behind in reached], most)
        for i, ((state, item), behind) in enumerate(zip(items, reached, strict=True)):
            kept = behind if self._drops else within[i]
            dropped = self._drops and most is not None and kept.frontier.size > most
            for limit, lost in (("hub", behind.hub), ("nodes", kept.frontier.size if dropped else kept.nodes)):
                if lost:
                    state.cut[limit] = state.cut.get(limit, 0) + lost
            if not dropped:
                state.frontiers[item.path.entity, item.path.steps] = kept.frontier
                state.active.append(ActivePath(item.path, kept.frontier))

    def _ended(self, states: Sequence[BeamState]) -> list[list[RankedPath]]:
        """End the active paths: at no cost, or with the score of END where the scorer scores it in a known unit."""
        rows = [[item.path for item in state.active if item.path.steps] for state in states]
        scale = self._search().scale
        if not self._end_is_scored or scale is None:
            return rows
        paths = [(state, path) for state, row in zip(states, rows, strict=True) for path in row]
        scores = self.scorer.score(
            [state.texts[path.entity] for state, path in paths],
            [path.steps for _, path in paths],
            [[END] for _ in paths],
        )
        ends = (score / scale for (score,) in scores)
        return [[attrs.evolve(path, score=rounded(path.score + next(ends))) for path in row] for row in rows]


@lru_cache(maxsize=64)  # asked several times for each question
def _in_force(own: SearchBlock, suitable: SearchSettings | None, depth: int | Auto) -> SearchSettings:
    """Return a recipe's settings over those that suit the scores."""
    suitable = suitable or SearchSettings()
    if depth != AUTO:
        suitable = attrs.evolve(suitable, depth=depth, long_cost=0.0, long_width=None)
    return own.over(suitable)


def _in_units(
    state: BeamState, candidates: Sequence[Sequence[Step]], scores: Sequence[Sequence[float]], scale: float | None
) -> Sequence[Sequence[float]]:
    """Return the scores of a question's candidates in natural-log units; the first that differ set its unit."""
    if scale is not None:
        return scores if scale == 1 else [[score / scale for score in row] for row in scores]
    rows = relative_scores(candidates, scores)
    if state.unit is None:
        state.unit = unit_of(scores)
    # Without a unit, what tells single candidates of several topics apart is no more than a number of unknown size.
    unit = state.unit or math.inf
    return [[score / unit for score in row] for row in rows]


_score = attrgetter("path.score")


def _in_order(items: Sequence[ActivePath]) -> list[ActivePath]:
    """Sort paths, whose scores are rounded, by ``path_order``, which only equal scores need."""
    ranked = sorted(items, key=_score, reverse=True)
    if len(set(map(_score, items))) == len(ranked):
        return ranked
    return [one for _, tied in groupby(ranked, _score) for one in sorted(tied, key=lambda item: path_order(item.path))]


def _best_of_topics(
    items: Sequence[_Item], most: int, topics: Mapping[str, int], entity: Callable[[_Item], str]
) -> list[_Item]:
    """Keep the first so many items of each topic, in their order."""
    left = dict.fromkeys(topics.values(), most)
    kept = []
    for item in items:
        topic = topics[entity(item)]
        if left[topic] > 0:
            left[topic] -= 1
            kept.append(item)
    return kept


def _extended(state: BeamState, most: int | None) -> list[bool]:
    """Return whether each active path may be extended: of long paths only the best of each topic."""
    if most is None or state.depth < _SHORT:
        return [True] * len(state.active)
    kept = _best_of_topics(state.active, most, state.topics, lambda item: item.path.entity)
    chosen = {path_key(item.path) for item in kept}
    return [path_key(item.path) in chosen for item in state.active]


def _spare(state: BeamState, every: Sequence[RankedPath], ranked: Sequence[RankedPath]) -> list[RankedPath]:
    """Return the paths that a search has followed but does not read, each once."""
    best: dict[PathKey, RankedPath] = {}
    for path in (*every, *state.spare):
        key = path_key(path)
        if path.steps and (key not in best or path.score > best[key].score):
            best[key] = path
    for path in ranked:
        best.pop(path_key(path), None)
    return list(best.values())


def _entity(path: RankedPath) -> str:
    return path.entity


def _within_margin(paths: list[RankedPath], margin: float | None, topics: Mapping[str, int]) -> list[RankedPath]:
    """Keep the paths, given best first, whose score is within the margin of the best of their topic."""
    if margin is None:
        return paths
    best: dict[int, float] = {}
    for path in paths:
        best.setdefault(topics[path.entity], path.score)
    return [path for path in paths if path.score >= rounded(best[topics[path.entity]] - margin)]


def _within_hop_margin(state: BeamState, active: list[ActivePath], margin: float | None) -> list[ActivePath]:
    """Drop the paths that score too far below the best of their topic."""
    if margin is None:
        return active
    best: dict[int, float] = {}
    for path in (*state.finished, *(item.path for item in active)):
        topic = state.topics[path.entity]
        best[topic] = max(path.score, best.get(topic, -math.inf))
    return [item for item in active if item.path.score >= rounded(best[state.topics[item.path.entity]] - margin)]


def _with_fan_cost(item: ActivePath, reached: Iterator[Reached], fan_cost: float) -> ActivePath:
    if item.path.steps[-1] == END:
        return item
    behind = next(reached)
    cost = fan_cost * math.log(max(1, behind.frontier.fan))
    path = RankedPath(item.path.entity, item.path.steps, rounded(item.path.score - cost))
    return ActivePath(path, item.frontier, behind)


def _text(question: Question, link: Link, labels: Mapping[str, str], mention: str | None) -> str:
    return question.text if mention is None else without_mentions(question, [link], labels, mention)


def weighted_entities(links: Sequence[Link]) -> dict[str, tuple[float, Link]]:
    """Return each linked entity of a question with its log-weight and the link that gives it.

    A link weighs the logarithm of its share among the alternatives for its span; a link without a span weighs 0. An
    entity with several links keeps the best.
    """
    best: dict[str, tuple[float, Link]] = {}
    for link, share in zip(links, link_shares(links), strict=True):
        score = rounded(math.log(max(share, _LEAST_SHARE)))
        if link.entity not in best or score > best[link.entity][0]:
            best[link.entity] = (score, link)
    return best
