"""A session: the drivers of one recipe, composed and opened, ready to answer batches of questions."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

import attrs

from srtk_framework.composing import Composer, observers_of
from srtk_framework.errors import DriverError, RecipeError, RunError
from srtk_framework.observers import Observer
from srtk_framework.parts import part_of
from srtk_framework.recipe import Block, Recipe
from srtk_framework.specs import EntityLinker, Expander, KnowledgeGraph, Reader
from srtk_framework.stopping import read_trace, stopping_reader
from srtk_framework.training.setup import Setup, setup
from srtk_framework.types import LINKED_BY, Link, LinkList, Question, Retrieval, Subgraph

if TYPE_CHECKING:
    from srtk_framework.training.trainer import Trained

T = TypeVar("T")
R = TypeVar("R")

GIVEN, LINKED = "given", "linked"
LINKERS_FAILED = "linkers_failed"
LABELS_FAILED = "labels_failed"

NOT_CONVERTED = "not_converted_entities"
"""SRTK's field for the names of pages that have no id in the graph."""


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
            held = (getattr(method.driver, "graph", None) for method in self.methods.values())  # type: ignore[attr-defined]
            self.graph = next((graph for graph in held if graph is not None), None)
        self._stack = ExitStack()
        self._lock = threading.RLock()

    @property
    def drivers(self) -> list[tuple[str, str]]:
        """The (role, name) pairs of all drivers in use, sorted."""
        return sorted(set(self._composer.used))

    @property
    def spent(self) -> dict[str, dict[str, Any]]:
        """What the replies of each generator took so far, and what of it was paid: see ``GeneratorPort.spent``."""
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
            return self._retrieve(batch, method, read)

    def train(self) -> Trained:
        """Train the driver that the recipe's ``train`` names, which then computes with what it learnt.

        A finished training of the same recipe, data and versions is taken over, one that was stopped goes on.
        """
        from srtk_framework.training.trainer import Trainer

        with self._lock:
            if self._trained is None:
                self._trained = Trainer(self).run()
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
        done = [
            Retrieval(q) if q.text.strip() or q.links else _failed(q, "the question is empty; give it a text")
            for q in questions
        ]
        open_ = [
            i
            for i, q in enumerate(questions)
            if done[i].error is None and q.text.strip() and (self.recipe.options.relink or not q.links)
        ]
        if self.linker is None or not open_:
            return done
        linker = self.linker
        answers = _each([questions[i] for i in open_], lambda some: linker.link([q.text for q in some]))
        for i, answer in zip(open_, answers, strict=True):
            if isinstance(answer, DriverError):
                done[i] = _failed(questions[i], str(answer), {LINKED_BY: []})
            else:
                done[i] = _with_links(questions[i], answer)
        return done

    def read(self, retrievals: Sequence[Retrieval]) -> list[Retrieval]:
        """Have the recipe's reader answer the retrievals that have no answer yet and did not fail."""
        done = list(retrievals)
        open_ = [i for i, retrieval in enumerate(done) if retrieval.answer is None and retrieval.error is None]
        if self.reader is None or not open_:
            return done
        reader = self.reader
        answers = _each(
            [done[i] for i in open_], lambda some: reader.read([r.question for r in some], [r.subgraph for r in some])
        )
        for i, answer in zip(open_, answers, strict=True):
            if isinstance(answer, DriverError):
                done[i] = _failed(done[i].question, str(answer))
            else:
                trace = {**done[i].subgraph.trace, "reader": read_trace([answer.trace])}
                done[i] = attrs.evolve(
                    done[i], answer=attrs.evolve(answer, trace={}), subgraph=attrs.evolve(done[i].subgraph, trace=trace)
                )
        return done

    def labelled(self, retrievals: Sequence[Retrieval]) -> list[Retrieval]:
        """Add the labels of all entities and relations that occur, where they differ from the id.

        Where the graph does not tell them, the results stand without, and ``labels_failed`` in their traces says why.
        """
        if self.graph is None:
            return list(retrievals)
        wanted = [_ids(retrieval) for retrieval in retrievals]
        every = sorted({id_ for ids in wanted for id_ in ids})
        try:
            told = self.graph.labels(every)
        except DriverError as error:
            return [_with_trace(r, {LABELS_FAILED: str(error)}) for r in retrievals]
        labels = {id_: label for id_, label in zip(every, told, strict=True) if label != id_}
        return [
            attrs.evolve(r, labels={**{i: labels[i] for i in ids if i in labels}, **r.labels})
            for r, ids in zip(retrievals, wanted, strict=True)
        ]

    def _retrieve(self, batch: Sequence[Question], method: str | None, read: bool) -> list[Retrieval]:
        expander = self._method(method)
        linked = self.linked(batch)
        results = self._without_known_entities([item.question if item.error is None else item for item in linked])
        going = [i for i, item in enumerate(results) if isinstance(item, Question)]
        questions = [item for item in results if isinstance(item, Question)]
        for i, question, answer in zip(going, questions, _each(questions, expander.expand), strict=True):
            if isinstance(answer, DriverError):
                results[i] = _failed(question, str(answer))
            else:
                told = GIVEN if question.links == batch[i].links else LINKED
                trace = {**answer.trace, "links": told}
                subgraph = attrs.evolve(answer, trace=trace, answer=None)
                results[i] = Retrieval(question, subgraph, answer=answer.answer)
        pairs = zip(results, linked, strict=True)
        done = [_told(item, before) for item, before in pairs if isinstance(item, Retrieval)]
        return self.labelled(self.read(done) if read else done)

    def _without_known_entities(self, items: Sequence[Question | Retrieval]) -> list[Question | Retrieval]:
        """Fail the questions that have no link, or none that the graph knows; drop unknown links of the others."""
        done = list(items)
        asked = [i for i, item in enumerate(done) if isinstance(item, Question)]
        questions = [item for item in items if isinstance(item, Question)]
        for i, question, known in zip(asked, questions, _each(questions, self._known), strict=True):
            if isinstance(known, DriverError):
                done[i] = _failed(question, str(known))
                continue
            unknown = [link.entity for link in question.links if link.entity not in known]
            if not question.links:
                reason = (
                    "no entity of the graph was found in the question; name some in question_entities,"
                    " add aliases, or use another entity_linker"
                )
                done[i] = _failed(question, reason)
            elif len(unknown) == len(question.links):
                reason = f"the graph has none of the entities {', '.join(unknown)}; check their ids"
                done[i] = _failed(question, reason)
        return done

    def _known(self, questions: Sequence[Question]) -> list[set[str]]:
        """Return which of the linked entities the graph knows."""
        entities = sorted({link.entity for question in questions for link in question.links})
        known = set(entities)
        if self.graph is not None and entities:
            sizes = self.graph.frontiers([[entity] for entity in entities])
            known = {entity for entity, frontier in zip(entities, sizes, strict=True) if frontier.size}
        return [known] * len(questions)

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
            raise RunError(f"{name}: {error}") from error

    def _check_leftovers(self) -> None:
        """Build what the recipe names but nothing needed, so that its mistakes are told as well."""
        for block in self.recipe.blocks.values():
            if (block.role, block.use) not in self._composer.used:
                self._composer.build(block)
        for blocks in self.recipe.named.values():
            for block in blocks.values():
                if (block.role, block.use) not in self._composer.used:
                    self._composer.build(block)


def _failed(question: Question, reason: str, trace: Mapping[str, Any] | None = None) -> Retrieval:
    return Retrieval(question, Subgraph(trace={"reason": reason, **(trace or {})}), error=reason)


def _with_trace(retrieval: Retrieval, told: Mapping[str, Any]) -> Retrieval:
    subgraph = retrieval.subgraph
    return attrs.evolve(retrieval, subgraph=attrs.evolve(subgraph, trace={**subgraph.trace, **told}))


def _with_links(question: Question, links: Sequence[Link]) -> Retrieval:
    """Give a question the links that were found, and say who found them and who could not be asked."""
    trace: dict[str, Any] = {LINKED_BY: list(dict.fromkeys(link.by for link in links if link.by))}
    extra = dict(question.extra)
    if isinstance(links, LinkList):
        if links.failed:
            trace[LINKERS_FAILED] = dict(links.failed)
        if links.unmapped is not None:
            extra[NOT_CONVERTED] = list(links.unmapped)
    return Retrieval(attrs.evolve(question, links=tuple(links), extra=extra), Subgraph(trace=trace))


def _told(retrieval: Retrieval, linked: Retrieval) -> Retrieval:
    """Add to a result what linking left in the trace."""
    subgraph = retrieval.subgraph
    trace = {**subgraph.trace, **{k: v for k, v in linked.subgraph.trace.items() if k in (LINKED_BY, LINKERS_FAILED)}}
    return attrs.evolve(retrieval, subgraph=attrs.evolve(subgraph, trace=trace))


def _each(items: Sequence[T], call: Callable[[Sequence[T]], Sequence[R]]) -> list[R | DriverError]:
    """Call with the whole batch; if that fails, item by item, so that one bad item spoils no other."""
    if not items:
        return []
    try:
        return list(call(items))
    except DriverError as error:
        if len(items) == 1:
            return [error]
    done: list[R | DriverError] = []
    for item in items:
        try:
            done += call([item])
        except DriverError as error:
            done.append(error)
    return done


def _ids(retrieval: Retrieval) -> list[str]:
    subgraph, question = retrieval.subgraph, retrieval.question
    ids: dict[str, None] = {}
    for triple in subgraph.triples:
        ids.update(dict.fromkeys(triple))
    for path in subgraph.paths:
        ids.update(dict.fromkeys((path.entity, *(step.relation for step in path.steps if step.relation))))
    for row in subgraph.qualifiers:
        for qualifier in row:
            ids.update(dict.fromkeys(qualifier))
    ids.update(dict.fromkeys(link.entity for link in question.links))
    ids.update(dict.fromkeys(question.answers or ()))
    ids.update(dict.fromkeys(retrieval.answer.entities if retrieval.answer else ()))
    return sorted(ids)


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
    from srtk_framework.recipe import from_data, load

    if isinstance(recipe, Mapping):
        if overrides:
            raise RecipeError(["overrides go with a recipe file; change the mapping instead"])
        return Session(from_data(recipe), observers)
    return Session(load(recipe, overrides), observers)
