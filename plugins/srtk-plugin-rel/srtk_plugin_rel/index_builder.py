"""Build an index from Wikipedia titles to Wikidata ids out of tables, in the form that wikimapper reads."""

from __future__ import annotations

import gzip
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import IO, cast

import attrs

from srtk_framework.records import publication_error, publish, workplace
from srtk_framework.values import InputError, RunError
from srtk_plugin_rel.title_index import COLUMNS, TABLE
from srtk_plugin_rel.titles import canonical, capital, variants

_ID = re.compile(r"^(?:(?:https?://www\.wikidata\.org/(?:entity|wiki)/|wd:))?(Q[1-9][0-9]*)$")
_ENCODED = re.compile(r"%[0-9A-Fa-f]{2}|&(?:#\w+|\w+);")
_HEADERS = ("id", "qid", "wikidata_id", "wikidata", "item")
_CHAIN = 32  # Longest chain of redirects that is followed
_AT_ONCE = 10_000

Row = tuple[int | None, str, str, str]


@attrs.frozen
class Built:
    """Numbers of titles with an id, of redirects to these, and of redirects that lead nowhere or round in a circle."""

    titles: int
    redirects: int
    lost: int


def build(titles: list[Path], redirects: list[Path], out: Path, force: bool) -> Built:
    """Write the index, which appears in one step when it is whole; until then the old file stays.

    The first tables have title and id, and a third column for the number of the page if it is known. The redirects
    have a title and its target. With ``force``, an existing file is replaced.
    """
    if out.exists() and not force:
        raise RunError(f"{out}: exists; choose another --out, or replace it by --force")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with workplace(out, "choose another --out") as place:
            with closing(sqlite3.connect(place / "index", isolation_level=None)) as db:
                built = _fill(db, titles, redirects)
            publish(place / "index", Path(os.path.realpath(out)))
    except OSError as error:
        raise publication_error(error, out) from error
    except sqlite3.Error as error:
        raise RunError(f"{out}: cannot be written ({error}); check the folder and the disk") from error
    return built


def _fill(db: sqlite3.Connection, titles: list[Path], redirects: list[Path]) -> Built:
    db.execute("PRAGMA journal_mode = OFF")
    db.execute("PRAGMA synchronous = OFF")
    db.execute(f"CREATE TABLE {TABLE} ({COLUMNS[0]} int PRIMARY KEY, {COLUMNS[1]} text, {COLUMNS[2]} text)")
    db.execute("CREATE TEMP TABLE given (page int, title text, id text, place text)")
    db.execute("CREATE TEMP TABLE leads (page int, title text, target text, place text)")
    for name, files, read in (("given", titles, _title), ("leads", redirects, _redirect)):
        for path in files:
            for rows in _batches(_rows(path, read)):
                db.executemany(f"INSERT INTO {name} VALUES (?, ?, ?, ?)", rows)
    _refuse_doubles(db)
    db.execute("BEGIN")
    made = db.execute(
        f"INSERT INTO {TABLE} SELECT max(page), title, min(id) FROM given GROUP BY title ORDER BY title"
    ).rowcount
    db.execute(f"CREATE UNIQUE INDEX idx_wikipedia_title ON {TABLE}({COLUMNS[1]})")
    followed = _follow(db)
    db.execute(f"CREATE INDEX idx_wikidata_id ON {TABLE}({COLUMNS[2]})")
    db.execute("COMMIT")
    (lost,) = db.execute(
        f"SELECT count(DISTINCT title) FROM leads WHERE title NOT IN (SELECT {COLUMNS[1]} FROM {TABLE})"
    ).fetchone()
    return Built(made, followed, lost)


def _follow(db: sqlite3.Connection) -> int:
    """Give redirects the id of their target, round by round, for redirects to redirects."""
    followed = 0
    for _ in range(_CHAIN):
        new = db.execute(
            f"INSERT INTO {TABLE} SELECT NULL, l.title, min(m.{COLUMNS[2]}) FROM leads l"
            f" JOIN {TABLE} m ON m.{COLUMNS[1]} = l.target"
            f" WHERE l.title NOT IN (SELECT {COLUMNS[1]} FROM {TABLE}) GROUP BY l.title ORDER BY l.title"
        ).rowcount
        if not new:
            break
        followed += new
    return followed


def _refuse_doubles(db: sqlite3.Connection) -> None:
    for table, value, what in (("given", "id", "the ids"), ("leads", "target", "redirects to")):
        found = db.execute(
            f"SELECT title, min({value}), max({value}), max(place) FROM {table}"
            f" GROUP BY title HAVING count(DISTINCT {value}) > 1 ORDER BY title LIMIT 1"
        ).fetchone()
        if found:
            raise InputError(f"{found[3]}: the title {found[0]!r} has {what} {found[1]} and {found[2]}; keep one")
    page = db.execute(
        "SELECT page, min(title), max(title), max(place) FROM given WHERE page IS NOT NULL"
        " GROUP BY page HAVING count(DISTINCT title) > 1 ORDER BY page LIMIT 1"
    ).fetchone()
    if page:
        raise InputError(f"{page[3]}: the page {page[0]} has the titles {page[1]!r} and {page[2]!r}; keep one")


def _title(fields: list[str], place: str) -> Row:
    if len(fields) not in (2, 3):
        raise InputError(f"{place}: {len(fields)} columns; write title and Wikidata id, separated by a tab")
    found = _ID.match(fields[1].strip())
    if found is None:
        raise InputError(f"{place}: {fields[1]!r} is no Wikidata id such as Q42; the columns are title and id")
    page = fields[2].strip() if len(fields) == 3 else ""
    if page and not page.isdigit():
        raise InputError(f"{place}: {page!r} is no number of a page; write a whole number, or leave it out")
    return int(page) if page else None, _page_title(fields[0], place), found[1], place


def _redirect(fields: list[str], place: str) -> Row:
    if len(fields) != 2:
        raise InputError(f"{place}: {len(fields)} columns; write a title and the title that it leads to")
    return None, _page_title(fields[0], place), _page_title(fields[1], place), place


def _page_title(text: str, place: str) -> str:
    """Write a title as its page does."""
    name = variants(text)[-1:] if _ENCODED.search(text) else [canonical(text)]
    if not name or not name[0]:
        raise InputError(f"{place}: the title is empty; remove the line")
    return capital(name[0])


def _rows(path: Path, read: object) -> Iterator[Row]:
    assert callable(read)
    try:
        with _opened(path) as file:
            for number, line in enumerate(file, start=1):
                place = f"{path}:{number}"
                fields = line.rstrip("\r\n").split("\t")
                if fields == [""] or (number == 1 and read is _title and fields[1:] and _is_header(fields)):
                    continue
                yield read(fields, place)
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 ({error.reason}); save it as UTF-8") from error
    except (OSError, EOFError) as error:
        raise InputError(f"{path}: cannot be read ({error}); check the path") from error


def _is_header(fields: list[str]) -> bool:
    return fields[1].strip().lower() in _HEADERS


def _opened(path: Path) -> IO[str]:
    if path.suffix.lower() == ".gz":
        return cast("IO[str]", gzip.open(path, "rt", encoding="utf-8", newline="\n"))
    return path.open(encoding="utf-8", newline="\n")


def _batches(rows: Iterator[Row]) -> Iterator[list[Row]]:
    some: list[Row] = []
    for row in rows:
        some.append(row)
        if len(some) == _AT_ONCE:
            yield some
            some = []
    yield some
