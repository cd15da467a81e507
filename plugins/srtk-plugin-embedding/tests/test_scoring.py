"""Scoring functions against their definitions, and numpy against torch."""

from __future__ import annotations

import numpy as np
import pytest
from srtk_plugin_embedding.scoring import KINDS, entity_scores, query_vectors, relation_width

D, N = 8, 5


def complex_score(s, r, o):
    s, r, o = (one[: D // 2] + 1j * one[D // 2 :] for one in (s, r, o))
    return (s * r * o.conj()).sum().real


def rotate_score(s, r, o):
    s, o = (one[: D // 2] + 1j * one[D // 2 :] for one in (s, o))
    return -np.linalg.norm(s * np.exp(1j * r) - o)


def hole_score(s, r, o):
    correlation = [sum(s[i] * o[(k + i) % D] for i in range(D)) for k in range(D)]
    return float(np.dot(r, correlation))


DEFINITIONS = {"complex": complex_score, "rotate": rotate_score, "hole": hole_score}


def drawn(kind, dtype=np.float64):
    random = np.random.default_rng(3)
    return [random.normal(size=(N, width)).astype(dtype) for width in (D, relation_width(kind, D), D)]


@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_those_of_the_definition(kind):
    ends, relations, entities = drawn(kind)
    found = entity_scores(np, kind, query_vectors(np, kind, ends, relations), entities)
    wanted = [[DEFINITIONS[kind](s, r, o) for o in entities] for s, r in zip(ends, relations, strict=True)]
    np.testing.assert_allclose(found, wanted, rtol=1e-10)


def test_hole_is_complex_over_the_fourier_transforms():
    """Hayashi and Shimbo 2017: a special ComplEx, of vectors that transforms of real vectors are."""
    ends, relations, entities = drawn("hole")
    spectra = [np.fft.fft(vectors) for vectors in (ends, relations, entities)]
    wide = [np.concatenate([one.real, one.imag], axis=1) for one in spectra]
    as_complex = entity_scores(np, "complex", query_vectors(np, "complex", *wide[:2]), wide[2])
    found = entity_scores(np, "hole", query_vectors(np, "hole", ends, relations), entities)
    np.testing.assert_allclose(found, as_complex / D, rtol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_torch_scores_as_numpy_does(kind):
    torch = pytest.importorskip("torch")
    arrays = drawn(kind, np.float32)
    ends, relations, entities = map(torch.from_numpy, arrays)
    theirs = entity_scores(torch, kind, query_vectors(torch, kind, ends, relations), entities)
    ours = entity_scores(np, kind, query_vectors(np, kind, *arrays[:2]), arrays[2])
    np.testing.assert_allclose(theirs.numpy(), ours, rtol=1e-4, atol=1e-5)
