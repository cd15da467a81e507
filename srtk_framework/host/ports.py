"""Ports: proxies of drivers, with the methods of the role and checked answers.

Whoever needs a driver holds its port. The port class of a role, also of a third party's, is made from the role's
hooks. A port removes duplicates from the batch and gold from questions, and checks the answer by the contract of the
hook. Whatever a driver raises becomes a ``DriverError`` that names the driver. Where only some items of a batch have a
wrong answer or an error, the port raises a ``BatchError`` with all answers.
"""

from __future__ import annotations

import functools
import inspect
import re
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from srtk_framework.host.hooks import managed
from srtk_framework.host.kept_answers import KeptAnswers
from srtk_framework.host.observers import Observer
from srtk_framework.roles import Role, by_identity, by_value
from srtk_framework.roles.answer_checks import is_list_like
from srtk_framework.roles.base import HookContract, Key, contract_of, hook_names, roles_of, set_name
from srtk_framework.values import DriverError, Question, Ragged, SrtkError, note_secrets, redacted, secrets_in
from srtk_framework.values.errors import BatchError

END_OF_STREAM = object()
# A driver that calls sys.exit fails like any other; it must not end the program that asks it, without a word.
_RAISED = (Exception, SystemExit)
# Methods that a port does not pass on: the session opens and closes the driver.
_OWN = ("open", "close")


class Port:
    """Base class of ports: the driver, and the call through pluggy.

    Attributes:
        played: The role.
        driver: The driver behind the port.
        name: Name of the driver in ``use:``.
        kept: Keeps the answers during a batch of a session; else None.
    """

    kept: KeptAnswers | None = None
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
        """Counts of the role's ledger so far; empty without a ledger."""
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
        except _RAISED as error:
            named = self._error(what, error)
            if named is error:
                raise
            raise named from error

    def _error(self, what: str, error: Exception | SystemExit) -> Exception | SystemExit:
        """Return the error to raise for an exception of a driver; the same one if it names its driver already."""
        if isinstance(error, BatchError):  # its answers belong to another call
            return DriverError(redacted(error.args[0]), error.driver or self.name)
        if isinstance(error, DriverError):
            return error if error.driver else DriverError(redacted(str(error)), self.name)
        if isinstance(error, SrtkError):
            clean = redacted(str(error))
            return error if clean == str(error) else DriverError(clean, self.name)
        return DriverError(redacted(f"cannot {what}: {type(error).__name__}: {error}"), self.name)

    def _by_default(self, name: str, spec: Callable[..., Any], *args: Any) -> Any:
        """Run the role's default of a hook on the port; it may give an error in the place of an answer."""
        answers = self._named(name, spec, self, *args)
        return self._refused(answers) if _has_errors(answers) else answers

    def _refused(self, answers: Sequence[Any], matrix: bool = False) -> Any:
        """Raise the answers of a batch with errors; for a single item, raise its error."""
        named = [self._error("answer", one) if isinstance(one, DriverError) else one for one in answers]
        first = next(one for one in named if isinstance(one, DriverError))
        if len(named) == 1:
            raise first
        raise BatchError(first.args[0], first.driver, named, matrix)

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


def ports_below(*roots: Any) -> Iterator[Port]:
    """Yield ports and the ports that their drivers hold, each once."""
    seen: set[int] = set()
    left = list(roots)
    while left:
        one = left.pop()
        if isinstance(one, list | tuple):
            left += one
        elif isinstance(one, Port) and id(one) not in seen:
            seen.add(id(one))
            yield one
            left += one.driver.settings().values()


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
        # Only the answers of a batch are looked through: a stream is read by whoever asked, item by item.
        default = ["self._by_default(name, spec"] if contract.batch else ["self._named(name, spec, self"]
        lines += [f"        return {', '.join([*default, *parameters])})"]
    lines += [f"    return ask(self, {{{', '.join(f'{one!r}: {one}' for one in parameters)}}})"]
    scope: dict[str, Any] = {"ask": _asker(role, name, spec), "name": name, "spec": spec}
    exec("\n".join(lines), scope)
    method: Any = functools.wraps(spec)(scope[name])
    vars(method).pop("__isabstractmethod__", None)  # copied from the role's hook
    return method


Ask = Callable[[Port, dict[str, Any]], Any]
"""Asks the driver of a port, given the arguments of one call of a hook by name."""


def _asker(role: type[Role], name: str, spec: Any) -> Ask:
    """Make the function that asks a driver through a hook, about a batch, for a stream or for a value."""
    contract = contract_of(spec)
    if contract.stream:
        return _stream_asker(name, contract, _driver_asker(name, spec))
    if not contract.batch:
        return _driver_asker(name, spec)
    ask = _keeping_asker(name, contract, _driver_asker(name, spec))
    questions = [] if role.sees_gold else [one for one in contract.batch if _may_hold_questions(spec, one)]
    return _batch_asker(name, contract, questions, _distinct_asker(contract, ask) if contract.keys else ask)


def _driver_asker(name: str, spec: Any) -> Ask:
    """Ask the driver and check its answer; the items of a stream are checked by whoever reads them."""
    contract = contract_of(spec)
    batch, check = contract.batch, None if contract.stream else contract.answer
    may_be_none = not batch and _may_return_none(spec)

    def ask(self: Port, arguments: dict[str, Any]) -> Any:
        try:
            answer = getattr(self._hook, name)(**arguments)
        except _RAISED as error:
            named = self._error(name, error)
            if named is error:
                raise
            raise named from error
        if answer is None and not may_be_none:
            wanted = "a list with one item for each of the batch" if batch else "a value"
            raise DriverError(f"{name} returned None; it must return {wanted}", self.name)
        if batch:
            _check_length(self, name, answer, len(arguments[batch[0]]))
            if _has_errors(answer):
                return self._refused(_apart(self, name, contract, answer, arguments))
        if check is not None:
            try:
                answer = check(answer, arguments, self.name)
            except Exception as error:
                named = _wrong(self, name, error)
                if not batch or len(answer) < 2 or not isinstance(error, DriverError):
                    raise named from error
                self._refused(_apart(self, name, contract, answer, arguments, named), hasattr(answer, "dtype"))
        if self._ledger is not None:
            self._ledger.add(name, answer)
        return answer

    return ask


def _keeping_asker(name: str, contract: HookContract, ask_driver: Ask) -> Ask:
    """Give the kept answers of a batch, and keep new answers."""

    def ask(self: Port, arguments: dict[str, Any]) -> Any:
        kept = self.kept
        if kept is None:
            return ask_driver(self, arguments)
        if kept.replays:
            return kept.asked(self, name, contract, arguments, lambda part: ask_and_keep(self, part, kept))
        return ask_and_keep(self, arguments, kept) if kept.keeps else ask_driver(self, arguments)

    def ask_and_keep(self: Port, arguments: dict[str, Any], kept: KeptAnswers) -> Any:
        try:
            answer = ask_driver(self, arguments)
        except BatchError as error:
            kept.keep(self, name, contract, arguments, error.answers, error.matrix)
            raise
        kept.keep(self, name, contract, arguments, answer, hasattr(answer, "dtype"))
        return answer

    return ask


def _batch_asker(name: str, contract: HookContract, questions: Sequence[str], ask: Ask) -> Ask:
    """Check that the arguments of a batch are aligned, and remove gold from its questions."""
    first, *others = contract.batch

    def ask_about_batch(self: Port, arguments: dict[str, Any]) -> Any:
        size = len(arguments[first])
        for one in others:
            if len(arguments[one]) != size:
                counts = " and ".join(f"{len(arguments[one])} {one}" for one in contract.batch)
                raise DriverError(f"{name} was asked about {counts}; there must be as many of each", self.name)
        for one in questions:
            arguments[one] = [q.without_gold() if isinstance(q, Question) else q for q in arguments[one]]
        return ask(self, arguments)

    return ask_about_batch


def _distinct_asker(contract: HookContract, ask: Ask) -> Ask:
    """Ask about each distinct item of a batch once, and give every item its answer."""
    batch, keys = contract.batch, contract.keys
    first = batch[0]
    single = keys[0] if len(keys) == 1 else None

    def ask_distinct(self: Port, arguments: dict[str, Any]) -> Any:
        size = len(arguments[first])
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
        try:
            answer = ask(self, arguments)
        except BatchError as error:
            raise BatchError(error.args[0], error.driver, [error.answers[i] for i in order], error.matrix) from error
        if len(places) == size:
            return answer
        # A matrix takes a list of rows.
        return answer[order] if hasattr(answer, "dtype") else [answer[i] for i in order]

    return ask_distinct


def _stream_asker(name: str, contract: HookContract, ask: Ask) -> Ask:
    """Yield the items of a stream, each checked."""

    def stream(self: Port, arguments: dict[str, Any]) -> Iterator[Any]:
        items = iter(ask(self, arguments))
        while (item := self._named(f"{name} on", next, items, END_OF_STREAM)) is not END_OF_STREAM:
            if contract.answer is not None:
                try:
                    contract.answer(item, arguments, self.name)
                except Exception as error:
                    raise _wrong(self, name, error) from error
            yield item

    return stream


def _check_length(port: Port, name: str, answer: Any, wanted: int) -> None:
    """Refuse an answer that has not one item for each of the batch."""
    if not hasattr(answer, "__len__") or not is_list_like(type(answer)):
        shown = f"{name} returned {type(answer).__name__}, not a list with one item for each of the batch"
        raise DriverError(shown, port.name)
    if len(answer) != wanted:
        raise DriverError(f"{name} got {wanted} items and returned {len(answer)}; return one for each", port.name)


def _wrong(port: Port, name: str, error: Exception) -> DriverError:
    """Name the driver and the hook in the error of a check."""
    text = str(error.args[0]) if isinstance(error, DriverError) else f"{type(error).__name__}: {error}"
    if not re.search(rf"\b{name}\b", text):
        text = f"{name} returned what it must not: {text}"
    return DriverError(redacted(text), port.name)


def _apart(
    port: Port,
    name: str,
    contract: HookContract,
    answer: Any,
    arguments: dict[str, Any],
    error: DriverError | None = None,
) -> list[Any]:
    """Check each item's answer by itself; ``error`` concerns the whole answer if none of them is wrong."""
    check, found = contract.answer, list[Any]()
    for i, one in enumerate(answer):
        part = {**arguments, **{each: arguments[each][i : i + 1] for each in contract.batch}}
        try:
            if isinstance(one, DriverError):
                raise DriverError(one.args[0], one.driver)
            found.append(one if check is None else check(answer[i : i + 1], part, port.name)[0])
        except Exception as wrong:  # noqa: BLE001 - kept as the answer of the item
            found.append(port._error(name, wrong) if isinstance(one, DriverError) else _wrong(port, name, wrong))
    if error is not None and not _has_errors(found):
        raise error
    if port._ledger is not None:
        port._ledger.add(name, [one for one in found if not isinstance(one, DriverError)])
    return found


def _has_errors(answer: Any) -> bool:
    """Return whether an answer has an error in the place of an item's."""
    # Rows of arrays are none, and slicing them would cost more than the rest of the port.
    if isinstance(answer, Ragged) or hasattr(answer, "dtype"):
        return False
    return any(issubclass(kind, DriverError) for kind in set(map(type, answer)))


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
