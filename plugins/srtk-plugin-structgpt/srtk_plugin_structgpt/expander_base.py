"""The base class of ``structgpt`` and ``tog``: a search from the linked entities, hop by hop, led by a generator."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import attrs

from srtk_framework.graph import EXHAUSTED, finish, stopping_reader
from srtk_framework.roles import Expander, Generator, KnowledgeGraph, PathScorer, Reader
from srtk_framework.text import unnamed_entities, without_mentions
from srtk_framework.values import (
    Answer,
    Budget,
    DriverError,
    HopState,
    Path,
    Question,
    Schema,
    Subgraph,
    Triple,
    at_least,
    one_of,
    rounded,
)
from srtk_framework.values import Literal as LiteralNode
from srtk_plugin_structgpt.candidates import (
    BranchGroup,
    By,
    Candidate,
    PagedRequest,
    Show,
    candidate_steps,
    choose_paged,
)
from srtk_plugin_structgpt.read_triples import Parts, constrain_statements, is_mediator, read_statements, read_triples
from srtk_plugin_structgpt.search_state import Branch, ChosenStep, FoundTriple, SearchState, copy_state, link_weights
from srtk_plugin_structgpt.support import supporting_subgraphs
from srtk_plugin_structgpt.templates import SEARCH_TEMPLATES, Template, digest, history_text, node_names, read_templates

CLOSED_BOOK = "closed-book"  # Name of the template, and the ``stop`` of a search that ended with such an answer


@attrs.define(eq=False)
class IterativeExpander(Expander):
    """Base of expanders whose generator chooses where to go.

    Attributes:
        graph: Graph to search.
        generator: Chooses relations.
        reader: Decides after each hop whether the triples suffice; must be able to refuse.
        scorer: Limits the relations shown to the generator to the best.
        budget: Limits on triples, tokens, nodes and neighbours.
        stop: `reader` ends the search when the reader has an answer, `depth` after `max_iterations` hops only.
        max_iterations: Most hops.
        width: Most relations chosen at each hop.
        inverse: Also follow relations against their direction.
        revisit: Also follow triples back to nodes reached at an earlier hop, as a path from a person to their parents'
            other children must.
        history: Show the generator the relations chosen at earlier hops.
        show: Text of an option: its `relation`, or the whole `path` with it.
        narrow: Number of options that the scorer keeps.
        relation_triples: Most triples of one relation at one hop, taken from its start nodes in turn; null for all.
        tokens: Most tokens of the relations, triples or values shown in one prompt; null for all. More relations are
            shown on several pages, and those chosen once more.
        constraints: Let the generator choose among the statements behind mediators by their values.
        support: Keep only the triples that support the answer, and those that lead to them.
        closed_book: Where the graph gives no answer, ask the generator without it; the trace has `stop: closed-book`.
        by: The generator chooses by its `reply`, or by `rating` each option.
        mention: Replacement for the mentions of linked entities where texts are compared; null keeps the text.
        prompts: YAML files that replace prompts, by the name of the prompt.
    """

    prompt_names: ClassVar[tuple[str, ...]] = SEARCH_TEMPLATES
    graph: KnowledgeGraph
    generator: Generator
    reader: Reader | None = None
    scorer: PathScorer | None = None
    budget: Budget = attrs.field(factory=Budget)
    stop: Literal["reader", "depth"] = attrs.field(default="reader", validator=one_of(("reader", "depth")))
    max_iterations: int = attrs.field(default=3, validator=at_least(1))
    width: int = attrs.field(default=1, validator=at_least(1))
    inverse: bool = True
    revisit: bool = False
    history: bool = True
    show: Show = attrs.field(default="relation", validator=one_of(("relation", "path")))
    narrow: int = attrs.field(default=30, validator=at_least(1))
    relation_triples: int | None = attrs.field(default=60, validator=at_least(1))
    tokens: int | None = attrs.field(default=1024, validator=at_least(1))
    constraints: bool = True
    support: bool = True
    closed_book: bool = False
    by: By = attrs.field(default="reply", validator=one_of(("reply", "rating")))
    mention: str | None = None
    prompts: dict[str, str] = attrs.field(factory=dict)
    templates: Mapping[str, Template] = attrs.field(init=False, factory=dict, repr=False)
    schema: Schema = attrs.field(init=False, factory=Schema, repr=False)

    def open(self) -> None:
        """Check generator and reader; read the prompts and the schema of the graph."""
        if self.by == "rating" and not self.generator.rates():
            raise DriverError("by is rating, but the generator does not rate options; use by: reply")
        stopping_reader(self)
        self.templates = read_templates(self.prompts, self.prompt_names)
        self.schema = self.graph.schema()

    def fingerprint(self) -> str:
        """Identify the driver, its needs, its settings and the wording of its prompts."""
        parts = [f"prompts={digest(self.prompts, self.prompt_names)}"]
        for field in attrs.fields(type(self)):
            if field.init and field.name != "prompts":
                value = getattr(self, field.name)
                parts.append(f"{field.name}={value.fingerprint() if hasattr(value, 'fingerprint') else repr(value)}")
        return f"{type(self).__name__}({', '.join(parts)})"

    def start(self, questions: Sequence[Question]) -> list[SearchState]:
        """Start a search at the linked entities that the graph contains."""
        weights = [link_weights(question.links) for question in questions]
        frontiers = iter(self.graph.frontiers([[entity] for row in weights for entity in row]))
        labels: dict[str, str] = {}
        if self.mention is not None:
            unnamed = unnamed_entities(questions)
            labels = dict(zip(unnamed, self.graph.labels(unnamed), strict=True))
        states = []
        for question, row in zip(questions, weights, strict=True):
            branches = [Branch(entity, (), tuple(next(frontiers).ids()), weight) for entity, weight in row.items()]
            known = [branch for branch in branches if branch.nodes]
            query = question.text
            if self.mention is not None:
                query = without_mentions(question, question.links, labels, self.mention)
            starts = {branch.entity: branch.nodes for branch in known}
            state = SearchState(question, query, starts, known, revisit=self.revisit)
            state.visited = set(state.topics)
            state.count("unknown", len(branches) - len(known))
            if not known:
                state.end("no linked entity is in the graph" if branches else "the question has no link")
                state.done = True
            states.append(state)
        return states

    def step(self, states: Sequence[HopState]) -> list[SearchState]:
        """Take one hop: the generator chooses steps, then their triples are read; all questions share each call."""
        moved = [copy_state(state) for state in states]
        closed_book_answers(self.generator, self.templates[CLOSED_BOOK], [state for state in moved if state.ended])
        going = [state for state in moved if not state.ended]
        chosen = self._chosen_steps(going)
        read: dict[int, list[FoundTriple]] = {id(state): [] for state in going}
        rows = read_triples(self.graph, chosen, self.budget, self.relation_triples)
        for (state, _), triples in zip(chosen, rows, strict=True):
            read[id(state)] += triples
        kept = self._kept_triples([(state, _new(state, read[id(state)])) for state in going if not state.ended])
        statements = read_statements(self.graph, kept, self.schema, self.inverse, self.budget)
        if self.constraints and any(statements):
            template, kept_states = self.templates["constraints"], [state for state, _ in kept]
            statements = constrain_statements(
                self.graph, self.generator, template, self.by, self.tokens, kept_states, statements
            )
        for (state, triples), parts in zip(kept, statements, strict=True):
            self._add(state, triples, parts)
        for state in moved:
            state.done = state.done or (state.ended and not self.closed_book)
        return moved

    @abstractmethod
    def _chosen_steps(self, states: Sequence[SearchState]) -> list[tuple[SearchState, ChosenStep]]:
        """Choose the steps of a hop; end the states for which none can be chosen."""

    def _kept_triples(
        self, read: list[tuple[SearchState, list[FoundTriple]]]
    ) -> list[tuple[SearchState, list[FoundTriple]]]:
        """Choose among the triples just read; by default all are kept."""
        return read

    def _choose_steps(self, groups: Sequence[BranchGroup]) -> list[tuple[SearchState, ChosenStep]]:
        """Let the generator choose up to ``width`` of the steps that leave each group."""
        rows = [(group, row) for group, row in zip(groups, self._candidates(groups), strict=True) if row]
        here = node_names(self.graph, [[id_ for branch in group.branches for id_ in branch.nodes] for group, _ in rows])
        topics = node_names(self.graph, [group.state.topics for group, _ in rows])
        requests = []
        for (group, row), at, start in zip(rows, here, topics, strict=True):
            state = group.state
            template = self.templates["next-relations" if state.hop and self.history else "first-relations"]
            values = {
                "question": state.question.text,
                "topics": start if self.history else at,
                "here": at,
                "history": history_text(state.history),
            }
            requests.append(PagedRequest(state, template, [one.text for one in row], values, self.width))
        steps: list[tuple[SearchState, ChosenStep]] = []
        texts: dict[int, list[str]] = {id(group.state): [] for group, _ in rows}
        choices = choose_paged(self.generator, self.by, requests, self.tokens)
        for (group, row), indices in zip(rows, choices, strict=True):
            state = group.state
            for rank, candidate in enumerate([row[i] for i in indices], 1):
                option = len(texts[id(state)])
                texts[id(state)].append(candidate.text)
                steps += [(state, ChosenStep(branch, step, rank, option)) for branch, step in candidate.steps]
        for state in {id(group.state): group.state for group, _ in rows}.values():
            if texts[id(state)]:
                state.history.append(tuple(dict.fromkeys(texts[id(state)])))
            else:
                state.end_without_choice()
        return steps

    def _candidates(self, groups: Sequence[BranchGroup]) -> list[list[Candidate]]:
        """Return the candidate steps of each group; end the states that have none."""
        rows, cuts = candidate_steps(
            self.graph, groups, self.inverse, self.schema.noise, self.show, self.scorer, self.narrow
        )
        for group, row, cut in zip(groups, rows, cuts, strict=True):
            group.state.count("offered", len(row) + cut)
            group.state.count_cut("narrow", cut)
        going = {id(group.state) for group, row in zip(groups, rows, strict=True) if row}
        for group in groups:
            if id(group.state) not in going:
                group.state.end("no relation leads on")
        return rows

    def _add(self, state: SearchState, triples: Sequence[FoundTriple], statements: Parts) -> None:
        """Add the triples of a hop to the state, and set the branches of the next hop."""
        mediators = self.schema.mediators
        nodes = {id_ for branch in state.branches for id_ in branch.nodes}
        ends: list[FoundTriple] = []

        def add(one: FoundTriple) -> None:
            if one.triple in state.found and not self.revisit:
                return
            state.found.setdefault(one.triple, one)
            known = one.end in nodes or one.end in state.visited or one.end in state.parents
            if (known and not self.revisit) or isinstance(one.end, LiteralNode):
                return
            if not known:
                state.parents[one.end] = one.triple
            if is_mediator(one.end, mediators):
                state.visited.add(one.end)
            else:
                ends.append(one)

        for one in triples:
            if is_mediator(one.end, mediators) and one.end not in statements:
                continue  # a statement that the question does not ask for
            add(one)
            for part in statements.get(one.end, ()):
                add(part)
        state.visited |= nodes
        state.hop += 1
        state.branches = self._branches(state, ends)
        if state.hop >= self.max_iterations:
            state.ended = True
        elif not state.branches and not state.ended:
            state.end("nothing new was reached")

    def _branches(self, state: SearchState, ends: Sequence[FoundTriple]) -> list[Branch]:
        """Group the nodes just reached into a branch for each path, best first."""
        nodes: dict[tuple[str, Path], list[str]] = {}
        for one in ends:
            nodes.setdefault((one.entity, one.steps), []).append(one.end)
        scores = {(one.entity, one.steps): one.score for one in ends}
        branches = []
        for (entity, steps), ids in nodes.items():
            distinct = sorted(set(ids))
            first = distinct[: self.budget.nodes]
            state.count_cut("nodes", len(distinct) - len(first))
            branches.append(Branch(entity, steps, tuple(first), scores[entity, steps]))
        return sorted(branches, key=lambda branch: -rounded(branch.score))

    def result(self, states: Sequence[HopState]) -> list[Subgraph]:
        """Return the subgraphs; with ``support``, an answered question keeps only the triples behind its answer."""
        own = [copy_state(state) for state in states]
        subgraphs = finish(self.graph, [state.subgraph(state.found) for state in own], self.budget)
        if self.support:
            answered = {
                i: (state, state.answer, subgraphs[i])
                for i, state in enumerate(own)
                if state.answer is not None and state.answer.enough and state.stop != CLOSED_BOOK
            }
            template, rows = self.templates["support"], list(answered.values())
            supported = supporting_subgraphs(
                self.graph, self.generator, template, self.by, self.tokens, self.budget, rows
            )
            for i, subgraph in zip(answered, supported, strict=True):
                subgraphs[i] = subgraph
        for i, state in enumerate(own):
            answer = state.answer if state.stop == CLOSED_BOOK else subgraphs[i].answer
            trace = {**subgraphs[i].trace, **self._trace(state, subgraphs[i])}
            subgraphs[i] = attrs.evolve(subgraphs[i], answer=answer, trace=trace)
        return subgraphs

    def _trace(self, state: SearchState, subgraph: Subgraph) -> dict[str, Any]:
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
        return {**trace, "generator": dict(state.usage), "calls": list(state.calls)}


def closed_book_answers(generator: Generator, template: Template, states: Sequence[SearchState]) -> None:
    """Let the generator answer questions without the graph, with one call for all; their states are done after it."""
    if not states:
        return
    prompts = [template.prompt({"question": state.question.text}, query=state.query) for state in states]
    for state, reply in zip(states, generator.generate(prompts), strict=True):
        state.record(template, (reply,))
        state.done = True
        text = reply.text.rpartition("</think>")[2].strip()
        if reply.error is None and text:
            state.answer = Answer(text=text)
            state.stop = CLOSED_BOOK


def _new(state: SearchState, triples: Sequence[FoundTriple]) -> list[FoundTriple]:
    """Leave out triples found at an earlier hop, and repeated triples.

    Where nodes may be revisited, a triple found earlier leads on, and equal triples on different paths are apart.
    """
    new: dict[tuple[Triple, str, Path] | Triple, FoundTriple] = {}
    for one in triples:
        if state.revisit:
            new.setdefault((one.triple, one.entity, one.steps), one)
        elif one.triple not in state.found:
            new.setdefault(one.triple, one)
    return list(new.values())
