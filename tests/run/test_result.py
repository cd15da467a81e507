"""A result for people and programs: text, networkx, pandas, page."""

from __future__ import annotations

import html
import json
import re
import sys
from importlib.util import find_spec

import attrs
import pytest

from srtk_framework.records import dumps
from srtk_framework.run import result as results
from srtk_framework.run.pipeline import NO_LINK
from srtk_framework.run.result import Result, write_page
from srtk_framework.text import count_tokens
from srtk_framework.values import (
    Alternative,
    Answer,
    Link,
    Literal,
    PluginError,
    Question,
    RankedPath,
    RecipeError,
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


def answered(result, **fields):
    """Give a result a reader's answer."""
    return attrs.evolve(result, retrieval=attrs.evolve(result.retrieval, answer=Answer(**fields)))


def test_the_answer_comes_first_then_its_proof_and_other_answers(result):
    others = (Alternative("Estonia", ("ee",), 1), Alternative("a guess"), Alternative("Euro", ("eur",), 3))
    read = answered(result, text="Euro", entities=("eur",), support=(0,), alternatives=others)
    assert read.to_text().splitlines() == [
        "What is the currency of Latvia?",
        "answer: Euro",
        "about: Latvia",
        "",
        "proof",
        "   Latvia -currency-> Euro",
        "",
        "other answers",
        "   Estonia: Latvia -borders-> Estonia, Lithuania, Belarus and 1 more",
        "   a guess",
        "   Latvia -borders-> (2) -currency-> Euro",
        "",
        "not shown: 4 paths, 7 triples",
    ]
    assert read.answer.text == "Euro"
    assert repr(read) == "<Result 'What is the currency of Latvia?': Euro, 7 triples>"


def test_more_shows_paths_and_triples_below_the_proof(result):
    read = answered(result, text="Euro", entities=("eur",), support=(0,))
    whole, plain = read.to_text(None, None).splitlines(), result.to_text(None, None).splitlines()
    assert whole[:6] == [*plain[:1], "answer: Euro", plain[1], "", "proof", "   Latvia -currency-> Euro"]
    assert whole[6:] == plain[2:]
    assert "not shown" not in read.to_text(3, 2)
    assert read.to_text(0, 1).endswith("reached by 1 other path too\n         and 1 more path\n\nnot shown: 7 triples")


def test_without_a_proof_paths_and_triples_are_shown(result):
    lines = answered(result, text="Euro").to_text().splitlines()
    assert lines[1:3] == ["answer: Euro", "about: Latvia"]
    assert lines[3:] == result.to_text().splitlines()[2:]


def test_a_refusal_says_what_is_missing_and_shows_what_was_found(result):
    refused = answered(result, enough=False, missing="Latvia has no relation of this kind")
    lines = refused.to_text().splitlines()
    assert lines[1] == "no answer: Latvia has no relation of this kind"
    assert lines[2:] == result.to_text().splitlines()[1:]
    assert answered(result, enough=False).to_text().splitlines()[1] == "no answer: the triples do not suffice"
    assert answered(result, text="").to_text().splitlines()[1] == "no answer: the triples do not suffice"
    near = attrs.evolve(refused, near=(Link("lt", name="Lithuania"),)).to_text().splitlines()
    assert near[1:3] == ["no answer: Latvia has no relation of this kind", "near names: Lithuania"]


def test_a_refusal_without_links_says_what_is_missing_in_place_of_the_error():
    failed = made([], [], [], links=(), error=NO_LINK)
    near = (Link("lv", name="Latvia"),)
    refused = attrs.evolve(answered(failed, enough=False, missing="no class is named"), near=near)
    assert refused.to_text().splitlines()[1:] == ["no answer: no class is named", "near names: Latvia"]


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"certainty": "unsure"}, "answer: Perhaps 3"),
        ({"certainty": "likely"}, "answer: 3"),
        ({"number": 3, "operation": "count", "complete": False}, "answer: at least 3"),
        ({"number": 3, "operation": "count", "complete": False, "certainty": "unsure"}, "answer: Perhaps at least 3"),
        ({"number": 3, "operation": "count", "complete": True}, "answer: 3"),
        ({"number": 3, "operation": "count"}, "answer: 3"),
        ({"number": 3, "operation": "sum", "complete": False}, "answer: 3"),
    ],
)
def test_the_answer_line_ends_in_the_answer(result, fields, line):
    assert answered(result, text="3", support=(1,), **fields).to_text().splitlines()[1] == line


@pytest.mark.parametrize(("certainty", "line"), [("unsure", "answer: Perhaps (41%) 3"), ("sure", "answer: 3")])
def test_an_unsure_answer_tells_its_probability(result, certainty, line):
    read = answered(result, text="3", certainty=certainty)
    trace = {**read.retrieval.subgraph.trace, "reader": {"probability": 0.414}}
    subgraph = attrs.evolve(read.retrieval.subgraph, trace=trace)
    told = attrs.evolve(read, retrieval=attrs.evolve(read.retrieval, subgraph=subgraph))
    assert told.to_text().splitlines()[1] == line


def test_what_is_counted_is_named_up_to_a_limit(result):
    some = {"text": "4", "number": 4, "operation": "count", "support": (1, 2, 3, 4)}
    read = answered(result, entities=("ee", "lt", "by", "ru"), unit="countries", complete=True, **some)
    assert read.to_text().splitlines()[1:4] == [
        "answer: 4",
        "        countries: Estonia, Lithuania, Belarus, Russia",
        "about: Latvia",
    ]
    many = answered(result, entities=tuple(f"c{i}" for i in range(12)), **some)
    assert many.to_text().splitlines()[2].endswith("c8, c9 and 2 more")
    assert many.to_text(None, None).splitlines()[2].endswith("c10, c11")


@pytest.mark.parametrize(
    ("counts", "below"), [([1200, 2], ["        Estonia (borders: 1,200), lt (borders: 2)"]), (["many"], []), (7, [])]
)
def test_the_counts_of_an_order_stand_below_the_answer(counts, below):
    trace = {"reader": {"choice": {"relation": "borders", "counts": counts}}}
    subgraph = Subgraph(triples=(), scores=(), paths=(), path_of=(), trace=trace)
    answer = Answer(text="both", entities=("ee", "lt"), operation="superlative")
    read = Retrieval(Question("q", "Which?"), subgraph=subgraph, answer=answer, labels={"ee": "Estonia"})
    assert Result(read).to_text().splitlines()[2 : 2 + len(below)] == below


def test_a_notice_of_the_reader_stands_below_the_answer():
    subgraph = Subgraph(triples=(), scores=(), paths=(), path_of=(), trace={"reader": {"notice": "read as English"}})
    read = Retrieval(Question("q", "Wo?"), subgraph=subgraph, answer=Answer(text="there"))
    assert Result(read).to_text().splitlines()[2] == "        read as English"


def test_values_that_decide_stand_below_the_answer():
    people, year = Literal('"1411778724"^^xsd:integer'), Literal('"1979"^^xsd:integer')
    triples = [Triple("in", "people", Literal('"1380004385"^^xsd:integer')), Triple("cn", "people", people)]
    triples += [Triple("cn", "year", year), Triple("is", "people", Literal('"364134"'))]
    compared = made(triples, [], [-1] * 4, {"cn": "China", "in": "India", "is": "Iceland"}, links=("cn",))
    asked = {"operation": "superlative", "support": (0, 1, 2, 3)}
    read = answered(compared, text="China", entities=("cn",), **asked)
    assert read.to_text(width=120).splitlines()[2] == (
        "        China (people 1,411,778,724, year 1979), India (people 1,380,004,385), Iceland (people 364134)"
    )
    yes = answered(compared, text="Yes", truth=True, support=(0, 1), operation="comparison")
    assert yes.to_text().splitlines()[1:3] == [
        "answer: Yes",
        "        India (people 1,380,004,385), China (people 1,411,778,724)",
    ]
    looked_up = answered(compared, text="1979", entities=(year,), operation="lookup", support=(2,))
    assert looked_up.to_text().splitlines()[1:3] == ["answer: 1979", "about: China"]


@pytest.mark.parametrize(
    ("operation", "answer", "named"),
    [
        ("superlative", "c7", "c7 (people 7), c6 (people 6), c5 (people 5), c4 (people 4), c3 (people 3) and 3 more"),
        ("superlative", "c0", "c0 (people 0), c1 (people 1), c2 (people 2), c3 (people 3), c4 (people 4) and 3 more"),
        ("ordinal", "c6", "c7 (people 7), c6 (people 6), c5 (people 5), c4 (people 4), c3 (people 3) and 3 more"),
        ("lookup", "c6", "c6 (people 6), c3 (people 3), c0 (people 0), c7 (people 7), c1 (people 1) and 3 more"),
    ],
)
def test_what_was_compared_stands_in_order_from_the_end_of_the_answer(operation, answer, named):
    triples = [Triple(f"c{i}", "people", Literal(f'"{i}"^^xsd:integer')) for i in (3, 0, 7, 1, 5, 2, 6, 4)]
    compared = made(triples, [], [-1] * 8)
    read = answered(compared, text=answer, entities=(answer,), support=tuple(range(8)), operation=operation)
    assert read.to_text(width=120).splitlines()[2].strip() == named


def test_values_of_several_relations_stay_in_the_order_of_the_proof():
    triples = [Triple("a", "born", Literal('"1990-01-02"^^xsd:date')), Triple("b", "died", Literal('"1950"'))]
    read = answered(made(triples, [], [-1, -1]), text="a", entities=("a",), support=(0, 1), operation="superlative")
    assert read.to_text().splitlines()[2].strip() == "a (born 1990-01-02), b (died 1950)"


def test_a_set_that_was_not_read_whole_says_so(result):
    part = answered(result, text="Euro", entities=("eur",), support=(0,), complete=False)
    assert part.to_text().splitlines()[2] == "        not all was read, so there may be more"
    assert "not all was read" not in answered(result, text="Euro", support=(0,), complete=True).to_text()
    assert "not all was read" not in answered(result, text="Euro", support=(0,)).to_text()


def test_a_proof_is_joined_to_paths_and_no_longer_than_asked(result):
    read = answered(result, text="Euro", entities=("eur",), support=(1, 3, 5))
    lines = read.to_text().splitlines()
    assert lines[lines.index("proof") + 1 :][:2] == [
        "   Latvia -borders-> Estonia, Belarus",
        "   Latvia -borders-> Estonia -currency-> Euro",
    ]
    bare = made([Triple("lv", "borders", f"c{i}") for i in range(8)], [], [-1] * 8)
    proven = answered(bare, text="all", support=tuple(range(8)))
    lines = proven.to_text().splitlines()
    assert lines[lines.index("proof") + 1 :][:6] == [
        *(f"   lv -borders-> c{i}" for i in range(5)),
        "   and 3 more lines",
    ]
    assert "more lines" not in proven.to_text(None, None)


def test_a_proof_that_the_graph_lacks_says_so():
    lacking = made([Triple("lv", "currency", "eur")], [RankedPath("lv", (CURRENCY,), 1.0)], [0])
    subgraph = attrs.evolve(lacking.retrieval.subgraph, confidences=(0.5,))
    lacking = attrs.evolve(lacking, retrieval=attrs.evolve(lacking.retrieval, subgraph=subgraph))
    assert (
        "   lv -currency-> eur [not in the graph; confidence 0.5]\n"
        in answered(lacking, text="eur", support=(0,)).to_text()
    )
    bare = made([Triple("lv", "currency", "eur")], [], [-1])
    sure = attrs.evolve(bare.retrieval.subgraph, confidences=(1.0,))
    bare = attrs.evolve(bare, retrieval=attrs.evolve(bare.retrieval, subgraph=sure))
    assert "   lv -currency-> eur\n" in answered(bare, text="eur", support=(0,)).to_text()


def test_an_answer_moves_no_cursor(result):
    other = Alternative("x\x1b[2J")
    read = answered(result, text="Eu\x1b[31mro\n", missing="y\x07", support=(0,), alternatives=(other,))
    assert not any(char < " " and char != "\n" for char in read.to_text())
    assert read.to_text().splitlines()[1] == r"answer: Eu\u001b[31mro"


def test_a_path_to_ends_of_a_better_one_is_folded_on_the_screen_alone():
    again = (BORDER, Step("currency"), Step("currency", True))
    triples = [Triple("lv", "borders", one) for one in ("ee", "lt")]
    triples += [Triple(one, "currency", "eur") for one in ("ee", "lt", "lv")]
    paths = [
        RankedPath("lv", (BORDER,), 9.0),
        RankedPath("lv", (CURRENCY,), 8.0),
        RankedPath("lv", (BORDER, CURRENCY), 7.0),
        RankedPath("lv", (CURRENCY, Step("currency", True)), 6.0),
        RankedPath("lv", again, 5.0),
    ]
    shown = made(triples, paths, [0, 0, 2, 2, 1])
    lines = shown.to_text().splitlines()
    assert lines[lines.index("paths") + 1 : lines.index("triples") - 1] == [
        "   9.00  lv -borders-> ee, lt",
        "         reached by 2 other paths too",
        "   8.00  lv -currency-> eur",
        "         reached by 1 other path too",
    ]
    whole = shown.to_text(None, None)
    assert "other path" not in whole
    assert "lv -borders-> (2) -currency-> eur <-currency- ee, lt" in whole
    assert [path["steps"] for path in shown.to_record()["paths"]] == [[str(s) for s in path.steps] for path in paths]


def test_a_path_that_turns_back_to_a_named_node_is_folded_and_one_that_joins_them_is_not():
    triples = [Triple("a", "by", "r"), Triple("b", "by", "r"), Triple("a", "star", "s"), Triple("s", "in", "b")]
    by, back = Step("by"), Step("by", True)
    paths = [
        RankedPath("a", (by,), 9.0),
        RankedPath("a", (by, back), 8.0),
        RankedPath("a", (Step("star"), Step("in")), 7.0),
    ]
    lines = made(triples, paths, [0, 1, 2, 2], links=("a", "b")).to_text().splitlines()
    assert lines[lines.index("paths") + 1 : lines.index("triples") - 1] == [
        "   9.00  a -by-> r",
        "         reached by 1 other path too",
        "   7.00  a -star-> s -in-> b",
    ]


def test_a_better_path_is_never_folded_into_a_worse_one():
    triples = [Triple("a", "by", "r"), Triple("b", "by", "r")]
    paths = [RankedPath("a", (Step("by"), Step("by", True)), 9.0), RankedPath("a", (Step("by"),), 8.0)]
    text = made(triples, paths, [0, 0], links=("a", "b")).to_text()
    assert "a -by-> r <-by- b\n" in text
    assert "a -by-> r\n" in text


def test_a_question_without_links_is_about_nothing_that_is_known():
    lines = made([Triple("lv", "currency", "eur")], [], [-1], links=()).to_text().splitlines()
    assert lines[:3] == ["What is the currency of Latvia?", "", "triples"]


def test_paths_come_first_with_the_names_of_what_they_reach(result):
    lines = result.to_text().splitlines()
    assert lines[:2] == ["What is the currency of Latvia?", "about: Latvia"]
    assert lines[3:8] == [
        "paths",
        "   9.00  Latvia -currency-> Euro",
        "         reached by 1 other path too",
        "   8.00  Latvia -borders-> Estonia, Lithuania, Belarus and 1 more",
        "         reached by 1 other path too",
    ]
    assert result.to_text(None, None).splitlines()[4:8] == [
        "   9.00  Latvia -currency-> Euro",
        "   8.00  Latvia -borders-> Estonia, Lithuania, Belarus and 1 more",
        "   7.50  Latvia -currency-> Euro <-currency- Estonia, Lithuania",
        "   7.00  Latvia -borders-> (2) -currency-> Euro",
    ]
    assert lines[9:11] == ["triples", "  10.00  Latvia -currency-> Euro"]


def test_what_is_not_shown_is_counted(result):
    text = result.to_text(triples=2, paths=1)
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


def test_a_literal_is_shown_by_its_text_and_control_characters_are_escaped():
    shown = made([Triple("lv", "year", YEAR)], [], [-1], {"lv": "Lat\x1b[31mvia\nx"}).to_text()
    assert r"Lat\u001b[31mvia x -year-> 1979" in shown
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
    nothing = made([], [], [])
    assert nothing.to_text().splitlines()[-1] == "no triple was found"
    cut = attrs.evolve(nothing.retrieval, subgraph=Subgraph(trace={"cut": {"tokens": 28}}))
    assert Result(cut).to_text().splitlines()[-1] == "no triple fits the limit of tokens"


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


def test_a_text_keeps_within_its_tokens_and_says_what_it_leaves_out(result):
    read = answered(result, text="Euro", entities=("eur",), support=(0,))
    for one in (result, read, made([], [], [], links=(), error=NO_LINK)):
        for more in ({}, {"triples": None, "paths": None}):
            whole = one.to_text(**more)
            for tokens in range(20, count_tokens(whole) + 3):
                text = one.to_text(**more, tokens=tokens)
                assert count_tokens(text) <= tokens
                assert text == whole or re.search(
                    "^ *(not shown: |and .* more triples?$|reached by)", text, re.MULTILINE
                )
    assert read.to_text(tokens=20).splitlines() == [
        "What is the currency of Latvia?",
        "not shown: 4 paths, 7 triples, 6 lines",
    ]
    with pytest.raises(ValueError, match="tokens is 19; allow at least 20"):
        result.to_text(tokens=19)


def test_triples_are_left_out_before_paths(result):
    whole = result.to_text()
    shorter = result.to_text(tokens=count_tokens(whole) - 1)
    assert shorter.split("\ntriples\n")[0] == whole.split("\ntriples\n")[0]
    assert shorter.endswith("and 1 more triple")


def test_evidence_has_text_score_sources_and_triples(result):
    others = (Alternative("Estonia", path=1), Alternative("?"))
    read = answered(result, text="Euro", support=(0,), alternatives=others)
    fact = {
        "text": "Latvia -currency-> Euro",
        "score": 10.0,
        "sources": ["toy"],
        "triples": [["lv", "currency", "eur"]],
    }
    assert result.evidence("triple")[0] == fact
    assert len(result.evidence("triple")) == 7
    assert result.evidence()[0] == {**fact, "score": 9.0}
    assert [len(record["triples"]) for record in result.evidence("path")] == [1, 4, 3, 4]
    euro, estonia, guess = read.evidence("answer")
    assert euro == {**fact, "text": "Euro"}
    assert (estonia["text"], estonia["score"], len(estonia["triples"])) == ("Estonia", 8.0, 4)
    assert guess == {"text": "?", "score": None, "sources": [], "triples": []}
    assert result.evidence("answer") == answered(read, enough=False).evidence("answer") == []
    plain = [record for by in ("path", "triple", "answer") for record in read.evidence(by)]
    assert json.loads(json.dumps(plain)) == plain
    with pytest.raises(ValueError, match="evidence is by path, triple, answer, not by 'node'"):
        result.evidence("node")


def test_other_forms_come_from_exporters(result):
    assert json.loads(result.to("jsonl")) == json.loads(dumps(result.to_record()))
    assert "Facts (1 of 7)" in result.to("text", tokens=30)
    with pytest.raises(RecipeError, match="no exporter is called 'rfd'"):
        result.to("rfd")
    with pytest.raises(RecipeError, match="tokns"):
        result.to("text", tokns=30)


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


def test_a_question_without_a_name_of_the_graph_is_no_failure_and_a_failing_driver_is():
    assert not made([], [], [], links=(), error=NO_LINK).failed
    assert made([], [], [], error="bfs: the server is down").failed
    assert not made([Triple("a", "r", "b")], [1.0], []).failed


def test_links_that_the_graph_lacks_are_told_below_the_answer(result):
    trace = {**result.retrieval.subgraph.trace, "absent_links": ["Q9", "Q8"]}
    some = attrs.evolve(result.retrieval, subgraph=attrs.evolve(result.retrieval.subgraph, trace=trace))
    read = answered(attrs.evolve(result, retrieval=some), text="Euro", entities=("eur",), support=(0,))
    note = "the graph lacks Q9, Q8, which the question was linked to as well"
    assert read.to_text().splitlines()[2].strip() == note
    refused = answered(attrs.evolve(result, retrieval=some), text="", entities=(), support=(), enough=False)
    assert refused.to_text().splitlines()[2].strip() == note
    assert attrs.evolve(result, retrieval=some).to_text().splitlines()[1] == f"note: {note}"
    failed = attrs.evolve(some, error="bfs: the server is down", subgraph=Subgraph(trace=trace))
    assert Result(failed).to_text().splitlines()[1:] == ["bfs: the server is down", f"note: {note}"]


def test_a_sure_triple_of_a_completed_graph_is_proof_as_any_triple_of_the_graph(result):
    read = answered(result, text="Euro", entities=("eur",), support=(1, 3, 5))
    some = read.retrieval.subgraph
    sure = attrs.evolve(some, confidences=(1.0,) * len(some.triples))
    told = attrs.evolve(read, retrieval=attrs.evolve(read.retrieval, subgraph=sure)).to_text()
    assert told == read.to_text()
