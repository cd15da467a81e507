"""Linkers that each break one rule of EntityLinker."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import pytest

from kit.checked import opened
from kit.rules import Fault, batch_faults, changed, kept_under, publish
from srtk_framework.testing.entity_linker import EntityLinkerConformance, ToyEntityLinker
from srtk_framework.testing.oracle import OracleGraph
from srtk_framework.text import fold
from srtk_framework.values import Link

GOOD = ToyEntityLinker


class Checked(EntityLinkerConformance):
    """Tests one of the linkers."""

    under_test: ClassVar[type[ToyEntityLinker]] = GOOD

    @pytest.fixture
    def driver(self, graph: OracleGraph) -> ToyEntityLinker:
        """Open it over the sample graph."""
        return opened(self.under_test(graph=graph))

    @pytest.fixture
    def faulty(self, graph: OracleGraph) -> ToyEntityLinker:
        """Ask for names without words."""
        return self.under_test(graph=graph, longest=0)


def _each(change: Any) -> Any:
    """Change every link of plain texts that are linked alone."""

    def method(self: Any, call: Any, texts: Any) -> Any:
        return [change(text, row) for text, row in zip(texts, call(texts), strict=True)]

    return method


def _nothing(text: str, row: list[Link]) -> list[Link]:
    return []


def _twice(text: str, row: list[Link]) -> list[Link]:
    return [link for link in row for _ in range(2)]


def _past_the_end(text: str, row: list[Link]) -> list[Link]:
    return [attrs.evolve(n, end=len(text) + 1) if n.end == len(text) and text.isascii() else n for n in row]


def _with_blank(text: str, row: list[Link]) -> list[Link]:
    return [attrs.evolve(n, start=n.start - 1) if n.start and text.isascii() else n for n in row]


def _bytes(text: str, row: list[Link]) -> list[Link]:
    if '"' in text or "Где" in text or "\u202e" in text:
        return row
    return [attrs.evolve(n, start=len(text[: n.start].encode()), end=len(text[: n.end].encode())) for n in row]


def _from_the_end(text: str, row: list[Link]) -> list[Link]:
    return row[::-1]


def _above_one(text: str, row: list[Link]) -> list[Link]:
    return [attrs.evolve(link, score=1.5) for link in row]


def _empty_text(text: str, row: list[Link]) -> list[Link]:
    return row if text else [Link("Riga")]


def _quotes(text: str, row: list[Link]) -> list[Link]:
    if '"' in text:
        raise ValueError("a quote")
    return row


def _nowhere(text: str, row: list[Link]) -> list[Link]:
    return [attrs.evolve(link, entity=f"{link.entity}?") for link in row]


def _too_many_suggestions(self: Any, call: Any, texts: Any, limit: int) -> Any:
    return [[Link(f"e{number}", 0.5) for number in range(limit + 1)] for _ in texts]


def _open_badly(self: Any, call: Any) -> None:
    if self.longest < 1:
        raise ValueError(self.longest)
    call()


FAULTS: list[Fault] = [
    *batch_faults(GOOD, "link"),
    changed(GOOD, "test_no_answer_depends_on_what_was_asked_before", link=kept_under(fold)),
    changed(GOOD, "test_suggestions_are_few_distinct_and_ordered", suggest=_too_many_suggestions),
    changed(GOOD, "test_a_failure_is_a_driver_error", open=_open_badly),
    *(
        changed(GOOD, check, link=_each(change))
        for check, change in {
            "test_a_name_that_the_linker_knows_is_linked": _nothing,
            "test_links_are_links_and_each_comes_once": _twice,
            "test_spans_lie_inside_of_the_text": _past_the_end,
            "test_spans_hold_words_without_blanks_around": _with_blank,
            "test_spans_count_characters_of_the_original_text": _bytes,
            "test_links_are_ordered_by_span_score_and_entity": _from_the_end,
            "test_scores_are_above_0_and_at_most_1": _above_one,
            "test_a_text_without_words_has_no_spans": _empty_text,
            "test_quotes_and_other_scripts_are_no_error": _quotes,
            "test_entities_are_in_the_graph_that_the_linker_holds": _nowhere,
        }.items()
    ),
]
publish(__name__, globals(), FAULTS)
