"""Training on the texts of a corpus, some of which are held out to validate with."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import attrs

from srtk_framework.records import place
from srtk_framework.roles import Corpus
from srtk_framework.values import Entry, RunError
from srtk_plugin_training.material import NO_SETS, Context, Examples, Given, TrainingData, no_questions


@attrs.frozen
class TextMaterial:
    """The texts of a corpus, with the entities that they name as far as the corpus knows them.

    Attributes:
        corpus: Port of the corpus.
        share: Share of the texts to hold out, or None.
    """

    corpus: Corpus
    share: float | None
    supervisions = ()
    names: ClassVar[Mapping[str, str]] = {"texts": "the texts", "held_out_texts": "the texts held out"}
    refuses: ClassVar[Mapping[str, str]] = {**NO_SETS, **no_questions("texts", "texts")}
    pipeline_tag = "fill-mask"
    hashed = "the texts"

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
        hashes = {}
        for name, some in (("texts", learning), ("held_out_texts", held)):
            digest = hashlib.sha256()
            for entry in some:
                digest.update(repr((entry.id, entry.text, entry.mentions)).encode("utf-8", "surrogatepass"))
            hashes[name] = digest.hexdigest()
        counts = {
            "texts": len(learning),
            "words": sum(len(entry.text.split()) for entry in learning),
            "mentions": sum(len(entry.mentions) for entry in learning),
            "held_out_texts": len(held),
        }
        return TrainingData(hashes, counts, texts=learning, held_out_texts=held)

    def examples(self, data: TrainingData, context: Context, goes_on: bool) -> Examples:
        """Return none: a driver that learns from texts makes its own examples of them."""
        return Examples()

    def validation(self, data: TrainingData, context: Context) -> Callable[[], Mapping[str, float]] | None:
        """Return None: only the driver knows what it reads of a text, so it validates on the texts held out itself."""
        return None

    def summary(self, counts: Mapping[str, int]) -> str:
        """Say how many texts were trained on and held out."""
        return f"{counts['texts']:,} texts; {counts['held_out_texts']:,} were held out"

    def card_line(self, counts: Mapping[str, int]) -> str:
        """Say how many texts were trained on and held out."""
        return (
            f"Trained on {counts['texts']:,} texts of {counts['words']:,} words, which name entities"
            f" {counts['mentions']:,} times; {counts['held_out_texts']:,} others were held out. What these texts state,"
            " the model has read."
        )
