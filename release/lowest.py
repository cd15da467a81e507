"""Prints the lowest versions that the packages declare, as constraints: `pip install -c lowest.txt`.

    python release/lowest.py > lowest.txt

Only what an optional dependency or a plugin names itself is bound; what that needs in turn is the installer's choice.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator

from packaging.requirements import Requirement
from packaging.version import Version
from wheels import distributions


def _declared() -> Iterator[Requirement]:
    """Read the requirements of the core, plugins and adapters, those of optional dependencies too."""
    for folder in distributions():
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        for texts in (project.get("dependencies", []), *project.get("optional-dependencies", {}).values()):
            yield from map(Requirement, texts)


def lowest() -> dict[str, Version]:
    """Return the lowest version that satisfies each requirement, by distribution; the project's own are left out."""
    found: dict[str, Version] = {}
    for requirement in _declared():
        bounds = [Version(one.version) for one in requirement.specifier if one.operator in (">=", "==", "~=")]
        if bounds and not requirement.name.startswith("srtk-"):
            found[requirement.name] = max([*bounds, *filter(None, [found.get(requirement.name)])])
    return found


if __name__ == "__main__":
    for name, version in sorted(lowest().items()):
        print(f"{name}=={version}")
