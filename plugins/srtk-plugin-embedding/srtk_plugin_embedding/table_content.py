"""Content of a triple table: without entities and relations that no triple has, and its hash."""

from __future__ import annotations

import hashlib
import json

import numpy as np

from srtk_framework.graph import TripleTable


def compact(table: TripleTable) -> TripleTable:
    """Return the same triples with only those entities and relations that some triple has, numbered anew in order."""
    triples = table.triples
    entities, relations = np.unique(triples[:, ::2]), np.unique(triples[:, 1])
    rows = np.empty_like(triples)
    rows[:, ::2] = np.searchsorted(entities, triples[:, ::2])
    rows[:, 1] = np.searchsorted(relations, triples[:, 1])
    return TripleTable(
        tuple(table.entities[number] for number in entities.tolist()),
        tuple(table.relations[number] for number in relations.tolist()),
        rows,
    )


def content_hash(table: TripleTable) -> str:
    """Return a hash of the triples of a compact table: equal for equal triples, whatever graph holds them."""
    digest = hashlib.sha256(json.dumps([table.entities, table.relations]).encode())
    digest.update(np.ascontiguousarray(table.triples, dtype="<i4").tobytes())
    return digest.hexdigest()[:32]
