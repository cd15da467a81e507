"""The journal of a run: one line on disk per finished question, so that a stopped run can be resumed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from srtk_framework.records.jsonl import unwritable
from srtk_framework.records.retrieval_records import dumps, record_from_retrieval, retrieval_from_record
from srtk_framework.values import Retrieval, RunError


class Journal:
    """Finished questions of one method, in order: a file of JSON lines, and a file of their seconds.

    Args:
        folder: Folder of the run.
        method: Name of the method.
        resume: Keep the finished questions of an earlier run; else start empty.
    """

    def __init__(self, folder: Path, method: str, resume: bool) -> None:
        name = "".join(c if c.isalnum() or c in "-_." else "_" for c in method)
        self._records = folder / "journal" / f"{name}.jsonl"
        self._seconds = folder / "journal" / f"{name}.seconds"
        self._records.parent.mkdir(parents=True, exist_ok=True)
        if not resume:
            self._records.unlink(missing_ok=True)
            self._seconds.unlink(missing_ok=True)
        self.finished, self.failed = self._recover()

    def _recover(self) -> tuple[int, int]:
        """Count complete records, and cut off an incomplete last line."""
        if not self._records.exists():
            return 0, 0
        whole = finished = failed = 0
        with self._records.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                whole += len(line)
                finished += 1
                failed += "error" in json.loads(line)
        os.truncate(self._records, whole)
        return finished, failed

    def add(self, retrievals: Sequence[Retrieval], seconds: float) -> None:
        """Commit a batch of finished questions to the disk.

        Args:
            retrievals: In order.
            seconds: Time of the whole batch.

        Raises:
            RunError: If they cannot be written.
        """
        share = seconds / max(len(retrievals), 1)
        try:
            with self._records.open("a", encoding="utf-8", newline="\n") as file:
                for retrieval in retrievals:
                    file.write(dumps(record_from_retrieval(retrieval)) + "\n")
                file.flush()
                os.fsync(file.fileno())
            with self._seconds.open("a", encoding="utf-8") as file:
                file.write(f"{share:.6f}\n" * len(retrievals))
        except OSError as error:
            raise RunError(unwritable(self._records, error)) from error
        self.finished += len(retrievals)
        self.failed += sum(r.error is not None for r in retrievals)

    def read(self) -> Iterator[Retrieval]:
        """Yield the finished retrievals in order."""
        if self._records.exists():
            with self._records.open(encoding="utf-8", newline="\n") as file:
                for number, line in enumerate(file, 1):
                    yield retrieval_from_record(json.loads(line), f"{self._records}:{number}")

    def seconds(self) -> list[float | None]:
        """Return the seconds of each finished question; None where a killed run lost them."""
        known: list[float | None] = []
        if self._seconds.exists():
            known += [float(line) for line in self._seconds.read_text(encoding="utf-8").split()]
        return (known + [None] * self.finished)[: self.finished]
