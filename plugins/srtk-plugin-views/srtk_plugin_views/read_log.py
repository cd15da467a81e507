"""Log of the reads of a graph in a run: triples, names, qualifiers and visited nodes, as lines of JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, NamedTuple

import attrs

from srtk_framework.records import checked_lines, with_checksum
from srtk_framework.values import InputError, Literal, Qualifier, RunError, Triple

READS = "reads.jsonl"
_FORMAT = "srtk-reads"
AGAIN = "delete the folder and read anew"


class Name(NamedTuple):
    """A name of an id.

    Attributes:
        id: Of an entity or a relation.
        text: The name.
        language: Its language tag, or an empty text.
        further: Whether it is an alias.
    """

    id: str
    text: str
    language: str = ""
    further: bool = False


@attrs.define
class Reads:
    """Reads in memory.

    Attributes:
        graph: Facts about the graph: source, version, schema, names, languages.
        triples: All triples, in the order of reading.
        labels: Id to label, for every id whose label was asked; the id itself without a label.
        found: Name that was looked for, to the ids found.
        qualifiers: Triple to its qualifiers, where it has some.
        nodes: Node whose steps were read, to whether incoming steps were too.
        seen: Nodes that were asked for and are in the graph.
        filled: Node to the limit up to which all its steps were read; 0 for none.
        times: When reading began and last went on.
        names: Names with their language, of a graph that has them.
        closed: Whether nothing was read after the log was closed.
        checksum: Of the last line.
    """

    graph: dict[str, Any] = attrs.field(factory=dict)
    triples: dict[Triple, None] = attrs.field(factory=dict)
    labels: dict[str, str] = attrs.field(factory=dict)
    found: dict[str, tuple[str, ...]] = attrs.field(factory=dict)
    qualifiers: dict[Triple, tuple[Qualifier, ...]] = attrs.field(factory=dict)
    nodes: dict[str, bool] = attrs.field(factory=dict)
    seen: dict[str, None] = attrs.field(factory=dict)
    filled: dict[str, int] = attrs.field(factory=dict)
    times: list[str] = attrs.field(factory=list)
    names: list[Name] = attrs.field(factory=list)
    closed: bool = True
    checksum: int = 0

    def add(self, line: Mapping[str, Any]) -> None:
        """Take in one line of the file."""
        self.closed = "closed" in line
        if "graph" in line:
            self.graph = dict(line["graph"])
        self.triples.update(dict.fromkeys(map(_triple, line.get("triples", ()))))
        self.labels.update(line.get("labels", {}))
        self.found.update({name: tuple(ids) for name, ids in line.get("found", {}).items()})
        self.qualifiers.update(
            {
                _triple(triple): tuple((name, _value(*value)) for name, *value in row)
                for triple, row in line.get("qualifiers", ())
            }
        )
        self.nodes.update(line.get("nodes", {}))
        self.seen.update(dict.fromkeys(line.get("seen", ())))
        self.filled.update(line.get("filled", {}))
        if "at" in line:
            self.times = [*self.times[:1], line["at"]]

    def entities(self) -> list[str]:
        """Return the ids of all nodes in triples, sorted, without literals."""
        ends = {end for triple in self.triples for end in (triple.subject, triple.object)}
        return sorted(end for end in ends if not isinstance(end, Literal))

    def relations(self) -> list[str]:
        """Return the ids of all relations, also of qualifiers, sorted."""
        named = {name for row in self.qualifiers.values() for name, _ in row}
        return sorted({triple.relation for triple in self.triples} | named)


def read(folder: Path) -> Reads:
    """Read the log in a folder; a last line that was not finished counts for nothing.

    Raises:
        InputError: If there is no such file, or a line of it is broken.
    """
    reads = Reads()
    for number, line, reads.checksum in checked_lines(folder / READS, AGAIN, kind=InputError):
        if number == 1 and line.get("format") != _FORMAT:
            raise InputError(f"{folder / READS}: is not a log of reads; {AGAIN}")
        reads.add(line)
    if not reads.graph:
        raise InputError(f"{folder / READS}: holds no line; {AGAIN}")
    return reads


class Log:
    """A file of reads that is open for more; each line is on the disk before the next read.

    Args:
        folder: Where it stands; made where it is missing.
        graph: Facts about the graph.

    Raises:
        InputError: If it cannot be written, or is the log of another graph.
    """

    def __init__(self, folder: Path, graph: Mapping[str, Any]) -> None:
        self.path = folder / READS
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if self.path.is_file():
                cut_unfinished_line(self.path)
            fresh = not self.path.is_file() or not self.path.stat().st_size
            self._file: IO[str] = self.path.open("a", encoding="utf-8", newline="\n")
        except OSError as error:
            raise InputError(f"{folder}: cannot be written ({error.strerror}); choose another folder") from error
        self.reads = Reads() if fresh else read(folder)
        if fresh:
            self.write({"format": _FORMAT, "version": 2, "graph": dict(graph)})
        elif self.reads.graph != dict(graph):
            self._file.close()
            changed = [f"{key} {self.reads.graph.get(key)!r}, now {value!r}" for key, value in graph.items()]
            other = [text for text, key in zip(changed, graph, strict=True) if self.reads.graph.get(key) != graph[key]]
            raise InputError(
                f"{self.path}: was read of another graph ({'; '.join(other) or 'other facts'}); read anew elsewhere"
            )
        self.write({"at": now()})

    def write(self, line: Mapping[str, Any]) -> None:
        """Add a line, in memory and on the disk."""
        text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
        text, self.reads.checksum = with_checksum(text, self.reads.checksum)
        write_line(self._file, text)
        os.fsync(self._file.fileno())
        self.reads.add(line)

    def close(self) -> None:
        """Close the file."""
        if not self._file.closed:
            self.write({"at": now(), "closed": True})
        self._file.close()

    def _add(self, kind: str, fresh: Any) -> None:
        """Write reads, if there are any: known reads are not written again."""
        if fresh:
            self.write({kind: fresh})

    def add_triples(self, triples: Iterable[Triple]) -> None:
        """Keep triples."""
        known = self.reads.triples
        self._add("triples", [_row(one) for one in dict.fromkeys(one for one in triples if one not in known)])

    def add_labels(self, labels: Mapping[str, str]) -> None:
        """Keep the labels of ids."""
        self._add("labels", {id_: label for id_, label in labels.items() if self.reads.labels.get(id_) != label})

    def add_found(self, found: Mapping[str, Sequence[str]]) -> None:
        """Keep the entities found by name."""
        known = self.reads.found
        self._add("found", {name: list(ids) for name, ids in found.items() if ids and known.get(name) != tuple(ids)})

    def add_qualifiers(self, qualifiers: Mapping[Triple, Sequence[Qualifier]]) -> None:
        """Keep the qualifiers of triples."""
        rows = [
            [_row(triple), [[name, *_cell(value)] for name, value in row]]
            for triple, row in qualifiers.items()
            if row and self.reads.qualifiers.get(triple) != tuple(row)
        ]
        self._add("qualifiers", rows)

    def add_nodes(self, nodes: Mapping[str, bool]) -> None:
        """Keep the nodes whose steps were read, and whether incoming steps were too."""
        known = self.reads.nodes
        self._add("nodes", {node: one for node, one in nodes.items() if node not in known or one > known[node]})

    def add_seen(self, ids: Iterable[str]) -> None:
        """Keep ids that are in the graph."""
        self._add("seen", [id_ for id_ in dict.fromkeys(ids) if id_ not in self.reads.seen])

    def add_filled(self, nodes: Iterable[str], limit: int | None) -> None:
        """Keep that all steps of nodes were read up to a limit."""
        self.write({"filled": dict.fromkeys(nodes, limit or 0)})


def write_line(file: IO[str], text: str) -> None:
    """Write a line to the end of a file.

    Raises:
        RunError: If the disk takes no more; what is not whole is cut when the file is opened again.
    """
    try:
        file.write(text)
        file.flush()
    except OSError as error:
        raise RunError(f"{file.name}: cannot be written ({error.strerror}); free some space, then go on") from error


def cut_unfinished_line(path: Path) -> None:
    """Cut off an unfinished last line, as a killed run leaves it."""
    whole = 0
    with path.open("rb") as file:
        for line in file:
            whole += len(line) if line.endswith(b"\n") else 0
    os.truncate(path, whole)


def now() -> str:
    """Return the time as text."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _cell(value: str) -> list[Any]:
    return [str(value), 1] if isinstance(value, Literal) else [value]


def _row(triple: Triple) -> list[Any]:
    return [triple.subject, triple.relation, *_cell(triple.object)]


def _value(text: str, literal: int = 0) -> str:
    return Literal(text) if literal else text


def _triple(row: Sequence[Any]) -> Triple:
    return Triple(row[0], row[1], _value(*row[2:]))
