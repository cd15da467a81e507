"""The graph of people, whose paths are known by hand."""

from __future__ import annotations

import pytest

from srtk_framework.graph import TripleTable
from srtk_framework.values import Triple

PEOPLE = [
    *(Triple(person, "born_in", "riga") for person in ("ann", "bob", "eve")),
    *(Triple(person, "born_in", "oslo") for person in ("cid", "dan")),
    Triple("riga", "city_of", "latvia"),
    Triple("oslo", "city_of", "norway"),
    *(Triple(person, "nationality", "latvia") for person in ("ann", "bob")),
    *(Triple(person, "nationality", "norway") for person in ("cid", "dan")),
    *(Triple(person, "works_in", "latvia") for person in ("ann", "cid")),
    *(Triple(person, "profession", "actor") for person in ("ann", "cid")),
    *(Triple(person, "profession", "singer") for person in ("bob", "dan")),
]


@pytest.fixture(scope="session")
def people() -> TripleTable:
    return TripleTable.from_triples(PEOPLE)
