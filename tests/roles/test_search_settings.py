"""What a path scorer may say of the search that suits its scores."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from srtk_framework.host.ports import port
from srtk_framework.roles import PLAIN, PathScorer, SearchSettings
from srtk_framework.values import DriverError


@attrs.define(eq=False)
class Saying(PathScorer):
    """Suggests what it is made with."""

    said: Any

    def score(self, questions: Any, paths: Any, candidates: Any) -> Any:
        return [[0.0] * len(row) for row in candidates]

    def search_settings(self) -> Any:
        return self.said


def heard(said: Any) -> Any:
    asked: Any = port(Saying(said), "path_scorer", "theirs")
    return asked.search_settings()


@pytest.mark.parametrize("said", [None, PLAIN, SearchSettings(scale=3.0)])
def test_search_settings_and_none_are_passed_on(said: Any) -> None:
    assert heard(said) == said


def test_a_mapping_of_some_keys_leaves_the_others_as_they_are_best_without_training() -> None:
    assert heard({"mention": "it", "scale": 2.0}) == SearchSettings(mention="it", scale=2.0)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"margn": 1.0}, r"'margn', which is unknown; known are scale, .*topic_background\. Did you mean 'margin'"),
        ({"margin": -1.0}, r"a wrong value: margin must be at least 0, not -1.0"),
        ({"depth": 2.5}, r"depth must be a whole number, not 2.5"),
        ({"found": True}, r"found must be a number, not True"),
        ([("margin", 1.0)], r"returned \[\('margin', 1.0\)\]; it must return SearchSettings, or None"),
    ],
)
def test_anything_else_is_refused_with_what_is_known(said: Any, message: str) -> None:
    with pytest.raises(DriverError, match=message) as caught:
        heard(said)
    assert caught.value.driver == "theirs"
