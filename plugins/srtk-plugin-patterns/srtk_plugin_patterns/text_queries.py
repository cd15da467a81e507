"""Queries for an entity that a triple lacks: four kinds, with or without the relations and inner nodes of a path.

Zhou and Nastase, "Using Patterns in Knowledge Graphs for Targeted Information Extraction" (KBCOM 2018), section 3.2.
No part of a query depends on the entity that it asks for.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Literal, get_args

from srtk_framework.text import fold

Variant = Literal["s+r", "s+r+p", "s+r+n", "s+r+p+n"]
# Kinds of queries: the entity's name and the relation, then relations of the path (p), names of its nodes (n).
VARIANTS: tuple[Variant, ...] = get_args(Variant)

# Ids that are no names: Q42, /m/02mjmr, blank nodes, addresses.
_OPAQUE = re.compile(r"[A-Z]\d+|/?[mg][./]\w+|_:.*|\w+:\S+")


def query(
    variant: Variant, name: str, relation: str, path: Sequence[str], nodes: Sequence[str], inverse: bool = False
) -> str:
    """Write a query.

    Args:
        variant: Its kind.
        name: Name of the known entity.
        relation: The relation in words.
        path: The relations along a path in words, in its order.
        nodes: Names of the inner nodes of an instance of the path, in its order.
        inverse: Whether the known entity is the object; the relation then comes first.

    Returns:
        The parts with blanks between them; each relation of the path once, without the direction, and without the
        relation that is asked for.
    """
    parts = [relation, name] if inverse else [name, relation]
    if "p" in variant.split("+"):
        seen = {fold(relation)}
        for form in path:
            if fold(form) not in seen:
                seen.add(fold(form))
                parts.append(form)
    if "n" in variant.split("+"):
        parts += nodes
    return " ".join(parts)


def name_of(id_: str, label: str) -> str:
    """Return the name of an entity on one line; empty where its label only repeats an id that is no name."""
    if label == id_:
        if _OPAQUE.fullmatch(id_):
            return ""
        label = label.replace("_", " ")
    return " ".join(label.split())


def tells(text: str, names: Iterable[str]) -> bool:
    """Return whether a text has one of some names as whole words, after NFKC and case-folding."""
    plain = _plain(text)
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", plain) for name in map(_plain, names) if name)


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
