"""The ``masked-lm`` filler learns from texts: it resumes, keeps the best weights, and saves what others load."""

from __future__ import annotations

from pathlib import Path

import attrs
import pytest
from srtk_plugin_transformers.mask_filler import TransformersMaskFiller
from srtk_plugin_transformers.mask_fit_settings import MaskFillerFitSettings

from srtk_framework.roles import TrainingTask
from srtk_framework.values import DriverError, EntityMention, Entry, MaskedText

TOWNS = ("riga", "tallinn", "oslo")
COUNTRIES = {"riga": "latvia", "tallinn": "country", "oslo": "film"}
TEXTS = [
    Entry(
        f"{town}{n}",
        f"the capital of {country} is {town}",
        mentions=(EntityMention(15, 15 + len(country), country), EntityMention(19 + len(country), 99, town)),
    )
    for n in range(20)
    for town, country in COUNTRIES.items()
]
SETTINGS = MaskFillerFitSettings(
    epochs=30, batch_size=6, learning_rate=3e-3, validate_every=60, mention_share=1.0, accelerator="cpu"
)
ASKED = [MaskedText(f"the capital of {country} is [MASK]") for country in COUNTRIES.values()]


def opened(model: Path) -> TransformersMaskFiller:
    filler = TransformersMaskFiller(model=str(model), threads=1, device="cpu")
    filler.open()
    return filler


def task(folder: Path, texts: list[Entry] = TEXTS) -> TrainingTask:
    return TrainingTask([], None, folder, 3, texts=texts, held_out_texts=texts[:6])


@pytest.fixture(scope="module")
def trained(masked_bert: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a training that ran to its end, with the model in ``model``."""
    folder = tmp_path_factory.mktemp("training")
    filler = opened(masked_bert)
    figures = filler.fit(task(folder), SETTINGS)
    assert figures["updates"] == 300
    filler.save(folder / "model")
    filler.close()
    return folder


def test_it_learns_what_the_texts_say(masked_bert: Path, trained: Path) -> None:
    before, after = opened(masked_bert), opened(trained / "model")
    learnt = [row[0][0].token for row in after.fill(ASKED, 1)]
    assert learnt == list(COUNTRIES)
    assert [row[0][0].token for row in before.fill(ASKED, 1)] != learnt
    assert before.fingerprint() != after.fingerprint()


def test_what_was_trained_fills_as_what_is_loaded(masked_bert: Path, trained: Path, tmp_path: Path) -> None:
    filler = opened(masked_bert)
    before = filler.fingerprint()
    filler.fit(task(tmp_path), SETTINGS)
    mine = filler.fill(ASKED, 5)
    assert filler.fingerprint() != before
    loaded = opened(masked_bert)
    loaded.load(trained / "model")
    assert loaded.fill(ASKED, 5) == mine
    assert loaded.fingerprint() == opened(trained / "model").fingerprint()


def test_an_interrupted_training_ends_in_the_same_weights(
    masked_bert: Path, trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from srtk_plugin_transformers.masked_lm_module import MaskedLMModule

    save, calls = MaskedLMModule.keep, []

    def stopped(module: MaskedLMModule) -> None:
        calls.append(module)
        if len(calls) == 3:
            raise KeyboardInterrupt
        save(module)

    with monkeypatch.context() as patch:
        patch.setattr(MaskedLMModule, "keep", stopped)
        with pytest.raises(KeyboardInterrupt):
            opened(masked_bert).fit(task(tmp_path), SETTINGS)
    assert list((tmp_path / "checkpoints").iterdir())
    assert opened(masked_bert).fit(task(tmp_path), SETTINGS)["updates"] == 300
    assert (tmp_path / "best.safetensors").read_bytes() == (trained / "best.safetensors").read_bytes()


def test_the_seed_alone_decides(masked_bert: Path, trained: Path, tmp_path: Path) -> None:
    filler = opened(masked_bert)
    filler.fit(task(tmp_path), SETTINGS)
    assert (tmp_path / "best.safetensors").read_bytes() == (trained / "best.safetensors").read_bytes()


def test_updates_may_be_bounded(masked_bert: Path, tmp_path: Path) -> None:
    assert opened(masked_bert).fit(task(tmp_path), attrs.evolve(SETTINGS, steps=7))["updates"] == 7


def test_a_loss_without_end_is_told(masked_bert: Path, tmp_path: Path) -> None:
    with pytest.raises(DriverError, match=r"the loss is (nan|inf) after \d+ updates; lower learning_rate"):
        opened(masked_bert).fit(task(tmp_path), attrs.evolve(SETTINGS, learning_rate=1e38))
