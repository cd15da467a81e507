"""The prompts: their wording, fixed by version, their placeholders, and what fits into a number of tokens."""

from __future__ import annotations

from pathlib import Path

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_structgpt.option_choice import numbered
from srtk_plugin_structgpt.reader import LlmReader
from srtk_plugin_structgpt.structgpt import StructGptExpander
from srtk_plugin_structgpt.templates import PLACEHOLDERS, digest, read_templates, token_fit
from srtk_plugin_structgpt.tog import TogExpander

from srtk_framework.testing.scripted import ScriptedGenerator, misnumbered
from srtk_framework.text import count_tokens
from srtk_framework.values import InputError

SNAPSHOTS = Path(__file__).with_name("prompts")

VALUES = {
    "question": "In which country was Jeff's {spouse} born?",
    "topics": "Jeff",
    "here": "Lisa, {braces}",
    "history": "spouse; then born in",
    "count": "2",
    "answer": "Norway",
    "hint": "Norway (fact 2)",
    "triples": "1. Lisa | born in | Oslo\n2. Oslo | country | Norway",
}


@pytest.mark.parametrize("name", sorted(PLACEHOLDERS))
def test_a_prompt_reads_as_it_was_written_down(name):
    template = read_templates({})[name]
    if "options" in PLACEHOLDERS[name]:
        prompt = template.choice_prompt(["spouse", "is {nominee} of"], VALUES, 1, 2, "query")
        assert not misnumbered(prompt)
    else:
        prompt = template.prompt(VALUES)
    text = f"{name}, version {template.version}\n"
    text += "".join(f"\n[{message.role}]\n{message.content}\n" for message in prompt.messages)
    wanted = (SNAPSHOTS / f"{name}.txt").read_text(encoding="utf-8")
    assert text == wanted, "a prompt that changes gets a new version, and a new file here"


def test_a_prompt_may_be_replaced_and_traces_say_so(memory, show_rows, walk, ask, tmp_path):
    mine = tmp_path / "mine.yaml"
    mine.write_text("version: mine-2\nuser: |\n  Choose for {question}:\n  {options}\n", encoding="utf-8")
    script = [("Choose for", "[1]")]
    expander = walk(memory(show_rows), script, prompts={"first-relations": str(mine)}, max_iterations=1)
    found = expander.expand([ask("Who?", "jeff")])[0]
    assert found.trace["calls"][0]["version"] == "mine-2"
    assert len(expander.generator.prompts[0].messages) == 1
    assert expander.fingerprint() != attrs.evolve(expander, prompts={}).fingerprint()


def test_a_fingerprint_follows_the_wording_and_not_the_file(tmp_path):
    for name, text in (("a", "{question}"), ("b", "{question}"), ("c", "Say: {question}")):
        (tmp_path / name).write_text(f"version: 1\nuser: '{text}'\n", encoding="utf-8")
    same, other, third = (digest({"closed-book": str(tmp_path / name)}) for name in "abc")
    assert same == other != third


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("version: 1\nuser: '{question} {optoins}'", "optoins"),
        ("version: 1\nuser: '{question}'", "must contain the placeholder {options}"),
        ("version: 1\nuser: '{question} {options'", "braces"),
        ("user: '{question} {options}'", "version"),
        ("version: 1\nuser: 3", "must be text"),
        ("version: 1\nuser: a\nmore: b", "no other"),
        ("version: [", ":1:11: this is not YAML"),
        ("- a", "keys version and user"),
    ],
)
def test_a_prompt_that_cannot_be_filled_is_refused(tmp_path, memory, show_rows, text, wrong):
    (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
    expander = StructGptExpander(
        memory(show_rows),
        ScriptedGenerator(),
        stop="depth",
        prompts={"first-relations": str(tmp_path / "mine.yaml")},
    )
    with pytest.raises(InputError, match=wrong):
        expander.open()


def test_a_prompt_that_is_not_there_is_refused():
    with pytest.raises(InputError, match="cannot read"):
        read_templates({"answer": "no/such/file.yaml"})
    with pytest.raises(InputError, match="Did you mean 'answer'"):
        read_templates({"answr": "x.yaml"})


def test_a_prompt_of_another_driver_is_refused_and_named(memory, show_rows, tmp_path):
    graph, generator = memory(show_rows), ScriptedGenerator()
    expander = StructGptExpander(graph, generator, stop="depth", prompts={"answer": "mine.yaml"})
    with pytest.raises(
        InputError, match="'answer' belongs to a reader; the prompts of this driver are first-relations"
    ):
        expander.open()
    with pytest.raises(InputError, match="'entities' belongs to another expander"):
        attrs.evolve(expander, prompts={"entities": "mine.yaml"}).open()
    with pytest.raises(InputError, match="the prompts of this driver are answer"):
        LlmReader(graph, generator, prompts={"support": "mine.yaml"}).open()
    (tmp_path / "mine.yaml").write_text("version: 1\nuser: '{question} {options}'\n", encoding="utf-8")
    TogExpander(graph, generator, stop="depth", prompts={"entities": str(tmp_path / "mine.yaml")}).open()


def words(texts):
    return [len(text.split()) for text in texts]


def test_of_three_lines_of_four_tokens_ten_tokens_show_two():
    rows = [["a b c", "d e f", "g h i"]]  # with its number each line has four
    assert token_fit(words, rows, 10) == [2]
    assert token_fit(words, rows, None) == [3]
    assert token_fit(words, rows, 3) == [0]


@given(st.lists(st.lists(st.text("ab |", max_size=12), max_size=6), max_size=4), st.integers(1, 30))
def test_what_is_shown_is_the_longest_beginning_within_the_tokens(rows, tokens):
    def count(texts):
        return [count_tokens(text) for text in texts]

    for row, size in zip(rows, token_fit(count, rows, tokens), strict=True):
        assert count_tokens(numbered(row[:size])) <= tokens
        if size < len(row):
            assert count_tokens(numbered(row[: size + 1])) > tokens
