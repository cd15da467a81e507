"""Search for labels that a mask filler puts into the sentences of a relation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import attrs
import numpy as np

from srtk_framework.roles import MaskFiller
from srtk_framework.values import MaskedText, batched
from srtk_plugin_knowlybert.aggregation import Mean, label_score
from srtk_plugin_knowlybert.label_trie import LabelTrie, Tokens
from srtk_plugin_knowlybert.templates import Template

Over = Literal["greatest", "mean"]

_BATCH = 1024  # Texts that are filled at once.


@attrs.frozen
class Sentences:
    """The templates of a relation with a known end.

    Attributes:
        templates: The templates, best first.
        name: Name of the known end.
        subject_is_open: Whether the subject is to be found, else the object.
        context: Sentences about the known end.
    """

    templates: tuple[Template, ...]
    name: str
    subject_is_open: bool
    context: str = ""


class Found(NamedTuple):
    """A label that was found.

    Attributes:
        score: Its greatest or its mean score over the templates, a probability.
        least: Its least score over the templates that found it.
        templates: Number of templates that found it.
        best: Place of the template that gave the greatest score.
        total: Sum of its scores over the templates.
        greatest: Its greatest score over the templates.
    """

    score: float
    least: float
    templates: int
    best: int
    total: float
    greatest: float


@attrs.frozen(eq=False)
class LabelSearch:
    """Finds labels with gaps for each number of tokens.

    Attributes:
        filler: Fills the gaps.
        trie: The labels.
        masks: Most gaps of a sentence.
        top: Tokens of each gap that are joined to labels; None to rate all labels instead.
        mean: How the tokens of a label make its score.
        over: Score of a label over several templates: the ``greatest``, or their ``mean``.
    """

    filler: MaskFiller
    trie: LabelTrie
    masks: int
    top: int | None
    mean: Mean
    over: Over = "greatest"

    def search(
        self, asked: Sequence[Sentences], labels: Sequence[Sequence[Tokens] | None] | None = None
    ) -> list[dict[Tokens, Found]]:
        """Find labels for each question.

        Args:
            asked: The questions; equal sentences of several are filled once.
            labels: Per question the labels to rate where all are rated; None for all of the trie.

        Returns:
            Per question the labels that some template found.
        """
        answers: list[dict[Tokens, Found]] = []
        for part in batched(list(zip(asked, labels or [None] * len(asked), strict=True)), self._questions()):
            some = [one for one, _ in part]
            rated = [given for _, given in part]
            rows = self._rated(some, rated) if self.top is None else self._filled(some)
            if self.over == "mean":
                # A template that does not find a label gives it nothing.
                rows = [
                    {label: one._replace(score=one.total / len(question.templates)) for label, one in row.items()}
                    for question, row in zip(some, rows, strict=True)
                ]
            answers += rows
        return answers

    def gap_text(self, question: Sentences, template: Template, gaps: int) -> MaskedText:
        """Return a sentence with gaps in the open slot; a mark of a gap in the name is left out."""
        mask = self.filler.mask()
        name, open_ = question.name.replace(mask, " "), " ".join([mask] * gaps)
        parts = (open_, name) if question.subject_is_open else (name, open_)
        return MaskedText(template.filled(*parts), question.context)

    def _questions(self) -> int:
        return max(1, _BATCH // (5 * self.masks))

    def _texts(self, asked: Sequence[Sentences]) -> list[tuple[int, int, int, MaskedText]]:
        """Return the number of the question, the place of the template, the number of gaps, and the text of each."""
        return [
            (number, place, gaps, self.gap_text(question, template, gaps))
            for number, question in enumerate(asked)
            for place, template in enumerate(question.templates)
            for gaps in range(1, self.masks + 1)
        ]

    def _filled(self, asked: Sequence[Sentences]) -> list[dict[Tokens, Found]]:
        rows = self._texts(asked)
        texts = list(dict.fromkeys(text for *_, text in rows))
        filled = dict(zip(texts, self.filler.fill(texts, self.top or 1), strict=True)) if texts else {}
        answers: list[dict[Tokens, Found]] = [{} for _ in asked]
        spelled: dict[MaskedText, list[tuple[Tokens, float]]] = {}
        for number, place, _, text in rows:
            if text not in spelled:
                gaps = [dict(row) for row in filled[text]]
                spelled[text] = [(label, label_score(scores, self.mean)) for label, scores in self.trie.found(gaps)]
            for label, score in spelled[text]:
                _add(answers[number], label, score, place)
        return answers

    def _rated(
        self, asked: Sequence[Sentences], labels: Sequence[Sequence[Tokens] | None]
    ) -> list[dict[Tokens, Found]]:
        every: dict[int, list[Tokens]] = {gaps: self.trie.of_length(gaps) for gaps in range(1, self.masks + 1)}
        wanted = [
            every if some is None else {n: [one for one in some if len(one) == n] for n in every} for some in labels
        ]
        rows = [row for row in self._texts(asked) if wanted[row[0]][row[2]]]
        answers: list[dict[Tokens, Found]] = [{} for _ in asked]
        rates = self.filler.rate([row[3] for row in rows], [wanted[row[0]][row[2]] for row in rows]) if rows else []
        for (number, place, gaps, _), some in zip(rows, rates, strict=True):
            for label, row in zip(wanted[number][gaps], np.asarray(some, dtype=np.float64).tolist(), strict=True):
                score = label_score(row, self.mean)
                _add(answers[number], label, score, place)
        return answers


def _add(found: dict[Tokens, Found], label: Tokens, score: float, place: int) -> None:
    before = found.get(label)
    if before is None:
        found[label] = Found(score, score, 1, place, score, score)
        return
    best = place if score > before.greatest else before.best
    most = max(score, before.greatest)
    found[label] = Found(most, min(score, before.least), before.templates + 1, best, before.total + score, most)


def one_by_one(found: Mapping[Tokens, Found]) -> list[tuple[Tokens, Found]]:
    """Return labels, best first; ties by their tokens."""
    return sorted(found.items(), key=lambda one: (-one[1].score, one[0]))
