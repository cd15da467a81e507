"""Recipes: read from YAML or a mapping, with all mistakes reported at once."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from srtk_framework.host.discovery import RECIPE_KEYS, ROLE, find, name_problem, role_class, role_names
from srtk_framework.recipe.blocks import Block, Blocks, is_networkx
from srtk_framework.recipe.stage import Stage, load_stage, missing_stage, named_faults, no_stage_called, stage_keys
from srtk_framework.recipe.yaml_source import Places, compose, filled_in, plain_data, set_value, variables_of
from srtk_framework.roles import ROLES, Role
from srtk_framework.text.yaml_data import MAX_DEPTH
from srtk_framework.values import (
    Budget,
    PluginError,
    RecipeError,
    RunError,
    at_least,
    close_matches,
    note_secrets,
    redacted,
    redacted_data,
    secrets_in,
    shortened,
)

VERSION = 1
DEFAULT_TRIPLES = 50
"""Triples of a question where the recipe's `budget` gives no number; `triples: null` is no limit."""

PATH_KEY = re.compile(r"(?:^|_)(?:path|paths|file|files|folder|cache|output|questions|record|replay)$")
"""Settings, of whatever driver, that name files or folders, such as ``rules_file``."""

_FILE_OR_NAME = frozenset(
    (
        *("labels", "aliases", "names", "ids", "journal", "patterns", "forms", "templates", "choice", "model", "hide"),
        *("validation", "against"),
    )
)
"""Settings whose value may be a file or something else."""


@attrs.define
class Options:
    """The keys of a recipe that are not drivers.

    Attributes:
        output: Folder for the run's own files; ``out/<name of the recipe>`` by default.
        batch: Number of questions in a batch; does not change the results.
        limit: Number of questions to run, counted from the first; None for all.
        relink: Whether questions that bring their own ``question_entities`` are linked as well.
        seed: Seed of all random numbers.
        budget: Limits per question; at most ``DEFAULT_TRIPLES`` triples where the recipe gives no number of triples.
        description: Free text.
    """

    output: str | None = None
    batch: int = attrs.field(default=32, validator=at_least(1))
    limit: int | None = attrs.field(default=None, validator=at_least(1, "omit it for all questions"))
    relink: bool = False
    seed: int = 0
    budget: Budget = attrs.field(factory=Budget)
    description: str = ""


@attrs.define
class Recipe:
    """A recipe, read and checked as far as possible without loading a driver.

    Attributes:
        file: Where it was read from, for messages.
        written: The data as written, with ``--set`` applied, variables not substituted, and secrets masked.
        options: The keys that are not drivers.
        blocks: Driver of each role given at the top level.
        named: Drivers given by name, as in ``encoders: {text: ...}``.
        listed: Drivers of the roles that a recipe lists, such as ``exporters``, by role, in order.
        observers: In order.
        questions: A path, or a Dataset block, or None (for use as a library).
        places: Place of each value.
        problems: Mistakes so far, with their places; the composer adds its own and raises all.
        stages: Steps of the run beside retrieval that the recipe asks for, by key.
        data: The data of which it was made, with the objects in it.
    """

    file: str
    written: Mapping[str, Any]
    options: Options
    blocks: dict[str, Block]
    named: dict[str, dict[str, Block]]
    listed: dict[str, list[Block]]
    observers: list[Block]
    questions: str | Block | None
    places: Places
    problems: list[str] = attrs.field(factory=list)
    stages: dict[str, Stage] = attrs.field(factory=dict)
    data: Mapping[str, Any] = attrs.field(factory=dict, repr=False)

    def portable(self) -> dict[str, Any]:
        """Return the data of which another process can make this recipe: plain data, which names secrets at most.

        Raises:
            RunError: Naming a live object, or a secret that stands in the recipe itself.
        """
        if (where := _difference(_plain(self.data), self.data)) is not None:
            raise RunError(f"{where} holds an object that cannot travel to another process; name a driver instead")
        if (where := _difference(self.written, self.data)) is not None:
            raise RunError(f"{where} holds a secret, which does not travel; write `{{env: NAME}}` in its place")
        return dict(self.data)

    @property
    def exporters(self) -> list[Block]:
        """The exporters, in order."""
        return self.listed.get("exporter", [])

    def check(self) -> None:
        """Raise the problems found while reading as one RecipeError."""
        if self.problems:
            raise RecipeError(self.problems)

    @property
    def folder(self) -> Path:
        """Folder of the recipe's file; the current folder if the recipe was not read from a file."""
        return Path(self.file).parent

    @property
    def output(self) -> Path:
        """Folder for the run's own files."""
        return Path(self.options.output or Path("out") / Path(self.file).stem)


def load(path: str | Path, overrides: Sequence[str] = ()) -> Recipe:
    """Read a recipe from a file.

    Args:
        path: YAML file.
        overrides: ``key.path=value`` each, the value as YAML.

    Raises:
        RecipeError: If the file cannot be read, is not YAML, or an override cannot be applied. Mistakes inside the
            recipe go into its ``problems``, to be raised together with those that the composer finds.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise RecipeError([f"{path}: there is no such recipe"]) from error
    except (OSError, ValueError) as error:  # not UTF-8, or a name that no file can have
        raise RecipeError([f"{path}: cannot be read: {error}"]) from error
    return parse(text, str(path), overrides)


def parse(text: str, file: str = "recipe", overrides: Sequence[str] = ()) -> Recipe:
    """Read a recipe from YAML text; see ``load``."""
    places = Places(file)
    node = compose(text, file)
    problems: list[str] = []
    data = plain_data(node, (), places, problems) if node is not None else {}
    if not isinstance(data, dict):
        raise RecipeError([f"{places.say(())}: a recipe is a mapping with `srtk: {VERSION}` and the drivers to use"])
    return _overridden(data, overrides, places, problems)


def from_data(data: Mapping[str, Any], places: Places | None = None) -> Recipe:
    """Build a recipe from plain data, as the short commands do; see ``load``."""
    places = places or Places("recipe")
    problems: list[str] = []
    variables = variables_of(data.get("vars", {}), places, problems)
    filled = {
        key: filled_in(value, variables, (key,), places, problems) for key, value in data.items() if key != "vars"
    }
    note_secrets(secrets_in(filled))
    note_secrets(secrets_in(_plain(data)))
    recipe = _sorted_out(filled, data, places, problems)
    recipe.problems = [redacted(problem) for problem in problems]
    return recipe


@attrs.frozen
class _RoleKeys:
    """The keys of a recipe that hold drivers.

    Attributes:
        single: Roles with a single driver at the top level, under the name of the role.
        named: Plural to such a role; its drivers have names of the recipe's own.
        listed: Plural to a role that the top level lists.
        problems: Reasons why roles of other distributions cannot be used.
    """

    single: list[str]
    named: dict[str, str]
    listed: dict[str, str]
    problems: list[str]

    @classmethod
    def of(cls, roles: Mapping[str, type[Role]], problems: Sequence[str] = ()) -> _RoleKeys:
        """Collect the keys of some roles."""
        own = {name: role for name, role in roles.items() if role.top_level}
        single = {name: role for name, role in own.items() if not role.several}
        listed = {role.plural: name for name, role in own.items() if role.several}
        return cls(list(single), {role.plural: name for name, role in single.items()}, listed, list(problems))

    @classmethod
    def for_keys(cls, keys: Sequence[str]) -> _RoleKeys:
        """Collect the keys of the framework's roles, and of other distributions' if some key is not among them."""
        keys_ = cls.of(ROLES)
        if set(keys) <= {*keys_.single, *keys_.named, *keys_.listed}:
            return keys_
        roles = dict(ROLES)
        problems = [problem for plugin in find(ROLE) if plugin.name in ROLES and (problem := name_problem(plugin))]
        for name in role_names():
            try:
                roles[name] = role_class(name)
            except PluginError as error:
                problems.append(str(error))
        return cls.of(roles, problems)


def from_mapping(data: Mapping[str, Any], overrides: Sequence[str] = ()) -> Recipe:
    """Build a recipe from a mapping, which may hold driver objects; the mapping is not changed.

    Args:
        data: Content of a recipe. A driver object, or a driver class as the value of ``use``, may take the place of
            a name, and a networkx graph for the graph.
        overrides: ``key.path=value`` each, the value as YAML.

    Raises:
        RecipeError: If an override cannot be applied.
    """
    return _overridden(_copied(data), overrides, Places("recipe"), [])


def _overridden(data: dict[str, Any], overrides: Sequence[str], places: Places, problems: list[str]) -> Recipe:
    """Build a recipe of data with overridden values; report the problems of reading it too."""
    for override in overrides:
        set_value(data, override, places, problems)
    if problems:
        raise RecipeError([redacted(problem) for problem in problems])
    return from_data(data, places)


def _copied(value: Any, depth: int = 0) -> Any:
    """Copy mappings and lists; other values are shared."""
    if depth > MAX_DEPTH:
        raise RecipeError([f"recipe: the recipe nests deeper than {MAX_DEPTH} levels; flatten it"])
    if isinstance(value, Mapping):
        return {key: _copied(item, depth + 1) for key, item in value.items()}
    return [_copied(item, depth + 1) for item in value] if isinstance(value, list) else value


def _plain(value: Any) -> Any:
    """Write objects in a recipe as the name of their class."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if attrs.has(type(value)) or is_networkx(value) or isinstance(value, type):
        kind = value if isinstance(value, type) else type(value)
        return f"{kind.__module__}.{kind.__qualname__}"
    return value


def located(value: Any, key: str = "") -> Any:
    """Write the files and folders that a recipe's data name, and that are there, with their whole paths.

    Args:
        value: The data.
        key: The setting that has it.
    """
    if isinstance(value, Mapping):
        return {name: located(item, name) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [located(item, key) for item in value]
    is_path = isinstance(value, str) and (PATH_KEY.search(key) or key in _FILE_OR_NAME)
    return os.path.abspath(value) if is_path and glob.glob(value) else value


def _difference(plain: Any, value: Any, where: str = "") -> str | None:
    """Return the key under which two copies of a recipe's data differ first; None if they are equal."""
    if isinstance(plain, Mapping) and isinstance(value, Mapping):
        pairs: list[tuple[Any, Any]] = [(plain.get(key), value[key]) for key in value]
        keys = list(value)
    elif isinstance(plain, list) and isinstance(value, list | tuple):
        pairs, keys = list(zip(plain, value, strict=True)), list(range(len(plain)))
    elif isinstance(value, type | Budget):
        return None  # a class travels as its name, and limits are values
    else:
        return None if plain is value or (type(plain) is type(value) and plain == value) else where or "the recipe"
    found = (
        _difference(one, other, f"{where}.{key}" if where else str(key))
        for key, (one, other) in zip(keys, pairs, strict=True)
    )
    return next((at for at in found if at is not None), None)


def _sorted_out(data: Mapping[str, Any], written: Mapping[str, Any], places: Places, problems: list[str]) -> Recipe:
    """Sort the keys into drivers, stages and options, and refuse unknown keys."""
    if data.get("srtk") != VERSION:
        problems.append(f"{places.say(('srtk',))}: a recipe starts with `srtk: {VERSION}`, the version of its format")
    option_keys = [field.name for field in attrs.fields(Options)]
    stages = stage_keys()
    role_keys = _RoleKeys.for_keys([str(key) for key in data if key not in (*RECIPE_KEYS, *stages)])
    recipe = Recipe(places.file, redacted_data(_plain(written)), Options(), {}, {}, {}, [], None, places, data=written)
    blocks = Blocks(places, problems, role_keys.single)
    for key, value in data.items():
        if key in stages and key in (*RECIPE_KEYS, *role_keys.single, *role_keys.named, *role_keys.listed):
            blocks.wrong((key,), no_stage_called(key))
        elif key in role_keys.single:
            block = blocks.block(key, value, (key,))
            if block:
                recipe.blocks[key] = block
        elif key in role_keys.named:
            role = role_keys.named[key]
            recipe.named[role] = blocks.named(role, value, (key,))
        elif key in role_keys.listed:
            role = role_keys.listed[key]
            recipe.listed[role] = blocks.listed(role, value, (key,))
        elif key == "observers":
            recipe.observers = blocks.listed("observer", value, (key,))
        elif key in stages:
            _read_stage(recipe, key, value, blocks)
        elif (value is None or value is False) and missing_stage(key) is not None:
            pass  # a stage that is turned off need not be installed
        elif key not in RECIPE_KEYS:
            known = [*RECIPE_KEYS, *stages, *role_keys.single, *role_keys.named, *role_keys.listed]
            blocks.wrong(
                (key,), missing_stage(key) or f"unknown key {shortened(repr(key))}.{close_matches(key, known)}"
            )
            for text in role_keys.problems:
                blocks.wrong((key,), text)
    recipe.options = _options({key: value for key, value in data.items() if key in option_keys}, blocks)
    recipe.questions = blocks.questions(data.get("questions"), ("questions",))
    return recipe


def _read_stage(recipe: Recipe, key: str, value: Any, blocks: Blocks) -> None:
    """Read the settings of a stage, which acts only where its key stands; null and false are no stage."""
    if value is None or value is False:
        return
    try:
        cls = load_stage(key)
        with named_faults(key, "read"):
            stage = cls.read(value, blocks)
    except (PluginError, RunError) as error:
        blocks.wrong((key,), str(error))
        return
    if stage is not None:
        recipe.stages[key] = stage


def _options(data: Mapping[str, Any], blocks: Blocks) -> Options:
    options = blocks.structured(data, Options, ())
    if options is None:
        return Options()
    if not isinstance(given := data.get("budget", {}), Budget) and "triples" not in given:
        options.budget = attrs.evolve(options.budget, triples=DEFAULT_TRIPLES)
    return options
