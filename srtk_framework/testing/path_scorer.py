"""Conformance of path scorers: one finite number for each candidate, whatever the candidates are."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import pytest

from srtk_framework.roles import PathScorer
from srtk_framework.roles.path_scorer import counts_only
from srtk_framework.roles.search_settings import search_settings_only
from srtk_framework.testing.batches import BatchConformance, Probe, Probes
from srtk_framework.testing.sample import SAMPLE, is_plain
from srtk_framework.text import fold, words
from srtk_framework.values import END, DriverError, Path, Step

Case = tuple[str, Path, list[Step]]
"""A question, the path so far, and the candidates."""

TOLERANCE = 1e-5  # Single precision differs so much between batches


class PathScorerConformance(BatchConformance):
    """Checks a PathScorer; its ``driver`` is opened."""

    role = PathScorer

    @pytest.fixture
    def relations(self) -> list[str]:
        """Return at least four ids or labels of relations, in plain letters, in the form that the scorer is given."""
        return [relation for relation in SAMPLE.relations if is_plain(relation)]

    @pytest.fixture
    def cases(self, relations: list[str]) -> list[Case]:
        """Return different questions with paths and candidates."""
        steps = [Step(relation, inverse) for relation in relations for inverse in (False, True)]
        return [
            (
                f"Question {number}: what is the capital that borders {number}?",
                tuple(steps[number : number + number % 3]),
                [*steps[number % 4 : number % 4 + 4], END],
            )
            for number in range(70)
        ]

    @pytest.fixture
    def probes(self, cases: list[Case], relations: list[str]) -> Probes:
        """Call ``score`` with ``cases``."""
        steps = [Step(relation) for relation in relations[:4]]
        related = [
            (f"What is the {relation.replace('_', ' ')}?", path, row)
            for relation in relations[:2]
            for path in ((), (steps[0],))
            for row in ([*steps, END], steps[1:])
        ]
        return lambda driver: [Probe("score", driver.score, cases, tolerance=TOLERANCE, related=related)]

    def use(self, driver: Any) -> None:
        """Score one step."""
        driver.score(["What is this?"], [()], [[Step("capital")]])

    def test_every_candidate_gets_one_score(self, driver: Any, cases: list[Case]) -> None:
        """Every candidate gets a score, END included."""
        for question, path, candidates in cases[:10]:
            scores = driver.score([question], [path], [candidates])[0]
            assert len(scores) == len(candidates), f"{len(candidates)} candidates got {len(scores)} scores"

    def test_scores_are_finite_numbers(self, driver: Any, cases: list[Case]) -> None:
        """No score of 70 questions is NaN or infinite."""
        columns = [list(column) for column in zip(*cases, strict=True)]
        for (question, path, candidates), row in zip(cases, driver.score(*columns), strict=False):
            for step, score in zip(candidates, row, strict=False):
                assert math.isfinite(score), f"{question!r}: {step} after {[str(s) for s in path]} scores {score}"

    def test_no_candidates_get_no_scores(self, driver: Any, cases: list[Case]) -> None:
        """A path without candidates is no error."""
        question, path, _ = cases[0]
        assert len(driver.score([question], [path], [[]])[0]) == 0, "an empty list of candidates got scores"

    def test_scores_follow_the_order_of_the_candidates(self, driver: Any, cases: list[Case]) -> None:
        """Reversed candidates get reversed scores."""
        for question, path, candidates in cases[:10]:
            forward = list(driver.score([question], [path], [candidates])[0])
            backward = list(driver.score([question], [path], [candidates[::-1]])[0])
            if not len(forward) == len(backward) == len(candidates):
                continue  # another check says so
            for step, one, other in zip(candidates, forward, backward[::-1], strict=True):
                assert math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE), (
                    f"{step} scores {one}, and {other} when the candidates are turned round"
                )

    def test_the_direction_of_a_step_counts(self, driver: Any, relations: list[str]) -> None:
        """At least one relation scores differently in its two directions."""
        for relation in relations:
            question = f"What is the {relation.replace('_', ' ')}?"
            with_it, against = driver.score([question], [()], [[Step(relation), Step(relation, True)]])[0]
            if not math.isclose(with_it, against, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
                return
        pytest.fail("every relation scores the same in both directions; take Step.inverse into account")

    def test_relations_score_differently(self, driver: Any, relations: list[str]) -> None:
        """For at least one question, two relations score differently; a search by equal scores takes paths by name."""
        steps = [Step(relation) for relation in relations]
        for relation in relations:
            row = driver.score([f"What is the {relation.replace('_', ' ')}?"], [()], [steps])[0]
            if len(row) and not math.isclose(min(row), max(row), rel_tol=TOLERANCE, abs_tol=TOLERANCE):
                return
        pytest.fail(
            f"{len(steps)} relations score the same for each of {len(steps)} questions; compare them with the text"
        )

    def test_the_question_counts(self, driver: Any, relations: list[str]) -> None:
        """At least one relation scores differently for two questions."""
        texts = [f"What is the {relation.replace('_', ' ')}?" for relation in relations]
        steps = [Step(relation) for relation in relations]
        rows = driver.score(texts, [()] * len(texts), [steps] * len(texts))
        if all(math.isclose(min(row), max(row), rel_tol=TOLERANCE, abs_tol=TOLERANCE) for row in rows if len(row)):
            return  # another check says so
        for column in zip(*rows, strict=False):
            if not math.isclose(min(column), max(column), rel_tol=TOLERANCE, abs_tol=TOLERANCE):
                return
        pytest.fail(f"{len(texts)} questions give every relation the same score; compare the steps with the question")

    def test_rows_are_not_padded(self, driver: Any, cases: list[Case]) -> None:
        """Paths with different numbers of candidates get rows of these lengths in one batch."""
        some = [(question, path, row[: 1 + i % len(row)]) for i, (question, path, row) in enumerate(cases[:10])]
        rows = driver.score(*(list(column) for column in zip(*some, strict=True)))
        for (question, path, candidates), row in zip(some, rows, strict=False):
            size, alone = len(candidates), driver.score([question], [path], [candidates])[0]
            if not (hasattr(row, "__len__") and hasattr(alone, "__len__")) or len(alone) != size:
                continue  # another check says so
            own = all(map(functools.partial(math.isclose, rel_tol=TOLERANCE, abs_tol=TOLERANCE), row[:size], alone))
            assert len(row) <= size or not own, (
                f"{size} candidates got {len(row)} scores in a batch with longer rows; return no padding"
            )

    def test_a_relation_never_seen_is_scored(self, driver: Any) -> None:
        """Unseen relations get finite scores, so that a scorer works on any graph."""
        score = driver.score(["What is this?"], [()], [[Step("never_seen_before"), Step("never_seen_before", True)]])
        assert all(math.isfinite(value) for value in score[0]), f"unseen relations score {list(score[0])}"

    def test_quotes_and_other_scripts_are_scored(self, driver: Any) -> None:
        """Quotes, other scripts and empty questions get finite scores."""
        steps = [Step(relation) for relation in ('said "hello" to', "родился в", "首都", "^odd", "END", "a\\b\n<c>")]
        for question in ('Who said "hello"?', "Где он родился?", ""):
            scores = driver.score([question], [tuple(steps[:2])], [[*steps, END]])[0]
            assert all(math.isfinite(value) for value in scores), f"{question!r} gets the scores {list(scores)}"

    def test_scores_end_answers_yes_or_no(self, driver: Any) -> None:
        """``scores_end`` returns a bool."""
        assert isinstance(driver.scores_end(), bool), f"scores_end returned {driver.scores_end()!r}"

    def test_is_trained_answers_yes_or_no(self, driver: Any) -> None:
        """``is_trained`` returns a bool."""
        assert isinstance(driver.is_trained(), bool), f"is_trained returned {driver.is_trained()!r}"

    def test_prepare_returns_counts(self, driver: Any, relations: list[str]) -> None:
        """``prepare`` returns whole numbers by name."""
        try:
            counts_only(driver.prepare([(Step(relation),) for relation in relations]), {}, self.name)
        except DriverError as error:
            pytest.fail(str(error))

    def test_search_settings_are_those_of_a_search(self, driver: Any) -> None:
        """``search_settings`` returns ``SearchSettings``, some of their keys as a mapping, or None."""
        found = driver.search_settings()
        try:
            search_settings_only(found, {}, self.name)
        except DriverError as error:
            pytest.fail(str(error))


@attrs.define(eq=False)
class ToyPathScorer(PathScorer):
    """Prefer relations that share words with the part of the question that the path has not covered yet.

    Attributes:
        end: Score of ending the path, in shared words.
        inverse: Weight of a shared word if the relation is followed against its direction.
    """

    end: float = 0.5
    inverse: float = 0.9

    def score(
        self, questions: Sequence[str], paths: Sequence[Path], candidates: Sequence[Sequence[Step]]
    ) -> list[list[float]]:
        """Count shared words; return log-probabilities over the candidates of each path."""
        asked = [_words(question) for question in questions]
        return [self._row(*item) for item in zip(asked, paths, candidates, strict=True)]

    def _row(self, asked: set[str], path: Path, candidates: Sequence[Step]) -> list[float]:
        left = asked - {word for step in path for word in _words(step.relation)}
        raw = [self.end if step == END else self._shared(left, step) for step in candidates]
        # Sorted, so that the sum does not depend on the order of the candidates.
        total = math.log(math.fsum(sorted(math.exp(value) for value in raw))) if raw else 0.0
        return [value - total for value in raw]

    def _shared(self, left: set[str], step: Step) -> float:
        return len(left & _words(step.relation)) * (self.inverse if step.inverse else 1.0)

    def scores_end(self) -> bool:
        """END is one of the candidates."""
        return True


def _words(text: str) -> set[str]:
    folded = fold(text)
    return {folded[start:end] for start, end in words(folded)}


class ToyPathScorerCase(PathScorerConformance):
    """The toy path scorer keeps the contract of a path scorer."""

    name = "toy"

    @pytest.fixture
    def driver(self) -> Iterator[ToyPathScorer]:
        """Open a scorer."""
        scorer = ToyPathScorer()
        scorer.open()
        yield scorer
        scorer.close()

    def test_a_relation_of_the_question_scores_best(self, driver: ToyPathScorer) -> None:
        """The relation that the question names comes before another relation and before END."""
        scores = driver.score(["What is the capital city?"], [()], [[Step("capital_city"), Step("borders"), END]])[0]
        assert scores[0] == max(scores)


SUMMARY = "A path scorer by shared words"

RECIPE = """\
path_scorer: {use: toy, end: 1.0}
expander: {use: beam}
"""
