"""Files of question sets: how they are found, and their objects in JSON, JSON Lines and Parquet."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import attrs

from srtk_framework.records import base_suffix, check_depth, json_decoder, read_jsonl, read_lines
from srtk_framework.records import record_fields as fields
from srtk_framework.values import InputError, Link, Question

Record = tuple[str, dict[str, Any]]  # A position, such as ``file:line``, and the object there.

T = TypeVar("T")

_BLANK = " \t\r\n"
_GAP = re.compile(r"[\s,]*")  # Between two items of a list.


def find(path: str, names: Sequence[str]) -> list[Path]:
    """Return the file, or the files of a folder that match the first of ``names`` (``glob`` patterns) with a match.

    Raises:
        InputError: If there is no such file.
    """
    place = Path(path)
    if place.is_file():
        return [place]
    for name in names:
        if found := sorted(file for file in place.glob(name) if file.is_file()):
            return found
    wanted = " and no ".join(dict.fromkeys(names))
    raise InputError(f"{place}: no {wanted} here; set path to a file or its folder, and check split")


def present(file: Path, advice: str) -> Path:
    """Return a file that must be there."""
    if not file.is_file():
        raise InputError(f"{file}: no such file; {advice}")
    return file


def read_records(file: Path, key: str | None = None) -> Iterator[Record]:
    """Yield the objects of a file: the rows of Parquet, the lines of JSON Lines, the items of a JSON list.

    Args:
        file: ``.parquet``; ``.jsonl`` or ``.ndjson``; else JSON, or JSON Lines if it begins with ``{`` and
            ``key`` is None. Text may be compressed.
        key: Member of the outermost object with the list, if the document is not a list itself.

    Raises:
        InputError: With file and line, row or item, if the file cannot be read.
    """
    kind = base_suffix(file)
    if kind == ".parquet":
        yield from _rows(file)
        return
    if kind not in (".jsonl", ".ndjson"):
        first = next(read_lines(file), (1, ""))[1]
        if key is not None or first.lstrip(_BLANK)[:1] != "{":
            yield from _items(file, key)
            return
    for number, record in read_jsonl(file):
        yield f"{file}:{number}", record


def _rows(file: Path) -> Iterator[Record]:
    try:
        import pyarrow.parquet as pq
        from pyarrow import ArrowException
    except ImportError as error:
        raise InputError(
            f"{file}: reading Parquet needs pyarrow; run pip install 'srtk-plugin-datasets[parquet]'"
        ) from error
    row = 0
    try:
        source = pq.ParquetFile(file)
    except (OSError, ArrowException) as error:
        raise InputError(f"{file}: cannot be read as Parquet ({error}); download or write the file again") from error
    with source:
        for batch in source.iter_batches(batch_size=64):
            for record in batch.to_pylist():
                row += 1
                yield f"{file}: row {row}", record


def _items(file: Path, key: str | None) -> Iterator[Record]:
    """Yield the items of a JSON list, each with its line."""
    lines = dict(read_lines(file))
    text = "\n".join(lines.get(number, "") for number in range(1, max(lines, default=0) + 1))
    decoder = json_decoder()
    try:
        document = decoder.decode(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{file}:{error.lineno}: not valid JSON: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file}:1: not valid JSON: {error}") from error
    check_depth(document, text, str(file))
    found = document.get(key) if isinstance(document, dict) else document
    if not isinstance(found, list):
        raise InputError(f"{file}:1: expected a list of objects{'' if key is None else f', or {key!r} with one'}")
    at = text.index("[", 0 if found is document else text.index(f'"{key}"')) + 1
    line, counted = 1, 0
    for value in found:
        at = _GAP.match(text, at).end()  # type: ignore[union-attr]
        line, counted = line + text.count("\n", counted, at), at
        if not isinstance(value, dict):
            raise InputError(f"{file}:{line}: each item of the list must be an object {{...}}")
        yield f"{file}:{line}", value
        # The item is decoded again, since only its end tells where the next item begins.
        at = decoder.raw_decode(text, at)[1]


def sample(items: Iterable[T], id_of: Callable[[T], str], limit: int | None, seed: int | None) -> Iterable[T]:
    """Return the ``limit`` items with the smallest hash of seed and id, in their order; without a seed, the first."""
    if limit is None:
        return items
    if seed is None:
        return islice(items, limit)

    def rank(i: int) -> tuple[bytes, int]:
        return hashlib.sha256(f"{seed}:{id_of(every[i])}".encode()).digest(), i

    every = list(items)
    return [every[i] for i in sorted(sorted(range(len(every)), key=rank)[:limit])]


def finished(
    questions: Iterable[tuple[str, Question]], limit: int | None, seed: int | None, given: bool
) -> Iterator[Question]:
    """Sample questions, given with their positions, and remove their links unless ``given``.

    Raises:
        InputError: If two questions have the same id.
    """
    seen: dict[str, str] = {}

    def distinct() -> Iterator[Question]:
        for where, question in questions:
            if question.id in seen:
                raise InputError(
                    f"{where}: id {question.id!r} was already used at {seen[question.id]}; make ids unique"
                )
            seen[question.id] = where
            yield question

    for question in sample(distinct(), lambda q: q.id, limit, seed):
        yield question if given else unlinked(question)


def unlinked(question: Question) -> Question:
    """Remove the links of a question; they become its gold links unless it has some."""
    gold = question.gold_links if question.gold_links is not None else question.links or None
    return attrs.evolve(question, links=(), gold_links=gold)


def object_of(value: Any, where: str, field: str) -> dict[str, Any]:
    """Read a field that must be an object."""
    if not isinstance(value, dict):
        raise fields.wrong(where, field, "an object", value)
    return value


def text_of(record: dict[str, Any], field: str, where: str) -> str:
    """Read a field that must be a text or an integer."""
    value = record.get(field)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return fields.string(value, where, field)


def texts_of(record: dict[str, Any], field: str, where: str) -> tuple[str, ...]:
    """Read a field that must be a text or a list of texts; return distinct texts in order, none if it is absent."""
    value = record.get(field)
    values = [value] if isinstance(value, str) else value or []
    return tuple(dict.fromkeys(text for text in fields.items(values, where, field, fields.string) if text))


def link(entity: str, name: str, text: str, mention: str = "") -> Link:
    """Return a link whose span is the mention, or else the name, where the text contains it as whole words."""
    folded = text.casefold()
    if len(folded) == len(text):
        for wanted in (mention.casefold(), name.casefold()):
            start = folded.find(wanted) if wanted else -1
            while start >= 0:
                end = start + len(wanted)
                if not (text[start - 1 : start].isalnum() or text[end : end + 1].isalnum()):
                    return Link(entity, start=start, end=end, name=name)
                start = folded.find(wanted, start + 1)
    return Link(entity, name=name)


def kept(record: dict[str, Any], known: Iterable[str]) -> dict[str, Any]:
    """Return the fields that are not part of a question."""
    left = set(known)
    return {field: value for field, value in record.items() if field not in left}
