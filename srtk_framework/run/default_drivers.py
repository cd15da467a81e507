"""The drivers of a question that is asked without a recipe: by ``srtk ask``, ``Retriever`` or an SRTK short command.

They are named here alone, and found by entry point.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from srtk_framework.host.class_path import is_class_path
from srtk_framework.host.discovery import find, load
from srtk_framework.host.known_drivers import distribution_of
from srtk_framework.recipe.composer import needs_of
from srtk_framework.roles import GraphView, KnowledgeGraph, Role
from srtk_framework.values import PluginError

GRAPH = "local"
"""Graph of a file or a snapshot."""
FOLDED = "folded"
"""View of the graph of a file of RDF, in which structure is one step."""
MEDIATED = "mediated"
"""View of a graph in which the two relations over a mediator are one step."""
ENDPOINT = "sparql"
"""Graph of an address."""
NETWORKX = "memory"
"""Graph of a networkx graph."""
LINKER = "dictionary"
SCORER = "dense"
EXPANDER = "beam"
ENCODERS = ("onnx", "transformers")
"""Encoders, best first; of two that give the same vectors, the one that starts sooner."""
READER = "paths"
"""Reader of ``srtk ask``."""
PAGE = "html"
"""Exporter of the page that shows a result."""


def default_encoder() -> str:
    """Return the name of the default encoder: the best that is installed, else the best that can be."""
    installed = [plugin.name for plugin in find("encoder")]
    available = [name for name in ENCODERS if name in installed]
    return (available or [name for name in ENCODERS if distribution_of("encoder", name)] or [*ENCODERS])[0]


def default_drivers(graph: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Complete the drivers of a recipe by defaults, with the settings that suit the graph.

    Scorer and encoder are added only where expander or reader need them, a reader only where it is given.

    Args:
        graph: Value of the recipe's ``knowledge_graph``.
        given: Values of other roles; a mapping without ``use`` changes settings of the default driver.

    Returns:
        The blocks of a recipe, by key.

    Raises:
        PluginError: If a driver is not installed; it names all that are missing, with one line that installs them.
    """
    _check_installed(graph, given)
    suited = suited_to(graph)
    blocks = {
        "knowledge_graph": graph,
        "entity_linker": _block("entity_linker", LINKER, given, suited),
        "expander": _block("expander", EXPANDER, given, suited),
    }
    read = {"reader": _block("reader", READER, given, suited)} if "reader" in given else {}
    needed = _needs("expander", blocks["expander"]) | {need for role in read for need in _needs(role, read[role])}
    for role, default in (("path_scorer", SCORER), ("encoder", default_encoder())):
        if role in given or role in needed:
            blocks[role] = _block(role, default, given, suited)
            needed |= _needs(role, blocks[role])
    return {**blocks, **read}


def suited_to(graph: Any) -> Mapping[str, Any]:
    """Return the keys of a recipe that suit a graph: ``suited`` of its driver's class, or of the driver below a view.

    Args:
        graph: Value of a recipe's ``knowledge_graph``.

    Raises:
        PluginError: If the driver cannot be loaded.
    """
    use = _use(graph)
    cls = load("knowledge_graph", use) if isinstance(use, str) else use
    if not isinstance(cls, type) or not issubclass(cls, KnowledgeGraph):
        return {}
    inner = graph.get("graph") if isinstance(graph, Mapping) and issubclass(cls, GraphView) else None
    return cls.suited if inner is None else {**suited_to(inner), **cls.suited}


def missing_drivers(named: Mapping[str, str]) -> str | None:
    """Return which drivers are missing and how to install them; None if all are there, or their origin is unknown.

    Args:
        named: Name of a driver by role.
    """
    absent = {
        name: distribution
        for role, name in named.items()
        if not is_class_path(name)
        and name not in {plugin.name for plugin in find(role)}
        and (distribution := distribution_of(role, name)) is not None
    }
    if not absent:
        return None
    verb = "is" if len(absent) == 1 else "are"
    return f"{', '.join(absent)} {verb} not installed; run: pip install {' '.join(sorted(set(absent.values())))}"


def _check_installed(graph: Any, given: Mapping[str, Any]) -> None:
    """Refuse to go on where a driver is missing, before any is loaded."""
    used = {"knowledge_graph": _use(graph), **{role: _use(value) for role, value in given.items()}}
    if used.get("entity_linker") is None:
        there = missing_drivers(_names({"knowledge_graph": used["knowledge_graph"]})) is None
        used["entity_linker"] = _use(suited_to(graph).get("entity_linker")) if there else None
        used["entity_linker"] = used["entity_linker"] or LINKER
    if "reader" in used and used["reader"] is None:
        used["reader"] = READER
    if used.get("expander") is None or used.get("reader") == READER:
        defaults = {"expander": EXPANDER, "path_scorer": SCORER, "encoder": default_encoder()}
        used |= {role: used.get(role) or default for role, default in defaults.items()}
    if (sentence := missing_drivers(_names(used))) is not None:
        raise PluginError(sentence)


def _names(used: Mapping[str, Any]) -> dict[str, str]:
    return {role: use for role, use in used.items() if isinstance(use, str)}


def _use(value: Any) -> Any:
    """Return the driver that a value of a recipe names, or its class; None where it names none."""
    if isinstance(value, Mapping):
        return value.get("use")
    return type(value) if isinstance(value, Role) else value


def _block(role: str, default: str, given: Mapping[str, Any], suited: Mapping[str, Any]) -> Any:
    """Write the block of a role: the given settings, over the default driver with the settings that suit the graph."""
    value = given.get(role, {})
    if isinstance(value, Role):
        return value
    block = dict(value) if isinstance(value, Mapping) else {"use": value}
    usual = {"use": default, **suited.get(role, {})}
    if block.get("use", usual["use"]) != usual["use"]:
        return block
    search = {"search": {**usual["search"], **(block.get("search") or {})}} if "search" in usual else {}
    return {**usual, **block, **search}


def _needs(role: str, block: Any) -> set[str]:
    """Return the roles of the drivers that a driver must be given; none for an object, which brings its own."""
    if isinstance(block, Role):
        return set()
    use = block["use"]
    return {need.role for need in needs_of(load(role, use) if isinstance(use, str) else use)}
