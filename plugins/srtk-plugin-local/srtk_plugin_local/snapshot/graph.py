"""The ``local`` graph: a snapshot on disk, read in batches without an object per node or triple."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from srtk_framework.roles import KnowledgeGraph, absent, not_open
from srtk_framework.text import fold, own_spellings
from srtk_framework.values import (
    Budget,
    EdgeArrays,
    Frontier,
    InputError,
    Pattern,
    Qualifier,
    Schema,
    SrtkError,
    Step,
    Triple,
)
from srtk_plugin_local.name_index import NameIndex
from srtk_plugin_local.snapshot import csr_traversal, lookup
from srtk_plugin_local.snapshot.arrays import Snapshot
from srtk_plugin_local.snapshot.build_settings import BuildSettings

_COUNTED = ("triples", "entities", "relations")
_log = logging.getLogger(__name__)


@attrs.define(eq=False)
class LocalGraph(KnowledgeGraph):
    """A snapshot built by ``srtk graph build``, whose files are mapped into memory.

    Opening it reads the files that have changed since they were last opened, and compares them with their checksums. A
    file that is cut, written to or replaced while the graph is open is an error at the first call 20 ms later. A cut
    during a call, or right before it, may end the process.

    Attributes:
        path: Folder of the snapshot.
        build: Inputs of the snapshot; it is built if it is missing, or was built from other files or settings.
    """

    path: str
    build: BuildSettings | None = None
    _snapshot: Snapshot | None = attrs.field(init=False, default=None, repr=False)
    _steps: csr_traversal.StepTable | None = attrs.field(init=False, default=None, repr=False)
    _relations: dict[str, int] = attrs.field(init=False, factory=dict, repr=False)
    _names: NameIndex | None = attrs.field(init=False, default=None, repr=False)

    def preflight(self) -> list[tuple[str, str]]:
        """Open the snapshot, or check that the files it is to be built from exist."""
        if self.build is not None:
            return [fault for file in self.build.every_file() for fault in absent("build", file)]
        try:
            Snapshot(Path(self.path))
        except SrtkError as error:
            return [("path", str(error))]
        return []

    def open(self) -> None:
        """Build the snapshot if necessary, check its files, and map them."""
        folder = Path(self.path)
        if self.build is not None:
            from srtk_plugin_local.snapshot import build
            from srtk_plugin_local.snapshot.input_report import counted, sentences

            if not build.is_built_from(folder, self.build):
                meta = build.build(self.build, folder).meta
                for sentence in sentences(meta.build["reading"]):
                    _log.info("%s", sentence)
                _log.info("the graph has %s", ", ".join(counted(meta.counts[kind], kind) for kind in _COUNTED))
        opened = Snapshot(folder)
        if self.build is not None and not opened.meta.counts["triples"]:
            said = "; ".join(sentences(opened.meta.build["reading"], doubts_only=True))
            raise InputError(f"the files of the graph hold no fact, so that nothing can be asked: {said}")
        self._snapshot = opened
        self._steps = csr_traversal.StepTable(self._snapshot.relations)
        self._relations = {relation: number for number, relation in enumerate(self._snapshot.relations)}

    def close(self) -> None:
        """Release the files."""
        self._snapshot = None
        self._steps = None
        self._relations = {}
        self._names = None

    @property
    def _open(self) -> Snapshot:
        """The snapshot, whose files are checked at each call of the graph."""
        if self._snapshot is None:
            raise not_open(self)
        self._snapshot.check()
        return self._snapshot

    @property
    def _table(self) -> csr_traversal.StepTable:
        if self._steps is None:
            raise not_open(self)
        return self._steps

    def fingerprint(self) -> str:
        """Return the hash of the content."""
        return self._open.meta.content

    def source(self) -> str:
        """Return ``local:`` and the start of the content hash."""
        return f"local:{self._open.meta.content[:16]}"

    def arrays(self) -> EdgeArrays:
        """Return the edges of the snapshot, whose files are checked now."""
        return csr_traversal.LocalArrays(self._open, self._table)

    def schema(self) -> Schema:
        """Return the schema of the snapshot."""
        schema, build = self._open.meta.schema, self._open.meta.build
        symmetric = {one for report in build.get("reading", ()) for one in report.get("symmetric", ())}
        lists = {name: tuple(schema[name]) for name in ("type_relations", "subclass_relations", "mediators", "noise")}
        return Schema(
            **lists,
            prefixes=dict(schema["prefixes"]),
            relations=tuple(self._open.relations),
            tables=_own_columns(build.get("plan", {}), self._relations),
            symmetric=tuple(one for one in self.own_ids(sorted(symmetric), True) if one in self._relations),
        )

    def has_blank_nodes(self) -> bool:
        """Return whether a node has the id of a blank node; the view `folded` asks it once."""
        return lookup.any_starts_with(self._open, "_:")

    def noticed_mediators(self) -> Mapping[str, Any] | None:
        """Return the mediators that the build noticed, by the names of ``Noticed``; the view `mediated` asks once."""
        return self._open.meta.build.get("mediators")

    def frontiers(self, node_sets: Sequence[Sequence[str]]) -> Sequence[Frontier]:
        """Make one frontier of each set of ids."""
        return csr_traversal.make_frontiers(self._open, node_sets)

    def steps(self, frontiers: Sequence[Frontier], inverse: bool) -> Sequence[Sequence[Step]]:
        """Read the distinct steps that leave each frontier, sorted."""
        return csr_traversal.read_steps(self._open, self._table, frontiers, inverse)

    def follow(self, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None) -> Sequence[Frontier]:
        """Follow each step to the entities at its end; a limit counts all neighbours, literals included."""
        snapshot = self._open
        return csr_traversal.to_frontiers(snapshot, csr_traversal.walk(snapshot, self._table, frontiers, steps, limit))

    def triples(
        self, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None
    ) -> Sequence[Sequence[Triple]]:
        """Read the triples along each step, literals included."""
        snapshot = self._open
        return csr_traversal.to_triples(snapshot, csr_traversal.walk(snapshot, self._table, frontiers, steps, limit))

    def match(self, patterns: Sequence[Pattern]) -> Sequence[Sequence[Triple]]:
        """Find the triples of each pattern, sorted; a pattern with neither subject nor object takes a scan."""
        return lookup.match(self._open, self._relations, patterns)

    def neighbourhood(self, frontiers: Sequence[Frontier], hops: int, budget: Budget) -> Sequence[Sequence[Triple]]:
        """Read all triples within ``hops`` of each frontier, nearest first."""
        snapshot = self._open
        return [csr_traversal.neighbourhood(snapshot, frontier, hops, budget) for frontier in frontiers]

    def labels(self, ids: Sequence[str]) -> Sequence[str]:
        """Return the label of each id; without a label, its words where ids are names, else the id."""
        return lookup.labels(self._open, self._relations, ids)

    def other_names(self, ids: Sequence[str]) -> Sequence[Sequence[str]]:
        """Return the aliases of each entity, sorted."""
        return lookup.other_names(self._open, ids)

    def own_ids(self, ids: Sequence[str], relations: bool) -> Sequence[str]:
        """Return the spelling of each id that the snapshot has."""
        snapshot = self._open
        prefixes = snapshot.meta.schema["prefixes"]
        if relations:
            return own_spellings(ids, prefixes, True, lambda some: self._relations.keys() & {*some})
        return own_spellings(ids, prefixes, False, lambda some: lookup.entities(snapshot, some))

    def find(self, names: Sequence[str]) -> Sequence[Sequence[str]]:
        """Find the entities by label (by id if there is none) and alias."""
        return lookup.find(self._open, names)

    def near_names(self, names: Sequence[str], limit: int, whole: bool) -> Sequence[Sequence[str]]:
        """Find names that are written almost like each name."""
        return self._index().near([fold(name) for name in names], limit, whole)

    def known_words(self, words: Sequence[str]) -> Sequence[bool]:
        """Return whether each word is a word of a name."""
        return self._index().knows([fold(word) for word in words])

    def _index(self) -> NameIndex:
        snapshot = self._open
        if self._names is None:
            self._names = lookup.name_index(snapshot)
        return self._names

    def degrees(self, ids: Sequence[str]) -> Sequence[int]:
        """Count the triples of each entity without reading them."""
        return lookup.degrees(self._open, ids)

    def qualifiers(self, triples: Sequence[Triple]) -> Sequence[Sequence[Qualifier]]:
        """Read the qualifiers of each triple, sorted; values that are literals are ``Literal``."""
        return lookup.qualifiers(self._open, self._relations, triples)


def _own_columns(plan: Mapping[str, Any], relations: Container[str]) -> dict[str, tuple[str, ...]]:
    """Return, for each table of entities, its columns that are relations, without those that several tables have."""
    tables = {
        name: [column for column in table.get("columns", {}) if column in relations]
        for name, table in plan.get("tables", {}).items()
        if table.get("rows") == "entities"
    }
    count = Counter(column for columns in tables.values() for column in columns)
    return {name: tuple(column for column in columns if count[column] == 1) for name, columns in tables.items()}
