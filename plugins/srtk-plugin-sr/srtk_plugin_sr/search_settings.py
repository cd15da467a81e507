"""Settings of a search that suit the scores it adds up, where a recipe leaves them open."""

from __future__ import annotations

from typing import Literal

import attrs

from srtk_framework.graph import BACKGROUND
from srtk_framework.roles import PathScorer


@attrs.frozen
class SearchSettings:
    """The settings of ``beam`` that depend on its scorer; see the expander for what they mean.

    Attributes:
        depth: Maximum number of steps of a path.
        long_cost: Subtracted from the score of a path for each step beyond the second.
        long_width: Paths of each topic that are extended beyond the second step; None for all.
        mention: Replaces the linked entity's mention; None leaves the text as it is.
        margin: Largest distance of a path from the best at the end; None for no limit.
        hop_margin: The same at each hop.
        order: Order of the triples, `paths` or `nodes`.
        fan_cost: Cost of the fan-out of a step.
        recall: Share of the answers, of those that the paths lead to, at which the reading ends; None for no end.
        price: Share of them that a triple is worth; None for no price.
        found: Share of the answers that the paths are expected to lead to.
        topic_background: Support of a topic where none of its paths arrive; None for topics read as one.
    """

    depth: int = 2
    long_cost: float = 0.0
    long_width: int | None = None
    mention: str | None = None
    margin: float | None = None
    hop_margin: float | None = None
    order: Literal["paths", "nodes"] = "paths"
    fan_cost: float = 0.0
    recall: float | None = None
    price: float | None = None
    found: float = 1.0
    topic_background: float | None = BACKGROUND


UNTRAINED = SearchSettings(depth=3, long_cost=1.0, long_width=8, mention="", order="nodes", fan_cost=0.2, found=0.9)
"""For the rule ``gain``: chosen on the demo's questions with seed 1, PathQuestion and MetaQA, and what concerns long
paths also on a half of ComplexWebQuestions. The reading has no end but the budget, since the answers of untrained
searches are often where little is expected."""
TRAINED = SearchSettings(order="nodes", hop_margin=4.6, price=0.002, found=0.95)
"""For log-probabilities of trained weights: at each hop a hundredth of the best path's probability. The depth is two
steps: weights do not know where paths end that are longer than those they learnt from. The price of a triple was chosen
on LC-QuAD (docs/benchmarks.md, When to stop reading)."""

TOPIC_BACKGROUNDS: tuple[float | None, ...] = (0.01, 0.02, 0.05, 0.1, 0.2, None)
"""Those that a training tries."""


def suitable_settings(scorer: PathScorer) -> SearchSettings:
    """Return the settings that a scorer suggests; the neutral ones where it suggests none."""
    known = {field.name for field in attrs.fields(SearchSettings)}
    return SearchSettings(**{name: value for name, value in scorer.search_settings().items() if name in known})
