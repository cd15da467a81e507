"""Run of a recipe with a ``collect`` view around its SPARQL graph, and further reads within its reach."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import attrs
from srtk_plugin_views.collect import CollectingGraph
from srtk_plugin_views.read_log import Log

from srtk_framework.graph import frontier_batches
from srtk_framework.host import Observer, Port
from srtk_framework.host import load as load_driver
from srtk_framework.recipe import Block, Composer, Recipe, block_in, needs_of
from srtk_framework.roles import ROLES
from srtk_framework.run import COMPLETE, Run, Runner
from srtk_framework.values import Frontier, InputError, Literal, PluginError, RunError, Step, batched
from srtk_plugin_sparql.graph import SparqlGraph

COLLECT = "collect"
RUN = "run"
_NODES, _LABELS = 64, 2000  # Nodes and labels read between two lines of the file of reads

Progress = Callable[[str, int, int], None]
"""Called with what is read, how much is done, and how much there is."""


@attrs.define
class Pull:
    """A recipe whose SPARQL graph is in a ``collect`` view (the block), without exports; the folder holds the reads."""

    recipe: Recipe
    block: Block
    folder: Path


def prepare(recipe: Recipe, folder: Path) -> Pull:
    """Put a collecting view around the SPARQL graph of a recipe.

    Raises:
        RecipeError: If the recipe has mistakes.
        InputError: If it has no SPARQL graph, or several, or no questions.
    """
    recipe.check()
    if recipe.questions is None:
        raise InputError(f"{recipe.file}: there are no questions to run; add `questions: FILE`")
    wrapping = _Wrapping(folder)
    recipe.blocks = {name: wrapping.block(block) for name, block in recipe.blocks.items()}
    recipe.named = {
        role: {name: wrapping.block(block) for name, block in blocks.items()} for role, blocks in recipe.named.items()
    }
    # What a stage does with the results is not wanted here; what it has read from the graph is.
    hooks = ("train", "before_run", "batch")
    reading = {
        key: stage
        for key, stage in recipe.stages.items()
        if stage.beside() or any(hasattr(type(stage), hook) for hook in hooks)
    }
    recipe.stages = {key: stage.with_expanders(wrapping.block) for key, stage in reading.items()}
    if len(wrapping.found) != 1:
        names = ", ".join(f"{block.use} ({recipe.places.say(block.where)})" for block in wrapping.found.values())
        if names:
            raise InputError(f"{recipe.file}: has several SPARQL graphs: {names}; a snapshot is of one, so name one")
        others = sorted({block.use for role, block in recipe.blocks.items() if role == "knowledge_graph"})
        here = f"its knowledge_graph is {', '.join(others)}" if others else "it has no knowledge_graph"
        raise InputError(f"{recipe.file}: has no SPARQL graph to pull from ({here}); give one such as `use: sparql`")
    recipe.listed.clear()
    recipe.options.output = str(folder / RUN / _digest(recipe))
    return Pull(recipe, next(iter(wrapping.found.values())), folder)


def _digest(recipe: Recipe) -> str:
    """Identify a recipe and its questions, so that only the same run is gone on with."""
    digest = hashlib.sha256(json.dumps(recipe.written, sort_keys=True, default=str).encode())
    if isinstance(recipe.questions, str) and Path(recipe.questions).is_file():
        digest.update(Path(recipe.questions).read_bytes())
    return digest.hexdigest()[:16]


class _Wrapping:
    """Puts the view around each graph of a SPARQL class, however deep it stands."""

    def __init__(self, folder: Path) -> None:
        self.found: dict[tuple[str, str], Block] = {}
        self._folder = folder

    def block(self, block: Block) -> Block:
        """Return the block with its graphs in views; a graph is put in a view itself."""
        try:
            cls = load_driver(block.role, block.use)
        except PluginError:
            return block  # The run tells it, with all other mistakes.
        if isinstance(cls, type) and issubclass(cls, SparqlGraph):
            inner = {"use": block.use, **block.settings}
            view = Block(block.role, COLLECT, {"folder": str(self._folder), "graph": inner}, block.where)
            return self.found.setdefault((block.use, repr(sorted(block.settings.items()))), view)
        roles = {need.field: need.role for need in needs_of(cls)} | {role: role for role in ROLES}
        settings = {
            key: self._value(roles[key], value, (*block.where, key)) if key in roles else value
            for key, value in block.settings.items()
        }
        return attrs.evolve(block, settings=settings)

    def _value(self, role: str, value: Any, where: tuple[str | int, ...]) -> Any:
        if isinstance(value, list):
            return [self._value(role, item, (*where, place)) for place, item in enumerate(value)]
        inner = block_in(role, value, where)
        if inner is None:
            return value
        wrapped = self.block(inner)
        return {"use": wrapped.use, **wrapped.settings}


def retrieve(pull: Pull, observers: Sequence[Observer], started: Callable[[Runner], None]) -> Run:
    """Run the recipe, or go on with the run that an earlier pull has begun."""
    runner = Runner(pull.recipe, True, observers)
    started(runner)
    going = (pull.recipe.output / "manifest.json").is_file()
    try:
        outcome = runner.run()
    except RunError as error:
        if not going:
            raise
        raise RunError(f"{error}; or give --fresh, which drops what was read before") from error
    if outcome.state == COMPLETE and outcome.failed:
        # What failed is asked again by the next pull.
        shutil.rmtree(pull.recipe.output, ignore_errors=True)
    return outcome


def fill(pull: Pull, hub: int | None, progress: Progress) -> None:
    """Read the triples that the run only counted, along every step of every node with known steps, and all labels."""
    composer = Composer(pull.recipe)
    port = composer.build(pull.block)
    composer.check()
    with ExitStack() as stack:
        composer.open(stack)
        view = port.driver
        assert isinstance(port, Port)
        assert isinstance(view, CollectingGraph)
        _fill_steps(view, view.log, hub, progress)
        _fill_labels(view, view.log, progress)


def _fill_steps(view: CollectingGraph, log: Log, hub: int | None, progress: Progress) -> None:
    ends = set(log.reads.entities())
    # A node that is in the graph has a triple in the snapshot.
    nodes = {node: True for node in log.reads.seen if node not in ends} | log.reads.nodes
    every = sorted(nodes.items())
    left = [(node, inverse) for node, inverse in every if not _covers(log.reads.filled.get(node), hub)]
    for batch in batched(left, _NODES):
        progress("nodes", len(every) - len(left), len(every))
        for inverse in (False, True):
            some = [node for node, back in batch if back == inverse]
            frontiers = view.graph.frontiers([[node] for node in some])
            offered = view.graph.steps(frontiers, inverse)
            pairs = [(at, step) for at, row in zip(frontiers, offered, strict=True) for step in row]
            _read(view, [at for at, _ in pairs], [step for _, step in pairs], hub)
        log.add_filled((node for node, _ in batch), hub)
        left = left[len(batch) :]
    progress("nodes", len(every), len(every))


def _read(view: CollectingGraph, frontiers: Sequence[Frontier], steps: Sequence[Step], hub: int | None) -> None:
    for part in frontier_batches(frontiers):
        view.triples(frontiers[part], steps[part], hub)


def _covers(filled: int | None, hub: int | None) -> bool:
    return filled is not None and (filled == 0 or (hub is not None and filled >= hub))


def _fill_labels(view: CollectingGraph, log: Log, progress: Progress) -> None:
    reads = log.reads
    values = {value for row in reads.qualifiers.values() for _, value in row if not isinstance(value, Literal)}
    every = sorted({*reads.entities(), *reads.relations(), *values})
    left = [id_ for id_ in every if id_ not in reads.labels]
    done = len(every) - len(left)
    for batch in batched(left, _LABELS):
        progress("labels", done, len(every))
        view.labels(batch)
        done += len(batch)
    progress("labels", len(every), len(every))


def origin(reads: Mapping[str, Any], times: Sequence[str], **more: Any) -> dict[str, Any]:
    """Return where a snapshot was pulled from, for its ``origin.json``."""
    facts = {"source": reads.get("source", ""), "version": reads.get("version", "")}
    if times:
        facts |= {"read_from": times[0], "read_to": times[-1]}
    return {name: value for name, value in {**facts, **more}.items() if value not in ("", None)}
