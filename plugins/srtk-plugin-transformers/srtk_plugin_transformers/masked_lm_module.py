"""Lightning module that trains a masked language model on texts.

Importing it imports lightning and torch, which takes seconds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from srtk_plugin_training.learner import Learner

from srtk_framework.values import batched
from srtk_plugin_transformers.mask_fit_settings import MaskFillerFitSettings
from srtk_plugin_transformers.masked_language_model import head_alone
from srtk_plugin_transformers.masked_texts import Hidden, TokenRow, batch_count, batches, hide

_WARM_UP = 0.05  # Share of the updates over which the learning rate rises
_WEIGHT_DECAY = 0.01
_MASK_SHARE = 0.15  # Share of a text's tokens that are hidden (Devlin et al. 2019)


class MaskedLMModule(Learner):
    """A masked language model that learns to find hidden tokens.

    A round has ``validate_every`` updates. The hidden tokens, the order of the texts and the dropout depend on the
    seed and the number of the update alone. So a resumed training gives the same weights.
    """

    least_gain: ClassVar[float] = 0.0
    _settings: MaskFillerFitSettings

    def __init__(
        self,
        model: Any,
        mask: int,
        rows: Sequence[TokenRow],
        held_out: Sequence[TokenRow],
        settings: MaskFillerFitSettings,
        pad: int,
        folder: Path,
        seed: int,
    ) -> None:
        super().__init__(settings, folder, seed)
        self.model = model
        self._head = head_alone(model)
        self._rows, self._pad, self._mask = rows, pad, mask
        self._vocabulary = int(model.get_output_embeddings().weight.shape[0])
        random = np.random.default_rng((seed, 1))
        self._held_out = [self._hidden(row, random) for row in sorted(held_out, key=lambda row: len(row.ids))]
        self._per_epoch = batch_count(len(rows), settings.batch_size)
        self.updates = min(settings.epochs * self._per_epoch, settings.steps or math.inf)
        self._order: tuple[int, list[list[int]]] = (-1, [])

    def rounds(self, devices: int) -> int:
        """Return the number of rounds."""
        return -(-int(self.updates) // self._settings.validate_every)

    def batches(self) -> list[tuple[int, list[int]]]:
        """Return the updates of this round."""
        first = self.current_epoch * self._settings.validate_every
        last = min(first + self._settings.validate_every, int(self.updates))
        return [(number, self._batch(number)) for number in range(first, last)]

    def _batch(self, number: int) -> list[int]:
        epoch, at = divmod(number, self._per_epoch)
        if self._order[0] != epoch:
            random = np.random.default_rng((self._seed, 2, epoch))
            self._order = (epoch, batches(self._rows, self._settings.batch_size, random))
        return self._order[1][at]

    def on_train_epoch_start(self) -> None:
        """Start the mean of the losses anew."""
        super().on_train_epoch_start()
        self.model.train()

    def loss_of(self, batch: tuple[int, list[int]], number: int) -> tuple[torch.Tensor, int]:
        """Return the mean loss of the hidden tokens of a batch, and their number."""
        update, places = batch
        random = np.random.default_rng((self._seed, 3, update))
        # Dropout draws from the global numbers, which the trainer keeps apart.
        torch.manual_seed(int(random.integers(2**62)))
        hidden = [self._hidden(self._rows[at], random) for at in places]
        logits, targets = self._logits(hidden)
        loss = torch.nn.functional.cross_entropy(logits, targets)
        return loss, len(targets)

    def fault(self, batch: tuple[int, list[int]], what: str) -> str:
        """Give the update after which the loss is not finite, and the remedy."""
        return f"{what} after {batch[0]} updates; lower learning_rate"

    def progress(self) -> dict[str, float]:
        """Return the number of updates done."""
        return {"updates": float(min((self.current_epoch + 1) * self._settings.validate_every, int(self.updates)))}

    def weights(self) -> Mapping[str, torch.Tensor]:
        """Return the weights of the model."""
        found: Mapping[str, torch.Tensor] = self.model.state_dict()
        return found

    def _hidden(self, row: TokenRow, random: np.random.Generator) -> Hidden:
        settings = self._settings
        return hide(row, self._mask, self._vocabulary, _MASK_SHARE, settings.mention_share, random)

    def _logits(self, hidden: Sequence[Hidden]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the logits of the hidden tokens [n, v] and their ids; the vocabulary is computed for them alone."""
        sizes = [len(one.ids) for one in hidden]
        ids = torch.full((len(hidden), max(sizes)), self._pad, dtype=torch.long)
        for row, one in zip(ids, hidden, strict=True):
            row[: len(one.ids)] = torch.tensor(one.ids)
        mask = (torch.arange(max(sizes)) < torch.tensor(sizes)[:, None]).long()
        states = self.model.base_model(
            input_ids=ids.to(self.device), attention_mask=mask.to(self.device)
        ).last_hidden_state
        rows = [i for i, one in enumerate(hidden) for _ in one.places]
        places = [place for one in hidden for place in one.places]
        targets = torch.tensor([target for one in hidden for target in one.targets], device=self.device)
        return self._head(states[rows, places]), targets

    def validated(self) -> dict[str, float]:
        """Return the mean loss of the hidden tokens of the held-out texts, and the share that is found."""
        if not self._held_out:
            return {}
        self.model.eval()
        total = found = count = 0.0
        with torch.inference_mode():
            for part in batched(self._held_out, self._settings.batch_size):
                logits, targets = self._logits(part)
                total += float(torch.nn.functional.cross_entropy(logits, targets, reduction="sum"))
                found += float((logits.argmax(-1) == targets).sum())
                count += len(targets)
        self.model.train()
        return {"held_out_loss": total / count, "held_out_found": found / count}

    def configure_optimizers(self) -> Any:
        """Return AdamW, with a rate that rises and falls linearly."""
        settings, updates = self._settings, int(self.updates)
        optimizer = torch.optim.AdamW(self.parameters(), lr=settings.learning_rate, weight_decay=_WEIGHT_DECAY)
        rising = max(1, round(_WARM_UP * updates))

        def rate(done: int) -> float:
            return min((done + 1) / rising, max(0.0, (updates - done) / max(1, updates - rising)), 1.0)

        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}
