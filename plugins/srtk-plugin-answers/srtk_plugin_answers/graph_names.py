"""Names of a graph's relations and classes, and the classes above those, each read once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs

from srtk_framework.roles import KnowledgeGraph
from srtk_framework.text import spaced
from srtk_framework.values import Frontier, Literal, Schema, Step
from srtk_plugin_answers.question_classes import role_words, shared_words

_KEPT = 10_000
"""Names, and phrases, that are kept; then all are read anew."""


@attrs.define(eq=False)
class GraphNames:
    """Keep the names of relations and classes, the classes above those, and which steps call their nodes by a phrase.

    Attributes:
        graph: Graph whose names they are.
        schema: Its schema.
    """

    graph: KnowledgeGraph
    schema: Schema
    _labels: dict[str, str] = attrs.field(init=False, factory=dict, repr=False)
    _classes: dict[str, tuple[str, ...]] = attrs.field(init=False, factory=dict, repr=False)
    _above: dict[str, tuple[str, ...]] = attrs.field(init=False, factory=dict, repr=False)
    _fitting: dict[tuple[str, ...], list[tuple[Step, int]]] = attrs.field(init=False, factory=dict, repr=False)

    def labels(self, relations: Iterable[str]) -> dict[str, str]:
        """Return the labels of relations."""
        some = list(relations)
        new = sorted({one for one in some if one not in self._labels})
        if new:
            if len(self._labels) > _KEPT:
                self._labels.clear()
                return self.labels(some)
            self._labels.update(zip(new, self.graph.labels(new), strict=True))
        return {one: self._labels[one] for one in some}

    def of_classes(self, classes: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the label and the other names of classes."""
        new = sorted({one for one in classes if one not in self._classes})
        if new:
            if len(self._classes) > _KEPT:
                self._classes.clear()
                return self.of_classes(classes)
            labels, others = self.graph.labels(new), self.graph.other_names(new)
            self._classes.update((one, (label, *names)) for one, label, names in zip(new, labels, others, strict=True))
        return {one: self._classes[one] for one in classes}

    def above(self, classes: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the classes directly above each class."""
        new = sorted({one for one in classes if one not in self._above})
        if new:
            if len(self._above) > _KEPT:
                self._above.clear()
                return self.above(classes)
            relations = self.schema.subclass_relations
            found = objects_of(self.graph, self.graph.frontiers([new]), relations) if relations else {}
            self._above.update((one, tuple(found.get(one, ()))) for one in new)
        return {one: self._above[one] for one in classes}

    def steps(self, phrases: Sequence[str]) -> list[tuple[Step, int]]:
        """Return the steps of the schema's relations that call what has them by a phrase, with the words they share."""
        key = tuple(phrases)
        if key not in self._fitting:
            if len(self._fitting) > _KEPT:
                self._fitting.clear()
            steps = [Step(relation, way) for relation in self.schema.relations for way in (False, True)]
            self._fitting[key] = self.fitting(phrases, steps)
        return self._fitting[key]

    def fitting(self, phrases: Sequence[str], steps: Sequence[Step]) -> list[tuple[Step, int]]:
        """Return those of some steps that call what has them by a phrase, with the words they share."""
        labels = self.labels([step.relation for step in steps])
        rated = [(step, words_of_role(self.schema, phrases, step, labels[step.relation])) for step in steps]
        return [(step, words) for step, words in rated if words]


def words_of_role(schema: Schema, phrases: Sequence[str], step: Step, label: str) -> int:
    """Return how many words a phrase shares with what a relation or its table calls the nodes that have the step."""
    tables = [] if step.inverse else [name for name, columns in schema.tables.items() if step.relation in columns]
    return max([role_words(phrases, label, step.inverse), *(shared_words(phrases, spaced(name)) for name in tables)])


def objects_of(graph: KnowledgeGraph, frontiers: Sequence[Frontier], relations: Sequence[str]) -> dict[str, list[str]]:
    """Return what relations lead to from each node of some frontiers."""
    steps = [Step(relation) for relation in relations]
    found: dict[str, list[str]] = {}
    pairs = [(frontier, step) for frontier in frontiers for step in steps]
    rows = graph.triples([frontier for frontier, _ in pairs], [step for _, step in pairs], None) if pairs else ()
    for triple in (triple for row in rows for triple in row):
        if not isinstance(triple.object, Literal):
            found.setdefault(triple.subject, []).append(triple.object)
    return found
