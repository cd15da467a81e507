from __future__ import annotations

import attrs
import pytest

from srtk_framework.host import port
from srtk_framework.recipe.recipe import from_data
from srtk_framework.roles import Corpus, Index
from srtk_framework.values import DriverError, Entry, Hit

A, B = Entry("a", "x"), Entry("b", "y")


@attrs.define
class Given(Index):
    """Finds what it is given."""

    hits: object = ()
    added: object = 0

    def size(self):
        return 2

    def add(self, entries):
        return self.added

    def search(self, texts, k):
        return [self.hits for _ in texts]


@pytest.mark.parametrize(
    ("hits", "sentence"),
    [
        ([Hit(A, 0.5), Hit(B, 0.4), Hit(Entry("c", "z"), 0.1)], "a search for 2 entries found 3"),
        ([Hit(B, 0.5), Hit(A, 0.5)], "ties by id"),
        ([Hit(A, 0.4), Hit(B, 0.5)], "falling score"),
        ([Hit(A, 0.5), Hit(A, 0.5)], "no entry comes twice"),
        ([Hit(A, float("nan"))], "not finite"),
        ([Hit(A, 0.5, (0, 99))], r"the span \(0, 99\), which is no part of its text"),
        ([Hit(A, 0.5, (1, 1))], "no part of its text"),
    ],
)
def test_hits_that_break_the_order_are_refused_at_the_port(hits, sentence):
    with pytest.raises(DriverError, match=sentence):
        port(Given(hits=hits), "index", "given").search(["x"], 2)


def test_hits_in_order_pass():
    hits = [Hit(A, 0.5), Hit(B, 0.5)]
    assert port(Given(hits=hits), "index", "given").search(["x", "x"], 2) == [hits, hits]


def test_entries_that_were_not_added_are_told():
    with pytest.raises(DriverError, match="add got 2 entries and added 1"):
        port(Given(added=1), "index", "given").add([A, B])


def test_an_index_without_vectors_says_so_and_refuses_them():
    index = port(Given(), "index", "given")
    assert (index.searches_texts(), index.searches_vectors()) == (True, False)
    with pytest.raises(DriverError, match="searches texts, not vectors"):
        index.near([[1.0]], 1)


def test_an_index_that_cannot_be_filled_says_so():
    @attrs.define
    class Web(Index):
        def size(self):
            return 0

    with pytest.raises(DriverError, match="cannot be filled"):
        port(Web(), "index", "web").add([A])


def test_several_indexes_and_corpora_have_the_usual_plurals():
    assert (Index.plural, Corpus.plural) == ("indexes", "corpora")
    recipe = from_data({"srtk": 1, "indexes": {"one": {"use": "bm25"}}, "corpora": {"two": {"use": "triples"}}})
    assert not recipe.problems
    assert (recipe.named["index"]["one"].use, recipe.named["corpus"]["two"].use) == ("bm25", "triples")
