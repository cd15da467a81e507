"""What a graph's relations and nodes mean."""

from __future__ import annotations

from collections.abc import Mapping

import attrs


@attrs.frozen
class Schema:
    """What a graph's relations and nodes mean to algorithms that care.

    Attributes:
        type_relations: Relations from an entity to its class.
        subclass_relations: Relations from a class to its superclass.
        mediators: Patterns (``fnmatch``) of ids of nodes that only hold a statement together.
        noise: Patterns of ids of relations that answer no question.
        prefixes: Short prefix to namespace IRI, for export as RDF.
    """

    type_relations: tuple[str, ...] = ()
    subclass_relations: tuple[str, ...] = ()
    mediators: tuple[str, ...] = ()
    noise: tuple[str, ...] = ()
    prefixes: Mapping[str, str] = attrs.field(factory=dict, hash=False)
