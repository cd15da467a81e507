"""The cache of answers: what it keeps, for whom, and for how long."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from srtk_plugin_web import Cache

from srtk_framework.values import InputError


def test_an_answer_is_kept_over_runs(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "cache.db"
    with closing(Cache(path, "a")) as cache:
        assert cache.get("x") is None
        cache.put("x", {"rows": [1, "ä", None]})
    with closing(Cache(path, "a")) as cache:
        assert cache.get("x") == {"rows": [1, "ä", None]}


def test_another_namespace_or_version_has_answers_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "cache.db"
    with (
        closing(Cache(path, "a", "1")) as one,
        closing(Cache(path, "b", "1")) as two,
        closing(Cache(path, "a", "2")) as three,
    ):
        one.put("x", 1)
        two.put("x", 2)
        assert [cache.get("x") for cache in (one, two, three)] == [1, 2, None]


def test_names_that_meet_at_their_border_are_not_mixed_up(tmp_path: Path) -> None:
    path = tmp_path / "cache.db"
    with closing(Cache(path, "ab", "c")) as one, closing(Cache(path, "a", "bc")) as two:
        one.put("x", 1)
        assert two.get("x") is None


def test_an_answer_that_is_too_old_is_not_used(tmp_path: Path) -> None:
    path = tmp_path / "cache.db"
    with closing(Cache(path, "a")) as cache:
        cache.put("x", 1)
    with closing(Cache(path, "a", days=1e-9)) as cache:
        assert cache.get("x") is None
    with closing(Cache(path, "a", days=1.0)) as cache:
        assert cache.get("x") == 1


def test_without_a_file_answers_are_kept_in_memory() -> None:
    with closing(Cache(None, "a", remember=2)) as cache:
        for number in range(3):
            cache.put(str(number), number)
        assert [cache.get(str(number)) for number in range(3)] == [None, 1, 2]


def test_with_a_file_what_memory_forgot_is_still_there(tmp_path: Path) -> None:
    with closing(Cache(tmp_path / "cache.db", "a", remember=1)) as cache:
        for number in range(3):
            cache.put(str(number), number)
        assert [cache.get(str(number)) for number in range(3)] == [0, 1, 2]


def test_two_clients_share_a_file(tmp_path: Path) -> None:
    path = tmp_path / "cache.db"
    with closing(Cache(path, "a")) as one, closing(Cache(path, "a")) as two:
        one.put("x", 1)
        assert two.get("x") == 1


def test_processes_that_open_a_new_file_together_all_get_it(tmp_path: Path) -> None:
    path = tmp_path / "cache.db"
    code = (
        "import sys\nfrom pathlib import Path\nfrom srtk_plugin_web import Cache\n"
        "cache = Cache(Path(sys.argv[1]), 'a')\nfor n in range(50): cache.put(f'{sys.argv[2]} {n}', n)"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, path, str(place)]) for place in range(4)]
    assert [one.wait(60) for one in running] == [0] * 4
    with closing(Cache(path, "a")) as cache:
        assert [cache.get(f"{place} 49") for place in range(4)] == [49] * 4


@pytest.mark.parametrize("what", ["text", "folder", "foreign", "newer"])
def test_a_file_that_is_no_cache_is_refused_by_name_and_left_as_it_is(tmp_path: Path, what: str) -> None:
    path = tmp_path / "cache.db"
    if what == "text":
        path.write_text("this is no database, and long enough to be one" * 40)
    elif what == "folder":
        path.mkdir()
    else:
        with closing(sqlite3.connect(path)) as db:
            db.execute("CREATE TABLE other (x)")
            db.execute(f"PRAGMA user_version = {99 if what == 'newer' else 0}")
    before = path.read_bytes() if path.is_file() else b""
    with pytest.raises(InputError, match=r"cache\.db.*give another file to `cache`"):
        Cache(path, "a")
    assert (path.read_bytes() if path.is_file() else b"") == before


def test_a_file_that_breaks_while_it_is_open_is_named(tmp_path: Path) -> None:
    path = tmp_path / "cache.db"
    with closing(Cache(path, "a", remember=0)) as cache:
        cache.put("x", 1)
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("UPDATE answer SET body = x'00'")
        with pytest.raises(InputError, match=r"cache\.db"):
            cache.get("x")
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("DROP TABLE answer")
        with pytest.raises(InputError, match=r"cache\.db"):
            cache.put("y", 1)


def test_an_answer_that_is_not_the_one_that_was_kept_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cache.db"
    with closing(Cache(path, "a")) as cache:
        cache.put("x", 1)
        cache.put("y", 2)
    with closing(sqlite3.connect(path)) as db, db:
        (one,), (other,) = db.execute("SELECT body FROM answer").fetchall()
        db.execute("UPDATE answer SET body = ? WHERE body = ?", [other, one])
    with closing(Cache(path, "a")) as cache:

        def both() -> None:
            cache.get("x")
            cache.get("y")

        with pytest.raises(InputError, match=r"an answer in it is not the one that was kept.*; delete it, or give"):
            both()
