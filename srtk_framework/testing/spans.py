"""Checks of drivers that find spans of texts: mentions and links."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import pytest

from srtk_framework.testing.batches import BatchConformance

SEVERAL = 10


class SpanConformance(BatchConformance):
    """The checks of all roles that find spans of texts.

    Attributes:
        mention: A name that the driver finds.
    """

    mention: ClassVar[str] = "Riga"

    @abstractmethod
    def ask(self, driver: Any, text: str) -> Sequence[Any]:
        """Return the links or mentions of a text."""

    @pytest.fixture
    def texts(self) -> list[str]:
        """Return different texts in plain letters; the driver must find something in several of them."""
        name = self.mention
        fixed = [f"Who lives in {name}?", f"{name}", f"Is {name} near {name}", "who wrote this?", f"I live in {name}"]
        return fixed + [f"Question {number}: who moved to {name}" for number in range(70)]

    def use(self, driver: Any) -> None:
        """Ask about the mention alone."""
        self.ask(driver, self.mention)

    def each(self, driver: Any, texts: Sequence[str]) -> list[tuple[str, Any]]:
        """Ask about some texts one by one; return each result with its text."""
        return [(text, found) for text in texts[:SEVERAL] for found in self.ask(driver, text)]

    def test_spans_lie_inside_of_the_text(self, driver: Any, texts: list[str]) -> None:
        """Spans are not empty and do not exceed the text."""
        for text, found in self.each(driver, texts):
            inside = found.start is None or 0 <= found.start < (found.end or 0) <= len(text)
            assert inside, f"the span of {found} is not in {text!r}"

    def test_spans_hold_words_without_blanks_around(self, driver: Any, texts: list[str]) -> None:
        """``text[start:end]`` has no blanks at its ends."""
        for text, found in self.each(driver, texts):
            mention = "" if found.start is None else text[found.start : found.end]
            assert mention == mention.strip(), f"the span of {found} in {text!r} is {mention!r}"

    def test_a_text_without_words_has_no_spans(self, driver: Any) -> None:
        """Nothing is found in an empty or blank text."""
        for text in ("", " \n\t "):
            assert len(self.ask(driver, text)) == 0, f"something is found in {text!r}"

    def test_quotes_and_other_scripts_are_no_error(self, driver: Any) -> None:
        """Texts with quotes, tags and other scripts are no error, and spans lie in them."""
        for text in strange_texts(self.mention):
            for found in self.ask(driver, text):
                assert found.start is None or 0 <= found.start < found.end <= len(text), f"{found} in {text!r}"


def strange_texts(name: str) -> list[str]:
    """Write a name among quotes, tags, other scripts, marks of direction and characters outside of the basic plane."""
    return [
        f"Who said \"hello\" to <b>{name}</b> & \\ '{name}'?",
        f"Где находится {name}? 日本国 και η {name} مدينة {name}",
        f"\u202e{name}\u202c \u0000 \U0001d50a\n\t{name} \U0001f468\u200d\U0001f469\u200d\U0001f467",
    ]


def variants(mention: str) -> list[tuple[str]]:
    """Write a question in several ways that a careless cache takes for the same text."""
    text = f"Who was born in {mention}?"
    return [(text,), (f"  {text}",), (text.upper(),), (text.lower(),), (f"{text} And who died there?",)]
