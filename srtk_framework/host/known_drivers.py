"""Table of distributions with their drivers and commands, to name a distribution that a recipe or a command lacks.

The table is ``known_drivers.json`` beside this module, written from the plugins' ``pyproject.toml`` files by
``python -m srtk_framework.host.known_drivers plugins``.
"""

from __future__ import annotations

import functools
import json
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

_GROUP = "srtk."
_COMMAND = "command"
_FILE = "known_drivers.json"

Table = dict[str, dict[str, list[str]]]
"""Maps each distribution and role to the names of its drivers, and ``command`` to those of its commands."""


@functools.cache
def known_drivers() -> Table:
    """Read the table; observers and roles are listed like drivers."""
    table: Table = json.loads((files(__package__) / _FILE).read_text(encoding="utf-8"))
    return table


def distribution_of(role: str, name: str) -> str | None:
    """Return the distribution that contains a driver; None if the table lacks the driver."""
    return next((dist for dist, roles in known_drivers().items() if name in roles.get(role, ())), None)


def distributions_of_command(word: str) -> dict[str, list[str]]:
    """Map distributions to their commands that begin with a word, as one writes them: ``graph build``."""
    found = {
        dist: [name.replace(".", " ") for name in roles.get(_COMMAND, ()) if name.split(".")[0] == word]
        for dist, roles in known_drivers().items()
    }
    return {dist: names for dist, names in found.items() if names}


def drivers_declared_in(folder: Path) -> Table:
    """Collect the drivers and commands that the plugins in a folder declare in their ``pyproject.toml``, sorted."""
    import tomllib  # slow, and not needed to read the table

    table: Table = {}
    for path in sorted(folder.glob("*/pyproject.toml")):
        project: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
        groups = {
            group.removeprefix(_GROUP): sorted(entries)
            for group, entries in sorted(project.get("entry-points", {}).items())
            if group.startswith(_GROUP)
        }
        if groups:
            table[project["name"]] = groups
    return dict(sorted(table.items()))


def main(folder: str) -> None:
    """Write the table from the plugins in a folder."""
    text = json.dumps(drivers_declared_in(Path(folder)), indent=2) + "\n"
    Path(str(files(__package__) / _FILE)).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
