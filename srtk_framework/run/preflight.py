"""Faults of a run that are found before any work: in files, snapshots, models and addresses of a recipe."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from srtk_framework.graph.hop_loop import stopping_reader
from srtk_framework.recipe import Composer, Recipe, needs_of
from srtk_framework.recipe.settings import Where
from srtk_framework.recipe.stage import ask_stage, named_faults
from srtk_framework.records.retrieval_records import read_questions
from srtk_framework.roles.preflight import unwritable
from srtk_framework.run.drivers import compose
from srtk_framework.run.outputs import check_outputs
from srtk_framework.run.session import Session
from srtk_framework.values import DriverError, RecipeError, SrtkError


def checked_session(recipe: Recipe) -> Session:
    """Compose a recipe and check its files and addresses; nothing is loaded, built or asked over a network.

    Returns:
        The session, not open.

    Raises:
        RecipeError: Naming every mistake in the recipe, and everything that a run would fail on.
    """
    problems: list[str] = []
    session: Session | None = None
    cause: BaseException | None = None
    try:
        session = Session(recipe)
        composer = session.composer
    except RecipeError as error:
        problems += error.problems
        cause = error.__cause__
        composer = Composer(recipe)
        with contextlib.suppress(RecipeError):  # the same as above; what it has built is checked all the same
            compose(recipe, composer)
    problems += _driver_faults(recipe, composer)
    problems += _question_faults(recipe, composer)
    for key, stage in recipe.stages.items():
        with named_faults(key, "preflight"):
            problems += [f"{recipe.places.say((key, setting))}: {text}" for setting, text in stage.preflight()]
    written = unwritable("output", str(recipe.output), folder=True)
    problems += [f"{recipe.places.say(('output',))}: {text}" for _, text in written]
    if session is not None:
        for name, method in session.methods.items():
            try:
                stopping_reader(method)
            except DriverError as error:
                problems.append(f"{recipe.places.say(('expander',))}: {error if error.driver else f'{name}: {error}'}")
        try:
            check_outputs(session)
        except RecipeError as error:
            problems += error.problems
    if problems or session is None:
        raise RecipeError(list(dict.fromkeys(problems))) from cause
    return session


def _driver_faults(recipe: Recipe, composer: Composer) -> Iterator[str]:
    """Ask each driver for the faults of its opening."""
    for where, one in composer.placed():
        try:
            faults = list(one.preflight())
        except SrtkError as error:
            yield f"{recipe.places.say(where)}: {error}"
            continue
        for setting, text in faults:
            yield f"{recipe.places.say((*where, setting))}: {one.name}: {text}"


def _question_faults(recipe: Recipe, composer: Composer) -> Iterator[str]:
    """Read the files of questions, and the first question of each dataset that stands by itself."""
    files: list[tuple[Where, Any]] = [(("questions",), recipe.questions)]
    files += [pair for stage in recipe.stages.values() for pair in ask_stage(stage, "question_files")]
    for where, file in files:
        if isinstance(file, str) and file != "-":
            limit = recipe.options.limit if where == ("questions",) else None
            yield from _first_fault(recipe, where, islice(read_questions(file), limit))
    for where, one in composer.placed():
        # A dataset that needs another driver, such as a graph, can be read only when that is open.
        if one.played.role == "dataset" and not needs_of(type(one.driver)):
            yield from _first_fault(recipe, where, islice(one.read(), 1))


def _first_fault(recipe: Recipe, where: Where, questions: Iterable[Any]) -> Iterator[str]:
    """Read questions, and return the first fault: further faults show after it is mended."""
    try:
        count = sum(1 for _ in questions)
    except SrtkError as error:
        yield f"{recipe.places.say(where)}: {error}"
        return
    if not count:
        yield f"{recipe.places.say(where)}: there is no question in it"
