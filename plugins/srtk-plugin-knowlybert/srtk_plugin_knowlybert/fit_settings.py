"""Settings for training the ``masked-lm`` completer."""

from __future__ import annotations

from typing import Any

import attrs

from srtk_framework.values import at_least, each, one_of
from srtk_plugin_knowlybert.similarity import METRICS, Metric
from srtk_plugin_knowlybert.template_ranking import RANKERS, Ranker


def _rankers(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


@attrs.frozen
class MaskedLMFitSettings:
    """Settings for training the ``masked-lm`` completer.

    Attributes:
        metric: Similarity of templates, one of each cluster of which is kept, by ``words`` or ``characters`` (longest
            matching blocks), or by ``sets`` of words.
        rankers: Rankings, each of what the one before kept: ``overlap`` with known fillers, or known ``pairs`` found.
        keep: Templates of a relation that are kept.
        labels: Labels that ``overlap`` looks at.
        pairs: Pairs of a relation that ``pairs`` asks for.
        queries: Patterns of the graph from which the static threshold is learnt.
    """

    metric: Metric = attrs.field(default="words", validator=one_of(METRICS))
    rankers: tuple[Ranker, ...] = attrs.field(
        default=("overlap", "pairs"), converter=_rankers, validator=each(one_of(RANKERS))
    )
    keep: int = attrs.field(default=5, validator=at_least(1))
    labels: int = attrs.field(default=100, validator=at_least(1))
    pairs: int = attrs.field(default=200, validator=at_least(1))
    queries: int = attrs.field(default=1000, validator=at_least(1))
