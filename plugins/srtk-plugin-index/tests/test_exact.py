"""The index ``exact`` finds what a comparison of all vectors in float64 finds."""

from __future__ import annotations

import math

import attrs
import numpy as np
import pytest
from srtk_plugin_index.indexes import exact
from srtk_plugin_index.indexes.exact import ExactIndex

from srtk_framework.testing import ToyEncoder
from srtk_framework.values import DriverError, Entry

WIDTH = 16


def encoder(dimensions: int = WIDTH) -> ToyEncoder:
    made = ToyEncoder(dimensions=dimensions)
    made.open()
    return made


def made(folder, rows, **settings) -> ExactIndex:
    index = ExactIndex(path=str(folder / "index"), encoder=encoder(), **settings)
    index.create()
    index.add([Entry(f"{n:05}", f"entry {n}", vector=row) for n, row in enumerate(rows)])
    index.commit()
    return index


def drawn(count: int, seed: int = 0):
    return np.random.default_rng(seed).normal(size=(count, WIDTH)).astype(np.float32)


def brute(rows, vector, k, similarity):
    wide, asked = rows.astype(np.float64), vector.astype(np.float64)
    scores = np.array([float(np.dot(row, asked)) for row in wide])
    if similarity == "cosine":
        norms = np.linalg.norm(wide, axis=1) * np.linalg.norm(asked)
        scores = np.divide(scores, norms, out=np.zeros_like(scores), where=norms > 0)
    ranked = sorted((-round(score, 4), f"{n:05}") for n, score in enumerate(scores.tolist()))
    return [(id_, -score) for score, id_ in ranked[:k]]


@pytest.mark.parametrize("similarity", ["cosine", "dot"])
@pytest.mark.parametrize("cells", [1 << 24, 100])
def test_a_search_equals_the_comparison_with_every_vector(tmp_path, monkeypatch, similarity, cells):
    monkeypatch.setattr(exact, "_CELLS", cells)  # blocks of six vectors, and one search at a time
    rows = np.concatenate(
        [drawn(300), drawn(100), np.zeros((1, WIDTH), np.float32), 1000 * drawn(20, 1), 1e-3 * drawn(20, 4)]
    )
    index = made(tmp_path, rows, similarity=similarity)
    asked = drawn(40, 2)
    for k in (1, 7, 1000):
        for vector, hits in zip(asked, index.near(asked, k), strict=True):
            found = [(hit.entry.id, hit.score) for hit in hits]
            wanted = brute(rows, vector, k, similarity)
            assert [id_ for id_, _ in found] == [id_ for id_, _ in wanted]
            assert [score for _, score in found] == pytest.approx([score for _, score in wanted], abs=1e-4)


def test_a_thousand_equal_vectors_come_by_id(tmp_path):
    rows = np.repeat(drawn(1), 1000, axis=0)
    found = made(tmp_path, rows).near(drawn(1, 3), 4)[0]
    assert [hit.entry.id for hit in found] == ["00000", "00001", "00002", "00003"]


def test_hits_bring_their_vectors(tmp_path):
    rows = drawn(5)
    (hits,) = made(tmp_path, rows).near(rows[2:3], 1)
    assert np.array_equal(hits[0].entry.vector, rows[2])
    assert hits[0].score == 1.0


def test_an_entry_without_a_vector_is_encoded(tmp_path):
    index = made(tmp_path, drawn(3))
    index.add([Entry("text", "Riga is the capital")])
    assert index.search(["Riga is the capital"], 1)[0][0].entry.id == "text"
    index.close()


def test_an_entry_of_another_length_is_refused_and_the_rest_of_its_call_too(tmp_path):
    index = made(tmp_path, drawn(3))
    with pytest.raises(DriverError, match="'long' is no row of 16 finite numbers"):
        index.add([Entry("fine", "", vector=drawn(1)[0]), Entry("long", "", vector=np.ones(WIDTH + 1, np.float32))])
    assert index.size() == 3
    index.add([Entry("fine", "", vector=drawn(1)[0])])
    assert index.commit() == 4
    assert len(index.near(drawn(1), 10)[0]) == 4


def test_an_entry_with_neither_text_nor_vector_is_refused(tmp_path):
    index = made(tmp_path, drawn(1))
    with pytest.raises(DriverError, match="'void' has neither text nor vector"):
        index.add([Entry("void", " ")])
    index.close()


def test_an_index_of_another_encoder_is_refused(tmp_path):
    made(tmp_path, drawn(3)).close()
    with pytest.raises(DriverError, match=r"built with another encoder .*srtk index build RECIPE"):
        ExactIndex(path=str(tmp_path / "index"), encoder=attrs.evolve(encoder(), letters=4)).open()


def test_an_index_without_entries_can_be_kept_and_added_to(tmp_path):
    index = made(tmp_path, drawn(0))
    index.close()
    index.open()
    assert index.search(["Riga"], 3) == [[]]
    index.add([Entry("1", "Riga")])
    index.commit()
    assert index.search(["Riga"], 3)[0][0].entry.id == "1"


def test_sums_that_float32_rounds_apart_are_compared_in_float64(tmp_path, monkeypatch):
    monkeypatch.setattr(exact, "_CELLS", 100)  # blocks of six vectors; the first are short, and hardly rounded
    near = 1e4 * drawn(1) + 1e-3 * drawn(300, 1)
    rows = np.concatenate([drawn(12, 3), near])
    index = made(tmp_path, rows, similarity="dot")
    asked = (1e4 * drawn(20, 2)).astype(np.float32)
    for vector, hits in zip(asked, index.near(asked, 3), strict=True):
        assert [hit.entry.id for hit in hits] == [id_ for id_, _ in brute(rows, vector, 3, "dot")]


@pytest.mark.parametrize("similarity", ["cosine", "dot"])
@pytest.mark.parametrize("length", [1e-3, 1.0, 1e3])
def test_only_what_float32_leaves_open_is_compared_again(tmp_path, similarity, length):
    rows = length * np.eye(WIDTH, dtype=np.float32)[:6]
    rows[5] = rows[0] * np.float32(1 + 1e-7)  # as near to the first as float32 can tell
    index = made(tmp_path, rows, similarity=similarity)
    asked = (length * np.array([[8, 4, 2, 1, 0.5, *[0] * (WIDTH - 5)]])).astype(np.float32)
    small = similarity == "dot" and length < 1  # all products are below the unit in which scores are compared
    for k, wanted in ((1, [0, 5]), (2, [0, 5]), (3, [0, 1, 5]), (4, [0, 1, 2, 5]), (6, [*range(6)]), (9, [*range(6)])):
        [(numbers, found)] = index.shortlist(asked, k)
        assert numbers.tolist() == ([*range(6)] if small else wanted)
        assert np.array_equal(found, rows[numbers])


def test_a_shortlist_is_of_the_allowed_entries_and_zeros_are_as_far_as_what_is_across(tmp_path):
    rows = np.eye(WIDTH, dtype=np.float32)[:4]
    rows[3] = 0
    index = made(tmp_path, rows)
    [hits] = index.near(np.ones((1, WIDTH), np.float32), 4)
    assert [(hit.entry.id, round(hit.score, 2)) for hit in hits] == [
        *(("00000", 0.25), ("00001", 0.25), ("00002", 0.25), ("00003", 0.0))
    ]
    [hits] = index.near(-np.ones((1, WIDTH), np.float32), 1)
    assert [(hit.entry.id, hit.score) for hit in hits] == [("00003", 0.0)]


@pytest.mark.parametrize(
    ("similarity", "near", "far"),
    # Twice the error of 16 products, 16 / 2**23, or with it the unit of scores where vectors count as of length 1.
    [("dot", 3.6e-6, 4.1e-6), ("cosine", 1.035e-4, 1.042e-4)],
)
def test_what_is_nearer_than_twice_the_error_and_a_unit_is_compared_again(tmp_path, similarity, near, far):
    length = 1e6 if similarity == "dot" else 1.0
    rows = np.zeros((3, WIDTH), np.float64)
    rows[0, 0] = 1.0
    for row, distance in ((1, near), (2, far)):
        rows[row, 0] = 1 - distance
        rows[row, 1] = 0.0 if similarity == "dot" else math.sqrt(1 - (1 - distance) ** 2)
    index = made(tmp_path, (length * rows).astype(np.float32), similarity=similarity)
    [(numbers, _)] = index.shortlist(np.float32(length) * np.eye(WIDTH, dtype=np.float32)[:1], 1)
    assert numbers.tolist() == [0, 1]


@pytest.mark.parametrize("cells", [850, 1300])
def test_a_group_of_searches_finds_what_each_finds_alone(tmp_path, monkeypatch, cells):
    monkeypatch.setattr(exact, "_CELLS", cells)  # two or three searches at a time
    index = made(tmp_path, drawn(421))
    asked = drawn(7, 2)
    assert index.near(asked, 3) == [index.near(asked[at : at + 1], 3)[0] for at in range(7)]
    assert all(hit.score == round(hit.score, 4) for hits in index.near(asked, 3) for hit in hits)


@pytest.mark.parametrize(
    "vector", [np.ones((1, WIDTH)), np.ones(0), np.full(WIDTH, np.nan), np.ones(WIDTH - 1), np.ones((WIDTH, 1))]
)
def test_a_vector_that_is_no_row_of_finite_numbers_is_refused(tmp_path, vector):
    index = made(tmp_path, drawn(1))
    with pytest.raises(DriverError, match="the vector of 'odd' is no row of 16 finite numbers"):
        index.add([Entry("odd", "", vector=vector.astype(np.float32))])
    index.close()
    empty = ExactIndex(path=str(tmp_path / "other"), encoder=encoder())
    empty.create()
    if vector.shape != (WIDTH - 1,):
        with pytest.raises(DriverError, match="the vector of 'odd' is no row"):
            empty.add([Entry("odd", "", vector=vector.astype(np.float32))])
    empty.close()


def test_what_cannot_be_searched_for_is_told(tmp_path):
    index = made(tmp_path, drawn(2))
    for asked in (np.ones((1, WIDTH + 1)), np.ones(WIDTH + 1), np.ones((2, 1, WIDTH + 1))):
        with pytest.raises(DriverError, match="have 16 numbers, those searched for 17; search"):
            index.near(asked, 1)
    for asked in (np.ones(WIDTH), np.ones((1, WIDTH, WIDTH))):
        with pytest.raises(DriverError, match="have 16 numbers"):
            index.near(asked, 1)
    with pytest.raises(DriverError, match="numbers that are not finite"):
        index.near(np.full((1, WIDTH), np.inf), 1)
    assert index.near([], 1) == []


def test_the_first_entry_with_neither_text_nor_vector_is_named(tmp_path):
    index = made(tmp_path, drawn(1))
    with pytest.raises(DriverError, match="'one' has neither"):
        index.add([Entry("fine", "Riga"), Entry("one", " "), Entry("two", "")])
    index.close()


def test_an_index_is_begun_anew_with_vectors_of_another_length(tmp_path):
    index = made(tmp_path, drawn(3))
    index.create()
    index.add([])
    index.add([Entry("a", "", vector=np.ones(2, np.float32)), Entry("b", "", vector=np.ones(2, np.float32))])
    index.add([Entry("c", "", vector=np.ones(2, np.float32))])
    with pytest.raises(DriverError, match="no row of 2 finite numbers"):
        index.add([Entry("d", "", vector=np.ones(3, np.float32))])
    assert index.commit() == 3
    assert len(index.near(np.ones((1, 2)), 9)[0]) == 3


def test_a_matrix_that_does_not_fit_the_entries_is_damage(tmp_path):
    index = made(tmp_path, drawn(3))
    [path] = tmp_path.rglob("vectors.f4")
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(DriverError, match=r"is damaged: vectors.f4 does not fit its entries; build"):
        index._map(path.parent)
