"""The triples of a retrieval, each with what its columns and its path say of it."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from srtk_framework.values import DriverError, Literal, Qualifier, RankedPath, Retrieval, Triple


@attrs.frozen
class Fact:
    """A triple of a subgraph.

    Attributes:
        place: Its place among the triples, from 0.
        triple: The triple.
        score: Its score, or None.
        path: The best path that led to it, or None.
        source: Where it was read; may be empty.
        confidence: Below 1 if the graph lacks it.
        qualifiers: The qualifiers of its statement.
    """

    place: int
    triple: Triple
    score: float | None
    path: RankedPath | None
    source: str
    confidence: float
    qualifiers: tuple[Qualifier, ...]

    @property
    def steps(self) -> str | None:
        """The steps of the path as one text, or None."""
        return None if self.path is None else " ".join(str(step) for step in self.path.steps)

    @property
    def qualified(self) -> str | None:
        """The qualifiers as JSON, or None."""
        return json.dumps(self.qualifiers, ensure_ascii=False) if self.qualifiers else None


def facts(retrieval: Retrieval) -> Iterator[Fact]:
    """Yield the triples of a retrieval, best first."""
    found = retrieval.subgraph
    for i, triple in enumerate(found.triples):
        columns: dict[str, Any] = {name: column[i] for name in found.COLUMNS if i < len(column := getattr(found, name))}
        at = columns.get("path_of", -1)
        yield Fact(
            place=i,
            triple=triple,
            score=columns.get("scores"),
            path=found.paths[at] if at >= 0 else None,
            source=columns.get("provenance", ""),
            confidence=columns.get("confidences", 1.0),
            qualifiers=columns.get("qualifiers", ()),
        )


def named(id_: str, labels: Mapping[str, str]) -> str | None:
    """Return the label of an id, or the value of a literal; None where there is none."""
    return id_.lexical if isinstance(id_, Literal) else labels.get(id_)


def nodes(retrieval: Retrieval) -> list[str]:
    """Return the entities and literals of the triples, each once, in their order."""
    triples = retrieval.subgraph.triples
    return list(dict.fromkeys(end for triple in triples for end in (triple.subject, triple.object)))


def library(name: str, install: str) -> Any:
    """Import a library that an exporter writes with.

    Raises:
        DriverError: If it is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise DriverError(f"{name.partition('.')[0]} is not installed; run: pip install {install}") from error
