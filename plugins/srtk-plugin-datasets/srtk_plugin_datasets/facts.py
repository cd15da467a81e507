"""The graph file of a question set, indexed in memory to find gold triples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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


def read_facts(files: Sequence[str], separator: str) -> Facts:
    """Read files with one triple per line.

    Raises:
        InputError: With file and line, if a line does not have three columns.
    """

    def triples() -> Iterable[Triple]:
        for file in files:
            for number, text in read_lines(file):
                parts = text.split(separator)
                if len(parts) != 3:
                    shown = "tab" if separator == "\t" else repr(separator)
                    raise InputError(
                        f"{file}:{number}: expected subject, relation and object with {shown} between them,"
                        f" found {len(parts)} parts"
                    )
                yield Triple(*parts)

    return Facts(triples())
