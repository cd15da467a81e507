"""The candidates of a hop, and choices among more options than one prompt holds."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_structgpt.candidates import PagedRequest, choose_paged
from srtk_plugin_structgpt.option_choice import numbered
from srtk_plugin_structgpt.search_state import SearchState
from srtk_plugin_structgpt.structgpt import StructGptExpander
from srtk_plugin_structgpt.templates import SEARCH_TEMPLATES, read_templates
from srtk_plugin_structgpt.tog import TogExpander

from srtk_framework.testing.path_scorer import ToyPathScorer
from srtk_framework.testing.scripted import ScriptedGenerator, misnumbered, picks
from srtk_framework.text import count_tokens
from srtk_framework.values import Question

TEMPLATE = read_templates({}, SEARCH_TEMPLATES)["first-relations"]
VALUES = {"question": "What?", "topics": "a", "here": "a", "history": ""}
COUNTRY = "In which country was Jeff's spouse born?"
HUB = [("hub", f"relation number {i}", f"end{i}") for i in range(60)]


def request(options, most=1):
    state = SearchState(Question("q", "What?"), "What?", {"a": ("a",)}, [])
    return PagedRequest(state, TEMPLATE, options, VALUES, most)


def by_worth(worth):
    """Return a generator that chooses the options of greatest worth."""

    def choose(prompt):
        order = sorted(range(len(prompt.options)), key=lambda i: (-worth[prompt.options[i]], i))
        return json.dumps([i + 1 for i in order[: prompt.most]])

    return ScriptedGenerator(default=choose, rater=lambda prompt, option: worth[option])


class Batches(ScriptedGenerator):
    """Record the size of each batch of prompts."""

    def __init__(self, worth):
        super().__init__(default=by_worth(worth).default)
        self.sizes = []

    def generate(self, prompts):
        self.sizes.append(len(prompts))
        return super().generate(prompts)


@pytest.mark.parametrize("cls", [StructGptExpander, TogExpander])
def test_a_hub_fits_into_prompts_and_no_relation_is_lost(graph_of, walk, ask, cls):
    script = [("follow", picks("relation number 57"))]
    # Where the page does not have it, the first is chosen.
    expander = walk(graph_of(HUB), [*script, ("follow", "[1]")], cls=cls, tokens=80, max_iterations=1, stop="depth")
    found = expander.expand([ask("What of the 57th?", "hub")])[0]
    assert ("hub", "relation number 57", "end57") in found.triples
    prompts = expander.generator.asked("follow")
    assert len(prompts) > 2
    assert {option for prompt in prompts for option in prompt.options} == {relation for _, relation, _ in HUB}
    assert all(count_tokens(numbered(prompt.options)) <= 80 for prompt in prompts)
    assert not [wrong for prompt in prompts for wrong in misnumbered(prompt)]
    assert found.trace["offered"] == 60
    assert "cut" not in found.trace


def test_without_a_limit_all_relations_are_one_prompt(walk, ask):
    expander = walk(MemoryGraph(triples=HUB), [("follow", "[1]")], tokens=None, max_iterations=1, stop="depth")
    expander.expand([ask("What?", "hub")])
    assert [len(prompt.options) for prompt in expander.generator.prompts] == [60]


def test_a_page_that_cannot_be_read_is_counted_and_the_others_are_heard(walk, ask):
    script = [("relation number 0\n", "what?"), ("follow", picks("relation number 57")), ("follow", "[1]")]
    expander = walk(MemoryGraph(triples=HUB), script, tokens=80, max_iterations=1, stop="depth")
    found = expander.expand([ask("What of the 57th?", "hub")])[0]
    assert found.trace["unreadable"] == 1
    assert [triple.object for triple in found.triples] == ["end57"]


def test_a_walk_of_which_no_page_can_be_read_says_so(walk, ask):
    expander = walk(MemoryGraph(triples=HUB), [("follow", "what?")], tokens=80, max_iterations=1, stop="depth")
    found = expander.expand([ask("What?", "hub")])[0]
    assert found.triples == ()
    assert found.trace["stop"] == "no reply could be read"


def test_pages_of_all_questions_are_asked_by_one_call():
    worth = {f"relation {i:02}": i % 17 for i in range(40)}
    generator = Batches(worth)
    choose_paged(generator, "reply", [request(list(worth)), request(list(worth)[:30]), request(["relation 03"])], 60)
    first, *later = generator.sizes
    assert first > 4
    assert len(later) <= 2


@pytest.mark.parametrize("by", ["reply", "rating"])
@given(
    st.lists(st.integers(0, 9), max_size=40),
    st.integers(1, 4),
    st.one_of(st.none(), st.integers(1, 60)),
)
def test_one_who_knows_what_is_best_chooses_the_same_from_pages_as_at_once(by, worths, most, tokens):
    worth = {f"option {i:03}": value for i, value in enumerate(worths)}
    options = list(worth)
    paged = choose_paged(by_worth(worth), by, [request(options, most)], tokens)
    assert paged == choose_paged(by_worth(worth), by, [request(options, most)], None)


@given(st.lists(st.integers(1, 12), min_size=1, max_size=40), st.integers(1, 4), st.integers(1, 80))
def test_pages_keep_to_the_tokens_unless_they_have_only_twice_as_many_options_as_are_chosen(lengths, most, tokens):
    options = [f"{i} " + "word " * length for i, length in enumerate(lengths)]
    generator = ScriptedGenerator(default="[1]")
    choose_paged(generator, "reply", [request(options, most)], tokens)
    for prompt in generator.prompts:
        assert count_tokens(numbered(prompt.options)) <= tokens or len(prompt.options) <= 2 * most


def test_candidates_are_in_the_order_of_their_text(show, walk, ask):
    expander = walk(show, [("follow", picks("spouse"))], max_iterations=1)
    expander.expand([ask(COUNTRY, "jeff")])
    assert expander.generator.prompts[0].options == ("is nominee of", "profession", "spouse", "spouse_s")


def test_noise_of_the_graph_is_not_offered(graph_of, show_rows, walk, ask):
    graph = graph_of(show_rows, noise=["spouse*"])
    expander = walk(graph, [("follow", "[1]")], max_iterations=1)
    expander.expand([ask(COUNTRY, "jeff")])
    assert expander.generator.prompts[0].options == ("is nominee of", "profession")


def test_a_scorer_narrows_what_the_generator_sees(show, walk, ask):
    scorer = ToyPathScorer()
    scorer.open()
    expander = walk(show, [("follow", "[1]")], scorer=scorer, narrow=2, max_iterations=1)
    found = expander.expand([ask("What profession has the spouse?", "jeff")])[0]
    assert expander.generator.prompts[0].options == ("profession", "spouse")
    assert found.trace["cut"]["narrow"] == 2
    assert found.trace["offered"] == 4


def test_options_may_show_the_whole_path(show, walk, ask):
    expander = walk(show, [("follow", picks("spouse", "spouse → born_in"))], show="path", max_iterations=2)
    found = expander.expand([ask(COUNTRY, "jeff")])[0]
    assert ("lisa", "born_in", "oslo") in found.triples
