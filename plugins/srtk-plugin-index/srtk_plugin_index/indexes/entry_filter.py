"""The entries of an index that a search may find."""

from __future__ import annotations

import attrs

from srtk_framework.values import Entry


@attrs.frozen
class EntryFilter:
    """Passes an entry that has, in each given field, any of the values; by default all entries.

    Attributes:
        ids: Its id.
        relations: A relation of its triples.
        entities: A subject or object of its triples, or an entity that its text mentions.
    """

    ids: list[str] | None = None
    relations: list[str] | None = None
    entities: list[str] | None = None

    def __bool__(self) -> bool:
        """Return whether it may stop an entry."""
        return any(wanted is not None for wanted in (self.ids, self.relations, self.entities))

    def passes(self, entry: Entry) -> bool:
        """Return whether a search may find the entry."""
        ends = {end for triple in entry.triples for end in (triple.subject, triple.object)}
        fields = (
            (self.ids, {entry.id}),
            (self.relations, {triple.relation for triple in entry.triples}),
            (self.entities, ends | {mention.entity for mention in entry.mentions}),
        )
        return all(wanted is None or not values.isdisjoint(wanted) for wanted, values in fields)
