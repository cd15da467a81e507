from __future__ import annotations

from typing import Any

import pytest
from srtk_plugin_explaining.locate import gold_topics

from srtk_framework.values import Link, Question, Step, Triple


def ask(*answers: str, **more: Any) -> Question:
    return Question("q", "what about riga?", (), answers, **more)


def test_the_topic_is_read_from_gold_triples_if_no_field_names_it() -> None:
    gold = (Triple("riga", "capital_of", "latvia"), Triple("latvia", "currency", "euro"))
    question = ask("euro", gold_triples=gold, gold_paths=((Step("capital_of"), Step("currency")),))
    assert gold_topics(question, relinked=False) == ("riga",)


def test_answers_that_lead_to_each_other_are_no_topics() -> None:
    gold = (Triple("oslo", "twin_of", "riga"), Triple("perm", "twin_of", "riga"))
    question = ask("perm", gold_triples=gold, gold_paths=((Step("twin_of"), Step("twin_of", True)),))
    assert gold_topics(question, relinked=False) == ("oslo",)


@pytest.mark.parametrize(
    "topics",
    [
        ["riga", "latvia"],
        ("latvia", "riga", "riga"),
        {"riga", "latvia"},
        frozenset({"riga", "latvia"}),
        {"riga": "Riga", "latvia": "Latvia"},
        [{"id": "riga", "name": "Riga"}, {"entity": "latvia"}],
    ],
)
@pytest.mark.parametrize("field", ["gold_entities", "topic_entities"])
def test_topics_may_stand_in_a_field_as_a_list_a_set_a_mapping_or_objects(field: str, topics: Any) -> None:
    assert gold_topics(ask("euro", extra={field: topics}), relinked=False) == ("latvia", "riga")


@pytest.mark.parametrize("topics", [None, [], {}, "", set(), [{"name": "Riga"}], 5, [None]])
def test_a_field_without_topics_gives_none(topics: Any) -> None:
    assert gold_topics(ask("euro", extra={"gold_entities": topics}), relinked=False) == ()


def test_one_topic_may_be_a_text() -> None:
    assert gold_topics(ask("euro", extra={"topic_entities": "riga"}), relinked=False) == ("riga",)


def test_the_links_of_the_input_are_the_topics_where_the_recipe_replaces_them() -> None:
    question = Question("q", "riga?", (Link("riga"),), ("euro",))
    assert gold_topics(question, relinked=True) == ("riga",)
    assert gold_topics(question, relinked=False) == ()
