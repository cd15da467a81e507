"""Questions made from a graph's own paths, for adapting a scorer to a graph that has no questions."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

import attrs
import numpy as np

from srtk_framework.graph import TripleTable
from srtk_framework.roles import Dataset, Generator, KnowledgeGraph
from srtk_framework.values import InputError, Link, Message, Prompt, Question, at_least, batched
from srtk_plugin_sr.walks import WalkSource
from srtk_plugin_sr.wordings import in_words, spoken

_TASK = (
    "Say the following question as a person would ask it who does not know the words of the database. Keep the name"
    " {name} as it is. Reply with the question alone.\n\n{text}"
)
_LENGTH = 60
"""Maximum number of tokens of a reply."""
_AT_ONCE = 64


@attrs.define(eq=False)
class MadeQuestions(Dataset):
    """Make questions from the paths of a graph, each with its path and the entities that the path leads to.

    For a graph without questions. The graph must be able to list its triples, as a snapshot does. Its noise relations
    are not asked for.

    Attributes:
        graph: The graph.
        generator: Rewords the questions, if it is named here; a reply without the entity's name, or with several lines,
            is not taken.
        count: Number of questions; fewer where the graph has no paths, or the same question is made twice.
        depth: Largest number of steps of a path, as in the search.
        seed: Seed of everything that is drawn.
        hub: Maximum number of answers; a path that leads to more is left out.
    """

    graph: KnowledgeGraph
    generator: Generator | None = None
    count: int = attrs.field(default=2000, validator=at_least(1))
    depth: int = attrs.field(default=2, validator=at_least(1))
    seed: int = 0
    hub: int = attrs.field(default=100, validator=at_least(1))

    def read(self) -> Iterator[Question]:
        """Yield the questions.

        Raises:
            InputError: If the graph has no triple between two different entities, but for its noise relations.
        """
        made = self._made()
        if self.generator is None:
            yield from made
            return
        for batch in batched(made, _AT_ONCE):
            yield from _reworded(batch, self.generator)

    def _made(self) -> Iterator[Question]:
        table = TripleTable.of(self.graph)
        patterns = self.graph.schema().noise
        noise = [name for name in table.relations if any(fnmatchcase(name, pattern) for pattern in patterns)]
        asked = ~np.isin(table.triples[:, 1], [table.relation_numbers[name] for name in noise])
        if not (asked & (table.triples[:, 0] != table.triples[:, 2])).any():
            but = " except by its noise relations" if noise else ""
            raise InputError(
                f"{self.graph.source()} has no triple between two different entities{but}, so that no question is made"
            )
        walks = WalkSource(table, self.seed, self.depth, noise)
        drawn = [walk for walk in (walks.draw() for _ in range(self.count)) if walk is not None]
        ids = sorted({id_ for entity, steps in drawn for id_ in (entity, *(step.relation for step in steps))})
        labels = dict(zip(ids, self.graph.labels(ids), strict=True))
        chance = random.Random(self.seed + 1)
        seen = set()
        for entity, steps in drawn:
            answers = walks.ends(entity, steps)
            words = [(spoken(labels[step.relation]), step.inverse) for step in steps]
            text, (start, end) = in_words(labels[entity], words, chance)
            if text in seen or not 0 < len(answers) <= self.hub:
                continue
            seen.add(text)
            link = Link(entity, start=start, end=end, name=labels[entity])
            yield Question(f"made-{len(seen)}", text, (link,), answers=tuple(answers), gold_paths=(steps,))


def _reworded(questions: Sequence[Question], generator: Generator) -> Iterator[Question]:
    """Ask a generator for other words; a question whose name is lost stays as it is."""
    tasks = [_TASK.format(name=question.links[0].name, text=question.text) for question in questions]
    prompts = [Prompt((Message("user", task),), length=_LENGTH) for task in tasks]
    for question, reply in zip(questions, generator.generate(prompts), strict=True):
        link, text = question.links[0], reply.text.strip()
        start = text.find(link.name or "")
        if reply.error is not None or reply.finish == "length" or start < 0 or "\n" in text:
            yield question
            continue
        moved = attrs.evolve(link, start=start, end=start + len(link.name or ""))
        yield attrs.evolve(question, text=text, links=(moved,))
