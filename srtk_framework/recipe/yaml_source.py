"""Recipes as YAML: the place of every value, overrides, and substitution of variables."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from srtk_framework.recipe.settings import Where
from srtk_framework.text import yaml_data
from srtk_framework.values import InputError, RecipeError, close_matches, shortened
from srtk_framework.values.secrets import is_secret_name, redacted_override

if TYPE_CHECKING:
    import yaml

VARIABLE = re.compile(r"\$\{(\w+)\}")


@attrs.define
class Places:
    """File, line and column of each value of a recipe."""

    file: str
    marks: dict[Where, tuple[int, int]] = attrs.field(factory=dict)
    overridden: dict[Where, str] = attrs.field(factory=dict)

    def say(self, where: Where) -> str:
        """Return ``file:line:column`` of a value, or of the nearest value that contains it."""
        for end in range(len(where), -1, -1):
            if where[:end] in self.overridden:
                return self.overridden[where[:end]]
            if where[:end] in self.marks:
                line, column = self.marks[where[:end]]
                return f"{self.file}:{line}:{column}"
        return self.file


def compose(text: str, file: str) -> yaml.Node | None:
    """Parse the YAML text of a recipe into nodes; None for an empty text.

    Raises:
        RecipeError: With the place, if the text is not YAML or beyond the limits of ``srtk_framework.text.yaml_data``.
    """
    try:
        return yaml_data.compose(text, file, "recipe")
    except InputError as error:
        raise RecipeError([str(error)]) from error


def plain_data(node: yaml.Node, where: Where, places: Places, problems: list[str]) -> Any:
    """Convert a YAML node into plain data, and record the place of each value."""
    import yaml  # a question without a recipe needs none

    places.marks[where] = (node.start_mark.line + 1, node.start_mark.column + 1)
    if isinstance(node, yaml.MappingNode):
        result: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            key = plain_data(key_node, (*where, "?"), places, problems)
            if not isinstance(key, str | int) or isinstance(key, bool):
                problems.append(
                    f"{places.say((*where, '?'))}: key {shortened(repr(key))} must be text; put it in quotes"
                )
                continue
            if key in result:
                problems.append(f"{places.say((*where, '?'))}: key {shortened(repr(key))} occurs twice in this mapping")
            result[key] = plain_data(value_node, (*where, key), places, problems)
            places.marks[(*where, key)] = (key_node.start_mark.line + 1, key_node.start_mark.column + 1)
        return result
    if isinstance(node, yaml.SequenceNode):
        return [plain_data(item, (*where, i), places, problems) for i, item in enumerate(node.value)]
    try:
        return yaml_data.scalar(node)
    except ValueError as error:
        if any(map(is_secret_name, where)):
            problems.append(f"{places.say(where)}: the value of {where[-1]!r} cannot be read; put it in quotes")
        else:
            problems.append(f"{places.say(where)}: {error}")
        return None


def set_value(data: dict[str, Any], override: str, places: Places, problems: list[str]) -> None:
    """Apply one ``key.path=value``; list items are named by their number."""
    at = f"--set {redacted_override(override)}"
    path, equals, text = override.partition("=")
    if not equals or not path:
        problems.append(f"{at}: write --set key.path=value")
        return
    value = _override(text)
    here: Any = data
    keys: list[str | int] = [int(key) if key.isdigit() else key for key in path.split(".")]
    for i, key in enumerate(keys[:-1]):
        if isinstance(here, list) and isinstance(key, int) and key < len(here):
            here = here[key]
        elif isinstance(here, dict):
            here = here.setdefault(key, {})
        if not isinstance(here, dict | list):
            problems.append(
                f"{at}: {'.'.join(map(str, keys[: i + 1]))} is a single value, nothing can be set inside it"
            )
            return
    last = keys[-1]
    if isinstance(here, list) and not (isinstance(last, int) and last < len(here)):
        problems.append(f"{at}: the list has {len(here)} items; name one of them by its number, from 0")
        return
    here[last] = value
    places.overridden[tuple(keys)] = at


def _override(text: str) -> Any:
    """Read the value of an override as YAML, or as text if it is not YAML."""
    try:
        node = compose(text, "--set")
    except RecipeError:
        return text
    problems: list[str] = []
    value = plain_data(node, (), Places("--set"), problems) if node is not None else None
    return text if problems else value if text else ""


def variables_of(data: Any, places: Places, problems: list[str]) -> dict[str, Any]:
    """Read ``vars``: names and their values."""
    if not isinstance(data, Mapping):
        problems.append(f"{places.say(('vars',))}: vars is a mapping from name to value")
        return {}
    return {str(key): filled_in(value, {}, ("vars", key), places, problems) for key, value in data.items()}


def _environment(name: str) -> str | None:
    try:
        return os.environ.get(name)
    except UnicodeEncodeError:
        return None  # the system has no names with such characters


def filled_in(value: Any, variables: Mapping[str, Any], where: Where, places: Places, problems: list[str]) -> Any:
    """Substitute ``${name}`` from ``vars`` and ``{env: NAME, default: ...}`` from the environment."""
    if isinstance(value, Mapping):
        if "env" in value and set(value) <= {"env", "default"}:
            name = value["env"]
            if not isinstance(name, str) or not name:
                given = shortened(repr(name))
                problems.append(f"{places.say((*where, 'env'))}: env is the name of a variable as text, not {given}")
                return None
            found = _environment(name)
            if found is not None:
                return found
            if "default" in value:
                return value["default"]
            problems.append(
                f"{places.say(where)}: environment variable {shortened(name)} is not set; set it, or give a default"
            )
            return None
        return {key: filled_in(item, variables, (*where, key), places, problems) for key, item in value.items()}
    if isinstance(value, list):
        return [filled_in(item, variables, (*where, i), places, problems) for i, item in enumerate(value)]
    if not isinstance(value, str):
        return value
    for name in VARIABLE.findall(value):
        if name not in variables:
            known = sorted(variables)
            problems.append(
                f"{places.say(where)}: variable {shortened(name)!r} is not in vars"
                f" ({', '.join(known) or 'there are none'}).{close_matches(name, known)}"
            )
    whole = VARIABLE.fullmatch(value)
    if whole and whole[1] in variables:
        return variables[whole[1]]
    return VARIABLE.sub(lambda found: str(variables.get(found[1], found[0])), value)
