"""The roles: one abstract class each, whose methods are the hook specifications.

A driver is an ``attrs.define`` class that derives from a role. Its fields are its settings, and fields
annotated with a role are its needs. Every method takes a batch and returns a list aligned with it; no
method changes its arguments or keeps state between questions. Drivers raise ``DriverError`` with a
sentence that says what to do. Hook arguments have no defaults: callers name every one.
"""

from __future__ import annotations

from abc import ABC
from typing import Any, ClassVar

import attrs
import pluggy

PROJECT = "srtk"

_spec = pluggy.HookspecMarker(PROJECT)
hook = _spec(firstresult=True)


class Role(ABC):  # noqa: B024 - its subclasses have the abstract methods
    """What all roles share: a life cycle and a fingerprint.

    Attributes:
        role: Name of the role in recipes; the entry-point group is ``srtk.<role>``.
    """

    role: ClassVar[str] = ""

    def open(self) -> None:  # noqa: B027 - most drivers have nothing to open
        """Load what is heavy (a model, a file, a connection); called once before the first hook."""

    def close(self) -> None:  # noqa: B027 - nor to close
        """Let go of what ``open`` took; called once, also after an error."""

    def fingerprint(self) -> str:
        """Identify what the driver computes: equal fingerprints, equal results.

        The default names the class and its settings, without those that are kept out of its ``repr``, such as a key;
        a driver over data or weights adds their hash.
        """
        cls: type[Any] = type(self)
        fields = attrs.fields(cls) if attrs.has(cls) else ()
        parts = []
        for field in fields:
            value = getattr(self, field.name)
            if field.init and field.repr:
                parts.append(f"{field.name}={value.fingerprint() if isinstance(value, Role) else value!r}")
        return f"{type(self).__module__}.{type(self).__qualname__}({', '.join(parts)})"


def hook_names(role: type[Role]) -> dict[str, Any]:
    """Return the hook specifications of a role: method name to function."""
    marker = f"{PROJECT}_spec"
    return {name: getattr(role, name) for name in dir(role) if hasattr(getattr(role, name), marker)}
