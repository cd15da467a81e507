"""What a recipe of a stranger reaches: addresses, paths, and variables of the environment with their receivers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from srtk_framework.host.ports import driver_of
from srtk_framework.recipe.recipe import PATH_KEY, Recipe
from srtk_framework.recipe.settings import Where
from srtk_framework.recipe.yaml_source import VARIABLE, Places, filled_in, variables_of
from srtk_framework.run.session import Session
from srtk_framework.values import redacted, redacted_data

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S+")


def disclosed(recipe: Recipe, session: Session) -> list[str]:
    """Describe each address, path and variable of the environment that a recipe names, with its setting.

    Addresses that drivers have by default are among them. Paths are all that are read or written.
    """
    addresses: dict[str, list[str]] = {}
    paths: dict[str, list[str]] = {str(recipe.output): ["output"]}
    for where, key, text in _all_texts(recipe, session):
        found = _ADDRESS.findall(text)
        for one in found:
            addresses.setdefault(redacted(one), []).append(where)
        # The User-Agent that clients send has a version after a slash.
        if (
            not found
            and text != "-"
            and key != "user_agent"
            and (PATH_KEY.search(key) or "/" in text or "\\" in text or text[:1] == "~")
        ):
            paths.setdefault(text, []).append(where)
    lines = [f"address {_shown(one)} ({_settings(places)})" for one, places in addresses.items()]
    lines += [f"path {_shown(one)} ({_settings(places)})" for one, places in paths.items()]
    return lines + [_receivers(recipe, session, name, where) for where, name in _variables(recipe.data)]


def _all_texts(recipe: Recipe, session: Session) -> Iterator[tuple[str, str, str]]:
    """Yield (setting, its last key, text) of the recipe with its variables filled in, and of its drivers."""
    places, problems = Places(recipe.file), list[str]()
    variables = variables_of(recipe.data.get("vars", {}), places, problems)
    data = {key: value for key, value in recipe.data.items() if key not in ("vars", "description")}
    filled = redacted_data(filled_in(data, variables, (), places, problems))
    seen: set[tuple[str, str]] = set()
    every: list[tuple[Where, Any]] = [((), filled)]
    for where, one in session.composer.placed():
        driver = driver_of(one)
        if attrs.has(type(driver)):
            names = [field.name for field in attrs.fields(type(driver)) if field.init]
            settings = {name: value for name in names if _is_plain(value := getattr(driver, name, None))}
            every.append((where, redacted_data(settings)))
    for start, value in every:
        for where, text in _texts(value, start):
            name = ".".join(map(str, where))
            if (name, text) not in seen:
                seen.add((name, text))
                yield name, next((key for key in reversed(where) if isinstance(key, str)), ""), text


def _is_plain(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(map(_is_plain, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, str | int | float)


def _texts(value: Any, where: Where) -> Iterator[tuple[Where, str]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _texts(item, (*where, key))
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from _texts(item, (*where, number))
    elif isinstance(value, str) and value:
        yield where, value


def _variables(value: Any, where: Where = ()) -> Iterator[tuple[Where, str]]:
    """Yield the setting and the name of each ``{env: NAME}``."""
    if isinstance(value, Mapping):
        if "env" in value and set(value) <= {"env", "default"}:
            yield where, str(value["env"])
            return
        for key, item in value.items():
            yield from _variables(item, (*where, key))
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from _variables(item, (*where, number))


def _receivers(recipe: Recipe, session: Session, name: str, where: Where) -> str:
    """Describe which settings receive a variable, and the addresses in their drivers' blocks."""
    settings = [where]
    if where[:1] == ("vars",) and len(where) > 1:
        data = {key: value for key, value in recipe.data.items() if key != "vars"}
        settings = [at for at, text in _texts(data, ()) if where[1] in VARIABLE.findall(text)]
    receivers = [".".join(map(str, at)) for at in settings]
    # A driver sends its key where its own block says.
    addresses = dict.fromkeys(
        redacted(one)
        for at in settings
        for setting, _, text in _all_texts(recipe, session)
        if setting.startswith(_block(recipe.data, at))
        for one in _ADDRESS.findall(text)
    )
    sent = f", sent to {', '.join(map(_shown, addresses))}" if addresses else ""
    return f"variable {_shown(name)} of the environment as {_settings(receivers) or 'nothing'}{sent}"


def _block(data: Any, where: Where) -> str:
    """Return the beginning of the settings of the driver in whose block a setting stands."""
    end = len(where) - 1
    for number, key in enumerate(where):
        data = data[key]
        if isinstance(data, Mapping) and "use" in data:
            end = number + 1
    return ".".join(map(str, where[:end])) + "."


def _settings(places: list[str]) -> str:
    return ", ".join(map(_shown, dict.fromkeys(places)))


def _shown(text: str) -> str:
    """Return a text as it is, or quoted where a terminal would not show it so."""
    return text if text.isprintable() else repr(text)
