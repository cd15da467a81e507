"""Names of composite relations, and ids of Freebase in all their spellings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_freebase.ids import FreebaseIds
from srtk_plugin_freebase.vocabulary import FREEBASE
from srtk_plugin_views.composites import escape, join, split

from srtk_framework.values import DriverError

NAMES = st.text(alphabet="ab.\\/:", min_size=1, max_size=8)


@given(NAMES, NAMES)
def test_a_composite_is_read_back_as_the_two_relations_it_was_made_of(first: str, second: str) -> None:
    assert split(join(first, second)) == (first, second)


@given(NAMES)
def test_a_single_relation_is_never_read_as_two(name: str) -> None:
    assert split(escape(name)) == (name,)


@given(NAMES)
def test_every_name_has_one_reading_or_none(text: str) -> None:
    names = split(text)
    assert names == () or text == (escape(names[0]) if len(names) == 1 else join(names[0], names[1]))


def test_names_of_freebase_and_of_fb15k_are_written_as_they_are() -> None:
    assert join("people.person.sibling_s", "people.sibling_relationship.sibling") == (
        "people.person.sibling_s..people.sibling_relationship.sibling"
    )
    assert escape("/film/actor/film./film/performance/film") == "/film/actor/film./film/performance/film"


IDS = st.from_regex(r"[a-z0-9_]+(\.[a-z0-9_]+){1,3}", fullmatch=True)


@given(IDS, st.booleans(), st.booleans())
def test_each_spelling_of_an_entity_is_the_same_id(text: str, slashes: bool, joins: bool) -> None:
    ids = FreebaseIds(FREEBASE, slashes, joins)
    slashed = "/" + text.replace(".", "/")
    shown = slashed if slashes else text
    iri = f"http://rdf.freebase.com/ns/{text}"
    assert {ids.entity(spelling) for spelling in (text, slashed, f"ns:{text}", iri)} == {shown}
    assert (ids.iri(shown), ids.short(iri)) == (iri, shown)


@given(st.text(alphabet="ab./:_-%", min_size=1, max_size=8), st.booleans(), st.booleans())
def test_an_iri_comes_back_from_its_id(local: str, slashes: bool, joins: bool) -> None:
    ids = FreebaseIds(FREEBASE, slashes, joins)
    iri = f"http://rdf.freebase.com/ns/{local}"
    shown = ids.short(iri)
    assert ids.iri(shown) in (iri, None)
    assert ids.iri(shown) == iri or "%" in local
    assert ids.entity(shown) == shown or not slashes


@pytest.mark.parametrize("slashes", [False, True])
def test_what_fb15k_writes_as_one_relation_is_a_composite_where_mediators_are_joined(slashes: bool) -> None:
    ids = FreebaseIds(FREEBASE, slashes, joins=True)
    first, second = "people.person.sibling_s", "people.sibling_relationship.sibling"
    shown = join(*(f"/{name.replace('.', '/')}" if slashes else name for name in (first, second)))
    for spelling in (
        "/people/person/sibling_s./people/sibling_relationship/sibling",
        f"{first}..{second}",
        f"ns:{first}..ns:{second}",
        "/people/person/sibling_s../people/sibling_relationship/sibling",
    ):
        assert ids.relation(spelling) == shown
    assert ids.legs(shown) == tuple(f"http://rdf.freebase.com/ns/{name}" for name in (first, second))


def test_it_is_one_relation_where_mediators_are_kept() -> None:
    ids = FreebaseIds(FREEBASE, slashes=True, joins=False)
    name = "/people/person/sibling_s./people/sibling_relationship/sibling"
    assert ids.relation(name) == name
    assert ids.legs(name) == (
        "http://rdf.freebase.com/ns/people.person.sibling_s..people.sibling_relationship.sibling",
    )
    assert ids.short(ids.legs(name)[0]) == name


@pytest.mark.parametrize("pattern", ["", "*", "m.*x", "m.?", "m.[ab]*"])
def test_a_pattern_that_no_query_can_ask_for_is_refused(pattern: str) -> None:
    with pytest.raises(DriverError, match="star"):
        FreebaseIds(FREEBASE, slashes=False, joins=True).starts_of((pattern,), "mediator pattern")
