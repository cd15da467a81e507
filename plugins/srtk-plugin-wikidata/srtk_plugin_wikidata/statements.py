"""Qualifiers of facts, from their statements."""

from __future__ import annotations

from collections.abc import Sequence

from srtk_plugin_sparql import terms
from srtk_plugin_sparql.step_reader import StepReader

from srtk_framework.values import Literal, Qualifier, Triple
from srtk_plugin_wikidata.queries import Fact, WikidataQueries
from srtk_plugin_wikidata.vocabulary import Spaces


def qualifiers(
    reader: StepReader, queries: WikidataQueries, spaces: Spaces, triples: Sequence[Triple]
) -> list[tuple[Qualifier, ...]]:
    """Read the qualifiers of all best-rank statements of each triple, sorted and distinct."""
    facts = {triple: fact for triple in triples if (fact := _fact(reader, spaces, triple)) is not None}
    rows = reader.ask_all(facts.values(), queries.qualifiers, "?n ?s ?o ?q ?v") if facts else []
    found: dict[Triple, set[Qualifier]] = {}
    for row in rows:
        subject, relation = reader.ids.short(row["n"].value), row["s"].value[len(spaces.value) :]
        pair = row["q"].value[len(spaces.qualifier) :], _end(reader, row["v"])
        found.setdefault(Triple(subject, relation, _end(reader, row["o"])), set()).add(pair)
    return [tuple(sorted(found.get(triple, ()))) for triple in triples]


def _fact(reader: StepReader, spaces: Spaces, triple: Triple) -> Fact | None:
    """Return a triple in the form of the query, or None if it cannot have statements."""
    subject, relation = reader.ids.iri(triple.subject), reader.ids.iri(triple.relation)
    if subject is None or relation is None or not relation.startswith(spaces.direct + "P"):
        return None
    object_ = _written(reader, triple.object)
    return (subject, relation[len(spaces.direct) :], object_) if object_ is not None else None


def _written(reader: StepReader, end: str) -> str | None:
    if not isinstance(end, Literal):
        iri = reader.ids.iri(end)
        return None if iri is None else terms.iri(iri)
    try:
        return terms.literal(end)
    except ValueError:
        return None


def _end(reader: StepReader, term: terms.Term) -> str:
    return reader.ids.short(term.value) if term.kind == "iri" else term.literal()
