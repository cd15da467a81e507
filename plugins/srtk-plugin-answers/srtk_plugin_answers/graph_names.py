"""Names of a graph's relations and classes, and the classes above those, each read once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import attrs

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.text import spaced
from srtk_framework.values import Frontier, Literal, Schema, Step
from srtk_plugin_answers.question_classes import PEOPLE, role_words, shared_words, singular, words_of
from srtk_plugin_answers.question_values import value_constraints

K = TypeVar("K", bound=Any)
V = TypeVar("V")

_KEPT = 10_000
"""Names, and phrases, that are kept; then all are read anew."""
_YEAR = re.compile(r"\b(?:1\d|20)\d\d\b")


@attrs.define(eq=False)
class GraphNames:
    """Keep the names of relations and classes, broader classes, and the steps that call their nodes by a phrase."""

    graph: KnowledgeGraph
    schema: Schema
    _labels: dict[str, str] = attrs.field(init=False, factory=dict, repr=False)
    _classes: dict[str, tuple[str, ...]] = attrs.field(init=False, factory=dict, repr=False)
    _above: dict[str, tuple[str, ...]] = attrs.field(init=False, factory=dict, repr=False)
    _fitting: dict[tuple[str, ...], list[tuple[Step, int]]] = attrs.field(init=False, factory=dict, repr=False)

    def labels(self, relations: Iterable[str]) -> dict[str, str]:
        """Return the labels of relations."""
        return _kept(self._labels, list(relations), self.graph.labels)

    def of_classes(self, classes: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the label and the other names of classes."""

        def read(new: Sequence[str]) -> Iterator[tuple[str, ...]]:
            named = zip(self.graph.labels(new), self.graph.other_names(new), strict=True)
            return ((label, *others) for label, others in named)

        return _kept(self._classes, classes, read)

    def above(self, classes: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the classes directly above each class."""

        def read(new: Sequence[str]) -> Iterator[tuple[str, ...]]:
            relations = self.schema.subclass_relations
            found = objects_of(self.graph, self.graph.frontiers([new]), relations) if relations else {}
            return (tuple(found.get(one, ())) for one in new)

        return _kept(self._above, classes, read)

    def steps(self, phrases: Sequence[str]) -> list[tuple[Step, int]]:
        """Return the schema's steps that call their start nodes by a phrase, with the words they share."""

        def read(keys: Sequence[tuple[str, ...]]) -> Iterator[list[tuple[Step, int]]]:
            steps = [Step(relation, way) for relation in self.schema.relations for way in (False, True)]
            return (self.fitting(key, steps) for key in keys)

        key = tuple(phrases)
        return _kept(self._fitting, [key], read)[key]

    def fitting(self, phrases: Sequence[str], steps: Sequence[Step]) -> list[tuple[Step, int]]:
        """Return the steps among some that call their start nodes by a phrase, with the words they share."""
        labels = self.labels([step.relation for step in steps])
        rated = [(step, words_of_role(self.schema, phrases, step, labels[step.relation])) for step in steps]
        return [(step, words) for step, words in rated if words]

    # Wide tables: a column for each year

    def years(self) -> Mapping[str, str]:
        """Return the relations with a year in their names, each with its year; none where only one has."""
        found = {one: _YEAR.search(label) for one, label in self.labels(self.schema.relations).items()}
        years = {one: year.group() for one, year in found.items() if year}
        return years if len(set(years.values())) > 1 else {}

    def of_year(self, text: str, noun: str) -> set[str]:
        """Return the relations of a year that a text names: those with a noun, else those that are a year alone.

        None where another relation has the noun as its name.
        """
        named, asked = words_of(noun), set(_YEAR.findall(text))
        labels = self.labels(self.schema.relations)
        told = [one for one, year in self.years().items() if year in asked]
        with_noun = {one for one in told if named and named <= words_of(labels[one])}
        if with_noun or any(words_of(label) == named for label in labels.values()):
            return with_noun
        return {one for one in told if words_of(labels[one]) <= asked}

    def is_measure(self, noun: str, relation: str) -> bool:
        """Return whether a noun names what the values of a year are: by the relation's name, or by the table's."""
        tables = [spaced(name) for name, columns in self.schema.tables.items() if relation in columns]
        return any(words_of(noun) <= words_of(one) for one in [*self.labels([relation]).values(), *tables])

    def without_years(self, text: str) -> str:
        """Return a text without *in 2015*, where that year is the name of a column, and bounds no date."""
        years = {float(year) for year in self.years().values()}
        for one in reversed(value_constraints(text) if years else ()):
            if one.date and one.low in years and one.high == one.low + 1:
                text = f"{text[: one.start]}{text[one.end :]}"
        return text


def _kept(known: dict[K, V], keys: Sequence[K], read: Callable[[list[K]], Iterable[V]]) -> dict[K, V]:
    """Return the values of keys; only new keys are read, and all anew where too many are kept."""
    if len(known) > _KEPT and not known.keys() >= set(keys):
        known.clear()
    if new := sorted(set(keys) - known.keys()):
        known.update(zip(new, read(new), strict=True))
    return {key: known[key] for key in keys}


def words_of_role(schema: Schema, phrases: Sequence[str], step: Step, label: str) -> int:
    """Return how many words a phrase shares with the name that a relation or its table gives to the step's start."""
    # Of a table *lines* with a column *line* its ends are lines, and not its rows; but two people may share a name.
    tables = [
        name
        for name, columns in schema.tables.items()
        if not step.inverse
        and step.relation in columns
        and not {*columns, *map(singular, map(spaced, columns))} & {*phrases} - {*PEOPLE}
    ]
    # The contact title of a customer is no title of a contact: rows are called by their table.
    is_column = not step.inverse and any(step.relation in columns for columns in schema.tables.values())
    role = 0 if is_column else role_words(phrases, label, step.inverse)
    return max([role, *(shared_words(phrases, spaced(name)) for name in tables)])


def objects_of(graph: KnowledgeGraph, frontiers: Sequence[Frontier], relations: Sequence[str]) -> dict[str, list[str]]:
    """Return the objects of relations, by node of some frontiers."""
    steps = [Step(relation) for relation in relations]
    found: dict[str, list[str]] = {}
    pairs = [(frontier, step) for frontier in frontiers for step in steps]
    rows = graph.triples([frontier for frontier, _ in pairs], [step for _, step in pairs], None) if pairs else ()
    for triple in (triple for row in rows for triple in row):
        if not isinstance(triple.object, Literal):
            found.setdefault(triple.subject, []).append(triple.object)
    return found
