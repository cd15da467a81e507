"""Base class of the linkers over a web service: settings, requests, spans, scores, ids."""

from __future__ import annotations

import math
import numbers
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import attrs
from srtk_plugin_web import Limits, RequestError

from srtk_framework.roles import EntityLinker, absent, no_url, not_open
from srtk_framework.values import Link, at_least, rounded, share
from srtk_plugin_rel.id_converter import Converter, Unmapped, ordered
from srtk_plugin_rel.service import AGENT, Credential, Service, ServiceRequest
from srtk_plugin_rel.spans import Claim, locate
from srtk_plugin_rel.titles import canonical, shown

LEAST = 0.0001  # The smallest score after rounding

Offsets = Literal["auto", "characters", "utf16", "bytes"]


@attrs.frozen
class Entity:
    """A candidate that a service gives for a mention: title and number of its page, and a score."""

    title: str
    score: float
    page: int | None = None


@attrs.frozen
class Annotation:
    """A mention where the service counts it, with one or more candidates, best first."""

    claim: Claim
    entities: tuple[Entity, ...]


@attrs.define(eq=False, kw_only=True)
class ServiceLinker(EntityLinker):
    """Base of the linkers over a service; a subclass writes requests and reads answers.

    Attributes:
        endpoint: Address of the service.
        token: Its gcube-token, if it needs any; write `{env: NAME}`.
        ids: Index from titles to Wikidata ids (`srtk map build`, wikimapper), or language to index; without it the
            title is the id.
        unmapped: Link whose title has no id: `drop` it, or `keep` the title as its id; the log names it.
        language: Language of the texts, and edition of Wikipedia of titles that name none.
        min_score: Links with a lower score are dropped.
        n_best: Most entities for one mention, where the service gives several.
        offsets: Unit that the service counts in: `characters`, `utf16`, `bytes`, or `auto` for the best fit.
        limits: Requests per second and in flight, deadline, attempts, patience.
        user_agent: How the client names itself.
        cache: SQLite file for answers, used by later runs.
        cache_days: Age in days at which an answer in it is asked for again.
        offline: Answer from `cache` alone.
    """

    called: ClassVar[str] = ""
    """Name of the service, for errors."""
    token_in: ClassVar[Literal["header", "query", "form"]] = "header"

    endpoint: str
    token: str = attrs.field(default="", repr=False)
    ids: str | Mapping[str, str] | None = None
    unmapped: Unmapped = "drop"
    language: str = "en"
    min_score: float = attrs.field(default=0.0, validator=share)
    n_best: int = attrs.field(default=1, validator=at_least(1))
    offsets: Offsets = "auto"
    limits: Limits = attrs.field(factory=Limits)
    user_agent: str = AGENT
    cache: str | None = None
    cache_days: float = attrs.field(default=30.0, validator=at_least(0))
    offline: bool = False
    _service: Service | None = attrs.field(init=False, default=None, repr=False)
    _converter: Converter | None = attrs.field(init=False, default=None, repr=False)

    @abstractmethod
    def _request(self, text: str) -> ServiceRequest:
        """Make the request for a text."""

    @abstractmethod
    def _read(self, data: Any) -> list[Annotation]:
        """Read an answer, or raise a ValueError with the reason why it is none."""

    @property
    def lost(self) -> int:
        """Count the links since opening whose title had no id."""
        return self._converter.lost if self._converter else 0

    def preflight(self) -> list[tuple[str, str]]:
        """Check the form of the endpoint, and that the indexes of titles exist."""
        files = [self.ids] if isinstance(self.ids, str) else list((self.ids or {}).values())
        missing = [fault for file in files for fault in absent("ids", file, "make it by `srtk map build`")]
        return missing if self.offline else [*no_url("endpoint", self.endpoint), *missing]

    def open(self) -> None:
        """Open the index; nothing is sent yet."""
        self._service = Service(
            self.called,
            self.endpoint,
            self.limits,
            self.user_agent,
            Credential(self.token_in, "gcube-token", self.token) if self.token else None,
            Path(self.cache) if self.cache else None,
            self.cache_days,
            self.offline,
        )
        if self.ids is not None:
            self._converter = Converter(self.ids, self.language, self.unmapped, self.called)

    def close(self) -> None:
        """Close connections, cache and index."""
        if self._service is not None:
            self._service.close()
        if self._converter is not None:
            self._converter.close()
        self._service = self._converter = None

    def fingerprint(self) -> str:
        """Name all settings that decide the links; neither the token nor the limits do."""
        ignored = ("token", "limits", "user_agent", "cache", "cache_days", "offline", "ids")
        fields = [field.name for field in attrs.fields(type(self)) if field.init and field.name not in ignored]
        parts = [f"{name}={getattr(self, name)!r}" for name in fields]
        parts.append(f"ids={self._converter.fingerprint() if self._converter else self.ids!r}")
        return f"{type(self).__module__}.{type(self).__qualname__}({', '.join(parts)})"

    def link(self, texts: Sequence[str]) -> Sequence[Sequence[Link]]:
        """Ask the service about each text; a text of blanks is not sent.

        Raises:
            DriverError: If the linker is not open.
            RequestError: For the first text that has no answer. The other answers are kept, so that a caller
                that then asks text by text sends nothing twice.
        """
        if self._service is None:
            raise not_open(self)
        asked = [text for text in dict.fromkeys(texts) if text.strip()]
        answers = self._service.ask_all([self._request(_sendable(text)) for text in asked], self._read)
        found: dict[str, tuple[list[Link], list[int | None]]] = {}
        for text, answer in zip(asked, answers, strict=True):
            if isinstance(answer, RequestError):
                raise answer
            found[text] = self._links(text, answer)
        rows, pages = zip(*(found.get(text, ([], [])) for text in texts), strict=True) if texts else ((), ())
        if self._converter is not None:
            return self._converter.convert(rows, pages)
        return [ordered(row) for row in rows]

    def _links(self, text: str, annotations: Sequence[Annotation]) -> tuple[list[Link], list[int | None]]:
        links, pages = [], []
        spans = locate(text, [annotation.claim for annotation in annotations], self.offsets)
        for annotation, span in zip(annotations, spans, strict=True):
            start, end = span or (None, None)
            for entity in annotation.entities[: self.n_best]:
                score = max(min(rounded(entity.score), 1.0), LEAST)
                if score >= self.min_score:
                    links.append(Link(canonical(entity.title), score, start, end, shown(entity.title)))
                    pages.append(entity.page)
        return links, pages


def _sendable(text: str) -> str:
    """Replace each half character, which no encoding has, by a single character."""
    return "".join("\ufffd" if "\ud800" <= character <= "\udfff" else character for character in text)


def items(data: Any, what: str) -> list[Any]:
    """Return a list, or raise a ValueError."""
    if not isinstance(data, list):
        raise ValueError(f"{what} are {type(data).__name__}, not a list")  # noqa: TRY004 - the answer is bad, not the type
    return data


def number(value: Any, what: str) -> float:
    """Return a finite number, also from its text, or raise a ValueError."""
    found = float(value) if isinstance(value, str) else value
    if isinstance(found, bool) or not isinstance(found, numbers.Real) or not math.isfinite(found):
        raise ValueError(f"{what} is {value!r}, not a number")
    return float(found)


def offset(value: Any, what: str) -> int | None:
    """Return a whole number or None, or raise a ValueError."""
    if value is None:
        return None
    found = number(value, what)
    if found != int(found):
        raise ValueError(f"{what} is {value!r}, not a whole number")
    return int(found)


def text_of(value: Any, what: str) -> str:
    """Return a text, or raise a ValueError."""
    if not isinstance(value, str):
        raise ValueError(f"{what} is {value!r}, not a text")  # noqa: TRY004 - the answer is bad, not the type
    return value


def annotations_of(data: Any, read: Callable[[Mapping[str, Any]], Annotation | None]) -> list[Annotation]:
    """Read ``{"annotations": [{...}, ...]}``, or raise a ValueError."""
    if not isinstance(data, dict) or "annotations" not in data:
        raise ValueError("there is no list `annotations` in it")
    found = []
    for place, item in enumerate(items(data["annotations"], "annotations")):
        if not isinstance(item, dict):
            raise ValueError(f"annotation {place} is {item!r}, not an object")  # noqa: TRY004 - the answer is bad, not the type
        annotation = read(item)
        if annotation is not None:
            found.append(annotation)
    return found
