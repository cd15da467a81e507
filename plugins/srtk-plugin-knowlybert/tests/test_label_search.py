"""Scores of labels over templates and gaps, and the entities behind them, worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from srtk_plugin_knowlybert.candidates import candidates_of
from srtk_plugin_knowlybert.filler_types import FillerTypes
from srtk_plugin_knowlybert.label_search import Found, LabelSearch, Sentences, one_by_one
from srtk_plugin_knowlybert.label_trie import LabelTrie
from srtk_plugin_knowlybert.templates import Template
from srtk_plugin_knowlybert.variants import Rules

from srtk_framework.graph import TripleTable
from srtk_framework.values import MaskedText, Schema, Step, Triple

SCORES = {
    "a in _": {("riga",): 0.5, ("oslo",): 0.2},
    "a at _": {("riga",): 0.5, ("ulm",): 0.4},
    "a in _ _": {("new", "york"): 0.5},
    "a by _": {("riga",): 0.25, ("oslo",): 0.6},
}
IN, AT, BY = (Template(f"{{subject}} {word} {{object}}") for word in ("in", "at", "by"))


class Scoring:
    """Fill and rate gaps by ``SCORES``, which all tokens of a label have."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def mask(self) -> str:
        return "_"

    def tokens(self, texts: Sequence[str]) -> list[list[str]]:
        return [text.split() for text in texts]

    def fill(self, texts: Sequence[MaskedText], k: int) -> Any:
        self.asked += [text.text for text in texts]
        rows = [SCORES.get(text.text, {}) for text in texts]
        return [
            [
                {label[gap]: math.log(score) for label, score in row.items()}.items()
                for gap in range(text.text.count("_"))
            ]
            for text, row in zip(texts, rows, strict=True)
        ]

    def rate(self, texts: Sequence[MaskedText], fillings: Any) -> Any:
        self.asked += [
            f"{text.text}: {' '.join(map('-'.join, some))}" for text, some in zip(texts, fillings, strict=True)
        ]
        return [
            [[math.log(SCORES.get(text.text, {}).get(label, 0.01))] * len(label) for label in some]
            for text, some in zip(texts, fillings, strict=True)
        ]


NAMES = {"riga": ["riga"], "oslo": ["oslo", "ulm"], "york": ["new york"]}


def searching(top: int | None, **settings: Any) -> tuple[LabelSearch, Scoring]:
    filler: Any = Scoring()
    return LabelSearch(filler, LabelTrie.of(NAMES, filler, 2), 2, top, "logarithm", **settings), filler


def question(*templates: Template) -> Sentences:
    return Sentences(templates, "a", False)


def approx(row: dict[Any, Found]) -> dict[Any, Any]:
    return {label: pytest.approx(tuple(one)) for label, one in row.items()}


def test_scores_of_a_label_are_gathered_over_the_templates_and_the_first_of_the_best_counts() -> None:
    search, filler = searching(9)
    found = search.search([question(IN, AT, BY), question(BY)])
    assert found[0] == approx({
        ("riga",): Found(0.5, 0.25, 3, 0, 1.25, 0.5),
        ("oslo",): Found(0.6, 0.2, 2, 2, 0.8, 0.6),
        ("ulm",): Found(0.4, 0.4, 1, 1, 0.4, 0.4),
        ("new", "york"): Found(0.5, 0.5, 1, 0, 0.5, 0.5),
    })  # fmt: skip
    assert found[1] == approx({
        ("riga",): Found(0.25, 0.25, 1, 0, 0.25, 0.25),
        ("oslo",): Found(0.6, 0.6, 1, 0, 0.6, 0.6),
    })  # fmt: skip
    assert filler.asked == ["a in _", "a in _ _", "a at _", "a at _ _", "a by _", "a by _ _"]


def test_the_mean_of_a_label_is_over_all_templates_of_its_own_question() -> None:
    found = searching(9, over="mean")[0].search([question(IN, AT, BY), question(BY)])
    assert [(label[0], one.score, one.greatest) for label, one in sorted(found[0].items())] == [
        ("new", pytest.approx(0.5 / 3), pytest.approx(0.5)),
        ("oslo", pytest.approx(0.8 / 3), pytest.approx(0.6)),
        ("riga", pytest.approx(1.25 / 3), pytest.approx(0.5)),
        ("ulm", pytest.approx(0.4 / 3), pytest.approx(0.4)),
    ]
    assert {label[0]: one.score for label, one in found[1].items()} == pytest.approx({"riga": 0.25, "oslo": 0.6})


def test_given_labels_alone_are_rated_and_all_where_none_are_given() -> None:
    search, filler = searching(None)
    found = search.search([question(IN), question(BY), question(AT)], [None, [("oslo",)], []])
    assert filler.asked == ["a in _: oslo riga ulm", "a in _ _: new-york", "a by _: oslo"]
    assert found[0] == approx({
        ("oslo",): Found(0.2, 0.2, 1, 0, 0.2, 0.2),
        ("riga",): Found(0.5, 0.5, 1, 0, 0.5, 0.5),
        ("ulm",): Found(0.01, 0.01, 1, 0, 0.01, 0.01),
        ("new", "york"): Found(0.5, 0.5, 1, 0, 0.5, 0.5),
    })  # fmt: skip
    assert found[1] == approx({("oslo",): Found(0.6, 0.6, 1, 0, 0.6, 0.6)})
    assert found[2] == {}
    assert search.search([]) == []


def test_more_gaps_than_are_filled_at_once_are_filled_question_by_question() -> None:
    filler: Any = Scoring()
    search = LabelSearch(filler, LabelTrie.of(NAMES, filler, 300), 300, 9, "logarithm")
    assert [sorted(row) for row in search.search([question(BY)] * 2)] == [[("oslo",), ("riga",)]] * 2


def test_labels_come_by_their_scores_then_by_their_tokens() -> None:
    low, high = Found(0.2, 0.2, 1, 0, 0.2, 0.2), Found(0.7, 0.1, 2, 0, 0.8, 0.7)
    rows = one_by_one({("b",): low, ("c",): high, ("a", "z"): low, ("d",): low._replace(best=3, least=0.0)})
    assert [label for label, _ in rows] == [("c",), ("a", "z"), ("b",), ("d",)]


def test_an_entity_has_its_best_label_and_candidates_come_by_score_then_by_id() -> None:
    filler: Any = Scoring()
    trie = LabelTrie.of({"z": ["one", "two"], "y": ["two"], "x": ["three"]}, filler, 2)
    known = FillerTypes(TripleTable.from_triples([Triple("z", "r", "x")]), Schema())
    one, two = Found(0.9, 0.9, 1, 0, 0.9, 0.9), Found(0.5, 0.5, 1, 0, 0.5, 0.5)
    found = {("two",): two, ("three",): two, ("one",): one}
    rows = candidates_of(found, trie, known, "x", Step("r"), Rules(types="none"), homonyms=True)
    assert [(row.entity, row.label, row.found) for row in rows] == [
        ("z", ("one",), one),
        ("x", ("three",), two),
        ("y", ("two",), two),
    ]
