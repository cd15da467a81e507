"""Run recipes in order: train, retrieve, export and evaluate, as each recipe asks."""

from __future__ import annotations

import argparse
import logging
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Any

import attrs

from srtk_framework.cli import FAILED, INTERRUPTED, OK, TERMINATED
from srtk_framework.cli.options import add_run_arguments, add_set_argument, logged, note, say
from srtk_framework.host.observers import Observer
from srtk_framework.recipe.recipe import Recipe, load
from srtk_framework.run.manifest import COMPLETE
from srtk_framework.run.outputs import check_outputs
from srtk_framework.run.result import Result
from srtk_framework.run.runner import Run, Runner
from srtk_framework.run.session import Session
from srtk_framework.run.stages import Stages, is_follower
from srtk_framework.values import console, redacted, shortened

_REASONS = 5
"""Reasons of failures that are shown."""
_REASON = 240
"""Characters of a reason and its remedy that are shown."""
_FIRST = 3
"""Paths and triples of the first result that are shown."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument("recipes", nargs="+", metavar="RECIPE", help="YAML file")
    add_run_arguments(parser)
    parser.add_argument(
        "--train-only", action="store_true", help="end after the training that the recipe's `train` describes"
    )
    parser.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="answer batches in so many processes of this machine: `executor: {use: processes, workers: N}`",
    )
    add_set_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    spread = [] if args.workers is None else [f"executor={{use: processes, workers: {args.workers}}}"]
    recipes = [load(path, [*args.set, *spread]) for path in args.recipes]
    if len(recipes) > 1:
        # Report a mistake in the last recipe before the first one runs.
        check_outputs(*(Session(recipe) for recipe in recipes))
    code = OK
    runs: list[Run] = []
    for recipe in recipes:
        with logged(logging.DEBUG if args.verbose else None):
            ended = run_recipe(recipe, args.resume, args.quiet, args.train_only, args.traceback, args.fresh, runs)
        if ended in (INTERRUPTED, TERMINATED):
            return ended
        code = max(code, ended)
    if len(runs) > 1:
        stages = {key: stage for run in runs for key, stage in run.recipe.stages.items()}
        Stages(stages).call("report_together", runs=runs, quiet=args.quiet)
    return code


def run_recipe(
    recipe: Recipe,
    resume: bool,
    quiet: bool,
    train_only: bool = False,
    in_full: bool = False,
    fresh: bool = False,
    done: list[Run] | None = None,
) -> int:
    """Run one recipe with progress, a clean stop on Ctrl-C and SIGTERM, and a report at the end.

    Args:
        recipe: The recipe.
        resume: Take over the questions of a finished run of the same recipe too.
        quiet: Print errors only.
        train_only: End after the training.
        in_full: Print the traceback of the first exception of each driver.
        fresh: Start over, and drop the work of an unfinished run or training in the folder.
        done: Takes the run, if it answered questions and was not stopped.

    Returns:
        The exit code.
    """
    from srtk_framework.host.observers import Progress

    runner = Runner(recipe, resume, () if quiet else (Progress(), _Resumed(), _Opening()), train_only, fresh)
    with _stopped_by_signals(runner) as received:
        try:
            run = runner.run()
        except KeyboardInterrupt:
            if signal.SIGTERM not in received:
                raise
            say("terminated")
            return TERMINATED
    if is_follower():
        return OK
    run.session.stages.call("report", run=run, quiet=quiet)
    if not run.questions:
        return OK
    if not quiet:
        _report(recipe, run)
    if run.topics_of_sets:
        note(f"topics are read from q_entity ({run.topics_of_sets} questions), since there is no question_entities")
    if run.state != COMPLETE:
        say(
            f"stopped; {run.finished} of {run.questions} questions are finished and kept in"
            f" {run.output}; the same command goes on"
        )
        return TERMINATED if signal.SIGTERM in received else INTERRUPTED
    if done is not None:
        done.append(run)
    for linker, count in run.linkers_failed.items():
        say(
            f"the linker {linker} failed on {count} questions that another linker answered; their traces say why"
            " under `linkers_failed`"
        )
    if run.unlabelled:
        say(
            f"{run.unlabelled} results have no labels, because the graph failed to give them; their traces"
            " say why under `labels_failed`"
        )
    if in_full:
        for driver, lines in run.tracebacks.items():
            say(f"first exception of {driver}:", *lines)
    if run.failed:
        where = f"; {run.output / 'manifest.json'} has the tracebacks" if run.tracebacks else ""
        say(f"{run.failed} of {run.questions} questions failed; their results say why under `error`{where}")
        for reason, count in run.reasons[:_REASONS]:
            say(f"{count:>6} failed: {shortened(redacted(reason), _REASON)}")
        if rest := sum(count for _, count in run.reasons[_REASONS:]):
            say(f"{rest:>6} failed for {len(run.reasons) - _REASONS} other reasons")
    return FAILED if run.questions and run.failed == run.questions else OK


@contextmanager
def _stopped_by_signals(runner: Runner) -> Iterator[list[int]]:
    """Have the first SIGINT or SIGTERM stop a runner after its batch, and the second signal at once.

    Only the main thread gets signals, so elsewhere nothing is changed.

    Yields:
        The signals received so far.
    """
    received: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        received.append(number)
        if len(received) > 1:
            raise KeyboardInterrupt
        again = "Ctrl-C again" if number == signal.SIGINT else "send it again"
        if runner.training:
            say("stopping the training; the same command goes on")
        else:
            say(f"stopping after this batch; {again} to stop at once")
        runner.stop()

    if threading.current_thread() is not threading.main_thread():
        yield received
        return
    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield received
    finally:
        for number, handler in before.items():
            # None stands for a handler that was not set from Python.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


@attrs.define
class _Opening(Observer):
    """Prints log records of drivers while they are opened, such as how the first line of a table was read."""

    _printing: ExitStack = attrs.field(factory=ExitStack, init=False, repr=False)

    def open(self) -> None:
        """Begin to print, unless all that is logged is printed."""
        if not logging.getLogger().isEnabledFor(logging.INFO):
            self._printing.enter_context(logged(logging.INFO))

    def event(self, name: str, data: Mapping[str, Any]) -> None:
        """Stop printing once all drivers are open."""
        if name == "opened":
            self._printing.close()

    def close(self) -> None:
        """Stop printing."""
        self._printing.close()


@attrs.define
class _Resumed(Observer):
    """Prints how much a run takes over from an earlier process."""

    def event(self, name: str, data: Mapping[str, Any]) -> None:
        if name != "resumed":
            return
        if data["dropped"]:
            say(f"{data['file']}: the last line was not written to its end and is dropped")
        say(f"{data['name']} goes on after {data['finished']} finished questions; --fresh starts over")


def _report(recipe: Recipe, run: Run) -> None:
    from rich.table import Table

    screen = console()
    if any(block.use == "timing" for block in recipe.observers):
        for method, rows in run.timing.items():
            shown = Table(title=f"time of {method}", title_justify="left")
            for column in ("hook", "calls", "items", "seconds", "own seconds"):
                shown.add_column(column, justify="left" if column == "hook" else "right")
            for hook, numbers in sorted(rows.items(), key=lambda item: -item[1]["own"]):
                counts = (f"{numbers[name]:.0f}" for name in ("calls", "items"))
                shown.add_row(hook, *counts, *(f"{numbers[name]:.3f}" for name in ("seconds", "own")))
            screen.print(shown)
    for line in _spent(run):
        screen.print(line, soft_wrap=True)
    lines = [f"{run.finished} questions, {run.failed} failed; manifest in {run.output / 'manifest.json'}"]
    if run.first is not None:
        lines += ["", "the first result:", Result(run.first).to_text(_FIRST, _FIRST), ""]
    lines += [f"{'open' if path.endswith('.html') else 'wrote'} {path}" for path in run.exports]
    for line in lines:
        screen.print(redacted(line), soft_wrap=True)


def _spent(run: Run) -> list[str]:
    """Sum up calls and tokens of language models per method, and the money that this run paid."""
    lines = []
    for method, used in run.usage.items():
        tokens = f"{used['tokens_in']:,} tokens read and {used['tokens_out']:,} written"
        cost = f", cost {used['cost']:.4g}" if used["cost"] else ""
        lines.append(
            f"{method}: {used['calls']:,} calls of a model for {used['questions']:,} questions, {tokens}{cost}"
        )
    for name, spent in run.spent.items():
        if spent["cached"]:
            lines.append(
                f"{name}: {spent['cached']:,} of {spent['calls']:,} replies from its cache, paid {spent['paid']:.4g}"
            )
    return lines
