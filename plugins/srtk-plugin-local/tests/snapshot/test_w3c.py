"""The W3C's test suites of RDF, from the folder that SRTK_W3C names: its files are not part of this repository."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from srtk_plugin_local.snapshot.input_report import FileReport
from srtk_plugin_local.snapshot.rdf import read_rdf

from srtk_framework.values import InputError

FOLDER = os.environ.get("SRTK_W3C", "")
ENDINGS = {".nt": "ntriples", ".nq": "nquads", ".ttl": "turtle", ".trig": "trig", ".rdf": "rdfxml"}
BASE = "http://www.w3.org/2013/"
_RESULT = re.compile(r"mf:action\s+<([^>]+)>\s*;\s*mf:result\s+<([^>]+)>")

pytestmark = pytest.mark.skipif(not FOLDER, reason="SRTK_W3C names no folder with the test suites of the W3C")


def cases() -> Iterator[tuple[Path, Path]]:
    """Yield the files of each positive test of evaluation: what is read, and the triples that it means."""
    for manifest in sorted(Path(FOLDER).rglob("manifest.ttl")):
        for action, result in _RESULT.findall(manifest.read_text(encoding="utf-8")):
            read, meant = manifest.parent / action, manifest.parent / result
            if read.suffix in ENDINGS and meant.suffix in (".nt", ".nq") and read.is_file() and meant.is_file():
                yield read, meant


def count(path: Path, base: str) -> int:
    report = FileReport(str(path), ENDINGS[path.suffix])
    tables = read_rdf(str(path), report.format, report, lambda done: None, base)
    rows = {tuple(row.values()) for table in tables for row in table.to_pylist()}
    assert not report.skipped or list(report.skipped) == ["empty files"], path
    return len(rows)


def test_each_positive_test_has_as_many_triples_as_its_result() -> None:
    wrong, total = [], 0
    for read, meant in cases():
        total += 1
        try:
            found, expected = count(read, f"{BASE}{read.name}"), count(meant, BASE)
        except InputError as error:
            wrong.append(f"{read}: {error}")
            continue
        if found != expected:
            wrong.append(f"{read}: {found} triples, not {expected}")
    assert total, f"{FOLDER} holds no manifest.ttl of the W3C"
    assert not wrong, f"{len(wrong)} of {total} are wrong:\n" + "\n".join(wrong[:20])
