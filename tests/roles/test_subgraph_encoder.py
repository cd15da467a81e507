from __future__ import annotations

import attrs
import numpy as np
import pytest

from srtk_framework.host import port
from srtk_framework.roles import SubgraphEncoder
from srtk_framework.values import DriverError, Triple

FACT = Triple("riga", "capital_of", "latvia")


@attrs.define
class Given(SubgraphEncoder):
    """Answers with the number of its triples, and counts what it is asked."""

    value: float = 0.0
    asked: list[int] = attrs.field(factory=list)

    def encode(self, subgraphs, centres):
        self.asked.append(len(centres))
        return np.array([[len(facts) + self.value] for facts in subgraphs], dtype=np.float32).reshape(-1, 1)


def test_equal_subgraphs_around_one_centre_are_encoded_once():
    driver = Given()
    found = port(driver, "subgraph_encoder", "given").encode([[FACT], (FACT,), [FACT], []], ["riga"] * 2 + ["oslo"] * 2)
    assert found.tolist() == [[1.0], [1.0], [1.0], [0.0]]
    assert driver.asked == [3]


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_that_are_not_finite_are_refused_at_the_port(value):
    with pytest.raises(DriverError, match="not finite"):
        port(Given(value), "subgraph_encoder", "given").encode([[FACT]], ["riga"])
