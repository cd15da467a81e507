from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st
from srtk_plugin_knowlybert.template_mining import Mined, annotated_sentences, distinct_templates, mine_templates
from srtk_plugin_knowlybert.templates import Template

from srtk_framework.graph import TripleTable
from srtk_framework.values import EntityMention, Entry, Triple

TABLE = TripleTable.from_triples(
    [
        Triple("ann", "born", "riga"),
        Triple("ann", "lives", "riga"),
        Triple("bob", "born", "oslo"),
        Triple("ann", "knows", "bob"),
        Triple("bob", "knows", "ann"),
    ]
)


def entry(text: str, **names: str) -> Entry:
    """Make an entry whose mentions are the first occurrences of some names."""
    found = [EntityMention(text.index(name), text.index(name) + len(name), id_) for id_, name in names.items()]
    return Entry(text, text, mentions=tuple(sorted(found)))


def test_a_sentence_of_a_pair_is_a_template_of_each_of_its_relations() -> None:
    found = mine_templates([entry("Ann B. comes from Riga.", ann="Ann B.", riga="Riga")], TABLE, 15)
    assert found == {
        relation: [Mined(Template("{subject} comes from {object}."), (Triple("ann", relation, "riga"),))]
        for relation in ("born", "lives")
    }


def test_the_object_may_come_first() -> None:
    found = mine_templates([entry("Oslo is where Bob was born.", bob="Bob", oslo="Oslo")], TABLE, 15)
    assert [one.template.text for one in found["born"]] == ["{object} is where {subject} was born."]


def test_longer_sentences_and_those_with_more_entities_are_left_out() -> None:
    texts = [
        entry("Bob was born in Oslo by the sea.", bob="Bob", oslo="Oslo"),
        entry("Bob met Ann in Oslo.", bob="Bob", ann="Ann", oslo="Oslo"),
        entry("Bob lives.", bob="Bob"),
    ]
    assert mine_templates(texts, TABLE, 7) == {}
    assert list(mine_templates(texts, TABLE, 8)) == ["born"]


def test_a_pair_that_is_related_both_ways_gives_no_template() -> None:
    assert mine_templates([entry("Ann knows Bob.", ann="Ann", bob="Bob")], TABLE, 15) == {}


def test_a_mention_is_never_cut_at_the_end_of_a_sentence() -> None:
    one = entry("Ann lives. Go! Inc. is a firm. It grew.", ann="Ann", firm="Go! Inc.")
    assert [text for text, _ in annotated_sentences(one)] == ["Ann lives.", "Go! Inc. is a firm.", "It grew."]
    for text, mentions in annotated_sentences(one):
        assert [text[a:b] for a, b, _ in mentions] == [name for name in ("Ann", "Go! Inc.") if name in text]


def test_one_template_of_a_chain_of_similar_ones_is_kept_with_all_their_triples() -> None:
    texts = ["{subject} was born in the city of {object} .", "{subject} was born in the town of {object} ."]
    texts += ["{subject} was born in the old town of {object} .", "{object} is the birthplace of {subject} ."]
    mined = [Mined(Template(text), (Triple("a", "r", str(n)),)) for n, text in enumerate(texts)]
    kept = distinct_templates(mined, 0.8, "words")
    assert [one.template.text for one in kept] == [texts[3], texts[0]]
    assert [triple.object for triple in kept[1].triples] == ["0", "1", "2"]


words = st.lists(st.sampled_from(["was", "born", "in", "the", "town", "of"]), max_size=6).map(" ".join)


@given(st.lists(words, min_size=1, max_size=6, unique=True))
def test_clusters_are_those_of_every_order(middles: list[str]) -> None:
    mined = [Mined(Template(f"{{subject}} {middle} {{object}}"), (Triple("a", "r", "b"),)) for middle in middles]
    wanted = distinct_templates(mined, 0.8, "words")
    for order in itertools.islice(itertools.permutations(mined), 24):
        assert distinct_templates(order, 0.8, "words") == wanted


def test_a_pair_of_an_entity_with_itself_gives_no_template_and_one_in_other_sentences_does() -> None:
    table = TripleTable.from_triples([Triple("ann", "likes", "ann"), Triple("ann", "born", "riga")])
    text = "Ann likes Ann. Ann sings. Ann left Riga."
    spans = [(0, 3, "ann"), (10, 13, "ann"), (15, 18, "ann"), (26, 29, "ann"), (35, 39, "riga")]
    mentions = tuple(EntityMention(*span) for span in spans)
    found = mine_templates([Entry("e", text, mentions=mentions)], table, 15)
    assert {relation: [one.template.text for one in some] for relation, some in found.items()} == {
        "born": ["{subject} left {object}."]
    }


def test_the_same_template_of_several_pairs_has_the_triples_of_all_sorted() -> None:
    texts = [
        entry("Bob was born in Oslo.", bob="Bob", oslo="Oslo"),
        entry("Ann was born in Riga.", ann="Ann", riga="Riga"),
    ]
    (mined,) = mine_templates(texts, TABLE, 15)["born"]
    assert mined.triples == (Triple("ann", "born", "riga"), Triple("bob", "born", "oslo"))
    assert mine_templates([entry("[X] Bob was born in Oslo.", bob="Bob", oslo="Oslo")], TABLE, 15) == {}


def test_a_mention_that_touches_the_end_of_a_sentence_joins_it_to_no_other() -> None:
    one = entry("Ann met Bob! It rained. 東京。Riga sank", bob="Bob!", tokyo="東京。", riga="Riga", sank="sank")
    assert [(text, [id_ for _, _, id_ in mentions]) for text, mentions in annotated_sentences(one)] == [
        ("Ann met Bob!", ["bob"]),
        ("It rained.", []),
        ("東京。", ["tokyo"]),
        ("Riga sank", ["riga", "sank"]),
    ]


def test_a_pair_that_is_related_both_ways_by_some_relations_gives_templates_of_its_others() -> None:
    facts = [("ann", "asks", "bob"), ("ann", "knows", "bob"), ("bob", "knows", "ann"), ("ann", "likes", "bob")]
    table = TripleTable.from_triples([Triple(*fact) for fact in facts])
    assert list(mine_templates([entry("Ann knows Bob.", ann="Ann", bob="Bob")], table, 15)) == ["asks", "likes"]
