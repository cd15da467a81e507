"""``srtk patterns mine``: mine the paths that join the pairs of each relation of a graph."""

from __future__ import annotations

import argparse
from contextlib import closing
from pathlib import Path
from typing import Any

import srtk_framework
from srtk_framework.host import Observer, Progress
from srtk_framework.values import InputError
from srtk_plugin_patterns.mining import describe, mine_graph
from srtk_plugin_patterns.path_patterns import MiningSettings
from srtk_plugin_patterns.twins import OVERLAP


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    add = parser.add_argument
    add("-kg", "--knowledge-graph", required=True, metavar="DIR", help="folder of a snapshot")
    add("-o", "--output", required=True, metavar="DIR", help="folder for patterns.json")
    add("--length", type=int, default=4, metavar="N", help="most steps of a path, 1 to 7 (%(default)s)")
    add(
        "--hub",
        type=_bound,
        default=100,
        metavar="N",
        help="leave no node by a step with more edges; `none` for no bound (%(default)s)",
    )
    add("--pairs", type=int, metavar="N", help="mine from so many pairs of a relation; default: all")
    add("--relation", action="append", metavar="ID", help="mine this relation; repeatable; default: all")
    add("--least", type=int, default=2, metavar="N", help="keep paths that join so many pairs (%(default)s)")
    add("--most", type=_bound, default=1000, metavar="N", help="most paths of a relation; `none` for all (%(default)s)")
    add("--seed", type=int, default=0, metavar="N", help="seed of the choice of pairs (%(default)s)")
    add(
        "--twins",
        type=_share,
        default=OVERLAP,
        metavar="X",
        help="hold out inverses and near-duplicates that share so many pairs; `none` for none of them (%(default)s)",
    )
    add("--workers", type=int, metavar="N", help="count in so many processes of this machine")
    add("-q", "--quiet", action="store_true", help="show no progress")


def run(args: argparse.Namespace) -> int:
    """Mine, write the patterns, and print how many there are and the cuts."""
    try:
        settings = MiningSettings(args.length, args.hub, args.pairs, args.least, args.most, args.seed, args.twins)
    except ValueError as error:
        raise InputError(f"{error}; correct the flags") from error
    if not Path(args.knowledge_graph).is_dir():
        raise InputError(
            f"{args.knowledge_graph}: there is no such folder; give a snapshot, as `srtk graph build` makes it"
        )
    out = Path(args.output)
    recipe: dict[str, Any] = {"srtk": 1, "knowledge_graph": {"use": "local", "path": args.knowledge_graph}}
    if args.workers is not None:
        recipe["executor"] = {"use": "processes", "workers": args.workers}
    with srtk_framework.open(recipe) as session:
        graph: Any = session.graph
        executor = next(iter(session.composer.built("executor")), None)
        bar = Observer() if args.quiet else Progress()

        def show(done: int, whole: int) -> None:
            bar.event("batch" if done else "method", {"name": "mine", "total": whole, "completed": done, "failed": 0})

        bar.open()
        with closing(bar):
            patterns = mine_graph(graph, settings, args.relation, show, executor)
    try:
        patterns.save(out)
    except OSError as error:
        raise InputError(f"{out}: the patterns cannot be written ({error}); choose another --output") from error
    print(f"{out}: {describe(patterns)}")
    return 0


def _bound(text: str) -> int | None:
    return None if text == "none" else int(text)


def _share(text: str) -> float | None:
    return None if text == "none" else float(text)
