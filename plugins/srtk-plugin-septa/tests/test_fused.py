"""Vectors of both a subgraph and its text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from srtk_plugin_septa.fused import FusedCorpus, fused
from srtk_plugin_septa.graph_encoder import SeptaGraphEncoder
from srtk_plugin_septa.subgraphs import SubgraphCorpus

from srtk_framework.testing import ToyEncoder
from srtk_framework.values import DriverError


def rows(*vectors):
    return np.array(vectors, dtype=np.float32)


vectors = arrays(np.float32, (1, 4), elements=st.floats(-8, 8, width=16).filter(lambda x: x == 0 or abs(x) > 0.01))


def test_the_golden_vector():
    assert fused(rows([3, 4]), rows([0, 2]))[0].tolist() == pytest.approx([0.6, 1.8])


def test_the_nearest_of_three_by_cosine():
    found = np.concatenate([fused(rows([3, 4]), rows([0, 2])), rows([2, 1], [-1, 0])])
    cosines = found @ rows([1, 0])[0] / np.linalg.norm(found, axis=1)
    assert cosines == pytest.approx([0.3162, 0.8944, -1], abs=5e-5)
    assert np.argsort(-cosines).tolist() == [1, 0, 2]


@given(vectors, vectors, st.floats(0.01, 100))
def test_the_length_of_the_subgraph_vector_does_not_count(e, h, scale):
    assert np.allclose(fused(e * np.float32(scale), h), fused(e, h), atol=1e-4)
    assert np.linalg.norm(fused(e, h)) <= np.linalg.norm(h) * (1 + 1e-5)
    assert np.allclose(fused(h * np.float32(scale), h), h, atol=1e-4)


def test_the_text_stands_alone_where_the_subgraph_has_no_direction():
    assert fused(rows([0, 0], [1, 0]), rows([0, 2], [0, 2])).tolist() == [[0, 2], [1, 1]]


def opened(driver):
    driver.open()
    return driver


def test_entries_keep_all_but_their_vector(countries):
    corpus = opened(SubgraphCorpus(graph=countries))
    encoder = opened(ToyEncoder(dimensions=64))
    graphs = opened(SeptaGraphEncoder(graph=countries, encoder=encoder))
    plain = list(corpus.read())
    made = list(FusedCorpus(corpus=corpus, subgraph_encoder=graphs, encoder=encoder).read())
    assert [(e.id, e.text, e.triples) for e in made] == [(e.id, e.text, e.triples) for e in plain]
    e = graphs.encode([one.triples for one in plain], [one.id for one in plain])
    assert np.array_equal(np.stack([one.vector for one in made]), fused(e, encoder.encode([x.text for x in plain])))


def test_encoders_of_different_dimensions_are_refused(countries):
    graphs = opened(SeptaGraphEncoder(graph=countries, encoder=opened(ToyEncoder(dimensions=64))))
    driver = FusedCorpus(
        corpus=opened(SubgraphCorpus(graph=countries)),
        subgraph_encoder=graphs,
        encoder=opened(ToyEncoder(dimensions=32)),
    )
    with pytest.raises(DriverError, match="64 dimensions and the encoder 32"):
        list(driver.read())
