"""Settings of a search that depend on the scores it adds up; a path scorer suggests them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

import attrs

from srtk_framework.values import (
    DriverError,
    SettingsError,
    at_least,
    between,
    close_matches,
    one_of,
    positive,
    share,
)
from srtk_framework.values.validators import Bounds

BACKGROUND = 0.05
"""Support of a topic where none of its paths arrive, by default: its right path may be one that was not found."""
Order = Literal["paths", "nodes"]


def _number(bounds: Bounds, *, none: bool = False, whole: bool = False) -> Any:
    """Return a validator of a number within bounds; ``none`` allows None too.

    Unlike settings of a recipe these come from a driver's code, so that their types are checked here.
    """
    kind = f"be {'a whole number' if whole else 'a number'}{' or None' if none else ''}"

    def check(instance: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
        if value is None and none:
            return
        if not isinstance(value, int if whole else int | float) or isinstance(value, bool):
            raise SettingsError([((attribute.name,), f"{attribute.name} must {kind}, not {value!r}")])
        bounds(instance, attribute, value)

    return check


def _text_or_none(instance: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
    if not (value is None or isinstance(value, str)):
        raise SettingsError([((attribute.name,), f"{attribute.name} must be a text or None, not {value!r}")])


@attrs.frozen(kw_only=True)
class SearchSettings:
    """Settings of a search that suit the scores of a path scorer.

    The defaults are the best that are known for scores that were not learnt from questions: chosen on the demo's
    questions with seed 1, PathQuestion and MetaQA, and the settings of long paths also on a half of
    ComplexWebQuestions. A scorer that suggests nothing gets them.

    Scores, costs and margins are in natural-log units: a path that scores 1 more is e times as probable.

    Attributes:
        scale: Difference of the scorer's numbers that is one unit; scores are divided by it and added up as they are.
            None for a scorer whose unit is not known: then it is measured for each question, by the spread of the
            first scores that differ, and each score counts as its distance from END's. So neither a factor on the
            numbers nor a shift of them changes the search.
        depth: Maximum number of steps of a path, where the expander's own `depth` is left open.
        long_cost: Subtracted from the score of a path for each step beyond the second, as most questions need no more.
        long_width: Paths of each topic, the best, that may be extended beyond the second step, where a graph has most
            to read; None for all.
        mention: Replaces the linked entity's mention in the text that the scorer reads; None leaves the text as it is.
        margin: Drops the paths whose score is more than this below the best of their topic, at the end; None for no
            limit. 2.3 is a tenth of the best path's probability.
        hop_margin: The same at each hop, for paths that may be extended: a search that is certain follows few.
        order: Order of the triples, which decides which of them the budget keeps. `paths`: the best path first.
            `nodes`: the node with most mass of the paths that end in it, and more where paths from several topics meet
            (see ``graph.facts_by_node``).
        fan_cost: Subtracted from the score of a path for each factor e of nodes that a step reaches: of two steps that
            read alike, the path to fewer nodes is more specific (PRA divides by the fan-out, Lao and Cohen 2010).
        price: Share of the answers that a triple must be expected to add for the reading to go on, where the budget
            has neither price nor recall; None for no price.
        found: Share of the answers that the paths are expected to lead to, between 0 and 1: a factor of
            `expected_recall` in the record.
        topic_background: With the order `nodes`, a node on which a topic's paths arrive with probability p is worth
            (b + p) / b times as much to the paths of the other topics, where this is b: the smaller, the more it counts
            where topics meet. None for no support: the paths of all topics are read as if they had the same topic.
    """

    scale: float | None = attrs.field(default=None, validator=_number(positive, none=True))
    depth: int = attrs.field(default=3, validator=_number(at_least(1), whole=True))
    long_cost: float = attrs.field(default=1.0, validator=_number(at_least(0)))
    long_width: int | None = attrs.field(default=8, validator=_number(at_least(1), none=True, whole=True))
    mention: str | None = attrs.field(default="", validator=_text_or_none)
    margin: float | None = attrs.field(default=None, validator=_number(at_least(0), none=True))
    hop_margin: float | None = attrs.field(default=None, validator=_number(at_least(0), none=True))
    order: Order = attrs.field(default="nodes", validator=one_of(get_args(Order)))
    fan_cost: float = attrs.field(default=0.2, validator=_number(at_least(0)))
    price: float | None = attrs.field(default=None, validator=_number(share, none=True))
    found: float = attrs.field(default=0.9, validator=_number(between(above=0, most=1)))
    topic_background: float | None = attrs.field(default=BACKGROUND, validator=_number(positive, none=True))


PLAIN = SearchSettings(
    scale=1.0, depth=2, long_cost=0.0, long_width=None, mention=None, order="paths", fan_cost=0.0, found=1.0
)
"""Scores in natural-log units that are added up as they are, at no cost: a start for learnt log-probabilities."""


def search_settings_only(answer: Any, arguments: Mapping[str, Any], driver: str) -> SearchSettings | None:
    """Refuse anything but search settings, a mapping of some of them, or None."""
    if answer is None or isinstance(answer, SearchSettings):
        return answer
    if not isinstance(answer, Mapping):
        raise DriverError(f"search_settings returned {answer!r}; it must return SearchSettings, or None for none")
    known = [field.name for field in attrs.fields(SearchSettings)]
    for key in answer:
        if key not in known:
            near = close_matches(str(key), known)
            raise DriverError(
                f"search_settings returned {key!r}, which is unknown; known are {', '.join(known)}.{near}"
            )
    try:
        return SearchSettings(**answer)
    except ValueError as error:
        raise DriverError(f"search_settings returned a wrong value: {error}") from error
