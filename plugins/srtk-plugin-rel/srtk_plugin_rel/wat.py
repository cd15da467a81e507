"""The linker ``wat``: the WAT service, TagMe's successor for English."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import attrs

from srtk_plugin_rel.service import ServiceRequest
from srtk_plugin_rel.service_linker import Annotation, ServiceLinker, annotations_of
from srtk_plugin_rel.tagme import read_annotation


@attrs.define(eq=False, kw_only=True)
class WatLinker(ServiceLinker):
    """Link by WAT (Piccinno and Ferragina, 2014): English texts, concepts as well as names.

    A score is WAT's rho. The service gives one entity for each mention.

    Attributes:
        language: Language of the texts, and edition of Wikipedia; WAT knows `en`.
    """

    called: ClassVar[str] = "WAT"
    token_in: ClassVar[Literal["header", "query", "form"]] = "query"

    endpoint: str = "https://wat.d4science.org/wat/tag/tag"

    def _request(self, text: str) -> ServiceRequest:
        return ServiceRequest(text, query=(("lang", self.language), ("text", text)))

    def _read(self, data: Any) -> list[Annotation]:
        return annotations_of(data, read_annotation)
