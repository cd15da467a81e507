"""Names of composite relations: two relations joined by two dots, unambiguously.

In each half, a backslash escapes backslashes, a dot at either end and each dot after a dot. So the only unescaped pair
of dots is the joint. Single relations are escaped by the same rule and never read as composites. Names of Freebase
(``people.person.sibling_s``) need no escaping.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from srtk_framework.values import Literal

JOINT = ".."

_SPECIAL = re.compile(r"\\|\A\.|\.\Z|(?<=\.)\.")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_HALF = r"((?:\\.|[^\\.]|\.(?!\.))+)"
_PART = re.compile(rf"(?:\A|\.\.){_HALF}", re.DOTALL)
_ANY = re.compile(rf"{_HALF}(?:\.\.{_HALF})*", re.DOTALL)


def escape(name: str) -> str:
    """Escape the name of a single relation."""
    return _SPECIAL.sub(lambda found: "\\" + found[0], name)


def join(first: str, second: str) -> str:
    """Return the name of the composite that follows ``first`` to a mediator, then ``second``."""
    return join_all((first, second))


def split(relation: str) -> tuple[str, ...]:
    """Return the relation or both relations of a name; none if ``escape`` and ``join`` never produce it."""
    names = parts(relation)
    return names if len(names) <= 2 else ()


def join_all(names: Sequence[str]) -> str:
    """Return the name of the composite of any number of relations; of a single relation, its escaped name."""
    return JOINT.join(map(escape, names))


def parts(relation: str) -> tuple[str, ...]:
    """Return the relations of a name, any number of them; none if ``join_all`` never produces it."""
    if _ANY.fullmatch(relation) is None:
        return ()
    names = tuple(_ESCAPED.sub(r"\1", found[1]) for found in _PART.finditer(relation))
    return names if join_all(names) == relation else ()


def label_of(id_: str, names: Sequence[str], found: Mapping[str, str], own: str | None = None) -> str:
    """Return the label of an id, or the labels of the relations that it is composed of.

    Args:
        id_: The id as given; the result if there is no label.
        names: The relations of the id.
        found: Labels by id; an id without a label maps to itself.
        own: The id in the form of the graph.
    """
    plain = id_ if own is None else own
    if isinstance(id_, Literal) or found[plain] != plain:
        return found[plain]
    if all(found[name] == name for name in names):
        return id_
    return ": ".join(found[name] for name in names)
