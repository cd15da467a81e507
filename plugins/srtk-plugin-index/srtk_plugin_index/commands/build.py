"""``srtk index build``: build the indexes of a recipe from their corpora."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from typing import Any

from srtk_framework.recipe import Composer, load
from srtk_framework.roles import Index
from srtk_framework.values import Entry, RecipeError, batched, console

_AT_ONCE = 1024
_log = logging.getLogger(__name__)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    parser.add_argument("recipe", metavar="RECIPE", help="recipe with `index:` and `corpus:`")
    parser.add_argument("--name", metavar="NAME", help="build this one of the recipe's `indexes:` alone")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="override a value of the recipe"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="show no progress")


def run(args: argparse.Namespace) -> int:
    """Build each index, and print how many entries it has and how many parts the limits of its corpora left out."""
    recipe = load(args.recipe, args.set)
    composer = Composer(recipe)
    whole = {name: composer.build(block) for name, block in _blocks(recipe, args.name).items()}
    recipe.check()
    composer.check()
    parts = {id(part): (name, part) for name, index in whole.items() for part in _parts(index)}
    for name, index in parts.values():
        if not index.settings().get("corpora"):
            raise RecipeError(
                [f"{args.recipe}: {name} {index.name!r} has nothing to be built from; give `corpus:` in the recipe, or"
                 " `corpora:` in its block"]
            )  # fmt: skip
    with ExitStack() as stack:
        indexes = [part for _, part in parts.values()]
        composer.open(stack, apart=[*indexes, *whole.values()])
        for index in indexes:
            count, left_out = build(index, args.quiet)
            if not count:
                _log.warning("the corpus has no entry, so a search finds nothing; check `corpus:` and what it reads")
            place = index.settings().get("path") or index.name
            print(f"{place}: {count:,} entries")
            for corpus, counts in zip(index.settings()["corpora"], left_out, strict=True):
                if counts:
                    found = ", ".join(f"{name} {number:,}" for name, number in counts.items())
                    print(f"{place}: left out by the limits of {corpus.name}: {found}")
    return 0


def build(index: Any, quiet: bool = True) -> tuple[int, list[dict[str, int]]]:
    """Fill an index from its corpora, which are open, and commit it.

    Args:
        index: Port or driver of an index with a field ``corpora``; it is closed at the end.
        quiet: Show no progress.

    Returns:
        The number of entries, and the sums of the counts of left-out parts by corpus, under the corpus' own names.
    """
    left_out: list[dict[str, int]] = []
    try:
        with closing(_driver(index)):
            index.create()
            for corpus in index.settings()["corpora"]:
                sums: dict[str, int] = {}
                for batch in _tracked(corpus, quiet):
                    index.add([entry for entry, _ in batch])
                    for name, number in (item for _, counts in batch for item in counts.items()):
                        sums[name] = sums.get(name, 0) + number
                left_out.append(sums)
            index.note(left_out)
            return int(index.commit()), left_out
    except OSError as error:
        error.filename = error.filename or index.settings().get("path")
        raise


def _parts(index: Any) -> list[Any]:
    """Return the indexes to build for an index: the indexes that it holds, or itself."""
    lists = [value for value in index.settings().values() if isinstance(value, list | tuple)]
    held = [one for values in lists for one in values if isinstance(one, Index)]
    return [part for one in held for part in _parts(one)] or [index]


def _driver(index: Any) -> Any:
    """Return the driver behind a port, whose own ``close`` does nothing."""
    return getattr(index, "driver", index)


def _blocks(recipe: Any, name: str | None) -> dict[str, Any]:
    """Return the blocks of the indexes to build, by their names in errors."""
    named = recipe.named.get("index", {})
    if name is not None:
        if name not in named:
            known = ", ".join(sorted(named)) or "there are none"
            raise RecipeError([f"{recipe.file}: no index is named {name!r} under `indexes:` ({known})"])
        return {f"index {name}": named[name]}
    found = {"index": recipe.blocks["index"]} if "index" in recipe.blocks else {}
    found |= {f"index {name}": block for name, block in named.items()}
    if not found:
        raise RecipeError([f"{recipe.file}: there is no `index:` to build; add one, such as `index: {{use: bm25}}`"])
    return found


def _tracked(corpus: Any, quiet: bool) -> Iterator[Sequence[tuple[Entry, Mapping[str, int]]]]:
    """Yield the entries of a corpus in batches, each with counts of left-out parts; on a terminal with the progress."""
    from rich import progress

    screen = console(stderr=True)
    columns = (
        progress.TextColumn("{task.description}", markup=False),
        progress.TextColumn("{task.completed:,} entries"),
        progress.TimeElapsedColumn(),
    )
    with progress.Progress(*columns, console=screen, disable=quiet or not screen.is_terminal) as bar:
        task = bar.add_task("indexing", total=None)
        for batch in batched(corpus.counted(), _AT_ONCE):
            yield batch
            bar.update(task, advance=len(batch))
