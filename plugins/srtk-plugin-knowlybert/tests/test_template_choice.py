"""Which templates go from mining to each ranking, and which are kept."""

from __future__ import annotations

from typing import Any

import pytest
from srtk_plugin_knowlybert import template_choice
from srtk_plugin_knowlybert.fit_settings import MaskedLMFitSettings
from srtk_plugin_knowlybert.template_mining import Mined


@pytest.mark.parametrize(
    ("rankers", "sizes", "kept"),
    [
        (("overlap", "pairs"), [("overlap", 105, 40), ("pairs", 100, 30)], [99, 98]),
        (("pairs",), [("pairs", 105, 30)], [104, 103]),
        (("pairs", "overlap", "pairs"), [("pairs", 105, 30), ("overlap", 100, 40), ("pairs", 100, 30)], [5, 6]),
        ((), [], [0, 1]),
    ],
)
def test_each_ranking_gets_the_hundred_best_of_the_one_before(
    monkeypatch: pytest.MonkeyPatch, rankers: Any, sizes: Any, kept: Any
) -> None:
    given: list[Any] = []
    numbers: Any = range(105)
    mined = [Mined(number, ()) for number in numbers]

    def mine(entries: Any, table: Any, words: int) -> Any:
        given.append(words)
        return {"r": mined}

    def distinct(some: Any, most: float, metric: str) -> Any:
        given.append((most, metric))
        return list(some)

    def ranking(name: str) -> Any:
        def rank(search: Any, table: Any, names: Any, relation: str, some: Any, most: int, *seed: int) -> Any:
            given.append((name, len(some), most))
            return list(some) if name == "overlap" else list(some)[::-1]

        return rank

    monkeypatch.setattr(template_choice, "mine_templates", mine)
    monkeypatch.setattr(template_choice, "distinct_templates", distinct)
    monkeypatch.setattr(template_choice, "by_overlap", ranking("overlap"))
    monkeypatch.setattr(template_choice, "by_pairs", ranking("pairs"))
    settings = MaskedLMFitSettings(metric="sets", rankers=rankers, keep=2, labels=40, pairs=30)
    nothing: Any = None
    chosen = template_choice.chosen_templates([], nothing, nothing, {}, settings, 0)
    assert given == [15, (0.8, "sets"), *sizes]
    assert chosen == {"r": tuple(kept)}
