"""State of a hop-wise expander."""

from __future__ import annotations

from srtk_framework.values.subgraphs import Answer


class HopState:
    """Base class for the state of one question between hops.

    Attributes:
        done: True if the search is over.
        answer: The reader's answer from the last hop's subgraph, if a reader ends the search (``stop: reader``).
    """

    done: bool = False
    answer: Answer | None = None
