"""Triples, labels, names, degrees and qualifiers of a small snapshot, each beside what its files say."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from srtk_plugin_local.snapshot import lookup
from srtk_plugin_local.snapshot.arrays import Snapshot
from srtk_plugin_local.snapshot.build import build
from srtk_plugin_local.snapshot.build_settings import BuildSettings

from srtk_framework.values import Literal, Pattern, Triple

ONE, X = Literal('"1"^^xsd:integer'), Literal('"x"@en')
FACTS = sorted(
    Triple(*row)
    for row in (
        *(("a", "r", "b"), ("a", "r", "c"), ("a", "s", "b"), ("a", "s", X), ("b", "r", "a"), ("b", "r", "b")),
        *(("c", "s", ONE), ("c", "s", X), ("c", "t", "a"), ("d", "t", "a"), ("d", "r", "c")),
    )
)


def made(folder: Path, **tables: str) -> Snapshot:
    files = {}
    for name, text in tables.items():
        (folder / f"{name}.tsv").write_text(text)
        files[name] = (str(folder / f"{name}.tsv"),)
    return Snapshot(build(BuildSettings(header=False, **files), folder / "out").folder)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    return made(
        tmp_path_factory.mktemp("lookup"),
        files="".join("\t".join(map(str, fact)) + "\n" for fact in FACTS),
        labels="a\tAda\nb\tBo\nr\tknows\n",
        aliases="a\tThe Ada\nc\tada\nb\tBobby\nb\tBob\n",
        qualifiers="a\tr\tb\tt\tc\na\tr\tb\ts\tx\na\tr\tc\ts\ty\nd\tt\ta\tr\tb\n",
    )


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    """A snapshot whose ids are names, without labels, aliases, literals and qualifiers."""
    return made(tmp_path_factory.mktemp("bare"), files="Old_town\tlies_in\tRiga\nRiga\tlies_in\tRiga\n")


def relations(snapshot: Snapshot) -> dict[str, int]:
    return {relation: number for number, relation in enumerate(snapshot.relations)}


PATTERNS = [
    Pattern(*parts)
    for parts in product(
        (None, "a", "b", "d", "unknown", ONE),
        (None, "r", "s", "t", "unknown"),
        (None, "a", "b", "c", ONE, X, "unknown"),
    )
]


def test_patterns_find_their_triples_in_order_together_and_alone(snapshot: Snapshot) -> None:
    wanted = [
        [fact for fact in FACTS if all(part in (None, own) for part, own in zip(pattern, fact, strict=True))]
        for pattern in PATTERNS
    ]
    together = lookup.match(snapshot, relations(snapshot), PATTERNS)
    alone = [lookup.match(snapshot, relations(snapshot), [pattern])[0] for pattern in PATTERNS]
    half_open = [pattern for pattern in PATTERNS if (pattern.subject is None) != (pattern.object is None)]
    some = lookup.match(snapshot, relations(snapshot), half_open)
    assert together == alone == wanted
    assert some == [row for pattern, row in zip(PATTERNS, wanted, strict=True) if pattern in half_open]
    for rows in (together, alone):
        assert {type(fact.object) for row in rows for fact in row if fact.object.startswith('"')} == {Literal}
        assert {type(fact) for row in rows for fact in row} == {Triple}


def test_several_patterns_of_one_node_are_read_one_by_one(snapshot: Snapshot) -> None:
    asked = [Pattern("a", "s", None), Pattern(None, "r", "a"), Pattern("a", None, None)]
    assert lookup.match(snapshot, relations(snapshot), asked) == [FACTS[2:4], [Triple("b", "r", "a")], FACTS[:4]]
    assert lookup.match(snapshot, relations(snapshot), []) == []


def test_a_label_is_what_the_files_give_else_the_id_and_of_a_literal_its_text(snapshot: Snapshot) -> None:
    asked = ["a", "c", "r", "s", "unknown", ONE, '"x"@en', '"y"@en', Literal('"z"'), "b"]
    found = lookup.labels(snapshot, relations(snapshot), asked)
    assert found == ["Ada", "c", "knows", "s", "unknown", "1", "x", "y", "z", "Bo"]
    assert lookup.labels(snapshot, relations(snapshot), []) == []
    numbers = snapshot.numbers(["c", X, "b"])
    assert lookup.entity_labels(snapshot, numbers) == ["c", X, "Bo"]


def test_where_ids_are_names_a_label_is_their_words(bare: Snapshot) -> None:
    found = lookup.labels(bare, relations(bare), ["Old_town", "lies_in", "Riga", "New_town"])
    assert found == ["Old town", "lies in", "Riga", "New town"]
    assert lookup.find(bare, ["old town", "Old_town", "riga", "town"]) == [["Old_town"], ["Old_town"], ["Riga"], []]
    assert lookup.other_names(bare, ["Riga", "x"]) == [[], []]
    assert lookup.degrees(bare, ["Riga", "Old_town"]) == [2, 1]
    assert lookup.entities(bare, ["Old_town", "lies_in"]) == {"Old_town"}


@pytest.mark.parametrize(
    ("start", "found"), [("", True), ("a", True), ("d", True), ("ab", False), ("e", False), ("\U0010ffff", False)]
)
def test_a_start_of_an_id_is_found_among_the_sorted_nodes(snapshot: Snapshot, start: str, found: bool) -> None:
    assert lookup.any_starts_with(snapshot, start) is found


def test_all_entities_with_a_name_are_found_and_none_that_only_share_its_hash(
    snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert lookup.find(snapshot, ["ADA", "", "bob", "ada", "the ada", "c"]) == [
        *(["a", "c"], [], ["b"], ["a", "c"], ["a"], ["c"])
    ]
    everything = np.arange(snapshot.size)
    pairs = [np.tile(everything, 2)[::-1], np.repeat([0, 1], len(everything))]
    monkeypatch.setattr(snapshot, "named", lambda names: (pairs[1], pairs[0]))
    assert lookup.find(snapshot, ["ada", "bobby"]) == [["a", "c"], ["b"]]


def test_an_entity_that_only_its_iri_names_gives_way_to_one_that_a_label_names(tmp_path: Path) -> None:
    iri = "<http://ex.org/{}> "
    line = "{} {} {} .\n"
    label = "<http://www.w3.org/2000/01/rdf-schema#label> "
    (tmp_path / "a.nt").write_text(
        line.format(iri.format("London"), iri.format("in"), iri.format("x1"))
        + line.format(iri.format("x1"), label, '"London"')
        + line.format(iri.format("Riga"), iri.format("in"), iri.format("x1"))
    )
    found = Snapshot(build(BuildSettings((str(tmp_path / "a.nt"),)), tmp_path / "out").folder)
    assert lookup.find(found, ["london", "riga"]) == [["http://ex.org/x1"], ["http://ex.org/Riga"]]


def test_aliases_come_sorted_and_once_for_each_known_id(snapshot: Snapshot) -> None:
    assert lookup.other_names(snapshot, ["unknown", "b", "a", "d", "b"]) == [
        *([], ["Bob", "Bobby"], ["The Ada"], [], ["Bob", "Bobby"])
    ]


def test_the_index_of_names_has_each_name_of_each_entity(snapshot: Snapshot) -> None:
    index = lookup.name_index(snapshot)
    assert index.knows(["ada", "bo", "bobby", "bob", "the", "knows", "x"]) == [True] * 5 + [False] * 2
    assert index.near(["bobbi", "adda"], 3, True) == [["bobby"], ["ada"]]


def test_entities_are_the_known_ids_that_are_no_literals(snapshot: Snapshot) -> None:
    assert lookup.entities(snapshot, ["unknown", X, "a", ONE, "d", "r"]) == {"a", "d"}
    assert lookup.entities(snapshot, []) == set()


def test_a_degree_counts_each_triple_of_an_entity_once(snapshot: Snapshot) -> None:
    ids = ["a", "unknown", "b", X, "c", "d"]
    assert lookup.degrees(snapshot, ids) == [7, 0, 4, 0, 5, 2]
    assert lookup.degrees(snapshot, ["unknown", X]) == [0, 0]


def test_qualifiers_are_those_of_the_triple_itself(snapshot: Snapshot, bare: Snapshot) -> None:
    first, last = Triple("a", "r", "b"), Triple("d", "t", "a")
    asked = [Triple("a", "s", "b"), last, Triple("x", "r", "b"), first, Triple("a", "no", "b"), Triple("a", "r", "x")]
    asked.append(Triple("a", "r", "c"))
    of_first = (("s", "x"), ("t", "c"))
    assert lookup.qualifiers(snapshot, relations(snapshot), asked) == [
        (),
        (("r", "b"),),
        (),
        of_first,
        (),
        (),
        (("s", "y"),),
    ]
    assert lookup.qualifiers(snapshot, relations(snapshot), []) == []
    assert lookup.qualifiers(bare, relations(bare), [Triple("Old_town", "lies_in", "Riga")]) == [()]
