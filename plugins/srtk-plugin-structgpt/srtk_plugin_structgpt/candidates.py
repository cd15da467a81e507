"""Say which steps leave the nodes of a walk, in words, as options to choose from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Literal, NamedTuple

from srtk_framework.roles import KnowledgeGraph, PathScorer
from srtk_framework.text import path_text, step_text
from srtk_framework.values import Path, Step, rounded
from srtk_plugin_structgpt.search_state import Branch

Show = Literal["relation", "path"]


class Offer(NamedTuple):
    """One option: a step, or a path, with the branches from which it can be walked.

    Attributes:
        text: In words; steps that read alike are one option.
        walks: What choosing it walks.
    """

    text: str
    walks: tuple[tuple[Branch, Step], ...]


class Group(NamedTuple):
    """Branches whose steps are offered in one prompt.

    Attributes:
        query: What a scorer compares steps with.
        branches: Where they leave from.
    """

    query: str
    branches: tuple[Branch, ...]


def matches(id_: str, patterns: Sequence[str]) -> bool:
    """Tell whether an id fits one of the patterns of a graph's schema."""
    return any(fnmatchcase(id_, pattern) for pattern in patterns)


def offered(
    graph: KnowledgeGraph,
    groups: Sequence[Group],
    inverse: bool,
    noise: Sequence[str],
    show: Show,
    scorer: PathScorer | None,
    narrow: int,
) -> tuple[list[list[Offer]], list[int]]:
    """Offer the steps of each group, by one call to the graph and one to the scorer.

    Args:
        graph: Gives steps and labels.
        groups: Of all questions.
        inverse: Whether steps may be walked against their direction.
        noise: Patterns of relations that are not offered.
        show: Whether an option says the relation, or the whole path.
        scorer: Narrows the options where it is given.
        narrow: How many options it leaves.

    Returns:
        Per group its options in the order of their text, and how many the scorer left out.
    """
    pairs = [(i, branch) for i, group in enumerate(groups) for branch in group.branches]
    frontiers = graph.frontiers([branch.nodes for _, branch in pairs])
    every = graph.steps(frontiers, inverse)
    rows = [[step for step in row if not matches(step.relation, noise)] for row in every]
    relations = sorted(
        {step.relation for row in rows for step in row} | {s.relation for _, b in pairs for s in b.steps}
    )
    labels = dict(zip(relations, graph.labels(relations), strict=True))
    scores: Sequence[Sequence[float]] = [[0.0] * len(row) for row in rows]
    if scorer is not None:
        scores = scorer.score([groups[i].query for i, _ in pairs], [branch.steps for _, branch in pairs], rows)
    walks: list[dict[str, list[tuple[Branch, Step]]]] = [{} for _ in groups]
    best: list[dict[str, float]] = [{} for _ in groups]
    for (i, branch), row, values in zip(pairs, rows, scores, strict=True):
        for step, value in zip(row, values, strict=True):
            text = _text(branch.steps, step, labels, show)
            walks[i].setdefault(text, []).append((branch, step))
            best[i][text] = max(rounded(value), best[i].get(text, float("-inf")))
    offers = []
    left_out = []
    for texts, rated in zip(walks, best, strict=True):
        order = sorted(texts, key=lambda text: (-rated[text], text))
        kept = set(order[:narrow] if scorer is not None else order)
        offers.append([Offer(text, tuple(texts[text])) for text in sorted(kept)])
        left_out.append(len(texts) - len(kept))
    return offers, left_out


def _text(steps: Path, step: Step, labels: Mapping[str, str], show: Show) -> str:
    return path_text((*steps, step), labels) if show == "path" else step_text(step, labels)
