"""Triples that completers add to a graph, by pattern, with their origins, in a bounded cache."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence

from srtk_framework.roles import Completer, KnowledgeGraph
from srtk_framework.values import Completion, Literal, Origin, Pattern, Triple, batched, open_end

Added = Mapping[Triple, Origin]
"""Triples that complete one pattern, the most confident first, each with its origin."""

# Patterns whose completions are kept. The oldest are dropped first, and asked again.
CACHED = 50_000

# Patterns that the completers are asked about at once: a model fills its batches, and the memory stays bounded.
_BATCH = 512


class Completions:
    """The triples that complete the patterns of a graph, independent of earlier calls.

    Args:
        graph: The stored graph.
        completers: The completers; if two propose the same triple, the more confident proposal counts, then the first.
        least: Lowest confidence.
        most: Most triples of a pattern.
        cached: Most patterns in the cache.
    """

    def __init__(
        self, graph: KnowledgeGraph, completers: Sequence[Completer], least: float, most: int, cached: int = CACHED
    ) -> None:
        self._graph = graph
        self._completers = tuple(completers)
        self._least = least
        self._most = most
        self._cached = cached
        self._source = graph.source()
        self._kept: dict[Pattern, Added] = {}
        self._lock = threading.Lock()

    def of(self, patterns: Iterable[Pattern]) -> dict[Pattern, Added]:
        """Return the completions of patterns, each with a relation and one open end."""
        wanted = dict.fromkeys(patterns)
        with self._lock:
            found = {pattern: self._kept[pattern] for pattern in wanted if pattern in self._kept}
        for batch in batched((pattern for pattern in wanted if pattern not in found), _BATCH):
            fresh = self._ask(batch)
            found.update(fresh)
            with self._lock:
                self._kept.update(fresh)
                for old in list(self._kept)[: max(0, len(self._kept) - self._cached)]:
                    del self._kept[old]
        return found

    def _ask(self, patterns: Sequence[Pattern]) -> dict[Pattern, Added]:
        bound = [open_end(pattern)[0] for pattern in patterns]
        known = self._entities(bound)
        asked = [pattern for pattern, end in zip(patterns, bound, strict=True) if end in known]
        proposed: list[dict[Triple, tuple[Completion, str]]] = [{} for _ in asked]
        for completer in self._completers if asked else ():
            by = str(getattr(completer, "name", "") or type(completer).__name__)
            for best, row in zip(proposed, completer.complete(asked, self._most), strict=True):
                for one in row:
                    before = best.get(one.triple)
                    if one.confidence >= self._least and (before is None or before[0].confidence < one.confidence):
                        best[one.triple] = (one, by)
        every = list(dict.fromkeys(triple for best in proposed for triple in best))
        fit = self._lacking(every)
        answers: dict[Pattern, Added] = {pattern: {} for pattern in patterns}
        for pattern, best in zip(asked, proposed, strict=True):
            rows = sorted((one for one in best.values() if one[0].triple in fit), key=_place)[: self._most]
            answers[pattern] = {
                one.triple: Origin(self._source, one.confidence, by, tuple(one.evidence)) for one, by in rows
            }
        return answers

    def _lacking(self, triples: Sequence[Triple]) -> set[Triple]:
        """Return the triples between entities of the graph that it does not store."""
        known = self._entities(end for triple in triples for end in (triple.subject, triple.object))
        candidates = [t for t in triples if t.subject in known and t.object in known]
        stored = self._graph.match([Pattern(*triple) for triple in candidates]) if candidates else []
        return {triple for triple, row in zip(candidates, stored, strict=True) if not row}

    def _entities(self, ids: Iterable[str]) -> frozenset[str]:
        some = sorted({id_ for id_ in ids if not isinstance(id_, Literal)})
        return frozenset(self._graph.frontiers([some])[0].ids()) if some else frozenset()


def _place(one: tuple[Completion, str]) -> tuple[float, Triple]:
    return -one[0].confidence, one[0].triple
