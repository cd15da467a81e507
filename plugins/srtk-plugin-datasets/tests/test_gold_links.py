"""Gold links of question sets: texts of ELEVANT's format, and the mentions of Mintaka."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_datasets.elevant import Elevant
from srtk_plugin_datasets.mintaka import Mintaka

from srtk_framework.values import NIL, InputError, Link, Question

DATA = Path(os.environ.get("SRTK_DATA", Path(__file__).resolve().parents[3] / "../shared/data"))

TEXT = "Ann of Bo came. She met Mr. Cy in 1998, not Atlantis.\n\nTitle words. The end."
LABELS: list[dict[str, Any]] = [
    {"id": 0, "span": [0, 9], "entity_id": "Q1", "name": "Ann of Bo", "children": [1]},
    {"id": 1, "span": [7, 9], "entity_id": "Q2", "name": "Bo", "parent": 0},
    {"id": 2, "span": [16, 19], "entity_id": "Q1", "name": "Ann of Bo", "coref": True},
    {"id": 3, "span": [24, 30], "entity_id": "Q3", "name": "Cy", "optional": True},
    {"id": 4, "span": [34, 38], "entity_id": "DATETIME", "name": "Unknown"},
    {"id": 5, "span": [44, 52], "entity_id": "<NIL>", "name": "Unknown"},
    {"id": 6, "span": [55, 60], "entity_id": "<NO_MAPPING>", "name": "Unknown"},
]


@pytest.fixture
def file(tmp_path: Path) -> str:
    record = {"id": 7, "title": "On Ann", "text": TEXT, "evaluation_span": [0, 67], "labels": LABELS}
    path = tmp_path / "few.benchmark.jsonl"
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    return str(path)


def read(path: str, **settings: Any) -> list[Question]:
    return list(Elevant(path, **settings).read())


def said(question: Question) -> list[tuple[str, str, float]]:
    gold = question.gold_links or ()
    return [(question.text[link.start : link.end], link.entity, link.score) for link in gold]


def test_each_text_is_a_question_with_its_mentions(file: str) -> None:
    [question] = read(file)
    assert question.id == "few-7"
    assert question.links == ()
    assert question.extra == {"set": "few", "title": "On Ann"}
    assert said(question) == [
        ("Ann of Bo", "Q1", 1.0),
        ("Bo", "Q2", 0.0),
        ("She", "Q1", 0.0),
        ("Mr. Cy", "Q3", 0.0),
        ("1998", NIL, 0.0),
        ("Atlantis", NIL, 1.0),
        ("Title", NIL, 0.0),
    ]


def test_nested_mentions_and_pronouns_are_what_the_settings_say(file: str) -> None:
    [strict] = read(file, nested="required", coreference="required")
    assert [score for words, _, score in said(strict) if words in ("Bo", "She")] == [1.0, 1.0]
    [loose] = read(file, nested="drop", coreference="drop")
    assert not {"Bo", "She"} & {words for words, _, _ in said(loose)}


@pytest.mark.parametrize(("unit", "texts"), [("paragraph", 2), ("sentence", 3)])
def test_a_text_is_cut_into_parts_but_never_within_a_mention(file: str, unit: str, texts: int) -> None:
    parts = read(file, unit=unit)
    assert len(parts) == texts
    assert [words for part in parts for words, _, _ in said(part)] == [words for words, _, _ in said(read(file)[0])]
    assert parts[0].id == "few-7-0"
    assert parts[-1].text == "Title words."


def test_the_gold_is_given_on_request(file: str) -> None:
    [question] = read(file, given=True)
    assert [link.entity for link in question.links] == ["Q1"]


@pytest.mark.parametrize("span", [[5, 3], [0, 999], [1]])
def test_a_span_outside_of_the_text_is_refused_with_its_place(tmp_path: Path, span: list[int]) -> None:
    record = {"id": 1, "text": "Ann", "labels": [{"span": span, "entity_id": "Q1", "name": "Ann"}]}
    path = tmp_path / "bad.jsonl"
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"bad\.jsonl:1: field 'labels\[0\]\.span'"):
        read(str(path))


@pytest.fixture
def mintaka(tmp_path: Path) -> str:
    record = {
        "id": "a",
        "question": "Who sang Hello in 1998 with Bo?",
        "translations": {"de": "Wer sang 1998 Hello?"},
        "questionEntity": [
            {"name": "Q1", "entityType": "entity", "label": "Hello", "mention": "Hello", "span": [9, 14]},
            {"name": "1998", "entityType": "date", "mention": "1998", "span": [18, 22]},
            {"name": None, "entityType": "entity", "mention": "Bo", "span": [28, 30]},
        ],
        "answer": {"answerType": "entity", "answer": [], "mention": ""},
    }
    path = tmp_path / "mintaka_dev.json"
    path.write_text(json.dumps([record]), encoding="utf-8")
    return str(path)


def test_mintakas_mentions_are_gold_links(mintaka: str) -> None:
    [question] = Mintaka(mintaka, given=False).read()
    assert question.links == ()
    assert question.gold_links == (
        Link("Q1", 1.0, 9, 14, "Hello"),
        Link(NIL, 0.0, 18, 22),
        Link(NIL, 1.0, 28, 30),
    )


def test_in_other_languages_a_mention_has_a_place_where_its_words_stand(mintaka: str) -> None:
    [question] = Mintaka(mintaka, language="de").read()
    assert question.gold_links == (Link(NIL, 0.0, 9, 13), Link("Q1", 1.0, 14, 19, "Hello"))


@pytest.mark.skipif(not (DATA / "entity_linking").is_dir(), reason="no entity_linking in the data folder (SRTK_DATA)")
@pytest.mark.parametrize("unit", ["text", "paragraph", "sentence"])
def test_the_real_files_give_every_mention_once_whatever_the_unit(unit: str) -> None:
    questions = read(str(DATA / "entity_linking"), unit=unit)
    gold = [link for question in questions for link in question.gold_links or ()]
    assert len(gold) == 6053
    assert sum(link.entity != NIL for link in gold) == 4242
    assert all(q.text[link.start : link.end].strip() for q in questions for link in q.gold_links or ())
