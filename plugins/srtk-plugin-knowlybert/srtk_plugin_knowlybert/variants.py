"""The rules of scores and filters by which the paper, its published code and the default differ."""

from __future__ import annotations

from typing import Literal, get_args

import attrs

from srtk_plugin_knowlybert.aggregation import Mean, Stability
from srtk_plugin_knowlybert.filler_types import Types
from srtk_plugin_knowlybert.label_search import Over

Variant = Literal["default", "published", "code"]
VARIANTS: tuple[Variant, ...] = get_args(Variant)
Threshold = Literal["both", "static", "dynamic", "none"]


@attrs.frozen(kw_only=True)
class Rules:
    """The rules of one variant.

    Attributes:
        mean: Score of a label from its tokens; see ``label_score``.
        over: Score of a label over several templates: their ``mean``, with 0 for templates that do not find it, or the
            ``greatest``.
        stability: Which labels are dropped, on which the templates disagree; see ``is_stable``.
        stability_limit: Limit of the stability.
        types: Which entities may fill the open end, where the completer's own ``types`` is left open.
        classes_of_answers: Whether the classes of known answers are expected where there are any.
        popularity: Least number of triples with the entity as object.
        threshold: Cut of the answers of a pattern by their scores: the ``static`` threshold, which is the mean score of
            known answers; the ``dynamic`` threshold, at a large gap; ``both``; or ``none``.
        scale: On which the gaps between scores are measured.
    """

    mean: Mean = "logarithm"
    over: Over = "mean"
    stability: Stability = "none"
    stability_limit: float = 0.6
    types: Types = "soft"
    classes_of_answers: bool = True
    popularity: int = 0
    threshold: Threshold = "none"
    scale: Literal["probability", "logarithm"] = "probability"


# The paper (KnowlyBERT, Kalo et al. 2020).
PUBLISHED = Rules(
    mean="probability",
    over="greatest",
    stability="difference",
    types="classes",
    classes_of_answers=False,
    popularity=1,
    threshold="both",
)
# The code that was published with it.
CODE = Rules(
    mean="running", over="greatest", stability="sum", types="classes", popularity=1, threshold="both", scale="logarithm"
)
RULES: dict[Variant, Rules] = {"default": Rules(), "published": PUBLISHED, "code": CODE}
