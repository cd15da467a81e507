"""An XML file element by element, bounded by the memory that its graph may need."""

from __future__ import annotations

from typing import Any

from srtk_framework.values import InputError
from srtk_plugin_local.snapshot.input_files import Input
from srtk_plugin_local.snapshot.input_report import FileReport, Meter
from srtk_plugin_local.snapshot.limits import MAX_ELEMENTS, amount, check_whole
from srtk_plugin_local.snapshot.xml_entities import TOO_DEEP, check_entities

# Bytes of memory for each byte of a file: measured 7 to 17 for GraphML and GEXF files of 5 to 20 MB.
GROWTH = 20

_BLOCK = 1 << 18


def parse(handler: Any, kind: str, report: FileReport, memory: str, meter: Meter) -> None:
    """Pass the elements of a file to a handler.

    Prefixes are not resolved: programs write files with undeclared prefixes, and with namespaces of their own.

    Args:
        handler: Receives the elements by ``start``, ``end`` and ``text``, and the number of the line as ``line``. The
            prefix of a name is cut off, unless it differs from the root's prefix.
        kind: Name of the root element.
        report: Has the name of the file.
        memory: Amount of memory, such as 1GB.
        meter: Called with the bytes read.

    Raises:
        InputError: If the file is not valid, its entities expand to too much, its elements nest too deep, or it is too
            large for the memory.
    """
    from xml.parsers import expat

    name = report.name
    with Input(name) as source:
        check_entities(source, name)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    root: list[str] = []
    level = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal level
        level += 1
        handler.line = parser.CurrentLineNumber
        if level > MAX_ELEMENTS:
            raise InputError(f"{name}:{handler.line}: {TOO_DEEP}")
        if not root:
            prefix, colon, local = tag.rpartition(":")
            root.extend((prefix + colon, local))
            return
        handler.start(tag.removeprefix(root[0]), attributes)

    def end(tag: str) -> None:
        nonlocal level
        level -= 1
        handler.line = parser.CurrentLineNumber
        handler.end(tag.removeprefix(root[0]))

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = handler.text
    try:
        size, most = 0, amount(memory)
        with Input(name) as source:
            while block := source.read(_BLOCK):
                size += len(block)
                check_whole(name, size, most, GROWTH)
                parser.Parse(block, False)
                meter(source.done)
            parser.Parse(b"", True)
            meter(source.size)
    except expat.ExpatError as error:
        reason = expat.errors.messages.get(error.code, str(error))
        raise InputError(f"{name}:{error.lineno}: is not valid {kind}: {reason}; correct the file") from error
    if root[1].lower() != kind:
        raise InputError(f"{name}: is not valid {kind}: its first element is {root[1]!r}; correct the file")
