"""Rule evidence: why rules imply a triple, in words and by triples of the graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from srtk_framework.graph import TripleTable
from srtk_framework.values import Evidence, rounded
from srtk_plugin_patterns.rule_application import RuleApplication
from srtk_plugin_patterns.rules import NOTHING

_BETWEEN = "XABY"  # Names of the nodes of a path; its last node is always Y.

Words = Callable[[str], str]  # Returns the name of an entity or relation.


def evidence(
    application: RuleApplication,
    relation: int,
    pair: tuple[int, int],
    rules: Sequence[int],
    words: Words,
    source: str,
) -> tuple[Evidence, ...]:
    """Describe the rules that propose a triple.

    Args:
        application: The rules over their graph.
        relation: Number of the triple's relation.
        pair: Numbers of its subject and object.
        rules: Places of the rules, as ``RuleApplication.rules_of`` returns them.
        words: Names for the text.
        source: Source of the evidence.

    Returns:
        For each rule its text, its confidence, and the triples of the graph by which its body holds: the first by
        number where there are several.
    """
    paths, constants = application.paths_of(relation), application.constants_of(relation)
    table = application.table
    found = []
    for place in rules:
        if place < len(paths):
            steps = [step for step in paths.steps[place].tolist() if step != NOTHING]
            rows = path_triples(table, pair, steps)
            text = _path_text(table, relation, steps, words)
            support, body = int(paths.support[place]), int(paths.body[place])
            share = float(paths.confidence[place])
        else:
            rule = constants[[place - len(paths)]]
            at_subject, step, value = bool(rule.at_subject[0]), int(rule.steps[0]), int(rule.values[0])
            variable, constant = (pair[1], pair[0]) if at_subject else pair
            rows = _step_instance(table, variable, constant, step, value)
            text = _constant_text(table, relation, at_subject, constant, step, value, words)
            support, body, share = int(rule.support[0]), int(rule.body[0]), float(rule.confidence[0])
        triples = tuple(table.named(np.array(rows, dtype=np.int32).reshape(len(rows), 3)))
        found.append(Evidence("path", f"{text} ({support:,} of {body:,})", source, rounded(share), triples))
    return tuple(found)


def path_triples(table: TripleTable, pair: tuple[int, int], steps: Sequence[int]) -> list[tuple[int, int, int]]:
    """Return the rows of the first simple path, by numbers of its entities, that joins a pair by some steps."""
    start, end = pair

    def walk(node: int, left: Sequence[int], seen: tuple[int, ...]) -> list[int] | None:
        if len(left) == 1:
            row = _row(node, left[0], end)
            return [end] if table.holds(np.array([row], dtype=np.int32))[0] else None
        nexts = table.fillers(node, left[0] // 2, inverse=bool(left[0] % 2))
        if len(left) == 2:
            nexts = np.intersect1d(nexts, table.fillers(end, left[1] // 2, inverse=not left[1] % 2))
        for other in nexts.tolist():
            if other not in seen and other != end:
                rest = walk(other, left[1:], (*seen, other))
                if rest is not None:
                    return [other, *rest]
        return None

    nodes = walk(start, steps, (start,))
    if nodes is None:
        raise ValueError(f"no path of the steps {list(steps)} joins {pair}")
    return [_row(one, step, other) for one, step, other in zip([start, *nodes], steps, nodes, strict=False)]


def _step_instance(
    table: TripleTable, variable: int, constant: int, step: int, value: int
) -> list[tuple[int, int, int]]:
    if step == NOTHING:
        return []
    if value == NOTHING:
        ends = table.fillers(variable, step // 2, inverse=bool(step % 2))
        value = int(ends[(ends != constant) & (ends != variable)][0])
    return [_row(variable, step, value)]


def _row(node: int, step: int, other: int) -> tuple[int, int, int]:
    return (other, step // 2, node) if step % 2 else (node, step // 2, other)


def _atom(table: TripleTable, step: int, start: str, end: str, words: Words) -> str:
    first, last = (end, start) if step % 2 else (start, end)
    return f"{words(table.relations[step // 2])}({first}, {last})"


def _path_text(table: TripleTable, relation: int, steps: Sequence[int], words: Words) -> str:
    names = [*_BETWEEN[: len(steps)], "Y"]
    atoms = [_atom(table, step, one, other, words) for step, one, other in zip(steps, names, names[1:], strict=False)]
    return f"{_atom(table, 2 * relation, 'X', 'Y', words)} ← {', '.join(atoms)}"


def _constant_text(
    table: TripleTable,
    relation: int,
    at_subject: bool,
    constant: int,
    step: int,
    value: int,
    words: Words,
) -> str:
    variable, name = ("Y" if at_subject else "X"), words(table.entities[constant])
    ends = (name, variable) if at_subject else (variable, name)
    head = _atom(table, 2 * relation, *ends, words)
    if step == NOTHING:
        return f"{head} ← {variable} occurs there"
    other = "A" if value == NOTHING else words(table.entities[value])
    return f"{head} ← {_atom(table, step, variable, other, words)}"
