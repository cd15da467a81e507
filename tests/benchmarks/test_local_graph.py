"""The stores beside the local graph read the same triples of the same nodes."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from benchmarks.speed.local_graph import STORES, bytes_of_parts, generate, sampled, update_local


def test_the_stores_read_the_same_triples(tmp_path: Path) -> None:
    source = tmp_path / "triples.tsv"
    with source.open("wb") as file:
        generate(file, 20_000, 0)
    ids, found = sampled(source)[:20], {}
    for store in ("local", "scipy", "duckdb", "oxigraph"):
        (tmp_path / store).mkdir()
        build, opened = STORES[store]
        build(str(source), tmp_path / store)
        read = opened(tmp_path / store)
        found[store] = [read(id_) for id_ in ids]
    assert min(found["local"]) > 0
    assert all(counts == found["local"] for counts in found.values())
    assert bytes_of_parts(tmp_path / "local")["bytes a triple: edges"] < 14
    update_local(str(source), tmp_path / "local")
    changed = [STORES["local"][1](tmp_path / "local")(id_) for id_ in ids]
    assert sum(changed) == pytest.approx(sum(found["local"]), rel=0.1)


def test_the_degrees_do_not_depend_on_the_size() -> None:
    for triples in (20_000, 200_000):
        file = io.BytesIO()
        generate(file, triples, 0)
        rows = file.getvalue().splitlines()
        subjects = {row.split(b"\t")[0] for row in rows}
        assert len(rows) == pytest.approx(triples, rel=0.02)
        assert len(rows) / len(subjects) == pytest.approx(14.4, rel=0.02)
