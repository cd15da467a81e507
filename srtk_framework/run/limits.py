"""Limits of one call, tighter than the recipe's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import attrs

from srtk_framework.host.ports import ports_below
from srtk_framework.roles import Expander
from srtk_framework.values import Budget, at_least, positive

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
def limited(limits: Limits | None, *ports: Any) -> Iterator[None]:
    """Have drivers, and the drivers that they hold, work within limits; call it only while no other thread uses them.

    Every setting that is a ``Budget`` and every expander's ``depth`` is tightened, and is as before at the end.
    """
    before: list[tuple[Any, str, Any]] = []
    try:
        if limits is not None and limits != Limits():
            for port in ports_below(*ports):
                before += _tightened(port.driver, limits)
        yield
    finally:
        for driver, name, value in before:
            object.__setattr__(driver, name, value)


def _tightened(driver: Any, limits: Limits) -> Iterator[tuple[Any, str, Any]]:
    """Tighten the settings of a driver; yield each with its value before."""
    for field in attrs.fields(type(driver)):
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
