"""Links to Wikipedia titles converted to links to Wikidata ids."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from typing import Literal

import attrs

from srtk_framework.values import Link, LinkList
from srtk_plugin_rel.title_index import Editions

logger = logging.getLogger(__name__)

Unmapped = Literal["drop", "keep"]

_SHOWN = 5  # Titles that a warning names; a run may lose thousands


class Converter:
    """Maps titles by indexes, and counts those that are not there."""

    def __init__(self, indexes: str | Mapping[str, str], language: str, unmapped: Unmapped, who: str) -> None:
        self._editions = Editions(indexes, language)
        self._keep = unmapped == "keep"
        self._who = who
        self._warned: set[str] = set()
        self._lock = threading.Lock()
        self.lost = 0

    def convert(
        self, rows: Sequence[Sequence[Link]], pages: Sequence[Sequence[int | None]] | None = None
    ) -> list[LinkList]:
        """Replace the titles in links by ids; titles that share an id at one span become one link.

        Each link may have the number of its page. The answer lists titles without an id as ``unmapped``.
        """
        links = [link for row in rows for link in row]
        numbers = [None] * len(links) if pages is None else [page for row in pages for page in row]
        distinct = list(dict.fromkeys((link.entity, page) for link, page in zip(links, numbers, strict=True)))
        found = self._editions.ids([title for title, _ in distinct], [page for _, page in distinct])
        ids = dict(zip(distinct, found, strict=True))
        self._warn([title for (title, _), id_ in ids.items() if id_ is None], sum(
            ids[link.entity, page] is None for link, page in zip(links, numbers, strict=True)
        ))  # fmt: skip
        done, at = [], 0
        for row in rows:
            keys = [(link.entity, page) for link, page in zip(row, numbers[at : at + len(row)], strict=True)]
            at += len(row)
            mapped = [attrs.evolve(link, entity=ids[key] or link.entity) for link, key in zip(row, keys, strict=True)
                      if ids[key] is not None or self._keep]  # fmt: skip
            known = LinkList.of(ordered(mapped), row)
            lost = [key[0] for key in keys if ids[key] is None]
            known.unmapped = tuple(dict.fromkeys([*(known.unmapped or ()), *lost]))
            done.append(known)
        return done

    def _warn(self, titles: Sequence[str], count: int) -> None:
        """Count titles without an id, and warn of each once."""
        with self._lock:
            self.lost += count
            new = sorted(set(titles) - self._warned)
            self._warned.update(new)
        if new:
            names = ", ".join(repr(title) for title in new[:_SHOWN]) + (", ..." if len(new) > _SHOWN else "")
            fate = "kept as titles" if self._keep else "dropped"
            logger.warning(
                "%s: %d titles have no id in the index, their links are %s: %s", self._who, len(new), fate, names
            )

    def fingerprint(self) -> str:
        """Identify the content of the indexes."""
        return self._editions.fingerprint()

    def close(self) -> None:
        """Close the indexes."""
        self._editions.close()


def ordered(links: Sequence[Link]) -> list[Link]:
    """Sort links as the role wants them; of links to one entity at one span keep the best."""
    best: dict[tuple[str, int | None, int | None], Link] = {}
    for link in sorted(links, key=lambda link: (-link.score, link.name)):
        best.setdefault((link.entity, link.start, link.end), link)
    return sorted(best.values(), key=lambda link: (
        -1 if link.start is None else link.start, -link.score, link.entity, -1 if link.end is None else link.end
    ))  # fmt: skip
