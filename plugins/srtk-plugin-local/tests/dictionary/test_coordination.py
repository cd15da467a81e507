"""Names in small letters that are joined to capitalised names of the same kind."""

from __future__ import annotations

import pytest
from srtk_plugin_local.dictionary.linker import DictionaryLinker
from srtk_plugin_local.memory import MemoryGraph

GRAPH = MemoryGraph(
    [
        *(
            [country, relation, f"{relation} of {country}"]
            for country in ("Germany", "Austria", "Switzerland")
            for relation in ("capital", "currency", "population")
        ),
        *(["Horror", "genre of", f"n{i}"] for i in range(9)),
        ["Horror", "described by", "n10"],
    ]
)


def linked(text: str) -> set[str]:
    return {link.entity for link in DictionaryLinker(GRAPH).link([text])[0]}


@pytest.mark.parametrize(
    ("text", "entities"),
    [
        ("Do germany and Austria share a currency?", {"Germany", "Austria"}),
        ("Is Austria larger than germany?", {"Germany", "Austria"}),
        ("Which rivers leave germany, austria and Switzerland?", {"Germany", "Austria", "Switzerland"}),
    ],
)
def test_a_name_in_small_letters_is_one_beside_a_name_of_its_kind(text: str, entities: set[str]) -> None:
    assert linked(text) == entities


@pytest.mark.parametrize(
    "text",
    [
        "Which horror and Austria are there?",  # of another kind
        "Which germany lies near Austria?",  # not joined
    ],
)
def test_other_words_in_small_letters_stay_words(text: str) -> None:
    assert linked(text) == {"Austria"}
