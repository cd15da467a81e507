"""Hooks of a run that stages implement, and the row of stages of one session."""

from __future__ import annotations

import inspect
import os
import traceback
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from typing import Any

import attrs
import pluggy

from srtk_framework.host.discovery import STAGE, distributions_of
from srtk_framework.recipe.stage import Stage, ask_stage, hookimpl, load_stage, stage_keys
from srtk_framework.roles.base import PROJECT
from srtk_framework.values import Retrieval, RunError, SrtkError, Subgraph

_hookspec = pluggy.HookspecMarker(PROJECT)


Answer = Callable[[Sequence[Retrieval]], list[Retrieval]]
"""What a run does with a batch."""


class StageHooks:
    """The points of a run at which stages act; a stage implements the hooks that it needs, and may omit arguments.

    ``session`` is an open ``Session``, ``run`` a ``Run``.
    """

    @_hookspec
    def train(self, session: Any, fresh: bool) -> tuple[str, Any] | None:
        """Have drivers learn, with the session open, before questions are read.

        Args:
            session: The open session.
            fresh: Whether an unfinished training is started over.

        Returns:
            Key of the stage, and its report on the training.
        """

    @_hookspec
    def before_run(self, run: Any) -> None:
        """Act once the folder is known to be this run's, before the first question is answered."""

    @_hookspec(firstresult=True)
    def batch(self, run: Any, method: str, retrievals: Sequence[Retrieval]) -> list[Retrieval] | None:
        """Answer a batch of questions; the framework's own implementation comes last.

        A wrapper (``hookimpl(wrapper=True)``) sees the results before they are committed, and may replace them.

        Args:
            run: The run.
            method: Name of the expander.
            retrievals: The questions; in a recipe without methods they come with subgraphs of an earlier run.

        Returns:
            One retrieval per question, in order.
        """

    @_hookspec
    def after_run(self, run: Any) -> None:
        """Act on the results of all methods, after the exporters.

        ``run.manifest`` is complete but for its seconds; the file is written after this hook.
        """

    @_hookspec
    def report(self, run: Any, quiet: bool) -> None:
        """Print the outcome of the run, also of a stopped run; ``srtk run`` calls it."""

    @_hookspec
    def report_together(self, runs: Sequence[Any], quiet: bool) -> None:
        """Print the outcome of several recipes that one command has run."""


DECIDING = ("train", "before_run", "batch")
"""Hooks of stages that can change the results of a run, so that its fingerprint names them."""


class Stages:
    """The stages of one recipe, in its order.

    Args:
        stages: Key to stage.

    Attributes:
        by_key: The same.
    """

    def __init__(self, stages: dict[str, Stage]) -> None:
        self.by_key = stages
        self._manager = pluggy.PluginManager(PROJECT)
        self._manager.add_hookspecs(StageHooks)
        # pluggy calls what was registered last first.
        for key, stage in reversed(stages.items()):
            _check_marks(key, stage)
            try:
                self._manager.register(stage, key)
                self._manager.check_pending()
            except pluggy.PluginValidationError as error:
                raise RunError(f"stage {key}: {'; '.join(str(error.args[0]).splitlines())}") from error

    def __bool__(self) -> bool:
        return bool(self.by_key)

    def implement(self, hook: str) -> list[str]:
        """List the keys of the stages that implement a hook."""
        plugins = {one.plugin_name for one in getattr(self._manager.hook, hook).get_hookimpls()}
        return [key for key in self.by_key if key in plugins]

    def call(self, hook: str, **arguments: Any) -> Any:
        """Call a hook of all stages.

        Raises:
            RunError: Naming the stage and the hook, where a stage raises anything but an error of this framework.
        """
        try:
            return getattr(self._manager.hook, hook)(**arguments)
        except SrtkError:
            raise
        except (Exception, SystemExit) as error:  # a library that a stage calls may want to exit
            keys = self._raised_by(error)
            if keys == _Own.__name__:
                raise
            fault = f"{type(error).__name__}: {error}"
            raise RunError(f"stage {keys or ', '.join(self.implement(hook))}: {hook} failed: {fault}") from error

    def _raised_by(self, error: BaseException) -> str | None:
        """Find the object below which an exception was raised: the innermost ``self`` that is a stage, or ``_Own``."""
        found = None
        for frame, _ in traceback.walk_tb(error.__traceback__):
            owner = frame.f_locals.get("self")
            found = next((key for key, stage in self.by_key.items() if stage is owner), found)
            found = _Own.__name__ if isinstance(owner, _Own) else found
        return found

    def answered(self, answer: Answer, run: Any, method: str, retrievals: Sequence[Retrieval]) -> list[Retrieval]:
        """Call the hook ``batch``, with the framework's own way to answer as the last implementation."""
        if not self.implement("batch"):
            return answer(retrievals)
        own, asked = _Own(answer), _questions(retrievals)  # before a stage can change the list
        self._manager.register(own)
        try:
            found = self.call("batch", run=run, method=method, retrievals=retrievals)
        finally:
            self._manager.unregister(own)
        if not isinstance(found, list) or not all(map(_whole, found)) or _questions(found) != asked:
            keys = ", ".join(self.implement("batch"))
            raise RunError(f"stage {keys}: batch must return a list with one Retrieval per question, in order")
        return found

    def record(self) -> dict[str, str]:
        """Name the stages with their distributions and versions, for the manifest."""
        names = {key: distributions_of([(STAGE, key)]) for key in self.by_key}
        return {key: ", ".join(f"{name} {version(name)}" for name in found) for key, found in names.items()}

    def deciding(self) -> dict[str, str]:
        """Return the fingerprints of the stages that can change results."""
        keys = {key for hook in DECIDING for key in self.implement(hook)}
        return {key: ask_stage(stage, "fingerprint") for key, stage in self.by_key.items() if key in keys}


@attrs.frozen(eq=False)
class _Own:
    """The framework's own implementation of the hook ``batch``."""

    answer: Answer

    @hookimpl(trylast=True)
    def batch(self, retrievals: Sequence[Retrieval]) -> list[Retrieval]:
        return self.answer(retrievals)


def _questions(retrievals: Iterable[Retrieval]) -> list[tuple[str, str]]:
    """Return the fields that a stage may not change: ids and texts of the questions."""
    return [(one.question.id, one.question.text) for one in retrievals]


def _whole(one: object) -> bool:
    return isinstance(one, Retrieval) and isinstance(one.subgraph, Subgraph)


def _check_marks(key: str, stage: Stage) -> None:
    """Refuse a method with the name of a hook and without ``hookimpl``, which pluggy would never call."""
    for name, spec in vars(StageHooks).items():
        method = getattr(type(stage), name, None)
        if hasattr(spec, f"{PROJECT}_spec") and inspect.isfunction(method) and not hasattr(method, f"{PROJECT}_impl"):
            raise RunError(f"stage {key}: {name} is the name of a hook; decorate it with hookimpl, or rename it")


def is_follower() -> bool:
    """Return whether this is a worker process of a training on several devices.

    Lightning starts another process with the same command for each further device.
    """
    return int(os.environ.get("LOCAL_RANK", "0")) > 0


def files_of(keys: Iterable[str]) -> list[str]:
    """Name the files that stages have in the folder of a run; nothing of stages that are not installed."""
    installed = set(stage_keys())
    return [name for key in keys if key in installed for name in load_stage(key).files]
