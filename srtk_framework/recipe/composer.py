"""Composition of a recipe's drivers: structure settings, fill needs, share equal drivers."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, Union, get_args, get_origin

import attrs

from srtk_framework.host import discovery as plugins
from srtk_framework.host.observers import Observer
from srtk_framework.host.ports import driver_of, port
from srtk_framework.recipe.blocks import Block, block_in, is_networkx, with_article
from srtk_framework.recipe.recipe import Recipe
from srtk_framework.recipe.settings import Where, structure_fields
from srtk_framework.roles import ROLES, Role
from srtk_framework.values import Budget, PluginError, RecipeError, SettingsError, SrtkError, close_matches, redacted
from srtk_framework.values.deprecation import deprecation_of

ONE, OPTIONAL, MANY = "one", "optional", "many"


@attrs.frozen
class Need:
    """A field of a driver that is annotated with a role.

    Attributes:
        field: Name of the field.
        role: The role.
        kind: ``one``, ``optional`` or ``many``.
        plural: Key of a recipe for several drivers of the role.
    """

    field: str
    role: str
    kind: str
    plural: str


def needs_of(cls: type[Any]) -> list[Need]:
    """Find the fields of a driver class that are annotated with a role."""
    attrs.resolve_types(cls)
    found = (_need(field.alias, field.type) for field in attrs.fields(cls) if field.init)
    return [need for need in found if need is not None]


def _need(name: str, kind: Any) -> Need | None:
    if isinstance(kind, type) and issubclass(kind, Role):
        return Need(name, kind.role, ONE, kind.plural)
    origin, args = get_origin(kind), [arg for arg in get_args(kind) if arg not in (type(None), Ellipsis)]
    inner = args[0] if len(args) == 1 and isinstance(args[0], type) and issubclass(args[0], Role) else None
    if inner is None:
        return None
    if origin in (Union, types.UnionType):
        return Need(name, inner.role, OPTIONAL, inner.plural)
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return Need(name, inner.role, MANY, inner.plural)
    return None


def wants_budget(field: Any) -> bool:
    """Return whether a field takes the recipe's budget."""
    return field.type is Budget


@attrs.frozen
class _Scope:
    """Blocks that may fill a need at one place of the recipe, nearest first."""

    blocks: Mapping[str, Block] = attrs.field(factory=dict)
    outer: _Scope | None = None

    def find(self, role: str, inside_of: Sequence[Block]) -> tuple[Block, _Scope] | None:
        """Find the nearest block of a role that does not contain the block whose need it fills."""
        scope: _Scope | None = self
        while scope is not None:
            block = scope.blocks.get(role)
            if block is not None and block not in inside_of:
                return block, scope
            scope = scope.outer
        return None

    def without(self, role: str) -> _Scope:
        """Return the scope for the block of a role itself, which sees its siblings."""
        return _Scope({name: block for name, block in self.blocks.items() if name != role}, self.outer)


class Composer:
    """Builds the drivers of one recipe, each behind its port.

    Args:
        recipe: The recipe.
        observers: Are notified of every hook call.
    """

    def __init__(self, recipe: Recipe, observers: Sequence[Observer] = ()) -> None:
        self.recipe = recipe
        self.problems: list[str] = []
        self.causes: list[BaseException] = []
        self.used: list[tuple[str, str]] = []
        self._observers = observers
        self._top = _Scope(recipe.blocks)
        self._built: dict[Any, Any] = {}
        self._order: list[Any] = []
        self._where: dict[int, Where] = {}  # of ports, by their identity
        self._failed: set[tuple[str, str]] = set()
        self._seen: set[Where] = set()  # keys of the blocks that were built
        self._ports: dict[int, Any] = {}  # of driver objects, by their identity
        self._holders: set[int] = set()  # driver objects whose fields are being read, by their identity
        self._held: list[tuple[Any, str, Any]] = []  # driver object, its field, and the ports for what the field holds

    def build(self, block: Block, graph: Block | None = None) -> Any:
        """Build a driver and its needs.

        Args:
            block: The driver.
            graph: Graph that stands in for the recipe's, in the driver and in its needs.

        Returns:
            Its port, or None if a problem was added to ``problems``.
        """
        scope = self._top if graph is None else _Scope({**self.recipe.blocks, "knowledge_graph": graph})
        return self._build(block, scope, ())

    def check_unused(self, block: Block) -> None:
        """Find the mistakes in a block that nothing needs, though another block has its driver; it is not opened."""
        if block.where not in self._seen:
            count = len(self._order)
            self.build(block)
            del self._order[count:]

    def of_role(self, role: str) -> Any:
        """Build the driver of a role at the top level of the recipe; None if there is none."""
        block = self.recipe.blocks.get(role)
        return self.build(block) if block else None

    def built(self, role: str) -> list[Any]:
        """Return the ports of a role in the order of their making."""
        return [one for one in self._order if one.driver.role == role]

    def placed(self) -> list[tuple[Where, Any]]:
        """Return all ports in the order of their making, each with the keys of its block in the recipe."""
        return [(self._where[id(one)], one) for one in self._order]

    def port_of(self, driver: Any) -> Any:
        """Return the port of a driver in a field of a driver object; a port is its own."""
        return self._ports.get(id(driver_of(driver)), driver)

    def check(self) -> None:
        """Raise all problems found so far as one RecipeError."""
        if self.problems:
            # Only the first cause, with its traceback: the problems name every one.
            raise RecipeError(list(dict.fromkeys(map(redacted, self.problems)))) from next(iter(self.causes), None)

    def open(
        self, stack: ExitStack, apart: Sequence[Any] = (), before: Callable[[Any, int, int], None] | None = None
    ) -> None:
        """Open the drivers in the order they were built, and have the stack close them.

        While they are open, each field of a driver object that holds a driver holds its port instead, so that those
        calls are checked and observed like all calls.

        Args:
            stack: Closes the drivers, last first.
            apart: Ports whose drivers the caller opens.
            before: Called with each port that is about to be opened, its number from 0, and their count.
        """
        for driver, field, ports in self._held:
            stack.callback(_put_back, driver, field, ports, getattr(driver, field))
            object.__setattr__(driver, field, ports)  # also in a frozen class, and past validators of the field
        order = [one for one in self._order if not any(one is other for other in apart)]
        for number, one in enumerate(order):
            if before is not None:
                before(one, number, len(order))
            stack.callback(one.close_driver)
            one.open_driver()

    def _say(self, where: tuple[str | int, ...], text: str) -> None:
        self.problems.append(f"{self.recipe.places.say(where)}: {text}")

    def _build(self, block: Block, scope: _Scope, inside_of: tuple[Block, ...]) -> Any:
        self._seen.add(block.where)
        cls = self._load(block)
        if cls is None:
            return None
        if block.given is not None and not isinstance(block.given, type):
            return self._build_given(block, cls)
        count = len(self.problems)
        needs = needs_of(cls)
        fields = {field.alias: field for field in attrs.fields(cls) if field.init}
        local, inner = self._inner_scope(block, needs, fields, scope)
        filled: dict[str, Any] = {}
        for need in needs:
            value = self._fill(need, block, inner, (*inside_of, block), fields[need.field].default is attrs.NOTHING)
            if value is not _LEFT_OUT:
                filled[need.field] = value
        own = {key: value for key, value in block.settings.items() if key not in filled and key not in local}
        own.pop("name", None) if "name" not in fields else None
        driver = self._structured(cls, block, own, filled, [need.field for need in needs])
        if driver is None or len(self.problems) > count:
            return None
        key = (
            block.role,
            cls,
            block.use,
            repr(sorted(own.items())),
            tuple((name, _identity(v)) for name, v in filled.items()),
        )
        # Equal blocks share a driver, so that no model is loaded twice.
        if key not in self._built:
            self._built[key] = port(driver, block.role, block.name, self._observers)
            self._order.append(self._built[key])
            self._where[id(self._built[key])] = block.where
        return self._built[key]

    def _build_given(self, block: Block, cls: Any) -> Any:
        """Put a driver object behind its port, or the driver that is made of a networkx graph."""
        key = id(block.given)
        if key not in self._ports:
            driver = block.given
            if is_networkx(driver):
                try:
                    driver = cls.from_networkx(driver)
                except ValueError as error:
                    self._say(block.where, str(error))
                    return None
            self._ports[key] = self._port_of_object(driver, block.role, block.use, block.where)
        return self._ports[key]

    def _port_of_object(self, driver: Any, role: str, name: str, where: tuple[str | int, ...]) -> Any:
        """Make the port of a driver object, after the ports of the drivers in its fields."""
        if id(driver) in self._holders:
            self._say(where, f"this {type(driver).__name__} holds itself; give what stands in it another {role}")
            return driver
        if id(driver) not in self._ports:
            self._holders.add(id(driver))
            self._hold(driver, where)
            self._holders.remove(id(driver))
            self._ports[id(driver)] = port(driver, role, name, self._observers)
            self._order.append(self._ports[id(driver)])
            self._where[id(self._ports[id(driver)])] = where
        return self._ports[id(driver)]

    def _hold(self, driver: Any, where: tuple[str | int, ...]) -> None:
        """Make ports for the drivers in the fields of a driver object, which ``open`` puts there."""
        cls = type(driver)
        names = {field.alias: field.name for field in attrs.fields(cls)}
        for need in needs_of(cls):
            value = getattr(driver, names[need.field])
            if need.kind == MANY and isinstance(value, list | tuple):
                ports: Any = type(value)(self._held_port(need, one, where) for one in value)
            else:
                ports = self._held_port(need, value, where)
            if ports is not value:
                self._held.append((driver, names[need.field], ports))

    def _held_port(self, need: Need, value: Any, where: tuple[str | int, ...]) -> Any:
        """Return the port of the driver in a field; the value itself where it is no driver that fits."""
        driver = driver_of(value)  # another open session may have put a port there
        if not isinstance(driver, Role):
            return value
        name = type(driver).__name__
        try:
            plugins.check_class(type(driver), need.role, f"{need.role} {name}")
        except PluginError as error:
            self.causes.append(error)
            self._say((*where, need.field), str(error))
            return value
        return self._port_of_object(driver, need.role, name, (*where, need.field))

    def _load(self, block: Block) -> Any:
        """Return the class of a driver, checked against its role; None if a problem was added."""
        self.used.append((block.role, block.use))
        if block.given is None and (block.role, block.use) in self._failed:
            return None
        where = block.where if block.given is not None else (*block.where, "use")
        try:
            if block.given is None:
                return plugins.load(block.role, block.use, self.recipe.folder)
            if is_networkx(block.given) and block.role == "knowledge_graph":
                return plugins.load(block.role, block.use)
            cls = block.given if isinstance(block.given, type) else type(block.given)
            plugins.check_class(cls, block.role, f"{block.role} {cls.__name__}")
        except PluginError as error:
            self.causes.append(error)
            self._failed.add((block.role, block.use))
            self._say(where, str(error))
            return None
        return cls

    def _inner_scope(
        self, block: Block, needs: Sequence[Need], fields: Mapping[str, Any], scope: _Scope
    ) -> tuple[set[str], _Scope]:
        """Collect the drivers that a block holds, which take precedence over drivers outside of it.

        A driver in an optional field is for that field alone, where another field must have a driver of the role.

        Returns:
            The keys that are roles but not fields of the driver, and the scope for its needs.
        """
        inside: dict[str, Block] = {}
        required = {need.role for need in needs if need.kind != OPTIONAL}
        for need in needs:
            if need.kind == OPTIONAL and need.role in required:
                continue
            value = block.settings.get(need.field)
            inner = block_in(need.role, value, (*block.where, need.field)) or self._named(need.role, value)
            if inner is not None:
                inside[need.role] = inner
        loose = set()
        for key, value in block.settings.items():
            inner = None if key in fields else block_in(key, value, (*block.where, key))
            if inner is not None and (key in ROLES or key in plugins.role_names()):
                inside.setdefault(key, inner)
                loose.add(key)
        return loose, _Scope(inside, scope) if inside else scope

    def _named(self, role: str, value: Any) -> Block | None:
        """Return the named driver that a setting refers to; None if it is no such name."""
        return self.recipe.named.get(role, {}).get(value) if isinstance(value, str) else None

    def _fill(self, need: Need, block: Block, scope: _Scope, inside_of: tuple[Block, ...], required: bool) -> Any:
        """Find the driver or drivers for one need; ``_LEFT_OUT`` keeps the field's default."""
        where = (*block.where, need.field)
        given = block.settings.get(need.field)
        if need.kind == MANY and isinstance(given, list):
            return [self._given(need, item, (*where, i), scope, inside_of) for i, item in enumerate(given)]
        if given is not None:
            built = self._given(need, given, where, scope, inside_of)
            return [built] if need.kind == MANY else built
        if need.kind == OPTIONAL:
            return _LEFT_OUT
        listed = self.recipe.listed.get(need.role)
        if need.kind == MANY and listed is not None:
            return [self._build(one, self._top.without(need.role), inside_of) for one in listed if one not in inside_of]
        named = self.recipe.named.get(need.role, {})
        if need.field in named:
            return self._build(named[need.field], self._top, inside_of)
        found = scope.find(need.role, inside_of)
        if found is not None:
            around = self._top if found[0] in named.values() else found[1].without(need.role)
            built = self._build(found[0], around, inside_of)
            return [built] if need.kind == MANY else built
        if required:
            container = scope.find(need.role, ())
            self._say(block.where, _lacking(need, block, sorted(named), container[0] if container else None))
        return _LEFT_OUT

    def _given(
        self, need: Need, value: Any, where: tuple[str | int, ...], scope: _Scope, inside_of: tuple[Block, ...]
    ) -> Any:
        inner = block_in(need.role, value, where)
        if inner is not None:
            return self._build(inner, scope.without(need.role), inside_of)
        named = self.recipe.named.get(need.role, {})
        if isinstance(value, str) and value in named:
            if named[value] in inside_of:
                self._say(where, f"{value} holds this {inside_of[-1].role} and cannot stand in itself; name another")
                return None
            return self._build(named[value], self._top, inside_of)
        if isinstance(value, str):
            self._say(
                where,
                f"no {need.role} is named {value!r} under `{need.plural}:`"
                f" ({', '.join(sorted(named)) or 'there are none'}).{close_matches(value, sorted(named))}",
            )
        else:
            text = f"{with_article(need.role)} is written as {{use: NAME, ...}}, or by its name under `{need.plural}:`"
            self._say(where, text)
        return None

    def _tell_deprecated(self, given: Mapping[str, Any], fields: Mapping[str, Any], where: Where, owner: str) -> None:
        """Warn about each deprecated setting that a block names, those inside of a setting too."""
        for key, value in given.items():
            field = fields.get(key)
            if field is None:
                continue
            if (deprecation := deprecation_of(field)) is not None:
                deprecation.tell(f"{self.recipe.places.say((*where, key))}: the setting {key!r} of {owner}")
            for kind in (field.type, *get_args(field.type)):
                if isinstance(value, Mapping) and attrs.has(kind):
                    attrs.resolve_types(kind)
                    inner = {one.alias: one for one in attrs.fields(kind) if one.init}
                    self._tell_deprecated(value, inner, (*where, key), f"{owner}, {key}")

    def _structured(
        self, cls: Any, block: Block, own: Mapping[str, Any], filled: Mapping[str, Any], need_fields: Sequence[str]
    ) -> Any:
        """Structure the settings and make the driver; each problem is reported with the place of its key."""
        fields = {field.alias: field for field in attrs.fields(cls) if field.init}
        count = len(self.problems)
        given = {key: value for key, value in own.items() if key not in need_fields}
        owner = f"{block.role} {block.use!r}"
        self._tell_deprecated(given, fields, block.where, owner)
        own_values = structure_fields(given, fields, owner, lambda where, text: self._say((*block.where, *where), text))
        values = {**filled, **own_values}
        fine = len(self.problems) == count
        for name, field in fields.items():
            if wants_budget(field) and name not in values:
                values[name] = self.recipe.options.budget
            elif field.default is attrs.NOTHING and name not in values and name not in need_fields:
                fine = False
                self._say(block.where, f"{block.role} {block.use!r} needs the setting {name!r}")
        if not fine or any(field.default is attrs.NOTHING and name not in values for name, field in fields.items()):
            return None
        try:
            return cls(**values)
        except SettingsError as error:
            for where, text in error.problems:
                self._say((*block.where, *where), text)
        except (TypeError, ValueError, SrtkError) as error:
            self._say(block.where, f"{owner}: {error}")
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a driver that fails or exits ends no program
            self.causes.append(error)
            self._say(block.where, f"{owner} cannot be made: {type(error).__name__}: {error}")
        return None


def _lacking(need: Need, block: Block, named: Sequence[str], container: Block | None) -> str:
    """Return a sentence on a missing driver, with the text to write.

    Args:
        need: The need.
        block: The driver.
        named: Names that the recipe gives to drivers of that role.
        container: The only driver of that role there, if it contains this driver and so cannot stand in it.
    """
    text = f"{block.role} {block.use!r} needs {with_article(need.role)}"
    if container is None:
        several = f"; name one of {', '.join(named)} as `{need.field}:`" if named else ""
        return f"{text}; give one as `{need.role}:` in the recipe, or as `{need.field}:` in this block{several}"
    inner = named[0] if named else "stored"
    return (
        f"{text} other than {container.use!r}, which contains it; name the inner one:"
        f" `{need.plural}: {{{inner}: {{use: ...}}}}`, `{need.role}: {{use: {container.use}, {need.field}: {inner}}}`,"
        f" `{block.role}: {{use: {block.use}, {need.field}: {inner}}}`"
    )


def observers_of(recipe: Recipe) -> tuple[list[Observer], list[str]]:
    """Build the observers that a recipe names, and return them with the problems found."""
    composer = Composer(recipe)
    observers = []
    for block in recipe.observers:
        cls = composer._load(block)
        observer = composer._structured(cls, block, block.settings, {}, ()) if cls is not None else None
        if observer is not None:
            observers.append(observer)
    return observers, composer.problems


def _put_back(driver: Any, field: str, ports: Any, before: Any) -> None:
    """Give a field of a driver object its value from before the session, unless another session has changed it."""
    if getattr(driver, field) is ports:
        object.__setattr__(driver, field, before)


class _LeftOut:
    """The value of a need that keeps its default."""


_LEFT_OUT = _LeftOut()


def _identity(value: Any) -> Any:
    return tuple(id(item) for item in value) if isinstance(value, list) else id(value)
