"""Strict conversion of plain data from YAML into typed settings; every mistake is reported."""

from __future__ import annotations

import math
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

import attrs
import cattrs
from cattrs.errors import BaseValidationError

from srtk_framework.values import SettingsError, close_matches, shortened

T = TypeVar("T")

Where = tuple[str | int, ...]
"""Keys and indices that lead to a value inside a block."""


def structure(data: Any, kind: type[T]) -> T:
    """Build a value of ``kind`` from plain data.

    Args:
        data: Mappings, lists, strings, numbers, booleans and None, as YAML gives them.
        kind: An attrs class, or any type that such a class may have as a field.

    Raises:
        SettingsError: With one problem for each wrong value, unknown key and missing key.
    """
    built: T = _structured(_converter(), data, kind)
    return built


def structure_fields(
    given: Mapping[str, Any], fields: Mapping[str, Any], owner: str, report: Callable[[Where, str], None]
) -> dict[str, Any]:
    """Build the values of single fields of an attrs class.

    Args:
        given: Name to plain data.
        fields: The fields that may be given, by name.
        owner: Owner of the fields, for messages.
        report: Is called with the place and the sentence of each problem.

    Returns:
        The values without a problem, checked by the validators of their fields.
    """
    values = {}
    known = sorted(fields)
    for key, value in given.items():
        if key not in fields:
            text = f"{owner} has no setting {key!r}; it has {', '.join(known) or 'none'}."
            report((key,), text + close_matches(str(key), known))
            continue
        try:
            values[key] = structure(value, fields[key].type)
        except SettingsError as error:
            for where, text in error.problems:
                report((key, *where), f"{key}: {text}")
    return _validated(values, fields, report)


def _validated(
    values: Mapping[str, Any], fields: Mapping[str, Any], report: Callable[[Where, str], None]
) -> dict[str, Any]:
    """Return the values that the validators of their fields accept; attrs itself would stop at the first refusal."""
    fine = {}
    for key, value in values.items():
        validator = fields[key].validator
        try:
            if validator is not None:
                validator(types.SimpleNamespace(**values), fields[key], value)
        except SettingsError as error:
            for where, text in error.problems:
                report(where, text)
        except (TypeError, ValueError) as error:
            report((key,), str(error.args[0] if error.args else error))
        except AttributeError:
            fine[key] = value  # a validator that looks at the whole object: attrs calls it when that is made
        else:
            fine[key] = value
    return fine


def describe(kind: Any) -> str:
    """Name a type in plain words: ``whole number``, ``text``, ``list of text``."""
    names: dict[Any, str] = {int: "whole number", float: "number", str: "text", bool: "true or false", Any: "anything"}
    if kind in names:
        return names[kind]
    if kind is type(None) or kind is None:
        return "nothing"
    origin, args = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return " or ".join(describe(arg) for arg in args)
    if origin in (list, tuple, Sequence) or (isinstance(origin, type) and issubclass(origin, Sequence)):
        return f"list of {describe(args[0])}" if args else "list"
    if origin is dict or (isinstance(origin, type) and issubclass(origin, Mapping)):
        return f"mapping of {describe(args[1])}" if args else "mapping"
    if _is_choice(kind):
        return "one of " + ", ".join(str(arg) for arg in args)
    return getattr(kind, "__name__", str(kind))


def _converter() -> cattrs.Converter:
    converter = cattrs.Converter(forbid_extra_keys=True)
    # By itself cattrs turns "false" into True, None into 'None' and a text into a list of letters.
    for kind in (int, str, bool):
        converter.register_structure_hook(kind, _exact)
    converter.register_structure_hook(float, _number)
    converter.register_structure_hook_func(lambda kind: kind is type(None), _nothing)
    converter.register_structure_hook_func(_is_choice, _one_of)
    converter.register_structure_hook_factory(_is_union, lambda kind: _union_hook(converter, kind))
    converter.register_structure_hook_factory(_is_list, lambda kind: _list_hook(converter, kind))
    converter.register_structure_hook_factory(_is_mapping, lambda kind: _mapping_hook(converter, kind))
    converter.register_structure_hook_factory(attrs.has, lambda kind: _class_hook(converter, kind))
    return converter


def _wrong(value: Any, kind: Any) -> TypeError:
    return TypeError(f"expected {describe(kind)}, got {shortened(repr(value))}")


def _exact(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise _wrong(value, kind)
    return value


def _number(value: Any, kind: type) -> float:
    if type(value) not in (int, float):
        raise _wrong(value, kind)
    try:
        number = float(value)
    except OverflowError as error:
        raise _wrong(value, kind) from error
    if not math.isfinite(number):
        raise TypeError(f"expected a finite number, got {number}; None is no limit")
    return number


def _nothing(value: Any, kind: type) -> None:
    if value is not None:
        raise _wrong(value, kind)


def _is_choice(kind: Any) -> bool:
    origin: Any = get_origin(kind)
    return origin is Literal


def _one_of(value: Any, kind: Any) -> Any:
    if not any(type(value) is type(option) and value == option for option in get_args(kind)):
        raise _wrong(value, kind)
    return value


def _is_union(kind: Any) -> bool:
    return get_origin(kind) in (Union, types.UnionType)


def _union_hook(converter: cattrs.Converter, kind: Any) -> Any:
    def build(value: Any, _: Any) -> Any:
        if value is None and type(None) in get_args(kind):
            return None
        members = [member for member in get_args(kind) if member is not type(None)]
        if len(members) == 1:
            return converter.structure(value, members[0])
        for member in members:
            try:
                return converter.structure(value, member)
            except (BaseValidationError, TypeError, ValueError):
                continue  # the next type of the union may fit
        raise _wrong(value, kind)

    return build


def _is_list(kind: Any) -> bool:
    origin = get_origin(kind)
    return isinstance(origin, type) and issubclass(origin, Sequence) and not issubclass(origin, str)


def _list_hook(converter: cattrs.Converter, kind: Any) -> Any:
    args = [arg for arg in get_args(kind) if arg is not Ellipsis]
    build_tuple = get_origin(kind) is tuple

    def build(value: Any, _: Any) -> Any:
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise _wrong(value, kind)
        fixed = build_tuple and len(args) > 1
        if fixed and len(value) != len(args):
            raise TypeError(f"expected {len(args)} values, got {len(value)}")
        problems: list[tuple[Where, str]] = []
        items = []
        for i, item in enumerate(value):
            try:
                items.append(_structured(converter, item, args[i] if fixed else args[0]))
            except SettingsError as error:
                problems += [((i, *where), text) for where, text in error.problems]
        if problems:
            raise SettingsError(problems)
        return tuple(items) if build_tuple else items

    return build


def _is_mapping(kind: Any) -> bool:
    origin = get_origin(kind)
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _mapping_hook(converter: cattrs.Converter, kind: Any) -> Any:
    key_kind, value_kind = get_args(kind)

    def build(value: Any, _: Any) -> Any:
        if not isinstance(value, Mapping):
            raise _wrong(value, kind)
        problems: list[tuple[Where, str]] = []
        items = {}
        for key, item in value.items():
            try:
                items[_structured(converter, key, key_kind)] = _structured(converter, item, value_kind)
            except SettingsError as error:
                problems += [((key, *where), text) for where, text in error.problems]
        if problems:
            raise SettingsError(problems)
        return items

    return build


def _class_hook(converter: cattrs.Converter, kind: type) -> Any:
    attrs.resolve_types(kind)
    fields = {field.alias: field for field in attrs.fields(kind) if field.init}

    def build(value: Any, _: Any) -> Any:
        if isinstance(value, kind):  # from Python, not from YAML
            return value
        if not isinstance(value, Mapping):
            raise TypeError(f"expected a mapping with {', '.join(fields)}, got {shortened(repr(value))}")
        problems: list[tuple[Where, str]] = []
        known = list(fields)
        for key in sorted(set(value) - set(fields), key=str):
            text = f"unknown key {shortened(repr(key))}; known are {', '.join(known)}.{close_matches(key, known)}"
            problems.append(((key,), text))
        values = {}
        for name, field in fields.items():
            if name in value:
                try:
                    values[name] = _structured(converter, value[name], field.type)
                except SettingsError as error:
                    problems += [((name, *where), text) for where, text in error.problems]
            elif field.default is attrs.NOTHING:
                problems.append(((), f"key {name!r} is missing"))
        values = _validated(values, fields, lambda where, text: problems.append((where, text)))
        if problems:
            raise SettingsError(problems)
        return kind(**values)

    return build


def _structured(converter: cattrs.Converter, data: Any, kind: Any) -> Any:
    """Structure a value, or a part of a value; the same errors as ``structure``."""
    try:
        return converter.structure(data, kind)
    except SettingsError:
        raise
    except BaseValidationError as error:
        raise SettingsError(_problems(error)) from error
    except (TypeError, ValueError) as error:
        raise SettingsError([((), str(error))]) from error


def _problems(error: BaseException) -> list[tuple[Where, str]]:
    """Flatten the tree of errors that cattrs raises for types without a hook here."""
    if isinstance(error, BaseValidationError):
        return [problem for inner in error.exceptions for problem in _problems(inner)]
    return list(error.problems) if isinstance(error, SettingsError) else [((), str(error))]
