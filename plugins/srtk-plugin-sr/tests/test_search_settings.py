"""What a recipe, a scorer and the framework each say of a search."""

import math

import attrs
import pytest
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_sr.beam import BeamExpander
from srtk_plugin_sr.search_settings import TOPIC_BACKGROUNDS, TRAINED, SearchBlock

from srtk_framework.recipe import SettingsError, structure
from srtk_framework.roles import BACKGROUND, PLAIN, PathScorer, SearchSettings

ELSEWHERE = {"depth": "a setting of the expander", "price": "a limit of the budget"}


@attrs.define(eq=False)
class Silent(PathScorer):
    """Says nothing of a search."""

    def score(self, questions, paths, candidates):
        return [[0.0] * len(row) for row in candidates]


@attrs.define(eq=False)
class Saying(Silent):
    """Suggests settings."""

    suits: SearchSettings = PLAIN

    def search_settings(self):
        return self.suits


def in_force(scorer, **settings):
    return BeamExpander(MemoryGraph(), scorer, **settings).settings_in_force()


def test_a_block_has_every_search_setting_that_has_no_place_elsewhere():
    names = [field.name for field in attrs.fields(SearchSettings)]
    assert [field.name for field in attrs.fields(SearchBlock)] == [name for name in names if name not in ELSEWHERE]


def test_a_scorer_that_says_nothing_is_searched_by_the_best_that_is_known_without_training():
    found = in_force(Silent())
    assert {**found["search"], "depth": found["depth"]} == {
        name: value for name, value in attrs.asdict(SearchSettings()).items() if name != "price"
    }
    assert (found["search"]["scale"], found["depth"], found["search"]["fan_cost"]) == (None, 3, 0.2)


def test_a_recipe_replaces_single_settings_of_those_that_suit_the_scorer():
    found = in_force(Saying(), search=SearchBlock(fan_cost=0.4, margin=None))["search"]
    assert (found["fan_cost"], found["margin"], found["order"], found["scale"]) == (0.4, None, "paths", 1.0)


def test_a_key_that_no_search_has_is_refused_with_those_it_has():
    with pytest.raises(SettingsError, match=r"unknown key .fan_costs.; known are scale, long_cost, .*fan_cost"):
        structure({"fan_costs": 0.1}, SearchBlock)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("scale", 0, "scale must be above 0, not 0"),
        ("long_width", 0, "long_width must be at least 1, not 0"),
        ("margin", -2.0, "margin must be at least 0, not -2.0"),
        ("fan_cost", None, "fan_cost must be a number, not None"),
        ("found", 1.5, "found must be above 0 and at most 1, not 1.5"),
        ("order", "best", "order must be paths or nodes, not 'best'"),
        ("mention", 3, "mention must be a text or None, not 3"),
        ("hop_margin", float("nan"), "hop_margin must be at least 0, not nan"),
    ],
)
@pytest.mark.parametrize("kind", [SearchBlock, SearchSettings])
def test_a_value_out_of_range_is_refused(kind, name, value, message):
    with pytest.raises(ValueError, match=message):
        kind(**{name: value})


def test_backgrounds_that_a_training_tries_are_shares_and_none():
    shares = [one for one in TOPIC_BACKGROUNDS if one is not None]
    assert shares == sorted(set(shares))
    assert all(0 < one < 1 for one in shares)
    assert BACKGROUND in shares
    assert TOPIC_BACKGROUNDS[-1] is None


def test_at_each_hop_of_trained_weights_a_path_has_a_hundredth_of_the_probability_of_the_best():
    assert math.exp(-TRAINED.hop_margin) == pytest.approx(0.01, rel=0.01)
    assert 0 < TRAINED.price < 0.01
    assert 0.9 < TRAINED.found < 1
