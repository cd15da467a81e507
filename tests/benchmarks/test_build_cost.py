"""The files whose builds are timed."""

from __future__ import annotations

import csv
from pathlib import Path

from benchmarks.files.build_cost import build, write_facts, write_table


def test_both_files_of_facts_become_graphs_of_the_same_size(tmp_path: Path) -> None:
    write_facts(tmp_path, 2000)
    tsv, ntriples = (build(tmp_path / name, tmp_path) for name in ("facts.tsv", "facts.nt"))
    assert tsv["counts"]["triples"] == ntriples["counts"]["triples"] > 1900
    assert tsv["seconds"] > 0
    assert tsv["megabytes"] > 0


def test_the_table_links_to_its_own_rows(tmp_path: Path) -> None:
    write_table(tmp_path, 500)
    rows = list(csv.DictReader((tmp_path / "table.csv").read_text().splitlines()))
    assert len(rows) == 500
    assert {row["supervisor"] for row in rows} <= {row["id"] for row in rows}
