"""The graph split: one graph at two endpoints, such as Wikidata's main and scholarly graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from srtk_plugin_sparql.step_reader import Neighbours, StepReader
from srtk_plugin_sparql.terms import Rows
from srtk_plugin_web import RefusedError

from srtk_framework.values import Step

T = TypeVar("T")


class _NoSource:
    """A source that refuses queries which are not sent to both endpoints."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint

    def select(self, query: str, divisible: bool, fresh: bool = False) -> Rows:
        """Raise an error."""
        error = RefusedError("neither endpoint can answer this query alone; remove `scholarly`")
        raise error.about(self.endpoint, query, "query")

    def close(self) -> None:
        """Do nothing."""


class SplitReader(StepReader):
    """Two readers as one: outgoing steps of a node come from one endpoint, incoming steps from both.

    The second reader is asked for the outgoing steps of nodes that the first one lacks.
    """

    def __init__(self, main: StepReader, other: StepReader, source: str, both: bool) -> None:
        super().__init__(_NoSource(source), main.ids, main.queries, main.most_rows, main.most_named, 1, both)
        self._main = main
        self._other = other

    def walks_relations(self) -> bool:
        """Return False: no server can follow a path over two endpoints."""
        return False

    def forget(self) -> None:
        """Empty the caches if they are full."""
        self._main.forget()
        self._other.forget()

    def load(self, nodes: Iterable[str], inverse: bool) -> None:
        """Load the outgoing steps of nodes from one endpoint, and their incoming steps from both."""
        every = list(dict.fromkeys(nodes))
        self._main.load(every, inverse)
        incoming = inverse or self._both
        self._other.load(every if incoming else [n for n in every if not self._main.counts(n, False)], inverse)

    def counts(self, node: str, inverse: bool) -> dict[str, int]:
        """Return the number of neighbours of a loaded node by relation."""
        main, other = self._main.counts(node, inverse), self._other.counts(node, inverse)
        if not inverse:
            return main or other
        return {relation: main.get(relation, 0) + other.get(relation, 0) for relation in {**main, **other}}

    def at_main(self, subjects: Iterable[str]) -> set[str]:
        """Return the subjects whose outgoing steps are at the first endpoint; all other subjects are at the second."""
        every = list(dict.fromkeys(subjects))
        self._main.load(every, False)
        return {node for node in every if self._main.counts(node, False)}

    def exist(self, nodes: Iterable[str]) -> set[str]:
        """Return the nodes that occur in a triple."""
        every = list(dict.fromkeys(nodes))
        known = self._main.exist(every)
        return known | self._other.exist(node for node in every if node not in known)

    def neighbours(
        self, pairs: Iterable[tuple[str, Step]], limit: int | None = None
    ) -> dict[tuple[str, Step], Neighbours]:
        """Read the neighbours of nodes along steps, sorted: all, or at least the first ``limit``."""
        every = list(dict.fromkeys(pairs))
        for inverse in (False, True):
            self.load((node for node, step in every if step.inverse == inverse), inverse)
        at_main = {pair for pair in every if pair[1].inverse or self._main.counts(pair[0], False)}
        main = self._main.neighbours([pair for pair in every if pair in at_main], limit)
        other = self._other.neighbours([pair for pair in every if pair[1].inverse or pair not in at_main], limit)
        return {pair: _together([part[pair] for part in (main, other) if pair in part]) for pair in every}

    def ask_all(self, items: Iterable[T], write: Callable[[Sequence[T]], str], order: str) -> Rows:
        """Query both endpoints for any number of items."""
        every = list(dict.fromkeys(items))
        return _distinct(self._main.ask_all(every, write, order), self._other.ask_all(every, write, order))

    def whole(self, query: str, order: str) -> Rows:
        """Read all rows of a query from both endpoints."""
        return _distinct(self._main.whole(query, order), self._other.whole(query, order))


def _together(parts: Sequence[Neighbours]) -> Neighbours:
    """Merge neighbours; of truncated parts, only as many are known to be the first as the shortest has."""
    ends = sorted({end for part in parts for end in part.ends})
    cut = [part for part in parts if len(part.ends) < part.total]
    if not cut:
        return Neighbours(tuple(ends), len(ends))
    return Neighbours(tuple(ends[: min(len(part.ends) for part in cut)]), sum(part.total for part in parts))


def _distinct(*answers: Rows) -> Rows:
    """Concatenate rows without duplicates."""
    return list({tuple(sorted(row.items())): row for rows in answers for row in rows}.values())
