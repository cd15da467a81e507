"""Rule application: the entities that rules propose for questions, and their confidence together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Literal, get_args

import attrs
import numpy as np

from srtk_framework.graph import TripleTable
from srtk_framework.values import Step
from srtk_plugin_patterns.adjacency import Adjacency, spread
from srtk_plugin_patterns.rule_clusters import rule_clusters
from srtk_plugin_patterns.rules import NOTHING, ConstantRules, Floats, Ints, PathRules, Rules
from srtk_plugin_patterns.step_matrices import StepMatrices, reversed_steps

Aggregation = Literal["max", "noisy-or", "clustered"]
AGGREGATIONS: tuple[str, ...] = get_args(Aggregation)

STARTS = 32  # Questions that are answered at once.

_GATHERED = 4_000_000  # Most proposals of single rules that are kept before they are aggregated; some 40 bytes each.

DEPTH = 8  # Rules that are compared where the best ones of two entities are equally confident.

_CODES = 1 << 16  # Four codes fit into 64 bits, so that eight rules are compared as two numbers.
_WORST = _CODES - 1

# Keys (place of the question * entities + entity), and rules by their places in ``_Question.rules``.
Proposals = tuple[Ints, Ints]


@attrs.frozen(eq=False)
class _Order:
    """The rules of one direction of a relation, by their places: first those with paths, then those with constants."""

    codes: Ints  # Code of each rule: its place among the distinct confidences, the most confident first.
    logarithms: Floats  # Logarithm of each rule's doubt, log(1 - confidence).
    values: Floats  # The distinct confidences, by code.

    @classmethod
    def of(cls, confidences: Floats) -> _Order:
        """Order rules by confidence; those that agree in four digits are equally confident."""
        rough = _rounded_down(confidences, 4)
        values, places = np.unique(-rough, return_inverse=True)
        return cls(places.astype(np.int64), np.log1p(-confidences), -values)


@attrs.frozen(eq=False)
class _Index:
    """The rules of one direction of a relation, by their condition on the bound end."""

    order: _Order  # All of them.
    paths: tuple[tuple[int, ...], ...]  # Steps of the rules with paths, from the bound end to the open one.
    facets: Ints  # Keys (step, value) of the rules whose variable is the bound end, sorted.
    proposed: Ints  # The constant that each of these proposes.
    facet_rules: Ints  # Their places.
    fixed: Ints  # The constants of the rules whose constant is the bound end, sorted.
    steps: Ints  # Step of each of these, from the variable.
    values: Ints  # Value of each.
    fixed_rules: Ints  # Their places.


@attrs.define(eq=False)
class RuleApplication:
    """Answers questions by rules over the triples of a table.

    A question has a relation and one end; rules propose entities for its other end. No rule uses the triple that it
    proposes. A rule without a body, r(X, c), proposes c for every X, and all X that occur with r for c.

    Attributes:
        table: The triples.
        rules: Rules with the numbers of the table.
        aggregation: How the rules that propose the same are taken together.
        overlap: For ``clustered``, the share of common predictions from which rules are in one cluster.
    """

    table: TripleTable
    rules: Rules
    aggregation: Aggregation = "max"
    overlap: float = 0.5
    _indexes: dict[tuple[int, bool], _Index] = attrs.field(init=False, factory=dict)
    _ends: dict[int, Ints] = attrs.field(init=False, factory=dict)
    _clusters: dict[int, Ints] = attrs.field(init=False, factory=dict)
    _matrices: StepMatrices = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._matrices = StepMatrices(self.table)

    def confidences(self, relation: int, inverse: bool, starts: Ints) -> Floats:
        """Return the confidence of every entity as the other end, float64 [starts, entities]; 0 without a rule.

        Args:
            relation: Number of the relation.
            inverse: Whether the starts are objects, and subjects are asked for.
            starts: Numbers of the bound ends, at most ``STARTS``.
        """
        index = self.index(relation, inverse)
        gathered = _GATHERERS[self.aggregation](self, relation, index)
        for keys, rules in self._proposals(relation, inverse, index, starts):
            gathered.add(keys, rules)
        found: Floats = gathered.confidences(len(starts), len(self.table.entities))
        return found

    def rules_of(self, relation: int, inverse: bool, starts: Ints, ends: Sequence[Ints]) -> list[list[Ints]]:
        """Return, for each start and each of its ends, the places of the rules that propose it, the best first.

        Places count the rules with paths of the relation, then all with constants.
        """
        index, size = self.index(relation, inverse), len(self.table.entities)
        wanted = np.concatenate([place * size + row for place, row in enumerate(ends)])
        keys, rules = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
        for of, proposed in self._proposals(relation, inverse, index, starts):
            mine = np.isin(of, wanted)
            keys.append(of[mine])
            rules.append(proposed[mine])
        key, rule = np.concatenate(keys), np.concatenate(rules)
        order = np.lexsort((rule, index.order.logarithms[rule], key))
        key, rule = key[order], rule[order]
        low, high = np.searchsorted(key, wanted), np.searchsorted(key, wanted, side="right")
        found = iter([rule[begin:end] for begin, end in zip(low.tolist(), high.tolist(), strict=True)])
        return [[next(found) for _ in row] for row in ends]

    def lacks(self, node: int, step: Step) -> bool:
        """Return whether there are rules for a step, and an entity that occurs at its end is not there at a node."""
        number = self.table.step_number(step)
        if number not in self._ends:
            relation = number // 2
            rules = len(self.paths_of(relation)) + len(self.constants_of(relation))
            rows = self.table.of_relation(relation)
            rows = rows[rows[:, 0] != rows[:, 2]] if rules else rows[:0]
            self._ends[number] = np.unique(rows[:, 0 if step.inverse else 2]).astype(np.int64)
        ends = self._ends[number]
        held = self.table.fillers(node, number // 2, inverse=step.inverse)
        return len(ends) > len(np.union1d(held, ends[ends == node]))

    def paths_of(self, relation: int) -> PathRules:
        """Return the rules with paths of a relation."""
        low, high = np.searchsorted(self.rules.paths.relations, [relation, relation + 1])
        return self.rules.paths[low:high]

    def constants_of(self, relation: int) -> ConstantRules:
        """Return the rules with constants of a relation, of both ends."""
        low, high = np.searchsorted(self.rules.constants.relations, [relation, relation + 1])
        return self.rules.constants[low:high]

    def clusters_of(self, relation: int) -> Ints:
        """Return the cluster of each rule of a relation."""
        if relation not in self._clusters:
            predicted = self._predicted(relation)
            confidences = -np.expm1(self.index(relation, False).order.logarithms)
            self._clusters[relation] = rule_clusters(predicted, confidences, self.overlap)
        return self._clusters[relation]

    def _predicted(self, relation: int) -> Any:
        """Return which facts of a relation each of its rules predicts: a sparse matrix [rules, facts]."""
        from scipy.sparse import csr_array  # type: ignore[import-untyped]

        size = len(self.table.entities)
        facts = self.table.of_relation(relation).astype(np.int64)
        facts = facts[facts[:, 0] != facts[:, 2]]
        forward, backward = self.index(relation, False), self.index(relation, True)
        keys, rules = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
        for inverse, (index, ends) in enumerate(((forward, facts[:, 0]), (backward, facts[:, 2]))):
            held = np.sort(ends * size + facts[:, 0 if inverse else 2])
            nodes = np.unique(ends)
            for begin in range(0, len(nodes), STARTS):
                starts = nodes[begin : begin + STARTS]
                low, high = np.searchsorted(held, [starts[0] * size, (starts[-1] + 1) * size])
                proposals = list(self._by_facets(index, starts))
                if not inverse:
                    proposals += self._by_paths(index, starts)
                for proposed, of in proposals:
                    whole = starts[proposed // size] * size + proposed % size
                    hit = np.isin(whole, held[low:high])
                    start, end = np.divmod(whole[hit], size)
                    keys.append(end * size + start if inverse else whole[hit])
                    rules.append(of[hit])
        places = np.searchsorted(np.sort(facts[:, 0] * size + facts[:, 2]), np.concatenate(keys))
        rows = np.concatenate(rules)
        shape = (len(forward.order.logarithms), len(facts))
        return csr_array((np.ones(len(rows), dtype=np.int64), (rows, places)), shape=shape)

    def index(self, relation: int, inverse: bool) -> _Index:
        """Return the rules of a relation as they are asked in one direction."""
        key = (relation, inverse)
        if key not in self._indexes:
            self._indexes[key] = self._made(relation, inverse)
        return self._indexes[key]

    def _made(self, relation: int, inverse: bool) -> _Index:
        paths, constants = self.paths_of(relation), self.constants_of(relation)
        order = _Order.of(np.concatenate([paths.confidence, constants.confidence]))
        size = len(self.table.entities)
        rows = [tuple(step for step in row if step != NOTHING) for row in paths.steps.tolist()]
        bound = np.flatnonzero(constants.at_subject == inverse)
        keys = constants.steps[bound] * (size + 1) + constants.values[bound] + 1
        by_facet = np.argsort(keys, kind="stable")
        fixed = np.flatnonzero(constants.at_subject != inverse)
        by_constant = np.argsort(constants.constants[fixed], kind="stable")
        bound, fixed = bound[by_facet], fixed[by_constant]
        return _Index(
            order,
            tuple(reversed_steps(steps) if inverse else steps for steps in rows),
            keys[by_facet],
            constants.constants[bound],
            bound + len(paths),
            constants.constants[fixed],
            constants.steps[fixed],
            constants.values[fixed],
            fixed + len(paths),
        )

    def _proposals(self, relation: int, inverse: bool, index: _Index, starts: Ints) -> Iterator[Proposals]:
        """Yield the proposals of the rules; never a start for itself."""
        size = len(self.table.entities)
        for keys, rules in (*self._by_facets(index, starts), *self._by_constants(relation, inverse, index, starts)):
            kept = keys % size != starts[keys // size]
            yield keys[kept], rules[kept]
        yield from self._by_paths(index, starts)

    def _by_paths(self, index: _Index, starts: Ints) -> Iterator[Proposals]:
        size = len(self.table.entities)
        before: tuple[int, ...] = ()
        reached: Any = None
        for rule in sorted(range(len(index.paths)), key=lambda rule: index.paths[rule]):
            steps = index.paths[rule]
            if steps[:2] != before:
                before = steps[:2]
                reached = self._matrices.reached(starts, before)
            found = self._matrices.third(starts, reached, steps) if len(steps) > 2 and reached.nnz else reached
            if found.nnz:
                keys = np.repeat(np.arange(len(starts)) * size, np.diff(found.indptr)) + found.indices
                yield keys, np.full(len(keys), rule)

    @cached_property
    def _adjacency(self) -> Adjacency:
        return Adjacency.of(self.table)

    def _by_facets(self, index: _Index, starts: Ints) -> Iterator[Proposals]:
        """Apply the rules whose variable is the bound end: they propose their constants."""
        size = len(self.table.entities)
        owners, steps, ends = self._adjacency.edges(starts)
        fresh = np.ones(len(owners) + 1, dtype=bool)
        fresh[1:-1] = (owners[1:] != owners[:-1]) | (steps[1:] != steps[:-1])
        single, fresh = fresh[1:] & fresh[:-1], fresh[:-1]
        every = np.arange(len(starts))
        # A step to the value; a step to any entity, once for each step; and no body.
        for of, wanted, only in (
            (owners, steps * (size + 1) + ends + 1, None),
            (owners[fresh], (steps * (size + 1))[fresh], np.where(single, ends, NOTHING)[fresh]),
            (every, np.full(len(starts), NOTHING * (size + 1) + NOTHING + 1), None),
        ):
            low, high = np.searchsorted(index.facets, wanted), np.searchsorted(index.facets, wanted, side="right")
            rows = spread(low, high - low)
            proposed, places = index.proposed[rows], np.repeat(of, high - low)
            rules = index.facet_rules[rows]
            if only is not None:
                other = np.repeat(only, high - low) != proposed
                proposed, places, rules = proposed[other], places[other], rules[other]
            yield places * size + proposed, rules

    def _by_constants(self, relation: int, inverse: bool, index: _Index, starts: Ints) -> Iterator[Proposals]:
        """Apply the rules whose constant is the bound end: they propose all entities with their body."""
        size = len(self.table.entities)
        low = np.searchsorted(index.fixed, starts)
        high = np.searchsorted(index.fixed, starts, side="right")
        for place, (begin, end) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
            for rule in range(begin, end):
                entities = self._with_body(
                    relation, inverse, int(index.steps[rule]), int(index.values[rule]), int(starts[place])
                )
                if len(entities):
                    yield place * size + entities, np.full(len(entities), index.fixed_rules[rule])

    def _with_body(self, relation: int, inverse: bool, step: int, value: int, constant: int) -> Ints:
        """Return the entities for which a body holds; ``constant`` is no value of the open kind."""
        if step == NOTHING:
            rows = self.table.of_relation(relation)
            occurring: Ints = np.unique(rows[rows[:, 0] != rows[:, 2], 0 if inverse else 2]).astype(np.int64)
            return occurring
        if value != NOTHING:
            fillers: Ints = self.table.fillers(value, step // 2, inverse=not step % 2).astype(np.int64)
            others: Ints = fillers[fillers != value]
            return others
        matrix = self._matrices.step(step)
        degrees = np.diff(matrix.indptr)
        found = degrees > 0
        near = self._matrices.step(step ^ 1)[[constant]].indices
        found[near[degrees[near] == 1]] = False
        entities: Ints = np.flatnonzero(found).astype(np.int64)
        return entities


@attrs.define(eq=False)
class _Gathered:
    """Proposals of rules for some questions, condensed whenever they become too many.

    A derived class gives each rule a value, and says which proposals count.
    """

    application: RuleApplication
    relation: int
    index: _Index
    _parts: list[tuple[Ints, Any]] = attrs.field(factory=list)
    _size: int = 0

    def add(self, keys: Ints, rules: Ints) -> None:
        """Gather proposals."""
        self._parts.append((keys, self.values(rules)))
        self._size += len(keys)
        if self._size > _GATHERED:
            self._parts = [self.condensed()]
            self._size = len(self._parts[0][0])

    def whole(self) -> tuple[Ints, Any]:
        """Return all proposals."""
        nothing = np.zeros(0, dtype=np.int64)
        parts = [(nothing, self.values(nothing)), *self._parts]
        keys, values = (np.concatenate(column) for column in zip(*parts, strict=True))
        return keys, values

    def values(self, rules: Ints) -> Any:
        """Return the value of each rule."""
        raise NotImplementedError

    def condensed(self) -> tuple[Ints, Any]:
        """Return the proposals that count, sorted."""
        raise NotImplementedError


@attrs.define(eq=False)
class _Best(_Gathered):
    """Keeps the best rules of each proposed entity, and ranks entities by them, as AnyBURL does.

    The lists of confidences, the greatest first, are compared by their first difference; a list comes before its parts.
    """

    def values(self, rules: Ints) -> Ints:
        """Return the codes of rules."""
        return self.index.order.codes[rules]

    def condensed(self) -> tuple[Ints, Ints]:
        """Keep the codes of the best rules of each entity."""
        keys, codes = self.whole()
        keys, codes = np.divmod(np.sort(keys * _CODES + codes), _CODES)
        starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: len(keys)])
        within = np.arange(len(keys)) - np.repeat(starts, np.diff(np.append(starts, len(keys))))
        return keys[within < DEPTH], codes[within < DEPTH]

    def confidences(self, questions: int, size: int) -> Floats:
        """Return the greatest confidence of each entity, rounded down to three digits; the next three rank ties."""
        found = np.zeros((questions, size))
        keys, codes = self.condensed()
        if not len(keys):
            return found
        starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
        counts = np.diff(np.append(starts, len(keys)))
        lists = np.full((len(starts), DEPTH), _WORST, dtype=np.uint64)
        lists[np.repeat(np.arange(len(starts)), counts), np.arange(len(keys)) - np.repeat(starts, counts)] = codes
        entries = keys[starts]
        shift = np.array([48, 32, 16, 0], dtype=np.uint64)
        first = np.bitwise_or.reduce(lists[:, :4] << shift, axis=1)
        second = np.bitwise_or.reduce(lists[:, 4:] << shift, axis=1)
        values = self.index.order.values
        base = _rounded_down(values, 3)
        _, level = np.unique(-base, return_inverse=True)
        group = (entries // size) * (len(values) + 1) + level[codes[starts]]
        order = np.lexsort((second, first, group))
        group, first, second = group[order], first[order], second[order]
        fresh_group = np.append(True, group[1:] != group[:-1])
        fresh = fresh_group | np.append(True, (first[1:] != first[:-1]) | (second[1:] != second[:-1]))
        # Place of each list among the distinct ones of its group, and their number.
        number = np.cumsum(fresh)
        opening = np.flatnonzero(fresh_group)
        members = np.diff(np.append(opening, len(group)))
        begin = np.repeat(number[opening], members)
        distinct = np.repeat(np.append(number[opening][1:], number[-1] + 1) - number[opening], members)
        digits = (1000 * (distinct - (number - begin))) // (distinct + 1)
        least = base[codes[starts[order]]]
        unit = 10.0 ** (np.floor(np.log10(least) + 1e-9) - 2)
        found.ravel()[entries[order]] = least + unit * digits / 1000
        return found


@attrs.define(eq=False)
class _NoisyOr(_Gathered):
    """Multiplies the doubts of all rules, as if they were independent."""

    def values(self, rules: Ints) -> Floats:
        """Return the logarithms of the doubts of rules."""
        return self.index.order.logarithms[rules]

    def condensed(self) -> tuple[Ints, Floats]:
        """Add up the logarithms of each entity."""
        keys, doubts = self.whole()
        entries, places = np.unique(keys, return_inverse=True)
        summed: Floats = np.bincount(places, doubts, minlength=len(entries)).astype(np.float64)
        return entries.astype(np.int64), summed

    def confidences(self, questions: int, size: int) -> Floats:
        """Return 1 minus the product of the doubts."""
        found = np.zeros((questions, size))
        entries, doubts = self.condensed()
        found.ravel()[entries] = -np.expm1(doubts)
        return found


@attrs.define(eq=False)
class _Clustered(_Gathered):
    """Takes the most confident rule of each cluster, and multiplies the doubts of these (SAFRAN; Ott et al. 2021)."""

    def values(self, rules: Ints) -> Ints:
        """Return the rules."""
        return rules

    def condensed(self) -> tuple[Ints, Ints]:
        """Keep the best rule of each entity and cluster."""
        keys, rules = self.whole()
        clusters = self.application.clusters_of(self.relation)[rules]
        order = np.lexsort((rules, self.index.order.logarithms[rules], clusters, keys))
        keys, rules, clusters = keys[order], rules[order], clusters[order]
        fresh = np.append(True, (keys[1:] != keys[:-1]) | (clusters[1:] != clusters[:-1]))[: len(keys)]
        return keys[fresh], rules[fresh]

    def confidences(self, questions: int, size: int) -> Floats:
        """Return 1 minus the product of the clusters' doubts."""
        keys, rules = self.condensed()
        doubts = np.bincount(keys, self.index.order.logarithms[rules], minlength=questions * size)
        found: Floats = -np.expm1(doubts).reshape(questions, size)
        return found


_GATHERERS: dict[str, Any] = {"max": _Best, "noisy-or": _NoisyOr, "clustered": _Clustered}


def _rounded_down(values: Floats, digits: int) -> Floats:
    """Round positive numbers down to some significant digits; a hair below a digit counts as the digit."""
    exponents = np.floor(np.log10(np.maximum(values, 1e-300)) + 1e-9)
    scale = 10.0 ** (digits - 1 - exponents)
    found: Floats = np.floor(values * scale + 1e-6) / scale
    return found
