"""Puts recipes and demo into the package of a wheel; an editable installation reads them from the checkout."""

from __future__ import annotations

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Shipped(BuildHookInterface[Any]):
    """Adds the folders `recipes` and `demo` as data of the package."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add them, unless the installation is editable."""
        if version == "standard":
            build_data["force_include"] |= {name: f"srtk_framework/{name}" for name in ("recipes", "demo")}
