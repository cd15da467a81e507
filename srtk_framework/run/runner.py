"""A run of a recipe: train, retrieve by each method, commit question by question, export, evaluate."""

from __future__ import annotations

import functools
import gc
import itertools
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import attrs

from srtk_framework.host.observers import Observer, Timing, notify
from srtk_framework.host.tracebacks import Tracebacks
from srtk_framework.recipe.recipe import Recipe
from srtk_framework.records.jsonl import write_json
from srtk_framework.records.lock import locked
from srtk_framework.run.batch_task import SessionTask, answered, answers_of, check_spread, spread_over
from srtk_framework.run.failures import failures_by_reason
from srtk_framework.run.journal import Journal
from srtk_framework.run.manifest import COMPLETE, LOCK, NAME, STOPPED, claim, manifest_of
from srtk_framework.run.outputs import check_outputs
from srtk_framework.run.pipeline import LABELS_FAILED, LINKERS_FAILED
from srtk_framework.run.question_source import RunQuestions
from srtk_framework.run.session import Session, export
from srtk_framework.run.stages import Answer, is_follower
from srtk_framework.values import LINKED_BY, Question, Retrieval, RunError, batched, total, use_of

_Batch: TypeAlias = tuple[list[Retrieval], list[Retrieval], float]
"""The items of a batch, their results, and the seconds that these took."""


@attrs.define
class Run:
    """A run of a recipe: its questions, and their results so far.

    Attributes:
        recipe: The recipe.
        session: The session, open during the run.
        state: ``complete`` or ``stopped``.
        questions: Number of questions.
        finished: Questions that the main method has finished.
        failed: Questions among them that ended in an error.
        reasons: Reasons of these errors, each with its number of questions, the most frequent first.
        results: Method to the journal of its results, the main method first: see ``Journal.read``.
        timing: Method to the table of the ``timing`` observer.
        exports: Files that exporters wrote.
        stages: Results that stages leave for each other and for the caller, by key: the report of ``evaluate``, the
            training's outcome of ``train``.
        manifest: Content of ``manifest.json``, to which stages may add keys.
        usage: Per method: calls, tokens and cost of generators for its finished questions.
        spent: Per generator: calls, tokens and cost since the start of this process, and the money paid.
        linkers_failed: Per linker: questions of this process on which it failed while another answered.
        unlabelled: Results of this process, of all methods, without labels because the graph failed.
        tracebacks: Per ``role:driver``: the lines of the traceback of the first exception that it raised.
        first: The main method's first result that has triples, or None.
        topics_of_sets: Questions whose topics were read from ``q_entity``.
    """

    recipe: Recipe
    session: Session
    state: str = STOPPED
    questions: int = 0
    finished: int = 0
    failed: int = 0
    reasons: list[tuple[str, int]] = attrs.field(factory=list)
    results: dict[str, Journal] = attrs.field(factory=dict)
    timing: dict[str, Any] = attrs.field(factory=dict)
    exports: list[str] = attrs.field(factory=list)
    stages: dict[str, Any] = attrs.field(factory=dict, on_setattr=attrs.setters.frozen)
    manifest: dict[str, Any] = attrs.field(factory=dict, on_setattr=attrs.setters.frozen)
    usage: dict[str, Any] = attrs.field(factory=dict)
    spent: dict[str, Any] = attrs.field(factory=dict)
    linkers_failed: dict[str, int] = attrs.field(factory=dict)
    unlabelled: int = 0
    tracebacks: dict[str, list[str]] = attrs.field(factory=dict)
    first: Retrieval | None = None
    topics_of_sets: int = 0

    _asked: RunQuestions | None = attrs.field(default=None, repr=False)

    @property
    def output(self) -> Path:
        """Folder of the run."""
        return self.recipe.output

    def asked(self) -> Iterator[Question]:
        """Read the questions; none where only drivers are trained."""
        return (item.question for item in self._asked.read()) if self._asked is not None else iter(())


class Runner:
    """Runs one recipe.

    Args:
        recipe: The recipe.
        resume: Take over the questions of a finished run too; an unfinished run of the same recipe always goes on.
        observers: Are notified, like the observers that the recipe names.
        train_only: End after the training.
        fresh: Start over, and drop the work of an unfinished run or training in the folder.
    """

    def __init__(
        self,
        recipe: Recipe,
        resume: bool = False,
        observers: Sequence[Observer] = (),
        train_only: bool = False,
        fresh: bool = False,
    ) -> None:
        self.recipe = recipe
        self.resume = resume
        self.fresh = fresh
        self.train_only = train_only
        self._training = False
        self._timing = Timing()
        self._tracebacks = Tracebacks()
        self._observers = [self._timing, self._tracebacks, *observers]
        self._stopping = False
        self._task: SessionTask | None = None

    @property
    def training(self) -> bool:
        """Whether the training is under way, which a stop ends at once."""
        return self._training

    def stop(self) -> None:
        """Stop after the batch in hand, or a training at once; safe to call from a signal handler."""
        self._stopping = True
        if self._training:
            raise KeyboardInterrupt

    def run(self) -> Run:
        """Run the recipe.

        Raises:
            RecipeError: If the recipe cannot be composed.
            RunError: If the run cannot go on, or another process is at it.
            InputError: If the questions cannot be read.
        """
        session = Session(self.recipe, self._observers)
        check_outputs(session)
        if session.executor is not None and not self.train_only:
            check_spread(session)
        run = Run(self.recipe, session)
        trains = bool(session.stages.implement("train"))
        if self.train_only and not trains:
            raise RunError(f"{self.recipe.file}: there is nothing to train; add `train:`")
        if self.recipe.questions is None and not trains:
            raise RunError(f"{self.recipe.file}: there are no questions to run; add `questions: FILE`")
        if self.train_only or self.recipe.questions is None or (trains and is_follower()):
            with session:
                self._train(run)
            run.state = COMPLETE
            return run
        started = time.time()
        with locked(self.recipe.output / LOCK, self.recipe.output, "choose another `output:`"), session:
            if trains:
                self._train(run)
            with RunQuestions(session, self.recipe.output, self.recipe) as asked:
                self._run(run, asked, started)
        return run

    def _run(self, run: Run, asked: RunQuestions, started: float) -> None:
        """Run all methods over the questions, with the drivers open and the folder locked."""
        session, folder = run.session, self.recipe.output
        manifest = run.manifest
        manifest.update(manifest_of(session, asked))
        goes_on = claim(folder, manifest, self.resume, self.fresh)
        if session.executor is not None:
            self._task = SessionTask.of(session, answered)
        journals = {name: Journal(folder, name, manifest["fingerprint"]) for name in answers_of(session)}
        for name, journal in journals.items() if goes_on else ():
            dropped = journal.recover(item.question for item in asked.read())
            if dropped or journal.finished:
                data = {"name": name, "finished": journal.finished, "dropped": dropped, "file": str(journal.file)}
                notify(session.observers, "resumed", data)
        asked.keep()
        run._asked, run.questions, run.topics_of_sets = asked, asked.count, asked.topics_of_sets
        session.stages.call("before_run", run=run)
        _write_manifest(run, "before_run")
        # A search makes many small objects; a quarter of its time went to the collector, among the drivers' objects.
        frozen = gc.get_freeze_count()  # unfreezing would also free what the host program has frozen
        if not frozen:
            gc.freeze()
        try:
            self._methods(run, asked, journals)
        finally:
            if not frozen:
                gc.unfreeze()
        main = next(iter(journals.values()))
        run.tracebacks = self._tracebacks.table
        run.first = next((found for found in main.read() if found.subgraph.triples), None)
        self._count_use(run)
        if run.failed:
            errors = (retrieval.error for retrieval in main.read())
            run.reasons = failures_by_reason(error for error in errors if error is not None)
        if not self._stopping:
            self._export(session, main, run)
            run.state = COMPLETE
        manifest.update(
            state=run.state,
            counts={"questions": asked.count, "finished": run.finished, "failed": run.failed},
            timing=run.timing,
            **({"tracebacks": run.tracebacks} if run.tracebacks else {}),
            exports=run.exports,
            **({"generators": {"usage": run.usage, "spent": run.spent}} if run.spent else {}),
        )
        if run.state == COMPLETE:
            # The file still has the run as unfinished: after a fault of a stage, the same command goes on.
            session.stages.call("after_run", run=run)
        manifest["seconds"] = round(time.time() - started, 3)
        _write_manifest(run, "after_run")
        notify(session.observers, run.state, {"completed": run.finished, "failed": run.failed})

    def _train(self, run: Run) -> None:
        self._training = True
        try:
            run.stages.update(run.session.train(self.fresh))
        finally:
            self._training = False

    def _methods(self, run: Run, asked: RunQuestions, journals: Mapping[str, Journal]) -> None:
        """Run each method over all questions; end early after ``stop``. The journals of those begun are the results."""
        for number, (name, answer) in enumerate(answers_of(run.session).items()):
            journal = run.results[name] = journals[name]
            self._timing.take()
            data = {"name": name, "total": asked.count, "completed": journal.finished, "failed": journal.failed}
            notify(run.session.observers, "method", data)
            items: Iterable[Retrieval] = asked.read() if number == 0 else next(iter(journals.values())).read()
            self._batches(run, name, answer, itertools.islice(items, journal.finished, None), number > 0)
            taken = self._timing.take()
            run.timing[name] = {hook: {k: round(v, 4) for k, v in row.items()} for hook, row in taken.items()}
            if number == 0:
                run.finished, run.failed = journal.finished, journal.failed
            if self._stopping:
                break
            notify(run.session.observers, "done", {"completed": journal.finished, "failed": journal.failed})

    def _batches(self, run: Run, name: str, answer: Answer, items: Iterable[Retrieval], follows: bool) -> None:
        """Answer items batch by batch, and commit each batch; ``follows`` marks the methods after the main method."""
        journal, batches = run.results[name], self._until_stopped(batched(items, self.recipe.options.batch))
        answered = self._here(run, name, answer, batches) if self._task is None else self._elsewhere(run, name, batches)
        for batch, done, seconds in answered:
            if follows:
                done = [_with_links_of(after, before) for after, before in zip(done, batch, strict=True)]
            done = journal.add(done, seconds)
            run.unlabelled += sum(LABELS_FAILED in result.subgraph.trace for result in done)
            for linker in (name for result in done for name in result.subgraph.trace.get(LINKERS_FAILED, ())):
                run.linkers_failed[linker] = run.linkers_failed.get(linker, 0) + (not follows)
            notify(run.session.observers, "batch", {"completed": journal.finished, "failed": journal.failed})

    def _until_stopped(self, batches: Iterable[list[Retrieval]]) -> Iterator[list[Retrieval]]:
        return itertools.takewhile(lambda _: not self._stopping, batches)

    def _here(self, run: Run, name: str, answer: Answer, batches: Iterable[list[Retrieval]]) -> Iterator[_Batch]:
        """Answer batches in this process."""
        for batch in batches:
            started = time.perf_counter()
            done = run.session.stages.answered(answer, run, name, batch)
            yield batch, done, time.perf_counter() - started

    def _elsewhere(self, run: Run, name: str, batches: Iterable[list[Retrieval]]) -> Iterator[_Batch]:
        """Answer batches by the executor; stages see each batch when its own answers are there."""
        out: deque[list[Retrieval]] = deque()

        def sent() -> Iterator[tuple[str, list[Retrieval]]]:
            for batch in batches:
                out.append(batch)
                yield name, [Retrieval(item.question) for item in batch] if run.session.methods else batch

        assert self._task is not None
        for done in spread_over(run.session, self._task, sent()):
            batch = out.popleft()
            own: Answer = functools.partial(_first, done.value)
            yield batch, run.session.stages.answered(own, run, name, batch), done.seconds

    def _count_use(self, run: Run) -> None:
        """Add up calls, tokens and cost of generators, where the recipe has any."""
        run.spent = run.session.spent
        if run.spent:
            for name, journal in run.results.items():
                uses = [use for found in journal.read() if (use := use_of(found.subgraph.trace)) is not None]
                run.usage |= {name: {"questions": len(uses), **total(uses)}} if uses else {}

    def _export(self, session: Session, journal: Journal, run: Run) -> None:
        for exporter in session.exporters:
            export(exporter, batched(journal.read(), self.recipe.options.batch))
            target = exporter.target()
            if target is not None:
                run.exports += [target, *exporter.parts()]


def _write_manifest(run: Run, hook: str) -> None:
    """Write ``manifest.json``; stages have just added to it by ``hook``."""
    try:
        write_json(run.output / NAME, run.manifest)
    except (TypeError, ValueError) as error:
        keys = ", ".join(run.session.stages.implement(hook))
        raise RunError(f"stage {keys}: {hook} left in run.manifest what JSON cannot hold: {error}") from error


def _first(known: list[Retrieval], batch: Sequence[Retrieval]) -> list[Retrieval]:
    """Answer a batch whose results are known."""
    return known


def _with_links_of(after: Retrieval, before: Retrieval) -> Retrieval:
    """Give the result of a method that ran on the main method's links the trace of their source."""
    source = {k: v for k, v in before.subgraph.trace.items() if k in ("links", LINKED_BY, LINKERS_FAILED)}
    if after.error is not None:
        source.pop("links", None)
    if not source:
        return after
    return attrs.evolve(after, subgraph=attrs.evolve(after.subgraph, trace={**after.subgraph.trace, **source}))
