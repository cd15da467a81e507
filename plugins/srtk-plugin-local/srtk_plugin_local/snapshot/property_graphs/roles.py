"""Meaning of the properties of nodes and edges, by name and all values: relation, name, type, alias."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median

from srtk_plugin_local.snapshot.headings import ALIASES, LABELS, known_relation, normal
from srtk_plugin_local.snapshot.property_graphs.elements import is_number

Profiles = Mapping[str, Counter[str]]
"""The values of each property, counted."""

_FIRST_RELATIONS = ("label e", "labele", "edge label", "edgelabel")
_LAST_RELATIONS = ("kind", "interaction", "shared interaction", "association", "edge kind", "edge category")
# Names that give the relation where no better one does.
_SPARE_RELATIONS = ("keywords", "keyword", "role", "category", "class", "name", "title")

# Names of the properties that name a node, best first.
NAMES = (
    *LABELS,
    *("shared name", "display name", "full name", "preferred label", "pref label", "entity name"),
    *("caption", "entity id"),
)

_TYPES = ("label v", "labelv", "labels", "node labels", "label", "rdf type", "node type", "entity type")
# Names of properties that may be types, best first.
SPARE_TYPES = ("type", "kind", "category", "class")
# Types that programs write where a node has none.
DEFAULT_TYPES = ("vertex", "node", "unknown")

WEIGHTS = ("weight", "edge weight", "weights")
DIRECTIONS = {"directed", "undirected", "mutual", "none"}

# Words and characters of a value that can name a relation; longer values are texts.
_WORDS = 4
_LENGTH = 40
_SPARE_LENGTH = 60
# A property whose values repeat three times on average says a kind; one with more values says which.
_FEW = 1 / 3
_CODE = re.compile(
    r"(?:[A-Za-z]{0,8}[-_:.#/ ]{0,2}[0-9]+[-_:.#/]*)+|[0-9a-fA-F]{8}-[0-9a-fA-F-]{20,}|[0-9a-f]{16,}|\w+://.*"
)
_WORD_LETTERS = re.compile(r"[^\W\d_]{2}|[\u3040-\u9fff\uac00-\ud7af]")


def relations(profiles: Profiles, edges: int) -> tuple[list[str], str]:
    """Return the properties of edges that give their relation, best first, and a sentence on a choice by values.

    A property with a known name gives the relation unless its values are numbers, codes, or texts as long as sentences
    that hardly repeat. Without such a property, keywords and the like serve, and at last a single property with few
    short values for many edges.
    """
    fit = [name for name, values in profiles.items() if _is_relation(values, _WORDS, _LENGTH, _is_sure(name))]
    first = [name for name in fit if normal(name) in _FIRST_RELATIONS]
    known, left = [], [name for name in fit if name not in first]
    while (best := known_relation(left)) is not None:
        known.append(best)
        left.remove(best)
    last = sorted((n for n in left if normal(n) in _LAST_RELATIONS), key=lambda n: _LAST_RELATIONS.index(normal(n)))
    if first or known or last:
        return [*first, *known, *last], ""
    spare = [n for n, values in profiles.items() if _is_relation(values, 2 * _WORDS, _SPARE_LENGTH)]
    spare = [n for n in spare if normal(n) in _SPARE_RELATIONS]
    if spare:
        best = min(spare, key=lambda name: _SPARE_RELATIONS.index(normal(name)))
        return [best], f"the relation of an edge is its property {best!r}"
    few = [name for name in left if _is_few(profiles[name], edges)]
    if len(few) == 1:
        return few, f"the relation of an edge is its property {few[0]!r}, which has few values"
    if few:
        return [], f"its edges name no relation that is known; one of their properties {few} may be it"
    return [], ""


def _is_sure(name: str) -> bool:
    """Return whether a name means a relation and nothing else, so that codes and numbers are relations there."""
    word = normal(name)
    return word in _FIRST_RELATIONS or (word not in ("label", "type") and known_relation([name]) is not None)


def _is_relation(values: Counter[str], words: int, length: int, sure: bool = False) -> bool:
    if not values or all(value.lower() in DIRECTIONS for value in values):
        return False
    if sure:
        return _repeats(values) or not _is_long(values, words, length)
    if 2 * sum(map(is_number, values)) > len(values):
        return False
    if not _repeats(values) and 2 * sum(is_code(value) for value in values) > len(values):
        return False
    return _repeats(values) or not _is_long(values, words, length)


def _repeats(values: Counter[str]) -> bool:
    """Return whether a value comes twice on average, or more often."""
    return 2 * len(values) <= values.total()


def _is_long(values: Counter[str], words: int, length: int) -> bool:
    counts = [len(value.replace(",", " ").split()) for value in values]
    return median(counts) > words or median(map(len, values)) > length


def _is_few(values: Counter[str], edges: int) -> bool:
    if not 1 < len(values) <= _FEW * values.total() or 2 * values.total() < edges:
        return False
    plain = not any(is_number(value) or is_code(value) for value in values)
    return plain and not _is_long(values, _WORDS, _LENGTH)


def is_code(text: str) -> bool:
    """Return whether a text is a number, a code such as ``n12``, or an address, rather than words."""
    return _CODE.fullmatch(text) is not None or _WORD_LETTERS.search(text) is None


def keys_are_relations(keys: Sequence[str]) -> bool:
    """Return whether the ids of the edges are words, as networkx writes the keys of edges."""
    found = Counter(key for key in keys if key)
    words = all(key.isalpha() or (not any(map(str.isdigit, key)) and _WORD_LETTERS.search(key)) for key in found)
    words = words and (_repeats(found) or any(map(_WORD_LETTERS.search, found)))
    return bool(found) and words and not _is_long(found, _WORDS, _LENGTH)


def is_name(name: str) -> bool:
    """Return whether a property has a name by which it names nodes."""
    return normal(name) in NAMES


def names(profiles: Profiles, worded: bool) -> list[str]:
    """Return the properties that name a node, best first.

    A label that many nodes share names none of them, where other names are there.

    Args:
        profiles: The values of the properties.
        worded: Whether the ids of the nodes are words.
    """
    found = [name for name in profiles if is_name(name)]
    if worded or len(found) > 1:
        kinds = {name for name in found if profiles[name].total() >= 4 and _repeats(profiles[name])}
        found = [name for name in found if normal(name) != "label" or name not in kinds]
    return sorted(found, key=lambda name: NAMES.index(normal(name)))


def types(profiles: Profiles, taken: Sequence[str]) -> list[str]:
    """Return the properties that are the type of a node.

    Args:
        profiles: The values of the properties.
        taken: The properties that name a node.
    """
    free = {name: values for name, values in profiles.items() if name not in taken}
    sure = [name for name, values in free.items() if normal(name) in _TYPES and _are_words(values)]
    if sure:
        return sure
    fit = [name for name, values in free.items() if normal(name) in SPARE_TYPES and _are_words(values)]
    fit = [name for name in fit if _repeats(free[name]) or free[name].total() < 4]
    return sorted(fit, key=lambda name: SPARE_TYPES.index(normal(name)))[:1]


def _are_words(values: Counter[str]) -> bool:
    return not all(map(is_number, values)) and not _is_long(values, _WORDS, _LENGTH)


def is_alias(name: str) -> bool:
    """Return whether a property holds further names of a node."""
    return normal(name) in ALIASES


def promises_relation(name: str) -> bool:
    """Return whether a property of edges has the name of a relation."""
    return normal(name) in (*_FIRST_RELATIONS, *_LAST_RELATIONS) or known_relation([name]) is not None
