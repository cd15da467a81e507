"""The recipe for Freebase, run on a small store, and the same run on a snapshot seen through a view."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from srtk_framework.cli import main

ROOT = Path(__file__).parents[3]
NS = "http://rdf.freebase.com/ns/"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
EDGES = """
m.02mjmr people.person.sibling_s m.0cvt1
m.0cvt1 people.sibling_relationship.sibling m.02mjmr
m.0cvt1 people.sibling_relationship.sibling m.0sis1
m.02mjmr people.person.sibling_s m.0cvt2
m.0cvt2 people.sibling_relationship.sibling m.0sis2
m.02mjmr people.person.place_of_birth m.0town
m.02mjmr common.topic.image m.0pic
m.02mjmr type.object.type people.person
m.0town location.location.containedby m.0state
m.09l3p film.actor.film m.0cvt3
m.0cvt3 film.performance.film m.0film1
m.0cvt3 film.performance.character m.0role
m.09l3p film.actor.film g.11cvt4
g.11cvt4 film.performance.film m.0film2
m.0film1 film.film.directed_by m.0director
"""
NAMES = {
    "m.02mjmr": "Barack Obama",
    "m.0sis1": "First Sister",
    "m.0sis2": "Second Sister",
    "m.0town": "Town",
    "m.0state": "State",
    "m.0pic": "Picture",
    "m.09l3p": "Natalie Portman",
    "m.0film1": "First Film",
    "m.0film2": "Second Film",
    "m.0role": "Role",
    "m.0director": "Director",
    "people.person": "Person",
}


@pytest.fixture
def triples(tmp_path: Path) -> Path:
    rows = [row.split() for row in EDGES.strip().splitlines()]
    lines = [f"<{NS}{s}> <{NS}{r}> <{NS}{o}> .\n" for s, r, o in rows]
    lines += [f'<{NS}{id_}> <{LABEL}> "{name}"@en .\n' for id_, name in NAMES.items()]
    (tmp_path / "part.nt").write_text("".join(lines))
    return tmp_path / "part.nt"


def run(out: Path, *sets: str) -> dict[str, Any]:
    arguments = ["run", str(ROOT / "recipes" / "freebase.yaml"), "--quiet"]
    questions = ROOT / "recipes" / "files" / "freebase-questions.jsonl"
    for value in (f"vars.out={out}", f"vars.questions={questions}", *sets):
        arguments += ["--set", value]
    assert main(arguments) == 0
    lines = (out / "subgraphs.jsonl").read_text(encoding="utf-8").splitlines()
    return {record["id"]: record for record in map(json.loads, lines)}


def test_the_recipe_runs_on_a_small_store_and_on_a_snapshot_alike(triples: Path, tmp_path: Path) -> None:
    assert main(["graph", "load", "--out", str(tmp_path / "store"), str(triples)]) == 0
    found = run(
        tmp_path / "out", f"vars.endpoint={tmp_path / 'store'}", f"knowledge_graph.cache={tmp_path / 'answers.db'}"
    )
    siblings = found["siblings"]["triplets"]
    sibling = "people.person.sibling_s..people.sibling_relationship.sibling"
    assert [sibling in row for row in siblings].count(True) == 2
    assert ["m.02mjmr", sibling, "m.0sis1"] in siblings
    assert not any(
        "cvt" in text or "image" in text for record in found.values() for row in record["triplets"] for text in row
    )
    film = ["m.09l3p", "film.actor.film..film.performance.film", "m.0film1"]
    at = found["films"]["triplets"].index(film)
    assert found["films"]["qualifiers"][at] == [["film.performance.character", "m.0role"]]

    snapshot = {
        "use": "mediated",
        "hidden": ["common.*", "freebase.*", "kg.*", "type.*", "user.*"],
        "graph": {
            "use": "local",
            "path": str(tmp_path / "snapshot"),
            "build": {
                "files": [str(triples)],
                "prefixes": {"": NS},
                "type_relations": ["type.object.type"],
                "noise": ["type.object.type"],
            },
        },
    }
    again = run(tmp_path / "again", f"knowledge_graph={json.dumps(snapshot)}")
    assert found["born"]["question_entities"] == ["m.02mjmr"], "/m/02mjmr has the spelling of the graph"
    for record in (*found.values(), *again.values()):
        del record["provenance"]
    assert again == found
