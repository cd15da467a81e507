"""What answers are compared with in benchmarks/answers: readings of a search, of words, and of rows of tables."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.answers import new_graphs, public_sets, table_rows
from srtk_framework.graph import TripleTable
from srtk_framework.values import Answer, Link, Question, RankedPath, Retrieval, Step, Subgraph, Triple

STAR, STARS = Step("starred"), Step("starred", True)
WAY = RankedPath("film", (STAR, STARS), 0.9)
TRIPLES = (Triple("film", "starred", "ann"), Triple("other", "starred", "ann"), Triple("film", "by", "bob"))


def found(*paths: RankedPath, answer: Answer | None = None) -> Retrieval:
    question = Question("1", "which film?", (Link("film"),), answers=("other",), gold_paths=((STAR, STARS),))
    best = next(rank for rank, path in enumerate(paths) if path == WAY) if WAY in paths else 0
    return Retrieval(question, Subgraph(TRIPLES, paths=paths, path_of=(best, best, -1)), answer)


def test_the_first_node_is_the_end_that_the_first_triples_were_read_for() -> None:
    assert public_sets.first_node(found(WAY)) == ["other"]
    assert public_sets.first_node(Retrieval(Question("1", "?"), Subgraph())) == []


def test_a_path_to_another_topic_was_read_for_the_node_before_it() -> None:
    one = found(WAY)
    question = Question("1", "what joins them?", (Link("film"), Link("other")))
    assert public_sets.first_node(Retrieval(question, one.subgraph)) == ["ann"]


def test_the_most_frequent_end_of_a_step_is_no_topic() -> None:
    rows = [("a", "by", "x"), ("b", "by", "x"), ("c", "by", "y"), ("c", "in", "z")]
    frequencies = public_sets.Frequencies(TripleTable.from_triples([Triple(*row) for row in rows]))
    assert frequencies.most_frequent(Step("by"), ()) == ["x"]
    assert frequencies.most_frequent(Step("by"), ["x"]) == ["y"]
    assert frequencies.most_frequent(Step("by", True), ()) == ["a"]


def test_words_give_what_the_best_relation_joins_to_a_topic() -> None:
    question = Question("1", "who starred?", (Link("film"),))
    triples = [Triple("film", "starred", "ann"), Triple("film", "by", "bob"), Triple("film", "starred", "eve")]
    assert public_sets.by_words(question, triples) == ["ann", "eve"]
    assert public_sets.by_words(Question("1", "?", (Link("ann"),)), triples) == ["film"]
    assert public_sets.by_words(question, [Triple("this", "by", "film"), *triples]) == ["this"]


def test_a_refusal_and_a_failed_question_have_no_hit() -> None:
    nothing = {"hits": 0.0, "f1": 0.0, "refused": 1.0}
    assert public_sets.scores_of(found(WAY), Answer(enough=False)) == nothing
    assert public_sets.scores_of(found(WAY), None) == nothing
    assert public_sets.scores_of(found(WAY), Answer(entities=("other",))) == {"hits": 1.0, "f1": 1.0, "refused": 0.0}


@pytest.mark.parametrize(
    ("cell", "gold"),
    [
        ("Garnacha, Syrah", {"entities": ["Syrah", "Garnacha"]}),
        ("a; b", {"entities": ["a", "b"]}),
        ("3.480,00", {"number": 3480.0, "unit": "EUR"}),
        ("1,234", {"number": 1234}),
        ("no", {"yes": False}),
        ("15.10.2024", {"value": "2024-10-15"}),
    ],
)
def test_a_cell_is_right_in_any_reading(cell: str, gold: table_rows.Row) -> None:
    assert table_rows.is_right(cell, gold)
    assert not table_rows.is_right("something else", gold)


class Ones:
    """Knows one heading."""

    def encode(self, texts: list[str]) -> object:
        return np.array([[1.0, float("cost" in text)] for text in texts])


def test_the_column_of_an_answer_is_like_the_question_and_its_cell_not_named_there() -> None:
    likeness = table_rows.Likeness(Ones())  # type: ignore[arg-type]
    row = {"name": "Hub Gear", "part": "9", "unit_cost": "39.00"}
    assert table_rows.best_column("what does the hub gear cost", row, likeness) == "unit_cost"
    assert table_rows.best_column("what costs 39.00", row, likeness) == "name"


def test_an_answer_on_a_new_graph_is_compared_by_id_or_by_name_and_a_part_of_a_set_counts() -> None:
    gold = {"entities": ["cell_part", "Ann"]}
    answer = new_graphs.named({"entities": ["cell_part", "n1", "n2"]}, {"cell_part": "cell part", "n1": "Ann"}, gold)
    assert answer == {"entities": ["cell_part", "Ann", "n2"]}
    assert new_graphs.f1(answer, gold) == pytest.approx(0.8)
    assert new_graphs.f1({"number": 2}, {"number": 2.0}) == 1
    assert new_graphs.f1({"yes": True}, gold) == 0


def test_given_answers_have_the_ids_that_the_search_found() -> None:
    record = {"triplets": [["n1", "by", "n2"]], "labels": {"n2": "Ann"}}
    assert new_graphs.gold_ids({"entities": ["Ann", "Bob"]}, record) == ["n2", "Bob"]
    assert new_graphs.gold_ids({"yes": True}, record) == []
