"""The corpus ``documents``: texts of files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs

from srtk_framework.records import base_suffix, content_hash, read_jsonl, read_lines
from srtk_framework.roles import Corpus, absent
from srtk_framework.values import Entry, InputError, one_of

_RECORDS = (".jsonl", ".ndjson")
_TEXTS = (".txt", ".md", ".text")
UNITS = ("file", "paragraph", "line")


@attrs.define(eq=False)
class DocumentCorpus(Corpus):
    """Read documents from JSON Lines and text files, also compressed.

    A record of JSON Lines has ``text``, and may have ``id`` and ``title``, which stands before the text; without ``id``
    its id is file and line. A text file is a single document, or a document for each paragraph or line. Its id is the
    path below ``path``, with ``#`` and the number of the paragraph or line.

    Attributes:
        path: A file, or a folder whose files of these kinds, at any depth, are read in order of their names.
        unit: Part of a text file that is a document: ``file``, ``paragraph`` (separated by blank lines) or ``line``.
    """

    path: str
    unit: str = attrs.field(default="file", validator=one_of(UNITS))
    _content: str = attrs.field(init=False, default="", repr=False)

    def preflight(self) -> list[tuple[str, str]]:
        """Check that the path exists."""
        return absent("path", self.path, "name a file or folder of documents")

    def open(self) -> None:
        """Find the files and hash them, so that the fingerprint changes with them."""
        self._content = content_hash(self._files())

    def read(self) -> Iterator[Entry]:
        """Yield the documents, file by file."""
        for name, path in self._files():
            if base_suffix(path) in _RECORDS:
                for number, record in read_jsonl(path):
                    yield _of_record(record, f"{name}#{number}", f"{path}:{number}")
            else:
                yield from self._of_text(name, path)

    def _files(self) -> Sequence[tuple[str, Path]]:
        """Return the files, each with its name in ids."""
        root = Path(self.path).expanduser()
        if root.is_file():
            return [(root.name, root)]
        if not root.is_dir():
            raise InputError(f"{self.path}: there is no such file or folder; name one of documents as `path:`")
        every = (path for path in root.rglob("*") if path.is_file())
        found = sorted((path.relative_to(root).as_posix(), path) for path in every if _is_read(path))
        if not found:
            endings = ", ".join((*_RECORDS, *_TEXTS))
            raise InputError(f"{self.path}: no file in this folder ends in {endings}; name another folder or a file")
        return found

    def _of_text(self, name: str, path: Path) -> Iterator[Entry]:
        if self.unit == "line":
            for number, line in read_lines(path):
                yield Entry(f"{name}#{number}", line.strip())
            return
        lines = list(read_lines(path))
        if not lines:
            return
        if self.unit == "file":
            yield Entry(name, "\n".join(line for _, line in lines))
            return
        # ``read_lines`` passes over blank lines: where the numbers have a gap, a paragraph ends.
        first = 0
        for place in range(1, len(lines) + 1):
            if place == len(lines) or lines[place][0] != lines[place - 1][0] + 1:
                yield Entry(f"{name}#{lines[first][0]}", "\n".join(line for _, line in lines[first:place]))
                first = place

    def fingerprint(self) -> str:
        """Identify the documents by their content and names, and by the settings; not by where they stand."""
        if not self._content:
            self.open()
        return f"corpus:documents({self.unit!r}) of {self._content}"


def _is_read(path: Path) -> bool:
    return base_suffix(path) in (*_RECORDS, *_TEXTS) and not re.match(r"[._]", path.name)


def _of_record(record: dict[str, Any], id_: str, place: str) -> Entry:
    id_ = record.get("id", id_)
    if isinstance(id_, int) and not isinstance(id_, bool):
        id_ = str(id_)
    text, title = record.get("text"), record.get("title", "")
    if not isinstance(id_, str) or not id_:
        raise InputError(f"{place}: `id` must be a text or a whole number, not {id_!r}")
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"{place}: a document has a `text` that is not blank; add it or remove the line")
    if not isinstance(title, str):
        raise InputError(f"{place}: `title` must be a text, not {title!r}")
    return Entry(id_, f"{title}\n{text}" if title else text)
