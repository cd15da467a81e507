"""YAML within limits: with aliases, a few lines can expand to billions of values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from srtk_framework.values import InputError, shortened

if TYPE_CHECKING:
    import yaml

MAX_VALUES = 100_000
"""Maximum number of values in a text, with aliases expanded."""

MAX_TEXT = 1 << 20
"""Maximum number of characters; its parser reads some hundred thousand in a second."""

MAX_DEPTH = 100
"""Levels of lists and mappings."""

MAX_BITS = 1000
"""Bits of a whole number; any such number has decimal digits and fits a float."""


def read_yaml(text: str, file: str, what: str = "file") -> Any:
    """Parse YAML text into lists, mappings, texts, numbers, dates, truth values and None.

    Args:
        text: The text; empty for None.
        file: Its name, for messages.
        what: Kind of text, for messages: ``file``, ``recipe``.

    Raises:
        InputError: With file, line and column, if the text is not YAML or beyond the limits, or if a key comes twice or
            is neither text nor a whole number.
    """
    node = compose(text, file, what)
    return None if node is None else _value(node, file)


def compose(text: str, file: str, what: str = "file") -> yaml.Node | None:
    """Parse YAML text into nodes; None for an empty text.

    Aliases stay shared among the nodes, so the values are counted without being built.

    Raises:
        InputError: With the place, if the text is not YAML, is longer than MAX_TEXT, expands to more than MAX_VALUES
            values, or nests deeper than MAX_DEPTH levels, as an alias inside of its own value does.
    """
    import yaml  # by the first text, so that importing the package stays light
    from yaml.reader import ReaderError

    if len(text) > MAX_TEXT:
        raise InputError(
            f"{file}: the {what} has more than {MAX_TEXT:,} characters; name files instead of their content"
        )
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        at = _place(file, mark) if mark else file
        raise InputError(f"{at}: this is not YAML: {shortened(error.problem or error.context or '', 200)}") from error
    except ReaderError as error:
        before = text[: error.position]
        at = f"{file}:{before.count(chr(10)) + 1}:{error.position - before.rfind(chr(10))}"
        reason = f"the character U+{ord(text[error.position]):04X} is not allowed"
        raise InputError(f"{at}: this is not YAML: {reason}") from error
    except RecursionError as error:
        raise InputError(f"{file}: the {what} nests deeper than {MAX_DEPTH} levels; flatten it") from error
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        raise InputError(f"{file}: this is not YAML: {shortened(str(error), 200)}") from error
    if node is not None:
        _check_size(node, file, what)
    return node


def scalar(node: yaml.Node) -> Any:
    """Return the value of a node that is neither a list nor a mapping.

    Raises:
        ValueError: With the reason, if it does not have the form of its type, or is a number that no float holds, or a
            text with the character U+0000.
    """
    import yaml

    try:
        value = yaml.SafeLoader("").construct_object(node, deep=True)
    except (yaml.YAMLError, ValueError, TypeError, AttributeError, LookupError, OverflowError) as error:
        kind = node.tag.rpartition(":")[2]
        reason = shortened(str(getattr(error, "problem", None) or error), 200)
        raise ValueError(f"{shortened(repr(node.value))} is no {kind} of YAML: {reason}") from error
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        raise ValueError(f"the number {shortened(node.value)} has more than {MAX_BITS} bits")
    if isinstance(value, str) and "\0" in value:
        raise ValueError(f"the text {shortened(repr(value))} holds the character U+0000, which no file name may have")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{shortened(node.value)} is no finite number; leave the key out for no limit")
    return value


def _place(file: str, mark: Any) -> str:
    return f"{file}:{mark.line + 1}:{mark.column + 1}"


def _check_size(root: yaml.Node, file: str, what: str) -> None:
    """Refuse nodes with too many or too deep values; aliases count as expanded."""
    import yaml

    # A few lines of aliases can stand for billions of values.
    values = 0
    waiting: list[tuple[yaml.Node, int]] = [(root, 0)]
    while waiting:
        node, depth = waiting.pop()
        values += 1
        if depth > MAX_DEPTH:
            text = f"the {what} nests deeper than {MAX_DEPTH} levels; flatten it, and let no alias contain itself"
            raise InputError(f"{_place(file, node.start_mark)}: {text}")
        if values > MAX_VALUES:
            text = f"the {what} expands to more than {MAX_VALUES:,} values; write fewer aliases"
            raise InputError(f"{_place(file, node.start_mark)}: {text}")
        if isinstance(node, yaml.MappingNode):
            waiting.extend((item, depth + 1) for pair in node.value for item in pair)
        elif isinstance(node, yaml.SequenceNode):
            waiting.extend((item, depth + 1) for item in node.value)


def _value(node: yaml.Node, file: str) -> Any:
    import yaml

    if isinstance(node, yaml.SequenceNode):
        return [_value(item, file) for item in node.value]
    if not isinstance(node, yaml.MappingNode):
        try:
            return scalar(node)
        except ValueError as error:
            raise InputError(f"{_place(file, node.start_mark)}: {error}") from error
    result: dict[str | int, Any] = {}
    for key_node, value_node in node.value:
        key = _value(key_node, file)
        if not isinstance(key, str | int) or isinstance(key, bool):
            at = _place(file, key_node.start_mark)
            raise InputError(f"{at}: key {shortened(repr(key))} must be text; put it in quotes")
        if key in result:
            raise InputError(f"{_place(file, key_node.start_mark)}: key {shortened(repr(key))} occurs twice")
        result[key] = _value(value_node, file)
    return result
