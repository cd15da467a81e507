"""The JSON Schema of recipes: it takes what ships, and refuses what `srtk check` refuses, at the same place."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import attrs
import jsonschema
import pytest
import yaml
from srtk_plugin_authoring.recipe_schema import recipe_schema, type_schema, written_schema

from srtk_framework.cli import main
from srtk_framework.host.discovery import find, load
from srtk_framework.recipe import needs_of
from srtk_framework.recipe.recipe import parse
from srtk_framework.recipe.shipped import SCHEMA, recipes_folder
from srtk_framework.recipe.yaml_source import Places
from srtk_framework.roles import ROLES
from srtk_framework.run.session import Session
from srtk_framework.values import RecipeError, at_least, deprecated, each, keys_of, not_empty, one_of

MUTATIONS = 300
FILES = sorted(recipes_folder().glob("*.yaml"))
Place = tuple[str | int, ...]
REFERRED_TO = {key for role in ROLES.values() for key in (role.role, role.plural)} | {
    need.field for role in ROLES for plugin in find(role) for need in needs_of(load(role, plugin.name))
}
"""Keys that hold drivers, which another place of the recipe may name or fill."""


@pytest.fixture(scope="module")
def validator() -> Any:
    schema = json.loads((recipes_folder() / SCHEMA).read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def refused_by_schema(validator: Any, data: Any) -> set[Place]:
    """Return the places of what the schema refuses; of several branches, those that got farthest."""
    return {place for error in validator.iter_errors(data) for place in _places(error)}


def _places(error: Any) -> Iterator[Place]:
    if error.context:
        deepest = max(len(inner.absolute_path) for inner in error.context)
        for inner in error.context:
            if len(inner.absolute_path) == deepest:
                yield from _places(inner)
        return
    place = tuple(error.absolute_path)
    if error.validator == "additionalProperties" and isinstance(error.validator_value, bool):
        for key in set(error.instance) - set(error.schema.get("properties", ())):
            yield (*place, key)
    else:
        yield place


def refused_by_check(data: Any) -> tuple[set[str], Places]:
    """Return where composing a recipe refuses something, as ``file:line:column``; no driver is opened."""
    recipe = parse(yaml.safe_dump(data, sort_keys=False), "mutated.yaml")
    try:
        Session(recipe)
    except RecipeError as error:
        return {problem.partition(": ")[0] for problem in error.problems}, recipe.places
    return set(), recipe.places


def mappings(data: Any, where: Place = ()) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Find the mappings of a recipe whose keys it names: not variables, and not tables of names of the user's own."""
    if isinstance(data, dict):
        if "env" not in data and where[:1] != ("vars",):
            yield where, data
        for key, value in data.items():
            yield from mappings(value, (*where, key))
    elif isinstance(data, list):
        for i, value in enumerate(data):
            yield from mappings(value, (*where, i))


def mutated(chance: random.Random, data: dict[str, Any]) -> tuple[str, Place]:
    """Change a recipe at one place; returns how, and where."""
    where, mapping = chance.choice([one for one in mappings(data) if one[1]])
    key = chance.choice(list(mapping))
    kinds = ["misspelt", "wrong type", "out of range", "extra"]
    # Whether something else fills a need, or a variable has a value, only the composer can tell.
    kind = chance.choice(kinds if key in REFERRED_TO or not where else [*kinds, "removed"])
    value = mapping[key]
    if kind == "misspelt":
        i = chance.randrange(len(key))
        renamed = {key[:i] + key[i] + key[i:] if one == key else one: item for one, item in mapping.items()}
        mapping.clear()
        mapping.update(renamed)
    elif kind == "removed":
        del mapping[key]
    elif kind == "extra":
        key = chance.choice(("colour", "widht", "Path", "use_", "x"))
        mapping[key] = chance.choice((1, "one", [1], {"a": 1}, None))
    elif kind == "out of range" and isinstance(value, int | float) and not isinstance(value, bool):
        mapping[key] = chance.choice((-3, -0.5, 10**9 + 0.5, "many"))
    else:
        # A text in the place of a driver may be the name of one.
        mapping[key] = chance.choice(
            (True, 7, 0.5, [[1]], {"a": {"b": 1}}, *(() if key in REFERRED_TO else ("no such word",)))
        )
    return kind, (*where, key)


def test_the_shipped_schema_is_that_of_the_drivers():
    text = (recipes_folder() / SCHEMA).read_text(encoding="utf-8")
    assert text == written_schema(recipe_schema(known=True)), "write it again: make docs"


def test_the_command_prints_the_schema_of_what_is_installed(capsys):
    assert main(["schema"]) == 0
    assert {"properties", "$defs"} <= json.loads(capsys.readouterr().out).keys()


def test_every_shipped_recipe_names_the_schema_beside_it_and_is_valid(validator):
    for file in FILES:
        text = file.read_text(encoding="utf-8")
        assert text.startswith(f"# yaml-language-server: $schema={SCHEMA}\n"), file.name
        assert not refused_by_schema(validator, yaml.safe_load(text)), file.name


def test_the_schema_refuses_mutated_recipes_where_check_refuses_them(validator):
    chance = random.Random(35)
    counts = {True: 0, False: 0}
    differing = []
    for _ in range(MUTATIONS):
        file = chance.choice(FILES)
        data = yaml.safe_load(file.read_text(encoding="utf-8"))
        kind, where = mutated(chance, data)
        refused = refused_by_schema(validator, data)
        checked, places = refused_by_check(data)
        # The composer says of a block that its `use` is no name, where the schema says it of the key; and a driver that
        # is lacking has no place in a recipe.
        near = all({places.say(place), places.say(place[:-1])} & checked for place in refused - {()})
        counts[bool(refused)] += 1
        if bool(refused) != bool(checked) or not near:
            differing.append((file.name, kind, where, refused, checked))
    assert not differing
    assert min(counts.values()) > MUTATIONS // 20


def test_a_variable_may_stand_for_any_value(validator):
    data = {
        "srtk": 1,
        "vars": {"wide": 9},
        "path_scorer": {"use": "dense", "temperature": {"env": "TEMPERATURE"}},
        "expander": {
            "use": "beam",
            "width": "${wide}",
            "inverse": "${both}",
            "search": {"order": {"env": "ORDER", "default": "paths"}},
        },
    }
    assert not refused_by_schema(validator, data)
    data["expander"]["width"] = "wide"
    assert refused_by_schema(validator, data) == {("expander", "width")}


def test_the_four_faults_have_their_places(validator):
    data = {
        "srtk": 1,
        "path_scorer": {"use": "dense", "temperature": -1},
        "expander": {"use": "beam", "width": -3, "depth": 0, "margin": -2},
    }
    four = {("path_scorer", "temperature"), *(("expander", key) for key in ("width", "depth", "margin"))}
    assert refused_by_schema(validator, data) == four


@pytest.mark.parametrize(
    ("kind", "validators", "fine", "wrong"),
    [
        (int | None, at_least(1), [1, None], [0, "x", 1.5]),
        (dict[str, float], [keys_of(["a"]), each(at_least(0))], [{"a": 0}], [{"b": 1}, {"a": -1}, 1]),
        (list[str], not_empty(), [["a"]], [[], [1], "a"]),
        (str | None, one_of(["a", "b"]), ["a", None], ["c", 1]),
        (tuple[float, float], None, [[0, 1.5]], [[0], [0, 1, 2], ["a", "b"]]),
        (int | str, attrs.validators.optional(attrs.validators.ge(2)), [2, "auto"], [1, None]),
        (str, attrs.validators.in_(("a",)), ["a"], ["b"]),
    ],
)
def test_types_and_validators_are_described(kind, validators, fine, wrong):
    both = attrs.validators.and_(*validators) if isinstance(validators, list) else validators
    schema = {**type_schema(kind, both), "$defs": {"variable": False}}
    check = jsonschema.Draft202012Validator(schema)
    assert [value for value in fine if not check.is_valid(value)] == []
    assert [value for value in wrong if check.is_valid(value)] == []


def test_editors_strike_a_deprecated_setting_through():
    @attrs.define
    class Limits:
        """Limits.

        Attributes:
            seconds: Time.
            deadline: Time as well.
        """

        seconds: float = attrs.field(
            default=1.0, metadata={"deprecated": deprecated(since="0.3", instead="deadline", until="0.5")}
        )
        deadline: float = 1.0

    properties = type_schema(Limits)["properties"]
    assert {name: "deprecated" in written for name, written in properties.items()} == {
        "seconds": True,
        "deadline": False,
    }
