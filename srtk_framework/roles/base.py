"""Base class of roles, and the decorator that declares a method of a role as a hook.

A role is one file: an abstract class that derives from ``Role``, names itself (``role = "ranker"``), and declares its
hooks by ``@hook``. The hook specification, the port, the recipe keys and the checks at load follow from that class.

A driver is an ``attrs.define`` class that derives from a role. Its fields are its settings, and fields annotated with
a role are its needs. Every hook takes a batch and returns a list aligned with it; no hook changes its arguments or
keeps state between questions. Hook arguments have no defaults: callers pass all of them.

Drivers raise ``DriverError`` with the fault and its remedy. Where one item of a batch fails, a hook that returns
a list may put the ``DriverError`` in the place of that item's answer instead: the others keep theirs, and nothing is
asked again. Where it raises, the batch is asked again in halves.
"""

from __future__ import annotations

import functools
import inspect
from abc import ABC
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, ClassVar, Protocol, TypeVar, overload

import attrs
import pluggy

from srtk_framework.values import DriverError
from srtk_framework.values.deprecation import HOOK, deprecation_of

PROJECT = "srtk"

F = TypeVar("F", bound=Callable[..., Any])

Key = Callable[[Any], Hashable]
"""Maps an item of a batch to its key; items with equal keys are equal."""

AnswerCheck = Callable[[Any, Mapping[str, Any], str], Any]
"""Checks or converts the answer of a driver; of a stream, each item.

It gets the answer, the arguments of the call by name, and the name of the driver, and returns the answer that the
caller receives. It raises ``DriverError`` without a driver's name where the answer breaks the contract.
"""

_CONTRACT = HOOK
_NARROW = "srtk_narrow"
_spec = pluggy.HookspecMarker(PROJECT)


@attrs.frozen
class HookContract:
    """Contract of a hook, which its port keeps.

    Attributes:
        batch: Arguments that are batches, aligned with each other and with the answer; none for a hook without a batch.
        keys: Per batch argument, the key of an item, so that each distinct item is passed on once; empty where
            duplicates are kept.
        answer: Checks or converts the answer for the distinct items; None for alignment alone.
        stream: The answer is read lazily, and checked item by item.
        needs: Hooks that the role's default implementation calls: a driver that keeps the default must implement them.
            The default then runs on the port, so that they are checked and watched. A default without ``needs`` runs
            inside the driver.
    """

    batch: tuple[str, ...] = ()
    keys: tuple[Key, ...] = ()
    answer: AnswerCheck | None = None
    stream: bool = False
    needs: tuple[str, ...] = ()


def by_value(item: Any) -> Hashable:
    """Identify items by their value."""
    key: Hashable = item
    return key


def by_identity(item: Any) -> Hashable:
    """Identify items by the object; for items that cannot be hashed, such as frontiers."""
    return id(item)


@overload
def hook(function: F, /) -> F: ...


@overload
def hook(
    *,
    batch: str | tuple[str, ...] = ...,
    key: Key | tuple[Key, ...] | None = ...,
    answer: AnswerCheck | None = ...,
    stream: bool = ...,
    needs: tuple[str, ...] = ...,
) -> Callable[[F], F]: ...


def hook(
    function: Any = None,
    /,
    *,
    batch: str | tuple[str, ...] = (),
    key: Key | tuple[Key, ...] | None = None,
    answer: AnswerCheck | None = None,
    stream: bool = False,
    needs: tuple[str, ...] = (),
) -> Any:
    """Declare a method of a role as a hook; ``@hook`` alone is for a hook without a batch.

    Args:
        function: The method.
        batch: Argument, or aligned arguments, that are batches: the answer has one item for each.
        key: Key of an item (``by_value``, ``by_identity``, or a function of the item) for each batch argument; the
            driver then gets each distinct item once. None passes on every item.
        answer: Checks or converts the answer of the driver.
        stream: Whether the answer is an iterable that is read lazily.
        needs: Hooks that a driver must implement where it keeps the role's default of this hook, which calls them.

    Raises:
        TypeError: If ``batch`` names an argument that the method does not have, or ``key`` does not match ``batch``.
    """
    batches = (batch,) if isinstance(batch, str) else tuple(batch)
    keys = () if key is None else key if isinstance(key, tuple) else (key,)
    contract = HookContract(batches, keys, answer, stream, tuple(needs))

    def mark(method: F) -> F:
        known = list(inspect.signature(method).parameters)[1:]
        unknown = [name for name in batches if name not in known]
        if unknown:
            raise TypeError(f"hook {method.__qualname__} has no argument {unknown[0]!r} to be its batch")
        if keys and len(keys) != len(batches):
            raise TypeError(f"hook {method.__qualname__} has {len(batches)} batch arguments and {len(keys)} keys")
        if deprecation_of(method) is not None:
            raise TypeError(f"hook {method.__qualname__}: write @deprecated above @hook")
        vars(method)[_CONTRACT] = contract
        # Each driver has a manager of its own, so that there is one result.
        return _spec(method, firstresult=True)

    return mark if function is None else mark(function)


class Ledger(Protocol):
    """Counters of a driver's answers, such as tokens and money, kept by the port."""

    def add(self, hook: str, answer: Any) -> None:
        """Count one answer of a hook; called from several threads."""

    def total(self) -> Mapping[str, Any]:
        """Return the sums since the driver was composed."""


class Role(ABC):  # noqa: B024 - its subclasses have the abstract methods
    """Base class of roles: life cycle, settings and fingerprint.

    Ports pass on calls of methods that are not hooks.

    Attributes:
        role: Name of the role in recipes; the entry-point group of its drivers is ``srtk.<role>``.
        plural: Key of a recipe for several drivers; the name with an ``s`` by default.
        several: Whether a recipe lists any number of drivers under ``plural``, rather than one under the role's name.
        top_level: Whether the role has keys of its own at the top of a recipe.
        sees_gold: Whether its hooks see the gold fields of questions; ports remove them otherwise.
        kit: Module with the conformance class of the role, which is called like the role, with ``Conformance``.
        ledger: Makes the counters of the port; None for none.
        learns: Material of a trainable driver: ``paths`` of questions, ``links`` of questions, or the ``graph``.
        several_graphs: Whether its training takes examples about other graphs than its own.
        reuse: Line of a recipe that uses the trained driver, with ``FOLDER`` for the folder of its model; by default
            the driver with the setting ``model``.
    """

    role: ClassVar[str] = ""
    plural: ClassVar[str] = ""
    several: ClassVar[bool] = False
    top_level: ClassVar[bool] = True
    sees_gold: ClassVar[bool] = False
    kit: ClassVar[str] = ""
    ledger: ClassVar[Callable[[], Ledger] | None] = None
    learns: ClassVar[str] = ""
    several_graphs: ClassVar[bool] = False
    reuse: ClassVar[str] = ""

    def __init_subclass__(cls, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        if "role" in vars(cls):
            if "plural" not in vars(cls):
                cls.plural = f"{cls.role}s"
            if "kit" not in vars(cls):
                cls.kit = f"srtk_framework.testing.{cls.role}"
        else:
            _widen(cls)

    def open(self) -> None:  # noqa: B027 - most drivers have nothing to open
        """Load heavy resources (a model, a file, a connection); called once before the first hook."""

    def close(self) -> None:  # noqa: B027 - nor to close
        """Release the resources; called once, also after an error."""

    def preflight(self) -> Sequence[tuple[str, str]]:
        """Return the faults of ``open`` that the settings show, for ``srtk check``.

        Nothing is loaded, built or asked over a network; ``roles.absent``, ``roles.no_url`` and ``roles.unwritable``
        find the usual faults.

        Returns:
            Names of settings, each with a sentence on the fault and its remedy.
        """
        return ()

    def settings(self) -> dict[str, Any]:
        """Return the driver's settings and needs, by their names in recipes."""
        cls: type[Any] = type(self)
        fields = attrs.fields(cls) if attrs.has(cls) else ()
        return {field.alias: getattr(self, field.name) for field in fields if field.init}

    def fingerprint(self) -> str:
        """Identify the driver's computation: equal fingerprints mean equal results.

        The default names the role, the driver and its settings, without those kept out of its ``repr``, such as a key.
        The driver has its name in ``use:``, or its class outside of a recipe, so that a class may move to another
        module. A driver over data or weights adds their hash.
        """
        cls: type[Any] = type(self)
        shown = {field.alias for field in attrs.fields(cls) if field.repr} if attrs.has(cls) else set()
        settings = ", ".join(f"{name}={_print(value)}" for name, value in self.settings().items() if name in shown)
        return f"{self.role}:{vars(self).get(_NAME, cls.__name__)}({settings})"


_NAME = "_srtk_name"


def set_name(driver: Role, name: str) -> None:
    """Set the name of a driver in a recipe, for its default fingerprint."""
    vars(driver)[_NAME] = name


def not_open(driver: Role, first: str = "open()") -> DriverError:
    """Return the error of a hook that is called before ``open`` or after ``close``.

        if self._model is None:
            raise not_open(self)

    Args:
        driver: The driver.
        first: The call that is missing.
    """
    name = vars(driver).get(_NAME, type(driver).__name__)
    return DriverError(f"the {driver.role.replace('_', ' ')} {name} is not open; call {first} first")


def _print(value: Any) -> str:
    """Return a setting as text, equal for equal settings; the fingerprint of a driver."""
    if isinstance(value, Role):
        return value.fingerprint()
    if isinstance(value, list | tuple) and any(isinstance(item, Role) for item in value):
        return f"[{', '.join(map(_print, value))}]"
    return repr(value)


def hook_names(role: type[Role]) -> dict[str, Any]:
    """Return the hooks of a role: name to the function that specifies it."""
    return {name: function for name in dir(role) if hasattr(function := getattr(role, name), _CONTRACT)}


def contract_of(spec: Any) -> HookContract:
    """Return the contract of a hook, as ``@hook`` declared it."""
    contract: HookContract = vars(spec)[_CONTRACT]
    return contract


def roles_of(cls: type[Any]) -> list[type[Role]]:
    """Return the roles that a class plays, nearest first."""
    return [base for base in cls.__mro__ if issubclass(base, Role) and base is not Role and "role" in vars(base)]


def own_method(driver: Role, name: str) -> Any:
    """Return a driver's own implementation of a hook, perhaps with fewer arguments than the role's."""
    method = getattr(driver, name)
    narrow = getattr(method, _NARROW, None)
    return method if narrow is None else narrow.__get__(driver)


def fits_fewer(function: Any, spec: Any) -> bool:
    """Return whether a method takes some but not all arguments of a hook, in their order."""
    parameters = list(inspect.signature(function).parameters.values())[1:]
    plain = all(p.kind is p.POSITIONAL_OR_KEYWORD and p.default is p.empty for p in parameters)
    mine, wanted = [p.name for p in parameters], list(inspect.signature(spec).parameters)[1:]
    return plain and mine != wanted and mine == [name for name in wanted if name in mine]


def _widen(cls: type[Role]) -> None:
    """Make hooks with fewer arguments accept all arguments of the role's hook.

    A role may thus gain an argument without breaking older drivers.
    """
    for role in roles_of(cls):
        for name, spec in hook_names(role).items():
            function = inspect.getattr_static(cls, name)
            if inspect.isfunction(function) and not hasattr(function, _NARROW) and fits_fewer(function, spec):
                setattr(cls, name, _widened(function, spec))


def _widened(function: Any, spec: Any) -> Any:
    signature = inspect.signature(spec)
    taken = list(inspect.signature(function).parameters)[1:]

    @functools.wraps(function)
    def widened(self: Role, *args: Any, **kwargs: Any) -> Any:
        given = signature.bind(self, *args, **kwargs).arguments
        return function(self, **{name: given[name] for name in taken})

    vars(widened)[_NARROW] = function
    return widened
