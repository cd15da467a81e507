"""Conversion of Freebase, Wikidata and DBpedia ids of question sets to the short ids of a graph."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal
from urllib.parse import unquote

from srtk_framework.text import NAMESPACES

# Form of ids: ``m.02mjmr``, ``people.person.children`` as in RDF; or ``/m/02mjmr``, ``/people/person/children``.
FreebaseIds = Literal["dot", "slash"]

FREEBASE, WIKIDATA, DBPEDIA = (NAMESPACES[prefix] for prefix in ("ns", "wd", "dbr"))

_SPACES = (
    (WIKIDATA, ""),
    (NAMESPACES["wdt"], ""),
    *((NAMESPACES[prefix], f"{prefix}:") for prefix in ("dbr", "dbo", "dbp", "rdf", "rdfs")),
)
_MID = re.compile(r"[mg][./][0-9a-z_]+")  # Topics and mediators; relations and types have other names.


def freebase(id_: str, form: FreebaseIds) -> str:
    """Convert the id of a Freebase entity or relation to one form."""
    bare = id_.removeprefix(FREEBASE).removeprefix("www.freebase.com/").removeprefix("fb:").strip("/").replace("/", ".")
    return bare if form == "dot" else "/" + bare.replace(".", "/")


def is_freebase_entity(iri: str) -> bool:
    """Return whether an IRI is a Freebase topic or mediator, not a relation or type."""
    return iri.startswith(FREEBASE) and bool(_MID.fullmatch(iri[len(FREEBASE) :]))


def shortened(iri: str, prefixes: Mapping[str, str] | None) -> str:
    """Shorten an IRI by its longest namespace, or to the default short ids if ``prefixes`` is None."""
    spaces = _SPACES if prefixes is None else tuple((space, f"{p}:" if p else "") for p, space in prefixes.items())
    for space, short in sorted(spaces, key=lambda item: (-len(item[0]), item[1])):
        if iri.startswith(space) and len(iri) > len(space):
            return short + iri[len(space) :]
    return iri


def name_of(iri: str) -> str:
    """Return the title in a DBpedia IRI; empty for other IRIs."""
    return unquote(iri[len(DBPEDIA) :]).replace("_", " ") if iri.startswith(DBPEDIA) else ""
