"""Origins of triples."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from srtk_framework.values import Evidence, Origin, confidence, written_confidence


def test_a_stored_triple_is_named_by_its_source_alone() -> None:
    assert Origin("local:1f").provenance == "local:1f"


def test_a_completed_triple_is_named_by_its_completer_too() -> None:
    assert Origin("local:1f", 0.4, "rules").provenance == "rules:local:1f"


def test_an_unknown_kind_of_evidence_is_refused() -> None:
    with pytest.raises(ValueError, match="evidence is one of template, path, snippet, model, not 'rumour'"):
        Evidence("rumour", "")


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan")])
def test_a_confidence_outside_of_zero_to_one_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="a confidence lies between 0 and 1"):
        Origin("local:1f", value)


@given(st.floats(min_value=0, max_value=1))
def test_a_completed_confidence_never_reaches_one(value: float) -> None:
    assert 0 <= confidence(value) < 1
    assert 0 <= written_confidence(confidence(value)) < 1


@given(st.floats(min_value=0, max_value=1), st.floats(min_value=0, max_value=1))
def test_rounding_a_confidence_keeps_the_order(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert confidence(low) <= confidence(high)
    assert written_confidence(low) <= written_confidence(high)


def test_the_confidence_of_a_stored_triple_is_written_as_one() -> None:
    assert written_confidence(1.0) == 1.0
