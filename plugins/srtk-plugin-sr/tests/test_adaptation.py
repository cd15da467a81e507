"""Blends of trained weights with their start, chosen by what was held out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("srtk_plugin_transformers")

from srtk_plugin_sr.adaptation import DISTILLED, SHARES, adapt, best_blend, hits, softened, surely_better
from srtk_plugin_sr.fit_settings import ScorerFitSettings
from srtk_plugin_sr.samples import IndexedSample, TrainingSet
from srtk_plugin_sr.scorer_form import UNTRAINED
from srtk_plugin_transformers.encoder import TransformersEncoder

from srtk_framework.roles import Encoder

WORDS = [f"w{i}" for i in range(12)]


class Hand(Encoder):
    """Three vectors in a plane."""

    def encode(self, texts: list[str]) -> np.ndarray:
        table = {"q": [1.0, 0.0], "near": [0.8, 0.6], "far": [0.6, 0.8]}
        return np.array([table[text] for text in texts], dtype=np.float32)


@pytest.mark.parametrize(("cost", "right"), [(0.0, True), (1.0, False)])
def test_a_ranking_is_right_if_a_right_candidate_scores_highest_less_its_cost(cost: float, right: bool) -> None:
    # Cosines .8 and .6 over a temperature of .4 are logits of 2 and 1.5.
    sample = IndexedSample(0, (1, 2), (1.0, 0.0), (cost, 0.0))
    assert hits(Hand(), TrainingSet(["q", "near", "far"], [sample]), 0.4).tolist() == [right]


def test_a_quarter_of_the_target_is_what_the_teacher_gives_and_right_candidates_share_the_rest_as_it_does() -> None:
    # Less their costs, the logits are 2, 1.5 and 1.5.
    sample = IndexedSample(0, (1, 2, 1), (1.0, 0.0, 1.0), (0.0, 0.0, 0.5))
    [soft] = softened(Hand(), TrainingSet(["q", "near", "far"], [sample]), 0.4, 0.25).samples
    before = np.exp([2.0, 1.5, 1.5]) / np.exp([2.0, 1.5, 1.5]).sum()
    right = before * [1, 0, 1] / (before[0] + before[2])
    np.testing.assert_allclose(soft.targets, 0.75 * right + 0.25 * before, atol=1e-6)
    assert (soft.candidates, soft.costs) == (sample.candidates, sample.costs)


def test_a_teacher_of_a_low_temperature_is_sure() -> None:
    sample = IndexedSample(0, (1, 2), (0.0, 1.0), (0.0, 0.0))
    [soft] = softened(Hand(), TrainingSet(["q", "near", "far"], [sample]), 0.001, 0.25).samples
    np.testing.assert_allclose(soft.targets, [0.25, 0.75], atol=1e-6)


@pytest.mark.parametrize(
    ("gained", "lost", "better"),
    [(0, 0, False), (1, 0, False), (2, 0, True), (6, 4, False), (6, 3, False), (6, 2, True), (2, 6, False)],
)
def test_a_blend_is_better_only_by_more_than_its_standard_error(gained: int, lost: int, better: bool) -> None:
    before = np.array([False] * gained + [True] * lost + [True, False] * 5)
    after = np.array([True] * gained + [False] * lost + [True, False] * 5)
    assert surely_better(after, before) is better


def test_of_equal_blends_the_one_nearest_to_the_start_is_the_best() -> None:
    right = {1.0: [True, True, False], 0.5: [True, False, True], 0.75: [False, True, True], 0.25: [True, False, False]}
    assert best_blend({share: np.array(row) for share, row in right.items()}) == 0.5


def rankings(right: int) -> TrainingSet:
    """Ask for each word, with the word so many places on as the right candidate."""
    samples = [
        IndexedSample(i, ((i + right) % 12, (i + right + 4) % 12), (1.0, 0.0), (0.0, 0.0)) for i in range(len(WORDS))
    ]
    return TrainingSet(WORDS, samples)


def adapted(tiny: Callable[..., Path], folder: Path, held_out: TrainingSet) -> tuple[float, TransformersEncoder]:
    encoder = TransformersEncoder(model=str(tiny(" ".join(WORDS))), device="cpu", threads=1)
    encoder.open()
    settings = ScorerFitSettings(
        epochs=40, learning_rate=3e-3, loss="listwise", monitor="accuracy", patience=None, accelerator="cpu"
    )
    done = adapt(encoder, rankings(1), held_out, UNTRAINED, settings, folder, 0)
    assert set(done.blends) == set(SHARES)
    assert done.share == 0 or done.blends[done.share] == max(done.blends.values()) > done.start
    return done.share, encoder


def test_a_blend_is_kept_that_ranks_better(tiny: Callable[..., Path], tmp_path: Path) -> None:
    share, encoder = adapted(tiny, tmp_path, rankings(1))
    assert share > 0
    encoder.close()


def test_the_weights_stay_as_they_were_where_no_blend_ranks_better(tiny: Callable[..., Path], tmp_path: Path) -> None:
    encoder = TransformersEncoder(model=str(tiny(" ".join(WORDS))), device="cpu", threads=1)
    encoder.open()
    before = encoder.encode(WORDS)
    # What is held out is right from the start: each word is nearest to itself.
    share, after = adapted(tiny, tmp_path, rankings(0))
    assert share == 0
    assert np.array_equal(after.encode(WORDS), before)
    encoder.close()
    after.close()


def test_the_accuracies_are_those_of_what_was_held_out_before_and_after(
    tiny: Callable[..., Path], tmp_path: Path
) -> None:
    encoder = TransformersEncoder(model=str(tiny(" ".join(WORDS))), device="cpu", threads=1)
    encoder.open()
    before = float(hits(encoder, rankings(1), UNTRAINED.temperature).mean())
    settings = ScorerFitSettings(
        epochs=3, learning_rate=3e-3, loss="listwise", monitor="accuracy", patience=None, accelerator="cpu"
    )
    done = adapt(encoder, rankings(1), rankings(1), UNTRAINED, settings, tmp_path, 0)
    after = float(hits(encoder, rankings(1), UNTRAINED.temperature).mean())
    assert done.start == before
    assert after == (done.blends[done.share] if done.share else before)
    assert 1 <= done.updates <= 3
    encoder.close()


def test_blends_lie_between_the_start_and_the_trained_weights() -> None:
    assert list(SHARES) == sorted(SHARES)
    assert 0 < SHARES[0] < SHARES[-1] == 1.0
    assert 0 < DISTILLED < 1
