"""The ``masked-lm`` mask filler: any Hugging Face masked language model, the same scores in any batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import attrs
import numpy as np
from srtk_plugin_models import check_weights, file_hash, files_hash, folder_faults
from srtk_plugin_training import BEST, fit, quiet_lightning, require_packages

from srtk_framework.records import check_manifest, write_manifest
from srtk_framework.roles import MaskFiller, TrainingTask, not_open
from srtk_framework.values import SCORE_DIGITS, DriverError, MaskedText, TokenScore, at_least
from srtk_plugin_transformers.mask_fit_settings import MaskFillerFitSettings
from srtk_plugin_transformers.masked_language_model import MaskedLanguageModel, masked_model_class, placed
from srtk_plugin_transformers.masked_texts import token_rows
from srtk_plugin_transformers.torch_settings import TorchSettings, quiet

if TYPE_CHECKING:
    import numpy.typing as npt


@attrs.define(eq=False, kw_only=True)
class TransformersMaskFiller(TorchSettings, MaskFiller):
    """Fill gaps with the tokens of a Hugging Face masked language model.

    The scores of a text do not depend on the batch: it is padded to a length that depends on its own tokens only, and
    computed in a pass with a fixed number of rows. The vocabulary is computed at the gaps alone. A context follows its
    text as a second segment, and its end is cut off where both are too long. A text that is too long by itself is cut
    at both ends, never at a gap. Special tokens are never proposed.

    It can be trained on the texts of a corpus; where these mark the entities that they name, whole names are hidden.

    Attributes:
        model: A folder made by ``save_pretrained``, or a name on the Hugging Face hub.
        max_length: Maximum number of tokens of a text with its context; by default, and at most, the model's own.
        batch_size: Rows of a pass of short texts; by default 64 on a CPU, 512 on a GPU.
    """

    learns: ClassVar[str] = "texts"
    reuse: ClassVar[str] = "mask_filler: {use: masked-lm, model: FOLDER}"
    rows: ClassVar[tuple[int, int]] = (64, 512)

    max_length: int | None = attrs.field(default=None, validator=at_least(8))

    _language: MaskedLanguageModel | None = attrs.field(init=False, default=None, repr=False)
    _trained: str = attrs.field(init=False, default="", repr=False)

    def preflight(self) -> list[tuple[str, str]]:
        """Check the model, if it is a folder."""
        return folder_faults(self.model)

    def open(self) -> None:
        """Load tokenizer and weights."""
        folder = self._find()
        check_weights(folder, self.model, self.unsafe_weights)
        self._use(*self._loaded(folder, self._place()[1]))

    def _loaded(self, folder: Path, dtype: str) -> tuple[Any, Any]:
        return self._load(folder, dtype, masked_model_class, "masked language model")

    def _use(self, tokenizer: Any, model: Any) -> None:
        """Fill gaps by a model from now on."""
        if self._language is not None:
            self._language.close()
        device, dtype = self._place()
        self._language = MaskedLanguageModel(
            tokenizer,
            placed(model, device, dtype),
            name=self.model,
            max_length=self.max_length,
            batch_size=self._rows(device),
            threads=self.threads,
        )

    def close(self) -> None:
        """Release the weights and the threads."""
        if self._language is not None:
            self._language.close()
            self._language = None
        self._folder, self._trained = None, ""

    def mask(self) -> str:
        """Return the mask token of the model."""
        return self._opened().mask

    def tokens(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the pieces of each text after a blank; none where a piece is unknown to the model."""
        language = self._opened()
        return [language.tokens(text) for text in texts]

    def fill(self, texts: Sequence[MaskedText], k: int) -> list[list[list[TokenScore]]]:
        """Return the most probable tokens of each gap.

        Raises:
            DriverError: If the filler is not open, or the gaps of a text are too far apart.
        """
        language = self._opened()
        rows = [language.row(text) for text in texts]
        answers: list[list[list[TokenScore]]] = [[[] for _ in row.gaps] for row in rows]

        def read(text: int, gap: int, scores: npt.NDArray[np.float32]) -> None:
            answers[text][gap] = language.best(scores, k)

        language.scores(rows, read)
        return answers

    def rate(
        self, texts: Sequence[MaskedText], fillings: Sequence[Sequence[tuple[str, ...]]]
    ) -> list[npt.NDArray[np.float32]]:
        """Return the log-probabilities of given tokens.

        Raises:
            DriverError: If the filler is not open, a token is none of the model's, or a filling has another number of
                tokens than the text has gaps.
        """
        language = self._opened()
        rows = [language.row(text) for text in texts]
        # Texts that are compared share their list of fillings.
        known: dict[tuple[int, int], npt.NDArray[np.int64]] = {}
        for row, some in zip(rows, fillings, strict=True):
            if (id(some), len(row.gaps)) not in known:
                known[id(some), len(row.gaps)] = language.ids_of(some, len(row.gaps))
        ids = [known[id(some), len(row.gaps)] for row, some in zip(rows, fillings, strict=True)]
        answers = [np.zeros(one.shape, dtype=np.float32) for one in ids]

        def read(text: int, gap: int, scores: npt.NDArray[np.float32]) -> None:
            answers[text][:, gap] = np.round(scores[ids[text][:, gap]].astype(np.float64), SCORE_DIGITS)

        language.scores(rows, read)
        return answers

    def fingerprint(self) -> str:
        """Identify the model's files, the settings that change scores, the versions, and the kind of processor."""
        files = self._trained or files_hash(self._find(), self.unsafe_weights, self.trust_remote_code)
        return self._fingerprint("masked-lm", {"files": files, "max_length": self.max_length})

    # Training

    def fit(self, task: TrainingTask, training: MaskFillerFitSettings) -> Mapping[str, float]:
        """Train on the texts, or resume an interrupted training; the weights with the lowest held-out loss are kept.

        Raises:
            DriverError: If the filler is not open, the tokenizer does not give the places of its tokens, lightning is
                not installed, or the loss is not finite.
        """
        language = self._opened()
        # The model in use may be of another number type.
        tokenizer, model = self._loaded(self._find(), "float32")
        require_packages("srtk-plugin-transformers", "lightning")
        if not tokenizer.is_fast:
            raise DriverError(
                "the tokenizer cannot tell where its tokens stand in a text; name a model with tokenizer.json"
            )
        with quiet_lightning():
            from srtk_plugin_transformers.masked_lm_module import MaskedLMModule

            most = min(training.max_length, language.most_tokens)
            rows, others = (token_rows(tokenizer, some, most) for some in (task.texts, task.held_out_texts))
            module = MaskedLMModule(
                model, tokenizer.mask_token_id, rows, others, training, language.pad, task.folder, task.seed
            )
            model.load_state_dict(fit(module, task.folder, None, stem="round", accelerator=training.accelerator))
        self._use(tokenizer, model.to("cpu").eval())
        self._trained = file_hash(task.folder / BEST)
        return {**module.figures, "rows": float(len(rows))}

    def save(self, folder: Path) -> None:
        """Write a folder as ``save_pretrained`` does, with the tokenizer."""
        language = self._opened()
        folder.mkdir(parents=True, exist_ok=True)
        with quiet():
            language.model.save_pretrained(folder)
            language.tokenizer.save_pretrained(folder)
        write_manifest(folder)

    def load(self, folder: Path) -> None:
        """Fill gaps by the model in a folder from now on."""
        check_manifest(folder, "train the model again")
        self._use(*self._loaded(folder, self._place()[1]))
        self._folder, self._trained = folder, ""

    def _opened(self) -> MaskedLanguageModel:
        if self._language is None:
            raise not_open(self)
        return self._language
