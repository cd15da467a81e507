"""Rule learner: which paths and constants imply each relation, counted exactly over a triple table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.graph import TripleTable
from srtk_framework.values import at_least, between
from srtk_plugin_patterns.adjacency import Adjacency
from srtk_plugin_patterns.path_patterns import PathPatterns
from srtk_plugin_patterns.rules import LONGEST, NOTHING, UNSEEN, ConstantRules, Ints, PathRules
from srtk_plugin_patterns.step_matrices import StepMatrices
from srtk_plugin_patterns.twins import OVERLAP, Twins, step_numbers

_COST = 4_000_000  # Most products of a block of rows, each some 16 bytes.

# Rows of the first block of a body; few, since a body that is too large shows at once. Each next block has twice.
_FIRST_ROWS = 16


Flags = npt.NDArray[np.bool_]


@attrs.frozen
class RuleFitSettings:
    """Settings of learning rules.

    Attributes:
        length: Most steps of a path, 1 to 3; longer mined paths are left out.
        least_support: Least number of right predictions of a rule.
        least_confidence: Least confidence of a rule with a body.
        paths: Most rules with paths for a relation, the most confident first; null for all.
        constants: Most rules with constants for a relation and an end, those without a body not counted; null for all,
            0 for none.
        twins: Least overlap of a relation with its twins, inverses and near-duplicates: no body is a twin's triple of
            the implied pair. null allows such rules.
    """

    length: int = attrs.field(default=LONGEST, validator=between(1, LONGEST))
    least_support: int = attrs.field(default=2, validator=at_least(1))
    least_confidence: float = attrs.field(default=0.05, validator=between(0, below=1))
    paths: int | None = attrs.field(default=1000, validator=at_least(1))
    constants: int | None = attrs.field(default=10_000, validator=at_least(0))
    twins: float | None = attrs.field(default=OVERLAP, validator=between(above=0, most=1))


@attrs.define
class _Body:
    """A path whose pairs are being counted."""

    steps: tuple[int, ...]  # Its step numbers.
    relations: list[int]  # Numbers of the relations that it joins pairs of.
    stop: float  # Pairs above which no rule of it is kept.
    pairs: int = 0  # Pairs counted so far.
    support: dict[int, int] = attrs.field(factory=lambda: defaultdict(int))  # Pairs counted so far of each relation.


def path_rules(
    table: TripleTable, patterns: PathPatterns, settings: RuleFitSettings
) -> tuple[PathRules, dict[str, int]]:
    """Count the bodies of mined paths, and keep the rules that are confident enough.

    Args:
        table: The triples from which the paths were mined.
        patterns: The paths; longer ones than three steps are left out.
        settings: Which rules are kept.

    Returns:
        The rules, and the number of paths not counted or not kept, by cause.
    """
    matrices = StepMatrices(table)
    exact = patterns.settings.hub is None and patterns.settings.pairs is None
    bodies, cut = _bodies(table, patterns, settings, exact)
    rows = []
    for _, group in groupby(bodies, key=lambda body: body.steps[:2]):
        some = list(group)
        _count(matrices, some)
        for body in some:
            if body.pairs > body.stop:
                cut["large_bodies"] += 1
                continue
            for relation in body.relations:
                support = body.support[relation]
                if support >= settings.least_support and support >= settings.least_confidence * (body.pairs + UNSEEN):
                    filled = (*body.steps, *[NOTHING] * (LONGEST - len(body.steps)))
                    rows.append((relation, *filled, support, body.pairs))
                else:
                    cut["weak_paths"] += 1
    found = np.array(rows, dtype=np.int64).reshape(len(rows), LONGEST + 3)
    rules = PathRules(found[:, 0], found[:, 1 : LONGEST + 1], found[:, -2], found[:, -1])
    lengths = (rules.steps != NOTHING).sum(axis=1)
    order = np.lexsort((*rules.steps.T[::-1], lengths, -rules.support, -rules.confidence, rules.relations))
    kept = order[_first(rules.relations[order], settings.paths)]
    cut["paths_over_most"] = len(order) - len(kept)
    return rules[kept], dict(cut)


def _bodies(
    table: TripleTable, patterns: PathPatterns, settings: RuleFitSettings, exact: bool
) -> tuple[list[_Body], dict[str, int]]:
    """Collect the distinct paths of all relations, sorted, each with the greatest body that a rule may have."""
    cut: dict[str, int] = defaultdict(int)
    bound: dict[tuple[int, ...], int] = {}
    relations: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
    for name, mined in sorted(patterns.relations.items()):
        for path in mined.paths:
            if len(path.steps) > LONGEST:
                cut["long_paths"] += 1
                continue
            # Mining within bounds finds fewer pairs than there are.
            most = path.pairs if exact else mined.facts
            if most < settings.least_support:
                cut["weak_paths"] += 1
                continue
            steps = tuple(map(table.step_number, path.steps))
            bound[steps] = max(bound.get(steps, 0), most)
            relations[steps].append(table.relation_numbers[name])
    bodies = []
    for steps in sorted(bound):
        stop = bound[steps] / settings.least_confidence - UNSEEN if settings.least_confidence else np.inf
        bodies.append(_Body(steps, relations[steps], stop))
    return bodies, cut


def _count(matrices: StepMatrices, bodies: Sequence[_Body]) -> None:
    """Count the pairs of paths that share their first two steps, until all are counted or too many."""
    one, *rest = bodies[0].steps[:2]
    first = matrices.step(one)
    starts = np.flatnonzero(np.diff(first.indptr)).astype(np.int64)
    cost = np.ones(len(starts))
    if rest:
        degrees = np.diff(matrices.step(rest[0]).indptr)
        cost = (first @ degrees)[starts]
    alive = list(bodies)
    for block in _blocks(cost):
        some = starts[block]
        reached = matrices.first(some, one)
        if rest:
            reached = matrices.second(some, reached, rest[0])
        for body in alive:
            if len(body.steps) < LONGEST:
                _add(matrices.table, body, some, reached)
            else:
                _count_third(matrices, body, some, reached)
        alive = [body for body in alive if body.pairs <= body.stop]
        if not alive:
            return


def _count_third(matrices: StepMatrices, body: _Body, starts: Ints, second: Any) -> None:
    degrees = np.diff(matrices.step(body.steps[2]).indptr)
    owners = np.repeat(np.arange(len(starts)), np.diff(second.indptr))
    cost = np.bincount(owners, degrees[second.indices], minlength=len(starts))
    for block in _blocks(cost):
        if body.pairs > body.stop:
            return
        _add(matrices.table, body, starts[block], matrices.third(starts[block], second[block], body.steps))


def _add(table: TripleTable, body: _Body, starts: Ints, reached: Any) -> None:
    """Count the pairs of a block, and how many of them each relation holds."""
    body.pairs += reached.nnz
    if body.pairs > body.stop:
        return
    size = len(table.entities)
    subjects = np.repeat(starts, np.diff(reached.indptr))
    for relation in body.relations:
        triples = table.of_relation(relation)
        low, high = np.searchsorted(triples[:, 0], [starts[0], starts[-1] + 1])
        facts = triples[low:high].astype(np.int64)
        if len(facts) * 20 < reached.nnz:
            mine = np.flatnonzero(np.isin(facts[:, 0], starts))
            rows = np.searchsorted(starts, facts[mine, 0])
            hits = int(np.count_nonzero(reached[rows, facts[mine, 2]])) if len(mine) else 0
        else:
            hits = int(np.isin(facts[:, 0] * size + facts[:, 2], subjects * size + reached.indices).sum())
        body.support[relation] += hits


def _blocks(cost: npt.NDArray[Any]) -> Iterator[slice]:
    """Split rows into blocks that grow from a few rows on; only a single row may cost more than ``_COST``."""
    filled = np.cumsum(cost)
    begin, rows = 0, _FIRST_ROWS
    while begin < len(cost):
        before = filled[begin - 1] if begin else 0
        end = max(int(np.searchsorted(filled, before + _COST, side="right")), begin + 1)
        end = min(end, begin + rows, len(cost))
        yield slice(begin, end)
        begin, rows = end, rows * 2


@attrs.frozen(eq=False)
class _Facets:
    """Conditions on an entity in a body: its steps, and where they lead."""

    owners: Ints  # Entity of each edge; loops are left out, and each triple is seen from both of its ends.
    steps: Ints  # Step of each edge.
    ends: Ints  # Where it leads.
    kinds: Ints  # Distinct pairs of step and end, as step * entities + end, sorted.
    values: Any  # Sparse matrix [entities, kinds], 1 where an entity has the step to the end.
    any: Any  # Sparse matrix [entities, steps], 1 where an entity has the step.
    single: Flags  # Which edges are the only one of their entity and step.

    @classmethod
    def of(cls, table: TripleTable) -> _Facets:
        """Read the facets of all entities."""
        from scipy.sparse import csr_array  # type: ignore[import-untyped]

        size, width = len(table.entities), 2 * len(table.relations)
        owners, steps, ends = Adjacency.of(table).edges(np.arange(size))
        kinds, column = np.unique(steps * size + ends, return_inverse=True)
        values = csr_array((np.ones(len(owners), np.int64), (owners, column)), shape=(size, len(kinds)))
        pairs, counts = np.unique(owners * width + steps, return_counts=True)
        some = csr_array((np.ones(len(pairs), np.int64), np.divmod(pairs, width)), shape=(size, width))
        single = counts[np.searchsorted(pairs, owners * width + steps)] == 1
        return cls(owners, steps, ends, kinds, values, some, single)


def constant_rules(
    table: TripleTable, settings: RuleFitSettings, twins: Twins | None = None
) -> tuple[ConstantRules, dict[str, int]]:
    """Find all rules with constants, and keep those that are confident enough.

    Rules without a body are kept whatever their confidence: they give the frequency of a constant. No body is the
    implied triple, or a twin's triple of the implied pair.

    Returns:
        The rules, and the number of rules not kept, by cause.
    """
    facets = _Facets.of(table)
    body_of_kind = np.bincount(facets.values.indices, minlength=len(facets.kinds))
    body_of_step = np.bincount(facets.any.indices, minlength=facets.any.shape[1])
    size = len(table.entities)
    alone = np.sort((facets.steps * size + facets.ends)[facets.single])
    cut: dict[str, int] = {"weak_constants": 0, "constants_over_most": 0}
    parts = []
    for relation in range(len(table.relations)):
        for at_subject in (False, True):
            facts = table.of_relation(relation).astype(np.int64)
            facts = facts[facts[:, 0] != facts[:, 2]]
            variables, constants = (facts[:, 2], facts[:, 0]) if at_subject else (facts[:, 0], facts[:, 2])
            found = [
                _with_values(facets, body_of_kind, variables, constants, size, settings),
                _with_any(facets, body_of_step, alone, variables, constants, size, settings),
            ]
            rows = np.concatenate(found, axis=1)
            steps = [2 * relation + at_subject, *step_numbers(table, twins or {}, relation, at_subject)]
            own = np.isin(rows[1], steps) & (rows[2] == rows[0])
            rows = rows[:, ~own]
            strong = (rows[3] >= settings.least_support) & (rows[3] >= settings.least_confidence * (rows[4] + UNSEEN))
            cut["weak_constants"] += int((~strong).sum())
            rows = rows[:, strong]
            order = np.lexsort((rows[0], rows[2], rows[1], -rows[3], -rows[3] / (rows[4] + UNSEEN)))
            cut["constants_over_most"] += len(order[settings.constants :]) if settings.constants is not None else 0
            rows = rows[:, order[: settings.constants]]
            bare = _bare(variables, constants, settings)
            rows = np.concatenate([rows, bare], axis=1)
            order = np.lexsort((rows[0], rows[2], rows[1], -rows[3], -rows[3] / (rows[4] + UNSEEN)))
            head = np.full((2, len(order)), [[relation], [at_subject]])
            parts.append(np.concatenate([head, rows[:, order]]))
    whole = np.concatenate([np.zeros((7, 0), dtype=np.int64), *parts], axis=1)
    return ConstantRules(whole[0], whole[1].astype(bool), *whole[2:]), cut


def _with_values(
    facets: _Facets, bodies: Ints, variables: Ints, constants: Ints, size: int, settings: RuleFitSettings
) -> Ints:
    """Return rows [constant, step, value, support, body] of rules whose body has a value."""
    owners, mine = np.unique(variables, return_inverse=True)
    values = facets.values[owners]
    frequent = np.flatnonzero(np.bincount(values.indices, minlength=values.shape[1]) >= settings.least_support)
    values = values[:, frequent]
    parts = []
    for kinds, ends, counts in _joint(values, mine, constants, settings.least_support):
        kinds = frequent[kinds]
        # The constant is not its own variable.
        body = bodies[kinds] - _has(facets.values, ends, kinds)
        steps, reached = np.divmod(facets.kinds[kinds], size)
        parts.append(np.stack([ends, steps, reached, counts, body]))
    return np.concatenate([np.zeros((5, 0), dtype=np.int64), *parts], axis=1)


def _with_any(
    facets: _Facets, bodies: Ints, alone: Ints, variables: Ints, constants: Ints, size: int, settings: RuleFitSettings
) -> Ints:
    """Return rows of rules whose body is a step to any entity but the constant."""
    owners, mine = np.unique(variables, return_inverse=True)
    some = facets.any[owners]
    # Facts whose constant is the only entity that a step of the variable reaches.
    only = facets.single & np.isin(facets.owners * size + facets.ends, variables * size + constants)
    minus, numbers = np.unique((facets.steps * size + facets.ends)[only], return_counts=True)
    parts = []
    for steps, ends, counts in _joint(some, mine, constants, settings.least_support):
        keys = steps * size + ends
        support = counts - _counted(minus, numbers, keys)
        same = np.searchsorted(alone, keys, side="right") - np.searchsorted(alone, keys)
        body = bodies[steps] - same - _has(facets.any, ends, steps)
        parts.append(np.stack([ends, steps, np.full(len(ends), NOTHING), support, body]))
    return np.concatenate([np.zeros((5, 0), dtype=np.int64), *parts], axis=1)


def _bare(variables: Ints, constants: Ints, settings: RuleFitSettings) -> Ints:
    """Return rows of rules without a body."""
    ends, support = np.unique(constants, return_counts=True)
    occurring = np.unique(variables)
    body = len(occurring) - np.isin(ends, occurring).astype(np.int64)
    nothing = np.full(len(ends), NOTHING)
    rows = np.stack([ends, nothing, nothing, support, body])
    return rows[:, support >= settings.least_support]


def _joint(values: Any, variables: Ints, constants: Ints, least: int) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Yield column of ``values``, constant and number of variables that have both, where that is at least ``least``."""
    from scipy.sparse import csr_array

    ends, column = np.unique(constants, return_inverse=True)
    facts = csr_array((np.ones(len(variables), np.int64), (variables, column)), shape=(values.shape[0], len(ends)))
    facts = facts[:, np.flatnonzero(np.bincount(column, minlength=len(ends)) >= least)]
    ends = ends[np.bincount(column, minlength=len(ends)) >= least]
    by_value = values.T.tocsr()
    for block in _blocks(by_value @ np.diff(facts.indptr)):
        product = (by_value[block] @ facts).tocoo()
        kept = product.data >= least
        yield product.row[kept].astype(np.int64) + block.start, ends[product.col[kept]], product.data[kept]


def _has(matrix: Any, rows: Ints, columns: Ints) -> Ints:
    """Return for each place whether a sparse matrix has an entry there."""
    if not len(rows):  # scipy returns a sparse array then
        return np.zeros(0, dtype=np.int64)
    return np.asarray(matrix[rows, columns]).ravel().astype(np.int64)


def _counted(keys: Ints, numbers: Ints, wanted: Ints) -> Ints:
    """Look up counts by sorted keys; 0 for other keys."""
    if not len(keys):
        return np.zeros(len(wanted), dtype=np.int64)
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    found: Ints = np.where(keys[at] == wanted, numbers[at], 0)
    return found


def _first(groups: Ints, most: int | None) -> Flags:
    """Mark the first rows of each group; the groups are sorted."""
    if most is None:
        return np.ones(len(groups), dtype=bool)
    found: Flags = np.arange(len(groups)) - np.searchsorted(groups, groups) < most
    return found
