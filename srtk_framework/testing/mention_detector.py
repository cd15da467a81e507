"""Conformance of mention detectors: spans, their order and their scores."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import pytest

from srtk_framework.roles import MentionDetector
from srtk_framework.testing.batches import Probe, Probes
from srtk_framework.testing.spans import SEVERAL, SpanConformance, variants
from srtk_framework.text import words
from srtk_framework.values import DriverError, Mention, rounded


class MentionDetectorConformance(SpanConformance):
    """Checks a MentionDetector; its ``driver`` is opened."""

    role = MentionDetector

    def ask(self, driver: Any, text: str) -> Sequence[Mention]:
        """Detect the mentions of a text."""
        found: Sequence[Mention] = driver.detect([text])[0]
        return found

    @pytest.fixture
    def probes(self, texts: list[str]) -> Probes:
        """Call ``detect`` with ``texts``."""
        return lambda driver: [
            Probe("detect", driver.detect, [(text,) for text in texts], tolerance=1e-4, related=variants(self.mention))
        ]

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

    def test_spans_count_characters_of_the_original_text(self, driver: Any) -> None:
        """Spans count characters, not bytes, UTF-16 units or folded characters."""
        for before in ("Ça va, ", "İİİ ", "\U0001f600 ", "\U0001d50a ", "ﬁﬃ ", "ßßß ", "e\u0301e\u0301 ", "שלום "):
            text = before + self.mention
            spans = [(m.start, m.end) for m in driver.detect([text])[0]]
            whole = any(start <= len(before) and end == len(text) for start, end in spans)
            wanted = (len(before), len(text))
            assert not spans or whole, f"spans {spans} in {text!r}; {self.mention!r} is at {wanted}"

    def test_spans_do_not_part_a_letter_from_its_marks(self, driver: Any) -> None:
        """A mention neither starts with a combining mark nor ends right before such a mark."""
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
