"""Puts the recipes into the package of a wheel; an editable installation reads them from the checkout."""

from __future__ import annotations

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Recipes(BuildHookInterface[Any]):
    """Adds the folder `recipes` as data of the package."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add it, unless the installation is editable."""
        if version == "standard":
            build_data["force_include"]["recipes"] = "srtk_framework/recipes"
