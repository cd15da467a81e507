"""Vectors that ``srtk graph build --vectors`` makes ahead of questions, and the record of them beside the snapshot."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from srtk_framework import Retriever
from srtk_framework.records import read_model, write_model
from srtk_plugin_local.snapshot.arrays import Snapshot
from srtk_plugin_local.snapshot.frequent_paths import frequent_paths

FILE = "vectors.json"
_AGAIN = "give `srtk graph build` --vectors again, or delete it"


class KeptVectors:
    """Prepares the default path scorer for a graph that is about to be built.

    Args:
        folder: Folder of the snapshot.
        model: Model of the encoder; empty for the default.

    Raises:
        PluginError: If a driver is not installed.
    """

    def __init__(self, folder: Path, model: str) -> None:
        self._folder = folder
        encoder = {"model": model} if model else None
        self._retriever = Retriever({"use": "local", "path": str(folder)}, encoder=encoder)

    def make(self, paths: int) -> Mapping[str, Any]:
        """Make the vectors of all relations and of the most frequent paths; record and return their counts."""
        start = time.perf_counter()
        with self._retriever as opened:
            snapshot = Snapshot(self._folder)
            some, dense = frequent_paths(snapshot, paths)
            [scorer] = opened.session.composer.built("path_scorer")
            counts = dict(scorer.prepare(some))
            [encoder] = opened.session.composer.built("encoder")
            facts = {
                "graph": snapshot.meta.content,
                "encoder": f"{encoder.name} {encoder.driver.settings().get('model', '')}".strip(),
                "scorer": scorer.fingerprint(),
                "paths": len(some),
                "dense": dense,
                **counts,
                "seconds": round(time.perf_counter() - start, 1),
            }
        write_model(self._folder / FILE, facts)
        return facts


def kept_vectors(folder: Path, content: str) -> Mapping[str, Any] | None:
    """Return the record of the vectors that were made for a snapshot of this content; None without one.

    Raises:
        DriverError: If the record is damaged.
    """
    if not (folder / FILE).is_file():
        return None
    found: Mapping[str, Any] = read_model(folder / FILE, "graph build", dict, _AGAIN)
    return found if found["graph"] == content else None


def summary(facts: Mapping[str, Any]) -> str:
    """Describe the vectors in a line for the screen."""
    dense = facts.get("dense")
    more = f"; paths through {dense:,} nodes with very many were not counted" if dense else ""
    return (
        f"vectors by {facts['encoder']} of {facts['texts']:,} texts of {facts['paths']:,} paths,"
        f" {facts['encoded']:,} of them encoded in {facts['seconds']:,} s,"
        f" {facts['bytes'] / 1e6:,.1f} MB in the cache{more}"
    )
