"""Fit of the dictionary linker's weights to texts with gold links."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.values import NIL, DriverError, Link, TrainingExample, at_least, positive
from srtk_plugin_local.dictionary.calibration import Calibration, best_threshold, calibration_error
from srtk_plugin_local.dictionary.candidates import Mention
from srtk_plugin_local.dictionary.conditional_logit import Floats, Groups, chances, fit, fit_binary, sigmoid, utilities
from srtk_plugin_local.dictionary.learnt_weights import CHOICE, FOUND, LearntWeights, choice_row, found_row, shares_of


@attrs.frozen
class LinkerTraining:
    """Settings of the fit.

    Attributes:
        penalty: L2 penalty of the weights; a larger one gives smaller weights.
        folds: Folds of cross-validation, for the calibration and the threshold.
        batch: Texts that are linked at once.
        monitor: Metric on the validation questions that chooses the threshold. `answer_recall` of the recipe's
            retrieval weighs a missing link against a wrong link by their cost. By default the threshold has the best F1
            of links on the training questions.
        thresholds: Number of thresholds that are tried with `monitor`: with the best F1, 0, and quantiles of the scores
            of links.
    """

    penalty: float = attrs.field(default=3.0, validator=positive)
    folds: int = attrs.field(default=5, validator=at_least(2))
    batch: int = attrs.field(default=64, validator=at_least(1))
    monitor: str | None = None
    thresholds: int = attrs.field(default=7, validator=at_least(3))


@attrs.frozen
class Case:
    """A mention as a training example.

    Attributes:
        fold: Fold of its text.
        rows: Features of each candidate, by ``choice_row``.
        right: Index of the gold entity among the candidates, or None.
        mention: The mention.
        share: Its unlearnt score relative to the best in its text.
        chosen: Whether the linker would return it; if not, it only trains the choice among its candidates.
    """

    fold: int
    rows: list[list[float]]
    right: int | None
    mention: Mention
    share: float
    chosen: bool


def gold_of(example: TrainingExample) -> list[Link]:
    """Return the gold links of a question, else its given links."""
    links = example.question.gold_links
    return list(example.question.links if links is None else links)


def wanted(gold: Sequence[Link]) -> int:
    """Count the links that must be found."""
    return sum(link.score > 0 and link.entity != NIL for link in gold)


def judged(mention: Mention, gold: Sequence[Link]) -> tuple[bool, int | None]:
    """Compare a mention with gold links.

    Returns:
        Whether the mention is optional, and the index of the right candidate or None. A gold link without a span
        fits every mention that has its entity as a candidate.
    """
    here = [link for link in gold if link.start is None or (link.start, link.end) == (mention.start, mention.end)]
    entities = [candidate.entity for candidate in mention.candidates]
    right = next((entities.index(link.entity) for link in here if link.entity in entities and link.score > 0), None)
    optional = any(link.score == 0 and link.start is not None for link in here)
    return optional, right


def concerned(
    every: Sequence[Sequence[Mention]], chosen: Sequence[Sequence[Mention]], gold: Sequence[Sequence[Link]]
) -> list[list[Mention]]:
    """Return the mentions of each text that the linker would return or that have a right candidate."""
    rows = []
    for mentions, kept, links in zip(every, chosen, gold, strict=True):
        given = {id(mention) for mention in kept}
        rows.append([m for m in mentions if id(m) in given or judged(m, links)[1] is not None])
    return rows


def cases(
    texts: Sequence[str], some: Sequence[Sequence[Mention]], chosen: Sequence[Sequence[Mention]],
    gold: Sequence[Sequence[Link]], folds: int,
) -> list[Case]:  # fmt: skip
    """Return the training examples of texts.

    Args:
        texts: The texts.
        some: Their mentions to learn from, from ``concerned``.
        chosen: Their mentions that the linker would return.
        gold: Their gold links.
        folds: Number of folds; the hash of a text gives its fold.
    """
    made = []
    for text, mentions, kept, links in zip(texts, some, chosen, gold, strict=True):
        fold = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") % folds
        shares = {id(mention): share for mention, share in zip(kept, shares_of(kept), strict=True)}
        for mention in mentions:
            optional, right = judged(mention, links)
            if not optional:
                rows = [choice_row(mention, candidate) for candidate in mention.candidates]
                share = shares.get(id(mention), 1.0)
                made.append(Case(fold, rows, right, mention, share, id(mention) in shares))
    return made


def learn(
    some: Sequence[Case],
    wanted_links: int,
    training: LinkerTraining,
    probe: Sequence[float] | None,
    places: str,
    near: bool,
) -> tuple[LearntWeights, Mapping[str, float]]:
    """Fit the weights; calibrate them and choose the threshold by cross-validation.

    Args:
        some: The training examples of all texts.
        wanted_links: Number of gold links.
        training: Settings of the fit.
        probe: Probe of the encoder, for ``LearntWeights``.
        places: Looked-up spans, for ``LearntWeights``.
        near: Whether near names were looked up, for ``LearntWeights``.

    Returns:
        The weights and cross-validated figures: ``accuracy`` of the choice among several candidates, ``f1`` of links
        at the threshold, ``calibration_error`` after calibration.

    Raises:
        DriverError: If no mention has a right candidate.
    """
    ambiguous = [case for case in some if case.right is not None and len(case.rows) > 1]
    given = [case for case in some if case.chosen]
    if not any(case.right is not None for case in given):
        raise DriverError(
            "the linker finds none of the gold links; check that the questions have gold links with ids of this graph"
        )
    scores, right = np.zeros(len(given)), np.zeros(len(given), dtype=bool)
    folds = np.array([case.fold for case in given])
    hits = []
    for fold in range(training.folds):
        choice, found = _fit(
            [case for case in ambiguous if case.fold != fold], [case for case in given if case.fold != fold], training
        )
        here = np.flatnonzero(folds == fold)
        if len(here):
            scores[here], right[here] = _scored([given[i] for i in here], choice, found)
        hits += [_best(case, choice)[0] == case.right for case in ambiguous if case.fold == fold]
    calibrated = np.zeros(len(given))
    for fold in range(training.folds):
        here, others = folds == fold, folds != fold
        calibrated[here] = Calibration.learnt(scores[others], right[others])(scores[here])
    calibration = Calibration.learnt(scores, right)
    threshold, f1 = best_threshold(calibration(scores), right, wanted_links)
    choice, found = _fit(ambiguous, given, training)
    figures = {
        "mentions": float(len(given)),
        "ambiguous": float(len(ambiguous)),
        "accuracy": float(np.mean(hits)) if hits else 1.0,
        "f1": f1,
        "threshold": threshold,
        "calibration_error": calibration_error(calibrated, right),
        "calibration_error_before": calibration_error(scores, right),
    }
    return LearntWeights(choice, found, calibration, round(threshold, 4), probe, places, near), figures


def threshold_choices(found: Sequence[Sequence[Link]], best: float, number: int) -> list[float]:
    """Return the thresholds to try: 0, the threshold of the best F1, and quantiles of the links' scores; ascending.

    Args:
        found: Links of texts without a threshold.
        best: Threshold with the best F1.
        number: Maximum number of thresholds.
    """
    scores = [link.score for links in found for link in links]
    if not scores:
        return sorted({0.0, best})
    quantiles = np.quantile(scores, np.arange(1, number - 1) / (number - 1))
    return sorted({0.0, best, *(round(float(score), 4) for score in quantiles)})


def _fit(ambiguous: Sequence[Case], given: Sequence[Case], training: LinkerTraining) -> tuple[Floats, Floats]:
    """Fit the choice among candidates, then whether the most likely candidate of a mention is right."""
    groups = Groups.of([case.rows for case in ambiguous], len(CHOICE))
    apart = groups.rows
    if len(apart):
        means = np.add.reduceat(groups.rows, groups.offsets[:-1], axis=0) / np.diff(groups.offsets)[:, None]
        apart = np.asarray(groups.rows - means[groups.owner])
    scale = _scale(apart)
    rights = groups.offsets[:-1] + np.array([case.right for case in ambiguous], dtype=np.int64)
    choice = fit(Groups(groups.rows / scale, groups.offsets), rights, training.penalty) / scale
    rows = _found_rows(given, choice)
    spread = _scale(rows)
    labels = np.array([case.right is not None for case in given], dtype=bool)
    found = fit_binary(rows / spread, labels, training.penalty) / spread
    return choice, found


def _found_rows(some: Sequence[Case], choice: Floats) -> Floats:
    rows = []
    for case in some:
        place, chance = _best(case, choice)
        rows.append(found_row(case.mention, case.mention.candidates[place], chance, case.share))
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(FOUND))


def _scored(some: Sequence[Case], choice: Floats, found: Floats) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return the score of the best candidate of each mention, and whether it is right."""
    best = [_best(case, choice) for case in some]
    likely = np.array([chance for _, chance in best])
    right = np.array([case.right == place for case, (place, _) in zip(some, best, strict=True)], dtype=bool)
    return likely * sigmoid(utilities(_found_rows(some, choice), found)), right


def _best(case: Case, choice: Floats) -> tuple[int, float]:
    likely = chances(Groups.of([case.rows], len(CHOICE)), choice)
    place = int(np.argmax(likely))
    return place, float(likely[place])


def _scale(rows: Floats) -> Floats:
    """Return the standard deviation of each feature; 1 for a constant feature."""
    spread = rows.std(axis=0) if len(rows) else np.ones(rows.shape[1])
    return np.where(spread > 1e-9, spread, 1.0)
