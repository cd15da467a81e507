from __future__ import annotations

import pytest

from srtk_framework.text import read_relation_forms, relation_words, worded
from srtk_framework.text.relation_forms import RelationForm
from srtk_framework.values import InputError


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("forms.tsv", "P19\t[X] was born in [Y] .\nP27\tis citizen of\n"),
        (
            "forms.jsonl",
            '{"relation": "P19", "template": "[X] was born in [Y] ."}\n{"relation": "P27", "form": "is citizen of"}',
        ),
        ("forms.json", '{"P19": ["[X] was born in [Y] .", "other"], "P27": "is citizen of"}'),
    ],
)
def test_each_kind_of_file_gives_the_same_forms(tmp_path, name, text):
    file = tmp_path / name
    file.write_text(text)
    found = read_relation_forms(file)
    assert [row[1:] for row in found] == [("P19", "[X] was born in [Y] ."), ("P27", "is citizen of")]
    assert isinstance(found[0], RelationForm)
    assert found[0].place.startswith(str(file))


@pytest.mark.parametrize(
    ("name", "text"), [("f.tsv", "P19"), ("f.jsonl", "{"), ("f.json", "[]"), ("f.json", '{"r": 1}')]
)
def test_another_shape_is_refused_with_its_place(tmp_path, name, text):
    file = tmp_path / name
    file.write_text(text)
    with pytest.raises(InputError, match=name):
        read_relation_forms(file)


def test_the_words_of_templates_and_of_ids():
    assert worded("[X] was born in [Y] .") == "was born in"
    assert relation_words("AtLocation", "AtLocation") == "At Location"
    assert relation_words("http://x.org/born_in", "") == "born in"
    assert relation_words("P19", "place of birth") == "place of birth"
