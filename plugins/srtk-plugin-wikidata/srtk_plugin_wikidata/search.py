"""The ``wikidata-search`` linker: mentions found without a model, looked up by Wikidata's own search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import attrs
from srtk_plugin_sparql.errors import QueryError
from srtk_plugin_sparql.keeping import Cached, Once, Recorder, Replay, Rows, Source
from srtk_plugin_sparql.limits import Limits

from srtk_framework.errors import DriverError, InputError
from srtk_framework.specs import EntityLinker, KnowledgeGraph
from srtk_framework.text import fold
from srtk_framework.types import Link, rounded
from srtk_plugin_wikidata import mention_detection
from srtk_plugin_wikidata.mention_detection import Span

AGENT = "srtk-framework/0.1 (srtk-plugin-wikidata; entity linking for question answering; python-urllib3)"
PUBLIC = "https://www.wikidata.org/w/api.php"
MOST_AT_ONCE = 3
"""Requests in flight that Wikimedia allows a client."""

LABEL, FOLDED_LABEL, ALIAS, BEGINNING = 1.0, 0.9, 0.8, 0.4
"""How well a hit matches: its label letter by letter, but for case and marks, another name, only the start of one."""

RANK = 2.0
"""A hit with ``k`` hits before it has its match times RANK / (RANK + k): the search gives an order and no scores."""

LONGEST_SEARCH = 250
"""Characters that the search takes at most."""


@attrs.frozen
class SearchLimits(Limits):
    """Limits towards the API, within those of Wikimedia.

    Attributes:
        per_second: Most requests begun in a second, over time.
        at_once: Most requests in flight; 3 at most on Wikidata itself.
        deadline: Seconds from a request to the last byte of its answer.
        attempts: How often a mention is looked up before it is given up.
        patience: Seconds for all attempts of a mention, waits included.
        failures: After so many failed requests in a row the server is left alone for ``pause`` seconds.
    """

    per_second: float | None = 5.0
    at_once: int | None = MOST_AT_ONCE
    deadline: float = 30.0
    attempts: int = 4
    patience: float = 120.0
    failures: int = 5
    rows: int | None = attrs.field(init=False, default=None)
    page: int | None = attrs.field(init=False, default=None)


@attrs.define(eq=False)
class WikidataSearchLinker(EntityLinker):
    """Look mentions up by the search of Wikidata, or of another Wikibase: labels and aliases, no context.

    Attributes:
        endpoint: URL of the ``api.php``.
        languages: Languages of names, most wanted first; the next one is asked where the one before has nothing.
        mentions: How mentions are found: capitals, quotes, names.
        names: File of names, one a line, for ``mentions: [names]``.
        graph: Graph whose names are mentions with ``mentions: [names]``; entities that it lacks are left out.
        max_words: Most words of a mention.
        shorten: How often a mention that finds nothing is divided and looked up again, each time a request or two.
        hits: Hits asked for, 50 at most.
        prefix: Whether entities count whose name only begins with the mention.
        n_best: Most entities for one mention.
        min_score: Links with a lower score are dropped.
        limits: How hard the API may be asked.
        user_agent: How the client calls itself; put in an address where you can be reached.
        headers: Further HTTP headers, such as Authorization.
        cache: SQLite file of answers that later runs use again; none when left out.
        cache_days: After so many days a kept answer is asked for again.
        record: Folder in which every answer is written down.
        replay: Folder of such a record, which then answers in the place of the API.
    """

    endpoint: str = PUBLIC
    languages: Sequence[str] = ("en",)
    mentions: Sequence[Literal["capitals", "quotes", "names"]] = ("capitals", "quotes")
    names: str | None = None
    graph: KnowledgeGraph | None = None
    max_words: int = mention_detection.MOST_WORDS
    shorten: int = 2
    hits: int = 7
    prefix: bool = False
    n_best: int = 1
    min_score: float = 0.0
    limits: SearchLimits = attrs.field(factory=SearchLimits)
    user_agent: str = AGENT
    headers: Mapping[str, str] = attrs.field(factory=dict, repr=False)
    cache: str | None = None
    cache_days: float = 7.0
    record: str | None = None
    replay: str | None = None
    _source: Source | None = attrs.field(init=False, default=None, repr=False)
    _listed: frozenset[str] = attrs.field(init=False, default=frozenset(), repr=False)

    def __attrs_post_init__(self) -> None:
        for name, least, most in (("hits", 1, 50), ("n_best", 1, 50), ("max_words", 1, 50), ("shorten", 0, 50)):
            if not least <= getattr(self, name) <= most:
                raise ValueError(f"{name} must be from {least} to {most}, not {getattr(self, name)}")
        if not self.languages or not self.mentions:
            raise ValueError("languages and mentions must each name at least one")
        if "names" in self.mentions and self.names is None and self.graph is None:
            raise ValueError("mentions: [names] needs `names:`, a file, or a `graph:`")
        host = urlsplit(self.endpoint).hostname or ""
        if host.endswith("wikidata.org") and (self.limits.at_once or MOST_AT_ONCE) > MOST_AT_ONCE:
            raise ValueError(f"limits at_once: Wikidata allows {MOST_AT_ONCE}, not {self.limits.at_once}")

    def open(self) -> None:
        """Make the client and read the names; nothing is sent yet."""
        if self.names is not None:
            self._listed = _read_names(Path(self.names))
        self._source = Once(self._make_source())

    def _make_source(self) -> Source:
        if self.replay is not None:
            return Replay(Path(self.replay))
        from srtk_plugin_wikidata.search_client import SearchClient

        source: Source = SearchClient(self.endpoint, self.limits, self.user_agent, self.headers)
        if self.cache is not None:
            source = Cached(source, Path(self.cache), "", self.cache_days)
        return source if self.record is None else Recorder(source, Path(self.record), source.endpoint)

    def close(self) -> None:
        """Close connections and files."""
        if self._source is not None:
            self._source.close()
        self._source = None

    def fingerprint(self) -> str:
        """Identify the API and what it is asked; headers and limits change no answer."""
        asked = (tuple(self.languages), tuple(self.mentions), self.max_words, self.shorten, self.hits, self.prefix)
        graph = self.graph.fingerprint() if self.graph is not None else ""
        kept = (self.n_best, self.min_score)
        return f"WikidataSearchLinker({self.endpoint}, {asked}, {kept}, {self.names}, {graph})"

    def link(self, texts: Sequence[str]) -> list[list[Link]]:
        """Find mentions, look all of them up, and divide those that find nothing."""
        spans = mention_detection.detect_all(texts, self.mentions, self._known, self.max_words)
        found: list[dict[Span, list[Link]]] = [{} for _ in texts]
        left = [(place, span) for place, row in enumerate(spans) for span in row]
        for cut in range(self.shorten + 1):
            known = self._look_up([texts[place][slice(*span)] for place, span in left])
            open_ = []
            for place, span in left:
                links = self._links(span, texts[place][slice(*span)], known)
                if links:
                    found[place][span] = links
                elif cut < self.shorten:
                    open_ += [(place, part) for part in mention_detection.parts(texts[place], span)]
            left = list(dict.fromkeys(open_))
        return [
            [link for span in mention_detection.apart(list(row)) for link in row[span][: self.n_best]] for row in found
        ]

    def _known(self, names: Sequence[str]) -> list[bool]:
        """Tell which names are in the list or in the graph."""
        known = [name in self._listed for name in names]
        if self.graph is not None:
            known = [good or bool(len(ids)) for good, ids in zip(known, self.graph.find(names), strict=True)]
        return known

    def _look_up(self, mentions: Sequence[str]) -> dict[str, list[tuple[str, float, str]]]:
        """Look distinct mentions up, language by language.

        Returns:
            Per mention what was accepted: entity, score, label; best first.
        """
        left = [mention for mention in dict.fromkeys(mentions) if len(mention) <= LONGEST_SEARCH]
        known: dict[str, list[tuple[str, float, str]]] = {}
        for language in self.languages:
            for mention, rows in zip(left, self._ask(left, language), strict=True):
                known[mention] = self._accepted(mention, rows)
            self._drop_strangers(known, left)
            left = [mention for mention in left if not known[mention]]
        return known

    def _ask(self, mentions: Sequence[str], language: str) -> list[Rows]:
        """Ask all; the first failure stops what has not begun."""
        from srtk_plugin_wikidata.search_client import question

        source = self._source
        if source is None:
            raise DriverError("the linker is not open; call open() first")
        queries = [question(mention, language, self.hits) for mention in mentions]
        if self.replay is not None or len(queries) < 2:
            return [source.select(query, False) for query in queries]
        with ThreadPoolExecutor(self.limits.at_once or MOST_AT_ONCE) as pool:
            asked = [pool.submit(source.select, query, False) for query in queries]
            try:
                return [future.result() for future in asked]
            except QueryError:
                for future in asked:
                    future.cancel()
                raise

    def _accepted(self, mention: str, rows: Rows) -> list[tuple[str, float, str]]:
        """Score the hits of a mention by match and rank; leave out what does not match."""
        best: dict[str, tuple[str, float, str]] = {}
        for rank, row in enumerate(rows):
            match = _match(mention, row["kind"].value, row["name"].value)
            score = rounded((match if match > BEGINNING or self.prefix else 0.0) * RANK / (RANK + rank))
            entity = row["id"].value
            if score > 0 and score >= self.min_score and (entity not in best or best[entity][1] < score):
                best[entity] = (entity, score, row["label"].value)
        return sorted(best.values(), key=lambda item: (-item[1], item[0]))

    def _drop_strangers(self, known: dict[str, list[tuple[str, float, str]]], mentions: Sequence[str]) -> None:
        """Leave out what the graph lacks, where there is one."""
        if self.graph is None:
            return
        ids = sorted({item[0] for mention in mentions for item in known[mention]})
        frontiers = self.graph.frontiers([[id_] for id_ in ids])
        there = {id_ for id_, frontier in zip(ids, frontiers, strict=True) if frontier.size}
        for mention in mentions:
            known[mention] = [item for item in known[mention] if item[0] in there]

    def _links(self, span: Span, mention: str, known: Mapping[str, list[tuple[str, float, str]]]) -> list[Link]:
        return [Link(entity, score, *span, label) for entity, score, label in known.get(mention, ())]


def _match(mention: str, kind: str, name: str) -> float:
    """Rate how a hit's name meets the mention."""
    if kind == "entityId":
        return LABEL
    if fold(name) != fold(mention):
        return BEGINNING
    if kind != "label":
        return ALIAS
    return LABEL if name == mention else FOLDED_LABEL


def _read_names(path: Path) -> frozenset[str]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as UTF-8 text ({error}); correct `names`") from error
    return frozenset(name for line in lines if (name := fold(line)))
