"""Training of a masked language model with Lightning: it resumes at its checkpoints and keeps the best weights."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from srtk_plugin_training import fit, quiet_lightning, require_packages

from srtk_framework.values import DriverError, Entry
from srtk_plugin_transformers.mask_fit_settings import MaskFillerFitSettings
from srtk_plugin_transformers.masked_texts import token_rows


def train_masked_lm(
    tokenizer: Any,
    model: Any,
    texts: Sequence[Entry],
    held_out: Sequence[Entry],
    settings: MaskFillerFitSettings,
    most_tokens: int,
    folder: Path,
    seed: int,
) -> dict[str, float]:
    """Train a masked language model in place; it ends with the best weights.

    Args:
        tokenizer: Its tokenizer.
        model: Masked language model of transformers, in float32.
        texts: Texts to learn from.
        held_out: Texts to validate with; without any the last weights are kept.
        settings: Settings of the training.
        most_tokens: Most tokens that the model reads.
        folder: Folder for checkpoints and logs; an interrupted training in this folder is resumed.
        seed: Seed of everything random.

    Returns:
        The figures of the best round.

    Raises:
        DriverError: If the tokenizer cannot tell where its tokens stand, lightning is not installed, or the loss is not
            finite.
    """
    require_packages("srtk-plugin-transformers", "lightning")
    if not tokenizer.is_fast:
        raise DriverError(
            "the tokenizer cannot tell where its tokens stand in a text; name a model with tokenizer.json"
        )
    with quiet_lightning():
        from srtk_plugin_transformers.masked_lm_module import MaskedLMModule

        most = min(settings.max_length, most_tokens)
        rows, others = (token_rows(tokenizer, some, most) for some in (texts, held_out))
        pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else 0
        module = MaskedLMModule(model, tokenizer.mask_token_id, rows, others, settings, pad, folder, seed)
        model.load_state_dict(fit(module, folder, settings.logger, stem="round", accelerator=settings.accelerator))
        model.to("cpu").eval()
    return {**module.figures, "rows": float(len(rows))}
