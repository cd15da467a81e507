import pytest

from srtk_framework.records.retrieval_records import (
    record_from_retrieval,
    retrieval_from_record,
)
from srtk_framework.values import (
    Answer,
    InputError,
    Question,
    Retrieval,
    Triple,
)


def answered(**answer):
    rows = [["a", "r", "b", 0.1], ["a", "r", "c", 0.9], ["a", "r", "b", 0.1]]
    return {"id": "1", "question": "who", "triplets": rows, "answer": answer}


def test_the_support_of_an_answer_follows_its_triples_through_sorting_and_deduplication():
    found = retrieval_from_record(answered(text="B", entities=["b"], support=[0, 2]), "f:1")
    assert [found.subgraph.triples[i] for i in found.answer.support] == [Triple("a", "r", "b")]


def test_a_refusal_is_read_back():
    record = record_from_retrieval(Retrieval(Question("1", "who"), answer=Answer(enough=False)))
    assert record["answer"] == {"text": "", "entities": [], "support": [], "enough": False}
    assert retrieval_from_record(record, "f:1").answer == Answer(enough=False)


def test_a_text_as_answer_is_taken_for_its_words():
    assert retrieval_from_record({"id": "1", "question": "who", "answer": "Riga"}, "f:1").answer == Answer(text="Riga")


@pytest.mark.parametrize("answer", [5, {"support": [3]}, {"support": [-1]}, {"enough": "no"}, {"text": 1}, [["a"]]])
def test_a_malformed_answer_is_refused_with_its_place(answer):
    record = {**answered(), "answer": answer}
    with pytest.raises(InputError, match="f:1: field 'answer"):
        retrieval_from_record(record, "f:1")
