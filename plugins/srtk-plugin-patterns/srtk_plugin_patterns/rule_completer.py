"""The ``path-rules`` completer: link prediction by rules with paths and constants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path as FilePath
from typing import ClassVar, NamedTuple

import attrs
import numpy as np

from srtk_framework.graph import Signatures, TripleTable, candidate_numbers
from srtk_framework.roles import Completer, KnowledgeGraph, TrainingTask, absent, not_open
from srtk_framework.values import (
    Completion,
    DriverError,
    Pattern,
    Step,
    between,
    confidence,
    one_of,
    open_end,
)
from srtk_plugin_patterns.mining import given_or_mined
from srtk_plugin_patterns.path_patterns import MiningSettings
from srtk_plugin_patterns.rule_application import AGGREGATIONS, STARTS, Aggregation, RuleApplication
from srtk_plugin_patterns.rule_evidence import evidence
from srtk_plugin_patterns.rule_learner import RuleFitSettings, constant_rules, path_rules
from srtk_plugin_patterns.rules import Floats, Ints, Rules
from srtk_plugin_patterns.twins import said, without_held_out

_REASONS = 3  # Rules that are evidence of a completion.
_MINED = 1000  # Most mined paths of a relation, as many as rules with paths are kept by default.


class _Query(NamedTuple):
    """A pattern whose bound end and relation the graph has."""

    place: int
    end: int
    relation: int
    inverse: bool


@attrs.define(eq=False)
class PathRuleCompleter(Completer):
    """Propose the triples that learnt rules imply, with the triples that make each rule apply.

    A rule implies a relation by a path of up to three steps between its ends. With a constant at one end, it needs a
    step of the variable to a value or to anything, or nothing. Its confidence is the share of its predictions that the
    graph holds, with five wrong ones added.

    Attributes:
        graph: Graph to complete; it must be able to list its triples.
        path: Folder of learnt rules; not needed in a recipe that learns them.
        patterns: Folder of paths that `srtk patterns mine` mined from the graph; by default learning mines by itself.
        aggregation: How rules with the same proposal are taken together. max: the most confident rule, then the next.
            noisy-or: as if they were independent. clustered: the most confident rule of each cluster of similar rules,
            and these as if they were independent.
        overlap: For `clustered`, the least Jaccard index of the facts that two rules of a cluster predict.
    """

    learns: ClassVar[str] = "graph"
    reuse: ClassVar[str] = "completer: {use: path-rules, path: FOLDER}"

    graph: KnowledgeGraph
    path: str | None = None
    patterns: str | None = None
    aggregation: Aggregation = attrs.field(default="max", validator=one_of(AGGREGATIONS))
    overlap: float = attrs.field(default=0.5, validator=between(above=0, most=1))
    _table: TripleTable | None = attrs.field(init=False, default=None, repr=False)
    _signatures: Signatures | None = attrs.field(init=False, default=None, repr=False)
    _learnt: tuple[Rules, RuleApplication] | None = attrs.field(init=False, default=None, repr=False)

    def preflight(self) -> list[tuple[str, str]]:
        """Check that the folders exist."""
        return [
            *absent("path", self.path, "learn rules, or correct the path"),
            *absent("patterns", self.patterns, "mine them with `srtk patterns mine`, or correct the path"),
        ]

    def open(self) -> None:
        """Read the graph, and the rules in ``path``.

        Raises:
            DriverError: If the graph cannot list its triples, or the rules cannot be read or are of another graph.
        """
        self._table = TripleTable.of(self.graph)
        self._signatures = Signatures.of(self._table, self.graph.schema())
        if self.path is not None:
            self.load(FilePath(self.path).expanduser())

    def close(self) -> None:
        """Release the graph's table and the rules."""
        self._table = self._signatures = self._learnt = None

    def fingerprint(self) -> str:
        """Identify the graph, the rules and how they are aggregated."""
        learnt = self._learnt[0].fingerprint() if self._learnt else "untrained"
        overlap = f" {self.overlap}" if self.aggregation == "clustered" else ""
        return f"path-rules({self.graph.fingerprint()}, {learnt}, {self.aggregation}{overlap})"

    def complete(self, patterns: Sequence[Pattern], limit: int | None) -> list[list[Completion]]:
        """Propose the triples that the rules imply."""
        rules, application = self._rules()
        table = application.table
        words = cache(lambda id_: self.graph.labels([id_])[0] or id_)
        source = f"path-rules:{rules.fingerprint()}"
        answers: list[list[Completion]] = [[] for _ in patterns]
        for block, rows in self._rated(patterns):
            found = []
            for query, row in zip(block, rows, strict=True):
                row[table.fillers(query.end, query.relation, query.inverse)] = 0.0
                best = [
                    (-float(row[number]), patterns[query.place].filled(table.entities[number]), number)
                    for number in _best(row, limit).tolist()
                ]
                found.append(sorted(best)[:limit])
            relation, inverse = block[0].relation, block[0].inverse
            starts = np.array([query.end for query in block], dtype=np.int64)
            ends = [np.array([number for _, _, number in best], dtype=np.int64) for best in found]
            reasons = application.rules_of(relation, inverse, starts, ends)
            for query, best, of in zip(block, found, reasons, strict=True):
                for (negative, triple, number), places in zip(best, of, strict=True):
                    pair = (number, query.end) if inverse else (query.end, number)
                    told = evidence(application, relation, pair, places[:_REASONS].tolist(), words, source)
                    answers[query.place].append(Completion(triple, -negative, told))
        return answers

    def rate(self, patterns: Sequence[Pattern], candidates: Sequence[Sequence[str]]) -> list[list[float]]:
        """Return the confidence of each candidate; 0 where no rule implies it."""
        _, application = self._rules()
        columns = candidate_numbers(candidates, application.table.entity_numbers)
        answers = [[0.0] * len(ids) for ids in candidates]
        for block, rows in self._rated(patterns):
            for query, row in zip(block, rows, strict=True):
                wanted = columns[query.place]
                answers[query.place] = np.where(wanted < 0, 0.0, row[wanted]).tolist()
        return answers

    def offers(self, node_sets: Sequence[Sequence[str]], inverse: bool) -> list[list[Step]]:
        """Offer the steps that entities of the same classes, or with a step in common, have, unless all is held."""
        _, application = self._rules()
        if self._signatures is None:
            raise not_open(self)
        known = application.table.entity_numbers
        answers = []
        for nodes in node_sets:
            found: set[Step] = set()
            some = [node for node in nodes if node in known]
            for node, steps in zip(some, self._signatures.offers([[node] for node in some], inverse), strict=True):
                found.update(step for step in steps if step not in found and application.lacks(known[node], step))
            answers.append(sorted(found))
        return answers

    def fit(self, task: TrainingTask, training: RuleFitSettings) -> Mapping[str, float]:
        """Learn rules from the graph without the held-out facts.

        Raises:
            DriverError: If no triple is left, or the patterns were mined from another graph.
        """
        if self._table is None:
            raise not_open(self)
        table = without_held_out(self._table, task.held_out, training.twins)[0].compact()
        if not len(table.triples):
            raise DriverError(
                f"{self.graph.source()} has no triple between entities to learn from, besides"
                f" {len(task.held_out)} held-out facts"
            )
        trained_on = table.content_hash()
        wanted = MiningSettings(training.length, None, None, training.least_support, _MINED, task.seed, training.twins)
        found = given_or_mined(self.patterns, table, wanted, executor=task.executor)
        paths, cut = path_rules(table, found, training)
        constants, dropped = constant_rules(table, training, found.twins)
        rules = Rules(
            table.entities,
            table.relations,
            paths,
            constants,
            self._table.content_hash(),
            trained_on,
            {**cut, **dropped},
            {"fit": attrs.asdict(training), "mined": attrs.asdict(found.settings), "seed": task.seed},
            found.twins,
        )
        self._use(rules)
        figures = {
            "triples": float(len(table.triples)),
            "held_out": float(len(task.held_out)),
            "twins": said(found.twins),
            "path_rules": float(len(paths)),
            "constant_rules": float(len(constants)),
            **{name: float(count) for name, count in sorted(rules.cut.items())},
        }
        if task.validate is not None:
            figures.update(task.validate())
        return figures

    def save(self, folder: FilePath) -> None:
        """Write the rules, their ids, and the hash of their graph."""
        self._rules()[0].save(folder)

    def load(self, folder: FilePath) -> None:
        """Load rules that ``save`` wrote."""
        if self._table is None:
            raise not_open(self)
        rules = Rules.load(folder)
        if self._table.content_hash() not in (rules.graph, rules.trained_on):
            raise DriverError(
                f"the rules in {folder} were learnt from another graph than {self.graph.source()}: their triples"
                " differ; use them with the graph that they were learnt from, or learn rules of this graph"
            )
        self._use(rules)

    def _use(self, rules: Rules) -> None:
        if self._table is None:
            raise not_open(self)
        self._learnt = (
            rules,
            RuleApplication(self._table, rules.numbered(self._table), self.aggregation, self.overlap),
        )

    def _rules(self) -> tuple[Rules, RuleApplication]:
        if self._learnt is None:
            raise DriverError(
                "path-rules has learnt nothing: add `train: {driver: completer}` to the recipe, or set `path` to the"
                " folder of learnt rules"
            )
        return self._learnt

    def _rated(self, patterns: Sequence[Pattern]) -> Iterator[tuple[Sequence[_Query], Floats]]:
        """Yield the patterns whose parts the graph has, by relation, with the confidences of all entities."""
        _, application = self._rules()
        table = application.table
        queries = []
        for place, pattern in enumerate(patterns):
            end, step = open_end(pattern)
            number, relation = table.entity_numbers.get(end), table.relation_numbers.get(step.relation)
            if number is not None and relation is not None:
                queries.append(_Query(place, number, relation, step.inverse))
        queries.sort(key=lambda query: (query.relation, query.inverse, query.place))
        begin = 0
        while begin < len(queries):
            relation, inverse = queries[begin].relation, queries[begin].inverse
            after = begin
            while after < len(queries) and after - begin < STARTS and queries[after][2:] == (relation, inverse):
                after += 1
            block = queries[begin:after]
            starts = np.array([query.end for query in block], dtype=np.int64)
            yield block, _rounded(application.confidences(relation, inverse, starts))
            begin = after


def _best(row: Floats, limit: int | None) -> Ints:
    """Return the entities with the greatest confidences, unsorted, with all that are as confident as the last."""
    found = np.flatnonzero(row)
    if limit is not None and limit < len(found):
        at = len(row) - max(limit, 1)
        found = np.flatnonzero((row > 0) & (row >= np.partition(row, at)[at]))
    return found


def _rounded(values: Floats) -> Floats:
    """Round as ``values.confidence`` does, all at once."""
    found = np.zeros_like(values)
    some = np.flatnonzero(values)
    distinct, places = np.unique(values.ravel()[some], return_inverse=True)
    found.ravel()[some] = np.array([confidence(value) for value in distinct.tolist()])[places]
    return found
