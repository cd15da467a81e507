"""Drivers with fixed scores and known faults, for the tests of explanations."""

from __future__ import annotations

import pytest

DRIVERS = '''
"""A scorer with fixed scores, and expanders with known faults."""
from __future__ import annotations
import attrs
from srtk_framework.values import DriverError
from srtk_framework.roles import PLAIN, Expander, PathScorer
from srtk_framework.values import Subgraph

@attrs.define
class Fixed(PathScorer):
    """Scores a step by its text.

    Attributes:
        scores: Text of the step to its score; -9 for others, 0 for END.
        trained: What it says of itself.
    """
    scores: dict[str, float] = attrs.field(factory=dict)
    trained: bool = False
    def is_trained(self):
        return self.trained
    def search_settings(self):
        return PLAIN
    def score(self, questions, paths, candidates):
        return [[self.scores.get(str(s), 0.0 if str(s) == "END" else -9.0) for s in row] for row in candidates]

@attrs.define
class Broken(Expander):
    """Fails."""
    def expand(self, questions):
        raise DriverError("the disk melted; buy another")

@attrs.define
class Nothing(Expander):
    """Finds nothing.

    Attributes:
        depth: Maximum length of a path.
    """
    depth: int = 2
    def expand(self, questions):
        return [Subgraph() for _ in questions]

@attrs.define
class Halts(Expander):
    """Is interrupted at a question."""
    def expand(self, questions):
        if "oslo" in questions[0].text:
            raise KeyboardInterrupt
        return [Subgraph() for _ in questions]

@attrs.define
class Outer(Expander):
    """Gives the first of what an inner expander finds.

    Attributes:
        most: How much.
    """
    inner: Expander
    most: int = 99
    def expand(self, questions):
        return [subgraph.first(self.most, "outer") for subgraph in self.inner.expand(questions)]
'''


@pytest.fixture(autouse=True)
def drivers(install):
    expanders = {"broken": "Broken", "halts": "Halts", "nothing": "Nothing", "outer": "Outer"}
    entries = {"path_scorer": {"fixed": "Fixed"}, "expander": expanders}
    install("srtk-plugin-fixed", "srtk_fixed", DRIVERS, entries)
