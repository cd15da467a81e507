import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from srtk_framework.text import displayed, local_name, local_part


@pytest.mark.parametrize(
    ("id_", "name"),
    [
        ("http://ex.org/ChairLeg", "Chair Leg"),
        ("http://ex.org/onto#hasPart", "has Part"),
        ("http://ex.org/HTMLParser", "HTML Parser"),
        ("http://ex.org/isAPartOf", "is A Part Of"),
        ("http://ex.org/iPhone", "iPhone"),
        ("http://ex.org/McDonald", "McDonald"),
        ("http://ex.org/chair-leg", "chair leg"),
        ("http://ex.org/chair_leg/", "chair leg"),
        ("http://ex.org/Level3Support", "Level3 Support"),
        ("http://dbpedia.org/resource/BBC_HD", "BBC HD"),
        ("http://dbpedia.org/resource/MySpace_Music", "MySpace Music"),
        ("http://dbpedia.org/resource/AC/DC", "AC/DC"),
        ("http://en.wikipedia.org/wiki/AC/DC", "AC/DC"),
        ("http://ex.org/hasPart_Of", "has Part Of"),
        ("http://dbpedia.org/resource/Jean-Paul_Sartre", "Jean-Paul Sartre"),
        ("http://ex.org/Caf%C3%A9", "Café"),
        ("http://ex.org/%E6%9D%B1%E4%BA%AC", "東京"),
        ("http://ex.org/水", "水"),
        ("http://www.cidoc-crm.org/cidoc-crm/E21_Person", "E21 Person"),
        ("urn:ex:harbour", "harbour"),
    ],
)
def test_a_local_part_with_a_word_is_a_name(id_: str, name: str) -> None:
    assert local_name(id_) == name


@pytest.mark.parametrize(
    "id_",
    [
        "http://www.wikidata.org/entity/Q42",
        "http://www.wikidata.org/prop/direct/P31",
        "http://rdf.freebase.com/ns/m.02mj",
        "http://rdf.freebase.com/ns/m.0_xyz",
        "http://www.wikidata.org/entity/statement/Q42-F078E5B3-F9A8-480E-B7AC-D97778CBBEF9",
        "/m/0abc",
        "m.02mj",
        "http://ex.org/30",
        "http://ex.org/a",
        "http://ex.org/b1",
        "http://ex.org/0fa93bc1",
        "http://ex.org/3F2504E0-4F89-11D3-9A0C-0305E82C3301",
        "urn:uuid:3f2504e0-4f89-11d3-9a0c-0305e82c3301",
        "http://purl.obolibrary.org/obo/GO_0008150",
        "http://ex.org/ark:harbour",
        "http://ex.org/deadbeef0",
        "http://example.org/",
        "http://example.org",
        "http://example.org/index.php?title=Chair",
        "_:b0",
        "Riga",
        "Alien: Covenant",
        "",
    ],
)
def test_codes_hosts_and_ids_that_are_no_iris_have_no_name(id_: str) -> None:
    assert local_name(id_) == ""


def test_only_a_prefix_of_the_graph_is_cut_off() -> None:
    assert local_name("dbr:BBC_HD", {"dbr"}) == "BBC HD"
    assert local_name("dbr:AC/DC", {"dbr"}) == "AC/DC"
    assert local_name("Star_Trek:Insurrection", {"dbr"}) == ""
    assert local_part("dbr:1984", {"dbr"}) == "1984"


def test_an_iri_is_displayed_by_the_prefixes_of_the_file_and_then_by_known_ones() -> None:
    label = "http://www.w3.org/2000/01/rdf-schema#label"
    assert displayed(label, [("r", "http://www.w3.org/2000/01/rdf-schema#")]) == "r:label"
    assert displayed(label, []) == "rdfs:label"
    assert displayed("http://ex.org/a/b", [("e", "http://ex.org/"), ("f", "http://ex.org/a/")]) == "f:b"
    assert displayed("http://unknown.org/a", []) == "http://unknown.org/a"


@given(st.lists(st.sampled_from(["river", "abc", "a1", "12", "x", "_", "/", "#", "?", "=", "%41", "M", "resource/"])))
def test_the_scheme_of_an_iri_does_not_change_its_name(parts: list[str]) -> None:
    # The shortcut for web addresses in small letters gives what the steps give.
    rest = f"://ex.org/{''.join(parts)}"
    assert local_name(f"http{rest}") == local_name(f"ftp{rest}")


@pytest.mark.parametrize("scheme", ["http", "ftp"])
def test_an_iri_longer_than_any_name_has_none(scheme: str) -> None:
    assert local_name(f"{scheme}://ex.org/{'river_' * 400}x") == ""


def test_long_ids_take_linear_time() -> None:
    began = time.process_time()
    for text in ("aA" * 900, "A" * 1900, "_" * 1900, "0" * 1900, "-a" * 900, "/" * 100_000):
        local_name(f"http://ex.org/{text}")
    assert time.process_time() - began < 0.5
