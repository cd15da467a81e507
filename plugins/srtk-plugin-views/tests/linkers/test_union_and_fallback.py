"""Linkers that hold linkers: union and fallback."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Literal

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_local.dictionary.linker import DictionaryLinker
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_views.linkers.fallback import FallbackLinker
from srtk_plugin_views.linkers.linker_calls import by_place
from srtk_plugin_views.linkers.union import UnionLinker

import srtk_framework
from srtk_framework.host import port
from srtk_framework.roles import EntityLinker
from srtk_framework.testing import EntityLinkerConformance, OracleGraph
from srtk_framework.values import DriverError, Link, RunError

GRAPH = MemoryGraph([[name, "in", "x"] for name in ("Netherlands", "Riga")])
OTHER = MemoryGraph([["Rigas", "in", "x"]])


@attrs.define(eq=False)
class Told(EntityLinker):
    """Links as told; raises where nothing is told.

    Attributes:
        links: Per text, its links.
        down: Whether every call fails.
    """

    links: Mapping[str, Sequence[Link]] = attrs.field(factory=dict)
    down: bool = False
    calls: list[Sequence[str]] = attrs.field(factory=list, repr=False)

    def link(self, texts: Sequence[str]) -> list[Sequence[Link]]:
        self.calls.append(texts)
        if self.down or any(text not in self.links for text in texts):
            raise DriverError("the service is down")
        return [self.links[text] for text in texts]


def told(score: float = 0.5, text: str = "Riga", *, entity: str = "riga", start: int = 0, end: int = 4) -> Told:
    return Told({text: [Link(entity, score, start, end)]})


class TestFallback(EntityLinkerConformance):
    name = "fallback"

    @pytest.fixture
    def driver(self, graph: OracleGraph) -> FallbackLinker:
        return FallbackLinker([Told(down=True), DictionaryLinker(graph)])

    @pytest.fixture
    def faulty(self) -> FallbackLinker:
        return FallbackLinker([Told(down=True), Told(down=True)])


class TestUnion(EntityLinkerConformance):
    name = "union"

    @pytest.fixture
    def driver(self, graph: OracleGraph) -> UnionLinker:
        return UnionLinker(
            [DictionaryLinker(graph), Told(down=True), DictionaryLinker(graph, n_best=3)], [1.0, 1.0, 0.5]
        )

    @pytest.fixture
    def faulty(self) -> UnionLinker:
        return UnionLinker([Told(down=True)])


def test_fallback_asks_the_next_linker_only_about_what_is_left() -> None:
    first = Told({"a": [Link("x", 0.9)], "b": [], "c": [Link("y", 0.2)]})
    second = Told({"b": [Link("z", 0.4)], "c": []})
    linker = FallbackLinker([first, second], min_score=0.3)
    assert linker.link(["a", "b", "c"]) == [[Link("x", 0.9)], [Link("z", 0.4)], []]
    assert second.calls == [["b", "c"]]


def test_fallback_says_who_answered(caplog: pytest.LogCaptureFixture) -> None:
    first = port(Told({"a": [Link("x")], "b": []}), "entity_linker", "rel")
    second = port(Told({"b": [Link("y")]}), "entity_linker", "dictionary")
    linker = FallbackLinker([first, second])
    with caplog.at_level(logging.INFO):
        assert [name for name, _ in linker.answered(["a", "b", " "])] == ["rel", "dictionary", ""]
    assert "dictionary found links in 1 of 1 texts" in caplog.text


def test_a_linker_that_is_down_is_passed_over_visibly(caplog: pytest.LogCaptureFixture) -> None:
    down = port(Told(down=True), "entity_linker", "rel")
    assert FallbackLinker([down, told()]).link(["Riga"]) == [[Link("riga", 0.5, 0, 4)]]
    assert "rel failed for 1 of 1 texts: rel: the service is down" in caplog.text


def test_a_linker_that_fails_for_one_text_answers_the_others(caplog: pytest.LogCaptureFixture) -> None:
    first = Told({"a": [Link("x")]})
    second = Told({"b": [Link("y")]})
    assert FallbackLinker([first, second]).link(["a", "b"]) == [[Link("x")], [Link("y")]]
    assert UnionLinker([first, second]).link(["a", "b"]) == [[Link("x")], [Link("y")]]
    assert "failed for 1 of 2 texts" in caplog.text


def test_one_linker_that_finds_nothing_and_one_that_fails_are_no_error() -> None:
    assert FallbackLinker([Told(down=True), Told({"a": []})]).link(["a"]) == [[]]
    assert UnionLinker([Told(down=True), Told({"a": []})]).link(["a"]) == [[]]


@pytest.mark.parametrize("view", [FallbackLinker, UnionLinker])
def test_a_text_for_which_all_linkers_fail_is_an_error(view: type[FallbackLinker] | type[UnionLinker]) -> None:
    with pytest.raises(DriverError, match="all linkers failed: the service is down"):
        view([Told(down=True), Told(down=True)]).link(["a"])


@pytest.mark.parametrize("view", [FallbackLinker, UnionLinker])
def test_a_required_linker_that_is_down_ends_the_run(view: type[FallbackLinker] | type[UnionLinker]) -> None:
    with pytest.raises(RunError, match="required: true"):
        port(view([Told(down=True), told()], required=True), "entity_linker", "view").link(["Riga"])


def test_union_merges_by_span_and_entity() -> None:
    one = Told({"Riga": [Link("riga", 0.5, 0, 4), Link("peak", 0.4, 0, 4)]})
    two = Told({"Riga": [Link("riga", 0.5, 0, 4, "Riga"), Link("riga", 0.3, 0, 2)]})
    assert UnionLinker([one, two]).link(["Riga"]) == [
        [Link("riga", 0.75, 0, 4, "Riga"), Link("peak", 0.4, 0, 4), Link("riga", 0.3, 0, 2)]
    ]


@pytest.mark.parametrize(("combine", "score"), [("any", 0.6), ("mean", 0.4667), ("max", 0.5)])
def test_weights_tell_how_much_a_linker_counts(combine: Literal["any", "mean", "max"], score: float) -> None:
    linker = UnionLinker([told(0.4), told(0.5)], [1.0, 2.0], combine=combine)
    assert linker.link(["Riga"])[0][0].score == score


def test_of_overlapping_mentions_the_best_is_kept_on_request() -> None:
    linkers = [told(0.5, "Old Riga", end=8), told(0.9, "Old Riga", entity="riga", start=4, end=8)]
    assert len(UnionLinker(linkers).link(["Old Riga"])[0]) == 2
    assert UnionLinker(linkers, overlaps="best").link(["Old Riga"]) == [[Link("riga", 0.9, 4, 8)]]


def test_union_keeps_the_n_best_of_a_mention_and_drops_low_scores() -> None:
    links = [Link(f"e{number}", number / 10, 0, 4) for number in (5, 4, 3, 1)]
    linker = UnionLinker([Told({"Riga": links})], n_best=2)
    assert [link.entity for link in linker.link(["Riga"])[0]] == ["e5", "e4"]
    assert [link.entity for link in UnionLinker([Told({"Riga": links})], min_score=0.3).link(["Riga"])[0]] == [
        "e5",
        "e4",
        "e3",
    ]


LINKS = st.lists(
    st.builds(
        Link,
        st.sampled_from("xyz"),
        st.floats(0.01, 1.0),
        st.integers(0, 2),
        st.integers(3, 5),
    ),
    max_size=4,
    unique_by=lambda link: (link.entity, link.start, link.end),
)


@given(LINKS, LINKS, st.sampled_from(["any", "mean", "max"]))
def test_the_order_of_equally_trusted_linkers_changes_nothing(
    one: list[Link], two: list[Link], combine: Literal["any", "mean", "max"]
) -> None:
    linkers = [Told({"a": one}), Told({"a": two})]
    forward = UnionLinker(linkers, combine=combine).link(["a"])
    assert forward == UnionLinker(linkers[::-1], combine=combine).link(["a"])
    assert all(0 < link.score <= 1 for link in forward[0])


@pytest.mark.parametrize(
    "settings", [{"linkers": []}, {"weights": [1.0, 2.0]}, {"weights": [0.0]}, {"n_best": 0}, {"min_score": 2.0}]
)
def test_settings_of_union_that_cannot_be_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(settings))):
        UnionLinker(**{"linkers": [told()], **settings})  # type: ignore[arg-type]


def test_fallback_needs_a_linker() -> None:
    with pytest.raises(ValueError, match="linkers must not be empty"):
        FallbackLinker([])


def test_a_least_score_of_fallback_is_a_share() -> None:
    with pytest.raises(ValueError, match="min_score must be from 0 to 1"):
        FallbackLinker([told()], min_score=50.0)


def test_a_recipe_composes_linkers_in_a_list() -> None:
    recipe = {
        "srtk": 1,
        "knowledge_graph": {"use": "memory", "triples": [["Riga", "capital of", "Latvia"]]},
        "entity_linker": {
            "use": "fallback",
            "linkers": [
                {"use": "dictionary", "stop_words": ["riga", "latvia"]},
                {"use": "union", "linkers": [{"use": "dictionary"}, {"use": "dictionary", "n_best": 2}]},
            ],
        },
    }
    with srtk_framework.open(recipe) as session:
        assert session.linker is not None
        assert [link.entity for link in session.linker.link(["Where is Riga?"])[0]] == ["Riga"]


def test_a_fallback_suggests_what_the_first_linker_with_suggestions_does() -> None:
    linker = FallbackLinker([DictionaryLinker(OTHER), DictionaryLinker(GRAPH)])
    rows = linker.suggest(["in Rigaa", "in Netherland"], 3)
    assert [[link.entity for link in row] for row in rows] == [["Rigas"], ["Netherlands"]]


def test_a_union_suggests_what_its_linkers_do() -> None:
    linker = UnionLinker([DictionaryLinker(OTHER), DictionaryLinker(GRAPH)])
    assert [link.entity for link in linker.suggest(["in Rigax"], 3)[0]] == ["Riga", "Rigas"]
    assert [link.entity for link in linker.suggest(["in Rigax"], 1)[0]] == ["Riga"]


class Suggesting(Told):
    """Suggests what it would link."""

    def suggest(self, texts: Sequence[str], limit: int) -> list[list[Link]]:
        return [[*self.links.get(text, ())][:limit] for text in texts]


def test_the_best_suggestion_of_each_entity_is_kept_and_the_first_of_equals() -> None:
    first = Suggesting({"Ri": [Link("riga", 0.5, 0, 2), Link("rio", 0.4, 0, 2), Link("rim", 0.1, 0, 2)]})
    second = Suggesting({"Ri": [Link("rio", 0.6, 0, 1), Link("riga", 0.5, 0, 1)]})
    found, none = UnionLinker([first, second]).suggest(["Ri", "X"], 3)
    assert found == [Link("rio", 0.6, 0, 1), Link("riga", 0.5, 0, 2), Link("rim", 0.1, 0, 2)]
    assert none == []
    assert UnionLinker([first, second]).suggest(["Ri"], 1) == [[Link("rio", 0.6, 0, 1)]]


def test_links_are_in_order_of_place_then_score_then_entity_then_end() -> None:
    row = [Link("a", 0.1, 10, 12), Link("a", 1.0, 1, 2), Link("c", 0.9, 0, 2), Link("b", 0.5, 0, 2)]
    row += [Link("a", 0.5, 0, 4), Link("a", 0.5, 0, 2), Link("b", 0.5)]
    assert sorted(row, key=by_place) == [row[6], row[2], row[5], row[4], row[3], row[1], row[0]]
