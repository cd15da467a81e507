"""The index ``qdrant`` keeps the contract of its role, in a folder and on a server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from srtk_plugin_qdrant.index import QdrantIndex

from srtk_framework.roles import Encoder
from srtk_framework.testing import IndexConformance, ToyEncoder
from srtk_framework.testing.index import entries_of
from srtk_framework.values import Entry


def filled(index: Any, entries: list[Entry]) -> Any:
    index.create()
    index.add(entries)
    index.commit()
    return index


@pytest.fixture
def encoder() -> Encoder:
    toy = ToyEncoder(dimensions=64)
    toy.open()
    return toy


class Somewhere(IndexConformance):
    """Checks the index at the places that ``at`` gives."""

    dimensions = 64

    @pytest.fixture
    def at(self) -> Any:
        """Return a function from a name to the settings of a place."""
        raise NotImplementedError

    @pytest.fixture
    def entries(self, encoder: Encoder) -> list[Entry]:
        """Return the kit's entries with the vectors of their texts."""
        rows = encoder.encode([entry.text for entry in entries_of(0)])
        return [attrs.evolve(entry, vector=row) for entry, row in zip(entries_of(0), rows, strict=True)]

    @pytest.fixture
    def driver(self, at: Any, entries: list[Entry], encoder: Encoder) -> Iterator[QdrantIndex]:
        index = filled(QdrantIndex(encoder=encoder, **at("index")), entries)
        yield index
        index.close()

    @pytest.fixture
    def empty(self, at: Any, encoder: Encoder) -> Iterator[QdrantIndex]:
        index = QdrantIndex(encoder=encoder, **at("empty"))
        index.create()
        yield index
        index.close()

    @pytest.fixture
    def changed(self, driver: QdrantIndex, at: Any, entries: list[Entry], encoder: Encoder) -> QdrantIndex:
        return filled(QdrantIndex(encoder=encoder, **at("index")), entries[:-1])

    @pytest.fixture
    def faulty(self, at: Any, encoder: Encoder) -> QdrantIndex:
        return QdrantIndex(encoder=encoder, **at("missing"))


class TestFolder(Somewhere, IndexConformance):
    name = "qdrant"

    @pytest.fixture
    def at(self, tmp_path: Path) -> Any:
        return lambda name: {"path": str(tmp_path / name)}


class TestServer(Somewhere, IndexConformance):
    name = "qdrant"

    @pytest.fixture
    def at(self, qdrant: Any) -> Any:
        return lambda name: {"url": qdrant.url, "key": qdrant.key, "collection": name}
