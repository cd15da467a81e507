"""The hop loop that all hop-wise expanders share."""

from __future__ import annotations

import time
from collections.abc import Sequence

import attrs

from srtk_framework.graph.reader_stop import EXHAUSTED, SECONDS, Reading, ask, each, stopping_reader
from srtk_framework.values import DriverError, Question, Subgraph
from srtk_framework.values.protocols import HopWise


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
    end = None if seconds is None else time.monotonic() + seconds
    asked = stopping_reader(expander)
    states = each("start", questions, expander.start)
    readings = [Reading() for _ in questions]
    while going := [i for i, state in enumerate(states) if not isinstance(state, DriverError) and not state.done]:
        if end is not None and time.monotonic() >= end:
            break
        moved = each("step", [states[i] for i in going], expander.step)
        for i, state in zip(going, moved, strict=True):
            states[i] = state
        if asked is not None:
            ask(asked, expander, going, questions, states, readings)
    fine = [i for i, state in enumerate(states) if not isinstance(state, DriverError)]
    found = dict(zip(fine, each("result", [states[i] for i in fine], expander.result), strict=True))
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
