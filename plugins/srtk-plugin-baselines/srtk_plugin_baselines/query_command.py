"""Look up triple patterns with one open end.

Prints the matches, the most confident first, with the reasons.

PATTERN is written as (SUBJECT, RELATION, ?) or (?, RELATION, OBJECT), by ids or by names. GRAPH is as for `srtk
ask`; a recipe brings a graph with its completers. With --candidates, these are rated by the recipe's completer, and
nothing else is looked for.
"""

from __future__ import annotations

import argparse
import re
import shutil
import textwrap
from collections.abc import Mapping

import attrs

from srtk_framework.cli import FAILED, OK, add_set_argument
from srtk_framework.recipe import Block, Recipe, from_data, load
from srtk_framework.records import dumps, record_from_retrieval
from srtk_framework.roles import KnowledgeGraph
from srtk_framework.run import Graph, Session
from srtk_framework.text import fold
from srtk_framework.values import (
    InputError,
    Literal,
    Pattern,
    Question,
    Retrieval,
    on_one_line,
    written_confidence,
)

_EXPANDER, _RATING_EXPANDER = "pattern", "candidates"
_TRIPLES = 50
_WIDTH = 100
# Drivers of a recipe that a look-up does not need.
_UNUSED = ("expander", "path_scorer", "reader", "supervision")
_PARTS = re.compile(r',(?=(?:[^"]*"[^"]*")*[^"]*$)')
"""A comma that does not stand between quotation marks."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the flags."""
    add = parser.add_argument
    add("pattern", nargs="+", metavar="PATTERN", help='such as "(Q937, P19, ?)"')
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("-kg", "--knowledge-graph", metavar="GRAPH", help="a snapshot, a file, an address or a name")
    source.add_argument("-r", "--recipe", metavar="FILE", help="recipe whose knowledge_graph is asked")
    add(
        "-c",
        "--candidates",
        nargs="+",
        default=[],
        metavar="ENTITY",
        help="rank these at the open end by the recipe's completer, by ids or names",
    )
    add("--triples", type=int, default=_TRIPLES, metavar="N", help="most triples of a pattern (%(default)s)")
    add("--json", action="store_true", help="print the record that `srtk run` writes, one line for each pattern")
    add_set_argument(parser, "change a value of the recipe, such as knowledge_graph.least=0.2")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    patterns = [_pattern(text) for text in args.pattern]
    found = []
    with Session(_recipe(args)) as session:
        graph = session.graph
        if graph is None:
            raise InputError(f"{args.recipe} has no knowledge_graph; add the one to ask")
        for number, pattern in enumerate(patterns):
            asked = _resolved(graph, pattern)
            some = tuple(dict.fromkeys(_entity(graph, name) for name in args.candidates))
            found += session.retrieve([Question(str(number), str(asked), pattern=asked, candidates=some)])
            print(dumps(record_from_retrieval(found[-1])) if args.json else _text(found[-1]), flush=True)
    return FAILED if all(one.answer is None for one in found) else OK


def _recipe(args: argparse.Namespace) -> Recipe:
    if args.triples < 1:
        raise InputError(f"--triples must be at least 1, not {args.triples}")
    if args.recipe is None:
        if args.candidates:
            raise InputError("--candidates are rated by a completer; give a --recipe that has `completer:`")
        data = {"srtk": 1, "knowledge_graph": Graph.open(args.knowledge_graph).block, "expander": {"use": _EXPANDER}}
        recipe = from_data(data)
    else:
        recipe = load(args.recipe, args.set)
        recipe.blocks = {role: block for role, block in recipe.blocks.items() if role not in _UNUSED}
        if args.candidates and "completer" not in recipe.blocks:
            raise InputError(f"--candidates are rated by a completer; add `completer:` to {args.recipe}")
        expander = _RATING_EXPANDER if args.candidates else _EXPANDER
        recipe.blocks["expander"] = Block("expander", expander, {}, ("expander",))
        recipe.listed, recipe.stages, recipe.questions = {}, {}, None
    recipe.options.budget = attrs.evolve(recipe.options.budget, triples=args.triples)
    return recipe


def _pattern(text: str) -> Pattern:
    """Read a pattern; raises InputError if it has not three parts, or not exactly one open end."""
    bare = text.strip()
    if bare.startswith("(") and bare.endswith(")"):
        bare = bare[1:-1]
    parts = [part.strip() for part in _PARTS.split(bare)]
    if len(parts) != 3 or not all(parts):
        raise InputError(
            f"{text!r} is not a pattern of three parts; write (SUBJECT, RELATION, ?) or (?, RELATION, OBJECT)"
        )
    subject, relation, object_ = (None if part == "?" else part for part in parts)
    if relation is None or (subject is None) == (object_ is None):
        raise InputError(f"{text!r} needs a relation, and a question mark for one of subject and object")
    return Pattern(subject, relation, Literal(object_) if object_ is not None and object_.startswith('"') else object_)


def _resolved(graph: KnowledgeGraph, pattern: Pattern) -> Pattern:
    """Replace names by ids: of the bound entity by its name in the graph, of the relation by the labels of its steps.

    Raises:
        InputError: If several entities have the name.
    """
    subject, relation, object_ = pattern
    bound = str(object_ if subject is None else subject)
    if not isinstance(object_, Literal):
        bound = _entity(graph, bound)
    end: str = object_ if isinstance(object_, Literal) else bound
    known = sorted({step.relation for step in graph.steps(graph.frontiers([[bound]]), True)[0]})
    if known and relation not in known:
        labels = dict(zip(graph.labels(known), known, strict=True))
        relation = {fold(label): id_ for label, id_ in labels.items()}.get(fold(str(relation)), relation)
    return Pattern(None, relation, end) if subject is None else Pattern(end, relation, None)


def _entity(graph: KnowledgeGraph, name: str) -> str:
    """Return an entity by its id or its name; raises InputError if the graph has none of that name, or several."""
    if graph.frontiers([[name]])[0].size:
        return name
    named = graph.find([name])[0]
    if len(named) > 1:
        raise InputError(f"{len(named)} entities are called {name!r}: {', '.join(named[:9])}; write one of these ids")
    if not named:
        near = graph.near_names([name], 3, False)[0]
        hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
        raise InputError(f"the graph has no {name!r}, neither as an id nor as a name.{hint}")
    return named[0]


def _text(retrieval: Retrieval) -> str:
    """Write the answers of a pattern with their confidences and reasons."""
    pattern = retrieval.question.pattern
    heading = [on_one_line(str(pattern))] if pattern is not None else []
    subgraph = retrieval.subgraph
    if retrieval.error is not None or not subgraph.triples:
        reason = on_one_line(str(retrieval.error or subgraph.trace.get("reason", "")))
        return "\n".join([*heading, *textwrap.wrap(reason, _width())])
    end = 0 if pattern is not None and pattern.subject is None else 2
    lines = []
    for place, triple in enumerate(subgraph.triples):
        sure = subgraph.confidences[place] if subgraph.confidences else 1.0
        name = _name(triple[end], retrieval.labels)
        if sure >= 1:
            lines.append(_line("in the graph", name))
            continue
        lines.append(_line(format(written_confidence(sure), ".4f"), f"{name}, by {subgraph.provenance[place]}"))
        lines += [_line("", reason.text) for reason in (subgraph.evidence[place] if subgraph.evidence else ())[:1]]
    left = sum(subgraph.trace.get("cut", {}).values())
    return "\n".join([*heading, *lines, *([_line("", f"and {left} more")] if left else [])])


def _name(id_: str, labels: Mapping[str, str]) -> str:
    if isinstance(id_, Literal):
        return id_.lexical
    return f"{labels[id_]} ({id_})" if id_ in labels else id_


def _line(head: str, text: str) -> str:
    return textwrap.fill(on_one_line(text), _width(), initial_indent=f"{head:>14}  ", subsequent_indent=" " * 16)


def _width() -> int:
    return min(_WIDTH, shutil.get_terminal_size().columns)
