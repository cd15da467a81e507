"""Compose what a recipe's ``train`` names: the driver that learns, its supervision, questions and settings."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from srtk_framework.errors import close_matches
from srtk_framework.parts import part_of
from srtk_framework.recipe import Block, Recipe, Train
from srtk_framework.settings import SettingsError, structure
from srtk_framework.specs import Expander, Supervision, Trainable

if TYPE_CHECKING:
    from srtk_framework.composing import Composer


@attrs.frozen
class Setup:
    """A training, ready to begin.

    Attributes:
        role: Role of the driver that learns.
        driver: That driver, behind its port.
        supervision: Finds the paths of the questions.
        questions: A file, or a dataset.
        validation: A file, a dataset, a share of the questions, or None.
        settings: Of the training, as the driver's ``fit`` wants them.
    """

    role: str
    driver: Any
    supervision: Supervision
    questions: Any
    validation: Any
    settings: Any


def setup(composer: Composer, recipe: Recipe, train: Train, expander: Expander | None) -> Setup | None:
    """Build the parts of a training; what is wrong is added to the composer's problems.

    Args:
        composer: Builds the drivers.
        recipe: The recipe.
        train: Its key ``train``.
        expander: The main one, some settings of which the training shares.
    """
    count = len(composer.problems)

    def wrong(where: tuple[str | int, ...], text: str) -> None:
        composer.problems.append(f"{recipe.places.say(where)}: {text}")

    block = recipe.blocks.get(train.driver)
    if block is None:
        wrong(
            ("train",), f"the {train.driver} is to learn, but the recipe gives none; add `{train.driver}: {{use: …}}`"
        )
    driver = composer.build(block) if block else None
    settings = None
    if driver is not None and block is not None:
        if isinstance(driver.driver, Trainable):
            settings = _settings(type(driver.driver), train.fit, expander, wrong)
        else:
            wrong(block.where, f"{block.role} {block.use!r} cannot be trained: it has no fit, save and load")
    named = train.supervision or recipe.blocks.get("supervision")
    if named is None:
        wrong(("train",), "train needs `supervision:`, such as {use: gold-path} or {use: shortest-path}")
    supervision = composer.build(named) if named else None
    questions = _source(composer, train.questions)
    validation = train.validation if isinstance(train.validation, float) else _source(composer, train.validation)
    if validation is not None and expander is None and not any(b.role == "expander" for b in recipe.blocks.values()):
        wrong(("train", "validation"), "validation runs the recipe's expander, and there is none; add `expander: …`")
    if len(composer.problems) > count or settings is None or supervision is None:
        return None
    return Setup(train.driver, driver, supervision, questions, validation, settings)


def _source(composer: Composer, named: str | Block | None) -> Any:
    return part_of(composer.build(named), named.part) if isinstance(named, Block) else named


def _settings(cls: type[Any], given: Mapping[str, Any], expander: Expander | None, wrong: Any) -> Any:
    """Structure the settings by the annotation of ``fit``'s second argument; some follow the expander's."""
    kind = settings_class(cls)
    fields = {field.alias: field for field in attrs.fields(kind) if field.init}
    values: dict[str, Any] = {}
    fine = True
    for key, value in given.items():
        if key not in fields:
            fine = False
            known = ", ".join(sorted(fields))
            text = f"fit has no setting {key!r}; it has {known}.{close_matches(str(key), sorted(fields))}"
            wrong(("train", "fit", key), text)
            continue
        try:
            values[key] = structure(value, fields[key].type)
        except SettingsError as error:
            fine = False
            for where, text in error.problems:
                wrong(("train", "fit", key, *where), f"{key}: {text}")
    searching = getattr(expander, "driver", expander)
    for name, field in fields.items():
        if field.metadata.get("as") == "expander" and name not in values and hasattr(searching, name):
            values[name] = getattr(searching, name)
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


def settings_class(cls: type[Any]) -> Any:
    """Return the attrs class that annotates the second argument of a driver's ``fit``, types resolved."""
    name = list(inspect.signature(cls.fit).parameters)[2]
    kind = typing.get_type_hints(cls.fit)[name]
    attrs.resolve_types(kind)
    return kind
