"""Questions in other languages than English: function words, German nouns and endings, Spanish initials."""

from __future__ import annotations

from pathlib import Path

import pytest
from srtk_plugin_local.dictionary.german import base_forms, is_determined
from srtk_plugin_local.dictionary.linker import DictionaryLinker
from srtk_plugin_local.dictionary.stop_words import language_of
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_local.snapshot.build_settings import BuildSettings
from srtk_plugin_local.snapshot.graph import LocalGraph

NAMES = (
    "Indien", "Zweiter Weltkrieg", "Weißes Haus", "Berg", "Partei", "China", "Kinder", "Para", "Dame", "Lund", "Wales",
    "Wale", "Jaws", "Queen", "Apollo 11", "die", "Los", "Land Art", "Marokko",
)  # fmt: skip
GRAPH = MemoryGraph(
    [[name, "fact", f"n{i}"] for i, name in enumerate(NAMES)]
    + [["Estados Unidos", "fact", f"m{i}"] for i in range(40)]
    + [["European Unity", "fact", f"o{i}"] for i in range(90)]
    + [["National Football League", "fact", f"p{i}"] for i in range(30)]
    + [["Alte Kaserne", "fact", f"q{i}"] for i in range(30)]
    + [["Lauren Katherine Conrad", "fact", f"r{i}"] for i in range(25)]
)
RDF = """
<http://x/de> <http://www.w3.org/2000/01/rdf-schema#label> "Germany"@en , "Deutschland"@de , "Alemania"@es ;
  <http://x/capital> <http://x/berlin> .
<http://x/berlin> <http://www.w3.org/2000/01/rdf-schema#label> "Berlin"@en .
"""


def linked(text: str, graph: MemoryGraph | LocalGraph = GRAPH) -> list[tuple[str, str]]:
    """Return the mentions of a text with the labels of their entities."""
    return [(text[link.start : link.end], str(link.name)) for link in DictionaryLinker(graph).link([text])[0]]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Wer war der Präsident von Indien?", "de"),
        ("¿Cuál es la capital de Alemania?", "es"),
        ("Quelle est la capitale de la France ?", "fr"),
        ("who was in die hard", "en"),
        ("director of Das Boot", "en"),
        ("Die Hard", "en"),
        ("", "en"),
    ],
)
def test_the_language_of_a_text_is_that_of_its_function_words(text: str, language: str) -> None:
    assert language_of(text.lower().strip("¿?").split()) == language


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Welche Berge liegen im Norden Indiens?", [("Indiens", "Indien")]),
        ("was ist die hauptstadt indiens", [("indiens", "Indien")]),
        ("Wer kämpfte im Zweiten Weltkrieg gegen Japan?", [("Zweiten Weltkrieg", "Zweiter Weltkrieg")]),
        ("Wer wohnte nicht im Weißen Haus?", [("Weißen Haus", "Weißes Haus")]),
        ("Wer ist der König von Wales?", [("Wales", "Wales")]),
        ("What are the mountains of Indiens?", []),
    ],
)
def test_an_inflected_german_name_is_linked_unless_it_is_a_name_itself(text: str, found: list[tuple[str, str]]) -> None:
    exact = DictionaryLinker(GRAPH, fuzzy=1)
    assert [(text[link.start : link.end], link.name) for link in exact.link([text])[0]] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Welcher ist der höchste Berg in China?", [("China", "China")]),
        ("Zu welcher Partei in China gehört er?", [("China", "China")]),
        ("Wie heißt das Land, das an China grenzt?", [("China", "China")]),
        ("Was ist die Hauptstadt von dem Land Marokko?", [("Marokko", "Marokko")]),
        ("Wie viele Einwohner hat der Berg?", [("Berg", "Berg")]),
        ("Welches Land liegt am höchsten?", []),
    ],
)
def test_a_german_noun_after_a_determiner_or_adjective_is_a_plain_one(text: str, found: list[tuple[str, str]]) -> None:
    assert linked(text) == found


def test_the_parts_of_german_compounds_are_linked() -> None:
    assert linked("Für wie viele NFL-Teams hat er gespielt?") == [("NFL", "National Football League")]
    assert linked("Which AK-47 did he use in the US-led war?") == []
    assert linked("Was war das erste Queen-Album?") == [("Queen", "Queen")]
    assert linked("Wer war bei der Apollo-11-Mission dabei?") == [("Apollo-11", "Apollo 11")]


def test_german_nouns_around_a_part_of_a_name_are_no_parts_of_it() -> None:
    assert linked("Wer ist der Ehemann der Tochter von Lauren Conrad?") == [
        ("Lauren Conrad", "Lauren Katherine Conrad")
    ]


@pytest.mark.parametrize("initials", ["EE. UU.", "EE.UU.", "EEUU", "ee. uu."])
def test_doubled_initials_abbreviate_plurals(initials: str) -> None:
    assert [name for _, name in linked(f"¿Quién es el presidente de {initials}?")] == ["Estados Unidos"]


def test_function_words_of_the_question_are_no_names() -> None:
    assert linked("¿Para qué equipo jugó en China?") == [("China", "China")]
    assert linked("Dame todas las películas de los hermanos en Jaws") == [("Jaws", "Jaws")]


@pytest.mark.parametrize("source", ["rdf", "table"])
def test_labels_in_any_language_link_and_the_preferred_one_is_shown(tmp_path: Path, source: str) -> None:
    labels: tuple[str, ...] = ()
    if source == "rdf":
        file = tmp_path / "graph.ttl"
        file.write_text(RDF, encoding="utf-8")
    else:
        file, names = tmp_path / "graph.tsv", tmp_path / "names.tsv"
        file.write_text("de\tcapital\tberlin\n", encoding="utf-8")
        names.write_text("de\tGermany\ten\nde\tDeutschland\tde\nde\tAlemania\tes\n", encoding="utf-8")
        labels = (str(names),)
    for languages, shown in (((), "Germany"), (("de", "es", "en"), "Deutschland")):
        graph = LocalGraph(str(tmp_path / shown), BuildSettings((str(file),), labels=labels, languages=languages))
        graph.open()
        assert linked("Was ist die Hauptstadt von Deutschland?", graph)[-1] == ("Deutschland", shown)
        assert linked("¿Cuál es la capital de Alemania?", graph)[-1] == ("Alemania", shown)
        graph.close()


def test_base_forms_leave_three_letters() -> None:
    assert base_forms("berlins") == ["berlin"]
    assert base_forms("aas") == []
    assert "schwarzes meer" in base_forms("schwarzen meeres")
    assert "vereinigte staaten" in base_forms("vereinigten staaten")


def test_a_name_with_a_capital_determines_no_noun() -> None:
    assert is_determined("der", True)
    assert is_determined("höchsten", False)
    assert not is_determined("Der", True)
    assert not is_determined("in", True)
    assert not is_determined("aber", True)
