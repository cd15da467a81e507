"""Readers that end a search: called after each hop; the last answer is stored with the subgraph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from srtk_framework.values import Answer, DriverError, Question, Subgraph, Triple, total
from srtk_framework.values.errors import BatchError
from srtk_framework.values.protocols import HopWise, ReaderLike

READER = "reader"
"""The ``stop`` of an expander whose search ends when its reader has an answer."""

ANSWERED, EXHAUSTED, SECONDS = "answered", "exhausted", "seconds"
"""Reasons of the end of such a search: an answer, no hop left, or the time limit."""


def stopping_reader(expander: HopWise) -> ReaderLike | None:
    """Return the reader that ends the search of an expander; None if only depth and time end it.

    Raises:
        DriverError: If the expander lacks a reader, or the reader cannot refuse.
    """
    reader = expander.stop_reader()
    if reader is not None and not reader.refuses():
        raise DriverError("`stop: reader` needs a reader that can say `not enough`; take another, or set `stop: depth`")
    return reader


@attrs.define
class Reading:
    """Answers of the reader to one question, hop by hop.

    Attributes:
        answer: The last answer.
        triples: The subgraph from which it was read.
        traces: Traces of all answers.
    """

    answer: Answer | None = None
    triples: tuple[Triple, ...] | None = None
    traces: list[Mapping[str, Any]] = attrs.field(factory=list)

    def added_to(self, subgraph: Subgraph, otherwise: str) -> Subgraph:
        """Add the last answer to the final subgraph, with its support there, and the traces of all answers.

        Args:
            subgraph: The final ``result``.
            otherwise: Reason of the end if no answer ended the search.
        """
        answer = subgraph.answer if subgraph.answer is not None else self.answer
        if answer is None:  # nothing was found that could be read
            return attrs.evolve(subgraph, trace={"stop": otherwise, **subgraph.trace})
        if answer is self.answer:
            if answer.subgraph is not None and self.triples == subgraph.triples:
                subgraph = attrs.evolve(answer.subgraph, trace=subgraph.trace)
            else:
                read = self.triples if answer.subgraph is None else answer.subgraph.triples
                answer = answer.moved(read or (), subgraph.triples)
        trace = {"stop": ANSWERED if answer.enough else otherwise, **subgraph.trace, "reader": read_trace(self.traces)}
        return attrs.evolve(subgraph, answer=attrs.evolve(answer, trace={}, subgraph=None), trace=trace)


def ask(
    reader: ReaderLike,
    expander: HopWise,
    going: Sequence[int],
    questions: Sequence[Question],
    states: list[Any],
    readings: Sequence[Reading],
) -> None:
    """Ask the reader about each state whose subgraph changed in this hop; an answered state is done.

    A state whose subgraph or answer is an error becomes that error.
    """
    fine = [i for i in going if not isinstance(states[i], DriverError)]
    new: list[tuple[int, Subgraph]] = []
    for i, found in zip(fine, each("result", [states[i] for i in fine], expander.result), strict=True):
        if isinstance(found, DriverError):
            states[i] = found
        elif found.triples and found.triples != readings[i].triples:
            new.append((i, found))
    answers = each("read", new, lambda some: reader.read([questions[i] for i, _ in some], [one for _, one in some]))
    for (i, subgraph), answer in zip(new, answers, strict=True):
        if isinstance(answer, DriverError):
            states[i] = answer
            continue
        states[i].answer = readings[i].answer = answer
        readings[i].triples = subgraph.triples
        readings[i].traces.append(answer.trace)
        if answer.enough:
            states[i].done = True


def read_trace(traces: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Merge the traces of several answers to one question: usage is added up, lists are joined."""
    whole: dict[str, Any] = {"reads": len(traces)}
    for trace in traces:
        for name, value in trace.items():
            if name == "generator" and name in whole:
                value = total([whole[name], value])
            elif isinstance(value, list | tuple):
                value = [*whole.get(name, ()), *value]
            whole[name] = value
    return whole


def each(method: str, batch: Sequence[Any], call: Callable[[Sequence[Any]], Sequence[Any]]) -> list[Any]:
    """Call a hook with a batch; return the answer or the error of each item.

    Raises:
        DriverError: If the hook fails for the whole batch, or its answer is not as long as the batch.
    """
    if not batch:
        return []
    try:
        answer = list(call(batch))
    except BatchError as error:
        return list(error.answers)
    if len(answer) != len(batch):
        raise DriverError(f"{method} got {len(batch)} items and returned {len(answer)}; it must return one for each")
    return answer
