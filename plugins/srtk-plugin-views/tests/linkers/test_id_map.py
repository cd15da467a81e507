"""Freebase ids to Wikidata ids and back."""

from __future__ import annotations

import bz2
import gzip
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_views.linkers import freebase_ids, id_table
from srtk_plugin_views.linkers.id_map import IdMapLinker

from srtk_framework.roles import EntityLinker
from srtk_framework.testing import EntityLinkerConformance
from srtk_framework.values import DriverError, InputError, Link

DATA = Path(os.environ.get("SRTK_DATA", Path(__file__).parents[5] / "shared" / "data"))
OBAMA = "#9202a8c04000641f800000000029c277"


@attrs.define(eq=False)
class Named(EntityLinker):
    """Finds a word, and gives it some ids.

    Attributes:
        ids: Ids of the word, best first.
        word: The word.
    """

    ids: Sequence[str] = ("/m/02mjmr",)
    word: str = "Riga"

    def link(self, texts: Sequence[str]) -> list[list[Link]]:
        scores = [(id_, 1.0 / (rank + 1)) for rank, id_ in enumerate(self.ids)]
        return [
            [Link(id_, score, text.find(self.word), text.find(self.word) + len(self.word)) for id_, score in scores]
            if self.word in text
            else []
            for text in texts
        ]


@pytest.fixture
def pairs(tmp_path: Path) -> str:
    path = tmp_path / "pairs.tsv"
    path.write_text("mid\tqid\n/m/02mjmr\tQ76\n/m/0bbc\tQ5\n/m/0bbd\tQ5\n/m/0bbd\tQ6\n/g/11bc\tQ7\n", encoding="utf-8")
    return str(path)


def opened(linker: IdMapLinker) -> IdMapLinker:
    linker.open()
    return linker


class TestIdMap(EntityLinkerConformance):
    name = "id-map"

    @pytest.fixture
    def driver(self, pairs: str) -> IdMapLinker:
        return opened(IdMapLinker(Named(), pairs))

    @pytest.fixture
    def faulty(self, tmp_path: Path) -> IdMapLinker:
        return IdMapLinker(Named(), str(tmp_path / "none.tsv"))


@pytest.mark.parametrize(
    "text",
    [
        "/m/02mjmr",
        "m.02mjmr",
        "m/02mjmr",
        "ns:m.02mjmr",
        "<http://rdf.freebase.com/ns/m.02mjmr>",
        OBAMA,
        f"/guid/{OBAMA[1:]}",
        OBAMA[1:].upper(),
    ],
)
def test_all_ways_to_write_an_id_of_freebase_are_one_number(text: str) -> None:
    assert freebase_ids.number(text) == 0x29C277


@pytest.mark.parametrize(
    "text", ["Q76", "/m/2mjmr", "/m/00ab", "/m/0aeiou", "m.0", "/g/02mjmr", "x/m/02mjmr", "", "#92"]
)
def test_what_is_no_id_of_freebase_has_no_number(text: str) -> None:
    assert freebase_ids.number(text) is None


@given(st.integers(32, 2**59), st.sampled_from(["slash", "dot", "guid"]))
def test_a_number_written_and_read_is_the_same(number: int, form: str) -> None:
    assert freebase_ids.number(freebase_ids.written(number, form)) == number


def test_links_get_the_ids_of_wikidata(pairs: str) -> None:
    linker = opened(IdMapLinker(Named(["m.02mjmr", "m.0bbc", "Q9"]), pairs))
    links = linker.link(["in Riga"])[0]
    assert [(link.entity, link.score, link.start, link.end) for link in links] == [
        ("Q76", 1.0, 3, 7),
        ("Q5", 0.5, 3, 7),
        ("Q9", 1.0 / 3, 3, 7),
    ]


def test_links_get_the_ids_of_freebase_in_the_wanted_form(pairs: str) -> None:
    for form, wanted in {"slash": "/m/02mjmr", "dot": "m.02mjmr", "guid": OBAMA}.items():
        linker = opened(IdMapLinker(Named(["Q76"]), pairs, to="freebase", ids=form))  # type: ignore[arg-type]
        assert linker.link(["Riga"])[0][0].entity == wanted
        assert linker.mapped(OBAMA) == [wanted]
    assert (
        opened(IdMapLinker(Named(["wd:Q7"]), pairs, to="freebase", ids="guid")).link(["Riga"])[0][0].entity == "/g/11bc"
    )


def test_an_id_with_several_partners_becomes_several_links_each_once(pairs: str) -> None:
    linker = opened(IdMapLinker(Named(["/m/0bbd", "/m/0bbc"]), pairs))
    assert [(link.entity, link.score) for link in linker.link(["Riga"])[0]] == [("Q5", 1.0), ("Q6", 1.0)]
    assert opened(IdMapLinker(Named(["Q5"]), pairs, to="freebase")).mapped("Q5") == ["/m/0bbc", "/m/0bbd"]


def test_an_id_without_partner_is_dropped_visibly_or_kept(pairs: str, caplog: pytest.LogCaptureFixture) -> None:
    assert opened(IdMapLinker(Named(["/m/0zzz", "dbr:Riga"]), pairs)).link(["Riga"]) == [[]]
    assert "2 links have an id without counterpart" in caplog.text
    kept = opened(IdMapLinker(Named(["/m/0zzz"]), pairs, unmapped="keep")).link(["Riga"])[0]
    assert [link.entity for link in kept] == ["/m/0zzz"]


NTRIPLES = (
    "# Freebase to Wikidata\n\n<http://rdf.freebase.com/ns/m.02mjmr>\t<http://www.w3.org/2002/07/owl#sameAs>\t"
    "<http://www.wikidata.org/entity/Q76> .\n"
    "<http://rdf.freebase.com/ns/g.11bc> <http://www.w3.org/2002/07/owl#sameAs> <http://www.wikidata.org/entity/Q7> .\n"
)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.nt", NTRIPLES),
        ("b.nt", "\ufeff" + NTRIPLES.replace("\n", "\r\n")),
        ("c.tsv", "Q76\t/m/02mjmr\nQ7\t/g/11bc"),
        ("d.csv", f'freebase,wikidata,label\n"{OBAMA}","Q76","Obama, B."\n"/g/11bc",Q7,x\n'),
        ("d.tsv", f"{OBAMA.upper()}\tQ76\n/g/11bc\tQ7\n"),
        ("e.json", json.dumps({"/m/02mjmr": {"wikidata_id": "Q76", "label": "x"}, "g.11bc": "Q7"})),
    ],
)
@pytest.mark.parametrize("pack", [None, "gz", "bz2"])
def test_mappings_are_read_in_their_usual_forms(name: str, content: str, pack: str | None, tmp_path: Path) -> None:
    body = content.encode()
    if pack is not None:
        body = gzip.compress(body) if pack == "gz" else bz2.compress(body)
    path = tmp_path / (f"{name}.{pack}" if pack else name)
    path.write_bytes(body)
    table = id_table.read(str(path))
    assert len(table) == 2
    assert table.wikidata(0x29C277) == [76]
    assert table.freebase(76) == [0x29C277]
    assert table.wikidata(1) == []


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("a.tsv", "/m/02mjmr\tQ76\n/m/0bbc\tnone\n", r"a\.tsv:2: has no Wikidata id"),
        ("b.tsv", "/m/02mjmr\tQ76\n\nx\tQ5\n", r"b\.tsv:3: has no Freebase id"),
        ("c.tsv", "/m/02mjmr\tnone\n", r"c\.tsv:1: has no Wikidata id"),
        ("d.tsv", "from\tto\n", "has no pair"),
        ("e.json", "{", ":1:2: not valid JSON"),
        ("f.json", '{"/m/02mjmr": "x"}', "is not a pair"),
        ("g.json", "[]", "not a JSON object"),
    ],
)
def test_a_mapping_that_cannot_be_read_says_where(name: str, content: str, error: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=error):
        id_table.read(str(tmp_path / name))


def test_a_file_that_is_cut_short_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv.gz"
    path.write_bytes(gzip.compress(b"/m/02mjmr\tQ76\n" * 5000)[:-20])
    with pytest.raises(InputError, match="cannot be read further"):
        id_table.read(str(path))


def test_the_fingerprint_follows_the_content_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("/m/02mjmr\tQ76\n", encoding="utf-8")
    before = IdMapLinker(Named(), str(path)).fingerprint()
    path.write_text("/m/02mjmr\tQ77\n", encoding="utf-8")
    assert IdMapLinker(Named(), str(path)).fingerprint() != before


def test_a_linker_that_is_not_open_says_so(pairs: str) -> None:
    with pytest.raises(DriverError, match="not open"):
        IdMapLinker(Named(), pairs).link(["Riga"])


def test_the_ids_of_a_slice_of_freebase_go_to_wikidata_and_back() -> None:
    path = DATA / "fb15k237" / "entity2wikidata.json.gz"
    if not path.is_file():
        pytest.skip(f"{path.name} is not there; set SRTK_DATA to the folder of real data")
    known = json.loads(gzip.decompress(path.read_bytes()))
    there = opened(IdMapLinker(Named(), str(path)))
    back = opened(IdMapLinker(Named(), str(path), to="freebase"))
    for mid, facts in known.items():
        assert facts["wikidata_id"] in there.mapped(mid)
        assert mid in back.mapped(facts["wikidata_id"])


@pytest.mark.parametrize(
    ("id_", "known"),
    [
        ("/m/0", None),
        ("/m/01", 1),
        ("/m/0z", 30),
        ("/m/0_", 31),
        ("/m/010", 32),
        ("/m/02mjmr", 0x29C277),
        ("/m/1", None),
        ("/m/00", None),
        ("/g/11", (1 << 62) + 33),
        ("/g/1_", (1 << 62) + 63),
        ("/g/01", None),
        ("/m/0a1", None),
    ],
)
def test_machine_ids_are_counted_from_their_digits_and_g_ids_apart(id_: str, known: int | None) -> None:
    assert freebase_ids.number(id_) == known
    if known is not None:
        assert freebase_ids.written(known, "slash") == id_
        assert freebase_ids.number(freebase_ids.written(known, "dot")) == known


class Suggesting(Named):
    """Suggests its ids with falling scores."""

    def suggest(self, texts: Sequence[str], limit: int) -> list[list[Link]]:
        return [[Link(id_, 1.0 / rank, 0, 4) for rank, id_ in enumerate(self.ids, 1)][:limit] for _ in texts]


@pytest.mark.parametrize(
    ("settings", "limit", "found"),
    [
        ({}, 5, [("Q76", 1.0), ("Q5", 1 / 3), ("Q6", 1 / 3)]),
        ({}, 2, [("Q76", 1.0)]),
        ({}, 3, [("Q76", 1.0), ("Q5", 1 / 3), ("Q6", 1 / 3)]),
        ({"unmapped": "keep"}, 5, [("Q76", 1.0), ("/m/0zzz", 0.5), ("Q5", 1 / 3), ("Q6", 1 / 3)]),
        ({"unmapped": "keep"}, 3, [("Q76", 1.0), ("/m/0zzz", 0.5), ("Q5", 1 / 3)]),
    ],
)
def test_suggestions_are_mapped_each_entity_once_with_its_best_score(
    pairs: str, settings: dict[str, Any], limit: int, found: list[tuple[str, float]]
) -> None:
    linker = opened(IdMapLinker(Suggesting(["/m/02mjmr", "/m/0zzz", "/m/0bbd", "Q5"]), pairs, **settings))
    rows = linker.suggest(["Riga", "Oslo"], limit)
    assert [[(link.entity, link.score) for link in row] for row in rows] == [found, found]
    assert rows[0][0] == Link("Q76", 1.0, 0, 4)


class Linking(Named):
    """Finds its ids at rising scores, and each once more further on."""

    def link(self, texts: Sequence[str]) -> list[list[Link]]:
        first = [Link(id_, rank / 10, 0, 4) for rank, id_ in enumerate(self.ids, 1)]
        return [[*first, Link(self.ids[0], 0.05, 0, 4), Link(self.ids[0], 0.9, 5, 9)] for _ in texts]


def test_of_links_to_one_entity_at_one_place_the_best_is_kept(pairs: str, caplog: pytest.LogCaptureFixture) -> None:
    linker = opened(IdMapLinker(Linking(["/m/0bbc", "Q5", "/m/0zzz"]), pairs))
    assert [list(row) for row in linker.link(["a", "b"])] == [[Link("Q5", 0.2, 0, 4), Link("Q5", 0.9, 5, 9)]] * 2
    assert [record.getMessage() for record in caplog.records] == [
        f"2 links have an id without counterpart in {pairs} and are dropped"
    ]
    caplog.clear()
    kept = opened(IdMapLinker(Linking(["/m/0zzz"]), pairs, unmapped="keep")).link(["a"])
    assert [link.entity for link in kept[0]] == ["/m/0zzz", "/m/0zzz"]
    assert "3 links have an id without counterpart" in caplog.text
    assert "left unchanged" in caplog.text
    caplog.clear()
    opened(IdMapLinker(Linking(["/m/0bbc"]), pairs)).link(["a"])
    assert caplog.records == []


@pytest.mark.parametrize(
    ("to", "ids", "id_", "mapped"),
    [
        ("wikidata", "slash", "wd:Q3", ["Q3"]),
        ("wikidata", "slash", "/m/0bbd", ["Q5", "Q6"]),
        ("wikidata", "slash", "/m/0zzz", []),
        ("wikidata", "slash", "Riga", []),
        ("freebase", "slash", "m.0zzz", ["/m/0zzz"]),
        ("freebase", "dot", "/m/0zzz", ["m.0zzz"]),
        ("freebase", "guid", "/m/02mjmr", [OBAMA]),
        ("freebase", "dot", "Q7", ["g.11bc"]),
        ("freebase", "guid", "Q7", ["/g/11bc"]),
        ("freebase", "slash", "http://www.wikidata.org/entity/Q6", ["/m/0bbd"]),
        ("freebase", "slash", "Q8", []),
        ("freebase", "slash", "Riga", []),
    ],
)
def test_an_id_of_the_target_graph_stays_and_one_of_the_other_is_looked_up(
    pairs: str, to: Any, ids: Any, id_: str, mapped: list[str]
) -> None:
    assert opened(IdMapLinker(Named(), pairs, to, ids)).mapped(id_) == mapped


def test_the_fingerprint_has_all_settings_and_no_path(pairs: str, tmp_path: Path) -> None:
    more: list[dict[str, Any]] = [{}, {"to": "freebase"}, {"ids": "dot"}, {"unmapped": "keep"}]
    assert len({IdMapLinker(Named(), pairs, **settings).fingerprint() for settings in more}) == 4
    (tmp_path / "copy.tsv").write_bytes(Path(pairs).read_bytes())
    linker = IdMapLinker(Named(), pairs)
    assert IdMapLinker(Named(), str(tmp_path / "copy.tsv")).fingerprint() == linker.fingerprint()
    # The file is read once.
    Path(pairs).unlink()
    assert linker.fingerprint() == linker.fingerprint()
    with pytest.raises(InputError, match=r"pairs\.tsv: cannot be read \(.*\); correct `path`"):
        IdMapLinker(Named(), pairs).fingerprint()


def test_a_missing_file_is_told_before_the_run_and_a_closed_linker_has_no_pairs(pairs: str, tmp_path: Path) -> None:
    assert IdMapLinker(Named(), str(tmp_path / "no.tsv")).preflight()[0][0] == "path"
    linker = opened(IdMapLinker(Named(), pairs))
    assert linker.preflight() == []
    linker.close()
    with pytest.raises(DriverError, match="not open"):
        linker.mapped("Q76")


@pytest.mark.parametrize(
    ("line", "pair"),
    [
        ("/m/02mjmr\tQ76", (0x29C277, 76)),
        ("Q76,/m/02mjmr", (0x29C277, 76)),
        ("m.02mjmr Q76", (0x29C277, 76)),
        (f"{OBAMA}\tQ76", (0x29C277, 76)),
        (f'"{OBAMA[:18]}{OBAMA[18:].upper()}","Q76"', (0x29C277, 76)),
        ("x /m/02mjmr y Q76 z", (0x29C277, 76)),
        ("/g/11bc,Q999999999999", ((1 << 62) + 33 * 32 * 32 + 10 * 32 + 11, 999_999_999_999)),
    ],
)
def test_a_line_has_an_id_of_each_side_in_any_order(line: str, pair: tuple[int, int], tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(f"from to\n# /m/0bbc\n \n{line}\n{line}\n", encoding="utf-8")
    table = id_table.read(str(tmp_path / "a.txt"))
    assert (len(table), table.wikidata(pair[0]), table.freebase(pair[1])) == (1, [pair[1]], [pair[0]])


def test_counterparts_are_the_lowest_first_and_each_once() -> None:
    table = id_table.IdTable([(2, 30), (1, 20), (2, 10), (1, 20), (3, 10)])
    assert len(table) == 4
    assert [table.wikidata(number) for number in (0, 1, 2, 3, 4)] == [[], [20], [10, 30], [10], []]
    assert [table.freebase(number) for number in (5, 10, 20, 30, 40)] == [[], [2, 3], [1], [2], []]
    assert len(id_table.IdTable([])) == 0


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Q76", 76),
        ("wd:Q76", 76),
        ("<http://www.wikidata.org/entity/Q76>", 76),
        ("https://wikidata.org/wiki/Q76", 76),
        ("Q999999999999", 999_999_999_999),
        ("Q1000000000000", None),
        ("Q0", None),
        ("Q07", None),
        ("P31", None),
        ("xQ76", None),
        ("Q76x", None),
    ],
)
def test_items_of_wikidata_are_read_in_their_usual_forms(text: str, number: int | None) -> None:
    assert id_table.item(text) == number


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ('\n\n{"/m/02mjmr": }', r"a\.json:3:\d+: not valid JSON"),
        ('{"Riga": "Q76"}', r"a\.json: 'Riga': 'Q76' is not a pair of a Freebase and a Wikidata id; correct it"),
        ('{"/m/02mjmr": {"qid": "Q76"}}', "'/m/02mjmr': None is not a pair"),
        ('{"/m/02mjmr": 76}', "'/m/02mjmr': 76 is not a pair"),
        ("{}", "has no pair of a Freebase and a Wikidata id; give another file"),
    ],
)
def test_an_object_of_ids_that_cannot_be_read_says_where(content: str, error: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=error):
        id_table.read(str(tmp_path / "a.json"))
