"""The manifest of a run: everything that decides its results, and the check that a folder holds the same run."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from srtk_framework.host.class_path import hashes_of
from srtk_framework.host.discovery import STAGE, distributions_of
from srtk_framework.host.versions import __version__, libraries
from srtk_framework.records.jsonl import read_json
from srtk_framework.roles import Executor
from srtk_framework.run.journal import FOLDER as JOURNALS
from srtk_framework.run.journal import discard
from srtk_framework.run.question_source import RunQuestions
from srtk_framework.run.session import Session
from srtk_framework.run.stages import files_of
from srtk_framework.values import InputError, RunError, redacted

COMPLETE, STOPPED, RUNNING = "complete", "stopped", "running"

NAME = "manifest.json"
LOCK = ".lock"


def computation_of(session: Session) -> dict[str, Any]:
    """Collect what decides the results of a question: drivers with settings and data, classes of files, versions.

    The executor is left out: where a batch is computed changes no result.

    Returns:
        The keys ``fingerprints``, ``versions`` and, where the recipe names classes of files, ``classes`` of a manifest.
    """
    deciding = session.stages.deciding()
    drivers = [one for one in session.drivers if one[0] != Executor.role]
    names = ["srtk-framework", *distributions_of([*drivers, *((STAGE, key) for key in deciding)])]
    others = {"linker": session.linker, "reader": session.reader, "graph": session.graph}
    parts = {**session.methods, **{name: driver for name, driver in others.items() if driver is not None}}
    classes = hashes_of((name for _, name in drivers), session.recipe.folder)
    return {
        "fingerprints": {
            **{name: redacted(driver.fingerprint()) for name, driver in parts.items()},
            **{f"stage {key}": redacted(text) for key, text in deciding.items()},
        },
        **({"classes": classes} if classes else {}),
        "versions": {name: __version__ if name == "srtk-framework" else version(name) for name in dict.fromkeys(names)},
    }


def manifest_of(session: Session, asked: RunQuestions) -> dict[str, Any]:
    """Collect everything that decides the results of a run, before it begins."""
    computation, recipe, options = computation_of(session), session.recipe, session.recipe.options
    whole = repr(
        (
            *(sorted(computation.get(key, {}).items()) for key in ("fingerprints", "classes", "versions")),
            options.relink,
            options.limit,
            options.seed,
            asked.hash,
        )
    )
    return {
        "recipe": recipe.file,
        "written": recipe.written,
        "state": RUNNING,
        "fingerprint": hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest(),
        **computation,
        "graph": redacted(session.graph.source()) if session.graph is not None else None,
        "questions": {"count": asked.count, "sha256": asked.hash},
        "seed": options.seed,
        "reproducible": options.budget.seconds is None,
        **({"stages": session.stages.record()} if session.stages else {}),
        "python": platform.python_version(),
        "libraries": libraries(),
    }


def claim(folder: Path, manifest: Mapping[str, Any], resume: bool, fresh: bool) -> bool:
    """Decide whether a run goes on from the content of its folder; if it does not, clear the folder for it.

    An unfinished run of the same fingerprint goes on. Another run is left alone, except with ``fresh``. A finished run
    is done again, except with ``resume``. Where the manifest is lost, the journals name their run themselves.

    Args:
        folder: Folder of the run, locked.
        manifest: Manifest of the run that is to begin.
        resume: Go on with a finished run too.
        fresh: Start over in any case.

    Returns:
        Whether the finished questions in the folder are to be taken over.

    Raises:
        RunError: If the folder holds another run, or files that are not a run's.
    """
    earlier = _earlier(folder)
    if earlier is None and not fresh:
        return any((folder / JOURNALS).glob("*.jsonl"))
    if earlier is not None and not fresh:
        same = earlier["fingerprint"] == manifest["fingerprint"]
        unfinished = earlier.get("state") != COMPLETE
        if same and (unfinished or resume):
            return True
        if unfinished or resume:
            what = "an unfinished run" if unfinished else "a finished run"
            raise RunError(
                f"{folder} holds {what} that differs in {_differences(earlier, manifest)}; continue that run with what"
                " it began with, choose another `output:`, or start over with --fresh"
            )
    # The manifest stays until no journal is left, so that a run killed here is started over once more.
    discard(folder, earlier is not None)
    if earlier is not None:
        for name in files_of({**earlier.get("stages", {}), **manifest.get("stages", {})}):
            _delete(folder / name)
    return False


def _delete(file: Path) -> None:
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        raise RunError(f"{file} cannot be deleted: {error.strerror or error}; delete it by hand") from error


def differences(earlier: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Name the differences between two computations; empty where there are none."""
    found = []
    for key, what in (
        ("fingerprints", "the settings or data of"),
        ("versions", "the version of"),
        ("classes", "the file of"),
    ):
        one, other = (part if isinstance(part := data.get(key), Mapping) else {} for data in (earlier, now))
        found += [f"{what} {name}" for name in sorted({*one, *other}) if one.get(name) != other.get(name)]
    return ", ".join(found)


def _differences(earlier: Mapping[str, Any], manifest: Mapping[str, Any]) -> str:
    """Name the differences between two runs."""
    found = [some for some in (differences(earlier, manifest),) if some]
    found += [f"the {key}" for key in ("questions", "seed") if earlier.get(key) != manifest[key]]
    return ", ".join(found) or "`relink` or `limit`"


def _earlier(folder: Path) -> dict[str, Any] | None:
    """Return the manifest of the run that a folder holds; None where it holds none.

    Raises:
        RunError: If the file of that name is no manifest of a run.
    """
    file = folder / NAME
    if not os.path.lexists(file):
        return None
    try:
        found = read_json(file)
    except InputError as error:
        raise RunError(f"{error}; move this file away, since it is no manifest, or choose another `output:`") from error
    if not isinstance(found, dict) or not isinstance(found.get("fingerprint"), str):
        raise RunError(f"{file} is not the manifest of a run; move it away, or choose another `output:`")
    return found
