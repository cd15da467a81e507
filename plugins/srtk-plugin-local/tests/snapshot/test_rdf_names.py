"""What the entities and relations of RDF files are called."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_local.snapshot.build import build
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.graph import LocalGraph

from srtk_framework.values import Pattern

HEAD = """@prefix : <http://ex.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xl: <http://www.w3.org/2008/05/skos-xl#> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix schema: <http://schema.org/> .
@prefix dc: <http://purl.org/dc/elements/1.1/> .
@prefix shop: <https://shop.example/v7/> .
"""


def made(folder: Path, text: str, name: str = "a.ttl", **settings: Any) -> LocalGraph:
    (folder / name).write_text(HEAD + text if name.endswith("ttl") else text)
    built = build(BuildSettings(files=(str(folder / name),), **settings), folder / "out")
    graph = LocalGraph(str(built.folder))
    graph.open()
    return graph


def facts(graph: LocalGraph) -> list[str]:
    [triples] = graph.match([Pattern()])
    return [" ".join(graph.labels([t.subject, t.relation, t.object])) for t in triples]


@pytest.mark.parametrize("relation", ["rdfs:label", "skos:prefLabel", "foaf:name", "schema:name", "dc:title"])
def test_each_naming_relation_gives_the_label_and_is_no_fact(tmp_path: Path, relation: str) -> None:
    graph = made(tmp_path, f':h7 {relation} "Harbour" ; :broader :w1 . :w1 {relation} "Waterworks" .')
    assert facts(graph) == ["Harbour broader Waterworks"]
    assert graph.find(["harbour"]) == [["http://ex.org/h7"]]


def test_the_best_naming_relation_gives_the_label_and_the_others_aliases(tmp_path: Path) -> None:
    graph = made(tmp_path, ':h7 dc:title "A page" ; skos:prefLabel "Hafen"@de ; foaf:nick "Port" ; :in :w1 .')
    assert graph.labels(["http://ex.org/h7"]) == ["Hafen"]
    assert graph.other_names(["http://ex.org/h7"]) == [["A page", "Port"]]
    assert graph.find(["a page", "port"]) == [["http://ex.org/h7"]] * 2


def test_the_best_language_counts_within_a_relation(tmp_path: Path) -> None:
    graph = made(tmp_path, ':h7 skos:prefLabel "Hafen"@de, "Harbour"@en ; dc:title "Aa"@en ; :in :w1 .')
    assert graph.labels(["http://ex.org/h7"]) == ["Harbour"]


def test_a_naming_relation_to_an_entity_stays_a_fact(tmp_path: Path) -> None:
    graph = made(tmp_path, ":book dc:title :headline .")
    assert facts(graph) == ["book title headline"]


def test_a_label_of_skos_xl_is_the_text_of_its_node(tmp_path: Path) -> None:
    graph = made(tmp_path, ':h7 xl:prefLabel :l1 ; :in :w1 . :l1 xl:literalForm "Harbour"@en .')
    assert facts(graph) == ["Harbour in http://ex.org/w1"]


def test_chosen_label_relations_are_the_only_ones(tmp_path: Path) -> None:
    graph = made(tmp_path, ':h7 :code "H" ; foaf:name "Harbour" .', label_relations=("http://ex.org/code",))
    assert facts(graph) == ["H name Harbour"]


def test_a_table_keeps_its_facts_whatever_its_relations_are_called(tmp_path: Path) -> None:
    graph = made(tmp_path, 'a\thttp://xmlns.com/foaf/0.1/name\t"Ada"@en\n', name="a.tsv")
    assert facts(graph) == ["a name Ada"]


def test_an_entity_without_label_is_found_and_shown_by_its_local_name(tmp_path: Path) -> None:
    graph = made(tmp_path, ":ChairLeg rdfs:subClassOf :Furniture_Part . :Q42 :knows :ChairLeg .")
    assert facts(graph) == ["Chair Leg subClassOf Furniture Part", "http://ex.org/Q42 knows Chair Leg"]
    assert graph.find(["chair leg", "furniture part"]) == [
        ["http://ex.org/ChairLeg"],
        ["http://ex.org/Furniture_Part"],
    ]


def test_a_real_name_wins_over_a_local_name(tmp_path: Path) -> None:
    graph = made(tmp_path, ':London :in :x1 . :x1 rdfs:label "London" ; :in :x2 . :Riga :in :x2 .')
    assert graph.find(["london", "riga"]) == [["http://ex.org/x1"], ["http://ex.org/Riga"]]


def test_no_name_carries_a_prefix(tmp_path: Path) -> None:
    prefixes = {"dbr": "http://dbpedia.org/resource/"}
    row = "http://dbpedia.org/resource/BBC_HD\tnetwork\thttp://dbpedia.org/resource/1984\n"
    for names in (None, True):
        graph = made(tmp_path, row, name="a.tsv", prefixes=prefixes, names=names)
        assert facts(graph) == ["BBC HD network 1984"]
        assert graph.find(["BBC HD", "dbr:BBC_HD"]) == [["dbr:BBC_HD"]] * 2


def test_a_relation_without_a_word_is_shown_by_the_prefix_of_its_file(tmp_path: Path) -> None:
    assert facts(made(tmp_path, ":Ada shop:P31 :Person .")) == ["Ada shop:P31 Person"]
    line = "<http://ex.org/Ada> <http://www.wikidata.org/prop/direct/P31> <http://ex.org/Person> .\n"
    assert facts(made(tmp_path, line, name="b.nt")) == ["Ada wdt:P31 Person"]


def test_where_few_entities_have_names_a_relation_that_looks_like_one_is_told(tmp_path: Path) -> None:
    rows = "".join(f'shop:{n} shop:heading "Heading {n}x" ; shop:kind "spoon"@en ; shop:size {n} .\n' for n in range(9))
    (tmp_path / "a.ttl").write_text(HEAD + rows)
    settings = BuildSettings(files=(str(tmp_path / "a.ttl"),))
    [report] = build(settings, tmp_path / "out").meta.build["reading"]
    assert report["notes"] == [
        "0 of 9 entities have a name, the others are called by their ids; https://shop.example/v7/heading looks like "
        "a name: --label-relation https://shop.example/v7/heading"
    ]


def test_three_texts_make_a_relation_look_like_a_name(tmp_path: Path) -> None:
    for count, told in ((3, True), (2, False)):
        rows = "".join(f'shop:{n} shop:heading "Heading {n}x" ; shop:size {n} .\n' for n in range(count))
        (tmp_path / "a.ttl").write_text(HEAD + rows)
        [report] = build(BuildSettings(files=(str(tmp_path / "a.ttl"),)), tmp_path / "out").meta.build["reading"]
        assert ("looks like a name" in str(report["notes"])) == told


def test_where_neither_labels_nor_iris_name_the_entities_it_is_told(tmp_path: Path) -> None:
    for text, told in ((":Q1 :knows :Q2 .", True), (":Ada :knows :Bo .", False)):
        (tmp_path / "a.ttl").write_text(HEAD + text)
        [report] = build(BuildSettings(files=(str(tmp_path / "a.ttl"),)), tmp_path / "out").meta.build["reading"]
        assert any("0 of 2 entities have a name" in note for note in report["notes"]) == told


def test_where_most_entities_have_names_nothing_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text(HEAD + ':a rdfs:label "Ada" ; :knows :b . :b foaf:name "Bo" .')
    [report] = build(BuildSettings(files=(str(tmp_path / "a.ttl"),)), tmp_path / "out").meta.build["reading"]
    assert report["notes"] == []
