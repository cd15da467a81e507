"""Triple patterns out of records, tables and SPARQL."""

from __future__ import annotations

import pytest
from srtk_plugin_datasets.patterns import Patterns

from srtk_framework.values import InputError, Literal, Pattern

SELECT = "SELECT ?x WHERE { wd:Q937 wdt:P19 ?x }\n"
PREFIXES = "PREFIX wd: <http://www.wikidata.org/entity/>\nPREFIX wdt: <http://www.wikidata.org/prop/direct/>\n"


def read(tmp_path, name, text, **settings):
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    return [(q.pattern, q.answers) for q in Patterns(path=str(file), **settings).read()]


def test_records_keep_their_ids_and_gold(tmp_path):
    file = tmp_path / "p.jsonl"
    file.write_text('{"id": "a", "pattern": ["Q1", "P2", null], "answer_entities": ["Q3"]}\n')
    (question,) = Patterns(path=str(file)).read()
    assert (question.id, question.text, question.answers) == ("a", "(Q1, P2, ?)", ("Q3",))


def test_a_record_without_a_pattern_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"question a has no pattern; write \[subject, relation, null\]"):
        read(tmp_path, "p.jsonl", '{"id": "a", "question": "who"}\n')


def test_facts_become_patterns_of_both_ends_with_all_their_fillers(tmp_path):
    text = "a\tr\tb\na\tr\tc\nd\tr\tb\n"
    assert read(tmp_path, "t.tsv", text) == [
        (Pattern("a", "r", None), ("b", "c")),
        (Pattern(None, "r", "b"), ("a", "d")),
        (Pattern(None, "r", "c"), ("a",)),
        (Pattern("d", "r", None), ("b",)),
    ]
    assert read(tmp_path, "t.tsv", text, ends="subject") == [
        (Pattern(None, "r", "b"), ("a", "d")),
        (Pattern(None, "r", "c"), ("a",)),
    ]


def test_a_question_mark_is_an_open_end_without_gold(tmp_path):
    assert read(tmp_path, "t.tsv", 'a\tr\t?\n?\tr\t"1"\n') == [
        (Pattern("a", "r", None), None),
        (Pattern(None, "r", Literal('"1"')), None),
    ]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("a\tr", "expected subject, relation and object separated by tabs"),
        ("?\tr\t?", "both ends are open"),
        ("a\t?\tb", "the relation is open"),
    ],
)
def test_a_bad_line_of_a_table_is_named(tmp_path, line, what):
    with pytest.raises(InputError, match=rf"t\.txt:2: {what}"):
        read(tmp_path, "t.txt", f"a\tr\tb\n{line}\n")


def test_queries_follow_one_another(tmp_path):
    text = f"# comment\n{PREFIXES}{SELECT}\n{PREFIXES}SELECT ?s\n{{\n ?s wdt:P19 wd:Q3012\n}}\n"
    assert read(tmp_path, "q.rq", text) == [(Pattern("Q937", "P19", None), None), (Pattern(None, "P19", "Q3012"), None)]
    assert read(tmp_path, "q.rq", PREFIXES + SELECT, prefixes={})[0][0].subject == "http://www.wikidata.org/entity/Q937"


@pytest.mark.parametrize(
    ("query", "what"),
    [
        ("SELECT ?x WHERE { wd:Q1 wdt:P2 ?x . ?x wdt:P3 ?y }", "this query has 2 triple patterns"),
        ("SELECT ?x WHERE { wd:Q1 ?x ?y }", "this pattern has 2 variables"),
        ("SELECT ?x WHERE { wd:Q1 wdt:P2 ?x } LIMIT 3", "this query has Slice"),
        ("ASK { wd:Q1 wdt:P2 wd:Q3 }", "this query has AskQuery"),
        ("SELECT ?x WHERE { wd:Q1 wdt:P2/wdt:P3 ?x }", "this query has a property path"),
        ("SELECT ?x WHERE { wd:Q1 wdt:P2 ", "this is no SPARQL query"),
        ("SELECT ?x WHERE { no:Q1 wdt:P2 ?x }", "this query cannot be read"),
    ],
)
def test_another_query_is_refused_with_its_line(tmp_path, query, what):
    with pytest.raises(InputError, match=rf"q\.sparql:1: .*{what}"):
        read(tmp_path, "q.sparql", PREFIXES + query)
