"""The triples that support an answer, and those that connect them to the linked entities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import attrs

from srtk_framework.graph import finish
from srtk_framework.roles import Generator, KnowledgeGraph
from srtk_framework.values import Answer, Budget, Subgraph, Triple
from srtk_plugin_structgpt.candidates import By, ChoiceRequest, choose
from srtk_plugin_structgpt.graph_text import harmless
from srtk_plugin_structgpt.search_state import FoundTriple, SearchState
from srtk_plugin_structgpt.templates import Template, token_fit, triple_lines

Answered = tuple[SearchState, Answer, Subgraph]
"""A question whose answer was found, with the whole subgraph."""


def supporting_subgraphs(
    graph: KnowledgeGraph,
    generator: Generator,
    template: Template,
    by: By,
    tokens: int | None,
    budget: Budget,
    answered: Sequence[Answered],
) -> list[Subgraph]:
    """Reduce subgraphs to the triples that support the answers and the triples that lead to them.

    Where the reader named no triples, the generator chooses them, in one call for all questions. The whole subgraph
    is returned where no supporting triple is known.
    """
    indices = support_indices(graph, generator, template, by, tokens, answered)
    reduced = [subgraph for _, _, subgraph in answered]
    known = [i for i, row in enumerate(indices) if row]
    subgraphs = []
    for i in known:
        state, _, whole = answered[i]
        support = connected([whole.triples[k] for k in indices[i]], state.found, state.parents)
        subgraphs.append(attrs.evolve(state.subgraph(support), trace=whole.trace))
    # The whole subgraph is within the budget, and its cuts are counted.
    unlimited = attrs.evolve(budget, triples=None, tokens=None, mass=None)
    for i, subgraph in zip(known, finish(graph, subgraphs, unlimited), strict=True):
        _, answer, whole = answered[i]
        triples = [whole.triples[k] for k in indices[i]]
        support_ = sorted(subgraph.triples.index(triple) for triple in triples if triple in subgraph.triples)
        reduced[i] = attrs.evolve(subgraph, answer=attrs.evolve(answer, support=tuple(support_)))
    return reduced


def support_indices(
    graph: KnowledgeGraph,
    generator: Generator,
    template: Template,
    by: By,
    tokens: int | None,
    answered: Sequence[Answered],
) -> list[list[int]]:
    """Return the indices of the triples that support each answer.

    They are the triples that the reader named, else those that the generator chooses; none where it chooses none or
    its reply cannot be parsed.
    """
    indices = [list(answer.support) for _, answer, _ in answered]
    open_ = [i for i, row in enumerate(indices) if not row and answered[i][2].triples]
    lines = triple_lines(graph, [answered[i][2].triples for i in open_])
    requests = []
    for i, row, size in zip(open_, lines, token_fit(generator.count_tokens, lines, tokens), strict=True):
        state, answer, _ = answered[i]
        shown = row[: max(size, 1)]
        state.count_cut("tokens", len(row) - len(shown))
        values = {"question": state.question.text, "answer": harmless(answer.text)}
        requests.append(
            ChoiceRequest(state, template, template.choice_prompt(shown, values, 0, len(shown), state.query))
        )
    for i, choice in zip(open_, choose(generator, by, requests), strict=True):
        indices[i] = [number - 1 for number in choice.numbers]
    return indices


def connected(
    triples: Iterable[Triple], found: Mapping[Triple, FoundTriple], parents: Mapping[str, Triple]
) -> dict[Triple, FoundTriple]:
    """Return some of the triples found, with those that lead to them from the linked entities."""
    kept: set[Triple] = set()
    for triple in triples:
        at: Triple | None = triple
        while at is not None and at not in kept:
            kept.add(at)
            at = parents.get(found[at].start)
    return {triple: one for triple, one in found.items() if triple in kept}
