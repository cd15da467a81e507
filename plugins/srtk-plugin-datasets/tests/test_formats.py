"""Public formats: files of the shape of the real ones, field by field."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from srtk_plugin_datasets.cwq import CWQ
from srtk_plugin_datasets.files import link, read_records
from srtk_plugin_datasets.gtsqa import GTSQA
from srtk_plugin_datasets.lcquad import LCQuAD
from srtk_plugin_datasets.mintaka import Mintaka
from srtk_plugin_datasets.qald import QALD
from srtk_plugin_datasets.records import Records
from srtk_plugin_datasets.rog import RoG
from srtk_plugin_datasets.simplequestions import SimpleQuestions
from srtk_plugin_datasets.wc2014 import WorldCup2014
from srtk_plugin_datasets.webqsp import WebQSP

from srtk_framework.values import InputError, Link, Question, Step, Triple


def only(driver: Any) -> Question:
    (question,) = driver.read()
    assert isinstance(question, Question)
    return question


def written(path: Path, value: Any) -> str:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1), encoding="utf-8")
    return str(path)


# WorldCup2014


def test_wc2014_gives_all_answers_and_every_triple_that_leads_to_them(tmp_path: Path) -> None:
    (tmp_path / "WC2014.txt").write_text(
        "Peru\thas_player\tANN\nPeru\thas_player\tBEA\nANN\tin_club\tFC\nBEA\tin_club\tSC\n", encoding="utf-8"
    )
    (tmp_path / "WC-P2.txt").write_text(
        "clubs of Peru ?\tFC\tPeru#has_player#ANN#in_club#FC\tFC/SC/\tANN#in_club#FC\n", encoding="utf-8"
    )
    question = only(WorldCup2014(str(tmp_path), kind="2-hop"))
    assert question.links == (Link("Peru", 1.0, 9, 13, "Peru"),)
    assert question.answers == ("FC", "SC")
    assert question.gold_paths == ((Step("has_player"), Step("in_club")),)
    assert len(question.gold_triples or ()) == 4


def test_a_conjunctive_question_of_wc2014_has_two_topics_and_the_triples_of_both(tmp_path: Path) -> None:
    (tmp_path / "WC2014.txt").write_text(
        "Peru\thas_player\tANN\nPeru\thas_player\tBEA\nForward\tis_position_of\tANN\n", encoding="utf-8"
    )
    (tmp_path / "WC-C.txt").write_text(
        "which Forward is from Peru ?\tANN\tForward#is_position_of#ANN*Peru#has_player#ANN\tANN/\t\n", encoding="utf-8"
    )
    question = only(WorldCup2014(str(tmp_path), kind="conjunctive"))
    assert [link.entity for link in question.links] == ["Forward", "Peru"]
    assert question.gold_triples == (Triple("Forward", "is_position_of", "ANN"), Triple("Peru", "has_player", "ANN"))


# RoG


ROG = {
    "id": "WebQTest-0",
    "question": "what does jamaican people speak",
    "answer": ["Jamaican English"],
    "q_entity": ["Jamaica"],
    "a_entity": ["Jamaican English"],
    "graph": [["Jamaica", "location.country.languages_spoken", "Jamaican English"]],
    "choices": [],
}


def parquet(path: Path, rows: list[Mapping[str, Any]]) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path)


def test_rog_reads_the_parquet_parts_of_a_split_in_order(tmp_path: Path) -> None:
    parquet(tmp_path / "data" / "test-00001-of-00002-b.parquet", [{**ROG, "id": "WebQTest-1"}])
    parquet(tmp_path / "data" / "test-00000-of-00002-a.parquet", [ROG])
    parquet(tmp_path / "data" / "train-00000-of-00001-c.parquet", [{**ROG, "id": "WebQTrn-0"}])
    questions = list(RoG(str(tmp_path)).read())
    assert [question.id for question in questions] == ["WebQTest-0", "WebQTest-1"]
    assert questions[0].links == (Link("Jamaica", name="Jamaica"),)
    assert questions[0].answers == ("Jamaican English",)
    assert questions[0].extra == {"topic_entities": ["Jamaica"], "answer_names": ["Jamaican English"]}


def test_rog_takes_gold_paths_and_triples_from_files_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "test.jsonl"
    path.write_text(json.dumps(ROG) + "\n", encoding="utf-8")
    paths, triples = tmp_path / "paths.jsonl", tmp_path / "triples.jsonl"
    paths.write_text(json.dumps({"id": "WebQTest-0", "ground_paths": [["a.b"], ["a.b", "c.d"], ["a.b"]]}))
    triples.write_text(json.dumps({"id": "WebQTest-0", "triples": ROG["graph"]}))
    question = only(RoG(str(path), gold_paths=str(paths), gold_triples=str(triples)))
    assert question.gold_paths == ((Step("a.b"),), (Step("a.b"), Step("c.d")))
    assert question.gold_triples == (Triple("Jamaica", "location.country.languages_spoken", "Jamaican English"),)


def test_what_rog_does_not_say_is_not_known(tmp_path: Path) -> None:
    path = written(tmp_path / "test.json", [{"id": 3, "question": "what", "ground_paths": []}])
    assert only(RoG(path)) == Question("3", "what")


# WebQSP and CWQ


def webqsp(tmp_path: Path, *parses: Mapping[str, Any]) -> str:
    record = {
        "QuestionId": "WebQTrn-196",
        "RawQuestion": "who did Ben play in Megamind?",
        "ProcessedQuestion": "who did ben play in megamind",
        "Parses": parses,
    }
    return written(tmp_path / "WebQSP.train.json", {"Version": "1.0", "FreebaseVersion": "x", "Questions": [record]})


PARSE = {
    "Sparql": "SELECT ...",
    "PotentialTopicEntityMention": "ben",
    "TopicEntityName": "Ben Stiller",
    "TopicEntityMid": "m.0mdqp",
    "InferentialChain": ["film.actor.film", "film.performance.character"],
    "Constraints": [{"Argument": "m.05229c_", "NodePredicate": "film.performance.film"}],
    "Answers": [{"AnswerType": "Entity", "AnswerArgument": "m.0fndhvs", "EntityName": "Bernard"}],
}


def test_webqsp_joins_the_parses_of_a_question(tmp_path: Path) -> None:
    other = {
        **PARSE,
        "PotentialTopicEntityMention": "megamind",
        "TopicEntityMid": "m.05229c_",
        "TopicEntityName": "Megamind",
        "InferentialChain": ["film.film.starring"],
        "Answers": [{"AnswerType": "Value", "AnswerArgument": "2010", "EntityName": None}],
    }
    path = webqsp(tmp_path, PARSE, other)
    question = only(WebQSP(path))
    assert question.links == (
        Link("m.0mdqp", start=8, end=11, name="Ben Stiller"),
        Link("m.05229c_", start=20, end=28, name="Megamind"),
    )
    assert question.answers == ("m.0fndhvs", "2010")
    assert question.gold_paths == (
        (Step("film.actor.film"), Step("film.performance.character")),
        (Step("film.film.starring"),),
    )
    assert question.extra["answer_names"] == ["Bernard"]
    assert len(question.extra["constraints"]) == 2


def test_freebase_ids_can_have_slashes(tmp_path: Path) -> None:
    question = only(WebQSP(webqsp(tmp_path, PARSE), ids="slash"))
    assert question.links[0].entity == "/m/0mdqp"
    assert question.answers == ("/m/0fndhvs",)
    assert question.gold_paths == ((Step("/film/actor/film"), Step("/film/performance/character")),)


def test_a_webqsp_parse_without_a_chain_gives_no_path(tmp_path: Path) -> None:
    bare = {**PARSE, "InferentialChain": None, "TopicEntityMid": None, "Answers": []}
    question = only(WebQSP(webqsp(tmp_path, bare)))
    assert (question.links, question.gold_paths, question.answers) == ((), None, ())


CWQ_RECORD = {
    "ID": "WebQTrn-3513_7c",
    "answers": [{"aliases": ["Washington"], "answer": "Washington, D.C.", "answer_id": "m.0rh6k"}],
    "compositionality_type": "composition",
    "question": "What state is home to the university of the Colonials?",
    "sparql": "PREFIX ns: <http://rdf.freebase.com/ns/>\nSELECT DISTINCT ?x\nWHERE {\nFILTER (?x != ns:m.0other)\n"
    "?c ns:education.educational_institution.sports_teams ns:m.03d0l76 . \n"
    "?c ns:organization.organization.headquarters ?y .\n?y ns:location.mailing_address.state_province_region ?x .\n}\n",
}
CWQ_PATH = (
    Step("education.educational_institution.sports_teams", True),
    Step("organization.organization.headquarters"),
    Step("location.mailing_address.state_province_region"),
)


def test_cwq_finds_entities_and_the_path_in_the_sparql(tmp_path: Path) -> None:
    question = only(CWQ(written(tmp_path / "ComplexWebQuestions_dev.json", [CWQ_RECORD])))
    assert question.links == (Link("m.03d0l76"),)
    assert question.gold_paths == (CWQ_PATH,)
    assert question.answers == ("m.0rh6k",)
    assert question.extra["answer_names"] == ["Washington, D.C."]
    assert question.extra["compositionality_type"] == "composition"


def test_cwq_reads_the_answers_of_the_hub_and_a_test_file_without_any(tmp_path: Path) -> None:
    lists = {"aliases": [["Washington"]], "answer": ["Washington, D.C."], "answer_id": ["m.0rh6k"]}
    hub = only(CWQ(written(tmp_path / "train.json", [{**CWQ_RECORD, "answers": lists}])))
    assert hub.answers == ("m.0rh6k",)
    bare = only(CWQ(written(tmp_path / "test.json", [{"ID": "a", "question": "What?"}])))
    assert (bare.answers, bare.links, bare.gold_paths) == (None, (), None)


# SimpleQuestions


def test_simplequestions_of_freebase_and_wikidata_stand_side_by_side(tmp_path: Path) -> None:
    (tmp_path / "annotated_fb_data_valid.txt").write_text(
        "www.freebase.com/m/04w\twww.freebase.com/book/work/subjects\twww.freebase.com/m/01c\twhat is it about\n"
    )
    (tmp_path / "annotated_wd_data_valid.txt").write_text("Q12439\tR19\tQ6106580\twho was born in detroit \n")
    freebase = only(SimpleQuestions(str(tmp_path)))
    assert freebase.gold_triples == (Triple("m.04w", "book.work.subjects", "m.01c"),)
    assert only(SimpleQuestions(str(tmp_path), ids="slash")).answers == ("/m/01c",)
    wikidata = only(SimpleQuestions(str(tmp_path), graph="wikidata"))
    assert wikidata.id == "simplequestions-wd-valid-1"
    assert wikidata.text == "who was born in detroit"
    assert wikidata.links == (Link("Q12439"),)
    assert wikidata.gold_paths == ((Step("P19", True),),)
    assert wikidata.gold_triples == (Triple("Q6106580", "P19", "Q12439"),)


# LC-QuAD and QALD


LCQUAD = {
    "_id": "1701",
    "corrected_question": "Which architect of New Sanno hotel built Dusk?",
    "intermediary_question": "...",
    "sparql_query": " SELECT DISTINCT ?uri WHERE { <http://dbpedia.org/resource/Dusk_(hall)>"
    " <http://dbpedia.org/property/architect> ?uri. <http://dbpedia.org/resource/New_Sanno_Hotel>"
    " <http://dbpedia.org/ontology/tenant> ?uri . ?uri a <http://dbpedia.org/ontology/Person> } ",
    "sparql_template_id": 16,
}


def test_lcquad_links_the_entities_of_the_sparql_where_the_text_names_them(tmp_path: Path) -> None:
    question = only(LCQuAD(written(tmp_path / "train-data.json", [LCQUAD])))
    assert question.id == "1701"
    assert question.links == (
        Link("dbr:Dusk_(hall)", start=41, end=45, name="Dusk (hall)"),
        Link("dbr:New_Sanno_Hotel", start=19, end=34, name="New Sanno Hotel"),
    )
    assert question.gold_paths == ((Step("dbp:architect"),), (Step("dbo:tenant"),))
    assert question.answers is None


def test_lcquad_writes_ids_as_the_graph_has_them(tmp_path: Path) -> None:
    path = written(tmp_path / "a.json", [{**LCQUAD, "answer_entities": ["http://dbpedia.org/resource/Ann"]}])
    question = only(LCQuAD(path, prefixes={"": "http://dbpedia.org/resource/"}, relations="property"))
    assert question.answers == ("Ann",)
    assert question.gold_paths == (
        (Step("http://dbpedia.org/property/architect"),),
        (Step("http://dbpedia.org/property/tenant"),),
    )


def qald(tmp_path: Path, sparql: str, answer: Mapping[str, Any]) -> str:
    record = {
        "id": 7,
        "question": [
            {"language": "en", "string": "Who?"},
            {"language": "pt_BR", "string": "Quem?"},
            {"language": "es", "keywords": "quién"},
        ],
        "query": {"sparql": sparql},
        "answers": [answer],
        "onlydbo": True,
    }
    return written(tmp_path / "qald_10.json", {"dataset": {"id": "x"}, "questions": [record]})


def bindings(*terms: Mapping[str, str]) -> dict[str, Any]:
    return {"head": {"vars": ["x"]}, "results": {"bindings": [{"x": term} for term in terms]}}


def test_qald_reads_entities_and_typed_values_as_answers(tmp_path: Path) -> None:
    terms = (
        {"type": "uri", "value": "http://www.wikidata.org/entity/Q3"},
        {"type": "literal", "value": "1998", "datatype": "http://www.w3.org/2001/XMLSchema#gYear"},
        {"type": "literal", "value": "Rīga", "xml:lang": "lv"},
    )
    question = only(QALD(qald(tmp_path, "SELECT ?x WHERE { wd:Q1 wdt:P2/wdt:P3 ?x }", bindings(*terms))))
    assert question.id == "7"
    assert question.links == (Link("Q1"),)
    assert question.answers == ("Q3", '"1998"^^xsd:gYear', '"Rīga"@lv')
    assert question.gold_paths == ((Step("P2"), Step("P3")),)
    assert question.extra["onlydbo"] is True


def test_a_translation_without_text_leaves_a_question_out(tmp_path: Path) -> None:
    path = qald(tmp_path, "SELECT ?x WHERE { wd:Q1 wdt:P2 ?x }", bindings())
    assert list(QALD(path, language="es").read()) == []
    assert only(QALD(path, language="pt-BR")).text == "Quem?"


@pytest.mark.parametrize(
    ("sparql", "answer", "value"),
    [
        ("ASK WHERE { wd:Q1 wdt:P2 wd:Q2 }", {"head": {}, "boolean": True}, "true"),
        (
            "SELECT (COUNT(DISTINCT ?x) AS ?n) WHERE { wd:Q1 wdt:P2 ?x }",
            bindings({"type": "literal", "value": "4", "datatype": "http://www.w3.org/2001/XMLSchema#integer"}),
            "4",
        ),
    ],
)
def test_an_answer_that_is_no_node_is_carried_and_not_scored(
    tmp_path: Path, sparql: str, answer: Mapping[str, Any], value: str
) -> None:
    question = only(QALD(qald(tmp_path, sparql, answer)))
    assert question.answers is None
    assert question.extra["answer_values"] == [value]
    assert question.links


def test_a_question_that_is_not_asked_in_the_language_is_left_out(tmp_path: Path) -> None:
    path = qald(tmp_path, "SELECT ?x WHERE { wd:Q1 wdt:P2 ?x }", bindings())
    assert only(QALD(path, language="pt-br")).text == "Quem?"
    assert list(QALD(path, language="fi").read()) == []


# Mintaka


def mintaka(tmp_path: Path, answer: Mapping[str, Any]) -> str:
    record = {
        "id": "9ace",
        "question": "Who wrote the fourth Dusk?",
        "translations": {"de": "Wer schrieb?", "ja": "誰"},
        "questionEntity": [
            {"name": "Q1", "entityType": "entity", "label": "Dusk", "mention": "Dusk", "span": [21, 25]},
            {"name": 4, "entityType": "ordinal", "mention": "fourth", "span": [14, 20]},
            {"name": None, "entityType": "entity", "label": None, "mention": "Who", "span": [0, 3]},
        ],
        "answer": answer,
        "category": "books",
        "complexityType": "ordinal",
    }
    return written(tmp_path / "mintaka_dev.json", [record])


def test_mintaka_gives_spans_in_english_and_the_other_words_without(tmp_path: Path) -> None:
    answer = {
        "answerType": "entity",
        "answer": [{"name": "Q2", "label": {"en": "Ann", "de": "Anne"}}],
        "mention": "Ann",
    }
    path = mintaka(tmp_path, answer)
    question = only(Mintaka(path))
    assert question.links == (Link("Q1", start=21, end=25, name="Dusk"),)
    assert question.answers == ("Q2",)
    assert question.extra["answer_names"] == ["Ann"]
    assert question.extra["type"] == "ordinal"
    japanese = only(Mintaka(path, language="ja"))
    assert (japanese.text, japanese.links) == ("誰", (Link("Q1", name="Dusk"),))


def test_the_values_of_mintaka_are_answers_on_request_only(tmp_path: Path) -> None:
    path = mintaka(tmp_path, {"answerType": "numerical", "answer": [3], "mention": "3"})
    assert only(Mintaka(path)).answers is None
    assert only(Mintaka(path)).extra["answer_values"] == ["3"]


# GTSQA


GTSQA_RECORD = {
    "id": 40513,
    "question": "Who directed the Italian film based on `Bragelonne (book)'?",
    "paraphrased_question": "Whose film?",
    "seed_entities": ["Italy (Q38)", "Bragelonne (book) (Q769001)"],
    "answer_node": "Fernando Cerchio (Q503508)",
    "answer_subgraph": [
        ["Le Vicomte (Q3228085)", "country of origin (P495)", "Italy (Q38)"],
        ["Le Vicomte (Q3228085)", "based on (P144)", "Bragelonne (book) (Q769001)"],
        ["Le Vicomte (Q3228085)", "director (P57)", "Fernando Cerchio (Q503508)"],
    ],
    "all_answers_wikikg2": ["Q503508", "Q7"],
    "full_answer_subgraph_wikikg2": [["Q3228085", "P57", "Q503508"], ["Q8", "P57", "Q7"]],
    "n_hops": 2,
}


def test_gtsqa_gives_all_gold_or_the_one_that_the_question_was_made_of(tmp_path: Path) -> None:
    parquet(tmp_path / "gtsqa" / "test.parquet", [GTSQA_RECORD])
    question = only(GTSQA(str(tmp_path)))
    assert question.id == "40513"
    assert question.links == (
        Link("Q38", name="Italy"),
        Link("Q769001", start=40, end=57, name="Bragelonne (book)"),
    )
    assert question.answers == ("Q503508", "Q7")
    assert question.gold_triples == (Triple("Q3228085", "P57", "Q503508"), Triple("Q8", "P57", "Q7"))
    assert question.gold_paths == ((Step("P495", True), Step("P57")), (Step("P144", True), Step("P57")))
    assert question.extra["n_hops"] == 2
    one = only(GTSQA(str(tmp_path), gold="one"))
    assert (one.text, one.answers, len(one.gold_triples or ())) == (question.text, ("Q503508",), 3)


# What they share


def test_records_start_from_another_field(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text('{"id": "a", "question": "Who?", "topic_entities": ["/m/0a"]}\n', encoding="utf-8")
    assert only(Records(str(path), entities_field="topic_entities")).links == (Link("/m/0a"),)
    assert only(Records(str(path), entities_field="topic_entities", given=False)).links == ()


def test_a_json_list_may_be_compressed_and_a_fault_names_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(b'{"skip": [1],\n\n"items": [{"a": 1},\n {"b": 2}]}'))
    assert list(read_records(path, "items")) == [(f"{path}:3", {"a": 1}), (f"{path}:4", {"b": 2})]
    for text, said in (
        ('{"items": [{"a": 1},\n{"b": }]}', r"a.json:2: not valid JSON"),
        ('{"items": [{"a": 1}\n{"b": 2}]}', r"a.json:2: .*Expecting ','"),
        ('{"items": [{"a": 1},', r"a.json:1: "),
        ('{"items": {"a": 1}}', r"expected a list of objects"),
        ('{"other": []}', r"expected a list of objects, or 'items' with one"),
        ('{"items": [3]}', r"a.json:1: each item of the list must be an object"),
        ("", r"a.json:1: "),
    ):
        plain = tmp_path / "a.json"
        plain.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=said):
            list(read_records(plain, "items"))


def test_a_file_that_is_no_parquet_is_named(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "test.parquet").write_text("no", encoding="utf-8")
    with pytest.raises(InputError, match=r"test.parquet: cannot be read as Parquet"):
        list(RoG(str(tmp_path)).read())


def test_an_id_that_comes_twice_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "dev.json", [CWQ_RECORD, CWQ_RECORD])
    with pytest.raises(InputError, match=r"dev.json:\d+: id 'WebQTrn-3513_7c' was already used at .*dev.json:2"):
        list(CWQ(path).read())


def test_without_links_the_topic_entities_are_still_told(tmp_path: Path) -> None:
    question = only(CWQ(written(tmp_path / "dev.json", [CWQ_RECORD]), given=False))
    assert question.links == ()
    assert question.extra["topic_entities"] == ["m.03d0l76"]


def test_a_name_is_found_as_whole_words_only() -> None:
    assert link("x", "Ann", "Annette met ann.") == Link("x", start=12, end=15, name="Ann")
    assert link("x", "Bob", "Annette met Ann") == Link("x", name="Bob")
    assert link("x", "", "text") == Link("x")
