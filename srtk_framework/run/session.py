"""A session: the drivers of one recipe, composed and opened, ready to answer batches of questions."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any

from srtk_framework.graph.reader_stop import stopping_reader
from srtk_framework.host.observers import Observer
from srtk_framework.recipe.composer import Composer, observers_of
from srtk_framework.recipe.recipe import Block, Recipe
from srtk_framework.records.splits import part_of
from srtk_framework.roles import EntityLinker, Expander, KnowledgeGraph, Reader
from srtk_framework.run.pipeline import Retrieving
from srtk_framework.training.setup import Setup, setup
from srtk_framework.values import DriverError, Question, RecipeError, Retrieval, RunError

if TYPE_CHECKING:
    from srtk_framework.training.trainer import Trained


class Session:
    """Answers questions by the drivers of a recipe.

    May be used from several threads: calls are serialised. Use it as a context manager, which opens and
    closes the drivers.

    Args:
        recipe: What to compose.
        observers: Who watches every hook call, besides those that the recipe names.
    """

    def __init__(self, recipe: Recipe, observers: Sequence[Observer] = ()) -> None:
        self.recipe = recipe
        named, problems = observers_of(recipe)
        self.observers = [*observers, *named]
        self._composer = Composer(recipe, self.observers)
        self._composer.problems += [*recipe.problems, *problems]
        self.graph: KnowledgeGraph | None = self._composer.of_role("knowledge_graph")
        self.linker: EntityLinker | None = self._composer.of_role("entity_linker")
        self.reader: Reader | None = self._composer.of_role("reader")
        self.methods: dict[str, Expander] = {}
        self._exporters = [self._composer.build(block) for block in recipe.exporters]
        main = recipe.blocks.get("expander")
        for block in ([main] if main else []) + (recipe.against or []):
            self._add_method(block)
        asked = recipe.questions
        self.dataset = part_of(self._composer.build(asked), asked.part) if isinstance(asked, Block) else asked
        self.training: Setup | None = None
        self._trained: Trained | None = None
        if recipe.train is not None:
            self.training = setup(self._composer, recipe, recipe.train, next(iter(self.methods.values()), None))
        self._check_leftovers()
        self._composer.check()
        self.exporters: list[Any] = [exporter for exporter in self._exporters if exporter is not None]
        if self.graph is None:
            held = (value for method in self.methods.values() for value in method.settings().values())
            self.graph = next((value for value in held if isinstance(value, KnowledgeGraph)), None)
        self._retrieving = Retrieving(self.graph, self.linker, self.reader, recipe.options.relink)
        self._stack = ExitStack()
        self._lock = threading.RLock()

    @property
    def drivers(self) -> list[tuple[str, str]]:
        """The (role, name) pairs of all drivers in use, sorted."""
        return sorted(set(self._composer.used))

    @property
    def spent(self) -> dict[str, dict[str, Any]]:
        """What the replies of each generator took so far, and what of it was paid: see ``Port.spent``."""
        ports = self._composer.built("generator")
        names = [port.name for port in ports]
        return {
            port.name if names.count(port.name) == 1 else f"{port.name} {names[: i + 1].count(port.name)}": port.spent
            for i, port in enumerate(ports)
        }

    def __enter__(self) -> Session:
        try:
            for observer in self.observers:
                self._stack.callback(observer.close)
                observer.open()
            self._composer.open(self._stack, self.exporters)
            for name, method in self.methods.items():
                self._check_reader(name, method)
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def retrieve(
        self, questions: Sequence[str | Question], method: str | None = None, read: bool = True
    ) -> list[Retrieval]:
        """Link and expand a batch of questions, and have the subgraphs read where the recipe has a reader.

        Args:
            questions: Texts, or questions with what is known about them.
            method: Name of the expander; the recipe's main one by default.
            read: Whether to ask the reader about the subgraphs that have no answer yet.

        Returns:
            One for each question; where a question failed, its ``error`` says why.
        """
        batch = [q if isinstance(q, Question) else Question(str(i), q) for i, q in enumerate(questions)]
        with self._lock:
            return self._retrieving.retrieve(batch, self._method(method), read)

    def train(self) -> Trained:
        """Train the driver that the recipe's ``train`` names, which then computes with what it learnt.

        A finished training of the same recipe, data and versions is taken over, one that was stopped goes on.
        """
        from srtk_framework.training.trainer import Trainer

        with self._lock:
            if self._trained is None:
                if self.training is None:
                    raise RunError(f"{self.recipe.file}: there is nothing to train; add `train:`")
                self._trained = Trainer(self.training, self.recipe, self, self.observers).run()
            return self._trained

    async def aretrieve(self, questions: Sequence[str | Question], method: str | None = None) -> list[Retrieval]:
        """Do the same as ``retrieve`` in a worker thread."""
        return await asyncio.to_thread(self.retrieve, questions, method)

    def link(self, questions: Sequence[Question]) -> list[Question | Retrieval]:
        """Link the questions that bring no entities of their own, or all with ``relink: true``.

        Returns:
            The questions with their links; a failed Retrieval for those that cannot go on.
        """
        return [item.question if item.error is None else item for item in self.linked(questions)]

    def linked(self, questions: Sequence[Question]) -> list[Retrieval]:
        """Do the same as ``link``; the trace of each retrieval says what the linker told besides.

        ``linked_by`` names the linkers whose links were taken, and stands only where the question was linked;
        ``linkers_failed`` says which could not be asked about it, and why.
        """
        return self._retrieving.linked(questions)

    def read(self, retrievals: Sequence[Retrieval]) -> list[Retrieval]:
        """Have the recipe's reader answer the retrievals that have no answer yet and did not fail."""
        return self._retrieving.read(retrievals)

    def labelled(self, retrievals: Sequence[Retrieval]) -> list[Retrieval]:
        """Add the labels of all entities and relations that occur, where they differ from the id.

        Where the graph does not tell them, the results stand without, and ``labels_failed`` in their traces says why.
        """
        return self._retrieving.labelled(retrievals)

    def _method(self, name: str | None) -> Expander:
        if not self.methods:
            raise RunError("the recipe has no expander; add one, such as `expander: {use: beam}`")
        if name is None:
            return next(iter(self.methods.values()))
        if name not in self.methods:
            raise RunError(f"there is no method {name!r}; the recipe has {', '.join(self.methods)}")
        return self.methods[name]

    def _add_method(self, block: Block) -> None:
        expander = self._composer.build(block)
        name = str(block.settings.get("name", block.use))
        if name in self.methods:
            self._composer.problems.append(
                f"{self.recipe.places.say(block.where)}: two methods are called {name!r}; give one of them a `name:`"
            )
        elif expander is not None:
            self.methods[name] = expander

    def _check_reader(self, name: str, method: Expander) -> None:
        """Tell before any work, rather than for each question, that a search cannot be ended by its reader."""
        try:
            stopping_reader(method)
        except DriverError as error:
            raise RunError(str(error) if error.driver else f"{name}: {error}") from error

    def _check_leftovers(self) -> None:
        """Build what the recipe names but nothing needed, so that its mistakes are told as well."""
        for block in self.recipe.blocks.values():
            if (block.role, block.use) not in self._composer.used:
                self._composer.build(block)
        for blocks in [*map(dict.values, self.recipe.named.values()), *self.recipe.listed.values()]:
            for block in blocks:
                if (block.role, block.use) not in self._composer.used:
                    self._composer.build(block)


def open_session(recipe: Any, overrides: Sequence[str] = (), observers: Sequence[Observer] = ()) -> Session:
    """Open a recipe for use from Python.

    Args:
        recipe: Path of a YAML file, or the same as a mapping.
        overrides: ``key.path=value`` each, as for ``srtk run --set``.
        observers: Who watches every hook call.

    Returns:
        A session, to be used in a ``with`` statement.

    Raises:
        RecipeError: Naming every mistake in the recipe.
    """
    from srtk_framework.recipe.recipe import from_data, load

    if isinstance(recipe, Mapping):
        if overrides:
            raise RecipeError(["overrides go with a recipe file; change the mapping instead"])
        return Session(from_data(recipe), observers)
    return Session(load(recipe, overrides), observers)
