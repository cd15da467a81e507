"""Write grammars that hold replies to a choice among options or to a JSON schema."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

_MARK = re.compile(r"<(?=\|)|<(?=/?(?:s|bos|eos|pad|unk|start_of_turn|end_of_turn|think)>)|\[(?=/?INST\])")
_HALF = re.compile("[\ud800-\udfff]")


def choice_grammar(count: int, least: int, most: int, taken: Sequence[int] = ()) -> str:
    """Write the grammar (GBNF) of a JSON list of numbers.

    Args:
        count: Numbers go from 1 to this.
        least: Fewest numbers.
        most: Most numbers.
        taken: Numbers that the list begins with; no other may be one of them.
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
    """Read a list that the grammar allows, without repetitions; None where it was cut."""
    try:
        found = json.loads(text)
    except ValueError:
        return None
    whole = isinstance(found, list) and all(type(number) is int and 1 <= number <= count for number in found)
    return list(dict.fromkeys(found)) if whole else None


def fault_of(schema: Mapping[str, Any]) -> str | None:
    """Say what is wrong with a JSON schema; llama.cpp would write without any grammar."""
    from jsonschema import Draft202012Validator, SchemaError

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return f"{error.message} (at {error.json_path})"
    return None


def schema_grammar(schema: Mapping[str, Any]) -> str:
    """Write the grammar (llguidance) of a JSON schema; blanks are fixed, since small models write them without end."""
    blanks = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
    return f"%llguidance {{}}\nstart: %json {json.dumps({**schema, 'x-guidance': blanks}, ensure_ascii=False)}"


def clean(text: str) -> str:
    """Break what a model would read as a mark of its own, such as that for the end of a turn."""
    return _MARK.sub(lambda found: found[0] + " ", _HALF.sub("\N{REPLACEMENT CHARACTER}", text))
