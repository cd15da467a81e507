"""Model cards: the data, settings, metrics and versions of a training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml


def card(recipe: str, written: Mapping[str, Any], training: Mapping[str, Any]) -> str:
    """Return a model card in Markdown, with the YAML header of model hubs.

    Args:
        recipe: Name of the recipe's file.
        written: The recipe as written, with secrets and variables not substituted.
        training: Content of ``training.json``.
    """
    role, counts = training["driver"]["role"], training["counts"]
    lacking, validated = f" ({counts['pathless']} without a path between topic and answer)", "chose the best weights"
    if role == "entity_linker":
        lacking, validated = "", "checked the weights"
    parts = [
        "---\ntags: [srtk-framework, knowledge-graph, retrieval]\npipeline_tag: feature-extraction\n---\n",
        f"# {role} trained by {recipe}\n",
        f"Trained on {counts['lessons']} of {counts['questions']} questions{lacking};"
        f" {counts['validation']} others {validated}.\n",
        f"Use in a recipe: `{_use(role, training['driver']['name'])}`.\n",
        _table("Metrics of the best weights", training["figures"]),
        _table("Settings", training["settings"]),
        _table("Data (SHA-256 of the questions)", training["data"]),
        _table("Versions", {**training["versions"], **training["libraries"]}),
        f"Seed {training['seed']}, fingerprint `{training['fingerprint']}`.\n",
        f"Fingerprint of the driver before training: `{training['driver']['fingerprint']}`.\n",
        f"Supervision: `{training['supervision']}`.\n",
        f"## Recipe\n\n```yaml\n{yaml.safe_dump(dict(written), sort_keys=False, allow_unicode=True)}```\n",
    ]
    return "\n".join(parts)


def _use(role: str, name: str) -> str:
    """Return the recipe line that uses the model; the trained part of a path scorer is its encoder."""
    if role == "path_scorer":
        return "encoder: {use: transformers, model: FOLDER}"
    return f"{role}: {{use: {name}, model: FOLDER}}"


def _table(title: str, values: Mapping[str, Any]) -> str:
    rows = "\n".join(f"| {name} | {value} |" for name, value in values.items())
    return f"## {title}\n\n| | |\n| --- | --- |\n{rows}\n"
