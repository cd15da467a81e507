from __future__ import annotations

import json
from pathlib import Path

import pytest
from srtk_plugin_knowlybert.templates import Template, read_templates, written_templates

from srtk_framework.values import InputError

BORN = Template("{subject} was born in {object} .")


@pytest.mark.parametrize(
    "text", ["[X] was born in [Y] .", "[S] was born  in [O] .", "{subject} was born in {object} ."]
)
def test_slots_are_written_in_three_ways(text: str) -> None:
    assert Template.parse(text) == BORN


@pytest.mark.parametrize("text", ["[X] was born .", "[X] was born in [X] .", "was born", "[X] [Y] [Y]"])
def test_a_template_has_each_slot_once(text: str) -> None:
    with pytest.raises(ValueError, match="one slot for each end"):
        Template.parse(text)


def test_names_are_put_into_the_slots_as_they_are() -> None:
    assert BORN.filled("{object}", "\\1 [X]") == "{object} was born in \\1 [X] ."


def test_a_relation_without_templates_is_asked_by_its_label() -> None:
    assert Template.of_label("place of {birth}").filled("A", "B") == "A place of (birth) B ."


def test_lines_with_a_relation_and_a_template_are_read(tmp_path: Path) -> None:
    file = tmp_path / "relations.jsonl"
    rows = [{"relation": "P19", "template": "[X] was born in [Y] .", "label": "place of birth"}]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert read_templates(file) == {"P19": (BORN,)}


def test_a_folder_has_a_file_of_patterns_for_each_relation(tmp_path: Path) -> None:
    (tmp_path / "P19.jsonl").write_text('{"pattern": "[X] was born in [Y] ."}\n{"pattern": "[Y] bore [X]."}\n')
    found = read_templates(tmp_path)
    assert found == {"P19": (BORN, Template("{object} bore {subject}."))}


def test_what_is_written_is_read_again_in_the_same_order(tmp_path: Path) -> None:
    templates = {"b": (Template("{object} z {subject}"), BORN), "a": (BORN,)}
    file = tmp_path / "templates.json"
    file.write_text(written_templates(templates), encoding="utf-8")
    assert read_templates(file) == templates


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.jsonl", '{"relation": "P19", "template": "[X] was born ."}\n', "a.jsonl:1: the template"),
        ("a.jsonl", '{"relation": "P19"}\n', "a.jsonl:1: `template`"),
        ("a.json", '["[X] [Y]"]', "one mapping"),
        ("a.json", '{"P19": 3}', "is no text"),
        ("a.json", "{", "cannot be read"),
        ("a.json", "{}", "no template in it"),
    ],
)
def test_a_wrong_file_is_refused_with_its_place(tmp_path: Path, name: str, text: str, said: str) -> None:
    file = tmp_path / name
    file.write_text(text)
    with pytest.raises(InputError, match=said):
        read_templates(file)


def test_a_template_that_is_written_twice_counts_once_at_its_first_place(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text(json.dumps({"P19": ["[Y] bore [X].", BORN.text, "{object} bore {subject}."], "P20": BORN.text}))
    assert read_templates(file) == {"P19": (Template("{object} bore {subject}."), BORN), "P20": (BORN,)}
    (tmp_path / "b.jsonl").write_text('{"relation": "", "template": "[X] [Y]"}\n')
    with pytest.raises(InputError, match="`relation` must be a text that is not empty"):
        read_templates(tmp_path / "b.jsonl")
    for row, said in (("3", "the line holds a number"), ('{"pattern": 3}', "`pattern` must be")):
        (tmp_path / "folder").mkdir(exist_ok=True)
        (tmp_path / "folder" / "P1.jsonl").write_text(f'{{"pattern": "[X] [Y]"}}\n{row}\n')
        with pytest.raises(InputError, match=rf"P1\.jsonl:2.*({said})"):
            read_templates(tmp_path / "folder")


def test_templates_are_written_as_they_are_in_a_line_for_each() -> None:
    assert written_templates({"b": (BORN,), "a": (Template("{subject} 東京 {object}"),)}) == (
        '{\n "a": [\n  "{subject} 東京 {object}"\n ],\n "b": [\n  "{subject} was born in {object} ."\n ]\n}\n'
    )
