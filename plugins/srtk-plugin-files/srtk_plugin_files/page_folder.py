"""The data of a page with many questions: files beside it, which it reads as they are needed."""

from __future__ import annotations

import hashlib
import itertools
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from srtk_framework.values import DriverError

_PART = 1 << 20  # Bytes of data in a file, which a browser reads in some milliseconds.
_HELD = 1 << 20  # Bytes of data that wait in memory; more wait on the disk.
_BEGIN = "srtkPart("  # Of each file.
_NAME = re.compile(r"part-[0-9]+\.js")


class PageTexts:
    """The data of each question and its entry in the index, one JSON text each, on the disk where they are many.

    Args:
        folder: Folder of the temporary files; None for the system's.

    Attributes:
        size: Number of bytes of the data.
    """

    def __init__(self, folder: str | None = None) -> None:
        self.size = 0
        self._data = tempfile.SpooledTemporaryFile(_HELD, dir=folder)  # noqa: SIM115 - closed by ``close``
        self._index = tempfile.SpooledTemporaryFile(_HELD, dir=folder)  # noqa: SIM115 - closed by ``close``

    def add(self, data: str, entry: str) -> None:
        """Keep a question."""
        raw = data.encode("utf-8", "replace")
        self.size += len(raw)
        try:
            self._data.write(raw + b"\n")
            self._index.write(entry.encode("utf-8", "replace") + b"\n")
        except OSError as error:
            raise DriverError(
                f"the data of a page cannot be kept: {error.strerror or error}; free some space"
            ) from error

    def data(self) -> Iterator[str]:
        """Yield the data of each question."""
        return _lines(self._data)

    def index(self) -> Iterator[str]:
        """Yield the entry of each question."""
        return _lines(self._index)

    def close(self) -> None:
        """Forget them."""
        self._data.close()
        self._index.close()


def _lines(file: IO[bytes]) -> Iterator[str]:
    file.seek(0)
    return (line.decode().removesuffix("\n") for line in file)


class DataFolder:
    """The folder with the data of a page.

    Each file is a script that gives texts of JSON to the page, as a page from disk may read scripts alone. Its stamp
    says to which page it belongs.

    Args:
        page: Path of the page.
        texts: The data.
    """

    def __init__(self, page: str, texts: PageTexts) -> None:
        self._texts = texts
        given = Path(page).expanduser()
        self.path = str(given.with_name(f"{given.stem}-data"))
        target = given.resolve()
        self._target = target.with_name(f"{target.stem}-data")
        self._draft = target.with_name(f".{target.stem}-data.part")

    def write(self) -> dict[str, object]:
        """Write the files; return the folder's ``name``, the ``stamp`` and the first question of each file, ``starts``.

        Raises:
            DriverError: If the folder cannot be written, or has other files.
        """
        if self._target.exists() and not _is_ours(self._target):
            raise DriverError(
                f"{self.path} holds other things than the data of a page; move it away, or name another page"
            )
        digest = hashlib.sha256()
        starts, size, count = [0], 0, 0
        for count, text in enumerate(self._texts.data(), 1):
            digest.update(text.encode())
            if size > _PART:
                starts.append(count - 1)
                size = 0
            size += len(text)
        stamp, texts = digest.hexdigest()[:16], self._texts.data()
        try:
            shutil.rmtree(self._draft, ignore_errors=True)
            self._draft.mkdir()
            for number, (start, end) in enumerate(itertools.pairwise([*starts, count])):
                with (self._draft / f"part-{number}.js").open("w", encoding="utf-8", newline="\n") as file:
                    file.write(f"{_BEGIN}'{stamp}', {number}, [\n")
                    file.writelines(f"{_quoted(text)},\n" for text in itertools.islice(texts, end - start))
                    file.write("]);\n")
        except OSError as error:
            raise self._failed(error) from error
        return {"name": self._target.name, "stamp": stamp, "starts": starts}

    def publish(self) -> None:
        """Put the files that were written in the place of an earlier page's, which go in any case."""
        try:
            if self._target.exists() and _is_ours(self._target):
                shutil.rmtree(self._target)
            if self._draft.exists():
                self._draft.rename(self._target)
        except OSError as error:
            raise self._failed(error) from error

    def drop(self) -> None:
        """Delete what was written."""
        shutil.rmtree(self._draft, ignore_errors=True)

    def _failed(self, error: OSError) -> DriverError:
        return DriverError(f"{self.path}: cannot be written: {error.strerror or error}; name another path")


def _is_ours(folder: Path) -> bool:
    """Return whether a folder has files of a page alone; an empty one may be anybody's."""
    files = list(folder.iterdir()) if folder.is_dir() else []
    return bool(files) and all(_NAME.fullmatch(file.name) and _is_part(file) for file in files)


def _is_part(file: Path) -> bool:
    if not file.is_file():
        return False
    with file.open("rb") as opened:
        return opened.read(len(_BEGIN)) == _BEGIN.encode()


def _quoted(text: str) -> str:
    """Write a text without line ends as a string of JavaScript; JSON has many double quotes, and few single ones."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
