"""The triples read at a hop: along the chosen steps, and in the statements behind mediators.

A mediator (a CVT in Freebase, a statement node in Wikidata) is a node that only holds the parts of one statement
together. The search goes through it to the parts, and drops the statements that lack the values the question asks for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import groupby

from srtk_framework.roles import Generator, KnowledgeGraph
from srtk_framework.text import name, step_text
from srtk_framework.values import Budget, Literal, Schema, Step
from srtk_plugin_structgpt.candidates import By, ChoiceRequest, choose, matches
from srtk_plugin_structgpt.search_state import ChosenStep, FoundTriple, SearchState, found_triple
from srtk_plugin_structgpt.templates import Template, history_text, node_names, shown_labels, token_fit

_READ_FACTOR = 4  # Triples read from one node, as a multiple of the limit for a relation, since some of them lead back

_WORD = re.compile(r"[^\W_]+")

Parts = dict[str, list[FoundTriple]]
"""By mediator, the triples of its statement, without the one on which it was reached."""

Values = dict[tuple[Step, str], str]
"""The properties of a statement: step and value, with their text."""


def read_triples(
    graph: KnowledgeGraph, chosen: Sequence[tuple[SearchState, ChosenStep]], budget: Budget, most: int | None
) -> list[list[FoundTriple]]:
    """Read the triples of the chosen steps, with one call to the graph, and count the cuts of limits.

    Triples that lead back to a visited node are left out, unless the state may revisit nodes.

    The steps of one option of one question are adjacent. Its triples, at most ``most``, are taken from its start
    nodes in turn.
    """
    frontiers = graph.frontiers([one.branch.nodes for _, one in chosen])
    limits = [n for n in (budget.hub, most and most * _READ_FACTOR) if n is not None]
    limit = min(limits) + 1 if limits else None
    rows = graph.triples(frontiers, [one.step for _, one in chosen], limit)
    by_start: list[list[list[FoundTriple]]] = []
    for (state, one), row in zip(chosen, rows, strict=True):
        path = (*one.branch.steps, one.step)
        found = [found_triple(triple, one.branch.entity, path, one.score) for triple in row]
        groups = []
        for _, group in groupby(found, key=lambda triple: triple.start):
            read = list(group)
            within = read[: budget.hub]
            state.count_cut("hub", len(read) - len(within))
            ahead = [triple for triple in within if not leads_back(state, triple)]
            state.count("back", len(within) - len(ahead))
            groups.append(ahead)
        by_start.append(groups)
    return _limited(chosen, by_start, most)


def leads_back(state: SearchState, triple: FoundTriple) -> bool:
    """Return whether a triple ends at a visited node that the search may not revisit.

    Another linked entity does not count as visited.
    """
    return (
        not state.revisit
        and triple.end in state.visited
        and triple.end != triple.start
        and (triple.end not in state.topics or triple.end == triple.entity)
    )


def _limited(
    chosen: Sequence[tuple[SearchState, ChosenStep]], by_start: Sequence[list[list[FoundTriple]]], most: int | None
) -> list[list[FoundTriple]]:
    """Apply the limit that all chosen steps of one option share."""
    limited: list[list[FoundTriple]] = []
    for _, indices in groupby(range(len(chosen)), key=lambda i: (id(chosen[i][0]), chosen[i][1].option)):
        option = list(indices)
        state = chosen[option[0]][0]
        rows = [(i, row) for i in option for row in by_start[i]]
        sizes = _round_robin([len(row) for _, row in rows], most)
        kept: dict[int, list[FoundTriple]] = {i: [] for i in option}
        for (i, row), size in zip(rows, sizes, strict=True):
            kept[i] += row[:size]
            state.count_cut("relation", len(row) - size)
        limited += [kept[i] for i in option]
    return limited


def _round_robin(sizes: Sequence[int], most: int | None) -> list[int]:
    """Return how many items each row gives if rows give single items in turn, ``most`` in all."""
    if most is None or sum(sizes) <= most:
        return list(sizes)
    taken = [0] * len(sizes)
    left = most
    while left:
        for i, size in enumerate(sizes):
            if left and taken[i] < size:
                taken[i] += 1
                left -= 1
    return taken


def is_mediator(id_: str, patterns: Sequence[str]) -> bool:
    """Return whether a node is a mediator."""
    return not isinstance(id_, Literal) and matches(id_, patterns)


def read_statements(
    graph: KnowledgeGraph,
    found: Sequence[tuple[SearchState, Sequence[FoundTriple]]],
    schema: Schema,
    inverse: bool,
    budget: Budget,
) -> list[Parts]:
    """Read the statements of the mediators at the ends of triples, with two calls to the graph.

    A part that is a mediator itself is left out and counted as ``nested``.

    They are returned by question and mediator.
    """
    if not schema.mediators:
        return [{} for _ in found]
    reached = [_mediators_at_ends(state, triples, schema) for state, triples in found]
    at = [(i, id_) for i, mine in enumerate(reached) for id_ in mine]
    frontiers = graph.frontiers([[id_] for _, id_ in at])
    steps = graph.steps(frontiers, inverse)
    pairs = [(k, step) for k, row in enumerate(steps) for step in row if not matches(step.relation, schema.noise)]
    limit = None if budget.hub is None else budget.hub + 1
    rows = graph.triples([frontiers[k] for k, _ in pairs], [step for _, step in pairs], limit)
    statements: list[Parts] = [{id_: [] for id_ in mine} for mine in reached]
    for (k, step), row in zip(pairs, rows, strict=True):
        i, id_ = at[k]
        state, entry = found[i][0], reached[i][id_]
        state.count_cut("hub", max(0, len(row) - (budget.hub or len(row))))
        for triple in row[: budget.hub]:
            part = found_triple(triple, entry.entity, (*entry.steps, step), entry.score)
            if triple == entry.triple or part.end in (entry.start, id_):
                continue
            if leads_back(state, part):
                state.count("back", 1)
            elif is_mediator(part.end, schema.mediators):
                state.count("nested", 1)
            else:
                statements[i][id_].append(part)
    return statements


def _mediators_at_ends(state: SearchState, triples: Sequence[FoundTriple], schema: Schema) -> dict[str, FoundTriple]:
    """Return the mediators that triples lead to and that may be visited, each with the first such triple."""
    reached: dict[str, FoundTriple] = {}
    for one in triples:
        if is_mediator(one.end, schema.mediators) and (state.revisit or one.end not in state.visited):
            reached.setdefault(one.end, one)
    return reached


def constrain_statements(
    graph: KnowledgeGraph,
    generator: Generator,
    template: Template,
    by: By,
    tokens: int | None,
    states: Sequence[SearchState],
    statements: Sequence[Parts],
) -> list[Parts]:
    """Let the generator choose the values that the question asks for, and drop the statements without them.

    Values are limited to ``tokens`` in one prompt. Dropped statements are counted as ``constrained`` in the state.
    """
    ids = {id_ for parts in statements for row in parts.values() for part in row for id_ in part.triple}
    labels = shown_labels(graph, ids)
    values = [distinct_values(parts, labels) for parts in statements]
    options = [sorted({text for row in one.values() for text in row.values()}) for one in values]
    sizes = token_fit(generator.count_tokens, options, tokens)
    for state, row, size in zip(states, options, sizes, strict=True):
        state.count_cut("tokens", len(row) - size)
    open_ = [i for i, size in enumerate(sizes) if size]
    requests = []
    for i, topics in zip(open_, node_names(graph, [states[i].topics for i in open_]), strict=True):
        state = states[i]
        texts = {
            "question": state.question.text,
            "topics": topics,
            "history": history_text(state.history),
            "count": str(len(values[i])),
        }
        shown = options[i][: sizes[i]]
        requests.append(
            ChoiceRequest(state, template, template.choice_prompt(shown, texts, 0, len(shown), state.query))
        )
    kept = [dict(parts) for parts in statements]
    for i, choice in zip(open_, choose(generator, by, requests), strict=True):
        picked = [options[i][number - 1] for number in choice.numbers]
        if picked:
            ids_, rule = matching_statements(values[i], picked)
            kept[i] = {id_: parts for id_, parts in statements[i].items() if id_ in set(ids_)}
            dropped = len(statements[i]) - len(kept[i])
            states[i].count("constrained", dropped)
            states[i].calls[-1] = {**states[i].calls[-1], "kept": len(ids_), "dropped": dropped, "rule": rule}
    return kept


def distinct_values(statements: Parts, labels: Mapping[str, str]) -> dict[str, Values]:
    """Return, by mediator, the properties of its statement that not all statements share."""
    texts = {
        id_: {(part.steps[-1], name(part.end, labels)): step_text(part.steps[-1], labels) for part in row}
        for id_, row in statements.items()
    }
    shared = set.intersection(*(set(row) for row in texts.values())) if texts else set()
    return {
        id_: {key: f"{relation}: {key[1]}" for key, relation in row.items() if key not in shared}
        for id_, row in texts.items()
    }


def matching_statements(values: Mapping[str, Values], picked: Sequence[str]) -> tuple[list[str], str]:
    """Return the statements that have the picked values.

    Args:
        values: By mediator, the properties of its statement.
        picked: Texts of the properties that were picked.

    Returns:
        The mediators, and the rule by which they match. ``strict``: for every picked relation that the statement has,
        it has a picked value. ``soft``, if no statement matches strictly: it has a picked value under a relation that
        shares a word with the picked relation.
    """
    wanted: dict[Step, set[str]] = {}
    for row in values.values():
        for (step, value), text in row.items():
            if text in picked:
                wanted.setdefault(step, set()).add(value)

    def strict(row: Values) -> bool:
        own: dict[Step, set[str]] = {}
        for step, value in row:
            own.setdefault(step, set()).add(value)
        return all(own[step] & allowed for step, allowed in wanted.items() if step in own)

    def soft(row: Values) -> bool:
        return any(
            value in allowed and _words(step) & _words(other)
            for step, value in row
            for other, allowed in wanted.items()
        )

    matching = [id_ for id_, row in values.items() if strict(row)]
    return (matching, "strict") if matching else ([id_ for id_, row in values.items() if soft(row)], "soft")


def _words(step: Step) -> set[str]:
    return {word.lower() for word in _WORD.findall(step.relation)}
