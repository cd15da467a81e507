"""The journal of a run: one checked line on disk per finished question, so that a stopped run can go on."""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from srtk_framework.records.jsonl import check_depth, dumps, parse_object, unwritable
from srtk_framework.records.retrieval_records import record_from_retrieval, retrieval_from_record
from srtk_framework.values import DriverError, InputError, Question, Retrieval, RunError, shortened

FOLDER = "journal"
REDO = "delete it and the lines after it to have their questions answered again, or start over with --fresh"

_MARK = re.compile(
    rb', "journal": \{"number": ([1-9][0-9]{0,17}), "run": "([0-9a-f]{16})", "checksum": "([0-9a-f]{16})"\}\}\n\Z'
)
# A mark has at most 104 bytes: 18 digits of the number, 32 of the run and the checksum, and the keys.
_LONGEST_MARK = 120


def journal_file(folder: Path, method: str) -> Path:
    """Return the journal of a method in the folder of a run."""
    return folder / FOLDER / f"{''.join(c if c.isalnum() or c in '-_.' else '_' for c in method)}.jsonl"


class Journal:
    """Finished questions of one method, in order: a file of JSON lines, and a file of their seconds.

    A line is a record with one more field, ``journal``: the number of the question from 1, the run and method by
    fingerprint, and a checksum of all that stands before it. Each line read must have the mark that its place asks
    for, so that a line that was changed, lost, doubled or moved, or is another run's, is noticed.

    Args:
        folder: Folder of the run.
        method: Name of the method.
        fingerprint: Fingerprint of the run.

    Attributes:
        finished: Number of finished questions.
        failed: Questions among them that ended in an error.
    """

    def __init__(self, folder: Path, method: str, fingerprint: str) -> None:
        self.file = journal_file(folder, method)
        self._seconds = self.file.with_name(f"{self.file.name.removesuffix('.jsonl')}.seconds")
        self._run = _digest(f"{fingerprint}\0{method}".encode())
        self.finished = self.failed = 0

    def recover(self, asked: Iterable[Question]) -> bool:
        """Count the questions that an earlier process has finished, and drop an incomplete last line.

        Args:
            asked: The questions of the run, in order.

        Returns:
            Whether a line was dropped: the process was killed while it wrote the line.

        Raises:
            RunError: At the first line that is not this run's line on the question of its number, with file and line.
        """
        whole, torn = 0, False
        questions = iter(asked)
        for number, line in self._lines():
            if not line.endswith(b"\n"):
                torn = True
                break
            question = next(questions, None)
            record = self._checked(line, number)
            if question is None:
                raise self._bad(number, f"the run has only {number - 1} questions", REDO)
            if record.get("id") != question.id:
                wrong, right = (shortened(repr(one)) for one in (record.get("id"), question.id))
                raise self._bad(number, f"the line is about the question {wrong}, and question {number} is {right}")
            whole += len(line)
            self.finished += 1
            self.failed += "error" in record
        if torn:
            try:
                os.truncate(self.file, whole)
            except OSError as error:
                raise RunError(unwritable(self.file, error)) from error
        return torn

    def add(self, retrievals: Sequence[Retrieval], seconds: float) -> list[Retrieval]:
        """Commit a batch of finished questions to the disk.

        Args:
            retrievals: In order.
            seconds: Time of the whole batch.

        Returns:
            The retrievals as they were written: an unwritable retrieval became an error.

        Raises:
            RunError: If the file cannot be written.
        """
        share = seconds / max(len(retrievals), 1)
        texts, written = [], []
        for retrieval in retrievals:
            text, kept = _text(retrieval)
            texts.append(text)
            written.append(kept)
        numbers = range(self.finished + 1, self.finished + 1 + len(texts))
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with self.file.open("ab") as file:
                for number, text in zip(numbers, texts, strict=True):
                    file.write(self._line(number, text))
                file.flush()
                os.fsync(file.fileno())
            with self._seconds.open("a", encoding="ascii", newline="\n") as times:
                times.writelines(f"{number} {share:.6f}\n" for number in numbers)
        except OSError as error:
            raise RunError(unwritable(self.file, error)) from error
        self.finished += len(written)
        self.failed += sum(r.error is not None for r in written)
        return written

    def read(self) -> Iterator[Retrieval]:
        """Yield the finished retrievals in order.

        Raises:
            RunError: At the first line that does not fit, with file and line.
        """
        for number, line in self._lines():
            if number > self.finished:
                raise self._bad(number, "the line was written by something else", "end that, and run again")
            record = self._checked(line, number)
            try:
                retrieval = retrieval_from_record(record, f"{self.file}:{number}")
            except InputError as error:
                raise RunError(f"{error}; start over with --fresh") from error
            yield retrieval

    def seconds(self) -> Iterator[float | None]:
        """Yield the seconds of each finished question; None where a killed run lost them."""
        found = array("d", [math.nan]) * self.finished
        with contextlib.suppress(OSError), self._seconds.open(encoding="ascii", errors="replace") as lines:
            for line in lines:
                number, _, share = line.rstrip("\n").partition(" ")
                known = re.fullmatch("[0-9]{1,18}", number) and re.fullmatch(r"[0-9]+\.[0-9]{6}", share)
                if known and 0 < int(number) <= self.finished:
                    found[int(number) - 1] = float(share)
        return (None if math.isnan(share) else share for share in found)

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the lines with their numbers from 1; none where there is no file.

        Raises:
            RunError: If the file cannot be read.
        """
        try:
            with self.file.open("rb") as file:
                yield from enumerate(file, 1)
        except FileNotFoundError:
            return
        except OSError as error:
            raise RunError(f"{self.file} cannot be read: {error.strerror or error}; start over with --fresh") from error

    def _line(self, number: int, text: str) -> bytes:
        head = f'{text[:-1]}, "journal": {{"number": {number}, "run": "{self._run}"'.encode()
        return head + f', "checksum": "{_digest(head)}"}}}}\n'.encode()

    def _checked(self, line: bytes, number: int) -> dict[str, Any]:
        """Return the record of a line that is whole, of this run and method, and in its place."""
        mark = _mark_of(line)
        if mark is None:
            raise self._bad(number, "this is not a whole line of a journal")
        if mark[3].decode() != _digest(line[: mark.end(2) + 1]):
            raise self._bad(number, "the line was changed after it was written, since its checksum does not fit")
        if mark[2].decode() != self._run:
            text = "the line is of another run, method or version, or of other settings or questions"
            raise self._bad(number, text, "start over with --fresh, or choose another `output:`")
        if int(mark[1]) != number:
            text = f"the line is on question {int(mark[1])}, not {number}; a line was deleted, doubled or moved"
            raise self._bad(number, text)
        try:
            text = (line[: mark.start()] + b"}").decode()
        except UnicodeDecodeError as error:
            raise self._bad(number, f"not UTF-8 (byte {error.start + 1})") from error
        try:
            return parse_object(text, f"{self.file}:{number}")
        except InputError as error:
            raise RunError(f"{error}; {REDO}") from error

    def _bad(self, number: int, fault: str, remedy: str = REDO) -> RunError:
        return RunError(f"{self.file}:{number}: {fault}; {remedy}")


def discard(folder: Path, known: bool) -> None:
    """Delete the journals in the folder of a run.

    Args:
        folder: Folder of the run.
        known: Whether the folder is known to be a run's; else every journal must look like a journal.

    Raises:
        RunError: If a file is not a journal, or cannot be deleted.
    """
    try:
        found = sorted((folder / FOLDER).iterdir())
    except FileNotFoundError:
        return
    except OSError as error:
        raise RunError(
            f"{folder / FOLDER} is not a folder of journals: {error.strerror or error}; move it away, or choose another"
            " `output:`"
        ) from error
    for file in found:
        if file.suffix not in (".jsonl", ".seconds"):
            continue
        try:
            if not known and file.suffix == ".jsonl" and not _is_journal(file):
                raise RunError(f"{file} is not a journal of a run; move it away, or choose another `output:`")
            file.unlink()
        except OSError as error:
            raise RunError(f"{file} cannot be deleted: {error.strerror or error}; delete it by hand") from error


def _is_journal(file: Path) -> bool:
    with file.open("rb") as lines:
        first = next(lines, b"")
    return not first or _MARK.search(first) is not None


def _mark_of(line: bytes) -> re.Match[bytes] | None:
    """Find the mark at the end of a line; a record can be long, and is not searched."""
    return _MARK.search(line, max(0, len(line) - _LONGEST_MARK))


def _text(retrieval: Retrieval) -> tuple[str, Retrieval]:
    """Write a retrieval as a line of JSON; where that fails, the retrieval becomes an error with the reason."""
    try:
        return _readable(record_from_retrieval(retrieval)), retrieval
    except (DriverError, InputError) as error:
        failed = Retrieval(retrieval.question, error=str(error))
    return dumps(record_from_retrieval(failed)), failed


def _readable(record: dict[str, Any]) -> str:
    """Write a record as a line of JSON, within the limits of reading."""
    text = dumps(record)
    check_depth(record, text, f"record {record.get('id', '')!r}")
    return text


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
