"""Limits on the work and the result of one question."""

from __future__ import annotations

import attrs


@attrs.frozen
class Budget:
    """Limits per question; None means no limit. The trace counts what each limit cuts.

    Attributes:
        triples: Maximum number of triples in the subgraph.
        tokens: Maximum number of tokens in the subgraph's text form.
        nodes: Maximum number of nodes in a frontier; the first by id are kept.
        hub: Maximum number of neighbours read for a node along a step; the first by id are read.
        seconds: Time limit for a batch, in seconds; a hop-wise expander starts no further hop after it. With a time
            limit, equal input may give different output.
        mass: Share of the total score mass to keep, above 0 and up to 1 (no limit). Of items ``x_1`` to ``x_n`` with
            descending scores ``s_i``, the first ``k`` are read, where ``k`` is the least number for which
            ``sum(exp(s_i), i <= k)`` is at least ``mass * sum(exp(s_i), i <= n)``. The items are the paths that have
            steps, or the triples if some triple's score differs from its path's.
        recall: Share of the answers, of those that the paths of a search lead to, that is enough, above 0 and up to 1
            (no limit): a search that tells what share it expects among the triples so far ends its reading there. By
            default the share that suits the search, and none beside a ``price``.
        price: Share of the answers, of those that the paths of a search lead to, that a triple is worth, below 1; 0 for
            no price. A search that tells what share it expects among the triples so far ends its reading where no
            further ones are expected to add that much each, nor half as much as those before them. By default the price
            that suits the search, and none beside a ``recall``.
    """

    triples: int | None = None
    tokens: int | None = None
    nodes: int | None = 1000
    hub: int | None = 1000
    seconds: float | None = None
    mass: float | None = None
    recall: float | None = None
    price: float | None = None

    def __attrs_post_init__(self) -> None:
        for name, value in attrs.asdict(self).items():
            if value is not None and not value > 0 and (name != "price" or value != 0):
                raise ValueError(f"budget {name} must be above 0, not {value}; omit it for no limit")
        if self.mass is not None and self.mass > 1:
            raise ValueError(f"budget mass must be a share up to 1, not {self.mass}; 0.9 keeps 90 % of the score mass")
        if self.recall is not None and self.recall > 1:
            raise ValueError(
                f"budget recall must be a share up to 1, not {self.recall}; 0.9 ends with 90 % of the answers"
            )
        if self.price is not None and self.price >= 1:
            raise ValueError(
                f"budget price must be a share below 1, not {self.price}; 0.002 is 0.2 % of the answers for a triple"
            )
