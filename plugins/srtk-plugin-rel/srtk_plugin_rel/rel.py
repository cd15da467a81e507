"""The linker ``rel``: a server of REL, the Radboud Entity Linker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import attrs

from srtk_plugin_rel.service import ServiceRequest
from srtk_plugin_rel.service_linker import Annotation, Entity, ServiceLinker, items, number, offset, text_of
from srtk_plugin_rel.spans import Claim

UNSCORED = 0.5  # Score where REL gives no confidence, which it writes as 0

_NOTHING = ("NIL", "", None)
_NAMES: dict[str, tuple[str, ...]] = {
    "start": ("start", "start_pos", "start_position", "pos", "offset"),
    "length": ("length", "mention_length"),
    "end": ("end", "end_pos"),
    "spot": ("mention", "ngram", "spot", "surface_form", "text"),
    "title": ("prediction", "entity", "title", "wiki_title"),
    "score": ("conf_ed", "ed_confidence", "confidence_ed", "confidence", "score"),
    "detected": ("conf_md", "md_confidence", "confidence_md"),
}
"""Names of one thing in answers made of objects."""


@attrs.define(eq=False, kw_only=True)
class RelLinker(ServiceLinker):
    """Link by a server of REL (van Hulst et al., 2020): names in running text, to titles of Wikipedia.

    A score is the confidence of disambiguation, else the confidence of detection, else 0.5.

    Attributes:
        endpoint: Address of the server, path included: `/ne_concept` links concepts too.
        token: gcube-token of a hosted server; write `{env: NAME}`. Your own server wants none.
        n_best: Most entities for one mention; servers that answer by lists give a single entity.
        tagger: Finds the names: `ner-fast`, or `ner-fast-with-lowercase` for texts in small letters; the server's own
            by default.
    """

    called: ClassVar[str] = "REL"

    endpoint: str = "http://127.0.0.1:1235"
    tagger: str | None = None

    def _request(self, text: str) -> ServiceRequest:
        tagger = {} if self.tagger is None else {"tagger": self.tagger}
        return ServiceRequest(text, body={"text": text, "spans": [], **tagger})

    def _read(self, data: Any) -> list[Annotation]:
        if isinstance(data, dict):
            held = [data[name] for name in ("annotations", "mentions", "entities", "result") if name in data]
            if not held:
                raise ValueError(f"it is an object with {', '.join(sorted(data)) or 'nothing'}, and holds no mentions")
            data = held[0]
        read = [_of_object(item) if isinstance(item, dict) else _of_list(item) for item in items(data, "mentions")]
        return [annotation for annotation in read if annotation is not None]


def _of_list(item: Any) -> Annotation | None:
    """Read [start, length, mention, entity, confidence of disambiguation, of detection, type]."""
    if len(items(item, "the parts of a mention")) < 4:
        raise ValueError(f"the mention {item!r} has fewer than 4 parts: start, length, mention, entity")
    start, length = offset(item[0], "start"), offset(item[1], "length")
    if start is None or length is None or start < 0 or length < 0:
        raise ValueError(f"the mention {item!r} has no start and length")
    if item[3] in _NOTHING:
        return None
    confidence, detected = [*item[4:6], None, None][:2]
    entity = Entity(text_of(item[3], "the entity"), _score(confidence, detected))
    return Annotation(Claim(start, start + length, text_of(item[2], "the mention")), (entity,))


def _of_object(item: Mapping[str, Any]) -> Annotation | None:
    """Read an object, with candidates where it has some."""
    start, length, end = (offset(_field(item, name), name) for name in ("start", "length", "end"))
    if end is None and start is not None and length is not None:
        end = start + length
    spot = text_of(_field(item, "spot") or "", "the mention")
    if not spot and (start is None or end is None):
        raise ValueError(f"the mention {dict(item)!r} has neither a place nor a text")
    entities = _candidates(item)
    title = _field(item, "title")
    if title in _NOTHING:
        return None
    first = Entity(text_of(title, "the entity"), _score(_field(item, "score"), _field(item, "detected")))
    others = sorted((e for e in entities if e.title != first.title), key=lambda e: (-e.score, e.title))
    # The server's choice stays first, whatever the scores of candidates measure.
    others = [attrs.evolve(entity, score=min(entity.score, first.score)) for entity in others]
    return Annotation(Claim(start, end, spot), (first, *others))


def _candidates(item: Mapping[str, Any]) -> list[Entity]:
    """Read parallel lists ``candidates`` and ``scores``, or a list of pairs or objects."""
    names = items(item.get("candidates") or [], "candidates")
    scores = items(item.get("scores") or [None] * len(names), "scores of candidates")
    if len(names) != len(scores):
        raise ValueError(f"there are {len(names)} candidates and {len(scores)} scores")
    found = []
    for name, score in zip(names, scores, strict=True):
        if isinstance(name, dict):
            found.append((_field(name, "title"), _field(name, "score")))
        elif isinstance(name, list) and len(name) == 2:
            found.append((name[0], name[1]))
        else:
            found.append((name, score))
    return [Entity(text_of(name, "a candidate"), _score(score, None)) for name, score in found if name not in _NOTHING]


def _field(item: Mapping[str, Any], name: str) -> Any:
    return next((item[key] for key in _NAMES[name] if item.get(key) is not None), None)


def _score(*confidences: Any) -> float:
    """Take the first confidence that is given; REL writes 0 where it has none."""
    given = [number(value, "a confidence") for value in confidences if value not in (None, "", "-")]
    return next((value for value in given if value > 0), UNSCORED)
