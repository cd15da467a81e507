"""The stores beside the local graph read the same triples of the same nodes."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from benchmarks.speed.local_graph import (
    LABELS,
    PARTS,
    STORES,
    WIKIDATA,
    bytes_of_parts,
    changes,
    edges,
    entities_of,
    generate,
    generate_labels,
    sampled,
    sums,
    update_local,
)


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
    assert edges(*bytes_of_parts(tmp_path / "local")) < 14
    changes(source)
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


def test_the_sum_for_wikidata_is_of_the_parts_by_their_units(tmp_path: Path) -> None:
    source, out = tmp_path / "triples.tsv", tmp_path / "labelled"
    with source.open("wb") as file:
        generate(file, 20_000, 0)
    with (tmp_path / LABELS).open("wb") as file:
        generate_labels(file, entities_of(20_000), 0)
    out.mkdir()
    STORES["labelled"][0](str(source), out)
    parts, units = bytes_of_parts(out)
    assert units["label"] == units["node"] == entities_of(20_000)
    stored = sum(path.stat().st_size for path in (out / "graph").rglob("*") if path.name != "meta.json")
    assert sum(parts[part] * units[unit] for part, (unit, _) in PARTS.items()) == pytest.approx(stored, rel=0.05)
    plain = {"CPU s": units["triple"] * 1e-6, "input, MB": 1.0, "temporary files, MB": 2.0}
    labelled = {"CPU s": plain["CPU s"] + units["label"] * 1e-5, "input, MB": 1.5, "temporary files, MB": 2.0}
    summed = sums(plain, labelled, {**parts, **units})
    assert summed["CPU hours"] == round((WIKIDATA["triple"] * 1e-6 + WIKIDATA["label"] * 1e-5) / 3600, 1)
    assert summed["graph, GB"] == pytest.approx(sum(summed[f"{part}, GB"] for part in PARTS), abs=0.3)
