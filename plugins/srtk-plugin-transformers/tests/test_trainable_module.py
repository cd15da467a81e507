"""The encoder as something that can be trained: a copy that learns, weights that are taken over, saved and loaded."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from srtk_plugin_transformers.encoder import TransformersEncoder

from srtk_framework.values import DriverError

TEXTS = ["what is the capital of latvia", "riga", "who directed", "film " * 90]


def changed(encoder):
    """Return a trained copy: every weight a little larger."""
    module = encoder.learner()
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.mul_(1.05)
    return module


@pytest.mark.parametrize("pooling", ["mean", "cls", "last"])
def test_the_copy_computes_what_the_encoder_does(bert, make, pooling):
    encoder = make(bert, pooling=pooling, max_length=20)
    module = encoder.learner().eval()
    with torch.no_grad():
        vectors = module(module.tokenize(TEXTS)).numpy()
    np.testing.assert_allclose(vectors, encoder.encode(TEXTS), atol=1e-5)


def test_texts_are_truncated_the_same_in_training_and_encoding(bert, make):
    module = make(bert, max_length=20).learner()
    assert module.most_tokens == 20
    assert max(len(row) for row in module.tokenize(TEXTS)) == 20


def test_training_the_copy_leaves_the_encoder_as_it_was_until_it_is_taken(bert, make):
    encoder = make(bert)
    before, name = encoder.encode(TEXTS), encoder.fingerprint()
    module = changed(encoder)
    np.testing.assert_array_equal(encoder.encode(TEXTS), before)
    encoder.take(module)
    assert not np.allclose(encoder.encode(TEXTS), before)
    assert encoder.fingerprint() != name


def test_equal_weights_have_equal_fingerprints(bert, make):
    encoder = make(bert)
    encoder.take(changed(encoder))
    first = encoder.fingerprint()
    other = make(bert)
    other.take(changed(other))
    assert other.fingerprint() == first


@pytest.mark.parametrize("kind", ["bert", "t5", "bart"])
def test_trained_weights_are_saved_and_loaded(kind, request, make, tmp_path):
    encoder = make(request.getfixturevalue(kind))
    encoder.take(changed(encoder))
    wanted = encoder.encode(TEXTS)
    encoder.save(tmp_path / "model")
    np.testing.assert_array_equal(make(tmp_path / "model").encode(TEXTS), wanted)
    encoder.load(tmp_path / "model")
    np.testing.assert_array_equal(encoder.encode(TEXTS), wanted)


@pytest.mark.parametrize("pooling", ["mean", "cls", "last"])
def test_the_pooling_is_saved_beside_the_weights(bert, make, tmp_path, pooling):
    encoder = make(bert, pooling=pooling)
    encoder.save(tmp_path / "model")
    np.testing.assert_array_equal(make(tmp_path / "model").encode(TEXTS), encoder.encode(TEXTS))


def test_trained_weights_survive_closing(bert, make):
    encoder = make(bert)
    encoder.take(changed(encoder))
    wanted = encoder.encode(TEXTS)
    encoder.close()
    encoder.open()
    np.testing.assert_array_equal(encoder.encode(TEXTS), wanted)


def test_an_encoder_that_is_not_open_refuses_weights(bert, make):
    module = make(bert).learner()
    with pytest.raises(DriverError, match="is not open"):
        TransformersEncoder(model=str(bert)).take(module)
