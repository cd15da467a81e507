"""The entities and the gold paths of a question, out of its SPARQL over DBpedia or Wikidata."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from srtk_framework.values import Link, Path, Step
from srtk_plugin_datasets.files import link
from srtk_plugin_datasets.ids import DBPEDIA, WIKIDATA, name_of, shortened
from srtk_plugin_datasets.query import read_query

_DIRECT = "http://www.wikidata.org/prop/direct/"
_TYPES = (_DIRECT + "P31", _DIRECT + "P279")
_SPACES = {"ontology": "http://dbpedia.org/ontology/", "property": "http://dbpedia.org/property/"}


@attrs.frozen
class Asked:
    """What a query asks.

    Attributes:
        form: ``select``, ``count`` or ``ask``.
        entities: Id and name (empty where the IRI tells none) of each; classes only where there is nothing else.
        paths: Relation paths from an entity to the answer, or None where they are not understood.
    """

    form: str
    entities: tuple[tuple[str, str], ...]
    paths: tuple[Path, ...] | None


def asked(sparql: str, prefixes: Mapping[str, str] | None, relations: str = "written") -> Asked:
    """Read a query and write its ids short.

    Args:
        sparql: The query.
        prefixes: As ``ids.shortened`` takes them.
        relations: ``written``; or ``ontology`` or ``property`` to put all of DBpedia's properties into one namespace.
    """
    query = read_query(sparql, _TYPES)
    known = [iri for iri in query.constants if iri.startswith((DBPEDIA, WIKIDATA))]
    named = [iri for iri in known if iri not in query.classes] or known
    paths = query.paths()

    def short(relation: str) -> str:
        space = next((s for s in _SPACES.values() if relation.startswith(s)), None)
        if space is not None and relations in _SPACES:
            relation = _SPACES[relations] + relation[len(space) :]
        return shortened(relation, prefixes)

    return Asked(
        form=query.form,
        entities=tuple((shortened(iri, prefixes), name_of(iri)) for iri in named),
        paths=None if paths is None else tuple(tuple(Step(short(s.relation), s.inverse) for s in p) for p in paths),
    )


def linked(found: Asked, text: str) -> tuple[Link, ...]:
    """Make links of the entities, with their place where the text has their name, or the name without its brackets."""
    return tuple(link(entity, name, text, name.partition(" (")[0]) for entity, name in found.entities)
