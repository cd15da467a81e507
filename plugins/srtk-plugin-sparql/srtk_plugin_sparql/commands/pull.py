"""``srtk graph pull``: make a local snapshot of the reads of a run from a SPARQL graph."""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from srtk_plugin_views.read_log import READS, Reads, read

from srtk_framework.cli import say
from srtk_framework.values import InputError, console
from srtk_plugin_sparql.record import RECORD

_INTERRUPTED, _FAILED = 130, 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    add = parser.add_argument
    add("source", metavar="SOURCE", help="a recipe to run, or a folder that `record:` or a pull wrote")
    add("--out", required=True, metavar="DIR", help="folder of the snapshot; what is read is kept in DIR.reads")
    add("--whole", action="store_true", help="also read what the run only counted, and all labels")
    add("--hub", type=int, metavar="N", help="most neighbours a step with --whole (budget.hub of the recipe); 0: all")
    add("--fresh", action="store_true", help="drop what an earlier pull into DIR has read, and ask for all anew")
    add("--set", action="append", default=[], metavar="KEY.PATH=VALUE", help="change a value of the recipe; repeatable")
    add("--force", action="store_true", help="replace DIR even if it is no snapshot")
    add("-q", "--quiet", action="store_true", help="show no progress")


def run(args: argparse.Namespace) -> int:
    """Read, build the snapshot, and print its size."""
    from srtk_plugin_sparql.snapshots import require_local

    source, out = Path(args.source), Path(args.out)
    if args.hub is not None and (args.hub < 0 or not args.whole):
        raise InputError(f"--hub {args.hub}: give a number, 0 for no limit, together with --whole")
    if not source.exists():
        raise InputError(f"{source}: there is no such recipe or folder; check the path")
    require_local("a snapshot is built", "build", "srtk-plugin-local")
    from srtk_plugin_local.snapshot.build import check_target

    check_target(out, args.force)
    if source.is_dir():
        return _pull_folder(args, source, out)
    return _pull_recipe(args, source, out)


def _pull_folder(args: argparse.Namespace, source: Path, out: Path) -> int:
    from srtk_plugin_sparql.replay_facts import derive

    for flag in ("whole", "fresh", "set"):
        if getattr(args, flag):
            raise InputError(f"--{flag} goes with a recipe; {source} is a folder of answers, with nobody to ask")
    if (source / READS).is_file():
        reads = read(source)
    elif (source / RECORD).is_file():
        reads = derive(source)
    else:
        raise InputError(f"{source}: holds no {RECORD} or {READS}; make it by a run with `record: {source}`")
    if not reads.closed:
        lost = "was never closed: its run was stopped, or its end is lost; the snapshot holds what is there"
        print(f"srtk: {source} {lost}", file=sys.stderr)
    return _build(args, reads, out, record=source.name)


def _pull_recipe(args: argparse.Namespace, source: Path, out: Path) -> int:
    from srtk_framework.recipe import load
    from srtk_plugin_sparql import snapshot_pull

    folder = out.with_name(f"{out.name}.reads")
    recipe = load(source, args.set)
    pull = snapshot_pull.prepare(recipe, folder)
    if args.fresh and folder.exists():
        shutil.rmtree(folder)
    outcome, stopped = _retrieve(pull, args.quiet)
    if stopped:
        done = f"{outcome.finished} of {outcome.questions} questions are done"
        say(f"stopped; {done}; the same command goes on")
        return _INTERRUPTED
    try:
        return _make(args, pull, outcome, out)
    except KeyboardInterrupt:
        say("what was read is kept; the same command goes on")
        raise


def _make(args: argparse.Namespace, pull: Any, outcome: Any, out: Path) -> int:
    """With --whole read everything within reach of a search, and build the snapshot."""
    from srtk_plugin_sparql import snapshot_pull

    more: dict[str, Any] = {"recipe": Path(args.source).name, "questions": outcome.questions}
    if args.whole:
        hub = pull.recipe.options.budget.hub if args.hub is None else args.hub or None
        with _bar(args.quiet) as bar:
            snapshot_pull.fill(pull, hub, bar)
        more["whole"] = "all neighbours" if hub is None else f"up to {hub} neighbours a step"
    if outcome.failed:
        lost = f"{outcome.failed} of {outcome.questions} questions failed, and what they would have read is missing"
        say(f"{lost}; pull again to ask for them again")
        more["failed"] = outcome.failed
    if outcome.questions and outcome.failed == outcome.questions:
        return _FAILED
    return _build(args, read(pull.folder), out, **more)


def _retrieve(pull: Any, quiet: bool) -> tuple[Any, bool]:
    """Run the recipe; the first Ctrl-C stops it after the batch in hand, even if that is the last batch."""
    from srtk_framework.host import Progress
    from srtk_plugin_sparql import snapshot_pull

    before = signal.getsignal(signal.SIGINT)
    running: list[Any] = []
    stopped = False

    def interrupted(number: int, frame: FrameType | None) -> None:
        nonlocal stopped
        stopped = True
        signal.signal(signal.SIGINT, before)
        running[0].stop()
        say("stopping after this batch; Ctrl-C again to stop at once")

    def started(runner: Any) -> None:
        running.append(runner)
        signal.signal(signal.SIGINT, interrupted)

    try:
        outcome = snapshot_pull.retrieve(pull, () if quiet else (Progress(),), started)
    finally:
        signal.signal(signal.SIGINT, before)
    return outcome, stopped


def _build(args: argparse.Namespace, reads: Reads, out: Path, **more: Any) -> int:
    from srtk_plugin_sparql.snapshot_pull import origin
    from srtk_plugin_sparql.snapshots import build

    if not reads.triples:
        raise InputError(f"{args.source}: no triple was read, so that there is nothing to make a snapshot of")
    built = build(reads, out, origin(reads.graph, reads.times, **more), args.force)
    counts = built.meta.counts
    print(
        f"{out}: {counts['triples']:,} triples, {counts['entities']:,} entities, {counts['relations']:,} relations"
        f" of {reads.graph['source']}, content {built.meta.content[:16]}"
    )
    if not args.quiet and reads.nodes and "whole" not in more:
        print("steps that were only counted are not in it; --whole reads them too", file=sys.stderr)
    return 0


@contextmanager
def _bar(quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """Show progress bars on stderr, a line for each kind of reads."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    screen = console(stderr=True)
    columns = [
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    ]
    tasks: dict[str, Any] = {}
    with Progress(*columns, console=screen, disable=quiet or not screen.is_terminal) as bar:

        def show(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done, total=total)

        yield show
