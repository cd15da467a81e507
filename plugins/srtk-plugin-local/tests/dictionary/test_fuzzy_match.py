"""Names with spelling errors: which of them the dictionary linker finds."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_local.dictionary.fuzzy_match import near_names, similarity, typos
from srtk_plugin_local.dictionary.linker import DictionaryLinker
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework.values import DriverError

pytest.importorskip("rapidfuzz", reason="names with spelling errors need rapidfuzz")

NAMES = (
    "Arnold Schwarzenegger", "Airplane!", "Italy", "Barack Obama", "Jaws", "Star Trek", "New York", "Paris",
    "Санкт-Петербург", "Apollo 11",
)  # fmt: skip
GRAPH = MemoryGraph([[name, "in", "list"] for name in NAMES])


@pytest.fixture
def linker() -> DictionaryLinker:
    return DictionaryLinker(GRAPH, fuzzy=0.8)


@pytest.mark.parametrize(
    ("text", "mention", "entity"),
    [
        ("Who is Arnold Schwarzeneger?", "Arnold Schwarzeneger", "Arnold Schwarzenegger"),
        ("Who is Barak Obama from?", "Barak Obama", "Barack Obama"),
        ("what did barack obmaa do", "barack obmaa", "Barack Obama"),
        ("Which are the best Star Treck movies", "Star Treck", "Star Trek"),
        ("who directed airplane?", "airplane", "Airplane!"),
        ("Which Italian city is it", "Italian", "Italy"),
        ("где Санкт-Петербрг?", "Санкт-Петербрг", "Санкт-Петербург"),
    ],
)
def test_a_name_one_slip_away_is_found(linker: DictionaryLinker, text: str, mention: str, entity: str) -> None:
    assert [(text[link.start : link.end], link.entity) for link in linker.link([text])[0]] == [(mention, entity)]


@pytest.mark.parametrize(
    "text", ["the Apollo 12 landed", "nothing of that sort", "who made Jews", "Arnold Schwarzbier"]
)
def test_another_number_a_short_name_and_other_words_are_left_alone(linker: DictionaryLinker, text: str) -> None:
    assert linker.link([text]) == [[]]


def test_a_name_that_is_written_right_scores_more(linker: DictionaryLinker) -> None:
    right, wrong = linker.link(["films of Barack Obama", "films of Barak Obama"])
    assert right[0].score > wrong[0].score


def test_names_that_are_written_right_are_linked_as_without_it(linker: DictionaryLinker) -> None:
    text = "Did Barack Obama see Jaws or Airplane! in New York?"
    assert linker.link([text]) == DictionaryLinker(GRAPH).link([text])


def test_the_bound_is_kept() -> None:
    assert DictionaryLinker(GRAPH, fuzzy=0.95).link(["Who is Barak Obama from?"]) == [[]]


def test_a_missing_library_is_told_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rapidfuzz", None)
    with pytest.raises(DriverError, match=r"srtk-plugin-local\[fuzzy\]"):
        DictionaryLinker(GRAPH, fuzzy=0.8).open()


@pytest.mark.parametrize("fuzzy", [0.0, 1.0, 85])
def test_a_bound_that_is_no_likeness_is_refused(fuzzy: float) -> None:
    with pytest.raises(ValueError, match="fuzzy is a similarity between 0 and 1"):
        DictionaryLinker(GRAPH, fuzzy=fuzzy)


@given(st.text("abcdefgh", min_size=6, max_size=12), st.data())
def test_every_single_slip_of_a_name_is_undone(name: str, data: st.DataObject) -> None:
    wrong = data.draw(st.sampled_from(sorted(set(typos(name)))).filter(lambda slip: slip.isalpha() and slip != name))
    assert near_names(MemoryGraph([[name, "r", "x"]]), [wrong], 0.5) == [(similarity(wrong, name), [(name, [name])])]


@given(st.text("ab1 ", max_size=6))
def test_slips_leave_digits_alone(name: str) -> None:
    digits = [letter for letter in name if letter.isdigit()]
    assert all([letter for letter in wrong if letter.isdigit()] == digits for wrong in typos(name))
