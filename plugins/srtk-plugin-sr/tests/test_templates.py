"""Words of relations, paths and questions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_sr.templates import FORMS, make_templates, readable

from srtk_framework.values import DriverError, Step


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("people.person.place_of_birth", "people person place of birth"),
        ("capitalOf", "capital of"),
        ("starred_actors", "starred actors"),
        ("hasIMDBRating", "has IMDB rating"),
        ("US_state", "US state"),
        ("place of birth", "place of birth"),
        ("Capital of the U.S. state", "Capital of the U.S. state"),
        ("spouse", "spouse"),
        ("P36", "P36"),
        ("首都", "首都"),
        ("", ""),
        ("__", "__"),
    ],
)
def test_labels_written_like_identifiers_become_words_and_others_stay(label, words):
    assert readable(label) == words


@given(st.text())
def test_a_readable_label_stays_as_it_is(label):
    assert readable(readable(label)) == readable(label)


def test_the_srtk_form_is_that_of_its_training_data():
    form = FORMS["srtk"]
    walked = form.join.join(form.step(Step(name), name) for name in ("place_of_birth", "country"))
    assert form.query_text("Who?", walked) == "query: Who? [SEP] place_of_birth # country"
    assert form.query_text("Who?", "") == "query: Who? [SEP] "
    assert form.candidate_text(form.step(Step("country"), "country")) == "relation: country"
    assert form.candidate_text(form.end) == "relation: END OF HOP"


def test_a_question_that_looks_like_a_template_is_left_alone():
    assert FORMS["plain"].query_text("What is {path} and {question}?", "a") == "What is {path} and {question}? [SEP] a"


def test_a_label_that_looks_like_a_template_is_left_alone():
    form = make_templates({"inverse": "inverse of {label}"}, None)
    assert form.step(Step("{label}{text}", True), "{label}{text}") == "inverse of {label}{text}"


def test_templates_replace_those_of_the_plain_form():
    form = make_templates({"path_query": "{path} | {question}", "end": "stop"}, "back {label}")
    assert form.query_text("Q", "p") == "p | Q"
    assert form.step(Step("a_b", True), "a_b") == "back a b"
    assert form.end == "stop"
    assert form.query == FORMS["plain"].query


def test_an_unknown_form_is_refused_with_the_known_ones():
    with pytest.raises(DriverError, match=r"text is 'srkt'; use one of plain, srtk.*Did you mean 'srtk'"):
        make_templates("srkt", None)


def test_an_unknown_template_is_refused_with_the_known_ones():
    with pytest.raises(DriverError, match=r"no template 'relations'.*Did you mean 'relation'"):
        make_templates({"relations": "{label}"}, None)


@pytest.mark.parametrize("template", ["inverse", "{path}", "{label} {path}", "{label", "{}"])
def test_a_template_with_a_wrong_place_is_refused(template):
    with pytest.raises(DriverError, match="template inverse"):
        make_templates("plain", template)
