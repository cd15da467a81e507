"""The meanings of attributes in the docstring of a class."""

from __future__ import annotations

import inspect
import re
from typing import Any

_SECTION = re.compile(r"(Args|Attributes|Returns|Yields|Raises):$")
_ITEM = re.compile(r"(\*{0,2}\w+(?: \(.+?\))?): (.*)")


def meanings(cls: type[Any]) -> dict[str, str]:
    """Read the meanings of a class's attributes from its docstring, or from the docstrings of its bases."""
    found: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        section, name = "", ""
        for line in inspect.cleandoc(vars(base).get("__doc__") or "").replace("``", "`").splitlines():
            if heading := _SECTION.fullmatch(line):
                section = heading[1]
            elif section == "Attributes" and line.startswith("    "):
                item = None if line.startswith("     ") else _ITEM.fullmatch(line.strip())
                name = item[1] if item else name
                found[name] = item[2] if item else f"{found.get(name, '')} {line.strip()}"
            elif line:
                section = ""
    return found
