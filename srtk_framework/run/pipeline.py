"""From questions to retrievals by opened drivers: link, expand, read, label."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import attrs

from srtk_framework.graph.hop_loop import read_trace
from srtk_framework.graph.question_ids import with_own_ids
from srtk_framework.graph.surroundings import unknown_entities
from srtk_framework.host.kept_answers import KeptAnswers
from srtk_framework.host.ports import Port, ports_below
from srtk_framework.roles import EntityLinker, Expander, KnowledgeGraph, Reader
from srtk_framework.values import (
    ABSENT_LINKS,
    LINKED_BY,
    DriverError,
    Link,
    LinkList,
    Literal,
    Question,
    Retrieval,
    Subgraph,
    answered,
)
from srtk_framework.values.errors import BatchError

T = TypeVar("T")
R = TypeVar("R")

GIVEN, LINKED = "given", "linked"
"""Values of ``links`` in a trace: the question brought its links, or a linker found them in its text."""

LINKERS_FAILED = "linkers_failed"
"""Field of a trace: each linker that failed on the question, and why."""

LABELS_FAILED = "labels_failed"
"""Field of a trace: why the graph gave no labels."""

NO_LINK = (
    "no entity of the graph was found in the question; name some in question_entities, add aliases, or use another"
    " entity_linker"
)
"""Error of a question that brings no link and was given none."""

LONGEST = 20_000
"""Characters of a question that is answered; a text of more is no question."""

NOT_CONVERTED = "not_converted_entities"
"""SRTK's field for the names of pages that have no id in the graph."""


@attrs.frozen
class Pipeline:
    """The steps from a batch of questions to their retrievals; a question that fails spoils no other.

    Attributes:
        graph: Checks that linked entities exist, and gives labels; None skips both.
        linker: Links questions; None leaves them as they are.
        reader: Answers questions from their subgraphs; None leaves them unanswered.
        relink: Whether to link questions that bring entities of their own, too.
    """

    graph: KnowledgeGraph | None
    linker: EntityLinker | None
    reader: Reader | None
    relink: bool
    _kept: KeptAnswers = attrs.field(factory=KeptAnswers, init=False, eq=False, repr=False)

    def retrieve(self, batch: Sequence[Question], expander: Expander, read: bool) -> list[Retrieval]:
        """Link and expand a batch of questions, and have the subgraphs read unless ``read`` is false."""
        for port in ports_below(self.graph, self.linker, self.reader, expander):
            port.kept = self._kept
        with self._kept.batch(len(batch)):
            return self._retrieved(batch, expander, read)

    def _retrieved(self, batch: Sequence[Question], expander: Expander, read: bool) -> list[Retrieval]:
        linked = self.linked(batch)
        results: list[Question | Retrieval] = [item.question if item.error is None else item for item in linked]
        absent: list[list[str]] = [[] for _ in results]
        if expander.needs_links():
            results, absent = self._without_absent_links(results)
        going = [i for i, item in enumerate(results) if isinstance(item, Question)]
        questions = [item for item in results if isinstance(item, Question)]
        limits = expander.limits()
        most = None if limits is None else limits.triples
        for i, question, answer in zip(going, questions, self._each(questions, expander.expand), strict=True):
            lacking = {ABSENT_LINKS: absent[i]} if absent[i] else {}
            if isinstance(answer, Subgraph) and most is not None and len(answer.triples) > most:
                results[i] = _failed(question, _over_budget(expander, len(answer.triples), most), lacking)
            elif isinstance(answer, DriverError):
                results[i] = _failed(question, str(answer), lacking)
            else:
                source = LINKED if LINKED_BY in linked[i].subgraph.trace else GIVEN
                subgraph = attrs.evolve(answer, trace={**answer.trace, "links": source, **lacking}, answer=None)
                results[i] = Retrieval(question, subgraph, answer=answer.answer)
        pairs = zip(results, linked, strict=True)
        done = [_with_link_trace(item, before) for item, before in pairs if isinstance(item, Retrieval)]
        return self.labelled(self.read(done) if read else done)

    def linked(self, questions: Sequence[Question]) -> list[Retrieval]:
        """Link the questions that bring no entities of their own, or all with ``relink``; a pattern binds its entity.

        Where a question was linked from its text, its trace has ``linked_by``, the linkers whose links were taken.
        ``linkers_failed`` maps linkers that failed on the question to the reason.
        """
        questions = [_with_bound_end(q) for q in self.with_own_ids(questions)]
        done = [Retrieval(q) if (reason := _unfit(q)) is None else _failed(q, reason) for q in questions]
        open_ = [
            i
            for i, q in enumerate(questions)
            if done[i].error is None and q.text.strip() and q.pattern is None and (self.relink or not q.links)
        ]
        if self.linker is None or not open_:
            return done
        linker = self.linker
        answers = self._each([questions[i] for i in open_], lambda some: linker.link([q.text for q in some]))
        for i, answer in zip(open_, answers, strict=True):
            if isinstance(answer, DriverError):
                done[i] = _failed(questions[i], str(answer), {LINKED_BY: []})
            else:
                done[i] = _with_links(questions[i], answer)
        return done

    def with_own_ids(self, questions: Sequence[Question]) -> list[Question]:
        """Give links and gold the graph's own ids, in whatever spelling they came."""
        if self.graph is None:
            return list(questions)
        graph = self.graph
        own = self._each(questions, _whole(lambda some: with_own_ids(graph, some)))
        # What a failing graph is not asked about keeps its spelling; the question's own step meets the same fault.
        return [q if isinstance(one, DriverError) else one for q, one in zip(questions, own, strict=True)]

    def read(self, retrievals: Sequence[Retrieval]) -> list[Retrieval]:
        """Have the reader answer the retrievals that have no answer yet and did not fail.

        Questions without links are read too if the reader needs no links; an answered question has not
        failed.
        """
        done = list(retrievals)
        if self.reader is None:
            return done
        reader = self.reader
        readable = (None,) if reader.needs_links() else (None, NO_LINK)
        open_ = [i for i, retrieval in enumerate(done) if retrieval.answer is None and retrieval.error in readable]
        if not open_:
            return done
        answers = self._each(
            [done[i] for i in open_], lambda some: reader.read([r.question for r in some], [r.subgraph for r in some])
        )
        for i, answer in zip(open_, answers, strict=True):
            if isinstance(answer, DriverError):
                done[i] = _with_link_trace(_failed(done[i].question, str(answer)), done[i])
            else:
                trace = {**done[i].subgraph.trace, "reader": read_trace([answer.trace])}
                # What the reader read besides is part of the result, so that its support can be shown.
                subgraph = done[i].subgraph if answer.subgraph is None else answer.subgraph
                if answer.enough:
                    trace.pop("reason", None)
                done[i] = attrs.evolve(
                    done[i],
                    answer=attrs.evolve(answer, trace={}, subgraph=None),
                    subgraph=attrs.evolve(subgraph, trace=trace),
                    error=None if answer.enough else done[i].error,
                )
        return done

    def labelled(self, retrievals: Sequence[Retrieval]) -> list[Retrieval]:
        """Add the labels of all entities and relations that occur, where they differ from the id.

        Where the graph fails, the results stay without labels, and ``labels_failed`` in their traces gives the reason.
        """
        done: list[Retrieval] = []
        for retrieval, labels in zip(retrievals, self._each(retrievals, _whole(self._labels)), strict=True):
            if isinstance(labels, DriverError):
                done.append(with_trace(retrieval, {LABELS_FAILED: str(labels)}))
            else:
                done.append(attrs.evolve(retrieval, labels={**labels, **retrieval.labels}))
        return done

    def _each(self, items: Sequence[T], ask: Callable[[Sequence[T]], Sequence[R]]) -> list[R | DriverError]:
        """Ask about a batch so that an item that fails costs no other its answer, and nothing is paid for twice."""
        return answered(items, ask, self._kept.replay)

    def _labels(self, retrievals: Sequence[Retrieval]) -> list[dict[str, str]]:
        """Read the labels of each retrieval's ids, asking about each id once."""
        if self.graph is None:
            return [{} for _ in retrievals]
        wanted = [_ids(retrieval) for retrieval in retrievals]
        every = sorted({id_ for ids in wanted for id_ in ids})
        labels = dict(zip(every, self.graph.labels(every), strict=True))
        return [{id_: labels[id_] for id_ in ids if labels[id_] != id_} for ids in wanted]

    def _without_absent_links(
        self, items: Sequence[Question | Retrieval]
    ) -> tuple[list[Question | Retrieval], list[list[str]]]:
        """Fail the questions that have no link, or only links to entities that the graph lacks; return these, too."""
        done, absent = list(items), [list[str]() for _ in items]
        asked = [i for i, item in enumerate(done) if isinstance(item, Question)]
        questions = [item for item in items if isinstance(item, Question)]
        for i, question, known in zip(asked, questions, self._each(questions, _whole(self._known)), strict=True):
            if isinstance(known, DriverError):
                done[i] = _failed(question, str(known))
                continue
            absent[i] = [link.entity for link in question.links if link.entity not in known]
            if not question.links:
                done[i] = _failed(question, NO_LINK)
            elif len(absent[i]) == len(question.links):
                done[i] = _failed(question, unknown_entities(absent[i]))
        return done, absent

    def _known(self, questions: Sequence[Question]) -> list[set[str]]:
        """Return which of the linked entities the graph knows."""
        entities = sorted({link.entity for question in questions for link in question.links})
        known = set(entities)
        if self.graph is not None and entities:
            sizes = self.graph.frontiers([[entity] for entity in entities])
            known = {entity for entity, frontier in zip(entities, sizes, strict=True) if frontier.size}
        return [known] * len(questions)


def _unfit(question: Question) -> str | None:
    """Return why a question is not worked on; None if it is."""
    if len(question.text) > LONGEST:
        return f"the question has {len(question.text):,} characters; shorten it to {LONGEST:,} at most"
    if question.text.strip() or question.links or question.pattern:
        return None
    return "the question is empty; give it a text"


def _with_bound_end(question: Question) -> Question:
    """Link a pattern that has no links to the entity that it binds, so that any expander may start from there."""
    if question.pattern is None or question.links:
        return question
    bound = question.pattern.subject if question.pattern.subject is not None else question.pattern.object
    if bound is None or isinstance(bound, Literal):
        return question
    return attrs.evolve(question, links=(Link(bound),))


def _over_budget(expander: Expander, count: int, most: int) -> str:
    """Return why a subgraph is refused that a comparison under one budget would favour."""
    who = expander.name if isinstance(expander, Port) else type(expander).__name__
    text = f"expand returned {count} triples, and its budget allows {most}; cut them by graph.finish or Subgraph.first"
    return str(DriverError(text, who))


def _failed(question: Question, reason: str, trace: Mapping[str, Any] | None = None) -> Retrieval:
    return Retrieval(question, Subgraph(trace={"reason": reason, **(trace or {})}), error=reason)


def with_trace(retrieval: Retrieval, more: Mapping[str, Any]) -> Retrieval:
    """Add fields to the trace of a retrieval."""
    subgraph = retrieval.subgraph
    return attrs.evolve(retrieval, subgraph=attrs.evolve(subgraph, trace={**subgraph.trace, **more}))


def _with_links(question: Question, links: Sequence[Link]) -> Retrieval:
    """Give a question the links that were found; the trace names the linkers that found them and those that failed."""
    trace: dict[str, Any] = {LINKED_BY: list(dict.fromkeys(link.by for link in links if link.by))}
    extra = dict(question.extra)
    if isinstance(links, LinkList):
        if links.failed:
            trace[LINKERS_FAILED] = dict(links.failed)
        if links.unmapped is not None:
            extra[NOT_CONVERTED] = list(links.unmapped)
    return Retrieval(attrs.evolve(question, links=tuple(links), extra=extra), Subgraph(trace=trace))


def _with_link_trace(retrieval: Retrieval, linked: Retrieval) -> Retrieval:
    """Add the part of the trace about links to a result."""
    kept = (LINKED_BY, LINKERS_FAILED, ABSENT_LINKS)
    return with_trace(retrieval, {k: v for k, v in linked.subgraph.trace.items() if k in kept})


def _whole(call: Callable[[Sequence[T]], Sequence[R]]) -> Callable[[Sequence[T]], Sequence[R]]:
    """Take the answers out of an error about the questions inside of the items."""

    def ask(items: Sequence[T]) -> Sequence[R]:
        try:
            return call(items)
        except BatchError as error:
            raise DriverError(error.args[0], error.driver) from error

    return ask


def _ids(retrieval: Retrieval) -> list[str]:
    """Collect the ids that occur in a retrieval, sorted."""
    subgraph, question = retrieval.subgraph, retrieval.question
    ids: dict[str, None] = {}
    for triple in subgraph.triples:
        ids.update(dict.fromkeys(triple))
    for path in subgraph.paths:
        ids.update(dict.fromkeys((path.entity, *(step.relation for step in path.steps if step.relation))))
    for row in subgraph.qualifiers:
        for qualifier in row:
            ids.update(dict.fromkeys(qualifier))
    ids.update(dict.fromkeys(link.entity for link in question.links))
    ids.update(dict.fromkeys(question.answers or ()))
    if retrieval.answer is not None:
        ids.update(dict.fromkeys(retrieval.answer.entities))
        ids.update(dict.fromkeys(entity for other in retrieval.answer.alternatives for entity in other.entities))
    return sorted(ids)
