"""Walk on through nodes that only hold a statement together, and keep the statements that a question asks for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.text import name, step_text
from srtk_framework.values import Budget, Literal, Step
from srtk_plugin_structgpt.candidates import matches
from srtk_plugin_structgpt.read_triples import leads_back
from srtk_plugin_structgpt.search_state import Fact, WalkState, fact

_WORD = re.compile(r"[^\W_]+")

Parts = dict[str, list[Fact]]
"""By mediator, the rest of its statement."""

Values = dict[tuple[Step, str], str]
"""What a statement says: relation and value, with the words for it."""


def parts_of(
    graph: KnowledgeGraph,
    found: Sequence[tuple[WalkState, Sequence[Fact]]],
    patterns: Sequence[str],
    noise: Sequence[str],
    inverse: bool,
    budget: Budget,
) -> list[Parts]:
    """Read the rest of each statement that was come upon, by two calls to the graph for all.

    A part that is a mediator itself is left out, and counted as ``nested``.

    Args:
        graph: Where to read.
        found: Per question, the triples just read.
        patterns: Of ids of mediators.
        noise: Of ids of relations that answer nothing.
        inverse: Whether steps may be walked against their direction.
        budget: ``hub`` applies.
    """
    entered: list[dict[str, Fact]] = [{} for _ in found]
    for (state, facts), mine in zip(found, entered, strict=True):
        for one in facts:
            if is_mediator(one.end, patterns) and one.end not in state.seen:
                mine.setdefault(one.end, one)
    at = [(i, id_) for i, mine in enumerate(entered) for id_ in mine]
    frontiers = graph.frontiers([[id_] for _, id_ in at])
    steps = graph.steps(frontiers, inverse)
    pairs = [(k, step) for k, row in enumerate(steps) for step in row if not matches(step.relation, noise)]
    limit = None if budget.hub is None else budget.hub + 1
    rows = graph.triples([frontiers[k] for k, _ in pairs], [step for _, step in pairs], limit)
    parts: list[Parts] = [{id_: [] for id_ in mine} for mine in entered]
    for (k, step), row in zip(pairs, rows, strict=True):
        i, id_ = at[k]
        state, way_in = found[i][0], entered[i][id_]
        state.drop("hub", max(0, len(row) - (budget.hub or len(row))))
        for triple in row[: budget.hub]:
            one = fact(triple, way_in.entity, (*way_in.steps, step), way_in.score)
            if triple == way_in.triple or one.end in (way_in.start, id_):
                continue
            if leads_back(state, one):
                state.count("back", 1)
                continue
            if is_mediator(one.end, patterns):
                state.count("nested", 1)
                continue
            parts[i][id_].append(one)
    return parts


def is_mediator(id_: str, patterns: Sequence[str]) -> bool:
    """Tell whether a node only holds a statement together."""
    return not isinstance(id_, Literal) and matches(id_, patterns)


def values_of(parts: Parts, labels: Mapping[str, str]) -> dict[str, Values]:
    """Put what each statement says into words, for what not all of them say."""
    said = {
        id_: {(one.steps[-1], name(one.end, labels)): step_text(one.steps[-1], labels) for one in row}
        for id_, row in parts.items()
    }
    shared = set.intersection(*(set(row) for row in said.values())) if said else set()
    return {
        id_: {key: f"{relation}: {key[1]}" for key, relation in row.items() if key not in shared}
        for id_, row in said.items()
    }


def kept(said: Mapping[str, Values], picked: Sequence[str]) -> tuple[list[str], str]:
    """Keep the statements that have the picked values.

    Args:
        said: By mediator, what its statement says.
        picked: Words of the relations and values that were picked.

    Returns:
        The mediators, and by which rule: ``strict``, for every picked relation that a statement has it has a picked
        value; where none is left ``soft``, it has a picked value under a relation that shares a word with the one
        picked.
    """
    wanted: dict[Step, set[str]] = {}
    for row in said.values():
        for (step, value), text in row.items():
            if text in picked:
                wanted.setdefault(step, set()).add(value)

    def strictly(row: Values) -> bool:
        mine: dict[Step, set[str]] = {}
        for step, value in row:
            mine.setdefault(step, set()).add(value)
        return all(mine[step] & values for step, values in wanted.items() if step in mine)

    def softly(row: Values) -> bool:
        return any(
            value in values and _words(step) & _words(other) for step, value in row for other, values in wanted.items()
        )

    left = [id_ for id_, row in said.items() if strictly(row)]
    return (left, "strict") if left else ([id_ for id_, row in said.items() if softly(row)], "soft")


def _words(step: Step) -> set[str]:
    return {word.lower() for word in _WORD.findall(step.relation)}
