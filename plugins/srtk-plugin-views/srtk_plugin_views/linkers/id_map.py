"""The ``id-map`` linker: links of another linker, with Freebase ids mapped to Wikidata ids or back."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import attrs

from srtk_framework.roles import EntityLinker, absent, not_open
from srtk_framework.values import InputError, Link, LinkList, link_order
from srtk_plugin_views.linkers import freebase_ids, id_table
from srtk_plugin_views.linkers.id_table import IdTable
from srtk_plugin_views.linkers.linker_calls import by_place

_log = logging.getLogger(__name__)


@attrs.define(eq=False)
class IdMapLinker(EntityLinker):
    """Map the Freebase ids of a linker to Wikidata ids, or back, with a file of pairs.

    An id with several counterparts becomes several links. Ids that are already of the target graph stay.

    Attributes:
        linker: Linker whose ids are mapped.
        path: File of pairs: two columns in any order, N-Triples, or a JSON object; also .gz, .bz2, .xz and .zst.
        to: Target graph: wikidata or freebase.
        ids: Form of Freebase ids: slash (/m/02mjmr), dot (m.02mjmr) or guid.
        unmapped: drop: links without a counterpart are dropped, with a warning. keep: they keep their id.
    """

    linker: EntityLinker
    path: str
    to: Literal["wikidata", "freebase"] = "wikidata"
    ids: Literal["slash", "dot", "guid"] = "slash"
    unmapped: Literal["drop", "keep"] = "drop"
    _table: IdTable | None = attrs.field(init=False, default=None, repr=False)
    _digest: str = attrs.field(init=False, default="", repr=False)

    def preflight(self) -> list[tuple[str, str]]:
        """Check that the file of pairs exists."""
        return absent("path", self.path)

    def open(self) -> None:
        """Read the file of pairs."""
        self._table = id_table.read(self.path)

    def close(self) -> None:
        """Release the pairs."""
        self._table = None

    def fingerprint(self) -> str:
        """Identify the linker, the content of the file, and the settings."""
        if not self._digest:
            try:
                content = Path(self.path).read_bytes()
            except OSError as error:
                raise InputError(f"{self.path}: cannot be read ({error.strerror}); correct `path`") from error
            self._digest = hashlib.sha256(content).hexdigest()[:16]
        return f"IdMapLinker({self.linker.fingerprint()}, {self._digest}, {self.to}, {self.ids}, {self.unmapped})"

    def link(self, texts: Sequence[str]) -> list[LinkList]:
        """Link with the inner linker and map the ids."""
        found = self.linker.link(texts)
        known = {id_: self.mapped(id_) for id_ in dict.fromkeys(link.entity for row in found for link in row)}
        lost = sum(not known[link.entity] for row in found for link in row)
        if lost:
            what = "dropped" if self.unmapped == "drop" else "left unchanged"
            _log.warning("%d links have an id without counterpart in %s and are %s", lost, self.path, what)
        return [self._changed(row, known) for row in found]

    def suggest(self, texts: Sequence[str], limit: int) -> list[list[Link]]:
        """Map the suggestions of the inner linker."""
        found = []
        for row in self.linker.suggest(texts, limit):
            best: dict[str, Link] = {}
            for link in row:
                for entity in self.mapped(link.entity) or ([link.entity] if self.unmapped == "keep" else []):
                    best.setdefault(entity, attrs.evolve(link, entity=entity))
            found.append(sorted(best.values(), key=link_order)[:limit])
        return found

    def mapped(self, id_: str) -> list[str]:
        """Return the counterparts of an id in the target graph."""
        if self._table is None:
            raise not_open(self)
        freebase, wikidata = freebase_ids.number(id_), id_table.item(id_)
        if self.to == "wikidata":
            if wikidata is not None:
                return [f"Q{wikidata}"]
            return [f"Q{number}" for number in self._table.wikidata(freebase)] if freebase is not None else []
        if freebase is not None:
            return [freebase_ids.written(freebase, self.ids)]
        numbers = self._table.freebase(wikidata) if wikidata is not None else []
        return [freebase_ids.written(number, self.ids) for number in numbers]

    def _changed(self, row: Sequence[Link], known: dict[str, list[str]]) -> LinkList:
        best: dict[tuple[str, int | None, int | None], Link] = {}
        for link in row:
            kept = [link.entity] if self.unmapped == "keep" else []
            for entity in known[link.entity] or kept:
                key = (entity, link.start, link.end)
                if key not in best or best[key].score < link.score:
                    best[key] = attrs.evolve(link, entity=entity)
        return LinkList.of(sorted(best.values(), key=by_place), row)
