"""Retrievals of an earlier run of the same recipe."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs

from srtk_framework.records import parse_json, read_json, retrieval_from_record
from srtk_framework.run import Session, journal_file
from srtk_framework.values import InputError, Question, Retrieval, RunError, redacted


@attrs.define
class Earlier:
    """The retrievals of one method in the journal of a run; the journal is only read.

    Attributes:
        file: Path of the journal.
        places: Question id to the number of its line and its byte offset.
    """

    file: Path
    places: dict[str, tuple[int, int]] = attrs.field(factory=dict)

    def of(self, question: Question, relink: bool) -> Retrieval | None:
        """Return the retrieval of a question, or None if the run lacks it or had another text or other links."""
        if question.id not in self.places:
            return None
        number, at = self.places[question.id]
        with self.file.open("rb") as file:
            file.seek(at)
            line = file.readline()
        where = f"{self.file}:{number}"
        try:
            retrieval = retrieval_from_record(_record(line, where), where)
        except InputError as error:
            raise RunError(f"{error}; use --anew to retrieve again") from error
        links = [link.entity for link in question.links]
        same = relink or not links or links == [link.entity for link in retrieval.question.links]
        return retrieval if same and retrieval.question.text == question.text else None


def earlier_run(session: Session, method: str) -> Earlier | None:
    """Find the run in the recipe's folder that an open session would repeat; None if there is none.

    Raises:
        RunError: If its files cannot be read.
    """
    folder = session.recipe.output
    file = journal_file(folder, method)
    manifest = _manifest(folder / "manifest.json")
    if not file.is_file() or not _same(session, method, manifest):
        return None
    found = Earlier(file)
    at = 0
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.endswith(b"\n"):  # another process may still be writing the last line
                found.places.setdefault(_id(line, f"{file}:{number}"), (number, at))
            at += len(line)
    return found


def _manifest(file: Path) -> dict[str, Any]:
    if not file.is_file():
        return {}
    try:
        found = read_json(file)
    except InputError as error:
        raise RunError(f"{error}; use --anew to retrieve again") from error
    return found if isinstance(found, dict) else {}


def _same(session: Session, method: str, manifest: dict[str, Any]) -> bool:
    recorded = manifest.get("fingerprints", {})
    wanted = {method: redacted(session.methods[method].fingerprint())}
    if session.linker is not None:
        wanted["linker"] = redacted(session.linker.fingerprint())
    graph = redacted(session.graph.source()) if session.graph is not None else None
    relinked = bool(manifest.get("written", {}).get("relink"))
    # What a stage has done to the batches of a run, `srtk explain` does not do again.
    if any(name.startswith("stage ") for name in recorded if name != "stage train"):
        return False
    same = all(recorded.get(name) == value for name, value in wanted.items())
    same = same and ("linker" in recorded) == ("linker" in wanted)
    return same and manifest.get("graph") == graph and relinked == session.recipe.options.relink


def _id(line: bytes, where: str) -> str:
    try:
        return str(_record(line, where)["id"])
    except (InputError, KeyError) as error:
        raise RunError(f"{where} is not a record of a run ({error}); use --anew to retrieve again") from error


def _record(line: bytes, where: str) -> dict[str, Any]:
    found = parse_json(line, where)
    if not isinstance(found, dict):
        raise InputError(f"{where}: the line holds no object")
    return found
