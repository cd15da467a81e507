"""Names of the entities of a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from srtk_framework.graph import TripleTable
from srtk_framework.records import read_lines
from srtk_framework.roles import KnowledgeGraph
from srtk_framework.text import clean
from srtk_framework.values import InputError, batched

_BATCH = 4096


def all_names(
    graph: KnowledgeGraph, table: TripleTable, further: Mapping[str, Sequence[str]]
) -> dict[str, Sequence[str]]:
    """Return the names of all entities, the label first.

    Args:
        graph: Has labels and other names.
        table: Its triples.
        further: Further names by id; ids that the table lacks are added.
    """
    ids = sorted({*table.entities, *further})
    found: dict[str, Sequence[str]] = {}
    for part in batched(ids, _BATCH):
        for id_, label, others in zip(part, graph.labels(part), graph.other_names(part), strict=True):
            more = further.get(id_, ())
            # A graph gives the id where it has no label.
            own = [] if label == id_ and more else [label]
            names = [clean(name) for name in (*own, *others, *more)]
            if kept := tuple(dict.fromkeys(name for name in names if name)):
                found[id_] = kept
    return found


def read_names(file: Path) -> dict[str, list[str]]:
    """Read a file of ids and names, a pair in a line with a tab between.

    Raises:
        InputError: With file and line, if a line is no such pair.
    """
    found: dict[str, list[str]] = {}
    for number, line in read_lines(file):
        id_, tab, name = line.rstrip("\r\n").partition("\t")
        if not (id_ and tab and name.strip()):
            raise InputError(f"{file}:{number}: a line has an id, a tab and a name")
        found.setdefault(id_, []).append(name)
    return found
