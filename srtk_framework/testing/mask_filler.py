"""Conformance of mask fillers: tokens of gaps, rates of given tokens, and that both are of one distribution."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import attrs
import numpy as np
import numpy.typing as npt
import pytest

from srtk_framework.roles import MaskFiller
from srtk_framework.testing.batches import MANY, BatchConformance, Probe, Probes
from srtk_framework.testing.encoder import STRANGE
from srtk_framework.text import fold, words
from srtk_framework.values import DriverError, MaskedText, TokenScore, rounded

K = 5
NO_TOKEN = "no filler has this token"


class MaskFillerConformance(BatchConformance):
    """Checks a MaskFiller; its ``driver`` is opened.

    Attributes:
        labels: Texts that the driver can write in tokens, at least two of them with one token.
        tolerance: How far scores may differ between batches, and between ``fill`` and ``rate``.
        gaps: Most gaps that the driver fills in one text.
    """

    role = MaskFiller
    labels: ClassVar[Sequence[str]] = ("Riga", "Tallinn")
    tolerance: ClassVar[float] = 1e-4
    gaps: ClassVar[int] = 3

    @pytest.fixture
    def texts(self, driver: Any) -> list[MaskedText]:
        """Return different texts with one gap or more, with and without context."""
        mark = driver.mask()
        some = [
            MaskedText(f"The capital of Latvia is {mark}."),
            MaskedText(f"The capital of Latvia is {mark}.", "Riga is a city in Latvia."),
            MaskedText(f"{mark} is the capital of Latvia."),
            MaskedText(f"The capital of Latvia is {mark}.", "Latvia borders Estonia."),
        ]
        if self.gaps > 1:
            some += [MaskedText(f"{mark} was born in {mark}."), MaskedText(f"He lives in {mark} {mark}.")]
        return some + [
            MaskedText(f"Town {number} is near {mark}" + " and so on" * (number % 5)) for number in range(MANY)
        ]

    @pytest.fixture
    def single(self, driver: Any) -> list[tuple[str, ...]]:
        """Return the labels of one token as fillings of one gap."""
        rows = [tuple(row) for row in driver.tokens(list(self.labels))]
        found: list[tuple[str, ...]] = [row for row in rows if len(row) == 1]
        assert len(found) > 1, f"give `labels` of which two have one token; their tokens are {rows}"
        return found

    @pytest.fixture
    def probes(self, texts: list[MaskedText], single: list[tuple[str, ...]]) -> Probes:
        """Call ``tokens``, ``rate``, and ``fill`` if the driver fills."""

        def of(driver: Any) -> list[Probe]:
            mark = driver.mask()
            some = [*self.labels, "", *STRANGE, *(f"{self.labels[n % len(self.labels)]} {n}" for n in range(MANY))]
            rows = [(text, _fillings(text, mark, single)) for text in texts]
            backward = [(text, fillings[::-1]) for text, fillings in rows[:2]]
            probes = [
                Probe("tokens", driver.tokens, [(text,) for text in some]),
                Probe("rate", driver.rate, rows, tolerance=self.tolerance, related=backward),
            ]
            if driver.fills() is True:
                more = [(attrs.evolve(texts[0], context=context),) for context in ("Tallinn", "Riga", "")]
                probes.append(
                    Probe("fill", driver.fill, [(t,) for t in texts], (K,), tolerance=self.tolerance, related=more)
                )
            return probes

        return of

    def use(self, driver: Any) -> None:
        """Rate a label in a gap."""
        (row,) = driver.tokens(self.labels[:1])
        driver.rate([MaskedText(" ".join([driver.mask()] * len(row)))], [[tuple(row)]])

    def test_the_mark_is_a_text_without_blanks(self, driver: Any) -> None:
        """``mask`` returns the same text each time, without blanks."""
        mark = driver.mask()
        assert isinstance(mark, str), f"mask returned {mark!r}"
        assert mark.split() == [mark], f"the mark {mark!r} has blanks"

    def test_each_gap_gets_its_tokens(self, driver: Any, texts: list[MaskedText]) -> None:
        """``fill`` returns a list for each gap of a text, none for a text without a gap."""
        if driver.fills() is not True:
            pytest.skip("this filler only rates given tokens")
        for text in [*texts, MaskedText("Riga is in Latvia.")]:
            gaps = driver.fill([text], K)[0]
            assert len(gaps) == text.text.count(driver.mask()), f"{text.text!r} got tokens for {len(gaps)} gaps"
            assert all(len(row) > 0 for row in gaps), f"a gap of {text.text!r} got no token"

    def test_the_best_tokens_come_first(self, driver: Any, texts: list[MaskedText]) -> None:
        """Tokens are distinct, at most k, by falling score, then by token; fewer are the first of more."""
        if driver.fills() is not True:
            pytest.skip("this filler only rates given tokens")
        for text in texts:
            for few, many in zip(driver.fill([text], 2)[0], driver.fill([text], K)[0], strict=True):
                assert len(few) <= 2, f"{len(few)} tokens were returned, 2 were asked for"
                order = [(-one.score, one.token) for one in many]
                assert order == sorted(order), f"the tokens come in the order {list(many)}"
                assert len({one.token for one in many}) == len(many), f"a token comes twice: {list(many)}"
                assert list(few) == list(many)[: len(few)], f"{list(few)} are not the first of {list(many)}"

    def test_scores_are_logarithms_of_probabilities(self, driver: Any, texts: list[MaskedText]) -> None:
        """The probabilities of a gap's tokens sum to at most 1; scores are rounded to four decimals."""
        if driver.fills() is not True:
            pytest.skip("this filler only rates given tokens")
        for text in texts:
            for row in driver.fill([text], 50)[0]:
                whole = sum(math.exp(one.score) for one in row)
                assert whole <= 1 + 50 * self.tolerance, f"the probabilities of a gap of {text.text!r} sum to {whole}"
                assert all(one.score == rounded(one.score) for one in row), f"{list(row)} are not rounded"

    def test_rate_gives_the_scores_of_fill(self, driver: Any, texts: list[MaskedText]) -> None:
        """The tokens that ``fill`` finds for a text of one gap get the same scores from ``rate``."""
        if driver.fills() is not True:
            pytest.skip("this filler only rates given tokens")
        for text in texts:
            if text.text.count(driver.mask()) != 1:
                continue
            row = [one for gap in driver.fill([text], K)[0] for one in gap]
            found = driver.rate([text], [[(one.token,) for one in row]])[0]
            for one, (score,) in zip(row, np.asarray(found).tolist(), strict=True):
                assert abs(one.score - score) <= self.tolerance, (
                    f"fill gave {one.token!r} the score {one.score} in {text.text!r}, rate gave {score}"
                )

    def test_every_token_of_a_filling_has_a_score(
        self, driver: Any, texts: list[MaskedText], single: list[tuple[str, ...]]
    ) -> None:
        """``rate`` returns a finite score, at most 0, for each gap of each filling."""
        for text in texts:
            fillings = _fillings(text, driver.mask(), single)
            scores = np.asarray(driver.rate([text], [fillings])[0])
            assert scores.shape == (len(fillings), len(fillings[0])), f"the scores have the shape {scores.shape}"
            assert np.isfinite(scores).all(), f"the scores in {text.text!r} are {scores.tolist()}"
            assert (scores <= 0).all(), f"the scores in {text.text!r} are {scores.tolist()}"

    def test_a_text_without_fillings_gets_no_scores(self, driver: Any, texts: list[MaskedText]) -> None:
        """No fillings get an empty answer."""
        assert len(driver.rate(texts[:1], [[]])[0]) == 0

    def test_a_filling_for_other_gaps_is_refused(
        self, driver: Any, texts: list[MaskedText], single: list[tuple[str, ...]]
    ) -> None:
        """A filling with more tokens than the text has gaps raises DriverError."""
        with pytest.raises(DriverError):
            driver.rate(texts[:1], [[single[0] + single[1]]])

    def test_an_unknown_token_is_refused(self, driver: Any, texts: list[MaskedText]) -> None:
        """A token that is none of the filler's raises DriverError, where the filler knows all of them."""
        if driver.fills() is not True:
            pytest.skip("this filler only rates given tokens")
        with pytest.raises(DriverError):
            driver.rate(texts[:1], [[(NO_TOKEN,)]])

    def test_a_long_context_hides_no_gap(self, driver: Any, single: list[tuple[str, ...]]) -> None:
        """A context longer than any model reads at once is cut; the gap is rated as before it was longer."""
        text = f"The capital of Latvia is {driver.mask()}."
        long = [MaskedText(text, "Riga is a city in Latvia. " * times) for times in (4000, 5000)]
        one, other = (np.asarray(row) for row in driver.rate(long, [single, single]))
        assert np.isfinite(one).all(), "a long context spoils the scores"
        assert np.allclose(one, other, atol=self.tolerance), "a context is read beyond what was cut"

    def test_a_long_text_hides_no_gap(self, driver: Any, single: list[tuple[str, ...]]) -> None:
        """A text longer than any model reads at once keeps its gap, wherever it stands."""
        mark = driver.mask()
        for text in ("word " * 4000 + mark, f"{mark} " + "word " * 4000, "word " * 2000 + mark + " word" * 2000):
            assert np.isfinite(driver.rate([MaskedText(text)], [single])[0]).all(), "a long text spoils the scores"

    def test_quotes_and_other_scripts_are_read(self, driver: Any, single: list[tuple[str, ...]]) -> None:
        """Texts and contexts with quotes, tags and other scripts get finite scores."""
        for strange in STRANGE:
            for text in (MaskedText(f"{strange} {driver.mask()}"), MaskedText(f"In {driver.mask()}.", strange)):
                assert np.isfinite(driver.rate([text], [single])[0]).all(), f"{strange!r} spoils the scores"

    def test_an_empty_text_has_no_tokens(self, driver: Any) -> None:
        """An empty text has no tokens; a label has tokens, none of them empty."""
        none, *rows = driver.tokens(["", *self.labels])
        assert len(none) == 0, f"the empty text has the tokens {none}"
        for label, row in zip(self.labels, rows, strict=True):
            assert len(row) > 0, f"{label!r} has no tokens"
            assert all(isinstance(token, str) and token for token in row), f"{label!r} has the tokens {row}"


def _fillings(text: MaskedText, mark: str, single: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Return as many fillings as there are single tokens, one token for each gap."""
    return [filling * text.text.count(mark) for filling in single]


@attrs.define(eq=False)
class ToyMaskFiller(MaskFiller):
    """Fill gaps with words of a list: the more letters a word shares with the rest of the text, the likelier it is.

    Attributes:
        vocabulary: Words that may stand in a gap.
        weight: How much one shared letter counts.
    """

    vocabulary: tuple[str, ...] = ("riga", "tallinn", "latvia", "estonia", "oslo", "born", "city")
    weight: float = 1.0

    def open(self) -> None:
        """Refuse an empty vocabulary."""
        if not self.vocabulary:
            raise DriverError("vocabulary is empty; give at least one word")

    def mask(self) -> str:
        """Return an underscore."""
        return "_"

    def tokens(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the words of each text; none if a word is not in the vocabulary."""
        return [row if set(row) <= set(self.vocabulary) else [] for row in map(_words, texts)]

    def fill(self, texts: Sequence[MaskedText], k: int) -> list[list[list[TokenScore]]]:
        """Return the words with the best scores, for each gap of a text the same."""
        answers = []
        for text in texts:
            scores = self._scores(text)
            order = sorted(range(len(scores)), key=lambda at: (-scores[at], self.vocabulary[at]))
            row = [TokenScore(self.vocabulary[at], scores[at]) for at in order[:k]]
            answers.append([row] * text.text.count("_"))
        return answers

    def rate(
        self, texts: Sequence[MaskedText], fillings: Sequence[Sequence[tuple[str, ...]]]
    ) -> list[npt.NDArray[np.float32]]:
        """Look up the scores of the words."""
        answers = []
        for text, rows in zip(texts, fillings, strict=True):
            of_word = dict(zip(self.vocabulary, self._scores(text), strict=True))
            gaps = text.text.count("_")
            for row in rows:
                if len(row) != gaps or not set(row) <= set(of_word):
                    raise DriverError(f"{row!r} does not fill the {gaps} gaps of {text.text!r} with known words")
            answers.append(np.array([[of_word[word] for word in row] for row in rows], dtype=np.float32))
        return answers

    def _scores(self, text: MaskedText) -> list[float]:
        letters = set(fold(f"{text.text} {text.context}"))
        raw = [self.weight * len(letters & set(word)) for word in self.vocabulary]
        whole = math.log(sum(map(math.exp, raw)))
        return [rounded(min(one - whole, 0.0)) for one in raw]


def _words(text: str) -> list[str]:
    folded = fold(text)
    return [folded[start:end] for start, end in words(folded)]


class ToyMaskFillerCase(MaskFillerConformance):
    """The toy mask filler keeps the contract of a mask filler."""

    name = "toy"

    @pytest.fixture
    def driver(self) -> Iterator[ToyMaskFiller]:
        """Open a filler."""
        filler = ToyMaskFiller()
        filler.open()
        yield filler
        filler.close()

    @pytest.fixture
    def faulty(self) -> ToyMaskFiller:
        """Return a filler without words."""
        return ToyMaskFiller(vocabulary=())

    def test_the_word_with_the_letters_of_the_text_is_likeliest(self, driver: ToyMaskFiller) -> None:
        """Of the vocabulary, the town that the context names."""
        assert driver.fill([MaskedText("_", "tallinn")], 1)[0][0][0].token == "tallinn"


SUMMARY = "A mask filler by shared letters"

RECIPE = """\
mask_filler: {use: toy}
"""
