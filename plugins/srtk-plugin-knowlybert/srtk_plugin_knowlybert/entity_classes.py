"""Classes of entities, and the classes that are expected at an end of a relation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from srtk_framework.graph import TripleTable
from srtk_framework.values import Schema, Step


def entity_classes(table: TripleTable, schema: Schema) -> dict[str, frozenset[str]]:
    """Read the classes of entities by the type and subclass relations of a graph (KnowlyBERT, section 3.3).

    The classes of an entity are its types and the direct superclasses of those; an entity without a type has its own
    superclasses and theirs.

    Returns:
        Classes by entity, for entities with a class.
    """
    types, above = _objects(table, schema.type_relations), _objects(table, schema.subclass_relations)
    found = {}
    for id_ in types.keys() | above.keys():
        own = types.get(id_) or above.get(id_, set())
        found[id_] = frozenset(own.union(*(above.get(one, set()) for one in own)))
    return found


def expected_classes(counts: Mapping[str, int], share: float) -> frozenset[str]:
    """Return the classes that are frequent beside the most frequent class.

    Args:
        counts: Number of fillers by class.
        share: A class is expected if its number is more than this share of the greatest; none after the first that is
            not.
    """
    most = max(counts.values(), default=0)
    return frozenset(one for one, count in counts.items() if count > share * most)


def fillers(table: TripleTable, step: Step) -> list[str]:
    """Return the entities at the far end of a step, for each of its triples."""
    number = table.relation_numbers.get(step.relation)
    if number is None:
        return []
    column = 0 if step.inverse else 2
    return [table.entities[one] for one in table.of_relation(number)[:, column].tolist()]


def _objects(table: TripleTable, relations: Iterable[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for relation in relations:
        number = table.relation_numbers.get(relation)
        if number is not None:
            for subject, _, object_ in table.named(table.of_relation(number)):
                found.setdefault(subject, set()).add(str(object_))
    return found
