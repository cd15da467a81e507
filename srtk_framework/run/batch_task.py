"""The work of a run that an executor spreads: batches of questions, answered by a session of each process."""

from __future__ import annotations

import gc
import os
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from srtk_framework.host.observers import Timing, watches_calls
from srtk_framework.host.tracebacks import Tracebacks
from srtk_framework.recipe.recipe import Recipe, from_data
from srtk_framework.recipe.yaml_source import Places
from srtk_framework.run.dispatcher import Abandonment
from srtk_framework.run.manifest import computation_of, differences
from srtk_framework.run.session import Session
from srtk_framework.run.stages import Answer
from srtk_framework.values import Retrieval, RunError, SrtkError, work_beside

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
class Answered:
    """A batch that a worker has answered.

    Attributes:
        retrievals: One per question, in order.
        seconds: Time of the batch.
        timing: Table of the worker's ``timing`` observer for this batch.
        tracebacks: See ``Run.tracebacks``; of the worker so far.
        worker: Identity of the worker.
        spent: Counts of its generators so far: see ``Session.spent``.
    """

    retrievals: list[Retrieval]
    seconds: float
    timing: Mapping[str, Mapping[str, float]]
    tracebacks: Mapping[str, list[str]]
    worker: str
    spent: Mapping[str, Mapping[str, Any]]


@attrs.frozen
class BatchTask:
    """Answers batches of a run in another process, by drivers that it composes from the recipe.

    Attributes:
        file: File of the recipe, for messages.
        recipe: Data of the recipe, without the keys that are the first process's business.
        expected: What decides results: see ``computation_of``.
        workers: Number of processes that share the limits of the run.
        models: Key of each stage that has trained a driver to the folder of the model.
    """

    file: str
    recipe: Mapping[str, Any] = attrs.field(repr=False)
    expected: Mapping[str, Any] = attrs.field(repr=False)
    workers: int
    models: Mapping[str, str]

    @classmethod
    def of(cls, session: Session, workers: int) -> BatchTask:
        """Make the task of a run, whose session is open."""
        data = {key: value for key, value in session.recipe.portable().items() if key not in ("executor", "observers")}
        trained = {key: stage.learnt(session.recipe.output) for key, stage in session.stages.by_key.items()}
        models = {key: str(found[1].resolve()) for key, found in trained.items() if found is not None}
        return cls(session.recipe.file, data, computation_of(session), workers, models)

    def __call__(self, item: tuple[str, list[Retrieval]]) -> Answered:
        """Answer a batch by a method.

        Raises:
            RunError: With the text of any error of the framework, whose class may not travel.
        """
        try:
            worker = _worker(self)
            method, batch = item
            started = time.perf_counter()
            found = worker.answers[method](batch)
            seconds = time.perf_counter() - started
            timing = worker.timing.take()
        except SrtkError as error:
            raise RunError(str(error)) from None
        return Answered(found, seconds, timing, dict(worker.tracebacks.table), worker.id, worker.session.spent)


@attrs.frozen
class _Worker:
    """The open session of this process.

    Attributes:
        task: The task that it was opened for.
        session: The session.
        answers: See ``answers_of``.
        timing: Observes it.
        tracebacks: Observes it.
        id: Unlike any other's.
    """

    task: BatchTask
    session: Session
    answers: Mapping[str, Callable[[Sequence[Retrieval]], list[Retrieval]]]
    timing: Timing
    tracebacks: Tracebacks
    id: str


_OPEN: list[_Worker] = []
"""The worker of this process, once it has answered a batch."""


def _worker(task: BatchTask) -> _Worker:
    if _OPEN and _OPEN[0].task == task:
        return _OPEN[0]
    for old in _OPEN:
        old.session.close()
    _OPEN.clear()
    gc.unfreeze()
    work_beside(task.workers)
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
    _OPEN.append(_Worker(task, session, answers_of(session), timing, tracebacks, uuid.uuid4().hex))
    return _OPEN[0]
