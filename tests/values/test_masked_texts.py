from __future__ import annotations

from srtk_framework.values import MaskedText, TokenScore


def test_texts_with_another_context_differ():
    assert MaskedText("a _") == MaskedText("a _", "")
    assert len({MaskedText("a _"), MaskedText("a _", "b"), MaskedText("a _", "c")}) == 3


def test_a_token_and_its_score_can_be_unpacked():
    token, score = TokenScore("riga", -0.5)
    assert (token, score) == ("riga", -0.5)
