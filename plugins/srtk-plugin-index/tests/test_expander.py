"""The expander ``index`` keeps triples that the graph holds, and says what it lacks."""

from __future__ import annotations

import attrs
import pytest
from srtk_plugin_index.corpora.triples import TripleCorpus
from srtk_plugin_index.enhancement import Enhancement
from srtk_plugin_index.expander import IndexExpander
from srtk_plugin_index.indexes.bm25 import Bm25Index
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework.records import record_from_retrieval, retrieval_from_record
from srtk_framework.roles import EntityLinker, Index
from srtk_framework.values import Budget, DriverError, Entry, Link, Question, Retrieval, Search, Triple

FACTS = [("Latvia", "capital", "Riga"), ("Riga", "river", "Daugava"), ("Estonia", "capital", "Tallinn")]


def graph(facts=FACTS, **settings) -> MemoryGraph:
    made = MemoryGraph(triples=facts, **settings)
    made.open()
    return made


def index_of(folder, *entries, graph=None) -> Bm25Index:
    corpora = [TripleCorpus(graph=graph)] if graph is not None else []
    index = Bm25Index(path=str(folder / "index"), corpora=corpora)
    index.create()
    for corpus in corpora:
        index.add(list(corpus.read()))
    index.add(list(entries))
    index.commit()
    return index


def expanded(index, facts, text, **settings):
    expander = IndexExpander(index=index, graph=facts, **settings)
    expander.open()
    return expander.expand([Question("q", text)])[0]


def test_the_triples_of_the_best_entries_come_first(tmp_path):
    facts = graph()
    found = expanded(index_of(tmp_path, graph=facts), facts, "What is the capital of Latvia?")
    assert found.triples == (Triple(*FACTS[0]), Triple(*FACTS[2]))
    assert found.scores[0] > found.scores[1] > 0
    hits = (("Latvia\tcapital\tRiga", found.scores[0]), ("Estonia\tcapital\tTallinn", found.scores[1]))
    assert found.searches == (Search("What is the capital of Latvia?", hits),)
    assert found.hits == hits
    assert found.provenance == (facts.source(),) * 2
    assert not found.paths


def test_a_triple_of_several_entries_has_the_best_score(tmp_path):
    one, two = (Triple(*fact) for fact in FACTS[:2])
    index = index_of(tmp_path, Entry("1", "Riga Latvia Riga", (one, two)), Entry("2", "Latvia is a state", (two,)))
    found = expanded(index, graph(), "Riga in Latvia")
    assert found.triples == (one, two)
    assert found.scores[0] == found.scores[1]
    assert [id_ for id_, _ in found.hits] == ["1", "2"]
    assert found.trace["entries"] == 2


def test_triples_that_the_graph_lacks_are_counted_and_left_out(tmp_path):
    gone = Triple("Latvia", "capital", "Jelgava")
    index = index_of(tmp_path, Entry("1", "capital of Latvia", (gone, Triple(*FACTS[0]))))
    found = expanded(index, graph(), "the capital of Latvia")
    assert found.triples == (Triple(*FACTS[0]),)
    assert found.trace["missing"] == 1


def test_an_empty_subgraph_says_why(tmp_path):
    gone = Entry("1", "capital of Latvia", (Triple("Latvia", "capital", "Jelgava"),))
    index = index_of(tmp_path, gone, Entry("2", "a document about rivers"))
    for text, reason in (
        ("capital", "none of the 1 triples of 1 entries is in the graph"),
        ("rivers", "the 1 entries found have no triples"),
        ("xyzzy", "no entry of the index fits the question"),
        ("", "no entry of the index fits the question"),
    ):
        assert reason in expanded(index, graph(), text).trace["reason"]


def test_qualifiers_and_budgets_hold(tmp_path):
    facts = graph(qualifiers=[(*FACTS[0], "since", "1918")])
    index = index_of(tmp_path, graph=facts)
    found = expanded(index, facts, "capital of Latvia", budget=Budget(triples=1))
    assert found.qualifiers == ((("since", "1918"),),)
    assert found.trace["cut"] == {"triples": 1}


def test_k_limits_the_entries(tmp_path):
    facts = graph()
    assert len(expanded(index_of(tmp_path, graph=facts), facts, "capital", k=1).triples) == 1


def test_an_index_of_another_graph_is_refused_or_kept(tmp_path):
    index = index_of(tmp_path, graph=graph())
    fewer = graph(FACTS[1:])
    with pytest.raises(
        DriverError, match=r"the index was built from .* and the graph is .*srtk index build RECIPE.*stale: keep"
    ):
        expanded(index, fewer, "capital")
    found = expanded(index, fewer, "capital", stale="keep")
    assert (found.triples, found.trace["missing"]) == ((Triple(*FACTS[2]),), 1)


def test_an_index_of_vectors_alone_is_refused(tmp_path):
    class Vectors(Index):
        def near(self, vectors, k):
            return [[] for _ in vectors]

        def size(self):
            return 0

    with pytest.raises(DriverError, match="searches vectors, not texts"):
        IndexExpander(index=Vectors(), graph=graph()).open()


class Names(EntityLinker):
    """Links the names of the facts wherever they stand."""

    def link(self, texts):
        names = sorted({end for subject, _, object_ in FACTS for end in (subject, object_)})
        return [[Link(name, 1.0) for name in names if name in text] for text in texts]


CHOICE = Question("q", "What lies in Latvia", options=("Riga", "Tallinn"))


def test_a_question_with_options_is_searched_for_with_each(tmp_path):
    facts = graph()
    expander = IndexExpander(index=index_of(tmp_path, graph=facts), graph=facts, k=1, alone=False)
    expander.open()
    found = expander.expand([CHOICE])[0]
    assert [search.text for search in found.searches] == ["What lies in Latvia Riga", "What lies in Latvia Tallinn"]
    assert [[id_ for id_, _ in search.hits] for search in found.searches] == [
        ["Latvia\tcapital\tRiga"],
        ["Estonia\tcapital\tTallinn"],
    ]
    assert found.triples == (Triple(*FACTS[0]), Triple(*FACTS[2]))
    assert found.scores == tuple(score for _, score in found.hits)


def test_question_and_options_are_searched_for_alone_after_that(tmp_path):
    facts = graph()
    expander = IndexExpander(index=index_of(tmp_path, graph=facts), graph=facts, k=1)
    expander.open()
    searches = expander.expand([CHOICE])[0].searches
    assert [search.text for search in searches[2:]] == ["What lies in Latvia", "Riga", "Tallinn"]
    assert searches[4].hits[0][0] == "Estonia\tcapital\tTallinn"
    assert [search.text for search in expander.expand([Question("q", "Riga")])[0].searches] == ["Riga"]


def test_joins_of_question_and_option_are_added_to_the_search(tmp_path):
    facts = graph()
    expander = IndexExpander(
        index=index_of(tmp_path, graph=facts), graph=facts, k=1, alone=False, enhance="joins", linker=Names(), joins=1
    )
    expander.open()
    searches = expander.expand([CHOICE])[0].searches
    assert [search.text for search in searches] == [
        "What lies in Latvia Riga. Latvia capital Riga",
        "What lies in Latvia Tallinn",
    ]
    backwards = Question("q", "Riga", links=(Link("Riga"),), options=("Latvia",))
    assert expander.expand([backwards])[0].searches[0].text == "Riga Latvia. Latvia capital Riga"


def test_joins_beyond_the_most_are_counted(tmp_path):
    more = [*FACTS, ("Riga", "country", "Latvia"), ("Latvia", "largest", "Riga"), ("Latvia", "neighbour", "Estonia")]
    facts = graph(more)
    index = index_of(tmp_path, graph=facts)
    question = attrs.evolve(CHOICE, options=("Riga", "Estonia", "Tallinn"))

    def searched(joins, **settings):
        settings |= {"enhance": "joins", "linker": Names(), "joins": joins}
        expander = IndexExpander(index=index, graph=facts, k=9, **settings)
        return expander.expand([question, attrs.evolve(question, options=("Estonia",))])

    one, single = searched(1, budget=Budget(triples=2))
    assert one.searches[0].text == "What lies in Latvia Riga. Latvia capital Riga"
    assert one.trace["cut"] == {"joins": 2, "triples": 4}
    assert "joins" not in single.trace["cut"]
    assert searched(2)[0].trace["cut"] == {"joins": 1}
    assert "cut" not in searched(3)[0].trace


def test_joins_without_a_linker_are_refused(tmp_path):
    facts = graph()
    with pytest.raises(DriverError, match="add `linker"):
        IndexExpander(index=index_of(tmp_path, graph=facts), graph=facts, enhance="joins").open()


def test_a_k_above_the_size_is_told(tmp_path, caplog):
    facts = graph()
    IndexExpander(index=index_of(tmp_path, graph=facts), graph=facts, k=9).open()
    assert "k is 9, above the 3 in the index: a search may find all entries; lower `k`" in caplog.text


def test_searches_are_in_the_record_and_come_back(tmp_path):
    facts = graph()
    found = expanded(index_of(tmp_path, graph=facts), facts, "What is the capital of Latvia?")
    record = record_from_retrieval(Retrieval(Question("q", "?"), found))
    assert record["searches"][0]["hits"][0] == ["Latvia\tcapital\tRiga", found.scores[0]]
    assert retrieval_from_record(record, "here").subgraph.searches == found.searches


def test_joins_of_the_likeliest_links_come_first_whichever_way_they_point():
    pairs = [("a", "x"), ("y", "a"), ("b", "x"), ("y", "b"), ("a", "a"), ("z", "b")]
    facts = graph([(one, f"{one}{other}", other) for one, other in pairs])

    class Scored(EntityLinker):
        def link(self, texts):
            found = {"A": [Link("a", 0.9), Link("b", 0.5)], "X": [Link("x", 0.6), Link("y", 0.4), Link("a", 0.1)]}
            return [found.get(text, [Link("x", 0.6), Link("z", 0.3), Link("y", 0.1)]) for text in texts]

    question = Question("q", "A", options=("X", "Z"))
    told = [attrs.evolve(question, id="p", text="no link", links=(Link("b", 0.5), Link("a", 0.9)))]
    rows, cut = Enhancement(facts, Scored(), 9).texts([question, *told])
    first = "a ax x. y ya a. b bx x. y yb b"  # .54, .36, .3 and .2
    second = "a ax x. b bx x. z zb b. y ya a. y yb b"  # .54, .3, .15, .09 and .05
    assert rows == [[first, second]] * 2
    assert cut == [0, 0]
    assert Enhancement(facts, Scored(), 3).texts([question])[1] == [1 + 2]
    assert Enhancement(facts, Scored()).texts([Question("q", "A", links=(Link("a"),))]) == ([[]], [0])


def test_a_linker_alone_adds_no_joins(tmp_path):
    facts = graph()
    expander = IndexExpander(index=index_of(tmp_path, graph=facts), graph=facts, k=1, alone=False, linker=Names())
    expander.open()
    assert expander.expand([CHOICE])[0].searches[0].text == "What lies in Latvia Riga"
    assert not expander.needs_links()


@pytest.mark.parametrize(("size", "k", "told"), [(0, 9, False), (1, 2, True), (3, 3, False), (3, 4, True)])
def test_only_a_k_above_a_known_size_is_told(tmp_path, caplog, size, k, told):
    index = index_of(tmp_path, *(Entry(f"{n}", "text") for n in range(size)))
    IndexExpander(index=index, graph=graph(), k=k).open()
    assert ("lower `k`" in caplog.text) is told


def test_triples_of_a_search_are_of_no_path(tmp_path):
    facts = graph()
    found = expanded(index_of(tmp_path, graph=facts), facts, "capital")
    assert found.path_of == (-1, -1)
