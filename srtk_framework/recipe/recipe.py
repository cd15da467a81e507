"""Recipes: read from YAML or a mapping, with all mistakes reported at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from srtk_framework.host.discovery import RECIPE_KEYS, ROLE, find, name_problem, role_class, role_names
from srtk_framework.recipe.settings import Where, structure
from srtk_framework.recipe.yaml_source import Places, compose, filled_in, plain_data, set_value, variables_of
from srtk_framework.records.splits import Part
from srtk_framework.roles import ROLES, Role
from srtk_framework.text.yaml_data import MAX_DEPTH
from srtk_framework.values import (
    Budget,
    PluginError,
    RecipeError,
    SettingsError,
    at_least,
    between,
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


@attrs.frozen
class HeldOut:
    """Facts of a graph that are held out of a training.

    Attributes:
        share: Share of the facts, above 0 and below 1.
    """

    share: float = attrs.field(validator=between(above=0, below=1))


@attrs.frozen
class QuestionSet:
    """Training questions with a graph of their own, as ``sets`` of ``train`` lists them.

    Attributes:
        questions: A file, or a dataset.
        knowledge_graph: Graph that the questions are about.
        supervision: Driver that finds their paths; None for that of ``train`` or of the top level.
        where: Keys that lead to the set in the recipe.
    """

    questions: str | Block
    knowledge_graph: Block
    supervision: Block | None
    where: Where


@attrs.frozen
class Train:
    """The key ``train``: a driver of the recipe that learns before the run.

    Attributes:
        driver: Role of the driver, which is given at the top level.
        questions: Training questions: a file, or a dataset; None for a driver that learns from a graph.
        validation: A file, a dataset, or a share of the questions; None for no validation.
        supervision: Driver that finds the paths of the questions; None for that of the top level.
        folder: For checkpoints, logs and the trained model; None for ``training`` in the run's folder.
        fit: Settings of the training, as written.
        held_out: Facts of its graph, or texts, on which the driver does not train; None for none.
        texts: Corpus that the driver learns from; None for a driver that does not learn from texts.
        sets: Training questions about other graphs than the recipe's.
    """

    driver: str
    questions: str | Block | None
    validation: str | Block | float | None
    supervision: Block | None
    folder: str | None
    fit: Mapping[str, Any] = attrs.field(hash=False)
    held_out: HeldOut | None = None
    texts: Block | None = None
    sets: tuple[QuestionSet, ...] = ()


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
        listed: Drivers of the roles of which a recipe lists several, such as ``exporters``, by role, in order.
        observers: In order.
        questions: A path, or a Dataset block, or None (for use as a library).
        against: Expanders to compare with; None where no evaluation is wanted.
        train: The training before the run, or None.
        places: Place of each value.
        problems: Mistakes so far, with their places; the composer adds its own and raises all.
    """

    file: str
    written: Mapping[str, Any]
    options: Options
    blocks: dict[str, Block]
    named: dict[str, dict[str, Block]]
    listed: dict[str, list[Block]]
    observers: list[Block]
    questions: str | Block | None
    against: list[Block] | None
    places: Places
    problems: list[str] = attrs.field(factory=list)
    train: Train | None = None

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

    @property
    def training(self) -> Path:
        """Folder of the training."""
        return Path(self.train.folder) if self.train and self.train.folder else self.output / "training"


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
    for override in overrides:
        set_value(data, override, places, problems)
    if problems:
        raise RecipeError([redacted(problem) for problem in problems])
    return from_data(data, places)


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


def with_article(role: str) -> str:
    """Prefix a role's name with its article."""
    return f"{'an' if role[0] in 'aeiou' else 'a'} {role}"


@attrs.frozen
class _RoleKeys:
    """The keys of a recipe that hold drivers.

    Attributes:
        single: Roles of which the top level names one driver, under the name of the role.
        named: Plural to such a role; its drivers have names of the recipe's own.
        listed: Plural to a role of which the top level lists several drivers.
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
            a name, and a networkx graph that of a graph.
        overrides: ``key.path=value`` each, the value as YAML.

    Raises:
        RecipeError: If an override cannot be applied.
    """
    places = Places("recipe")
    problems: list[str] = []
    copied = _copied(data)
    for override in overrides:
        set_value(copied, override, places, problems)
    if problems:
        raise RecipeError([redacted(problem) for problem in problems])
    return from_data(copied, places)


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


def is_networkx(value: Any) -> bool:
    """Return whether a value is a networkx graph, without importing networkx."""
    return any(cls.__module__ == "networkx.classes.graph" for cls in type(value).__mro__)


def _sorted_out(data: Mapping[str, Any], written: Mapping[str, Any], places: Places, problems: list[str]) -> Recipe:
    """Sort the keys into drivers and options, and refuse others."""
    if data.get("srtk") != VERSION:
        problems.append(f"{places.say(('srtk',))}: a recipe starts with `srtk: {VERSION}`, the version of its format")
    option_keys = [field.name for field in attrs.fields(Options)]
    role_keys = _RoleKeys.for_keys([str(key) for key in data if key not in RECIPE_KEYS])
    recipe = Recipe(places.file, redacted_data(_plain(written)), Options(), {}, {}, {}, [], None, None, places)
    options = {}
    for key, value in data.items():
        if key in option_keys:
            options[key] = value
        elif key in role_keys.single:
            block = _block(key, value, (key,), places, problems)
            if block:
                recipe.blocks[key] = block
        elif key in role_keys.named:
            role = role_keys.named[key]
            recipe.named[role] = _named(role, value, (key,), places, problems)
        elif key in role_keys.listed:
            role = role_keys.listed[key]
            recipe.listed[role] = _list(role, value, (key,), places, problems)
        elif key == "observers":
            recipe.observers = _list("observer", value, (key,), places, problems)
        elif key not in RECIPE_KEYS:
            known = [*RECIPE_KEYS, *role_keys.single, *role_keys.named, *role_keys.listed]
            problems.append(f"{places.say((key,))}: unknown key {shortened(repr(key))}.{close_matches(key, known)}")
            problems.extend(f"{places.say((key,))}: {text}" for text in role_keys.problems)
    recipe.options = _options(options, places, problems)
    recipe.questions = _questions(data.get("questions"), ("questions",), places, problems)
    recipe.against = _against(data.get("evaluate"), places, problems)
    if data.get("train") is not None:
        recipe.train = _train(data["train"], role_keys.single, places, problems)
    return recipe


def _questions(value: Any, where: Where, places: Places, problems: list[str]) -> str | Block | None:
    if isinstance(value, Mapping | Role):
        return _block("dataset", value, where, places, problems)
    if value is not None and not isinstance(value, str):
        problems.append(f"{places.say(where)}: {where[-1]} is a file name, `-`, or a mapping with `use`")
        return None
    return value


def _train(data: Any, roles: Sequence[str], places: Places, problems: list[str]) -> Train | None:
    known = [field.name for field in attrs.fields(Train)]
    if not isinstance(data, Mapping):
        problems.append(f"{places.say(('train',))}: train is a mapping with {', '.join(known)}")
        return None
    for key in data:
        if key not in known:
            problems.append(
                f"{places.say(('train', key))}: unknown key {shortened(repr(key))}.{close_matches(key, known)}"
            )
    count = len(problems)
    driver, folder, fit = data.get("driver", "path_scorer"), data.get("folder"), data.get("fit") or {}
    if driver not in roles:
        text = f"driver is the role of what learns, not {shortened(repr(driver))}.{close_matches(driver, roles)}"
        problems.append(f"{places.say(('train', 'driver'))}: {text}")
    if folder is not None and not isinstance(folder, str):
        problems.append(f"{places.say(('train', 'folder'))}: folder: expected text, got {shortened(repr(folder))}")
    if not isinstance(fit, Mapping):
        problems.append(f"{places.say(('train', 'fit'))}: fit is a mapping of the training's settings")
    questions = _questions(data.get("questions"), ("train", "questions"), places, problems)
    if data.get("questions") == "-":
        problems.append(f"{places.say(('train',))}: train needs `questions:`, a file or a dataset to learn from")
    supervision = data.get("supervision")
    where: Where = ("train", "supervision")
    block = None if supervision is None else _block("supervision", supervision, where, places, problems)
    validation = _validation(data.get("validation"), places, problems)
    held_out = _held_out(data.get("held_out"), places, problems)
    corpus = data.get("texts")
    texts = None if corpus is None else _block("corpus", corpus, ("train", "texts"), places, problems)
    sets = _sets(data.get("sets"), places, problems)
    if len(problems) > count:
        return None
    return Train(driver, questions, validation, block, folder, fit, held_out, texts, sets)


def _sets(value: Any, places: Places, problems: list[str]) -> tuple[QuestionSet, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not value:
        text = "sets is a list of {questions: …, knowledge_graph: {use: …}}, one for each graph"
        problems.append(f"{places.say(('train', 'sets'))}: {text}")
        return ()
    found = (_set(item, ("train", "sets", i), places, problems) for i, item in enumerate(value))
    return tuple(one for one in found if one is not None)


def _set(value: Any, where: Where, places: Places, problems: list[str]) -> QuestionSet | None:
    known = ("questions", "knowledge_graph", "supervision")
    if not isinstance(value, Mapping):
        problems.append(f"{places.say(where)}: a set is a mapping with {', '.join(known)}")
        return None
    count = len(problems)
    for key in value:
        if key not in known:
            text = f"unknown key {shortened(repr(key))} of a set.{close_matches(key, known)}"
            problems.append(f"{places.say((*where, key))}: {text}")
    for key in ("questions", "knowledge_graph"):
        if value.get(key) is None or value[key] == "-":
            problems.append(f"{places.say(where)}: a set needs `{key}:`, since its questions are about its own graph")
    if len(problems) > count:
        return None
    questions = _questions(value["questions"], (*where, "questions"), places, problems)
    graph = _block("knowledge_graph", value["knowledge_graph"], (*where, "knowledge_graph"), places, problems)
    given, at = value.get("supervision"), (*where, "supervision")
    supervision = None if given is None else _block("supervision", given, at, places, problems)
    if questions is None or graph is None or len(problems) > count:
        return None
    return QuestionSet(questions, graph, supervision, where)


def _held_out(value: Any, places: Places, problems: list[str]) -> HeldOut | None:
    where: Where = ("train", "held_out")
    if value is None:
        return None
    if not isinstance(value, Mapping):
        problems.append(f"{places.say(where)}: held_out is written as {{share: 0.05}}")
        return None
    try:
        return structure(value, HeldOut)
    except SettingsError as error:
        problems.extend(f"{places.say((*where, *inner))}: held_out: {text}" for inner, text in error.problems)
        return None


def _validation(value: Any, places: Places, problems: list[str]) -> str | Block | float | None:
    where: Where = ("train", "validation")
    if isinstance(value, int | float) and not isinstance(value, bool):
        if not 0 < value < 1:
            problems.append(
                f"{places.say(where)}: a share for validation lies between 0 and 1, not at {shortened(str(value))}"
            )
            return None
        return float(value)
    if value == "-" or isinstance(value, bool | list):
        problems.append(f"{places.say(where)}: validation is a file name, a dataset, or a share such as 0.1")
        return None
    return _questions(value, where, places, problems)


def _options(data: Mapping[str, Any], places: Places, problems: list[str]) -> Options:
    try:
        options = structure(data, Options)
    except SettingsError as error:
        problems.extend(f"{places.say(where)}: {text}" for where, text in error.problems)
        return Options()
    if not isinstance(given := data.get("budget", {}), Budget) and "triples" not in given:
        options.budget = attrs.evolve(options.budget, triples=DEFAULT_TRIPLES)
    return options


def _block(role: str, value: Any, where: Where, places: Places, problems: list[str]) -> Block | None:
    if isinstance(value, str):
        value = {"use": value}
    block = block_in(role, value, where)
    if block is None:
        problems.append(f"{places.say(where)}: {with_article(role)} is written as {{use: NAME, setting: value, ...}}")
        return None
    if role != "dataset" or "part" not in block.settings:
        return block
    settings = dict(block.settings)
    part = _part(settings.pop("part"), (*where, "part"), places, problems)
    return attrs.evolve(block, settings=settings, part=part)


def _part(value: Any, where: Where, places: Places, problems: list[str]) -> Part | None:
    if isinstance(value, list):
        value = {"between": value}
    if not isinstance(value, Mapping):
        text = "part is written as [0.0, 0.5], or as {between: [0.0, 0.5], by: text, seed: 0, outside: false, limit: 9}"
        problems.append(f"{places.say(where)}: {text}")
        return None
    try:
        return structure(value, Part)
    except SettingsError as error:
        problems.extend(f"{places.say((*where, *inner))}: part: {text}" for inner, text in error.problems)
        return None


def _named(role: str, value: Any, where: Where, places: Places, problems: list[str]) -> dict[str, Block]:
    if not isinstance(value, Mapping):
        problems.append(f"{places.say(where)}: {where[0]} is a mapping from a name of yours to {{use: NAME, ...}}")
        return {}
    blocks = {str(name): _block(role, item, (*where, name), places, problems) for name, item in value.items()}
    return {name: block for name, block in blocks.items() if block}


def _list(role: str, value: Any, where: Where, places: Places, problems: list[str]) -> list[Block]:
    if not isinstance(value, list):
        problems.append(f"{places.say(where)}: {where[-1]} is a list of {{use: NAME, ...}}")
        return []
    blocks = [_block(role, item, (*where, i), places, problems) for i, item in enumerate(value)]
    return [block for block in blocks if block]


def _against(value: Any, places: Places, problems: list[str]) -> list[Block] | None:
    if value is None or value is False:
        return None
    if value is True:
        return []
    if not isinstance(value, Mapping) or not set(value) <= {"against"}:
        problems.append(f"{places.say(('evaluate',))}: evaluate is true, or {{against: [{{use: NAME}}, ...]}}")
        return []
    return _list("expander", value.get("against", []), ("evaluate", "against"), places, problems)


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
