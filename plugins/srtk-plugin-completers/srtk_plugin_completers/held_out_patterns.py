"""Parts of learning from held-out facts: a graph without them, completers over it, and patterns."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import attrs
from srtk_plugin_views.masked import MaskedGraph

from srtk_framework.host import driver_of
from srtk_framework.roles import Completer, KnowledgeGraph, TrainingTask
from srtk_framework.values import DriverError, Pattern, Triple


def facts_of(task: TrainingTask) -> list[Triple]:
    """Return the facts that are held out, sorted.

    Raises:
        DriverError: If there is none.
    """
    hidden = sorted(set(task.held_out))
    if not hidden:
        raise DriverError("no fact was held out to learn from; give `held_out: {share: 0.05}` under `train:`")
    return hidden


def graph_without(graph: KnowledgeGraph, hidden: Sequence[Triple], stack: contextlib.ExitStack) -> MaskedGraph:
    """Open a view of a graph without some facts, which the stack closes."""
    masked = MaskedGraph(graph=graph, triples=hidden)
    masked.open()
    stack.callback(masked.close)
    return masked


def completer_over(completer: Completer, graph: KnowledgeGraph, stack: contextlib.ExitStack) -> Completer:
    """Open a copy of a completer, and of the completers that it holds, over another graph."""
    inner = driver_of(completer)
    changes: dict[str, Any] = {}
    for name, value in inner.settings().items():
        if isinstance(value, KnowledgeGraph):
            changes[name] = graph
        elif isinstance(value, Completer):
            changes[name] = completer_over(value, graph, stack)
        elif isinstance(value, list | tuple) and any(isinstance(one, Completer) for one in value):
            changes[name] = [completer_over(one, graph, stack) for one in value]
    copied: Completer = attrs.evolve(inner, **changes)
    stack.callback(copied.close)
    copied.open()
    return copied


def patterns_of(facts: Sequence[Triple]) -> dict[Pattern, list[Triple]]:
    """Return the patterns of both ends of facts, in their order, with the facts of each."""
    found: dict[Pattern, list[Triple]] = {}
    for fact in facts:
        for pattern in (Pattern(fact.subject, fact.relation), Pattern(None, fact.relation, fact.object)):
            found.setdefault(pattern, []).append(fact)
    return found
