"""The ``names`` mention detector: runs of words that are in a file of names."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import attrs

from srtk_framework.roles import absent
from srtk_framework.text import fold
from srtk_framework.values import InputError
from srtk_plugin_local.detectors.known_names import KnownNamesDetector


@attrs.define(eq=False)
class NamesDetector(KnownNamesDetector):
    """Find the names of a list, also in lower case; for graphs on servers, where ``ngrams`` needs too many lookups.

    Attributes:
        path: UTF-8 file with one name in each line.
    """

    path: str
    _names: frozenset[str] = attrs.field(init=False, default=frozenset(), repr=False)

    def preflight(self) -> list[tuple[str, str]]:
        """Check that the file of names exists."""
        return absent("path", self.path)

    def open(self) -> None:
        """Read the names."""
        try:
            text = Path(self.path).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{self.path}: cannot be read as UTF-8 text ({error}); correct `path`") from error
        self._names = frozenset(name for line in text.splitlines() if (name := fold(line)))

    def fingerprint(self) -> str:
        """Identify the names and the settings."""
        names = hashlib.sha256("\n".join(sorted(self._names)).encode(errors="surrogatepass")).hexdigest()[:16]
        how = (self.overlaps, tuple(self.languages or ()), self.min_score)
        return f"NamesDetector({names}, {how})"

    def _known(self, names: Sequence[str]) -> list[bool]:
        return [name in self._names for name in names]
