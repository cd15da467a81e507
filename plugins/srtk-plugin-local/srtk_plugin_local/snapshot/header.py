"""The header of a table: whether the first line is one, and which columns hold the parts of a fact or of an entity."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import attrs

from srtk_framework.text import fold
from srtk_framework.values import InputError, close_matches, shortened
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.input_report import FileReport

WORDS: Mapping[str, tuple[str, ...]] = {
    "subject": (
        *("subject", "subj", "sub", "s", "head", "h", "source", "src", "start", "from", "node1", "entity1", "e1"),
        *("sujet", "sujeto", "sujeito", "soggetto", "subjekt", "onderwerp"),
    ),
    "relation": (
        *("relation", "relationship", "rel", "predicate", "pred", "property", "prop", "edge", "link", "verb", "r", "p"),
        *("relation type", "relationship type", "edge type", "label", "type"),
        *("relacion", "relacao", "relazione", "predicat", "predicado", "predicato", "pradikat", "propriete"),
    ),
    "object": (
        *("object", "obj", "o", "tail", "t", "target", "tgt", "end", "to", "destination", "dest", "dst"),
        *("node2", "entity2", "e2", "value", "objet", "objeto", "oggetto", "objekt"),
    ),
}
"""Headings of the three columns of a fact, folded; an earlier word goes before a later one."""

IDS = ("id", "name", "entity", "title", "uri", "iri", "url", "nom", "nombre", "nome")
"""Headings of the first column of a table with one entity in each row."""

LABELS = ("name", "label", "title", "nom", "nombre", "nome")
ALIASES = ("alias", "aliases", "aka", "also known as", "synonym", "synonyms")
TEXTS = (*LABELS, *ALIASES, "description", "definition", "text")
"""Headings of the second column of a file of names or descriptions."""

TYPE = "rdf:type"
"""Relation of the labels of a node in Neo4j's tables."""

_SUFFIXES = (("id", "uri", "iri", "node", "entity"), ("name", "label", "text", "title"))
_NEO4J = re.compile(r"(?P<name>.*?):(?P<kind>START_ID|END_ID|TYPE|LABEL|ID|IGNORE)(?:\((?P<space>.*)\))?(?:\{.*\})?")
_TYPED = re.compile(r"(?P<name>.+?):(?P<kind>[A-Za-z]+)(?P<list>\[\])?(?:\{.*\})?")
_NEO4J_ROLES = {"START_ID": "subject", "TYPE": "relation", "END_ID": "object"}

Row = tuple[int, Sequence[str]]
"""Line number and cells."""


@attrs.frozen
class Part:
    """A column of a table with one entity in each row.

    Attributes:
        place: Its place, from 0.
        relation: The relation of its values.
        kind: ``value`` (an entity, or a literal by the setting ``literals``), ``literal``, ``text`` (a literal without
            type), ``entity``, ``label`` or ``alias``.
        split: Separator of the values of one cell; empty if a cell is one value.
    """

    place: int
    relation: str
    kind: str
    split: str = ""


@attrs.frozen
class Plan:
    """How the rows of a table are read.

    Attributes:
        width: Number of columns.
        start: Number of the first line that is a row.
        picked: Places of the columns to read, from 0; of a wide table, that of the id alone.
        filled: The first so many of them must not be empty.
        parts: The other columns of a wide table; empty for any other table.
        spaces: Texts before the ids of a subject and an object, from the id spaces of Neo4j.
        expected: The columns in words, for messages.
    """

    width: int
    start: int
    picked: tuple[int, ...]
    filled: int
    parts: tuple[Part, ...] = ()
    spaces: tuple[str, str] = ("", "")
    expected: str = ""

    def titles(self, headings: Sequence[str]) -> list[str]:
        """Return the headings of the columns that are read, in the order of the table."""
        return [headings[place] for place in sorted({*self.picked, *(part.place for part in self.parts)})]


Planner = Callable[[Sequence[Row], FileReport], Plan]
"""Makes the plan of a table from its first rows."""


def normal(title: str) -> str:
    """Return a heading without case, accents, marks and camel case: ``startNode`` and ``START_NODE`` are one."""
    return " ".join(re.sub(r"[^\w]+", " ", fold(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", title))).split())


def recognised(titles: Sequence[str]) -> tuple[int, int, int] | None:
    """Return the places of subject, relation and object if all three headings are known words, else None."""
    ranks: dict[str, list[tuple[int, int]]] = {role: [] for role in WORDS}
    for place, title in enumerate(titles):
        if (found := _NEO4J.fullmatch(title)) and (role := _NEO4J_ROLES.get(found["kind"])):
            ranks[role].append((-1, place))
            continue
        for role, words in WORDS.items():
            if (rank := _rank(normal(title), words)) is not None:
                ranks[role].append((rank, place))
    if not all(ranks.values()):
        return None
    subject, relation, object_ = (min(ranks[role])[1] for role in WORDS)
    return (subject, relation, object_) if len({subject, relation, object_}) == 3 else None


def _rank(title: str, words: Sequence[str]) -> int | None:
    if title in words:
        return words.index(title)
    for level, suffixes in enumerate(_SUFFIXES, start=1):
        for suffix in suffixes:
            stem = title.removesuffix(suffix).rstrip()
            if stem != title and len(stem) > 1 and stem.replace(" ", "") in words:
                return 100 * level + words.index(stem.replace(" ", ""))
    joined = title.replace(" ", "")
    return 50 + words.index(joined) if joined in words else None


def plan_facts(settings: BuildSettings) -> Planner:
    """Return the planner of files of facts, or of entities with their facts, by the settings of a build."""

    def plan(rows: Sequence[Row], report: FileReport) -> Plan:
        if not rows:
            return Plan(3, 1, (0, 1, 2), 3, expected="3 columns")
        return _Facts(settings, rows, report).plan()

    return plan


class _Facts:
    """The plan of one file in the making; a header at line 0 is that of Parquet, which is certain."""

    def __init__(self, settings: BuildSettings, rows: Sequence[Row], report: FileReport) -> None:
        self.settings = settings
        self.report = report
        plain = [row for row in rows if not row[1][0].startswith("#")] or rows
        self.usual = Counter(len(cells) for _, cells in plain).most_common(1)[0][0]
        kept = [row for row in rows if not (row[1][0].startswith("#") and len(row[1]) != self.usual)]
        first = (kept or rows)[0]
        if recognised(_titles(first[1])) is None and settings.header is None:
            first = next((row for row in kept if len(row[1]) == self.usual), first)
        self.line, self.cells = first
        self.place = f"{report.name}:{self.line}" if self.line else report.name
        self.certain = not self.line
        self.rest = [row for row in kept if row is not first]
        self.titles = _titles(self.cells)
        headed = settings.header is True and set(settings.chosen_columns()) <= set(self.titles)
        self.numbered = (
            bool(settings.chosen_columns())
            and not headed
            and all(column.isdigit() for column in settings.chosen_columns())
        )

    def plan(self) -> Plan:
        """Return the plan.

        Raises:
            InputError: If the columns are not to be found.
        """
        settings, titles = self.settings, self.titles
        found = recognised(titles)
        key = next((place for place, title in enumerate(titles) if _kind(title) == "ID"), None)
        named = (bool(settings.chosen_columns()) and not self.numbered) or settings.id is not None
        header = settings.header
        if header is False and named and not (settings.id or "1").isdigit():
            raise InputError(
                f"{self.report.name}: columns are chosen by name, but the file is said to have no header; give "
                "the numbers of the columns, such as 1,2,3, or leave --no-header out"
            )
        if self.certain or header is None:
            header = self.certain or named or found is not None or key is not None
        if settings.id is not None:
            return self._wide(self._place(settings.id), header)
        if settings.chosen_columns():
            return self._facts(self._columns(), header)
        if key is not None and header and found is None:
            return self._wide(key, header)
        if found is not None and header:
            return self._facts(found, header)
        if len(titles) == 3 or (self.certain and len(titles) > 3):
            if not header:
                self._doubt()
            return self._facts((0, 1, 2), header)
        first = 0 if titles[0] else 1  # a table written by pandas begins with a column of numbers without heading
        if settings.header is not False and normal(titles[first]) in IDS and self._are_titles(first):
            self.report.note(
                f"each row was read as one entity, because the first heading is {titles[first]!r}; give --columns if "
                "three columns are a fact"
            )
            return self._wide(first, True)
        raise InputError(f"{self.place}: {self._unclear()}")

    def _unclear(self) -> str:
        count, separator = len(self.cells), self.report.separator
        if count < 3:
            return (
                f"expected 3 columns separated by {separator!r}, found {count}; give the --separator, or --id NAME "
                "if each row is one entity and each other column a relation"
            )
        return (
            f"expected 3 columns separated by {separator!r}, found {count}: {shortened(str(list(self.cells)))}; name "
            "subject, relation and object with --columns, by heading or number (--columns 1,2,3), or the column of "
            "the entity with --id if each row is one entity"
        )

    def _are_titles(self, first: int) -> bool:
        known = {normal(title) for title in self.titles[first:]}
        return len(known) == len(self.titles) - first and "" not in known and not any(t.isdigit() for t in known)

    def _columns(self) -> tuple[int, int, int]:
        columns = self.settings.chosen_columns()
        if len(columns) != 3:
            raise InputError(f"columns is {list(columns)}; name three: subject, relation and object")
        subject, relation, object_ = (self._place(column) for column in columns)
        return subject, relation, object_

    def _place(self, column: str) -> int:
        """Return the place of a column given by heading or number."""
        titles = self.titles
        if column in titles and not self.numbered:
            return titles.index(column)
        if column.isdigit() and 1 <= int(column) <= max(len(titles), self.usual):
            return int(column) - 1
        same = [place for place, title in enumerate(titles) if normal(title) == normal(column)]
        same = same or [place for place, title in enumerate(titles) if normal(_name(title)) == normal(column)]
        if len(same) != 1:
            raise InputError(
                f"{self.place}: the header has no column {column!r}; it has {titles}.{close_matches(column, titles)}"
            )
        return same[0]

    def _facts(self, picked: tuple[int, int, int], header: bool) -> Plan:
        width = len(self.cells) if header or not self.numbered else self.usual
        roles = dict(zip(picked, WORDS, strict=True))
        self._tell(header, roles)
        spaces = [(_NEO4J.fullmatch(self.titles[place]) if header else None) for place in (picked[0], picked[2])]
        subject, object_ = (f"{found['space']}/" if found and found["space"] else "" for found in spaces)
        return Plan(width, self.line + header, picked, 3, spaces=(subject, object_), expected=f"{width} columns")

    def _wide(self, key: int, header: bool) -> Plan:
        if not header:
            raise InputError(
                f"{self.report.name}: a table with one entity in each row needs a header, whose words are the "
                "relations; leave --no-header out"
            )
        settings, titles = self.settings, self.titles
        neo4j = any(_kind(title) == "ID" for title in titles)
        chosen = {self._place(column) for column in settings.chosen_columns()} or set(range(len(titles)))
        literal = {self._place(column) for column in settings.literal_columns}
        label = first_known(titles, LABELS, chosen - {key} - literal)
        parts = []
        for place in sorted(chosen - {key}):
            if place in literal:
                parts.append(Part(place, titles[place], "literal", settings.split or ""))
            elif titles[place] and (part := _part(place, titles[place], neo4j, place == label, settings.split or "")):
                parts.append(part)
        names = {"value": "relation", "text": "literal", "entity": TYPE}
        roles = {part.place: names.get(part.kind, part.kind) for part in parts}
        self._tell(header, {key: "id", **roles})
        found = _NEO4J.fullmatch(titles[key])
        space = f"{found['space']}/" if found and found["space"] else ""
        return Plan(len(titles), self.line + 1, (key,), 1, tuple(parts), (space, ""), f"{len(titles)} columns")

    def _tell(self, header: bool, roles: Mapping[int, str]) -> None:
        titles = (
            self.titles if header else [f"column {place + 1}" for place in range(max(len(self.titles), self.usual))]
        )
        if header and not self.certain:
            self.report.header, self.report.header_line = tuple(self.cells), self.line
        self.report.columns = [[titles[place], role] for place, role in sorted(roles.items())]
        self.report.unread = [title for place, title in enumerate(titles) if title and place not in roles]

    def _stands_out(self) -> bool:
        """Return whether the first line of a CSV file shares no cell with the lines below and has no number."""
        below = {cell for _, row in self.rest for cell in row}
        alone = below.isdisjoint(self.cells) and not any(cell.strip().isdigit() for cell in self.cells)
        return self.report.format == "csv" and bool(below) and alone

    def _doubt(self) -> None:
        """Tell that the first line is kept as a fact although it has words of a header."""
        if self.settings.header is not None:
            return
        known = {word for words in (*WORDS.values(), IDS) for word in words if len(word) > 1}
        columns = enumerate(self.cells)
        if any(place < len(row) and row[place] == cell for place, cell in columns for _, row in self.rest):
            return  # a word of a header does not come again in its column
        if known.isdisjoint(normal(title) for title in self.titles) and not self._stands_out():
            return
        text = shortened(self.report.separator.join(self.cells))
        advice = "if it is a header, give --header, or --id NAME if each row is one entity; else --no-header"
        if self.report.strict:
            raise InputError(f"{self.report.name}:{self.line}: {text!r} may be a header; {advice}")
        self.report.note(f":{self.line}: kept as a fact: {text!r}; {advice}")


def _titles(cells: Iterable[str]) -> list[str]:
    return [(cell.lstrip("# ") if place == 0 else cell).strip() for place, cell in enumerate(cells)]


def _kind(title: str) -> str:
    found = _NEO4J.fullmatch(title)
    return found["kind"] if found else ""


def _name(title: str) -> str:
    """Return the name of a property in Neo4j's headings: ``name`` of ``name:ID`` and ``name:string``."""
    found = _NEO4J.fullmatch(title) or _TYPED.fullmatch(title)
    return found["name"] if found else title


def known_relation(titles: Sequence[str]) -> str | None:
    """Return the heading that is the earliest known word of a relation."""
    ranks = [(rank, title) for title in titles if (rank := _rank(normal(title), WORDS["relation"])) is not None]
    return min(ranks)[1] if ranks else None


def first_known(titles: Sequence[str], words: Sequence[str], among: Iterable[int] | None = None) -> int | None:
    """Return the place, among these, whose heading is the earliest of the words."""
    among = range(len(titles)) if among is None else among
    ranks = [(words.index(normal(_name(titles[p]))), p) for p in among if normal(_name(titles[p])) in words]
    return min(ranks)[1] if ranks else None


def _part(place: int, title: str, neo4j: bool, label: bool, split: str) -> Part | None:
    """Return what a column of a wide table becomes; None if it is not read."""
    kind = "label" if label else "alias" if normal(_name(title)) in ALIASES else ""
    if not neo4j:
        return Part(place, title, kind or "value", "" if kind == "label" else split)
    special = _kind(title)
    if special == "LABEL":
        return Part(place, TYPE, "entity", split or ";")
    if special:
        return None
    typed = _TYPED.fullmatch(title)
    lists = bool(typed and typed["list"])
    plain = "text" if typed and typed["kind"].lower() in ("string", "char") else "literal"
    return Part(place, _name(title), kind or plain, (split or ";") if lists else "")


def plan_fixed(widths: Sequence[int], filled: int, header: tuple[Sequence[str], Sequence[str]] | None) -> Planner:
    """Return the planner of files whose columns stand in a fixed order.

    Args:
        widths: Allowed numbers of columns; the first row decides.
        filled: The first so many columns must not be empty.
        header: Words of the first two headings; a first line with both is a header.
    """

    def plan(rows: Sequence[Row], report: FileReport) -> Plan:
        rows = [row for row in rows if not (row[1][0].startswith("#") and len(row[1]) not in widths)]
        if not rows:
            return Plan(widths[0], 1, tuple(range(widths[0])), filled, expected=f"{widths[0]} columns")
        line, cells = rows[0]
        width = len(cells) if line else min(len(cells), max(widths))  # further columns of Parquet are left out
        if width not in widths:
            raise InputError(
                f"{report.name}:{line}: expected {widths[0]} columns separated by {report.separator!r}, found {width}; "
                "correct the line"
            )
        titles = [normal(title) for title in _titles(cells)]
        taken = header is not None and all(title in words for title, words in zip(titles, header, strict=False))
        if taken and line:
            report.header, report.header_line = tuple(cells), line
            report.columns = [[title, title] for title in cells]
        return Plan(len(cells), line + taken, tuple(range(width)), filled, expected=f"{width} columns")

    return plan
