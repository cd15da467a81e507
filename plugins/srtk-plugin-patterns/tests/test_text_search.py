"""The completer ``text-search``: a corpus with ambiguous names, what it learns, and what never reaches a query."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from srtk_plugin_datasets.webnlg import read_webnlg, webnlg_files
from srtk_plugin_index.indexes.bm25 import Bm25Index
from srtk_plugin_local.dictionary.linker import DictionaryLinker
from srtk_plugin_local.memory import MemoryGraph
from srtk_plugin_patterns.lexical_forms import LexicalForms
from srtk_plugin_patterns.mining import mine
from srtk_plugin_patterns.path_patterns import MiningSettings
from srtk_plugin_patterns.snippet_search import ranked_hits, table_ways, text_questions
from srtk_plugin_patterns.text_model import TextModel, chosen_paths
from srtk_plugin_patterns.text_queries import VARIANTS, tells
from srtk_plugin_patterns.text_search import TextSearchCompleter, TextSearchFitSettings

from srtk_framework.graph import TripleTable
from srtk_framework.records import write_model
from srtk_framework.roles import Index, TrainingTask
from srtk_framework.values import DriverError, Entry, Hit, Literal, Pattern, Step, Triple

LABELS = {"born_in": "born in", "city_of": "city of", "works_in": "works in"}
LABELS |= {name: name.capitalize() for name in ("ann", "bob", "eve", "cid", "dan", "riga", "oslo", "latvia", "norway")}

# Mars, Echo and Nova are persons and bands; Mia and Leo are persons alone.
BORN = {"mars": "riga", "echo": "oslo", "nova": "riga", "mia": "riga", "leo": "oslo", "ben": "riga", "tom": "oslo"}
COUNTRY = {"riga": "latvia", "oslo": "norway"}
AMBIGUOUS = ("echo", "mars", "nova")
FACTS = [
    *(Triple(person, "born_in", city) for person, city in BORN.items()),
    *(Triple(person, "nationality", COUNTRY[city]) for person, city in BORN.items()),
    *(Triple(city, "city_of", country) for city, country in COUNTRY.items()),
    Triple("mia", "friend", "leo"),
]
NAMES = {id_: id_.capitalize() for id_ in {end for fact in FACTS for end in (fact.subject, fact.object)}}
DOCUMENTS = {
    # The text of the band has the word of the relation; that of the person says it in other words.
    **{
        f"{name}-band": f"{name.capitalize()} is a loud band whose nationality is British and whose songs are long."
        for name in AMBIGUOUS
    },
    **{
        f"{name}-person": f"{name.capitalize()} from {BORN[name].capitalize()} shows the passport that"
        f" {COUNTRY[BORN[name]].capitalize()} issued."
        for name in AMBIGUOUS
    },
    **{
        f"{name}-person": f"{name.capitalize()} has the nationality of {COUNTRY[city].capitalize()}, like Ben or"
        f" Tom, and comes from {city.capitalize()}."
        for name, city in BORN.items()
        if name not in AMBIGUOUS
    },
}


def filled(folder, texts: Mapping[str, str]) -> Bm25Index:
    index = Bm25Index(path=str(folder / "words"))
    index.create()
    index.add([Entry(id_, text) for id_, text in texts.items()])
    index.commit()
    return index


def opened(driver):
    driver.open()
    return driver


def lexicon(names: Mapping[str, str]) -> DictionaryLinker:
    """Link names without knowing a fact."""
    return opened(DictionaryLinker(graph=MemoryGraph(triples=[(id_, "is", id_) for id_ in names], labels=names)))


def without(*hidden: Triple) -> MemoryGraph:
    return MemoryGraph(triples=[fact for fact in FACTS if fact not in hidden], labels={**NAMES, **LABELS})


def completer(tmp_path, graph: MemoryGraph, **changes) -> TextSearchCompleter:
    drivers = {"index": changes.pop("index", None) or filled(tmp_path, DOCUMENTS), "linker": lexicon(NAMES)}
    return opened(TextSearchCompleter(graph=graph, **drivers, **changes))


def nationality(person: str) -> Triple:
    return Triple(person, "nationality", COUNTRY[BORN[person]])


def learnt(tmp_path, held: Sequence[Triple], hidden: Sequence[Triple] = (), **changes) -> TextSearchCompleter:
    made = completer(tmp_path, without(*hidden), **changes)
    made.fit(TrainingTask([], None, tmp_path, held_out=held), TextSearchFitSettings(least=1))
    return made


HELD = [nationality("echo"), nationality("nova"), nationality("mia")]


def first_snippets(made: TextSearchCompleter, person: str) -> dict[str, bool]:
    """Return by kind of query whether its first snippet tells the nationality of a person."""
    (question,) = text_questions(
        made.graph,
        LexicalForms(made.graph),
        made._model,
        table_ways(TripleTable.of(made.graph), 3),
        [Pattern(person, "nationality")],
    )
    hits = ranked_hits(made.index, [question.queries[variant] for variant in VARIANTS], 1)
    wanted = NAMES[COUNTRY[BORN[person]]]
    return {variant: tells(row[0].snippet, [wanted]) for variant, row in zip(VARIANTS, hits, strict=True)}


@pytest.mark.parametrize("person", ["mars", "echo", "nova", "mia", "leo"])
def test_names_of_the_path_tell_an_ambiguous_entity_apart(tmp_path, person):
    hidden = nationality(person)
    made = learnt(tmp_path, [fact for fact in HELD if fact != hidden], [hidden])
    found = first_snippets(made, person)
    assert found["s+r"] is (person not in AMBIGUOUS)
    assert found["s+r+n"] is True


def test_the_kind_of_query_is_the_best_on_held_out_facts(tmp_path):
    made = learnt(tmp_path, [*HELD, Triple("mia", "friend", "leo")])
    assert made._model.paths["nationality"] == [(Step("born_in"), Step("city_of"))]
    assert made._model.variants[Step("nationality")] == "s+r+n"
    assert made._model.variants[Step("friend")] == "s+r"  # each kind tells it, so the simplest is chosen
    plain = learnt(tmp_path / "plain", [nationality("mia"), nationality("leo")])
    assert plain._model.variants[Step("nationality")] == "s+r"


def test_the_figures_of_training_are_those_of_the_held_out_facts(tmp_path):
    made = completer(tmp_path, without())
    figures = made.fit(TrainingTask([], None, tmp_path, held_out=HELD), TextSearchFitSettings(least=1))
    assert figures["facts"] == 6  # three at each end
    # Of the three objects, s+r tells that of Mia, who has no namesake, and s+r+n all.
    assert 1 >= figures["learnt P@1"] >= figures["s+r P@1"] + 2 / 6


@pytest.mark.parametrize("person", ["mars", "mia"])
def test_a_nationality_is_completed_with_its_snippet_and_never_by_a_person(tmp_path, person):
    """The snippet of Mia names Ben and Tom as well, who are no countries."""
    hidden = nationality(person)
    made = learnt(tmp_path, HELD if person == "mars" else HELD[:2], [hidden])
    (row,) = made.complete([Pattern(person, "nationality")], None)
    assert row[0].triple == hidden
    assert [one.kind for one in row[0].evidence] == ["snippet"]
    assert row[0].evidence[0].source == f"{person}-person"
    assert row[0].evidence[0].text == DOCUMENTS[f"{person}-person"]
    assert {one.triple.object for one in row} <= {"latvia", "norway"}
    everything = attrs.evolve(made, types="none")
    everything.open()
    everything._model = made._model
    proposed = {one.triple.object for one in everything.complete([Pattern(person, "nationality")], None)[0]}
    assert person == "mars" or {"ben", "tom"} <= proposed


def test_the_subject_is_completed_too(tmp_path):
    made = learnt(tmp_path, HELD[:2], [nationality("mia")])
    (row,) = made.complete([Pattern(None, "nationality", "latvia")], None)
    assert nationality("mia") in [one.triple for one in row]
    assert not {one.triple.subject for one in row} & {"riga", "oslo", "norway"}


def test_untrained_it_asks_by_entity_and_relation(tmp_path):
    made = completer(tmp_path, without(nationality("mia"), nationality("mars")))
    rows = made.complete([Pattern("mia", "nationality"), Pattern("mars", "nationality")], None)
    assert [one.triple for one in rows[0]] == [nationality("mia")]
    assert rows[1][0].evidence[0].source == "mars-person"


class Spy(Index):
    """Keeps what is searched for."""

    def __init__(self, inner: Index) -> None:
        self.inner, self.asked = inner, []

    def size(self) -> int:
        return self.inner.size()

    def search(self, texts: Sequence[str], k: int) -> Sequence[Sequence[Hit]]:
        self.asked += texts
        return self.inner.search(texts, k)


def searched(tmp_path, fact: Triple, variant: str) -> bytes:
    """Return what is searched for when a fact is hidden, and when it is held out of training."""
    spy = Spy(filled(tmp_path, DOCUMENTS))
    graph = MemoryGraph(
        triples=[*(one for one in FACTS if one[:2] != fact[:2]), fact], labels={**NAMES, **LABELS, "mars": "Mars"}
    )
    made = opened(TextSearchCompleter(graph=graph, index=spy, linker=lexicon(NAMES), variant=variant))
    made.fit(TrainingTask([], None, tmp_path, held_out=[fact]), TextSearchFitSettings(least=1))
    # The subject's end is asked by the object, which is the target of the other end.
    trained = [text for text in spy.asked if not text.startswith("nationality ")]
    spy.asked.clear()
    hidden = MemoryGraph(triples=[one for one in FACTS if one[:2] != fact[:2]], labels={**NAMES, **LABELS})
    asking = attrs.evolve(made, graph=hidden)
    asking.open()
    asking._model = made._model
    asking.complete([Pattern(fact.subject, fact.relation)], None)
    return "\n".join([*trained, "--", *spy.asked]).encode()


@pytest.mark.parametrize("variant", [*VARIANTS, "all"])
def test_another_target_changes_no_byte_of_a_query(tmp_path, variant):
    one = searched(tmp_path / "one", Triple("mars", "nationality", "latvia"), variant)
    other = searched(tmp_path / "other", Triple("mars", "nationality", "norway"), variant)
    assert one == other
    assert len(one) > 20


nodes = st.sampled_from("abcdef")
facts = st.builds(Triple, nodes.map(str), st.sampled_from(["r", "s", "t"]), nodes.map(str))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(facts, min_size=4, max_size=25, unique=True), nodes, nodes, nodes)
def test_no_target_reaches_a_query_of_any_graph(rows, subject, one, other):
    """Queries for a held-out fact are the same whatever its object is."""
    written = []
    for target in (one, other):
        fact = Triple(subject, "r", target)
        # Both targets' facts are out, so that the rest of the graph is the same.
        rest = [row for row in rows if row not in (Triple(subject, "r", one), Triple(subject, "r", other))]
        table = TripleTable.from_triples([*rest, fact]).without([fact])
        graph = MemoryGraph(triples=[*rest, fact], labels={name: f"Node {name}" for name in "abcdef"})
        model = TextModel(chosen_paths(mine(table, MiningSettings(3, None, None, 1)), 2, 20))
        found = text_questions(graph, LexicalForms(graph), model, table_ways(table, 5), [Pattern(subject, "r")])
        written.append(repr([sorted(question.queries.items()) for question in found]).encode())
    assert written[0] == written[1]


DATA = Path(os.environ.get("SRTK_DATA", Path(__file__).parents[4] / "shared" / "data"))


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "webnlg").exists(), reason="no webnlg in the data folder; set SRTK_DATA")
def test_no_target_reaches_a_query_of_webnlg():
    """What is learnt and asked stays the same to the byte when the held-out facts exchange their objects."""
    files = webnlg_files(DATA / "webnlg", ("train", "dev"))
    rows = sorted({triple for file in files for entry in read_webnlg(file) for triple in entry.triples})
    rows = [row for row in rows if not isinstance(row.object, Literal)]
    held = rows[::5]
    of_relation: dict[str, list[str]] = {}
    for fact in held:
        of_relation.setdefault(fact.relation, []).append(fact.object)
    turned = {relation: objects[1:] + objects[:1] for relation, objects in of_relation.items()}
    swapped = [Triple(fact.subject, fact.relation, turned[fact.relation].pop(0)) for fact in held]
    out = {*held, *swapped}
    rest = [row for row in rows if row not in out]
    written = []
    for facts in (held, swapped):
        table = TripleTable.from_triples([*rest, *facts]).without(facts)
        graph = MemoryGraph(triples=[*rest, *facts])
        model = TextModel(chosen_paths(mine(table, MiningSettings(3, 100, None, 2)), 2, 20))
        asked = [Pattern(fact.subject, fact.relation) for fact in facts]
        found = text_questions(graph, LexicalForms(graph), model, table_ways(table, 5), asked)
        assert sum(bool(question.queries["s+r+n"]) for question in found) > 50
        written.append(json.dumps([model.to_json(), [sorted(one.queries.items()) for one in found]]).encode())
    assert sum(one != other for one, other in zip(held, swapped, strict=True)) > 300
    assert written[0] == written[1]


def test_what_was_learnt_is_kept_and_read_again(tmp_path):
    hidden = nationality("mars")
    made = learnt(tmp_path, HELD, [hidden])
    made.save(tmp_path / "model")
    again = completer(tmp_path / "again", without(hidden), path=str(tmp_path / "model"), index=made.index)
    assert again._model == made._model
    assert (
        again.fingerprint() == attrs.evolve(made, path=str(tmp_path / "model")).fingerprint() or again._model.variants
    )
    patterns = [Pattern("mars", "nationality"), Pattern(None, "nationality", "latvia")]
    assert again.complete(patterns, 5) == made.complete(patterns, 5)
    # A graph that lacks what was held out is the one that it learnt from.
    masked = completer(tmp_path / "masked", without(hidden, *HELD), path=str(tmp_path / "model"), index=made.index)
    assert masked._model == made._model


def test_a_model_of_another_graph_is_refused(tmp_path):
    made = learnt(tmp_path, HELD)
    made.save(tmp_path / "model")
    with pytest.raises(DriverError, match="was learnt from another graph"):
        completer(tmp_path / "x", without(nationality("leo")), path=str(tmp_path / "model"), index=made.index)
    write_model(tmp_path / "model" / "text-search.json", {"a": 1})
    with pytest.raises(DriverError, match="is no model of `text-search`"):
        completer(tmp_path / "y", without(), path=str(tmp_path / "model"), index=made.index)
    with pytest.raises(DriverError, match="cannot be read"):
        completer(tmp_path / "z", without(), path=str(tmp_path / "none"), index=made.index)


def test_patterns_of_another_graph_are_refused(tmp_path):
    mine(TripleTable.from_triples(FACTS[:-1]), MiningSettings(3, None, None, 1)).save(tmp_path / "patterns")
    made = completer(tmp_path, without(), patterns=str(tmp_path / "patterns"))
    with pytest.raises(DriverError, match="were mined from another graph"):
        made.fit(TrainingTask([], None, tmp_path, held_out=HELD), TextSearchFitSettings())


def test_mined_patterns_are_used_as_they_are(tmp_path):
    left = TripleTable.of(without(*HELD))
    mine(left, MiningSettings(3, None, None, 1)).save(tmp_path / "patterns")
    made = learnt(tmp_path, HELD, patterns=str(tmp_path / "patterns"))
    assert made._model == learnt(tmp_path / "own", HELD)._model


def test_without_held_out_facts_only_paths_are_learnt(tmp_path, caplog):
    made = learnt(tmp_path, [])
    assert made._model.variants == {}
    assert made._model.paths["nationality"]
    assert "no fact was held out" in caplog.text


def test_an_index_without_documents_is_refused(tmp_path):
    with pytest.raises(DriverError, match=r"the index has no documents; fill it with `srtk index build RECIPE`"):
        completer(tmp_path, without(), index=filled(tmp_path, {}))


def test_an_index_that_others_fill_need_not_know_its_size(tmp_path):
    class Engine(Index):
        def size(self) -> int:
            return 0

        def search(self, texts, k):
            return [[Hit(Entry("https://x.example", "Mia, Latvia"), -1.0)] for _ in texts]

    made = completer(tmp_path, without(nationality("mia")), index=Engine())
    assert made.complete([Pattern("mia", "nationality")], None)[0][0].triple == nationality("mia")


def test_an_index_of_vectors_is_refused(tmp_path):
    class Vectors(Index):
        def size(self) -> int:
            return 0

        def near(self, vectors, k):
            return [[] for _ in vectors]

    with pytest.raises(DriverError, match="searches vectors, not texts"):
        completer(tmp_path, without(), index=Vectors())


def test_an_entity_without_a_name_is_not_asked_about(tmp_path):
    spy = Spy(filled(tmp_path, DOCUMENTS))
    graph = MemoryGraph(triples=[("Q1", "born_in", "riga"), ("Q2", "born_in", "Q3")], labels={"Q2": "Mia"})
    made = opened(TextSearchCompleter(graph=graph, index=spy, linker=lexicon(NAMES)))
    assert made.complete([Pattern("Q1", "nationality"), Pattern("Q1", "born_in")], None) == [[], []]
    assert spy.asked == []
    made.complete([Pattern("Q2", "born_in")], None)
    assert spy.asked == ["Mia born in"]


def test_snippets_that_do_not_mention_the_entity_count_only_if_asked_for(tmp_path):
    texts = {"1": "A nationality of Latvia is common.", "2": "Mia"}
    graph = without(nationality("mia"))
    for about, wanted in ((True, []), (False, ["latvia"])):
        made = completer(tmp_path / str(about), graph, index=filled(tmp_path / str(about), texts), about=about)
        (row,) = made.complete([Pattern("mia", "nationality")], None)
        assert [one.triple.object for one in row] == wanted


def test_confidence_is_the_share_of_the_sum_of_reciprocal_ranks(tmp_path):
    texts = {"1": "Mia nationality Latvia", "2": "Mia nationality Norway x", "3": "Mia nationality Latvia x y"}
    made = completer(tmp_path, without(nationality("mia")), index=filled(tmp_path, texts))
    (row,) = made.complete([Pattern("mia", "nationality")], None)
    latvia, norway = 1 + 1 / 3, 1 / 2
    assert [one.triple.object for one in row] == ["latvia", "norway"]
    assert [one.confidence for one in row] == pytest.approx(
        [latvia / (1 + latvia + norway), norway / (1 + latvia + norway)], rel=1e-5
    )
    assert [one.score for one in row[0].evidence] == [1.0, 0.3333]


def test_results_of_several_queries_are_joined_by_reciprocal_ranks(tmp_path):
    index = filled(tmp_path, {"1": "a b", "2": "b c", "3": "c c c b x y z"})
    (joined,) = ranked_hits(index, [["a b", "b c"]], 3)
    singles = index.search(["a b", "b c"], 3)
    sums: dict[str, float] = {}
    for hits in singles:
        for rank, hit in enumerate(hits, 1):
            sums[hit.entry.id] = sums.get(hit.entry.id, 0.0) + 1 / rank
    assert [hit.entry.id for hit in joined] == sorted(sums, key=lambda id_: (-sums[id_], id_))
    assert ranked_hits(index, [[], ["a"]], 3)[0] == []


def test_the_figures_count_relations_facts_and_the_kinds_that_won(tmp_path):
    made = completer(tmp_path, without())
    figures = made.fit(TrainingTask([], None, tmp_path, held_out=HELD), TextSearchFitSettings(least=1))
    kinds = [name for name in figures if name.startswith("chosen ")]
    assert kinds == [f"chosen {variant}" for variant in VARIANTS]
    assert sum(figures[name] for name in kinds) == 2  # both ends of the relation
    assert figures["chosen s+r+n"] >= 1
    assert (figures["held_out"], figures["facts"], figures["twins"]) == (3, 6, 0)
    assert figures["relations"] == len(made._model.paths)
    few = made.fit(TrainingTask([], None, tmp_path, held_out=HELD), TextSearchFitSettings(least=1, facts=2))
    assert few["facts"] == 4
    told = made.fit(TrainingTask([], lambda: {"hits": 0.5}, tmp_path), TextSearchFitSettings(least=1))
    assert told["hits"] == 0.5
    assert "s+r P@1" not in told


def test_each_setting_and_what_was_learnt_are_in_the_fingerprint(tmp_path):
    index, prints = filled(tmp_path, DOCUMENTS), set()
    changes = [{}, {"variant": "all"}, {"snippets": 3}, {"ways": 1}, {"types": "none"}, {"about": False}]
    for one in changes:
        prints.add(completer(tmp_path, without(), index=index, **one).fingerprint())
    prints.add(learnt(tmp_path, HELD, index=index).fingerprint())
    assert len(prints) == len(changes) + 1


def test_at_most_three_snippets_are_reasons_each_once_and_the_strongest_first(tmp_path):
    texts = {str(n): f"Mia nationality Latvia {'x ' * n}" for n in range(1, 6)}
    made = completer(tmp_path, without(nationality("mia")), index=filled(tmp_path, texts), variant="all")
    (row,) = made.complete([Pattern("mia", "nationality")], None)
    sources = [one.source for one in row[0].evidence]
    assert sources == ["1", "2", "3"]
    assert [one.score for one in row[0].evidence] == sorted((one.score for one in row[0].evidence), reverse=True)


def test_many_patterns_are_asked_as_each_alone_and_unknown_ones_not_at_all(tmp_path):
    facts = [Triple(f"p{n}", "nationality", "latvia") for n in range(66)] + FACTS
    names = {**NAMES, **LABELS, **{f"p{n}": f"Person {n}" for n in range(66)}}
    graph = MemoryGraph(triples=[fact for fact in facts if fact != nationality("mia")], labels=names)
    made = completer(tmp_path, graph)
    patterns = [Pattern(f"p{n}", "nationality") for n in range(66)]
    patterns += [Pattern("mia", "nationality"), Pattern("nobody", "nationality"), Pattern("mia", "unknown")]
    found = made.complete(patterns, None)
    assert found[-3][0].triple == nationality("mia")
    assert found[-2:] == [[], []]
    assert found[-3] == made.complete([patterns[-3]], None)[0]
    (rates,) = made.rate([patterns[-3]], [["latvia", "oslo", "nowhere"]])
    assert rates == [found[-3][0].confidence, 0.0, 0.0]
