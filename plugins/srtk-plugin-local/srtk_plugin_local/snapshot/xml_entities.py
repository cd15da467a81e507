"""Entities of XML files: a few lines can expand to gigabytes of text, which are refused before they are built."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Protocol

from srtk_framework.values import InputError
from srtk_plugin_local.snapshot.limits import MAX_ELEMENTS

MAX_ENTITY = 1 << 16
"""Maximum length of an expanded entity; ontologies declare prefixes of IRIs."""

MAX_TEXT = 1 << 22
"""Maximum length of the expanded entities of one tag, with the text up to the next tag."""

MAX_DOCTYPE = 1 << 20
"""Maximum number of bytes before the first element of a file that declares entities."""

TOO_DEEP = f"elements nest deeper than {MAX_ELEMENTS:,} levels; flatten them"

_REFERENCE = re.compile(r"&([^;#\s]+);")
_TAG_OR_REFERENCE = re.compile(rb"<|&([^;#\s&<]+);")
_BLOCK = 1 << 16


class Readable(Protocol):
    """An open binary file."""

    def read(self, size: int, /) -> bytes:
        """Read up to ``size`` bytes; empty at the end."""


class _RootReached(Exception):
    """Ends the parse of a file that declares no entity."""


def check_entities(file: Readable, name: str, depth: bool = False) -> None:
    """Refuse an XML file whose entities expand to far more text than the file holds, or whose elements nest too deep.

    A file that declares no entity is read up to its first element, unless the depth is to be checked. Expat stops if
    entities make the document a hundred times larger. For a file of some megabytes this is not enough, so there are
    two further limits. An entity expands to at most MAX_ENTITY characters, since some parsers expand it where it is
    declared. The entities of one tag and its text expand to at most MAX_TEXT, since parsers hold these at once.

    Args:
        file: The file, at its start.
        name: Its name, for messages.
        depth: Whether the depth of elements is checked.

    Raises:
        InputError: With file and line, if an entity is too large, elements nest deeper than MAX_ELEMENTS, or the file
            is not XML.
    """
    from xml.parsers import expat

    parser = expat.ParserCreate()
    sizes: dict[str, int] = {}
    reached: list[bool] = []
    level = 0

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

    def start(*_: object) -> None:
        nonlocal level
        level += 1
        if level == 1:
            if not (sizes or depth):
                raise _RootReached
            reached.append(True)
            parser.StartElementHandler = start if depth else None
        if level > MAX_ELEMENTS:
            raise InputError(f"{name}:{parser.CurrentLineNumber}: {TOO_DEEP}")

    def end(_: str) -> None:
        nonlocal level
        level -= 1

    parser.EntityDeclHandler = declared
    parser.StartElementHandler = start
    parser.EndElementHandler = end if depth else None
    parser.ordered_attributes = True  # a list is made faster than a mapping
    try:
        _feed(parser, file, name, sizes, reached)
    except _RootReached:
        return
    except expat.ExpatError as error:
        reason = expat.errors.messages.get(error.code, str(error))
        raise InputError(f"{name}:{error.lineno}: is not well-formed XML: {reason}; correct the file") from error


def _feed(parser: object, file: Readable, name: str, sizes: Mapping[str, int], reached: Sequence[bool]) -> None:
    feed = parser.Parse  # type: ignore[attr-defined]  # expat names no type for its parsers at run time
    count = _Expansion(name, sizes)
    read = 0
    while block := file.read(_BLOCK):
        if not read and b"\0" in block[:4]:
            raise InputError(f"{name}: is not in UTF-8; save the file as UTF-8")
        read += len(block)
        if reached:
            if sizes:
                count.add(block)
            feed(block, False)
        elif read > MAX_DOCTYPE:
            raise InputError(f"{name}: has no element within its first {MAX_DOCTYPE:,} bytes; correct the file")
        else:  # the block may declare entities and use them
            feed(block, False)
            count.add(block)
    feed(b"", True)


class _Expansion:
    """Length of the expanded entities of one tag, with the text up to the next tag."""

    def __init__(self, name: str, sizes: Mapping[str, int]) -> None:
        self._name, self._sizes = name, sizes
        self._tail, self._size, self._line = b"", 0, 1

    def add(self, block: bytes) -> None:
        """Count the next bytes of the file."""
        text = self._tail + block
        cut = text.rfind(b"&")
        whole = cut < 0 or b";" in text[cut:] or len(text) - cut > 1000
        self._tail = b"" if whole else text[cut:]
        text = text if whole else text[:cut]
        for found in _TAG_OR_REFERENCE.finditer(text):
            if found[1] is None:
                self._size = 0
                continue
            self._size += self._sizes.get(found[1].decode("utf-8", "replace"), 1)
            if self._size > MAX_TEXT:
                line = self._line + text.count(b"\n", 0, found.start())
                raise InputError(
                    f"{self._name}:{line}: the entities of one value expand to more than {MAX_TEXT:,} characters;"
                    " write the text where it is used"
                )
        self._line += text.count(b"\n")
