"""Setup of a training from a recipe's ``train``: the driver, its material, and its settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from srtk_framework.recipe import Composer, Recipe, Where, structure_fields
from srtk_framework.roles import Expander, Trainable, TrainingPreflight
from srtk_framework.values import close_matches
from srtk_plugin_training.answers import AnswerMaterial
from srtk_plugin_training.graph import GraphMaterial
from srtk_plugin_training.links import LinkMaterial
from srtk_plugin_training.material import Given, Material
from srtk_plugin_training.paths import PathMaterial
from srtk_plugin_training.settings_class import settings_class
from srtk_plugin_training.texts import TextMaterial
from srtk_plugin_training.train_key import Train

# What drivers learn from, by the names that they give in ``learns``.
MATERIALS: Mapping[str, Any] = {
    "paths": PathMaterial,
    "links": LinkMaterial,
    "graph": GraphMaterial,
    "texts": TextMaterial,
    "answers": AnswerMaterial,
}


@attrs.frozen
class Setup:
    """The parts of a training.

    Attributes:
        role: Role of the driver to train.
        driver: Port of the driver to train.
        material: Its material.
        settings: Settings of the driver's ``fit``.
    """

    role: str
    driver: Any
    material: Material
    settings: Any


def setup(composer: Composer, recipe: Recipe, train: Train, expander: Expander | None) -> Setup | None:
    """Build the parts of a training; problems are added to ``composer.problems``.

    Args:
        composer: Composer that builds the drivers.
        recipe: The recipe.
        train: The recipe's ``train``.
        expander: The main expander, which provides defaults for some settings.

    Returns:
        The parts, or None if there are problems.
    """
    count = len(composer.problems)

    def wrong(where: tuple[str | int, ...], text: str) -> None:
        composer.problems.append(f"{recipe.places.say(where)}: {text}")

    block = recipe.blocks.get(train.driver)
    if block is None:
        wrong(("train",), f"train names the {train.driver}, but the recipe has none; add `{train.driver}: {{use: …}}`")
    driver = composer.build(block) if block else None
    if driver is None or block is None:
        return None
    if not isinstance(driver.driver, Trainable):
        wrong(block.where, f"{block.role} {block.use!r} cannot be trained: it has no fit, save and load")
        return None
    settings = _settings(type(driver.driver), train.fit, expander, wrong)
    if isinstance(driver.driver, TrainingPreflight):
        for text in driver.driver.training_faults():
            wrong(block.where, text)
    learns = getattr(driver.driver, "learns", "")
    if learns not in MATERIALS:
        said = f"its class says that it learns from {learns!r}" if learns else "its class does not say `learns`"
        wrong(
            block.where,
            f"{block.role} {block.use!r} cannot be trained: {said}; drivers learn from {', '.join(MATERIALS)}."
            f"{close_matches(learns, list(MATERIALS))}",
        )
        return None
    for key, text in MATERIALS[learns].refuses.items():
        if getattr(train, key) not in (None, ()):
            wrong(("train", key), text.format(role=block.role, use=block.use))
    material = MATERIALS[learns].of(Given(composer, recipe, train, block, driver, expander, wrong))
    if len(composer.problems) > count or settings is None:
        return None
    return Setup(train.driver, driver, material, settings)


def _settings(cls: type[Any], given: Mapping[str, Any], expander: Expander | None, wrong: Any) -> Any:
    """Structure settings by the annotation of ``fit``'s second argument; some default to the expander's values."""
    kind = settings_class(cls)
    fields = {field.alias: field for field in attrs.fields(kind) if field.init}
    problems: list[tuple[Where, str]] = []
    values = structure_fields(given, fields, "fit", lambda where, text: problems.append((where, text)))
    for where, text in problems:
        wrong(("train", "fit", *where), text)
    fine = not problems
    shared = {} if expander is None else _with_search(expander.settings())
    for name, field in fields.items():
        if field.metadata.get("as") == "expander" and name not in values and name in shared:
            values[name] = shared[name]
        elif field.default is attrs.NOTHING and name not in given:
            fine = False
            wrong(("train", "fit"), f"fit needs the setting {name!r}")
    if not fine:
        return None
    try:
        return kind(**values)
    except (TypeError, ValueError) as error:
        wrong(("train", "fit"), f"fit: {error}")
        return None


def _with_search(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return an expander's settings, and beside them the settings of its block ``search``."""
    block: Any = settings.get("search")
    return {**(attrs.asdict(block, recurse=False) if attrs.has(type(block)) else {}), **settings}
