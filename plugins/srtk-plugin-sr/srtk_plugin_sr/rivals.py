"""Rivals of a path: the paths that a search ranks beside the path of a made question.

A search by the rule ``gain`` ranks whole paths, and its own best ones are those that it confuses with the right one
(hard negatives, Xiong et al., ICLR 2021). The search for them encodes no path: it takes the sum of the vectors of a
path's steps for that of its text.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from pathlib import Path as FilePath

import numpy as np
import numpy.typing as npt

from srtk_framework.graph import follow_within
from srtk_framework.roles import Encoder, KnowledgeGraph
from srtk_framework.text import without_mentions
from srtk_framework.values import Budget, Frontier, Path, Question, batched
from srtk_plugin_sr.beam import BeamExpander
from srtk_plugin_sr.dense import DenseScorer
from srtk_plugin_sr.samples import RankedPaths
from srtk_plugin_sr.supervision import f1
from srtk_plugin_sr.vectors import Matrix, unit

MOST_RIVALS = 11
"""Rivals of a question."""
# From this F1 of its ends on, a path that does not lead to exactly the answers is neither right nor a rival.
ALIKE = 0.5
# As the expander `beam`, whose confusions are wanted.
_WIDTH = 15
# The triples of the search are not wanted, and its frontiers only for the ends of rivals.
_BUDGET = Budget(triples=1, nodes=300, hub=300)
_AT_ONCE = 32


class SummingEncoder(Encoder):
    """Gives the text of a path the sum of its steps' vectors; ``join`` separates these, and each is encoded once."""

    def __init__(self, encoder: Encoder, join: str) -> None:
        self._encoder, self._join = encoder, join
        self._known: dict[str, Matrix] = {}

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return a unit vector for each text."""
        parts = [text.split(self._join) for text in texts]
        if new := list(dict.fromkeys(part for row in parts for part in row if part not in self._known)):
            self._known.update(zip(new, unit(self._encoder.encode(new)), strict=True))
        return unit(np.stack([np.sum([self._known[part] for part in row], axis=0) for row in parts]))

    def weights_folder(self) -> FilePath | None:
        """Return the folder of the weights, which has the form of their scores."""
        return self._encoder.weights_folder()


def find_rivals(
    scorer: DenseScorer, questions: Sequence[Question], depth: int, until: float = math.inf
) -> list[RankedPaths]:
    """Search for made questions; return those whose search finds a path that leads elsewhere, with their paths.

    Args:
        scorer: Scorer with the graph of the questions.
        questions: Questions, each with one named link, its answers and one gold path.
        depth: Depth of the search.
        until: CPU time of the process at which no further batch begins; one batch is always searched.
    """
    settings = scorer.search_settings()
    encoder = SummingEncoder(scorer.encoder, scorer.path_join)
    found: list[RankedPaths] = []
    for number, batch in enumerate(batched(questions, _AT_ONCE)):
        if number and time.process_time() >= until:
            break
        # A scorer keeps the vector of each text, so that each batch has one of its own.
        search = BeamExpander(
            graph=scorer.graph, scorer=scorer.with_encoder(encoder), budget=_BUDGET, width=_WIDTH, depth=depth
        )
        search.open()
        rows = [
            list(dict.fromkeys([*(question.gold_paths or ()), *(path.steps for path in subgraph.paths)]))
            for question, subgraph in zip(batch, search.expand(batch), strict=True)
        ]
        ways = _followed(scorer.graph, [question.links[0].entity for question in batch], rows)
        for question, row, frontiers in zip(batch, rows, ways, strict=True):
            costs = [
                scorer.form.path_cost(path) + settings.fan_cost * _fan(way)
                for path, way in zip(row, frontiers, strict=True)
            ]
            ends = [set(way[-1].ids()) - {question.links[0].entity} for way in frontiers]
            if (one := _ranked(question, settings.mention, row, ends, costs)) is not None:
                found.append(one)
    return found


def _followed(
    graph: KnowledgeGraph, entities: Sequence[str], rows: Sequence[Sequence[Path]]
) -> list[list[list[Frontier]]]:
    """Return, for each path of each entity, the frontier behind each of its steps."""
    starts = graph.frontiers([[entity] for entity in entities])
    ways = [[[start] for _ in row] for start, row in zip(starts, rows, strict=True)]
    flat = [pair for row, paths in zip(ways, rows, strict=True) for pair in zip(row, paths, strict=True)]
    for depth in range(max((len(path) for _, path in flat), default=0)):
        live = [(way, path[depth]) for way, path in flat if depth < len(path)]
        reached = follow_within(graph, [way[-1] for way, _ in live], [step for _, step in live], _BUDGET)
        for (way, _), behind in zip(live, reached, strict=True):
            way.append(behind.frontier)
    return [[way[1:] for way in row] for row in ways]


def _fan(way: Sequence[Frontier]) -> float:
    return sum(math.log(max(1, frontier.fan)) for frontier in way)


def _ranked(
    question: Question, mention: str | None, paths: Sequence[Path], ends: Sequence[set[str]], costs: Sequence[float]
) -> RankedPaths | None:
    """Keep the paths that are right, and the first that are rivals; None without either."""
    answers = set(question.answers or ())
    right = [places == answers for places in ends]
    rivals = [i for i, places in enumerate(ends) if not right[i] and f1(places, answers) < ALIKE][:MOST_RIVALS]
    if not right[0] or not rivals:
        return None
    kept = sorted({*rivals, *(i for i, is_right in enumerate(right) if is_right)})
    text = question.text if mention is None else without_mentions(question, question.links[:1], {}, mention)
    return RankedPaths(
        text, tuple(paths[i] for i in kept), tuple(right[i] for i in kept), tuple(costs[i] for i in kept)
    )
