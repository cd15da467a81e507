"""Sessions of driver objects, questions in their several forms, and calls from many threads and event loops."""

from __future__ import annotations

import asyncio
import copy
import itertools
import os
import pickle
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import attrs
import networkx
import pytest

import srtk_framework
from srtk_framework.host.observers import Call, Observer
from srtk_framework.recipe import from_data
from srtk_framework.recipe.recipe import located
from srtk_framework.roles import EntityLinker, Expander, KnowledgeGraph, PathScorer, Reader
from srtk_framework.run import Runner, Session
from srtk_framework.values import (
    Answer,
    Budget,
    BusyError,
    DriverError,
    LateError,
    Link,
    NodeSet,
    Question,
    RecipeError,
    Retrieval,
    RunError,
    Step,
    Subgraph,
    Triple,
)

TRIPLES = [
    Triple(f"town {i}", relation, f"{kind} {i % 5}")
    for i in range(12)
    for relation, kind in (("lies in", "land"), ("has mayor", "mayor"))
]
TEXTS = [f"Where is town {i}?" for i in range(12)]


@attrs.define(eq=False)
class Towns(KnowledgeGraph):
    """A graph of a few towns; counts how often it is opened and closed."""

    opened: int = attrs.field(default=0, init=False)
    closed: int = attrs.field(default=0, init=False)

    def open(self) -> None:
        self.opened += 1

    def close(self) -> None:
        self.closed += 1

    def frontiers(self, node_sets: Sequence[Sequence[str]]) -> list[NodeSet]:
        known = {node for triple in TRIPLES for node in (triple.subject, triple.object)}
        return [NodeSet(node for node in nodes if node in known) for nodes in node_sets]

    def steps(self, frontiers: Sequence[Any], inverse: bool) -> list[list[Step]]:
        return [sorted({Step(t.relation) for t in TRIPLES if t.subject in f.ids()}) for f in frontiers]

    def follow(self, frontiers: Sequence[Any], steps: Sequence[Step], limit: int | None) -> list[NodeSet]:
        return [NodeSet(t.object for t in row) for row in self.triples(frontiers, steps, limit)]

    def triples(self, frontiers: Sequence[Any], steps: Sequence[Step], limit: int | None) -> list[list[Triple]]:
        return [
            [t for t in TRIPLES if t.subject in f.ids() and t.relation == s.relation][:limit]
            for f, s in zip(frontiers, steps, strict=True)
        ]

    def labels(self, ids: Sequence[str]) -> list[str]:
        return [id_.title() for id_ in ids]

    def find(self, names: Sequence[str]) -> list[list[str]]:
        return [[t.subject for t in TRIPLES[:1] if t.subject == name] for name in names]

    def source(self) -> str:
        return "towns"


@attrs.define(eq=False)
class Names(EntityLinker):
    """Links the town at the end of a text; waits where it is shut."""

    shut: threading.Event = attrs.field(factory=threading.Event, repr=False)
    asked: list[list[str]] = attrs.field(factory=list, repr=False)
    go: threading.Event = attrs.field(factory=threading.Event, repr=False)

    def link(self, texts: Sequence[str]) -> list[list[Link]]:
        self.asked.append(list(texts))
        if self.shut.is_set():
            assert self.go.wait(20)
        return [[Link(t.removeprefix("Where is ").rstrip("?"))] if "town" in t else [] for t in texts]


@attrs.define(eq=False)
class Around(Expander):
    """Reads what leaves each linked town.

    Attributes:
        graph: Where.
        wrong: Text to error, for a question that cannot be answered.
        width: A setting.
    """

    graph: KnowledgeGraph
    wrong: dict[str, Any] = attrs.field(factory=dict, repr=False)
    width: int = 9
    batches: list[list[str]] = attrs.field(init=False, factory=list, repr=False)

    def expand(self, questions: Sequence[Question]) -> list[Subgraph]:
        self.batches.append([question.text for question in questions])
        for question in questions:
            if question.text in self.wrong:
                raise self.wrong[question.text]
        return [self._around(question) for question in questions]

    def _around(self, question: Question) -> Subgraph:
        frontiers = self.graph.frontiers([[link.entity] for link in question.links])
        found = [
            t for f in frontiers for s in self.graph.steps([f], False)[0] for t in self.graph.triples([f], [s], 5)[0]
        ]
        found = found[: self.width]
        return Subgraph(tuple(found), (1.0,) * len(found), provenance=("towns",) * len(found), trace={"links": 0})


@attrs.define(eq=False)
class Anywhere(Around):
    """Needs no links."""

    def needs_links(self) -> bool:
        return False


@attrs.define(eq=False)
class Last(Reader):
    """Answers with the last object."""

    def read(self, questions: Sequence[Question], subgraphs: Sequence[Subgraph]) -> list[Answer]:
        return [Answer(s.triples[-1].object, (s.triples[-1].object,), (len(s.triples) - 1,)) for s in subgraphs]


@attrs.define(eq=False)
class Flat(PathScorer):
    """Likes all steps the same."""

    def score(self, questions: Any, paths: Any, candidates: Sequence[Sequence[Step]]) -> list[list[float]]:
        return [[0.5 for _ in row] for row in candidates]


class Overlap(Observer):
    """Records whether two threads were inside of hooks at once."""

    def __init__(self) -> None:
        self.inside: list[int] = []
        self.seen: list[set[int]] = []
        self.calls = 0

    def before(self, call: Call) -> None:
        self.calls += 1
        self.inside.append(threading.get_ident())
        if len(set(self.inside)) > 1:
            self.seen.append(set(self.inside))

    def after(self, call: Call, error: BaseException | None) -> None:
        self.inside.remove(threading.get_ident())


def session(**more: Any) -> Session:
    graph = more.pop("graph", None) or Towns()
    expander = more.pop("expander", None) or Around(graph)
    return Session.of(graph=graph, linker=more.pop("linker", None) or Names(), expander=expander, **more)


def until(true: Callable[[], bool]) -> None:
    for _ in range(2000):
        if true():
            return
        time.sleep(0.005)
    raise AssertionError("it never came to that")


def waiting(session: Session) -> int:
    return session.load.waiting


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(16) as pool:
        yield pool


# Driver objects and mappings


def test_a_session_of_objects_opens_and_closes_them_once() -> None:
    graph = Towns()
    with session(graph=graph, reader=Last()) as open_:
        [found] = open_.retrieve("Where is town 3?")
        assert (graph.opened, graph.closed) == (1, 0)
    assert (graph.opened, graph.closed) == (1, 1)
    assert found.subgraph.triples == (Triple("town 3", "has mayor", "mayor 3"), Triple("town 3", "lies in", "land 3"))
    assert found.answer is not None
    assert found.answer.entities == ("land 3",)
    assert found.labels["land 3"] == "Land 3"


def test_the_graph_inside_of_an_expander_is_opened_and_gives_labels() -> None:
    graph = Towns()
    with Session.of(linker=Names(), expander=Around(graph)) as open_:
        [found] = open_.retrieve("Where is town 3?")
    assert (graph.opened, graph.closed) == (1, 1)
    assert found.labels["land 3"] == "Land 3"


def test_a_named_driver_takes_the_objects_beside_it() -> None:
    beam = {"use": "beam", "width": 2, "depth": 1}
    with Session.of(graph=Towns(), linker=Names(), expander=beam, scorer=Flat(), budget=Budget(triples=1)) as open_:
        [found] = open_.retrieve("Where is town 3?")
    assert len(found.subgraph.triples) == 1


def test_settings_beside_an_expander_object_are_refused() -> None:
    with pytest.raises(RecipeError, match="budget: Around is an object, so give it its own budget"):
        session(budget=Budget(triples=1))


def test_objects_and_classes_stand_in_a_mapping() -> None:
    graph = Towns()
    recipe = {"srtk": 1, "knowledge_graph": graph, "entity_linker": Names(), "expander": {"use": Around, "width": 1}}
    with srtk_framework.open(recipe) as open_:
        [found] = open_.retrieve("Where is town 3?")
    assert len(found.subgraph.triples) == 1
    assert graph.closed == 1


def test_a_run_of_objects_names_their_classes_in_its_manifest(tmp_path: Any) -> None:
    questions = tmp_path / "q.txt"
    questions.write_text("Where is town 3?\n")
    recipe = {"srtk": 1, "knowledge_graph": Towns(), "entity_linker": Names(), "expander": {"use": Around}}
    outcome = Runner(from_data({**recipe, "questions": str(questions), "output": str(tmp_path / "run")})).run()
    assert (outcome.finished, outcome.failed) == (1, 0)
    assert "Towns" in (tmp_path / "run" / "manifest.json").read_text()


def test_an_override_changes_the_session_and_not_the_mapping() -> None:
    recipe = {"srtk": 1, "knowledge_graph": Towns(), "entity_linker": Names(), "expander": {"use": Around, "width": 9}}
    with srtk_framework.open(recipe, ["expander.width=1"]) as open_:
        [found] = open_.retrieve("Where is town 3?")
    assert len(found.subgraph.triples) == 1
    assert recipe["expander"] == {"use": Around, "width": 9}


def test_an_override_inside_of_an_object_is_refused() -> None:
    with pytest.raises(RecipeError, match="knowledge_graph is a single value"):
        srtk_framework.open({"srtk": 1, "knowledge_graph": Towns()}, ["knowledge_graph.path=x"])


def test_an_object_of_another_role_is_refused_with_its_place() -> None:
    with pytest.raises(RecipeError, match=r"entity_linker Towns: .* is not a subclass of .*EntityLinker"):
        srtk_framework.open({"srtk": 1, "entity_linker": Towns()})


def test_a_networkx_graph_is_a_knowledge_graph() -> None:
    graph = networkx.MultiDiGraph()
    graph.add_edge("Riga", "Latvia", key="capital of")
    recipe = {"srtk": 1, "knowledge_graph": graph, "entity_linker": "dictionary", "expander": "bfs"}
    with srtk_framework.open(recipe) as open_:
        [found] = open_.retrieve("Where is Riga?")
    assert found.subgraph.triples == (Triple("Riga", "capital of", "Latvia"),)


def test_a_networkx_graph_in_which_two_nodes_have_the_same_text_is_refused() -> None:
    with pytest.raises(RecipeError, match="two nodes of the networkx graph have the same text"):
        Session.of(graph=networkx.Graph([("1", 1)]))


def test_a_networkx_graph_without_the_plugin_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("srtk_framework.host.discovery.find", lambda role: [])
    with pytest.raises(RecipeError, match="pip install srtk-plugin-local"):
        Session.of(graph=networkx.DiGraph())


# Questions


def test_one_text_and_one_question_are_each_one() -> None:
    with session() as open_:
        [text] = open_.retrieve("Where is town 3?")
        [question] = open_.retrieve(Question("x", "Where is town 3?"))
    assert (text.question.id, question.question.id) == ("0", "x")
    assert text.subgraph == question.subgraph


def test_what_is_no_question_is_refused() -> None:
    with session() as open_, pytest.raises(TypeError, match="a question is a text or a Question, not 3"):
        open_.retrieve([3])  # type: ignore[list-item]


def test_long_lists_are_answered_batch_by_batch_and_in_order() -> None:
    expander = Around(Towns())
    with session(expander=expander, batch=5) as open_:
        found = open_.retrieve(TEXTS)
    assert [len(batch) for batch in expander.batches] == [5, 5, 2]
    assert [item.question.text for item in found] == TEXTS
    assert [item.question.id for item in found] == [str(i) for i in range(12)]


def test_a_stream_reads_no_more_than_the_next_batch() -> None:
    read = []

    def endless() -> Iterator[str]:
        for i in itertools.count():
            read.append(i)
            yield TEXTS[i % 12]

    with session(batch=3) as open_:
        found = list(itertools.islice(open_.stream(endless()), 4))
        again = open_.retrieve(TEXTS[:4])
    assert read == list(range(6))
    assert found == again


def test_an_asynchronous_stream_equals_a_plain_one() -> None:
    async def later() -> Any:
        for text in TEXTS:
            await asyncio.sleep(0)
            yield text

    async def collect(open_: Session) -> list[list[Retrieval]]:
        return [[r async for r in open_.astream(TEXTS)], [r async for r in open_.astream(later())]]

    with session(batch=5) as open_:
        plain = open_.retrieve(TEXTS)
        assert asyncio.run(collect(open_)) == [plain, plain]


def test_an_unknown_method_is_refused_before_any_work() -> None:
    with session() as open_, pytest.raises(RunError, match="there is no method 'x'"):
        open_.stream(TEXTS, "x")


def test_an_expander_that_needs_no_links_gets_unlinked_questions() -> None:
    with session() as open_:
        assert open_.retrieve("Where?")[0].error is not None
    with session(expander=Anywhere(Towns())) as open_:
        [found] = open_.retrieve("Where?")
    assert found.error is None
    assert found.subgraph.trace["links"] == "linked"


# Threads and event loops


def test_a_session_that_is_not_open_says_so() -> None:
    with pytest.raises(RunError, match="the session is not open"):
        session().retrieve("Where is town 3?")
    closed = session()
    closed.open()
    closed.close()
    closed.close()
    for call in (lambda: closed.retrieve("x"), lambda: closed.labelled([]), lambda: asyncio.run(closed.aretrieve("x"))):
        with pytest.raises(RunError, match="the session is not open"):
            call()


def test_a_session_is_opened_once_by_many_threads(pool: ThreadPoolExecutor) -> None:
    graph = Towns()
    open_ = session(graph=graph)
    errors = [future.exception() for future in [pool.submit(open_.open) for _ in range(8)]]
    assert sum(error is None for error in errors) == 1
    assert all("open already" in str(error) for error in errors if error is not None)
    open_.close()
    assert (graph.opened, graph.closed) == (1, 1)


def test_a_failed_opening_can_be_repeated() -> None:
    graph = Towns()
    graph.opened = -1

    class Broken(Observer):
        left = 1

        def open(self) -> None:
            self.left -= 1
            if self.left >= 0:
                raise RuntimeError("not yet")

    open_ = session(graph=graph, observers=[Broken()])
    with pytest.raises(RuntimeError, match="not yet"):
        open_.open()
    with open_:
        assert open_.retrieve(TEXTS[0])[0].error is None


def test_calls_that_wait_are_joined_into_one_batch(pool: ThreadPoolExecutor) -> None:
    linker = Names()
    linker.shut.set()
    with session(linker=linker) as open_:
        first = pool.submit(open_.retrieve, TEXTS[0])
        until(lambda: len(linker.asked) == 1)
        others = [pool.submit(open_.retrieve, text) for text in TEXTS[1:6]]
        others += [pool.submit(lambda text=text: asyncio.run(open_.aretrieve(text))) for text in TEXTS[6:9]]
        until(lambda: waiting(open_) == 8)
        linker.go.set()
        found = [future.result()[0] for future in [first, *others]]
        assert sorted(len(asked) for asked in linker.asked) == [1, 8]
        assert found == [open_.retrieve(text)[0] for text in TEXTS[:9]]


def test_a_joined_batch_holds_no_more_than_the_recipe_allows(pool: ThreadPoolExecutor) -> None:
    linker = Names()
    linker.shut.set()
    with session(linker=linker, batch=4) as open_:
        first = pool.submit(open_.retrieve, TEXTS[0])
        until(lambda: len(linker.asked) == 1)
        others = [pool.submit(open_.retrieve, TEXTS[i : i + 3]) for i in (1, 4, 7)]
        others.append(pool.submit(open_.retrieve, TEXTS[10]))
        until(lambda: waiting(open_) == 4)
        linker.go.set()
        assert [len(future.result()) for future in [first, *others]] == [1, 3, 3, 3, 1]
    assert sorted(len(asked) for asked in linker.asked) == [1, 3, 3, 4]


def test_retrievals_that_are_not_read_form_a_batch_of_their_own(pool: ThreadPoolExecutor) -> None:
    linker = Names()
    linker.shut.set()
    with session(linker=linker, reader=Last()) as open_:
        first = pool.submit(open_.retrieve, TEXTS[0])
        until(lambda: len(linker.asked) == 1)
        read = [pool.submit(open_.retrieve, text) for text in TEXTS[1:4]]
        unread = [pool.submit(open_.retrieve, text, None, False) for text in TEXTS[4:6]]
        until(lambda: waiting(open_) == 5)
        linker.go.set()
        assert all(future.result()[0].answer is not None for future in [first, *read])
        assert all(future.result()[0].answer is None for future in unread)
    assert sorted(len(asked) for asked in linker.asked) == [1, 2, 3]


def test_calls_of_one_event_loop_share_their_first_batch() -> None:
    linker = Names()

    async def all_at_once(open_: Session) -> list[list[Retrieval]]:
        return await asyncio.gather(*(open_.aretrieve(text) for text in TEXTS[:8]))

    with session(linker=linker) as open_:
        found = asyncio.run(all_at_once(open_))
        assert [len(asked) for asked in linker.asked] == [8]
        assert [one for [one] in found] == [open_.retrieve(text)[0] for text in TEXTS[:8]]


@pytest.mark.parametrize("error", [DriverError("no"), ValueError("no"), RunError("no")])
def test_an_error_stays_with_its_call(pool: ThreadPoolExecutor, error: Exception) -> None:
    linker = Names()
    linker.shut.set()
    expander = Around(Towns(), wrong={TEXTS[2]: error})
    with session(linker=linker, expander=expander) as open_:
        first = pool.submit(open_.retrieve, TEXTS[0])
        until(lambda: len(linker.asked) == 1)
        others = [pool.submit(open_.retrieve, text) for text in TEXTS[1:5]]
        until(lambda: waiting(open_) == 4)
        linker.go.set()
        for i, future in enumerate([first, *others]):
            if i == 2 and isinstance(error, RunError):
                assert future.exception() is error
            else:
                assert (future.result()[0].error is not None) == (i == 2)


def test_an_interrupt_ends_the_interrupted_call_alone(pool: ThreadPoolExecutor) -> None:
    linker = Names()
    linker.shut.set()
    expander = Around(Towns(), wrong={TEXTS[0]: KeyboardInterrupt()})
    with session(linker=linker, expander=expander) as open_:
        first = pool.submit(open_.retrieve, TEXTS[0])
        until(lambda: len(linker.asked) == 1)
        second = pool.submit(open_.retrieve, TEXTS[1])
        until(lambda: waiting(open_) == 1)
        linker.go.set()
        assert isinstance(first.exception(), KeyboardInterrupt)
        assert second.result()[0].error is None


def test_the_others_of_an_interrupted_batch_are_answered(pool: ThreadPoolExecutor) -> None:
    linker = Names()
    linker.shut.set()
    expander = Around(Towns(), wrong={TEXTS[1]: KeyboardInterrupt()})
    with session(linker=linker, expander=expander) as open_:
        first = pool.submit(open_.retrieve, TEXTS[0])
        until(lambda: len(linker.asked) == 1)
        leader = pool.submit(open_.retrieve, TEXTS[1])
        until(lambda: waiting(open_) == 1)
        joined = [pool.submit(open_.retrieve, text) for text in TEXTS[2:4]]
        until(lambda: waiting(open_) == 3)
        linker.go.set()
        assert isinstance(leader.exception(), KeyboardInterrupt)
        assert all(future.result()[0].error is None for future in [first, *joined])


@pytest.mark.parametrize("timeout", [None, 20])
def test_a_cancelled_call_leaves_the_queue(pool: ThreadPoolExecutor, timeout: float | None) -> None:
    linker = Names()
    linker.shut.set()

    async def cancelled(open_: Session) -> None:
        task = asyncio.create_task(open_.aretrieve(TEXTS[1], timeout=timeout))
        while not waiting(open_):
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with session(linker=linker) as open_:
        first = pool.submit(open_.retrieve, TEXTS[0])
        until(lambda: len(linker.asked) == 1)
        asyncio.run(cancelled(open_))
        linker.go.set()
        assert first.result()[0].error is None
        assert open_.retrieve(TEXTS[2])[0].error is None
    assert linker.asked == [[TEXTS[0]], [TEXTS[2]]]


def test_a_batch_that_nobody_waits_for_ends_at_its_next_hook_call() -> None:
    linker, watch = Names(), Overlap()
    linker.shut.set()
    expander = Around(Towns())

    async def timed_out(open_: Session) -> list[Retrieval]:
        task = asyncio.create_task(open_.aretrieve(TEXTS[1]))
        while not linker.asked:
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        after = asyncio.create_task(open_.aretrieve(TEXTS[2]))
        await asyncio.sleep(0.02)
        linker.go.set()
        return await after

    with session(linker=linker, expander=expander, observers=[watch]) as open_:
        [found] = asyncio.run(timed_out(open_))
    assert found.error is None
    assert expander.batches == [[TEXTS[2]]]
    assert watch.inside == []


def test_a_batch_in_which_one_call_was_cancelled_goes_on() -> None:
    linker = Names()
    linker.shut.set()

    async def one_of_two(open_: Session) -> list[Retrieval]:
        tasks = [asyncio.create_task(open_.aretrieve(text)) for text in TEXTS[:2]]
        while not linker.asked:
            await asyncio.sleep(0.005)
        tasks[0].cancel()
        linker.go.set()
        return await tasks[1]

    with session(linker=linker) as open_:
        [found] = asyncio.run(one_of_two(open_))
    assert found.question.text == TEXTS[1]
    assert found.error is None


def test_a_driver_may_call_its_session_while_it_has_the_turn() -> None:
    inner: list[Retrieval] = []

    class Asks(Observer):
        def before(self, call: Call) -> None:
            if call.role == "expander" and call.method == "expand" and not inner:
                inner.append(Retrieval(Question("", "")))
                inner[:] = open_.retrieve(TEXTS[5])
                open_.labelled(inner)

    open_ = session(observers=[Asks()])
    with open_:
        assert open_.retrieve(TEXTS[4])[0].error is None
    assert inner[0].question.text == TEXTS[5]


def test_closing_waits_for_the_batch_in_hand(pool: ThreadPoolExecutor) -> None:
    linker, graph = Names(), Towns()
    linker.shut.set()
    open_ = session(linker=linker, graph=graph)
    open_.open()
    first = pool.submit(open_.retrieve, TEXTS[0])
    until(lambda: len(linker.asked) == 1)
    closing = pool.submit(open_.close)
    until(lambda: waiting(open_) == 1)
    assert graph.closed == 0
    linker.go.set()
    closing.result()
    assert first.result()[0].error is None
    assert graph.closed == 1


def _methods(open_: Session) -> list[Callable[[int], Any]]:
    """All that may be called, by a number that says with what."""

    def questions(i: int) -> list[Question]:
        return [Question(str(k), TEXTS[(i + k) % 12]) for k in range(3)]

    return [
        lambda i: open_.retrieve(questions(i)),
        lambda i: open_.retrieve(TEXTS[i % 12], read=False),
        lambda i: list(open_.stream(questions(i))),
        lambda i: asyncio.run(open_.aretrieve(questions(i))),
        lambda i: open_.link(questions(i)),
        lambda i: open_.linked(questions(i)),
        lambda i: open_.read(open_.retrieve(questions(i), read=False)),
        lambda i: open_.labelled(open_.linked(questions(i))),
        lambda i: open_.spent,
    ]


def test_600_calls_of_all_methods_from_4_threads_equal_serial_ones() -> None:
    watch = Overlap()
    with session(reader=Last(), observers=[watch], batch=4) as open_:
        methods = _methods(open_)
        serial = [methods[i % len(methods)](i) for i in range(600)]
        with ThreadPoolExecutor(4) as four:
            together = list(four.map(lambda i: methods[i % len(methods)](i), range(600)))
    assert together == serial
    assert watch.calls > 1000
    assert watch.seen == []


# Forks


def forked(child: Callable[[], int]) -> int:
    """Return what a child returns; a child that hangs is killed and returns 255."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of forks beside threads
        pid = os.fork()
    if not pid:
        signal.alarm(20)
        code = 254
        try:
            code = child()
        finally:
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status) & 255


def test_the_child_of_a_fork_uses_an_idle_session(pool: ThreadPoolExecutor) -> None:
    with session() as open_:
        pool.submit(open_.retrieve, TEXTS[0]).result()
        asyncio.run(open_.aretrieve(TEXTS[0]))
        expected = open_.retrieve(TEXTS[3])

        def child() -> int:
            same = open_.retrieve(TEXTS[3]) == expected == asyncio.run(open_.aretrieve(TEXTS[3]))
            open_.close()
            return 7 if same else 1

        assert forked(child) == 7
        assert open_.retrieve(TEXTS[3]) == expected


def test_the_child_of_a_fork_amid_a_batch_gets_an_error_and_does_not_hang(pool: ThreadPoolExecutor) -> None:
    linker = Names()
    linker.shut.set()
    with session(linker=linker) as open_:
        first = pool.submit(open_.retrieve, TEXTS[0])
        until(lambda: len(linker.asked) == 1)
        second = pool.submit(open_.retrieve, TEXTS[1])
        until(lambda: waiting(open_) == 1)

        def child() -> int:
            calls = (
                lambda: open_.retrieve(TEXTS[3]),
                lambda: asyncio.run(open_.aretrieve(TEXTS[3])),
                lambda: open_.linked([]),
                lambda: open_.open(),
            )
            for call in calls:
                with pytest.raises(RunError, match="forked while another thread was using the session"):
                    call()
            open_.close()
            return 7

        assert forked(child) == 7
        linker.go.set()
        assert [future.result()[0].error for future in (first, second)] == [None, None]


def test_the_child_of_a_fork_inside_of_a_hook_uses_the_session() -> None:
    codes: list[int] = []

    class Forks(Observer):
        def before(self, call: Call) -> None:
            if call.role == "expander" and call.method == "expand" and not codes:
                codes.append(0)
                codes[0] = forked(lambda: 7 if open_.retrieve(TEXTS[5])[0].error is None else 1)

    open_ = session(observers=[Forks()])
    with open_:
        assert open_.retrieve(TEXTS[4])[0].error is None
    assert codes == [7]


# Limits of time and place


def test_a_late_call_ends_with_its_timeout_and_its_batch_at_the_next_hook_call(pool: ThreadPoolExecutor) -> None:
    linker = Names()
    linker.shut.set()
    expander = Around(Towns())
    with session(linker=linker, expander=expander) as open_:
        with pytest.raises(LateError):
            open_.retrieve(TEXTS[0], timeout=0.05)
        assert linker.asked == [[TEXTS[0]]]
        later = pool.submit(open_.retrieve, TEXTS[1])
        linker.go.set()
        assert later.result()[0].error is None
    assert expander.batches == [[TEXTS[1]]]


def test_a_late_call_of_an_event_loop_ends_with_its_timeout() -> None:
    linker = Names()
    linker.shut.set()

    async def late(open_: Session) -> None:
        with pytest.raises(LateError):
            await open_.aretrieve(TEXTS[0], timeout=0.05)
        linker.go.set()
        assert (await open_.aretrieve(TEXTS[1], timeout=20))[0].error is None

    with session(linker=linker) as open_:
        asyncio.run(late(open_))


def test_half_of_the_clients_leave_and_nothing_is_worked_out_for_them() -> None:
    linker = Names()
    linker.shut.set()

    async def crowd(open_: Session) -> int:
        calls = [asyncio.create_task(open_.aretrieve(f"Where is town {i % 12}?")) for i in range(200)]
        while open_.load.waiting < 160:
            await asyncio.sleep(0.005)
        for call in calls[1::2]:
            call.cancel()
        linker.go.set()
        done = await asyncio.gather(*calls, return_exceptions=True)
        return sum(isinstance(one, list) for one in done)

    with session(linker=linker, batch=32) as open_:
        delivered = asyncio.run(crowd(open_))
    computed = sum(map(len, linker.asked))
    assert delivered == 100
    # The batch in hand holds calls of both kinds; no later one does.
    assert computed <= delivered + 16


def test_a_queue_holds_no_more_calls_than_the_session_allows() -> None:
    linker = Names()
    linker.shut.set()

    async def crowd(open_: Session) -> list[Any]:
        first = asyncio.create_task(open_.aretrieve(TEXTS[0]))
        while not linker.asked:
            await asyncio.sleep(0.005)
        calls = [asyncio.create_task(open_.aretrieve(text)) for text in TEXTS[1:4]]
        await asyncio.sleep(0.02)
        linker.go.set()
        return await asyncio.gather(first, *calls, return_exceptions=True)

    with srtk_framework.open(
        {"srtk": 1, "knowledge_graph": (graph := Towns()), "entity_linker": linker, "expander": Around(graph)},
        waiting=2,
    ) as open_:
        done = asyncio.run(crowd(open_))
    assert [type(one) for one in done] == [list, list, list, BusyError]


def test_the_load_of_a_session_is_known_without_waiting(pool: ThreadPoolExecutor) -> None:
    linker = Names()
    linker.shut.set()
    with session(linker=linker) as open_:
        assert (open_.load.waiting, open_.load.busy) == (0, False)
        calls = [pool.submit(open_.retrieve, text) for text in TEXTS[:3]]
        until(lambda: open_.load.waiting == 2)
        assert open_.load.busy
        linker.go.set()
        assert all(call.result() for call in calls)


def test_an_event_tells_each_batch_that_was_answered() -> None:
    seen: list[dict[str, Any]] = []

    class Watch(Observer):
        def event(self, name: str, data: Any) -> None:
            if name == "answered":
                seen.append(dict(data))

    with session(observers=[Watch()], batch=8) as open_:
        open_.retrieve([*TEXTS[:9], "Nothing here"])
    assert [(one["questions"], one["failed"], one["waiting"]) for one in seen] == [(8, 0, 0), (2, 1, 0)]
    assert all(one["seconds"] > 0 for one in seen)


# Turns


def test_a_turn_keeps_the_drivers_to_its_thread(pool: ThreadPoolExecutor) -> None:
    with session() as open_:
        with open_.turn():
            other = pool.submit(open_.retrieve, TEXTS[0])
            until(lambda: open_.load.waiting == 1)
            assert open_.graph is not None
            assert open_.graph.labels(["town 1"]) == ["Town 1"]
            assert not other.done()
        assert other.result()[0].error is None


def test_an_awaited_call_of_the_thread_that_has_the_turn_is_refused() -> None:
    async def waits(open_: Session) -> None:
        with open_.turn():
            await open_.aretrieve(TEXTS[0])

    with session() as open_, pytest.raises(RunError, match="has the session's turn"):
        asyncio.run(waits(open_))


def test_a_turn_of_a_closed_session_is_refused_unless_it_may_be_closed() -> None:
    closed = session()
    with pytest.raises(RunError, match="not open"), closed.turn():
        pass
    with closed.turn(opened=False):
        assert not closed.is_open


def test_an_event_loop_calls_a_function_in_the_turn_of_the_session() -> None:
    async def calls(open_: Session) -> tuple[Any, str]:
        linked = await open_.aturn(open_.link, [Question("q", TEXTS[3])])
        thread = await open_.aturn(lambda: threading.current_thread().name)
        with pytest.raises(ZeroDivisionError):
            await open_.aturn(lambda: 1 / 0)
        with pytest.raises(LateError):
            await open_.aturn(time.sleep, 0.2, timeout=0.02)
        return linked, thread

    with session() as open_:
        [question], thread = asyncio.run(calls(open_))
    assert question.links == (Link("town 3"),)
    assert thread.startswith("srtk-session")


# Copies


def test_a_session_travels_as_its_recipe_and_opens_where_it_arrives() -> None:
    recipe = {
        "srtk": 1,
        "knowledge_graph": {"use": "memory", "triples": [["a", "r", "b"]]},
        "expander": {"use": "bfs", "depth": 1},
    }
    question = Question("q", "", (Link("a"),))
    with srtk_framework.open(recipe, waiting=7) as open_:
        found = open_.retrieve([question])
        for copied in (pickle.loads(pickle.dumps(open_)), copy.deepcopy(open_)):
            assert not copied.is_open
            assert copied.waiting == 7
            assert copied.retrieve([question]) == found
            assert copied.is_open
            copied.close()
    closed = pickle.loads(pickle.dumps(open_))
    with pytest.raises(RunError, match="not open"):
        closed.retrieve([question])
    with closed as again:
        assert again.retrieve([question]) == found


def test_a_session_finds_its_files_from_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "facts.tsv").write_text("facts.tsv\tr\tb\n")
    for folder in ("local", "memory", "elsewhere"):  # names of drivers, too
        (tmp_path / folder).mkdir()
    monkeypatch.chdir(tmp_path)
    graph = {"use": "local", "path": "graph", "build": {"files": ["fac*.tsv"]}}
    with_file = {"srtk": 1, "knowledge_graph": graph, "expander": {"use": "bfs", "depth": 1}}
    given = {**with_file, "knowledge_graph": {"use": "memory", "triples": [["facts.tsv", "r", "b"]]}}
    question = Question("q", "", (Link("facts.tsv"),))
    kept = []
    for recipe in (with_file, given):
        with srtk_framework.open(recipe) as opened:
            kept.append((pickle.dumps(opened), opened.retrieve([question])))
    monkeypatch.chdir(tmp_path / "elsewhere")
    for pickled, found in kept:
        with closing(pickle.loads(pickled)) as copied:
            assert copied.retrieve([question]) == found
            assert found[0].subgraph.triples == (Triple("facts.tsv", "r", "b"),)


@pytest.mark.parametrize(("key", "travels"), [("path", True), ("rules_file", True), ("labels", True), ("name", False)])
def test_a_setting_that_names_a_file_travels_with_its_whole_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str, travels: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.csv").touch()
    assert located({"driver": {key: ["a.csv"]}}) == {"driver": {key: [str(tmp_path / "a.csv") if travels else "a.csv"]}}
    assert located({key: "missing.csv"}) == {key: "missing.csv"}


def test_a_session_names_the_object_that_cannot_travel() -> None:
    with pytest.raises(RunError, match=r"^knowledge_graph holds an object that cannot travel"):
        pickle.dumps(session())
    in_list = {"srtk": 1, "expanders": {"one": {"use": Around, "graph": Towns()}}}
    with pytest.raises(RunError, match=r"^expanders\.one\.graph holds an object"):
        pickle.dumps(srtk_framework.open(in_list))
    named = {"srtk": 1, "knowledge_graph": {"use": Towns}, "expander": {"use": Around}}
    with pytest.raises(RunError, match=r"^observers: Overlap cannot travel"):
        pickle.dumps(srtk_framework.open(named, observers=[Overlap()]))
    copied = pickle.loads(pickle.dumps(srtk_framework.open(named)))
    assert isinstance(copied.graph.driver, Towns)


def test_a_secret_travels_as_its_name_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOWN_KEY", "s3cr3t-of-the-town")
    monkeypatch.setenv("TOWNS", "towns")
    graph: dict[str, Any] = {"use": "sparql", "endpoint": "http://localhost:1/sparql", "headers": {}}
    graph["headers"]["Authorization"] = {"env": "TOWN_KEY"}
    kept = pickle.dumps(srtk_framework.open({"srtk": 1, "knowledge_graph": graph}))
    assert b"s3cr3t" not in kept
    assert pickle.loads(kept).recipe.portable() == {"srtk": 1, "knowledge_graph": graph}
    graph["headers"]["Authorization"] = "s3cr3t-of-the-town"
    with pytest.raises(RunError, match=r"^knowledge_graph\.headers\.Authorization holds a secret"):
        pickle.dumps(srtk_framework.open({"srtk": 1, "knowledge_graph": graph}))


def test_a_session_that_is_let_go_closes_its_drivers_and_one_in_use_does_not() -> None:
    graph = Towns()
    open_ = session(graph=graph).open()
    stream = open_.stream(TEXTS[:2])
    del open_
    assert next(stream).error is None
    assert graph.closed == 0
    del stream
    assert graph.closed == 1
