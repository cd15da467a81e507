"""Discovery of drivers through entry points, without importing them, and loading by name."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from email.parser import HeaderParser
from functools import lru_cache
from importlib.metadata import EntryPoint, distributions
from pathlib import Path
from typing import Any, NoReturn

import attrs

from srtk_framework.host.class_path import import_class, is_class_path
from srtk_framework.host.observers import Observer
from srtk_framework.host.versions import __version__
from srtk_framework.roles import ROLES, Role
from srtk_framework.roles.base import contract_of, hook_names, roles_of
from srtk_framework.values import PluginError, close_matches
from srtk_framework.values.deprecation import deprecation_of, name_driver

CORE = "srtk-framework"
MISSING = " is not installed; run: pip install "
"""Between a driver and its distribution, in the sentence on one that is missing."""
OBSERVER = "observer"
ROLE = "role"
STAGE = "stage"
RESERVED = (OBSERVER, ROLE, STAGE, "command")
"""Entry-point groups that hold no drivers; no role may have such a name."""
RECIPE_KEYS = (
    *("srtk", "vars", "questions", "observers"),
    *("output", "batch", "limit", "relink", "seed", "budget", "description"),
)
"""Keys of a recipe that hold no drivers; no role may have such a name or plural."""


@attrs.frozen
class Plugin:
    """An installed driver, not yet imported.

    Attributes:
        role: Role of the driver.
        name: Name of the driver in ``use:``.
        target: ``module:Class``.
        distribution: Name of the distribution that contains it.
        version: Version of that distribution.
    """

    role: str
    name: str
    target: str
    distribution: str
    version: str
    _entry: EntryPoint = attrs.field(repr=False, eq=False)
    _requires: tuple[str, ...] = attrs.field(repr=False, eq=False)


def group(role: str) -> str:
    """Return the entry-point group of a role."""
    return f"srtk.{role}"


def find(role: str) -> list[Plugin]:
    """List the installed drivers of a role, by name."""
    return list(_installed(_search_path()).get(role, ()))


def known_names(role: str) -> list[str]:
    """List the drivers of a role in the framework's own plugins, installed or not, by name."""
    from srtk_framework.host.known_drivers import known_drivers  # a file, read only if it is asked for

    return sorted({name for roles in known_drivers().values() for name in roles.get(role, ())})


@lru_cache(maxsize=4)
def _installed(search_path: tuple[tuple[str, int], ...]) -> dict[str, list[Plugin]]:
    """Read the entry points of the framework's groups in one pass, by group and sorted by name; nothing is imported."""
    found: dict[str, dict[tuple[str, str], Plugin]] = {}
    for distribution in distributions():
        # Most distributions of an environment have none, and parsing is slow: the fields without the README after them.
        if f"[{group('')}" in (distribution.read_text("entry_points.txt") or ""):
            text = distribution.read_text("METADATA") or distribution.read_text("PKG-INFO") or ""
            data = HeaderParser().parsestr(text)
            name, version, requires = data["Name"], data["Version"], tuple(data.get_all("Requires-Dist", ()))
            for entry in (entry for entry in distribution.entry_points if entry.group.startswith(group(""))):
                role = entry.group.removeprefix(group(""))
                plugin = Plugin(role, entry.name, entry.value, name, version, entry, requires)
                # The first distribution of a name on the path hides later ones, as it does for import.
                found.setdefault(role, {}).setdefault((entry.name, name), plugin)
    return {role: [own[key] for key in sorted(own)] for role, own in found.items()}


def _search_path() -> tuple[tuple[str, int], ...]:
    """Return the folders that hold distributions, each with the time of its last change.

    Installing a distribution, or removing it, changes the folder.
    """
    return tuple((folder, _last_change(folder)) for folder in sys.path)


def _last_change(folder: str) -> int:
    try:
        return os.stat(folder or ".").st_mtime_ns
    except OSError:
        return 0


def role_names() -> list[str]:
    """List the roles of the framework and of installed distributions; nothing is imported."""
    return [*ROLES, *dict.fromkeys(plugin.name for plugin in find(ROLE) if plugin.name not in ROLES)]


def role_class(name: str) -> type[Role]:
    """Return the class of a role, importing it if it belongs to another distribution.

    Raises:
        PluginError: If there is no such role, or several, or it is not a valid role.
    """
    if name in ROLES:
        return ROLES[name]
    plugin = _only(ROLE, name)
    who = f"role {name!r} of {plugin.distribution} {plugin.version}"
    problem = name_problem(plugin)
    if problem:
        raise PluginError(problem)
    cls = _import(plugin)
    if not (isinstance(cls, type) and issubclass(cls, Role)):
        raise PluginError(f"{who}: {cls!r} is not a subclass of {Role.__module__}.{Role.__qualname__}")
    if vars(cls).get("role") != name:
        raise PluginError(f"{who}: the class must name itself; write `role = {name!r}` in {cls.__qualname__}")
    if not hook_names(cls):
        raise PluginError(f"{who}: {cls.__qualname__} has no hook; mark its methods with srtk_framework.roles.hook")
    if cls.plural in (*RECIPE_KEYS, *_framework_keys()):
        text = f"the plural {cls.plural!r} of {cls.__qualname__} is another key of recipes; write `plural = …` in it"
        raise PluginError(f"{who}: {text}")
    return cls


def name_problem(plugin: Plugin) -> str | None:
    """Return why a role of another distribution cannot have its name; None if it can."""
    who, name = f"role {plugin.name!r} of {plugin.distribution} {plugin.version}", plugin.name
    if name in RESERVED:
        return f"{who}: no role can be called {name!r}, since srtk.{name} is another entry-point group"
    if name in ROLES:
        return f"{who}: the framework has a role {name!r} of its own; give this one another name"
    if name in (*RECIPE_KEYS, *_framework_keys(), *(stage.name for stage in find(STAGE))):
        return f"{who}: no role can be called {name!r}, since `{name}:` is another key of recipes"
    return None


def _framework_keys() -> list[str]:
    """List the keys of recipes for drivers of the framework's roles."""
    return [key for name, role in ROLES.items() for key in (name, role.plural)]


def load(role: str, name: str, folder: Path = Path()) -> Any:
    """Import the class of one driver and check it against its role.

    Args:
        role: Role of the driver.
        name: Name of an installed driver, or ``package.module:Class``, or ``path/to/file.py:Class``.
        folder: Folder of the recipe, where a relative file or module is found.

    Raises:
        PluginError: If there is no such driver, or several, or it breaks the contract of its role.
    """
    if is_class_path(name):
        cls = import_class(name, folder)
        check_class(cls, role, f"{role} {name!r}")
        return cls
    if role != OBSERVER:
        role_class(role)
    plugin, cls = load_only(role, name)
    check_class(cls, role, f"{role} {name!r} of {plugin.distribution} {plugin.version}")
    return cls


def load_only(group_name: str, name: str) -> tuple[Plugin, Any]:
    """Import the one entry point of a name, and return it with its distribution and version.

    Raises:
        PluginError: If there is none, or several, or it cannot be imported.
    """
    plugin = _only(group_name, name)
    return plugin, _import(plugin)


def _only(role: str, name: str) -> Plugin:
    """Return the one entry point of a name, for a version of the framework that fits."""
    plugins = find(role)
    fitting = [plugin for plugin in plugins if plugin.name == name]
    if not fitting:
        known = [plugin.name for plugin in plugins] + (list(ROLES) if role == ROLE else [])
        from srtk_framework.host.known_drivers import distribution_of  # read only if something is missing

        dist = distribution_of(role, name)
        if dist is not None:
            raise PluginError(f"{role} {name!r}{MISSING}{dist}")
        remedy = " If another plugin brings it, install that with pip"
        for plugin in (one for row in _installed(_search_path()).values() for one in row if one.name == name):
            remedy = (
                f" {plugin.distribution} has a {name!r} in the entry-point group {group(plugin.role)};"
                f" that of this role is {group(role)}"
            )
        raise PluginError(
            f"no {role} is called {name!r}; installed are {', '.join(known) or 'none'}.{close_matches(name, known)}"
            f"{remedy}"
        )
    if len(fitting) > 1:
        raise PluginError(
            f"{role} {name!r} comes from {' and from '.join(plugin.distribution for plugin in fitting)};"
            " uninstall all but one"
        )
    _check_version(fitting[0])
    return fitting[0]


@lru_cache
def _check_version(plugin: Plugin) -> None:
    from packaging.requirements import Requirement
    from packaging.version import Version

    for text in plugin._requires:
        requirement = Requirement(text)
        if (
            requirement.name == CORE
            and not requirement.extras
            and not requirement.specifier.contains(Version(__version__), prereleases=True)
        ):
            raise PluginError(
                f"{plugin.distribution} {plugin.version} is made for {CORE}{requirement.specifier},"
                f" but {__version__} is installed; run: pip install --upgrade {plugin.distribution} {CORE}"
            )


def _import(plugin: Plugin) -> Any:
    """Load one entry point through stevedore, which would otherwise load the whole group."""
    from stevedore import DriverManager

    class OneDriver(DriverManager[Any]):
        # stevedore's own list comes from a disk cache that can be minutes old.
        def list_entry_points(self) -> list[EntryPoint]:
            return [plugin._entry]

    def failed(manager: object, entry: EntryPoint, error: BaseException) -> NoReturn:
        raise PluginError(
            f"{plugin.role} {plugin.name!r} of {plugin.distribution} {plugin.version} cannot be loaded from"
            f" {plugin.target}: {type(error).__name__}: {error}; reinstall {plugin.distribution}, or correct"
            f" the entry point in its pyproject.toml"
        ) from error

    try:
        manager = OneDriver(group(plugin.role), plugin.name, invoke_on_load=False, on_load_failure_callback=failed)
    except SystemExit as error:  # which stevedore does not count among the failures
        failed(None, plugin._entry, error)
    return manager.driver


def check_class(cls: Any, role: str, who: str) -> None:
    """Refuse a class that breaks the contract of its role, with the change that it needs.

    Raises:
        PluginError: For a wrong base class, a missing or misspelt method, or wrong arguments.
    """
    if role == OBSERVER:
        _check_form(cls, Observer, who)
        return
    base = role_class(role)
    _check_form(cls, base, who)
    _check_hooks(cls, base, who)
    _tell_deprecated(cls, base, who)


def _check_form(cls: Any, base: type[Any], who: str) -> None:
    """Check base class, decoration and field types."""
    if not (isinstance(cls, type) and issubclass(cls, base)):
        played = roles_of(cls) if isinstance(cls, type) and issubclass(cls, Role) else []
        namesake = next((one for one in played if issubclass(base, Role) and one.role == base.role), None)
        home = Role.__module__.rpartition(".")[0] if base.__module__.startswith("srtk_framework.roles.") else None
        where = f"{home or base.__module__}.{base.__qualname__}"
        if namesake is not None:
            text = f"its role {namesake.__module__}.{namesake.__qualname__} has the name of {where}; rename that role"
            raise PluginError(f"{who}: {text}")
        if not isinstance(cls, type):
            raise PluginError(f"{who}: it leads to a {type(cls).__name__}; name a class, as in `module:Class`")
        derived = f"class {cls.__name__}({base.__name__})"
        raise PluginError(f"{who}: {cls.__qualname__} is not a subclass of {where}; write `{derived}`")
    if not attrs.has(cls):
        raise PluginError(f"{who}: decorate the class with attrs.define; its fields are its settings")
    try:
        attrs.resolve_types(cls)
    except NameError as error:
        raise PluginError(
            f"{who}: the type of a field cannot be resolved: {error}; import it outside of TYPE_CHECKING"
        ) from error


@lru_cache
def _check_hooks(cls: type[Any], base: type[Role], who: str) -> None:
    """Refuse missing hooks, wrong arguments and misspelt names."""
    hooks = hook_names(base)
    own = [name for klass in cls.__mro__ if klass not in base.__mro__ for name in vars(klass)]
    for name in dict.fromkeys(own):
        if name in hooks:
            _check_arguments(getattr(cls, name), hooks[name], f"{who}: {name}")
        elif not name.startswith("_") and inspect.isfunction(getattr(cls, name, None)):
            near = [hook for hook in get_close_matches(name, hooks, n=1, cutoff=0.84) if hook not in own]
            if near:
                raise PluginError(
                    f"{who}: method {name!r} looks like the hook {near[0]!r}; rename it, or give it a leading _"
                )
    # Last, since a hook that is misspelt is missing too.
    missing = _missing(cls, base)
    if missing:
        raise PluginError(f"{who}: method {' and '.join(missing)} is missing; {base.__qualname__} asks for it")


def _tell_deprecated(cls: type[Any], base: type[Role], who: str) -> None:
    """Warn about a driver that is deprecated or implements hooks that are, and have its own calls name it."""
    name_driver(cls.__module__, who)
    if (own := deprecation_of(cls)) is not None:
        own.tell(f"{who}: the driver")
    for name, spec in hook_names(base).items():
        deprecation = deprecation_of(spec)
        if deprecation is not None and getattr(cls, name) is not spec:
            deprecation.tell(f"{who}: the hook {name!r}")


def _missing(cls: type[Any], base: type[Role]) -> list[str]:
    """List the required hooks that a driver lacks."""
    missing = sorted(cls.__abstractmethods__)
    for name, spec in hook_names(base).items():
        if getattr(cls, name) is spec:
            missing += [other for other in contract_of(spec).needs if getattr(cls, other) is getattr(base, other)]
    return missing


def _check_arguments(function: Any, spec: Any, who: str) -> None:
    """Refuse arguments that the hook does not have; a driver may omit those that it does not need."""
    wanted = list(inspect.signature(spec).parameters)[1:]
    parameters = list(inspect.signature(function).parameters.values())[1:]
    names = [parameter.name for parameter in parameters]
    shown = f"{who}({', '.join(names)})"
    unknown = [name for name in names if name not in wanted]
    if unknown:
        raise PluginError(
            f"{shown} takes {unknown[0]!r}, which the hook does not have; remove it. A driver takes those of"
            f" ({', '.join(wanted)}) that it needs.{close_matches(unknown[0], wanted)}"
        )
    if names != [name for name in wanted if name in names]:
        raise PluginError(f"{shown} must take its arguments in the order of the hook: ({', '.join(wanted)})")
    loose = [parameter.name for parameter in parameters if parameter.default is not parameter.empty]
    if loose:
        raise PluginError(
            f"{who}: argument {loose[0]!r} has a default; hooks are always called with every argument, so remove it"
        )
    odd = [parameter.name for parameter in parameters if parameter.kind is not parameter.POSITIONAL_OR_KEYWORD]
    if odd:
        raise PluginError(f"{who}: argument {odd[0]!r} must be an ordinary one: neither keyword-only nor starred")


def install_line(problems: Sequence[str]) -> str | None:
    """Join the remedies of all problems that are a driver's missing distribution.

    Returns:
        One ``pip install`` for all of them; None if fewer than two distributions are missing.
    """
    found = sorted({problem.rpartition(MISSING)[2] for problem in problems if MISSING in problem})
    return f"pip install {' '.join(found)}" if len(found) > 1 else None


def distributions_of(names: Sequence[tuple[str, str]]) -> list[str]:
    """Return the distributions that contain the given (role, name) drivers, sorted."""
    return sorted({plugin.distribution for role, name in names for plugin in find(role) if plugin.name == name})
