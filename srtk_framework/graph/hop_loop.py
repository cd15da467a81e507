"""The hop loop that all hop-wise expanders share."""

from __future__ import annotations

import time
from collections.abc import Sequence

import attrs

from srtk_framework.graph.reader_stop import EXHAUSTED, SECONDS, Reading, aligned, ask, stopping_reader
from srtk_framework.values import HopState, HopWise, Question, Subgraph


def run_hops(expander: HopWise, questions: Sequence[Question], seconds: float | None = None) -> list[Subgraph]:
    """Run ``start``, then ``step`` on the states that are not done, then ``result``.

    If the expander has a ``stop_reader``, that reader reads the ``result`` of each state after each hop that changed
    it, and an answer ends the search. The reader's last answer becomes the ``answer`` of the state before the final
    ``result``, and of the subgraph. The trace then holds the reason why the search ended, in ``stop`` (``answered``,
    ``exhausted``, ``seconds``), and the reader's traces, in ``reader``.

    Args:
        expander: A hop-wise expander.
        questions: A batch.
        seconds: Seconds after which no further hop starts; a search cut short counts 1 in ``trace["cut"]["seconds"]``.

    Raises:
        DriverError: If ``stop: reader`` has no reader that can refuse.
    """
    end = None if seconds is None else time.monotonic() + seconds
    asked = stopping_reader(expander)
    states: list[HopState] = list(expander.start(questions))
    aligned("start", states, questions)
    readings = [Reading() for _ in questions]
    while going := [i for i, state in enumerate(states) if not state.done]:
        if end is not None and time.monotonic() >= end:
            break
        moved = expander.step([states[i] for i in going])
        aligned("step", moved, going)
        for i, state in zip(going, moved, strict=True):
            states[i] = state
        if asked is not None:
            ask(asked, expander, going, questions, states, readings)
    subgraphs = list(expander.result(states))
    for i in going:
        cut = {**subgraphs[i].trace.get("cut", {}), "seconds": 1}
        subgraphs[i] = attrs.evolve(subgraphs[i], trace={**subgraphs[i].trace, "cut": cut})
    if asked is None:
        return subgraphs
    return [
        reading.added_to(subgraph, SECONDS if i in going else EXHAUSTED)
        for i, (subgraph, reading) in enumerate(zip(subgraphs, readings, strict=True))
    ]
