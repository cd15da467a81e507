"""The hop loop that all hop-wise expanders share, and the rules by which a search ends.

A search ends when its states are done, at the time limit, or when a reader has an answer from the subgraph so far. The
last answer is stored with the subgraph.
"""

from __future__ import annotations

import time
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


def run_hops(
    expander: HopWise, questions: Sequence[Question], seconds: float | None = None
) -> list[Subgraph | DriverError]:
    """Run ``start``, then ``step`` on the states that are not done, then ``result``.

    If the expander has a ``stop_reader``, that reader reads the ``result`` of each state after each hop that changed
    it, and an answer ends the search. The reader's last answer becomes the ``answer`` of the state before the final
    ``result``, and of the subgraph. The trace then holds the reason why the search ended, in ``stop`` (``answered``,
    ``exhausted``, ``seconds``), and the reader's traces, in ``reader``.

    A question whose state, subgraph or answer is a ``DriverError``, or is refused by a port, fails alone: the others
    go on, and nothing is asked again.

    Args:
        expander: A hop-wise expander.
        questions: A batch.
        seconds: Seconds after which no further hop starts; a search cut short counts 1 in ``trace["cut"]["seconds"]``.

    Returns:
        The subgraph or the error of each question.

    Raises:
        DriverError: If ``stop: reader`` has no reader that can refuse, or a hook fails for a whole batch.
    """
    # The wall clock may be set during a search.
    end = None if seconds is None else time.monotonic() + seconds
    asked = stopping_reader(expander)
    states = _each("start", questions, expander.start)
    readings = [_Reading() for _ in questions]
    while going := [i for i, state in enumerate(states) if not isinstance(state, DriverError) and not state.done]:
        if end is not None and time.monotonic() >= end:
            break
        moved = _each("step", [states[i] for i in going], expander.step)
        for i, state in zip(going, moved, strict=True):
            states[i] = state
        if asked is not None:
            _ask(asked, expander, going, questions, states, readings)
    fine = [i for i, state in enumerate(states) if not isinstance(state, DriverError)]
    found = dict(zip(fine, _each("result", [states[i] for i in fine], expander.result), strict=True))
    done: list[Subgraph | DriverError] = []
    for i, (state, reading) in enumerate(zip(states, readings, strict=True)):
        subgraph = found.get(i, state)
        if isinstance(subgraph, Subgraph):
            subgraph = _cut_by_time(subgraph) if i in going else subgraph
            if asked is not None:
                subgraph = reading.added_to(subgraph, SECONDS if i in going else EXHAUSTED)
        done.append(subgraph)
    return done


def _cut_by_time(subgraph: Subgraph) -> Subgraph:
    cut = {**subgraph.trace.get("cut", {}), "seconds": 1}
    return attrs.evolve(subgraph, trace={**subgraph.trace, "cut": cut})


@attrs.define
class _Reading:
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


def _ask(
    reader: ReaderLike,
    expander: HopWise,
    going: Sequence[int],
    questions: Sequence[Question],
    states: list[Any],
    readings: Sequence[_Reading],
) -> None:
    """Ask the reader about each state whose subgraph changed in this hop; an answered state is done.

    A state whose subgraph or answer is an error becomes that error.
    """
    fine = [i for i in going if not isinstance(states[i], DriverError)]
    new: list[tuple[int, Subgraph]] = []
    for i, found in zip(fine, _each("result", [states[i] for i in fine], expander.result), strict=True):
        if isinstance(found, DriverError):
            states[i] = found
        # A reading may cost money, so that the same subgraph is not read twice.
        elif found.triples and found.triples != readings[i].triples:
            new.append((i, found))
    answers = _each("read", new, lambda some: reader.read([questions[i] for i, _ in some], [one for _, one in some]))
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


def _each(method: str, batch: Sequence[Any], call: Callable[[Sequence[Any]], Sequence[Any]]) -> list[Any]:
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
