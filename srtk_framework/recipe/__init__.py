"""Recipes: YAML with the place of every value, typed settings, and the composer of drivers."""

from __future__ import annotations

from srtk_framework.recipe.composer import Composer, needs_of
from srtk_framework.recipe.recipe import Block, Options, Recipe, block_in, from_data, from_mapping, load
from srtk_framework.recipe.settings import structure
from srtk_framework.values import SettingsError

__all__ = [
    "Block",
    "Composer",
    "Options",
    "Recipe",
    "SettingsError",
    "block_in",
    "from_data",
    "from_mapping",
    "load",
    "needs_of",
    "structure",
]
