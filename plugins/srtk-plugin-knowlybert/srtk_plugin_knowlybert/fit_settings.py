"""Settings for training the ``masked-lm`` completer."""

from __future__ import annotations

import attrs
from srtk_plugin_patterns.twins import OVERLAP

from srtk_framework.values import at_least, between, each, one_of
from srtk_plugin_knowlybert.similarity import METRICS, Metric
from srtk_plugin_knowlybert.template_ranking import RANKERS, Ranker


@attrs.frozen
class MaskedLMFitSettings:
    """Settings for training the ``masked-lm`` completer.

    Attributes:
        metric: Similarity of templates, whose clusters keep only the shortest, by ``words`` or ``characters`` (longest
            matching blocks), or by ``sets`` of words.
        rankers: Rankings in a row: by ``overlap`` with known fillers, or by known ``pairs`` that are found.
        keep: Templates of a relation that are kept.
        labels: Labels that ``overlap`` looks at.
        pairs: Pairs of a relation that ``pairs`` asks for.
        twins: Least overlap of a relation with its twins, inverses and near-duplicates: a triple by which a twin says a
            held-out fact again is held out too. null keeps these.
        queries: Patterns of the graph from which the static threshold is learnt.
    """

    metric: Metric = attrs.field(default="words", validator=one_of(METRICS))
    rankers: tuple[Ranker, ...] = attrs.field(
        default=("overlap", "pairs"), converter=tuple, validator=each(one_of(RANKERS))
    )
    keep: int = attrs.field(default=5, validator=at_least(1))
    labels: int = attrs.field(default=100, validator=at_least(1))
    pairs: int = attrs.field(default=200, validator=at_least(1))
    twins: float | None = attrs.field(default=OVERLAP, validator=between(above=0, most=1))
    queries: int = attrs.field(default=1000, validator=at_least(1))
