"""Algorithms over any graph: hop loop, traversal, path search, triples along paths, defaults of graph hooks."""

from __future__ import annotations

from srtk_framework.graph.graph_defaults import degrees, match, neighbourhood
from srtk_framework.graph.hop_loop import run_hops
from srtk_framework.graph.path_facts import (
    Instance,
    PathKey,
    facts,
    finish,
    instances,
    path_order,
    paths_within,
    reaching,
)
from srtk_framework.graph.path_instances import gold_triples_of, instance_triples, names_of, with_gold_triples
from srtk_framework.graph.path_search import find_paths, follow_path, path_sort_key
from srtk_framework.graph.reader_stop import ANSWERED, EXHAUSTED, READER, SECONDS, stopping_reader
from srtk_framework.graph.traversal import Reached, follow_within, frontier_batches, within_nodes

__all__ = [
    "ANSWERED",
    "EXHAUSTED",
    "READER",
    "SECONDS",
    "Instance",
    "PathKey",
    "Reached",
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
    "match",
    "names_of",
    "neighbourhood",
    "path_order",
    "path_sort_key",
    "paths_within",
    "reaching",
    "run_hops",
    "stopping_reader",
    "with_gold_triples",
    "within_nodes",
]
