"""The expander ``index`` keeps triples that the graph holds, and says what it lacks."""

from __future__ import annotations

import pytest
from srtk_plugin_index.corpora.triples import TripleCorpus
from srtk_plugin_index.expander import IndexExpander
from srtk_plugin_index.indexes.bm25 import Bm25Index
from srtk_plugin_local.memory import MemoryGraph

from srtk_framework.roles import Index
from srtk_framework.values import Budget, DriverError, Entry, Question, Triple

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
    assert found.trace["hits"] == [
        ["Latvia\tcapital\tRiga", found.scores[0]],
        ["Estonia\tcapital\tTallinn", found.scores[1]],
    ]
    assert found.provenance == (facts.source(),) * 2
    assert not found.paths


def test_a_triple_of_several_entries_has_the_best_score(tmp_path):
    one, two = (Triple(*fact) for fact in FACTS[:2])
    index = index_of(tmp_path, Entry("1", "Riga Latvia Riga", (one, two)), Entry("2", "Latvia is a state", (two,)))
    found = expanded(index, graph(), "Riga in Latvia")
    assert found.triples == (one, two)
    assert found.scores[0] == found.scores[1]
    assert [id_ for id_, _ in found.trace["hits"]] == ["1"]  # the second adds no triple
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
