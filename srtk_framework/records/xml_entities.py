"""Entities of XML files: a few lines can declare a text of gigabytes, which is refused before it is built."""

from __future__ import annotations

import re
from typing import Protocol

from srtk_framework.values import InputError

MAX_ENTITY = 1 << 16
"""Characters that an entity may stand for; what ontologies declare are prefixes of IRIs."""

_REFERENCE = re.compile(r"&([^;#\s]+);")
_BLOCK = 1 << 16


class Readable(Protocol):
    """An open binary file."""

    def read(self, size: int, /) -> bytes:
        """Read up to ``size`` bytes; empty at the end."""


class _RootReached(Exception):
    """Ends the parse of a file that declares no entity."""


def check_entities(file: Readable, name: str) -> None:
    """Refuse an XML file whose entities stand for far more text than the file holds.

    A file that declares no entity is read up to its first element. Otherwise expat reads all of it, which stops at a
    document that entities make a hundred times larger; a declared entity may besides stand for at most MAX_ENTITY
    characters, since some parsers expand it where it is declared.

    Args:
        file: The file, at its start.
        name: Its name, for messages.

    Raises:
        InputError: With file and line, if an entity is too large or the file is not XML.
    """
    from xml.parsers import expat

    parser = expat.ParserCreate()
    sizes: dict[str, int] = {}

    def declared(entity: str, parameter: bool, value: str | None, *_: object) -> None:
        if parameter or value is None or entity in sizes:
            return
        used = _REFERENCE.findall(value)
        sizes[entity] = len(value) + sum(sizes.get(other, 0) for other in used)
        if sizes[entity] > MAX_ENTITY or entity in used:
            raise InputError(
                f"{name}:{parser.CurrentLineNumber}: the entity {entity!r} stands for {sizes[entity]:,} characters or"
                f" for itself, and at most {MAX_ENTITY:,} are read; write the text where it is used"
            )

    def root(*_: object) -> None:
        if not sizes:
            raise _RootReached
        parser.StartElementHandler = None

    parser.EntityDeclHandler = declared
    parser.StartElementHandler = root
    try:
        _feed(parser, file)
    except _RootReached:
        return
    except expat.ExpatError as error:
        reason = expat.errors.messages.get(error.code, str(error))
        raise InputError(f"{name}:{error.lineno}: is not valid rdfxml: {reason}; correct the file") from error


def _feed(parser: object, file: Readable) -> None:
    feed = parser.Parse  # type: ignore[attr-defined]  # expat names no type for its parsers at run time
    while block := file.read(_BLOCK):
        feed(block, False)
    feed(b"", True)
