"""The state of a hop-wise expander."""

from __future__ import annotations

from srtk_framework.values.subgraphs import Answer


class HopState:
    """Base of what a hop-wise expander carries for one question between hops.

    Attributes:
        done: True when no further hop is wanted.
        answer: What the reader made of the last hop's subgraph, where a reader ends the search (``stop: reader``).
    """

    done: bool = False
    answer: Answer | None = None
