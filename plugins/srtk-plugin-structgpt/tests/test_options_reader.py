"""The reader ``options-llm`` shows the triples, chooses an option, and says what it rests on."""

from __future__ import annotations

import pytest
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_structgpt.options_reader import OptionsLlmReader

from srtk_framework.testing.scripted import ScriptedGenerator, said
from srtk_framework.values import DriverError, Question, Subgraph, Triple

FACTS = (Triple("ferret", "AtLocation", "pet_store"), Triple("ferret", "IsA", "mammal"))
QUESTION = Question("q1", "Where would you find a ferret?", options=("zoo", "Pet store", "sea"))


def reader(generator, **settings) -> OptionsLlmReader:
    graph = MemoryGraph(triples=FACTS, labels={"pet_store": "pet store", "AtLocation": "is at"})
    graph.open()
    made = OptionsLlmReader(graph, generator, **settings)
    made.open()
    return made


def found(*triples) -> Subgraph:
    return Subgraph(triples, (0.0,) * len(triples))


def test_the_likeliest_option_is_chosen_by_the_facts_shown():
    rater = ScriptedGenerator(rater=lambda prompt, option: float(option.lower() in said(prompt).split("Question")[0]))
    (answer,) = reader(rater).read([QUESTION], [found(*FACTS)])
    assert answer.text == "Pet store"
    assert answer.support == (0,)
    assert answer.trace["calls"][0]["rates"] == [0.0, 1.0, 0.0]
    assert "\nferret | is at | pet store\n" in said(rater.prompts[0])


def test_the_number_of_a_reply_is_the_option():
    (answer,) = reader(ScriptedGenerator(default="[3]")).read([QUESTION], [found(*FACTS)])
    assert (answer.text, answer.support) == ("sea", ())


def test_a_reply_that_cannot_be_read_twice_is_no_answer():
    generator = ScriptedGenerator(default="who knows?")
    (answer,) = reader(generator).read([QUESTION], [found(*FACTS)])
    assert not answer.enough
    assert len(generator.prompts) == 2


def test_no_tokens_show_no_triple():
    generator = ScriptedGenerator(default="[1]")
    (answer,) = reader(generator, tokens=0).read([QUESTION], [found(*FACTS)])
    assert "pet store" not in said(generator.prompts[0]).split("Question")[0]
    assert answer.trace["unshown"] == 2


def test_a_question_without_options_is_refused():
    with pytest.raises(DriverError, match="question q2 has no options to choose from"):
        reader(ScriptedGenerator()).read([Question("q2", "who?")], [found()])


def test_a_generator_that_does_not_rate_cannot_be_asked_to():
    with pytest.raises(DriverError, match="does not rate options; set `by: reply`"):
        reader(ScriptedGenerator(), by="rating")
