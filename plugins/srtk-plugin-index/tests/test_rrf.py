"""The index ``rrf`` fuses what several indexes find by their ranks."""

from __future__ import annotations

import attrs
import numpy as np
import pytest
from srtk_plugin_index.indexes.bm25 import Bm25Index
from srtk_plugin_index.indexes.exact import ExactIndex
from srtk_plugin_index.indexes.rrf import RrfIndex

from srtk_framework.roles import Index
from srtk_framework.testing import ToyEncoder
from srtk_framework.values import DriverError, Entry, rounded

TEXTS = ("Riga is the capital of Latvia", "Tallinn is the capital of Estonia", "the Daugava", "Rigas Street", "Vilnius")


def filled(index, entries):
    index.create()
    index.add(entries)
    index.commit()
    return index


@pytest.fixture
def pair(tmp_path):
    encoder = ToyEncoder(dimensions=64)
    encoder.open()
    entries = [Entry(f"e{n}", text) for n, text in enumerate(TEXTS)]
    return (
        filled(Bm25Index(path=str(tmp_path / "words")), entries),
        filled(ExactIndex(path=str(tmp_path / "meaning"), encoder=encoder), entries),
    )


def test_a_score_is_the_sum_of_the_reciprocal_ranks(pair):
    text = "the capital of Latvia"
    rows = [[hit.entry.id for hit in index.search([text], 10)[0]] for index in pair]
    assert len(rows[0]) == 3
    assert len(rows[1]) == 5
    for hit in RrfIndex(indexes=pair, constant=10).search([text], 10)[0]:
        places = [row.index(hit.entry.id) + 1 if hit.entry.id in row else None for row in rows]
        assert hit.ranks == tuple(places)
        assert hit.score == rounded(sum(11 / (10 + place) for place in places if place) / 2)


def test_the_first_of_all_indexes_scores_1(pair):
    assert [(hit.entry.id, hit.score, hit.ranks) for hit in RrfIndex(indexes=pair).search([TEXTS[0]], 1)[0]] == [
        ("e0", 1.0, (1, 1))
    ]


def test_an_entry_that_two_indexes_find_precedes_one_that_is_first_in_one(pair):
    words, meaning = pair
    index = RrfIndex(indexes=[words, meaning])
    (hits,) = index.search(["capital of Rigas"], 5)
    both = [hit.entry.id for hit in hits if None not in hit.ranks]
    assert both == [hit.entry.id for hit in hits][: len(both)]
    assert len(hits) == 5


def test_only_the_first_hits_of_each_index_are_fused(pair):
    assert len(RrfIndex(indexes=pair, depth=1).search(["the capital"], 1)[0]) == 1
    ranks = [hit.ranks for hit in RrfIndex(indexes=pair, depth=2).search(["the capital"], 2)[0]]
    assert all(rank in (None, 1, 2) for row in ranks for rank in row)


def test_vectors_are_searched_by_the_indexes_that_search_them(pair):
    row = pair[1].encoder.encode([TEXTS[2]])
    (hits,) = RrfIndex(indexes=pair).near(row, 2)
    assert (hits[0].entry.id, hits[0].score, hits[0].ranks) == ("e2", 1.0, (None, 1))
    with pytest.raises(DriverError, match="none of the indexes of rrf searches vectors"):
        RrfIndex(indexes=pair[:1]).near(np.ones((1, 64), np.float32), 2)


def test_a_hit_keeps_the_passage_of_the_index_that_points_one_out(pair):
    words = attrs.evolve(pair[0], sentences=1)
    words.open()
    assert RrfIndex(indexes=[words, pair[1]]).search(["Daugava"], 1)[0][0].snippet == "the Daugava"


def test_no_index_is_no_rrf():
    with pytest.raises(ValueError, match="indexes must not be empty"):
        RrfIndex(indexes=[])


def test_an_entry_is_read_from_the_first_index_that_has_it_with_its_vector_if_one_has_that(pair):
    words, meaning = pair
    words.add([Entry("more", "text")])
    words.commit()
    for indexes in ([words, meaning], [meaning, words]):
        index = RrfIndex(indexes=indexes)
        known, more, none, again = index.entries(["e1", "more", "none", "e1"])
        assert known == again == meaning.entries(["e1"])[0]
        assert known.vector is not None
        assert (more.text, none, index.size()) == ("text", None, 6)


def test_a_hit_has_the_vector_and_the_passage_of_the_index_that_has_them(pair):
    words = attrs.evolve(pair[0], sentences=1)
    words.open()
    for indexes in ([words, pair[1]], [pair[1], words]):
        hit = RrfIndex(indexes=indexes).search(["Daugava"], 1)[0][0]
        assert hit.span == (0, 11)
        assert hit.entry.vector is not None


def test_texts_are_refused_where_no_index_searches_them(pair):
    class Vectors(Index):
        def near(self, vectors, k):
            return [[] for _ in vectors]

        def size(self):
            return 0

    index = RrfIndex(indexes=[Vectors()])
    assert not index.searches_texts()
    with pytest.raises(DriverError, match="none of the indexes of rrf searches texts"):
        index.search(["Riga"], 1)
    assert RrfIndex(indexes=[Vectors(), pair[0]]).search(["Riga"], 1)[0][0].score == 1.0
