"""Settings of an encoder of texts over a folder of sentence-transformers, whatever library computes it."""

from __future__ import annotations

import logging
from abc import abstractmethod
from pathlib import Path
from typing import Literal

import attrs

from srtk_framework.values import at_least, one_of
from srtk_plugin_models.folder import folder_faults
from srtk_plugin_models.sentence_folder import SentenceFolder, read_sentence_folder

MAX_LENGTH = 128
Pooling = Literal["auto", "cls", "mean", "last", "srtk"]

logger = logging.getLogger(__name__)


@attrs.define(eq=False, kw_only=True)
class SentenceSettings:
    """Base of the encoders that run a model of the Hugging Face hub; a driver derives from it and from ``Encoder``.

    Attributes:
        model: ``minilm``, a folder made by ``save_pretrained``, or a name on the Hugging Face hub.
        pooling: ``cls``, ``mean`` or ``last`` token; ``auto`` uses the model's own setting, else mean, and ``srtk`` the
            model's own setting, else the pooling of SRTK: the first token if the tokenizer adds it, else the mean.
        normalize: Whether vectors have length 1.
        max_length: Maximum number of tokens of a text, whose rest is cut off; by default the model's own
            setting, else 128.
        prompt: Name of one of the model's prompts, put before each text; by default its default prompt, if any.
        revision: Branch, tag or commit on the hub.
    """

    model: str = "minilm"
    pooling: Pooling = attrs.field(default="auto", validator=one_of(("auto", "cls", "mean", "last", "srtk")))
    normalize: bool = True
    max_length: int | None = attrs.field(default=None, validator=at_least(1))
    prompt: str | None = None
    revision: str | None = None

    _folder: Path | None = attrs.field(init=False, default=None, repr=False)

    @abstractmethod
    def _find(self) -> Path:
        """Return the folder of the model, downloaded from the hub if needed."""

    @abstractmethod
    def _marks_first_token(self, folder: Path) -> bool:
        """Return whether the tokenizer of a folder puts a token for the whole text before it."""

    def preflight(self) -> list[tuple[str, str]]:
        """Check the model, if it is a folder."""
        return folder_faults(self.model, self.prompt)

    def _settings(self, folder: Path) -> SentenceFolder:
        return read_sentence_folder(folder, self.prompt)

    def _length(self, folder: Path) -> int:
        return self.max_length or self._settings(folder).max_length or MAX_LENGTH

    def _pooling(self, folder: Path) -> str:
        said = self._settings(folder).pooling
        if self.pooling == "srtk":
            return said or ("cls" if self._marks_first_token(folder) else "mean")
        return said or "mean" if self.pooling == "auto" else self.pooling

    def _warn_of_guessed_pooling(self, folder: Path) -> None:
        if self.pooling == "auto" and self._settings(folder).pooling is None:
            logger.warning(
                "model %r does not say how its vectors are pooled, so they are the mean of all tokens; set pooling:"
                " srtk if SRTK trained it, or mean to say so",
                self.model,
            )
