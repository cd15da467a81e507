"""The linker view ``wikipedia-map``: the links of another linker, with Wikidata ids for Wikipedia titles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from srtk_framework.roles import EntityLinker, not_open
from srtk_framework.values import Link
from srtk_plugin_rel.id_converter import Converter, Unmapped


@attrs.define(eq=False)
class WikipediaMap(EntityLinker):
    """Map the titles that a linker finds to Wikidata ids, from a file, with no service.

    Titles may have blanks or underscores, percent signs or HTML entities, a small first letter, or be
    addresses of pages.

    Attributes:
        linker: Whose links are mapped.
        index: Index that `srtk map build` or wikimapper made, or language to index.
        language: Edition of Wikipedia of titles that name none.
        unmapped: Link whose title has no id: `drop` it, or `keep` the title as its id; the log names it.
    """

    linker: EntityLinker
    index: str | Mapping[str, str]
    language: str = "en"
    unmapped: Unmapped = "drop"
    _converter: Converter | None = attrs.field(init=False, default=None, repr=False)

    @property
    def lost(self) -> int:
        """Count the links since opening whose title had no id."""
        return self._converter.lost if self._converter else 0

    def open(self) -> None:
        """Open the index."""
        self._converter = Converter(self.index, self.language, self.unmapped, "wikipedia-map")

    def close(self) -> None:
        """Close the index."""
        if self._converter is not None:
            self._converter.close()
        self._converter = None

    def fingerprint(self) -> str:
        """Name the linker, and the content of the index."""
        index = repr(self.index) if self._converter is None else self._converter.fingerprint()
        parts = f"{self.linker.fingerprint()}, {index}, {self.language!r}, {self.unmapped!r}"
        return f"{type(self).__module__}.{type(self).__qualname__}({parts})"

    def link(self, texts: Sequence[str]) -> Sequence[Sequence[Link]]:
        """Link by the inner linker, and map its entities."""
        if self._converter is None:
            raise not_open(self)
        return self._converter.convert(self.linker.link(texts))
