"""Laws of the dictionary linker, over texts made of names, words and marks of many scripts."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_local.dictionary.linker import DictionaryLinker
from srtk_plugin_local.dictionary.word_spans import Words
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework.text import fold

NAMES = [
    "Jaws", "jaws", "It", "Up", "New York", "York", "José Martí", "O'Connor", "Airplane!", "$9.99", "C++", "東京", "東",
    "서울", "กรุงเทพ", "हिन्दी", "القاهرة", "Ελλάδα", "İstanbul", "Straße", "🎬", "10", "a_b", "Mr. & Mrs. Smith",
]  # fmt: skip
ALIASES = {"Jaws": ["The Shark", "York"], "東京": ["Tokyo"], "C++": ["it"]}
PARTS = [
    *NAMES, *(name.upper() for name in NAMES), *(unicodedata.normalize("NFD", name) for name in NAMES), "the shark",
    "who", "in", "was", "'s", "’", "?", "!", "…", "\u0301", "\u200d", "\u202e", "\ufe0f", "-", "“", ")", "_", "\u0000",
]  # fmt: skip
TEXTS = st.lists(
    st.sampled_from(PARTS) | st.sampled_from([" ", " ", "  ", "\n"]) | st.text(max_size=2), max_size=14
).map("".join)

GRAPH = MemoryGraph([[name, "in", f"list {len(name)}"] for name in NAMES], aliases=ALIASES)
LINKERS = st.sampled_from(
    [
        DictionaryLinker(GRAPH),
        DictionaryLinker(GRAPH, n_best=3, keep=0.0),
        DictionaryLinker(GRAPH, n_best=2, longest=False),
        DictionaryLinker(GRAPH, max_words=1),
    ]
)
PLAIN = str.maketrans("’‘ʼ“”„–—‑‐", "'''\"\"\"----")


@given(LINKERS, TEXTS)
def test_every_span_folds_to_a_name_of_its_entity(linker: DictionaryLinker, text: str) -> None:
    for link in linker.link([text])[0]:
        assert link.start is not None
        mention = text[link.start : link.end]
        names = {fold(name) for name in [link.entity, *ALIASES.get(link.entity, ())]}
        assert fold(mention) in names or fold(mention.translate(PLAIN)) in names
        assert mention == mention.strip()
        assert link.name == link.entity


@given(LINKERS, TEXTS)
def test_links_are_in_order_and_scores_within_bounds(linker: DictionaryLinker, text: str) -> None:
    links = linker.link([text])[0]
    keys = [(link.start, -link.score, link.entity) for link in links]
    assert keys == sorted(keys)
    assert all(0 < link.score <= 1 for link in links)
    assert len({(link.start, link.end, link.entity) for link in links}) == len(links)


@given(TEXTS)
def test_mentions_do_not_overlap(text: str) -> None:
    spans = sorted({(link.start, link.end) for link in DictionaryLinker(GRAPH, n_best=3).link([text])[0]})
    assert all(left[1] <= right[0] for left, right in pairwise(spans))


@given(LINKERS, st.lists(TEXTS, max_size=4), st.integers(0, 4))
def test_links_do_not_depend_on_the_batch(linker: DictionaryLinker, texts: list[str], cut: int) -> None:
    whole = linker.link(texts)
    assert whole == [linker.link([text])[0] for text in texts]
    assert whole == linker.link(texts[:cut]) + linker.link(texts[cut:])


@given(TEXTS)
def test_n_best_only_adds_links(text: str) -> None:
    one, three = (DictionaryLinker(GRAPH, n_best=n).link([text])[0] for n in (1, 3))
    assert set(one) <= set(three)
    assert {(link.start, link.end) for link in one} == {(link.start, link.end) for link in three}


@given(TEXTS, st.integers(1, 5))
def test_spans_are_folded_as_they_stand(text: str, most: int) -> None:
    for name, start, end, first, last in Words(text, frozenset({"who", "in"})).spans(most):
        assert name in (fold(text[start:end]), fold(text[start:end].translate(PLAIN)))
        assert 0 <= start < end <= len(text)
        assert first <= last


@given(
    st.sampled_from(NAMES),
    st.sampled_from(["", "who is ", "🎬 ", "e\u0301 ", "ﬁ, "]),
    st.sampled_from(["", "?", " now", "'s"]),
)
def test_a_name_alone_among_other_words_is_found(name: str, before: str, after: str) -> None:
    text = before + name + after
    links = DictionaryLinker(GRAPH, stop_words=["who", "is", "now"], keep=0.0).link([text])[0]
    assert any(link.start == len(before) and fold(link.entity) == fold(name) for link in links)
