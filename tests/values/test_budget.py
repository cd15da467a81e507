from __future__ import annotations

import pytest

from srtk_framework.values import Budget


@pytest.mark.parametrize("name", ["triples", "tokens", "nodes", "hub", "seconds", "mass"])
@pytest.mark.parametrize("value", [0, -1, float("nan")])
def test_a_limit_must_be_above_zero(name, value):
    with pytest.raises(ValueError, match=f"budget {name} must be above 0"):
        Budget(**{name: value})


def test_a_mass_above_one_is_refused():
    with pytest.raises(ValueError, match=r"share up to 1, not 1\.5"):
        Budget(mass=1.5)


def test_none_is_no_limit():
    assert Budget(None, None, None, None, None, None).hub is None
