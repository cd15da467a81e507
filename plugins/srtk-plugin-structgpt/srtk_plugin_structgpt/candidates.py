"""The candidate steps of a hop, and the generator's choice among options, on several pages if they are many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Literal, NamedTuple

from srtk_framework.roles import Generator, KnowledgeGraph, PathScorer
from srtk_framework.text import path_text, step_text
from srtk_framework.values import Path, Prompt, Step, best_first, rounded, total
from srtk_plugin_structgpt.option_choice import FALLBACK, RATED, Choice, chosen
from srtk_plugin_structgpt.search_state import Branch, SearchState
from srtk_plugin_structgpt.templates import CountTokens, Template, shown_labels, token_fit

By = Literal["reply", "rating"]
Show = Literal["relation", "path"]

ONLY = "only"  # Value of ``how`` in the record of a choice that needed no call: one option, and one had to be chosen


class BranchGroup(NamedTuple):
    """Branches of one question whose steps are shown in one prompt."""

    state: SearchState
    branches: tuple[Branch, ...]


class Candidate(NamedTuple):
    """One option in words, with all branches and steps of equal text."""

    text: str
    steps: tuple[tuple[Branch, Step], ...]


class ChoiceRequest(NamedTuple):
    """A choice that the generator is asked to make for a question."""

    state: SearchState
    template: Template
    prompt: Prompt


class PagedRequest(NamedTuple):
    """A choice of at least one among any number of options.

    Attributes:
        state: State of the question.
        template: Template of the prompts.
        options: The options in words.
        values: Text for the other placeholders of the template.
        most: Most options to choose.
    """

    state: SearchState
    template: Template
    options: Sequence[str]
    values: Mapping[str, str]
    most: int


Page = Sequence[int]
"""Indices of the options on a page, ascending."""


def matches(id_: str, patterns: Sequence[str]) -> bool:
    """Return whether an id matches one of the patterns of a graph's schema."""
    return any(fnmatchcase(id_, pattern) for pattern in patterns)


def candidate_steps(
    graph: KnowledgeGraph,
    groups: Sequence[BranchGroup],
    inverse: bool,
    noise: Sequence[str],
    show: Show,
    scorer: PathScorer | None,
    narrow: int,
) -> tuple[list[list[Candidate]], list[int]]:
    """Read the steps that leave each group, with one call each to the graph and the scorer.

    ``show`` says whether the text of a candidate is the relation or the whole path. A scorer limits each group to
    its ``narrow`` best candidates. Candidates come in the order of their text, with the number that the scorer cut.
    """
    pairs = [(i, branch) for i, group in enumerate(groups) for branch in group.branches]
    frontiers = graph.frontiers([branch.nodes for _, branch in pairs])
    rows = [[step for step in row if not matches(step.relation, noise)] for row in graph.steps(frontiers, inverse)]
    relations = {step.relation for row in rows for step in row} | {s.relation for _, b in pairs for s in b.steps}
    labels = shown_labels(graph, relations)
    scores: Sequence[Sequence[float]] = [[0.0] * len(row) for row in rows]
    if scorer is not None:
        queries = [groups[i].state.query for i, _ in pairs]
        scores = scorer.score(queries, [branch.steps for _, branch in pairs], rows)
    steps: list[dict[str, list[tuple[Branch, Step]]]] = [{} for _ in groups]
    best: list[dict[str, float]] = [{} for _ in groups]
    for (i, branch), row, values in zip(pairs, rows, scores, strict=True):
        for step, value in zip(row, values, strict=True):
            text = _candidate_text(branch.steps, step, labels, show)
            steps[i].setdefault(text, []).append((branch, step))
            best[i][text] = max(rounded(value), best[i].get(text, float("-inf")))
    candidates = []
    cuts = []
    for by_text, score in zip(steps, best, strict=True):
        order = best_first(by_text, score.__getitem__)
        kept = set(order[:narrow] if scorer is not None else order)
        candidates.append([Candidate(text, tuple(by_text[text])) for text in sorted(kept)])
        cuts.append(len(by_text) - len(kept))
    return candidates, cuts


def _candidate_text(steps: Path, step: Step, labels: Mapping[str, str], show: Show) -> str:
    return path_text((*steps, step), labels) if show == "path" else step_text(step, labels)


def choose(generator: Generator, by: By, requests: Sequence[ChoiceRequest]) -> list[Choice]:
    """Let the generator choose, with one call for all requests, and record each choice in its state."""
    open_ = [i for i, (_, _, prompt) in enumerate(requests) if len(prompt.options) > 1 or prompt.least == 0]
    choices = [Choice((1,), FALLBACK) for _ in requests]
    for i, choice in zip(open_, chosen(generator, [requests[i].prompt for i in open_], by=by), strict=True):
        choices[i] = choice
    for i, (state, template, prompt) in enumerate(requests):
        how = choices[i].how if i in open_ else ONLY
        state.record(template, choices[i].replies, options=prompt.options, numbers=choices[i].numbers, how=how)
        if how == RATED:
            state.usage = total([state.usage, {"calls": 1}])
    return choices


def unreadable(choice: Choice) -> bool:
    """Return whether neither reply of the generator could be parsed."""
    return choice.how == FALLBACK and not choice.numbers


def choose_paged(
    generator: Generator, by: By, requests: Sequence[PagedRequest], tokens: int | None
) -> list[tuple[int, ...]]:
    """Let the generator choose among more options than one prompt holds.

    Options are split into pages. Those chosen on any page enter the next round, until they fit on one page. Each round
    is one call for all requests. A page whose reply cannot be parsed is counted in the state, and contributes nothing.

    One prompt holds ``tokens`` of options, but at least twice as many options as may be chosen. Per request, the
    indices of the chosen options are returned, best first; none if no reply could be parsed.
    """
    left: list[Page] = [range(len(request.options)) for request in requests]
    found: list[tuple[int, ...]] = [()] * len(requests)
    open_ = [i for i, request in enumerate(requests) if request.options]
    while open_:
        rows = _pages(generator.count_tokens, [requests[i] for i in open_], [left[i] for i in open_], tokens)
        pages = [(i, page) for i, row in zip(open_, rows, strict=True) for page in row]
        winners: dict[int, list[tuple[int, ...]]] = {i: [] for i in open_}
        asked = [_page_request(requests[i], page) for i, page in pages]
        for (i, page), choice in zip(pages, choose(generator, by, asked), strict=True):
            requests[i].state.count("unreadable", int(unreadable(choice)))
            winners[i].append(tuple(page[number - 1] for number in choice.numbers))
        for i in open_:
            if len(winners[i]) == 1:
                found[i], left[i] = winners[i][0], ()
            else:
                left[i] = sorted(index for page in winners[i] for index in page)
        open_ = [i for i in open_ if left[i]]
    return found


def _page_request(request: PagedRequest, page: Page) -> ChoiceRequest:
    options = [request.options[index] for index in page]
    prompt = request.template.choice_prompt(options, request.values, 1, request.most, request.state.query)
    return ChoiceRequest(request.state, request.template, prompt)


def _pages(
    count_tokens: CountTokens, requests: Sequence[PagedRequest], left: Sequence[Page], tokens: int | None
) -> list[list[Page]]:
    """Split the options left of each request into pages."""
    pages: list[list[Page]] = [[] for _ in requests]
    rest = list(left)
    while open_ := [i for i, row in enumerate(rest) if row]:
        # Each line has at least one token, so at most ``tokens`` lines can fit and need counting.
        rows = [[requests[i].options[index] for index in rest[i][:tokens]] for i in open_]
        for i, size in zip(open_, token_fit(count_tokens, rows, tokens), strict=True):
            # With smaller pages, the number of pages might not fall from one round to the next.
            size = max(size, 2 * requests[i].most)
            pages[i].append(rest[i][:size])
            rest[i] = rest[i][size:]
    return pages
