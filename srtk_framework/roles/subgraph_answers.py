"""Checks that ports make on subgraphs, on the answers that are read from them, and on ranked paths."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Mapping, Sequence
from typing import Any

from srtk_framework.roles.answer_checks import check_rises, check_rows, is_list_like, refuse_others, shown
from srtk_framework.values import Answer, DriverError, HopState, RankedPath, Subgraph, Triple


def subgraphs_of(hook: str) -> Any:
    """Make a check that each item of the answer is a subgraph whose columns fit its triples."""

    def check(answer: Any, arguments: Mapping[str, Any], driver: str) -> Any:
        refuse_others(hook, answer, Subgraph, "Subgraphs")
        for subgraph in answer:
            check_subgraph(hook, subgraph)
        return answer

    return check


def states_of(hook: str) -> Any:
    """Make a check that each item of the answer is a state of a search."""

    def check(answer: Any, arguments: Mapping[str, Any], driver: str) -> Any:
        refuse_others(hook, answer, HopState, "HopStates")
        return answer

    return check


def check_subgraph(hook: str, found: Subgraph) -> None:
    """Refuse columns that are not aligned, scores that rise, and indices out of range."""
    size = len(found.triples)
    refuse_others(hook, found.triples, Triple, "Triples")
    if len(set(found.triples)) < size:
        twice = next(triple for i, triple in enumerate(found.triples) if triple in found.triples[:i])
        raise DriverError(f"{hook} returned {shown(tuple(twice))} twice; return each triple once")
    for name in Subgraph.COLUMNS:
        column = getattr(found, name)
        if len(column) != size and (column or name == "scores"):
            raise DriverError(f"{hook} returned {size} triples with {len(column)} {name}; return as many of each")
    refuse_others(hook, found.paths, RankedPath, "RankedPaths as paths")
    _check_scores(hook, found.scores)
    if found.path_of and not -1 <= min(found.path_of) <= max(found.path_of) < len(found.paths):
        wrong = next(at for at in found.path_of if not -1 <= at < len(found.paths))
        raise DriverError(f"{hook} returned path_of {wrong} with {len(found.paths)} paths; give an index, or -1")


def _check_scores(hook: str, scores: Sequence[float]) -> None:
    """Refuse scores that are no finite numbers, and scores that rise."""
    try:
        finite = math.isfinite(sum(scores))
    except (TypeError, OverflowError):
        finite = False
    if not finite:  # or their sum is not
        for score in scores:
            if isinstance(score, str) or not hasattr(score, "__float__") or not math.isfinite(score):
                raise DriverError(f"{hook} returned the score {shown(score)}; scores must be finite numbers")
    if not all(map(operator.ge, scores, itertools.islice(scores, 1, None))):
        one, other = next(pair for pair in itertools.pairwise(scores) if pair[0] < pair[1])
        raise DriverError(f"{hook} returned the score {other} after {one}; return the best triples first")


def answers_from_subgraphs(answer: Any, arguments: Mapping[str, Any], driver: str) -> Any:
    """Refuse answers with support outside of their subgraph, and refusals that answer."""
    refuse_others("read", answer, Answer, "Answers")
    for given, one in zip(arguments["subgraphs"], answer, strict=True):
        if one.subgraph is not None:
            if not isinstance(one.subgraph, Subgraph):
                raise DriverError(f"read returned {shown(one.subgraph)} as subgraph; return a Subgraph")
            check_subgraph("read", one.subgraph)
        fault = _fault(one, given if one.subgraph is None else one.subgraph)
        if fault:
            raise DriverError(f"read returned {fault}")
    return answer


def _fault(answer: Answer, subgraph: Subgraph) -> str:
    """Return the fault of an answer; empty if there is none."""
    if not isinstance(answer.text, str):
        return f"the text {shown(answer.text)}; return a text"
    rows = [answer.entities, *(one.entities for one in answer.alternatives)]
    for row in rows:
        if not is_list_like(type(row)):
            return f"the entities {shown(row)}; return a tuple of ids"
    others = [entity for entity in itertools.chain(*rows) if not isinstance(entity, str)]
    if others:
        return f"the entity {shown(others[0])}; return ids"
    if answer.number is not None and not math.isfinite(answer.number):
        return f"the number {answer.number}; return a finite one, or refuse"
    if not answer.enough:
        fields = ("text", "entities", "support", "number", "truth")
        told = [name for name in fields if getattr(answer, name) not in ("", (), None)]
        return f"a refusal with {told[0]} {shown(getattr(answer, told[0]))}; leave it empty" if told else ""
    size, paths = len(subgraph.triples), len(subgraph.paths)
    wrong = [at for at in answer.support if not isinstance(at, int) or not 0 <= at < size]
    if wrong:
        return f"support by triple {shown(wrong[0])} of {size}; give indexes into the triples of the subgraph"
    check_rises("read, in support,", answer.support)
    beyond = [one.path for one in answer.alternatives if not -1 <= one.path < paths]
    return f"an alternative by path {beyond[0]} of {paths}; give an index into paths, or -1" if beyond else ""


def paths_to_answers(answer: Any, arguments: Mapping[str, Any], driver: str) -> Any:
    """Refuse paths that are not ranked by a quality between 0 and 1, best first."""
    check_rows("supervise", answer, RankedPath, "RankedPaths")
    for row in answer:
        scores = [path.score for path in row]
        _check_scores("supervise", scores)
        if scores and not 0 <= scores[-1] <= scores[0] <= 1:
            raise DriverError(f"supervise returned qualities from {scores[-1]} to {scores[0]}; return 0 to 1")
    return answer
