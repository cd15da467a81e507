"""The manifest of a run: everything that decides its results, and the check that a folder holds the same run."""

from __future__ import annotations

import hashlib
import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

from srtk_framework.host.class_path import hashes_of
from srtk_framework.host.discovery import distributions_of
from srtk_framework.host.versions import __version__, libraries
from srtk_framework.run.question_source import RunQuestions
from srtk_framework.run.session import Session
from srtk_framework.values import RunError, redacted

COMPLETE, STOPPED, RUNNING = "complete", "stopped", "running"

NAME = "manifest.json"


def manifest_of(session: Session, asked: RunQuestions) -> dict[str, Any]:
    """Collect everything that decides the results of a run, before it begins."""
    names = ["srtk-framework", *distributions_of(session.drivers)]
    fingerprints = {name: redacted(method.fingerprint()) for name, method in session.methods.items()}
    if session.linker is not None:
        fingerprints["linker"] = redacted(session.linker.fingerprint())
    if session.reader is not None:
        fingerprints["reader"] = redacted(session.reader.fingerprint())
    recipe, options = session.recipe, session.recipe.options
    classes = hashes_of((name for _, name in session.drivers), recipe.folder)
    whole = repr(
        (sorted(fingerprints.items()), sorted(classes.items()), options.relink, options.limit, options.seed, asked.hash)
    )
    return {
        "recipe": recipe.file,
        "written": recipe.written,
        "state": RUNNING,
        "fingerprint": hashlib.sha256(whole.encode()).hexdigest(),
        "fingerprints": fingerprints,
        **({"classes": classes} if classes else {}),
        "graph": redacted(session.graph.source()) if session.graph is not None else None,
        "questions": {"count": asked.count, "sha256": asked.hash},
        "seed": options.seed,
        "reproducible": options.budget.seconds is None,
        "versions": {name: _version(name) for name in dict.fromkeys(names)},
        "python": platform.python_version(),
        "libraries": libraries(),
    }


def claim(folder: Path, fingerprint: str, resume: bool) -> None:
    """Make the folder of a run; before a resumed run, check that it holds the same run.

    Raises:
        RunError: If the folder cannot be made, or holds another run.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(f"the output folder {folder} cannot be made: {error}; choose another `output:`") from error
    earlier = _earlier(folder)
    if resume and earlier is not None and earlier != fingerprint:
        raise RunError(
            f"{folder} holds a run with other settings, questions or data; run without --resume to start anew"
        )


def _earlier(folder: Path) -> str | None:
    """Return the fingerprint of the run that a folder holds; None where it holds none."""
    manifest = folder / NAME
    if not manifest.exists():
        return None
    try:
        return str(json.loads(manifest.read_text(encoding="utf-8"))["fingerprint"])
    except (ValueError, KeyError, TypeError) as error:
        raise RunError(f"{manifest} is not a manifest; run without --resume to start anew") from error


def _version(distribution: str) -> str:
    return __version__ if distribution == "srtk-framework" else version(distribution)
