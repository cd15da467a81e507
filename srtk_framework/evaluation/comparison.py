"""Compare several runs: scores out of their folders, under names that tell the methods apart, in one report."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from srtk_framework.evaluation.metrics import compare
from srtk_framework.evaluation.rows import Row
from srtk_framework.evaluation.scores import read_scores
from srtk_framework.evaluation.slices import Learnt, learnt_from
from srtk_framework.values import InputError


def compare_runs(
    folders: Sequence[Path],
    names: Sequence[str] | None = None,
    fields: Sequence[str] = (),
    learnt: Learnt | None = None,
) -> dict[str, Any]:
    """Compare the methods of finished runs on the same questions; the first run's main method with each other one.

    Args:
        folders: Of runs whose recipes have ``evaluate``.
        names: Of the runs, one for each folder; by default made from the folders' names.
        fields: Of the question records, to slice by.
        learnt: What training had seen; by default what the first of the runs that trained had.

    Raises:
        InputError: If a folder has no scores, or the runs were not on the same questions.
    """
    shown = names_of([folder / "run" for folder in folders], names)
    methods = merged({name: read_scores(folder) for name, folder in zip(shown, folders, strict=True)})
    return compare(methods, fields=fields, learnt=learnt or learnt_by(folders))


def names_of(files: Sequence[str | Path], names: Sequence[str] | None = None) -> list[str]:
    """Name methods after their files: by the stem, else by the nearest folder, if that tells all of them apart.

    Raises:
        InputError: If the names given are not one for each file, or repeat.
    """
    if names:
        if len(names) != len(files):
            raise InputError(f"{len(files)} result files, but {len(names)} names; give one for each")
        if len(set(names)) != len(names):
            raise InputError(f"the names {', '.join(names)} are not all different")
        return list(names)
    parts = [Path(file).with_suffix("").parts for file in files]
    for depth in range(1, max((len(p) for p in parts), default=1) + 1):
        found = ["/".join(p[-depth : len(p) - depth + 1]) for p in parts]
        if all(found) and len(set(found)) == len(found):
            return found
    whole = ["/".join(p) for p in parts]
    if len(set(whole)) == len(whole):
        return whole
    raise InputError(f"the result files {', '.join(map(str, files))} are not all different; name each once")


def merged(runs: Mapping[str, Mapping[str, Sequence[Row]]]) -> dict[str, list[Row]]:
    """Name the methods of several runs: a main method after its run, others by their own name.

    A method that several runs have is named ``run/method``, except where it did the same in all of them: then it
    stands there once. Rows come in the order of the first run's questions.
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


def learnt_by(folders: Sequence[Path]) -> Learnt | None:
    """Read what the first of some runs that trained had learnt from, if the lessons are still there."""
    for folder in folders:
        manifest = folder / "manifest.json"
        if not manifest.exists():
            continue
        try:
            training = json.loads(manifest.read_text(encoding="utf-8")).get("training")
        except ValueError as error:
            raise InputError(f"{manifest} is not JSON ({error}); run the recipe again") from error
        lessons = Path(training["folder"]) / "lessons.jsonl" if isinstance(training, dict) else None
        if lessons is not None and lessons.exists():
            return learnt_from(lessons)
    return None
