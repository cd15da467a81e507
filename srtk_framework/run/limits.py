"""Limits of one call, tighter than the recipe's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import attrs

from srtk_framework.host.ports import ports_below
from srtk_framework.roles import Expander
from srtk_framework.values import Budget, at_least, positive

LIMITS_IGNORED = "limits_ignored"
"""Field of a trace: limits of the call that no driver of the search has a setting for."""

_NONE = "omit it for the recipe's"


def _whole(_: Any, field: Any, value: Any) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise ValueError(f"{field.name} must be a whole number, not {value!r}; {_NONE}")


@attrs.frozen
class Limits:
    """Limits of one call to a session; None leaves the recipe's. A limit never widens what the recipe allows.

    Attributes:
        triples: Most triples of a subgraph.
        tokens: Most tokens of its text.
        depth: Most steps of a path.
        seconds: Seconds after which no further hop starts.
    """

    triples: int | None = attrs.field(default=None, validator=[_whole, at_least(1, _NONE)])
    tokens: int | None = attrs.field(default=None, validator=[_whole, at_least(1, _NONE)])
    depth: int | None = attrs.field(default=None, validator=[_whole, at_least(1, _NONE)])
    seconds: float | None = attrs.field(default=None, validator=attrs.validators.optional(positive))

    def within(self, budget: Budget) -> Budget:
        """Return the tighter of a budget and these limits."""
        tighter = {
            name: limit if (given := getattr(budget, name)) is None else min(limit, given)
            for name in ("triples", "tokens", "seconds")
            if (limit := getattr(self, name)) is not None
        }
        return attrs.evolve(budget, **tighter)


@contextmanager
def limited(limits: Limits | None, *ports: Any) -> Iterator[list[str]]:
    """Have drivers, and the drivers that they hold, work within limits; call it only while no other thread uses them.

    Every setting that is a ``Budget`` and every expander's ``depth`` is tightened, and is as before at the end.

    Yields:
        The limits that no driver has a setting for, and so keeps.
    """
    before: list[tuple[Any, str, Any]] = []
    kept_by_none: list[str] = []
    try:
        if limits is not None and limits != Limits():
            drivers = [port.driver for port in ports_below(*ports)]
            kept_by_none = _kept_by_none(limits, drivers)
            for driver in drivers:
                before += _tightened(driver, limits)
        yield kept_by_none
    finally:
        for driver, name, value in before:
            object.__setattr__(driver, name, value)


def _kept_by_none(limits: Limits, drivers: Sequence[Any]) -> list[str]:
    """Name the limits that no driver has a setting for."""
    held = [(driver, field) for driver in drivers for field in _fields(driver)]
    budgeted = any(isinstance(getattr(driver, field.name, None), Budget) for driver, field in held)
    deep = any(field.alias == "depth" and isinstance(driver, Expander) for driver, field in held)
    given = {name for name, value in attrs.asdict(limits).items() if value is not None}
    return sorted(name for name in given if not (deep if name == "depth" else budgeted))


def _fields(driver: Any) -> Sequence[Any]:
    """Return the fields of a driver; a class without attrs has no settings."""
    return attrs.fields(type(driver)) if attrs.has(type(driver)) else ()


def _tightened(driver: Any, limits: Limits) -> Iterator[tuple[Any, str, Any]]:
    """Tighten the settings of a driver; yield each with its value before."""
    for field in _fields(driver):
        value = getattr(driver, field.name, None)
        tighter: Any = value
        if isinstance(value, Budget):
            tighter = limits.within(value)
        elif field.alias == "depth" and isinstance(driver, Expander) and limits.depth is not None:
            # `auto` is a number only in force; a depth that is set changes how the search weighs long paths.
            most = value if isinstance(value, int) else driver.settings_in_force().get("depth", value)
            tighter = value if isinstance(most, int) and most <= limits.depth else limits.depth
        if tighter != value:
            yield driver, field.name, value
            object.__setattr__(driver, field.name, tighter)


def limits_of(given: Limits | Mapping[str, Any] | None) -> Limits | None:
    """Return limits that are given as a mapping, too.

    Raises:
        TypeError: If a name is none of theirs.
        ValueError: If a limit is no positive number.
    """
    return Limits(**given) if isinstance(given, Mapping) else given
