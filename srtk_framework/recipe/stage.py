"""Stages: steps of a run beside retrieval, which act where their key stands in a recipe.

A stage is an attrs class in a distribution's entry-point group ``srtk.stage``, under the name of its key. Its fields
are the settings below the key. Its methods marked with ``hookimpl`` are called at the points of a run that
``srtk_framework.run.StageHooks`` names. Several stages may implement the same hook: they are called in the order of the
recipe, unless they ask to be first or last (``tryfirst``, ``trylast``) or to stand around the others (``wrapper``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Self

import attrs
import pluggy

from srtk_framework.host.discovery import MISSING, STAGE, find, load_only
from srtk_framework.host.known_drivers import distribution_of
from srtk_framework.recipe.blocks import Block, Blocks
from srtk_framework.recipe.settings import Where
from srtk_framework.roles import Expander
from srtk_framework.roles.base import PROJECT
from srtk_framework.values import PluginError, RunError, SrtkError

hookimpl = pluggy.HookimplMarker(PROJECT)
"""Marks a method of a stage as the implementation of a hook, with pluggy's own options."""


class Stage:
    """Base class of stages.

    Attributes:
        key: Key of recipes under which its settings stand: the name of its entry point.
        files: Files in the folder of a run that are the stage's own; a run that starts over deletes them.
        folders: Folders there that are its own.
    """

    key: ClassVar[str] = ""
    files: ClassVar[tuple[str, ...]] = ()
    folders: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def read(cls, value: Any, blocks: Blocks) -> Self | None:
        """Make the stage of the value under its key; ``true`` stands for its defaults.

        Args:
            value: Plain data.
            blocks: Reads drivers, and takes the mistakes.

        Returns:
            The stage; None where there is a mistake.
        """
        given = {} if value is True else value
        if isinstance(given, Mapping):
            return blocks.structured(given, cls, (cls.key,), cls.key)
        own: Any = cls  # an attrs class, as `load_stage` has checked
        names = ", ".join(field.alias for field in attrs.fields(own) if field.init)
        blocks.wrong((cls.key,), f"{cls.key} is a mapping with {names}" if names else f"{cls.key} is true or false")
        return None

    @classmethod
    def schema(cls, writer: Any) -> dict[str, Any] | None:
        """Describe the values of its key, where its fields do not.

        Args:
            writer: The ``SchemaWriter`` of `srtk schema`, which describes drivers and types.

        Returns:
            JSON Schema; None for the schema of its fields.
        """
        return None

    def beside(self) -> Sequence[Block]:
        """Name expanders that answer the questions beside the recipe's main expander."""
        return ()

    def with_expanders(self, change: Callable[[Block], Block]) -> Self:
        """Return the stage with its expanders changed; ``srtk graph pull`` puts views around their graphs."""
        return self

    def uses(self) -> Sequence[Block]:
        """Name the other drivers and datasets that it uses, which a run may not write over."""
        return ()

    def question_files(self) -> Sequence[tuple[Where, str]]:
        """Name the files of questions that it reads, with their places in the recipe."""
        return ()

    def places(self, output: Path) -> Sequence[Path]:
        """Name its own folders elsewhere, where ``output`` is the folder of the run."""
        return ()

    def compose(self, composer: Any, main: Expander | None) -> None:
        """Build the drivers that it uses; problems go to ``composer.problems``.

        Args:
            composer: The recipe's ``Composer``.
            main: The recipe's main expander, or None.
        """

    def learnt(self, output: Path) -> tuple[Any, Path] | None:
        """Name the driver that it trains, if any, and the folder of the trained weights."""
        return None

    def steps(self) -> Sequence[str]:
        """Name its steps for ``srtk check``, in the order of a run, such as ``score the results``."""
        return [f"do {self.key}"]

    def preflight(self) -> Sequence[tuple[str, str]]:
        """Name its faults that are found without a network: settings with sentences."""
        return ()

    def fingerprint(self) -> str:
        """Describe the settings that decide the results of a run: by default all but those with ``repr=False``.

        A stage that only watches batches returns an empty text, so that its settings may change in an unfinished run.
        """
        own: Any = type(self)  # an attrs class, as `load_stage` has checked
        settings = [f"{one.name}={getattr(self, one.name)!r}" for one in attrs.fields(own) if one.init and one.repr]
        return f"{own.__qualname__}({', '.join(settings)})"


@contextmanager
def named_faults(key: str, method: str) -> Iterator[None]:
    """Give an exception of a stage the names of the stage and its method.

    Raises:
        RunError: In place of any exception but an error of this framework.
    """
    try:
        yield
    except SrtkError:
        raise
    except Exception as error:
        raise RunError(f"stage {key}: {method} failed: {type(error).__name__}: {error}") from error


def ask_stage(stage: Stage, method: str, *args: Any) -> Any:
    """Call a method of a stage; errors name the stage.

    Raises:
        RunError: In place of any exception but an error of this framework.
    """
    with named_faults(stage.key, method):
        return getattr(stage, method)(*args)


RESERVED = frozenset(name for name in (*vars(Stage), "batch", "train") if not name.startswith("_"))
"""Names that no setting of a stage can have."""


def stage_keys() -> list[str]:
    """List the keys of the installed stages; nothing is imported."""
    return list(dict.fromkeys(plugin.name for plugin in find(STAGE)))


def missing_stage(key: str) -> str | None:
    """Return how to install the stage of a key; None where no known distribution has it."""
    distribution = distribution_of(STAGE, key)
    return None if distribution is None else f"{STAGE} {key!r}{MISSING}{distribution}"


def no_stage_called(key: str) -> str:
    """Return why an installed stage cannot have its key, which is another key of recipes."""
    plugin = next(one for one in find(STAGE) if one.name == key)
    return (
        f"{STAGE} {key!r} of {plugin.distribution} {plugin.version}: no stage can be called {key!r}, since `{key}:` is"
        f" another key of recipes; give it another name, or uninstall {plugin.distribution}"
    )


def load_stage(key: str) -> type[Stage]:
    """Import the class of a stage.

    Raises:
        PluginError: If it cannot be imported, several have the key, or it is no attrs class derived from ``Stage``.
    """
    plugin, found = load_only(STAGE, key)
    who = f"{STAGE} {key!r} of {plugin.distribution} {plugin.version}"
    if not (isinstance(found, type) and issubclass(found, Stage)):
        raise PluginError(f"{who}: {found!r} is not a subclass of {Stage.__module__}.{Stage.__qualname__}")
    cls: type[Stage] = found
    if not attrs.has(found):
        raise PluginError(f"{who}: decorate the class with attrs.define; its fields are its settings")
    own: Any = found
    taken = [one.name for one in attrs.fields(own) if one.name in RESERVED]
    if taken:
        raise PluginError(f"{who}: no setting of a stage can be called {taken[0]!r}, a name of Stage; rename it")
    attrs.resolve_types(found)
    cls.key = key
    return cls
