"""Every number among the settings of every driver has bounds, or is listed here with the reason why it has none."""

from __future__ import annotations

import json
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

import attrs
import pytest
from srtk_plugin_training import settings_class

from srtk_framework.host import known_drivers
from srtk_framework.host.discovery import load
from srtk_framework.recipe import Composer, needs_of
from srtk_framework.recipe.recipe import Block, from_mapping
from srtk_framework.recipe.settings import structure_fields

LISTED = json.loads((Path(known_drivers.__file__).parent / "known_drivers.json").read_text(encoding="utf-8"))
DRIVERS = [
    (role, name)
    for roles in LISTED.values()
    for role, names in roles.items()
    if role not in ("command", "role", "stage")
    for name in names
]

UNBOUNDED = {
    "dataset.*.seed": "part of a text that is hashed, so that any whole number is a seed",
    "expander.random.seed": "part of a text that is hashed",
    "dataset.made.seed": "random.Random takes any whole number",
    "path_scorer.dense.step_cost": "below 0 it favours long paths",
    "path_scorer.dense.return_cost": "below 0 it favours the way back",
    "generator.openai.seed": "sent to the server, which says what it takes",
    "generator.transformers.seed": "part of a text that is hashed",
}
"""Settings that may be any number."""

ZERO = {
    "*.*.cache_days": "every answer is asked for again",
    "*.*.sample": "no sample is read",
    "*.*.min_score": "nothing is dropped",
    "*.*.threshold": "every path of a quality above 0",
    "*.budget.price": "no price",
    "*.*.budget.price": "no price",
    "corpus.subgraphs.seed": "a seed",
    "entity_linker.dictionary.*": "a score, a share or a weight that does not count",
    "entity_linker.spotlight.confidence": "the server trusts all",
    "entity_linker.spotlight.support": "no link is asked for",
    "entity_linker.tagme.*": "the least value of the service",
    "entity_linker.wikidata-search.shorten": "no mention is divided",
    "expander.beam.*": "no cost, or no distance from the best",
    "exporter.html.total": "there is no other number of questions",
    "generator.*.gpu_layers": "none on the GPU",
    "generator.*.temperature": "no sampling",
    "generator.*.seed": "a seed",
    "generator.encoder-chooser.*": "a cosine, and a distance of none",
    "generator.openai.price_*": "costs nothing",
    "index.bm25.*": "a term of the formula is left out",
    "index.rrf.constant": "the rank alone",
    "knowledge_graph.completed.least": "every completed triple",
    "reader.options-llm.tokens": "no triple is shown",
    "reader.paths.least": "every answer",
    "supervision.near-shortest.*": "no longer path, or none of a quality",
    "dense.fit.made": "no made questions",
    "*.fit.*pull": "no pull",
    "*.fit.regulariser": "no penalty",
    "*.fit.*share": "none",
    "*.fit.validation": "none",
    "*.fit.views": "none",
    "*.fit.constants": "no rule with constants",
    "*.fit.least_confidence": "every rule",
    "*.fit.knowledge": "none",
    "*.fit.warmup": "none",
}
"""Settings for which 0 has a meaning."""


@attrs.frozen
class Number:
    """A number among the settings of a driver.

    Attributes:
        where: Keys and indices that lead to it.
        kind: Its type.
        given: Builds the driver's setting around a value for it.
    """

    where: tuple[str | int, ...]
    kind: type
    given: Callable[[Any], Any]

    def bad(self) -> list[Any]:
        """Return values that no number of its type may have."""
        wrong: list[Any] = ["many", True, [], {}]
        return [*wrong, 1.5] if self.kind is int else [*wrong, float("nan"), float("inf"), float("-inf")]


def numbers(where: tuple[str | int, ...], kind: Any, validator: Any = None) -> Iterator[Number]:
    """Find the numbers in a type."""
    origin, args = get_origin(kind), get_args(kind)
    if kind in (int, float):
        yield Number(where, kind, lambda value: value)
    elif attrs.has(kind):
        attrs.resolve_types(kind)
        for field in attrs.fields(kind):
            if field.init:
                for one in numbers((*where, field.alias), field.type, field.validator):
                    yield attrs.evolve(one, given=lambda value, one=one, key=field.alias: {key: one.given(value)})
    elif origin in (Union, types.UnionType):
        for arg in args:
            yield from numbers(where, arg, validator)
    elif isinstance(origin, type) and issubclass(origin, Sequence):
        for one in numbers((*where, 0), args[0]):
            count = len([arg for arg in args if arg is not Ellipsis]) if origin is tuple else 1
            yield attrs.evolve(one, given=lambda value, one=one, count=count: [one.given(value)] * count)
    elif isinstance(origin, type) and issubclass(origin, Mapping):
        validators = getattr(validator, "_validators", (validator,))
        key = next((one.known[0] for one in validators if hasattr(one, "known")), "key")
        for one in numbers((*where, key), args[1]):
            yield attrs.evolve(one, given=lambda value, one=one, key=key: {key: one.given(value)})


def is_choice(kind: Any) -> bool:
    members = get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)
    return any(get_origin(one) is Literal for one in members) and str not in members


def matches(name: str, listed: Mapping[str, str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in listed)


def is_refused(role: str, name: str, cls: Any, where: tuple[str | int, ...], value: Any) -> bool:
    """Return whether a recipe with a value is refused for it; no driver is opened.

    A class with checks of its own is made with stand-ins for what it needs, as a composer makes it of real drivers.
    """
    setting = str(where[0])
    composer = Composer(from_mapping({"srtk": 1}))
    said: list[tuple[Any, ...]] = []
    composer._say = lambda place, text: said.append(place)
    composer.build(Block(role, name, {setting: value}, ("here",)))
    here = ("here", *where)
    if any(place[: len(here)] == here or (len(place) > 1 and here[: len(place)] == place) for place in said):
        return True
    needs = {need.field: [object()] if need.kind == "many" else object() for need in needs_of(cls)}
    try:
        cls(**{**needs, setting: value})
    except ValueError as error:
        return setting in str(error)
    except (TypeError, AttributeError):
        return False
    return False


def settings_found(cls: Any) -> Iterator[tuple[str, Any, Any]]:
    attrs.resolve_types(cls)
    needed = {need.field for need in needs_of(cls)}
    return ((f.alias, f.type, f.validator) for f in attrs.fields(cls) if f.init and f.alias not in needed)


@pytest.mark.parametrize(("role", "name"), DRIVERS, ids=lambda value: value)
def test_no_driver_takes_a_number_without_sense(role, name):
    cls = load(role, name)
    accepted = []
    for setting, kind, validator in settings_found(cls):
        for number in numbers((setting,), kind, validator):
            called = f"{role}.{name}.{'.'.join(str(key) for key in number.where if isinstance(key, str))}"
            bad = [*number.bad()]
            bad += [] if matches(called, UNBOUNDED) else [-3]
            bad += [] if matches(called, UNBOUNDED) or matches(called, ZERO) else [0]
            union = get_args(kind) if get_origin(kind) in (Union, types.UnionType) else ()
            shapes = [get_origin(one) or one for one in union]
            for value in bad:
                if (isinstance(value, str) and str in union) or (isinstance(value, list) and list in shapes):
                    continue
                if not is_refused(role, name, cls, number.where, number.given(value)):
                    accepted.append((called, value))
    assert not accepted


@pytest.mark.parametrize(("role", "name"), DRIVERS, ids=lambda value: value)
def test_no_driver_takes_an_unknown_choice_or_setting(role, name):
    cls = load(role, name)
    for setting, kind, _ in settings_found(cls):
        if is_choice(kind):
            assert is_refused(role, name, cls, (setting,), "no such choice"), setting
    assert is_refused(role, name, cls, ("no_such_setting",), 1)


@pytest.mark.parametrize(
    ("role", "name"),
    [(role, name) for role, name in DRIVERS if hasattr(load(role, name), "fit")],
    ids=lambda value: value,
)
def test_no_training_takes_a_number_without_sense(role, name):
    kind = settings_class(load(role, name))
    fields = {field.alias: field for field in attrs.fields(kind) if field.init}
    accepted = []
    for setting, field in fields.items():
        for number in numbers((setting,), field.type, field.validator):
            called = f"{name}.fit.{'.'.join(str(key) for key in number.where if isinstance(key, str))}"
            for value in [*number.bad(), -3, *([] if matches(called, ZERO) else [0])]:
                said: list[tuple[Any, str]] = []
                structure_fields(
                    {setting: number.given(value)}, fields, "fit", lambda *fault, said=said: said.append(fault)
                )
                if not said and not (isinstance(value, str) and str in get_args(field.type)):
                    accepted.append((called, value))
    assert not accepted


def test_no_reason_is_listed_for_a_setting_that_is_not_there():
    called = set()
    for role, name in DRIVERS:
        cls = load(role, name)
        for setting, kind, validator in settings_found(cls):
            for number in numbers((setting,), kind, validator):
                called.add(f"{role}.{name}.{'.'.join(str(key) for key in number.where if isinstance(key, str))}")
        if hasattr(cls, "fit"):
            for field in attrs.fields(settings_class(cls)):
                called.add(f"{name}.fit.{field.alias}")
    stale = [pattern for pattern in {**UNBOUNDED, **ZERO} if not any(fnmatchcase(one, pattern) for one in called)]
    assert not stale
