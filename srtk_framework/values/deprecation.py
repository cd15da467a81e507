"""Deprecation of hooks, settings and public names, which warn for a minor version at least before they go.

    @deprecated(since="0.2", instead="relations", until="0.4")
    def edges(graph): ...

    class Ranker(Role):
        @deprecated(since="0.2", instead="rank", until="0.4")
        @hook(batch="rows")
        def order(self, rows): ...

    depth: int = attrs.field(default=3, metadata={"deprecated": deprecated(since="0.2", instead="hops", until="0.4")})

A function or class warns where it is called; the host warns of deprecated hooks that a driver implements, of deprecated
drivers, and of settings that a recipe names. Each use warns once in a process, as a ``FutureWarning``, since
Python hides a ``DeprecationWarning`` from whoever runs a recipe.
"""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import attrs

T = TypeVar("T")

HOOK = "srtk_contract"
"""Attribute of a hook of a role, which drivers implement and nobody calls."""
_MARK = "srtk_deprecation"
_told: set[str] = set()
_drivers: dict[str, list[str]] = {}
"""Modules of loaded drivers, each with its drivers as warnings name them."""


@attrs.frozen
class Deprecation:
    """When something was deprecated, its replacement, and when it goes; called with a thing, marks it.

    Attributes:
        since: Version that warns first.
        instead: The replacement.
        until: Version that no longer has it, a later minor version than ``since``.
    """

    since: str
    instead: str
    until: str

    def __attrs_post_init__(self) -> None:
        if _minor(self.until) <= _minor(self.since):
            raise ValueError(f"what warns since {self.since} may go with a later minor version, not with {self.until}")

    def __call__(self, thing: T) -> T:
        """Mark a hook, or make a function or class warn where it is called."""
        if hasattr(thing, HOOK):
            vars(thing)[_MARK] = self
            return thing
        marked: Any = thing
        if isinstance(thing, type):
            marked.__init__ = self._telling(marked.__init__, thing)
        else:
            marked = self._telling(thing, thing)
        setattr(marked, _MARK, self)
        return marked  # type: ignore[no-any-return]

    def sentence(self, what: str) -> str:
        """Return the warning about something."""
        return f"{what} is deprecated since {self.since} and goes with {self.until}; use {self.instead}"

    def _telling(self, function: Any, named: Any) -> Callable[..., Any]:
        """Wrap a function so that it names its caller: a driver by its name in recipes, other code by its module."""

        @functools.wraps(function)
        def telling(*args: Any, **kwargs: Any) -> Any:
            module = str(sys._getframe(1).f_globals.get("__name__", "?"))
            own = module.partition(".")[0] == "srtk_framework"  # the host names drivers that it makes itself
            if not own and (not isinstance(named, type) or type(args[0]) is named):
                user = " or ".join(_drivers.get(module, [module]))
                self.tell(f"{user} uses {named.__module__}.{named.__qualname__}, which")
            return function(*args, **kwargs)

        return telling

    def tell(self, what: str) -> None:
        """Warn about a use, once in a process."""
        text = self.sentence(what)
        if text not in _told:
            _told.add(text)
            warnings.warn(text, FutureWarning, stacklevel=3)


def deprecated(*, since: str, instead: str, until: str) -> Deprecation:
    """Deprecate a hook, a function or a class as its decorator, or a setting as ``deprecated`` of its metadata.

    Args:
        since: Version that warns first.
        instead: The replacement.
        until: Version that no longer has it.

    Raises:
        ValueError: If it would go without a minor version that warns.
    """
    return Deprecation(since, instead, until)


def deprecation_of(thing: Any) -> Deprecation | None:
    """Return the deprecation of a hook, function, class or field of settings; None for anything else."""
    if isinstance(thing, attrs.Attribute):
        found = thing.metadata.get("deprecated")
    else:
        found = vars(thing).get(_MARK) if hasattr(thing, "__dict__") else None
    return found if isinstance(found, Deprecation) else None


def name_driver(module: str, who: str) -> None:
    """Have warnings about a module's calls name the driver in it."""
    known = _drivers.setdefault(module, [])
    if who not in known:
        known.append(who)


def _minor(version: str) -> tuple[int, int]:
    major, minor, *_ = [*version.split("."), "0"]
    return int(major), int(minor)
