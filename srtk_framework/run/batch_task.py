"""The work of a recipe that its executor spreads: batches of questions and others, each by a session of its process."""

from __future__ import annotations

import gc
import os
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import attrs

from srtk_framework.host.observers import Timing, watches_calls
from srtk_framework.host.tracebacks import Tracebacks
from srtk_framework.recipe.recipe import Recipe, from_data
from srtk_framework.recipe.yaml_source import Places
from srtk_framework.run.dispatcher import Abandonment
from srtk_framework.run.manifest import computation_of, differences
from srtk_framework.run.session import Session
from srtk_framework.run.stages import Answer, is_follower
from srtk_framework.values import Retrieval, RunError, SrtkError, work_beside

T = TypeVar("T")
R = TypeVar("R")

LINKS_ALONE, SUBGRAPHS_GIVEN = "linked", "given"
"""Names of what stands in place of a method where the recipe has no expander."""


def answers_of(session: Session) -> dict[str, Answer]:
    """Return how a run answers a batch, per method; without an expander it links, or passes subgraphs on."""

    def expanded(method: str) -> Answer:
        return lambda batch: session.retrieve([item.question for item in batch], method)

    if session.methods:
        return {name: expanded(name) for name in session.methods}
    if session.linker is not None:
        return {LINKS_ALONE: lambda batch: session.labelled(session.linked([item.question for item in batch]))}
    return {SUBGRAPHS_GIVEN: lambda batch: session.labelled(session.read(session.with_own_ids(batch)))}


def check_spread(session: Session) -> None:
    """Refuse what an executor cannot do.

    Raises:
        RunError: Naming an observer of calls, or an object that cannot travel.
    """
    recipe = session.recipe
    for observer in session.observers:
        if not isinstance(observer, Abandonment | Timing | Tracebacks) and watches_calls(observer):
            raise RunError(
                f"{recipe.file}: the observer {type(observer).__name__} watches calls of drivers, which an executor"
                " makes in other processes; leave out the observer or the executor"
            )
    recipe.portable()


@attrs.frozen
class Done:
    """What a worker has computed of an item.

    Attributes:
        value: The result.
        seconds: Time of the item.
        timing: Table of the worker's ``timing`` observer for this item.
        tracebacks: See ``Run.tracebacks``; of the worker so far.
        worker: Identity of the worker.
        spent: Counts of its generators so far: see ``Session.spent``.
    """

    value: Any
    seconds: float
    timing: Mapping[str, Mapping[str, float]]
    tracebacks: Mapping[str, list[str]]
    worker: str
    spent: Mapping[str, Mapping[str, Any]]


def answered(session: Session, item: tuple[str, list[Retrieval]]) -> list[Retrieval]:
    """Answer a batch by a method."""
    method, batch = item
    return answers_of(session)[method](batch)


@attrs.frozen
class SessionTask:
    """Calls a function with a session and an item in another process, by drivers that it composes from the recipe.

    Attributes:
        call: A function that pickles.
        file: File of the recipe, for messages.
        recipe: Data of the recipe, without the keys that are the first process's business.
        expected: What decides results: see ``computation_of``.
        workers: Number of processes that share the limits of the run.
        models: Key of each stage that has trained a driver to the folder of the model.
        folder: Folder of the first process, in which the others work where they have it.
    """

    call: Callable[[Session, Any], Any]
    file: str
    recipe: Mapping[str, Any] = attrs.field(repr=False)
    expected: Mapping[str, Any] = attrs.field(repr=False)
    workers: int
    models: Mapping[str, str]
    folder: str

    @classmethod
    def of(cls, session: Session, call: Callable[[Session, Any], Any]) -> SessionTask:
        """Make the task of a recipe, whose session is open.

        Raises:
            RunError: See ``check_spread``.
        """
        check_spread(session)
        workers = session.executor.places() if session.executor is not None else 1
        data = {key: value for key, value in session.recipe.portable().items() if key not in ("executor", "observers")}
        stages = session.stages.by_key if session.trained else {}
        found = {key: stage.learnt(session.recipe.output) for key, stage in stages.items()}
        models = {key: str(one[1].resolve()) for key, one in found.items() if one is not None}
        return cls(call, session.recipe.file, data, computation_of(session), workers, models, os.getcwd())

    def __call__(self, item: Any) -> Done:
        """Compute an item.

        Raises:
            RunError: With the text of any error of the framework, whose class may not travel.
        """
        try:
            worker = _worker(self)
            started = time.perf_counter()
            found = self.call(worker.session, item)
            seconds = time.perf_counter() - started
            timing = worker.timing.take()
        except SrtkError as error:
            raise RunError(str(error)) from None
        return Done(found, seconds, timing, dict(worker.tracebacks.table), worker.id, worker.session.spent)


def spread_over(session: Session, task: SessionTask, items: Iterable[Any]) -> Iterator[Done]:
    """Compute items in the places of the recipe's executor, in order, and count in the session what was used there."""
    assert session.executor is not None
    for done in session.executor.map(task, items):
        for observer in session.observers:
            if isinstance(observer, Timing):
                observer.add(done.timing)
            elif isinstance(observer, Tracebacks):
                observer.add(done.tracebacks)
        session.spent_elsewhere[done.worker] = done.spent
        yield done


def elsewhere(session: Session, call: Callable[[Session, T], R]) -> Callable[[Iterable[T]], Iterator[R]] | None:
    """Prepare to call a function in the places of the recipe's executor.

    Args:
        session: The open session.
        call: A function that pickles. Each place calls it with a session of its own, which has the drivers as they
            are here now, and an item.

    Returns:
        A function that takes items and yields their results, in order; None without an executor, and in a worker
        process of a training on several devices, whose first process alone has one.

    Raises:
        RunError: Where the recipe, or an observer, does not go together with an executor.
    """
    if session.executor is None or is_follower():
        return None
    task = SessionTask.of(session, call)
    return lambda items: (done.value for done in spread_over(session, task, items))


@attrs.frozen
class _Worker:
    """The open session of this process.

    Attributes:
        task: The task that it was opened for.
        session: The session.
        timing: Observes it.
        tracebacks: Observes it.
        id: Unlike any other's.
    """

    task: SessionTask
    session: Session
    timing: Timing
    tracebacks: Tracebacks
    id: str


_OPEN: list[_Worker] = []
"""The worker of this process, once it has computed an item."""


def _worker(task: SessionTask) -> _Worker:
    if _OPEN and _OPEN[0].task == task:
        return _OPEN[0]
    for old in _OPEN:
        old.session.close()
    _OPEN.clear()
    gc.unfreeze()
    work_beside(task.workers)
    if Path(task.folder).is_dir():
        os.chdir(task.folder)
    recipe: Recipe = from_data(task.recipe, Places(task.file))
    timing, tracebacks = Timing(), Tracebacks()
    session = Session(recipe, (timing, tracebacks)).open()
    where = os.uname().nodename if hasattr(os, "uname") else "this machine"
    try:
        for key, folder in task.models.items():
            trained = session.stages.by_key[key].learnt(recipe.output)
            assert trained is not None
            trained[0].driver.load(Path(folder))
    except (SrtkError, OSError) as error:
        session.close()
        raise RunError(f"the worker on {where} cannot load the trained model: {error}; share its folder") from None
    own = computation_of(session)
    if own != task.expected:
        session.close()
        raise RunError(
            f"the worker on {where} differs from this process in {differences(task.expected, own)}; install the same"
            " versions there, and give it the same files"
        )
    gc.freeze()  # as the runner does
    _OPEN.append(_Worker(task, session, timing, tracebacks, uuid.uuid4().hex))
    return _OPEN[0]
