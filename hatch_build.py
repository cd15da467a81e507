"""Puts recipes, demo and pages into the package of a wheel; an editable installation reads them from the checkout."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Shipped(BuildHookInterface[Any]):
    """Adds the folders `recipes` and `demo`, and the pages of `docs`, as data of the package."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add them, unless the installation is editable."""
        if version == "standard":
            root = Path(self.root)
            pages = [file for ending in ("md", "ipynb") for file in root.glob(f"docs/**/*.{ending}")]
            names = ["recipes", "demo", *(page.relative_to(root).as_posix() for page in pages)]
            build_data["force_include"] |= {name: f"srtk_framework/{name}" for name in names}
