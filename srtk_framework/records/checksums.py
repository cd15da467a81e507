"""Checksums of what is stored and read again: of JSON by itself, and of files in blocks, by the JSON beside them.

CRC-32 finds what disks, transfers and editors do to a file; it is no signature.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, TypeVar

from srtk_framework.records.jsonl import check_depth, json_decoder, replace_lines
from srtk_framework.records.publication import write_bytes, write_text
from srtk_framework.values import DriverError, SettingsError, SrtkError, redacted_data

T = TypeVar("T")

BLOCK = 1 << 20
"""Bytes of a block, each with a checksum."""
MANIFEST = "checksums.json"
"""Checksums of the files of a folder that another program reads too."""
VERIFIED = ".verified.json"
"""Which state of each file was found right: size, times and inode."""
# A file changed less than these nanoseconds ago may change again without a new time, so it is checked again.
_SETTLED = 2 * 10**9
_MARK = re.compile(rb',[ \n]+"checksum": "([0-9a-f]{8})"[ \n]*\}\n\Z')
_LONGEST_MARK = 64

State = list[int]


def with_checksum(text: str, before: int = 0) -> tuple[str, int]:
    """Add its checksum to the text of a JSON object, as the last field, and end the line.

    Args:
        text: The object, which has fields.
        before: Checksum of the line before, so that lines keep their order; or another number that it depends on.

    Returns:
        The text with the checksum, and the checksum.
    """
    body = text.rstrip()[:-1].rstrip()
    gap, end = ("\n ", "\n}\n") if "\n" in body else (" ", "}\n")
    checksum = zlib.crc32(body.encode(), before)
    return f'{body},{gap}"checksum": "{checksum:08x}"{end}', checksum


def file_checksum(content: bytes) -> int | None:
    """Return the checksum that JSON, or a line of it, has at its end; None without one."""
    mark = _MARK.search(content, max(0, len(content) - _LONGEST_MARK))
    return None if mark is None else int(mark[1], 16)


def answer_checksum(key: bytes, at: float, body: bytes) -> int:
    """Return the checksum of an answer that is kept: of its question, its time and its text."""
    return zlib.crc32(body, zlib.crc32(f"{key.hex()} {at!r}".encode()))


def checked(
    content: bytes, where: object, again: str, before: int = 0, kind: type[SrtkError] = DriverError
) -> tuple[dict[str, Any], int]:
    """Compare the text of a JSON object with its checksum, and parse it.

    Args:
        content: Content of the file, or the line with its end.
        where: Place for the error.
        again: Advice how to make the file anew.
        before: As it was given to ``with_checksum``.
        kind: Class of the error.

    Returns:
        The object without its checksum, and the checksum.

    Raises:
        SrtkError: If there is no checksum, or the content is not what was written.
    """
    mark = _MARK.search(content, max(0, len(content) - _LONGEST_MARK))
    if mark is None:
        raise kind(f"{where}: is damaged, or of an older version that wrote no checksums; {again}")
    found = zlib.crc32(memoryview(content)[: mark.start()], before)
    if found != int(mark[1], 16):
        raise kind(f"{where}: is damaged: its content is not what was written; {again}")
    try:
        data = json_decoder().decode(content.decode())
        del data["checksum"]
    except (ValueError, RecursionError, TypeError) as error:  # A stranger may have written it.
        raise kind(f"{where}: is not JSON of this framework ({error}); {again}") from error
    return data, found


def checked_lines(
    path: Path, again: str, kind: type[SrtkError] = DriverError
) -> Iterator[tuple[int, dict[str, Any], int]]:
    """Yield the (number from 1, object, checksum) of each line of a journal, whose checksums follow from each other.

    A last line without an end, as a killed process leaves it, counts for nothing.

    Raises:
        SrtkError: At a line that is not what was written, or not at its place; or if the file cannot be read.
    """
    before = 0
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    return
                where = f"{path}:{number}"
                data, before = checked(line, where, again, before, kind)
                check_depth(data, line.decode(), where)
                yield number, data, before
    except OSError as error:
        raise kind(f"{path}: cannot be read ({error.strerror}); check the path") from error


def sums_of(parts: Iterable[bytes | memoryview]) -> dict[str, Any]:
    """Return the size of content in bytes, and the CRC-32 of each block.

    Args:
        parts: The content, in blocks that are full except for the last.
    """
    size, blocks = 0, []
    for part in parts:
        size += len(part)
        blocks.append(zlib.crc32(part))
    return {"bytes": size, "blocks": blocks}


def blocks_of(content: bytes) -> Iterator[memoryview]:
    """Divide content into blocks."""
    return (memoryview(content)[start : start + BLOCK] for start in range(0, len(content), BLOCK))


def file_blocks(path: Path) -> Iterator[bytes]:
    """Read a file in blocks."""
    with path.open("rb") as file:
        yield from _blocks(file)


def content_hash(files: Iterable[tuple[str, Path]]) -> str:
    """Return the SHA-256 of files, by their names and content, in order."""
    whole = hashlib.sha256()
    for name, path in files:
        whole.update(f"{name}\0".encode("utf-8", "surrogateescape"))
        for block in file_blocks(path):
            whole.update(block)
    return whole.hexdigest()


def check_files(
    folder: Path,
    files: Mapping[str, Mapping[str, Any]],
    again: str,
    kind: type[SrtkError] = DriverError,
    opened: Callable[[str, IO[bytes], State], None] | None = None,
    anew: bool = False,
) -> None:
    """Compare the files of a folder with their checksums, except those whose very state was found right before.

    Args:
        folder: The folder; the list of states found right is kept in it, where it can be written.
        files: What ``sums_of`` returned, by file.
        again: Advice how to make the files anew.
        kind: Class of the error.
        opened: Called with each file's name, the open file and its state, after it was found right; without it, a file
            that was found right before is not opened.
        anew: Compare also files that were found right before.

    Raises:
        SrtkError: If a file is missing, cannot be read, or is damaged; with the damaged block.
    """
    known = {} if anew else _verified(folder)
    right: dict[str, State] = {}
    for name, entry in sorted(files.items()):
        path = folder / name
        # What was found right is of these very blocks, or a new manifest would vouch for old content.
        key = f"{name} {zlib.crc32(repr(entry['blocks']).encode())}"
        try:
            if opened is None and key in known and (state := _state(path)) == known[key] and state[0] == entry["bytes"]:
                right[key] = state
                continue
            with path.open("rb") as file:
                state = _state(file.fileno())
                if state[0] != entry["bytes"]:
                    expected = f"expected {entry['bytes']} bytes, found {state[0]}"
                    raise kind(f"{path}: is truncated or damaged: {expected}; {again}")
                if state != known.get(key):
                    _check_blocks(path, _blocks(file), entry["blocks"], again, kind)
                if opened is not None:
                    opened(name, file, state)
        except FileNotFoundError as error:
            raise kind(f"{path}: is missing ({error.strerror}); {again}") from error
        except OSError as error:
            raise kind(f"{path}: cannot be read or mapped ({error.strerror}); {again}") from error
        right[key] = state
    # The states of the folder's other files stay: the files of a model are compared one by one.
    others = {key: state for key, state in known.items() if key.rpartition(" ")[0] not in files}
    _keep(folder, others | right, known)


def write_model(file: Path, facts: Mapping[str, Any], beside: Mapping[str, bytes] | None = None) -> None:
    """Write what a trained driver learnt: a JSON file with checksums, and files beside it; each appears whole.

    Args:
        file: The JSON file; its folder is made where it is missing.
        facts: JSON values.
        beside: Content of the other files by name.

    Raises:
        OSError: If a file cannot be written.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    files = {}
    for name, content in (beside or {}).items():
        write_bytes(file.with_name(name), content)
        files[name] = sums_of(blocks_of(content))
    text = json.dumps({**facts, **({"files": files} if files else {})}, separators=(",", ":"))
    write_text(file, with_checksum(text)[0])


def write_checked(path: Path, data: Any) -> None:
    """Write a JSON file with its checksum, atomically, and without the secrets in it; for ``checked``.

    Raises:
        RunError: If the file cannot be written; its old content stays.
    """
    replace_lines(path, [with_checksum(json.dumps(redacted_data(data), indent=1))[0].rstrip()])


def write_manifest(folder: Path) -> None:
    """Write the checksums of all files of a folder whose form is not the framework's, beside them."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name not in (MANIFEST, VERIFIED)]
    files = {path.relative_to(folder).as_posix(): sums_of(file_blocks(path)) for path in paths}
    write_text(folder / MANIFEST, with_checksum(json.dumps({"files": files}))[0])


def check_manifest(folder: Path, again: str) -> None:
    """Compare the files of a folder with the checksums beside them, if ``write_manifest`` wrote some.

    Raises:
        DriverError: If a file is missing, or is not what was written.
    """
    path = folder / MANIFEST
    if path.is_file():
        again += f"; if you changed the folder yourself, delete {MANIFEST} in it"
        check_files(folder, checked(path.read_bytes(), path, again)[0]["files"], again)


def read_model(file: Path, called: str, parse: Callable[[Any], T], again: str = "train it again") -> T:
    """Read the JSON file that ``write_model`` wrote.

    Args:
        file: The file.
        called: Name of the driver, for messages.
        parse: Makes the model of the JSON value; it may raise any error.
        again: Advice how to make the file anew.

    Raises:
        DriverError: If the file cannot be read, is damaged, or is no model of the driver.
    """
    try:
        content = file.read_bytes()
    except OSError as error:
        raise DriverError(f"{file} cannot be read ({error}); name the folder of a trained model as `path`") from error
    data, _ = checked(content, file, again)
    try:
        return parse(data)
    except Exception as error:  # A stranger may have written it, with its checksums.
        if isinstance(error, SrtkError) and not isinstance(error, SettingsError):
            raise
        raise DriverError(f"{file} is no model of `{called}` ({error!r}); {again}") from error


def beside(file: Path, data: Mapping[str, Any], name: str, again: str = "train it again") -> Path:
    """Return a file beside the JSON file of a model, compared with the checksums that ``data`` of ``read_model`` has.

    Raises:
        DriverError: If it cannot be read, or is not the file that was written.
    """
    check_files(file.parent, {name: data["files"][name]}, again)
    return file.with_name(name)


def _blocks(file: IO[bytes]) -> Iterator[bytes]:
    while block := file.read(BLOCK):
        yield block


def _check_blocks(
    path: Path, found: Iterable[bytes | memoryview], blocks: list[int], again: str, kind: type[SrtkError]
) -> None:
    for number, (checksum, block) in enumerate(zip(blocks, found, strict=False)):
        if zlib.crc32(block) != checksum:
            raise kind(
                f"{path}: is damaged: block {number + 1} of {len(blocks)} (from byte {number * BLOCK:,}) has another"
                f" content than was written; {again}"
            )


def _state(file: Path | int) -> State:
    stat = os.stat(file)
    return [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino]


def _verified(folder: Path) -> dict[str, State]:
    """Read which states were found right; without a readable list, none."""
    try:
        data = json.loads((folder / VERIFIED).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    states = data.items() if isinstance(data, dict) else ()
    return {key: state for key, state in states if isinstance(state, list) and list(map(type, state)) == [int] * 4}


def _keep(folder: Path, right: Mapping[str, State], known: Mapping[str, State]) -> None:
    """Write which states were found right, except those that may change without a new time."""
    now = time.time_ns()
    settled = {key: state for key, state in right.items() if now - max(state[1:3]) > _SETTLED}
    if settled == known:
        return
    part = folder / f"{VERIFIED}.{os.getpid()}.part"
    # Where the folder cannot be written, the files are checked at each opening.
    with contextlib.suppress(OSError):
        try:
            part.write_text(json.dumps(settled, indent=1, sort_keys=True) + "\n", encoding="utf-8")
            os.replace(part, folder / VERIFIED)
        finally:
            part.unlink(missing_ok=True)
