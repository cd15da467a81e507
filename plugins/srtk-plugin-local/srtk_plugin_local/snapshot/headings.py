"""Headings of columns: the words that are known, and what they say of a column."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from srtk_framework.text import fold
from srtk_framework.values import InputError, close_matches
from srtk_plugin_local.snapshot.plurals import same_word

# Headings of the three columns of a fact, folded; an earlier word goes before a later one.
WORDS: Mapping[str, tuple[str, ...]] = {
    "subject": (
        *("subject", "subj", "sub", "s", "head", "h", "source", "src", "start", "from", "node1", "entity1", "e1"),
        *("sujet", "sujeto", "sujeito", "soggetto", "subjekt", "onderwerp"),
    ),
    "relation": (
        *("relation", "relationship", "rel", "predicate", "pred", "property", "prop", "edge", "link", "verb", "r", "p"),
        *("relation type", "relationship type", "edge type", "interaction", "label", "type"),
        *("relacion", "relacao", "relazione", "predicat", "predicado", "predicato", "pradikat", "propriete"),
    ),
    "object": (
        *("object", "obj", "o", "tail", "t", "target", "tgt", "end", "to", "destination", "dest", "dst"),
        *("node2", "entity2", "e2", "value", "objet", "objeto", "oggetto", "objekt"),
    ),
}

# Headings of the first column of a table with one entity in each row.
IDS = ("id", "name", "entity", "title", "uri", "iri", "url", "nom", "nombre", "nome")

LABELS = ("name", "label", "title", "nom", "nombre", "nome")
ALIASES = ("alias", "aliases", "aka", "also known as", "synonym", "synonyms")
# Headings of the second column of a file of names or descriptions.
TEXTS = (*LABELS, *ALIASES, "description", "definition", "text")

# Relation of the labels of a node in Neo4j's tables.
TYPE = "rdf:type"

# Values of Gephi's column ``Type``, which is no relation.
DIRECTIONS = frozenset(("directed", "undirected", "mutual", "unspecified", ""))

# Headings of both ends of an edge.
_ENDS = [
    pair.split("/")
    for pair in (
        *("source/target", "src/dst", "src/dest", "from/to", "start/end", "source/destination", "node1/node2"),
        *("node 1/node 2", "entity1/entity2", "from node/to node", "source node/target node", "subject/object"),
        *("head/tail", "start node/end node", "citing/cited", "follower/followee"),
    )
]

# Headings of ends that are also headings of an entity, such as those of a journey.
WEAK_ENDS = frozenset(("start", "end", "from", "to", "value", "src", "dest", "destination"))

# First words of headings of ends that tell a direction: who cites, and where a ferry goes.
_DIRECTED = frozenset(("citing", "follower", "from", "head", "src", "subject", "destination", "dest", "dst"))

# Headings of links to another row of the same table.
ROLES = frozenset(
    (
        *("boss", "manager", "mgr", "supervisor", "parent", "reports to", "father", "mother", "spouse", "husband"),
        *("wife", "partner", "predecessor", "successor", "evolves from", "part of", "managed by", "sire", "dam"),
        *("lead", "superior", "chef", "vorgesetzter", "jefe", "vater", "mutter", "eltern", "padre", "madre", "pere"),
        "mere",
    )
)

_SUFFIXES = (("id", "uri", "iri", "node", "entity"), ("name", "label", "text", "title"))

_NEO4J = re.compile(r"(?P<name>.*?):(?P<kind>START_ID|END_ID|TYPE|LABEL|ID|IGNORE)(?:\((?P<space>.*)\))?(?:\{.*\})?")

# Types of Neo4j's importer; ``GF:GA`` is a heading of another program.
_TYPES = "int|long|float|double|boolean|byte|short|char|string|point|vector|(?:local)?(?:date)?time|date|duration"
_TYPED = re.compile(rf"(?P<name>.+?):(?P<kind>(?i:{_TYPES}))(?P<list>\[\])?(?:\{{.*\}})?")

_NEO4J_ROLES = {"START_ID": "subject", "TYPE": "relation", "END_ID": "object"}

# Last words of the heading of a key that says nothing of the row.
KEYS = ("id", "key", "identifier")

# Last words of the heading of a key that is a fact about the row, too.
CODES = ("code", "no", "nr", "number", "isbn", "issn", "sku", "ean", "gtin", "doi")


def normal(title: str) -> str:
    """Return a heading without case, accents, marks and camel case: ``startNode`` and ``START_NODE`` are equal."""
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
    subject, relation, object_ = (min(ranks[role])[1] for role in WORDS)  # no word has two roles
    return subject, relation, object_


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


def is_number(title: str) -> bool:
    """Return whether a title is a number."""
    return re.fullmatch(r"[+-]?[0-9][0-9.,eE+-]*", title) is not None


def place_of(column: str, titles: Sequence[str], place: str, by_name: bool = True, width: int = 0) -> int:
    """Return the place of a column given by heading or number.

    Args:
        column: Heading, or number from 1.
        titles: All headings.
        place: Place of the header, for messages.
        by_name: Whether a number may be a heading.
        width: Number of columns, where it is more than there are headings.

    Raises:
        InputError: If there is no such column.
    """
    if column in titles and by_name:
        return titles.index(column)
    if column.isdigit() and 1 <= int(column) <= max(len(titles), width):
        return int(column) - 1
    same = [at for at, title in enumerate(titles) if normal(title) == normal(column)]
    same = same or [at for at, title in enumerate(titles) if normal(neo4j_name(title)) == normal(column)]
    if len(same) != 1:
        raise InputError(
            f"{place}: the header has no column {column!r}; it has {list(titles)}.{close_matches(column, titles)}"
        )
    return same[0]


def is_edge_list(titles: Sequence[str], weak: bool = True) -> tuple[int, int] | None:
    """Return the places of both ends of an edge, if headings are a pair such as source and target.

    Args:
        titles: The headings.
        weak: Whether pairs count that entities have too, such as from and to.
    """
    known = [normal(title).removesuffix(" id").removesuffix(" name") for title in titles]
    for start, end in _ENDS:
        if known.count(start) == known.count(end) == 1 and (weak or start not in WEAK_ENDS):
            return known.index(start), known.index(end)
    return None


def key_by_heading(titles: Sequence[str], table: str) -> int | None:
    """Return the place of the column that is the key by its heading; None without such a heading.

    Args:
        titles: The headings.
        table: Name of the table, whose word may stand before ``id``.
    """
    known = [normal(neo4j_name(title)) for title in titles]
    for at, title in enumerate(titles):
        if neo4j_kind(title) == "ID":
            return at
    for word in ("id", "uri", "iri", "uuid", "entity", "url", "key"):
        if word in known:
            return known.index(word)
    stem = words_of(table)
    for at, title in enumerate(known):
        parts = title.split()
        if parts[-1:] in (["id"], ["key"]) and stem and same_word(parts[-2], stem[-1]):
            return at
        glued = next((title.removesuffix(word) for word in (*KEYS, *CODES) if title.endswith(word)), "")
        if glued and stem and same_word(glued, stem[-1]):  # EMPNO in a table of emp
            return at
    filled = [at for at, title in enumerate(known) if title]
    return filled[0] if filled and known[filled[0]].split()[-1] in (*KEYS, *CODES) else None


def words_of(name: str) -> list[str]:
    """Return the words of a heading or of the name of a table."""
    return normal(name.replace("_", " ")).split()


def is_year(title: str) -> bool:
    """Return whether a title is a year of four digits."""
    return re.fullmatch("[12][0-9]{3}", title) is not None


def are_years(titles: Sequence[str], least: int = 3) -> bool:
    """Return whether titles are so many years or more, in equal steps."""
    if len(titles) < least or not all(map(is_year, titles)):
        return False
    years = [int(title) for title in titles]
    return 0 not in (steps := {after - before for before, after in pairwise(years)}) and len(steps) == 1


def neo4j_kind(title: str) -> str:
    """Return the kind in a heading of Neo4j, such as ``ID``; empty for any other heading."""
    found = _NEO4J.fullmatch(title)
    return found["kind"] if found else ""


def neo4j_space(title: str) -> str:
    """Return the id space of a heading of Neo4j; empty without a space."""
    found = _NEO4J.fullmatch(title)
    return found["space"] or "" if found else ""


def neo4j_type(title: str) -> str:
    """Return the type that a heading of Neo4j declares, in small letters; empty without a type."""
    found = _TYPED.fullmatch(title)
    return found["kind"].lower() if found and not neo4j_kind(title) else ""


def neo4j_name(title: str) -> str:
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
    ranks = [(words.index(normal(neo4j_name(titles[p]))), p) for p in among if normal(neo4j_name(titles[p])) in words]
    return min(ranks)[1] if ranks else None


def has_direction(ends: Sequence[str]) -> bool:
    """Return whether the headings of both ends of an edge tell its direction, as *source* and *target* do not."""
    return any({*normal(title).split()[:1]} & _DIRECTED for title in ends)
