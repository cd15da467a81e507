"""The stores beside the local graph read the same triples of the same nodes."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from benchmarks.speed.local_graph import (
    LABELS,
    PARTS,
    READS,
    STORES,
    WIKIDATA,
    bytes_of_parts,
    changes,
    edges,
    entities_of,
    generate,
    generate_labels,
    sampled,
    searching,
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
    assert searching(tmp_path / "local", ids * (READS // len(ids)))["reads of a search, ms"] > 0
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


def test_each_of_a_given_number_of_entities_has_triples() -> None:
    file = io.BytesIO()
    generate(file, 20_000, 0, 10_000)
    rows = file.getvalue().splitlines()
    assert len(rows) == pytest.approx(20_000, rel=0.05)
    assert len({row.split(b"\t")[0] for row in rows}) == 10_000


def test_the_parts_of_a_snapshot_by_their_units_are_the_snapshot(tmp_path: Path) -> None:
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


def test_the_sum_for_wikidata_is_of_the_recorded_terms_by_their_units() -> None:
    terms = {f"bytes a {unit}: {part}": 10.0 for part, (unit, _) in PARTS.items()}
    small = {"CPU s": 2.0, "input, MB": 20.0, "temporary files, MB": 30.0, **terms}
    labels = entities_of(1_000_000) / 1e6
    more = {**small, "CPU s": 2.0 + 5 * labels, "input, MB": 20.0 + 7 * labels}
    large = {**small, "CPU s": 6.0, "input, MB": 50.0, "temporary files, MB": 80.0}
    rows = [
        ("1 million triples", "local", small),
        ("1 million triples", "labelled", more),
        ("2 million triples", "local", large),
    ]
    records = [
        {"set": where, "method": method, "metric": metric, "figure": figure}
        for where, method, figures in rows
        for metric, figure in figures.items()
    ]
    found = sums(records)
    assert found["input, GB"] == pytest.approx(25 + 7 * WIKIDATA["label"] / 1e9, abs=0.06)
    assert found["temporary files, GB"] == 40
    assert found["CPU hours"] == round((3e-6 * WIKIDATA["triple"] + 5e-6 * WIKIDATA["label"]) / 3600, 1)
    assert found["graph, GB"] == pytest.approx(sum(10 * WIKIDATA[unit] / 1e9 for unit, _ in PARTS.values()), abs=0.06)
    with pytest.raises(SystemExit, match="has the bytes of labels; measure them again first"):
        sums([record for record in records if record["metric"] != "bytes a label: labels"])
