"""Let a generator choose among more options than one prompt holds: page by page, then among those that were chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from srtk_framework.roles import Generator
from srtk_plugin_structgpt.asking import Asked, By, choices, options_prompt, unreadable
from srtk_plugin_structgpt.fitting import CountTokens, fitting
from srtk_plugin_structgpt.search_state import WalkState
from srtk_plugin_structgpt.templates import Template

Page = Sequence[int]
"""Places of options, in their order."""


class Ballot(NamedTuple):
    """One choice to be made among any number of options; at least one is to be chosen.

    Attributes:
        state: For whom.
        template: Shows the options.
        options: In words.
        values: What else the template shows.
        most: How many may be chosen.
    """

    state: WalkState
    template: Template
    options: Sequence[str]
    values: Mapping[str, str]
    most: int


def elected(generator: Generator, by: By, ballots: Sequence[Ballot], tokens: int | None) -> list[tuple[int, ...]]:
    """Have the generator choose, by as few calls for all ballots as the longest of them needs.

    Options that are too many for one prompt are put in pages; those chosen on any page are put once more, until they
    fit on one. A page whose reply cannot be read is counted with its state, and chooses nothing.

    Args:
        generator: Who chooses.
        by: How it chooses.
        ballots: Of all questions.
        tokens: Most tokens of the options of one prompt; a page has at least twice as many options as may be chosen,
            however long they are. None for no limit.

    Returns:
        Per ballot the places of the chosen options, best first; empty where nothing could be read.
    """
    left: list[Page] = [range(len(ballot.options)) for ballot in ballots]
    found: list[tuple[int, ...]] = [()] * len(ballots)
    open_ = [i for i, ballot in enumerate(ballots) if ballot.options]
    while open_:
        rows = _pages(generator.count_tokens, [ballots[i] for i in open_], [left[i] for i in open_], tokens)
        pages = [(i, page) for i, row in zip(open_, rows, strict=True) for page in row]
        winners: dict[int, list[tuple[int, ...]]] = {i: [] for i in open_}
        asked = [_asked(ballots[i], page) for i, page in pages]
        for (i, page), choice in zip(pages, choices(generator, by, asked), strict=True):
            ballots[i].state.count("unreadable", int(unreadable(choice)))
            winners[i].append(tuple(page[number - 1] for number in choice.numbers))
        for i in open_:
            if len(winners[i]) == 1:
                found[i], left[i] = winners[i][0], ()
            else:
                left[i] = sorted(place for page in winners[i] for place in page)
        open_ = [i for i in open_ if left[i]]
    return found


def _asked(ballot: Ballot, page: Page) -> Asked:
    shown = [ballot.options[place] for place in page]
    prompt = options_prompt(ballot.template, shown, ballot.values, 1, ballot.most, ballot.state.query)
    return Asked(ballot.state, ballot.template, prompt)


def _pages(
    count_tokens: CountTokens, ballots: Sequence[Ballot], left: Sequence[Page], tokens: int | None
) -> list[list[Page]]:
    """Cut what is left of each ballot into pages."""
    pages: list[list[Page]] = [[] for _ in ballots]
    rest = list(left)
    while open_ := [i for i, row in enumerate(rest) if row]:
        # No line has less than a token, so that more lines than tokens need not be counted.
        rows = [[ballots[i].options[place] for place in rest[i][:tokens]] for i in open_]
        for i, size in zip(open_, fitting(count_tokens, rows, tokens), strict=True):
            # With fewer, pages would not get fewer from one round to the next.
            size = max(size, 2 * ballots[i].most)
            pages[i].append(rest[i][:size])
            rest[i] = rest[i][size:]
    return pages
