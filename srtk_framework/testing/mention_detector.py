"""Conformance of mention detectors: spans, their order and their scores."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import attrs
import pytest

from srtk_framework.roles import MentionDetector
from srtk_framework.testing.batches import BatchConformance, Probe, Probes
from srtk_framework.testing.entity_linker import variants
from srtk_framework.testing.oracle import OracleGraph
from srtk_framework.text import words
from srtk_framework.values import DriverError, Mention, rounded

SEVERAL = 10


class MentionDetectorConformance(BatchConformance):
    """Checks a MentionDetector; its ``driver`` is opened.

    Attributes:
        mention: A name that the detector finds.
    """

    role = MentionDetector
    mention: ClassVar[str] = "Riga"

    @pytest.fixture
    def graph(self) -> OracleGraph:
        """Return the opened sample graph, for detectors that look names up in one."""
        graph = OracleGraph()
        graph.open()
        return graph

    @pytest.fixture
    def texts(self) -> list[str]:
        """Return different texts in plain letters, most of which mention what the detector finds."""
        name = self.mention
        fixed = [f"Who lives in {name}?", f"{name}", f"Is {name} near {name}", "who wrote this?", f"I live in {name}"]
        return fixed + [f"Question {number}: who moved to {name}" for number in range(70)]

    @pytest.fixture
    def probes(self, texts: list[str]) -> Probes:
        """Call ``detect`` with ``texts``."""
        return lambda driver: [
            Probe("detect", driver.detect, [(text,) for text in texts], tolerance=1e-4, related=variants(self.mention))
        ]

    def use(self, driver: Any) -> None:
        """Detect mentions in a text."""
        driver.detect([self.mention])

    def each(self, driver: Any, texts: Sequence[str]) -> list[tuple[str, Mention]]:
        """Ask about texts one by one; return each mention with its text."""
        return [(text, mention) for text in texts[:SEVERAL] for mention in driver.detect([text])[0]]

    def test_a_name_that_the_detector_finds_has_its_exact_span(self, driver: Any) -> None:
        """The class attribute ``mention`` is found within a text, with its span."""
        before = "Who lives in "
        spans = [(m.start, m.end) for m in driver.detect([f"{before}{self.mention}?"])[0]]
        wanted = (len(before), len(before) + len(self.mention))
        assert wanted in spans, f"{self.mention!r} is not among {spans}; set `mention` to a name that is found"

    def test_mentions_are_mentions_and_each_span_comes_once(self, driver: Any, texts: list[str]) -> None:
        """Answers are Mention values with distinct spans."""
        for text in texts[:SEVERAL]:
            found = driver.detect([text])[0]
            assert all(isinstance(mention, Mention) for mention in found), f"mentions of {text!r}"
            assert len({(m.start, m.end) for m in found}) == len(found), f"a span of {text!r} comes twice"

    def test_spans_lie_inside_of_the_text(self, driver: Any, texts: list[str]) -> None:
        """Spans are not empty and do not exceed the text."""
        for text, mention in self.each(driver, texts):
            assert 0 <= mention.start < mention.end <= len(text), f"the span of {mention} is not in {text!r}"

    def test_spans_hold_words_without_blanks_around(self, driver: Any, texts: list[str]) -> None:
        """``text[start:end]`` has no blanks at its ends."""
        for text, mention in self.each(driver, texts):
            found = text[mention.start : mention.end]
            assert found == found.strip(), f"the span of {mention} in {text!r} is {found!r}"

    def test_spans_count_characters_of_the_original_text(self, driver: Any) -> None:
        """Spans count characters, not bytes, UTF-16 units or folded characters."""
        for before in ("Ça va, ", "İİİ ", "\U0001f600 ", "\U0001d50a ", "ﬁﬃ ", "ßßß ", "e\u0301e\u0301 ", "שלום "):
            text = before + self.mention
            spans = [(m.start, m.end) for m in driver.detect([text])[0]]
            whole = any(start <= len(before) and end == len(text) for start, end in spans)
            wanted = (len(before), len(text))
            assert not spans or whole, f"spans {spans} in {text!r}; {self.mention!r} is at {wanted}"

    def test_spans_do_not_part_a_letter_from_its_marks(self, driver: Any) -> None:
        """A mention neither starts with a combining mark nor ends right before one."""
        for text in (f"Who lives in {self.mention}\u0301?", f"Is {self.mention}\u0323\u0301 in {self.mention}"):
            for mention in driver.detect([text])[0]:
                cut = [k for k in (mention.start, mention.end) if k < len(text) and unicodedata.combining(text[k])]
                assert not cut, f"{mention} cuts a letter of {text!r} in two"

    def test_mentions_are_ordered_by_start_and_end(self, driver: Any, texts: list[str]) -> None:
        """Mentions are sorted by start, then by end."""
        for text in texts[:SEVERAL]:
            spans = [(m.start, m.end) for m in driver.detect([text])[0]]
            assert spans == sorted(spans), f"mentions of {text!r} are out of order: {spans}"

    def test_scores_are_above_0_and_at_most_1_and_rounded(self, driver: Any, texts: list[str]) -> None:
        """Scores are above 0, at most 1, and rounded."""
        for text, mention in self.each(driver, texts):
            assert 0 < mention.score <= 1, f"{mention} in {text!r}"
            assert mention.score == rounded(mention.score), f"the score of {mention} is not rounded"

    def test_a_text_without_words_has_no_mentions(self, driver: Any) -> None:
        """An empty or blank text has no mentions."""
        for text in ("", " \n\t "):
            assert len(driver.detect([text])[0]) == 0, f"{text!r} has mentions"

    def test_quotes_and_other_scripts_are_found_or_passed_over(self, driver: Any) -> None:
        """Texts with quotes, tags and other scripts are no error."""
        name = self.mention
        for text in (
            f"Who said \"hello\" to <b>{name}</b> & \\ '{name}'?",
            f"Где находится {name}? 日本国 και η {name} مدينة {name}",
            f"\u202e{name}\u202c \u0000 \U0001d50a\n\t{name} \U0001f468\u200d\U0001f469\u200d\U0001f467",
        ):
            for mention in driver.detect([text])[0]:
                assert 0 <= mention.start < mention.end <= len(text), f"{mention} in {text!r}"


@attrs.define(eq=False)
class ToyMentionDetector(MentionDetector):
    """Take runs of capitalised words for mentions; one blank stands between the words of a run.

    Attributes:
        longest: Most words in a mention.
    """

    longest: int = 5

    def open(self) -> None:
        """Refuse settings that can find nothing."""
        if self.longest < 1:
            raise DriverError(f"longest is {self.longest}; set it to 1 or more")

    def detect(self, texts: Sequence[str]) -> list[list[Mention]]:
        """Look up the words of each text."""
        return [self._detect(text) for text in texts]

    def _detect(self, text: str) -> list[Mention]:
        runs: list[list[tuple[int, int]]] = []
        for start, end in words(text):
            if not text[start].isupper():
                continue
            if runs and text[runs[-1][-1][1] : start] == " " and len(runs[-1]) < self.longest:
                runs[-1].append((start, end))
            else:
                runs.append([(start, end)])
        return [Mention(run[0][0], run[-1][1], 1.0, "name") for run in runs]


class ToyMentionDetectorCase(MentionDetectorConformance):
    """The toy detector keeps the contract of a mention detector."""

    name = "toy"

    @pytest.fixture
    def driver(self) -> Iterator[ToyMentionDetector]:
        """Open a detector."""
        detector = ToyMentionDetector()
        detector.open()
        yield detector
        detector.close()

    @pytest.fixture
    def faulty(self) -> ToyMentionDetector:
        """Return a detector that can find nothing."""
        return ToyMentionDetector(longest=0)

    def test_adjacent_words_are_one_mention(self, driver: ToyMentionDetector) -> None:
        """A name of two words is found whole."""
        text = "who led New Zealand?"
        assert [text[found.start : found.end] for found in driver.detect([text])[0]] == ["New Zealand"]


SUMMARY = "A mention detector by capital letters"

RECIPE = """\
knowledge_graph: {use: wikidata}
entity_linker: {use: wikidata-search, detector: {use: toy, longest: 4}}
"""
