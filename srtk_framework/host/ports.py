"""Ports: proxies of drivers, with the methods of the role and checked answers.

Whoever needs a driver holds its port. The port class of a role, also of a third party's, is made from the role's
hooks. A port removes duplicates from the batch, removes gold from questions, checks that the answer is aligned, and
turns whatever a driver raises into a ``DriverError`` that names the driver.
"""

from __future__ import annotations

import functools
import inspect
import re
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from srtk_framework.host.hooks import managed
from srtk_framework.host.observers import Observer
from srtk_framework.roles import (
    Key,
    Role,
    by_identity,
    by_value,
    contract_of,
    hook_names,
    roles_of,
    set_name,
)
from srtk_framework.values import DriverError, Question, SrtkError, note_secrets, redacted, secrets_in

_OWN = ("open", "close")
"""Methods that a port does not pass on: the session opens and closes the driver."""


class Port:
    """Base class of ports: the driver, and the call through pluggy.

    Attributes:
        played: The role.
        driver: The driver behind the port.
        name: Name of the driver in ``use:``.
    """

    played: ClassVar[type[Role]] = Role

    def __init__(self, driver: Role, name: str, observers: Sequence[Observer] = ()) -> None:
        self.driver = driver
        self.name = name
        self._hook = managed(driver, self.played, name, observers).hook
        self._ledger = None if self.played.ledger is None else self.played.ledger()
        set_name(driver, name)
        note_secrets(secrets_in(driver.settings()))

    @property
    def spent(self) -> Mapping[str, Any]:
        """Counts of the role's ledger so far; empty for a role without one."""
        return {} if self._ledger is None else self._ledger.total()

    def open(self) -> None:
        """Do nothing: the session opens the driver itself."""

    def close(self) -> None:
        """Do nothing: the session closes the driver itself."""

    def open_driver(self) -> None:
        """Open the driver; an error names it."""
        self._named("be opened", self.driver.open)

    def close_driver(self) -> None:
        """Close the driver; an error names it."""
        self._named("be closed", self.driver.close)

    def _named(self, what: str, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a driver, and turn whatever it raises into an error that names it."""
        try:
            return call(*args, **kwargs)
        except Exception as error:
            named = self._error(what, error)
            if named is error:
                raise
            raise named from error

    def _error(self, what: str, error: Exception) -> Exception:
        """Return the error to raise for an exception of a driver; the same one if it names its driver already."""
        if isinstance(error, DriverError):
            return error if error.driver else DriverError(redacted(str(error)), self.name)
        if isinstance(error, SrtkError):
            clean = redacted(str(error))
            return error if clean == str(error) else DriverError(clean, self.name)
        return DriverError(redacted(f"cannot {what}: {type(error).__name__}: {error}"), self.name)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.driver!r})"


@functools.cache
def port_class(role: type[Role]) -> type[Any]:
    """Make the port class of a role from its hooks; its methods have the signatures of the role's."""
    methods: dict[str, Any] = {name: _hook_method(role, name, spec) for name, spec in hook_names(role).items()}
    for base in role.__mro__[: role.__mro__.index(Role) + 1]:
        for name, function in vars(base).items():
            if inspect.isfunction(function) and not name.startswith("_") and name not in (*methods, *_OWN):
                methods[name] = _passed_on(name, function)
    return type(
        f"{role.__name__}Port",
        (Port, role),
        {"__doc__": f"A driver of the role {role.role} behind pluggy.", "played": role, **methods},
    )


def port(driver: Role, role: str, name: str, observers: Sequence[Observer] = ()) -> Any:
    """Put a driver behind the port of one of its roles.

    Raises:
        TypeError: If the driver does not play the role.
    """
    for played in roles_of(type(driver)):
        if played.role == role:
            return port_class(played)(driver, name, observers)
    raise TypeError(f"{type(driver).__qualname__} is no {role}; derive it from the class of that role")


def driver_of(one: Any) -> Any:
    """Return the driver behind a port, or the driver itself."""
    return one.driver if isinstance(one, Port) else one


def _passed_on(name: str, function: Any) -> Any:
    """Make the port's method for a method of the role that is not a hook."""

    @functools.wraps(function)
    def method(self: Port, *args: Any, **kwargs: Any) -> Any:
        return self._named(name, getattr(self.driver, name), *args, **kwargs)

    return method


def _hook_method(role: type[Role], name: str, spec: Any) -> Any:
    """Make the port's method for a hook, with the hook's own parameters.

    It is compiled from text, as attrs and dataclasses compile theirs: hooks are called thousands of times a question,
    and binding ``*args`` and ``**kwargs`` to names would cost more than the rest of the port.
    """
    contract = contract_of(spec)
    parameters = list(inspect.signature(spec).parameters)[1:]
    lines = [f"def {name}({', '.join(['self', *parameters])}):"]
    if contract.needs:
        lines += ["    if getattr(type(self.driver), name) is spec:"]
        lines += [f"        return self._named({', '.join(['name', 'spec', 'self', *parameters])})"]
    lines += [f"    return ask(self, {{{', '.join(f'{one!r}: {one}' for one in parameters)}}})"]
    scope: dict[str, Any] = {"ask": _asker(role, name, spec), "name": name, "spec": spec}
    exec("\n".join(lines), scope)
    method: Any = functools.wraps(spec)(scope[name])
    vars(method).pop("__isabstractmethod__", None)  # copied from the role's hook
    return method


def _asker(role: type[Role], name: str, spec: Any) -> Callable[[Port, dict[str, Any]], Any]:
    """Make the function that asks a driver, given the arguments of one call of a hook by name."""
    contract = contract_of(spec)
    batch, keys, check = contract.batch, contract.keys, contract.answer
    first, others = batch[0] if batch else "", batch[1:]
    single = keys[0] if len(keys) == 1 else None
    questions = [] if role.sees_gold else [argument for argument in batch if _may_hold_questions(spec, argument)]
    may_be_none = not batch and _may_return_none(spec)

    def ask(self: Port, arguments: dict[str, Any]) -> Any:
        try:
            answer = getattr(self._hook, name)(**arguments)
        except Exception as error:
            named = self._error(name, error)
            if named is error:
                raise
            raise named from error
        if answer is None and not may_be_none:
            wanted = "a list with one item for each of the batch" if batch else "a value"
            raise DriverError(f"{name} returned None; it must return {wanted}", self.name)
        if batch:
            try:
                length = len(answer)
            except TypeError as error:
                shown = f"{name} returned {type(answer).__name__}, not a list with one item for each of the batch"
                raise DriverError(shown, self.name) from error
            if length != len(arguments[first]):
                shown = f"{name} got {len(arguments[first])} items and returned {length}; they must match"
                raise DriverError(shown, self.name)
        if check is not None:
            answer = self._named(name, check, answer, arguments, self.name)
        if self._ledger is not None:
            self._ledger.add(name, answer)
        return answer

    def ask_about_batch(self: Port, arguments: dict[str, Any]) -> Any:
        size = len(arguments[first])
        for one in others:
            if len(arguments[one]) != size:
                counts = " and ".join(f"{len(arguments[one])} {one}" for one in batch)
                raise DriverError(f"{name} was asked about {counts}; there must be as many of each", self.name)
        for one in questions:
            arguments[one] = [q.without_gold() if isinstance(q, Question) else q for q in arguments[one]]
        return ask_distinct(self, arguments, size) if keys else ask(self, arguments)

    def ask_distinct(self: Port, arguments: dict[str, Any], size: int) -> Any:
        """Ask about each distinct item once, and give every item its answer."""
        if size < 2:
            for one in batch:
                arguments[one] = list(arguments[one])
            return ask(self, arguments)
        if single is not None:
            rows = _keyed(arguments[first], single)
        else:
            rows = list(zip(*map(_keyed, map(arguments.__getitem__, batch), keys), strict=True))
        if single is by_value and len(set(rows)) == size:  # strings keep their hash, so that this is fast
            arguments[first] = list(rows)
            return ask(self, arguments)
        places: dict[Any, int] = {}
        place_of = places.setdefault
        order = [place_of(row, len(places)) for row in rows]
        if single is by_value:
            arguments[first] = list(places)
        else:
            for one in batch:
                arguments[one] = _firsts(arguments[one], order, len(places))
        answer = ask(self, arguments)
        if len(places) == size:
            return answer
        # A matrix takes a list of rows.
        return answer[order] if hasattr(answer, "dtype") else [answer[i] for i in order]

    def stream(self: Port, arguments: dict[str, Any]) -> Iterator[Any]:
        items = iter(ask(self, arguments))
        while (item := self._named(f"{name} on", next, items, None)) is not None:
            yield item

    return stream if contract.stream else ask_about_batch if batch else ask


def _keyed(column: Any, key: Key) -> Any:
    """Map each item of a batch to its key; items with equal keys are equal."""
    if key is by_value:
        return column
    return list(map(id if key is by_identity else key, column))


def _firsts(items: Any, order: list[int], count: int) -> list[Any]:
    """Return the first of the items at each place."""
    if count == len(order):
        return list(items)
    found: list[Any] = []
    for item, place in zip(items, order, strict=True):
        if place == len(found):
            found.append(item)
    return found


def _may_return_none(spec: Any) -> bool:
    """Return whether the annotation of a hook allows None as its answer."""
    return re.search(r"\bNone\b|\bOptional\[", str(spec.__annotations__.get("return", ""))) is not None


def _may_hold_questions(spec: Any, argument: str) -> bool:
    """Return whether an argument's annotation allows questions as items; True if it is open."""
    try:
        kind = typing.get_type_hints(spec).get(argument, Any)
    except NameError:  # a type that is imported for type checkers only
        return True
    return any(name in repr(kind) for name in (Question.__name__, "Any", "object", "~"))
