"""The reader: parsed replies, the triples shown, and the entities of an answer."""

from __future__ import annotations

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_structgpt.reader import AnswerReply, LlmReader, parse_answer

from srtk_framework.testing.scripted import ScriptedGenerator
from srtk_framework.values import Link, Question, Reply, Subgraph, Triple

KNOWN = {"norway": ["norway"], "oslo": ["oslo"], "no": ["no"]}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('{"enough": true, "answer": ["Norway"], "triples": [2, 1, 2]}', AnswerReply(True, ("Norway",), (1, 2))),
        (
            'Here:\n```json\n{"enough": true, "answer": "Norway", "triples": 1}\n```',
            AnswerReply(True, ("Norway",), (1,)),
        ),
        ('I know: {"enough": true, "answers": ["no", "no"]} Good.', AnswerReply(True, ("no",))),
        ('<think>{"enough": false}</think>{"enough": true, "answer": ["x"]}', AnswerReply(True, ("x",))),
        ('{"enough": true, "answer": [1990], "triples": [1, 9, 0, true, "2"]}', AnswerReply(True, ("1990",), (1,), 2)),
        ('{"enough": false, "answer": ["Norway"], "triples": [1]}', AnswerReply(False)),
        ("Norway", AnswerReply(True, ("Norway",))),
        ('"NORWAY."', AnswerReply(True, ("NORWAY",))),
        ("Denmark", None),
        ("There is no answer in these facts, I know nothing.", None),
        ('{"enough": true, "answer": []}', None),
        ('{"enough": "yes", "answer": ["Norway"]}', None),
        ('{"enough": true, "answer": ["a"]} {"enough": false}', None),
        ('{"enough": tr', None),
        ('{"a":' * 50_000, None),
        ("", None),
    ],
)
def test_a_reply_about_an_answer_is_read_or_found_unclear(text, wanted):
    assert parse_answer(text, 3, KNOWN) == wanted


@given(st.text(max_size=60), st.integers(1, 5))
def test_no_reply_breaks_the_reading(text, count):
    found = parse_answer(text, count, {})
    assert found is None or all(1 <= number <= count for number in found.numbers)


def words(texts):
    return [len(text.split()) for text in texts]


def test_a_reader_shows_what_fits_and_counts_the_rest(memory, show_rows, ask):
    @attrs.define(eq=False)
    class Words(ScriptedGenerator):
        def count_tokens(self, texts):
            return words(texts)

    generator = Words(default='{"enough": false}')
    reader = LlmReader(memory(show_rows), generator, tokens=13)  # a line has six: number, names, two bars
    reader.open()
    found = Subgraph(triples=tuple(Triple(*row) for row in show_rows[:3]))
    answer = reader.read([ask("Who?", "jeff")], [found])[0]
    assert "profession" not in generator.prompts[0].messages[-1].content
    assert answer.trace["unshown"] == 1
    assert answer.trace["calls"][0]["shown"] == 2


def read_by(graph, reply, **settings):
    generator = ScriptedGenerator(default=reply)
    reader = LlmReader(graph, generator, **settings)
    reader.open()
    found = Subgraph(
        triples=(Triple("jeff", "award", "oscar"), Triple("jeff", "spouse", "lisa")),
        qualifiers=((("year", "1990"), ("for", "lisa")), ()),
    )
    question = Question("q", "When did Jeff get the Oscar?", (Link("jeff"),))
    return reader.read([question], [found])[0], generator.prompts


def test_a_reader_of_names_takes_no_other_words_and_asks_once_more(memory, show_rows):
    other = '{"enough": true, "answer": ["Denmark"], "triples": [1]}'
    answer, prompts = read_by(memory(show_rows), other, named=True)
    assert not answer.enough
    assert answer.trace["calls"][0]["how"] == "fallback"
    assert len(prompts) == 2
    allowed = prompts[0].schema["properties"]["answer"]["items"]["enum"]
    assert allowed == ["jeff", "oscar", "lisa", "1990"]
    free, prompts = read_by(memory(show_rows), other)
    assert (free.text, free.entities) == ("Denmark", ())
    assert "enum" not in prompts[0].schema["properties"]["answer"]["items"]


def test_the_value_of_a_qualifier_is_an_answer_but_no_entity_of_the_triples(memory, show_rows):
    reply = '{"enough": true, "answer": ["1990", "Lisa"], "triples": [1]}'
    answer, _ = read_by(memory(show_rows), reply, named=True)
    assert answer.text == "1990, Lisa"
    assert answer.entities == ("lisa",)
    assert answer.support == (0,)


def test_lists_of_a_schema_have_an_end(memory, show_rows):
    _, prompts = read_by(memory(show_rows), '{"enough": false}')
    lists = prompts[0].schema["properties"]
    assert (lists["answer"]["maxItems"], lists["triples"]["maxItems"]) == (4, 2)


def test_the_trace_counts_replies_that_were_cut(memory, show_rows):
    cut = Reply('{"enough": true, "answer": ["os', finish="length")
    answer, _ = read_by(memory(show_rows), cut)
    assert answer.trace["calls"][0]["cut"] == 2
