"""A trained embedding: vectors, the ids that they stand for, and the graph that they were learnt from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path as FilePath
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.records import beside, read_model, write_model
from srtk_plugin_embedding.scoring import KINDS, Kind, entity_scores, query_vectors, relation_width

_FORMAT = "srtk-embedding-1"
_FILE = "embedding.json"

# Queries of a matrix product. A smaller batch is filled up: a library may sum a product of another shape in another
# order, and then the last bits of a score would depend on the batch.
BLOCK = 32

Scores = npt.NDArray[np.float64]


@attrs.frozen(eq=False)
class EmbeddingModel:
    """Vectors of entities and relations.

    Attributes:
        kind: The scoring function.
        entities: Ids of the entities, sorted.
        relations: Ids of the relations, sorted.
        entity_vectors: float32 [entities, d].
        relation_vectors: float32 [2 * relations, ``relation_width``]: first of the forward steps, then of the inverse.
        graph: Hash of the graph's triples; see ``content_hash``.
        trained_on: Hash of the triples that it learnt from: the graph's without the held-out facts.
        training: Settings and figures of the training.
    """

    kind: Kind
    entities: tuple[str, ...]
    relations: tuple[str, ...]
    entity_vectors: npt.NDArray[np.float32] = attrs.field(repr=False)
    relation_vectors: npt.NDArray[np.float32] = attrs.field(repr=False)
    graph: str
    trained_on: str
    training: Mapping[str, Any] = attrs.field(factory=dict)

    @cached_property
    def entity_numbers(self) -> Mapping[str, int]:
        """Number of each entity by id."""
        return {id_: number for number, id_ in enumerate(self.entities)}

    @cached_property
    def relation_numbers(self) -> Mapping[str, int]:
        """Number of each relation by id."""
        return {id_: number for number, id_ in enumerate(self.relations)}

    @cached_property
    def _wide(self) -> Scores:
        return self.entity_vectors.astype(np.float64)

    def scores(self, ends: npt.NDArray[np.integer], steps: npt.NDArray[np.integer]) -> Scores:
        """Score all entities as fillers of at most ``BLOCK`` queries, in float64.

        Args:
            ends: Numbers of the bound ends [n].
            steps: Numbers of the relations [n]; for an open subject, the relation's number + the number of relations.

        Returns:
            Array [n, entities]; higher is better.
        """
        filled = np.zeros((2, BLOCK), dtype=np.int64)
        filled[:, : len(ends)] = ends, steps
        queries = query_vectors(
            np, self.kind, self._wide[filled[0]], self.relation_vectors[filled[1]].astype(np.float64)
        )
        found: Scores = entity_scores(np, self.kind, queries, self._wide)[: len(ends)]
        return found

    @cached_property
    def _digest(self) -> str:
        facts = {name: value for name, value in self._facts().items() if name != "training"}
        digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
        for vectors in (self.entity_vectors, self.relation_vectors):
            digest.update(np.ascontiguousarray(vectors, dtype="<f4").tobytes())
        return digest.hexdigest()[:24]

    def fingerprint(self) -> str:
        """Identify the scoring function, the ids, the graph and the weights."""
        return self._digest

    def save(self, folder: FilePath) -> None:
        """Write ``embedding.safetensors`` and ``embedding.json``."""
        from safetensors.numpy import save

        vectors = {"entities": self.entity_vectors, "relations": self.relation_vectors}
        weights = save({name: np.ascontiguousarray(values) for name, values in vectors.items()})
        write_model(folder / _FILE, self._facts(), {"embedding.safetensors": weights})

    @classmethod
    def load(cls, folder: FilePath) -> EmbeddingModel:
        """Read an embedding that ``save`` wrote.

        Raises:
            DriverError: If a file is missing, damaged, or not part of an embedding.
        """
        from safetensors.numpy import load_file

        file = folder / _FILE

        def parse(data: Any) -> EmbeddingModel:
            if data["format"] != _FORMAT:
                raise ValueError(f"its format is {data['format']}, not {_FORMAT}")
            vectors = load_file(beside(file, data, "embedding.safetensors"))
            kind, entities, relations = data["model"], tuple(data["entities"]), tuple(data["relations"])
            width = vectors["entities"].shape[-1]
            shapes = (len(entities), width), (2 * len(relations), relation_width(kind, width))
            if kind not in KINDS or (vectors["entities"].shape, vectors["relations"].shape) != shapes:
                raise ValueError("its vectors do not fit its ids")
            return cls(
                kind,
                entities,
                relations,
                vectors["entities"],
                vectors["relations"],
                data["graph"],
                data["trained_on"],
                data["training"],
            )

        return read_model(file, "embedding", parse)

    def _facts(self) -> dict[str, Any]:
        return {
            "format": _FORMAT,
            "model": self.kind,
            "graph": self.graph,
            "trained_on": self.trained_on,
            "training": dict(self.training),
            "entities": list(self.entities),
            "relations": list(self.relations),
        }
