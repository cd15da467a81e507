"""Settings of a search that suit the scores it adds up, where a recipe leaves them open."""

from __future__ import annotations

from typing import Literal

import attrs

from srtk_framework.roles import PathScorer


@attrs.frozen
class SearchSettings:
    """The settings of ``beam`` that depend on its scorer; see the expander for what they mean.

    Attributes:
        mention: Replaces the linked entity's mention; None leaves the text as it is.
        margin: Largest distance of a path from the best at the end; None for no limit.
        hop_margin: The same at each hop.
        order: Order of the triples, `paths` or `nodes`.
        fan_cost: Cost of the fan-out of a step.
    """

    mention: str | None = None
    margin: float | None = None
    hop_margin: float | None = None
    order: Literal["paths", "nodes"] = "paths"
    fan_cost: float = 0.0


UNTRAINED = SearchSettings(mention="", order="nodes", fan_cost=0.2)
"""For the rule ``gain``: chosen on the demo's questions with seed 1, PathQuestion and MetaQA."""
TRAINED = SearchSettings(margin=2.3, hop_margin=4.6)
"""For log-probabilities of trained weights: a tenth of the best path's probability, a hundredth at each hop."""


def suitable_settings(scorer: PathScorer) -> SearchSettings:
    """Return the settings that a scorer suggests; the neutral ones where it suggests none."""
    known = {field.name for field in attrs.fields(SearchSettings)}
    return SearchSettings(**{name: value for name, value in scorer.search_settings().items() if name in known})
