"""Every dataset of the plugin keeps the contract of a dataset."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from srtk_plugin_datasets.cwq import CWQ
from srtk_plugin_datasets.elevant import Elevant
from srtk_plugin_datasets.gtsqa import GTSQA
from srtk_plugin_datasets.lama import LAMA
from srtk_plugin_datasets.lcquad import LCQuAD
from srtk_plugin_datasets.link_prediction import WN18RR, CoDEx, FB15k237, Kinship
from srtk_plugin_datasets.metaqa import MetaQA
from srtk_plugin_datasets.mintaka import Mintaka
from srtk_plugin_datasets.multiple_choice import PIQA, CommonsenseQA, OpenBookQA, SocialIQA
from srtk_plugin_datasets.nell995 import NELL995
from srtk_plugin_datasets.pathquestion import PathQuestion
from srtk_plugin_datasets.patterns import Patterns
from srtk_plugin_datasets.qald import QALD
from srtk_plugin_datasets.records import Records
from srtk_plugin_datasets.rog import RoG
from srtk_plugin_datasets.simplequestions import SimpleQuestions
from srtk_plugin_datasets.wc2014 import WorldCup2014
from srtk_plugin_datasets.webnlg import WebNLG
from srtk_plugin_datasets.webqsp import WebQSP

from srtk_framework.records import dumps, record_from_question
from srtk_framework.testing.dataset import DatasetConformance
from srtk_framework.values import InputError, Question

NUMBERS = [-1, 7, 0.5, 10**400, float("inf")]
TEXTS = ["", "x", "\0", "\ud800", "Q1", '"', "^r", "(", "SELECT", "SELECT ?x WHERE { ?x "]
HOLDERS = [[], [[]], {}, [None], ["x", 1], {"x": None}, {"results": 5}, [{"results": [1]}], [0, 1], [5, 2]]
ODD = st.sampled_from([None, True, *NUMBERS, *TEXTS, *HOLDERS])
PIECES = st.sampled_from([*"\t|#[]()/\n{},\0x ", '"', "<end>", ""])


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the keys that lead to each value inside of a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


def changed(data: Any, text: str) -> str:
    """Draw a change of a file: of one value, where it is JSON or JSON Lines, or else of its characters."""
    kind = data.draw(st.sampled_from(["value", "key", "text"]))
    rows = text.splitlines() if not is_json(text) else [text]
    row = data.draw(st.integers(0, len(rows) - 1))
    if kind == "text" or not is_json(rows[row]):
        start = data.draw(st.integers(0, len(text)))
        return text[:start] + data.draw(PIECES) + text[start + data.draw(st.integers(0, 9)) :]
    value = copy.deepcopy(json.loads(rows[row]))
    path = data.draw(st.sampled_from(list(places(value))))
    holder = value
    for key in path[:-1]:
        holder = holder[key]
    if kind == "key":
        del holder[path[-1]]
    else:
        holder[path[-1]] = data.draw(ODD)
    return "\n".join([*rows[:row], json.dumps(value), *rows[row + 1 :]]) + "\n"


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


class Changed:
    """Checks that a reader takes any change of its files, or refuses it with the place."""

    def test_a_changed_file_is_read_or_refused_with_its_place(self, driver: Any, tmp_path: Path) -> None:
        files = {file: file.read_text(encoding="utf-8") for file in sorted(tmp_path.rglob("*")) if file.is_file()}

        @settings(max_examples=100, deadline=None)
        @given(st.data())
        def check(data: st.DataObject) -> None:
            file = data.draw(st.sampled_from(list(files)))
            file.write_bytes(changed(data, files[file]).encode("utf-8", "surrogatepass"))
            wrong = self.read(driver, tmp_path)
            file.write_text(files[file], encoding="utf-8")
            assert not wrong

        check()

    def read(self, driver: Any, folder: Path) -> str:
        """Read all questions and write them again; return an error that names no place in a file."""
        try:
            for question in driver.read():
                assert isinstance(question, Question)
                dumps(record_from_question(question))
        except InputError as error:
            return "" if re.match(re.escape(str(folder)) + r"[^:]*(:\d+|: row \d+|:)", str(error)) else str(error)
        return ""


def lines(path: Path, *texts: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(text + "\n" for text in texts), encoding="utf-8")


class TestMetaQA(Changed, DatasetConformance):
    name = "metaqa"

    @pytest.fixture
    def driver(self, tmp_path: Path) -> Any:
        lines(tmp_path / "1-hop/qa_dev.txt", "who made [Dusk]\tAnn", 'what did [Ann "A"] make\tDawn|Dusk')
        lines(tmp_path / "1-hop/qa_dev_qtype.txt", "movie_to_director", "director_to_movie")
        lines(tmp_path / "kb.txt", "Dusk|directed_by|Ann", 'Dawn|directed_by|Ann "A"')
        return MetaQA(path=str(tmp_path), hops=1)

    @pytest.fixture
    def faulty(self, tmp_path: Path) -> Any:
        return MetaQA(path=str(tmp_path / "none"))

    @pytest.fixture
    def broken(self, driver: Any, tmp_path: Path) -> Any:
        lines(tmp_path / "1-hop/qa_dev.txt", "who made Dusk\tAnn", "who made [Dusk]\tAnn")
        return driver


class TestPathQuestion(Changed, DatasetConformance):
    name = "pathquestion"

    @pytest.fixture
    def driver(self, tmp_path: Path) -> Any:
        lines(tmp_path / "PQ-2H.txt", "nation of ann 's mate ?\tperu(peru/)\tann#spouse#bob#nation#peru#<end>#peru")
        lines(tmp_path / "2H-kb.txt", "ann\tspouse\tbob", "bob\tnation\tperu")
        return PathQuestion(path=str(tmp_path))

    @pytest.fixture
    def faulty(self, tmp_path: Path) -> Any:
        return PathQuestion(path=str(tmp_path / "none"))

    @pytest.fixture
    def broken(self, driver: Any, tmp_path: Path) -> Any:
        lines(tmp_path / "PQ-2H.txt", "a question")
        return driver


class TestRecords(Changed, DatasetConformance):
    name = "jsonl"

    @pytest.fixture
    def driver(self, tmp_path: Path) -> Any:
        lines(tmp_path / "q.jsonl", '{"id": "a", "question": "Who?", "question_entities": ["X"], "level": [1]}')
        return Records(path=str(tmp_path / "q.jsonl"))

    @pytest.fixture
    def faulty(self, tmp_path: Path) -> Any:
        return Records(path=str(tmp_path / "none.jsonl"))

    @pytest.fixture
    def broken(self, driver: Any, tmp_path: Path) -> Any:
        lines(tmp_path / "q.jsonl", '{"id": "a", "question": "Who?"}', '{"id": "b"')
        return driver


class OfPatterns(Changed):
    """Checks each of the three kinds of files."""

    file: str
    good: str
    bad: str

    @pytest.fixture
    def driver(self, tmp_path: Path) -> Any:
        (tmp_path / self.file).write_text(self.good, encoding="utf-8")
        return Patterns(path=str(tmp_path / self.file))

    @pytest.fixture
    def faulty(self, tmp_path: Path) -> Any:
        return Patterns(path=str(tmp_path / "none.tsv"))

    @pytest.fixture
    def broken(self, driver: Any, tmp_path: Path) -> Any:
        (tmp_path / self.file).write_text(self.bad, encoding="utf-8")
        return driver


class TestPatternTables(OfPatterns, DatasetConformance):
    name = "patterns"
    file = "facts.tsv"
    good = "ann\tspouse\tbob\n?\tspouse\tann\n"
    bad = "ann\tspouse\tbob\nann\tspouse\n"


class TestPatternRecords(OfPatterns, DatasetConformance):
    name = "patterns"
    file = "facts.jsonl"
    good = '{"id": "a", "pattern": ["ann", "spouse", null], "answer_entities": ["bob"]}\n'
    bad = '{"id": "a", "pattern": ["ann", "spouse", null]}\n{"id": "b"'


class TestPatternQueries(OfPatterns, DatasetConformance):
    name = "patterns"
    file = "facts.rq"
    good = "SELECT ?x WHERE { <urn:ann> <urn:spouse> ?x }\nSELECT ?x WHERE { ?x <urn:spouse> <urn:ann> }\n"
    bad = "SELECT ?x WHERE { <urn:ann> <urn:spouse> ?x }\nSELECT ?x WHERE {"


class OfOneFile(Changed):
    """A driver over one file; its faulty twin looks for a file that is not there."""

    cls: Any
    file: str
    good: str
    bad: str
    settings: ClassVar[dict[str, Any]] = {}

    @pytest.fixture
    def driver(self, tmp_path: Path) -> Any:
        (tmp_path / self.file).write_text(self.good, encoding="utf-8")
        return self.cls(path=str(tmp_path), **self.settings)

    @pytest.fixture
    def faulty(self, tmp_path: Path) -> Any:
        return self.cls(path=str(tmp_path / "none"))

    @pytest.fixture
    def broken(self, driver: Any, tmp_path: Path) -> Any:
        (tmp_path / self.file).write_text(self.bad, encoding="utf-8")
        return driver


class TestWorldCup2014(OfOneFile, DatasetConformance):
    name = "wc2014"
    cls = WorldCup2014
    file = "WC-P1.txt"
    good = "who plays for Peru ?\tANN\tPeru#has_player#ANN#<end>#ANN\tANN/BEA/\tANN#aged#20\n"
    bad = good + "who ?\tANN\tPeru\tANN/\n"
    settings: ClassVar[dict[str, Any]] = {"gold_triples": False}


class TestRoG(OfOneFile, DatasetConformance):
    name = "rog"
    cls = RoG
    file = "test.jsonl"
    good = (
        '{"id": "WebQTest-0", "question": "who made \\"Dusk\\"", "q_entity": ["Dusk"], "a_entity": ["Ann"],'
        ' "answer": ["Ann"], "graph": [["Dusk", "film.film.directed_by", "Ann"]], "choices": []}\n'
    )
    bad = good + '{"id": "WebQTest-1", "question": "who", "q_entity": 7}\n'


class TestWebQSP(OfOneFile, DatasetConformance):
    name = "webqsp"
    cls = WebQSP
    file = "WebQSP.test.json"
    good = json.dumps(
        {
            "Version": "1.0",
            "Questions": [
                {
                    "QuestionId": "WebQTest-0",
                    "RawQuestion": "who did Ann marry?",
                    "ProcessedQuestion": "who did ann marry",
                    "Parses": [
                        {
                            "PotentialTopicEntityMention": "ann",
                            "TopicEntityName": "Ann Lee",
                            "TopicEntityMid": "m.0a",
                            "InferentialChain": ["people.person.spouse_s", "people.marriage.spouse"],
                            "Constraints": [],
                            "Answers": [{"AnswerType": "Entity", "AnswerArgument": "m.0b", "EntityName": "Bob"}],
                        }
                    ],
                }
            ],
        },
        indent=1,
    )
    bad = '{"Questions": [\n{"QuestionId": "a", "RawQuestion": "b", "Parses": 3}]}'


class TestCWQ(OfOneFile, DatasetConformance):
    name = "cwq"
    cls = CWQ
    file = "ComplexWebQuestions_dev.json"
    good = json.dumps(
        [
            {
                "ID": "WebQTrn-1_a",
                "question": "Which state?",
                "sparql": "SELECT ?x WHERE { ?c ns:a.b.c ns:m.0a . ?c ns:a.b.d ?x . }",
                "answers": [{"answer_id": "m.0b", "answer": "Ohio", "aliases": []}],
                "created": "2018-02-13",
            }
        ]
    )
    bad = '[{"ID": "a", "question": "b"},\n{"ID": "b", "question": null}]'


class TestSimpleQuestions(OfOneFile, DatasetConformance):
    name = "simplequestions"
    cls = SimpleQuestions
    file = "annotated_fb_data_valid.txt"
    good = "www.freebase.com/m/04w\twww.freebase.com/book/work/subjects\twww.freebase.com/m/01c\twhat is e about\n"
    bad = good + "www.freebase.com/m/04w\tQ1\tP2\twhat\n"


class TestLCQuAD(OfOneFile, DatasetConformance):
    name = "lcquad1"
    cls = LCQuAD
    file = "train-data.json"
    good = json.dumps(
        [
            {
                "_id": "1701",
                "corrected_question": "Who owns Dusk (film)?",
                "sparql_query": "SELECT ?uri WHERE { <http://dbpedia.org/resource/Dusk_(film)>"
                " <http://dbpedia.org/property/owner> ?uri }",
                "sparql_template_id": 1,
            }
        ]
    )
    bad = '[\n{"_id": "1", "corrected_question": "x"}]'


class TestQALD(OfOneFile, DatasetConformance):
    name = "qald"
    cls = QALD
    file = "qald_10.json"
    good = json.dumps(
        {
            "questions": [
                {
                    "id": "1",
                    "question": [{"language": "en", "string": "Who is it?"}],
                    "query": {"sparql": "SELECT ?x WHERE { wd:Q1 wdt:P2 ?x }"},
                    "answers": [
                        {
                            "head": {"vars": ["x"]},
                            "results": {
                                "bindings": [{"x": {"type": "uri", "value": "http://www.wikidata.org/entity/Q3"}}]
                            },
                        }
                    ],
                }
            ]
        }
    )
    bad = '{"questions": [\n{"id": "1", "question": "x"}]}'


class TestMintaka(OfOneFile, DatasetConformance):
    name = "mintaka"
    cls = Mintaka
    file = "mintaka_dev.json"
    good = json.dumps(
        [
            {
                "id": "a",
                "question": "Who wrote Dusk?",
                "translations": {"de": "Wer schrieb Dusk?"},
                "questionEntity": [
                    {"name": "Q1", "entityType": "entity", "label": "Dusk", "mention": "Dusk", "span": [10, 14]}
                ],
                "answer": {"answerType": "entity", "answer": [{"name": "Q2", "label": "Ann"}], "mention": "Ann"},
                "complexityType": "generic",
            }
        ]
    )
    bad = '[{"id": "a", "question": "x",\n"questionEntity": [{"entityType": "entity", "name": "Q1", "span": [1]}]}]'


class TestElevant(OfOneFile, DatasetConformance):
    name = "elevant"
    cls = Elevant
    file = "few.benchmark.jsonl"
    good = (
        '{"id": 1, "text": "Ann met Bo.", "evaluation_span": [0, 11], "labels": '
        '[{"id": 0, "span": [0, 3], "entity_id": "Q1", "name": "Ann"}]}\n'
    )
    bad = good + '{"id": 2, "text": "Ann", "labels": [{"id": 0, "span": [0, 9], "entity_id": "Q1", "name": "Ann"}]}\n'


class TestGTSQA(OfOneFile, DatasetConformance):
    name = "gtsqa"
    cls = GTSQA
    file = "test.jsonl"
    good = (
        '{"id": 1, "question": "Who made Dusk?", "seed_entities": ["Dusk (Q1)"], "answer_node": "Ann (Q2)",'
        ' "answer_subgraph": [["Dusk (Q1)", "director (P57)", "Ann (Q2)"]], "n_hops": 1}\n'
    )
    bad = good + '{"id": 2, "question": "Who?", "seed_entities": ["Dusk"], "answer_node": "Ann (Q2)"}\n'


class OfFacts(OfOneFile):
    file = "train.txt"
    good = "riga\tcapital of\tlatvia\nriga\tnear\tjurmala\n"
    bad = good + "riga\tcapital of\n"
    settings: ClassVar[dict[str, Any]] = {"part": "train"}


class TestFB15k237(OfFacts, DatasetConformance):
    name = "fb15k237"
    cls = FB15k237


class TestWN18RR(OfFacts, DatasetConformance):
    name = "wn18rr"
    cls = WN18RR


class TestKinship(OfFacts, DatasetConformance):
    name = "kinship"
    cls = Kinship


class TestCoDEx(OfFacts, DatasetConformance):
    name = "codex"
    cls = CoDEx
    file = "codex-m/train.txt"

    @pytest.fixture
    def driver(self, tmp_path: Path) -> Any:
        lines(tmp_path / self.file, *self.good.splitlines())
        return CoDEx(path=str(tmp_path), part="train")


class TestNELL995(OfOneFile, DatasetConformance):
    name = "nell995"
    cls = NELL995
    file = "tasks/plays/sort_test.pairs"
    good = "thing$ann,thing$chess: +\nthing$ann,thing$golf: -\nthing$bob,thing$golf: +\n"
    bad = good + "thing$bob,thing$golf\n"

    @pytest.fixture
    def driver(self, tmp_path: Path) -> Any:
        lines(tmp_path / self.file, *self.good.splitlines())
        return NELL995(path=str(tmp_path))


class TestWebNLG(OfOneFile, DatasetConformance):
    name = "webnlg"
    cls = WebNLG
    file = "en/train/1triples/City.xml"
    good = (
        '<benchmark><entries><entry category="City" eid="Id1"><modifiedtripleset><mtriple>Riga | country | Latvia'
        "</mtriple></modifiedtripleset><lex>Riga, Latvia.</lex></entry></entries></benchmark>"
    )
    bad = good.replace("country | ", "")

    @pytest.fixture
    def driver(self, tmp_path: Path) -> Any:
        lines(tmp_path / self.file, self.good)
        return WebNLG(path=str(tmp_path), hidden=1.0)


class TestLAMA(OfOneFile, DatasetConformance):
    name = "lama"
    cls = LAMA
    file = "pararel/trex_lms_vocab/P17.jsonl"
    good = '{"sub_label": "Riga", "obj_label": "Latvia"}\n{"sub_label": "Oslo", "obj_label": "Norway"}\n'
    bad = good + '{"sub_label": "Bonn"}\n'

    @pytest.fixture
    def driver(self, tmp_path: Path) -> Any:
        lines(tmp_path / "relations.jsonl", '{"relation": "P17", "template": "[X] is in [Y] .", "label": "country"}')
        lines(tmp_path / self.file, *self.good.splitlines())
        return LAMA(path=str(tmp_path), hidden=1.0)


def instructions(*answers: str) -> str:
    """Return a list of instructions of two options, with their gold answers."""
    text = (
        "Please choose the correct answer to the question: What burns?\n\nAnswer1: dry wood Answer2: wet sand\n\n"
        "Answer format: answer1/answer2"
    )
    rows = [{"instruction": text, "input": "", "output": f"it is {answer}", "answer": answer} for answer in answers]
    return json.dumps(rows, indent=1) + "\n"


class TestOpenBookQA(OfOneFile, DatasetConformance):
    name = "openbookqa"
    cls = OpenBookQA
    file = "test.json"
    good = instructions("answer1", "answer2")
    bad = instructions("answer1", "answer3")


class TestPIQA(OfOneFile, DatasetConformance):
    name = "piqa"
    cls = PIQA
    file = "test.json"
    good = instructions("solution1", "solution2").replace("Answer1", "Solution1").replace("Answer2", "Solution2")
    good = good.replace("correct answer", "correct solution").replace("answer1/answer2", "solution1/solution2")
    bad = good.replace("Solution2", "Solution1")


class TestSocialIQA(OfOneFile, DatasetConformance):
    name = "socialiqa"
    cls = SocialIQA
    file = "test.json"
    good = instructions("answer1", "answer2")
    bad = good.replace("wet sand", "dry wood")


class TestCommonsenseQA(OfOneFile, DatasetConformance):
    name = "commonsenseqa"
    cls = CommonsenseQA
    file = "dev_rand_split.jsonl"
    good = (
        '{"id": "a", "question": "What burns?", "question_concept": "burn",'
        ' "choices": {"label": ["A", "B"], "text": ["dry wood", "wet sand"]}, "answerKey": "A"}\n'
    )
    bad = good + good.replace('"a"', '"b"').replace('"answerKey": "A"', '"answerKey": "C"')


class TestCommonsenseQAWithStem(OfOneFile, DatasetConformance):
    name = "commonsenseqa"
    cls = CommonsenseQA
    file = "dev_rand_split.jsonl"
    good = (
        '{"id": "a", "question": {"stem": "What burns?", "question_concept": "burn", "choices":'
        ' [{"label": "A", "text": "dry wood"}, {"label": "B", "text": "wet sand"}]}, "answerKey": "A"}\n'
    )
    bad = good + good.replace('"a"', '"b"').replace('"label": "B"', '"label": "A"')
