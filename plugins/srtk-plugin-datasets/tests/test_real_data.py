"""The drivers on the real files of the public formats, where they are; each claim is checked on a real graph."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from srtk_plugin_datasets.facts import Facts, read_triples
from srtk_plugin_datasets.lcquad import LCQuAD
from srtk_plugin_datasets.mintaka import Mintaka
from srtk_plugin_datasets.qald import QALD
from srtk_plugin_datasets.records import Records
from srtk_plugin_datasets.rog import RoG
from srtk_plugin_datasets.simplequestions import SimpleQuestions
from srtk_plugin_datasets.wc2014 import WorldCup2014
from srtk_plugin_datasets.webnlg import read_webnlg, webnlg_files

from srtk_framework.values import Literal, Step

ROOT = Path(__file__).parents[3]
DATA = Path(os.environ.get("SRTK_DATA", ROOT.parent / "shared" / "data"))


def real(name: str) -> str:
    if not (DATA / name).exists():
        pytest.skip(f"no {name} in the data folder; set SRTK_DATA")
    return str(DATA / name)


@pytest.mark.parametrize(("part", "count"), [("1-hop", 6482), ("2-hop", 1472)])
def test_the_gold_paths_of_wc2014_reach_exactly_the_answers(part: str, count: int) -> None:
    folder = real("wc2014")
    facts = Facts(read_triples(Path(f"{folder}/WC2014.txt")))
    questions = list(WorldCup2014(folder, kind=part).read())  # type: ignore[arg-type]
    assert len(questions) == count
    for question in questions:
        (link,), (path,) = question.links, question.gold_paths or ()
        assert question.text[link.start : link.end] == link.entity
        assert facts.reached(link.entity, path) == set(question.answers or ())
        assert question.gold_triples


@pytest.mark.slow
def test_the_gold_paths_of_lcquad_reach_all_answers_in_dbpedia() -> None:
    graph = real("dbpedia/derived/dbp15k_en_union.tsv.gz")
    facts = Facts(read_triples(Path(graph)))
    path = real("dbpedia/derived/lcquad1_in_dbp15k_union.jsonl")
    questions = list(LCQuAD(path, prefixes={}, relations="property").read())
    assert len(questions) > 200
    for question in questions:
        reached = [facts.reached(link.entity, path) for link in question.links for path in question.gold_paths or ()]
        assert set(question.answers or ()) <= set().union(*reached)


@pytest.mark.parametrize(("split", "count", "linked", "walked"), [("train", 408, 366, 329), ("test", 150, 138, 131)])
def test_qald9_gives_entities_paths_and_answers(split: str, count: int, linked: int, walked: int) -> None:
    questions = list(QALD(real("dbpedia/qald9"), split=split).read())
    assert len(questions) == count
    assert sum(bool(question.links) for question in questions) == linked
    assert sum(question.gold_paths is not None for question in questions) == walked
    assert all(question.answers is not None or "answer_values" in question.extra for question in questions)
    assert len(list(QALD(real("dbpedia/qald9"), split=split, language="de").read())) == count


@pytest.mark.parametrize("language", ["en", "ar", "de", "es", "fr", "hi", "it", "ja", "pt"])
def test_mintaka_is_read_in_each_of_its_languages(language: str) -> None:
    questions = list(Mintaka(real("wikidata_qa/mintaka"), language=language).read())  # type: ignore[arg-type]
    assert len(questions) == 2000
    assert all(question.text for question in questions)
    links = [(question, link) for question in questions for link in question.links]
    assert len(links) > 2800
    assert all((link.start is not None) == (language == "en") for _, link in links)
    assert sum(bool(question.answers) for question in questions) == 1419
    if language == "en":
        assert all(question.text[link.start : link.end] for question, link in links)


@pytest.mark.parametrize(
    ("split", "answerable", "count"),
    [("train", False, 34374), ("train", True, 19481), ("valid", False, 4867), ("valid", True, 2821)],
)
def test_simplequestions_of_wikidata_is_read_whole(split: str, answerable: bool, count: int) -> None:
    folder = real("wikidata_qa/simplequestions_wd")
    questions = list(SimpleQuestions(folder, graph="wikidata", split=split, answerable=answerable).read())
    assert len(questions) == count
    for question in questions:
        ((step,),), (triple,) = question.gold_paths or (), question.gold_triples or ()
        ends = (triple.object, triple.subject) if step.inverse else (triple.subject, triple.object)
        assert ends == (question.links[0].entity, (question.answers or ())[0])


@pytest.mark.slow
def test_the_inverse_relations_of_simplequestions_are_those_of_codex() -> None:
    files = [real(f"codex/codex-m/{part}.txt") for part in ("train", "valid", "test")]
    facts = Facts(triple for file in files for triple in read_triples(Path(file)))
    folder = real("wikidata_qa/simplequestions_wd")
    questions = list(SimpleQuestions(folder, graph="wikidata", split="train").read())
    triples = {triple for question in questions for triple in question.gold_triples or ()}
    found = [t for t in triples if t in facts.read([t.subject], Step(t.relation))]
    assert len(found) > 300


def test_the_gold_paths_of_rog_are_read() -> None:
    questions = list(RoG(real("freebase_qa/rog_paths/webqsp_train.jsonl")).read())
    assert len(questions) == 2826
    assert sum(question.gold_paths is not None for question in questions) == 2708
    assert "prediction" not in questions[0].extra


def test_the_labelled_triples_of_subgraphrag_join_cwq_by_id() -> None:
    labelled = real("freebase_qa/subgraphrag/cwq_test_labelled_triples.jsonl")
    questions = list(RoG(real("fb15k237/derived/cwq_test_reachable.jsonl"), gold_triples=labelled).read())
    assert sum(question.gold_triples is not None for question in questions) > 500


def test_records_that_name_their_topics_otherwise_are_linked() -> None:
    path = real("wiki27k/derived/mintaka_reachable.jsonl")
    questions = list(Records(path, entities_field="topic_entities").read())
    assert all(question.links and question.answers for question in questions)


def test_webnlg_has_its_triples_and_texts() -> None:
    files = webnlg_files(Path(real("webnlg")), ("train", "dev"))
    entries = [entry for file in files for entry in read_webnlg(file)]
    triples = {triple for entry in entries for triple in entry.triples}
    assert sum(len(entry.texts) for entry in entries) == 39890
    assert len(triples) == 3874
    assert sum(not isinstance(triple.object, Literal) for triple in triples) == 2743
    assert len({entry.id for entry in entries}) == len(entries)
