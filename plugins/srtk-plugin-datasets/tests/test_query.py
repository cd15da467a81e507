"""What is read out of SPARQL, and what is left unknown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_datasets.query import read_query, shortest_paths

from srtk_framework.values import Path, Step, Triple

WDT = "http://www.wikidata.org/prop/direct/"


def paths(text: str) -> list[str] | None:
    found = read_query(text, [WDT + "P31", WDT + "P279"]).paths()
    return None if found is None else [" ".join(str(step).replace(WDT, "") for step in path) for path in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT ?x WHERE { wd:Q1 wdt:P1 ?x }", ["P1"]),
        ("SELECT ?x { ?x wdt:P1 wd:Q1 ; wdt:P2 wd:Q2, wd:Q3 . }", ["^P1", "^P2"]),
        ("SELECT ?x { wd:Q1 wdt:P1/^wdt:P2 ?x }", ["P1 ^P2"]),
        ("SELECT ?x { { wd:Q1 wdt:P1 ?x } UNION { wd:Q1 wdt:P2 ?y . ?y wdt:P3 ?x } }", ["P1", "P2 P3"]),
        ("SELECT ?x { wd:Q1 wdt:P1 ?x OPTIONAL { ?x wdt:P2 wd:Q2 } FILTER(?x != wd:Q1) }", ["P1"]),
        ("SELECT ?x { wd:Q1 wdt:P1 ?x . FILTER NOT EXISTS { ?x wdt:P2 wd:Q2 } } ORDER BY ?x LIMIT 1", ["P1"]),
        ("SELECT ?x { wd:Q1 p:P39 ?s . ?s ps:P39 ?x ; pq:P580 ?t . }", ["P39"]),
        ("SELECT ?x { ?x wdt:P31/wdt:P279* wd:Q5 . ?x wdt:P1 wd:Q1 }", ["^P1"]),
        ("SELECT ?x { ?x wdt:P31 wd:Q5 }", None),
        ("SELECT ?x { wd:Q1 wdt:P1+ ?x }", None),
        ("SELECT ?x { wd:Q1 (wdt:P1|wdt:P2) ?x }", None),
        ("SELECT ?x { wd:Q1 ?p ?x }", None),
        ("SELECT ?x { { SELECT ?x { wd:Q1 wdt:P1 ?x } LIMIT 1 } }", None),
        ("ASK { wd:Q1 wdt:P1 wd:Q2 }", None),
        ("SELECT ?x { wd:Q1 wdt:P1 ?x", None),
        ("", None),
    ],
)
def test_the_paths_of_a_query_are_read_or_left_unknown(text: str, expected: list[str] | None) -> None:
    assert paths(text) == expected


def test_a_query_that_is_not_understood_still_names_its_entities() -> None:
    query = read_query("SELECT ?x { wd:Q1 (wdt:P1|wdt:P2) ?x . ?x wdt:P3 wd:Q2 FILTER(?x != wd:Q9) }")
    assert query.branches is None
    assert [iri for iri in query.constants if "/entity/" in iri] == [
        "http://www.wikidata.org/entity/Q1",
        "http://www.wikidata.org/entity/Q2",
    ]


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("SELECT DISTINCT COUNT(?u) WHERE { ?u <http://e/p> <http://e/o> }", "count"),
        ("SELECT ?u (COUNT(?v) AS ?n) WHERE { ?u <http://e/p> ?v }", "select"),
        ("ASK WHERE { <http://e/s> <http://e/p> <http://e/o> }", "ask"),
    ],
)
def test_the_form_of_a_query_is_told(text: str, form: str) -> None:
    assert read_query(text).form == form


def test_a_path_leads_through_no_other_constant() -> None:
    assert paths("SELECT ?x { wd:Q1 wdt:P1 wd:Q2 . wd:Q2 wdt:P2 ?x }") == ["P2"]


@given(st.text(max_size=60))
def test_no_text_makes_the_reader_fail(text: str) -> None:
    assert read_query(text).form in ("select", "count", "ask")
    assert read_query("SELECT ?x WHERE { " + text).form in ("select", "count")


NODES = st.sampled_from("abcd")
TRIPLES = st.lists(st.builds(Triple, NODES, st.sampled_from("rs"), NODES), max_size=6)


@given(TRIPLES)
def test_every_path_found_leads_to_the_end_and_none_is_shorter(triples: list[Triple]) -> None:
    found = shortest_paths(triples, "a", "d")

    def reached(path: Path) -> set[str]:
        nodes = {"a"}
        for step in path:
            ends = [
                (t.object, t.subject) if step.inverse else (t.subject, t.object)
                for t in triples
                if t.relation == step.relation
            ]
            nodes = {far for near, far in ends if near in nodes}
        return nodes

    assert all("d" in reached(path) for path in found)
    assert len({len(path) for path in found}) <= 1
    if found and len(found[0]) > 1:
        assert all("d" not in reached((Step(r, i),)) for r in "rs" for i in (False, True))
