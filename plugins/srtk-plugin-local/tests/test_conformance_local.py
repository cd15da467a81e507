"""The local graph against the conformance kit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from srtk_plugin_local.snapshot.build import build
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.graph import LocalGraph

from srtk_framework.testing import KnowledgeGraphConformance
from srtk_framework.testing.sample import SAMPLE, Sample


def write_sample(sample: Sample, folder: Path) -> BuildSettings:
    tables = {
        "triples": [tuple(triple) for triple in sample.triples],
        "labels": list(sample.labels.items()),
        "aliases": [(id_, name) for id_, names in sample.aliases.items() for name in names],
        "qualifiers": [(*triple, *pair) for triple, pairs in sample.qualifiers.items() for pair in pairs],
    }
    for name, rows in tables.items():
        columns = {f"c{n}": [str(cell) for cell in column] for n, column in enumerate(zip(*rows, strict=True))}
        pq.write_table(pa.table(columns), folder / f"{name}.parquet")
    return BuildSettings(
        files=(str(folder / "triples.parquet"),),
        labels=(str(folder / "labels.parquet"),),
        aliases=(str(folder / "aliases.parquet"),),
        qualifiers=(str(folder / "qualifiers.parquet"),),
        literals="quoted",
        noise=("code",),
    )


class TestLocalGraph(KnowledgeGraphConformance):
    name = "local"

    @pytest.fixture(scope="class")
    @classmethod
    def snapshot(cls, tmp_path_factory: pytest.TempPathFactory) -> Path:
        folder = tmp_path_factory.mktemp("local")
        return build(write_sample(SAMPLE, folder), folder / "snapshot").folder

    @pytest.fixture
    def driver(self, snapshot: Path) -> Iterator[LocalGraph]:
        graph = LocalGraph(str(snapshot))
        graph.open()
        yield graph
        graph.close()
