"""Algorithms over any graph: hop loop, traversal, path search, triples along paths, defaults of graph hooks."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from srtk_framework.graph.graph_defaults import degrees, match, neighbourhood
from srtk_framework.graph.hop_loop import EXHAUSTED, stopping_reader
from srtk_framework.graph.instance import Instance, PathKey
from srtk_framework.graph.path_facts import (
    facts,
    finish,
    instances,
    instances_among,
    path_order,
    paths_within,
)
from srtk_framework.graph.path_instances import gold_triples_of, instance_triples, names_of, with_gold_triples
from srtk_framework.graph.path_search import find_paths, follow_path, path_sort_key
from srtk_framework.graph.question_ids import with_own_ids
from srtk_framework.graph.score_unit import relative_scores, unit_of
from srtk_framework.graph.surroundings import connections, neighbours, unknown_entities
from srtk_framework.graph.traversal import Reached, follow_within, frontier_batches, within_nodes

if TYPE_CHECKING:
    from srtk_framework.graph.path_arrays import NumberedInstances
    from srtk_framework.graph.signatures import Signatures
    from srtk_framework.graph.triple_table import TripleTable, candidate_numbers

from srtk_framework.graph.question_ids import is_value, with_ids_among, with_ids_of_result

__all__ = [
    "EXHAUSTED",
    "Instance",
    "NumberedInstances",
    "PathKey",
    "Reached",
    "Signatures",
    "TripleTable",
    "candidate_numbers",
    "connections",
    "degrees",
    "facts",
    "find_paths",
    "finish",
    "follow_path",
    "follow_within",
    "frontier_batches",
    "gold_triples_of",
    "instance_triples",
    "instances",
    "instances_among",
    "is_value",
    "match",
    "names_of",
    "neighbourhood",
    "neighbours",
    "path_order",
    "path_sort_key",
    "paths_within",
    "relative_scores",
    "stopping_reader",
    "unit_of",
    "unknown_entities",
    "with_gold_triples",
    "with_ids_among",
    "with_ids_of_result",
    "with_own_ids",
    "within_nodes",
]

# Names with their files that are imported when first used, since numpy makes the command line start slowly.
_LATER = {
    "NumberedInstances": "path_arrays",
    "Signatures": "signatures",
    "TripleTable": "triple_table",
    "candidate_numbers": "triple_table",
}

if not TYPE_CHECKING:  # a type checker would take any name for a public one

    def __getattr__(name: str) -> Any:
        """Import a name of ``_LATER``."""
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
