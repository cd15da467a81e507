"""Questions made from a graph's own paths, for adapting a scorer to a graph that has no questions.

A path of one or two steps is drawn from the graph, and put into words by the labels of its relations: as noun phrases
("the capital of the country of Riga"), genitives ("Riga's country") or clauses ("what has Riga as capital"), below
changing question words. Words are left out here and there, since people do not repeat a label whole.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence

import attrs
import numpy as np
import numpy.typing as npt

from srtk_framework.graph import TripleTable
from srtk_framework.roles import Dataset, KnowledgeGraph
from srtk_framework.values import InputError, Link, Path, Question, Step
from srtk_plugin_sr.templates import readable

Numbers = npt.NDArray[np.int32]

TWO_STEPS = 0.5
"""Share of the paths with two steps."""
DROPPED = 0.15
"""Probability with which a word of a label with several words is left out."""
_TRIES = 8
"""Walks that are tried for each question."""

_FORWARD = ("the {r} of {x}", "{x}'s {r}", "{r} of {x}", "{x} {r}", "the {r} that {x} has")
_BACKWARD = (
    "what has {x} as {r}",
    "the one whose {r} is {x}",
    "the ones with the {r} {x}",
    "those that have {x} as {r}",
    "{r} {x}",
    "what {x} is the {r} of",
)
_OPENINGS = (
    "what is {x}",
    "who is {x}",
    "which is {x}",
    "where is {x}",
    "name {x}",
    "tell me {x}",
    "{x}",
    "what are {x}",
    "who are {x}",
    "do you know {x}",
    "when is {x}",
)


class WalkSource:
    """Draws paths of one or two steps from a graph.

    A relation is drawn by the square root of the number of its triples: few relations are asked for often, but not as
    often as they occur. Of the ends of a step, fewer are likelier, since a question has few answers as a rule.

    Args:
        table: The triples.
        seed: Seed of the drawing.
    """

    def __init__(self, table: TripleTable, seed: int) -> None:
        self._table = table
        self._chance = random.Random(seed)
        rows = table.triples
        self._rows = rows
        counts = np.bincount(rows[:, 1], minlength=len(table.relations)).astype(np.float64)
        self._weights: list[float] = np.sqrt(counts).tolist()
        self._first = np.searchsorted(rows[:, 1], np.arange(len(counts)))
        self._counts = counts.astype(np.int64)
        self._by_subject = np.argsort(rows[:, 0], kind="stable")
        self._by_object = np.argsort(rows[:, 2], kind="stable")
        self._subjects = rows[self._by_subject, 0]
        self._objects = rows[self._by_object, 2]

    def draw(self) -> tuple[str, tuple[Step, ...]] | None:
        """Draw an entity and a path from it; None if none was found."""
        for _ in range(_TRIES):
            relation = self._chance.choices(range(len(self._weights)), self._weights)[0]
            row = self._rows[self._first[relation] + self._chance.randrange(int(self._counts[relation]))]
            inverse = self._inverse(row)
            start, middle = (row[2], row[0]) if inverse else (row[0], row[2])
            steps = [(int(relation), inverse)]
            if self._chance.random() < TWO_STEPS:
                second = self._second(int(middle), (int(relation), not inverse))
                if second is None:
                    continue
                steps.append(second)
            names = self._table.relations
            return self._table.entities[int(start)], tuple(Step(names[r], i) for r, i in steps)
        return None

    def ends(self, entity: str, steps: Path) -> list[str]:
        """Return the entities that a path leads to from an entity, sorted, without the entity itself."""
        names, table = self._table.entities, self._table
        nodes = {table.entity_numbers[entity]}
        for step in steps:
            relation = table.relation_numbers[step.relation]
            nodes = {
                int(row[0] if step.inverse else row[2])
                for node in nodes
                for row in self._at(node, step.inverse)
                if row[1] == relation
            }
        return sorted({names[node] for node in nodes} - {entity})

    def _inverse(self, row: Numbers) -> bool:
        """Choose the direction in which a triple is walked: towards fewer ends, rather."""
        forward = self._fan(int(row[0]), int(row[1]), False)
        backward = self._fan(int(row[2]), int(row[1]), True)
        share = math.sqrt(forward) / (math.sqrt(forward) + math.sqrt(backward))
        return self._chance.random() < share

    def _fan(self, node: int, relation: int, inverse: bool) -> int:
        return int((self._at(node, inverse)[:, 1] == relation).sum())

    def _at(self, node: int, inverse: bool) -> Numbers:
        """Return the triples whose object (inverse) or subject is a node."""
        keys, order = (self._objects, self._by_object) if inverse else (self._subjects, self._by_subject)
        low, high = np.searchsorted(keys, [node, node + 1])
        return self._rows[order[low:high]]

    def _second(self, node: int, back: tuple[int, bool]) -> tuple[int, bool] | None:
        """Draw a step from a node that does not go back, one with fewer ends rather."""
        options: dict[tuple[int, bool], int] = {}
        for inverse in (False, True):
            relations, counts = np.unique(self._at(node, inverse)[:, 1], return_counts=True)
            options.update({(int(r), inverse): int(n) for r, n in zip(relations, counts, strict=True)})
        options.pop(back, None)
        if not options:
            return None
        weights = [math.sqrt(self._weights[relation] / count) for (relation, _), count in options.items()]
        return self._chance.choices(list(options), weights)[0]


@attrs.define(eq=False)
class MadeQuestions(Dataset):
    """Make questions from the paths of a graph, each with its path and the entities that the path leads to.

    For a graph of which nobody has asked questions. The graph must be able to list its triples, as a snapshot does.

    Attributes:
        graph: The graph.
        count: Number of questions; fewer where the graph has no paths, or the same question is made twice.
        seed: Seed of everything that is drawn.
        hub: Maximum number of answers; a path that leads to more is left out.
    """

    graph: KnowledgeGraph
    count: int = attrs.field(default=2000, validator=attrs.validators.ge(1))
    seed: int = 0
    hub: int = attrs.field(default=100, validator=attrs.validators.ge(1))

    def read(self) -> Iterator[Question]:
        """Yield the questions.

        Raises:
            InputError: If the graph has no triple between two entities.
        """
        table = TripleTable.of(self.graph)
        if not len(table.triples):
            raise InputError(f"{self.graph.source()} has no triple between two entities, so that no question is made")
        walks = WalkSource(table, self.seed)
        drawn = [walk for walk in (walks.draw() for _ in range(self.count)) if walk is not None]
        ids = sorted({id_ for entity, steps in drawn for id_ in (entity, *(step.relation for step in steps))})
        labels = dict(zip(ids, self.graph.labels(ids), strict=True))
        chance = random.Random(self.seed + 1)
        seen = set()
        for entity, steps in drawn:
            answers = walks.ends(entity, steps)
            spoken = [(_spoken(labels[step.relation]), step.inverse) for step in steps]
            text, (start, end) = in_words(labels[entity], spoken, chance)
            if text in seen or not 0 < len(answers) <= self.hub:
                continue
            seen.add(text)
            link = Link(entity, start=start, end=end, name=labels[entity])
            yield Question(f"made-{len(seen)}", text, (link,), answers=tuple(answers), gold_paths=(steps,))


def in_words(
    name: str, steps: Sequence[tuple[str, bool]], chance: random.Random, openings: Sequence[str] = _OPENINGS
) -> tuple[str, tuple[int, int]]:
    """Put a path into words.

    Args:
        name: Name of its entity.
        steps: Label of each relation, and whether the step goes against it.
        chance: Draws the wording.
        openings: Beginnings of the question.

    Returns:
        The question, and where the name stands in it.
    """
    mark = "\0"
    phrase = mark
    for label, inverse in steps:
        form = chance.choice(_BACKWARD if inverse else _FORWARD)
        phrase = form.format(r=_some_words(label, chance), x=phrase)
    text = chance.choice(openings).format(x=phrase) + chance.choice(("?", "", " ?"))
    start = text.index(mark)
    return text.replace(mark, name), (start, start + len(name))


def _spoken(label: str) -> str:
    """Return a relation's label without the prefix of its namespace, split into words."""
    return readable(label.rpartition(":")[2] or label)


def _some_words(label: str, chance: random.Random) -> str:
    words = label.lower().split()
    if len(words) > 1:
        kept = [word for word in words if chance.random() >= DROPPED]
        words = kept or words
    return " ".join(words)
