"""The index ``qdrant``: entries as points of a Qdrant collection."""

from __future__ import annotations

import hashlib
import logging
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import attrs
import numpy as np
import numpy.typing as npt
from srtk_plugin_index.indexes.entry_filter import EntryFilter
from srtk_plugin_index.indexes.exact import (
    UNIT,
    Matrix,
    check_searched,
    encoded_texts,
    norms,
    score_keys,
    search_texts,
    vectors_of,
)
from srtk_plugin_index.indexes.lineage import (
    REBUILD,
    check_built,
    check_id,
    corpus_fingerprint,
    counts_left_out,
    graph_sources,
)

from srtk_framework.roles import Corpus, Encoder, Index, SubgraphEncoder, no_url, not_open
from srtk_framework.values import (
    DriverError,
    Entry,
    Hit,
    SettingsError,
    at_least,
    one_of,
    positive,
    refusal,
    without_logins,
)
from srtk_plugin_qdrant.generations import Generations
from srtk_plugin_qdrant.points import (
    DIGEST,
    ENTITIES,
    NORM,
    RELATIONS,
    Row,
    digest,
    entry_from,
    payload_of,
    point_id,
    unit,
)
from srtk_plugin_qdrant.store import HEAD, MissingError, Store, folder, server

COSINE, DOT = "cosine", "dot"
_FORMAT = 1
# Points asked for beyond ``k`` at first, so that equal scores at the end of the list seldom need a second request.
_MORE = 16
# Searches in a request, so that long vectors stay below the server's limit of 32 MB.
_GROUP = 64
_BUILDING, _WHOLE = "building", "whole"
_log = logging.getLogger(__name__)


@attrs.frozen
class Hnsw:
    """The graph of neighbours by which a server finds candidates (Malkov and Yashunin 2018).

    Attributes:
        m: Links of a point.
        ef_construct: Candidates for these links.
        ef: Candidates of a search; a larger number misses fewer hits. Needs no new build.
    """

    m: int = attrs.field(default=16, validator=at_least(1))
    ef_construct: int = attrs.field(default=100, validator=at_least(1))
    ef: int = attrs.field(default=128, validator=at_least(1))


@attrs.define
class _Build:
    """A build that is not committed.

    Attributes:
        name: Its collection.
        token: Random text in the manifest: another token there means that another build took the collection over.
        width: Length of the vectors; 0 while there are none.
        is_made: Whether the collection exists.
        has_leftovers: Whether the collection may hold points of a build that was broken off.
        longest: Length of the longest vector.
        seen: The digest of each entry that was added, by the id of its point.
    """

    name: str
    token: str
    width: int = 0
    is_made: bool = False
    has_leftovers: bool = False
    longest: float = 0.0
    seen: dict[str, str] = attrs.field(factory=dict)


@attrs.define(eq=False)
class QdrantIndex(Index):
    """Find the nearest entries in a Qdrant collection, on a server (``url``) or in a folder (``path``).

    Qdrant finds candidates; their vectors are read and compared in float64. So a hit has the same score as by the index
    ``exact``, and an entry that is no candidate is missed. With ``exact``, and always in a folder, none is missed.

    Each build is a collection of its own, which an alias names as soon as it is whole. A build that was broken off is
    taken up again: entries that are in its collection already are not encoded again.

    Attributes:
        encoder: Turns texts into vectors: texts that are searched for, and texts of entries.
        path: Folder of Qdrant's local mode, for one process and some 20,000 entries; in place of ``url``. It can
            run code of whoever made it, so the user must set ``SRTK_TRUST=qdrant-folder`` in the environment.
        url: Address of a Qdrant server, version 1.16 or later.
        key: API key, if the server needs it; write `{env: NAME}`.
        collection: Name of the index at this place: letters, digits, ``_``, ``-`` and ``.``.
        corpora: Corpora that the index is built from, by default the recipe's; an index of other data is refused.
        subgraph_encoder: Encodes entries by their triples, each around the entity that its id names, in the place of
            ``encoder``; null for their texts.
        similarity: ``cosine``, or ``dot`` for the product of vectors as they are.
        exact: Have the server compare a search with every entry.
        hnsw: How the server finds candidates otherwise.
        only: Entries that a search may find, by their fields.
        batch: Entries in a request; fewer if vectors are long, since a server refuses requests above 32 MB.
        timeout: Seconds until a request is given up.
        attempts: Requests sent before a fault is final, where another may succeed.
    """

    encoder: Encoder = attrs.field(kw_only=True)
    path: str | None = None
    url: str | None = None
    key: str | None = attrs.field(default=None, repr=False)
    collection: str = "srtk"
    corpora: Sequence[Corpus] = ()
    subgraph_encoder: SubgraphEncoder | None = None
    similarity: str = attrs.field(default=COSINE, validator=one_of((COSINE, DOT)))
    exact: bool = False
    hnsw: Hnsw = attrs.field(factory=Hnsw)
    only: EntryFilter = attrs.field(factory=EntryFilter)
    batch: int = attrs.field(default=256, validator=at_least(1), repr=False)
    timeout: float = attrs.field(default=60.0, validator=positive, repr=False)
    attempts: int = attrs.field(default=3, validator=at_least(1), repr=False)
    _store: Store | None = attrs.field(init=False, default=None, repr=False)
    _reading: str | None = attrs.field(init=False, default=None, repr=False)
    _manifest: Mapping[str, Any] = attrs.field(init=False, factory=dict, repr=False)
    _build: _Build | None = attrs.field(init=False, default=None, repr=False)
    _left_out: Sequence[Mapping[str, int]] = attrs.field(init=False, default=(), repr=False)

    def __attrs_post_init__(self) -> None:
        if (self.path is None) == (self.url is None):
            raise SettingsError(
                [((), "an index stands at a `path`, a folder, or at a `url`, a server; give one of them")]
            )
        # The local mode unpickles every point of its folder.
        what = f"a folder of Qdrant's local mode ({self.path})"
        if self.path is not None and (text := refusal("qdrant-folder", what)):
            raise SettingsError([(("path",), text)])
        if not re.fullmatch(r"[\w-][\w.-]{0,199}", self.collection, re.ASCII):
            text = f"collection is {self.collection!r}; use letters, digits, `_`, `-` and `.`, at most 200 of them"
            raise SettingsError([(("collection",), text)])

    # ------------------------------------------------------------ opening

    def preflight(self) -> list[tuple[str, str]]:
        """Check the address, or that there is a folder; the command that builds the index does not ask."""
        if self.url is not None:
            return no_url("url", self.url) or [("url", fault) for fault in self._login()]
        return [("path", self._never())] if self._is_nowhere() else []

    def create(self) -> None:
        """Begin a build, or take up a build that was broken off."""
        self.close()
        self._connect()
        try:
            self._build = self._begun()
        except DriverError:
            self.close()
            raise

    def open(self) -> None:
        """Find the index, if it was built from these corpora with these settings."""
        self.close()
        if self._is_nowhere():
            raise DriverError(self._never())
        self._connect()
        try:
            self._reading, self._manifest = self._found()
            self._left_out = self._manifest.get("left_out", ())
        except DriverError:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the connection; points that were not committed stay for the next build alone."""
        if self._store is not None:
            self._store.close()
        self._store = self._build = self._reading = None
        self._manifest, self._left_out = {}, ()

    def _connect(self) -> None:
        if self.url is None:
            assert self.path is not None
            self._store = folder(self.path)
            return
        if faults := self._login():
            raise DriverError(faults[0])
        self._store = server(self.url, self.key, self.timeout, self.attempts)

    def _login(self) -> list[str]:
        """Return a sentence if the address has a login, which Qdrant has no use for."""
        assert self.url is not None
        if urlsplit(self.url).username is None:
            return []
        return [f"{without_logins(self.url)} has a login, which Qdrant does not read; give the API key as `key`"]

    @property
    def _named(self) -> str:
        return f"{self.collection} at {self.path if self.url is None else without_logins(self.url)}"

    def _is_nowhere(self) -> bool:
        return self.path is not None and not (Path(self.path) / HEAD).is_file()

    def _never(self) -> str:
        return f"there is no index {self._named}: it was never built; {REBUILD}"

    @property
    def _generations(self) -> Generations:
        if self._store is None:
            raise not_open(self, "open() or create()")
        return Generations(self._store, self.collection)

    def _found(self) -> tuple[str, dict[str, Any]]:
        """Return the collection to be read, and its manifest."""
        generations = self._generations
        live = generations.live()
        if live is None:
            if generations.is_foreign():
                raise DriverError(self._foreign())
            if generations.all():
                raise DriverError(
                    f"there is no index {self._named}: its build was broken off, or is not done yet; {REBUILD}, which"
                    " takes up what was built"
                )
            raise DriverError(self._never())
        manifest = generations.manifest(live)
        if manifest.get("state") != _WHOLE:
            raise DriverError(self._foreign())
        if manifest["format"] != _FORMAT:
            raise DriverError(f"the index {self._named} has another format than {_FORMAT}; {REBUILD}")
        check_built(self._named, manifest["built"], self._kept_settings(), self.corpora)
        count = self._count(live)
        if count != manifest["entries"]:
            raise DriverError(
                f"the index {self._named} is damaged: it has {count:,} points, and {manifest['entries']:,} were"
                f" committed; {REBUILD}"
            )
        return live, manifest

    def _foreign(self) -> str:
        return (
            f"{self._named} is a collection, or an alias of one, that is no index of this framework; choose another"
            " `collection:`"
        )

    def _kept_settings(self) -> dict[str, str]:
        """Return the settings that a built index depends on besides its entries, by their names in an error."""
        return {
            "encoder": self.encoder.fingerprint(),
            "subgraph encoder": "" if self.subgraph_encoder is None else self.subgraph_encoder.fingerprint(),
            "similarity": self.similarity,
            "hnsw": f"m {self.hnsw.m}, ef_construct {self.hnsw.ef_construct}",
        }

    def _count(self, name: str) -> int:
        return int(self._ask("count", name, exact=True).count)

    def _ask(self, method: str, name: str, **arguments: Any) -> Any:
        return self._generations.store.ask(method, collection_name=name, **arguments)

    # ------------------------------------------------------------ building

    def _begun(self) -> _Build:
        """Return a build, over the points of a build that was broken off if there is any."""
        generations = self._generations
        live = generations.live()
        if (live is None and generations.is_foreign()) or (live is not None and not generations.manifest(live)):
            raise DriverError(self._foreign())
        build: _Build | None = None
        for name in generations.later(live):
            manifest = generations.manifest(name)
            if build is None and manifest.get("made_by") == self._kept_settings():
                build = _Build(name, secrets.token_hex(8), manifest["width"], is_made=True, has_leftovers=True)
                generations.note(name, self._building(build))
                generations.store.hasten(name)
                if count := self._count(name):
                    _log.warning(
                        "%s entries of a build of the index %s that was broken off are taken up",
                        f"{count:,}",
                        self._named,
                    )
            else:
                _log.warning("a build of the index %s was broken off; it begins anew", self._named)
                generations.delete(name)
        return build or _Build(generations.new(), secrets.token_hex(8))

    def _building(self, build: _Build) -> dict[str, Any]:
        return {
            "format": _FORMAT,
            "state": _BUILDING,
            "token": build.token,
            "width": build.width,
            "made_by": self._kept_settings(),
        }

    def _make(self, build: _Build, width: int) -> None:
        """Make the collection of a build, if it is not there or takes other vectors."""
        generations = self._generations
        if build.is_made and build.width != width and not build.seen:
            generations.delete(build.name)
            build.is_made = build.has_leftovers = False
        if not build.is_made:
            build.width = width
            hnsw = self.hnsw
            generations.create(
                build.name, width or 1, hnsw.m, hnsw.ef_construct, [RELATIONS, ENTITIES], self._building(build)
            )
            build.is_made = True

    def _hold(self, build: _Build) -> None:
        """Refuse to go on with a build whose collection another build has taken over."""
        try:
            token = self._generations.manifest(build.name).get("token")
        except MissingError:
            token = None
        if token != build.token:
            raise DriverError(f"another build of the index {self._named} has begun; wait for it to end, or build again")

    def _grown(self) -> _Build:
        """Return a build with the points of the open index."""
        assert self._reading is not None
        build = self._begun()
        self._make(build, self._manifest["width"])
        build.longest = self._manifest["longest"]
        for records in self._pages(self._reading, True):
            marks = {str(record.id): record.payload[DIGEST] for record in records}
            there = self._unchanged(build, marks)
            self._write(build, [record for record in records if str(record.id) not in there])
            build.seen |= marks
        return build

    def add(self, entries: Sequence[Entry]) -> int:
        """Encode the entries that are not there yet, and write them in batches."""
        if self._build is None:
            if self._reading is None:
                raise not_open(self, "open() or create()")
            self._build = self._grown()
        build = self._build
        marks = self._marks(build, entries)
        there = self._unchanged(build, marks)
        new = [entry for entry, id_ in zip(entries, marks, strict=True) if id_ not in there]
        if new:
            from qdrant_client import models

            rows = self._rows(build, new)
            self._make(build, len(rows[0]))
            points = []
            for entry, row in zip(new, rows, strict=True):
                id_ = point_id(entry.id)
                kept = unit(row) if self.similarity == COSINE else row
                payload = payload_of(entry, row, kept, marks[id_])
                there[id_] = payload[NORM]
                points.append(models.PointStruct(id=id_, vector=kept.tolist(), payload=payload))
            self._write(build, points)
        build.seen |= marks
        build.longest = max([build.longest, *there.values()])
        return len(entries)

    def _marks(self, build: _Build, entries: Sequence[Entry]) -> dict[str, str]:
        """Return the digest of each entry by the id of its point."""
        marks: dict[str, str] = {}
        for entry in entries:
            id_ = point_id(entry.id)
            check_id(self._named, entry, id_ in build.seen or id_ in marks)
            marks[id_] = digest(entry)
        return marks

    def _unchanged(self, build: _Build, marks: Mapping[str, str]) -> dict[str, float]:
        """Return the points that are in the collection as they would be written, with the lengths of their vectors."""
        there: dict[str, float] = {}
        if not (build.is_made and build.has_leftovers):
            return there
        for ids in _chunks(list(marks), self.batch):
            for record in self._ask("retrieve", build.name, ids=ids, with_payload=[DIGEST, NORM], with_vectors=False):
                if record.payload[DIGEST] == marks[str(record.id)]:
                    there[str(record.id)] = float(record.payload[NORM])
        return there

    def _rows(self, build: _Build, entries: Sequence[Entry]) -> list[Row]:
        """Return the vector of each entry: its own, else encoded from its triples or its text."""

        def encode(some: Sequence[Entry]) -> Matrix:
            if self.subgraph_encoder is None:
                return encoded_texts(self.encoder, some)
            rows: Matrix = self.subgraph_encoder.encode([one.triples for one in some], [one.id for one in some])
            return rows

        return vectors_of(entries, encode, build.width if build.seen else 0)

    def _write(self, build: _Build, points: Sequence[Any]) -> None:
        """Write points in batches; after a fault on the way some are there, which do not count as added."""
        if not points:
            return
        from qdrant_client import models

        self._hold(build)
        before, build.has_leftovers = build.has_leftovers, True
        for some in _chunks(points, self.batch):
            rows = [models.PointStruct(id=one.id, vector=one.vector, payload=one.payload) for one in some]
            self._ask("upsert", build.name, points=rows, wait=True)
        build.has_leftovers = before

    def note(self, left_out: Sequence[Mapping[str, int]]) -> None:
        """Keep the counts of left-out parts of each corpus for the manifest of the next ``commit``."""
        self._left_out = left_out

    def commit(self) -> int:
        """Move the alias to the collection of this build, and delete the old collection."""
        build = self._build
        if build is None:
            return self.size()
        self._make(build, build.width)
        self._hold(build)
        if build.has_leftovers:
            self._drop_leftovers(build)
        count = self._count(build.name)
        if count != len(build.seen):
            raise DriverError(
                f"the collection of the index {self._named} has {count:,} points, and {len(build.seen):,} were written;"
                " let nothing else write to it, and build again"
            )
        settings = self._kept_settings()
        content = hashlib.sha256(repr(sorted(settings.items())).encode())
        for id_, mark in sorted(build.seen.items()):
            content.update(f"{id_} {mark}\n".encode())
        manifest = {
            **self._building(build),
            "state": _WHOLE,
            "entries": count,
            "longest": build.longest,
            "content": content.hexdigest(),
            "built": {**settings, "corpus": corpus_fingerprint(self.corpora)},
            "sources": graph_sources(self.corpora),
            **counts_left_out(self._left_out),
        }
        self._generations.note(build.name, manifest)
        self._generations.publish(build.name)
        self._reading, self._manifest, self._build = build.name, manifest, None
        return count

    def _drop_leftovers(self, build: _Build) -> None:
        """Delete the points of a build that was broken off, unless this build added them, too."""
        from qdrant_client import models

        lost = [str(record.id) for page in self._pages(build.name, False) for record in page]
        for ids in _chunks([id_ for id_ in lost if id_ not in build.seen], self.batch):
            self._ask("delete", build.name, points_selector=models.PointIdsList(points=list(ids)), wait=True)
        build.has_leftovers = False

    def _pages(self, name: str, whole: bool) -> Iterator[list[Any]]:
        """Yield the points of a collection in batches, whole or their ids alone."""
        offset = None
        while True:
            records, offset = self._ask(
                "scroll", name, limit=self.batch, offset=offset, with_payload=whole, with_vectors=whole
            )
            if records:
                yield records
            if offset is None:
                return

    # ------------------------------------------------------------ reading

    def size(self) -> int:
        """Count the entries, also entries that are not committed."""
        return len(self._build.seen) if self._build is not None else int(self._manifest.get("entries", 0))

    def sources(self) -> Sequence[str]:
        """Return the sources of the graphs that the corpora read."""
        return list(self._manifest.get("sources", ())) if self._build is None else graph_sources(self.corpora)

    def fingerprint(self) -> str:
        """Identify the index by its settings and its content."""
        content = self._manifest.get("content")
        if content is None and self._store is None:
            other = attrs.evolve(self)
            with closing(other):
                try:
                    other.open()
                except DriverError:
                    # There is nothing to read: that is its content.
                    pass
                else:
                    content = other._manifest["content"]
        return f"{super().fingerprint()} of {content or 'nothing'}"

    def entries(self, ids: Sequence[str]) -> list[Entry | None]:
        """Read entries by id."""
        points = [point_id(id_) for id_ in ids]
        found = self._read(points)
        return [found.get(point) for point in points]

    def search(self, texts: Sequence[str], k: int) -> list[list[Hit]]:
        """Encode the texts and find the nearest entries."""
        self._collection()
        if not self.size():
            return [[] for _ in texts]
        return search_texts(texts, self.encoder, lambda rows: self._near(rows, k))

    def near(self, vectors: npt.NDArray[np.float32] | Sequence[Any], k: int) -> list[list[Hit]]:
        """Find the entries nearest to each vector."""
        self._collection()
        if not len(vectors) or not self.size():
            return [[] for _ in vectors]
        return self._near(np.asarray(vectors, dtype=np.float32), k)

    def _collection(self) -> str | None:
        """Return the collection that is searched; None before it is made."""
        if self._build is None:
            if self._reading is None:
                raise not_open(self, "open() or create()")
            return self._reading
        return self._build.name if self._build.is_made else None

    def _width(self) -> int:
        return self._build.width if self._build is not None else int(self._manifest["width"])

    def _read(self, points: Sequence[str]) -> dict[str, Entry]:
        """Read points by their ids; unknown ids and leftovers are left out."""
        name = self._collection()
        found: dict[str, Entry] = {}
        if name is None:
            return found
        for ids in _chunks(list(dict.fromkeys(points)), self.batch):
            for record in self._ask("retrieve", name, ids=ids, with_payload=True, with_vectors=True):
                if self._is_own(record.id):
                    found[str(record.id)] = entry_from(record.payload, record.vector)
        return found

    def _is_own(self, point: Any) -> bool:
        """Return whether a point was added, and not left by a build that was broken off."""
        build = self._build
        return build is None or not build.has_leftovers or str(point) in build.seen

    def _near(self, vectors: Matrix, k: int) -> list[list[Hit]]:
        check_searched(vectors, self._width(), self._named)
        found: list[list[Hit]] = []
        for group in _chunks(vectors, _GROUP):
            rows = self._shortlists(group, k)
            entries = self._read([point for points in rows for point in points])
            for vector, points in zip(group, rows, strict=True):
                # A point that was deleted between the two requests is gone from the index too.
                found.append(self._ranked(vector, [entries[one] for one in points if one in entries], k))
        return found

    def _shortlists(self, vectors: Matrix, k: int) -> list[list[str]]:
        """Return, for each vector, the points that may be among its ``k`` best by the server's scores."""
        from qdrant_client import models

        name, passed = self._collection(), self._filter()
        if name is None or passed is False:
            return [[] for _ in vectors]
        rows = [unit(row) if self.similarity == COSINE else row for row in vectors]
        margins = [self._margin(row) for row in rows]
        params: Any = models.SearchParams(exact=True) if self.exact else models.SearchParams(hnsw_ef=self.hnsw.ef)
        if self._generations.store.local:
            # The local mode compares all, and would warn that it takes no parameters.
            params = None
        limits = [k + _MORE] * len(rows)
        found: list[list[str]] = [[] for _ in rows]
        left = list(range(len(rows)))
        while left:
            asked = [
                models.QueryRequest(
                    query=rows[i].tolist(),
                    limit=limits[i],
                    filter=passed,
                    params=params,
                    with_payload=False,
                    with_vector=False,
                )
                for i in left
            ]
            answers = self._ask("query_batch_points", name, requests=asked)
            again = []
            for i, answer in zip(left, answers, strict=True):
                points = [one for one in answer.points if self._is_own(one.id)]
                scores = sorted((one.score for one in points), reverse=True)
                least = scores[k - 1] - margins[i] if len(scores) >= k else -np.inf
                if len(answer.points) < limits[i] or min(one.score for one in answer.points) < least:
                    found[i] = [str(one.id) for one in points if one.score >= least]
                else:
                    # The next points may be as good as the last hit: ask for more.
                    limits[i] *= 2
                    again.append(i)
            left = again
        return found

    def _margin(self, row: Row) -> float:
        """Return by how much a product in float32 and the rounding of scores may change an order."""
        longest = self._build.longest if self._build is not None else float(self._manifest["longest"])
        scale = 1.0 if self.similarity == COSINE else float(norms(row[None])[0]) * longest
        # Each sum of d products in float32 is off by at most d / 2**23 of the lengths; a vector of nearly length 1 is
        # kept as it is.
        return 2 * scale * (len(row) / 2**23) + 1 / UNIT + 4e-6 * scale

    def _filter(self) -> Any:
        """Return the filter of ``only``: None without a filter, False if no entry can pass."""
        from qdrant_client import models

        if [] in (self.only.ids, self.only.relations, self.only.entities):
            return False
        fields = [(RELATIONS, self.only.relations), (ENTITIES, self.only.entities)]
        must: list[Any] = [
            models.FieldCondition(key=field, match=models.MatchAny(any=list(wanted)))
            for field, wanted in fields
            if wanted is not None
        ]
        if self.only.ids is not None:
            must.append(models.HasIdCondition(has_id=[point_id(id_) for id_ in self.only.ids]))
        return models.Filter(must=must) if must else None

    def _ranked(self, vector: Row, entries: Sequence[Entry], k: int) -> list[Hit]:
        if not entries:
            return []
        rows: Matrix = np.stack([entry.vector for entry in entries if entry.vector is not None])
        keys = score_keys(rows, vector, self.similarity).tolist()
        ranked = sorted(zip(keys, entries, strict=True), key=lambda one: (-one[0], one[1].id))
        return [Hit(entry, key / UNIT) for key, entry in ranked[:k]]


def _chunks(items: Any, size: int) -> Iterator[Any]:
    """Yield slices of a sequence."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
