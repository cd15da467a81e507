"""Validators of settings, for the fields of drivers and of the values that drivers take.

    width: int = attrs.field(default=15, validator=at_least(1))
    weights: Sequence[float] = attrs.field(default=(), validator=each(positive))

``srtk check`` reports each refused value with its place in the recipe, all at once, and opens no driver for it;
``srtk schema`` writes the same bounds for editors. A number must be finite. Validators of numbers
accept None and texts, since the type of the field decides whether it may be null or a word such as `auto`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import attrs

from srtk_framework.values.errors import SettingsError, close_matches, shortened

Fault = tuple[tuple[str | int, ...], str]
"""Keys and indices that lead to a value inside a setting, and what the value must be, after ``must``."""


class Validator(Protocol):
    """A validator of a field, which ``srtk schema`` can describe."""

    def __call__(self, instance: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
        """Raise ``SettingsError`` for a value that the setting must not have."""

    def faults(self, value: Any) -> list[Fault]:
        """Return the fault of a value."""

    def schema(self) -> dict[str, Any]:
        """Return the keywords of JSON Schema that refuse the same values."""


class _Base:
    def faults(self, value: Any) -> list[Fault]:
        raise NotImplementedError

    def __call__(self, instance: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
        setting = attribute.alias or attribute.name
        problems: list[tuple[tuple[str | int, ...], str]] = []
        for where, text in self.faults(value):
            name = setting + "".join(f"[{shortened(repr(key))}]" for key in where)
            problems.append(((setting, *where), f"{name} must {text}"))
        if problems:
            raise SettingsError(problems)


# Validators of attrs accept NaN in some comparisons, stop at the first refusal, and cannot be read for a schema.
@attrs.frozen
class Bounds(_Base):
    """Bounds of a number.

    Attributes:
        least: Least value.
        above: Bound that the value must exceed.
        most: Greatest value.
        below: Bound that the value must not reach.
        hint: Advice, such as ``omit it for no limit``.
    """

    least: float | None = None
    above: float | None = None
    most: float | None = None
    below: float | None = None
    hint: str = ""

    def faults(self, value: Any) -> list[Fault]:
        """Return the fault of a number out of bounds; of NaN and of infinity in any case."""
        if not isinstance(value, int | float) or isinstance(value, bool):
            return []
        fine = (
            math.isfinite(value)
            and (self.least is None or value >= self.least)
            and (self.above is None or value > self.above)
            and (self.most is None or value <= self.most)
            and (self.below is None or value < self.below)
        )
        if fine:
            return []
        return [((), f"be {self.words()}, not {value}{f'; {self.hint}' if self.hint else ''}")]

    def words(self) -> str:
        """Name the bounds: ``at least 1``, ``from 0 to 1``, ``above 0 and below 1``."""
        if self.least is not None and self.most is not None:
            return f"from {self.least:g} to {self.most:g}"
        named = (("at least", self.least), ("above", self.above), ("at most", self.most), ("below", self.below))
        return " and ".join(f"{word} {bound:g}" for word, bound in named if bound is not None) or "a finite number"

    def schema(self) -> dict[str, Any]:
        """Return the bounds as keywords of JSON Schema."""
        bounds = {
            "minimum": self.least,
            "exclusiveMinimum": self.above,
            "maximum": self.most,
            "exclusiveMaximum": self.below,
        }
        return {key: bound for key, bound in bounds.items() if bound is not None}


@attrs.frozen
class OneOf(_Base):
    """One of several texts.

    Attributes:
        choices: The texts.
    """

    choices: tuple[str, ...]

    def faults(self, value: Any) -> list[Fault]:
        """Return the fault of a text that is no choice; None is a matter of the field's type."""
        if value is None or value in self.choices:
            return []
        text = f"be {_either(self.choices)}, not {shortened(repr(value))}.{close_matches(value, self.choices)}"
        return [((), text.removesuffix("."))]

    def schema(self) -> dict[str, Any]:
        """Return the choices as ``enum``."""
        return {"enum": list(self.choices)}


@attrs.frozen
class NotEmpty(_Base):
    """A text, list or mapping that is not empty.

    Attributes:
        hint: Advice.
    """

    hint: str = ""

    def faults(self, value: Any) -> list[Fault]:
        """Return the fault of an empty text, list or mapping."""
        if value is None or len(value):
            return []
        return [((), f"not be empty{f'; {self.hint}' if self.hint else ''}")]

    def schema(self) -> dict[str, Any]:
        """Return the least length of a text, a list and a mapping."""
        return {"minLength": 1, "minItems": 1, "minProperties": 1}


@attrs.frozen
class Each(_Base):
    """The items of a list, or the values of a mapping.

    Attributes:
        item: Validator of an item.
    """

    item: Validator

    def faults(self, value: Any) -> list[Fault]:
        """Return the faults of all items."""
        if isinstance(value, Mapping):
            items: Any = value.items()
        elif isinstance(value, Sequence) and not isinstance(value, str):
            items = enumerate(value)
        else:
            return []
        return [((key, *where), text) for key, item in items for where, text in self.item.faults(item)]

    def schema(self) -> dict[str, Any]:
        """Return the keywords for the items, which hold for lists and mappings alike."""
        return {"items": self.item.schema(), "additionalProperties": self.item.schema()}


@attrs.frozen
class KeysOf(_Base):
    """A mapping with some keys, or a list with some items.

    Attributes:
        known: The keys that the mapping may have, or the texts that the list may have.
    """

    known: tuple[str, ...]

    def faults(self, value: Any) -> list[Fault]:
        """Return the faults of unknown keys."""
        if value is None or isinstance(value, str):
            return []
        named = ", ".join(self.known)
        places: Any = ((key, key) for key in value) if isinstance(value, Mapping) else enumerate(value)
        return [
            ((at,), f"be one of {named}, not {shortened(repr(key))}.{close_matches(key, self.known)}".removesuffix("."))
            for at, key in places
            if key not in self.known
        ]

    def schema(self) -> dict[str, Any]:
        """Return the keys as ``enum``."""
        return {"propertyNames": {"enum": list(self.known)}, "items": {"enum": list(self.known)}}


def at_least(least: float, hint: str = "") -> Bounds:
    """Return the validator of numbers that are not below a bound."""
    return Bounds(least=least, hint=hint)


def above(bound: float, hint: str = "") -> Bounds:
    """Return the validator of numbers above a bound."""
    return Bounds(above=bound, hint=hint)


def between(
    least: float | None = None,
    most: float | None = None,
    *,
    above: float | None = None,
    below: float | None = None,
    hint: str = "",
) -> Bounds:
    """Return the validator of numbers from ``least`` to ``most``, both allowed; or above and below other bounds."""
    return Bounds(least, above, most, below, hint)


def one_of(choices: Sequence[str]) -> OneOf:
    """Return the validator of texts out of a few; a field with a ``Literal`` type is checked without it in recipes."""
    return OneOf(tuple(choices))


def keys_of(known: Sequence[str]) -> KeysOf:
    """Return the validator of mappings, by their keys, and of lists, by their items."""
    return KeysOf(tuple(known))


def not_empty(hint: str = "") -> NotEmpty:
    """Return the validator of texts, lists and mappings that are not empty."""
    return NotEmpty(hint)


def each(item: Validator) -> Each:
    """Return the validator of lists and mappings whose items pass a validator."""
    return Each(item)


positive = above(0)
"""The validator of numbers above 0."""

share = between(0, 1)
"""The validator of numbers from 0 to 1."""

finite = Bounds()
"""The validator of numbers without bounds; it refuses NaN and infinity."""


def _either(choices: Sequence[str]) -> str:
    return " or ".join([", ".join(choices[:-1]), choices[-1]]) if len(choices) > 1 else choices[0]
