"""The linkers against the conformance kit, each over a service on loopback."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from srtk_plugin_rel.rel import RelLinker
from srtk_plugin_rel.tagme import TagMeLinker
from srtk_plugin_rel.wat import WatLinker
from srtk_plugin_rel.wikipedia_map import WikipediaMap
from srtk_plugin_web import Limits

from srtk_framework.roles import EntityLinker
from srtk_framework.testing import EntityLinkerConformance
from srtk_framework.values import Link

Start = Callable[[str], Any]
NOBODY = "http://127.0.0.1:9/"
ONCE = Limits(attempts=1, deadline=2.0)


def opened(linker: Any) -> Iterator[Any]:
    linker.open()
    yield linker
    linker.close()


class TestRel(EntityLinkerConformance):
    name = "rel"

    @pytest.fixture(params=["rel-lists", "rel-objects"])
    def driver(self, request: pytest.FixtureRequest, service: Start, index: Path, quick: Limits) -> Iterator[RelLinker]:
        url = service(request.param).url
        yield from opened(RelLinker(endpoint=url, ids=str(index), n_best=3, unmapped="keep", limits=quick))

    @pytest.fixture
    def faulty(self) -> RelLinker:
        return RelLinker(endpoint=NOBODY, limits=ONCE)


class TestTagMe(EntityLinkerConformance):
    name = "tagme"

    @pytest.fixture(params=["characters", "utf16", "bytes", "nfc"])
    def driver(self, request: pytest.FixtureRequest, service: Start, index: Path, quick: Limits) -> Iterator[Any]:
        here = service("tagme")
        here.count = request.param
        yield from opened(TagMeLinker(endpoint=here.url, token="t", ids=str(index), limits=quick))

    @pytest.fixture
    def faulty(self) -> TagMeLinker:
        return TagMeLinker(endpoint="no address", token="t")


class TestWat(EntityLinkerConformance):
    name = "wat"

    @pytest.fixture
    def driver(self, service: Start, quick: Limits) -> Iterator[WatLinker]:
        yield from opened(WatLinker(endpoint=service("wat").url, token="t", limits=quick))

    @pytest.fixture
    def faulty(self) -> WatLinker:
        return WatLinker(ids="no/such/index.db")


@attrs.define(eq=False)
class Words(EntityLinker):
    """Links one word to titles of pages."""

    def link(self, texts: Any) -> list[list[Link]]:
        places = [text.find("Riga") for text in texts]
        return [
            [Link(title, 0.5, at, at + 4) for title in ("Riga", "nowhere else", "riga") if at >= 0] for at in places
        ]


class TestWikipediaMap(EntityLinkerConformance):
    name = "wikipedia-map"

    @pytest.fixture
    def driver(self, index: Path) -> Iterator[WikipediaMap]:
        yield from opened(WikipediaMap(Words(), str(index)))

    @pytest.fixture
    def faulty(self) -> WikipediaMap:
        return WikipediaMap(Words(), "no/such/index.db")
