"""The singular of words that name tables and headings."""

from __future__ import annotations

import pytest
from srtk_plugin_local.snapshot.plurals import same_word, singular


@pytest.mark.parametrize(
    ("plural", "word"),
    [
        *(("cities", "city"), ("ties", "tie"), ("movies", "movie"), ("cookies", "cookie"), ("countries", "country")),
        *(("boxes", "box"), ("axes", "axe"), ("taxes", "tax"), ("sizes", "size"), ("quizzes", "quiz")),
        *(("classes", "class"), ("dishes", "dish"), ("churches", "church"), ("caches", "cache"), ("aches", "ache")),
        *(("heroes", "hero"), ("shoes", "shoe"), ("leaves", "leaf"), ("lives", "life"), ("caves", "cave")),
        *(("buses", "bus"), ("statuses", "status"), ("houses", "house"), ("causes", "cause"), ("uses", "use")),
        *(("analyses", "analysis"), ("hypotheses", "hypothesis"), ("crises", "crisis"), ("aliases", "alias")),
        *(("cases", "case"), ("databases", "database"), ("people", "person"), ("indices", "index")),
        *(("cats", "cat"), ("owls", "owl"), ("films", "film"), ("areas", "area"), ("axe", "axe")),
    ],
)
def test_the_singular_of_an_english_word(plural: str, word: str) -> None:
    assert singular(plural) == singular(word) == word
    assert same_word(plural, word)
    assert not same_word(plural, "other")


@pytest.mark.parametrize("word", ["series", "species", "news", "status", "bus", "analysis", "class", "gas", "ids", ""])
def test_a_word_that_is_no_plural_stays(word: str) -> None:
    assert singular(word) == word
