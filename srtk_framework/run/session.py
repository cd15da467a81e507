"""A session: the drivers of one recipe, composed and opened, ready to answer questions."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, TypeAlias, TypeVar

import attrs

from srtk_framework.graph.hop_loop import stopping_reader
from srtk_framework.graph.surroundings import connections, neighbours
from srtk_framework.host.observers import Observer, close_observer, notify
from srtk_framework.recipe.composer import Composer, observers_of
from srtk_framework.recipe.recipe import Recipe, from_data, from_mapping, load, located
from srtk_framework.recipe.yaml_source import Places
from srtk_framework.roles import Expander, KnowledgeGraph
from srtk_framework.roles.generator import spent_together
from srtk_framework.run.dispatcher import Abandonment, Dispatcher, late
from srtk_framework.run.drivers import compose
from srtk_framework.run.limits import LIMITS_IGNORED, Limits, limited, limits_of
from srtk_framework.run.pipeline import Pipeline, with_trace
from srtk_framework.run.stages import Stages
from srtk_framework.values import Budget, DriverError, Link, Question, RecipeError, Retrieval, RunError, batched
from srtk_framework.values.budget import WAITING

Asked: TypeAlias = str | Question | Iterable[str | Question]
"""One question or several, each a text or a ``Question``."""


T = TypeVar("T")

_NEIGHBOURS = 200
"""Most triples that are read of a relation of an entity: enough to choose from, and one page of a public endpoint."""


class _Work(NamedTuple):
    """The work of a retrieval; calls with equal work can share a batch."""

    method: str | None
    read: bool
    limits: Limits | None


@attrs.frozen(eq=False)
class _Alone:
    """A function that needs the drivers to itself; equal to no other, so it shares no batch."""

    call: Callable[[], Any]


@attrs.frozen
class Load:
    """How busy a session is.

    Attributes:
        waiting: Calls in its queue.
        busy: Whether a batch is running.
        delay: Seconds after which the queue will be answered, by the pace of the last batches.
    """

    waiting: int
    busy: bool
    delay: float


class Session:
    """Answers questions by the drivers of a recipe, which it opens and closes.

    Every method may be called from any thread and any event loop. The drivers answer one batch at a time: a call that
    finds them idle runs at once, calls that come meanwhile wait for their turn, and waiting retrievals are joined into
    one batch. Results are as of calls in sequence. In a forked child an idle session goes on
    working; a session that another thread was using raises ``RunError``.

    It closes its drivers when it is collected, or at the end of the process. Copies and pickles hold its recipe: an
    open session opens again where it arrives, at its first call.

    Args:
        recipe: The recipe.
        observers: Are notified of every hook call, like the observers that the recipe names.
        waiting: Most calls that may wait; a further one raises ``BusyError``. None for no limit.

    Attributes:
        recipe: The recipe.
        observers: All of them.
        graph: The recipe's graph, or else its expander's. It and the drivers below stand outside of the session's
            turns: use them directly only where no other thread uses the session.
        linker: Its entity linker, or None.
        reader: Its reader, or None.
        methods: Its expanders by name, the main one first.
        spent_elsewhere: Per worker of its executor: counts of its generators so far, see ``spent``.
        exporters: Its exporters; whoever writes to them opens and closes them.
        dataset: Its questions: a file name, a dataset, or None.
        stages: Its stages.
        waiting: Most calls that may wait.

    Raises:
        RecipeError: Naming every mistake in the recipe.
    """

    def __init__(self, recipe: Recipe, observers: Sequence[Observer] = (), waiting: int | None = WAITING) -> None:
        self.recipe = recipe
        self.waiting = waiting
        self._given = tuple(observers)
        named, problems = observers_of(recipe)
        abandonment = Abandonment()
        self.observers: list[Observer] = [abandonment, *observers, *named]
        self._composer = Composer(recipe, self.observers)
        self._composer.problems += [*recipe.problems, *problems]
        drivers = compose(recipe, self._composer)
        self.graph, self.linker, self.reader = drivers.graph, drivers.linker, drivers.reader
        self.methods, self.exporters = drivers.methods, drivers.exporters
        self.dataset = drivers.dataset
        self.stages = Stages(recipe.stages)
        self._learnt: dict[str, Any] | None = None
        self.spent_elsewhere: dict[str, Mapping[str, Mapping[str, Any]]] = {}
        self._pipeline = Pipeline(self.graph, self.linker, self.reader, recipe.options.relink)
        self._close: Callable[[], Any] | None = None
        self._opens_itself = self._closed = False
        # A session that nobody uses any more is closed at once, not when cycles are collected.
        answer = weakref.WeakMethod(self._answer)
        self._dispatcher: Dispatcher[_Work | _Alone, Any, Any] = Dispatcher(
            lambda work, items: _alive(answer)(work, items), recipe.options.batch, waiting
        )
        abandonment.watch(self._dispatcher)

    @classmethod
    def of(
        cls,
        *,
        graph: Any = None,
        linker: Any = None,
        expander: Any = None,
        scorer: Any = None,
        reader: Any = None,
        budget: Budget | Mapping[str, Any] | None = None,
        observers: Sequence[Observer] = (),
        **keys: Any,
    ) -> Session:
        """Make a session of driver objects, with no recipe.

        Each driver is an object, such as ``MyGraph()``, or whatever a recipe may have in its place: the name of a
        driver, or a mapping with ``use`` and settings, whose needs are filled from the other arguments.

        Args:
            graph: A ``KnowledgeGraph``, or a networkx graph.
            linker: An ``EntityLinker``.
            expander: An ``Expander``.
            scorer: A ``PathScorer`` for an expander that is given as a mapping.
            reader: A ``Reader``.
            budget: Limits per question for an expander that is given as a mapping.
            observers: Are notified of every hook call.
            keys: Further keys of a recipe, such as ``batch``, ``relink`` or ``encoder``.

        Raises:
            RecipeError: Naming everything that does not fit.
        """
        if isinstance(expander, Expander):
            idle = [name for name, value in (("scorer", scorer), ("budget", budget)) if value is not None]
            if idle:
                raise RecipeError(
                    [f"{name}: {type(expander).__name__} is an object, so give it its own {name}" for name in idle]
                )
        given = {
            "knowledge_graph": graph,
            "entity_linker": linker,
            "expander": expander,
            "path_scorer": scorer,
            "reader": reader,
            "budget": budget,
        }
        data = {"srtk": 1, **{key: value for key, value in given.items() if value is not None}, **keys}
        return cls(from_data(data), observers)

    @property
    def composer(self) -> Composer:
        """The composer that built the drivers."""
        return self._composer

    @property
    def drivers(self) -> list[tuple[str, str]]:
        """The (role, name) pairs of all drivers in use, sorted."""
        return sorted(set(self._composer.used))

    @property
    def spent(self) -> dict[str, dict[str, Any]]:
        """Calls, tokens and cost of each generator so far, and the money paid, also in the places of the executor.

        Does not wait for a batch in hand.
        """
        ports = self._composer.built("generator")
        names = [port.name for port in ports]
        mine = {
            port.name if names.count(port.name) == 1 else f"{port.name} {names[: i + 1].count(port.name)}": port.spent
            for i, port in enumerate(ports)
        }
        others = list(self.spent_elsewhere.values())
        together = {name: spent_together([row, *(other[name] for other in others)]) for name, row in mine.items()}
        return together if others else mine

    @property
    def executor(self) -> Any:
        """The recipe's executor, or None."""
        return next(iter(self._composer.built("executor")), None)

    @property
    def trained(self) -> bool:
        """Whether the recipe's stages have trained drivers in this session."""
        return self._learnt is not None

    def open(self) -> Session:
        """Open the drivers.

        Raises:
            RunError: If the session is open.
            DriverError: If a driver cannot be opened; those opened before are closed again.
        """
        with self._dispatcher.turn():
            if self._close is not None:
                raise RunError("the session is open already; use it, or make another one")
            stack = ExitStack()
            try:
                for observer in self.observers:
                    stack.callback(close_observer, observer)
                    observer.open()
                self._composer.open(stack, self.exporters, self._opening)
                notify(self.observers, "opened", {})
                for name, method in self.methods.items():
                    _check_reader(name, method)
            except BaseException:
                stack.close()
                raise
            self._close = weakref.finalize(self, _close_in, os.getpid(), stack)
            self._closed = False
        return self

    def _opening(self, port: Any, number: int, count: int) -> None:
        data = {"role": port.role, "driver": port.name, "number": number, "total": count}
        notify(self.observers, "opening", data)

    def close(self) -> None:
        """Close the drivers after the calls that are waiting; does nothing where the session is not open.

        A forked child that cannot use the session leaves the drivers alone.
        """
        if self._dispatcher.torn:
            return
        with self._dispatcher.turn():
            close, self._close, self._opens_itself = self._close, None, False
            if close is not None:
                self._closed = True
                close()
        self._dispatcher.stop()

    def __enter__(self) -> Session:
        return self.open()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy or pickle the recipe, in which the files that are there have their whole paths.

        Raises:
            RunError: Naming an object, or a secret, that cannot travel.
        """
        if self._given:
            kinds = ", ".join(type(observer).__name__ for observer in self._given)
            raise RunError(f"observers: {kinds} cannot travel to another process; name observers in the recipe")
        travels = self._close is not None or self._opens_itself
        file = str(Path(self.recipe.file).absolute())
        return _arrived, (type(self), located(self.recipe.portable()), file, self.waiting, travels)

    @property
    def is_open(self) -> bool:
        """Whether the drivers are open."""
        return self._close is not None

    @property
    def load(self) -> Load:
        """How busy the session is; does not wait for a batch in hand."""
        return Load(self._dispatcher.waiting, self._dispatcher.busy, round(self._dispatcher.delay, 3))

    def retrieve(
        self,
        questions: Asked,
        method: str | None = None,
        read: bool = True,
        *,
        timeout: float | None = None,
        limits: Limits | Mapping[str, Any] | None = None,
    ) -> list[Retrieval]:
        """Link and expand questions, and have the subgraphs read where the recipe has a reader.

        Args:
            questions: One question or several; texts are numbered from 0. More than the recipe's ``batch`` are
                answered batch by batch.
            method: Name of the expander; by default the recipe's main expander.
            read: Whether to ask the reader about the subgraphs that have no answer yet.
            timeout: Seconds that the call may take, waiting included. A late call gives up its place, and a batch
                for which no caller waits any more ends at its next hook call.
            limits: Limits of this call, such as ``{"triples": 20}``, tighter than the recipe's. A limit that no driver
                has a setting for stands in the trace, under ``limits_ignored``.

        Returns:
            One retrieval per question, in order; a failed question has the reason in ``error``.

        Raises:
            RunError: If the session is not open, or has no such method.
            BusyError: If too many calls wait.
            LateError: If the ``timeout`` passes first.
        """
        return list(self.stream(questions, method, read, timeout=timeout, limits=limits))

    def stream(
        self,
        questions: Asked,
        method: str | None = None,
        read: bool = True,
        *,
        timeout: float | None = None,
        limits: Limits | Mapping[str, Any] | None = None,
    ) -> Iterator[Retrieval]:
        """Retrieve as ``retrieve`` does, question by question as they are finished.

        Reads no more questions than the next batch needs, so that they may come from an endless iterator.

        Args:
            questions: See ``retrieve``.
            method: See ``retrieve``.
            read: See ``retrieve``.
            timeout: See ``retrieve``; the time that the caller takes between results counts too.
            limits: See ``retrieve``.

        Yields:
            One retrieval per question, in order.
        """
        work, left = self._work(method, read, limits), _countdown(timeout)
        batches = batched(_numbered(questions), self.recipe.options.batch)
        return (retrieval for batch in batches for retrieval in self._dispatcher.call(work, batch, left()))

    async def aretrieve(
        self,
        questions: Asked,
        method: str | None = None,
        read: bool = True,
        *,
        timeout: float | None = None,
        limits: Limits | Mapping[str, Any] | None = None,
    ) -> list[Retrieval]:
        """Retrieve as ``retrieve`` does, without holding up the event loop.

        A cancelled call frees its place. Where it was alone in the batch in hand, that batch ends at its next hook
        call.
        """
        work, left = self._work(method, read, limits), _countdown(timeout)
        done: list[Retrieval] = []
        for batch in batched(_numbered(questions), self.recipe.options.batch):
            done += await self._submitted(work, batch, left())
        return done

    async def astream(
        self,
        questions: Asked | AsyncIterable[str | Question],
        method: str | None = None,
        read: bool = True,
        *,
        timeout: float | None = None,
        limits: Limits | Mapping[str, Any] | None = None,
    ) -> AsyncIterator[Retrieval]:
        """Retrieve as ``stream`` does, without holding up the event loop.

        Args:
            questions: See ``retrieve``; an asynchronous iterable too.
            method: See ``retrieve``.
            read: See ``retrieve``.
            timeout: See ``stream``.
            limits: See ``retrieve``.
        """
        work, left = self._work(method, read, limits), _countdown(timeout)
        batch: list[Question] = []
        async for question in _anumbered(questions):
            batch.append(question)
            if len(batch) == self.recipe.options.batch:
                for retrieval in await self._submitted(work, batch, left()):
                    yield retrieval
                batch = []
        if batch:
            for retrieval in await self._submitted(work, batch, left()):
                yield retrieval

    async def _submitted(self, work: _Work | _Alone, batch: Sequence[Any], seconds: float | None = None) -> list[Any]:
        if self._dispatcher.held:
            raise RunError("this thread has the session's turn; call the method that does not wait for an event loop")
        done = self._dispatcher.submit(work, batch)
        # Calls made in the same round of the event loop are queued before this runs, and share the first batch.
        import asyncio  # which loads ssl and sockets

        asyncio.get_running_loop().call_soon(self._dispatcher.start)
        answer = asyncio.wrap_future(done)
        try:
            await asyncio.wait([answer], timeout=None if seconds is None else min(seconds, threading.TIMEOUT_MAX))
            if not answer.done():
                raise late()
            return answer.result()
        finally:
            answer.cancel()  # `wait` leaves its future alone where the caller is cancelled

    @contextmanager
    def turn(self, opened: bool = True) -> Iterator[None]:
        """Keep the drivers to this thread, to use them directly; calls of other threads wait meanwhile.

        Args:
            opened: Whether the session must be open.

        Raises:
            RunError: If it must be open and is not.
        """
        with self._dispatcher.turn():
            if opened:
                self._check_open()
            yield

    async def aturn(self, call: Callable[..., T], *args: Any, timeout: float | None = None) -> T:
        """Call a function that uses the drivers, in the session's thread and turn, without holding up the event loop.

        ``await session.aturn(session.link, questions)`` links, as ``session.link(questions)`` does.

        Args:
            call: Is called with ``args``; methods of the session may be called in it.
            args: Its arguments.
            timeout: Seconds until the call must have ended.

        Returns:
            What the function returns.

        Raises:
            RunError: If the session is not open.
            BusyError: If too many calls wait.
            LateError: If the ``timeout`` passes first.
        """
        [answer] = await self._submitted(_Alone(lambda: call(*args)), [None], timeout)
        return answer  # type: ignore[no-any-return]

    def train(self, fresh: bool = False) -> dict[str, Any]:
        """Have the recipe's stages train drivers, which then compute with the trained weights; once a session.

        Args:
            fresh: Start an unfinished training in the folder over, and replace the model of another recipe.

        Returns:
            Key of each stage that trains to its report: see ``Trained`` of the stage ``train``.

        Raises:
            RunError: If no stage of the recipe trains, or one cannot go on.
        """
        with self.turn():
            if self._learnt is None:
                trains = self.stages.implement("train")
                if not trains:
                    raise RunError(f"{self.recipe.file}: there is nothing to train; add `train:`")
                learnt = self.stages.call("train", session=self, fresh=fresh)
                try:
                    self._learnt = dict(learnt)
                except (TypeError, ValueError) as error:
                    wanted = "its key and what is to be known of the training"
                    raise RunError(f"stage {', '.join(trains)}: train must return {wanted}, as a tuple") from error
            return self._learnt

    def link(self, questions: Sequence[Question]) -> list[Question | Retrieval]:
        """Link the questions that bring no entities of their own, or all with ``relink: true``.

        Returns:
            The questions with their links; a failed Retrieval for each that cannot go on.
        """
        return [item.question if item.error is None else item for item in self.linked(questions)]

    def linked(self, questions: Sequence[Question]) -> list[Retrieval]:
        """Link as ``link`` does, and keep the linkers' part of the trace.

        ``linked_by`` names the linkers whose links were taken, where the question was linked from its text;
        ``linkers_failed`` maps each linker that failed on the question to the reason.
        """
        with self.turn():
            return self._pipeline.linked(questions)

    def suggest(self, texts: Sequence[str], limit: int) -> list[tuple[Link, ...]]:
        """Suggest entities for texts without links, at most ``limit`` for each, for a person to choose.

        Nothing is suggested where the recipe has no linker, or its linker knows no near names.
        """
        with self.turn():
            if self.linker is None:
                return [() for _ in texts]
            return [tuple(links) for links in self.linker.suggest(texts, limit)]

    def neighbours(self, entities: Sequence[str], triples: int = 20) -> list[Retrieval]:
        """Read some triples around each entity, of as many relations as possible: see ``graph.neighbours``.

        Args:
            entities: Ids in any spelling that the graph knows.
            triples: Most triples of an entity.

        Returns:
            Per entity a retrieval, with labels, whose ``trace["left_out"]`` counts the triples that are not shown.

        Raises:
            RunError: If the recipe has no graph.
        """
        with self.turn():
            graph = self._graph()
            ids = graph.own_ids(entities, False)
            found = neighbours(graph, ids, triples, max(_NEIGHBOURS, triples + 1))
            retrievals = [
                Retrieval(Question(str(i), "", (Link(id_),)), subgraph)
                for i, (id_, subgraph) in enumerate(zip(ids, found, strict=True))
            ]
            return self._pipeline.labelled(retrievals)

    def paths(self, start: str, end: str, depth: int = 3, triples: int = 50) -> Retrieval:
        """Read the triples that connect two entities, on the shortest paths first: see ``graph.connections``.

        Args:
            start: Id of the entity at which the paths begin.
            end: Id of the entity at which they end.
            depth: Most steps of a path.
            triples: Most triples.

        Returns:
            A retrieval, with labels, whose ``trace["cut"]`` counts the triples that limits hid.

        Raises:
            RunError: If the recipe has no graph.
        """
        with self.turn():
            graph = self._graph()
            start, end = graph.own_ids([start, end], False)
            found = connections(graph, start, end, depth, Budget(triples=triples))
            return self._pipeline.labelled([Retrieval(Question("0", "", (Link(start), Link(end))), found)])[0]

    def _graph(self) -> KnowledgeGraph:
        if self.graph is None:
            raise RunError("the recipe has no graph; add `knowledge_graph:`")
        return self.graph

    def with_own_ids(self, retrievals: Sequence[Retrieval]) -> list[Retrieval]:
        """Give links and gold of given retrievals the graph's own ids, as ``retrieve`` and ``linked`` do."""
        with self.turn():
            questions = self._pipeline.with_own_ids([one.question for one in retrievals])
            return [attrs.evolve(one, question=question) for one, question in zip(retrievals, questions, strict=True)]

    def read(self, retrievals: Sequence[Retrieval]) -> list[Retrieval]:
        """Have the recipe's reader answer the retrievals that have no answer yet and did not fail."""
        with self.turn():
            return self._pipeline.read(retrievals)

    def labelled(self, retrievals: Sequence[Retrieval]) -> list[Retrieval]:
        """Add the labels of all entities and relations that occur, where they differ from the id.

        Where the graph fails, the results stay without labels, and ``labels_failed`` in their traces gives the reason.
        """
        with self.turn():
            return self._pipeline.labelled(retrievals)

    def _answer(self, work: _Work | _Alone, items: Sequence[Any]) -> list[Any]:
        """Answer one batch, or call one function; called by the dispatcher, in turn."""
        self._check_open()
        if isinstance(work, _Alone):
            return [work.call()]
        method = self._method(work.method)
        began = time.monotonic()
        with limited(work.limits, method, self.reader) as ignored:
            retrievals = self._pipeline.retrieve(items, method, work.read)
        if ignored:
            retrievals = [with_trace(retrieval, {LIMITS_IGNORED: ignored}) for retrieval in retrievals]
        data = {
            "questions": len(retrievals),
            "failed": sum(retrieval.error is not None for retrieval in retrievals),
            "seconds": round(time.monotonic() - began, 6),
            "waiting": self._dispatcher.waiting,
        }
        notify(self.observers, "answered", data)
        return retrievals

    def _work(self, method: str | None, read: bool, limits: Limits | Mapping[str, Any] | None) -> _Work:
        """Name the work of a retrieval, the same for a main expander that is named and one that is not."""
        self._method(method)
        return _Work(next(iter(self.methods)) if method is None else method, read, limits_of(limits))

    def _method(self, name: str | None) -> Expander:
        if not self.methods:
            raise RunError("the recipe has no expander; add one, such as `expander: {use: beam}`")
        if name is None:
            return next(iter(self.methods.values()))
        if name not in self.methods:
            raise RunError(f"there is no method {name!r}; the recipe has {', '.join(self.methods)}")
        return self.methods[name]

    def _check_open(self) -> None:
        if self._close is None and self._opens_itself:
            self.open()
        if self._closed:
            raise RunError(
                "the session is not open any more, since close() came before this call; open it again, or close it"
                " after the last call"
            )
        if self._close is None:
            raise RunError("the session is not open; use it in a `with` statement, or call open()")


def _close_in(process: int, stack: ExitStack) -> None:
    """Close the drivers of a session; a forked child leaves them, and the servers they started, to its parent."""
    if os.getpid() == process:
        stack.close()


def _alive(answer: weakref.WeakMethod[Any]) -> Any:
    """Return the method of a session.

    Raises:
        RunError: If the session was collected, so that only calls of its dispatcher are left.
    """
    if (method := answer()) is None:
        raise RunError("the session is gone; keep it as long as its calls run")
    return method


def _arrived(kind: type[Session], data: Mapping[str, Any], file: str, waiting: int | None, opens: bool) -> Session:
    """Compose a session that was copied or pickled."""
    session = kind(from_data(data, Places(file)), (), waiting)
    session._opens_itself = opens
    return session


def _countdown(seconds: float | None) -> Callable[[], float | None]:
    """Return a function that gives the seconds left of a time limit; None without a limit."""
    if seconds is None:
        return lambda: None
    end = time.monotonic() + seconds
    return lambda: max(0.0, end - time.monotonic())


def _check_reader(name: str, method: Expander) -> None:
    """Refuse a search that its reader cannot end before any work, rather than for each question."""
    try:
        stopping_reader(method)
    except DriverError as error:
        raise RunError(str(error) if error.driver else f"{name}: {error}") from error


def _question(number: int, asked: Any) -> Question:
    """Make a question of a text, under its number."""
    if isinstance(asked, Question):
        return asked
    if not isinstance(asked, str):
        raise TypeError(f"a question is a text or a Question, not {asked!r}")
    return Question(str(number), asked)


def _numbered(questions: Any) -> Iterator[Question]:
    """Yield questions; a text or a ``Question`` is a single question."""
    items = [questions] if isinstance(questions, str | Question) else questions
    return (_question(number, asked) for number, asked in enumerate(items))


async def _anumbered(questions: Any) -> AsyncIterator[Question]:
    if not hasattr(questions, "__aiter__"):
        for question in _numbered(questions):
            yield question
        return
    number = 0
    async for asked in questions:
        yield _question(number, asked)
        number += 1


def export(exporter: Any, batches: Iterable[Sequence[Retrieval]]) -> None:
    """Write batches of retrievals by an exporter behind its port; its earlier output stays where one fails."""
    exporter.open_driver()
    try:
        for batch in batches:
            exporter.write(batch)
    except BaseException:
        exporter.abort()
        raise
    finally:
        exporter.close_driver()


def open_session(
    recipe: Any,
    overrides: Sequence[str] = (),
    observers: Sequence[Observer] = (),
    waiting: int | None = WAITING,
) -> Session:
    """Compose a recipe for use from Python.

    Args:
        recipe: Path of a YAML file, or the same as a mapping. In a mapping, a driver object, or a driver class as the
            value of ``use``, may stand for a driver, and a networkx graph for the graph.
        overrides: ``key.path=value`` each, as for ``srtk run --set``; a mapping itself is not changed.
        observers: Are notified of every hook call.
        waiting: Most calls that may wait; see ``Session``.

    Returns:
        A session, to be used in a ``with`` statement.

    Raises:
        RecipeError: Naming every mistake in the recipe.
    """
    read = from_mapping(recipe, overrides) if isinstance(recipe, Mapping) else load(recipe, overrides)
    return Session(read, observers, waiting)
