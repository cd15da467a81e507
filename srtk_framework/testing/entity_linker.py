"""Conformance of entity linkers: spans, order and scores of links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import attrs
import pytest

from srtk_framework.roles import EntityLinker, KnowledgeGraph
from srtk_framework.testing.batches import BatchConformance, Probe, Probes
from srtk_framework.testing.oracle import OracleGraph
from srtk_framework.text import words
from srtk_framework.values import DriverError, Link, rounded

STRANGE = (
    "Who said \"hello\" to <b>Riga</b> & \\ 'Riga'?",
    "Где находится Рига? 日本国 και η Ρίγα",
    "\u202eRiga\u202c \u0000 \U0001d50a\n\tRiga",
)


class EntityLinkerConformance(BatchConformance):
    """Checks an EntityLinker; its ``driver`` is opened over the fixture ``graph`` or over data of its own.

    Attributes:
        mention: A name that the linker knows.
    """

    role = EntityLinker
    mention: ClassVar[str] = "Riga"

    @pytest.fixture
    def graph(self) -> OracleGraph:
        """Return the opened sample graph, for linkers that look names up in one."""
        graph = OracleGraph()
        graph.open()
        return graph

    @pytest.fixture
    def texts(self) -> list[str]:
        """Return different texts in plain letters, some of which mention what the linker knows."""
        name = self.mention
        fixed = [f"What is {name}?", f"{name}", f"Is {name} near {name}", "Who wrote this?", f"I live in {name}"]
        return fixed + [f"Question {number}: who moved to {name}" for number in range(70)]

    @pytest.fixture
    def probes(self, texts: list[str]) -> Probes:
        """Call ``link`` with ``texts``."""
        return lambda driver: [
            Probe("link", driver.link, [(text,) for text in texts], tolerance=1e-5, related=variants(self.mention))
        ]

    def use(self, driver: Any) -> None:
        """Link a text."""
        driver.link([self.mention])

    def each(self, driver: Any, texts: Sequence[str]) -> list[tuple[str, Link]]:
        """Link texts one by one; return each link with its text."""
        return [(text, link) for text in texts[:10] for link in driver.link([text])[0]]

    def test_a_name_that_the_linker_knows_is_linked(self, driver: Any) -> None:
        """The class attribute ``mention`` is linked within a text."""
        assert driver.link([f"What is {self.mention}?"])[0], f"{self.mention!r} is not linked; set `mention` to a name"

    def test_links_are_links_and_each_comes_once(self, driver: Any, texts: list[str]) -> None:
        """Every link names an entity, and no entity is linked twice at one span."""
        for text in texts[:10]:
            links = driver.link([text])[0]
            assert all(isinstance(link, Link) and link.entity for link in links), f"links of {text!r}"
            keys = [(link.entity, link.start, link.end) for link in links]
            assert len(set(keys)) == len(keys), f"{text!r} is linked to the same entity twice at one span"

    def test_spans_lie_inside_of_the_text(self, driver: Any, texts: list[str]) -> None:
        """Spans have both ends or neither, are not empty and do not exceed the text."""
        for text, link in self.each(driver, texts):
            assert (link.start is None) == (link.end is None), f"{link} in {text!r} has half a span"
            if link.start is not None and link.end is not None:
                assert 0 <= link.start < link.end <= len(text), f"the span of {link} is not in {text!r}"

    def test_spans_hold_words_without_blanks_around(self, driver: Any, texts: list[str]) -> None:
        """``text[start:end]`` has no blanks at its ends."""
        for text, link in self.each(driver, texts):
            if link.start is not None:
                mention = text[link.start : link.end]
                assert mention == mention.strip(), f"the span of {link} in {text!r} is {mention!r}"

    def test_spans_count_characters_of_the_original_text(self, driver: Any) -> None:
        """Spans count characters, not bytes, UTF-16 units or folded characters."""
        for before in ("Ça va, ", "İİİ ", "\U0001d50a ", "ﬁﬃ ", "ßßß ", "e\u0301e\u0301 "):
            text = before + self.mention
            spans = [(link.start, link.end) for link in driver.link([text])[0] if link.start is not None]
            wanted = (len(before), len(text))
            assert not spans or wanted in spans, f"spans {spans} in {text!r}; {self.mention!r} is at {wanted}"

    def test_links_are_ordered_by_span_score_and_entity(self, driver: Any, texts: list[str]) -> None:
        """Links are sorted by start of span, then by falling score, then by entity."""
        for text in texts[:10]:
            keys = [(-1 if n.start is None else n.start, -n.score, n.entity) for n in driver.link([text])[0]]
            assert keys == sorted(keys), f"links of {text!r} are out of order: {keys}"

    def test_scores_are_above_0_and_at_most_1(self, driver: Any, texts: list[str]) -> None:
        """Scores are above 0 and at most 1."""
        for text, link in self.each(driver, texts):
            assert 0 < link.score <= 1, f"{link} in {text!r}"

    def test_an_empty_text_has_no_links(self, driver: Any) -> None:
        """An empty or blank text has no links."""
        for text in ("", " \n\t "):
            assert len(driver.link([text])[0]) == 0, f"{text!r} is linked"

    def test_quotes_and_other_scripts_are_linked_or_passed_over(self, driver: Any) -> None:
        """Texts with quotes, tags and other scripts are no error."""
        for text in STRANGE:
            for link in driver.link([text])[0]:
                assert link.start is None or 0 <= link.start < link.end <= len(text), f"{link} in {text!r}"

    def test_entities_are_in_the_graph_that_the_linker_holds(self, driver: Any, texts: list[str]) -> None:
        """A linker that holds a graph returns no entity that the graph lacks."""
        held = [getattr(driver, f.name) for f in attrs.fields(type(driver)) if f.init]
        graphs = [value for value in held if isinstance(value, KnowledgeGraph)]
        for graph in graphs:
            for text, link in self.each(driver, texts):
                assert graph.frontiers([[link.entity]])[0].size == 1, f"{link} in {text!r} is not in the graph"

    def test_suggestions_are_few_distinct_and_ordered(self, driver: Any) -> None:
        """``suggest`` gives no more entities than asked for, each once, by falling score, with spans in the text."""
        for text in (f"What is {self.mention}?", f"what is {self.mention[:-1].lower()}", "", " \n", *STRANGE):
            for limit in (1, 3):
                links = driver.suggest([text], limit)[0]
                keys = [(-link.score, link.entity) for link in links]
                assert len(links) <= limit, f"{text!r} has {len(links)} suggestions where {limit} are asked for"
                assert len({link.entity for link in links}) == len(links), f"{text!r}: an entity is suggested twice"
                assert keys == sorted(keys), f"suggestions for {text!r} are out of order: {keys}"
                for link in links:
                    assert 0 < link.score <= 1, f"{link} for {text!r}"
                    assert link.start is None or 0 <= link.start < link.end <= len(text), f"{link} for {text!r}"


def variants(mention: str) -> list[tuple[str]]:
    """Write a question in several ways that are easily taken for one."""
    text = f"Who was born in {mention}?"
    return [(text,), (f"  {text}",), (text.upper(),), (text.lower(),), (f"{text} And who died there?",)]


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
        """List the spans of one to ``longest`` words, by start, the longest first."""
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
        """A name within a longer one is not linked by itself."""
        found = driver.link(["Who led the Republic of Latvia?"])[0]
        assert [(link.entity, link.name) for link in found] == [("Latvia", "Republic of Latvia")]


SUMMARY = "An entity linker by exact names"

RECIPE = """\
knowledge_graph: {use: local, path: build/world}
entity_linker: {use: toy, longest: 4}
"""
