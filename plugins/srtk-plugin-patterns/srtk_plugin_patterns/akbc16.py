"""Path files of Das et al. (AKBC 2016): the paths with their inner nodes that join pairs of entities.

A line has source, target, paths and, in files for measuring, a label 1 or -1, with tabs between them. Paths are joined
by ``###``; a path is ``relation-entity-relation-...``, and a relation with a leading ``_`` is inverse. Relations may be
texts, which hold ``-``; so entities, which are ids of Freebase (``/m/...``), tell where a relation ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path as FilePath

import attrs

from srtk_framework.values import InputError, Path, Step

PARTS = ("positive", "negative", "dev", "test")
"""Files of a relation's folder; see ``part_file``."""

_ENTITY = re.compile(r"/m/[0-9a-z_]+")
_INNER = re.compile(rf"-(?P<entity>{_ENTITY.pattern})-")


@attrs.frozen
class JoiningPath:
    """A path between two entities.

    Attributes:
        steps: From source to target. Relations are as the file has them: one that is a text has commas for blanks.
        inner: The nodes between the steps, one fewer.
    """

    steps: Path
    inner: tuple[str, ...] = ()


@attrs.frozen
class JoinedPair:
    """Two entities with the paths that join them.

    Attributes:
        source: Id of Freebase.
        target: Id of Freebase.
        paths: As the file has them.
        label: Whether the relation holds of the pair; None in files for training, whose name says it.
    """

    source: str
    target: str
    paths: tuple[JoiningPath, ...]
    label: bool | None = None


def part_file(folder: FilePath, part: str) -> FilePath:
    """Return the file of a part within a relation's folder."""
    return folder / f"{part}_matrix.tsv.translated"


def read_pairs(file: FilePath) -> Iterator[JoinedPair]:
    """Read a file line by line.

    Raises:
        InputError: With file and line, if one has another form.
    """
    try:
        opened = file.open(encoding="utf-8", newline="\n")
    except OSError as error:
        raise InputError(f"{file}: the paths cannot be read ({error})") from error
    with opened as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    pair = parse_pair(line.rstrip("\r\n"))
                except InputError as error:
                    raise InputError(f"{file}:{number}: {error}") from error
                yield pair


def write_pairs(pairs: Iterable[JoinedPair], file: FilePath) -> None:
    """Write a file.

    Raises:
        InputError: If a pair cannot be written so that it is read again.
    """
    with file.open("w", encoding="utf-8", newline="\n") as lines:
        for pair in pairs:
            lines.write(pair_line(pair) + "\n")


def parse_pair(line: str) -> JoinedPair:
    """Parse a line.

    Raises:
        InputError: If it has another form.
    """
    source, *rest = line.split("\t")
    if len(rest) not in (2, 3):
        raise InputError(f"a line has source, target, paths and perhaps a label, with tabs between them, not {line!r}")
    for end in (source, rest[0]):
        if not _ENTITY.fullmatch(end):
            raise InputError(f"{end!r} is no id of Freebase, /m/ with small letters and digits")
    label = None
    if len(rest) == 3:
        if rest[2] not in ("1", "+1", "-1"):
            raise InputError(f"the label {rest[2]!r} is neither 1 nor -1")
        label = rest[2] != "-1"
    return JoinedPair(source, rest[0], tuple(map(parse_path, rest[1].split("###"))) if rest[1] else (), label)


def parse_path(text: str) -> JoiningPath:
    """Parse a path.

    Raises:
        InputError: If a relation of it is empty.
    """
    relations, inner = _INNER.split(text)[::2], _INNER.split(text)[1::2]
    if not all(relation.removeprefix("_") for relation in relations):
        raise InputError(f"the path {text!r} lacks a relation")
    return JoiningPath(
        tuple(Step(relation.removeprefix("_"), relation.startswith("_")) for relation in relations), tuple(inner)
    )


def pair_line(pair: JoinedPair) -> str:
    """Return the line of a pair; blanks of a relation become commas.

    Raises:
        InputError: If the line would be read as another pair: ids that are none of Freebase, and relations with what
            separates paths and their parts.
    """
    fields = [pair.source, pair.target, "###".join(map(_path_text, pair.paths))]
    if pair.label is not None:
        fields.append("1" if pair.label else "-1")
    line = "\t".join(fields)
    wanted = attrs.evolve(pair, paths=tuple(map(_with_commas, pair.paths)))
    try:
        again = parse_pair(line)
    except InputError as error:
        raise InputError(f"{pair!r} cannot be written as a path file has it: {error}") from error
    if again != wanted or "\n" in line or "\r" in line:
        raise InputError(f"{pair!r} cannot be written: an id or a relation holds what separates paths and their parts")
    return line


def _path_text(path: JoiningPath) -> str:
    steps = [("_" if step.inverse else "") + step.relation for step in _with_commas(path).steps]
    return "".join(
        part for pair in zip(steps, [*(f"-{node}-" for node in path.inner), ""], strict=False) for part in pair
    )


def _with_commas(path: JoiningPath) -> JoiningPath:
    steps = tuple(Step(step.relation.replace(" ", ","), step.inverse) for step in path.steps)
    return attrs.evolve(path, steps=steps)
