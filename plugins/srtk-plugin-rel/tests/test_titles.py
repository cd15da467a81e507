"""Titles of Wikipedia and their Wikidata ids: the ways of writing, the index, the command, the view."""

from __future__ import annotations

import gzip
import logging
import sqlite3
from contextlib import closing
from pathlib import Path

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_rel.index_builder import build
from srtk_plugin_rel.title_index import Editions, TitleIndex
from srtk_plugin_rel.titles import canonical, capital, edition, variants
from srtk_plugin_rel.wikipedia_map import WikipediaMap

from srtk_framework.cli import main
from srtk_framework.roles import EntityLinker
from srtk_framework.values import InputError, Link, RunError

TITLES = {
    "Hakata-ku,_Fukuoka": "Q1330839", "AC/DC": "Q27593", "IPod": "Q9479", "AT&T": "Q35476", "ẞ": "Q9998",
    "Fermat's_Last_Theorem": "Q132469", "100%_Wolf": "Q65088613", "Ünye": "Q842263", "Москва": "Q649",
    "ירושלים": "Q1218", "C": "Q15777",
}  # fmt: skip


def table(path: Path, rows: dict[str, str]) -> Path:
    path.write_text("".join(f"{title}\t{value}\n" for title, value in rows.items()), encoding="utf-8")
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    build([table(tmp_path / "titles.tsv", TITLES)], [], tmp_path / "titles.db", force=False)
    return tmp_path / "titles.db"


@pytest.mark.parametrize(
    ("written", "id_"),
    [
        ("Hakata-ku,_Fukuoka", "Q1330839"),
        (" Hakata-ku,  Fukuoka_", "Q1330839"),
        ("hakata-ku,\u00a0Fukuoka", "Q1330839"),
        ("Hakata-ku%2C_Fukuoka", "Q1330839"),
        ("https://en.wikipedia.org/wiki/Hakata-ku,_Fukuoka#History", "Q1330839"),
        ("http://en.m.wikipedia.org/w/index.php?title=Hakata-ku%2C_Fukuoka&action=edit", "Q1330839"),
        ("AC%2FDC", "Q27593"),
        ("AC/DC", "Q27593"),
        ("iPod", "Q9479"),
        ("AT&amp;T", "Q35476"),
        ("AT%26T", "Q35476"),
        ("Fermat&#39;s Last Theorem", "Q132469"),
        ("Fermat%27s_Last_Theorem", "Q132469"),
        ("100% Wolf", "Q65088613"),
        ("100%25_Wolf", "Q65088613"),
        ("U\u0308nye", "Q842263"),
        ("%C3%9Cnye", "Q842263"),
        ("москва", "Q649"),
        ("\u200fירושלים\u200e", "Q1218"),
        ("ß", None),
        ("Nowhere", None),
        ("", None),
        ("%", None),
    ],
)
def test_a_title_is_found_in_the_ways_in_which_it_is_written(file: Path, written: str, id_: str | None) -> None:
    editions = Editions(str(file), "en")
    assert editions.ids([written], [None]) == [id_]
    editions.close()


@given(st.text(max_size=12))
def test_the_written_form_of_a_title_is_stable(title: str) -> None:
    assert canonical(canonical(title)) == canonical(title)
    assert capital(capital(title)) == capital(title)
    assert all(name == canonical(name) or name[1:] in canonical(name) for name in variants(title))


def test_a_language_before_a_title_counts_where_there_is_its_edition() -> None:
    assert edition("de:Wien", frozenset({"de"})) == ("de", "Wien")
    assert edition("de:Wien", frozenset({"en"})) == (None, "de:Wien")
    assert edition("https://de.wikipedia.org/wiki/Wien_(Fluss)", frozenset()) == ("de", "Wien_(Fluss)")


def test_each_language_has_its_index(tmp_path: Path) -> None:
    paths = {}
    for language, rows in {
        "en": {"Vienna": "Q1741", "Gift": "Q184303"},
        "de": {"Wien": "Q1741", "Gift": "Q40867"},
    }.items():
        build([table(tmp_path / f"{language}.tsv", rows)], [], tmp_path / f"{language}.db", force=False)
        paths[language] = str(tmp_path / f"{language}.db")
    editions = Editions(paths, "en")
    asked = ["Gift", "de:Gift", "https://de.wikipedia.org/wiki/Gift", "Wien", "https://fr.wikipedia.org/wiki/Gift"]
    assert editions.ids(asked, [None] * 5) == ["Q184303", "Q40867", "Q40867", None, None]
    editions.close()


def test_an_index_of_wikimapper_is_read_with_numbers_of_pages(tmp_path: Path) -> None:
    path = tmp_path / "index_enwiki.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE mapping (wikipedia_id int PRIMARY KEY, wikipedia_title text, wikidata_id text)")
        rows = [(12, "Riga", "Q1773"), (13, "No_item", None), (14, "New_name", "Q5")]
        db.executemany("INSERT INTO mapping VALUES (?, ?, ?)", rows)
        db.commit()
    editions = Editions(str(path), "en")
    assert editions.ids(["riga", "No item", "Old name", "Gone"], [None, 13, 14, 99]) == ["Q1773", None, "Q5", None]
    editions.close()


@pytest.mark.parametrize("content", [b"", b"no database at all, only text that is long enough to look like one" * 20])
def test_a_file_that_is_no_index_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.db").write_bytes(content)
    with pytest.raises(InputError, match=r"x\.db: "):
        TitleIndex(tmp_path / "x.db")
    with pytest.raises(InputError, match="is not there"):
        TitleIndex(tmp_path / "y.db")


def test_the_command_builds_an_index_and_follows_redirects(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with gzip.open(tmp_path / "titles.tsv.gz", "wt", encoding="utf-8") as out:
        out.write(
            "title\tid\tpage\r\nHakata-ku, Fukuoka\tQ1330839\t77\r\n\r\nRiga\thttp://www.wikidata.org/entity/Q1773\t\r\n"
        )
    leads = {
        "Hakata Ward": "Hakata-ku",
        "Hakata-ku": "Hakata-ku, Fukuoka",
        "A": "B",
        "B": "A",
        "Lost": "Nowhere",
        "Riga": "A",
    }
    arguments = [str(tmp_path / "titles.tsv.gz"), "--redirects", str(table(tmp_path / "r.tsv", leads))]
    assert main(["map", "build", "--out", str(tmp_path / "a.db"), *arguments]) == 0
    said = capsys.readouterr().out
    assert "2 titles, 2 redirects" in said
    assert "3 redirects lead to no title" in said
    with closing(sqlite3.connect(tmp_path / "a.db")) as db:
        rows = db.execute("SELECT * FROM mapping ORDER BY wikipedia_title").fetchall()
    assert rows == [
        (None, "Hakata-ku", "Q1330839"), (77, "Hakata-ku,_Fukuoka", "Q1330839"), (None, "Hakata_Ward", "Q1330839"),
        (None, "Riga", "Q1773"),
    ]  # fmt: skip


def test_the_same_tables_give_the_same_bytes(tmp_path: Path) -> None:
    one = table(tmp_path / "one.tsv", TITLES)
    other = table(tmp_path / "other.tsv", dict(reversed(TITLES.items())))
    build([one], [], tmp_path / "one.db", force=False)
    build([other], [], tmp_path / "other.db", force=False)
    assert (tmp_path / "one.db").read_bytes() == (tmp_path / "other.db").read_bytes()


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("Q42\tRiga\n", r"t.tsv:1: 'Riga' is no Wikidata id such as Q42; the columns are title and id"),
        ("Riga\tQ1773\nTartu\n", r"t.tsv:2: 1 columns"),
        ("\tQ1\n", r"t.tsv:1: the title is empty"),
        ("Riga\tQ1\tx\n", r"'x' is no number of a page"),
        ("Riga\tQ1\nriga\tQ2\n", r"t.tsv:2: the title 'Riga' has the ids Q1 and Q2"),
        ("Riga\tQ1\t5\nTartu\tQ2\t5\n", r"the page 5 has the titles 'Riga' and 'Tartu'"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused_with_its_line(tmp_path: Path, lines: str, said: str) -> None:
    (tmp_path / "t.tsv").write_text(lines, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        build([tmp_path / "t.tsv"], [], tmp_path / "out.db", force=False)
    assert [path.name for path in tmp_path.iterdir()] == ["t.tsv"]


def test_what_stands_at_the_place_of_the_index_is_kept(tmp_path: Path) -> None:
    titles = table(tmp_path / "t.tsv", {"Riga": "Q1773"})
    (tmp_path / "out.db").write_text("mine")
    with pytest.raises(RunError, match="--force"):
        build([titles], [], tmp_path / "out.db", force=False)
    assert build([titles], [], tmp_path / "out.db", force=True).titles == 1
    with pytest.raises(InputError, match="cannot be read"):
        build([tmp_path / "none.tsv"], [], tmp_path / "new.db", force=False)
    (tmp_path / "latin.tsv").write_bytes("Ünye\tQ1\n".encode("latin-1"))
    with pytest.raises(InputError, match="is not UTF-8"):
        build([tmp_path / "latin.tsv"], [], tmp_path / "new.db", force=False)


@attrs.define(eq=False)
class Given(EntityLinker):
    """Gives links."""

    links: tuple[Link, ...] = ()

    def link(self, texts: list[str]) -> list[list[Link]]:
        return [list(self.links) for _ in texts]


FOUND = (
    Link("iPod", 0.9, 0, 4, "iPod"),
    Link("IPod", 0.4, 0, 4),
    Link("Nowhere", 0.8, 5, 9),
    Link("AC/DC", 1.0, 10, 15),
)


def test_the_view_maps_drops_and_warns(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    view = WikipediaMap(Given(FOUND), str(file))
    view.open()
    with caplog.at_level(logging.WARNING):
        rows = view.link(["a", "b"])
        view.link(["a"])
    assert rows == [[Link("Q9479", 0.9, 0, 4, "iPod"), Link("Q27593", 1.0, 10, 15)]] * 2
    assert [record.getMessage() for record in caplog.records] == [
        "wikipedia-map: 1 titles have no id in the index, their links are dropped: 'Nowhere'"
    ]
    assert view.lost == 3
    view.close()


def test_the_view_keeps_pages_without_an_id_if_set_to(file: Path) -> None:
    view = WikipediaMap(Given(FOUND), str(file), unmapped="keep")
    view.open()
    assert [link.entity for link in view.link(["a"])[0]] == ["Q9479", "Nowhere", "Q27593"]
    view.close()


def test_another_index_gives_another_fingerprint(file: Path, tmp_path: Path) -> None:
    marks = set()
    for rows in (TITLES, {**TITLES, "C": "Q1"}):
        build([table(tmp_path / "t.tsv", rows)], [], tmp_path / "x.db", force=True)
        view = WikipediaMap(Given(), str(tmp_path / "x.db"))
        view.open()
        marks.add(view.fingerprint())
        view.close()
    assert len(marks) == 2
