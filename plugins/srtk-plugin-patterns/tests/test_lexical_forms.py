"""A relation is named by its form of a file, else by its label, else by the words of its id."""

from __future__ import annotations

import json

import pytest
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_patterns.lexical_forms import LexicalForms, read_forms, worded

from srtk_framework.values import InputError, Triple


@pytest.fixture
def graph() -> MemoryGraph:
    graph = MemoryGraph(
        triples=[Triple("ann", name, "riga") for name in ("P19", "born_in", "/people/person/place_of_birth")],
        labels={"P19": "place of birth"},
    )
    graph.open()
    return graph


def test_a_given_form_goes_before_the_label_and_the_label_before_the_id(graph):
    relations = ["born_in", "P19", "/people/person/place_of_birth", "http://dbpedia.org/ontology/birthPlace", "P19"]
    found = LexicalForms(graph, {"born_in": "was born in"}).forms(relations)
    assert found == ["was born in", "place of birth", "place of birth", "birth Place", "place of birth"]
    assert LexicalForms(graph).forms(["born_in"]) == ["born in"]
    assert LexicalForms(graph).forms([]) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("forms.tsv", "P19\twas born in\nP36\t{object} is the capital of {subject}\n\nP19\tbirthplace\n"),
        ("forms.json", json.dumps({"P19": ["was born in", "birthplace"], "P36": "is the capital of"})),
        (
            "relations.jsonl",
            '{"relation": "P19", "template": "[X] was born in [Y] ."}\n'
            '{"relation": "P36", "form": "is the capital of"}\n',
        ),
    ],
)
def test_forms_are_read_from_tables_json_and_templates(tmp_path, name, text):
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    assert read_forms(file) == {"P19": "was born in", "P36": "is the capital of"}


def test_a_template_loses_its_ends_and_the_punctuation_around_the_rest():
    assert worded("The capital of [X] is [Y] .") == "The capital of is"
    assert worded('"{subject}", born in {object}!') == "born in"
    assert worded("[X], [Y].") == ""


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("forms.tsv", "P19\twas born in\nP36\n", r"forms\.tsv:2: a line has relation, tab, form"),
        ("forms.tsv", "P19\t[X] [Y] .\n", r"forms\.tsv:1: the form .* of 'P19' has no words"),
        ("forms.json", "[1]", "forms are one mapping"),
        ("forms.json", '{"P19": []}', "the form of 'P19' is no text"),
        ("forms.json", '{"P19"', "this is not JSON"),
        (
            "forms.jsonl",
            '{"relation": "P19"}\n',
            r"forms\.jsonl:1: a line has an object with `relation` and `template`",
        ),
        ("forms.jsonl", "7\n", r"forms\.jsonl:1: a line has an object"),
    ],
)
def test_files_of_another_shape_are_refused(tmp_path, name, text, message):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_forms(tmp_path / name)


def test_a_missing_file_and_one_that_is_no_text_are_refused(tmp_path):
    with pytest.raises(InputError, match="the forms of relations cannot be read"):
        read_forms(tmp_path / "none.tsv")
    (tmp_path / "bytes.tsv").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="the forms of relations cannot be read"):
        read_forms(tmp_path / "bytes.tsv")
