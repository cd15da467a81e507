"""The class of the settings that a recipe gives a trainable driver under ``train.fit``."""

from __future__ import annotations

import inspect
import typing
from typing import Any

import attrs


def settings_class(cls: type[Any]) -> Any:
    """Return the attrs class that annotates the second argument of a driver's ``fit``, with resolved types."""
    name = list(inspect.signature(cls.fit).parameters)[2]
    kind = typing.get_type_hints(cls.fit)[name]
    attrs.resolve_types(kind)
    return kind
