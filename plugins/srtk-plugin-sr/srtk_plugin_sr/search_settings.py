"""The ``search`` block of the beam: settings of a recipe in place of the scorer's suggestions."""

from __future__ import annotations

from typing import Any, Literal

import attrs

from srtk_framework.roles import PLAIN, SearchSettings

Auto = Literal["auto"]
AUTO: Auto = "auto"

# For log-probabilities of trained weights: at each hop a hundredth of the best path's probability. The depth is two
# steps: weights do not know where paths end that are longer than those they learnt from. The price of a triple was
# chosen on LC-QuAD (docs/results/training.md).
TRAINED = attrs.evolve(PLAIN, order="nodes", hop_margin=4.6, price=0.002, found=0.95)

GAIN = SearchSettings(scale=1.0)
"""For increases of a cosine over a temperature."""

TOPIC_BACKGROUNDS: tuple[float | None, ...] = (0.01, 0.02, 0.05, 0.1, 0.2, None)
"""Those that a training tries."""


def _as_in_search_settings(instance: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
    """Check a value that is given as ``SearchSettings`` does."""
    if value != AUTO:
        SearchSettings(**{attribute.name: value})


@attrs.frozen(kw_only=True)
class SearchBlock:
    """Settings of a search that a recipe gives; `auto` is the scorer's suggestion.

    Attributes:
        scale: Difference of the scorer's numbers that is one unit (a factor e of probability); null to measure it.
        long_cost: Subtracted from a path's score for each step beyond the second.
        long_width: Paths of each topic, the best, that may be extended beyond the second step; null for all.
        mention: Replaces the linked entity's mention in the text that the scorer reads; null leaves the text as it is.
        margin: Drops the paths that score more than this below the best of their topic, at the end; null for no limit.
        hop_margin: The same at each hop, for paths that may be extended.
        order: Order of the triples: `paths`, best first, or `nodes`, by the mass of the paths that end in them.
        fan_cost: Subtracted from a path's score for each factor e of nodes that a step reaches. Above 0, a few times
            `width` continuations are followed at each hop before the best are kept.
        found: Share of the answers that the paths are expected to lead to, for `expected_recall` in the record.
        topic_background: With the order `nodes`, how little a node counts that no path of another topic reaches; null
            to read all topics as the same topic.
    """

    scale: float | Auto | None = attrs.field(default=AUTO, validator=_as_in_search_settings)
    long_cost: float | Auto = attrs.field(default=AUTO, validator=_as_in_search_settings)
    long_width: int | Auto | None = attrs.field(default=AUTO, validator=_as_in_search_settings)
    mention: str | None = attrs.field(default=AUTO, validator=_as_in_search_settings)
    margin: float | Auto | None = attrs.field(default=AUTO, validator=_as_in_search_settings)
    hop_margin: float | Auto | None = attrs.field(default=AUTO, validator=_as_in_search_settings)
    order: Literal["auto", "paths", "nodes"] = attrs.field(default=AUTO, validator=_as_in_search_settings)
    fan_cost: float | Auto = attrs.field(default=AUTO, validator=_as_in_search_settings)
    found: float | Auto = attrs.field(default=AUTO, validator=_as_in_search_settings)
    topic_background: float | Auto | None = attrs.field(default=AUTO, validator=_as_in_search_settings)

    def over(self, suitable: SearchSettings) -> SearchSettings:
        """Return the scorer's suggestions, replaced by the settings that are given."""
        return attrs.evolve(suitable, **{name: value for name, value in attrs.asdict(self).items() if value != AUTO})
