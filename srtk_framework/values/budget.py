"""Limits on the work and the result of one question."""

from __future__ import annotations

import attrs

from srtk_framework.values.validators import above, between

WAITING = 100_000
"""Calls that may wait for a session by default; their questions and results fit in some 200 MB."""

_NONE = "omit it for no limit"
_MASS = between(above=0, most=1, hint="0.9 keeps 90 % of the score mass")
_RECALL = between(above=0, most=1, hint="0.9 ends with 90 % of the answers")
_PRICE = between(0, below=1, hint="0.002 is 0.2 % of the answers for a triple")


@attrs.frozen
class Budget:
    """Limits per question; None means no limit. The trace counts the cuts of each limit.

    Attributes:
        triples: Maximum number of triples in the subgraph.
        tokens: Maximum number of tokens in the subgraph's text form.
        nodes: Maximum number of nodes in a frontier; the first by id are kept.
        hub: Maximum number of neighbours read for a node along a step; the first by id are read.
        seconds: Time limit for a batch, in seconds; a hop-wise expander starts no further hop after it. With a time
            limit, equal input may give different output.
        mass: Share of the total score mass to keep, above 0 and up to 1 (no limit). Of items ``x_1`` to ``x_n`` with
            descending scores ``s_i``, the first ``k`` are read: the least ``k`` with ``sum(exp(s_i), i <= k)`` of at
            least ``mass * sum(exp(s_i), i <= n)``. The items are the paths that have steps, or the triples if some
            triple's score differs from its path's.
        recall: Share of the answers, of those that the paths of a search lead to, that is enough, above 0 and up to 1
            (no limit): a search that expects this share among the triples so far ends its reading there. By
            default the share that suits the search, and none beside a ``price``.
        price: Share of the answers, of those that the paths of a search lead to, that a triple is worth, below 1; 0 for
            no price. A search with an expected share ends its reading where no further triples are expected to
            add that much each, nor half as much as the triples before them. By default the price
            that suits the search, and none beside a ``recall``.
    """

    triples: int | None = attrs.field(default=None, validator=above(0, _NONE))
    tokens: int | None = attrs.field(default=None, validator=above(0, _NONE))
    nodes: int | None = attrs.field(default=1000, validator=above(0, _NONE))
    hub: int | None = attrs.field(default=1000, validator=above(0, _NONE))
    seconds: float | None = attrs.field(default=None, validator=above(0, _NONE))
    mass: float | None = attrs.field(default=None, validator=_MASS)
    recall: float | None = attrs.field(default=None, validator=_RECALL)
    price: float | None = attrs.field(default=None, validator=_PRICE)
