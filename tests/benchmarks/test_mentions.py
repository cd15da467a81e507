"""The benchmark of mention detectors: what it counts, and what it says without data."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from benchmarks.linking import mentions
from srtk_framework.values import Link, Mention, Question

ROOT = Path(__file__).parents[2]


def test_exact_spans_touched_ones_and_excused_ones_are_counted() -> None:
    gold = (Link("Q1", 1.0, 0, 4), Link("", 1.0, 5, 9), Link("Q2", 0.0, 10, 12), Link("Q3"))
    counted = mentions.shares([Question("1", "a text", gold_links=gold)], [{(0, 4), (5, 8), (10, 12), (20, 22)}])
    assert counted == {"recall": [(1, 2)], "touched": [(2, 2)], "precision": [(1, 3)]}


def test_a_row_joins_detectors_as_their_union_does() -> None:
    found = {"a": [[Mention(0, 9, 0.5), Mention(0, 4, 0.3)]], "b": [[Mention(0, 4, 0.8)]]}
    assert mentions.joined(found, (("a", "b"), 0.0, False)) == [{(0, 9), (0, 4)}]
    assert mentions.joined(found, (("a", "b"), 0.0, True)) == [{(0, 4)}]
    assert mentions.joined(found, (("a",), 0.4, False)) == [{(0, 9)}]


def test_without_data_the_benchmark_is_skipped_with_its_reason(tmp_path: Path) -> None:
    environment = {**os.environ, "SRTK_DATA": str(tmp_path)}
    command = [sys.executable, "-m", "benchmarks.linking.mentions"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("mentions: skipped, no entity_linking")
