"""Comparison of finished runs by the scores in their folders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from srtk_framework.records import read_json
from srtk_framework.values import InputError
from srtk_plugin_evaluation.method_names import method_names
from srtk_plugin_evaluation.metrics import compare
from srtk_plugin_evaluation.rows import Row
from srtk_plugin_evaluation.scores import read_scores
from srtk_plugin_evaluation.training_overlap import TrainingOverlap, overlap_of_training


def compare_runs(
    folders: Sequence[Path],
    names: Sequence[str] | None = None,
    fields: Sequence[str] = (),
    overlap: TrainingOverlap | None = None,
) -> dict[str, Any]:
    """Compare the main method of the first run with every other method of runs on the same questions.

    Args:
        folders: Folders of runs whose recipes have ``evaluate``.
        names: One name per run; by default derived from the folders' names.
        fields: Fields of the question records to slice by.
        overlap: Relations and paths in the training data; by default, of the first run with training.

    Raises:
        InputError: If a folder has no scores, or the runs had different questions.
    """
    shown = method_names([folder / "run" for folder in folders], names)
    methods = merged({name: read_scores(folder) for name, folder in zip(shown, folders, strict=True)})
    return compare(methods, fields=fields, overlap=overlap or training_overlap_of(folders))


def merged(runs: Mapping[str, Mapping[str, Sequence[Row]]]) -> dict[str, list[Row]]:
    """Merge the methods of several runs: a main method is named after its run, others keep their names.

    A method of several runs is named ``run/method``, unless its results are equal in all of them; then it is included
    once. Rows are in the order of the first run's questions.
    """
    found: dict[str, list[Row]] = {}
    others: dict[str, dict[str, list[Row]]] = {}
    order: dict[str, int] = {}
    for run, methods in runs.items():
        for number, (method, rows) in enumerate(methods.items()):
            order = order or {row.id: place for place, row in enumerate(rows)}
            ordered = sorted(rows, key=lambda row: order.get(row.id, len(order)))
            if number == 0:
                found[run] = ordered
            else:
                others.setdefault(method, {})[run] = ordered
    for method, by_run in others.items():
        first, *rest = by_run.values()
        if method not in found and all(_untimed(first) == _untimed(rows) for rows in rest):
            found[method] = first
        else:
            found.update({f"{run}/{method}": rows for run, rows in by_run.items()})
    return found


def _untimed(rows: Sequence[Row]) -> list[Row]:
    return [attrs.evolve(row, seconds=None) for row in rows]


def training_overlap_of(folders: Sequence[Path]) -> TrainingOverlap | None:
    """Read the training data of the first run whose training had relations or paths, if its file still exists."""
    for folder in folders:
        manifest = folder / "manifest.json"
        if not manifest.exists():
            continue
        try:
            found = read_json(manifest)
        except InputError as error:
            raise InputError(f"{error}; run the recipe again") from error
        training = found.get("training") if isinstance(found, dict) else None
        overlap = overlap_of_training(Path(training["folder"])) if isinstance(training, dict) else None
        if overlap is not None:
            return overlap
    return None
