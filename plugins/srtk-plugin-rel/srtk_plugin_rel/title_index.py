"""Indexes from Wikipedia titles to Wikidata ids: SQLite files in the format of wikimapper."""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from srtk_framework.values import InputError
from srtk_plugin_rel.titles import edition, variants

TABLE = "mapping"
COLUMNS = ("wikipedia_id", "wikipedia_title", "wikidata_id")
_AT_ONCE = 500  # SQLite before 3.32 takes at most 999 variables in a statement
_SAMPLES, _SAMPLE = 256, 4096  # Blocks and their bytes: a megabyte at most, whatever the size of the file


class TitleIndex:
    """One index, of one language edition; read, never written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.is_file():
            raise InputError(f"{path}: is not there; make it by `srtk map build`, or name an index of wikimapper")
        self._lock = threading.Lock()
        try:
            self._db = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, check_same_thread=False)
            columns = {row[1] for row in self._db.execute(f"PRAGMA table_info({TABLE})")}
        except sqlite3.Error as error:
            raise InputError(f"{path}: cannot be read as an index of titles ({error}); make it anew") from error
        if not columns.issuperset(COLUMNS):
            self._db.close()
            raise InputError(f"{path}: has no table {TABLE}({', '.join(COLUMNS)}); make it by `srtk map build`")

    def ids(self, titles: Iterable[str]) -> dict[str, str]:
        """Look titles up, letter by letter; those that are not there, or have no id, are left out."""
        return {str(title): id_ for title, id_ in self._rows("wikipedia_title", titles)}

    def ids_of_pages(self, pages: Iterable[int]) -> dict[int, str]:
        """Look page numbers up; those that are not there, or have no id, are left out."""
        return {int(page): id_ for page, id_ in self._rows("wikipedia_id", pages)}

    def _rows(self, column: str, keys: Iterable[str | int]) -> list[tuple[str | int, str]]:
        wanted = list(dict.fromkeys(keys))
        rows: list[tuple[str | int, str]] = []
        for first in range(0, len(wanted), _AT_ONCE):
            some = wanted[first : first + _AT_ONCE]
            query = (
                f"SELECT {column}, wikidata_id FROM {TABLE} WHERE wikidata_id IS NOT NULL"
                f" AND {column} IN ({','.join('?' * len(some))}) ORDER BY wikidata_id DESC"
            )
            try:
                with self._lock:
                    rows += self._db.execute(query, some).fetchall()
            except sqlite3.Error as error:
                raise InputError(f"{self.path}: cannot be read on ({error}); make it anew") from error
        return rows

    def fingerprint(self) -> str:
        """Hash size and samples of the file, spread over all of it, so that large files cost little."""
        return file_sample(self.path)

    def close(self) -> None:
        """Close the file."""
        self._db.close()


class Editions:
    """Indexes by language edition."""

    def __init__(self, paths: str | Mapping[str, str], language: str) -> None:
        files = {language: paths} if isinstance(paths, str) else dict(paths)
        if not files:
            raise InputError("no index of titles is named; give a file, or files by language")
        self._language = language if language in files else next(iter(files))
        self._indexes = {name: TitleIndex(Path(file)) for name, file in files.items()}

    def ids(self, titles: Sequence[str], pages: Sequence[int | None]) -> list[str | None]:
        """Map titles, written in any way: with underscores or blanks, encoded or not, or as addresses.

        The number of a page in the default edition is looked up where its title is not there.
        """
        languages = frozenset(self._indexes)
        split = [edition(title, languages) for title in titles]
        found: list[str | None] = [None] * len(titles)
        # A title of the default edition may itself look like one with a language before it.
        tries = [[(self._language, title)] if known is None else [(known, rest), (self._language, title)]
                 for title, (known, rest) in zip(titles, split, strict=True)]  # fmt: skip
        for language, index in self._indexes.items():
            names = {(turn, at): variants(row[turn][1]) for at, row in enumerate(tries) if found[at] is None
                     for turn in range(len(row)) if row[turn][0] == language}  # fmt: skip
            ids = index.ids(name for forms in names.values() for name in forms)
            for (_, at), forms in sorted(names.items()):
                if found[at] is None:
                    found[at] = next((ids[name] for name in forms if name in ids), None)
        left = [at for at, page in enumerate(pages) if page is not None and found[at] is None and split[at][0] is None]
        by_page = self._indexes[self._language].ids_of_pages(page for at in left if (page := pages[at]) is not None)
        for at in left:
            found[at] = by_page.get(pages[at] or 0)
        return found

    def fingerprint(self) -> str:
        """Identify the content."""
        return ",".join(f"{name}:{index.fingerprint()}" for name, index in self._indexes.items())

    def close(self) -> None:
        """Close the files."""
        for index in self._indexes.values():
            index.close()


def file_sample(path: Path) -> str:
    """Hash size and evenly spread blocks of a file."""
    digest = hashlib.blake2b(digest_size=16)
    try:
        with path.open("rb") as file:
            size = path.stat().st_size
            digest.update(size.to_bytes(8, "big"))
            for place in sorted({size * part // _SAMPLES for part in range(_SAMPLES)}):
                file.seek(place)
                digest.update(file.read(_SAMPLE))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the path") from error
    return digest.hexdigest()
