"""Check of the outputs of a recipe: none is an input, a file of the run itself, or another output."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from srtk_framework.recipe.blocks import Block
from srtk_framework.recipe.settings import Where
from srtk_framework.recipe.stage import ask_stage
from srtk_framework.run.journal import FOLDER as JOURNALS
from srtk_framework.run.manifest import LOCK, NAME
from srtk_framework.run.session import Session
from srtk_framework.run.stages import files_of
from srtk_framework.values import RecipeError

_OWN = (NAME, f"{NAME}.part", LOCK, f"{LOCK}.pid", "questions.in")


@attrs.frozen
class Place:
    """A file or folder that a recipe names.

    Attributes:
        where: Its place in the recipe, for messages.
        shown: Its path as written.
        path: The path with links followed.
    """

    where: str
    shown: str
    path: Path

    def is_same(self, other: Path) -> bool:
        """Return whether another path is of the same file, by another name too."""
        if _folded(self.path) == _folded(other):
            return True
        try:
            return os.path.samefile(self.path, other)
        except OSError:
            return False

    def is_within(self, folder: Path) -> bool:
        """Return whether it lies in a folder."""
        return any(_folded(above) == _folded(folder) for above in self.path.parents)


def check_outputs(*sessions: Session) -> None:
    """Refuse recipes that would write over their inputs, over files of a run, or over each other's outputs.

    Args:
        sessions: Sessions of recipes that run in this order; a later recipe may read the outputs of an earlier recipe.

    Raises:
        RecipeError: Naming each such output with its place.
    """
    problems: list[str] = []
    earlier: list[Place] = []
    folders: list[Place] = []
    for session in sessions:
        targets = list(_targets(session))
        for number, target in enumerate(targets):
            problems += _faults(target, session, [*earlier, *targets[:number]])
        earlier += targets
        problems += _misplaced(session)
        output = _place(session, ("output",), str(session.recipe.output))
        if session.recipe.questions is None or output is None:
            continue
        problems += [
            f"{output.where}: the output folder {output.shown} is also that of {other.where}; give each recipe its own"
            for other in folders
            if output.is_same(other.path)
        ]
        folders.append(output)
    if problems:
        raise RecipeError(problems)


def _faults(target: Place, session: Session, others: Sequence[Place]) -> Iterator[str]:
    """Describe the second use of the file of an exporter or observer."""
    start = f"{target.where}: the output {target.shown}"
    folder = _real(session.recipe.output)
    working = _real(Path())
    for other in others:
        if target.is_same(other.path):
            yield f"{start} is also the output of {other.where}; name another path"
    own = [folder / name for name in (*_OWN, *files_of(session.recipe.stages))]
    owned = [folder / JOURNALS]
    for stage in session.recipe.stages.values():
        owned += [folder / name for name in stage.folders]
        owned += [_real(place) for place in ask_stage(stage, "places", session.recipe.output)]
    if any(target.is_same(file) for file in own) or any(target.is_within(within) for within in owned):
        yield f"{start} is one of the run's own files; name another path"
    for source in _sources(session):
        if target.is_same(source.path):
            yield f"{start} is read by {source.where}; name another path"
        elif (
            source.path.is_dir()
            and target.is_within(source.path)
            # Such a folder is no set of files for one purpose.
            and not any(source.is_same(above) for at in (working, folder) for above in (at, *at.parents))
        ):
            yield f"{start} lies in {source.shown}, which is read by {source.where}; name a path elsewhere"


def _misplaced(session: Session) -> Iterator[str]:
    """Name the inputs that the run would delete or overwrite, because they have the place of its own files."""
    folder = _real(session.recipe.output)
    for source in _sources(session):
        own = any(
            source.is_same(folder / name) for name in (*_OWN, *files_of(session.recipe.stages))
        ) or source.is_within(folder / JOURNALS)
        if own or (source.path.is_dir() and source.is_same(folder)):
            yield (
                f"{source.where}: {source.shown} has the place of the run's own files in {session.recipe.output};"
                " choose another `output:`"
            )


def _targets(session: Session) -> Iterator[Place]:
    for block, exporter in zip(session.recipe.exporters, session.exporters, strict=True):
        target = exporter.target()
        found = None if target is None else _place(session, (*block.where, "path"), target)
        if found is not None and not _is_device(found.path):
            yield found
    for block in session.recipe.observers:
        path = block.settings.get("path")
        found = _place(session, (*block.where, "path"), path) if isinstance(path, str) else None
        if found is not None and not _is_device(found.path):
            yield found


def _sources(session: Session) -> Iterator[Place]:
    """Yield the files and folders that a recipe names outside of its outputs."""
    recipe = session.recipe
    yield from _existing(session, (), recipe.file)
    named = [block for blocks in recipe.named.values() for block in blocks.values()]
    listed = [block for role, blocks in recipe.listed.items() if role != "exporter" for block in blocks]
    stages = recipe.stages.values()
    beside = [block for stage in stages for block in (*ask_stage(stage, "beside"), *ask_stage(stage, "uses"))]
    asked = recipe.questions
    if isinstance(asked, Block):
        beside.append(asked)
    values: list[tuple[Where, Any]] = [
        (block.where, block.settings) for block in (*recipe.blocks.values(), *named, *listed, *beside)
    ]
    values += [(("questions",), asked)] if isinstance(asked, str) else []
    values += [pair for stage in stages for pair in ask_stage(stage, "question_files")]
    for where, value in values:
        yield from _named(session, where, value)


def _named(session: Session, where: Where, value: Any) -> Iterator[Place]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key != "use":
                yield from _named(session, (*where, key), item)
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from _named(session, (*where, number), item)
    elif isinstance(value, str | Path):
        yield from _existing(session, where, str(value))


def _existing(session: Session, where: Where, text: str) -> Iterator[Place]:
    found = _place(session, where, text)
    if found is not None and found.path.exists() and not _is_device(found.path):
        yield found


def _place(session: Session, where: Where, text: str) -> Place | None:
    """Return the place of a path; None for a text that is none."""
    if not text or text == "-" or "\0" in text or "\n" in text:
        return None
    try:
        path = _real(Path(text))
        path.exists()  # fails for a text that is too long for a path
    except (OSError, RuntimeError, ValueError):
        return None
    return Place(session.recipe.places.say(where), text, path)


def _is_device(path: Path) -> bool:
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path.expanduser()))


def _folded(path: Path) -> str:
    """Return a path as the platform compares it."""
    text = os.path.normcase(path)
    return text.casefold() if sys.platform in ("win32", "darwin") else text
