"""Names one slip away from a text, and names that hold its words, from the index of a graph's names."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from srtk_plugin_local import name_index
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_local.name_index import (
    LEAST_LETTERS,
    MOST_INITIALS,
    NameIndex,
    hashes,
    initials_of,
    is_one_edit,
    keyed,
    letters_of,
    likeness,
    within_one_edit,
    words_of,
)
from srtk_plugin_local.snapshot import lookup
from srtk_plugin_local.snapshot.arrays import Snapshot
from srtk_plugin_local.snapshot.build import build
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.graph import LocalGraph
from srtk_plugin_local.snapshot.name_table import NameTable

NAMES = (
    "Côte d'Ivoire",
    "France",
    "Île-de-France",
    "Amsterdam Airport Schiphol",
    "New Zealand",
    "U.S.",
    ".is",
    "Apollo 11",
)


def index_of(*names: str) -> NameIndex:
    return NameIndex(NameTable.of([keyed(names, np.arange(len(names)))]), lambda numbers: [[names[n]] for n in numbers])


def near(*names: str, limit: int = 3) -> list[list[str]]:
    return MemoryGraph([[name, "r", "x"] for name in NAMES]).near_names(names, limit, False)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Francce", ["france"]),
        ("Farnce", ["france", "ile-de-france"]),
        ("cote divoire", ["cote d'ivoire"]),
        ("newzealand", ["new zealand"]),
        ("Ne wzealand", ["new zealand"]),
        ("us", ["u.s."]),
        ("is", [".is"]),
        ("Schiphol", ["amsterdam airport schiphol"]),
        ("Schipol", ["amsterdam airport schiphol"]),
        ("Zealand New", []),
        ("Apollo 12", []),
        ("frnc", []),
        ("", []),
        ("'", []),
    ],
)
def test_names_one_slip_away_and_names_with_its_words_are_near(name: str, found: list[str]) -> None:
    assert near(name)[0][: len(found) or None] == found


def test_a_whole_name_is_nearer_than_a_part_and_the_limit_is_kept() -> None:
    assert near("Frence", limit=5) == [["france", "ile-de-france"]]
    assert near("Frence", limit=1) == [["france"]]


def test_a_snapshot_has_the_same_near_names(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("".join(f"e{n}\tr\te0\n" for n in range(len(NAMES))), encoding="utf-8")
    (tmp_path / "l.tsv").write_text("".join(f"e{n}\t{name}\n" for n, name in enumerate(NAMES)), encoding="utf-8")
    build(BuildSettings((str(tmp_path / "t.tsv"),), labels=(str(tmp_path / "l.tsv"),)), tmp_path / "graph")
    graph = LocalGraph(str(tmp_path / "graph"))
    graph.open()
    asked = ["Farnce", "cote divoire", "Schipol", "us", "Apollo 12"]
    assert graph.near_names(asked, 3, False) == near(*asked)
    graph.close()


@given(st.text("abcdé", min_size=4, max_size=9), st.data())
def test_every_text_within_one_edit_has_one_of_the_hashes(name: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(name) - 1))
    letter = data.draw(st.sampled_from("abcxyz"))
    edited = data.draw(
        st.sampled_from(
            [
                name[:at] + name[at + 1 :],
                name[:at] + letter + name[at:],
                name + letter,
                name[:at] + letter + name[at + 1 :],
                name[:at] + name[at : at + 2][::-1] + name[at + 2 :],
            ]
        )
    )
    assert edited == name or is_one_edit(name, edited)
    keys, rows = within_one_edit(["other", name])
    assert np.isin(hashes([edited]), keys[rows == 1]).all() or not set(name) & set("abcd")


@given(st.text("ab1", min_size=1, max_size=6), st.text("ab1", min_size=1, max_size=6))
def test_one_edit_is_a_distance_of_one(first: str, second: str) -> None:
    made = {first[:k] + first[k + 1 :] for k in range(len(first))}
    made |= {first[:k] + letter + first[k:] for k in range(len(first) + 1) for letter in "ab1"}
    made |= {first[:k] + letter + first[k + 1 :] for k in range(len(first)) for letter in "ab1"}
    made |= {first[:k] + first[k + 1] + first[k] + first[k + 2 :] for k in range(len(first) - 1)}
    assert is_one_edit(first, second) == (second in made)


@given(st.lists(st.text("abд1 ", max_size=7), max_size=5))
def test_texts_have_the_same_hashes_together_as_alone(names: list[str]) -> None:
    keys, rows = within_one_edit(names)
    for at, name in enumerate(names):
        alone, _ = within_one_edit([name])
        assert sorted(keys[rows == at].tolist()) == sorted(alone.tolist())


ALPHABETS = ("abcdefghijklmnopqrstuvwxyz", "абвгдежзийклмнопрстуфхцчшщъыьэюяё", "αβγδεζηθικλμνξοπρσςτυφχψω")


def edits_of(name: str) -> set[str]:
    """Return a name and all texts within one edit of it, letter by letter."""
    if len(name) < 4:
        return {name} - {""}
    letters = next((some for some in ALPHABETS if {*some} & {*name}), "")
    free = [not letter.isdigit() for letter in name]
    places = range(len(name))
    made = {name} | {name[:k] + name[k + 1 :] for k in places if free[k]}
    made |= {name[:k] + letter + name[k + 1 :] for k in places if free[k] for letter in letters}
    made |= {name[:k] + letter + name[k:] for k in range(len(name) + 1) for letter in letters}
    return made | {
        name[:k] + name[k + 1] + name[k] + name[k + 2 :] for k in places[:-1] if free[k] and free[k + 1]
    }  # fmt: skip


@given(st.lists(st.text("azяёαω19é字", max_size=6), max_size=4))
def test_the_hashes_are_those_of_the_texts_within_one_edit_and_of_no_others(names: list[str]) -> None:
    keys, rows = within_one_edit(names)
    for at, name in enumerate(names):
        assert {*keys[rows == at].tolist()} == {*hashes(sorted(edits_of(name))).tolist()}


@pytest.mark.parametrize("name", ["abcdef", "abcdefg", "ябвяёа"])
def test_every_text_within_one_edit_finds_the_name(name: str) -> None:
    index = index_of(name, "other")
    asked = sorted(edits_of(name) - {name})
    assert index.near(asked, 9) == index.near(asked, 9, True) == [[name]] * len(asked)


def test_hashes_within_one_edit_are_not_made_of_texts_that_share_no_half_with_a_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    index = index_of("new zealand")
    made: list[str] = []
    monkeypatch.setattr(
        name_index, "within_one_edit", lambda names: made.extend(filter(None, names)) or within_one_edit(names)
    )
    assert index.near(["new zeeland", "zealend", "how many", "people", "us"], 9) == [["new zealand"]] * 2 + [[]] * 3
    assert made == ["newzeeland", "zealend", "us"]


@given(
    st.lists(st.text("ab1é字_-. \ud800", max_size=9) | st.sampled_from(["bank of the east", "the a", "a b of c of d"]))
)
def test_the_keys_are_of_each_name_its_words_its_initials_and_their_halves(names: list[str]) -> None:
    def rows(texts: list[tuple[str, int]], kind: np.uint64) -> set[tuple[int, int]]:
        keys = hashes([text for text, _ in texts]) * kind
        return set(zip(keys.tolist(), [number for _, number in texts], strict=True))

    numbers = range(0, 2 * len(names), 2)
    whole = [(letters_of(name), n) for name, n in zip(names, numbers, strict=True) if letters_of(name)]
    words = [(word, n) for name, n in zip(names, numbers, strict=True) for word in words_of(name)]
    shorts = [(one, n) for name, n in zip(names, numbers, strict=True) for one in initials_of(name)]
    short = [(one, n) for one, n in shorts if len(one) <= MOST_INITIALS]
    long = sorted({text for text, _ in whole + words if len(text) >= LEAST_LETTERS - 1})
    halves = name_index._half_keys(name_index._Sums.of(long), 0).ravel().tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(name_index, "_MADE_AT_ONCE", 3)
        keys, owners = keyed(names, np.array(numbers, dtype=np.int64))
    assert set(zip(keys.tolist(), owners.tolist(), strict=True)) == (
        rows(whole, name_index._NAME) | rows(words, name_index._WORD_IN) | rows(short, name_index._INITIALS)
    ) | {(half, -1) for half in halves}


@given(st.lists(st.text("abc ", min_size=1, max_size=6), max_size=8), st.lists(st.text("abc ", max_size=7), max_size=6))
def test_the_near_names_are_those_that_a_comparison_with_every_name_finds(names: list[str], asked: list[str]) -> None:
    index = index_of(*names)
    for name, found in zip(asked, index.near(asked, 99), strict=True):
        squeezed = name.replace(" ", "")
        slips = {
            other
            for other in names
            if other != name and len(squeezed) >= 4 and is_one_edit(squeezed, other.replace(" ", ""))
        }
        assert slips <= set(found)


def test_whole_names_are_those_without_parts_and_initials() -> None:
    assert near("Farnce", "us", "Schipol")[0] == ["france", "ile-de-france"]
    graph = MemoryGraph([[name, "r", "x"] for name in (*NAMES, "United States")])
    assert graph.near_names(["Farnce", "us", "Schipol", "Zealand"], 9, True) == [["france"], ["u.s."], [], []]


def test_many_names_are_near_what_each_alone_is(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ["Farnce", "cote divoire", "Schipol", "us", "Apollo 12"]
    monkeypatch.setattr(name_index, "_AT_ONCE", 2)
    assert near(*asked) == [found for name in asked for found in near(name)]


TEXTS = st.text("abcé1дø-. ", max_size=9) | st.sampled_from(["New Zealand", "bank of the east", "a b c d e f g"])


@settings(max_examples=10, deadline=None, phases=[Phase.generate])
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=40), st.lists(TEXTS, max_size=9))
def test_an_index_on_disk_finds_what_one_of_the_same_names_in_memory_finds(
    names: list[tuple[str, str]], others: list[str]
) -> None:
    facts = [(f"n{number}", "r", "n0") for number in range(len(names))]
    labels, aliases = ([(f"n{n}", pair[side]) for n, pair in enumerate(names) if pair[side].strip()] for side in (0, 1))
    with TemporaryDirectory() as folder:
        given = {}
        for table, rows in {"files": facts, "labels": labels, "aliases": aliases}.items():
            given[table] = (f"{folder}/{table}.tsv",)
            Path(*given[table]).write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
        snapshot = Snapshot(build(BuildSettings(**given, header=False), Path(folder) / "built").folder)  # type: ignore[arg-type]
        rows = lookup._all_names(snapshot, np.arange(snapshot.size))
        every = [(name, number) for number, row in enumerate(rows) for name in row]
        table = NameTable.of([keyed([name for name, _ in every], np.array([number for _, number in every]))])
        stored, made = lookup.name_index(snapshot), NameIndex(table, lambda numbers: [rows[n] for n in numbers])
        some = [name for name, _ in every] + others
        asked = [*some, *(text[1:] for text in some), *(f"{text[:2]}b{text[2:]}" for text in some)]
        for whole in (True, False):
            assert stored.near(asked, 5, whole) == made.near(asked, 5, whole)
        assert all(stored.knows([word for name, _ in every for word in words_of(name)]))
        assert stored.knows(asked) == made.knows(asked)


def test_an_index_without_names_finds_none() -> None:
    assert index_of().near(["riga"], 3) == [[]]


def test_a_name_is_near_its_initials_without_joining_words() -> None:
    names = ["united states of america", "united arab emirates", "united states", "us steel"]
    index = index_of(*names)
    assert set(index.near(["usa"], 9)[0]) == {"united states of america"}
    assert {"united states of america", "united states"} <= set(index.near(["us"], 9)[0])
    assert set(index.near(["u.s."], 9)[0]) >= {"united states"}


def test_a_name_is_near_one_that_has_more_words_between_its_own() -> None:
    names = ["lauren katherine conrad", "conrad lauren", "lauren bacall"]
    index = index_of(*names)
    assert index.near(["lauren conrad"], 9) == [["lauren katherine conrad"]]

    names = ["lauren k maria conrad"]
    index = index_of(*names)
    assert index.near(["lauren k conrad"], 9) == [names]
    assert index.near(["lauren conrad k"], 9) == [[]]


@pytest.mark.parametrize(
    ("one", "other", "like"),
    [
        ("riga", "riga", 1.0),
        ("u.s.", "us", 1.0),
        ("riga", "rigas", 0.8),
        ("abcdefgh", "abcdefxy", 0.75),
        ("abcdefghij", "abcdefghijkl", 0.875),
    ],
)
def test_two_edits_are_less_like_than_one_edit_of_the_longer_name(one: str, other: str, like: float) -> None:
    assert likeness(one, other) == likeness(other, one) == like


def test_initials_are_those_of_all_words_and_of_those_before_a_joining_word() -> None:
    assert initials_of("united states of america") == {"usa", "us"}
    assert initials_of("new york") == {"ny"}
    assert initials_of("bank of") == initials_of("riga") == initials_of("the riga") == initials_of("") == set()


def test_six_initials_are_known_and_seven_are_a_word() -> None:
    names = ["ab cd ef gh ij kl", "mn op qr st uv wx yz"]
    index = index_of(*names)
    assert index.near(["acegik", "moqsuwy"], 9) == [names[:1], []]


def test_a_word_is_known_if_some_name_has_it_alone_or_among_others() -> None:
    names = ["old riga", "u.s. steel"]
    index = index_of(*names)
    others = [f"word{number}" for number in range(30)]  # some are beyond all keys
    assert index.knows(["riga", "old", "steel", "oldriga", "", "-", *others]) == [True] * 3 + [False] * 33
    assert index_of().knows(["riga"]) == [False]


def test_a_word_of_too_many_names_counts_beside_a_rare_one_only(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["old riga castle", "riga dome hall", "riga port hall", "big hall"]
    index = index_of(*names)
    monkeypatch.setattr(name_index, "MOST_OWNERS", 2)
    assert index.near(["riga castle", "riga", "castle", "riga hall", "big riga"], 9) == [
        names[:1],
        [],
        names[:1],
        [],
        [],
    ]
    monkeypatch.setattr(name_index, "MOST_OWNERS", 3)
    assert index.near(["riga", "riga hall"], 9) == [sorted(names[:3], key=len), ["riga dome hall", "riga port hall"]]


def test_a_further_name_without_letters_is_like_nothing(tmp_path: Path) -> None:
    (tmp_path / "graph.tsv").write_text("q\tr\tx\n", encoding="utf-8")
    (tmp_path / "names.tsv").write_text("q\tBig Old Tree\n", encoding="utf-8")
    (tmp_path / "aliases.tsv").write_text("q\t!!!\n", encoding="utf-8")
    files = [str(tmp_path / name) for name in ("graph.tsv", "names.tsv", "aliases.tsv")]
    build(BuildSettings((files[0],), labels=(files[1],), aliases=(files[2],)), tmp_path / "built")
    graph = LocalGraph(path=tmp_path / "built")
    graph.open()
    assert graph.near_names(["big tree"], 3, False) == [["big old tree"]]
    graph.close()
