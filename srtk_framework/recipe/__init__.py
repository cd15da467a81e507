"""Recipes: YAML with the place of every value, typed settings, and the composer of drivers."""

from __future__ import annotations

from srtk_framework.recipe.blocks import Block, Blocks, block_in
from srtk_framework.recipe.composer import MANY, Composer, needs_of, wants_budget
from srtk_framework.recipe.recipe import VERSION, Options, Recipe, from_data, load
from srtk_framework.recipe.settings import Where, structure, structure_fields
from srtk_framework.recipe.shipped import shipped_folder, shipped_recipe
from srtk_framework.recipe.stage import Stage, hookimpl, load_stage
from srtk_framework.recipe.yaml_source import Places, set_value
from srtk_framework.values import SettingsError

__all__ = [
    "MANY",
    "VERSION",
    "Block",
    "Blocks",
    "Composer",
    "Options",
    "Places",
    "Recipe",
    "SettingsError",
    "Stage",
    "Where",
    "block_in",
    "from_data",
    "hookimpl",
    "load",
    "load_stage",
    "needs_of",
    "set_value",
    "shipped_folder",
    "shipped_recipe",
    "structure",
    "structure_fields",
    "wants_budget",
]
