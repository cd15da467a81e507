"""Setup of a training from a recipe's ``train``: the driver, its supervision, questions and settings."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from srtk_framework.host.ports import driver_of
from srtk_framework.recipe.recipe import Block, Recipe, Train
from srtk_framework.recipe.settings import Where, structure_fields
from srtk_framework.records.splits import part_of
from srtk_framework.roles import Expander, Role, Supervision, Trainable, TrainingPreflight

if TYPE_CHECKING:
    from srtk_framework.recipe.composer import Composer


@attrs.frozen
class Setup:
    """The parts of a training.

    Attributes:
        role: Role of the driver to train.
        driver: Port of the driver to train.
        supervision: Driver that finds paths for the questions; None for a linker, which is trained on gold links.
        questions: A file or a dataset.
        validation: A file, a dataset, a share of the questions, or None.
        settings: Settings of the driver's ``fit``.
    """

    role: str
    driver: Any
    supervision: Supervision | None
    questions: Any
    validation: Any
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
    settings = None
    if driver is not None and block is not None:
        if isinstance(driver.driver, Trainable):
            settings = _settings(type(driver.driver), train.fit, expander, wrong)
            if isinstance(driver.driver, TrainingPreflight):
                for text in driver.driver.training_faults():
                    wrong(block.where, text)
        else:
            wrong(block.where, f"{block.role} {block.use!r} cannot be trained: it has no fit, save and load")
    searches = expander is not None and train.driver != "entity_linker"
    if driver is not None and block is not None and searches and not _holds(expander, driver.driver):
        wrong(block.where, f"the main expander does not use this {block.role}, so training it has no effect")
    links = train.driver == "entity_linker"
    named = None if links else train.supervision or recipe.blocks.get("supervision")
    if links and train.supervision is not None:
        wrong(("train", "supervision"), "a linker is trained on gold links, not on paths; omit supervision")
    if named is None and not links:
        wrong(("train",), "train needs `supervision:`, such as {use: gold-path} or {use: shortest-path}")
    supervision = composer.build(named) if named else None
    questions = _source(composer, train.questions)
    _check_parts(recipe.questions, train.questions, wrong)
    validation = train.validation if isinstance(train.validation, float) else _source(composer, train.validation)
    searching = expander is not None or any(b.role == "expander" for b in recipe.blocks.values())
    if validation is not None and not links and not searching:
        wrong(("train", "validation"), "validation needs an expander, but the recipe has none; add `expander: …`")
    if len(composer.problems) > count or settings is None:
        return None
    return Setup(train.driver, driver, supervision, questions, validation, settings)


def held_by(*drivers: Any) -> list[Any]:
    """List drivers (or ports) and all drivers within them, outer ones first."""
    found: list[Any] = []
    waiting = [one for one in drivers if one is not None]
    while waiting:
        one = waiting.pop(0)
        found.append(one)
        if isinstance(one, Role):
            lists = [value if isinstance(value, list | tuple) else [value] for value in one.settings().values()]
            waiting += [value for row in lists for value in row if isinstance(value, Role)]
    return found


def _holds(driver: Any, wanted: Any) -> bool:
    """Return whether a driver, or one within it, is the wanted driver."""
    return any(driver_of(one) is wanted for one in held_by(driver))


def _check_parts(asked: Any, training: Any, wrong: Any) -> None:
    """Refuse parts by relation path of two different datasets: the parts of a path depend on the whole dataset."""
    blocks = [block for block in (asked, training) if isinstance(block, Block)]
    if len(blocks) < 2 or any(block.part is None or block.part.by != "relation-path" for block in blocks):
        return
    one, other = ((block.use, dict(block.settings), block.part.seed) for block in blocks if block.part is not None)
    if one != other:
        names = sorted(key for key in {*one[1], *other[1]} if one[1].get(key) != other[1].get(key))
        differ = ", ".join(names) or "use, or seed of the part"
        wrong(
            training.where,
            "parts by relation-path are disjoint only within one dataset; give the training questions and the"
            f" questions of the run the same settings except for `part` and `limit` (they differ in {differ})",
        )


def _source(composer: Composer, named: str | Block | None) -> Any:
    return part_of(composer.build(named), named.part) if isinstance(named, Block) else named


def _settings(cls: type[Any], given: Mapping[str, Any], expander: Expander | None, wrong: Any) -> Any:
    """Structure settings by the annotation of ``fit``'s second argument; some default to the expander's values."""
    kind = settings_class(cls)
    fields = {field.alias: field for field in attrs.fields(kind) if field.init}
    problems: list[tuple[Where, str]] = []
    values = structure_fields(given, fields, "fit", lambda where, text: problems.append((where, text)))
    for where, text in problems:
        wrong(("train", "fit", *where), text)
    fine = not problems
    shared = {} if expander is None else expander.settings()
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


def settings_class(cls: type[Any]) -> Any:
    """Return the attrs class that annotates the second argument of a driver's ``fit``, with resolved types."""
    name = list(inspect.signature(cls.fit).parameters)[2]
    kind = typing.get_type_hints(cls.fit)[name]
    attrs.resolve_types(kind)
    return kind
