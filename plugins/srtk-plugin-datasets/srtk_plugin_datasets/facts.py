"""The graph file of a question set, indexed in memory to find gold triples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path as FilePath

from srtk_framework.graph import instance_triples
from srtk_framework.records import read_lines
from srtk_framework.values import InputError, Path, Step, Triple


class Facts:
    """Triples by node, relation and direction.

    Args:
        triples: Triples in any order; duplicates count once.
    """

    def __init__(self, triples: Iterable[Triple]) -> None:
        self._at: dict[tuple[str, Step], dict[Triple, None]] = {}
        for triple in triples:
            self._at.setdefault((triple.subject, Step(triple.relation)), {})[triple] = None
            self._at.setdefault((triple.object, Step(triple.relation, True)), {})[triple] = None

    def read(self, nodes: Sequence[str], step: Step) -> list[Triple]:
        """Read the triples of a step from some nodes."""
        return [triple for node in nodes for triple in self._at.get((node, step), ())]

    def gold(self, start: str, path: Path, answers: Iterable[str]) -> tuple[Triple, ...]:
        """Find the triples of the complete instances of a path that end in an answer."""
        return tuple(instance_triples(self.read, start, path, answers))

    def reached(self, start: str, path: Path) -> set[str]:
        """Return the nodes at the end of a path."""
        nodes = {start}
        for step in path:
            found = self.read(sorted(nodes), step)
            nodes = {triple.subject if step.inverse else triple.object for triple in found}
        return nodes


def read_triples(file: FilePath, separator: str = "\t") -> Iterator[Triple]:
    """Yield the triples of a file, each a line.

    Raises:
        InputError: If the file is missing; with file and line, if a line has not three columns.
    """
    if not file.is_file():
        raise InputError(f"{file}: no such file; name the folder of the set as `path`")
    shown = "tab" if separator == "\t" else repr(separator)
    for number, line in read_lines(file):
        parts = line.split(separator)
        if len(parts) != 3 or not all(parts):
            raise InputError(
                f"{file}:{number}: expected subject, relation and object with {shown} between them, not {line!r}"
            )
        yield Triple(*parts)
