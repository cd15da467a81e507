import gzip
import io
import json
import tracemalloc

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from srtk_framework.records import retrieval_records
from srtk_framework.records.jsonl import dumps
from srtk_framework.records.retrieval_records import (
    QUESTION_FIELDS,
    RESULT_FIELDS,
    question_from_record,
    read_questions,
    read_retrievals,
    record_from_question,
    record_from_retrieval,
    retrieval_from_record,
)
from srtk_framework.values import (
    Answer,
    DriverError,
    Evidence,
    InputError,
    Join,
    Link,
    Literal,
    Pattern,
    Question,
    RankedPath,
    Retrieval,
    Search,
    Step,
    Subgraph,
    Triple,
    rounded,
    written_confidence,
)
from srtk_framework.values.origins import EVIDENCE_KINDS

TEXT = st.text(max_size=12)
NAME = st.text(min_size=1, max_size=12)
SCORE = st.floats(-1e6, 1e6).map(rounded)
LITERAL = st.builds(Literal.make, TEXT, st.sampled_from([None, "xsd:date"]))
STEP = st.builds(Step, NAME, st.booleans())
TRIPLE = st.builds(Triple, NAME, NAME, NAME | LITERAL)
PATH = st.lists(STEP, max_size=3).map(tuple)
JSON = st.recursive(st.none() | st.booleans() | st.integers() | TEXT, lambda x: st.lists(x) | st.dictionaries(TEXT, x))
ALL_FIELDS = {
    *QUESTION_FIELDS,
    *RESULT_FIELDS,
    "q_entity",
    "a_entity",
    "prediction",
    "triples",
    "graph",
    "scored_triples",
}
EXTRA = st.dictionaries(NAME.filter(lambda name: name not in ALL_FIELDS), JSON, max_size=3)
PATTERN = st.builds(Pattern, NAME, NAME, st.none()) | st.builds(Pattern, st.none(), NAME, NAME | LITERAL)
CONFIDENCE = st.just(1.0) | st.floats(0, 1).map(written_confidence)
EVIDENCE = st.builds(
    Evidence, st.sampled_from(EVIDENCE_KINDS), TEXT, TEXT, SCORE, st.lists(TRIPLE, max_size=2).map(tuple)
)
SPAN = st.none() | st.tuples(st.integers(0, 99), st.integers(0, 99))


def tuples(items, **sizes):
    return st.lists(items, max_size=4, **sizes).map(tuple)


@st.composite
def links(draw):
    span = draw(SPAN) or (None, None)
    return Link(draw(NAME), draw(st.floats(0, 1).map(rounded)), *span, draw(TEXT))


@st.composite
def gold_links(draw):
    """A link of score 0 need not be found; an empty entity stands for none."""
    start = draw(st.none() | st.integers(0, 99))
    end = None if start is None else start + draw(st.integers(1, 9))
    return Link(draw(NAME | st.just("")), draw(st.sampled_from([0.0, 1.0])), start, end, draw(TEXT))


@st.composite
def retrievals(draw):
    triples = tuple(draw(st.lists(TRIPLE, max_size=5, unique=True)))
    paths = draw(tuples(st.builds(RankedPath, NAME, PATH, SCORE)))

    def each(items):
        return tuple(draw(items) for _ in triples)

    pattern = draw(st.none() | PATTERN)
    question = Question(
        id=draw(TEXT),
        text=draw(TEXT),
        links=draw(tuples(links())),
        answers=draw(st.none() | tuples(NAME | LITERAL)),
        gold_paths=draw(st.none() | tuples(PATH)),
        gold_triples=draw(st.none() | tuples(TRIPLE)),
        options=draw(tuples(TEXT)),
        extra=draw(EXTRA),
        gold_links=draw(st.none() | tuples(gold_links())),
        pattern=pattern,
        candidates=() if pattern is None else draw(tuples(NAME, unique=True)),
    )
    confidences = each(CONFIDENCE)
    lacking = any(confidence < 1 for confidence in confidences)
    evidence = each(tuples(EVIDENCE)) if lacking else ()
    subgraph = Subgraph(
        triples=triples,
        scores=each(SCORE),
        paths=paths,
        path_of=each(st.integers(-1, len(paths) - 1)),
        provenance=each(TEXT),
        qualifiers=each(tuples(st.tuples(NAME, NAME | LITERAL))),
        trace=draw(EXTRA),
        confidences=confidences if lacking else (),
        evidence=evidence if any(evidence) else (),
        joins=draw(tuples(st.builds(Join, tuples(st.integers(0, len(paths) - 1)), tuples(NAME)))) if paths else (),
        expected_recall=draw(st.none() | CONFIDENCE.map(rounded)),
        searches=draw(tuples(st.builds(Search, TEXT, tuples(st.tuples(NAME, SCORE))))),
    )
    labels = draw(st.dictionaries(NAME, TEXT, max_size=3))
    support = draw(st.sets(st.integers(0, len(triples) - 1), max_size=3)) if triples else ()
    answer = draw(st.none() | st.builds(Answer, TEXT, tuples(NAME | LITERAL), st.just(tuple(sorted(support)))))
    return Retrieval(question, subgraph, answer, labels, draw(st.none() | TEXT))


@given(retrievals())
def test_a_retrieval_is_read_back_from_its_line(retrieval):
    line = dumps(record_from_retrieval(retrieval))
    assert retrieval_from_record(json.loads(line), "x:1") == retrieval


def test_the_fields_of_a_result_are_in_a_fixed_order():
    question = Question(
        *("1", "who", (Link("e", 0.5, 0, 3, "E"),), ("a",), ((Step("r", True),),), (), ("x",), {"more": 1}, ()),
        pattern=Pattern("e", "r"),
        candidates=("o",),
    )
    found = Subgraph(
        *((Triple("e", "r", "o"),), (0.0,)),
        paths=(RankedPath("e", (), 0.0),),
        confidences=(0.5,),
        joins=(Join((0,), ("o",)),),
        expected_recall=0.5,
        searches=(Search("who", (("1", 0.5),)),),
    )
    record = record_from_retrieval(Retrieval(question, found, error="no"))
    assert list(record) == [*QUESTION_FIELDS, *RESULT_FIELDS, "more"]
    assert record["gold_paths"] == [["^r"]]


def test_a_subgraph_of_stored_triples_has_no_field_of_confidences():
    stored = Subgraph((Triple("e", "r", "o"),), (0.0,), confidences=(1.0,))
    record = record_from_retrieval(Retrieval(Question("1", "who"), stored))
    assert not {"confidences", "evidence"} & record.keys()


def test_what_a_search_does_not_tell_is_not_in_the_record():
    record = record_from_retrieval(Retrieval(Question("1", "who"), Subgraph((Triple("e", "r", "o"),), (0.0,))))
    assert not {"joins", "expected_recall"} & record.keys()


def test_a_confidence_just_below_one_is_not_written_as_one():
    lacking = Subgraph((Triple("e", "r", "o"),), (0.0,), confidences=(0.999999,))
    assert record_from_retrieval(Retrieval(Question("1", "who"), lacking))["confidences"] == [0.999999]


def test_a_question_that_is_a_pattern_alone_gets_the_pattern_as_its_text():
    question = question_from_record({"id": "1", "pattern": ["Q937", "P19", None]}, "f:1")
    assert (question.pattern, question.text) == (Pattern("Q937", "P19", None), "(Q937, P19, ?)")


def test_another_programs_field_named_pattern_is_kept():
    question = question_from_record({"id": "1", "question": "w", "pattern": "s p ?"}, "f:1")
    assert question.pattern is None
    assert record_from_retrieval(Retrieval(question))["pattern"] == "s p ?"


def test_the_candidates_of_a_pattern_are_read_back_in_their_order():
    record = {"id": "1", "question": "w", "pattern": ["a", "r", None], "candidates": ["c", "b"]}
    question = question_from_record(record, "f:1")
    assert question.candidates == ("c", "b")
    assert record_from_question(question) == {**record, "question_entities": []}
    without = question_from_record({**record, "candidates": None}, "f:1")
    assert "candidates" not in record_from_question(without)


def test_another_programs_candidates_are_kept_where_there_is_no_pattern():
    question = question_from_record({"id": "1", "question": "w", "candidates": [{"id": "c"}]}, "f:1")
    assert question.candidates == ()
    assert record_from_question(question)["candidates"] == [{"id": "c"}]


def test_an_extra_field_never_overrides_a_field_of_the_format():
    question = Question("1", "who", extra={"triplets": "x", "error": "old", "id": "z", "split": "dev"})
    record = record_from_retrieval(Retrieval(question))
    assert record["triplets"] == []
    assert record["id"] == "1"
    assert record["split"] == "dev"
    assert "error" not in record


def test_a_subgraph_whose_parts_are_not_aligned_is_refused():
    subgraph = Subgraph(triples=(Triple("a", "b", "c"),), scores=(1.0, 2.0))
    with pytest.raises(DriverError, match="1 triples and 2 scores"):
        record_from_retrieval(Retrieval(Question("1", "q"), subgraph))


def test_a_record_without_id_gets_the_default():
    assert question_from_record({"question": "who"}, "f:3", "3").id == "3"
    assert question_from_record({"question": "who", "id": 12}, "f:3", "3").id == "12"


def test_an_empty_question_is_still_a_question():
    assert question_from_record({"id": "1", "question": ""}, "f:1").text == ""


@pytest.mark.parametrize(
    ("record", "field"),
    [
        ({}, "question"),
        ({"question": 3}, "question"),
        ({"question": "w", "id": True}, "id"),
        ({"question": "w", "question_entities": "Q1"}, "question_entities"),
        ({"question": "w", "question_entities": [1]}, r"question_entities\[0\]"),
        ({"question": "w", "question_entities": ["a"], "spans": [[0]]}, r"spans\[0\]"),
        ({"question": "w", "question_entities": ["a"], "spans": []}, "spans"),
        ({"question": "w", "question_entities": ["a"], "entity_scores": ["1"]}, r"entity_scores\[0\]"),
        ({"question": "w", "answer_entities": {"a": 1}}, "answer_entities"),
        ({"question": "w", "gold_paths": ["r"]}, r"gold_paths\[0\]"),
        ({"question": "w", "gold_triples": [["a", "b"]]}, r"gold_triples\[0\]"),
        ({"question": "w", "options": "yes"}, "options"),
        ({"question": "w", "pattern": ["a", "b"]}, "pattern"),
        ({"question": "w", "pattern": ["a", "b", "c"]}, "pattern"),
        ({"question": "w", "pattern": [None, "b", None]}, "pattern"),
        ({"question": "w", "pattern": ["a", None, None]}, r"pattern\[1\]"),
        ({"pattern": ["a", "b", None], "candidates": "c"}, "candidates"),
        ({"pattern": ["a", "b", None], "candidates": ["c", 1]}, r"candidates\[1\]"),
        ({"pattern": ["a", "b", None], "candidates": ["c", "d", "c"]}, "candidates"),
        ({"question": "w", "gold_links": [["a", 0, 1]]}, r"gold_links\[0\]"),
        ({"question": "w", "gold_links": [{"entity": 1}]}, r"gold_links\[0\]\.entity"),
        ({"question": "w", "gold_links": [{"entity": "a", "start": 1}]}, r"gold_links\[0\]"),
        ({"question": "w", "gold_links": [{"entity": "a", "start": 2, "end": 2}]}, r"gold_links\[0\]"),
        ({"question": "w", "gold_links": [{"entity": "a", "optional": 1}]}, r"gold_links\[0\]\.optional"),
    ],
)
def test_a_wrong_type_is_refused_with_place_and_field(record, field):
    with pytest.raises(InputError, match=rf"^f\.jsonl:4: field '{field}'"):
        question_from_record(record, "f.jsonl:4", "4")


@pytest.mark.parametrize(
    ("record", "named"),
    [
        ({"scores": [1.0]}, "'scores' has 1 items and 'triplets' has 0"),
        ({"triplets": [["a", "b", "c"]], "triplet_paths": [0]}, "names path 0, but 'paths' has 0"),
        ({"triplets": [["a", "b", "c"]], "confidences": [1.1]}, r"'confidences\[0\]' must be a number from 0 to 1"),
        ({"triplets": [["a", "b", "c"]], "evidence": [[{"kind": "rumour"}]]}, r"'evidence\[0\]\[0\]'"),
        ({"triplets": [["a", "b", 3]]}, r"'triplets\[0\]\[2\]' must be a string"),
        ({"paths": [{"entity": "a", "steps": "r"}]}, r"'paths\[0\]\.steps'"),
        ({"joins": [{"paths": [0], "nodes": []}]}, "'joins' names path 0, but 'paths' has 0"),
        ({"joins": [[0]]}, r"'joins\[0\]' must be an object with 'paths' and 'nodes'"),
        ({"expected_recall": 2}, "'expected_recall' must be a number from 0 to 1"),
        ({"labels": {"a": 1}}, "'labels.a'"),
        ({"trace": []}, "'trace'"),
        ({"error": 1}, "'error'"),
    ],
)
def test_an_inconsistent_result_is_refused(record, named):
    with pytest.raises(InputError, match=named):
        retrieval_from_record({"id": "1", "question": "w", **record}, "f:1")


@pytest.mark.parametrize("field", ["triplets", "triples"])
def test_a_record_of_srtk_is_read(field):
    record = {
        "id": "a",
        "question": "Where is Hakata Ward?",
        "question_entities": ["Q1330839"],
        "spans": [[9, 20]],
        "entity_names": ["Hakata-ku,_Fukuoka"],
        "answer_entities": ["Q26600"],
        field: [["Q1330839", "P131", "Q26600"], ["Q1330839", "P17", "Q17"], ["Q1330839", "P131", "Q26600"]],
    }
    found = retrieval_from_record(record, "f:1")
    assert found.question.links == (Link("Q1330839", 1.0, 9, 20, "Hakata-ku,_Fukuoka"),)
    assert found.question.answers == ("Q26600",)
    assert found.subgraph.triples == (Triple("Q1330839", "P131", "Q26600"), Triple("Q1330839", "P17", "Q17"))
    assert found.subgraph.path_of == (-1, -1)
    assert found.subgraph.scores == (0.0, 0.0)
    assert found.question.extra == {}


def test_scored_triples_of_another_program_are_ordered_by_score():
    record = {
        "id": "W-1",
        "question": "who",
        "q_entity": "a",
        "a_entity": ["c"],
        "answer": ["C"],
        "prediction": ["c"],
        "scored_triples": [["a", "r", "b", 0.2], ["a", "r", "c", 0.9]],
    }
    found = retrieval_from_record(record, "f:1")
    assert [link.entity for link in found.question.links] == ["a"]
    assert found.question.answers == ("c",)
    assert found.subgraph.triples == (Triple("a", "r", "c"), Triple("a", "r", "b"))
    assert found.subgraph.scores == (0.9, 0.2)
    assert found.answer == Answer(text="c", entities=("c",))


@pytest.mark.parametrize(("name", "content"), [("q.txt", "{a}\n\n  who? \n"), ("q", "x\n\nwho?\n")])
def test_plain_text_has_one_question_a_line_with_the_lines_number_as_id(tmp_path, name, content):
    file = tmp_path / name
    file.write_text(content, encoding="utf-8")
    assert [(q.id, q.text) for q in read_questions(file)][1] == ("3", "who?")


def test_the_first_character_decides_the_format_of_other_names(tmp_path):
    file = tmp_path / "questions"
    file.write_text('{"question": "who?"}\n', encoding="utf-8")
    assert [q.text for q in read_questions(file)] == ["who?"]


def test_a_repeated_id_names_both_lines(tmp_path):
    file = tmp_path / "q.jsonl"
    file.write_text('{"id": "a", "question": "x"}\n{"question": "y"}\n{"id": "a", "question": "z"}\n')
    with pytest.raises(InputError, match=r"q\.jsonl:3: line 1 already has the id 'a'"):
        list(read_questions(file))


@pytest.mark.parametrize("repeated", [1, 700, 999])
def test_a_repeated_id_is_found_among_many(tmp_path, monkeypatch, repeated):
    monkeypatch.setattr(retrieval_records, "_RECENT", 8)
    file = tmp_path / "q.jsonl"
    lines = [json.dumps({"id": f"q{number}", "question": "x"}) for number in range(1, 1001)]
    file.write_text("\n".join(lines))
    assert len(list(read_questions(file))) == 1000
    file.write_text("\n".join([*lines, lines[repeated - 1]]))
    with pytest.raises(InputError, match=rf"q\.jsonl:1001: line {repeated} already has the id 'q{repeated}'"):
        list(read_questions(file))


@given(st.lists(st.integers(0, 40)), st.integers(0, 3))
def test_a_text_is_known_from_its_second_time_on(numbers, recent):
    kept, retrieval_records._RECENT = retrieval_records._RECENT, recent
    try:
        seen = retrieval_records._Seen()
        found = [seen.may_have(f"q{number}") for number in numbers]
    finally:
        retrieval_records._RECENT = kept
    assert found == [number in numbers[:place] for place, number in enumerate(numbers)]


def test_a_text_among_many_takes_few_bytes():
    seen = retrieval_records._Seen()
    tracemalloc.start()
    try:
        assert not any(seen.may_have(f"a text of some length, {number}") for number in range(60_000))
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert used < 60_000 * 24


def test_ids_with_one_hash_are_told_apart(tmp_path, monkeypatch):
    monkeypatch.setattr(retrieval_records, "hash", lambda text: 7, raising=False)
    file = tmp_path / "q.jsonl"
    file.write_text('{"id": "a", "question": "x"}\n{"id": "b", "question": "y"}\n')
    assert [question.id for question in read_questions(file)] == ["a", "b"]


def test_a_repeated_id_in_a_pipe_is_refused_without_its_first_line(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b'{"id": "a", "question": "x"}\n' * 2)))
    with pytest.raises(InputError, match=":2: an earlier line already has the id 'a'"):
        list(read_questions("-"))


def test_an_empty_file_has_no_questions(tmp_path):
    file = tmp_path / "q.jsonl"
    file.write_text("")
    assert list(read_questions(file)) == []


def test_results_are_read_from_a_file(tmp_path):
    retrieval = Retrieval(Question("1", "who"), Subgraph((Triple("a", "r", Literal('"x"')),)), labels={"a": "A"})
    file = tmp_path / "r.jsonl.gz"
    file.write_bytes(gzip.compress((dumps(record_from_retrieval(retrieval)) + "\n").encode()))
    (found,) = read_retrievals(file)
    assert found.subgraph.triples == retrieval.subgraph.triples
    assert isinstance(found.subgraph.triples[0].object, Literal)
    assert found.labels == {"a": "A"}


def test_scores_are_rounded_when_written():
    subgraph = Subgraph((Triple("a", "r", "b"),), (0.123456,), (RankedPath("a", (Step("r"),), -0.00001),), (0,))
    record = record_from_retrieval(Retrieval(Question("1", "who"), subgraph))
    assert record["scores"] == [0.1235]
    assert str(record["paths"][0]["score"]) == "0.0"
    again = retrieval_from_record(record, "f:1").subgraph
    assert again == attrs.evolve(
        subgraph, scores=(0.1235,), paths=(RankedPath("a", (Step("r"),), 0.0),), provenance=("",), qualifiers=((),)
    )


def test_small_confidences_stay_apart() -> None:
    triples = (Triple("a", "p", "b"), Triple("a", "p", "c"))
    confidences = (0.0000123456, 0.0000123455)
    subgraph = Subgraph(triples, (0.0, 0.0), confidences=confidences)
    record = record_from_retrieval(Retrieval(Question("1", "?"), subgraph))
    assert record["confidences"] == [0.0000123456, 0.0000123455]
    assert retrieval_from_record(record, "x").subgraph.confidences == confidences
