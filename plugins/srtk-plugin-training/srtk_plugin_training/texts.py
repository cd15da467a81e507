"""Training on the texts of a corpus, with some of them held out for validation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import attrs

from srtk_framework.records import place
from srtk_framework.roles import Corpus
from srtk_framework.values import Entry, RunError
from srtk_plugin_training.material import NO_SETS, Context, Given, Material, TrainingData, no_questions
from srtk_plugin_training.question_sets import hash_of


@attrs.frozen
class TextMaterial(Material):
    """The texts of a corpus, with the entities that they name as far as the corpus knows them.

    Attributes:
        corpus: Port of the corpus.
        share: Share of the texts to hold out, or None.
    """

    corpus: Corpus
    share: float | None
    names: ClassVar[Mapping[str, str]] = {"texts": "the texts", "held_out_texts": "the texts held out"}
    refuses: ClassVar[Mapping[str, str]] = {**NO_SETS, **no_questions("texts", "texts")}
    pipeline_tag = "fill-mask"
    hashed = "the texts"

    summary = "{texts:,} texts; {held_out_texts:,} were held out"
    card = (
        "Trained on {texts:,} texts of {words:,} words, which name entities {mentions:,} times; {held_out_texts:,}"
        " others were held out. What these texts state, the model has read."
    )

    @classmethod
    def of(cls, given: Given) -> TextMaterial | None:
        """Build the corpus that a recipe names."""
        named, wrong = given.train.texts, given.wrong
        if named is None:
            wrong(("train",), "train needs `texts:`, a corpus to learn from, such as {use: documents, path: FILE}")
            return None
        corpus: Any = given.composer.build(named)
        return None if corpus is None else cls(corpus, given.train.share)

    @property
    def described(self) -> str:
        """The fingerprint of the corpus."""
        return self.corpus.fingerprint()

    def read(self, context: Context) -> TrainingData:
        """Read the texts, and hold some out by their hashes, so that equal texts are on the same side."""
        learning: list[Entry] = []
        held: list[Entry] = []
        for entry in self.corpus.read():
            if entry.text.strip():
                out = self.share is not None and place(f"texts {context.seed}\0{entry.text}", 0) < self.share
                (held if out else learning).append(entry)
        if not learning:
            raise RunError("the corpus has no text to learn from; name another one as `texts:`")
        if self.share is not None and not held:
            raise RunError(
                f"no text is held out: a share of {self.share:g} of {len(learning):,} texts is less than one; give a"
                " larger share, or omit `held_out:`"
            )
        parts = {"texts": learning, "held_out_texts": held}
        hashes = {name: hash_of((one.id, one.text, one.mentions) for one in some) for name, some in parts.items()}
        counts = {
            "texts": len(learning),
            "words": sum(len(entry.text.split()) for entry in learning),
            "mentions": sum(len(entry.mentions) for entry in learning),
            "held_out_texts": len(held),
        }
        return TrainingData(hashes, counts, texts=learning, held_out_texts=held)
