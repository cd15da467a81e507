"""Conformance of entity linkers: spans, order and scores of links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import pytest

from srtk_framework.roles import EntityLinker, KnowledgeGraph
from srtk_framework.testing.batches import Probe, Probes
from srtk_framework.testing.oracle import OracleGraph
from srtk_framework.testing.spans import SEVERAL, SpanConformance, strange_texts, variants
from srtk_framework.text import words
from srtk_framework.values import DriverError, Link, rounded


class EntityLinkerConformance(SpanConformance):
    """Checks an EntityLinker; its ``driver`` is opened over the fixture ``graph`` or over data of its own."""

    role = EntityLinker

    def ask(self, driver: Any, text: str) -> Sequence[Link]:
        """Link a text."""
        found: Sequence[Link] = driver.link([text])[0]
        return found

    @pytest.fixture
    def probes(self, texts: list[str]) -> Probes:
        """Call ``link`` with ``texts``."""
        return lambda driver: [
            Probe("link", driver.link, [(text,) for text in texts], tolerance=1e-5, related=variants(self.mention))
        ]

    def test_a_name_that_the_linker_knows_is_linked(self, driver: Any) -> None:
        """The class attribute ``mention`` is linked within a text."""
        assert driver.link([f"What is {self.mention}?"])[0], f"{self.mention!r} is not linked; set `mention` to a name"

    def test_links_are_links_and_each_comes_once(self, driver: Any, texts: list[str]) -> None:
        """Every link names an entity, and no entity is linked twice at one span."""
        for text in texts[:SEVERAL]:
            links = driver.link([text])[0]
            assert all(isinstance(link, Link) and link.entity for link in links), f"links of {text!r}"
            assert all((n.start is None) == (n.end is None) for n in links), f"a link of {text!r} has half a span"
            keys = [(link.entity, link.start, link.end) for link in links]
            assert len(set(keys)) == len(keys), f"{text!r} is linked to the same entity twice at one span"

    def test_spans_count_characters_of_the_original_text(self, driver: Any) -> None:
        """Spans count characters, not bytes, UTF-16 units or folded characters."""
        for before in ("Ça va, ", "İİİ ", "\U0001d50a ", "ﬁﬃ ", "ßßß ", "e\u0301e\u0301 "):
            text = before + self.mention
            spans = [(link.start, link.end) for link in driver.link([text])[0] if link.start is not None]
            wanted = (len(before), len(text))
            assert not spans or wanted in spans, f"spans {spans} in {text!r}; {self.mention!r} is at {wanted}"

    def test_links_are_ordered_by_span_score_and_entity(self, driver: Any, texts: list[str]) -> None:
        """Links are sorted by start of span, then by falling score, then by entity."""
        for text in texts[:SEVERAL]:
            keys = [(-1 if n.start is None else n.start, -n.score, n.entity) for n in driver.link([text])[0]]
            assert keys == sorted(keys), f"links of {text!r} are out of order: {keys}"

    def test_scores_are_above_0_and_at_most_1(self, driver: Any, texts: list[str]) -> None:
        """Scores are above 0 and at most 1."""
        for text, link in self.each(driver, texts):
            assert 0 < link.score <= 1, f"{link} in {text!r}"

    def test_entities_are_in_the_graph_that_the_linker_holds(self, driver: Any, texts: list[str]) -> None:
        """A linker that holds a graph returns no entity that the graph lacks."""
        held = [getattr(driver, f.name) for f in attrs.fields(type(driver)) if f.init]
        graphs = [value for value in held if isinstance(value, KnowledgeGraph)]
        for graph in graphs:
            for text, link in self.each(driver, texts):
                assert graph.frontiers([[link.entity]])[0].size == 1, f"{link} in {text!r} is not in the graph"

    def test_suggestions_are_few_distinct_and_ordered(self, driver: Any) -> None:
        """``suggest`` gives no more entities than asked for, each once, by falling score, with spans in the text."""
        for text in (
            f"What is {self.mention}?",
            f"what is {self.mention[:-1].lower()}",
            "",
            " \n",
            *strange_texts(self.mention),
        ):
            for limit in (1, 3):
                links = driver.suggest([text], limit)[0]
                keys = [(-link.score, link.entity) for link in links]
                assert len(links) <= limit, f"{text!r} has {len(links)} suggestions where {limit} are asked for"
                assert len({link.entity for link in links}) == len(links), f"{text!r}: an entity is suggested twice"
                assert keys == sorted(keys), f"suggestions for {text!r} are out of order: {keys}"
                for link in links:
                    assert 0 < link.score <= 1, f"{link} for {text!r}"
                    assert link.start is None or 0 <= link.start < link.end <= len(text), f"{link} for {text!r}"


@attrs.define(eq=False)
class ToyEntityLinker(EntityLinker):
    """Link the longest runs of words that name an entity of the graph, from left to right.

    Attributes:
        graph: Where names are looked up.
        longest: Most words in a name.
    """

    graph: KnowledgeGraph
    longest: int = 5

    def open(self) -> None:
        """Refuse settings that can find nothing."""
        if self.longest < 1:
            raise DriverError(f"longest is {self.longest}; set it to 1 or more")

    def link(self, texts: Sequence[str]) -> list[list[Link]]:
        """Look up every run of words of all texts at once, then choose."""
        runs = [self._runs(text) for text in texts]
        names = sorted({text[start:end] for text, spans in zip(texts, runs, strict=True) for start, end in spans})
        found = dict(zip(names, self.graph.find(names), strict=True))
        return [self._choose(text, spans, found) for text, spans in zip(texts, runs, strict=True)]

    def _runs(self, text: str) -> list[tuple[int, int]]:
        """List the spans of up to ``longest`` words, by start, the longest first."""
        spans = words(text)
        return [
            (spans[first][0], spans[last][1])
            for first in range(len(spans))
            for last in reversed(range(first, min(first + self.longest, len(spans))))
        ]

    def _choose(self, text: str, spans: Sequence[tuple[int, int]], found: dict[str, Sequence[str]]) -> list[Link]:
        """Take the first run that names something, and continue after it; entities of one name share the score."""
        links: list[Link] = []
        done = 0
        for start, end in spans:
            name = text[start:end]
            if start >= done and found[name]:
                score = max(rounded(1 / len(found[name])), 0.0001)
                links += [Link(entity, score, start, end, name) for entity in found[name]]
                done = end
        return links


class ToyEntityLinkerCase(EntityLinkerConformance):
    """The toy linker keeps the contract of an entity linker."""

    name = "toy"

    @pytest.fixture
    def driver(self, graph: OracleGraph) -> Iterator[ToyEntityLinker]:
        """Open a linker over the sample graph."""
        linker = ToyEntityLinker(graph=graph)
        linker.open()
        yield linker
        linker.close()

    @pytest.fixture
    def faulty(self, graph: OracleGraph) -> ToyEntityLinker:
        """Return a linker that can find nothing."""
        return ToyEntityLinker(graph=graph, longest=0)

    def test_the_longest_name_wins(self, driver: ToyEntityLinker) -> None:
        """A name within a longer name is not linked by itself."""
        found = driver.link(["Who led the Republic of Latvia?"])[0]
        assert [(link.entity, link.name) for link in found] == [("Latvia", "Republic of Latvia")]


SUMMARY = "An entity linker by exact names"

RECIPE = """\
knowledge_graph: {use: local, path: build/world}
entity_linker: {use: toy, longest: 4}
"""
