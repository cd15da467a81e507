"""Names of composite relations: two relations joined by two dots, so that one reading is possible alone.

In a half, a backslash, a dot at either end and each dot that follows a dot get a backslash. What is left of
two dots in a row is the joint. A single relation is written by the same rule, so that it is never read as two.
Names of Freebase (``people.person.sibling_s``) stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from srtk_framework.values import Literal

JOINT = ".."

_SPECIAL = re.compile(r"\\|\A\.|\.\Z|(?<=\.)\.")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_HALF = r"((?:\\.|[^\\.]|\.(?!\.))+)"
_WHOLE = re.compile(rf"{_HALF}(?:\.\.{_HALF})?", re.DOTALL)


def escape(name: str) -> str:
    """Write one relation so that it is not read as two."""
    return _SPECIAL.sub(lambda found: "\\" + found[0], name)


def join(first: str, second: str) -> str:
    """Name the relation that leads along ``first`` to a mediator, and on along ``second``."""
    return f"{escape(first)}{JOINT}{escape(second)}"


def split(relation: str) -> tuple[str, ...]:
    """Return the one or two relations that a name stands for; none where ``escape`` and ``join`` never write it."""
    found = _WHOLE.fullmatch(relation)
    if found is None:
        return ()
    halves = [half for half in found.groups() if half is not None]
    names = tuple(_ESCAPED.sub(r"\1", half) for half in halves)
    return names if all(escape(name) == half for name, half in zip(names, halves, strict=True)) else ()


def label_of(id_: str, names: Sequence[str], found: Mapping[str, str], own: str | None = None) -> str:
    """Choose the label of an id among those of what it may stand for.

    Args:
        id_: As it was asked about; returned where nothing has a label.
        names: The one or two relations that it may stand for.
        found: Labels; where there is none, the id itself.
        own: The id as the graph writes it.
    """
    plain = id_ if own is None else own
    if isinstance(id_, Literal) or found[plain] != plain:
        return found[plain]
    if all(found[name] == name for name in names):
        return id_
    return ": ".join(found[name] for name in names)
