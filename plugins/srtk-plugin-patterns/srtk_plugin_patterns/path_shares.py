"""Shares of training paths: how often a path goes on by a step, and with which words of the question."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.values import END, Path, Step

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_RECENT = 512  # Questions whose words are kept in memory.
# Powers of the words' probability among which ``tune`` chooses; 0 is without words.
POWERS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
# Each question is scored by shares that were counted without it.
_FOLDS = 5
_MOST = 1000  # Most questions that are held out to tune.


@attrs.frozen
class LearntPath:
    """A relation path of the training questions.

    Attributes:
        steps: Its steps, without END.
        weight: Questions that it answers; a question with several paths is divided among them.
        words: Weight of the questions with a word, by word.
    """

    steps: Path
    weight: float
    words: Mapping[str, float]


@attrs.frozen
class PathLesson:
    """One path of one training question.

    Attributes:
        steps: Its steps, without END.
        weight: Part of the question that the path stands for.
        words: The words of the question.
    """

    steps: Path
    weight: float
    words: frozenset[str]


def learn(lessons: Iterable[PathLesson]) -> list[LearntPath]:
    """Add up the lessons of each path; the sums do not depend on the order of the lessons.

    Returns:
        The paths, sorted by their steps as text.
    """
    weights: dict[Path, list[float]] = {}
    words: dict[Path, dict[str, list[float]]] = {}
    for lesson in lessons:
        weights.setdefault(lesson.steps, []).append(lesson.weight)
        of_word = words.setdefault(lesson.steps, {})
        for word in lesson.words:
            of_word.setdefault(word, []).append(lesson.weight)
    return [
        LearntPath(
            steps, math.fsum(weights[steps]), {word: math.fsum(some) for word, some in sorted(words[steps].items())}
        )
        for steps in sorted(weights, key=lambda path: [str(step) for step in path])
    ]


class _Counts(NamedTuple):
    """Continuations in one context, by number."""

    numbers: Ints  # Numbers of the steps that follow.
    weights: Floats  # Weight of each.
    total: float  # Sum of the weights.

    def smooth(self, wider: Floats) -> Floats:
        """Mix the shares of this context with the shares of a wider context (Witten and Bell 1991).

        The wider context weighs as many questions as this context has continuations: where nearly every question
        went on differently, the next one will too.
        """
        kinds = len(self.numbers)
        mixed: Floats = wider * kinds
        mixed[self.numbers] += self.weights
        return mixed / (self.total + kinds)


class _Words:
    """Words of the questions whose paths go on by each of some steps.

    Args:
        tables: Weight of each word, by the number of a step.
    """

    def __init__(self, tables: Mapping[int, Mapping[str, float]]) -> None:
        filled = {number: table for number, table in sorted(tables.items()) if table}
        self._numbers: Ints = np.array(list(filled), dtype=np.int64)
        self._kinds: Floats = np.array([len(table) for table in filled.values()], dtype=np.float64)
        self._totals: Floats = np.array([math.fsum(table.values()) for table in filled.values()], dtype=np.float64)
        entries: dict[str, list[tuple[int, float]]] = {}
        for place, table in enumerate(filled.values()):
            for word, weight in table.items():
                entries.setdefault(word, []).append((place, weight))
        self._entries: dict[str, tuple[Ints, Floats]] = {
            word: (np.array([place for place, _ in some]), np.array([weight for _, weight in some]))
            for word, some in entries.items()
        }

    def smooth(self, words: Sequence[str], wider: Floats) -> Floats:
        """Mix the shares of words after each step with their shares in a wider context, as ``_Counts.smooth`` does.

        Args:
            words: The words.
            wider: Share of each word after each step, as [words, steps].
        """
        mixed = wider[:, self._numbers] * self._kinds
        for row, word in enumerate(words):
            if (found := self._entries.get(word)) is not None:
                mixed[row, found[0]] += found[1]
        shares = wider.copy()
        shares[:, self._numbers] = mixed / (self._totals + self._kinds)
        return shares


class PathShares:
    """Smoothed probabilities of how a path goes on, from the paths of training questions.

    Shares of a step are smoothed from narrow to wide contexts: after the prefix, after its last step at this depth, at
    this depth, and anywhere. The widest is a uniform distribution over END, every step in the training, and the other
    candidates. So the probabilities of END and of distinct
    candidates never add up to more than 1, and none is 0.

    The words of a question multiply these shares (naive Bayes): each by its share among the words of the questions
    whose paths go on by that step. It is smoothed by its shares in all questions with the step in their path, and in
    all questions. A step outside the training has the words of all questions; unknown words do not count. The products
    are divided by their sum.

    Words of a question depend on each other, so that their product is too sure of itself; a power between 0 and 1
    takes that back.

    Args:
        paths: The paths that were learnt.
        power: Power of the words' probability.
    """

    def __init__(self, paths: Sequence[LearntPath], power: float = 1.0) -> None:
        self._power = power
        steps = sorted({step for path in paths for step in path.steps}, key=str)
        self._numbers: dict[Step, int] = {END: 0, **{step: 1 + i for i, step in enumerate(steps)}}
        counts: dict[Any, dict[int, list[float]]] = {}
        after: dict[Path, dict[int, list[Mapping[str, float]]]] = {}
        anywhere: dict[int, list[Mapping[str, float]]] = {}
        for path in paths:
            ended = (*path.steps, END)
            for depth, step in enumerate(ended):
                number, prefix = self._numbers[step], path.steps[:depth]
                for context in _contexts(prefix):
                    counts.setdefault(context, {}).setdefault(number, []).append(path.weight)
                after.setdefault(prefix, {}).setdefault(number, []).append(path.words)
            for number in {self._numbers[step] for step in ended}:
                anywhere.setdefault(number, []).append(path.words)
        self._counts = {context: _counts(table) for context, table in counts.items()}
        self._after = {prefix: _Words({n: _sum(some) for n, some in of.items()}) for prefix, of in after.items()}
        self._anywhere = _Words({number: _sum(some) for number, some in anywhere.items()})
        every = _sum([path.words for path in paths])
        total = math.fsum(every.values())
        self._background = {word: weight / total for word, weight in every.items()}
        self._recent: dict[tuple[str, ...], Floats] = {}

    def logs(self, path: Path, candidates: Sequence[Step], words: Sequence[str] = ()) -> Floats:
        """Return the logarithm of each candidate's probability.

        Args:
            path: The steps so far.
            candidates: Steps, or END.
            words: The words of the question, sorted; none for the shares alone.
        """
        new = len({step for step in candidates if step not in self._numbers})
        logs = self._of_paths(path, new)
        if heard := tuple(word for word in words if word in self._background):
            logs = _posterior(logs, self._power * self._of_words(path, heard), new)
        # Unseen steps have the last number.
        return logs[[self._numbers.get(step, -1) for step in candidates]]

    def losses(self, lesson: PathLesson, powers: Sequence[float]) -> Floats:
        """Return minus the log-probability of a whole path by each power."""
        heard = tuple(sorted(word for word in lesson.words if word in self._background))
        losses = np.zeros(len(powers))
        for depth, step in enumerate((*lesson.steps, END)):
            number, prefix = self._numbers.get(step, -1), lesson.steps[:depth]
            new = int(number < 0)
            logs, likely = self._of_paths(prefix, new), self._of_words(prefix, heard)
            losses -= [_posterior(logs, power * likely, new)[number] for power in powers]
        return losses

    def _of_paths(self, path: Path, new: int) -> Floats:
        """Return the logarithms of the shares of known steps after a path, and of each of ``new`` other steps."""
        uniform = 1 / (len(self._numbers) + new)
        shares = np.full(len(self._numbers) + 1, uniform)
        for context in reversed(_contexts(path)):
            if (found := self._counts.get(context)) is not None:
                shares = found.smooth(shares)
        logs: Floats = np.log(shares)
        return logs

    def _of_words(self, path: Path, words: tuple[str, ...]) -> Floats:
        """Return the log-probability of words after a path and each known step, and after any other step."""
        shares = self._word_shares(words)
        if (table := self._after.get(path)) is not None:
            shares = table.smooth(words, shares)
        logs: Floats = np.log(shares).sum(axis=0)
        return logs

    def _word_shares(self, words: tuple[str, ...]) -> Floats:
        """Return the share of each word in all questions with a step in their path, as [words, steps]."""
        recent = self._recent
        if words not in recent:
            if len(recent) >= _RECENT:
                # Replaced rather than cleared, because another thread may be reading it.
                recent = self._recent = {}
            background = np.array([self._background[word] for word in words])
            recent[words] = self._anywhere.smooth(words, np.repeat(background[:, None], 1 + len(self._numbers), axis=1))
        return recent[words]


@attrs.frozen
class Tuning:
    """Power and margins that suit held-out questions.

    Attributes:
        power: The one of ``POWERS`` by which the held-out paths are most probable.
        margin: Bound on minus the log-probability of a held-out question's likeliest path, which a share of the
            questions may exceed; None with too few questions.
        plain_margin: The same without words.
    """

    power: float = 1.0
    margin: float | None = None
    plain_margin: float | None = None


def tune(questions: Sequence[Sequence[PathLesson]], lost: float, seed: int) -> Tuning:
    """Predict the paths of questions by a model of the other questions (cross-validation).

    No path is more probable than 1. So a search that drops paths more than ``margin`` below its best keeps the path of
    a new question with a probability of at least 1 - ``lost``. The quantile is from split conformal prediction (Lei et
    al. 2018), with the finite-sample correction.

    Args:
        questions: The lessons of each question.
        lost: Share of the questions whose path may be lost.
        seed: Of the folds.
    """
    folds = min(_FOLDS, len(questions))
    if folds < 2:
        return Tuning()
    losses = np.zeros(len(POWERS))
    least: list[Floats] = []
    # Questions may stand in an order, such as by length, that no fold should have.
    order = random.Random(seed).sample(range(len(questions)), len(questions))
    for fold in range(folds):
        others = [lesson for place, i in enumerate(order) if place % folds != fold for lesson in questions[i]]
        shares = PathShares(learn(others))
        for i in order[fold:_MOST:folds]:
            lessons = questions[i]
            rows = [shares.losses(lesson, POWERS) for lesson in lessons]
            losses += sum(lesson.weight * row for lesson, row in zip(lessons, rows, strict=True))
            least.append(np.min(rows, axis=0))
    best = int(np.argmin(losses))
    table = np.array(least)
    return Tuning(POWERS[best], _quantile(table[:, best], lost), _quantile(table[:, 0], lost))


def _quantile(losses: Floats, lost: float) -> float | None:
    """Return the loss that a new one exceeds with a probability of at most ``lost``; None if no loss is that sure."""
    place = math.ceil((len(losses) + 1) * (1 - lost))
    return None if place > len(losses) else float(np.sort(losses)[place - 1])


def _posterior(logs: Floats, words: Floats, new: int) -> Floats:
    """Multiply the probabilities of steps and words, and divide by the sum; the last step counts ``new`` times."""
    products: Floats = logs + words
    most = products.max()
    total = float(np.exp(products[:-1] - most).sum()) + new * np.exp(products[-1] - most)
    posterior: Floats = products - (most + math.log(total))
    return posterior


def _contexts(prefix: Path) -> list[Any]:
    """Return the contexts of a prefix, narrowest first; the questions of each are also in the next."""
    depth = len(prefix)
    narrow = [prefix, (depth, prefix[-1])] if depth > 1 else [prefix]
    return [*narrow, depth, None] if depth else [prefix, None]


def _counts(table: Mapping[int, Sequence[float]]) -> _Counts:
    numbers = sorted(table)
    weights = np.array([math.fsum(table[number]) for number in numbers])
    return _Counts(np.array(numbers), weights, math.fsum(weights))


def _sum(tables: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Add up tables of words."""
    weights: dict[str, list[float]] = {}
    for table in tables:
        for word, weight in table.items():
            weights.setdefault(word, []).append(weight)
    return {word: math.fsum(weights[word]) for word in sorted(weights)}
