"""The ``spotlight`` linker: entities of DBpedia, found by a DBpedia Spotlight server."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar, Literal

import attrs
from srtk_plugin_sparql.service_linker import ServiceLinker
from srtk_plugin_sparql.sources import Source
from srtk_plugin_sparql.terms import Rows
from srtk_plugin_web import Limits

from srtk_framework.text import decoded
from srtk_framework.values import Link, SettingsError, at_least, link_order, positive, rounded, share
from srtk_plugin_dbpedia import titles
from srtk_plugin_dbpedia.offsets import span

AGENT = "srtk-framework/0.1 (srtk-plugin-dbpedia; entity linking for question answering; python-urllib3)"
PUBLIC = "https://api.dbpedia-spotlight.org/"

LEAST = 0.0001  # The smallest score after rounding; also that of an entity whose score is no number


@attrs.frozen
class SpotlightLimits(Limits):
    """Limits towards a Spotlight server, modest since all share the public server.

    Attributes:
        per_second: Requests begun per second, averaged over time; null for 4 on a public host, and for no limit on
            this machine or a private network.
    """

    polite: ClassVar[float | None] = 4.0

    at_once: int | None = attrs.field(default=2, validator=positive)
    deadline: float = attrs.field(default=30.0, validator=positive)
    attempts: int = attrs.field(default=3, validator=positive)
    patience: float = attrs.field(default=60.0, validator=positive)
    failures: int = attrs.field(default=5, validator=positive)
    pause: float = attrs.field(default=60.0, validator=positive)


@attrs.define(eq=False, kw_only=True)
class SpotlightLinker(ServiceLinker):
    """Link by DBpedia Spotlight, the public service or a server of yours.

    Attributes:
        language: Language of the texts, which names the public endpoint and the DBpedia edition of the ids.
        endpoint: URL above ``annotate`` and ``candidates``; by default the public endpoint of the language.
        confidence: From 0 to 1; entities that the server trusts less are left out.
        support: Least number of links in Wikipedia that an entity has.
        types: Types whose entities are kept, such as ``DBpedia:Place``; all when empty.
        sparql: A SPARQL query for the entities to keep.
        policy: whitelist keeps the entities of ``types`` and ``sparql``, blacklist leaves them out.
        n_best: Most entities for one mention; above 1 the server is asked for candidates.
        min_score: Links with a lower score are dropped.
    """

    language: str = "en"
    endpoint: str = ""
    confidence: float = attrs.field(default=0.5, validator=share)
    support: int = attrs.field(default=0, validator=at_least(0))
    types: Sequence[str] = ()
    sparql: str = ""
    policy: Literal["whitelist", "blacklist"] = "whitelist"
    n_best: int = attrs.field(default=1, validator=at_least(1))
    min_score: float = attrs.field(default=0.0, validator=share)
    limits: SpotlightLimits = attrs.field(factory=SpotlightLimits)
    user_agent: str = AGENT

    def __attrs_post_init__(self) -> None:
        if not self.language.replace("-", "").isalnum():
            raise SettingsError([(("language",), f"language {self.language!r} is no language code, such as en or de")])

    def _client(self) -> Source:
        from srtk_plugin_dbpedia.spotlight_client import SpotlightClient

        return SpotlightClient(self._url().rstrip("/"), self.limits, self.user_agent, self.headers)

    def _url(self) -> str:
        return self.endpoint or PUBLIC + self.language

    def fingerprint(self) -> str:
        """Identify the server and the questions; headers and limits change no answer."""
        asked = (self.language, self.confidence, self.support, tuple(self.types), self.sparql, self.policy)
        return f"SpotlightLinker({self._url()}, {asked}, {self.n_best}, {self.min_score})"

    def link(self, texts: Sequence[str]) -> list[list[Link]]:
        """Ask about each text by itself, some at the same time."""
        distinct = [text for text in dict.fromkeys(texts) if text.strip()]
        rows = self._ask([self._query(text) for text in distinct])
        known = dict(zip(distinct, rows, strict=True))
        return [self._links(text, known.get(text, [])) for text in texts]

    def _query(self, text: str) -> str:
        from srtk_plugin_dbpedia.spotlight_client import ANNOTATE, CANDIDATES, question

        settings = {"confidence": f"{self.confidence:g}", "support": str(self.support)}
        if self.types:
            settings["types"] = ",".join(self.types)
        if self.sparql:
            settings["sparql"] = self.sparql
        if self.types or self.sparql:
            settings["policy"] = self.policy
        return question(CANDIDATES if self.n_best > 1 else ANNOTATE, text, settings)

    def _links(self, text: str, rows: Rows) -> list[Link]:
        """Turn rows into links: the best ``n_best`` of each span, an entity once."""
        mentions: dict[tuple[int, int] | None, dict[str, Link]] = {}
        for row in rows:
            score = _share(float(row["score"].value))
            if score < self.min_score:
                continue
            place = span(text, int(row["offset"].value), row["surface"].value)
            start, end = place or (None, None)
            entity = self._id(row["uri"].value)
            known = mentions.setdefault(place, {})
            if entity not in known or known[entity].score < score:
                known[entity] = Link(entity, score, start, end, row["label"].value or titles.words(entity))
        kept = [link for links in mentions.values() for link in sorted(links.values(), key=link_order)[: self.n_best]]
        return sorted(kept, key=_order)

    def _id(self, uri: str) -> str:
        """Return the id of the dbpedia graph; entities of other editions keep their whole IRI."""
        start = titles.RESOURCE if self.language == "en" else f"http://{self.language}.dbpedia.org/resource/"
        whole = uri if uri.startswith(("http://", "https://")) else start + uri
        home, found, local = whole.partition(".dbpedia.org/resource/")
        if not found:
            home, found, local = whole.partition("://dbpedia.org/resource/")
            home = ""
        if not found:
            return whole
        iri = titles.page_iri(decoded(local))
        return "dbr:" + iri[len(titles.RESOURCE) :] if not home else home + found + iri[len(titles.RESOURCE) :]


def _order(link: Link) -> tuple[int, float, str, int]:
    return -1 if link.start is None else link.start, -link.score, link.entity, link.end or 0


def _share(score: float) -> float:
    """Bring a score between 0 and 1; servers also send NaN."""
    return LEAST if math.isnan(score) else min(1.0, max(LEAST, rounded(score)))
