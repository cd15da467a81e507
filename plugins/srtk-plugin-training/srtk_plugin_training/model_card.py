"""Model cards: the data, settings, metrics and versions of a training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from srtk_plugin_training.material import Material


def card(recipe: str, written: Mapping[str, Any], training: Mapping[str, Any], material: Material, reuse: str) -> str:
    """Return a model card in Markdown, with the YAML header of model hubs.

    Args:
        recipe: Name of the recipe's file.
        written: The recipe as written, with secrets and variables not substituted.
        training: Content of ``training.json``.
        material: Material of the training.
        reuse: Line of a recipe that uses the model, as the driver's class gives it; may be empty.
    """
    role, name = training["driver"]["role"], training["driver"]["name"]
    parts = [
        f"---\ntags: [srtk-framework, knowledge-graph, retrieval]\npipeline_tag: {material.pipeline_tag}\n---\n",
        f"# {role} trained by {recipe}\n",
        f"{material.card.format(**training['counts'])}\n",
        f"Use in a recipe: `{reuse or f'{role}: {{use: {name}, model: FOLDER}}'}`.\n",
        _table("Metrics of the best weights", training["figures"]),
        _table("Settings", training["settings"]),
        _table(f"Data (SHA-256 of {material.hashed})", training["data"]),
        _table("Versions", {**training["versions"], **training["libraries"]}),
        f"Seed {training['seed']}, fingerprint `{training['fingerprint']}`.\n",
        f"Fingerprint of the driver before training: `{training['driver']['fingerprint']}`.\n",
        f"Supervision: `{training['supervision']}`.\n",
        f"## Recipe\n\n```yaml\n{yaml.safe_dump(dict(written), sort_keys=False, allow_unicode=True)}```\n",
    ]
    return "\n".join(parts)


def _table(title: str, values: Mapping[str, Any]) -> str:
    rows = "\n".join(f"| {name} | {value} |" for name, value in values.items())
    return f"## {title}\n\n| | |\n| --- | --- |\n{rows}\n"
