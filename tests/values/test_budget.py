from __future__ import annotations

import pytest

from srtk_framework.values import Budget


@pytest.mark.parametrize("name", ["triples", "tokens", "nodes", "hub", "seconds", "mass"])
@pytest.mark.parametrize("value", [0, -1, float("nan")])
def test_a_limit_must_be_above_zero(name, value):
    with pytest.raises(ValueError, match=f"{name} must be above 0"):
        Budget(**{name: value})


def test_a_mass_above_one_is_refused():
    with pytest.raises(ValueError, match=r"mass must be above 0 and at most 1, not 1\.5; 0\.9 keeps"):
        Budget(mass=1.5)


def test_a_price_is_a_share_below_one_and_may_be_none_at_all():
    assert Budget(price=0).price == 0
    for price in (-0.1, 1.0):
        with pytest.raises(ValueError, match="price must be"):
            Budget(price=price)


def test_none_is_no_limit():
    assert Budget(None, None, None, None, None, None).hub is None
