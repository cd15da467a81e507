"""Checks that ports make on the answers of knowledge graphs.

Hooks of a graph are called very often, so each check is one pass in C over all rows of an answer. Whether triples leave
the nodes that were asked about is checked for frontiers that hold their ids (``NodeSet``): a frontier of another class
may have to send a request for them, or to decode them. Checks that read the graph again, such as whether triples
are missing, are for the conformance tests.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from srtk_framework.roles.answer_checks import check_rises, check_rows, refuse_others, shown
from srtk_framework.values import DriverError, FoundPaths, Frontier, NodeSet, Pattern, Ragged, Schema, Step, Triple

_FRONTIERS = "Frontiers, such as NodeSet(ids)"
_first, _relation, _last = map(operator.itemgetter, range(3))
_backward = operator.itemgetter(2, 0)


def frontiers_of_ids(answer: Any, arguments: Mapping[str, Any], driver: str) -> Any:
    """Refuse anything but frontiers of at most as many nodes as ids were given.

    A node may differ from the given id, where a graph follows redirects.

    Raises:
        DriverError: For another type, or more nodes than ids.
    """
    refuse_others("frontiers", answer, Frontier, _FRONTIERS)
    if not _holds_ids(answer):
        return answer
    for ids, frontier in zip(arguments["node_sets"], answer, strict=True):
        if isinstance(frontier, NodeSet) and frontier.size > len(ids):
            raise DriverError(f"frontiers returned {frontier.size} nodes for {shown(list(ids))}; return one for each")
    return answer


def reached_frontiers(answer: Any, arguments: Mapping[str, Any], driver: str) -> Any:
    """Refuse anything but frontiers."""
    refuse_others("follow", answer, Frontier, _FRONTIERS)
    return answer


def steps_of_frontiers(answer: Any, arguments: Mapping[str, Any], driver: str) -> Any:
    """Refuse steps that are not sorted and distinct, END, and unwanted inverse steps."""
    check_rows("steps", answer, Step, "Steps")
    steps = answer.values if isinstance(answer, Ragged) else list(itertools.chain.from_iterable(answer))
    if not arguments["inverse"] and any(map(_relation, steps)):  # the second part of a step is its direction
        first = next(step for step in steps if step.inverse)
        raise DriverError(f"steps returned {first}, an inverse step, where only forward ones are wanted")
    if "" in map(_first, steps):
        raise DriverError("steps returned END, which is no step of a graph; leave it out")
    # Falls stand at the ends of rows only, so that all rows are compared at once.
    rises = list(map(operator.lt, steps, itertools.islice(steps, 1, None)))
    if rises.count(False) < len(answer):
        ends = set(itertools.accumulate(map(len, answer)))
        if all(i + 1 in ends for i, rise in enumerate(rises) if not rise):
            return answer
    for row in answer:
        check_rises("steps", row)
    return answer


def triples_of_steps(answer: Any, arguments: Mapping[str, Any], driver: str) -> Any:
    """Refuse triples that do not follow the step from the frontier, and triples that come twice or out of order."""
    check_rows("triples", answer, Triple, "Triples")
    frontiers, steps = arguments["frontiers"], arguments["steps"]
    flat = answer.values if isinstance(answer, Ragged) else list(itertools.chain.from_iterable(answer))
    sizes = list(map(len, answer))
    wanted = list(itertools.chain.from_iterable(map(itertools.repeat, map(_first, steps), sizes)))
    if list(map(_relation, flat)) != wanted:
        other, relation = next(pair for pair in zip(flat, wanted, strict=True) if pair[0].relation != pair[1])
        raise DriverError(f"triples returned {shown(tuple(other))} for {relation}; return triples of that relation")
    start = 0
    for step, size in zip(steps, sizes, strict=True):
        if size > 1:
            row = flat[start : start + size]
            # Triples of one relation are sorted by subject and object; against the direction, by object and subject.
            check_rises("triples", list(map(_backward, row)) if step.inverse else row)
        start += size
    if _holds_ids(frontiers):
        _refuse_unreached(frontiers, steps, answer)
    return answer


def _holds_ids(frontiers: Sequence[Frontier]) -> bool:
    """Return whether any of the frontiers is a ``NodeSet``; looks at each class once, since an ABC is slow."""
    return any(issubclass(kind, NodeSet) for kind in set(map(type, frontiers)))


def _refuse_unreached(frontiers: Sequence[Frontier], steps: Sequence[Step], rows: Sequence[Sequence[Triple]]) -> None:
    """Refuse triples that do not start in their frontier, of frontiers that hold their ids."""
    nodes: dict[int, set[str]] = {}
    for frontier, step, row in zip(frontiers, steps, rows, strict=True):
        if not len(row) or not isinstance(frontier, NodeSet):
            continue
        known = nodes.get(id(frontier))
        if known is None:
            known = nodes[id(frontier)] = set(frontier.ids())
        start = _last if step.inverse else _first
        if not known.issuperset(map(start, row)):
            other = next(triple for triple in row if start(triple) not in known)
            ids = shown(list(frontier.ids()))
            raise DriverError(f"triples returned {shown(tuple(other))}, which {step} does not reach from {ids}")


def triples_of_patterns(answer: Any, arguments: Mapping[str, Any], driver: str) -> Any:
    """Refuse triples that do not fit their pattern, and triples that come twice or out of order."""
    check_rows("match", answer, Triple, "Triples")
    for pattern, row in zip(arguments["patterns"], answer, strict=True):
        _refuse_unfit(pattern, row)
        check_rises("match", row)
    return answer


def _refuse_unfit(pattern: Pattern, row: Sequence[Triple]) -> None:
    for part, bound in zip((_first, _relation, _last), pattern, strict=True):
        if bound is not None and list(map(part, row)).count(bound) < len(row):
            other = next(triple for triple in row if part(triple) != bound)
            raise DriverError(f"match returned {shown(tuple(other))} for {pattern}; return triples that fit it")


def triples_around(answer: Any, arguments: Mapping[str, Any], driver: str) -> Any:
    """Refuse more triples than the budget, triples that come twice, and triples that nothing leads to."""
    check_rows("neighbourhood", answer, Triple, "Triples")
    most = arguments["budget"].triples
    for frontier, row in zip(arguments["frontiers"], answer, strict=True):
        if most is not None and len(row) > most:
            raise DriverError(f"neighbourhood returned {len(row)} triples; the budget has {most}")
        if len(set(row)) < len(row):
            twice = next(triple for i, triple in enumerate(row) if triple in row[:i])
            raise DriverError(f"neighbourhood returned {shown(tuple(twice))} twice; return each triple once")
        if isinstance(frontier, NodeSet):
            _refuse_loose(frontier.ids(), row)
    return answer


def _refuse_loose(nodes: Iterable[str], row: Sequence[Triple]) -> None:
    """Refuse triples without an end in the nodes or in an earlier triple."""
    reached = set(nodes)
    for triple in row:
        subject, _, end = triple
        if subject not in reached and end not in reached:
            raise DriverError(
                f"neighbourhood returned {shown(tuple(triple))}, to which no earlier triple leads; return the nearest"
                " triples first"
            )
        reached.add(subject)
        reached.add(end)


def paths_between(answer: Any, arguments: Mapping[str, Any], driver: str) -> Any:
    """Refuse paths that are empty, too long or come twice, END, and inverse steps that nobody asked for."""
    refuse_others("paths", answer, FoundPaths, "FoundPaths")
    for found in answer:
        refuse_others("paths", found.paths, tuple, "paths as tuples of Steps")
        refuse_others("paths", itertools.chain.from_iterable(found.paths), Step, "paths as tuples of Steps")
        for path in found.paths:
            if not 0 < len(path) <= arguments["hops"]:
                raise DriverError(f"paths returned a path of {len(path)} steps; hops is {arguments['hops']}")
            if any(not step.relation or (step.inverse and not arguments["inverse"]) for step in path):
                raise DriverError(f"paths returned {shown([str(step) for step in path])}; a step was not asked for")
        if len(set(found.paths)) < len(found.paths):
            raise DriverError("paths returned a path twice; return each once")
    return answer


def qualifiers_of_triples(answer: Any, arguments: Mapping[str, Any], driver: str) -> Any:
    """Refuse anything but pairs of a relation and a value, sorted."""
    check_rows("qualifiers", answer, tuple, "pairs of a relation and a value")
    for row in answer:
        if not len(row):
            continue
        for pair in row:
            if len(pair) != 2 or not all(isinstance(part, str) for part in pair):
                raise DriverError(f"qualifiers returned {shown(pair)}; return pairs of a relation and a value")
        check_rises("qualifiers", row)
    return answer


def a_source(answer: Any, arguments: Mapping[str, Any], driver: str) -> Any:
    """Refuse a source that is no text."""
    if not isinstance(answer, str) or not answer:
        raise DriverError(f"source returned {shown(answer)}; return a text that identifies the data")
    return answer


def a_schema(answer: Any, arguments: Mapping[str, Any], driver: str) -> Any:
    """Refuse anything but a Schema."""
    if not isinstance(answer, Schema):
        raise DriverError(f"schema returned {shown(answer)}; return a Schema")
    return answer
