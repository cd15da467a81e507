"""The ``names`` mention detector: runs of words that are in a file of names."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import attrs

from srtk_framework.roles import MentionDetector, absent
from srtk_framework.text import fold
from srtk_framework.values import InputError, Mention, at_least, keys_of, share
from srtk_plugin_local.detectors.known_names import known_mentions
from srtk_plugin_local.dictionary.stop_words import STOP_WORDS, FunctionWords


@attrs.define(eq=False)
class NamesDetector(MentionDetector):
    """Find the names of a list, also in lower case; for graphs on servers, where ``ngrams`` needs too many lookups.

    Attributes:
        path: UTF-8 file with one name in each line.
        max_words: Maximum number of words of a name.
        overlaps: keep: all mentions. best: of overlapping ones the best, then the longest.
        languages: Languages of function words, which are not names in lower case: de, en, es, fr, it, nl, pt; by
            default the language of each text, by its function words.
        min_score: Minimum score of a mention: how much the words look like a name.
    """

    path: str
    max_words: int = attrs.field(default=12, validator=at_least(1))
    overlaps: Literal["keep", "best"] = "keep"
    languages: Sequence[str] | None = attrs.field(default=None, validator=keys_of(tuple(STOP_WORDS)))
    min_score: float = attrs.field(default=0.0, validator=share)
    _words: FunctionWords = attrs.field(init=False, repr=False)
    _names: frozenset[str] = attrs.field(init=False, default=frozenset(), repr=False)

    def __attrs_post_init__(self) -> None:
        self._words = FunctionWords(self.languages)

    def preflight(self) -> list[tuple[str, str]]:
        """Check that the file of names exists."""
        return absent("path", self.path)

    def open(self) -> None:
        """Read the names."""
        self._names = _read_names(Path(self.path))

    def fingerprint(self) -> str:
        """Identify the names and the settings."""
        names = hashlib.sha256("\n".join(sorted(self._names)).encode(errors="surrogatepass")).hexdigest()[:16]
        how = (self.max_words, self.overlaps, tuple(self.languages or ()), self.min_score)
        return f"NamesDetector({names}, {how})"

    def detect(self, texts: Sequence[str]) -> list[list[Mention]]:
        """Look up all runs of words of each text in the list."""
        return known_mentions(texts, self._known, self._words, self.max_words, self.overlaps == "best", self.min_score)

    def _known(self, names: Sequence[str]) -> list[bool]:
        return [name in self._names for name in names]


def _read_names(path: Path) -> frozenset[str]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as UTF-8 text ({error}); correct `path`") from error
    return frozenset(name for line in lines if (name := fold(line)))
