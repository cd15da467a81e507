"""A run of a recipe: train, retrieve by each method, commit question by question, export, evaluate."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from srtk_framework.evaluation.answers import whole_use
from srtk_framework.evaluation.completion import CompletionScorer
from srtk_framework.evaluation.gold_ids import GoldIds
from srtk_framework.evaluation.link_scores import covered_by, link_counts
from srtk_framework.evaluation.metrics import compare, row
from srtk_framework.evaluation.rows import Row
from srtk_framework.evaluation.scores import write_scores
from srtk_framework.evaluation.slices import overlap_of_training
from srtk_framework.graph.path_instances import with_gold_triples
from srtk_framework.host.observers import Observer, Timing, notify, share_of_time
from srtk_framework.host.tracebacks import Tracebacks
from srtk_framework.recipe.recipe import Recipe
from srtk_framework.records.jsonl import write_json
from srtk_framework.records.lock import locked
from srtk_framework.run.failures import failures_by_reason
from srtk_framework.run.journal import Journal
from srtk_framework.run.manifest import COMPLETE, LOCK, NAME, STOPPED, claim, manifest_of
from srtk_framework.run.outputs import check_outputs
from srtk_framework.run.pipeline import LABELS_FAILED, LINKERS_FAILED
from srtk_framework.run.question_source import RunQuestions
from srtk_framework.run.session import Session
from srtk_framework.training.trainer import Trained, is_follower
from srtk_framework.values import LINKED_BY, Retrieval, RunError, batched

LINKS_ALONE, SUBGRAPHS_GIVEN = "linked", "given"
"""Names of what stands in place of a method where the recipe has no expander."""

Batch = Callable[[Sequence[Retrieval]], list[Retrieval]]
"""What a run does with a batch."""


@attrs.define
class Outcome:
    """The outcome of a run.

    Attributes:
        state: ``complete`` or ``stopped``.
        output: Folder of the run.
        questions: Number of questions.
        finished: Questions that the main method has finished.
        failed: Questions among them that ended in an error.
        reasons: Reasons of these errors, each with its number of questions, the most frequent first.
        evaluation: Content of ``evaluation.json``, or None.
        timing: Method to the table of the ``timing`` observer.
        exports: Files that exporters wrote.
        trained: The training's outcome, or None.
        shared: Questions that the training had seen.
        usage: Per method: calls, tokens and cost of generators for its finished questions.
        spent: Per generator: calls, tokens and cost since the start of this process, and what was paid.
        linkers_failed: Per linker: questions of this process on which it failed while another answered.
        unlabelled: Results of this process, of all methods, without labels because the graph failed.
        tracebacks: Per ``role:driver``: the lines of the traceback of the first exception that it raised.
        first: The main method's first result that has triples, or None.
        gold_fields: Fields of public sets from which gold answers were read, with their numbers of questions.
        topics_of_sets: Questions whose topics were read from ``q_entity``.
        unread_fields: Fields of questions without answers whose names speak of gold, likewise.
    """

    state: str
    output: Path
    questions: int = 0
    finished: int = 0
    failed: int = 0
    reasons: list[tuple[str, int]] = attrs.field(factory=list)
    evaluation: dict[str, Any] | None = None
    timing: dict[str, Any] = attrs.field(factory=dict)
    exports: list[str] = attrs.field(factory=list)
    trained: Trained | None = None
    shared: int = 0
    usage: dict[str, Any] = attrs.field(factory=dict)
    spent: dict[str, Any] = attrs.field(factory=dict)
    linkers_failed: dict[str, int] = attrs.field(factory=dict)
    unlabelled: int = 0
    tracebacks: dict[str, list[str]] = attrs.field(factory=dict)
    first: Retrieval | None = None
    gold_fields: dict[str, int] = attrs.field(factory=dict)
    topics_of_sets: int = 0
    unread_fields: dict[str, int] = attrs.field(factory=dict)


class Runner:
    """Runs one recipe.

    Args:
        recipe: What to run.
        resume: Take over the questions of a finished run too; an unfinished run of the same recipe always goes on.
        observers: Are notified, like the observers that the recipe names.
        train_only: End after the training.
        fresh: Start over, and drop what an unfinished run or training in the folder has finished.
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
        self._linkers_failed: dict[str, int] = {}
        self._unlabelled = 0
        self._session: Session | None = None

    @property
    def training(self) -> bool:
        """Whether the training is under way, which a stop ends at once."""
        return self._training

    def stop(self) -> None:
        """Stop after the batch in hand, or a training at once; safe to call from a signal handler."""
        self._stopping = True
        if self._training:
            raise KeyboardInterrupt

    def run(self) -> Outcome:
        """Run the recipe.

        Raises:
            RecipeError: If the recipe cannot be composed.
            RunError: If the run cannot go on, or another process is at it.
            InputError: If the questions cannot be read.
        """
        session = Session(self.recipe, self._observers)
        check_outputs(session)
        trains = session.training is not None
        if self.train_only and not trains:
            raise RunError(f"{self.recipe.file}: there is nothing to train; add `train:`")
        if self.recipe.questions is None and not trains:
            raise RunError(f"{self.recipe.file}: there are no questions to run; add `questions: FILE`")
        if self.train_only or self.recipe.questions is None or (trains and is_follower()):
            with session:
                return Outcome(COMPLETE, self.recipe.output, trained=self._train(session))
        started = time.time()
        with locked(self.recipe.output / LOCK, self.recipe.output, "choose another `output:`"), session:
            trained = self._train(session) if trains else None
            with RunQuestions(session, self.recipe.output, self.recipe, trained) as asked:
                return self._run(session, asked, trained, started)

    def _run(self, session: Session, asked: RunQuestions, trained: Trained | None, started: float) -> Outcome:
        """Run all methods over the questions, with the drivers open and the folder locked."""
        folder = self.recipe.output
        manifest = manifest_of(session, asked)
        if trained is not None:
            manifest["training"] = {
                "folder": str(trained.folder),
                "fingerprint": trained.fingerprint,
                "figures": trained.figures,
                "counts": trained.counts,
                "questions_seen": asked.shared,
            }
        goes_on = claim(folder, manifest, self.resume, self.fresh)
        journals = {name: Journal(folder, name, manifest["fingerprint"]) for name in _batches_of(session)}
        for name, journal in journals.items() if goes_on else ():
            dropped = journal.recover(item.question for item in asked.read())
            if dropped or journal.finished:
                data = {"name": name, "finished": journal.finished, "dropped": dropped, "file": str(journal.file)}
                self._notify(session, "resumed", data)
        asked.keep()
        write_json(folder / NAME, manifest)
        outcome = Outcome(STOPPED, folder, questions=asked.count, trained=trained, shared=asked.shared)
        outcome.gold_fields, outcome.unread_fields = dict(asked.gold_fields), dict(asked.unread_fields)
        outcome.topics_of_sets = asked.topics_of_sets
        done = self._methods(session, asked, journals, outcome)
        outcome.linkers_failed, outcome.unlabelled = self._linkers_failed, self._unlabelled
        outcome.tracebacks = self._tracebacks.table
        outcome.first = next((found for found in next(iter(done.values())).read() if found.subgraph.triples), None)
        self._count_use(session, done, outcome)
        if outcome.failed:
            errors = (retrieval.error for retrieval in next(iter(done.values())).read())
            outcome.reasons = failures_by_reason(error for error in errors if error is not None)
        if not self._stopping:
            main = next(iter(journals.values()))
            self._export(session, main, outcome)
            if self.recipe.against is not None:
                self._evaluate(session, journals, outcome)
            outcome.state = COMPLETE
        manifest.update(
            state=outcome.state,
            counts={"questions": asked.count, "finished": outcome.finished, "failed": outcome.failed},
            seconds=round(time.time() - started, 3),
            timing=outcome.timing,
            **({"tracebacks": outcome.tracebacks} if outcome.tracebacks else {}),
            exports=outcome.exports,
            **({"generators": {"usage": outcome.usage, "spent": outcome.spent}} if outcome.spent else {}),
        )
        write_json(folder / NAME, manifest)
        self._notify(session, outcome.state, {"completed": outcome.finished, "failed": outcome.failed})
        return outcome

    def _train(self, session: Session) -> Trained:
        self._training = True
        try:
            return session.train(self.fresh)
        finally:
            self._training = False

    def _methods(
        self, session: Session, asked: RunQuestions, journals: Mapping[str, Journal], outcome: Outcome
    ) -> dict[str, Journal]:
        """Run each method over all questions; end early after ``stop``. Returns the journals of those begun."""
        begun: dict[str, Journal] = {}
        for number, (name, batch) in enumerate(_batches_of(session).items()):
            journal = begun[name] = journals[name]
            self._timing.take()
            data = {"name": name, "total": asked.count, "completed": journal.finished, "failed": journal.failed}
            self._notify(session, "method", data)
            items: Iterable[Retrieval] = asked.read() if number == 0 else next(iter(begun.values())).read()
            self._batches(session, itertools.islice(items, journal.finished, None), batch, journal, number > 0)
            outcome.timing[name] = _rounded(self._timing.take())
            if number == 0:
                outcome.finished, outcome.failed = journal.finished, journal.failed
            if self._stopping:
                break
            self._notify(session, "done", {"completed": journal.finished, "failed": journal.failed})
        return begun

    def _batches(
        self, session: Session, items: Iterable[Retrieval], work: Batch, journal: Journal, follows: bool
    ) -> None:
        """Answer items batch by batch, and commit each batch; ``follows`` marks the methods after the main one."""
        for batch in batched(items, self.recipe.options.batch):
            if self._stopping:
                return
            started = time.perf_counter()
            done = work(batch)
            if follows:
                done = [_with_links_of(after, before) for after, before in zip(done, batch, strict=True)]
            done = journal.add(done, time.perf_counter() - started)
            self._unlabelled += sum(LABELS_FAILED in result.subgraph.trace for result in done)
            for linker in (name for result in done for name in result.subgraph.trace.get(LINKERS_FAILED, ())):
                self._linkers_failed[linker] = self._linkers_failed.get(linker, 0) + (not follows)
            self._notify(session, "batch", {"completed": journal.finished, "failed": journal.failed})

    def _count_use(self, session: Session, journals: Mapping[str, Journal], outcome: Outcome) -> None:
        """Add up calls, tokens and cost of generators, where the recipe has any."""
        outcome.spent = session.spent
        if outcome.spent:
            used = {name: whole_use(journal.read()) for name, journal in journals.items()}
            outcome.usage = {name: found for name, found in used.items() if found is not None}

    def _export(self, session: Session, journal: Journal, outcome: Outcome) -> None:
        for exporter in session.exporters:
            exporter.open_driver()
            try:
                for batch in batched(journal.read(), self.recipe.options.batch):
                    exporter.write(batch)
            except BaseException:
                exporter.abort()
                raise
            finally:
                exporter.close_driver()
            target = exporter.target()
            if target is not None:
                outcome.exports.append(target)

    def _evaluate(self, session: Session, journals: Mapping[str, Journal], outcome: Outcome) -> None:
        rows: dict[str, list[Row]] = {}
        scorer, gold_ids = CompletionScorer(session.graph), GoldIds()
        for name, journal in journals.items():
            rows[name] = []
            seconds = iter(journal.seconds())
            for batch in batched(journal.read(), self.recipe.options.batch):
                questions = [retrieval.question for retrieval in batch]
                if session.graph is not None:
                    questions = with_gold_triples(session.graph, questions)
                known = None if session.graph is None else covered_by(session.graph, questions)
                completions = scorer.score(batch)
                for retrieval, question, completion in zip(batch, questions, completions, strict=True):
                    gold_ids.add(retrieval)
                    found = row(attrs.evolve(retrieval, question=question), next(seconds), None, completion)
                    found = attrs.evolve(found, linking=link_counts(retrieval, known))
                    # Without a method there is no subgraph to score.
                    links_alone = session.linker is not None and not session.methods
                    rows[name].append(attrs.evolve(found, metrics={}, ranks=None) if links_alone else found)
        if not session.methods and not any(r.linking or r.metrics for some in rows.values() for r in some):
            return
        shares = {name: share_of_time(table) for name, table in outcome.timing.items()}
        trained = outcome.trained
        overlap = None if trained is None else overlap_of_training(trained.folder)
        outcome.evaluation = compare(rows, shares, overlap=overlap)
        unknown = gold_ids.report(session.graph)
        if unknown is not None:
            outcome.evaluation["gold_ids"] = unknown
        write_json(self.recipe.output / "evaluation.json", outcome.evaluation)
        write_scores(self.recipe.output, rows)

    def _notify(self, session: Session, name: str, data: Mapping[str, Any]) -> None:
        notify(session.observers, name, data)


def _batches_of(session: Session) -> dict[str, Batch]:
    """Return what a run does with a batch, per method; without an expander it links, or passes subgraphs on."""

    def expanded(method: str) -> Batch:
        return lambda batch: session.retrieve([item.question for item in batch], method)

    if session.methods:
        return {name: expanded(name) for name in session.methods}
    if session.linker is not None:
        return {LINKS_ALONE: lambda batch: session.labelled(session.linked([item.question for item in batch]))}
    return {SUBGRAPHS_GIVEN: lambda batch: session.labelled(session.read(session.with_own_ids(batch)))}


def _with_links_of(after: Retrieval, before: Retrieval) -> Retrieval:
    """Give the result of a method that ran on the main method's links the trace of their source."""
    source = {k: v for k, v in before.subgraph.trace.items() if k in ("links", LINKED_BY, LINKERS_FAILED)}
    if after.error is not None:
        source.pop("links", None)
    if not source:
        return after
    return attrs.evolve(after, subgraph=attrs.evolve(after.subgraph, trace={**after.subgraph.trace, **source}))


def _rounded(table: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    return {key: {name: round(value, 4) for name, value in row_.items()} for key, row_ in table.items()}
