"""The linker ``tagme``: the TagMe service."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import attrs

from srtk_framework.values import share
from srtk_plugin_rel.service import ServiceRequest
from srtk_plugin_rel.service_linker import Annotation, Entity, ServiceLinker, annotations_of, number, offset, text_of
from srtk_plugin_rel.spans import Claim


@attrs.define(eq=False, kw_only=True)
class TagMeLinker(ServiceLinker):
    """Link by TagMe (Ferragina and Scaiella, 2010): short texts, concepts as well as names.

    A score is TagMe's rho. The service gives one entity for each mention.

    Attributes:
        language: Language of the texts, and edition of Wikipedia: `en`, `de` or `it`.
        min_score: Links with a lower rho are dropped; the service's authors advise 0.1 to 0.3.
    """

    called: ClassVar[str] = "TagMe"
    token_in: ClassVar[Literal["header", "query", "form"]] = "form"

    endpoint: str = "https://tagme.d4science.org/tagme/tag"
    min_score: float = attrs.field(default=0.1, validator=share)

    def _request(self, text: str) -> ServiceRequest:
        return ServiceRequest(text, form=(("text", text), ("lang", self.language)))

    def _read(self, data: Any) -> list[Annotation]:
        return annotations_of(data, read_annotation)


def read_annotation(item: Mapping[str, Any]) -> Annotation | None:
    """Read an annotation of TagMe or WAT; without a title, it leads to no page."""
    title = text_of(item.get("title") or "", "title")
    if not title.strip():
        return None
    start, end = offset(item.get("start"), "start"), offset(item.get("end"), "end")
    spot = text_of(item.get("spot") or "", "spot")
    if not spot and (start is None or end is None):
        raise ValueError(f"the annotation {dict(item)!r} has neither a place nor a spot")
    entity = Entity(title, number(item.get("rho"), "rho"), offset(item.get("id"), "id"))
    return Annotation(Claim(start, end, spot), (entity,))
