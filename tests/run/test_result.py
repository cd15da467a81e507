"""A result for people and programs: text, networkx, pandas, page."""

from __future__ import annotations

import html
import re
import sys
from importlib.util import find_spec

import attrs
import pytest

from srtk_framework.run import result as results
from srtk_framework.run.pipeline import NO_LINK
from srtk_framework.run.result import Result, write_page
from srtk_framework.values import (
    Answer,
    Link,
    Literal,
    PluginError,
    Question,
    RankedPath,
    Retrieval,
    Step,
    Subgraph,
    Triple,
)

CURRENCY, BORDER = Step("currency"), Step("borders")
YEAR = Literal('"1979"^^xsd:integer')


def made(triples, paths, path_of, labels=None, links=("lv",), error=None):
    question = Question("1", "What is the currency of Latvia?", links=tuple(Link(link) for link in links))
    scores = tuple(float(10 - number) for number in range(len(triples)))
    subgraph = Subgraph(tuple(triples), scores, tuple(paths), tuple(path_of), ("toy",) * len(triples))
    return Result(Retrieval(question, subgraph, labels=labels or {}, error=error))


@pytest.fixture
def result():
    triples = [Triple("lv", "currency", "eur")]
    triples += [Triple("lv", "borders", country) for country in ("ee", "lt", "by", "ru")]
    triples += [Triple(country, "currency", "eur") for country in ("ee", "lt")]
    paths = [
        RankedPath("lv", (CURRENCY,), 9.0),
        RankedPath("lv", (BORDER,), 8.0),
        RankedPath("lv", (CURRENCY, Step("currency", True)), 7.5),
        RankedPath("lv", (BORDER, CURRENCY), 7.0),
        RankedPath("lv", (Step("unread"),), 6.0),
    ]
    labels = {"lv": "Latvia", "eur": "Euro", "ee": "Estonia", "lt": "Lithuania", "by": "Belarus", "ru": "Russia"}
    return made(triples, paths, [0, 1, 1, 1, 1, 2, 2], labels)


def test_a_readers_answer_stands_below_the_question(result):
    read = attrs.evolve(result, retrieval=attrs.evolve(result.retrieval, answer=Answer("Euro")))
    assert read.to_text().splitlines()[:3] == ["What is the currency of Latvia?", "about: Latvia", "answer: Euro"]
    refused = attrs.evolve(result, retrieval=attrs.evolve(result.retrieval, answer=Answer(enough=False)))
    assert refused.to_text().splitlines()[2] == "answer: none, for the triples do not suffice"


def test_a_question_without_links_is_about_nothing_that_is_known():
    lines = made([Triple("lv", "currency", "eur")], [], [-1], links=()).to_text().splitlines()
    assert lines[:3] == ["What is the currency of Latvia?", "", "triples"]


def test_paths_come_first_with_the_names_of_what_they_reach(result):
    lines = result.to_text().splitlines()
    assert lines[:2] == ["What is the currency of Latvia?", "about: Latvia"]
    assert lines[3:8] == [
        "paths",
        "   9.00  Latvia -currency-> Euro",
        "   8.00  Latvia -borders-> Estonia, Lithuania, Belarus and 1 more",
        "   7.50  Latvia -currency-> Euro <-currency- Estonia, Lithuania",
        "   7.00  Latvia -borders-> (2) -currency-> Euro",
    ]
    assert lines[9:11] == ["triples", "  10.00  Latvia -currency-> Euro"]


def test_what_is_not_shown_is_counted(result):
    text = result.to_text(triples=2, paths=3)
    assert "and 1 more path\n" in text
    assert text.endswith("and 5 more triples")
    assert "more triples" not in result.to_text(triples=None, paths=None)


def test_a_path_of_which_no_triples_were_kept_is_left_out(result):
    assert "unread" not in result.to_text(None, None)


def test_no_line_is_wider_than_asked(result):
    long = made([Triple("lv", "r" * 90, "x" * 30)], [RankedPath("lv", (Step("r" * 90),), 1.0)], [0])
    near = tuple(Link(f"e{number}", name=f"Name {number}") for number in range(20))
    failed = attrs.evolve(made([], [], [], error="a sentence " * 20), near=near)
    asked = attrs.evolve(failed, retrieval=attrs.evolve(failed.retrieval, question=Question("1", "what is it " * 20)))
    for one in (result, long, failed, asked):
        assert max(map(len, one.to_text(width=60).splitlines())) <= 60


def test_a_literal_is_shown_by_its_text_and_control_characters_are_not_shown():
    shown = made([Triple("lv", "year", YEAR)], [], [-1], {"lv": "Lat\x1b[31mvia\nx"}).to_text()
    assert "Lat [31mvia x -year-> 1979" in shown
    assert "\x1b" not in shown


def test_an_error_is_the_text(result):
    failed = made([], [], [], error="the graph is gone")
    assert failed.to_text() == "What is the currency of Latvia?\nthe graph is gone"
    assert repr(failed) == "<Result 'What is the currency of Latvia?': the graph is gone>"
    assert str(failed) == failed.to_text()


def test_near_names_stand_under_a_question_that_does_not_link():
    failed = made([], [], [], links=(), error=NO_LINK)
    near = (Link("lv", 0.9, name="Latvia"), Link("lt", 0.5, name="Lithuania"), Link("lv2", 0.4, name="Latvia"))
    assert attrs.evolve(failed, near=near).to_text().splitlines() == [
        "What is the currency of Latvia?",
        "no name of the graph was found in the question",
        "near names: Latvia, Lithuania",
    ]
    assert "near names" not in failed.to_text()


def test_no_triple_is_told():
    assert made([], [], []).to_text().splitlines()[-1] == "no triple was found"


def test_a_result_shows_its_best_path(result):
    assert repr(result) == "<Result 'What is the currency of Latvia?': Latvia -currency-> Euro, 7 triples>"


def test_the_parts_of_a_result_are_attributes(result):
    assert result.triples[0] == ("lv", "currency", "eur")
    assert result.scores[0] == 10.0
    assert result.paths[0].steps == (CURRENCY,)
    assert [link.entity for link in result.links] == ["lv"]
    assert result.labels["ee"] == "Estonia"
    assert result.error is None
    assert result.to_record()["triplets"][0] == ["lv", "currency", "eur"]


def test_a_networkx_graph_has_labels_and_scores(result):
    graph = result.to_networkx()
    assert graph.nodes["lv"]["label"] == "Latvia"
    assert graph.edges["lv", "eur", "currency"]["score"] == 10.0


@pytest.mark.skipif(find_spec("pandas") is None, reason="pandas is not installed")
def test_a_table_of_pandas_has_a_row_for_each_triple(result):
    frame = result.to_dataframe()
    assert len(frame) == len(result.triples)
    assert list(frame.columns[:4]) == ["subject", "relation", "object", "score"]
    row = ("Latvia", "currency", "Euro", 10.0, "currency", "lv", "currency", "eur", "toy", 1.0)
    assert frame.iloc[0].tolist() == [*row]
    assert len(made([], [], []).to_dataframe()) == 0


def test_without_pandas_its_line_is_named(result, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(PluginError, match=r"^pandas is not installed; run: pip install pandas$"):
        result.to_dataframe()


def test_a_notebook_shows_the_page(result):
    shown = result._repr_html_()
    page = html.unescape(re.fullmatch(r'<iframe srcdoc="(.*)" width=.*></iframe>', shown, re.DOTALL)[1])
    assert page.startswith(("<!DOCTYPE html>", "<!doctype html>"))
    assert "What is the currency of Latvia?" in page
    assert "Estonia" in page


def test_without_the_page_a_notebook_shows_the_text(result, monkeypatch):
    monkeypatch.setattr(results, "missing_drivers", lambda named: "html is not installed; run: pip install it")
    assert result._repr_html_() == f"<pre>{html.escape(result.to_text())}</pre>"
    with pytest.raises(PluginError, match="html is not installed"):
        write_page([result], None)


def test_a_page_holds_all_results(result, tmp_path):
    write_page([result, made([], [], [], error="nothing")], tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "Estonia" in page
    assert "nothing" in page
