"""The card of a trained model: what it learnt from, how, with which figures and versions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml


def card(recipe: str, written: Mapping[str, Any], told: Mapping[str, Any]) -> str:
    """Write a model card in Markdown, with the header that model hubs read.

    Args:
        recipe: Name of the recipe's file.
        written: The recipe as written, without secrets and variables filled in.
        told: Content of ``training.json``.
    """
    role, counts = told["driver"]["role"], told["counts"]
    lacking, validated = f" ({counts['pathless']} without a path between topic and answer)", "chose the best weights"
    if role == "entity_linker":
        lacking, validated = "", "checked the weights"
    parts = [
        "---\ntags: [srtk-framework, knowledge-graph, retrieval]\npipeline_tag: feature-extraction\n---\n",
        f"# {role} trained by {recipe}\n",
        f"Learnt from {counts['lessons']} of {counts['questions']} questions{lacking};"
        f" {counts['validation']} others {validated}.\n",
        f"Use in a recipe: `{_use(role, told['driver']['name'])}`.\n",
        _table("Figures of the best weights", told["figures"]),
        _table("Settings", told["settings"]),
        _table("Data (SHA-256 of the questions)", told["data"]),
        _table("Versions", {**told["versions"], **told["libraries"]}),
        f"Seed {told['seed']}, fingerprint `{told['fingerprint']}`.\n",
        f"Before the training the driver was `{told['driver']['fingerprint']}`.\n",
        f"Supervised by `{told['supervision']}`.\n",
        f"## Recipe\n\n```yaml\n{yaml.safe_dump(dict(written), sort_keys=False, allow_unicode=True)}```\n",
    ]
    return "\n".join(parts)


def _use(role: str, name: str) -> str:
    """Say how a recipe uses the folder; what a path scorer learns is its encoder."""
    if role == "path_scorer":
        return "encoder: {use: transformers, model: FOLDER}"
    return f"{role}: {{use: {name}, model: FOLDER}}"


def _table(title: str, values: Mapping[str, Any]) -> str:
    rows = "\n".join(f"| {name} | {value} |" for name, value in values.items())
    return f"## {title}\n\n| | |\n| --- | --- |\n{rows}\n"
