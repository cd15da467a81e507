"""What StructGPT and Think-on-Graph share: a walk from the linked entities, hop by hop, told where to go."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple

import attrs

from srtk_framework.graph import EXHAUSTED, finish, stopping_reader
from srtk_framework.roles import Expander, Generator, KnowledgeGraph, PathScorer, Reader
from srtk_framework.text import unnamed_entities, without_mentions
from srtk_framework.values import Budget, DriverError, HopState, Path, Question, Schema, Subgraph, Triple, rounded
from srtk_framework.values import Literal as Value
from srtk_plugin_structgpt.asking import By
from srtk_plugin_structgpt.candidates import Group, Offer, Show, offered
from srtk_plugin_structgpt.closing import CLOSED_BOOK, close_book
from srtk_plugin_structgpt.constraining import statements
from srtk_plugin_structgpt.mediators import Parts, is_mediator
from srtk_plugin_structgpt.paging import Ballot, elected
from srtk_plugin_structgpt.ranking import connected, ranked
from srtk_plugin_structgpt.read_triples import read
from srtk_plugin_structgpt.search_state import Branch, Fact, Walk, WalkState, copied, weights
from srtk_plugin_structgpt.support import marked
from srtk_plugin_structgpt.templates import CHOOSING, Template, digest, read_templates
from srtk_plugin_structgpt.wording import followed, names

_CHOICES = (("stop", ("reader", "depth")), ("show", ("relation", "path")), ("by", ("reply", "rating")))


class Place(NamedTuple):
    """Branches from which steps are to be chosen by one prompt."""

    state: WalkState
    branches: tuple[Branch, ...]


@attrs.define(eq=False)
class Walking(Expander):
    """Base of both walks; its fields are described there."""

    own_prompts: ClassVar[tuple[str, ...]] = CHOOSING
    graph: KnowledgeGraph
    generator: Generator
    reader: Reader | None = None
    scorer: PathScorer | None = None
    budget: Budget = attrs.field(factory=Budget)
    stop: Literal["reader", "depth"] = "reader"
    max_iterations: int = 3
    width: int = 1
    inverse: bool = True
    history: bool = True
    show: Show = "relation"
    narrow: int = 30
    relation_triples: int | None = 60
    tokens: int | None = 1024
    constraints: bool = True
    support: bool = True
    closed_book: bool = False
    by: By = "reply"
    mention: str | None = None
    prompts: dict[str, str] = attrs.field(factory=dict)
    templates: Mapping[str, Template] = attrs.field(init=False, factory=dict, repr=False)
    schema: Schema = attrs.field(init=False, factory=Schema, repr=False)

    def open(self) -> None:
        """Check the settings, read the prompts, and ask the graph what its nodes and relations mean."""
        for field in ("max_iterations", "width", "narrow", "relation_triples", "tokens"):
            value = getattr(self, field)
            if value is not None and value < 1:
                raise DriverError(f"{field} is {value}; it must be at least 1")
        for field, known in _CHOICES:
            if getattr(self, field) not in known:
                raise DriverError(f"{field} is {getattr(self, field)!r}; use {' or '.join(known)}")
        if self.by == "rating" and not self.generator.rates():
            raise DriverError("by is rating, but the generator does not rate options; set it to reply")
        stopping_reader(self)
        self.templates = read_templates(self.prompts, self.own_prompts)
        self.schema = self.graph.schema()

    def fingerprint(self) -> str:
        """Identify drivers, settings and the wording of the prompts."""
        parts = [f"prompts={digest(self.prompts, self.own_prompts)}"]
        for field in attrs.fields(type(self)):
            if field.init and field.name != "prompts":
                value = getattr(self, field.name)
                parts.append(f"{field.name}={value.fingerprint() if hasattr(value, 'fingerprint') else repr(value)}")
        return f"{type(self).__module__}.{type(self).__qualname__}({', '.join(parts)})"

    def start(self, questions: Sequence[Question]) -> list[WalkState]:
        """Find the linked entities in the graph."""
        every = [weights(question.links) for question in questions]
        at = iter(self.graph.frontiers([[entity] for row in every for entity in row]))
        known: dict[str, str] = {}
        if self.mention is not None:
            nameless = unnamed_entities(questions)
            known = dict(zip(nameless, self.graph.labels(nameless), strict=True))
        states = []
        for question, row in zip(questions, every, strict=True):
            branches = [Branch(entity, (), tuple(next(at).ids()), weight) for entity, weight in row.items()]
            going = [branch for branch in branches if branch.nodes]
            text = question.text
            if self.mention is not None:
                text = without_mentions(question, question.links, known, self.mention)
            state = WalkState(question, text, tuple(id_ for branch in going for id_ in branch.nodes), going)
            state.seen = set(state.topics)
            state.count("unknown", len(branches) - len(going))
            if not going:
                state.end("no linked entity is in the graph" if branches else "the question has no link")
                state.done = True
            states.append(state)
        return states

    def step(self, states: Sequence[HopState]) -> list[WalkState]:
        """Have the generator choose where to go, and read what is there; each is one call for all questions."""
        moved = [copied(state) for state in states]
        close_book(self.generator, self.templates[CLOSED_BOOK], [state for state in moved if state.over])
        going = [state for state in moved if not state.over]
        walks = self._chosen_walks(going)
        found: dict[int, list[Fact]] = {id(state): [] for state in going}
        for (state, _), facts in zip(walks, read(self.graph, walks, self.budget, self.relation_triples), strict=True):
            found[id(state)] += facts
        picked = self._picked([(state, _new(state, found[id(state)])) for state in going if not state.over])
        for (state, facts), parts in zip(picked, statements(self, picked), strict=True):
            self._enter(state, facts, parts)
        for state in moved:
            state.done = state.done or (state.over and not self.closed_book)
        return moved

    @abstractmethod
    def _chosen_walks(self, states: Sequence[WalkState]) -> list[tuple[WalkState, Walk]]:
        """Choose the steps to walk; states for which none could be chosen are ended."""

    def _picked(self, found: list[tuple[WalkState, list[Fact]]]) -> list[tuple[WalkState, list[Fact]]]:
        """Choose among the triples just read; all are kept unless a walk says otherwise."""
        return found

    def _choose(self, places: Sequence[Place]) -> list[tuple[WalkState, Walk]]:
        """Have the generator choose up to ``width`` of the steps that leave each place."""
        rows = [(place, row) for place, row in zip(places, self._offers(places), strict=True) if row]
        here = names(self.graph, [[id_ for branch in place.branches for id_ in branch.nodes] for place, _ in rows])
        topics = names(self.graph, [place.state.topics for place, _ in rows])
        ballots = []
        for (place, row), at, start in zip(rows, here, topics, strict=True):
            state = place.state
            template = self.templates["next-relations" if state.hop and self.history else "first-relations"]
            values = {
                "question": state.question.text,
                "topics": start if self.history else at,
                "here": at,
                "history": followed(state.history),
            }
            ballots.append(Ballot(state, template, [offer.text for offer in row], values, self.width))
        walks: list[tuple[WalkState, Walk]] = []
        chosen: dict[int, list[str]] = {id(place.state): [] for place, _ in rows}
        for (place, row), won in zip(rows, elected(self.generator, self.by, ballots, self.tokens), strict=True):
            state = place.state
            for rank, offer in enumerate([row[i] for i in won], 1):
                option = len(chosen[id(state)])
                chosen[id(state)].append(offer.text)
                walks += [(state, Walk(branch, step, rank, option)) for branch, step in offer.walks]
        for state in {id(place.state): place.state for place, _ in rows}.values():
            texts = list(dict.fromkeys(chosen[id(state)]))
            if texts:
                state.history.append(tuple(texts))
            else:
                state.end("a call failed" if state.errors else "no reply could be read")
        return walks

    def _offers(self, places: Sequence[Place]) -> list[list[Offer]]:
        """Offer the steps that leave each place; states at whose places nothing is offered are ended."""
        groups = [Group(place.state.query, place.branches) for place in places]
        offers, left_out = offered(
            self.graph, groups, self.inverse, self.schema.noise, self.show, self.scorer, self.narrow
        )
        for place, row, out in zip(places, offers, left_out, strict=True):
            place.state.count("offered", len(row) + out)
            place.state.drop("narrow", out)
        going = {id(place.state) for place, row in zip(places, offers, strict=True) if row}
        for place in places:
            if id(place.state) not in going:
                place.state.end("no relation leads on")
        return offers

    def _enter(self, state: WalkState, facts: Sequence[Fact], parts: Parts) -> None:
        """Take what was read into the state, and go on from where it leads."""
        mediators = self.schema.mediators
        standing = {id_ for branch in state.going for id_ in branch.nodes}
        ends: list[Fact] = []

        def take(one: Fact) -> None:
            if one.triple in state.found:
                return
            state.found[one.triple] = one
            known = one.end in standing or one.end in state.seen or one.end in state.way
            if known or isinstance(one.end, Value):
                return
            state.way[one.end] = one.triple
            if is_mediator(one.end, mediators):
                state.seen.add(one.end)
            else:
                ends.append(one)

        for one in facts:
            if is_mediator(one.end, mediators) and one.end not in parts:
                continue  # of a statement that the question does not ask for
            take(one)
            for part in parts.get(one.end, ()):
                take(part)
        state.seen |= standing
        state.hop += 1
        state.going = self._branches(state, ends)
        if state.hop >= self.max_iterations:
            state.over = True
        elif not state.going and not state.over:
            state.end("nothing new was reached")

    def _branches(self, state: WalkState, ends: Sequence[Fact]) -> list[Branch]:
        """Gather the nodes just reached into branches, one for each path, best first."""
        nodes: dict[tuple[str, Path], list[str]] = {}
        for one in ends:
            nodes.setdefault((one.entity, one.steps), []).append(one.end)
        scores = {(one.entity, one.steps): one.score for one in ends}
        branches = []
        for (entity, steps), ids in nodes.items():
            first = sorted(ids)[: self.budget.nodes]
            state.drop("nodes", len(ids) - len(first))
            branches.append(Branch(entity, steps, tuple(first), scores[entity, steps]))
        return sorted(branches, key=lambda branch: -rounded(branch.score))

    def result(self, states: Sequence[HopState]) -> list[Subgraph]:
        """Make the subgraphs; where an answer was found, of the triples that support it and of what leads to them."""
        own = [copied(state) for state in states]
        whole = finish(self.graph, [self._subgraph(state, state.found) for state in own], self.budget)
        if self.support:
            whole = self._supporting(own, whole)
        for i, state in enumerate(own):
            answer = state.answer if state.stop == CLOSED_BOOK else whole[i].answer
            whole[i] = attrs.evolve(whole[i], answer=answer, trace={**whole[i].trace, **self._trace(state, whole[i])})
        return whole

    def _supporting(self, states: Sequence[WalkState], whole: Sequence[Subgraph]) -> list[Subgraph]:
        """Keep what answers rest on, where that is known, and what leads to it."""
        answered = [
            (i, state.answer)
            for i, state in enumerate(states)
            if state.answer is not None and state.answer.enough and state.stop != CLOSED_BOOK
        ]
        marks = marked(self, [(states[i], answer, whole[i]) for i, answer in answered])
        rests = [
            (i, answer, [whole[i].triples[k] for k in row]) for (i, answer), row in zip(answered, marks, strict=True)
        ]
        rests = [(i, answer, triples) for i, answer, triples in rests if triples]
        kept = [
            attrs.evolve(
                self._subgraph(states[i], connected(triples, states[i].found, states[i].way)), trace=whole[i].trace
            )
            for i, _, triples in rests
        ]
        # They are within the budget already, and what it cut is counted.
        free = attrs.evolve(self.budget, triples=None, tokens=None, mass=None)
        done = list(whole)
        for (i, answer, triples), subgraph in zip(rests, finish(self.graph, kept, free), strict=True):
            places = sorted(subgraph.triples.index(triple) for triple in triples if triple in subgraph.triples)
            done[i] = attrs.evolve(subgraph, answer=attrs.evolve(answer, support=tuple(places)))
        return done

    def _subgraph(self, state: WalkState, found: Mapping[Triple, Fact]) -> Subgraph:
        cut = dict(sorted(state.cut.items()))
        return attrs.evolve(ranked(found, state.way), trace={"cut": cut} if cut else {})

    def _trace(self, state: WalkState, subgraph: Subgraph) -> dict[str, Any]:
        trace: dict[str, Any] = {"links": len(state.topics), "hops": state.hop, **dict(sorted(state.counts.items()))}
        answered = state.answer is not None and state.answer.enough
        if state.stop and (not answered or state.stop == CLOSED_BOOK):
            trace["stop"] = state.stop
        elif self.stop == "depth" and not answered:
            trace["stop"] = EXHAUSTED
        if not subgraph.triples:
            trace["reason"] = state.stop or "nothing was read"
        if state.errors:
            trace["errors"] = list(state.errors)
        return {**trace, "generator": dict(state.used), "calls": list(state.calls)}


def _new(state: WalkState, facts: Sequence[Fact]) -> list[Fact]:
    """Leave out triples that were found before, and all but the first of equal ones."""
    new: dict[Triple, Fact] = {}
    for one in facts:
        if one.triple not in state.found:
            new.setdefault(one.triple, one)
    return list(new.values())
