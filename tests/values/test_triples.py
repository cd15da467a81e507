from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from srtk_framework.values import END, DriverError, Literal, Pattern, Step, Triple, open_end


@pytest.mark.parametrize(
    ("literal", "text"),
    [
        (Literal.make("plain"), '"plain"'),
        (Literal.make("Riga", language="lv"), '"Riga"@lv'),
        (Literal.make("1998", "xsd:gYear"), '"1998"^^xsd:gYear'),
        (Literal.make("1998", "http://www.w3.org/2001/XMLSchema#gYear"), '"1998"^^xsd:gYear'),
        (Literal.make("POINT(1 2)", "http://example.org/wkt"), '"POINT(1 2)"^^http://example.org/wkt'),
        (Literal.make("plain", "xsd:string"), '"plain"'),
        (Literal.make("plain", "http://www.w3.org/2001/XMLSchema#string"), '"plain"'),
        (Literal.make("x", "xsd:date", "en"), '"x"@en'),
    ],
)
def test_a_literal_is_written_as_in_n_triples(literal, text):
    assert literal == text


@given(
    st.text(),
    st.sampled_from(
        [(None, None), (None, "lv"), (None, "zh-Hans"), ("xsd:date", None), ("http://example.org/t", None)]
    ),
)
def test_a_literal_returns_the_parts_it_was_made_of(lexical, parts):
    literal = Literal.make(lexical, *parts)
    assert (literal.lexical, literal.datatype, literal.language) == (lexical, *parts)


def test_quotation_marks_within_a_literal_belong_to_its_lexical_form():
    assert Literal('"the "old" town"@en').lexical == 'the "old" town'


def test_text_without_quotation_marks_is_its_own_lexical_form():
    bare = Literal("1998")
    assert (bare.lexical, bare.datatype, bare.language) == ("1998", None, None)


@pytest.mark.parametrize(
    ("step", "text"),
    [
        (Step("born_in"), "born_in"),
        (Step("born_in", True), "^born_in"),
        (Step("^up"), r"\^up"),
        (Step("^up", True), r"^\^up"),
        (Step(r"\path"), r"\\path"),
        (Step("END"), r"\END"),
        (END, "END"),
    ],
)
def test_a_step_is_written_with_its_direction_in_front(step, text):
    assert (str(step), Step.parse(text)) == (text, step)


@given(st.text(min_size=1), st.booleans())
def test_any_step_is_parsed_from_its_text(relation, inverse):
    step = Step(relation, inverse)
    assert Step.parse(str(step)) == step
    assert str(step) != "END"


def test_a_pattern_is_read_from_its_bound_end():
    assert open_end(Pattern("Ada", "born_in")) == ("Ada", Step("born_in"))
    assert open_end(Pattern(None, "born_in", "London")) == ("London", Step("born_in", True))


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (Pattern("Ada", None, None), r"\(Ada, \?, \?\)"),
        (Pattern(None, "born_in", None), r"\(\?, born_in, \?\)"),
        (Pattern("Ada", "born_in", "London"), r"\(Ada, born_in, London\)"),
        (Pattern(None, None, "London"), r"\(\?, \?, London\)"),
    ],
)
def test_a_pattern_without_one_open_end_and_a_relation_is_refused(pattern, text):
    with pytest.raises(DriverError, match=f"{text} cannot be completed; bind the relation and either"):
        open_end(pattern)


def test_an_entity_fills_the_open_end_of_a_pattern():
    assert Pattern("Ada", "born_in").filled("London") == Triple("Ada", "born_in", "London")
    assert Pattern(None, "born_in", "London").filled("Ada") == Triple("Ada", "born_in", "London")
