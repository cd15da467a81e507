"""Schema of a graph: relations and nodes with a special meaning."""

from __future__ import annotations

from collections.abc import Mapping

import attrs


@attrs.frozen
class Schema:
    """Relations and nodes that algorithms treat specially.

    Attributes:
        type_relations: Relations from an entity to its class.
        subclass_relations: Relations from a class to its superclass.
        mediators: Patterns (``fnmatch``) for the ids of mediator nodes, which represent n-ary statements.
        noise: Patterns for the ids of administrative relations, which answer no question.
        symmetric: Relations whose triples have no direction, or none that is known; each is in the graph once.
        prefixes: Namespace prefix to IRI; with them, ``text.iri_of`` turns ids into IRIs.
        relations: All relations, where the graph can list them; empty where it cannot.
        tables: For each source table of the graph, the relations that its rows' entities alone may have; its name is
            the kind of its rows.
    """

    type_relations: tuple[str, ...] = ()
    subclass_relations: tuple[str, ...] = ()
    mediators: tuple[str, ...] = ()
    noise: tuple[str, ...] = ()
    symmetric: tuple[str, ...] = ()
    prefixes: Mapping[str, str] = attrs.field(factory=dict, hash=False)
    relations: tuple[str, ...] = attrs.field(default=(), repr=False)
    tables: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict, hash=False)
