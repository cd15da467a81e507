"""Read a recipe: YAML with the place of every value, variables filled in, all mistakes told at once."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import yaml

from srtk_framework.errors import RecipeError, close_matches
from srtk_framework.settings import SettingsError, Where, structure
from srtk_framework.specs import ROLES
from srtk_framework.types import Budget

VERSION = 1
_VARIABLE = re.compile(r"\$\{(\w+)\}")


@attrs.frozen
class Block:
    """One driver as a recipe names it.

    Attributes:
        role: Role that it plays.
        use: Name of the driver.
        settings: Its other keys, as written, variables filled in.
        where: Keys that lead to it in the recipe.
    """

    role: str
    use: str
    settings: Mapping[str, Any] = attrs.field(hash=False)
    where: Where = ()


@attrs.define
class Options:
    """The keys of a recipe that are not drivers.

    Attributes:
        output: Folder for the run's own files; ``out/<name of the recipe>`` by default.
        batch: Questions that are handled together; does not change the results.
        limit: Only the first so many questions.
        relink: Link also those questions that bring their own ``question_entities``.
        seed: Seed of everything random.
        budget: Limits per question.
        description: Free text.
    """

    output: str | None = None
    batch: int = 32
    limit: int | None = None
    relink: bool = False
    seed: int = 0
    budget: Budget = attrs.field(factory=Budget)
    description: str = ""


@attrs.define
class Recipe:
    """A recipe, read and checked as far as that is possible without loading a plugin.

    Attributes:
        file: Where it was read from, for messages.
        written: The data as written, with ``--set`` applied but secrets and variables not filled in.
        options: The keys that are not drivers.
        blocks: Driver of each role given at the top level.
        named: Drivers given by name, as in ``encoders: {text: ...}``.
        exporters: In order.
        observers: In order.
        questions: A path, or a Dataset block, or None (for use as a library).
        against: Expanders to compare with; None where no evaluation is wanted.
        places: Where each value stands.
        problems: What is wrong so far, with its place; composing adds what it finds and raises all.
    """

    file: str
    written: Mapping[str, Any]
    options: Options
    blocks: dict[str, Block]
    named: dict[str, dict[str, Block]]
    exporters: list[Block]
    observers: list[Block]
    questions: str | Block | None
    against: list[Block] | None
    places: Places
    problems: list[str] = attrs.field(factory=list)

    def check(self) -> None:
        """Raise the problems found while reading as one RecipeError."""
        if self.problems:
            raise RecipeError(self.problems)

    @property
    def output(self) -> Path:
        """Folder for the run's own files."""
        return Path(self.options.output or Path("out") / Path(self.file).stem)


@attrs.define
class Places:
    """Knows where in which file each value of a recipe stands."""

    file: str
    marks: dict[Where, tuple[int, int]] = attrs.field(factory=dict)
    overridden: dict[Where, str] = attrs.field(factory=dict)

    def say(self, where: Where) -> str:
        """Write ``file:line:column`` of the value, or of the nearest one that holds it."""
        for end in range(len(where), -1, -1):
            if where[:end] in self.overridden:
                return self.overridden[where[:end]]
            if where[:end] in self.marks:
                line, column = self.marks[where[:end]]
                return f"{self.file}:{line}:{column}"
        return self.file


def load(path: str | Path, overrides: Sequence[str] = ()) -> Recipe:
    """Read a recipe from a file.

    Args:
        path: YAML file.
        overrides: ``key.path=value`` each, the value as YAML.

    Raises:
        RecipeError: If the file cannot be read, is not YAML, or an override cannot be applied. What is wrong inside
            of the recipe stands in its ``problems``, so that it can be told together with what composing finds.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise RecipeError([f"{path}: there is no such recipe"]) from error
    except (OSError, UnicodeDecodeError) as error:
        raise RecipeError([f"{path}: cannot be read: {error}"]) from error
    return parse(text, str(path), overrides)


def parse(text: str, file: str = "recipe", overrides: Sequence[str] = ()) -> Recipe:
    """Read a recipe from YAML text; see ``load``."""
    places = Places(file)
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        at = f"{file}:{mark.line + 1}:{mark.column + 1}" if mark else file
        raise RecipeError([f"{at}: this is not YAML: {error.problem or error.context}"]) from error
    problems: list[str] = []
    data = _plain(node, (), places, problems) if node is not None else {}
    if not isinstance(data, dict):
        raise RecipeError([f"{places.say(())}: a recipe is a mapping with `srtk: {VERSION}` and the drivers to use"])
    for override in overrides:
        _override(data, override, places, problems)
    if problems:
        raise RecipeError(problems)
    return from_data(data, places)


def from_data(data: Mapping[str, Any], places: Places | None = None) -> Recipe:
    """Build a recipe from plain data, as the short commands do; see ``load``."""
    places = places or Places("recipe")
    problems: list[str] = []
    variables = _variables(data.get("vars", {}), places, problems)
    filled = {key: _filled(value, variables, (key,), places, problems) for key, value in data.items() if key != "vars"}
    recipe = _sorted_out(filled, data, places, problems)
    recipe.problems = problems
    return recipe


def _plain(node: yaml.Node, where: Where, places: Places, problems: list[str]) -> Any:
    """Turn a YAML node into plain data, noting where each value stands."""
    places.marks[where] = (node.start_mark.line + 1, node.start_mark.column + 1)
    if isinstance(node, yaml.MappingNode):
        result: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            key = _plain(key_node, (*where, "?"), places, problems)
            if not isinstance(key, str | int) or isinstance(key, bool):
                problems.append(f"{places.say((*where, '?'))}: key {key!r} must be text; put it in quotes")
                continue
            if key in result:
                problems.append(f"{places.say((*where, '?'))}: key {key!r} stands twice in this mapping")
            result[key] = _plain(value_node, (*where, key), places, problems)
            places.marks[(*where, key)] = (key_node.start_mark.line + 1, key_node.start_mark.column + 1)
        return result
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item, (*where, i), places, problems) for i, item in enumerate(node.value)]
    try:
        return yaml.SafeLoader("").construct_object(node, deep=True)
    except (yaml.YAMLError, ValueError) as error:
        problems.append(f"{places.say(where)}: {error}")
        return None


def _override(data: dict[str, Any], override: str, places: Places, problems: list[str]) -> None:
    """Apply one ``key.path=value``; list items are named by their number."""
    at = f"--set {override}"
    path, equals, text = override.partition("=")
    if not equals or not path:
        problems.append(f"{at}: write --set key.path=value")
        return
    try:
        value = yaml.safe_load(text) if text else ""
    except yaml.YAMLError:
        value = text
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


def _variables(data: Any, places: Places, problems: list[str]) -> dict[str, Any]:
    if not isinstance(data, Mapping):
        problems.append(f"{places.say(('vars',))}: vars is a mapping from name to value")
        return {}
    return {str(key): _filled(value, {}, ("vars", key), places, problems) for key, value in data.items()}


def _filled(value: Any, variables: Mapping[str, Any], where: Where, places: Places, problems: list[str]) -> Any:
    """Fill in ``${name}`` from ``vars`` and ``{env: NAME, default: ...}`` from the environment."""
    if isinstance(value, Mapping):
        if "env" in value and set(value) <= {"env", "default"}:
            name = value["env"]
            if name in os.environ:
                return os.environ[name]
            if "default" in value:
                return value["default"]
            problems.append(f"{places.say(where)}: environment variable {name} is not set; set it, or give a default")
            return None
        return {key: _filled(item, variables, (*where, key), places, problems) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, variables, (*where, i), places, problems) for i, item in enumerate(value)]
    if not isinstance(value, str):
        return value
    for name in _VARIABLE.findall(value):
        if name not in variables:
            known = sorted(variables)
            problems.append(
                f"{places.say(where)}: variable {name!r} is not in vars"
                f" ({', '.join(known) or 'there are none'}).{close_matches(name, known)}"
            )
    whole = _VARIABLE.fullmatch(value)
    if whole and whole[1] in variables:
        return variables[whole[1]]
    return _VARIABLE.sub(lambda found: str(variables.get(found[1], found[0])), value)


def _sorted_out(data: Mapping[str, Any], written: Mapping[str, Any], places: Places, problems: list[str]) -> Recipe:
    """Tell drivers from options, and refuse what is neither."""
    if data.get("srtk") != VERSION:
        problems.append(f"{places.say(('srtk',))}: a recipe starts with `srtk: {VERSION}`, the version of its form")
    singular = [role for role in ROLES if role not in ("exporter", "dataset")]
    plural = {role + "s": role for role in singular}
    lists = {"exporters": "exporter", "observers": "observer"}
    option_keys = [field.name for field in attrs.fields(Options)]
    known = ["srtk", "vars", "questions", "evaluate", *singular, *plural, *lists, *option_keys]
    recipe = Recipe(places.file, dict(written), Options(), {}, {}, [], [], None, None, places)
    options = {}
    for key, value in data.items():
        if key in option_keys:
            options[key] = value
        elif key in singular:
            block = _block(key, value, (key,), places, problems)
            if block:
                recipe.blocks[key] = block
        elif key in plural:
            recipe.named[plural[key]] = _named(plural[key], value, (key,), places, problems)
        elif key in lists:
            _fill_list(getattr(recipe, key), lists[key], value, (key,), places, problems)
        elif key not in known:
            problems.append(f"{places.say((key,))}: unknown key {key!r}.{close_matches(str(key), known)}")
    recipe.options = _options(options, places, problems)
    questions = data.get("questions")
    if isinstance(questions, Mapping):
        recipe.questions = _block("dataset", questions, ("questions",), places, problems)
    elif questions is None or isinstance(questions, str):
        recipe.questions = questions
    else:
        problems.append(f"{places.say(('questions',))}: questions is a file name, `-`, or a mapping with `use`")
    recipe.against = _against(data.get("evaluate"), places, problems)
    return recipe


def _options(data: Mapping[str, Any], places: Places, problems: list[str]) -> Options:
    try:
        options = structure(data, Options)
    except SettingsError as error:
        problems.extend(f"{places.say(where)}: {text}" for where, text in error.problems)
        return Options()
    if options.batch < 1:
        problems.append(f"{places.say(('batch',))}: batch must be at least 1, not {options.batch}")
    return options


def _block(role: str, value: Any, where: Where, places: Places, problems: list[str]) -> Block | None:
    if isinstance(value, str):
        value = {"use": value}
    if not isinstance(value, Mapping) or not isinstance(value.get("use"), str):
        problems.append(f"{places.say(where)}: a {role} is written as {{use: NAME, setting: value, ...}}")
        return None
    return Block(role, value["use"], {key: item for key, item in value.items() if key != "use"}, where)


def _named(role: str, value: Any, where: Where, places: Places, problems: list[str]) -> dict[str, Block]:
    if not isinstance(value, Mapping):
        problems.append(f"{places.say(where)}: {where[0]} is a mapping from a name of yours to {{use: NAME, ...}}")
        return {}
    blocks = {str(name): _block(role, item, (*where, name), places, problems) for name, item in value.items()}
    return {name: block for name, block in blocks.items() if block}


def _fill_list(target: list[Block], role: str, value: Any, where: Where, places: Places, problems: list[str]) -> None:
    if not isinstance(value, list):
        problems.append(f"{places.say(where)}: {where[-1]} is a list of {{use: NAME, ...}}")
        return
    for i, item in enumerate(value):
        block = _block(role, item, (*where, i), places, problems)
        if block:
            target.append(block)


def _against(value: Any, places: Places, problems: list[str]) -> list[Block] | None:
    if value is None or value is False:
        return None
    if value is True:
        return []
    against: list[Block] = []
    if not isinstance(value, Mapping) or not set(value) <= {"against"}:
        problems.append(f"{places.say(('evaluate',))}: evaluate is true, or {{against: [{{use: NAME}}, ...]}}")
        return against
    _fill_list(against, "expander", value.get("against", []), ("evaluate", "against"), places, problems)
    return against


def block_in(role: str, value: Any, where: Where) -> Block | None:
    """Read a driver that stands inside another one's block; None where the value is no block."""
    if isinstance(value, Mapping) and isinstance(value.get("use"), str):
        return Block(role, value["use"], {key: item for key, item in value.items() if key != "use"}, where)
    return None
