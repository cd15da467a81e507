"""The ``collect`` graph: a view that logs everything that is read through it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from srtk_framework.roles import KnowledgeGraph, not_open
from srtk_framework.values import Frontier, Literal, Pattern, Qualifier, Schema, Step, Triple
from srtk_plugin_views.read_log import Log
from srtk_plugin_views.stepwise import StepwiseView


@attrs.define(eq=False)
class CollectingGraph(StepwiseView):
    """Answer from another graph and log the reads; ``srtk graph pull FOLDER`` makes a snapshot of the log.

    Searches that a graph could do by itself (paths, neighbourhoods) go step by step, so that every triple on the way is
    logged.

    Attributes:
        folder: Folder of the log; an existing log of the same graph is continued.
    """

    graph: KnowledgeGraph
    folder: str
    _log: Log | None = attrs.field(init=False, default=None, repr=False)

    def open(self) -> None:
        """Open the log."""
        self._log = Log(Path(self.folder), facts_of(self.graph))

    def close(self) -> None:
        """Close the log."""
        if self._log is not None:
            self._log.close()
        self._log = None

    @property
    def log(self) -> Log:
        """Log of the reads so far."""
        if self._log is None:
            raise not_open(self)
        return self._log

    def fingerprint(self) -> str:
        """Identify the graph that answers."""
        return self.graph.fingerprint()

    def frontiers(self, node_sets: Sequence[Sequence[str]]) -> Sequence[Frontier]:
        """Make one frontier of each set of ids."""
        found = self.graph.frontiers(node_sets)
        self.log.add_seen(id_ for frontier in found for id_ in frontier.ids())
        return found

    def steps(self, frontiers: Sequence[Frontier], inverse: bool) -> Sequence[Sequence[Step]]:
        """Read the distinct steps that leave each frontier, sorted."""
        found = self.graph.steps(frontiers, inverse)
        self.log.add_nodes({id_: inverse for frontier in frontiers for id_ in frontier.ids()})
        return found

    def follow(self, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None) -> Sequence[Frontier]:
        """Walk each step to the entities at its end."""
        found = self.graph.follow(frontiers, steps, limit)
        self.triples(frontiers, steps, limit)
        return found

    def triples(
        self, frontiers: Sequence[Frontier], steps: Sequence[Step], limit: int | None
    ) -> Sequence[Sequence[Triple]]:
        """Read the triples that ``follow`` walks."""
        found = self.graph.triples(frontiers, steps, limit)
        self.log.add_triples(triple for row in found for triple in row)
        return found

    def match(self, patterns: Sequence[Pattern]) -> Sequence[Sequence[Triple]]:
        """Find the triples that fit each pattern."""
        found = self.graph.match(patterns)
        self.log.add_triples(triple for row in found for triple in row)
        return found

    def labels(self, ids: Sequence[str]) -> Sequence[str]:
        """Name each id."""
        found = self.graph.labels(ids)
        self.log.add_labels({id_: label for id_, label in zip(ids, found, strict=True) if not isinstance(id_, Literal)})
        return found

    def find(self, names: Sequence[str]) -> Sequence[Sequence[str]]:
        """Find the entities that have each name."""
        found = self.graph.find(names)
        self.log.add_found(dict(zip(names, found, strict=True)))
        return found

    def degrees(self, ids: Sequence[str]) -> Sequence[int]:
        """Count the triples at each id."""
        found = self.graph.degrees(ids)
        self.log.add_nodes({id_: True for id_, degree in zip(ids, found, strict=True) if degree})
        return found

    def qualifiers(self, triples: Sequence[Triple]) -> Sequence[Sequence[Qualifier]]:
        """Read the qualifiers of each triple's statement."""
        found = self.graph.qualifiers(triples)
        self.log.add_qualifiers(dict(zip(triples, found, strict=True)))
        return found


def facts_of(graph: KnowledgeGraph) -> dict[str, Any]:
    """Describe an open graph, as far as a snapshot needs it."""
    driver: Any = getattr(graph, "driver", graph)
    meaning = driver.meaning() if hasattr(driver, "meaning") else None
    return {
        "source": graph.source(),
        "version": str(getattr(driver, "version", "")),
        "schema": schema_facts(graph.schema()),
        "names": bool(getattr(meaning, "names", False)),
    }


def schema_facts(schema: Schema) -> dict[str, Any]:
    """Write a schema as plain data."""
    return {
        name: dict(sorted(value.items())) if isinstance(value, Mapping) else list(value)
        for name, value in attrs.asdict(schema, recurse=False).items()
    }
