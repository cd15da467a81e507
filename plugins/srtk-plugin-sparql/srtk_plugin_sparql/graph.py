"""The ``sparql`` graph: any RDF graph behind a SPARQL endpoint, or in an Oxigraph store on disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import attrs
from srtk_plugin_views.collect import schema_facts

from srtk_framework.graph import find_paths
from srtk_framework.roles import KnowledgeGraph, absent, no_url, not_open
from srtk_framework.values import (
    Budget,
    DriverError,
    FoundPaths,
    Frontier,
    Literal,
    NodeSet,
    Pattern,
    Schema,
    Step,
    Triple,
    at_least,
    close_matches,
    without_logins,
)
from srtk_plugin_sparql import path_frontiers, path_joins, triple_patterns
from srtk_plugin_sparql.blank_nodes import BlankNodes
from srtk_plugin_sparql.limits import SparqlLimits
from srtk_plugin_sparql.names import Names
from srtk_plugin_sparql.path_frontiers import PathFrontiers
from srtk_plugin_sparql.presets import PRESETS
from srtk_plugin_sparql.profiles import AUTO, Profile, profile
from srtk_plugin_sparql.queries import Queries
from srtk_plugin_sparql.record import Recorder, Replay
from srtk_plugin_sparql.sources import CachedSource, RememberedSource, Source
from srtk_plugin_sparql.step_reader import Neighbours, StepReader
from srtk_plugin_sparql.vocabulary import Ids, Vocabulary

AGENT = "srtk-framework/0.1 (srtk-plugin-sparql; subgraph retrieval for question answering; python-urllib3)"
_NAMES = ("auto", "exact", "scan")
_STORE_PAGE = 1_000_000  # Rows of a page of an embedded store: it gives any answer whole, and a page must be sorted


@attrs.define(eq=False)
class SparqlGraph(KnowledgeGraph):
    """Answer from a SPARQL endpoint, in few queries, each whole or refused; or from an embedded store.

    Attributes:
        endpoint: An http or https URL; or a folder that ``srtk graph load`` made, also written ``oxigraph:FOLDER``.
        preset: Name of a shipped vocabulary: yago.
        vocabulary: Prefixes, names, and patterns of entities and relations; its fields go before the preset.
        engine: blazegraph, oxigraph, qlever or virtuoso: its usual limits; auto asks the server once, on opening.
        limits: Limits of the client.
        user_agent: How the client names itself; public endpoints want a name and an address.
        headers: Further HTTP headers, such as Authorization.
        cache: SQLite file of answers that later runs reuse; none when left out.
        cache_days: Age in days at which a cached answer is asked for again.
        version: Version of the graph's data; cached answers of another version are not used.
        both: Whether one query asks for incoming and outgoing steps; false saves work where no inverse step is
            walked.
        names: How ``find`` looks: exact asks for the usual ways to write a name; scan reads all names once,
            and only nodes with triples have labels, as in a snapshot; auto scans embedded stores alone.
        sample: Names of each naming relation that one query looks at, once, for the language tags in use: exact names
            are then asked for in these too, and where a graph has fewer names, in any. 0 asks for no sample, and then
            for ``languages`` alone, or plain names and English ones where there are none.
        record: Folder to which every answer is written.
        replay: Folder of such a record, which then answers in the place of the endpoint.
    """

    suited: ClassVar[Mapping[str, Any]] = {
        # A server that all share is no place to read frequent nodes whole, and a fan cost follows more steps; a third
        # step reads from most nodes.
        "expander": {"width": 5, "depth": 2, "search": {"fan_cost": 0}},
        "budget": {"nodes": 200, "hub": 100},
    }

    endpoint: str
    preset: str = ""
    vocabulary: Vocabulary = attrs.field(factory=Vocabulary)
    engine: str = "auto"
    limits: SparqlLimits = attrs.field(factory=SparqlLimits)
    user_agent: str = AGENT
    headers: Mapping[str, str] = attrs.field(factory=dict, repr=False)
    cache: str | None = None
    cache_days: float = attrs.field(default=7.0, validator=at_least(0))
    version: str = ""
    both: bool = True
    names: str = "auto"
    sample: int = attrs.field(default=2000, validator=at_least(0))
    record: str | None = None
    replay: str | None = None
    _source: Source | None = attrs.field(init=False, default=None, repr=False)
    _reader: StepReader | None = attrs.field(init=False, default=None, repr=False)
    _profile: Profile = attrs.field(init=False, repr=False)
    _recorded_scan: bool | None = attrs.field(init=False, default=None, repr=False)
    _known_names: Names | None = attrs.field(init=False, default=None, repr=False)
    _path_frontiers: PathFrontiers | None = attrs.field(init=False, default=None, repr=False)

    def preflight(self) -> list[tuple[str, str]]:
        """Check the form of the endpoint, or that the store or the record exists."""
        if self.replay is not None:
            return absent("replay", self.replay, "make it by a run with `record`")
        folder = self._folder()
        if folder is None:
            return no_url("endpoint", self.endpoint)
        if folder.is_dir():
            return []
        shown = without_logins(self.endpoint)
        return [("endpoint", f"{shown} is no http or https URL and no folder made by `srtk graph load`; correct it")]

    def open(self) -> None:
        """Make the client, or open the store."""
        if self.names not in _NAMES:
            raise DriverError(f"names {self.names!r}: choose {', '.join(_NAMES)}")
        vocabulary = self.meaning()
        ids = Ids(vocabulary)
        source, engine = self._make_source()
        facts = self._profile = profile(engine)
        workers = 1 if self._folder() else self.limits.at_once or facts.at_once
        cap = self.limits.rows or facts.rows
        page = self.limits.page or (_STORE_PAGE if self._folder() else facts.page)
        if cap is not None:
            page = max(1, min(page, cap - 1))
        self._source = RememberedSource(source)
        self._reader = self.make_reader(self._source, vocabulary, ids, page, facts.nodes, workers)
        sample = 0 if self.preset else self.sample
        # Of a record the queries must be the same whatever is asked first.
        narrows = self.record is None and self.replay is None
        self._known_names = Names(self._reader, vocabulary.languages, self.scans_names, sample, narrows)

    @property
    def scans_names(self) -> bool:
        """Whether the first look-up of a name reads all names."""
        if self.names != "auto":
            return self.names == "scan"
        return self._folder() is not None if self._recorded_scan is None else self._recorded_scan

    def make_reader(
        self, source: Source, vocabulary: Vocabulary, ids: Ids, page: int, nodes: int, workers: int
    ) -> StepReader:
        """Make the reader of steps; a graph whose steps are more than single relations overrides it."""
        return StepReader(source, ids, Queries(vocabulary, ids), page, nodes, workers, self.both)

    def _make_source(self) -> tuple[Source, str]:
        """Make the source of answers, and return it with its engine."""
        if self.replay is not None:
            replay = Replay(Path(self.replay))
            facts = replay.header.get("graph")
            # A record of a store is read as the store was, also where the recipe names a server.
            self._recorded_scan = facts.get("scans_names") if isinstance(facts, dict) else None
            return replay, self._recorded(replay.header, "oxigraph" if self._folder() else self.engine)
        source: Source
        folder = self._folder()
        engine = "oxigraph" if folder else self.engine
        if folder is not None:
            from srtk_plugin_sparql.store import EmbeddedStore

            source = EmbeddedStore(folder)
        else:
            from srtk_plugin_sparql.client import SparqlClient

            source = client = SparqlClient(self.endpoint, engine, self.limits, self.user_agent, self.headers)
            if self.cache is not None:
                source = CachedSource(client, Path(self.cache), self.version, self.cache_days)
            if engine == AUTO:
                engine = source.engine(client.engine) if isinstance(source, CachedSource) else client.engine()
                client.adopt(engine)
        if self.record is None:
            return source, engine
        recorder = Recorder(
            source,
            Path(self.record),
            source.endpoint,
            {**self._facts(), "engine": engine, "scans_names": self.scans_names},
        )
        return recorder, self._recorded(recorder.header, engine)

    def _recorded(self, header: Mapping[str, Any], engine: str) -> str:
        """Return the engine that a record was made with, where the settings name none."""
        graph = header.get("graph")
        return str(graph.get("engine", engine)) if self.engine == AUTO and isinstance(graph, dict) else engine

    def _facts(self) -> dict[str, object]:
        """Return the facts by which a record can be read without this graph."""
        return {
            "driver": f"{type(self).__module__}.{type(self).__qualname__}",
            "plain": type(self).make_reader is SparqlGraph.make_reader,
            "version": self.version,
            "vocabulary": attrs.asdict(self.meaning()),
            "schema": schema_facts(self.schema()),
        }

    def _folder(self) -> Path | None:
        """Return the folder of an embedded store, or None for a URL."""
        if self.endpoint.startswith(("http://", "https://")):
            return None
        return Path(self.endpoint.removeprefix("oxigraph:"))

    def close(self) -> None:
        """Close connections and files."""
        if self._source is not None:
            self._source.close()
        self._source = self._reader = self._known_names = self._path_frontiers = None

    def meaning(self) -> Vocabulary:
        """Return the vocabulary of the settings, over the preset."""
        if not self.preset:
            return self.vocabulary
        if self.preset not in PRESETS:
            known = sorted(PRESETS)
            hint = close_matches(self.preset, known)
            raise DriverError(f"preset {self.preset!r} is not known; choose {', '.join(known)}.{hint}")
        return self.vocabulary.over(PRESETS[self.preset])

    @property
    def _open(self) -> StepReader:
        if self._reader is None:
            raise not_open(self)
        return self._reader

    def blank_nodes(self) -> BlankNodes | None:
        """Return the reader of blank nodes for the view `folded`; None where they have IRIs, as in a loaded store."""
        plain = type(self).make_reader is SparqlGraph.make_reader
        return BlankNodes(self._open, self._open_names) if plain and self._folder() is None else None

    @property
    def _large(self) -> PathFrontiers:
        # A derived class may put another reader in the place of the first.
        if self._path_frontiers is None or self._path_frontiers.reader is not self._open:
            self._path_frontiers = PathFrontiers(self._open)
        return self._path_frontiers

    @property
    def _open_names(self) -> Names:
        if self._known_names is None:
            raise not_open(self)
        return self._known_names

    def fingerprint(self) -> str:
        """Identify the data, as far as it is known, and how it is read."""
        return f"SparqlGraph({self.source()}, {self.version!r}, {self.meaning()!r}, {self.both}, {self.names})"

    def source(self) -> str:
        """Return the endpoint without login and key; for a store, ``oxigraph:`` and its content hash."""
        if self._source is not None:
            return without_logins(self._source.endpoint)
        return without_logins(self.endpoint.rpartition("@")[2])

    def schema(self) -> Schema:
        """Return the schema in the vocabulary."""
        meaning = self.meaning()
        return Schema(
            type_relations=tuple(meaning.type_relations),
            subclass_relations=tuple(meaning.subclass_relations),
            mediators=tuple(meaning.mediators),
            noise=tuple(meaning.noise),
            prefixes=dict(meaning.prefixes),
        )

    def frontiers(self, node_sets: Sequence[Sequence[str]]) -> list[Frontier]:
        """Make one frontier of each set of ids; ids without any triple are left out."""
        reader = self._open
        reader.forget()
        known = reader.exist(id_ for ids in node_sets for id_ in ids if not isinstance(id_, Literal))
        return [NodeSet(id_ for id_ in ids if id_ in known and not isinstance(id_, Literal)) for ids in node_sets]

    def steps(self, frontiers: Sequence[Frontier], inverse: bool) -> list[list[Step]]:
        """Read the distinct steps that leave each frontier, sorted."""
        reader = self._open
        reader.forget()
        known = self._large.steps(frontiers, inverse)
        nodes = [() if place in known else frontier.ids() for place, frontier in enumerate(frontiers)]
        reader.load((id_ for ids in nodes for id_ in ids), inverse)
        directions = (False, True) if inverse else (False,)
        return [
            known[place]
            if place in known
            else sorted({Step(r, back) for id_ in ids for back in directions for r in reader.counts(id_, back)})
            for place, ids in enumerate(nodes)
        ]

    def follow(self, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None) -> list[Frontier]:
        """Walk each step to the entities at its end; a limit counts all neighbours, literals too."""
        answers = []
        for origin, step, rows in zip(frontiers, steps, self._walk(frontiers, steps, limit), strict=True):
            ends = (end for _, near in rows for end in near.ends if not isinstance(end, Literal))
            reached = NodeSet(ends, cut=sum(near.total - len(near.ends) for _, near in rows))
            answers.append(path_frontiers.remembered(self._open, origin, step, reached))
        return answers

    def triples(self, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None) -> list[list[Triple]]:
        """Read the triples that ``follow`` walks, literals included."""
        answers = []
        for step, rows in zip(steps, self._walk(frontiers, steps, limit), strict=True):
            answers.append([_triple(start, step, end) for start, near in rows for end in near.ends])
        return answers

    def _walk(
        self, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None
    ) -> list[list[tuple[str, Neighbours]]]:
        """Pair each node of each frontier with its first neighbours along the step."""
        reader = self._open
        reader.forget()
        self._large.read(frontiers, steps)
        nodes = [frontier.ids() for frontier in frontiers]
        pairs = ((id_, step) for ids, step in zip(nodes, steps, strict=True) for id_ in ids)
        found = {
            pair: Neighbours(near.ends[:limit], near.total) for pair, near in reader.neighbours(pairs, limit).items()
        }
        return [[(id_, found[id_, step]) for id_ in ids] for ids, step in zip(nodes, steps, strict=True)]

    def match(self, patterns: Sequence[Pattern]) -> list[list[Triple]]:
        """Find the triples that fit each pattern, sorted.

        Raises:
            DriverError: If a pattern binds neither subject nor object.
        """
        return triple_patterns.match(self._open, patterns)

    def paths(
        self,
        starts: Sequence[Sequence[str]],
        ends: Sequence[Sequence[str]],
        hops: int,
        budget: Budget,
        shortest: bool,
        inverse: bool,
    ) -> Sequence[FoundPaths]:
        """Find the relation paths from starts to ends, without limits where the server can search by itself."""
        if (type(self).steps, type(self).follow) != (SparqlGraph.steps, SparqlGraph.follow):
            return find_paths(self, starts, ends, hops, budget, shortest, inverse)
        return path_joins.paths(self, self._open, starts, ends, hops, budget, shortest, inverse)

    def own_ids(self, ids: Sequence[str], relations: bool) -> list[str]:
        """Shorten each id in any spelling by the prefixes of the vocabulary, without a request."""
        own = self._open.ids
        return [own.own(id_, relations) for id_ in ids]

    def labels(self, ids: Sequence[str]) -> list[str]:
        """Name each id by its label in the most wanted language there is; literals by their value."""
        found = self._open_names.labels(id_ for id_ in ids if not isinstance(id_, Literal))
        unnamed = _as_name if self.meaning().names else self._displayed
        return [id_.lexical if isinstance(id_, Literal) else found[id_] or unnamed(id_) for id_ in ids]

    def _displayed(self, id_: str) -> str:
        value = _value(id_)
        return value if value != id_ else self._open.ids.displayed(id_)

    def find(self, names: Sequence[str]) -> list[list[str]]:
        """Find the entities by label (or id, where there is none) and further names, sorted by id."""
        return self._open_names.find(names)

    def degrees(self, ids: Sequence[str]) -> list[int]:
        """Count the triples at each id, without reading them."""
        return triple_patterns.degrees(self._open, ids)


def _triple(start: str, step: Step, end: str) -> Triple:
    return Triple(end, step.relation, start) if step.inverse else Triple(start, step.relation, end)


def _value(id_: str) -> str:
    """Return the value of a typed literal that came as a mere text, else the text."""
    literal = Literal(id_)
    return literal.lexical if id_.startswith('"') and (literal.datatype or literal.language) else id_


def _as_name(id_: str) -> str:
    """Return the words of an id that is a name."""
    value = _value(id_)
    return value if value != id_ else id_.replace("_", " ").strip() or id_
