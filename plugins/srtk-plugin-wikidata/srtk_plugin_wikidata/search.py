"""The ``wikidata-search`` linker: mentions, of a detector or found by their form, in Wikidata's own search."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import ClassVar
from urllib.parse import urlsplit

import attrs
from srtk_plugin_sparql.service_linker import ServiceLinker
from srtk_plugin_sparql.sources import Source
from srtk_plugin_sparql.terms import Rows
from srtk_plugin_web import Limits

from srtk_framework.roles import KnowledgeGraph, MentionDetector
from srtk_framework.text import Span, best_apart, by_form, fold, name_parts
from srtk_framework.values import (
    Link,
    Mention,
    SettingsError,
    at_least,
    between,
    not_empty,
    positive,
    rounded,
    share,
)

AGENT = "srtk-framework/0.1 (srtk-plugin-wikidata; entity linking for question answering; python-urllib3)"
PUBLIC = "https://www.wikidata.org/w/api.php"
MOST_AT_ONCE = 3  # Requests in flight that Wikimedia allows a client

# Score of a mention that is the label, is the label but for case and marks, or is an alias.
LABEL, FOLDED_LABEL, ALIAS = 1.0, 0.9, 0.8

# A hit with ``k`` hits before it has its match times RANK / (RANK + k): the search gives an order and no scores.
RANK = 2.0

LONGEST_SEARCH = 250  # Characters that the search takes at most; longer texts get an error


@attrs.frozen
class SearchLimits(Limits):
    """Limits towards the API, which Wikimedia allows.

    Attributes:
        per_second: Requests begun per second, averaged over time; null for 5 on a public host, and for no limit on
            this machine or a private network.
        at_once: Requests in flight; 3 at most on Wikidata itself.
    """

    at_once: int | None = attrs.field(default=MOST_AT_ONCE, validator=positive)
    deadline: float = attrs.field(default=30.0, validator=positive)
    attempts: int = attrs.field(default=4, validator=positive)
    patience: float = attrs.field(default=120.0, validator=positive)
    failures: int = attrs.field(default=5, validator=positive)
    pause: float = attrs.field(default=60.0, validator=positive)


@attrs.define(eq=False, kw_only=True)
class WikidataSearchLinker(ServiceLinker):
    """Look mentions up by the search of Wikidata, or of another Wikibase: labels and aliases, no context.

    Attributes:
        endpoint: URL of the ``api.php``.
        languages: Languages of names, most wanted first; each is asked about mentions without a hit so far.
        detector: Finds the mentions; words in capitals and quoted text when left out. Of overlapping mentions the
            best is looked up first, then the longest, and the others when it finds nothing.
        graph: Entities that it lacks are left out.
        shorten: How often a mention that finds nothing is divided and looked up again, each time a request or two.
        hits: Hits asked for, 50 at most.
        n_best: Most entities for one mention.
        min_score: Links with a lower score are dropped.
    """

    at_once: ClassVar[int] = MOST_AT_ONCE

    endpoint: str = PUBLIC
    languages: Sequence[str] = attrs.field(default=("en",), validator=not_empty("name at least one"))
    detector: MentionDetector | None = None
    graph: KnowledgeGraph | None = None
    shorten: int = attrs.field(default=2, validator=between(0, 50))
    hits: int = attrs.field(default=7, validator=between(1, 50))
    n_best: int = attrs.field(default=1, validator=between(1, 50))
    min_score: float = attrs.field(default=0.0, validator=share)
    limits: SearchLimits = attrs.field(factory=SearchLimits)
    user_agent: str = AGENT
    cache_days: float = attrs.field(default=7.0, validator=at_least(0))

    def __attrs_post_init__(self) -> None:
        host = urlsplit(self.endpoint).hostname or ""
        if host.endswith("wikidata.org") and (self.limits.at_once or MOST_AT_ONCE) > MOST_AT_ONCE:
            text = f"at_once must be at most {MOST_AT_ONCE} for Wikidata, not {self.limits.at_once}"
            raise SettingsError([(("limits", "at_once"), text)])

    def _client(self) -> Source:
        from srtk_plugin_wikidata.search_client import SearchClient

        return SearchClient(self.endpoint, self.limits, self.user_agent, self.headers)

    def _url(self) -> str:
        return self.endpoint

    def fingerprint(self) -> str:
        """Identify the API and its questions; headers and limits change no answer."""
        asked = (tuple(self.languages), self.shorten, self.hits)
        needs = tuple(need.fingerprint() if need is not None else "" for need in (self.detector, self.graph))
        return f"WikidataSearchLinker({self.endpoint}, {asked}, {(self.n_best, self.min_score)}, {needs})"

    def link(self, texts: Sequence[str]) -> list[list[Link]]:
        """Find mentions, look all of them up, and divide those that find nothing."""
        mentions = by_form(texts) if self.detector is None else self.detector.detect(texts)
        found: list[dict[Span, list[Link]]] = [{} for _ in texts]
        asked: list[set[Span]] = [set() for _ in texts]
        left = [(place, span) for place, row in enumerate(mentions) for span in _spans(best_apart(row))]
        for cut in range(self.shorten + 1):
            known = self._look_up([texts[place][slice(*span)] for place, span in left])
            nothing = []
            for place, span in left:
                asked[place].add(span)
                links = self._links(span, texts[place][slice(*span)], known)
                if not links:
                    nothing.append((place, span))
                elif not any(_overlap(span, other) for other in found[place]):
                    found[place][span] = links
            if cut == self.shorten:
                break
            next_ = [
                (place, other)
                for place, span in nothing
                for other in _instead(texts[place], span, mentions[place], asked[place])
                if not any(_overlap(other, done) for done in found[place])
            ]
            left = list(dict.fromkeys(next_))
        return [[link for span in sorted(row) for link in row[span][: self.n_best]] for row in found]

    def _look_up(self, mentions: Sequence[str]) -> dict[str, list[tuple[str, float, str]]]:
        """Look distinct mentions up, language by language; accepted are entity, score and label, best first."""
        from srtk_plugin_wikidata.search_client import question

        left = [mention for mention in dict.fromkeys(mentions) if len(mention) <= LONGEST_SEARCH]
        known: dict[str, list[tuple[str, float, str]]] = {}
        for language in self.languages:
            answers = self._ask([question(mention, language, self.hits) for mention in left])
            for mention, rows in zip(left, answers, strict=True):
                known[mention] = self._accepted(mention, rows)
            self._drop_strangers(known, left)
            left = [mention for mention in left if not known[mention]]
        return known

    def _accepted(self, mention: str, rows: Rows) -> list[tuple[str, float, str]]:
        """Score the hits of a mention by match and rank, without hits whose name only begins with it."""
        best: dict[str, tuple[str, float, str]] = {}
        for rank, row in enumerate(rows):
            match = _match(mention, row["kind"].value, row["name"].value)
            score = rounded(match * RANK / (RANK + rank))
            entity = row["id"].value
            if score > 0 and score >= self.min_score and (entity not in best or best[entity][1] < score):
                best[entity] = (entity, score, row["label"].value)
        return sorted(best.values(), key=lambda item: (-item[1], item[0]))

    def _drop_strangers(self, known: dict[str, list[tuple[str, float, str]]], mentions: Sequence[str]) -> None:
        """Leave out entities that the graph lacks, if there is a graph."""
        if self.graph is None:
            return
        ids = sorted({item[0] for mention in mentions for item in known[mention]})
        frontiers = self.graph.frontiers([[id_] for id_ in ids])
        there = {id_ for id_, frontier in zip(ids, frontiers, strict=True) if frontier.size}
        for mention in mentions:
            known[mention] = [item for item in known[mention] if item[0] in there]

    def _links(self, span: Span, mention: str, known: Mapping[str, list[tuple[str, float, str]]]) -> list[Link]:
        return [Link(entity, score, *span, label) for entity, score, label in known.get(mention, ())]


def _instead(text: str, span: Span, mentions: Sequence[Mention], asked: Container[Span]) -> list[Span]:
    """Replace a mention that found nothing by mentions that overlap it, and then by its parts."""
    others = [m for m in mentions if (m.start, m.end) not in asked and _overlap(span, (m.start, m.end))]
    chosen = _spans(best_apart(others))
    return chosen + [part for part in name_parts(text, span) if not any(_overlap(part, other) for other in chosen)]


def _spans(mentions: Sequence[Mention]) -> list[Span]:
    return [(mention.start, mention.end) for mention in mentions]


def _overlap(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _match(mention: str, kind: str, name: str) -> float:
    """Rate how a hit's name meets the mention; 0 where the name only begins with it."""
    if kind == "entityId":
        return LABEL
    if fold(name) != fold(mention):
        return 0.0
    if kind != "label":
        return ALIAS
    return LABEL if name == mention else FOLDED_LABEL
