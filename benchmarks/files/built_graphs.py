"""Graphs built and asked by the commands of a person: facts by name, and the ends of the first paths."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import attrs

PATHS = 5
"""How many paths may be read until the answer is there."""
ENDS = 10
"""Most ends of a path that a person reads; a hub with everything at its end is no answer."""
_LITERAL = re.compile(r'^"(?P<text>.*)"(?:@(?P<language>[\w-]+)|\^\^(?P<type>.+))?$', re.DOTALL)
_NUMBERS = {"decimal", "double", "float"}
_WHOLE = {"integer", "int", "long", "short", "byte", "nonNegativeInteger", "positiveInteger", "gYear"}
_DATES = {"date", "dateTime", "gYearMonth"}


@attrs.frozen
class Graph:
    """A graph that was built, as the commands show it.

    Attributes:
        folder: Folder of the snapshot.
        info: What ``srtk graph info --json`` says.
        screen: What the build wrote on the screen.
    """

    folder: Path
    info: dict[str, Any] = attrs.field(repr=False)
    screen: str = attrs.field(repr=False)

    @property
    def triples(self) -> list[tuple[tuple[str, str, str], tuple[str, str, str]]]:
        """All facts: ids and names."""
        return [(tuple(each["triple"]), tuple(each["labels"])) for each in self.info["examples"]]

    def facts(self) -> list[tuple[str, str, str]]:
        """All facts by name, once more with the id of the relation, which is the heading of its column."""
        return [(s, r, o) for (_, id_, _), (s, name, o) in self.triples for r in {id_, name}]

    def named(self) -> dict[str, str]:
        """Name of each id that is the subject or object of a fact."""
        return {ids[end]: names[end] for ids, names in self.triples for end in (0, 2)}


def command(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run ``srtk`` with the Python of this process, whatever its exit code is."""
    environment = {**os.environ, "PYTHONHASHSEED": "0", "NO_COLOR": "1"}
    call = [sys.executable, "-m", "srtk_framework", *words]
    return subprocess.run(
        call, cwd=cwd, env=environment, capture_output=True, encoding="utf-8", errors="replace", check=False
    )


def last_words(done: subprocess.CompletedProcess[str]) -> str:
    """Return the sentence with which a command failed."""
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or ["no output"])[-1].strip()


def build(files: Sequence[Path], out: Path, *flags: str, facts: int | None = None) -> Graph | str:
    """Build a graph of files; returns the sentence of the error where it cannot be built.

    Args:
        files: The files.
        out: Folder of the snapshot.
        flags: Other flags of ``srtk graph build``.
        facts: How many facts to read back; all of them by default.
    """
    done = command("graph", "build", "--force", "--out", str(out), *flags, "--", *map(str, files))
    if done.returncode:
        return last_words(done)
    counts = command("graph", "info", str(out), "--json", "--facts", "0")
    if counts.returncode:
        return last_words(counts)
    many = json.loads(counts.stdout)["counts"]["triples"] if facts is None else facts
    shown = command("graph", "info", str(out), "--json", "--facts", str(many))
    return last_words(shown) if shown.returncode else Graph(out, json.loads(shown.stdout), done.stderr + done.stdout)


def plain(text: str) -> str:
    """Fold a heading or a name for comparison: neither case nor what stands between its words is compared."""
    return re.sub(r"[\W_]+", "", text.casefold()) or text.strip()


def literal_type(term: str) -> str | None:
    """Return the kind of a literal's type: integer, number, date, time, boolean or text; None for an entity."""
    found = _LITERAL.match(term)
    if not found:
        return None
    name = re.split(r"[#:/]", found["type"] or "")[-1].rstrip(">")
    for kind, names in (("integer", _WHOLE), ("number", _NUMBERS), ("date", _DATES)):
        if name in names:
            return kind
    return name if name in ("boolean", "time") else "text"


def text_of(term: str) -> str:
    """Return the text of a literal, or the id itself."""
    found = _LITERAL.match(term)
    return found["text"] if found else term


def as_list(value: Any) -> list[Any]:
    """Return a list as it is, and any other value as a list of one."""
    return value if isinstance(value, list) else [value]


def holds(facts: Iterable[tuple[str, str, str]], wanted: Sequence[Any]) -> bool:
    """Return whether a fact is there by its names; ``*`` is any name, a list of objects is any of them."""
    subject, relation, objects = wanted[0], plain(wanted[1]), [str(each) for each in as_list(wanted[2])]
    return any(
        subject in ("*", s) and relation in ("*", plain(r)) and ("*" in objects or text_of(o) in objects)
        for s, r, o in facts
    )


def ends_of(start: str, steps: Sequence[str], triples: Collection[Sequence[str]]) -> set[str]:
    """Return the nodes at which a path ends; ``^`` before a step is the way back."""
    here = {start}
    for step in steps:
        back, relation = step.startswith("^"), step.removeprefix("^")
        pairs = [(o, s) if back else (s, o) for s, r, o in triples if r == relation]
        here = {target for source, target in pairs if source in here}
    return here


def answers(record: dict[str, Any]) -> list[list[str]]:
    """Return the names at the ends of each of the first paths of a record."""
    labels = record.get("labels") or {}
    found = []
    for path in record.get("paths", [])[:PATHS]:
        ends = ends_of(path["entity"], path["steps"], record["triplets"]) - {path["entity"]}
        found.append(sorted(labels.get(end) or text_of(end) for end in ends))
    return found


def ask(graph: Sequence[str], question: str, *flags: str) -> dict[str, Any] | str:
    """Ask a graph one question; returns its record, or the sentence of the error."""
    done = command("ask", *graph, question, "--json", "--quiet", *flags)
    if done.returncode:
        done = command("ask", "--json", "--quiet", *flags, *graph, question)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        return last_words(done)
    return dict(json.loads(lines[-1]))


def is_answered(record: dict[str, Any] | str, right: Any) -> bool:
    """Return whether one of the first paths ends at a right answer, among few others."""
    if isinstance(record, str):
        return False
    wanted = {plain(str(each)) for each in as_list(right)}
    return any(len(ends) <= ENDS and wanted & {plain(end) for end in ends} for ends in answers(record))
