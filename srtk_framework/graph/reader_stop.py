"""A reader that ends a search: asked after each hop, its last word kept with the subgraph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from srtk_framework.values import Answer, DriverError, HopState, HopWise, Question, ReaderLike, Subgraph, Triple, total

READER = "reader"
"""The ``stop`` of an expander whose search ends when its reader has an answer."""

ANSWERED, EXHAUSTED, SECONDS = "answered", "exhausted", "seconds"
"""Why such a search ended: by an answer, because no hop was left, or because the time was over."""


def stopping_reader(expander: HopWise) -> ReaderLike | None:
    """Return the reader that ends the search of an expander with ``stop: reader``; None for the others.

    Raises:
        DriverError: If there is none, or it cannot refuse.
    """
    driver = getattr(expander, "driver", expander)
    if getattr(driver, "stop", None) != READER:
        return None
    reader: ReaderLike | None = getattr(driver, "reader", None)
    if reader is None:
        raise DriverError("`stop: reader` needs a reader; give one as `reader:` in its block, or set `stop: depth`")
    if not reader.refuses():
        raise DriverError("`stop: reader` needs a reader that can say `not enough`; take another, or set `stop: depth`")
    return reader


@attrs.define
class Reading:
    """What the reader said of one question, hop by hop."""

    answer: Answer | None = None
    triples: tuple[Triple, ...] | None = None
    traces: list[Mapping[str, Any]] = attrs.field(factory=list)

    def told(self, subgraph: Subgraph, otherwise: str) -> Subgraph:
        """Give the final subgraph the last answer, its support found again, and what is to be told in the trace."""
        answer = subgraph.answer if subgraph.answer is not None else self.answer
        if answer is None:  # nothing was found that could be read
            return attrs.evolve(subgraph, trace={"stop": otherwise, **subgraph.trace})
        if answer is self.answer:
            answer = answer.moved(self.triples or (), subgraph.triples)
        trace = {"stop": ANSWERED if answer.enough else otherwise, **subgraph.trace, "reader": read_trace(self.traces)}
        return attrs.evolve(subgraph, answer=attrs.evolve(answer, trace={}), trace=trace)


def ask(
    reader: ReaderLike,
    expander: HopWise,
    going: Sequence[int],
    questions: Sequence[Question],
    states: Sequence[HopState],
    readings: Sequence[Reading],
) -> None:
    """Ask about the states whose subgraph is another than at the hop before; those that are answered are done."""
    found = expander.result([states[i] for i in going])
    aligned("result", found, going)
    new = [(i, s) for i, s in zip(going, found, strict=True) if s.triples and s.triples != readings[i].triples]
    if not new:
        return
    answers = reader.read([questions[i] for i, _ in new], [subgraph for _, subgraph in new])
    aligned("read", answers, new)
    for (i, subgraph), answer in zip(new, answers, strict=True):
        states[i].answer = readings[i].answer = answer
        readings[i].triples = subgraph.triples
        readings[i].traces.append(answer.trace)
        if answer.enough:
            states[i].done = True


def read_trace(traces: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Bring the traces of several answers to one question together: what was used is added up, lists are joined."""
    whole: dict[str, Any] = {"reads": len(traces)}
    for trace in traces:
        for name, value in trace.items():
            if name == "generator" and name in whole:
                value = total([whole[name], value])
            elif isinstance(value, list | tuple):
                value = [*whole.get(name, ()), *value]
            whole[name] = value
    return whole


def aligned(method: str, answer: Sequence[object], batch: Sequence[object]) -> None:
    """Refuse an answer that is not as long as the batch."""
    if len(answer) != len(batch):
        raise DriverError(f"{method} got {len(batch)} items and returned {len(answer)}; it must return one for each")
