"""Training samples for path scorers, with negatives from the frontiers of the graph."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple

from srtk_framework.graph import follow_within
from srtk_framework.values import END, Budget, Frontier, Path, Question, Sample, Step, TrainingExample

if TYPE_CHECKING:
    from srtk_framework.roles import KnowledgeGraph


class _Place(NamedTuple):
    """A training example (by index), a linked entity of its question, and the steps from it."""

    example: int
    entity: str
    path: Path


def samples(
    graph: KnowledgeGraph,
    examples: Sequence[TrainingExample],
    *,
    negatives: int | None,
    seed: int,
    inverse: bool,
    hub: int | None = 1000,
    nodes: int | None = 1000,
    end_at_start: bool = False,
    text: Callable[[Question, str], str] | None = None,
) -> list[list[Sample]]:
    """Make one sample per decision of a search for the paths of each training example.

    A path of K steps gives K + 1 decisions: each step, and END after the last (Zhang et al. 2022, section 4.1).
    Paths with a common prefix share its sample, which then has several positive candidates. Negative candidates are
    END, where the search offers it, and steps from the frontier, sampled without replacement. The sampling depends on
    the seed, the question and the path, not on the batch.

    Args:
        graph: Graph of the paths; its noise relations are not candidates.
        examples: Training examples; paths that the graph lacks are ignored.
        negatives: Maximum number of negative candidates per sample; None for all steps from the frontier. From two on,
            END is among them wherever it is wrong, since every path is weighed against its end in a search.
        seed: Seed of the sampling.
        inverse: Whether inverse steps are candidates, as in the search.
        hub: Maximum number of neighbours read for a node along a step.
        nodes: Maximum number of nodes of a frontier.
        end_at_start: Whether END is a candidate before the first step too, as in the search.
        text: Function that returns the question's text for the scorer, given a question and an entity; by default
            the text of the question.

    Returns:
        The samples of each training example, sorted by entity, then by length and text of the path.
    """
    noise = tuple(graph.schema().noise)
    budget = Budget(hub=hub, nodes=nodes)
    right = _right_steps(examples)
    offered = _offered(graph, right, inverse, budget)
    made: list[list[Sample]] = [[] for _ in examples]
    for place in sorted(right, key=lambda p: (p.example, p.entity, len(p.path), [str(step) for step in p.path])):
        if place not in offered:
            continue
        targets = {step: value for step, value in right[place].items() if step == END or step in offered[place]}
        if not targets:
            continue
        question = examples[place.example].question
        wrong = [
            step
            for step in offered[place]
            if step not in targets and not any(fnmatchcase(step.relation, pattern) for pattern in noise)
        ]
        end = (bool(place.path) or end_at_start) and END not in targets
        if negatives is not None and len(wrong) + end > negatives:
            if negatives > 1:
                wrong = _drawn(wrong, negatives - end, seed, question.id, place)
            else:
                wrong, end = _drawn([*wrong, END] if end else wrong, negatives, seed, question.id, place), False
        if end:
            wrong.append(END)
        candidates = sorted([*targets, *wrong], key=lambda step: (step == END, str(step)))
        made[place.example].append(
            Sample(
                question=question.id,
                text=text(question, place.entity) if text else question.text,
                path=place.path,
                candidates=tuple(candidates),
                targets=tuple(targets.get(step, 0.0) for step in candidates),
            )
        )
    return made


def _right_steps(examples: Sequence[TrainingExample]) -> dict[_Place, dict[Step, float]]:
    """Map each prefix of a path to its positive steps, each with the quality of its best path."""
    right: dict[_Place, dict[Step, float]] = {}
    for i, example in enumerate(examples):
        for path in example.paths:
            if not path.score > 0:
                continue
            for depth, step in enumerate((*path.steps, END)):
                steps = right.setdefault(_Place(i, path.entity, path.steps[:depth]), {})
                steps[step] = max(path.score, steps.get(step, 0.0))
    return right


def _offered(
    graph: KnowledgeGraph, places: Sequence[_Place] | dict[_Place, dict[Step, float]], inverse: bool, budget: Budget
) -> dict[_Place, list[Step]]:
    """Read the steps from the frontier of every place; places that the graph does not reach are omitted."""
    at: dict[_Place, Frontier] = {}
    for depth in range(max((len(place.path) for place in places), default=-1) + 1):
        level = [place for place in places if len(place.path) == depth]
        if depth == 0:
            at.update(zip(level, graph.frontiers([[place.entity] for place in level]), strict=True))
            continue
        before = [place._replace(path=place.path[:-1]) for place in level]
        known = [(place, at[start]) for place, start in zip(level, before, strict=True) if start in at]
        reached = follow_within(
            graph, [frontier for _, frontier in known], [place.path[-1] for place, _ in known], budget
        )
        at.update((place, found.frontier) for (place, _), found in zip(known, reached, strict=True))
        at = {place: frontier for place, frontier in at.items() if frontier.size}
    filled = [place for place in at if at[place].size]
    steps = graph.steps([at[place] for place in filled], inverse)
    return {place: list(row) for place, row in zip(filled, steps, strict=True)}


def _drawn(steps: Sequence[Step], count: int, seed: int, question: str, place: _Place) -> list[Step]:
    key = "\0".join([str(seed), question, place.entity, *map(str, place.path)])
    chance = random.Random(int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "big"))
    return chance.sample(list(steps), count)
