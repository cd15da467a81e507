"""The drivers that a recipe names, built and checked, not yet opened."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import attrs

from srtk_framework.host.ports import ports_below
from srtk_framework.recipe.blocks import Block
from srtk_framework.recipe.composer import Composer
from srtk_framework.recipe.recipe import Recipe
from srtk_framework.recipe.stage import ask_stage
from srtk_framework.records.splits import part_of
from srtk_framework.roles import EntityLinker, Expander, KnowledgeGraph, Reader
from srtk_framework.run.journal import journal_file
from srtk_framework.values import shortened

LONGEST_NAME = 60
"""Characters in the name of a method; a name of a file has at most 255 bytes on common file systems."""


@attrs.frozen
class Drivers:
    """The drivers of a recipe, each behind its port.

    Attributes:
        graph: The recipe's graph, else the graph of an expander, or None.
        linker: Its entity linker, or None.
        reader: Its reader, or None.
        methods: Its expanders by name, the main one first.
        exporters: In the order of the recipe.
        dataset: Its questions: a file name, a dataset, or None.
    """

    graph: KnowledgeGraph | None
    linker: EntityLinker | None
    reader: Reader | None
    methods: dict[str, Expander]
    exporters: list[Any]
    dataset: Any


def compose(recipe: Recipe, composer: Composer) -> Drivers:
    """Build all drivers of a recipe.

    Raises:
        RecipeError: Naming every mistake in the recipe.
    """
    graph: KnowledgeGraph | None = composer.of_role("knowledge_graph")
    linker: EntityLinker | None = composer.of_role("entity_linker")
    reader: Reader | None = composer.of_role("reader")
    exporters = [composer.build(block) for block in recipe.exporters]
    methods = _methods(recipe, composer)
    asked = recipe.questions
    dataset = part_of(composer.build(asked), asked.part) if isinstance(asked, Block) else asked
    for stage in recipe.stages.values():
        ask_stage(stage, "compose", composer, next(iter(methods.values()), None))
    _build_unused(recipe, composer)
    composer.check()
    if graph is None:
        held = (value for method in methods.values() for value in method.settings().values())
        graph = next((composer.port_of(value) for value in held if isinstance(value, KnowledgeGraph)), None)
    return Drivers(graph, linker, reader, methods, exporters, dataset)


def _methods(recipe: Recipe, composer: Composer) -> dict[str, Expander]:
    """Build the main expander and the expanders of stages, each under a name of its own."""
    methods: dict[str, Expander] = {}
    files: dict[str, str] = {}
    main = recipe.blocks.get("expander")
    beside = [block for stage in recipe.stages.values() for block in ask_stage(stage, "beside")]
    for block in ([main] if main else []) + beside:
        expander = composer.build(block)
        name = str(block.settings.get("name", block.name))
        if name in methods:
            composer.problems.append(
                f"{recipe.places.say(block.where)}: two methods are called {name!r}; give one of them a `name:`"
            )
            continue
        if len(name) > LONGEST_NAME:
            composer.problems.append(
                f"{recipe.places.say(block.where)}: the name {shortened(repr(name))} has more than {LONGEST_NAME}"
                " characters; give the method a shorter `name:`"
            )
            continue
        # File systems that fold letters would take the two journals for one file.
        other = files.setdefault(unicodedata.normalize("NFC", journal_file(Path(), name).name).casefold(), name)
        if other != name:
            composer.problems.append(
                f"{recipe.places.say(block.where)}: the names {other!r} and {name!r} give the same file name; give one"
                " of the methods another `name:`"
            )
        elif expander is not None:
            methods[name] = expander
            if "budget" in recipe.data and not _keeps_a_budget(expander):
                composer.problems.append(
                    f"{recipe.places.say(('budget',))}: {block.role} {block.use!r} has no field of the type Budget, and"
                    " would not keep it; remove `budget:`, or write `budget: Budget = attrs.field(factory=Budget)` in"
                    " its class"
                )
    return methods


def _keeps_a_budget(expander: Expander) -> bool:
    """Return whether an expander, or one that it holds, has limits."""
    return any(isinstance(one, Expander) and one.limits() is not None for one in ports_below(expander))


def _build_unused(recipe: Recipe, composer: Composer) -> None:
    """Build drivers that nothing needs, so that their mistakes are reported too."""
    named = [block for blocks in recipe.named.values() for block in blocks.values()]
    listed = [block for blocks in recipe.listed.values() for block in blocks]
    for block in [*recipe.blocks.values(), *named, *listed]:
        if (block.role, block.use) in composer.used:
            composer.check_unused(block)
        else:
            composer.build(block)
