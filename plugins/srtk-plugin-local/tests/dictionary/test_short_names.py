"""Short names: initials and parts of names, resolved by the entity with by far the most triples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from srtk_plugin_local.dictionary.linker import DictionaryLinker
from srtk_plugin_local.memory import MemoryGraph

WELL_KNOWN = {
    "United States of America": 60,
    "United States Senate": 22,
    "President of the United States": 40,
    "National Football League": 12,
    "National Forest Lodge": 2,
    "Major League Baseball": 9,
    "People's Republic of China": 50,
    "Chino": 3,
    "Portuguese Language": 44,
    "Portuguese Man o' War": 2,
    "Lauren Katherine Conrad": 25,
    "Springfield Armory": 30,
    "Springfield Museum": 24,
    "Springfield Zoo": 2,
    "Springfield Park": 2,
    "Usa": 2,
    "NASA": 5,
    "National Atomic Space Agency": 70,
    "2020": 30,
    "Seattle": 8,
    **{f"Obscure Thing {kind}": 3 for kind in ("Alpha", "Gamma", "Kappa", "Omega")},
}


def memory() -> MemoryGraph:
    rows = [[name, "fact", f"{name} {i}"] for name, count in WELL_KNOWN.items() for i in range(count)]
    # The other ends are ids without words of the names.
    return MemoryGraph([[s, r, f"n{i}"] for i, (s, r, _) in enumerate(rows)])


GRAPH = memory()


def linked(text: str, **settings: Any) -> list[tuple[str, str]]:
    [links] = DictionaryLinker(GRAPH, **settings).link([text])
    return [(text[link.start : link.end], link.entity) for link in links]


@pytest.mark.parametrize(
    ("text", "mention", "entity"),
    [
        ("How many states are in the US?", "US", "United States of America"),
        ("How many U.S. states are there?", "U.S.", "United States of America"),
        ("Who was president of the USA?", "USA", "United States of America"),
        ("What is the longest river in the United States?", "United States", "United States of America"),
        ("What is the oldest team in the NFL?", "NFL", "National Football League"),
        ("Who won the MLB's first title?", "MLB", "Major League Baseball"),
        ("What is the tallest mountain in China?", "China", "People's Republic of China"),
        ("In which country do people speak Portuguese?", "Portuguese", "Portuguese Language"),
        ("Which Portuguese-speaking country is it?", "Portuguese", "Portuguese Language"),
        ("In which city does Lauren Conrad live?", "Lauren Conrad", "Lauren Katherine Conrad"),
        ("Who played for which team of the NFL in 2020?", "NFL", "National Football League"),
        ("who lives in the us?", "us", "United States of America"),
        ("WHO LIVES IN THE US?", "US", "United States of America"),
        ("which us state is the largest?", "us", "United States of America"),
        ("how many u.s. states are there?", "u.s.", "United States of America"),
        ("what is the longest river in the united states?", "united states", "United States of America"),
        ("which nfl team plays in seattle?", "nfl", "National Football League"),
        ("how far is seattle from the us?", "seattle", "Seattle"),
        ("où is the capital of the united states?", "united states", "United States of America"),
    ],
)
def test_what_people_shorten_is_the_well_known_entity(text: str, mention: str, entity: str) -> None:
    assert (mention, entity) in linked(text)


@pytest.mark.parametrize(
    "text",
    [
        "Who made the guns of the Springfield collection?",  # two of that name are about as well known
        "Who saw the Obscure Thing?",  # few triples
        "who told us?",  # a pronoun
        "which is it?",
        "who did win the race?",
        "What is an XYZ?",
    ],
)
def test_what_is_not_clear_is_not_linked(text: str) -> None:
    assert linked(text) == []


def test_a_name_that_is_written_so_is_not_taken_for_initials() -> None:
    assert linked("Who founded NASA?") == [("NASA", "NASA")]


def test_a_text_that_links_gets_initials_but_no_parts_of_names() -> None:
    assert linked("How far is Seattle from the US border?") == [
        ("Seattle", "Seattle"),
        ("US", "United States of America"),
    ]
    assert linked("How far is Seattle from the United border?") == [("Seattle", "Seattle")]


def test_exact_names_alone_link_nothing_short() -> None:
    assert linked("What is the oldest team in the NFL?", fuzzy=1) == []


def test_the_result_does_not_depend_on_the_batch() -> None:
    texts = ["Who rules the US?", "Who won the NFL?", "Who speaks Portuguese?", "In Seattle?"]
    linker = DictionaryLinker(GRAPH)
    assert linker.link(texts) == [linker.link([text])[0] for text in texts]


def test_places_find_what_overlaps_as_a_look_at_all_mentions_does():
    from srtk_plugin_local.dictionary.candidates import Mention
    from srtk_plugin_local.dictionary.short_names import Places
    from srtk_plugin_local.dictionary.stop_words import FunctionWords

    words = FunctionWords(None, None).parse("x" * 400)
    mentions = [Mention(words, start, start + length, 0, 0) for start in range(0, 300, 13) for length in (1, 7, 64, 90)]
    places = Places(mentions)
    for start in range(0, 390, 3):
        for end in (start + 1, start + 5, start + 130):
            wanted = {id(m) for m in mentions if m.start < end and start < m.end}
            assert {id(m) for m in places.overlapping(start, end)} == wanted


def test_a_text_of_many_initials_takes_steps_in_proportion_to_its_length(
    lines_of: Callable[[Callable[[], Any]], int],
) -> None:
    linker, text = DictionaryLinker(memory()), "see A. B. or j. r. r. and the nfl "
    linker.graph.open()
    linker.link([text])
    # In proportion this is 8 times as much, and 64 times if each is compared with all.
    assert lines_of(lambda: linker.link([text * 400])) < 12 * lines_of(lambda: linker.link([text * 50]))
