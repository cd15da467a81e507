"""Grammars that constrain replies to a list of options or to a JSON schema."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

_SPECIAL_TOKEN = re.compile(r"<(?=\|)|<(?=/?(?:s|bos|eos|pad|unk|start_of_turn|end_of_turn|think)>)|\[(?=/?INST\])")
_SURROGATE = re.compile("[\ud800-\udfff]")


def choice_grammar(count: int, least: int, most: int, taken: Sequence[int] = ()) -> str:
    """Return the grammar (GBNF) of a JSON list of option numbers.

    The list begins with the numbers in ``taken``, which do not occur again.
    """
    left = [number for number in range(1, count + 1) if number not in taken]
    least, most = max(least - len(taken), 0), min(most, count) - len(taken)
    begin = "".join(f"{number}, " for number in taken)
    if not left or most <= 0:
        return f'root ::= "[{begin[:-2]}]"'
    rest = f'n (", " n){{{max(least - 1, 0)},{most - 1}}} "]"'
    rules = [f'"[{begin}" {rest}']
    if least == 0:
        rules.append(f'"[{begin[:-2]}]"')
    numbers = " | ".join(f'"{number}"' for number in left)
    return f"root ::= {' | '.join(rules)}\nn ::= {numbers}"


def numbers_of(text: str, count: int) -> list[int] | None:
    """Return the numbers of a list that the grammar allows, without repetitions; None if it was truncated."""
    try:
        found = json.loads(text)
    except ValueError:
        return None
    whole = isinstance(found, list) and all(type(number) is int and 1 <= number <= count for number in found)
    return list(dict.fromkeys(found)) if whole else None


def schema_error(schema: Mapping[str, Any]) -> str | None:
    """Return the fault of a JSON schema, or None; llama.cpp ignores a wrong schema and replies unconstrained."""
    from jsonschema import Draft202012Validator, SchemaError  # type: ignore[import-untyped]

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return f"{error.message} (at {error.json_path})"
    return None


def schema_grammar(schema: Mapping[str, Any]) -> str:
    """Return the grammar (llguidance) of a JSON schema, with fixed blanks: small models may write them endlessly."""
    blanks = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
    return f"%llguidance {{}}\nstart: %json {json.dumps({**schema, 'x-guidance': blanks}, ensure_ascii=False)}"


def clean(text: str) -> str:
    """Break up special tokens of chat templates, such as the end of a turn, with a blank."""
    return _SPECIAL_TOKEN.sub(lambda found: found[0] + " ", _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text))
