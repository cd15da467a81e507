"""Blocks: drivers as a recipe names them, read with the place of each mistake."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import attrs

from srtk_framework.recipe.settings import Where, structure
from srtk_framework.recipe.yaml_source import Places
from srtk_framework.records.splits import Part
from srtk_framework.roles import Role
from srtk_framework.values import SettingsError, close_matches, shortened

_T = TypeVar("_T")


@attrs.frozen
class Block:
    """One driver as a recipe names it.

    Attributes:
        role: Role of the driver.
        use: Name of the driver.
        settings: The other keys of the block, with variables substituted.
        where: Keys that lead to the block in the recipe.
        part: Part of a dataset to read; None for the whole.
        given: A driver object, a driver class or a networkx graph in place of a name; else None.
    """

    role: str
    use: str
    settings: Mapping[str, Any] = attrs.field(hash=False)
    where: Where = ()
    part: Part | None = None
    given: Any = attrs.field(default=None, eq=id, hash=False)

    @property
    def name(self) -> str:
        """Name of the driver in messages and results: the class, where ``use`` is ``module:Class``."""
        return self.use.rpartition(":")[2]


class Blocks:
    """Reads drivers and settings out of a recipe's values, and notes each mistake with its place.

    Args:
        places: Place of each value.
        problems: Takes the mistakes.
        roles: Roles with a key for a single driver at the top level.
    """

    def __init__(self, places: Places, problems: list[str], roles: Sequence[str] = ()) -> None:
        self.places = places
        self.problems = problems
        self.roles = roles

    def wrong(self, where: Where, text: str) -> None:
        """Note a mistake.

        Args:
            where: Keys that lead to it in the recipe.
            text: A sentence on the mistake and its remedy.
        """
        self.problems.append(f"{self.places.say(where)}: {text}")

    def known(self, value: Mapping[str, Any], keys: Sequence[str], where: Where, of: str = "") -> None:
        """Note each unknown key of a mapping; ``of`` names the mapping."""
        for key in value:
            if key not in keys:
                text = f"unknown key {shortened(repr(key))}{of}.{close_matches(key, keys)}"
                self.wrong((*where, key), text)

    def structured(self, value: Any, cls: type[_T], where: Where, owner: str = "") -> _T | None:
        """Make an attrs class of a mapping; None where that has a mistake.

        Args:
            value: The mapping.
            cls: The attrs class.
            where: Keys that lead to the mapping.
            owner: Owner of the settings, for messages.
        """
        try:
            return structure(value, cls)
        except SettingsError as error:
            start = f"{owner}: " if owner else ""
            for inner, text in error.problems:
                self.wrong((*where, *inner), f"{start}{text}")
            return None

    def block(self, role: str, value: Any, where: Where) -> Block | None:
        """Read one driver."""
        if isinstance(value, str):
            value = {"use": value}
        block = block_in(role, value, where)
        if block is None:
            self.wrong(where, f"{with_article(role)} is written as {{use: NAME, setting: value, ...}}")
            return None
        if role != "dataset" or "part" not in block.settings:
            return block
        settings = dict(block.settings)
        part = self._part(settings.pop("part"), (*where, "part"))
        return attrs.evolve(block, settings=settings, part=part)

    def listed(self, role: str, value: Any, where: Where) -> list[Block]:
        """Read a list of drivers."""
        if not isinstance(value, list):
            self.wrong(where, f"{where[-1]} is a list of {{use: NAME, ...}}")
            return []
        blocks = [self.block(role, item, (*where, i)) for i, item in enumerate(value)]
        return [block for block in blocks if block]

    def named(self, role: str, value: Any, where: Where) -> dict[str, Block]:
        """Read drivers with names of the recipe's own."""
        if not isinstance(value, Mapping):
            self.wrong(where, f"{where[0]} is a mapping from a name of yours to {{use: NAME, ...}}")
            return {}
        blocks = {str(name): self.block(role, item, (*where, name)) for name, item in value.items()}
        return {name: block for name, block in blocks.items() if block}

    def questions(self, value: Any, where: Where) -> str | Block | None:
        """Read the name of a file of questions, or a dataset."""
        if isinstance(value, Mapping | Role):
            return self.block("dataset", value, where)
        if value is not None and not isinstance(value, str):
            self.wrong(where, f"{where[-1]} is a file name, `-`, or a mapping with `use`")
            return None
        return value

    def _part(self, value: Any, where: Where) -> Part | None:
        if isinstance(value, list):
            value = {"between": value}
        if isinstance(value, Mapping):
            return self.structured(value, Part, where, "part")
        text = "part is written as [0.0, 0.5], or as {between: [0.0, 0.5], by: text, seed: 0, outside: false, limit: 9}"
        self.wrong(where, text)
        return None


def block_in(role: str, value: Any, where: Where) -> Block | None:
    """Read one driver of a recipe; None if the value is not a driver.

    Args:
        role: Role of the driver.
        value: A mapping with ``use``, the name of a driver or its class; a driver object; a networkx graph.
        where: Keys that lead to the value in the recipe.
    """
    if isinstance(value, Mapping):
        use = value.get("use")
        settings = {key: item for key, item in value.items() if key != "use"}
        if isinstance(use, str):
            return Block(role, use, settings, where)
        return Block(role, use.__name__, settings, where, given=use) if isinstance(use, type) else None
    if is_networkx(value):
        return Block(role, "memory", {}, where, given=value)
    return Block(role, type(value).__name__, {}, where, given=value) if isinstance(value, Role) else None


def with_article(role: str) -> str:
    """Prefix a role's name with its article."""
    return f"{'an' if role[0] in 'aeiou' else 'a'} {role}"


def is_networkx(value: Any) -> bool:
    """Return whether a value is a networkx graph, without importing networkx."""
    return any(cls.__module__ == "networkx.classes.graph" for cls in type(value).__mro__)
